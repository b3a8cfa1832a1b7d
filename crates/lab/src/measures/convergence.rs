//! The time that a flow takes until its rate is steady.

use super::seconds::Seconds;

/// How far the mean of a second may be from the mean of all five, as a share of it.
const TOLERANCE: f64 = 0.25;

/// The time from a flow's start to the earliest time from which its goodput is steady for five seconds: the
/// mean of every second in them is within 25 % of the mean of all five. `None` if that never happens. The
/// resolution is one interval.
///
/// After Dong et al. 2015 section 4.2, the source of the one second, the five seconds and the 25 %. It is not
/// convergence to a fair share: the rate is compared with its own mean, which is known on any network, so a flow
/// that is steady at a hundredth of its share has converged. The time after the five seconds is not examined.
pub(crate) fn convergence_s(seconds: &Seconds, goodput_mbps: &[f64], start_s: f64) -> Option<f64> {
    // A flow that gets nothing is steady, but has not converged.
    let steady = |rate: f64, level: f64| level > 0.0 && (rate - level).abs() <= TOLERANCE * level;
    let within = seconds.first_from(start_s)..seconds.intervals();
    let first = seconds.first_settled(goodput_mbps, within, steady)?;
    Some(seconds.start_s(first) - start_s)
}

#[cfg(test)]
mod tests {
    use super::super::seconds::hand_made::{intervals, pieces};
    use super::*;

    /// The convergence time of a flow that started at `start_s`, in intervals of 0.1 s, rounded to 1 ms.
    fn of(start_s: f64, series: &[(usize, f64)]) -> Option<f64> {
        let series = pieces(series);
        let intervals = intervals(0.1, series.len() as f64 / 10.0);
        convergence_s(&Seconds::of(&intervals), &series, start_s).map(|s| (s * 1e3).round() / 1e3)
    }

    #[test]
    fn a_steady_flow_has_converged_at_once() {
        assert_eq!(of(0.0, &[(50, 10.0)]), Some(0.0));
        // Its first whole interval begins at 0.1 s.
        assert_eq!(of(0.004, &[(51, 10.0)]), Some(0.096));
    }

    #[test]
    fn after_a_ramp() {
        // Four tenths of the first second may be empty: 0.6 x 10 is 35 % below the mean of 9.2, 0.7 x 10 is 26 %
        // below 9.4, and 0.8 x 10 is 17 % below 9.6.
        assert_eq!(of(0.0, &[(20, 0.0), (60, 10.0)]), Some(1.8));
        assert_eq!(of(0.0, &[(20, 1.0), (20, 4.0), (100, 10.0)]), Some(3.6));
    }

    #[test]
    fn a_late_flow_counts_from_its_start() {
        assert_eq!(of(3.0, &[(30, f64::NAN), (60, 10.0)]), Some(0.0));
        assert_eq!(of(2.95, &[(29, f64::NAN), (1, 1.0), (10, 0.0), (60, 10.0)]), Some(0.85));
    }

    #[test]
    fn never() {
        let sawtooth: Vec<_> = (0..20).flat_map(|_| [(10, 10.0), (10, 4.0)]).collect();
        assert_eq!(of(0.0, &sawtooth), None, "it swings by more than 25 %");
        assert_eq!(of(0.0, &[(49, 10.0)]), None, "it is too short");
        assert_eq!(of(0.0, &[(49, 10.0), (200, f64::NAN)]), None, "it ended too early");
        assert_eq!(of(0.0, &[(200, 0.0)]), None, "it got nothing");
        assert_eq!(of(30.0, &[(200, f64::NAN)]), None, "it never started");
    }

    #[test]
    fn swings_within_a_second_and_within_a_quarter_do_not_count() {
        let within_a_second: Vec<_> = (0..50).flat_map(|_| [(1, 20.0), (1, 0.0)]).collect();
        assert_eq!(of(0.0, &within_a_second), Some(0.0));
        let within_a_quarter: Vec<_> = (0..5).flat_map(|_| [(10, 12.0), (10, 8.0)]).collect();
        assert_eq!(of(0.0, &within_a_quarter), Some(0.0));
    }

    #[test]
    fn five_intervals_where_they_are_longer_than_a_second() {
        let intervals = intervals(5.0, 50.0);
        let series = pieces(&[(3, 1.0), (7, 10.0)]);
        assert_eq!(convergence_s(&Seconds::of(&intervals), &series, 0.0), Some(15.0));
    }
}
