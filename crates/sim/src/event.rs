//! The event queue: one movable slot per component, and the events that come in the order in which they are announced.
//!
//! A component (a link, an endpoint's earliest timer) has one next event and moves its slot, so the queue stays as small as
//! the topology. The slots of links and arrival processes are in a tree. Flows beyond the first
//! few have two events that need less work: the arrivals of their ACKs wait in a line ([`Expected`]), and their timers,
//! which are put off again and again, in a calendar ([`Calendar`]). Events at the same time run in the order of their
//! components.

use crate::calendar::Calendar;
use crate::expected::{Awaited, Expected};
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
    /// Components with nothing to do.
    fn of(components: &[Component]) -> Self {
        let mut node = Self { times: [Time::NEVER; WIDTH], components: [Component::MAX; WIDTH] };
        node.components[..components.len()].copy_from_slice(components);
        node
    }

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

/// The levels of a tree of these components, with nothing to do yet.
fn levels(components: &[Component]) -> Vec<Vec<Node>> {
    let mut levels = Vec::new();
    let mut below = components.chunks(WIDTH).map(Node::of).collect::<Vec<_>>();
    while !below.is_empty() {
        let earliest: Vec<_> = below.iter().map(|node| node.earliest().1).collect();
        let is_top = below.len() == 1;
        levels.push(below);
        below = if is_top { Vec::new() } else { earliest.chunks(WIDTH).map(Node::of).collect() };
    }
    levels
}

/// The time of every component. The times of the first eight components, the links and flows of a small topology, are
/// compared at each event. Of the others, flows are in the calendar, and a tree keeps the earliest of the rest: a change
/// goes up the tree only as far as it changes something.
#[derive(Clone, Debug)]
pub struct EventQueue {
    first: Block,
    /// From the level that holds the components up to the level with a single node.
    levels: Vec<Vec<Node>>,
    /// The earliest entry of the tree.
    earliest: Entry,
    expected: Expected,
    calendar: Calendar,
    /// The first component in the calendar of timers.
    first_timed: Component,
    components: Component,
}

impl EventQueue {
    /// Components that are no flows, with nothing to do yet; they are numbered from 0.
    #[must_use]
    pub fn new(components: Component) -> Self {
        let first_timed = components.max(WIDTH as Component);
        let levels = levels((WIDTH as Component..components).collect::<Vec<_>>().as_slice());
        let (expected, calendar) = (Expected::default(), Calendar::new(first_timed));
        let (first, earliest) = ([Time::NEVER; WIDTH], NOTHING);
        Self { first, levels, earliest, expected, calendar, first_timed, components }
    }

    /// Adds a flow with nothing to do yet, and returns its number.
    pub fn add_flow(&mut self) -> Component {
        let component = self.components;
        self.components += 1;
        if component >= self.first_timed {
            self.calendar.add();
        }
        component
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
        let (front, timer) = (self.expected.front(), self.calendar.front());
        // The components of the tree come before those of the calendar.
        let slot = if timer.0 < self.earliest.0 { timer } else { self.earliest };
        let expected = front <= slot;
        let other = if expected { front } else { slot };
        if other.0 < at {
            Event { at: other.0, component: other.1, expected }
        } else {
            Event { at, component: place as Component, expected: false }
        }
    }

    /// Moves the slot of a component that is no flow; [`Time::NEVER`] when it has nothing to do.
    #[inline]
    pub fn set(&mut self, component: Component, time: Time) {
        match (component as usize).checked_sub(WIDTH) {
            None => self.first[component as usize] = time,
            Some(index) => {
                debug_assert!(component < self.first_timed, "a flow is advanced");
                self.set_in_tree(index, (time, component));
            }
        }
    }

    /// A flow has something to do at this time. Its slot may come up before, and must then be advanced again.
    #[inline]
    pub fn advance(&mut self, flow: Component, time: Time) {
        match flow.checked_sub(self.first_timed) {
            None => self.first[flow as usize] = time,
            Some(flow) => self.calendar.advance(flow, time),
        }
    }

    /// Takes the event of a flow's slot, which is the next. Returns false if that is no event, because the flow has moved.
    /// Otherwise the caller must [advance](EventQueue::advance) the flow afterwards, or its next event is lost.
    #[inline]
    pub fn pop_slot(&mut self, flow: Component) -> bool {
        debug_assert!(flow < self.first_timed || self.calendar.front().1 == flow);
        flow < self.first_timed || self.calendar.pop()
    }

    /// A flow has nothing more to do.
    pub fn forget(&mut self, flow: Component) {
        match flow.checked_sub(self.first_timed) {
            None => self.first[flow as usize] = Time::NEVER,
            Some(flow) => self.calendar.forget(flow),
        }
    }

    /// When [`EventQueue::open_next`] must be called, before the events of this time.
    #[inline]
    #[must_use]
    pub fn next_opening(&self) -> Time {
        self.calendar.next_opening()
    }

    /// Looks at the flows whose timers may expire next: `due` says when they do. `fetch` is called before, for some flows
    /// together.
    pub fn open_next(&mut self, fetch: impl Fn(Component), due: impl Fn(Component) -> Time) {
        self.calendar.open_next(fetch, due);
    }

    /// Expects the arrival of an answer at a flow's sender, which is another event besides that of its slot. Returns where
    /// the answer waits, or nothing where only the slot will do: with few components, and for an arrival long before
    /// those expected.
    #[inline]
    pub fn expect(&mut self, flow: Component, time: Time) -> Option<&mut Awaited> {
        if flow as usize >= WIDTH { self.expected.push((time, flow)) } else { None }
    }

    /// The answer whose arrival is expected first.
    #[inline]
    #[must_use]
    pub fn first_expected(&self) -> Option<&Awaited> {
        self.expected.first()
    }

    /// The event that was expected first is over.
    #[inline]
    pub fn pop_expected(&mut self) {
        self.expected.pop();
    }

    /// The components of two events that are expected, after `skipped` others.
    #[inline]
    #[must_use]
    pub fn next_expected(&self, skipped: usize) -> [Option<Component>; 2] {
        self.expected.two_after(skipped)
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

    /// Components that are no flows, and flows.
    fn queue(others: Component, flows: Component) -> EventQueue {
        let mut queue = EventQueue::new(others);
        (0..flows).for_each(|_| _ = queue.add_flow());
        queue
    }

    #[test]
    fn ties_run_in_component_order() {
        for others in [0, 3, 10] {
            let mut queue = queue(others, 10 - others);
            (0..others).rev().for_each(|component| queue.set(component, Time(5)));
            (others..10).rev().for_each(|flow| queue.advance(flow, Time(5)));
            if queue.next_opening() <= Time(5) {
                queue.open_next(|_| {}, |_| Time(5));
            }
            for component in 0..10 {
                assert_eq!(next(&queue), Some((Time(5), component, false)), "{others}");
                if component < others {
                    queue.set(component, Time::NEVER);
                } else {
                    assert!(queue.pop_slot(component));
                    queue.advance(component, Time::NEVER);
                }
            }
        }
    }

    #[test]
    fn an_expected_event_comes_before_the_slot_of_its_component() {
        let mut queue = queue(10, 10);
        assert!(queue.expect(7, Time(5)).is_none(), "the first components have slots only");
        assert!(queue.expect(10, Time(5)).is_some());
        [7, 9].into_iter().for_each(|component| queue.set(component, Time(5)));
        [10, 11].into_iter().for_each(|flow| queue.advance(flow, Time(5)));
        queue.open_next(|_| {}, |_| Time(5));
        let mut order = Vec::new();
        while let Some((Time(5), component, expected)) = next(&queue) {
            order.push((component, expected));
            match component {
                _ if expected => queue.pop_expected(),
                0..10 => queue.set(component, Time::NEVER),
                _ => assert!(queue.pop_slot(component)),
            }
        }
        assert_eq!(order, [(7, false), (9, false), (10, true), (10, false), (11, false)]);
    }

    #[test]
    fn the_first_flows_are_where_they_were_put_last() {
        let mut queue = queue(1, 20);
        queue.advance(3, Time(20));
        queue.advance(3, Time(25));
        assert_eq!(next(&queue), Some((Time(25), 3, false)));
        queue.forget(3);
        assert_eq!(queue.next().at, Time::NEVER);
    }

    proptest! {
        /// Compares with the obvious implementation: a list of times, and a sorted list of those expected. 600
        /// components need three levels; a few need none.
        #[test]
        fn agrees_with_a_list(
            moves in prop::collection::vec((any::<prop::sample::Index>(), 0u64..50, 0u8..3), 1..200),
            (others, flows) in (prop_oneof![1u32..12, 1u32..600], 0u32..20),
        ) {
            let mut queue = queue(others, flows);
            let (mut list, mut expected) = (vec![Time::NEVER; others as usize], Vec::new());
            for (component, time, what) in moves {
                let flow = others + component.index(flows.max(1) as usize) as u32;
                match what {
                    0 => {
                        let component = component.index(list.len());
                        queue.set(component as Component, Time(time));
                        list[component] = Time(time);
                    }
                    1 if flows > 0 && queue.expect(flow, Time(time)).is_some() => {
                        expected.push((Time(time), flow));
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
                let due = |event: &(Time, Component, bool)| event.0 < Time::NEVER;
                let first = first.map(|(at, component, slot)| (at, component, !slot));
                prop_assert_eq!(next(&queue).filter(due), first.filter(due));
                for skipped in 0..2 {
                    let two: Vec<_> = queue.next_expected(skipped).into_iter().flatten().collect();
                    let both = expected.iter().skip(skipped).take(2).map(|event| event.1);
                    prop_assert_eq!(two, both.collect::<Vec<_>>());
                }
            }
        }
    }
}
