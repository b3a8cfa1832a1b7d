//! IP fragmentation (RFC 791): a packet longer than the MTU leaves in fragments, and the receiving host
//! reassembles them.

use crate::packet::{Data, EcnField, Fragment, Packet};
use cwndlab_cc::{Span, Time};
use std::collections::VecDeque;

/// Bytes of an IP header: each fragment has one.
pub const IP_HEADER: u64 = 20;
/// The payload of every fragment but the last is a multiple of this, in bytes.
const UNIT: u64 = 8;
/// A host gives up on a packet that is still incomplete after this time (ns-3 FragmentExpirationTimeout,
/// Linux ipfrag_time).
const LIFETIME: Span = Span::from_secs(30);

/// Bytes that each fragment but the last one carries.
#[must_use]
pub fn room(mtu: u64) -> u64 {
    (mtu - IP_HEADER) / UNIT * UNIT
}

/// The number of fragments of a packet of this size; 1 if it leaves whole.
#[must_use]
pub fn fragments(size: u64, mtu: u64) -> u64 {
    if size <= mtu { 1 } else { (size - IP_HEADER).div_ceil(room(mtu)) }
}

/// Shows the fragments of a packet that is longer than the MTU, as ns-3's `Ipv4L3Protocol::DoFragmentation` cuts them.
#[inline]
pub fn cut(mut packet: Packet, mtu: u32, mut show: impl FnMut(&Packet)) {
    let room = room(u64::from(mtu)) as u32;
    let of = fragments(u64::from(packet.size), u64::from(mtu)) as u8;
    let mut left = packet.size - IP_HEADER as u32;
    for index in 0..of {
        let carried = room.min(left);
        left -= carried;
        (packet.size, packet.fragment) = (IP_HEADER as u32 + carried, Fragment { index, of });
        show(&packet);
    }
}

/// What reassembly reads of a fragment.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// When the segment left, and its number: together they tell its packet from all others of the flow.
    pub key: (Time, u32),
    /// Bytes of the fragment.
    pub size: u32,
    /// Its ECN field.
    pub ecn: EcnField,
    /// The number of fragments of the packet.
    pub of: u8,
}

impl Piece {
    /// What reassembly reads of this fragment of a segment.
    #[inline]
    #[must_use]
    pub fn new(packet: &Packet, data: &Data) -> Self {
        let Packet { size, ecn, fragment, .. } = *packet;
        Self { key: (data.sent_at, data.seq), size, ecn, of: fragment.of }
    }
}

/// A packet whose fragments have all arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Bytes of the packet.
    pub size: u32,
    /// Its ECN field.
    pub ecn: EcnField,
}

/// The fragments of a packet that have arrived.
#[derive(Clone, Copy, Debug)]
struct Partial {
    /// When the first fragment arrived.
    since: Time,
    fragments: u8,
    whole: Whole,
}

impl Partial {
    fn begin(now: Time, piece: &Piece) -> Self {
        Self { since: now, fragments: 1, whole: Whole { size: piece.size, ecn: piece.ecn } }
    }

    /// Adds a fragment; returns the packet if it is whole now. Links neither repeat nor alter packets, so
    /// counting the fragments is enough.
    #[inline]
    fn add(&mut self, piece: &Piece) -> Option<Whole> {
        self.fragments += 1;
        self.whole.size += piece.size - IP_HEADER as u32;
        if piece.ecn == EcnField::Ce {
            // RFC 3168 section 5.3: one marked fragment marks the packet.
            self.whole.ecn = EcnField::Ce;
        }
        (self.fragments == piece.of).then_some(self.whole)
    }
}

/// The packets of a flow of which only some fragments have arrived.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    /// In the order of sending; a retransmitted segment is another packet.
    packets: VecDeque<((Time, u32), Partial)>,
    /// Where the last packet was completed: the next one often is the one behind it. Before it are packets of
    /// which a fragment was lost.
    next: usize,
}

impl Reassembly {
    /// A fragment arrives. Returns its packet if it was the last one missing.
    #[inline]
    pub fn take(&mut self, now: Time, piece: &Piece) -> Option<Whole> {
        self.expire(now);
        if self.packets.get(self.next).is_some_and(|(key, _)| *key == piece.key) {
            return self.add(self.next, piece);
        }
        if self.packets.back().is_none_or(|(newest, _)| *newest < piece.key) {
            self.packets.push_back((piece.key, Partial::begin(now, piece)));
            return None;
        }
        let place = self.packets.partition_point(|(key, _)| *key < piece.key);
        if self.packets.get(place).is_some_and(|(key, _)| *key == piece.key) {
            return self.add(place, piece);
        }
        self.packets.insert(place, (piece.key, Partial::begin(now, piece)));
        None
    }

    fn add(&mut self, place: usize, piece: &Piece) -> Option<Whole> {
        let whole = self.packets[place].1.add(piece)?;
        self.packets.remove(place);
        self.next = place;
        Some(whole)
    }

    fn expire(&mut self, now: Time) {
        while self.packets.front().is_some_and(|(_, oldest)| oldest.since + LIFETIME <= now) {
            self.packets.pop_front();
            self.next = self.next.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Body;
    use proptest::prelude::*;

    fn packet(seq: u32, sent_at: u64, size: u32) -> Packet {
        let body =
            Body::Data(Data { seq, sent_at: Time(sent_at), echo: Time::ZERO, cwr: false, push: false });
        let fragment = Fragment::WHOLE;
        Packet { flow: 0, generation: 0, hop: 0, ecn: EcnField::Ect0, size, fragment, body }
    }

    fn pieces(packet: Packet, mtu: u32) -> Vec<Packet> {
        let mut found = Vec::new();
        cut(packet, mtu, |fragment| found.push(*fragment));
        found
    }

    fn take(reassembly: &mut Reassembly, at: u64, packet: Packet) -> Option<Packet> {
        let Body::Data(Data { seq, sent_at, .. }) = packet.body else { panic!("no data") };
        let Packet { size, ecn, fragment: Fragment { of, .. }, .. } = packet;
        let Whole { size, ecn } = reassembly.take(Time(at), &Piece { key: (sent_at, seq), size, ecn, of })?;
        Some(Packet { size, ecn, fragment: Fragment::WHOLE, ..packet })
    }

    #[test]
    fn ns3_cuts_1512_bytes_into_1500_and_32() {
        let sizes = |size, mtu| pieces(packet(0, 0, size), mtu).iter().map(|f| f.size).collect::<Vec<_>>();
        assert_eq!(sizes(1512, 1500), [1500, 32]);
        assert_eq!(sizes(3052, 1500), [1500, 1500, 92]);
        // The header leaves room for 985 bytes; 984 is a multiple of 8.
        assert_eq!(sizes(1500, 1005), [1004, 516]);
        assert_eq!([fragments(1500, 1500), fragments(1501, 1500), fragments(9052, 68)], [1, 2, 189]);
    }

    #[test]
    fn a_segment_that_is_sent_again_is_another_packet() {
        let mut reassembly = Reassembly::default();
        let [first, again] = [1, 2].map(|sent_at| pieces(packet(7, sent_at, 1512), 1500));
        assert_eq!(take(&mut reassembly, 10, first[0]), None);
        assert_eq!(take(&mut reassembly, 20, again[1]), None);
        assert_eq!(take(&mut reassembly, 21, again[0]), Some(packet(7, 2, 1512)));
        assert_eq!(take(&mut reassembly, 30, first[1]), Some(packet(7, 1, 1512)));
        assert!(reassembly.packets.is_empty());
    }

    #[test]
    fn a_fragment_waits_for_30_s() {
        let fragments = pieces(packet(7, 1, 1512), 1500);
        let whole_after = |wait: Span| {
            let mut reassembly = Reassembly::default();
            take(&mut reassembly, 5, fragments[0]);
            take(&mut reassembly, 5 + wait.0, fragments[1]).is_some()
        };
        assert_eq!([LIFETIME.0 - 1, LIFETIME.0].map(|wait| whole_after(Span(wait))), [true, false]);
    }

    #[test]
    fn one_marked_fragment_marks_the_packet() {
        for marked in 0..2 {
            let mut reassembly = Reassembly::default();
            let mut fragments = pieces(packet(7, 1, 1512), 1500);
            fragments[marked].ecn = EcnField::Ce;
            let whole =
                fragments.into_iter().filter_map(|fragment| take(&mut reassembly, 5, fragment)).next();
            assert_eq!(whole.map(|packet| packet.ecn), Some(EcnField::Ce));
        }
    }

    proptest! {
        /// Whatever the sizes and the order of arrival, a packet is whole when its last fragment arrives, and
        /// no fragment is longer than the MTU.
        #[test]
        fn what_is_cut_comes_together(
            (size, mtu, order) in (68u32..9200, 68u32..2000).prop_filter("cut", |(size, mtu)| size > mtu).prop_flat_map(|(size, mtu)| {
                let fragments = pieces(packet(3, 9, size), mtu);
                (Just(size), Just(mtu), Just(fragments).prop_shuffle())
            })
        ) {
            prop_assert!(order.iter().all(|fragment| fragment.size <= mtu && fragment.size > 20));
            prop_assert_eq!(order.len() as u64, fragments(u64::from(size), u64::from(mtu)));
            let mut reassembly = Reassembly::default();
            let (last, others) = order.split_last().unwrap();
            for fragment in others {
                prop_assert_eq!(take(&mut reassembly, 9, *fragment), None);
            }
            prop_assert_eq!(take(&mut reassembly, 9, *last), Some(packet(3, 9, size)));
        }

        /// Fragments of many packets arrive in any order, and some never do: a packet is whole when its last
        /// fragment arrives.
        #[test]
        fn packets_come_together_side_by_side(
            order in Just((0..24u32).flat_map(|seq| [(seq, 0), (seq, 1), (seq, 2)]).collect::<Vec<_>>()).prop_shuffle(),
            kept in 40usize..72,
        ) {
            let mut reassembly = Reassembly::default();
            let mut arrived = [0; 24];
            for (now, (seq, index)) in order.into_iter().take(kept).enumerate() {
                // Each segment left twice, so that the numbers alone do not tell packets apart.
                let whole = packet(seq / 2, u64::from(seq % 2), 3052);
                arrived[seq as usize] += 1;
                let complete = (arrived[seq as usize] == 3).then_some(whole);
                prop_assert_eq!(take(&mut reassembly, now as u64, pieces(whole, 1500)[index]), complete);
            }
            let partial = arrived.iter().filter(|&&count| count == 1 || count == 2).count();
            prop_assert_eq!(reassembly.packets.len(), partial);
        }
    }
}
