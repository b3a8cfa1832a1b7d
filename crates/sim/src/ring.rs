//! A queue, first in, first out, whose entries are written where they stay.
//!
//! `VecDeque::push_back` takes an entry by value. The compiler builds it in a temporary with narrow stores and
//! copies it with wide loads, which stall until those stores have left the store buffer. A packet enters such a
//! queue on each link, an ACK the line of those that are expected.

use crate::ahead::fetch_at;
use std::ops::{Index, IndexMut};

/// The fewest places that are allocated.
const LEAST: usize = 4;

/// Entries in the order in which they came; 0 is the oldest.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// No places yet, or a power of two.
    places: Vec<T>,
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), head: 0, len: 0 }
    }
}

impl<T: Clone> Ring<T> {
    /// The number of entries.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An entry.
    #[inline]
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&T> {
        if at < self.len() { self.places.get(self.place(at)) } else { None }
    }

    /// Entries side by side, from this one on; not all that follow it, if the memory ends before. `at` is at most the
    /// number of entries.
    #[inline]
    #[must_use]
    pub fn run_from(&self, at: usize) -> &[T] {
        let from = self.place(at);
        let until = self.places.len().min(from + (self.len() - at));
        &self.places[from..until]
    }

    /// Prefetches the oldest entry, if there is one: without a branch on that, because nothing predicts it.
    #[inline]
    pub fn fetch_front(&self) {
        fetch_at(self.places.as_ptr().wrapping_add(self.head as usize), size_of::<T>());
    }

    /// The oldest entry.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        if self.len > 0 { self.places.get(self.head as usize) } else { None }
    }

    /// The newest entry.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        self.len().checked_sub(1).and_then(|last| self.get(last))
    }

    /// The entries from this one on.
    #[inline]
    pub fn iter_from(&self, at: usize) -> impl Iterator<Item = &T> {
        let (first, rest) = self.places.split_at(self.head as usize);
        let before_end = rest.len().min(self.len());
        let (older, newer) = (&rest[..before_end], &first[..self.len() - before_end]);
        let skipped = at.min(before_end);
        older[skipped..].iter().chain(newer.iter().skip(at - skipped))
    }

    /// Adds an entry and returns its place, where an old entry or a copy of `blank` is: the caller must write every
    /// field.
    #[inline(always)]
    pub fn add(&mut self, blank: &T) -> &mut T {
        if self.len() == self.places.len() {
            self.grow(blank);
        }
        let place = self.place(self.len());
        self.len += 1;
        &mut self.places[place]
    }

    /// Adds an entry before the oldest.
    #[cold]
    pub fn push_front(&mut self, entry: T) {
        if self.len() == self.places.len() {
            self.grow(&entry);
        }
        let place = self.place(self.places.len() - 1);
        self.places[place] = entry;
        self.head = place as u32;
        self.len += 1;
    }

    /// Removes the oldest entry, if there is one.
    #[inline]
    pub fn pop_front(&mut self) {
        if self.len > 0 {
            self.head = self.place(1) as u32;
            self.len -= 1;
        }
    }

    /// Exchanges two entries.
    pub fn swap(&mut self, one: usize, other: usize) {
        assert!(one.max(other) < self.len(), "entries {one} and {other} of {}", self.len());
        let (one, other) = (self.place(one), self.place(other));
        self.places.swap(one, other);
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    #[inline]
    fn place(&self, at: usize) -> usize {
        (self.head as usize).wrapping_add(at) & self.places.len().wrapping_sub(1)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, blank: &T) {
        self.places.rotate_left(self.head as usize);
        self.head = 0;
        self.places.resize(LEAST.max(2 * self.places.len()), blank.clone());
    }
}

impl<T: Clone> Index<usize> for Ring<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        assert!(at < self.len(), "entry {at} of {}", self.len());
        &self.places[self.place(at)]
    }
}

impl<T: Clone> IndexMut<usize> for Ring<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        assert!(at < self.len(), "entry {at} of {}", self.len());
        let place = self.place(at);
        &mut self.places[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_a_deque(moves in prop::collection::vec((0u8..10, any::<u16>()), 0..300)) {
            let (mut ring, mut deque) = (Ring::default(), VecDeque::new());
            for (what, value) in moves {
                match what {
                    0..=4 => {
                        *ring.add(&0) = value;
                        deque.push_back(value);
                    }
                    5 => {
                        ring.push_front(value);
                        deque.push_front(value);
                    }
                    6 if !deque.is_empty() => {
                        let (at, other) = (usize::from(value) % deque.len(), usize::from(value / 7) % deque.len());
                        ring[at] ^= 1;
                        deque[at] ^= 1;
                        ring.swap(at, other);
                        deque.swap(at, other);
                    }
                    7 if value < 3000 => {
                        ring.clear();
                        deque.clear();
                    }
                    _ => {
                        ring.pop_front();
                        deque.pop_front();
                    }
                }
                prop_assert!(ring.iter_from(0).eq(&deque));
                prop_assert_eq!((ring.front(), ring.back()), (deque.front(), deque.back()));
                prop_assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
                prop_assert_eq!(ring.get(deque.len()), None);
                for at in 0..=deque.len() {
                    let run = ring.run_from(at);
                    prop_assert!(run.iter().eq(deque.iter().skip(at).take(run.len())));
                    prop_assert!(at == deque.len() || !run.is_empty());
                }
            }
        }
    }
}
