//! Events in the order in which they will happen, where they are announced nearly in that order.
//!
//! ACKs that have the same way back arrive in the order in which they were sent, but for a little jitter.

use crate::event::{Entry, NOTHING};
use crate::ring::Ring;

/// How many events a new one may overtake.
const OVERTAKES: usize = 8;

/// Events in their order.
#[derive(Clone, Debug)]
pub struct Expected {
    front: Entry,
    /// The events after the front.
    others: Ring<Entry>,
}

impl Default for Expected {
    fn default() -> Self {
        Self { front: NOTHING, others: Ring::default() }
    }
}

impl Expected {
    /// The first event, or [`NOTHING`].
    #[inline]
    pub fn front(&self) -> Entry {
        self.front
    }

    /// Adds an event, unless it comes before too many others.
    #[inline]
    pub fn push(&mut self, event: Entry) -> bool {
        match self.others.back() {
            Some(last) if event < *last => self.overtake(event),
            None if event < self.front => {
                let later = std::mem::replace(&mut self.front, event);
                if later != NOTHING {
                    *self.others.add(&NOTHING) = later;
                }
                true
            }
            _ => {
                *self.others.add(&NOTHING) = event;
                true
            }
        }
    }

    #[inline(never)]
    fn overtake(&mut self, event: Entry) -> bool {
        let count = self.others.len();
        let later = (0..count).rev().take(OVERTAKES + 1).take_while(|&at| event < self.others[at]).count();
        if later > OVERTAKES {
            return false;
        }
        let mut event = event;
        if later == count && event < self.front {
            std::mem::swap(&mut self.front, &mut event);
        }
        *self.others.add(&NOTHING) = event;
        for at in (count - later..count).rev() {
            self.others.swap(at, at + 1);
        }
        true
    }

    /// Removes the first event.
    #[inline]
    pub fn pop(&mut self) {
        self.front = self.others.front().copied().unwrap_or(NOTHING);
        self.others.pop_front();
    }

    /// The components of the first two events.
    #[inline]
    pub fn first_two(&self) -> [Option<u32>; 2] {
        let component = |event: &Entry| (*event != NOTHING).then_some(event.1);
        [component(&self.front), self.others.front().and_then(component)]
    }
}
