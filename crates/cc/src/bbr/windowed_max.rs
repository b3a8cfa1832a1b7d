//! The maximum over a sliding window, such as the last ten rounds.

use std::collections::VecDeque;

/// Keeps the maximum of the values at the last `length` positions (rounds, or ns). It is exact, and stores
/// only values that can still become the maximum.
#[derive(Clone, Debug)]
pub struct WindowedMax<T> {
    length: u64,
    /// Positions and values: positions ascend, values descend.
    candidates: VecDeque<(u64, T)>,
}

impl<T: Copy + PartialOrd + Default> WindowedMax<T> {
    /// An empty window of this length.
    #[must_use]
    pub fn new(length: u64) -> Self {
        Self { length, candidates: VecDeque::new() }
    }

    /// Takes a value at a position; positions never decrease.
    pub fn update(&mut self, position: u64, value: T) {
        while self.candidates.back().is_some_and(|(_, last)| *last <= value) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((position, value));
        self.advance(position);
    }

    /// Forgets the values that have left the window.
    pub fn advance(&mut self, position: u64) {
        while self.candidates.front().is_some_and(|(at, _)| at + self.length <= position) {
            self.candidates.pop_front();
        }
    }

    /// The maximum; the default value if the window is empty.
    #[must_use]
    pub fn get(&self) -> T {
        self.candidates.front().map_or_else(T::default, |(_, value)| *value)
    }

    /// Forgets all but this value.
    pub fn reset(&mut self, position: u64, value: T) {
        self.candidates.clear();
        self.candidates.push_back((position, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_maximum_of_the_window(values in prop::collection::vec((0u64..3, 0u64..100), 1..200)) {
            let mut filter = WindowedMax::new(10);
            let mut seen: Vec<(u64, u64)> = Vec::new();
            let mut position = 0;
            for (step, value) in values {
                position += step;
                seen.push((position, value));
                filter.update(position, value);
                let expected = seen.iter().filter(|(at, _)| at + 10 > position).map(|(_, v)| *v).max();
                prop_assert_eq!(Some(filter.get()), expected);
            }
        }
    }

    #[test]
    fn old_values_leave_though_nothing_comes() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 5u64);
        filter.advance(9);
        assert_eq!(filter.get(), 5);
        filter.advance(10);
        assert_eq!(filter.get(), 0);
    }
}
