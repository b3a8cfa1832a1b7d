//! The extension module `cwndlab._native`, with the algorithms that ship and no others.

use pyo3::prelude::*;

/// The module.
#[pymodule]
mod _native {
    use super::{Bound, PyModule, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        cwndlab_py::fill(module, [])
    }
}
