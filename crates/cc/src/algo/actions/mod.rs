//! The actions among which a policy chooses, on the base algorithms that they move.

mod cubic;
mod newreno;

pub use cubic::{CubicActionParams, CubicActions};
pub use newreno::{NewRenoActionParams, NewRenoActions};
