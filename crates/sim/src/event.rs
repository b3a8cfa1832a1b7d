//! The event queue: one movable slot per component, and the events that come in the order in which they are announced.
//!
//! A component (a link, an endpoint's earliest timer) has one next event and moves its slot. Nothing is cancelled, so the
//! queue stays as small as the topology. Most events of a flow are the arrivals of its ACKs: with many flows these
//! wait in a line ([`Expected`]), because an insertion into the tree of slots takes ten times as long. Events at the same
//! time run in the order of their components.

use crate::expected::Expected;
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
pub type Entry = (Time, Component);

/// No event.
pub const NOTHING: Entry = (Time::NEVER, Component::MAX);

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it is due.
    pub at: Time,
    /// Whose it is.
    pub component: Component,
    /// It was [expected](EventQueue::expect); otherwise it is that of the component's slot.
    pub expected: bool,
}

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
    expected: Expected,
    components: Component,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            first: [Time::NEVER; WIDTH],
            levels: Vec::new(),
            earliest: NOTHING,
            expected: Expected::default(),
            components: 0,
        }
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

    /// The next event; at [`Time::NEVER`] if there is none. Of a component's own two, the expected one comes first.
    #[inline(always)]
    #[must_use]
    pub fn next(&self) -> Event {
        // Half of the comparisons are enough for a flow or two on a link.
        if self.components as usize <= WIDTH / 2 {
            let (at, place) = earliest_of_half(&self.first, 0);
            return Event { at, component: place as Component, expected: false };
        }
        let (at, place) = earliest(&self.first);
        let front = self.expected.front();
        let expected = front <= self.earliest;
        let other = if expected { front } else { self.earliest };
        if other.0 < at {
            Event { at: other.0, component: other.1, expected }
        } else {
            Event { at, component: place as Component, expected: false }
        }
    }

    /// Moves a component's slot; [`Time::NEVER`] when it has nothing to do.
    #[inline]
    pub fn set(&mut self, component: Component, time: Time) {
        match (component as usize).checked_sub(WIDTH) {
            None => self.first[component as usize] = time,
            Some(index) => self.set_in_tree(index, (time, component)),
        }
    }

    /// Moves a component's slot if that makes it earlier. Timers are put off again and again: such a slot is left
    /// until it comes up, too early. Then the component must [`set`](EventQueue::set) it.
    #[inline]
    pub fn advance(&mut self, component: Component, time: Time) {
        match (component as usize).checked_sub(WIDTH) {
            None => self.first[component as usize] = time,
            Some(index) => {
                if time < self.levels[0][index / WIDTH].times[index % WIDTH] {
                    self.set_in_tree(index, (time, component));
                }
            }
        }
    }

    /// Expects another event of a component besides that of its slot. Returns false where only the slot will do: with
    /// few components, and for an event that comes long before those expected.
    #[inline]
    pub fn expect(&mut self, component: Component, time: Time) -> bool {
        component as usize >= WIDTH && self.expected.push((time, component))
    }

    /// The event that was expected first is over.
    #[inline]
    pub fn pop_expected(&mut self) {
        self.expected.pop();
    }

    /// The components whose events are expected next, and after that.
    #[inline]
    #[must_use]
    pub fn next_expected(&self) -> [Option<Component>; 2] {
        self.expected.first_two()
    }

    /// Writes `set` to the place `index`; the earliest entry of its node, and of the nodes above, may change
    /// with it.
    #[inline(never)]
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

    /// The next event as time, component and whether it was expected.
    fn next(queue: &EventQueue) -> Option<(Time, Component, bool)> {
        let Event { at, component, expected } = queue.next();
        (queue.components > 0).then_some((at, component, expected))
    }

    #[test]
    fn ties_run_in_component_order() {
        let mut queue = EventQueue::default();
        let ids: Vec<_> = (0..10).map(|_| queue.add()).collect();
        for id in ids.iter().rev() {
            queue.set(*id, Time(5));
        }
        for id in ids {
            assert_eq!(next(&queue), Some((Time(5), id, false)));
            queue.set(id, Time::NEVER);
        }
    }

    #[test]
    fn an_expected_event_comes_before_the_slot_of_its_component() {
        let mut queue = EventQueue::default();
        (0..20).for_each(|_| _ = queue.add());
        assert!(!queue.expect(7, Time(5)), "the first components have slots only");
        assert!(queue.expect(10, Time(5)));
        [7, 9, 10, 11].into_iter().for_each(|component| queue.set(component, Time(5)));
        let mut order = Vec::new();
        while let Some((Time(5), component, expected)) = next(&queue) {
            order.push((component, expected));
            if expected { queue.pop_expected() } else { queue.set(component, Time::NEVER) }
        }
        assert_eq!(order, [(7, false), (9, false), (10, true), (10, false), (11, false)]);
    }

    #[test]
    fn a_slot_that_is_put_off_comes_up_too_early() {
        let mut queue = EventQueue::default();
        (0..20).for_each(|_| _ = queue.add());
        for (time, slot) in [(50, 50), (70, 50), (30, 30), (40, 30)] {
            queue.advance(10, Time(time));
            assert_eq!(next(&queue), Some((Time(slot), 10, false)));
        }
        // The first components are where they were put last.
        queue.advance(3, Time(20));
        queue.advance(3, Time(25));
        assert_eq!(next(&queue), Some((Time(25), 3, false)));
    }

    proptest! {
        /// Compares with the obvious implementation: a list of times, which grows during the test, and a sorted list of
        /// those expected. 600 components need three levels above them; a few components need none.
        #[test]
        fn agrees_with_a_list(
            moves in prop::collection::vec((any::<prop::sample::Index>(), 0u64..50, 0u8..3), 1..200),
            (few, more) in (prop_oneof![1u32..12, 1u32..600], prop_oneof![0u32..4, 0u32..600]),
        ) {
            let mut queue = EventQueue::default();
            let (mut list, mut expected) = (Vec::new(), Vec::new());
            for (n, (component, time, what)) in moves.into_iter().enumerate() {
                for _ in 0..[few, more].get(n).copied().unwrap_or(0) {
                    queue.add();
                    list.push(Time::NEVER);
                }
                let component = component.index(list.len()) as u32;
                match what {
                    0 => {
                        queue.set(component, Time(time));
                        list[component as usize] = Time(time);
                    }
                    1 if queue.expect(component, Time(time)) => {
                        expected.push((Time(time), component));
                        expected.sort_unstable();
                    }
                    2 if next(&queue).is_some_and(|event| event.2) => {
                        queue.pop_expected();
                        expected.remove(0);
                    }
                    _ => {}
                }
                let slot = (0u32..).zip(&list).map(|(c, at)| (*at, c, true)).min();
                let first = expected.first().map(|(at, c)| (*at, *c, false)).into_iter().chain(slot).min();
                prop_assert_eq!(next(&queue), first.map(|(at, component, slot)| (at, component, !slot)));
                let two: Vec<_> = queue.next_expected().into_iter().flatten().collect();
                prop_assert_eq!(two, expected.iter().take(2).map(|event| event.1).collect::<Vec<_>>());
            }
        }
    }
}
