//! Makes an algorithm of the registry from a controller's declaration in Python.

use super::facts::{Random, Setup};
use super::python::{ControllerClass, PythonController};
use cwndlab_cc::params::{Allowed, ParamSpec, Value};
use cwndlab_cc::{self as cc, Algorithm, Ecn, Needs, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The attributes of `cwndlab.controllers.declaration.Declaration`.
#[derive(FromPyObject)]
pub(crate) struct Declaration {
    name: String,
    summary: String,
    source: String,
    departures: Vec<String>,
    parameters: Vec<Parameter>,
    probes: Vec<String>,
    callbacks: Vec<String>,
    ecn: String,
    own_window_in_recovery: bool,
    bounded: bool,
}

/// The attributes of `cwndlab.controllers.parameters.Parameter`.
#[derive(FromPyObject)]
struct Parameter {
    name: String,
    kind: String,
    default: Py<PyAny>,
    low: Option<f64>,
    high: Option<f64>,
    words: Vec<String>,
    unit: String,
    meaning: String,
    source: String,
}

/// The algorithm that a declaration describes. `declared` is the same declaration as a Python object: it
/// makes the controllers.
pub(crate) fn algorithm(declaration: Declaration, declared: Py<PyAny>) -> PyResult<Algorithm> {
    let params = Python::attach(|py| {
        let specs = declaration.parameters.iter().map(|parameter| parameter.spec(py));
        specs.collect::<PyResult<Vec<_>>>()
    })?;
    let has = |callback: &str| declaration.callbacks.iter().any(|name| name == callback);
    let needs = Needs {
        ecn: ecn(&declaration.ecn)?,
        sent_packets: has("on_sent"),
        lost_packets: has("on_lost"),
        own_window_in_recovery: declaration.own_window_in_recovery,
        ignores_rate_samples: false,
    };
    let has_timer = has("on_timer");
    let probes = kept_all(declaration.probes);
    let declares = cc::Declaration { needs, probes, bounded: declaration.bounded, ..cc::Declaration::PLAIN };
    let class = Arc::new(ControllerClass { declares, has_timer, declared });
    Ok(Algorithm {
        name: kept(declaration.name),
        summary: kept(declaration.summary),
        source: kept(declaration.source),
        departures: kept_all(declaration.departures),
        params: params.into(),
        declares: declares.into(),
        build: Arc::new(move |setup, settings| Box::new(make(&class, setup, settings))),
    })
}

/// The registry holds names as `'static` strings. A controller is registered once or a few times in the life
/// of a process, so little memory is leaked.
fn kept(text: String) -> &'static str {
    text.leak()
}

fn kept_all(texts: Vec<String>) -> &'static [&'static str] {
    texts.into_iter().map(kept).collect::<Vec<_>>().leak()
}

fn ecn(word: &str) -> PyResult<Ecn> {
    let known = Ecn::ALL.into_iter().find(|ecn| ecn.word() == word);
    known.ok_or_else(|| PyValueError::new_err(format!("ecn = {word:?}")))
}

impl Parameter {
    fn spec(&self, py: Python<'_>) -> PyResult<ParamSpec> {
        let default = self.default.bind(py);
        let low = self.low.unwrap_or(f64::NEG_INFINITY);
        let high = self.high.unwrap_or(f64::INFINITY);
        let span =
            |seconds: f64| if seconds.is_infinite() { Span::MAX } else { Span::from_secs_f64(seconds) };
        let (default, allowed) = match self.kind.as_str() {
            "number" => (Value::Number(default.extract()?), Allowed::Number(low, high)),
            // A float too large for 64 bits becomes the largest `u64`: no upper bound.
            "count" => (Value::Count(default.extract()?), Allowed::Count(low as u64, high as u64)),
            "flag" => (Value::Flag(default.extract()?), Allowed::Flag),
            "time" => (
                Value::Span(Span::from_secs_f64(default.extract()?)),
                Allowed::Span(Span::from_secs_f64(low), span(high)),
            ),
            "word" => {
                let words = kept_all(self.words.clone());
                let word: String = default.extract()?;
                let known = words.iter().find(|known| **known == word).copied();
                let word = known.ok_or_else(|| PyValueError::new_err(format!("{word:?} is no word")))?;
                (Value::Word(word), Allowed::Word(words))
            }
            kind => return Err(PyValueError::new_err(format!("kind {kind:?}"))),
        };
        Ok(ParamSpec {
            name: kept(self.name.clone()),
            default,
            allowed,
            unit: kept(self.unit.clone()),
            meaning: kept(self.meaning.clone()),
            source: kept(self.source.clone()),
            at_most: None,
        })
    }
}

/// Makes a flow's controller, or breaks off the run if its class raises an exception.
fn make(
    class: &Arc<ControllerClass>,
    setup: &cwndlab_cc::Setup,
    settings: &[(String, Value)],
) -> PythonController {
    Python::attach(|py| {
        let made = || {
            let random = Py::new(py, Random::default())?;
            let facts = Setup::of(setup, random.clone_ref(py));
            let instance = class.declared.bind(py).call_method1("make", (facts, as_dict(py, settings)?))?;
            PythonController::of(class.clone(), instance, setup.mss, random)
        };
        made().unwrap_or_else(|error| class.break_off(py, "__init__", &error))
    })
}

fn as_dict<'py>(py: Python<'py>, settings: &[(String, Value)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in settings {
        match value {
            Value::Number(x) => dict.set_item(name, x),
            Value::Count(u64::MAX) => dict.set_item(name, f64::INFINITY),
            Value::Count(n) => dict.set_item(name, n),
            Value::Flag(flag) => dict.set_item(name, flag),
            Value::Word(word) => dict.set_item(name, word),
            Value::Span(span) => dict.set_item(name, span.as_secs_f64()),
            // No class declares a file.
            Value::File(file) => dict.set_item(name, &file.name),
        }?;
    }
    Ok(dict)
}
