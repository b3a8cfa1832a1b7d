//! From segments, which the simulator counts, to bytes, which TCP's sequence numbers count.

/// Where the segments of a connection begin in its stream of bytes.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    mss: u64,
    /// Segments that are not full, in order, and what each lacks: the last one of a stream, and copies of it.
    short: Vec<(u32, u64)>,
}

impl Bytes {
    /// Of a connection with full segments of `mss` bytes.
    pub(super) fn new(mss: u64) -> Self {
        Self { mss, short: Vec::new() }
    }

    /// A segment left with this payload.
    pub(super) fn note(&mut self, seq: u32, payload: u64) {
        if payload < self.mss
            && let Err(at) = self.short.binary_search_by_key(&seq, |(seq, _)| *seq)
        {
            self.short.insert(at, (seq, self.mss - payload));
        }
    }

    /// Bytes before a segment.
    pub(super) fn below(&self, seq: u32) -> u64 {
        let lacking = self.short.iter().take_while(|(short, _)| *short < seq);
        u64::from(seq) * self.mss - lacking.map(|(_, lacks)| lacks).sum::<u64>()
    }

    /// Payload of a segment that has left.
    pub(super) fn payload(&self, seq: u32) -> u64 {
        let short = self.short.binary_search_by_key(&seq, |(seq, _)| *seq);
        self.mss - short.map_or(0, |at| self.short[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_are_not_full_move_those_behind_them() {
        let mut bytes = Bytes::new(1000);
        for (seq, payload) in [(0, 1000), (1, 400), (2, 1000), (1, 400)] {
            bytes.note(seq, payload);
        }
        assert_eq!([0, 1, 2, 3].map(|seq| bytes.below(seq)), [0, 1000, 1400, 2400]);
        assert_eq!([0, 1, 2].map(|seq| bytes.payload(seq)), [1000, 400, 1000]);
    }
}
