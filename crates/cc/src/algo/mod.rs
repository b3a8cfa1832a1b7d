//! The algorithms: one file each, or one folder.

pub mod always;
pub mod balia;
pub mod bbr1;
pub mod bbr2;
pub mod bbr3;
pub mod constant;
pub mod cubic;
pub mod dbac;
pub mod dqn_cubic;
pub mod dqn_cubic_2022;
pub mod dqn_newreno;
pub mod fbbr2;
pub mod lia;
pub mod newreno;
pub mod olia;
pub mod random;
pub mod reno;
pub mod steered;
pub mod timeout_patterns;
pub mod vegas;
