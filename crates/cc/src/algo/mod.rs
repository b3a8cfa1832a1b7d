//! The algorithms: one file each.

pub mod bbr1;
pub mod constant;
pub mod cubic;
pub mod newreno;
pub mod random;
pub mod reno;
pub mod vegas;
