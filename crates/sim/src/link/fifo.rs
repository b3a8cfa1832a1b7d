//! A FIFO in front of a rate, without service events: drop-tail, or the device of a [`stack`](super::stack).
//!
//! Packets are in the pipe's ring from the time they enter the FIFO: the first `gone` of them are known to
//! have left the queue. A departure is accounted for when the state is needed; at the latest when the packet
//! reaches the far end, because the packet is in the cache then.

use super::bytes_out;
use super::pipe::{Flight, Pipe};
use super::server::Serializer;
use crate::packet::Packet;
use crate::queue::{Backlog, Limit};
use crate::schedule::Schedule;
use crate::spec::Capacity;
use crate::tap::{LinkEvent, LinkTurn, Tap};
use cwndlab_cc::{Rate, Time};

/// What changes when a packet that has left the queue is accounted for.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Packets that wait or are in service, or that have left and are not accounted for yet.
    backlog: Backlog,
    /// Departure of the last packet accounted for.
    last_gone: Time,
}

impl Account {
    /// A packet has left the queue.
    #[inline(always)]
    fn take<T: Tap>(&mut self, turn: &mut LinkTurn<T>, flight: &Flight) {
        let Flight { arrived, departed, bytes, packet, .. } = flight;
        let started = self.last_gone.max(*arrived);
        turn.emit_at(*departed, LinkEvent::Served { packet, bytes: *bytes, arrived: *arrived, started });
        self.last_gone = *departed;
        self.backlog.take(*bytes);
    }
}

/// A first-in first-out link.
pub struct Fifo {
    limit: Limit,
    /// `None`: no rate, packets leave at once.
    server: Option<Serializer>,
    rates: Option<Schedule<Rate>>,
    next_step: Time,
    /// Packets of the ring that have left the queue and are accounted for.
    gone: usize,
    /// When the next packet leaves the queue; [`Time::NEVER`] if there is none.
    next_departure: Time,
    account: Account,
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
            gone: 0,
            next_departure: Time::NEVER,
            account: Account::default(),
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
        // If the packet fits even beside the departures not accounted for yet, there is room for it.
        let has_room = !T::IN_ORDER && self.limit.admits(self.account.backlog, bytes);
        if !has_room {
            self.settle(turn, pipe);
        }
        turn.emit(LinkEvent::Enqueued { packet, bytes });
        if !has_room && !self.admits(bytes, pipe) {
            turn.emit(LinkEvent::Dropped { packet, bytes, arrived: now });
            return;
        }
        self.accept(now, now, bytes, pipe, |place| *place = *packet);
    }

    /// Accepts a packet that has room, without a copy: `fill` writes it where it stays. Returns false if it must be
    /// [received](Fifo::receive) instead.
    #[inline(always)]
    pub fn receive_in_place<T: Tap>(
        &mut self,
        turn: &mut LinkTurn<T>,
        bytes: u32,
        pipe: &mut Pipe,
        fill: impl FnOnce(&mut Packet),
    ) -> bool {
        if T::IN_ORDER {
            return false;
        }
        if !self.limit.admits(self.account.backlog, bytes) {
            self.settle(turn, pipe);
            if !self.admits(bytes, pipe) {
                return false;
            }
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
        if self.account.backlog.packets == 0 {
            self.next_departure = departed;
        }
        self.account.backlog.add(bytes);
        pipe.push_in_order(arrived, departed, arrival, bytes, fill);
    }

    /// The packet in service takes no room in the queue.
    #[inline]
    fn admits(&self, bytes: u32, pipe: &Pipe) -> bool {
        let mut waiting = self.account.backlog;
        if let Some(in_service) = pipe.ring().get(self.gone) {
            waiting.take(in_service.bytes);
            return self.limit.admits(waiting, bytes);
        }
        true
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
        // A copy, which the compiler can keep in registers while it calls the tap.
        let mut gone = self.gone;
        let mut account = self.account;
        for flight in pipe.ring().iter_from(gone) {
            if flight.departed > turn.now {
                self.next_departure = flight.departed;
                break;
            }
            account.take(turn, flight);
            gone += 1;
        }
        (self.gone, self.account) = (gone, account);
    }

    /// Accounts for the next packet that has left the queue, if one has; returns when that was.
    #[inline]
    pub fn settle_next<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &Pipe) -> Option<Time> {
        let flight = pipe.ring().get(self.gone).filter(|flight| flight.departed <= turn.now)?;
        self.account.take(turn, flight);
        self.gone += 1;
        self.next_departure = pipe.ring().get(self.gone).map_or(Time::NEVER, |next| next.departed);
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
            self.account.take(turn, first);
            self.next_departure = pipe.ring().get(1).map_or(Time::NEVER, |next| next.departed);
        }
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
        let mut finish = now;
        for at in gone..pipe.ring().len() {
            let flight = pipe.ring()[at];
            finish = if at == gone {
                let in_service_bits =
                    if old.rate().0 == 0 { self.left_bits } else { f64::from(flight.bytes) * 8.0 };
                let (finish, bits) = old.retime(now, flight.departed, in_service_bits, rate);
                self.left_bits = bits;
                finish
            } else {
                server.finish(finish, u64::from(flight.bytes))
            };
            let arrival = pipe.arrival(finish);
            pipe.retime(at, finish, arrival);
        }
        if let Some(next) = pipe.ring().get(gone) {
            self.next_departure = next.departed;
            self.last_departure = finish;
        }
    }

    /// Bytes of the packet in service that have been sent already.
    pub fn partly_served(&self, now: Time, pipe: &Pipe) -> f64 {
        match (pipe.ring().get(self.gone), &self.server) {
            (Some(flight), Some(server)) => {
                bytes_out(flight.bytes, server.left_bits(now, flight.departed, self.left_bits))
            }
            _ => 0.0,
        }
    }

    /// Shows the size and the arrival time of each packet that waits or is in service, once all that has left
    /// is settled.
    pub fn each_waiting(&self, pipe: &Pipe, mut show: impl FnMut(u32, Time)) {
        pipe.ring().iter_from(self.gone).for_each(|flight| show(flight.bytes, flight.arrived));
    }

    /// When the next packet leaves or the rate changes.
    pub fn time_of_change(&self) -> Time {
        self.next_departure.min(self.next_step)
    }

    /// Whether nothing waits and nothing is in service, once all that has left is settled.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.account.backlog.packets == 0
    }

    /// The packets and bytes that wait or are in service, once all that has left is settled.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.account.backlog
    }

    /// When at most `packets` wait or are in service, once all that has left is settled. A step of the rate
    /// re-times the waiting packets, so the caller asks again at the next step.
    pub fn time_below(&self, now: Time, packets: u64, pipe: &Pipe) -> Time {
        let surplus = self.account.backlog.packets.checked_sub(packets + 1);
        let last = surplus.and_then(|surplus| pipe.ring().get(self.gone + surplus as usize));
        last.map_or(now, |flight| flight.departed.min(self.next_step))
    }
}
