//! The way out of a sender: its packets, and the link that takes them.

use crate::link::Link;
use crate::packet::{Body, Data, EcnField, Fragment, Packet};
use crate::tap::Tap;
use crate::tcp::Outgoing;
use crate::turn::LinkTurn;
use cwndlab_cc::Time;

/// What all packets of a sender have in common.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// The index of the flow.
    pub flow: u32,
    /// Distinguishes the flows that used this index one after the other.
    pub generation: u16,
    /// The ECN field of new data.
    pub ecn: EcnField,
    /// Bytes of the headers.
    pub header: u32,
}

impl Stamp {
    /// Bytes of the packet for something that the sender wants to send.
    #[inline]
    #[must_use]
    pub fn size_of(&self, outgoing: &Outgoing) -> u32 {
        match outgoing {
            Outgoing::Syn => self.header,
            Outgoing::Segment { payload, .. } => self.header + *payload as u32,
        }
    }

    /// Writes that packet, all of it.
    #[inline]
    pub fn write(&self, outgoing: &Outgoing, packet: &mut Packet) {
        let size = self.size_of(outgoing);
        match outgoing {
            Outgoing::Syn => self.write_body(size, EcnField::NotEct, Body::Syn, packet),
            Outgoing::Segment { data, resent, .. } => self.write_segment(*data, size, *resent, packet),
        }
    }

    /// Writes a segment's packet. The segment is passed by value, so that it is never built elsewhere in memory: a copy would
    /// wait for the stores that have just built it.
    #[inline(always)]
    fn write_segment(&self, data: Data, size: u32, resent: bool, packet: &mut Packet) {
        // RFC 3168 section 6.1.5: a retransmission is not ECN-capable.
        let ecn = if resent { EcnField::NotEct } else { self.ecn };
        self.write_body(size, ecn, Body::Data(data), packet);
    }

    #[inline(always)]
    fn write_body(&self, size: u32, ecn: EcnField, body: Body, packet: &mut Packet) {
        packet.flow = self.flow;
        packet.generation = self.generation;
        packet.hop = 0;
        packet.size = size;
        packet.fragment = Fragment::WHOLE;
        packet.ecn = ecn;
        packet.body = body;
    }
}

/// The first link of a sender whose segments enter it as they are sent, without an outbox.
pub struct WayOut<'a> {
    link: &'a mut Link,
    number: u32,
    stamp: Stamp,
}

impl<'a> WayOut<'a> {
    /// The way over this link, which has this number, from now on.
    #[inline(always)]
    pub fn new(now: Time, link: &'a mut Link, number: u32, stamp: Stamp) -> Self {
        link.expect_new(now);
        Self { link, number, stamp }
    }

    /// A segment enters the link.
    #[inline(always)]
    pub fn take<T: Tap>(&mut self, now: Time, tap: &mut T, data: Data, payload: u64, resent: bool) {
        let Self { link, number, stamp } = self;
        let size = stamp.header + payload as u32;
        let turn = &mut LinkTurn { now, tap, link: *number };
        link.receive_new(turn, size, |packet: &mut _| stamp.write_segment(data, size, resent, packet));
    }
}
