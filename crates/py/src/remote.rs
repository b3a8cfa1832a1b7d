//! Controllers of this process that drive sockets of a Linux kernel.

use crate::{Overrides, accepted, registry};
use cwndlab_lab::Backend;
use cwndlab_lab::linux::remote::{self, RemoteAlgorithm, Server};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

/// A run has no external agents.
const LINUX: Backend = Backend::Linux { agents: false };

/// The algorithms of a scenario that the kernel lacks. A kernel with the extension linked in has the extension's
/// algorithms.
#[pyfunction]
pub(crate) fn remote_controllers(
    py: Python<'_>,
    text: &[u8],
    file: &str,
    overrides: Overrides,
    linked: bool,
) -> PyResult<Vec<RemoteAlgorithm>> {
    py.detach(|| {
        let scenario = accepted(text, file, &overrides, LINUX, linked)?;
        Ok(remote::served(&scenario, &registry::linked_algorithms(linked)))
    })
}

/// The controllers of one run.
#[pyclass(frozen, module = "cwndlab._native")]
pub(crate) struct ControllerServer(Mutex<Server>);

#[pymethods]
impl ControllerServer {
    #[new]
    fn new(
        py: Python<'_>,
        text: &[u8],
        file: &str,
        overrides: Overrides,
        linked: bool,
        seed: u64,
    ) -> PyResult<Self> {
        py.detach(|| {
            let scenario = accepted(text, file, &overrides, LINUX, linked)?;
            Ok(Self(Mutex::new(Server::new(&scenario, seed))))
        })
    }

    /// Answers a message of the kernel. `RuntimeError` if a controller breaks the run off.
    fn answer<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let mut server =
            self.0.try_lock().map_err(|_| PyRuntimeError::new_err("another thread is answering"))?;
        let answer =
            server.answer(message).map_err(|failure| PyRuntimeError::new_err(failure.to_string()))?;
        Ok(PyBytes::new(py, &answer))
    }
}
