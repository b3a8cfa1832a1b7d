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

/// The fragments of a packet that is longer than the MTU, as ns-3's `Ipv4L3Protocol::DoFragmentation` cuts them.
pub fn cut(packet: Packet, mtu: u32) -> impl Iterator<Item = Packet> {
    let room = room(u64::from(mtu)) as u32;
    let of = fragments(u64::from(packet.size), u64::from(mtu)) as u8;
    let carried = packet.size - IP_HEADER as u32;
    (0..of).map(move |index| {
        let size = IP_HEADER as u32 + room.min(carried - room * u32::from(index));
        Packet { size, fragment: Fragment { index, of }, ..packet }
    })
}

/// The fragments of a packet that have arrived.
#[derive(Clone, Copy, Debug)]
struct Partial {
    /// When the first fragment arrived.
    since: Time,
    fragments: u8,
    bytes: u32,
    ecn: EcnField,
}

/// The packets of a flow of which only some fragments have arrived, in the order of sending; a retransmitted
/// segment is another packet. Most are added and removed at the ends.
#[derive(Clone, Debug, Default)]
pub struct Reassembly(VecDeque<((Time, u32), Partial)>);

impl Reassembly {
    /// A fragment arrives. Returns whether it was the last one missing; `packet` is then the whole packet
    /// again. Links neither repeat nor alter packets, so counting the fragments is enough.
    pub fn take(&mut self, now: Time, packet: &mut Packet, data: &Data) -> bool {
        self.expire(now);
        let key = (data.sent_at, data.seq);
        let place = self.place(key);
        if self.0.get(place).is_none_or(|(other, _)| *other != key) {
            let none = Partial { since: now, fragments: 0, bytes: IP_HEADER as u32, ecn: packet.ecn };
            self.0.insert(place, (key, none));
        }
        let partial = &mut self.0[place].1;
        partial.fragments += 1;
        partial.bytes += packet.size - IP_HEADER as u32;
        if packet.ecn == EcnField::Ce {
            // RFC 3168 section 5.3: one marked fragment marks the packet.
            partial.ecn = EcnField::Ce;
        }
        if partial.fragments < packet.fragment.of {
            return false;
        }
        (packet.size, packet.ecn, packet.fragment) = (partial.bytes, partial.ecn, Fragment::WHOLE);
        self.0.remove(place);
        true
    }

    /// The index of a packet, or where it would be inserted.
    #[inline]
    fn place(&self, key: (Time, u32)) -> usize {
        match (self.0.front(), self.0.back()) {
            (Some((first, _)), _) if *first == key => 0,
            (_, Some((last, _))) if *last < key => self.0.len(),
            _ => self.0.partition_point(|(other, _)| *other < key),
        }
    }

    fn expire(&mut self, now: Time) {
        while self.0.front().is_some_and(|(_, oldest)| oldest.since + LIFETIME <= now) {
            self.0.pop_front();
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

    fn take(reassembly: &mut Reassembly, at: u64, mut packet: Packet) -> Option<Packet> {
        let Body::Data(data) = packet.body else { panic!("no data") };
        reassembly.take(Time(at), &mut packet, &data).then_some(packet)
    }

    #[test]
    fn ns3_cuts_1512_bytes_into_1500_and_32() {
        let sizes = |size| cut(packet(0, 0, size), 1500).map(|fragment| fragment.size).collect::<Vec<_>>();
        assert_eq!(sizes(1512), [1500, 32]);
        assert_eq!(sizes(3052), [1500, 1500, 92]);
        // The header leaves room for 985 bytes; 984 is a multiple of 8.
        assert_eq!(cut(packet(0, 0, 1500), 1005).map(|f| f.size).collect::<Vec<_>>(), [1004, 516]);
        assert_eq!([fragments(1500, 1500), fragments(1501, 1500), fragments(9052, 68)], [1, 2, 189]);
    }

    #[test]
    fn a_segment_that_is_sent_again_is_another_packet() {
        let mut reassembly = Reassembly::default();
        let [first, again] = [1, 2].map(|sent_at| cut(packet(7, sent_at, 1512), 1500).collect::<Vec<_>>());
        assert_eq!(take(&mut reassembly, 10, first[0]), None);
        assert_eq!(take(&mut reassembly, 20, again[1]), None);
        assert_eq!(take(&mut reassembly, 21, again[0]), Some(packet(7, 2, 1512)));
        assert_eq!(take(&mut reassembly, 30, first[1]), Some(packet(7, 1, 1512)));
        assert!(reassembly.0.is_empty());
    }

    #[test]
    fn a_fragment_waits_for_30_s() {
        let fragments: Vec<_> = cut(packet(7, 1, 1512), 1500).collect();
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
            let mut fragments: Vec<_> = cut(packet(7, 1, 1512), 1500).collect();
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
                let fragments: Vec<_> = cut(packet(3, 9, size), mtu).collect();
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
    }
}
