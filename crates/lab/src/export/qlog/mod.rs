//! qlog: the file of one flow, and the tap that writes the files of a simulation.

mod log;
mod tap;

pub use log::{Acknowledgement, Log, Metrics, Segment};
pub(super) use tap::Qlog;
