//! An outcome as JSON, with the field names of `cwndlab run --json`.

use cwndlab_sim::Outcome;
use cwndlab_sim::outcome::{FlowOutcome, GroupOutcome, LinkOutcome};
use serde_json::{Value, json};

/// Everything that was measured but the recording.
#[must_use]
pub fn outcome_json(outcome: &Outcome) -> Value {
    json!({
        "flows": outcome.flows.iter().map(flow).collect::<Vec<_>>(),
        "groups": outcome.groups.iter().map(group).collect::<Vec<_>>(),
        "links": outcome.links.iter().map(link).collect::<Vec<_>>(),
        "jain": jain(&outcome.flows).map(number),
        "work": { "data_packets": outcome.work.data_packets, "events": outcome.work.events },
    })
}

fn flow(flow: &FlowOutcome) -> Value {
    json!({
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
        "degraded": flow.degraded,
    })
}

fn group(group: &GroupOutcome) -> Value {
    json!({
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
    })
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

/// JSON has no NaN and no infinity: `null` stands for them.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

/// Jain's index of the goodputs; `None` for fewer than two flows, or if none got anything.
fn jain(flows: &[FlowOutcome]) -> Option<f64> {
    let sum: f64 = flows.iter().map(|flow| flow.goodput_mbps).sum();
    let squares: f64 = flows.iter().map(|flow| flow.goodput_mbps * flow.goodput_mbps).sum();
    (flows.len() > 1 && squares > 0.0).then(|| sum * sum / (flows.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_goodput(goodputs: &[f64]) -> Outcome {
        let flow = |goodput_mbps: &f64| FlowOutcome { goodput_mbps: *goodput_mbps, ..FlowOutcome::default() };
        Outcome { flows: goodputs.iter().map(flow).collect(), ..Outcome::default() }
    }

    #[test]
    fn fairness_needs_two_flows() {
        let jain = |goodputs: &[f64]| outcome_json(&with_goodput(goodputs))["jain"].clone();
        assert_eq!(jain(&[5.0, 5.0]), json!(1.0));
        assert_eq!(jain(&[1.0, 0.0]), json!(0.5));
        assert_eq!(jain(&[1.0]), Value::Null);
        assert_eq!(jain(&[0.0, 0.0]), Value::Null);
    }

    #[test]
    fn nothing_that_is_no_number_gets_out() {
        let outcome = outcome_json(&with_goodput(&[f64::NAN, f64::INFINITY]));
        assert_eq!(outcome["flows"][0]["goodput_mbps"], Value::Null);
        assert_eq!(outcome["flows"][1]["goodput_mbps"], Value::Null);
        assert_eq!(outcome["jain"], Value::Null);
    }
}
