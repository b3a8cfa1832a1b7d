//! Event loop, links, queues, TCP endpoints and recording.
//!
//! A [`Sim`] is built from a [`SimSpec`]; running it yields an [`Outcome`], which a [`tap`] makes. A packet
//! waits and gets lost in [`link`] (with its [`queue`]). A controller of `cwndlab-cc` decides the window, and
//! [`tcp::Sender`] decides what may be sent within it.

mod ahead;
pub mod arrivals;
mod calendar;
pub mod event;
mod expected;
pub mod flow;
pub mod fragment;
mod host;
pub mod link;
pub mod measures;
pub mod mptcp;
pub mod outcome;
pub mod packet;
mod processing;
pub mod queue;
pub mod record;
pub mod ring;
pub mod route;
pub mod schedule;
pub mod series;
pub mod sim;
pub mod spec;
pub mod tap;
pub mod tcp;
pub mod timeout_patterns;
pub mod topology;
pub mod turn;
mod watch;
pub mod way_out;

pub use measures::Measures;
pub use outcome::Outcome;
pub use schedule::Schedule;
pub use sim::{Glance, Sim, Stop};
pub use spec::SimSpec;
pub use watch::Watch;
