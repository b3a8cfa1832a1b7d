//! Values of Rust as values of Python.

use cwndlab_lab::{Problem, Scenario};
use cwndlab_sim::outcome::{Recording, SeriesTable};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

/// `{"ok": ..., "problems": [...], "packets_expected": ...}`; the last is null if there is no scenario to run.
pub(crate) fn check_json(scenario: Option<&Scenario>, problems: &[Problem]) -> String {
    let problem = |problem: &Problem| {
        json!({
            "severity": problem.severity.word(),
            "line": problem.line(),
            "column": problem.column(),
            "key": problem.key,
            "message": problem.message,
            "text": problem.to_string(),
        })
    };
    json!({
        "ok": scenario.is_some(),
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
        "packets_expected": scenario.map(Scenario::packets_expected),
    })
    .to_string()
}

/// `{"time_s": array, "tables": [(kind, name, {column: array})], "events": [(time_s, flow, kind)], "events_missed": n}`;
/// the arrays take the columns over without a copy.
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
