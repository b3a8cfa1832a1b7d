//! Numbers that a controller has set, checked.

use cwndlab_cc::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString};

/// Below the first number that needs more than 64 bits.
const MOST: f64 = 1.84e19;

/// The attribute as a whole number of at least `least`; a real number is rounded down.
pub(super) fn whole(of: &Bound<'_, PyAny>, name: &Bound<'_, PyString>, least: u64) -> PyResult<u64> {
    let value = of.getattr(name)?;
    as_whole(&value).filter(|n| *n >= least).ok_or_else(|| {
        let needed = format!("a finite number from {least} to {MOST:.2e}");
        refused(&value, name, &needed)
    })
}

/// The same of an attribute that may be `None`.
pub(super) fn optional(
    of: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    least: u64,
) -> PyResult<Option<u64>> {
    let value = of.getattr(name)?;
    if value.is_none() { Ok(None) } else { whole(of, name, least).map(Some) }
}

/// The attribute as seconds since the start of the run, or `None`.
pub(super) fn moment(of: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<Option<Time>> {
    let value = of.getattr(name)?;
    if value.is_none() {
        return Ok(None);
    }
    let seconds = as_number(&value).filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    let needed = "the simulated time in seconds, or None";
    let nanos = seconds.ok_or_else(|| refused(&value, name, needed))? * 1e9;
    Ok(Some(Time(nanos.round() as u64)))
}

/// The attribute as a recorded value; `None` is not a number.
pub(super) fn probe(of: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<f64> {
    let value = of.getattr(name)?;
    if value.is_none() {
        return Ok(f64::NAN);
    }
    as_real(&value).ok_or_else(|| refused(&value, name, "a number or None"))
}

fn as_whole(value: &Bound<'_, PyAny>) -> Option<u64> {
    if value.is_exact_instance_of::<PyInt>() {
        return value.extract().ok();
    }
    let real = as_number(value)?;
    (0.0..=MOST).contains(&real).then_some(real as u64)
}

/// A number that is no truth value: `cwnd_bytes = True` is a slip, not one byte.
fn as_number(value: &Bound<'_, PyAny>) -> Option<f64> {
    // Nearly all are Python's floats, and looking up the name of a class takes long.
    let is_float = value.is_exact_instance_of::<PyFloat>();
    if is_float || !is_flag(value) { as_real(value) } else { None }
}

/// NumPy has a class of its own for truth values: `bool`, or `bool_` in older versions.
fn is_flag(value: &Bound<'_, PyAny>) -> bool {
    let class = value.get_type();
    class.name().is_ok_and(|name| name.to_cow().is_ok_and(|name| name.starts_with("bool")))
}

fn as_real(value: &Bound<'_, PyAny>) -> Option<f64> {
    if let Ok(float) = value.cast_exact::<PyFloat>() {
        return Some(float.value());
    }
    // NumPy's numbers are not Python's ints and floats; they give their value in the same way.
    value.extract().ok()
}

fn refused(value: &Bound<'_, PyAny>, name: &Bound<'_, PyString>, needed: &str) -> PyErr {
    let shown = value.repr().map_or_else(|_| "not a number".to_owned(), |repr| repr.to_string());
    PyValueError::new_err(format!("self.{name}: expected {needed}, found {shown}"))
}
