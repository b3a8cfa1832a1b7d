//! The queue of a host's own link. Senders that share the link are held back before it, as TCP small queues do, and
//! take turns: each slot that comes free wakes one sender, the one that has waited longest.

use cwndlab_cc::Time;
use std::collections::VecDeque;

/// A flow that waits: its index, and its generation among the flows that have used this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiter {
    flow: u32,
    generation: u16,
}

/// One access link's queue, and the flows that wait for room in it.
#[derive(Debug)]
pub struct Host {
    /// The index of the access link.
    pub link: u32,
    /// The most packets that the link's queue may hold.
    pub packets: u64,
    waiting: VecDeque<Waiter>,
    /// When the first waiting flow will be woken, so that its state is touched only when that changes.
    wake: Option<Time>,
}

impl Host {
    /// A host where no flow waits.
    #[must_use]
    pub fn new(link: u32, packets: u64) -> Self {
        Self { link, packets, waiting: VecDeque::new(), wake: None }
    }

    /// Packets that this flow may add to a queue of `backlog` packets: none while another one waits ahead of it.
    #[inline]
    #[must_use]
    pub fn room(&self, flow: u32, backlog: u64) -> u32 {
        match self.waiting.front() {
            Some(first) if first.flow != flow => 0,
            _ => self.packets.saturating_sub(backlog) as u32,
        }
    }

    /// Ends the flow's turn, if it had one: it no longer waits. Returns whether it had one.
    #[inline]
    pub fn end_turn(&mut self, flow: u32, backlog: u64) -> bool {
        let first = self.waiting.front().is_some_and(|first| first.flow == flow);
        let turn = first && backlog < self.packets;
        if turn {
            self.drop_first();
        }
        turn
    }

    /// The flow waits for a slot.
    pub fn wait(&mut self, flow: u32, generation: u16) {
        self.waiting.push_back(Waiter { flow, generation });
    }

    /// The flow to wake at `until`, when a slot is free; `None` if no flow waits, or if the first will be
    /// woken at that time anyway. Flows whose `generation` has changed since they began to wait are gone.
    pub fn wake_first(&mut self, until: Time, generation: impl Fn(u32) -> u16) -> Option<u32> {
        while let Some(first) = self.waiting.front() {
            if self.wake == Some(until) {
                return None;
            }
            if generation(first.flow) == first.generation {
                self.wake = Some(until);
                return Some(first.flow);
            }
            self.drop_first();
        }
        None
    }

    /// The index of a flow is given to another flow: if the old one was to be woken, the one behind it must
    /// be.
    pub fn look_again(&mut self) {
        self.wake = None;
    }

    fn drop_first(&mut self) {
        self.waiting.pop_front();
        self.wake = None;
    }
}
