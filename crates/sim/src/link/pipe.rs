//! Propagation: packets in flight, in the order of their arrival except for those that a reordering link
//! delays.

use crate::packet::Packet;
use crate::ring::Ring;
use crate::schedule::Schedule;
use crate::spec::{LinkSpec, ReorderSpec};
use cwndlab_cc::{Rng, Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet in flight (or, for a FIFO link, still in its queue).
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// When it arrived at the link; on a link served packet by packet, the same as `departed`.
    pub arrived: Time,
    /// When its last bit is sent.
    pub departed: Time,
    /// When it reaches the far end.
    pub arrival: Time,
    /// On a FIFO link, the number of bytes that the link has accepted so far, up to this packet's last.
    pub accepted: u64,
    /// The packet.
    pub packet: Packet,
}

impl Flight {
    /// A place that no packet has taken yet.
    const BLANK: Self = Self {
        arrived: Time::ZERO,
        departed: Time::ZERO,
        arrival: Time::ZERO,
        accepted: 0,
        packet: Packet::BLANK,
    };
}

/// A packet delayed by reordering: ordered by its arrival, then by the order of departures.
struct Late {
    arrival: Time,
    order: u64,
    flight: Flight,
}

impl PartialEq for Late {
    fn eq(&self, other: &Self) -> bool {
        (self.arrival, self.order) == (other.arrival, other.order)
    }
}
impl Eq for Late {}
impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Late {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.arrival, self.order).cmp(&(other.arrival, other.order))
    }
}

/// The packets in flight on a link.
pub struct Pipe {
    delay: Schedule<Span>,
    /// The delay, if it never changes and has no jitter.
    constant: Option<Span>,
    jitter: Span,
    reorder: Option<ReorderSpec>,
    rng: Rng,
    last_arrival: Time,
    /// When the next packet reaches the far end; [`Time::NEVER`] if there is none.
    next: Time,
    ring: Ring<Flight>,
    late: BinaryHeap<Reverse<Late>>,
    late_count: u64,
}

impl Pipe {
    /// An empty pipe.
    pub fn new(spec: &LinkSpec, rng: Rng) -> Self {
        let steady = spec.delay.next_change(Time::ZERO).is_none() && spec.jitter == Span::ZERO;
        Self {
            constant: steady.then(|| spec.delay.first()),
            delay: spec.delay.clone(),
            jitter: spec.jitter,
            reorder: spec.reorder,
            rng,
            last_arrival: Time::ZERO,
            next: Time::NEVER,
            ring: Ring::default(),
            late: BinaryHeap::new(),
            late_count: 0,
        }
    }

    /// When a packet that leaves at `departed` reaches the far end: never before the one ahead of it.
    #[inline]
    pub fn arrival(&mut self, departed: Time) -> Time {
        let delay = self.constant.unwrap_or_else(|| {
            self.delay.at(departed) + Span(self.rng.below(self.jitter.0.saturating_add(1)))
        });
        self.last_arrival = self.last_arrival.max(departed + delay);
        self.last_arrival
    }

    /// Prepares to compute arrivals again, for the packets after the one that arrives at `last_arrival`.
    pub fn rewind(&mut self, last_arrival: Time) {
        self.last_arrival = last_arrival;
    }

    /// Adds a packet that has left, or whose departure is known.
    #[inline(always)]
    pub fn push(&mut self, arrived: Time, departed: Time, arrival: Time, packet: &Packet) {
        if let Some(reorder) = self.reorder
            && self.rng.chance(reorder.probability)
        {
            return self
                .push_late(Flight { arrived, departed, arrival, accepted: 0, packet: *packet }, reorder);
        }
        self.push_in_order(arrived, departed, arrival, 0, |place| *place = *packet);
    }

    /// The same for a packet that is not delayed by reordering; `fill` writes it.
    #[inline(always)]
    pub fn push_in_order(
        &mut self,
        arrived: Time,
        departed: Time,
        arrival: Time,
        accepted: u64,
        fill: impl FnOnce(&mut Packet),
    ) {
        self.next = self.next.min(arrival);
        let flight = self.ring.add(&Flight::BLANK);
        flight.arrived = arrived;
        flight.departed = departed;
        flight.arrival = arrival;
        flight.accepted = accepted;
        fill(&mut flight.packet);
    }

    /// The packet that was added last in order.
    #[inline]
    pub fn last(&self) -> Option<&Packet> {
        self.ring.back().map(|flight| &flight.packet)
    }

    #[cold]
    fn push_late(&mut self, mut flight: Flight, reorder: ReorderSpec) {
        flight.arrival = flight.departed + self.delay.at(flight.departed) + reorder.extra_delay;
        self.next = self.next.min(flight.arrival);
        self.late_count += 1;
        let late = Late { arrival: flight.arrival, order: self.late_count, flight };
        self.late.push(Reverse(late));
    }

    /// When the next packet reaches the far end.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.next
    }

    #[inline]
    fn find_next(&mut self) {
        let in_order = self.ring.front().map_or(Time::NEVER, |flight| flight.arrival);
        let late = self.late.peek().map_or(Time::NEVER, |late| late.0.arrival);
        self.next = in_order.min(late);
    }

    /// The next of the packets in order; right after [`Pipe::put_next_first`], the next of all packets.
    #[inline]
    pub fn first(&self) -> Option<&Flight> {
        self.ring.front()
    }

    /// Removes the first packet: it has arrived.
    #[inline]
    pub fn remove_first(&mut self) {
        self.ring.pop_front();
        self.find_next();
    }

    /// Moves a packet delayed by reordering to the front of those in order if it is the next to arrive.
    #[inline]
    pub fn put_next_first(&mut self) {
        if !self.late.is_empty() {
            self.put_late_first();
        }
    }

    #[cold]
    fn put_late_first(&mut self) {
        let in_order = self.ring.front().map_or(Time::NEVER, |flight| flight.arrival);
        if self.late.peek().is_some_and(|late| late.0.arrival < in_order)
            && let Some(Reverse(late)) = self.late.pop()
        {
            self.ring.push_front(late.flight);
        }
    }

    /// The packets in order.
    pub fn ring(&self) -> &Ring<Flight> {
        &self.ring
    }

    /// A packet in order leaves, and arrives, at another time.
    pub fn retime(&mut self, at: usize, departed: Time, arrival: Time) {
        let flight = &mut self.ring[at];
        (flight.departed, flight.arrival) = (departed, arrival);
        self.find_next();
    }
}
