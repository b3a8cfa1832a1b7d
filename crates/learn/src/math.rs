//! Functions that a platform's libm may round differently, built from `+ - * /` alone: the same bits everywhere.

/// Cube root, to within two units in the last place.
///
/// A bit trick gives the root to within 5 %; four Halley steps (each triples the correct digits) do the rest.
#[must_use]
pub fn cbrt(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let magnitude = x.abs();
    // Dividing the exponent by three: 0x2A9F... is 2/3 of the bias, shifted for the least mean error.
    let mut y = f64::from_bits(magnitude.to_bits() / 3 + 0x2A9F_7893_782D_A1CE);
    for _ in 0..4 {
        let cube = y * y * y;
        y = y * (cube + magnitude + magnitude) / (cube + cube + magnitude);
    }
    if x < 0.0 { -y } else { y }
}

/// Natural logarithm for positive normal numbers; NaN below zero, -infinity at zero.
#[must_use]
pub fn ln(x: f64) -> f64 {
    if x < 0.0 || x.is_nan() {
        return f64::NAN;
    }
    if x < f64::MIN_POSITIVE {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() {
        return x;
    }
    // x = 2^k m with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh((m-1)/(m+1)).
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) as i64) - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000F_FFFF_FFFF_FFFF) | 0x3FF0_0000_0000_0000);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let s2 = s * s;
    // |s| < 0.172: eleven terms leave less than 1e-17.
    let mut series = 0.0;
    for k in (0..11).rev() {
        series = series * s2 + 1.0 / f64::from(2 * k + 1);
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * s * series
}

/// e to the power `x`.
#[must_use]
pub fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > 709.7 {
        return f64::INFINITY;
    }
    if x < -708.0 {
        return 0.0;
    }
    // x = k ln 2 + r with |r| <= ln 2 / 2; fourteen Taylor terms leave less than 1e-17.
    let k = (x * std::f64::consts::LOG2_E + if x < 0.0 { -0.5 } else { 0.5 }) as i64;
    let r = x - k as f64 * std::f64::consts::LN_2;
    let mut series = 1.0;
    for n in (1..15).rev() {
        series = 1.0 + series * r / f64::from(n);
    }
    series * f64::from_bits(((k + 1023) as u64) << 52)
}

#[cfg(test)]
// The platform's libm is what these are checked against.
#[expect(clippy::disallowed_methods, reason = "the reference of the test")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(ours: f64, reference: f64) {
        let error = (ours - reference).abs();
        assert!(error <= 4e-16 * reference.abs().max(1e-300) * 2.0, "{ours} is not {reference}");
    }

    #[test]
    fn exact_cubes() {
        assert_eq!(cbrt(27.0), 3.0);
        assert_eq!(cbrt(-8.0), -2.0);
        assert_eq!(cbrt(0.0), 0.0);
    }

    #[test]
    fn edges() {
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert!(ln(-1.0).is_nan());
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1000.0), 0.0);
    }

    proptest! {
        #[test]
        fn cbrt_agrees(x in 1e-12..1e18f64) { close(cbrt(x), x.cbrt()); }

        #[test]
        fn ln_agrees(x in 1e-12..1e18f64) {
            prop_assert!((ln(x) - x.ln()).abs() <= 1e-14 * x.ln().abs().max(1.0));
        }

        #[test]
        fn exp_agrees(x in -50.0..50.0f64) {
            prop_assert!((exp(x) / x.exp() - 1.0).abs() < 2e-14);
        }
    }
}
