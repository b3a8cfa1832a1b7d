//! Packets as they travel: small, `Copy`, without payload or header bytes.

use cwndlab_cc::Time;

/// A range of segments [start, end), as a SACK block names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First segment.
    pub start: u32,
    /// One past the last segment.
    pub end: u32,
}

/// SACK blocks of one ACK: three fit beside timestamps (RFC 2018 section 3).
pub const SACK_BLOCKS: usize = 3;

/// A packet. Sequence numbers are segment indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Index of the flow.
    pub flow: u32,
    /// Distinguishes the flows that used this index one after the other.
    pub generation: u16,
    /// The hop of its route that it is crossing, from 0.
    pub hop: u8,
    /// ECN field of the IP header.
    pub ecn: EcnField,
    /// Bytes that it takes on a link, without the link's own overhead.
    pub size: u32,
    /// Which part of an IP packet it is.
    pub fragment: Fragment,
    /// What it carries.
    pub body: Body,
}

impl Packet {
    /// A packet that is not written yet.
    pub const BLANK: Self = Self {
        flow: 0,
        generation: 0,
        hop: 0,
        ecn: EcnField::NotEct,
        size: 0,
        fragment: Fragment::WHOLE,
        body: Body::Syn,
    };

    /// Whether it carries data.
    #[inline]
    #[must_use]
    pub fn is_data(&self) -> bool {
        matches!(self.body, Body::Data(_))
    }
}

/// A part of an IP packet (RFC 791).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Its place among the fragments of the packet, from 0.
    pub index: u8,
    /// The number of fragments of the packet; 1 if it is whole.
    pub of: u8,
}

impl Fragment {
    /// A packet that was not cut.
    pub const WHOLE: Self = Self { index: 0, of: 1 };
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl EcnField {
    /// The ECN field of a TOS byte: the last two bits of the second byte of an IP header.
    #[must_use]
    pub fn of_tos(tos: u8) -> Self {
        match tos & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Opens a connection.
    Syn,
    /// Accepts it; the window as in [`AckHeader::window`].
    SynAck {
        /// Timestamp.
        sent_at: Time,
        /// Segments that the receiver has room for.
        window: u32,
    },
    /// One segment of data.
    Data(Data),
    /// An acknowledgement.
    Ack(AckHeader),
}

/// One segment of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its index.
    pub seq: u32,
    /// Timestamp (RFC 7323): when it was sent.
    pub sent_at: Time,
    /// Timestamp of the last ACK that the sender has seen.
    pub echo: Time,
    /// The sender has reduced its window since the last ECN echo (CWR, RFC 3168).
    pub cwr: bool,
    /// A write of the application, or a burst of a subflow, ends with this segment (PSH, RFC 9293 section 3.9.1.2).
    pub push: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckHeader {
    /// Timestamp (RFC 7323): when it was sent.
    pub sent_at: Time,
    /// Timestamp of the segment that caused it (RFC 7323 section 4.3).
    pub echo: Time,
    /// The next segment expected.
    pub cumulative: u32,
    /// Segments from `cumulative` on that the receiver has room for; on a subflow of a multipath connection, one past
    /// the last segment of data that it has room for.
    pub window: u32,
    /// SACK blocks, the newest first; empty ones follow.
    pub sack: [Block; SACK_BLOCKS],
    /// The total number of segments that have arrived with a congestion mark (as AccECN counts them).
    pub ce_count: u32,
    /// ECN echo (RFC 3168).
    pub ece: bool,
    /// The first block reports a duplicate (DSACK, RFC 2883).
    pub dsack: bool,
    /// Held back by the delayed-ACK timer.
    pub delayed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_stays_small() {
        assert!(size_of::<Packet>() <= 72, "{} bytes", size_of::<Packet>());
    }
}
