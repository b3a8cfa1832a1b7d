//! Finds the largest of many numbers while single ones change: a tournament tree.

/// Numbers, and the largest of them; the first if several are equal.
#[derive(Debug, Default)]
pub struct Largest {
    /// Leaves from index `half` on, each with its number and its index; above each pair its winner, at 1 the
    /// overall winner.
    tree: Vec<(u64, usize)>,
    half: usize,
}

impl Largest {
    /// A tournament of these numbers.
    #[must_use]
    pub fn of(numbers: impl ExactSizeIterator<Item = u64>) -> Self {
        let half = numbers.len().next_power_of_two();
        let mut largest = Self { tree: (0..2 * half).map(|at| (0, at.saturating_sub(half))).collect(), half };
        numbers.enumerate().for_each(|(index, number)| largest.tree[half + index].0 = number);
        (1..half).rev().for_each(|at| largest.decide(at));
        largest
    }

    /// Changes one of the numbers, or adds one.
    pub fn set(&mut self, index: usize, number: u64) {
        if index >= self.half {
            let room = index + 1 - self.half;
            let numbers: Vec<_> = self.tree[self.half..].iter().map(|leaf| leaf.0).collect();
            let added = std::iter::repeat_n(0, room);
            *self = Self::of(numbers.into_iter().chain(added).collect::<Vec<_>>().into_iter());
        }
        let mut at = self.half + index;
        self.tree[at].0 = number;
        while at > 1 {
            at /= 2;
            self.decide(at);
        }
    }

    /// The index of the largest.
    #[must_use]
    pub fn index(&self) -> usize {
        self.tree[1].1
    }

    fn decide(&mut self, at: usize) {
        let (left, right) = (self.tree[2 * at], self.tree[2 * at + 1]);
        self.tree[at] = if right.0 > left.0 { right } else { left };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_search_through_all(
            start in prop::collection::vec(0..5_u64, 1..20),
            changes in prop::collection::vec((0..40_usize, 0..5_u64), 0..100),
        ) {
            let mut largest = Largest::of(start.iter().copied());
            let mut numbers = start;
            for (index, number) in changes {
                if index >= numbers.len() {
                    numbers.resize(index + 1, 0);
                }
                numbers[index] = number;
                largest.set(index, number);
                let most = *numbers.iter().max().unwrap();
                prop_assert_eq!(largest.index(), numbers.iter().position(|n| *n == most).unwrap());
            }
        }
    }
}
