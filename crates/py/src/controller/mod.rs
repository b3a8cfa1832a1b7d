//! Controllers written in Python, as the simulator sees them.

mod declaration;
mod facts;
mod python;
mod values;

pub(crate) use declaration::{Declaration, algorithm};
use facts::{Ack, Event, Facts, Lost, Random, RateSample, Sent, Setup};
use pyo3::prelude::*;

/// Adds the types of the objects that a controller receives.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Facts>()?;
    module.add_class::<Ack>()?;
    module.add_class::<Event>()?;
    module.add_class::<Sent>()?;
    module.add_class::<Lost>()?;
    module.add_class::<RateSample>()?;
    module.add_class::<Setup>()?;
    module.add_class::<Random>()
}
