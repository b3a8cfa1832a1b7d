//! Drop-tail in front of a rate, without service events.
//!
//! Packets stand in the pipe's ring from their arrival on: the first `gone` of them have left the queue, the rest
//! waits. What has left is accounted for when somebody looks.

use super::pipe::{Flight, Pipe};
use super::server::Serializer;
use super::{Gauge, bytes_out, is_data};
use crate::packet::Packet;
use crate::queue::{Backlog, Limit, Tally};
use crate::schedule::Schedule;
use crate::spec::Capacity;
use cwndlab_cc::{Rate, Time};

/// A first-in first-out link.
pub struct Fifo {
    limit: Limit,
    /// `None`: no rate, packets leave at once.
    server: Option<Serializer>,
    rates: Option<Schedule<Rate>>,
    next_step: Time,
    /// Packets of the ring that have left the queue.
    gone: usize,
    /// Waiting or in service.
    backlog: Backlog,
    /// Departure of the last packet accepted, and of the last one that is gone.
    last_departure: Time,
    last_gone: Time,
    /// Bits that the packet in service still has, when an outage stopped it.
    left_bits: f64,
}

impl Fifo {
    /// An empty one.
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
            backlog: Backlog::default(),
            last_departure: Time::ZERO,
            last_gone: Time::ZERO,
            left_bits: 0.0,
        }
    }

    /// When [`Fifo::advance`] is due: only at a step of the rate.
    #[inline]
    pub fn next_event(&self) -> Time {
        self.next_step
    }

    #[inline]
    pub fn receive(
        &mut self,
        now: Time,
        packet: Packet,
        bytes: u32,
        pipe: &mut Pipe,
        tally: &mut Tally,
        gauge: &mut Gauge,
    ) {
        self.settle(now, pipe, gauge);
        if !self.admits(bytes, pipe) {
            tally.dropped += 1;
            return;
        }
        let departed = self.depart(now, bytes);
        let arrival = pipe.arrival(departed);
        self.backlog.add(bytes);
        pipe.push(Flight { arrived: now, departed, arrival, bytes, packet });
    }

    /// The packet in service takes no room in the queue.
    #[inline]
    fn admits(&self, bytes: u32, pipe: &Pipe) -> bool {
        let mut waiting = self.backlog;
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
        }
        self.last_departure = server.finish(self.last_departure.max(now), u64::from(bytes));
        if self.backlog.packets == 0 {
            self.left_bits = f64::from(bytes) * 8.0;
        }
        self.last_departure
    }

    /// Accounts for what has left the queue.
    #[inline]
    fn settle(&mut self, now: Time, pipe: &Pipe, gauge: &mut Gauge) {
        while let Some(flight) = pipe.ring().get(self.gone) {
            if flight.departed > now {
                break;
            }
            let started = self.last_gone.max(flight.arrived);
            gauge.depart(flight.arrived, started, flight.bytes, is_data(&flight.packet));
            gauge.stay(flight.arrived, flight.departed, u64::from(flight.bytes));
            self.last_gone = flight.departed;
            self.backlog.take(flight.bytes);
            self.gone += 1;
        }
    }

    /// A packet arrives at the far end.
    #[inline]
    pub fn deliver(&mut self, now: Time, pipe: &mut Pipe, gauge: &mut Gauge) -> Option<(Packet, Time)> {
        self.settle(now, pipe, gauge);
        self.gone -= 1;
        pipe.pop()
    }

    /// At a step of the rate: the packets that wait, and the rest of the one in service, are re-timed.
    #[inline]
    pub fn advance(&mut self, now: Time, pipe: &mut Pipe, gauge: &mut Gauge) {
        if self.next_step > now {
            return;
        }
        self.settle(now, pipe, gauge);
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
            let flight = &mut pipe.ring_mut()[at];
            (flight.departed, flight.arrival) = (finish, arrival);
        }
        if gone < pipe.ring().len() {
            self.last_departure = finish;
        }
    }

    /// Bytes of the packet in service that are out already.
    pub fn partly_served(&self, now: Time, pipe: &Pipe) -> f64 {
        match (pipe.ring().get(self.gone), &self.server) {
            (Some(flight), Some(server)) => {
                bytes_out(flight.bytes, server.left_bits(now, flight.departed, self.left_bits))
            }
            _ => 0.0,
        }
    }

    pub fn backlog(&mut self, now: Time, pipe: &Pipe, gauge: &mut Gauge) -> Backlog {
        self.settle(now, pipe, gauge);
        self.backlog
    }

    /// A step of the rate re-times what waits: asked again at the next one.
    pub fn time_below(&mut self, now: Time, packets: u64, pipe: &Pipe, gauge: &mut Gauge) -> Time {
        self.settle(now, pipe, gauge);
        let surplus = self.backlog.packets.checked_sub(packets + 1);
        let last = surplus.and_then(|surplus| pipe.ring().get(self.gone + surplus as usize));
        last.map_or(now, |flight| flight.departed.min(self.next_step))
    }

    /// The stay of what is still here, in byte nanoseconds.
    pub fn byte_nanos(&self, now: Time, since: Time, pipe: &Pipe) -> u128 {
        let here = pipe.ring().iter().skip(self.gone);
        here.map(|f| u128::from(now.since(f.arrived.max(since)).0) * u128::from(f.bytes)).sum()
    }
}
