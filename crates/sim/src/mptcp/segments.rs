//! A set of segments that fills up from below, such as those of a stream that have arrived.

const WORD_BITS: u32 = u64::BITS;

/// All segments below [`Segments::next`], and some above it.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    next: u32,
    /// One bit a segment from `next` on, in a ring: word n of the stream is at n modulo the length, a power of two.
    /// Bits of segments that are not in the ring yet are clear.
    words: Vec<u64>,
}

impl Segments {
    /// The first missing segment.
    #[inline]
    #[must_use]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Whether the set contains this segment.
    #[must_use]
    pub fn contains(&self, segment: u32) -> bool {
        let above = || self.reaches(segment) && self.words[self.at(segment)] & bit(segment) != 0;
        segment < self.next || above()
    }

    /// Adds a segment; returns whether it was missing.
    #[inline]
    pub fn insert(&mut self, segment: u32) -> bool {
        if segment < self.next {
            return false;
        }
        if !self.reaches(segment) {
            self.grow(segment);
        }
        if segment == self.next {
            self.advance();
            return true;
        }
        let at = self.at(segment);
        let word = &mut self.words[at];
        let missing = *word & bit(segment) == 0;
        *word |= bit(segment);
        missing
    }

    /// Whether the ring has a place for this segment.
    #[inline]
    fn reaches(&self, segment: u32) -> bool {
        ((segment / WORD_BITS - self.next / WORD_BITS) as usize) < self.words.len()
    }

    /// The index of a segment's word, which the ring must reach.
    #[inline]
    fn at(&self, segment: u32) -> usize {
        (segment / WORD_BITS) as usize & (self.words.len() - 1)
    }

    #[cold]
    fn grow(&mut self, segment: u32) {
        let first = self.next / WORD_BITS;
        let needed = (segment / WORD_BITS - first + 1) as usize;
        let mut words = vec![0; needed.next_power_of_two()];
        let mask = words.len() - 1;
        for word in (first as usize..).take(self.words.len()) {
            words[word & mask] = self.words[word & (self.words.len() - 1)];
        }
        self.words = words;
    }

    /// Adds the first missing segment, which the ring must reach, and moves `next` on.
    #[inline]
    fn advance(&mut self) {
        let mut added = bit(self.next);
        loop {
            let place = self.next % WORD_BITS;
            let at = self.at(self.next);
            let run = ((self.words[at] | added) >> place).trailing_ones();
            self.next += run;
            if place + run < WORD_BITS {
                // Bits below `next` are not read again; they are cleared once the word is full.
                break;
            }
            self.words[at] = 0;
            added = 0;
        }
    }
}

#[inline]
fn bit(segment: u32) -> u64 {
    1 << (segment % WORD_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Compares with the obvious implementation, with gaps and bursts around the words' ends.
        #[test]
        fn agrees_with_a_set(moves in prop::collection::vec((0u32..300, 1u32..80), 1..60)) {
            let mut segments = Segments::default();
            let mut set = BTreeSet::new();
            for segment in moves.into_iter().flat_map(|(start, length)| start..start + length) {
                prop_assert_eq!(segments.insert(segment), set.insert(segment));
                let missing = (0..).find(|n| !set.contains(n)).unwrap();
                prop_assert_eq!(segments.next(), missing);
            }
            for segment in 0..500 {
                prop_assert_eq!(segments.contains(segment), set.contains(&segment));
            }
        }
    }
}
