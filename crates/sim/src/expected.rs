//! The arrivals of ACKs in the order in which they will happen, where they are announced nearly in that order.
//!
//! ACKs that have the same way back arrive in the order in which they were sent, but for a little jitter. They wait side by
//! side here, not each with its flow: with many flows, what an event touches of a flow is far from what was touched
//! before, and the next ACK is near.

use crate::event::{Component, Entry, NOTHING};
use crate::flow::Answer;
use crate::ring::Ring;
use cwndlab_cc::Time;

/// How many arrivals a new one may overtake.
const OVERTAKES: usize = 8;

/// An answer on its way to its sender, over no more links.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    at: Time,
    flow: Component,
    /// The flow's generation when it was sent.
    pub generation: u16,
    /// The answer.
    pub answer: Answer,
}

impl Awaited {
    /// A place that no answer has taken yet.
    const BLANK: Self = Self { at: Time::NEVER, flow: Component::MAX, generation: 0, answer: Answer::BLANK };

    fn entry(&self) -> Entry {
        (self.at, self.flow)
    }
}

/// Answers in the order of their arrivals.
#[derive(Clone, Debug)]
pub struct Expected {
    front: Entry,
    /// All of them.
    answers: Ring<Awaited>,
}

impl Default for Expected {
    fn default() -> Self {
        Self { front: NOTHING, answers: Ring::default() }
    }
}

impl Expected {
    /// The first arrival, or [`NOTHING`].
    #[inline]
    pub fn front(&self) -> Entry {
        self.front
    }

    /// The first answer.
    #[inline]
    pub fn first(&self) -> Option<&Awaited> {
        self.answers.front()
    }

    /// Adds an arrival, unless it comes before too many others. The caller must write the generation and the answer.
    #[inline]
    pub fn push(&mut self, event: Entry) -> Option<&mut Awaited> {
        match self.answers.back() {
            Some(last) if event < last.entry() => return self.overtake(event),
            Some(_) => {}
            None => self.front = event,
        }
        let place = self.answers.add(&Awaited::BLANK);
        (place.at, place.flow) = event;
        Some(place)
    }

    #[inline(never)]
    fn overtake(&mut self, event: Entry) -> Option<&mut Awaited> {
        let count = self.answers.len();
        let is_later = |at: &usize| event < self.answers[*at].entry();
        let later = (0..count).rev().take(OVERTAKES + 1).take_while(is_later).count();
        if later > OVERTAKES {
            return None;
        }
        let added = self.answers.add(&Awaited::BLANK);
        (added.at, added.flow) = event;
        for at in (count - later..count).rev() {
            self.answers.swap(at, at + 1);
        }
        if later == count {
            self.front = event;
        }
        Some(&mut self.answers[count - later])
    }

    /// Removes the first arrival.
    #[inline]
    pub fn pop(&mut self) {
        self.answers.pop_front();
        self.front = self.answers.front().map_or(NOTHING, Awaited::entry);
    }

    /// The flows of two arrivals, after `skipped` others.
    #[inline]
    pub fn two_after(&self, skipped: usize) -> [Option<Component>; 2] {
        [skipped, skipped + 1].map(|at| self.answers.get(at).map(|awaited| awaited.flow))
    }
}
