//! The algorithms of this process: those that ship, and the controllers that Python has registered.

use crate::controller::{self, Declaration};
use cwndlab_cc::{Algorithm, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{LazyLock, PoisonError, RwLock};

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(|| RwLock::new(Registry::built_in()));

/// As it is now. What is registered later changes no run that has begun.
pub(crate) fn current() -> Registry {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Adds an algorithm of a name that none has.
pub(crate) fn add_new(algorithm: Algorithm) -> PyResult<()> {
    if current().get(algorithm.name).is_some() {
        let message = format!("there is an algorithm `{}` already; choose another name", algorithm.name);
        return Err(PyValueError::new_err(message));
    }
    add(algorithm);
    Ok(())
}

/// Adds an algorithm; one of the same name is replaced.
fn add(algorithm: Algorithm) {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner).add(algorithm);
}

/// Registers a controller written in Python.
#[pyfunction]
pub(crate) fn register(declaration: &Bound<'_, PyAny>) -> PyResult<()> {
    let declared: Declaration = declaration.extract()?;
    add(controller::algorithm(declared, declaration.clone().unbind())?);
    Ok(())
}
