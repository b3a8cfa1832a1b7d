//! Units as types: a time cannot be added to a rate, nor can milliseconds be mistaken for seconds.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

const NANOS_PER_SEC: u64 = 1_000_000_000;

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const NEVER: Time = Time(u64::MAX);

    /// The time from `earlier` to this moment; zero if it is in fact later.
    #[must_use]
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This moment in seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }
}

/// `n / 1_000`, as compilers divide by it: by a multiplication with the rounded reciprocal. It is written out because LLVM
/// would join `n / 1_000` with the division for other spans, into one division.
#[inline]
const fn thousandths(n: u64) -> u64 {
    (((n >> 3) as u128 * 0x20C4_9BA5_E353_F7CF) >> 68) as u64
}

/// `n / 1_000_000`, in the same way.
#[inline]
const fn millionths(n: u64) -> u64 {
    ((n as u128 * 0x431B_DE82_D7B6_34DB) >> 82) as u64
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than any run.
    pub const MAX: Span = Span(u64::MAX);

    /// A span in milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Span {
        Span(ms * 1_000_000)
    }

    /// A span in microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Span {
        Span(us * 1_000)
    }

    /// A span in seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Span {
        Span(s * NANOS_PER_SEC)
    }

    /// Seconds as a real number, rounded to the nanosecond; negative and NaN give zero.
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Span {
        Span((s * NANOS_PER_SEC as f64 + 0.5) as u64)
    }

    /// This span in seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// This span in milliseconds.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This span less `other`, but not below zero.
    #[must_use]
    pub fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// This span times a whole number.
    #[must_use]
    pub fn times(self, n: u64) -> Span {
        Span(self.0.saturating_mul(n))
    }

    /// How many times this span fits into `other`, as a whole number. For a microsecond and a millisecond, a
    /// clock's usual ticks, this takes a multiplication, which is faster than the division for other spans.
    #[inline]
    #[must_use]
    pub fn whole_in(self, other: Span) -> u64 {
        match self.0 {
            1_000 => thousandths(other.0),
            1_000_000 => millionths(other.0),
            tick => other.0 / tick,
        }
    }

    /// This span times a real number.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Span {
        Span((self.0 as f64 * factor) as u64)
    }
}

impl Rate {
    /// A rate in bits per second.
    #[must_use]
    pub const fn from_bits_per_sec(bits: u64) -> Rate {
        Rate(bits)
    }

    /// A rate in megabits (10^6 bits) per second.
    #[must_use]
    pub const fn from_mbit(mbit: u64) -> Rate {
        Rate(mbit * 1_000_000)
    }

    /// The rate that carries `bytes` in `span`; `None` for an empty span.
    #[must_use]
    pub fn of(bytes: u64, span: Span) -> Option<Rate> {
        // Most products fit into 64 bits, which divide faster than 128; here and below.
        if let Some(bit_nanos) = bytes.checked_mul(8 * NANOS_PER_SEC) {
            return bit_nanos.checked_div(span.0).map(Rate);
        }
        let bit_nanos = u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC);
        bit_nanos.checked_div(u128::from(span.0)).map(|r| Rate(r.min(u128::from(u64::MAX)) as u64))
    }

    /// Bytes carried in `span`, rounded down.
    #[must_use]
    pub fn bytes_in(self, span: Span) -> u64 {
        if let Some(bit_nanos) = self.0.checked_mul(span.0) {
            return bit_nanos / (8 * NANOS_PER_SEC);
        }
        let bits = u128::from(self.0) * u128::from(span.0) / u128::from(NANOS_PER_SEC);
        (bits / 8).min(u128::from(u64::MAX)) as u64
    }

    /// Time to send `bytes`, rounded up; [`Span::MAX`] at rate zero.
    #[must_use]
    pub fn time_for(self, bytes: u64) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        if let Some(bit_nanos) = bytes.checked_mul(8 * NANOS_PER_SEC) {
            return Span(bit_nanos.div_ceil(self.0));
        }
        let bit_nanos = u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC);
        Span(bit_nanos.div_ceil(u128::from(self.0)).min(u128::from(u64::MAX)) as u64)
    }

    /// This rate times a real number.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Rate {
        Rate((self.0 as f64 * factor) as u64)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0 s"),
            ns if ns % NANOS_PER_SEC == 0 => write!(f, "{} s", ns / NANOS_PER_SEC),
            // Nobody reads 1062016 ms.
            ns if ns >= 10 * NANOS_PER_SEC => write!(f, "{} s", ns as f64 / NANOS_PER_SEC as f64),
            _ => write!(f, "{} ms", self.as_millis_f64()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mbit/s", self.0 as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of every length in bits.
    fn numbers() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits >> shift)
    }

    proptest! {
        #[test]
        fn a_span_fits_into_another_as_often_as_division_says(tick in numbers(), other in numbers()) {
            for tick in [1_000, 1_000_000, tick.max(1)] {
                prop_assert_eq!(Span(tick).whole_in(Span(other)), other / tick);
                // Where the quotient changes.
                let edge = other / tick * tick;
                prop_assert_eq!(Span(tick).whole_in(Span(edge)), edge / tick);
                prop_assert_eq!(Span(tick).whole_in(Span(edge.saturating_sub(1))), edge.saturating_sub(1) / tick);
            }
        }

        #[test]
        fn rates_are_those_of_exact_arithmetic(rate in numbers(), bytes in numbers(), span in numbers()) {
            let least = |exact: u128| exact.min(u128::from(u64::MAX)) as u64;
            let bit_nanos = u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC);
            if rate > 0 {
                let exact = least(bit_nanos.div_ceil(u128::from(rate)));
                prop_assert_eq!(Rate(rate).time_for(bytes), Span(exact));
            }
            if span > 0 {
                let exact = least(bit_nanos / u128::from(span));
                prop_assert_eq!(Rate::of(bytes, Span(span)), Some(Rate(exact)));
            }
            let exact = least(u128::from(rate) * u128::from(span) / u128::from(8 * NANOS_PER_SEC));
            prop_assert_eq!(Rate(rate).bytes_in(Span(span)), exact);
        }
    }

    #[test]
    fn products_are_exact() {
        let rate = Rate::from_mbit(100);
        assert_eq!(rate.time_for(1500), Span::from_micros(120));
        assert_eq!(rate.bytes_in(Span::from_millis(60)), 750_000);
        assert_eq!(Rate::of(750_000, Span::from_millis(60)), Some(rate));
        // The intermediate product is far beyond 64 bits.
        assert_eq!(Rate(400_000_000_000).bytes_in(Span::from_secs(100_000)), 5_000_000_000_000_000);
    }

    #[test]
    fn long_spans_are_shown_in_seconds() {
        let shown =
            [0, 500, 1_500, 2_000, 9_999, 10_001, 1_062_016].map(|ms| Span::from_millis(ms).to_string());
        assert_eq!(shown, ["0 s", "500 ms", "1500 ms", "2 s", "9999 ms", "10.001 s", "1062.016 s"]);
    }

    #[test]
    fn edges_do_not_overflow() {
        assert_eq!(Rate(0).time_for(1), Span::MAX);
        assert_eq!(Rate::of(1, Span::ZERO), None);
        assert_eq!(Time::NEVER + Span::MAX, Time::NEVER);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
    }
}
