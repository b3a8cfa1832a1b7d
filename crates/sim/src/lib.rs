//! Event loop, links, queues, TCP endpoints and recording.

pub mod outcome;
pub mod packet;
pub mod queue;
pub mod schedule;
pub mod sim;
pub mod spec;
pub mod tcp;

pub use outcome::Outcome;
pub use schedule::Schedule;
pub use sim::{Sim, Stop};
pub use spec::SimSpec;
