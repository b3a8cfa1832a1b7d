//! The context that the readers of all parts of a scenario share.

use super::problem::Problems;
use crate::trace::TraceFiles;
use cwndlab_cc::{Registry, Span};
use cwndlab_sim::queue::Queues;
use cwndlab_sim::tcp::{Profile, TcpOptions};

pub(crate) struct Context<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) queues: &'a Queues,
    pub(crate) traces: &'a dyn TraceFiles,
    pub(crate) problems: &'a Problems,
    /// Length of the run; `None` if it could not be read.
    pub(crate) duration: Option<Span>,
    pub(crate) profile: &'static Profile,
    /// The profile's options, overridden by `[tcp]`.
    pub(crate) tcp: TcpOptions,
}
