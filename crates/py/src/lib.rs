//! The interface of an extension module to the Python package: it passes arguments and results, and decides nothing.

mod apart;
mod controller;
mod convert;
mod gym;
mod launch;
mod memory;
mod registry;
mod remote;
mod token;

use convert::{check_json, detail, recording};
use cwndlab_cc::Span;
use cwndlab_lab::export::Wanted;
use cwndlab_lab::measures::{OverTime, outcome_json};
use cwndlab_lab::run::Failure;
use cwndlab_lab::scenario::{nearest as nearest_words, read};
use cwndlab_lab::trace::{self, BuiltIn, Directory, TraceFiles};
use cwndlab_lab::weights::MAX_BYTES as WEIGHTS_BYTES;
use cwndlab_lab::{
    Backend, Extension, Problem, Scenario, Source, bench as benchmarks, catalogue as listing, linux, run,
};
use pyo3::exceptions::{PyInterruptedError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::path::PathBuf;
use token::RunToken;

/// Dotted keys and values that override a scenario's.
type Overrides = Vec<(String, String)>;

fn reading(
    text: &[u8],
    file: &str,
    overrides: &Overrides,
    backend: Backend,
    linked: bool,
) -> (Option<Scenario>, Vec<Problem>) {
    let registry = match backend {
        Backend::Sim => registry::current(),
        Backend::Linux { .. } => linux::with_algorithms(&registry::current()),
    };
    let source = Source {
        backend,
        file,
        registry: &registry,
        queues: &registry::queues_of(backend, linked),
        traces: &Directory::of(file),
    };
    read(text, &source, overrides)
}

fn accepted(
    text: &[u8],
    file: &str,
    overrides: &Overrides,
    backend: Backend,
    linked: bool,
) -> PyResult<Scenario> {
    let (scenario, problems) = reading(text, file, overrides, backend, linked);
    let messages = || problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    scenario.ok_or_else(|| PyValueError::new_err(messages()))
}

fn named(backend: &str) -> PyResult<Backend> {
    Backend::named(backend)
        .ok_or_else(|| PyValueError::new_err(format!("expected the backend sim or linux, found {backend}")))
}

/// Every problem of a scenario, as JSON. `linked`, for Linux: whether the extension is linked into the kernel.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, backend = "sim", linked = false))]
fn check(
    py: Python<'_>,
    text: &[u8],
    file: &str,
    overrides: Overrides,
    backend: &str,
    linked: bool,
) -> PyResult<String> {
    let backend = named(backend)?;
    Ok(py.detach(|| {
        let (scenario, problems) = reading(text, file, &overrides, backend, linked);
        check_json(scenario.as_ref(), &problems)
    }))
}

/// All settings in force in a scenario, as canonical JSON.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, backend = "sim", linked = false))]
fn resolve(
    py: Python<'_>,
    text: &[u8],
    file: &str,
    overrides: Overrides,
    backend: &str,
    linked: bool,
) -> PyResult<String> {
    let backend = named(backend)?;
    py.detach(|| Ok(accepted(text, file, &overrides, backend, linked)?.resolve().to_string()))
}

/// Names of the components that a run reports on, as JSON.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, backend = "sim", linked = false))]
fn components(
    py: Python<'_>,
    text: &[u8],
    file: &str,
    overrides: Overrides,
    backend: &str,
    linked: bool,
) -> PyResult<String> {
    let backend = named(backend)?;
    py.detach(|| Ok(cwndlab_lab::components(&accepted(text, file, &overrides, backend, linked)?).to_string()))
}

/// The line of every value of a TOML text, as JSON.
#[pyfunction]
fn toml_lines(text: &str) -> String {
    cwndlab_lab::lines(text).to_string()
}

/// Measures as JSON, intervals and distributions, and the recording if it was asked for.
type Results<'py> = (String, Bound<'py, PyDict>, Option<Bound<'py, PyDict>>);

/// Runs a scenario with one seed. `qlog` and `pcap` are the folders for exports in qlog and pcapng.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, seed, record, token, qlog = None, pcap = None))]
#[expect(clippy::too_many_arguments, reason = "they are those of a function of Python")]
fn run_seed<'py>(
    py: Python<'py>,
    text: &[u8],
    file: &str,
    overrides: Overrides,
    seed: u64,
    record: bool,
    token: &RunToken,
    qlog: Option<PathBuf>,
    pcap: Option<PathBuf>,
) -> PyResult<Results<'py>> {
    // Fails here if there is no memory for NumPy; its arrays could only panic below.
    py.import("numpy")?;
    let token = token.shared();
    let (mut outcome, over_time) = py.detach(|| {
        let scenario = accepted(text, file, &overrides, Backend::Sim, false)?;
        let wanted = Wanted { qlog, pcap };
        let result = if wanted == Wanted::default() {
            run::run_seed(&scenario, seed, record, &token)
        } else {
            run::run_and_export(&scenario, seed, record, &wanted, &token)
        };
        let outcome = result.map_err(|failure| match failure {
            Failure::Interrupted => PyInterruptedError::new_err(failure.to_string()),
            Failure::Export(_) => PyOSError::new_err(failure.to_string()),
            Failure::Controller(_) | Failure::Kernel(_) | Failure::Waiting(_) | Failure::Fault { .. } => {
                PyRuntimeError::new_err(failure.to_string())
            }
        })?;
        let over_time = OverTime::of(&scenario, seed, &outcome);
        Ok::<_, PyErr>((outcome, over_time))
    })?;
    let measures = outcome_json(&outcome, &over_time).to_string();
    let detail = detail(py, &mut outcome, over_time.jain_seconds)?;
    let recording = outcome.recording.map(|recorded| recording(py, recorded)).transpose()?;
    Ok((measures, detail, recording))
}

/// Algorithms, queues, profiles, TCP options and traces that a backend has, as JSON. `ValueError` for another backend.
#[pyfunction]
#[pyo3(signature = (backend="sim"))]
fn catalogue(backend: &str) -> PyResult<String> {
    let (algorithms, queues) = match named(backend)? {
        Backend::Sim => (registry::current(), registry::queues()),
        Backend::Linux { .. } => {
            (linux::with_algorithms(&registry::current()), linux::with_queues(&registry::queues()))
        }
    };
    Ok(listing::catalogue(&algorithms, &queues).to_string())
}

/// The known words that an unknown one most likely stands for: all that are equally near.
#[pyfunction]
fn nearest(word: &str, known: Vec<String>) -> Vec<String> {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    nearest_words(word, &known).into_iter().map(str::to_owned).collect()
}

/// The content of a trace that ships.
#[pyfunction]
#[pyo3(name = "trace")]
fn built_in_trace(name: &str) -> PyResult<&'static str> {
    let found = BuiltIn::named(name).map(BuiltIn::text);
    found.ok_or_else(|| PyValueError::new_err(format!("there is no trace `{name}`")))
}

/// Describes a trace that ships, a trace file, or (`delays`) a file of delays, as JSON. `ValueError` if it
/// has a mistake. It is examined in windows of `window_ns` nanoseconds.
#[pyfunction]
fn describe_trace(py: Python<'_>, name: &str, window_ns: u64, delays: bool) -> PyResult<String> {
    py.detach(|| {
        let folder = Directory::of("");
        let mut file = match BuiltIn::named(name) {
            Some(built_in) => built_in.open(),
            None => folder.open(name).map_err(PyValueError::new_err)?,
        };
        let (window, whole) = (Span(window_ns.max(1)), Span(u64::MAX));
        let about = if delays {
            trace::read_delays(&mut *file.reader, None, whole).and_then(|delays| delays.about(window))
        } else {
            trace::read(&mut *file.reader, whole).and_then(|trace| trace.about(window))
        };
        about.map(|about| about.to_string()).map_err(|why| PyValueError::new_err(format!("{name}: {why}")))
    })
}

/// Analyses a packet capture: facts as JSON; arrival times of the data, in ns, and their bytes. `ValueError`
/// if the file is not a capture.
#[pyfunction]
fn read_capture(py: Python<'_>, name: &str) -> PyResult<(String, Vec<u64>, Vec<f64>)> {
    py.detach(|| {
        let wrong = |why: String| PyValueError::new_err(format!("{name}: {why}"));
        let file = File::open(name).map_err(|error| wrong(error.to_string()))?;
        let analysis = cwndlab_capture::read(file).map_err(wrong)?;
        let (at_ns, bytes) = analysis.arrivals.into_iter().unzip();
        Ok((analysis.facts.to_string(), at_ns, bytes))
    })
}

/// The names of the benchmark cases.
#[pyfunction]
fn bench_cases() -> Vec<&'static str> {
    benchmarks::cases()
}

/// The best of `repeats` runs of a benchmark case with overrides, as JSON.
#[pyfunction(name = "bench")]
fn bench_case(py: Python<'_>, case: &str, repeats: u32, overrides: Overrides) -> PyResult<String> {
    let result =
        py.detach(|| benchmarks::bench(case, repeats, &registry::current(), &registry::queues(), &overrides));
    result.map(|report| report.to_string()).map_err(PyValueError::new_err)
}

/// Fills an extension module with everything that the Python package asks for, and adds these algorithms and
/// queues to those that ship: the author of a module need do no more.
///
/// # Errors
/// One of these has the name of an algorithm or a queue that ships.
pub fn fill(module: &Bound<'_, PyModule>, extension: impl Into<Extension>) -> PyResult<()> {
    registry::extend(extension.into())?;
    module.add_class::<RunToken>()?;
    module.add_class::<remote::ControllerServer>()?;
    module.add_function(wrap_pyfunction!(remote::remote_controllers, module)?)?;
    controller::add_classes(module)?;
    gym::add_classes(module)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(components, module)?)?;
    module.add_function(wrap_pyfunction!(toml_lines, module)?)?;
    module.add_function(wrap_pyfunction!(run_seed, module)?)?;
    module.add_function(wrap_pyfunction!(registry::register, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(nearest, module)?)?;
    module.add("WEIGHTS_BYTES", WEIGHTS_BYTES)?;
    module.add_function(wrap_pyfunction!(built_in_trace, module)?)?;
    module.add_function(wrap_pyfunction!(describe_trace, module)?)?;
    module.add_function(wrap_pyfunction!(read_capture, module)?)?;
    module.add_function(wrap_pyfunction!(bench_cases, module)?)?;
    module.add_function(wrap_pyfunction!(bench_case, module)?)
}
