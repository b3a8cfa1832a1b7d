//! Fairness: Jain's index, over the run and over time.

use super::seconds::{Seconds, mean};
use cwndlab_sim::outcome::{FlowIntervals, FlowOutcome, Intervals};

/// Jain's index of each second, with the seconds' ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JainSeconds {
    /// The end of each second after the warm-up.
    pub end_s: Vec<f64>,
    /// The index; NaN if fewer than two flows ran for the whole second, or none of them delivered anything.
    pub jain: Vec<f64>,
}

/// Jain's index of the goodputs over the measured time (Jain, Chiu and Hawe, DEC-TR-301, 1984); `None` for
/// fewer than two flows, or if none delivered anything. Unlike [`over_time`], it also compares flows that did
/// not run at the same time.
pub(crate) fn jain(flows: &[FlowOutcome]) -> Option<f64> {
    let goodputs: Vec<f64> = flows.iter().map(|flow| flow.goodput_mbps).collect();
    index(&goodputs)
}

/// Jain's index of the flows' goodputs in each second after the warm-up, among the flows that ran for the
/// whole second. The length of a second is our choice, as for the other measures over time: flows that take
/// turns by minutes are fair over the run but unfair here; flows that take turns by tenths of a second are
/// fair in both. It covers neither starts and ends, nor the goodput that a flow could have had on its path.
pub(crate) fn jain_seconds(intervals: &Intervals, warmup_s: f64) -> JainSeconds {
    let seconds = Seconds::of(intervals);
    let per = seconds.per();
    let first = seconds.first_from(warmup_s);
    let starts = (first..).step_by(per).take_while(|start| start + per <= seconds.intervals());
    let one = |start: usize| {
        let ran = |flow: &&_| contains(flow, start, start + per);
        let goodputs: Vec<f64> = intervals
            .flows
            .iter()
            .filter(ran)
            .map(|flow| mean(&flow.goodput_mbps.0[start..start + per]))
            .collect();
        (seconds.end_s(start + per - 1), index(&goodputs).unwrap_or(f64::NAN))
    };
    let (end_s, jain) = starts.map(one).unzip();
    JainSeconds { end_s, jain }
}

/// The mean of Jain's index over all seconds that have one; `None` if none has.
pub(crate) fn over_time(seconds: &JainSeconds) -> Option<f64> {
    let known: Vec<f64> = seconds.jain.iter().copied().filter(|jain| !jain.is_nan()).collect();
    (!known.is_empty()).then(|| mean(&known))
}

fn contains(flow: &FlowIntervals, start: usize, end: usize) -> bool {
    flow.whole.start <= start && end <= flow.whole.end
}

/// (sum x)^2 / (n sum x^2), capped at 1 because rounding can exceed it when all rates are equal.
fn index(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (rates.len() > 1 && squares > 0.0).then(|| (sum * sum / (rates.len() as f64 * squares)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::seconds::hand_made::{intervals, pieces};
    use super::*;
    use cwndlab_sim::outcome::Series;
    use std::ops::Range;

    fn flow(whole: Range<usize>, goodput_mbps: Vec<f64>) -> FlowIntervals {
        FlowIntervals { goodput_mbps: Series(goodput_mbps), whole, ..FlowIntervals::default() }
    }

    /// Four seconds of these flows, each with 40 intervals of 0.1 s.
    fn four_seconds(flows: Vec<FlowIntervals>) -> Intervals {
        Intervals { flows, ..intervals(0.1, 4.0) }
    }

    #[test]
    fn over_the_run_fairness_needs_two_flows() {
        let jain = |goodputs: &[f64]| {
            let flow = |mbps: &f64| FlowOutcome { goodput_mbps: *mbps, ..FlowOutcome::default() };
            super::jain(&goodputs.iter().map(flow).collect::<Vec<_>>())
        };
        assert_eq!((jain(&[5.0, 5.0]), jain(&[1.3; 3])), (Some(1.0), Some(1.0)));
        assert_eq!(jain(&[1.0, 0.0]), Some(0.5));
        assert_eq!((jain(&[1.0]), jain(&[0.0, 0.0])), (None, None));
    }

    #[test]
    fn two_that_take_turns_are_unfair_in_each_second() {
        let a = flow(0..40, pieces(&[(10, 8.0), (10, 0.0), (10, 8.0), (10, 0.0)]));
        let b = flow(0..40, pieces(&[(10, 0.0), (10, 8.0), (10, 0.0), (10, 8.0)]));
        let jain = jain_seconds(&four_seconds(vec![a, b]), 0.0);
        assert_eq!((jain.jain.as_slice(), over_time(&jain)), (&[0.5; 4][..], Some(0.5)));
        assert_eq!(jain.end_s.len(), 4);
        assert!((jain.end_s[3] - 4.0).abs() < 1e-9);
    }

    #[test]
    fn turns_within_a_second_do_not_show() {
        let turns = |first: f64| (0..40).map(|n| if n % 2 == 0 { first } else { 8.0 - first }).collect();
        let jain = jain_seconds(&four_seconds(vec![flow(0..40, turns(8.0)), flow(0..40, turns(0.0))]), 0.0);
        assert_eq!(over_time(&jain), Some(1.0));
    }

    #[test]
    fn only_flows_that_ran_all_along_count() {
        let early = flow(0..30, pieces(&[(30, 4.0), (10, f64::NAN)]));
        let late = flow(15..40, pieces(&[(14, f64::NAN), (26, 4.0)]));
        let poor = flow(0..40, vec![0.0; 40]);
        let jain = jain_seconds(&four_seconds(vec![early, late, poor]), 0.0);
        // Early and poor; the same, because late starts within the second; all three; late and poor.
        let expected = [0.5, 0.5, 8.0 * 8.0 / (3.0 * 32.0), 0.5];
        assert_eq!(jain.jain, expected);
        assert_eq!(over_time(&jain), Some(expected.iter().sum::<f64>() / 4.0));
    }

    #[test]
    fn seconds_begin_after_the_warm_up_and_end_before_the_run() {
        let two = four_seconds(vec![flow(0..40, vec![1.0; 40]), flow(0..40, vec![1.0; 40])]);
        let ends: Vec<String> =
            jain_seconds(&two, 0.75).end_s.iter().map(|end| format!("{end:.1}")).collect();
        assert_eq!(ends, ["1.8", "2.8", "3.8"]);
    }

    #[test]
    fn without_two_flows_at_a_time_there_is_no_value() {
        let alone = jain_seconds(&four_seconds(vec![flow(0..40, vec![1.0; 40])]), 0.0);
        assert!(alone.jain.iter().all(|jain| jain.is_nan()) && over_time(&alone).is_none());
        let first = flow(0..20, pieces(&[(20, 1.0), (20, f64::NAN)]));
        let second = flow(20..40, pieces(&[(20, f64::NAN), (20, 1.0)]));
        assert_eq!(over_time(&jain_seconds(&four_seconds(vec![first, second]), 0.0)), None);
        let idle = four_seconds(vec![flow(0..40, vec![0.0; 40]), flow(0..40, vec![0.0; 40])]);
        assert_eq!(over_time(&jain_seconds(&idle, 0.0)), None);
        assert_eq!(over_time(&jain_seconds(&four_seconds(vec![]), 0.0)), None);
    }

    #[test]
    fn an_interval_longer_than_a_second_stands_for_one() {
        let flows = vec![flow(0..3, vec![1.0, 1.0, 2.0]), flow(0..3, vec![1.0, 0.0, 2.0])];
        let jain = jain_seconds(&Intervals { flows, ..intervals(2.0, 6.0) }, 0.0);
        assert_eq!((jain.end_s, jain.jain), (vec![2.0, 4.0, 6.0], vec![1.0, 0.5, 1.0]));
    }
}
