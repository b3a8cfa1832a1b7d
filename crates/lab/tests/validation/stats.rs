//! Means, ranges and intervals.

/// The arithmetic mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The smallest.
pub fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest.
pub fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The quantile, interpolated between the two nearest values.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

/// The middle value.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Half the width of the 95 % interval of the mean (Student's t).
pub fn t95_half_width(values: &[f64]) -> f64 {
    /// Two-sided 95 % quantiles for 1 to 19 degrees of freedom.
    const T: [f64; 19] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093,
    ];
    let n = values.len() as f64;
    let centre = mean(values);
    let variance = values.iter().map(|v| (v - centre) * (v - centre)).sum::<f64>() / (n - 1.0);
    T[values.len() - 2] * (variance / n).sqrt()
}

/// By how many per cent `ours` is off.
pub fn gap(ours: f64, theirs: f64) -> f64 {
    100.0 * (ours / theirs - 1.0)
}
