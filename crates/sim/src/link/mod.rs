//! One direction of a link: loss before, queue, server, propagation, loss after.
//!
//! Drop-tail in front of a rate is a [`fifo`]: the departure of a packet is known when it arrives, so it
//! needs no service event. Nor does a FIFO behind FQ-CoDel, a [`stack`]. Everything else is [`served`] packet
//! by packet. Either way a link is one component of the event loop, with one next event.

mod fifo;
mod loss;
mod pipe;
mod served;
mod server;
mod stack;

use crate::packet::Packet;
use crate::queue::{Backlog, Service};
use crate::schedule::Schedule;
use crate::spec::{Capacity, LinkSpec};
use crate::tap::{LinkEvent, Tap};
use crate::turn::LinkTurn;
use cwndlab_cc::{Rng, Span, Time};
use fifo::Fifo;
use loss::LossProcess;
pub use pipe::Flight;
use pipe::Pipe;
use served::Served;
use stack::Stack;

pub(crate) use server::capacity_bits;

/// About as many bytes as may wait at the far end at the link's first rate: some 500 packets. Without a rate
/// there is no limit.
const WAITING_BYTES: u64 = 750_000;

/// How packets get from the queue to the far end. Each packet asks three times which it is, so the answer has a byte of
/// its own, in place of an unused value in some field.
#[repr(u8)]
enum Serving {
    Fifo(Fifo),
    Stack(Box<Stack>),
    Served(Served),
}

/// One direction of a link.
pub struct Link {
    name: String,
    capacity: Capacity,
    overhead: u32,
    loss: LossProcess,
    loss_before: bool,
    /// Whether it works, for a link that is sometimes down.
    up: Option<Schedule<bool>>,
    /// Whether packets may be lost as they enter the link, and as they leave it.
    loses_at_entry: bool,
    loses_at_exit: bool,
    serving: Serving,
    pipe: Pipe,
    /// How late a packet that has reached the far end may be handled.
    lookahead: Span,
}

impl Link {
    /// An empty link of the run with this seed.
    #[must_use]
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        let stream = |what: &str| Rng::named(seed, &format!("link {} {what}", spec.name));
        let queue = &spec.queue;
        let foreseen = !matches!(spec.capacity, Capacity::Trace(_)) && spec.reorder.is_none();
        let site = queue.site(seed, &spec.name, spec.capacity.nominal());
        let serving = match queue.kind.service {
            Service::Fifo if foreseen => Serving::Fifo(Fifo::new(queue.limit, &spec.capacity)),
            Service::DeviceFifo(build) if foreseen => {
                let (above, room) = build(&site, &queue.settings);
                Serving::Stack(Box::new(Stack::new(above, room, &spec.capacity)))
            }
            _ => Serving::Served(Served::new((queue.kind.build)(&site, &queue.settings), &spec.capacity)),
        };
        let loss = LossProcess::new(&spec.loss.kind, stream("loss"));
        Self {
            name: spec.name.clone(),
            capacity: spec.capacity.clone(),
            overhead: spec.overhead as u32,
            loses_at_entry: spec.loss.before_queue || spec.fails(),
            loses_at_exit: (!spec.loss.before_queue && !loss.is_lossless()) || spec.fails(),
            loss,
            loss_before: spec.loss.before_queue,
            up: spec.fails().then(|| spec.up.clone()),
            serving,
            pipe: Pipe::new(spec, stream("jitter")),
            lookahead: Span::ZERO,
        }
    }

    /// Lets the arrival of a packet be handled this much later, but not by so much that the packets that wait
    /// leave the near caches.
    pub fn look_ahead(&mut self, lookahead: Span) {
        let most = self.capacity.nominal().map_or(Span::MAX, |rate| rate.time_for(WAITING_BYTES));
        self.lookahead = lookahead.min(most);
    }

    /// Whether packets at the far end may wait.
    #[inline]
    #[must_use]
    pub fn looks_ahead(&self) -> bool {
        self.lookahead > Span::ZERO
    }

    /// A packet arrives at the queue.
    #[inline(always)]
    pub fn receive<T: Tap>(&mut self, turn: &mut LinkTurn<T>, packet: &Packet) {
        if self.loses_at_entry && self.is_lost(turn.now, turn.now, packet, true) {
            if T::IN_ORDER {
                self.settle(turn);
            }
            turn.emit(LinkEvent::Lost { packet });
            return;
        }
        let bytes = packet.size + self.overhead;
        match &mut self.serving {
            Serving::Fifo(fifo) => fifo.receive(turn, packet, bytes, &mut self.pipe),
            Serving::Stack(stack) => stack.receive(turn, packet, bytes, &mut self.pipe),
            Serving::Served(served) => served.receive(turn, *packet, bytes, &mut self.pipe),
        }
    }

    /// Prepares for [`Link::receive_new`], once for all packets that come at this time.
    #[inline(always)]
    pub fn expect_new(&mut self, now: Time) {
        if let Serving::Fifo(fifo) = &mut self.serving {
            fifo.note_departures(now, &self.pipe);
        }
    }

    /// A data packet that a sender makes arrives at the queue. `fill` writes all of it, if possible where it stays.
    #[inline(always)]
    pub fn receive_new<T: Tap>(&mut self, turn: &mut LinkTurn<T>, size: u32, fill: impl Fn(&mut Packet)) {
        let bytes = size + self.overhead;
        if !self.loses_at_entry
            && let Serving::Fifo(fifo) = &mut self.serving
            && fifo.receive_in_place(turn, bytes, &mut self.pipe, &fill)
        {
            return;
        }
        let mut packet = Packet::BLANK;
        fill(&mut packet);
        self.receive_apart(turn, &packet);
    }

    #[inline(never)]
    fn receive_apart<T: Tap>(&mut self, turn: &mut LinkTurn<T>, packet: &Packet) {
        self.receive(turn, packet);
    }

    /// When the link must be handled at the latest: at its next service, or when the lookahead of its next arrival
    /// is over. Without lookahead this is [`Link::due`].
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.next_service().min(self.pipe.next_arrival() + self.lookahead)
    }

    /// When the next thing happens: in the queue, or a packet reaches the far end.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Time {
        self.next_service().min(self.next_arrival())
    }

    /// When the next packet reaches the far end.
    #[inline]
    #[must_use]
    pub fn next_arrival(&self) -> Time {
        self.pipe.next_arrival()
    }

    /// When [`Link::serve`] is due.
    #[inline]
    #[must_use]
    pub fn next_service(&self) -> Time {
        match &self.serving {
            Serving::Fifo(fifo) => fifo.next_event(),
            Serving::Stack(stack) => stack.next_event(),
            Serving::Served(served) => served.next_event(),
        }
    }

    /// Does what is due now; returns a packet that arrives at the far end.
    pub fn advance<T: Tap>(&mut self, turn: &mut LinkTurn<T>) -> Option<Packet> {
        self.serve(turn);
        let arrived = self.arrive(turn).copied()?;
        self.remove_arrived();
        Some(arrived)
    }

    /// Does what is due in the queue.
    #[inline(always)]
    pub fn serve<T: Tap>(&mut self, turn: &mut LinkTurn<T>) {
        match &mut self.serving {
            Serving::Fifo(fifo) => fifo.advance(turn, &mut self.pipe),
            Serving::Stack(stack) => stack.advance(turn, &mut self.pipe),
            Serving::Served(served) => served.advance(turn, &mut self.pipe),
        }
    }

    /// A packet reaches the far end, if one is due. Unless it is lost, it is returned where it is, because copying it
    /// costs time; [`Link::remove_arrived`] must follow.
    #[inline(always)]
    pub fn arrive<T: Tap>(&mut self, turn: &mut LinkTurn<T>) -> Option<&Packet> {
        if self.pipe.next_arrival() > turn.now {
            return None;
        }
        match &mut self.serving {
            // The FIFO is a part of the pipe's ring: what left it must be accounted for first.
            Serving::Fifo(fifo) => fifo.deliver(turn, &self.pipe),
            Serving::Stack(stack) => stack.deliver(turn, &mut self.pipe),
            Serving::Served(_) => self.pipe.put_next_first(),
        }
        if self.loses_at_exit && self.loses_first(turn) {
            self.pipe.remove_first();
            return None;
        }
        let packet = &self.pipe.first()?.packet;
        turn.emit(LinkEvent::Delivered { packet });
        Some(packet)
    }

    /// The packet that has arrived leaves the link.
    #[inline]
    pub fn remove_arrived(&mut self) {
        self.pipe.remove_first();
    }

    /// Whether the packet that has arrived is lost; if so, reports it.
    #[inline(never)]
    fn loses_first<T: Tap>(&mut self, turn: &mut LinkTurn<T>) -> bool {
        let Some(Flight { packet, departed, .. }) = self.pipe.first().copied() else { return false };
        let lost = self.is_lost(turn.now, departed, &packet, false);
        if lost {
            turn.emit(LinkEvent::Lost { packet: &packet });
        }
        lost
    }

    /// The packet at this position among those in flight; 0 is the next to arrive.
    #[inline]
    #[must_use]
    pub fn flight_after(&self, others: usize) -> Option<&Flight> {
        self.pipe.ring().get(others)
    }

    /// Whether a packet at one end is lost: the link is down, or its loss process, which acts at one end, strikes.
    fn is_lost(&mut self, now: Time, departed: Time, packet: &Packet, entry: bool) -> bool {
        if self.up.as_ref().is_some_and(|up| !up.at(now)) {
            return true;
        }
        self.loss_before == entry && self.loss.strikes(departed, packet.is_data())
    }

    /// Accounts for what has left the queue by now.
    #[inline]
    pub fn settle<T: Tap>(&mut self, turn: &mut LinkTurn<T>) {
        match &mut self.serving {
            Serving::Fifo(fifo) => fifo.settle(turn, &self.pipe),
            Serving::Stack(stack) => stack.settle(turn, &mut self.pipe),
            Serving::Served(_) => {}
        }
    }

    /// Shows the size in bytes and the arrival time of each packet that waits or is in service, once the link
    /// is settled.
    pub fn each_waiting(&self, show: impl FnMut(u32, Time)) {
        match &self.serving {
            Serving::Fifo(fifo) => fifo.each_waiting(&self.pipe, show),
            Serving::Stack(stack) => stack.each_waiting(&self.pipe, show),
            Serving::Served(served) => served.each_waiting(show),
        }
    }

    /// The packets and bytes that wait or are in service, once the link is settled.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        match &self.serving {
            Serving::Fifo(fifo) => fifo.backlog(&self.pipe),
            Serving::Stack(stack) => stack.backlog(&self.pipe),
            Serving::Served(served) => served.backlog(),
        }
    }

    /// When at most `packets` will wait or be in service, once the link is settled: now, if that is so
    /// already; or the next time at which the answer may change, if that comes first.
    #[must_use]
    pub fn time_below(&self, now: Time, packets: u64) -> Time {
        match &self.serving {
            Serving::Fifo(fifo) => fifo.time_below(now, packets, &self.pipe),
            Serving::Stack(stack) => stack.time_below(now, packets, &self.pipe),
            Serving::Served(served) => served.time_below(now, packets),
        }
    }

    /// Bytes of the packet in service that have been sent already.
    #[must_use]
    pub fn partly_served(&self, now: Time) -> f64 {
        match &self.serving {
            Serving::Fifo(fifo) => fifo.partly_served(now, &self.pipe),
            Serving::Stack(stack) => stack.partly_served(now, &self.pipe),
            Serving::Served(served) => served.partly_served(now),
        }
    }

    /// Bits that could have been served from `since` to `now`; `None` without a rate.
    #[must_use]
    pub fn possible_bits(&self, since: Time, now: Time) -> Option<f64> {
        let until = match self.capacity {
            // Events of this instant have happened: an opportunity at this very nanosecond was used.
            Capacity::Trace(_) => now + Span(1),
            Capacity::Unlimited | Capacity::Rate(_) => now,
        };
        capacity_bits(&self.capacity, since, until)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Bytes of a packet that have been sent when `left_bits` remain. A packet ends at a whole nanosecond, which
/// can be a fraction of one later than its last bit.
fn bytes_out(bytes: u32, left_bits: f64) -> f64 {
    (f64::from(bytes) - left_bits / 8.0).max(0.0)
}
