//! The algorithms and queues of this process: those that ship, those of the extension module, and the controllers that Python has
//! registered.

use crate::controller::{self, Declaration};
use cwndlab_cc::{Algorithm, Registry};
use cwndlab_sim::queue::{QueueKind, Queues};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{LazyLock, PoisonError, RwLock};

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(|| RwLock::new(Registry::built_in()));
static QUEUES: LazyLock<RwLock<Queues>> = LazyLock::new(|| RwLock::new(Queues::built_in()));

/// As it is now. What is registered later changes no run that has begun.
pub(crate) fn current() -> Registry {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The kinds of queue as they are now.
pub(crate) fn queues() -> Queues {
    QUEUES.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Adds a kind of queue to those that an extension module offers.
///
/// # Errors
/// There is a queue of this name already.
pub fn add_queue(kind: QueueKind) -> PyResult<()> {
    if queues().get(kind.name).is_some() {
        let message = format!("there is already a queue `{}`; choose another name", kind.name);
        return Err(PyValueError::new_err(message));
    }
    QUEUES.write().unwrap_or_else(PoisonError::into_inner).add(kind);
    Ok(())
}

/// Adds an algorithm of a name that none has.
pub(crate) fn add_new(algorithm: Algorithm) -> PyResult<()> {
    if current().get(algorithm.name).is_some() {
        let message = format!("there is already an algorithm `{}`; choose another name", algorithm.name);
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
