//! Means over seconds, computed from the intervals that a run keeps.

use cwndlab_sim::outcome::Intervals;
use std::ops::Range;

/// Seconds for which a rate must hold before it counts as settled; see [`super::convergence`].
pub(crate) const SETTLED: usize = 5;

/// Tolerance for rounding in the difference or the quotient of two decimal times.
pub(crate) const ROUNDING: f64 = 1e-6;

/// The seconds of a run in terms of its intervals. An interval longer than a second counts as one second.
pub(crate) struct Seconds<'a> {
    end_s: &'a [f64],
    interval_s: f64,
    /// The number of intervals in a second.
    per: usize,
}

impl<'a> Seconds<'a> {
    pub(crate) fn of(intervals: &'a Intervals) -> Self {
        let interval_s = intervals.interval_s;
        let last_s = intervals.end_s.last().copied().unwrap_or(0.0);
        // The last interval may be shorter, and a mean that includes it would not cover a full second.
        let full = (last_s / interval_s + ROUNDING).floor() as usize;
        Self {
            end_s: &intervals.end_s[..full],
            interval_s,
            per: ((1.0 / interval_s).round() as usize).max(1),
        }
    }

    /// The number of intervals in a second.
    pub(crate) fn per(&self) -> usize {
        self.per
    }

    /// The length in seconds of what counts as a second here.
    pub(crate) fn length_s(&self) -> f64 {
        self.per as f64 * self.interval_s
    }

    /// The number of full intervals, without a shorter last one.
    pub(crate) fn intervals(&self) -> usize {
        self.end_s.len()
    }

    pub(crate) fn start_s(&self, interval: usize) -> f64 {
        interval.checked_sub(1).map_or(0.0, |before| self.end_s[before])
    }

    pub(crate) fn end_s(&self, interval: usize) -> f64 {
        self.end_s[interval]
    }

    /// The first interval that begins at this time or later.
    pub(crate) fn first_from(&self, time_s: f64) -> usize {
        (0..self.intervals()).find(|&n| self.start_s(n) >= time_s).unwrap_or(self.intervals())
    }

    /// How many intervals end at this time or before.
    pub(crate) fn count_until(&self, time_s: f64) -> usize {
        self.end_s.iter().filter(|end| **end <= time_s).count()
    }

    /// The first interval from which a rate is settled for five seconds: the mean of every second within
    /// them, wherever it begins, passes when compared with the mean of the five. Consecutive seconds would
    /// not suffice: a rate that swings every second looks even in seconds that hold half of each swing.
    pub(crate) fn first_settled(
        &self,
        series: &[f64],
        within: Range<usize>,
        passes: impl Fn(f64, f64) -> bool,
    ) -> Option<usize> {
        let length = SETTLED * self.per;
        let last = within.end.checked_sub(length)?;
        let means: Vec<f64> = series[..within.end].windows(self.per).map(mean).collect();
        (within.start..=last).find(|&start| {
            let level = mean(&series[start..start + length]);
            means[start..=start + length - self.per].iter().all(|rate| passes(*rate, level))
        })
    }
}

/// The mean; NaN for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
pub(crate) mod hand_made {
    use super::*;

    /// Intervals of length `interval_s` up to `until_s`, without any flow.
    pub(crate) fn intervals(interval_s: f64, until_s: f64) -> Intervals {
        let count = (until_s / interval_s).ceil() as usize;
        let end_s = (1..=count).map(|n| (n as f64 * interval_s).min(until_s)).collect();
        Intervals { interval_s, end_s, ..Intervals::default() }
    }

    /// A series in pieces, each a number of intervals and their value.
    pub(crate) fn pieces(pieces: &[(usize, f64)]) -> Vec<f64> {
        pieces.iter().flat_map(|(count, value)| vec![*value; *count]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::hand_made::intervals;
    use super::*;

    #[test]
    fn a_second_is_a_whole_number_of_intervals() {
        for (interval_s, per, length_s) in
            [(0.1, 10, 1.0), (0.2, 5, 1.0), (0.5, 2, 1.0), (1.0, 1, 1.0), (5.0, 1, 5.0)]
        {
            let intervals = intervals(interval_s, 60.0);
            let seconds = Seconds::of(&intervals);
            assert_eq!((seconds.per(), seconds.length_s()), (per, length_s));
        }
    }

    #[test]
    fn a_shorter_last_interval_is_left_out() {
        for (until_s, full) in [(2.0, 20), (2.05, 20), (1.96, 19), (0.05, 0), (0.0, 0)] {
            let intervals = intervals(0.1, until_s);
            assert_eq!(Seconds::of(&intervals).intervals(), full, "until {until_s}");
        }
    }

    #[test]
    fn intervals_by_their_times() {
        let intervals = intervals(0.5, 3.0);
        let seconds = Seconds::of(&intervals);
        assert_eq!([0.0, 0.1, 0.5, 2.5, 9.0].map(|at| seconds.first_from(at)), [0, 1, 1, 5, 6]);
        assert_eq!([0.0, 0.5, 0.9, 3.0].map(|at| seconds.count_until(at)), [0, 1, 1, 6]);
    }
}
