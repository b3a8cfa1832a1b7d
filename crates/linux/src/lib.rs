//! The part of the Linux backend that runs inside the kernel, in Rust: the links of a scenario, which are those of the
//! simulator, and the measures of its flows.
//!
//! The kernel is Linux for User Mode, whose clock jumps from event to event. C code beside this crate
//! (`kernel/`) opens sockets, hands over each packet that TCP sends, and delivers what comes out of the
//! links. So only TCP differs from the simulator.

mod capture;
pub mod connection;
pub mod controller;
pub mod facts;
pub mod flow;
pub mod group;
mod headers;
#[cfg(not(test))]
mod kernel;
pub mod line;
pub mod network;
pub mod patterns;
pub mod probed;
mod qlog;
#[cfg(not(test))]
mod queue;
pub mod request;
pub mod result;
pub mod run;
pub mod sent;
pub mod slots;
