//! Where packets wait: the queue disciplines.
//!
//! A discipline is one file, which implements [`Discipline`] and declares a [`QueueKind`], and one line in
//! [`Queues`]. A link asks it for the next packet. Drop-tail in front of a rate, and a device's FIFO behind
//! FQ-CoDel, need no event for that: [`crate::link`] knows their departures.

pub mod codel;
pub mod droptail;
pub mod fq_codel;
mod largest;
pub mod ns3_default;
mod registry;

pub use registry::{BuildQueue, BuildStack, Chance, LIMIT, QueueKind, Queues, Service, Site, Sizing};

use crate::packet::Packet;
use cwndlab_cc::params::{ParamSpec, Parameters, Value};
use cwndlab_cc::{Rate, Time};

/// A packet in a queue, with the time at which it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// Bytes that it takes on the link.
    pub bytes: u32,
    /// When it joined the queue.
    pub since: Time,
}

/// How much waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Adds a packet.
    pub fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// Removes a packet.
    pub fn take(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }
}

/// Gets a report of each packet that a discipline drops or marks.
pub trait QueueTap {
    /// The packet is dropped, whether it waited or has just come.
    fn dropped(&mut self, waiting: &Waiting);

    /// The packet has been marked CE.
    fn marked(&mut self, waiting: &Waiting);
}

/// Counts what a discipline drops and marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked CE.
    pub marked: u64,
}

impl QueueTap for Tally {
    fn dropped(&mut self, _waiting: &Waiting) {
        self.dropped += 1;
    }

    fn marked(&mut self, _waiting: &Waiting) {
        self.marked += 1;
    }
}

/// A queue discipline.
pub trait Discipline: Send {
    /// Takes a packet in, or drops it (or another one).
    fn enqueue(&mut self, now: Time, waiting: Waiting, tap: &mut dyn QueueTap);

    /// The next packet to serve; may drop or mark some on the way.
    fn dequeue(&mut self, now: Time, tap: &mut dyn QueueTap) -> Option<Waiting>;

    /// What waits, without the packet in service.
    fn backlog(&self) -> Backlog;

    /// Shows each packet that waits, in any order.
    fn each_waiting(&self, show: &mut dyn FnMut(&Waiting));
}

/// How much a queue holds, the packet in service not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Everything.
    Unlimited,
    /// This many packets of any size.
    Packets(u64),
    /// This many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether one more packet fits.
    #[must_use]
    pub fn admits(self, backlog: Backlog, bytes: u32) -> bool {
        match self {
            Limit::Unlimited => true,
            Limit::Packets(most) => backlog.packets < most,
            Limit::Bytes(most) => backlog.bytes + u64::from(bytes) <= most,
        }
    }
}

/// Which queue a link has.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// Its kind.
    pub kind: QueueKind,
    /// How much it holds, if its kind is of [`Sizing::Any`].
    pub limit: Limit,
    /// Settings of its parameters; the others have their defaults.
    pub settings: Vec<(String, Value)>,
}

impl QueueSpec {
    /// A queue of this kind, without a limit of its own and with its defaults.
    #[must_use]
    pub fn of(kind: QueueKind) -> Self {
        Self { kind, limit: Limit::Unlimited, settings: Vec::new() }
    }

    /// A queue of this kind with these parameters.
    #[must_use]
    pub fn with<P: Parameters>(kind: QueueKind, params: &P) -> Self {
        let setting = |spec: ParamSpec| Some((spec.name.to_owned(), params.get(spec.name)?));
        Self { settings: P::specs().into_iter().filter_map(setting).collect(), ..Self::of(kind) }
    }

    /// First in, first out; packets that do not fit are dropped.
    #[must_use]
    pub fn droptail(limit: Limit) -> Self {
        Self { limit, ..Self::of(droptail::QUEUE) }
    }

    /// The most that may wait.
    #[must_use]
    pub fn most(&self) -> Limit {
        let given = self.settings.iter().find(|(name, _)| name == LIMIT).map(|(_, value)| value.clone());
        let default =
            || (self.kind.params)().into_iter().find(|spec| spec.name == LIMIT).map(|spec| spec.default);
        match self.kind.sizing {
            Sizing::Any => self.limit,
            Sizing::Fixed { packets } => Limit::Packets(packets),
            Sizing::Limit => match given.or_else(default) {
                Some(Value::Count(packets)) => Limit::Packets(packets),
                _ => Limit::Unlimited,
            },
        }
    }

    /// The [`Site`] of this queue on a link of this name and rate, in a run with this seed.
    #[must_use]
    pub fn site<'a>(&self, seed: u64, link: &'a str, rate: Option<Rate>) -> Site<'a> {
        Site { kind: self.kind.name, link, seed, rate, limit: self.limit }
    }
}
