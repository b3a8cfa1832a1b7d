//! Converts the simulator's segment numbers to the byte numbers that TCP's sequence numbers count.

/// The offsets at which a connection's segments begin in its byte stream.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    mss: u64,
    /// Segments shorter than `mss`, in order, each with the number of missing bytes. Only the last segment of
    /// a stream, and copies of it, are short.
    short: Vec<(u32, u64)>,
}

impl Bytes {
    /// For a connection whose full segments carry `mss` bytes.
    pub(super) fn new(mss: u64) -> Self {
        Self { mss, short: Vec::new() }
    }

    /// Notes that a segment was sent with this payload in bytes.
    pub(super) fn note(&mut self, seq: u32, payload: u64) {
        if payload < self.mss
            && let Err(at) = self.short.binary_search_by_key(&seq, |(seq, _)| *seq)
        {
            self.short.insert(at, (seq, self.mss - payload));
        }
    }

    /// The number of bytes before a segment.
    pub(super) fn below(&self, seq: u32) -> u64 {
        let lacking = self.short.iter().take_while(|(short, _)| *short < seq);
        u64::from(seq) * self.mss - lacking.map(|(_, lacks)| lacks).sum::<u64>()
    }

    /// The payload in bytes of a segment that was sent.
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
