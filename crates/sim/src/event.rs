//! The event queue: one movable slot per component.
//!
//! A component (a link, an endpoint's earliest timer) has one next event and moves its slot earlier or later;
//! nothing is cancelled and nothing stale is popped, so the queue stays as small as the topology. Events at
//! the same time run in the order of their components.

use cwndlab_cc::Time;

/// The number of a component.
pub type Component = u32;

/// The number of times compared at once: few enough for the processor to compare side by side, without a
/// branch.
const WIDTH: usize = 8;

type Block = [Time; WIDTH];

/// The earlier of two times, each with its place; the first if they are equal.
#[inline]
fn earlier(a: (Time, usize), b: (Time, usize)) -> (Time, usize) {
    if b.0 < a.0 { b } else { a }
}

/// The earliest time, with its place, of the half block that begins at place `at`.
#[inline]
fn earliest_of_half(block: &Block, at: usize) -> (Time, usize) {
    let pair = |at: usize| earlier((block[at], at), (block[at + 1], at + 1));
    earlier(pair(at), pair(at + 2))
}

/// The earliest time of a block, and its place there; the first if several are equal.
#[inline]
fn earliest(block: &Block) -> (Time, usize) {
    earlier(earliest_of_half(block, 0), earliest_of_half(block, WIDTH / 2))
}

/// Eight components with their times; on a higher level, the earliest entry of each of eight nodes below.
#[derive(Clone, Copy, Debug)]
struct Node {
    times: Block,
    components: [Component; WIDTH],
}

impl Node {
    const EMPTY: Self = Self { times: [Time::NEVER; WIDTH], components: [Component::MAX; WIDTH] };

    #[inline]
    fn entry(&self, place: usize) -> Entry {
        (self.times[place], self.components[place])
    }

    #[inline]
    fn set(&mut self, place: usize, (time, component): Entry) {
        self.times[place] = time;
        self.components[place] = component;
    }

    #[inline]
    fn earliest(&self) -> Entry {
        let (time, place) = earliest(&self.times);
        (time, self.components[place])
    }
}

/// A component with its time; the smallest entry is the next event.
type Entry = (Time, Component);

/// The time of every component. The times of the first eight components, the links of a small topology, are
/// compared at each event. A tree keeps the earliest of the others: a change goes up the tree only as far as
/// it changes something.
#[derive(Clone, Debug)]
pub struct EventQueue {
    first: Block,
    /// From the level that holds the components up to the level with a single node.
    levels: Vec<Vec<Node>>,
    /// The earliest entry of the tree.
    earliest: Entry,
    components: Component,
}

impl Default for EventQueue {
    fn default() -> Self {
        let earliest = (Time::NEVER, Component::MAX);
        Self { first: [Time::NEVER; WIDTH], levels: Vec::new(), earliest, components: 0 }
    }
}

impl EventQueue {
    /// Adds a component with nothing to do yet; components are numbered from 0.
    pub fn add(&mut self) -> Component {
        let component = self.components;
        self.components += 1;
        if let Some(index) = (component as usize).checked_sub(WIDTH) {
            let nodes = self.levels.first().map_or(0, Vec::len);
            if index == nodes * WIDTH {
                // Double the nodes, so that adding many components rebuilds the levels less often.
                self.build_levels((2 * nodes).max(1));
            }
            self.levels[0][index / WIDTH].components[index % WIDTH] = component;
        }
        component
    }

    fn build_levels(&mut self, nodes: usize) {
        let mut lowest = self.levels.drain(..).next().unwrap_or_default();
        lowest.resize(nodes, Node::EMPTY);
        self.levels.push(lowest);
        while let Some(below) = self.levels.last().filter(|below| below.len() > 1) {
            let mut level = vec![Node::EMPTY; below.len().div_ceil(WIDTH)];
            for (at, node) in below.iter().enumerate() {
                level[at / WIDTH].set(at % WIDTH, node.earliest());
            }
            self.levels.push(level);
        }
    }

    /// The next event.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Option<(Time, Component)> {
        // Half of the comparisons are enough for a flow or two on a link.
        if self.components as usize <= WIDTH / 2 {
            let (time, place) = earliest_of_half(&self.first, 0);
            return (self.components > 0).then_some((time, place as Component));
        }
        let (time, place) = earliest(&self.first);
        Some(if self.earliest.0 < time { self.earliest } else { (time, place as Component) })
    }

    /// Moves a component's slot; [`Time::NEVER`] when it has nothing to do.
    #[inline]
    pub fn set(&mut self, component: Component, time: Time) {
        match (component as usize).checked_sub(WIDTH) {
            None => self.first[component as usize] = time,
            Some(index) => self.set_in_tree(index, (time, component)),
        }
    }

    /// Writes `set` to the place `index`; the earliest entry of its node, and of the nodes above, may change
    /// with it.
    #[inline]
    fn set_in_tree(&mut self, index: usize, mut set: Entry) {
        let (mut at, mut was) = (index, set.1);
        let mut levels = self.levels.iter_mut().peekable();
        while let Some(level) = levels.next() {
            let node = &mut level[at / WIDTH];
            node.set(at % WIDTH, set);
            at /= WIDTH;
            let above = levels.peek().map_or(self.earliest, |level| level[at / WIDTH].entry(at % WIDTH));
            if set >= above {
                if above.1 != was {
                    return;
                }
                // The earliest entry was here and is now later.
                set = node.earliest();
            }
            was = above.1;
        }
        self.earliest = set;
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
        /// Compares with the obvious implementation: a list of times, which grows during the test. 600
        /// components need three levels above them; a few components need none.
        #[test]
        fn agrees_with_a_list(
            moves in prop::collection::vec((any::<prop::sample::Index>(), 0u64..50), 1..200),
            (few, more) in (prop_oneof![1u32..12, 1u32..600], prop_oneof![0u32..4, 0u32..600]),
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
