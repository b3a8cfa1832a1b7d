//! Event loop, links, queues, TCP endpoints and recording.

pub mod packet;
pub mod queue;
pub mod schedule;
pub mod spec;
pub mod tcp;
