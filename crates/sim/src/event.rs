//! The event queue: one movable slot per component.
//!
//! A component (a link, an endpoint's earliest timer) has one next event and moves its slot either way; nothing is
//! cancelled and nothing stale is popped, so the queue stays as small as the topology. Events at the same time run
//! in the order of their components.

use cwndlab_cc::Time;

/// Names a component.
pub type Component = u32;

/// Times that are compared at once: few enough for the processor to do so side by side, without a branch.
const WIDTH: usize = 8;

type Block = [Time; WIDTH];

/// The earliest time of a block, and its place there; of equal ones the first.
#[inline]
fn earliest(block: &Block) -> (Time, usize) {
    let earlier = |a: (Time, usize), b: (Time, usize)| if b.0 < a.0 { b } else { a };
    let pair = |at: usize| earlier((block[at], at), (block[at + 1], at + 1));
    earlier(earlier(pair(0), pair(2)), earlier(pair(4), pair(6)))
}

/// The time of every component, and above them the earliest of each block, of each block of those, and so on.
///
/// A small topology has one block: its times are set without a comparison, and compared once an event.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    times: Vec<Block>,
    /// From the one above the times up to the one that has a single block.
    levels: Vec<Vec<Block>>,
    components: Component,
}

impl EventQueue {
    /// Adds a component with nothing to do yet; components are numbered from 0.
    pub fn add(&mut self) -> Component {
        let component = self.components;
        self.components += 1;
        if self.components as usize > self.times.len() * WIDTH {
            // Twice as many, so that adding many does not build the levels as often.
            let blocks = (2 * self.times.len()).max(1);
            self.times.resize(blocks, [Time::NEVER; WIDTH]);
            self.build_levels();
        }
        component
    }

    fn build_levels(&mut self) {
        self.levels.clear();
        let mut below = &self.times;
        while below.len() > 1 {
            let least: Vec<Time> = below.iter().map(|block| earliest(block).0).collect();
            let filled_up =
                |some: &[Time]| std::array::from_fn(|n| some.get(n).copied().unwrap_or(Time::NEVER));
            self.levels.push(least.chunks(WIDTH).map(filled_up).collect());
            below = self.levels.last().expect("one was just pushed");
        }
    }

    /// The next event.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Option<(Time, Component)> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            at = at * WIDTH + earliest(&level[at]).1;
        }
        let (time, place) = earliest(self.times.get(at)?);
        Some((time, (at * WIDTH + place) as Component))
    }

    /// Moves a component's slot; [`Time::NEVER`] when it has nothing to do.
    #[inline]
    pub fn set(&mut self, component: Component, time: Time) {
        let mut at = component as usize / WIDTH;
        let mut block = &mut self.times[at];
        block[component as usize % WIDTH] = time;
        for level in &mut self.levels {
            let least = earliest(block).0;
            let (above, place) = (at / WIDTH, at % WIDTH);
            block = &mut level[above];
            if block[place] == least {
                return;
            }
            block[place] = least;
            at = above;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_run_in_component_order() {
        let mut queue = EventQueue::default();
        let ids: Vec<_> = (0..10).map(|_| queue.add()).collect();
        for id in ids.iter().rev() {
            queue.set(*id, Time(5));
        }
        for id in ids {
            assert_eq!(queue.next(), Some((Time(5), id)));
            queue.set(id, Time::NEVER);
        }
    }

    proptest! {
        /// Against the obvious implementation: a list of times, which becomes longer under way. 600 components need three
        /// levels above them.
        #[test]
        fn agrees_with_a_list(
            moves in prop::collection::vec((any::<prop::sample::Index>(), 0u64..50), 1..200),
            (few, more) in (1u32..600, 0u32..600),
        ) {
            let mut queue = EventQueue::default();
            let mut list = Vec::new();
            for (n, (component, time)) in moves.into_iter().enumerate() {
                for _ in 0..[few, more].get(n).copied().unwrap_or(0) {
                    queue.add();
                    list.push(Time::NEVER);
                }
                let component = component.index(list.len()) as u32;
                queue.set(component, Time(time));
                list[component as usize] = Time(time);
                let earliest = (0u32..).zip(&list).map(|(c, at)| (*at, c)).min();
                prop_assert_eq!(queue.next(), earliest);
            }
        }
    }
}
