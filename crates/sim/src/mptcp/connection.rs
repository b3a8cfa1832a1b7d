//! A multipath connection: both sides of its data level.

use super::distributor::Distributor;
use super::options::MptcpOptions;
use super::reassembly::Reassembly;
use crate::spec::FlowSpec;
use crate::tcp::Stream;
use cwndlab_cc::{Span, Time};
use std::ops::Range;

/// One connection.
pub struct Connection {
    /// Its name.
    pub name: String,
    /// Its subflows among the flows of the simulation.
    pub flows: Range<usize>,
    /// The first subflow's data were acknowledged.
    pub is_established: bool,
    /// Its sending side; a subflow's sender holds it while it handles an event.
    pub distributor: Option<Box<Distributor>>,
    /// Its receiving side.
    pub reassembly: Reassembly,
    /// The limit of the receive window that its subflows follow, in bytes.
    followed_space: u64,
}

impl Connection {
    /// A connection with these subflows.
    #[must_use]
    pub fn new(spec: &FlowSpec, options: &MptcpOptions, flows: Range<usize>) -> Self {
        let stream = Stream::of(&spec.kind.tcp, spec.bytes);
        let distributor = Distributor::new(options, flows.len(), stream);
        Self {
            name: spec.name.clone(),
            flows,
            is_established: false,
            distributor: Some(Box::new(distributor)),
            reassembly: Reassembly::new(&spec.kind.tcp),
            followed_space: 0,
        }
    }

    /// A subflow delivers these of its segments in order; returns the payload that is new, in bytes.
    /// `rtt` is the longest of the subflows' RTTs; `on_waiting` is called with the number of waiting segments whenever
    /// it changes.
    pub fn deliver(
        &mut self,
        now: Time,
        subflow: usize,
        segments: Range<u32>,
        rtt: impl FnOnce() -> Span,
        mut on_waiting: impl FnMut(u32),
    ) -> u64 {
        let Self { distributor, reassembly, .. } = self;
        let Some(distributor) = distributor else { return 0 };
        let mut payload = 0;
        let before = reassembly.next();
        for segment in distributor.carried(subflow, segments) {
            let waiting = reassembly.waiting();
            if reassembly.on_segment(segment) {
                payload += distributor.stream().payload(segment);
            }
            if reassembly.waiting() != waiting {
                on_waiting(reassembly.waiting());
            }
        }
        if reassembly.next() > before {
            reassembly.on_read(now, rtt());
        }
        payload
    }

    /// The limit to which the receive window may grow now, in bytes, if it has grown.
    pub fn grown_space(&mut self) -> Option<u64> {
        let space = self.reassembly.space();
        (space != std::mem::replace(&mut self.followed_space, space)).then_some(space)
    }

    /// Payload delivered in order since the start.
    #[must_use]
    pub fn delivered_bytes(&self) -> u64 {
        let next = self.reassembly.next();
        self.distributor.as_ref().map_or(0, |distributor| distributor.stream().bytes_below(next))
    }

    /// Whether all of its data have arrived.
    #[must_use]
    pub fn has_all(&self) -> bool {
        let total = self.distributor.as_ref().and_then(|distributor| distributor.stream().segments());
        total == Some(self.reassembly.next())
    }

    /// Whether all of its data have been acknowledged.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.distributor.as_ref().is_some_and(|distributor| distributor.is_finished())
    }

    /// Segments that were given to another subflow because theirs had failed.
    #[must_use]
    pub fn reinjected(&self) -> u64 {
        self.distributor.as_ref().map_or(0, |distributor| distributor.reinjected())
    }

    /// How long the receive window held back a subflow that had room in its own window.
    #[must_use]
    pub fn blocked(&self, now: Time) -> Span {
        self.distributor.as_ref().map_or(Span::ZERO, |distributor| distributor.blocked(now))
    }
}
