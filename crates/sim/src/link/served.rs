//! A link served packet by packet: for kinds of queue that need it
//! ([`Service::ByPacket`](crate::queue::Service)), for traces and for reordering.

use super::bytes_out;
use super::pipe::Pipe;
use super::server::{Serializer, TraceClock};
use crate::packet::Packet;
use crate::queue::{Backlog, Discipline, Waiting};
use crate::schedule::Schedule;
use crate::spec::Capacity;
use crate::tap::{LinkEvent, Tap};
use crate::turn::LinkTurn;
use cwndlab_cc::{Rate, Time};

/// The packet in service.
#[derive(Clone, Copy, Debug)]
struct InService {
    waiting: Waiting,
    started: Time,
    /// When its last bit is sent; [`Time::NEVER`] during an outage, and with a trace.
    finish: Time,
    /// Bits still to send when an outage began.
    left_bits: f64,
    /// Bytes that no opportunity has carried yet.
    left_bytes: u64,
}

enum Clock {
    Unlimited,
    Rate { server: Serializer, rates: Schedule<Rate>, next_step: Time },
    Trace { clock: TraceClock, next: Time },
}

/// A link with a service event.
pub struct Served {
    queue: Box<dyn Discipline>,
    clock: Clock,
    in_service: Option<InService>,
}

impl Served {
    /// An idle link.
    pub fn new(queue: Box<dyn Discipline>, capacity: &Capacity) -> Self {
        let clock = match capacity {
            Capacity::Unlimited => Clock::Unlimited,
            Capacity::Rate(rates) => Clock::Rate {
                server: Serializer::new(rates.first()),
                next_step: rates.next_change(Time::ZERO).unwrap_or(Time::NEVER),
                rates: rates.clone(),
            },
            Capacity::Trace(trace) => {
                Clock::Trace { clock: TraceClock::new(trace.clone()), next: Time::NEVER }
            }
        };
        Self { queue, clock, in_service: None }
    }

    pub fn receive<T: Tap>(&mut self, turn: &mut LinkTurn<T>, packet: Packet, bytes: u32, pipe: &mut Pipe) {
        // With a rate, a packet that leaves now has left before this one arrives, whichever component runs
        // first. With a trace, each opportunity has its own event.
        self.complete_due(turn, pipe);
        turn.emit(LinkEvent::Enqueued { packet: &packet, bytes });
        self.queue.enqueue(turn.now, Waiting { packet, bytes, since: turn.now }, turn);
        if self.in_service.is_none() {
            self.take_up(turn, pipe);
        }
    }

    #[inline]
    pub fn next_event(&self) -> Time {
        let finish = self.in_service.map_or(Time::NEVER, |s| s.finish);
        match &self.clock {
            Clock::Unlimited => Time::NEVER,
            Clock::Rate { next_step, .. } => finish.min(*next_step),
            Clock::Trace { next, .. } => *next,
        }
    }

    pub fn advance<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        self.step_rate(turn.now);
        self.use_opportunity(turn, pipe);
        self.complete_due(turn, pipe);
    }

    #[inline]
    fn complete_due<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        while let Some(served) = self.in_service {
            if served.finish > turn.now {
                break;
            }
            // At its own time: the caller may be a nanosecond late.
            let turn = &mut LinkTurn { now: served.finish, tap: turn.tap, link: turn.link };
            self.complete(turn, &served, pipe);
            self.take_up(turn, pipe);
        }
    }

    /// The next packet goes into service.
    fn take_up<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        let now = turn.now;
        while let Some(waiting) = self.queue.dequeue(now, turn) {
            let bytes = u64::from(waiting.bytes);
            let mut served = InService {
                waiting,
                started: now,
                finish: Time::NEVER,
                left_bits: bytes as f64 * 8.0,
                left_bytes: bytes,
            };
            match &mut self.clock {
                Clock::Unlimited => {
                    self.complete(turn, &served, pipe);
                    continue;
                }
                Clock::Rate { server, .. } => served.finish = server.finish(now, bytes),
                Clock::Trace { clock, next } => *next = clock.next_from(now),
            }
            self.in_service = Some(served);
            return;
        }
        match &mut self.clock {
            Clock::Unlimited => {}
            Clock::Rate { server, .. } => server.rest(),
            Clock::Trace { next, .. } => *next = Time::NEVER,
        }
    }

    fn complete<T: Tap>(&mut self, turn: &mut LinkTurn<T>, served: &InService, pipe: &mut Pipe) {
        let now = turn.now;
        let Waiting { packet, bytes, since: arrived } = served.waiting;
        self.in_service = None;
        turn.emit(LinkEvent::Served { packet: &packet, bytes, arrived, started: served.started });
        let arrival = pipe.arrival(now);
        pipe.push(now, now, arrival, &packet);
    }

    /// At a step of the rate the rest of the packet in service is re-timed.
    fn step_rate(&mut self, now: Time) {
        let Clock::Rate { server, rates, next_step } = &mut self.clock else { return };
        if *next_step > now {
            return;
        }
        let rate = rates.at(now);
        *next_step = rates.next_change(now).unwrap_or(Time::NEVER);
        let old = std::mem::replace(server, Serializer::new(rate));
        if let Some(served) = &mut self.in_service
            && served.finish > now
        {
            (served.finish, served.left_bits) = old.retime(now, served.finish, served.left_bits, rate);
        }
    }

    /// One delivery opportunity of a trace: packets leave until its bytes are used up; the rest is lost.
    fn use_opportunity<T: Tap>(&mut self, turn: &mut LinkTurn<T>, pipe: &mut Pipe) {
        let now = turn.now;
        let mut budget = match &mut self.clock {
            Clock::Trace { clock, next } if *next <= now => {
                clock.advance();
                clock.bytes()
            }
            _ => return,
        };
        while let Some(mut served) = self.in_service {
            if served.left_bytes > budget {
                served.left_bytes -= budget;
                self.in_service = Some(served);
                break;
            }
            budget -= served.left_bytes;
            self.complete(turn, &served, pipe);
            self.take_up(turn, pipe);
        }
        if let (Clock::Trace { clock, next }, Some(_)) = (&mut self.clock, &self.in_service) {
            *next = clock.next_from(now);
        }
    }

    /// Bytes of the packet in service that have been sent already.
    pub fn partly_served(&self, now: Time) -> f64 {
        let Some(served) = &self.in_service else { return 0.0 };
        let bytes = served.waiting.bytes;
        match &self.clock {
            Clock::Unlimited => 0.0,
            Clock::Trace { .. } => bytes_out(bytes, served.left_bytes as f64 * 8.0),
            Clock::Rate { server, .. } => {
                bytes_out(bytes, server.left_bits(now, served.finish, served.left_bits))
            }
        }
    }

    /// Shows the size and the arrival time of each packet that waits or is in service.
    pub fn each_waiting(&self, mut show: impl FnMut(u32, Time)) {
        let mut show = |waiting: &Waiting| show(waiting.bytes, waiting.since);
        self.queue.each_waiting(&mut show);
        self.in_service.iter().for_each(|served| show(&served.waiting));
    }

    /// The packets and bytes that wait or are in service.
    pub fn backlog(&self) -> Backlog {
        let mut backlog = self.queue.backlog();
        if let Some(served) = &self.in_service {
            backlog.add(served.waiting.bytes);
        }
        backlog
    }

    /// How long a discipline keeps a packet is unknown, so the caller asks again at the next event.
    pub fn time_below(&self, now: Time, packets: u64) -> Time {
        if self.backlog().packets <= packets { now } else { self.next_event() }
    }
}
