//! Where packets wait: the queue disciplines.
//!
//! A discipline that acts at dequeue (CoDel and its kin) implements [`Discipline`] and is driven by the link's
//! service events. Drop-tail in front of a constant rate needs none: [`crate::link`] knows its departures on arrival.

pub mod codel;
pub mod droptail;
pub mod fq_codel;
mod largest;
pub mod ns3_default;

use crate::packet::Packet;
use cwndlab_cc::Time;
use cwndlab_cc::params::ParamSpec;

/// A packet in a queue, with the time it came.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: Packet,
    /// Bytes that it takes on the link.
    pub bytes: u32,
    /// When it joined the queue.
    pub since: Time,
}

/// What waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// One packet more.
    pub fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// One packet less.
    pub fn take(&mut self, bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }
}

/// What a discipline did beside letting packets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked CE.
    pub marked: u64,
}

/// A queue discipline.
pub trait Discipline: Send {
    /// Takes a packet in, or drops it (or another one).
    fn enqueue(&mut self, now: Time, waiting: Waiting, tally: &mut Tally);

    /// The next packet to serve; may drop or mark some on the way.
    fn dequeue(&mut self, now: Time, tally: &mut Tally) -> Option<Waiting>;

    /// What waits, without the packet in service.
    fn backlog(&self) -> Backlog;
}

/// What a discipline is and where it comes from, told beside its code.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// RFC, draft or implementation.
    pub source: &'static str,
    /// Where it departs from its source, and why.
    pub departures: &'static [&'static str],
    /// Its declared parameters; a size that depends on the link is none.
    pub params: fn() -> Vec<ParamSpec>,
}

/// The disciplines that a scenario may name.
pub const DISCIPLINES: &[About] = &[droptail::ABOUT, codel::ABOUT, fq_codel::ABOUT, ns3_default::ABOUT];

/// How much a drop-tail queue holds, the packet in service not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Everything.
    Unlimited,
    /// So many packets, whatever their size.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether one packet more fits.
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
#[derive(Clone, Debug, PartialEq)]
pub enum QueueSpec {
    /// First in, first out; what does not fit is dropped.
    DropTail(Limit),
    /// CoDel.
    Codel(codel::CodelParams),
    /// FQ-CoDel.
    FqCodel(fq_codel::FqCodelParams),
    /// ns-3's default stack: a device FIFO behind FQ-CoDel.
    Ns3Default(ns3_default::Ns3DefaultParams),
}

impl QueueSpec {
    /// The discipline. `name` and `seed` give flow queueing its hash.
    #[must_use]
    pub fn build(&self, seed: u64, name: &str) -> Box<dyn Discipline> {
        match self {
            QueueSpec::DropTail(limit) => Box::new(droptail::DropTail::new(*limit)),
            QueueSpec::Codel(params) => Box::new(codel::Codel::new(params)),
            QueueSpec::FqCodel(params) => Box::new(fq_codel::FqCodel::new(params, seed, name)),
            QueueSpec::Ns3Default(params) => Box::new(ns3_default::Ns3Default::new(params, seed, name)),
        }
    }
}
