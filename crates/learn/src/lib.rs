//! The lowest layer: seeded randomness, reproducible maths, a deep Q-network, and the interface between a
//! learner and what it steers.
//!
//! Nothing here knows about computer networks. Everything gives the same bits on every machine.

pub mod agent;
pub mod dqn;
pub mod learning;
pub mod math;
pub mod net;
pub mod rng;

pub use agent::Agent;
pub use dqn::{Dqn, DqnConfig};
pub use learning::{Learning, Weights};
pub use net::Mlp;
pub use rng::Rng;
