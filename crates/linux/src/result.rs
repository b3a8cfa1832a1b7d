//! The result of a run as JSON, for the front end.

use cwndlab_lab::measures::OverTime;
use cwndlab_lab::weights::encode;
use cwndlab_sim::outcome::{FlowIntervals, Outcome, Recording};
use serde_json::{Map, Value, json};
use std::iter::once;

/// The details that `cwndlab_py` returns to Python for a simulation; `null` where there is no number. Files
/// are in hexadecimal digits.
#[must_use]
pub fn detail(outcome: &Outcome, over_time: &OverTime) -> Value {
    let flow = |kept: &FlowIntervals| -> Map<String, Value> {
        let FlowIntervals { goodput_mbps, cwnd_segments, loss_events, probes, .. } = kept;
        let columns =
            [("goodput_mbps", goodput_mbps), ("cwnd_segments", cwnd_segments), ("loss_events", loss_events)];
        let columns = columns.into_iter().chain(probes.iter().map(|(name, series)| (*name, series)));
        columns.map(|(name, series)| (name.to_owned(), json!(series.0))).collect()
    };
    let named = || outcome.flows.iter().zip(&outcome.intervals.flows);
    let subflows = named().flat_map(|(one, kept)| one.subflows().iter().zip(&kept.subflows));
    let distributions = outcome.distributions.iter();
    let senders = outcome.flows.iter().flat_map(|flow| once(flow).chain(flow.subflows()));
    let learned =
        senders.filter_map(|sender| Some(json!([sender.name, hex(&encode(sender.weights.as_ref()?))])));
    let groups = outcome.groups.iter().zip(&outcome.intervals.groups);
    json!({
        "end_s": outcome.intervals.end_s,
        "flows": named().map(|(one, kept)| json!([one.name, flow(kept)])).collect::<Vec<_>>(),
        "subflows": subflows.map(|(one, kept)| json!([one.name, flow(kept)])).collect::<Vec<_>>(),
        "groups": groups
            .map(|(group, kept)| json!([group.name, { "goodput_mbps": kept.0 }]))
            .collect::<Vec<_>>(),
        "jain": [over_time.jain_seconds.end_s, over_time.jain_seconds.jain],
        "distributions": distributions
            .map(|each| json!([each.kind, each.name, each.measure, each.middle, each.counts]))
            .collect::<Vec<_>>(),
        "weights": learned.collect::<Vec<_>>(),
    })
}

/// The recording.
#[must_use]
pub fn recorded(recording: &Recording) -> Value {
    let columns = |columns: &[(String, Vec<f64>)]| -> Map<String, Value> {
        columns.iter().map(|(name, values)| (name.clone(), json!(values))).collect()
    };
    let tables = recording.tables.iter();
    let events = recording.events.iter();
    json!({
        "time_s": recording.time_s,
        "tables": tables.map(|table| json!([table.kind, table.name, columns(&table.columns)])).collect::<Vec<_>>(),
        "events": events.map(|event| json!([event.time_s, event.flow, event.kind])).collect::<Vec<_>>(),
        "events_missed": recording.events_missed,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
