//! A handle on a run from another thread.

use cwndlab_lab::run;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Cancels a run, and reports its progress.
#[pyclass(frozen, module = "cwndlab._native")]
#[derive(Default)]
pub struct RunToken(Arc<run::RunToken>);

impl RunToken {
    pub(crate) fn shared(&self) -> Arc<run::RunToken> {
        self.0.clone()
    }
}

#[pymethods]
impl RunToken {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops the run soon.
    fn cancel(&self) {
        self.0.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether the run is to stop.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.cancel.load(Ordering::Relaxed)
    }

    /// Sets the progress, from 0 to 1, of a run that takes place in another process.
    fn report(&self, share: f64) {
        self.0.progress.store((share * 1000.0) as u64, Ordering::Relaxed);
    }

    /// How much of the simulated time is done, from 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        self.0.progress.load(Ordering::Relaxed) as f64 / 1000.0
    }
}
