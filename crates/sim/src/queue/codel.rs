//! CoDel (RFC 8289).
//!
//! [`Dialect::Ns3`] follows ns-3.37 where that differs; [`super::ns3_default`] lists what is left out of it.

use super::{Backlog, Discipline, QueueKind, QueueTap, Service, Sizing, Waiting};
use crate::packet::EcnField;
use cwndlab_cc::params::Parameters;
use cwndlab_cc::{Span, Time};
use std::collections::VecDeque;

cwndlab_cc::parameters! {
    /// The parameters of CoDel.
    pub struct CodelParams {
        limit: u64 = 1000, "limit", Allowed::Count(1, 100_000_000), "packets",
            "most packets that may wait", "Linux sch_codel";
        target: Span = Span::from_millis(5), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "acceptable standing delay", "RFC 8289 section 4";
        interval: Span = Span::from_millis(100), "interval", Allowed::Span(Span::from_micros(10), Span::from_secs(100)), "time",
            "how long the delay must stay above the target before a drop", "RFC 8289 section 4";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "RFC 8289; off as in Linux sch_codel";
    }
}

/// The queue kind, as scenarios name it.
pub const QUEUE: QueueKind = QueueKind {
    name: "codel",
    summary: "CoDel (RFC 8289)",
    source: "RFC 8289; limit and marking as in Linux sch_codel",
    departures: &[
        "time and the square root of the control law are exact, where Linux counts ticks of 1.024 us and takes \
         Newton steps in fixed point",
    ],
    params: CodelParams::specs,
    sizing: Sizing::Limit,
    service: Service::ByPacket,
    chance: None,
    build: |_, settings| Box::new(Codel::new(&CodelParams::with(settings))),
};

/// Which version of CoDel is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// RFC 8289.
    Rfc,
    /// ns-3.37: a drop counts also when it ends the dropping state, the inverse square root comes from one Newton step
    /// for each change of the count (so the first spacings are 1, 0.5, 0.5625 of the interval, not 1, 0.71, 0.58), and
    /// a queue is left alone below 1500 bytes.
    Ns3,
}

/// What all controllers of a discipline share.
#[derive(Clone, Debug)]
pub struct Law {
    dialect: Dialect,
    target: Span,
    interval: Span,
    ecn: bool,
    /// Nothing is dropped when fewer bytes than this remain.
    least: u64,
}

/// RFC 8289 section 5.3 drops nothing while no more than one MTU of the interface is left; a larger packet,
/// once seen, raises this bound.
const MTU: u64 = 1500;

impl Law {
    /// The law of these parameters.
    #[must_use]
    pub fn new(dialect: Dialect, target: Span, interval: Span, ecn: bool) -> Self {
        let least = if dialect == Dialect::Rfc { MTU + 1 } else { MTU };
        Self { dialect, target, interval, ecn, least }
    }

    /// Which version of CoDel is followed.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Notes the size of a packet that arrived: links with overhead have packets above 1500 bytes.
    pub fn saw(&mut self, bytes: u32) {
        if self.dialect == Dialect::Rfc {
            self.least = self.least.max(u64::from(bytes) + 1);
        }
    }

    /// Whether a packet is marked in place of a drop.
    fn marks(&self, waiting: &Waiting) -> bool {
        self.ecn && waiting.packet.ecn != EcnField::NotEct
    }
}

/// The queue that a [`Controller`] takes packets from.
pub trait PacketSource {
    /// The packet at the head, and the bytes behind it.
    fn head(&self) -> Option<(&Waiting, u64)>;

    /// Takes out the packet at the head.
    fn pop(&mut self) -> Option<Waiting>;
}

/// CoDel's state for one queue.
#[derive(Clone, Debug)]
pub struct Controller {
    /// When the delay will have been above the target for an interval; `None` while it is below.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// The count with which the dropping state began, plus its drops after the first.
    count: u32,
    /// The count with which the dropping state began.
    last_count: u32,
    /// ns-3's estimate of 1/sqrt(count).
    inverse_root: f64,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            inverse_root: NS3_ONE,
        }
    }
}

/// The verdict on the packet at the head.
#[derive(Clone, Copy)]
struct Judged {
    /// The delay has been above the target long enough to drop it.
    above: bool,
    /// It is to be marked instead.
    marks: bool,
}

fn mark_next(source: &mut impl PacketSource, tap: &mut dyn QueueTap) -> Option<Waiting> {
    let mut next = source.pop()?;
    next.packet.ecn = EcnField::Ce;
    tap.marked(&next);
    Some(next)
}

fn drop_next(source: &mut impl PacketSource, tap: &mut dyn QueueTap) {
    if let Some(next) = source.pop() {
        tap.dropped(&next);
    }
}

/// ns-3's inverse root of 1: the largest fraction of 16 bits.
const NS3_ONE: f64 = 65_535.0 / 65_536.0;

impl Controller {
    /// The next packet to serve, after drops or a mark.
    #[inline]
    pub fn dequeue(
        &mut self,
        law: &Law,
        now: Time,
        source: &mut impl PacketSource,
        tap: &mut dyn QueueTap,
    ) -> Option<Waiting> {
        // RFC 8289 section 5.5. A mark replaces a drop and delivers the packet, so it ends the search. The
        // packet looked at stays at the head until its fate is decided.
        let mut next = self.look(law, now, source)?;
        if self.dropping {
            self.dropping = next.above;
            while self.dropping && now >= self.drop_next {
                if next.marks {
                    self.set_count(law, self.count + 1);
                    self.drop_next += self.spacing(law);
                    return mark_next(source, tap);
                }
                drop_next(source, tap);
                next = self.look(law, now, source)?;
                if next.above || law.dialect == Dialect::Ns3 {
                    self.set_count(law, self.count + 1);
                }
                if next.above {
                    self.drop_next += self.spacing(law);
                }
                self.dropping = next.above;
            }
        } else if next.above {
            self.enter(law, now);
            if next.marks {
                return mark_next(source, tap);
            }
            drop_next(source, tap);
            self.look(law, now, source)?;
        }
        source.pop()
    }

    /// Looks at the packet at the head (RFC 8289 section 5.6).
    #[inline]
    fn look(&mut self, law: &Law, now: Time, source: &impl PacketSource) -> Option<Judged> {
        let Some((waiting, bytes_behind)) = source.head() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        let marks = law.marks(waiting);
        if now.since(waiting.since) < law.target || bytes_behind < law.least {
            self.first_above = None;
            return Some(Judged { above: false, marks });
        }
        let first = *self.first_above.get_or_insert(now + law.interval);
        Some(Judged { above: now >= first, marks })
    }

    /// Enters the dropping state. If it was left less than 16 intervals ago, it resumes at the drop rate
    /// reached then: its count is the one reached less the one with which that state began
    /// (RFC 8289 section 5.5, which follows Linux here).
    fn enter(&mut self, law: &Law, now: Time) {
        let reached = self.count - self.last_count;
        let recently = now.since(self.drop_next) < law.interval.times(16);
        self.set_count(law, if recently && reached > 1 { reached } else { 1 });
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = now + self.spacing(law);
    }

    fn set_count(&mut self, law: &Law, count: u32) {
        self.count = count;
        if law.dialect == Dialect::Ns3 {
            let v = self.inverse_root;
            let step = v * (3.0 - f64::from(count) * v * v) * 0.5;
            self.inverse_root = if count == 1 { NS3_ONE } else { step };
        }
    }

    /// The control law: interval/sqrt(count) (RFC 8289 section 5.6).
    fn spacing(&self, law: &Law) -> Span {
        match law.dialect {
            Dialect::Rfc => Span((law.interval.0 as f64 / f64::from(self.count).sqrt()) as u64),
            Dialect::Ns3 => law.interval.scaled(self.inverse_root),
        }
    }
}

/// A CoDel queue.
pub struct Codel {
    law: Law,
    limit: u64,
    controller: Controller,
    fifo: PacketFifo,
}

#[derive(Default)]
struct PacketFifo {
    waiting: VecDeque<Waiting>,
    backlog: Backlog,
}

impl PacketSource for PacketFifo {
    fn head(&self) -> Option<(&Waiting, u64)> {
        let head = self.waiting.front()?;
        Some((head, self.backlog.bytes - u64::from(head.bytes)))
    }

    fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        self.backlog.take(waiting.bytes);
        Some(waiting)
    }
}

impl Codel {
    /// An empty queue.
    #[must_use]
    pub fn new(params: &CodelParams) -> Self {
        Self {
            law: Law::new(Dialect::Rfc, params.target, params.interval, params.ecn),
            limit: params.limit,
            controller: Controller::default(),
            fifo: PacketFifo::default(),
        }
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, _now: Time, waiting: Waiting, tap: &mut dyn QueueTap) {
        self.law.saw(waiting.bytes);
        if self.fifo.backlog.packets < self.limit {
            self.fifo.backlog.add(waiting.bytes);
            self.fifo.waiting.push_back(waiting);
        } else {
            tap.dropped(&waiting);
        }
    }

    fn dequeue(&mut self, now: Time, tap: &mut dyn QueueTap) -> Option<Waiting> {
        self.controller.dequeue(&self.law, now, &mut self.fifo, tap)
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog
    }

    fn each_waiting(&self, show: &mut dyn FnMut(&Waiting)) {
        self.fifo.waiting.iter().for_each(show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller(dialect: Dialect) -> (Law, Controller) {
        (Law::new(dialect, Span::from_millis(5), Span::from_millis(100), false), Controller::default())
    }

    /// Spacings for the counts 1 to 4, in ten-thousandths of the interval.
    fn spacings(dialect: Dialect) -> Vec<u64> {
        let (law, mut controller) = controller(dialect);
        let spacing = |count| {
            controller.set_count(&law, count);
            controller.spacing(&law).0 / 10_000
        };
        (1..5).map(spacing).collect()
    }

    #[test]
    fn the_control_law_has_the_square_root_and_ns3_one_newton_step() {
        assert_eq!(spacings(Dialect::Rfc), [10_000, 7071, 5773, 5000]);
        // v (3 - n v^2) / 2 from v = 65535/65536: 0.50002, 0.56251, 0.48778.
        assert_eq!(spacings(Dialect::Ns3), [9999, 5000, 5625, 4877]);
    }

    #[test]
    fn the_count_goes_on_only_within_sixteen_intervals() {
        let reentered = |after| {
            let (law, mut controller) = controller(Dialect::Rfc);
            (controller.count, controller.last_count, controller.drop_next) = (9, 2, Time::ZERO);
            controller.enter(&law, Time::ZERO + Span::from_millis(after));
            (controller.count, controller.last_count)
        };
        assert_eq!(reentered(1599), (7, 7));
        assert_eq!(reentered(1600), (1, 1));
    }
}
