//! Multipath TCP (RFC 8684): a connection over several subflows.
//!
//! A subflow is a TCP flow of its own, with its own sequence numbers, window and recovery. Above them lies
//! the data level: the [`Distributor`] gives each subflow that may send the next data and knows which data
//! its segments carry, the [`Reassembly`] puts the subflows' data in order and grants the window that they
//! share. A [`Connection`] holds both.

mod connection;
mod distributor;
mod options;
mod reassembly;
mod segments;

pub use connection::Connection;
pub use distributor::Distributor;
pub use options::{MptcpOptions, Scheduler};
pub use reassembly::Reassembly;
