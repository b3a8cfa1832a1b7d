//! What a sender or a link needs to handle an event: the time, the tap to report to, and where packets go.

use crate::packet::Data;
use crate::queue::{QueueTap, Waiting};
use crate::tap::{FlowEvent, LinkEvent, Tap};
use crate::tcp::Outgoing;
use crate::way_out::WayOut;
use cwndlab_cc::Time;

/// A sender's turn: what it needs to act, and the tap that observes it.
pub struct Turn<'a, T> {
    /// The time.
    pub now: Time,
    /// Segments for which its host's queue has room.
    pub room: u32,
    /// Where outgoing packets are put.
    pub outbox: &'a mut Vec<Outgoing>,
    /// The tap ...
    pub tap: &'a mut T,
    /// ... that observes the flow with this index.
    pub flow: u32,
    /// Where segments go at once; without it they go to the outbox.
    pub way_out: Option<&'a mut WayOut<'a>>,
}

impl<T: Tap> Turn<'_, T> {
    /// Sends an event to the tap.
    #[inline(always)]
    pub fn emit(&mut self, event: FlowEvent<'_>) {
        self.tap.on_flow(self.now, self.flow, event);
    }

    /// Sends a segment.
    #[inline(always)]
    pub fn leave(&mut self, data: Data, payload: u64, resent: bool) {
        match &mut self.way_out {
            Some(way) => way.take(self.now, self.tap, data, payload, resent),
            None => self.outbox.push(Outgoing::Segment { data, payload, resent }),
        }
    }
}

/// The same for a link.
pub struct LinkTurn<'a, T> {
    /// The time.
    pub now: Time,
    /// The tap ...
    pub tap: &'a mut T,
    /// ... that observes the link with this index.
    pub link: u32,
}

impl<T: Tap> LinkTurn<'_, T> {
    /// Sends an event to the tap.
    #[inline(always)]
    pub fn emit(&mut self, event: LinkEvent<'_>) {
        self.emit_at(self.now, event);
    }

    /// Sends the tap an event that happened at `at`.
    #[inline(always)]
    pub fn emit_at(&mut self, at: Time, event: LinkEvent<'_>) {
        self.tap.on_link(at, self.link, event);
    }
}

impl<T: Tap> QueueTap for LinkTurn<'_, T> {
    fn dropped(&mut self, waiting: &Waiting) {
        let Waiting { packet, bytes, since } = waiting;
        self.emit(LinkEvent::Dropped { packet, bytes: *bytes, arrived: *since });
    }

    fn marked(&mut self, waiting: &Waiting) {
        self.emit(LinkEvent::Marked { packet: &waiting.packet });
    }
}
