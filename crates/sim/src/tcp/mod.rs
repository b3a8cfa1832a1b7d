//! TCP endpoints: state machines without I/O.

pub mod options;

pub use options::{LossDetection, PROFILES, Profile, Recovery, RtoFloor, TcpOptions};
