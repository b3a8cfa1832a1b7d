//! One cycle of values that change at known times, and the steps of a run that repeats it.

use cwndlab_cc::{Span, Time};
use cwndlab_sim::Schedule;

/// The most steps that a run may have, after repetition.
pub(super) const MOST_STEPS: u128 = 20_000_000;

/// One cycle: each value holds until the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle<T> {
    /// Times and values. The first time is zero, and the times increase.
    values: Vec<(Span, T)>,
    period: Option<Span>,
}

impl<T: Copy> Cycle<T> {
    pub(super) fn new(values: Vec<(Span, T)>, period: Option<Span>) -> Self {
        Self { values, period }
    }

    /// Its length; `None` for a single value, which holds forever.
    #[must_use]
    pub fn period(&self) -> Option<Span> {
        self.period
    }

    /// The values that were kept, with the times from which they hold.
    pub fn values(&self) -> &[(Span, T)] {
        &self.values
    }

    /// Checks that a run of length `until` that begins anywhere up to `start` does not have too many steps.
    ///
    /// # Errors
    /// It has too many.
    pub fn fits(&self, start: Span, until: Span) -> Result<(), String> {
        let steps = u128::from(self.cycles(start, until)) * self.values.len() as u128;
        if steps > MOST_STEPS {
            return Err(format!(
                "expected at most {MOST_STEPS} steps within the run, found {steps}: its cycle is very short"
            ));
        }
        Ok(())
    }

    fn cycles(&self, start: Span, until: Span) -> u64 {
        self.period.map_or(1, |period| (start + until).0 / period.0 + 1)
    }

    /// The steps of a run of length `until` that begins at `start` in the first cycle.
    #[must_use]
    pub fn steps(&self, start: Span, until: Span) -> Schedule<T> {
        let first = self.values.partition_point(|(at, _)| *at <= start).max(1) - 1;
        let period = self.period.unwrap_or(Span::ZERO);
        let cycle = |n: u64| self.values.iter().map(move |(at, value)| (period.times(n) + *at, *value));
        let all = (0..self.cycles(start, until)).flat_map(cycle);
        let later = all.filter(|(at, _)| *at > start && at.0 - start.0 < until.0);
        let later = later.map(|(at, value)| (Time(at.0 - start.0), value));
        let steps = std::iter::once((Time::ZERO, self.values[first].1)).chain(later).collect();
        Schedule::steps(steps).unwrap_or_else(|| Schedule::constant(self.values[first].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle() -> Cycle<u8> {
        let ms = Span::from_millis;
        Cycle::new(vec![(Span::ZERO, 1), (ms(10), 2), (ms(30), 3)], Some(ms(50)))
    }

    /// The value in each millisecond of a run of 120 ms.
    fn replayed(start_ms: u64) -> Vec<u8> {
        let steps = cycle().steps(Span::from_millis(start_ms), Span::from_millis(120));
        (0..120).map(|ms| steps.at(Time(Span::from_millis(ms).0))).collect()
    }

    #[test]
    fn a_start_leaves_out_what_is_before_it() {
        let from_zero = cycle().steps(Span::ZERO, Span::from_millis(400));
        for start_ms in [0, 1, 9, 10, 11, 30, 49] {
            let expected: Vec<u8> =
                (0..120).map(|ms| from_zero.at(Time(Span::from_millis(start_ms + ms).0))).collect();
            assert_eq!(replayed(start_ms), expected, "{start_ms} ms");
        }
    }

    #[test]
    fn a_single_value_lasts() {
        let steps = Cycle::new(vec![(Span::ZERO, 7)], None).steps(Span::ZERO, Span::from_secs(9));
        assert_eq!(steps, Schedule::constant(7));
    }
}
