//! The actions from which a policy chooses, one set for each base algorithm.

mod cubic;
mod newreno;

pub use cubic::{CubicActionParams, CubicActions};
pub use newreno::{NewRenoActionParams, NewRenoActions};
