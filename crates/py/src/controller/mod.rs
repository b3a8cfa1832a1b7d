//! Controllers written in Python, as the simulator sees them.

mod declaration;
mod facts;
mod python;
mod values;

pub(crate) use declaration::{Declaration, algorithm};
pub use facts::{Ack, Event, Facts, Lost, Random, RateSample, Sent, Setup};
