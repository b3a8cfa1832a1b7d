//! Rust values as Python values.

use cwndlab_lab::measures::JainSeconds;
use cwndlab_lab::weights::encode;
use cwndlab_lab::{Problem, Scenario};
use cwndlab_sim::Outcome;
use cwndlab_sim::outcome::{
    Distribution, FlowIntervals, GroupOutcome, Intervals, Recording, Series, SeriesTable,
};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;

/// `{"ok": ..., "problems": [...], "packets_expected": ..., "packets_held": ..., "senders": ..., "connections": ..., "hosts": ...,
/// "directions": ..., "knows_earlier_run": ...}`; the last seven are null if there is no scenario to run.
pub(crate) fn check_json(scenario: Option<&Scenario>, problems: &[Problem]) -> String {
    let problem = |problem: &Problem| {
        json!({
            "severity": problem.severity.word(),
            "line": problem.line(),
            "column": problem.column(),
            "override": problem.override_key(),
            "key": problem.key,
            "message": problem.message,
            "text": problem.to_string(),
        })
    };
    json!({
        "ok": scenario.is_some(),
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
        "packets_expected": scenario.map(Scenario::packets_expected),
        "packets_held": scenario.map(Scenario::packets_held),
        "senders": scenario.map(Scenario::senders),
        "connections": scenario.map(Scenario::connections),
        "hosts": scenario.map(Scenario::hosts),
        "directions": scenario.map(Scenario::directions),
        "knows_earlier_run": scenario.map(Scenario::knows_earlier_run),
    })
    .to_string()
}

/// `{"time_s": array, "tables": [(kind, name, {column: array})], "events": [(time_s, flow, kind)],
/// "events_missed": n}`; the columns become arrays without a copy.
pub(crate) fn recording(py: Python<'_>, recording: Recording) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("time_s", recording.time_s.into_pyarray(py))?;
    let tables = recording.tables.into_iter().map(|table| {
        let SeriesTable { kind, name, columns } = table;
        Ok((kind, name, columns_dict(py, columns)?))
    });
    dict.set_item("tables", tables.collect::<PyResult<Vec<_>>>()?)?;
    let events = recording.events.into_iter().map(|event| (event.time_s, event.flow, event.kind));
    dict.set_item("events", events.collect::<Vec<_>>())?;
    dict.set_item("events_missed", recording.events_missed)?;
    Ok(dict)
}

fn columns_dict(py: Python<'_>, columns: Vec<(String, Vec<f64>)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in columns {
        dict.set_item(name, values.into_pyarray(py))?;
    }
    Ok(dict)
}

/// `{"end_s": array, "flows": [(name, {column: array})], "subflows": the same, "groups": the same, "jain":
/// (end_s, jain), "distributions": [(kind, name, measure, middle, count)], "weights": [(name, safetensors)]}`
pub(crate) fn detail<'py>(
    py: Python<'py>,
    outcome: &mut Outcome,
    jain: JainSeconds,
) -> PyResult<Bound<'py, PyDict>> {
    let Intervals { end_s, flows, groups, .. } = std::mem::take(&mut outcome.intervals);
    let dict = PyDict::new(py);
    dict.set_item("end_s", end_s.into_pyarray(py))?;
    let (mut lasting, mut subflows) = (Vec::new(), Vec::new());
    for (flow, mut kept) in outcome.flows.iter().zip(flows) {
        let parts = std::mem::take(&mut kept.subflows);
        lasting.push((flow.name.clone(), flow_dict(py, kept)?));
        for (subflow, kept) in flow.subflows().iter().zip(parts) {
            subflows.push((subflow.name.clone(), flow_dict(py, kept)?));
        }
    }
    dict.set_item("flows", lasting)?;
    dict.set_item("subflows", subflows)?;
    let named = |group: &GroupOutcome| group.name.clone();
    let groups = outcome.groups.iter().map(named).zip(groups);
    let groups =
        groups.map(|(name, goodput_mbps)| Ok((name, series_dict(py, [("goodput_mbps", goodput_mbps)])?)));
    dict.set_item("groups", groups.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("jain", (jain.end_s.into_pyarray(py), jain.jain.into_pyarray(py)))?;
    let distributions = std::mem::take(&mut outcome.distributions).into_iter().map(|distribution| {
        let Distribution { kind, name, measure, middle, counts } = distribution;
        (kind, name, measure, middle.into_pyarray(py), counts.into_pyarray(py))
    });
    dict.set_item("distributions", distributions.collect::<Vec<_>>())?;
    let senders = outcome.flows.iter().flat_map(|flow| std::iter::once(flow).chain(flow.subflows()));
    let learned = senders.filter_map(|sender| Some((&sender.name, encode(sender.weights.as_ref()?))));
    let weights = learned.map(|(name, file)| (name, PyBytes::new(py, &file)));
    dict.set_item("weights", weights.collect::<Vec<_>>())?;
    Ok(dict)
}

fn flow_dict(py: Python<'_>, kept: FlowIntervals) -> PyResult<Bound<'_, PyDict>> {
    let FlowIntervals { goodput_mbps, cwnd_segments, loss_events, probes, .. } = kept;
    let columns =
        [("goodput_mbps", goodput_mbps), ("cwnd_segments", cwnd_segments), ("loss_events", loss_events)];
    series_dict(py, columns.into_iter().chain(probes))
}

fn series_dict<'py>(
    py: Python<'py>,
    columns: impl IntoIterator<Item = (&'static str, Series)>,
) -> PyResult<Bound<'py, PyDict>> {
    columns_dict(py, columns.into_iter().map(|(name, series)| (name.to_owned(), series.0)).collect())
}
