//! The algorithms and queues of this process: those that ship, those of the extension module, and the
//! controllers that Python has registered.

use crate::controller::{self, Declaration};
use cwndlab_cc::{Algorithm, Registry};
use cwndlab_lab::{Backend, Extension, Queues};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{LazyLock, PoisonError, RwLock};

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(|| RwLock::new(Registry::built_in()));
static QUEUES: LazyLock<RwLock<Queues>> = LazyLock::new(|| RwLock::new(Queues::built_in()));
/// Names that the extension module adds to those that ship.
static EXTENSION: RwLock<Names> = RwLock::new(Names { algorithms: Vec::new(), queues: Vec::new() });

#[derive(Clone)]
struct Names {
    algorithms: Vec<&'static str>,
    queues: Vec<&'static str>,
}

/// The registry as it is now. Later registrations change no run that has begun.
pub(crate) fn current() -> Registry {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The kinds of queue as they are now.
pub(crate) fn queues() -> Queues {
    QUEUES.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The kinds of queue that a backend has. Linux has the extension's only if the extension is linked into the kernel.
pub(crate) fn queues_of(backend: Backend, linked: bool) -> Queues {
    let mut all = queues();
    if matches!(backend, Backend::Linux { .. }) && !linked {
        for name in extension().queues {
            let how = "build the crate into it with: cwndlab linux --with CRATE";
            all.withhold(name, format!("`{name}` is code of a crate that is not in the kernel; {how}"));
        }
    }
    all
}

/// The algorithms that are in the kernel if the extension is linked into it.
pub(crate) fn linked_algorithms(linked: bool) -> Vec<&'static str> {
    if linked { extension().algorithms } else { Vec::new() }
}

fn extension() -> Names {
    EXTENSION.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Adds an extension module's algorithms and queues to those that ship.
pub(crate) fn extend(extension: Extension) -> PyResult<()> {
    let names = Names { algorithms: extension.algorithm_names(), queues: extension.queue_names() };
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    let mut queues = QUEUES.write().unwrap_or_else(PoisonError::into_inner);
    extension.add_to(&mut registry, &mut queues).map_err(PyValueError::new_err)?;
    *EXTENSION.write().unwrap_or_else(PoisonError::into_inner) = names;
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
