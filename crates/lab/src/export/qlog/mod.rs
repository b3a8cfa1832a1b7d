//! qlog: the file of a flow, and the tap that writes those of a simulation.

mod log;
mod tap;

pub use log::{Acknowledgement, Log, Metrics, Segment};
pub(super) use tap::Qlog;
