//! The lowest room: seeded chance, reproducible maths, and the interface between a learner and what it steers.
//!
//! Nothing here knows of networks. Everything gives the same bits on every machine.

pub mod agent;
pub mod math;
pub mod rng;

pub use agent::Agent;
pub use rng::Rng;
