//! The event queue: one movable slot per component.
//!
//! A component (a link, an endpoint's earliest timer) has one next event and moves its slot either way; nothing is
//! cancelled and nothing stale is popped, so the queue stays as small as the topology. Events at the same time run
//! in the order of their components.

use cwndlab_cc::Time;

/// Children of a node: a 4-ary heap is shallower than a binary one and its children share a cache line.
const ARITY: usize = 4;

/// Names a component.
pub type Component = u32;

/// A time and a component in one number, so that slots compare in two instructions and without branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot(u128);

impl Slot {
    #[inline]
    fn new(time: Time, component: Component) -> Self {
        Self(u128::from(time.0) << 32 | u128::from(component))
    }

    #[inline]
    fn time(self) -> Time {
        Time((self.0 >> 32) as u64)
    }

    #[inline]
    fn component(self) -> Component {
        self.0 as Component
    }
}

/// An indexed heap with one slot per component.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: Vec<Slot>,
    /// Where each component's slot stands in the heap.
    position: Vec<u32>,
}

impl EventQueue {
    /// Adds a component with nothing to do yet; components are numbered from 0.
    pub fn add(&mut self) -> Component {
        let component = self.position.len() as Component;
        self.position.push(self.heap.len() as u32);
        // Later than or equal to every other slot, and behind them in the tie order: it belongs at the end.
        self.heap.push(Slot::new(Time::NEVER, component));
        component
    }

    /// The next event.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<(Time, Component)> {
        self.heap.first().map(|slot| (slot.time(), slot.component()))
    }

    /// Moves a component's slot; [`Time::NEVER`] when it has nothing to do.
    #[inline]
    pub fn set(&mut self, component: Component, time: Time) {
        let at = self.position[component as usize] as usize;
        let old = self.heap[at];
        let slot = Slot::new(time, component);
        if slot < old {
            self.sift_up(at, slot);
        } else if slot > old {
            self.sift_down(at, slot);
        }
    }

    #[inline]
    fn place(&mut self, at: usize, slot: Slot) {
        self.heap[at] = slot;
        self.position[slot.component() as usize] = at as u32;
    }

    fn sift_up(&mut self, mut at: usize, slot: Slot) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= slot {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, slot);
    }

    fn sift_down(&mut self, mut at: usize, slot: Slot) {
        loop {
            let first = at * ARITY + 1;
            let children = &self.heap[first.min(self.heap.len())..];
            // A full family is compared in pairs, which the processor does side by side.
            let (offset, least) = if let [a, b, c, d, ..] = *children {
                least_of(least_of((0, a), (1, b)), least_of((2, c), (3, d)))
            } else {
                let pairs = children.iter().copied().enumerate();
                let Some(least) = pairs.reduce(least_of) else { break };
                least
            };
            if least >= slot {
                break;
            }
            self.place(at, least);
            at = first + offset;
        }
        self.place(at, slot);
    }
}

#[inline]
fn least_of(a: (usize, Slot), b: (usize, Slot)) -> (usize, Slot) {
    if b.1 < a.1 { b } else { a }
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
        /// Against the obvious implementation: a list of times.
        #[test]
        fn agrees_with_a_list(moves in prop::collection::vec((0u32..20, 0u64..50), 1..200)) {
            let mut queue = EventQueue::default();
            let mut list = [Time::NEVER; 20];
            for _ in 0..20 {
                queue.add();
            }
            for (component, time) in moves {
                queue.set(component, Time(time));
                list[component as usize] = Time(time);
                let earliest = (0..20u32).map(|c| (list[c as usize], c)).min();
                prop_assert_eq!(queue.next(), earliest);
            }
        }
    }
}
