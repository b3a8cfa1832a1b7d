//! The record made of each packet when it was sent, for controllers that need it when the packet is delivered
//! or lost.

use std::collections::VecDeque;

/// The record of one packet. Amounts are in segments since the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its payload in bytes.
    pub bytes: u32,
    /// Segments in flight, itself included.
    pub in_flight: u64,
    /// Delivered before it was sent.
    pub delivered: u64,
    /// Lost before it was sent.
    pub lost: u64,
    /// Marked before it was sent.
    pub ce: u64,
    /// The application limited the rate.
    pub app_limited: bool,
}

/// The records of packets that are not acknowledged, by the sequence number after their last byte.
#[derive(Debug, Default)]
pub struct Records(VecDeque<(u32, Record)>);

/// Whether a sequence number comes before another (RFC 9293 section 3.4: modulo 2^32).
fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Records {
    fn place(&self, end_seq: u32) -> usize {
        self.0.partition_point(|(end, _)| before(*end, end_seq))
    }

    /// The packet is sent, for the first time or again.
    pub fn insert(&mut self, end_seq: u32, record: Record) {
        let place = self.place(end_seq);
        match self.0.get_mut(place) {
            Some((end, old)) if *end == end_seq => *old = record,
            _ => self.0.insert(place, (end_seq, record)),
        }
    }

    /// The record of a packet.
    #[must_use]
    pub fn get(&self, end_seq: u32) -> Option<Record> {
        self.0.get(self.place(end_seq)).filter(|(end, _)| *end == end_seq).map(|(_, record)| *record)
    }

    /// The records of the packets that end after `seq`, up to `end_seq`.
    #[must_use]
    pub fn within(&self, seq: u32, end_seq: u32) -> Vec<Record> {
        let first = self.0.partition_point(|(end, _)| !before(seq, *end));
        self.0
            .range(first..)
            .take_while(|(end, _)| !before(end_seq, *end))
            .map(|(_, record)| *record)
            .collect()
    }

    /// Drops the records of packets below this sequence number, which have been acknowledged.
    pub fn forget(&mut self, una: u32) {
        while self.0.front().is_some_and(|(end, _)| !before(una, *end)) {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(delivered: u64) -> Record {
        Record { delivered, ..Record::default() }
    }

    #[test]
    fn packets_are_found_until_they_are_acknowledged_also_where_numbers_wrap() {
        let mut records = Records::default();
        let ends = [u32::MAX - 1000, 447, 1895];
        for (n, end) in ends.into_iter().enumerate() {
            records.insert(end, sent(n as u64));
        }
        records.forget(u32::MAX - 1000);
        assert_eq!(ends.map(|end| records.get(end).map(|record| record.delivered)), [None, Some(1), Some(2)]);
        records.forget(446);
        assert!(records.get(447).is_some());
        records.forget(1895);
        assert!(records.get(1895).is_none());
    }

    #[test]
    fn one_marked_packet_may_hold_several_segments() {
        let mut records = Records::default();
        for n in 0..4 {
            records.insert(u32::MAX.wrapping_add(1448 * (n + 1)), sent(n.into()));
        }
        let delivered = |seq, end_seq| -> Vec<u64> {
            records.within(seq, end_seq).iter().map(|record| record.delivered).collect()
        };
        assert_eq!(delivered(u32::MAX, 1447), [0]);
        assert_eq!(delivered(1447, 4343), [1, 2]);
        assert_eq!(delivered(4343, 9999), [3]);
        assert!(delivered(9999, 12000).is_empty());
    }
}
