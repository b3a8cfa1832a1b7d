//! The algorithms: one file each, or one folder.

pub mod bbr1;
pub mod bbr2;
pub mod bbr3;
pub mod constant;
pub mod cubic;
pub mod fbbr2;
pub mod newreno;
pub mod random;
pub mod reno;
pub mod timeout_patterns;
pub mod vegas;
