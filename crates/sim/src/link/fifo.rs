//! A FIFO in front of a rate, without service events: drop-tail, or the device of a [`stack`](super::stack).
//!
//! Packets are in the pipe's ring from the time they enter the FIFO. The first `left` of them are known to have left the
//! queue: this is noted when another packet may need their room. The first `gone` of these are accounted for, with the
//! tap: that is done when the state is looked at, at the latest when the packet reaches the far end, because the packet is
//! in the cache then.

use super::bytes_out;
use super::pipe::{Flight, Pipe};
use super::server::Serializer;
use crate::packet::Packet;
use crate::queue::{Backlog, Limit};
use crate::schedule::Schedule;
use crate::spec::Capacity;
use crate::tap::{LinkEvent, Tap};
use crate::turn::LinkTurn;
use cwndlab_cc::{Rate, Time};

/// How many departures are looked at without a branch: about as many as there are between two events of senders that fill
/// the link.
const AT_ONCE: usize = 3;

/// A first-in first-out link.
pub struct Fifo {
    limit: Limit,
    /// `None`: no rate, packets leave at once.
    server: Option<Serializer>,
    rates: Option<Schedule<Rate>>,
    next_step: Time,
    /// Packets of the ring that are known to have left the queue.
    left: usize,
    /// How many of these are accounted for.
    gone: usize,
    /// No packet leaves before this time that is not accounted for.
    next_departure: Time,
    /// Departure of the last packet accounted for.
    last_gone: Time,
    /// The bytes of all packets accounted for.
    gone_bytes: u64,
    /// The bytes of all packets accepted.
    accepted: u64,
    /// Departure of the last packet accepted.
    last_departure: Time,
    /// Bits of the packet in service that were left when an outage stopped it.
    left_bits: f64,
}

impl Fifo {
    /// An empty FIFO.
    pub fn new(limit: Limit, capacity: &Capacity) -> Self {
        let rates = match capacity {
            Capacity::Rate(rates) => Some(rates.clone()),
            _ => None,
        };
        Self {
            limit,
            server: rates.as_ref().map(|rates| Serializer::new(rates.first())),
            next_step: rates.as_ref().and_then(|r| r.next_change(Time::ZERO)).unwrap_or(Time::NEVER),
            rates,
            left: 0,
            gone: 0,
            next_departure: Time::NEVER,
            last_gone: Time::ZERO,
            gone_bytes: 0,
            accepted: 0,
            last_departure: Time::ZERO,
            left_bits: 0.0,
        }
    }

    /// When [`Fifo::advance`] is due: only at a step of the rate.
    #[inline]
    pub fn next_event(&self) -> Time {
        self.next_step
    }

    #[inline(always)]
    pub fn receive<T: Tap>(&mut self, turn: &mut LinkTurn<T>, packet: &Packet, bytes: u32, pipe: &mut Pipe) {
        let now = turn.now;
        if T::IN_ORDER {
            self.settle(turn, pipe);
        }
        turn.emit(LinkEvent::Enqueued { packet, bytes });
        // If the packet fits even beside those not known to have left, there is room for it.
        if !self.admits(bytes, pipe) && !self.admits_now(now, bytes, pipe) {
            turn.emit(LinkEvent::Dropped { packet, bytes, arrived: now });
            return;
        }
        self.accept(now, now, bytes, pipe, |place| *place = *packet);
    }

    /// Accepts a packet that has room, without a copy: `fill` writes it where it stays. Returns false if it must be
    /// [received](Fifo::receive) instead. The departures [have been noted](Fifo::note_departures).
    #[inline(always)]
    pub fn receive_in_place<T: Tap>(
        &mut self,
        turn: &mut LinkTurn<T>,
        bytes: u32,
        pipe: &mut Pipe,
        fill: impl FnOnce(&mut Packet),
    ) -> bool {
        if T::IN_ORDER || !self.admits(bytes, pipe) {
            return false;
        }
        self.accept(turn.now, turn.now, bytes, pipe, fill);
        if let Some(packet) = pipe.last() {
            turn.emit(LinkEvent::Enqueued { packet, bytes });
        }
        true
    }

    /// Accepts a packet that arrived at the link at `arrived`, whatever the limit is; `fill` writes it.
    #[inline(always)]
    pub fn accept(
        &mut self,
        now: Time,
        arrived: Time,
        bytes: u32,
        pipe: &mut Pipe,
        fill: impl FnOnce(&mut Packet),
    ) {
        let departed = self.depart(now, bytes);
        let arrival = pipe.arrival(departed);
        self.next_departure = self.next_departure.min(departed);
        self.accepted += u64::from(bytes);
        pipe.push_in_order(arrived, departed, arrival, self.accepted, fill);
    }

    /// Whether there is room beside those that are not known to have left. The packet in service takes none.
    #[inline]
    fn admits(&self, bytes: u32, pipe: &Pipe) -> bool {
        let Some(in_service) = pipe.ring().get(self.left) else { return true };
        let packets = (pipe.ring().len() - self.left - 1) as u64;
        self.limit.admits(Backlog { packets, bytes: self.accepted - in_service.accepted }, bytes)
    }

    /// The same after noting which packets have left by now.
    fn admits_now(&mut self, now: Time, bytes: u32, pipe: &Pipe) -> bool {
        self.note_departures(now, pipe);
        self.admits(bytes, pipe)
    }

    /// Notes which packets have left by now. They are accounted for later.
    #[inline(always)]
    pub fn note_departures(&mut self, now: Time, pipe: &Pipe) {
        let has_left = |flight: &Flight| usize::from(flight.departed <= now);
        loop {
            // Several without a branch for each: nothing foretells how many leave between two events of many senders.
            let waiting = pipe.ring().run_from(self.left);
            let (noted, looked_at) = match waiting.first_chunk::<AT_ONCE>() {
                Some(some) => (some.iter().map(has_left).sum(), AT_ONCE),
                None => (waiting.first().map_or(0, has_left), 1),
            };
            self.left += noted;
            if noted < looked_at {
                return;
            }
        }
    }

    #[inline]
    fn depart(&mut self, now: Time, bytes: u32) -> Time {
        let Some(server) = &mut self.server else { return now };
        if self.last_departure <= now {
            server.rest();
            self.left_bits = f64::from(bytes) * 8.0;
        }
        self.last_departure = server.finish(self.last_departure.max(now), u64::from(bytes));
        self.last_departure
    }

    /// Accounts for what has left the queue.
    #[inline(always)]
    pub fn settle<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &Pipe) {
        if self.next_departure <= turn.now {
            self.settle_due(turn, pipe);
        }
    }

    #[inline(never)]
    fn settle_due<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &Pipe) {
        self.next_departure = Time::NEVER;
        for flight in pipe.ring().iter_from(self.gone) {
            if flight.departed > turn.now {
                self.next_departure = flight.departed;
                break;
            }
            self.account(turn, flight);
            self.gone += 1;
        }
        self.left = self.left.max(self.gone);
    }

    /// Accounts for a packet that has left the queue, the first that is not accounted for.
    #[inline(always)]
    fn account<T: Tap>(&mut self, turn: &mut LinkTurn<T>, flight: &Flight) {
        let Flight { arrived, departed, accepted, packet, .. } = flight;
        let bytes = (accepted - self.gone_bytes) as u32;
        let started = self.last_gone.max(*arrived);
        turn.emit_at(*departed, LinkEvent::Served { packet, bytes, arrived: *arrived, started });
        (self.last_gone, self.gone_bytes) = (*departed, *accepted);
    }

    /// Accounts for the next packet that has left the queue, if one has; returns when that was.
    #[inline]
    pub fn settle_next<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &Pipe) -> Option<Time> {
        let flight = pipe.ring().get(self.gone).filter(|flight| flight.departed <= turn.now)?;
        self.account(turn, flight);
        self.gone += 1;
        self.left = self.left.max(self.gone);
        Some(flight.departed)
    }

    /// The first packet of the ring arrives at the far end.
    #[inline(always)]
    pub fn deliver<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &Pipe) {
        if T::IN_ORDER {
            self.settle(turn, pipe);
        }
        if self.gone > 0 {
            self.gone -= 1;
        } else if let Some(first) = pipe.first() {
            self.account(turn, first);
        }
        self.left = self.left.saturating_sub(1);
    }

    /// At a step of the rate: the packets that wait, and the rest of the one in service, are re-timed.
    #[inline]
    pub fn advance<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        let now = turn.now;
        if self.next_step > now {
            return;
        }
        self.settle(turn, pipe);
        if let (Some(rates), Some(server)) = (&self.rates, &mut self.server) {
            let rate = rates.at(now);
            self.next_step = rates.next_change(now).unwrap_or(Time::NEVER);
            let old = *server;
            *server = Serializer::new(rate);
            self.retime(now, &old, rate, pipe);
        }
    }

    fn retime(&mut self, now: Time, old: &Serializer, rate: Rate, pipe: &mut Pipe) {
        let Some(server) = &mut self.server else { return };
        let gone = self.gone;
        let before = gone.checked_sub(1).and_then(|last| pipe.ring().get(last));
        pipe.rewind(before.map_or(Time::ZERO, |flight| flight.arrival));
        let (mut finish, mut before) = (now, self.gone_bytes);
        for at in gone..pipe.ring().len() {
            let flight = pipe.ring()[at];
            let bytes = flight.accepted - before;
            before = flight.accepted;
            finish = if at == gone {
                let in_service_bits = if old.rate().0 == 0 { self.left_bits } else { bytes as f64 * 8.0 };
                let (finish, bits) = old.retime(now, flight.departed, in_service_bits, rate);
                self.left_bits = bits;
                finish
            } else {
                server.finish(finish, bytes)
            };
            let arrival = pipe.arrival(finish);
            pipe.retime(at, finish, arrival);
        }
        if let Some(next) = pipe.ring().get(gone) {
            self.next_departure = next.departed;
            self.last_departure = finish;
        }
    }

    /// Bytes of the packet in service that have been sent already, once all that has left is settled.
    pub fn partly_served(&self, now: Time, pipe: &Pipe) -> f64 {
        match (pipe.ring().get(self.gone), &self.server) {
            (Some(flight), Some(server)) => {
                let bytes = (flight.accepted - self.gone_bytes) as u32;
                bytes_out(bytes, server.left_bits(now, flight.departed, self.left_bits))
            }
            _ => 0.0,
        }
    }

    /// Shows the size and the arrival time of each packet that waits or is in service, once all that has left
    /// is settled.
    pub fn each_waiting(&self, pipe: &Pipe, mut show: impl FnMut(u32, Time)) {
        let mut before = self.gone_bytes;
        for flight in pipe.ring().iter_from(self.gone) {
            show((flight.accepted - before) as u32, flight.arrived);
            before = flight.accepted;
        }
    }

    /// When the next packet leaves or the rate changes, once all that has left is settled.
    pub fn time_of_change(&self, pipe: &Pipe) -> Time {
        pipe.ring().get(self.gone).map_or(self.next_step, |next| next.departed.min(self.next_step))
    }

    /// Packets that wait or are in service, once all that has left is settled.
    #[inline]
    pub fn packets(&self, pipe: &Pipe) -> u64 {
        (pipe.ring().len() - self.left) as u64
    }

    /// The packets and bytes that wait or are in service, once all that has left is settled.
    #[inline]
    pub fn backlog(&self, pipe: &Pipe) -> Backlog {
        Backlog { packets: self.packets(pipe), bytes: self.accepted - self.gone_bytes }
    }

    /// When at most `packets` wait or are in service, once all that has left is settled. A step of the rate
    /// re-times the waiting packets, so the caller asks again at the next step.
    pub fn time_below(&self, now: Time, packets: u64, pipe: &Pipe) -> Time {
        let surplus = self.packets(pipe).checked_sub(packets + 1);
        let last = surplus.and_then(|surplus| pipe.ring().get(self.gone + surplus as usize));
        last.map_or(now, |flight| flight.departed.min(self.next_step))
    }
}
