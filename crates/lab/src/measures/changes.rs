//! The time that the flows over a link take to recover from a change of the link.

use super::seconds::{ROUNDING, Seconds, mean};
use crate::scenario::{Flow, Link, Scenario, show_time};
use cwndlab_cc::{Span, Time};
use cwndlab_sim::Schedule;
use cwndlab_sim::outcome::Outcome;
use cwndlab_sim::spec::{Capacity, LossKind};
use std::collections::BTreeSet;

/// The share of the later level that counts as recovered.
const RECOVERED: f64 = 0.9;
/// Recovery is measured only if at least this many seconds follow the change; the second half gives the level.
const FEWEST_SECONDS: f64 = 10.0;

/// A change of a link's rate, delay or loss, or a failure or its end, in either direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The link's name.
    pub link: String,
    /// The time of the change.
    pub at: Time,
    /// Time until the flows over the link had recovered; `None` if they did not, or if too little time followed.
    pub recovery_s: Option<f64>,
}

impl Change {
    /// "bottleneck at 50 s"
    pub(crate) fn name(&self) -> String {
        format!("{} at {}", self.link, show_time(Span(self.at.0)))
    }
}

/// The goodput of a flow or a group in each interval.
struct Traffic<'a> {
    flow: &'a Flow,
    name: &'a str,
    goodput_mbps: &'a [f64],
}

/// The changes of all links after the warm-up, in the order of the links. Simultaneous steps of one link are
/// one change. A recording changes all the time, so it is not counted.
pub(crate) fn changes(scenario: &Scenario, outcome: &Outcome) -> Vec<Change> {
    let traffic = traffic(scenario, outcome);
    let seconds = Seconds::of(&outcome.intervals);
    let shared = scenario.links.iter().enumerate().flat_map(|(n, link)| {
        let over: Vec<_> = traffic.iter().filter(|part| part.flow.crosses(n)).collect();
        of_link(scenario, link, &link.spec.name, &over, &seconds)
    });
    let own = traffic.iter().flat_map(|part| {
        part.flow.parts(part.name).filter_map(|(name, path)| {
            let access = path.access.as_ref()?;
            Some(of_link(scenario, access, &format!("{name}.access"), &[part], &seconds))
        })
    });
    shared.chain(own.flatten()).collect()
}

fn traffic<'a>(scenario: &'a Scenario, outcome: &'a Outcome) -> Vec<Traffic<'a>> {
    let (arriving, lasting): (Vec<_>, Vec<_>) = scenario.running().partition(|flow| flow.arrivals.is_some());
    let named = |flows: Vec<&'a Flow>| {
        flows.into_iter().flat_map(|flow| flow.names.iter().map(move |name| (flow, name.as_str())))
    };
    let flows = outcome.intervals.flows.iter().map(|flow| flow.goodput_mbps.0.as_slice());
    let groups = outcome.intervals.groups.iter().map(|group| group.0.as_slice());
    let all = named(lasting).zip(flows).chain(named(arriving).zip(groups));
    all.map(|((flow, name), goodput_mbps)| Traffic { flow, name, goodput_mbps }).collect()
}

fn of_link(
    scenario: &Scenario,
    link: &Link,
    name: &str,
    over: &[&Traffic],
    seconds: &Seconds,
) -> Vec<Change> {
    let end = Time::ZERO + scenario.duration;
    let times = change_times(link).into_iter().filter(|at| *at < end);
    let times: Vec<Time> = times.collect();
    if times.is_empty() {
        return Vec::new();
    }
    let goodput_mbps = sum(over, seconds.intervals());
    let ends = times.iter().skip(1).copied().chain([end]);
    let measured = times.iter().zip(ends).filter(|(at, _)| at.0 >= scenario.warmup.0);
    let change = |(at, until): (&Time, Time)| Change {
        link: name.to_owned(),
        at: *at,
        recovery_s: recovery_s(seconds, &goodput_mbps, at.as_secs_f64(), until.as_secs_f64()),
    };
    measured.map(change).collect()
}

/// The times of all steps, in either direction, except each schedule's first.
fn change_times(link: &Link) -> BTreeSet<Time> {
    let directions = std::iter::once(link).chain(link.back.as_deref());
    let mut times = BTreeSet::new();
    for direction in directions {
        if direction.delays.is_none() {
            times.extend(later(&direction.spec.delay));
        }
        times.extend(later(&direction.spec.up));
        if let (Capacity::Rate(rates), None) = (&direction.spec.capacity, &direction.trace) {
            times.extend(later(rates));
        }
        if let LossKind::Random(rates) = &direction.spec.loss.kind {
            times.extend(later(rates));
        }
    }
    times
}

fn later<T: Copy>(schedule: &Schedule<T>) -> impl Iterator<Item = Time> {
    schedule.iter().skip(1).map(|(at, _)| *at)
}

/// The total goodput in each interval; a flow that does not run counts as zero.
fn sum(over: &[&Traffic], intervals: usize) -> Vec<f64> {
    let of_interval =
        |n: usize| over.iter().map(|part| part.goodput_mbps[n]).filter(|mbps| !mbps.is_nan()).sum();
    (0..intervals).map(of_interval).collect()
}

/// The time from the change to the start of the first five seconds in which the mean of every second is at least
/// 90 % of the level. The level is the mean over the second half of the time from the change to `until_s`. `None`
/// if there are no such five seconds, if nothing arrived in that half, or if there are fewer than ten seconds.
///
/// RFC 5166 lists the response to sudden changes among its metrics; this definition is ours. The level comes
/// from the flows themselves, because flows do not always reach the link's rate. The measure does not judge
/// that level: flows that give up half of the link for good recover at once. It ignores queues: flows often
/// fill a reduced rate at once.
fn recovery_s(seconds: &Seconds, goodput_mbps: &[f64], at_s: f64, until_s: f64) -> Option<f64> {
    if until_s - at_s + ROUNDING < FEWEST_SECONDS * seconds.length_s() {
        return None;
    }
    let (from, until) = (seconds.first_from(at_s), seconds.count_until(until_s));
    let half = seconds.first_from(f64::midpoint(at_s, until_s)).min(until);
    let level = mean(&goodput_mbps[half..until]);
    let back = |rate: f64, _| level > 0.0 && rate >= RECOVERED * level;
    let first = seconds.first_settled(goodput_mbps, from..until, back)?;
    Some(seconds.start_s(first) - at_s)
}

#[cfg(test)]
mod tests {
    use super::super::seconds::hand_made::{intervals, pieces};
    use super::*;

    /// The recovery time from a change at `at_s`, in intervals of 0.1 s, rounded to 1 ms.
    fn of(at_s: f64, until_s: f64, series: &[(usize, f64)]) -> Option<f64> {
        let series = pieces(series);
        let intervals = intervals(0.1, series.len() as f64 / 10.0);
        recovery_s(&Seconds::of(&intervals), &series, at_s, until_s).map(|s| (s * 1e3).round() / 1e3)
    }

    #[test]
    fn a_dip_of_three_seconds() {
        // One of the ten intervals of a second may belong to the dip.
        assert_eq!(of(10.0, 30.0, &[(100, 8.0), (30, 0.5), (170, 4.0)]), Some(2.9));
        assert_eq!(of(10.0, 30.0, &[(100, 8.0), (200, 4.0)]), Some(0.0));
        assert_eq!(of(10.0, 30.0, &[(100, 8.0), (30, 3.3), (170, 4.0)]), Some(2.5), "83 % are not enough");
        assert_eq!(of(10.0, 30.0, &[(100, 8.0), (30, 3.7), (170, 4.0)]), Some(0.0), "92 % are");
    }

    #[test]
    fn a_change_within_an_interval_counts_from_the_change() {
        assert_eq!(of(9.96, 30.0, &[(100, 8.0), (30, 0.5), (170, 4.0)]), Some(2.94));
    }

    #[test]
    fn only_up_to_the_next_change() {
        // Values after the next change count neither for the level nor for recovery.
        let series = [(100, 8.0), (60, 2.0), (40, 1.0), (10, 2.0), (90, 9.0)];
        assert_eq!(of(10.0, 20.0, &series), Some(0.0));
        assert_eq!(of(10.0, 21.0, &[(100, 8.0), (60, 0.5), (50, 2.0), (90, 2.0)]), Some(5.8));
        assert_eq!(
            of(10.0, 20.0, &[(100, 8.0), (60, 0.0), (40, 2.0), (90, 2.0)]),
            None,
            "four seconds are left"
        );
    }

    #[test]
    fn never() {
        assert_eq!(of(10.0, 19.9, &[(300, 8.0)]), None, "fewer than ten seconds");
        assert_eq!(of(10.0, 30.0, &[(100, 8.0), (200, 0.0)]), None, "nothing came back");
        let swinging: Vec<_> = (0..15).flat_map(|_| [(10, 10.0), (10, 2.0)]).collect();
        assert_eq!(of(10.0, 30.0, &swinging), None, "no five seconds at the level");
    }

    #[test]
    fn ten_intervals_where_they_are_longer_than_a_second() {
        let intervals = intervals(2.0, 60.0);
        let series = pieces(&[(10, 8.0), (3, 1.0), (17, 4.0)]);
        let recovery = |until_s| recovery_s(&Seconds::of(&intervals), &series, 20.0, until_s);
        assert_eq!(recovery(60.0), Some(6.0));
        assert_eq!(recovery(38.0), None);
    }
}
