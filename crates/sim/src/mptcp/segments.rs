//! A set of segments that fills up from below, as what has arrived of a stream does.

use std::collections::VecDeque;

const WORD_BITS: u32 = u64::BITS;

/// All segments below [`Segments::next`], and some above it.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    next: u32,
    /// One bit a segment, from the last multiple of 64 up to `next` on; those below `next` say nothing.
    words: VecDeque<u64>,
}

impl Segments {
    /// The first that is missing.
    #[inline]
    #[must_use]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Whether it is there.
    #[must_use]
    pub fn contains(&self, segment: u32) -> bool {
        segment < self.next || self.words.get(self.word(segment)).is_some_and(|word| word & bit(segment) != 0)
    }

    /// Adds one; says whether it was missing.
    pub fn insert(&mut self, segment: u32) -> bool {
        if segment < self.next {
            return false;
        }
        let at = self.word(segment);
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let missing = self.words[at] & bit(segment) == 0;
        self.words[at] |= bit(segment);
        if segment == self.next {
            self.advance();
        }
        missing
    }

    /// Where a segment's bit is; it is not below `next`.
    #[inline]
    fn word(&self, segment: u32) -> usize {
        (segment / WORD_BITS - self.next / WORD_BITS) as usize
    }

    fn advance(&mut self) {
        while let Some(word) = self.words.front() {
            let place = self.next % WORD_BITS;
            let run = (word >> place).trailing_ones();
            self.next += run;
            if place + run < WORD_BITS {
                break;
            }
            self.words.pop_front();
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
        /// Against the obvious implementation, with gaps and bursts around the words' ends.
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
