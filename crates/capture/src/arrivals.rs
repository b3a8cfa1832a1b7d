//! When data arrived at the receiver, seen from either end.

use crate::connection::{Event, Transfer};

/// Captured beside the receiver: every packet with data, retransmissions included, because they used the link as well.
pub(crate) fn arrived(transfer: &Transfer) -> Vec<(u64, f64)> {
    transfer.data().map(|data| (data.at, f64::from(data.bytes))).collect()
}

/// Captured beside the sender: the data that each ACK newly reports, scaled to bytes of IP packets. The times are late
/// by the delay of the reverse path, which shifts them all alike; packets that arrived twice are missing.
pub(crate) fn acknowledged(transfer: &Transfer) -> Vec<(u64, f64)> {
    let packets: f64 = transfer.data().map(|data| f64::from(data.bytes)).sum();
    let per_byte = packets / transfer.payload_bytes() as f64;
    let mut arrived = Arrived::default();
    let acks =
        transfer.events.iter().filter_map(|event| if let Event::Ack(ack) = event { Some(ack) } else { None });
    let mut found = Vec::new();
    for ack in acks {
        let mut bytes = arrived.advance(ack.cumulative);
        for (start, end) in ack.sack.into_iter().flatten() {
            bytes += arrived.add(start, end);
        }
        if bytes > 0 {
            found.push((ack.at, bytes as f64 * per_byte));
        }
    }
    found
}

/// The bytes that have arrived: all below a number, and ranges above it, sorted and disjoint.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    below: i64,
    above: Vec<(i64, i64)>,
}

impl Arrived {
    /// All below this number have arrived; returns how many of them are new.
    pub(crate) fn advance(&mut self, cumulative: i64) -> i64 {
        if cumulative <= self.below {
            return 0;
        }
        let known: i64 = self.above.iter().map(|(start, end)| (end.min(&cumulative) - start).max(0)).sum();
        let new = cumulative - self.below - known;
        self.below = cumulative;
        self.above.retain_mut(|(start, end)| {
            *start = (*start).max(cumulative);
            *start < *end
        });
        new
    }

    /// A range has arrived; returns how many bytes of it are new.
    pub(crate) fn add(&mut self, start: i64, end: i64) -> i64 {
        let start = start.max(self.below);
        if start >= end {
            return 0;
        }
        let first = self.above.partition_point(|range| range.1 < start);
        let last = first + self.above[first..].partition_point(|range| range.0 <= end);
        let touched = &self.above[first..last];
        let known: i64 = touched.iter().map(|range| (range.1.min(end) - range.0.max(start)).max(0)).sum();
        let low = touched.first().map_or(start, |range| range.0.min(start));
        let high = touched.last().map_or(end, |range| range.1.max(end));
        self.above.splice(first..last, [(low, high)]);
        end - start - known
    }

    /// Whether a whole range has arrived.
    pub(crate) fn has(&self, start: i64, end: i64) -> bool {
        end <= self.below || self.above.iter().any(|range| range.0 <= start.max(self.below) && end <= range.1)
    }

    /// All below this number have arrived.
    pub(crate) fn below(&self) -> i64 {
        self.below
    }

    /// Whether bytes above a gap have arrived.
    pub(crate) fn has_gap(&self) -> bool {
        !self.above.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_byte_counts_once() {
        let mut arrived = Arrived::default();
        let mut all: BTreeSet<i64> = BTreeSet::new();
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % below) as i64
        };
        for _ in 0..2000 {
            let before = all.len();
            let start = draw(400);
            let new = if draw(8) == 0 {
                all.extend(0..start / 4);
                arrived.advance(start / 4)
            } else {
                let end = start + draw(9) + 1;
                all.extend(start..end);
                arrived.add(start, end)
            };
            assert_eq!(new, (all.len() - before) as i64);
            let from = draw(390);
            assert_eq!(arrived.has(from, from + 5), (from..from + 5).all(|byte| all.contains(&byte)));
        }
    }
}
