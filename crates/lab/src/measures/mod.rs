//! An outcome as JSON, with the field names of `cwndlab run --json`, and what is measured over time from the intervals
//! that every run keeps.

mod changes;
mod convergence;
mod fairness;
mod seconds;

pub use changes::Change;
pub use fairness::JainSeconds;

use crate::scenario::Scenario;
use cwndlab_sim::Outcome;
use cwndlab_sim::outcome::{
    FlowIntervals, FlowOutcome, GroupOutcome, LinkOutcome, MultipathOutcome, PatternsOutcome,
};
use seconds::Seconds;
use serde_json::{Map, Value, json};

/// Time until a flow's rate was steady, and those of its subflows; `None` if it never was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Convergence {
    /// Its own.
    pub own_s: Option<f64>,
    /// Those of the subflows of a multipath connection.
    pub subflows_s: Vec<Option<f64>>,
}

/// What is measured over time.
#[derive(Clone, Debug, Default)]
pub struct OverTime {
    /// Jain's index in each second.
    pub jain_seconds: JainSeconds,
    /// Its mean.
    pub jain: Option<f64>,
    /// Of each flow: time until its rate was steady.
    pub convergence_s: Vec<Convergence>,
    /// Changes of links.
    pub changes: Vec<Change>,
}

impl OverTime {
    /// Of a run of this scenario.
    #[must_use]
    pub fn of(scenario: &Scenario, outcome: &Outcome) -> Self {
        let seconds = Seconds::of(&outcome.intervals);
        let jain_seconds = fairness::jain_seconds(&outcome.intervals, scenario.warmup.as_secs_f64());
        let flows = outcome.flows.iter().zip(&outcome.intervals.flows);
        let converged = |flow: &FlowOutcome, kept: &FlowIntervals| {
            convergence::convergence_s(&seconds, &kept.goodput_mbps.0, flow.start_s)
        };
        let convergence_s = flows.map(|(flow, kept)| {
            let subflows = flow.subflows().iter().zip(&kept.subflows);
            let subflows_s = subflows.map(|(flow, kept)| converged(flow, kept)).collect();
            Convergence { own_s: converged(flow, kept), subflows_s }
        });
        Self {
            jain: fairness::over_time(&jain_seconds),
            jain_seconds,
            convergence_s: convergence_s.collect(),
            changes: changes::changes(scenario, outcome),
        }
    }
}

/// Everything that was measured but the recording and the intervals.
#[must_use]
pub fn outcome_json(outcome: &Outcome, over_time: &OverTime) -> Value {
    let convergence_s =
        over_time.convergence_s.iter().cloned().chain(std::iter::repeat(Convergence::default()));
    json!({
        "flows": outcome.flows.iter().zip(convergence_s).map(|(one, times)| flow(one, &times)).collect::<Vec<_>>(),
        "groups": outcome.groups.iter().map(group).collect::<Vec<_>>(),
        "links": outcome.links.iter().map(link).collect::<Vec<_>>(),
        "jain": fairness::jain(&outcome.flows).map(number),
        "jain_over_time": over_time.jain.map(number),
        "changes": over_time.changes.iter().map(change).collect::<Vec<_>>(),
        "work": { "data_packets": outcome.work.data_packets, "events": outcome.work.events },
    })
}

fn flow(flow: &FlowOutcome, convergence: &Convergence) -> Value {
    let own = json!({
        "name": flow.name,
        "cc": flow.cc,
        "start_s": number(flow.start_s),
        "goodput_mbps": number(flow.goodput_mbps),
        "throughput_mbps": number(flow.throughput_mbps),
        "rtt_ms": flow.rtt_ms.map(number),
        "rtt_p95_ms": flow.rtt_p95_ms.map(number),
        "rtt_min_ms": flow.rtt_min_ms.map(number),
        "cwnd_mean_segments": number(flow.cwnd_mean_segments),
        "sent_packets": flow.sent_packets,
        "retransmitted_packets": flow.retransmitted_packets,
        "timeouts": flow.timeouts,
        "fast_recoveries": flow.fast_recoveries,
        "tail_loss_probes": flow.tail_loss_probes,
        "undos": flow.undos,
        "ecn_reductions": flow.ecn_reductions,
        "completion_s": flow.completion_s.map(number),
        "convergence_s": convergence.own_s.map(number),
        "degraded": flow.degraded,
    });
    let mut object = with_patterns(own, flow.patterns.as_ref());
    if let (Value::Object(object), Some(multipath)) = (&mut object, &flow.multipath) {
        object.extend(connection(multipath, &convergence.subflows_s));
    }
    object
}

/// What a multipath connection has beside, its subflows last.
fn connection(multipath: &MultipathOutcome, convergence_s: &[Option<f64>]) -> Map<String, Value> {
    let times = convergence_s.iter().copied().chain(std::iter::repeat(None));
    let times = times.map(|own_s| Convergence { own_s, ..Convergence::default() });
    let subflows = multipath.subflows.iter().zip(times).map(|(subflow, own)| flow(subflow, &own));
    let subflows: Vec<_> = subflows.collect();
    let entries = [
        ("reassembly_delay_ms", json!(multipath.reassembly_delay_ms.map(number))),
        ("reassembly_mean_bytes", number(multipath.reassembly_mean_bytes)),
        ("reassembly_max_bytes", json!(multipath.reassembly_max_bytes)),
        ("receive_limited", number(multipath.receive_limited)),
        ("reinjected_packets", json!(multipath.reinjected_packets)),
        ("subflows", json!(subflows)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// A component's measures, followed by those of its timeout patterns where they were counted.
fn with_patterns(mut own: Value, patterns: Option<&PatternsOutcome>) -> Value {
    if let (Some(fields), Some(patterns)) = (own.as_object_mut(), patterns) {
        for (name, value) in [
            ("rtt_samples", json!(patterns.rtt_samples)),
            ("rtt_peaks", json!(patterns.rtt_peaks)),
            ("timeouts_at_peak", json!(patterns.timeouts_at_peak)),
            ("fast_recoveries_at_peak", json!(patterns.fast_recoveries_at_peak)),
            ("regained_segments", json!(patterns.regained_segments.map(number))),
            ("regained_after_peak_segments", json!(patterns.regained_after_peak_segments.map(number))),
        ] {
            fields.insert(name.to_owned(), value);
        }
    }
    own
}

fn group(group: &GroupOutcome) -> Value {
    let own = json!({
        "name": group.name,
        "cc": group.cc,
        "arrived": group.arrived,
        "completed": group.completed,
        "goodput_mbps": number(group.goodput_mbps),
        "completion_ms": group.completion_ms.map(number),
        "completion_p50_ms": group.completion_p50_ms.map(number),
        "completion_p95_ms": group.completion_p95_ms.map(number),
        "completion_p99_ms": group.completion_p99_ms.map(number),
        "retransmitted_packets": group.retransmitted_packets,
        "timeouts": group.timeouts,
        "fast_recoveries": group.fast_recoveries,
    });
    with_patterns(own, group.patterns.as_ref())
}

fn link(link: &LinkOutcome) -> Value {
    json!({
        "name": link.name,
        "utilisation": link.utilisation.map(number),
        "served_packets": link.served_packets,
        "dropped_packets": link.dropped_packets,
        "lost_packets": link.lost_packets,
        "marked_packets": link.marked_packets,
        "queue_delay_ms": link.queue_delay_ms.map(number),
        "queue_delay_p95_ms": link.queue_delay_p95_ms.map(number),
        "queue_mean_bytes": number(link.queue_mean_bytes),
    })
}

fn change(change: &Change) -> Value {
    json!({
        "name": change.name(),
        "link": change.link,
        "at_s": number(change.at.as_secs_f64()),
        "recovery_s": change.recovery_s.map(number),
    })
}

/// JSON has no NaN and no infinity: `null` stands for them.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::Time;

    fn with_goodput(goodputs: &[f64]) -> Outcome {
        let flow = |goodput_mbps: &f64| FlowOutcome { goodput_mbps: *goodput_mbps, ..FlowOutcome::default() };
        Outcome { flows: goodputs.iter().map(flow).collect(), ..Outcome::default() }
    }

    #[test]
    fn nothing_that_is_no_number_gets_out() {
        let over_time = OverTime {
            jain: Some(f64::NAN),
            convergence_s: [None, Some(2.5)]
                .map(|own_s| Convergence { own_s, ..Convergence::default() })
                .into(),
            ..OverTime::default()
        };
        let outcome = outcome_json(&with_goodput(&[f64::NAN, f64::INFINITY]), &over_time);
        assert_eq!(outcome["flows"][0]["goodput_mbps"], Value::Null);
        assert_eq!(outcome["flows"][1]["goodput_mbps"], Value::Null);
        assert_eq!(outcome["flows"][0]["convergence_s"], Value::Null);
        assert_eq!(outcome["flows"][1]["convergence_s"], json!(2.5));
        assert_eq!((&outcome["jain"], &outcome["jain_over_time"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn a_change_is_called_by_its_link_and_time() {
        let change = Change { link: "cell".to_owned(), at: Time(50_000_000_000), recovery_s: None };
        let over_time = OverTime { changes: vec![change], ..OverTime::default() };
        let expected = json!([{ "name": "cell at 50 s", "link": "cell", "at_s": 50.0, "recovery_s": null }]);
        assert_eq!(outcome_json(&Outcome::default(), &over_time)["changes"], expected);
    }
}
