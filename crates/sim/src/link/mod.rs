//! One direction of a link: loss before, queue, server, propagation, loss after.
//!
//! Drop-tail in front of a rate is a [`fifo`]: the departure of a packet is known when it arrives, so it needs no
//! service event. Everything else is [`served`] packet by packet. Either way a link is one component of the event
//! loop, with one next event.

mod fifo;
mod loss;
mod pipe;
mod served;
mod server;

use crate::histogram::Histogram;
use crate::outcome::LinkOutcome;
use crate::packet::{Body, Packet};
use crate::queue::{Backlog, QueueSpec, Tally};
use crate::schedule::Schedule;
use crate::spec::{Capacity, LinkSpec};
use cwndlab_cc::{Rng, Span, Time};
use fifo::Fifo;
use loss::LossProcess;
use pipe::Pipe;
use served::Served;

pub(crate) use server::capacity_bits;

/// What a link measures from a given time on.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    since: Time,
    served_packets: u64,
    served_data: u64,
    served_bytes: u64,
    /// Bytes of the packet in service that were out when the gauge started.
    before_bytes: f64,
    queue_delay: Histogram,
    /// Integral of the backlog over time, in byte nanoseconds.
    byte_nanos: u128,
}

impl Gauge {
    /// A packet left that had come at `arrived` and was taken up at `started`.
    #[inline]
    fn depart(&mut self, arrived: Time, started: Time, bytes: u32, data: bool) {
        self.served_packets += 1;
        self.served_data += u64::from(data);
        self.served_bytes += u64::from(bytes);
        self.queue_delay.record(started.since(arrived));
    }

    /// So many bytes were here from `arrived` to `until`.
    #[inline]
    fn stay(&mut self, arrived: Time, until: Time, bytes: u64) {
        let from = arrived.max(self.since);
        self.byte_nanos += u128::from(until.since(from).0) * u128::from(bytes);
    }
}

enum Discipline {
    Fifo(Fifo),
    Served(Served),
}

/// One direction of a link.
pub struct Link {
    name: String,
    capacity: Capacity,
    overhead: u32,
    loss: LossProcess,
    loss_before: bool,
    /// Whether it works, if it does not always.
    up: Option<Schedule<bool>>,
    /// Packets may be lost as they come, and as they leave.
    loses_at_entry: bool,
    loses_at_exit: bool,
    discipline: Discipline,
    pipe: Pipe,
    tally: Tally,
    lost: u64,
    gauge: Gauge,
    /// Bytes and data packets served before the gauge was restarted.
    served_before: u64,
    served_data_before: u64,
    tally_before: Tally,
    lost_before: u64,
}

impl Link {
    /// An empty link of the run with this seed.
    #[must_use]
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        let stream = |what: &str| Rng::named(seed, &format!("link {} {what}", spec.name));
        let discipline = match (&spec.queue, &spec.capacity) {
            (QueueSpec::DropTail(limit), Capacity::Unlimited | Capacity::Rate(_))
                if spec.reorder.is_none() =>
            {
                Discipline::Fifo(Fifo::new(*limit, &spec.capacity))
            }
            _ => Discipline::Served(Served::new(spec.queue.build(seed, &spec.name), &spec.capacity)),
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
            discipline,
            pipe: Pipe::new(spec, stream("jitter")),
            tally: Tally::default(),
            lost: 0,
            gauge: Gauge::default(),
            served_before: 0,
            served_data_before: 0,
            tally_before: Tally::default(),
            lost_before: 0,
        }
    }

    /// A packet arrives at the queue.
    #[inline]
    pub fn receive(&mut self, now: Time, packet: Packet) {
        if self.loses_at_entry && self.is_lost(now, now, &packet, true) {
            self.lost += 1;
            return;
        }
        let bytes = packet.size + self.overhead;
        match &mut self.discipline {
            Discipline::Fifo(fifo) => {
                fifo.receive(now, packet, bytes, &mut self.pipe, &mut self.tally, &mut self.gauge);
            }
            Discipline::Served(served) => {
                served.receive(now, packet, bytes, &mut self.pipe, &mut self.tally, &mut self.gauge);
            }
        }
    }

    /// When [`Link::advance`] is due.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Time {
        let own = match &self.discipline {
            Discipline::Fifo(fifo) => fifo.next_event(),
            Discipline::Served(served) => served.next_event(),
        };
        own.min(self.pipe.next_arrival())
    }

    /// Does what is due now; returns a packet that arrives at the far end.
    #[inline(always)]
    pub fn advance(&mut self, now: Time) -> Option<Packet> {
        match &mut self.discipline {
            Discipline::Fifo(fifo) => fifo.advance(now, &mut self.pipe, &mut self.gauge),
            Discipline::Served(served) => {
                served.advance(now, &mut self.pipe, &mut self.tally, &mut self.gauge)
            }
        }
        if self.pipe.next_arrival() > now {
            return None;
        }
        let (packet, departed) = match &mut self.discipline {
            // The queue is a part of the pipe's ring: what left it must be accounted for first.
            Discipline::Fifo(fifo) => fifo.deliver(now, &mut self.pipe, &mut self.gauge),
            Discipline::Served(_) => self.pipe.pop(),
        }?;
        if self.loses_at_exit && self.is_lost(now, departed, &packet, false) {
            self.lost += 1;
            return None;
        }
        Some(packet)
    }

    /// Whether a packet at one end is lost: the link is down, or its loss process, which acts at one end, strikes.
    fn is_lost(&mut self, now: Time, departed: Time, packet: &Packet, entry: bool) -> bool {
        if self.up.as_ref().is_some_and(|up| !up.at(now)) {
            return true;
        }
        self.loss_before == entry && self.loss.strikes(departed, is_data(packet))
    }

    /// What waits or is in service.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        match &mut self.discipline {
            Discipline::Fifo(fifo) => fifo.backlog(now, &self.pipe, &mut self.gauge),
            Discipline::Served(served) => served.count_backlog(now, &mut self.gauge),
        }
    }

    /// When at most `packets` will wait or be in service: now, if that is so already; or the next event of the link
    /// that can change the answer, if that comes first.
    pub fn time_below(&mut self, now: Time, packets: u64) -> Time {
        match &mut self.discipline {
            Discipline::Fifo(fifo) => fifo.time_below(now, packets, &self.pipe, &mut self.gauge),
            Discipline::Served(served) => served.time_below(now, packets),
        }
    }

    /// Forgets what was measured so far.
    pub fn restart_gauge(&mut self, now: Time) {
        self.backlog(now);
        self.served_before += self.gauge.served_bytes;
        self.served_data_before += self.gauge.served_data;
        self.gauge = Gauge { since: now, before_bytes: self.partly_served(now), ..Gauge::default() };
        self.tally_before = self.tally;
        self.lost_before = self.lost;
    }

    /// Bytes of the packet in service that are out already.
    fn partly_served(&self, now: Time) -> f64 {
        match &self.discipline {
            Discipline::Fifo(fifo) => fifo.partly_served(now, &self.pipe),
            Discipline::Served(served) => served.partly_served(now),
        }
    }

    /// Bits that could have been served since the start of the gauge.
    fn possible_bits(&self, now: Time) -> Option<f64> {
        let until = match self.capacity {
            // What happens now has happened: an opportunity of this very nanosecond was used.
            Capacity::Trace(_) => now + Span(1),
            Capacity::Unlimited | Capacity::Rate(_) => now,
        };
        capacity_bits(&self.capacity, self.gauge.since, until)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Times from arrival to the start of service since the start of the gauge.
    #[must_use]
    pub fn queue_delays(&self) -> &Histogram {
        &self.gauge.queue_delay
    }

    /// Data packets served since the start of the run.
    pub fn served_data(&mut self, now: Time) -> u64 {
        self.backlog(now);
        self.served_data_before + self.gauge.served_data
    }

    /// Bytes served, packets dropped and packets lost since the start of the run, for the recorder.
    #[must_use]
    pub fn totals(&self) -> (u64, u64, u64) {
        (self.served_before + self.gauge.served_bytes, self.tally.dropped, self.lost)
    }

    /// What was measured up to now.
    pub fn outcome(&mut self, now: Time) -> LinkOutcome {
        self.backlog(now);
        let still_here = match &self.discipline {
            Discipline::Fifo(fifo) => fifo.byte_nanos(now, self.gauge.since, &self.pipe),
            Discipline::Served(_) => 0,
        };
        let carried = self.gauge.served_bytes as f64 - self.gauge.before_bytes + self.partly_served(now);
        let gauge = &self.gauge;
        let seconds = now.since(gauge.since).as_secs_f64();
        let possible = self.possible_bits(now).filter(|bits| *bits > 0.0);
        LinkOutcome {
            name: self.name.clone(),
            utilisation: possible.map(|bits| carried * 8.0 / bits),
            served_packets: gauge.served_packets,
            dropped_packets: self.tally.dropped - self.tally_before.dropped,
            lost_packets: self.lost - self.lost_before,
            marked_packets: self.tally.marked - self.tally_before.marked,
            queue_delay_ms: gauge.queue_delay.mean_ms(),
            queue_delay_p95_ms: gauge.queue_delay.quantile_ms(0.95),
            queue_mean_bytes: if seconds > 0.0 {
                (gauge.byte_nanos + still_here) as f64 / 1e9 / seconds
            } else {
                0.0
            },
        }
    }
}

/// Bytes of a packet that are out when `left_bits` of it are not. Its end is a whole nanosecond, which can be a
/// fraction of one later than its last bit.
fn bytes_out(bytes: u32, left_bits: f64) -> f64 {
    (f64::from(bytes) - left_bits / 8.0).max(0.0)
}

fn is_data(packet: &Packet) -> bool {
    matches!(packet.body, Body::Data(_))
}
