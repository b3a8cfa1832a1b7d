//! When each of many flows has something to do: a calendar queue (Brown 1988) that does not move what is put off.
//!
//! Most timers are put off before they expire: a retransmission timer by each ACK, the timer of a delayed ACK by the next
//! segment. So a flow waits in a bucket, with others of about the same time and in no order, for as long as its time
//! only moves back. When the bucket's time comes, each of its flows is asked when it has something to do by now. That is
//! in a later bucket, or at an exact time in the line of those that come next.

use crate::event::{Component, Entry, NOTHING};
use cwndlab_cc::{Span, Time};

/// No flow.
const NOBODY: u32 = u32::MAX;

/// The fewest buckets.
const LEAST_BUCKETS: usize = 256;

/// The length of a bucket in ns while there are no more of them, as a power of two: about a millisecond. All buckets
/// together last a quarter of a second, which few timers exceed.
const LONGEST_BUCKET: u32 = 20;

/// The number of flows for each bucket. Few flows have something to do within the time of a bucket, because many
/// are in each bucket only to be put off.
const FLOWS_PER_BUCKET: usize = 4;

/// Where a flow waits.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its bucket's time, or its exact time if it is in the line; [`Time::NEVER`] if it waits nowhere.
    slot: Time,
    /// Its neighbours in the bucket.
    next: u32,
    previous: u32,
}

/// Flows, numbered from the first component on, and the earliest times at which they have something to do.
#[derive(Clone, Debug)]
pub struct Timers {
    first: Component,
    places: Vec<Place>,
    /// The first flow of each bucket.
    buckets: Vec<u32>,
    /// The length of a bucket is a power of two in ns: this one.
    bucket_log2: u32,
    /// How many flows are in buckets.
    waiting: usize,
    /// The time of the first bucket. What is due before is in the line.
    opened_until: Time,
    /// When the first bucket must be opened; [`Time::NEVER`] if all are empty.
    next_turn: Time,
    /// The next events, the latest first. The entry of a flow that has moved to an earlier time stays behind.
    line: Vec<Entry>,
    /// The flows of a bucket that is being opened.
    opened: Vec<u32>,
}

impl Timers {
    /// No flows yet; this will be the component of the first.
    pub fn new(first: Component) -> Self {
        Self {
            first,
            places: Vec::new(),
            buckets: vec![NOBODY; LEAST_BUCKETS],
            bucket_log2: LONGEST_BUCKET,
            waiting: 0,
            opened_until: Time::ZERO,
            next_turn: Time::NEVER,
            // What nothing comes before stays at the end of the line.
            line: vec![NOTHING],
            opened: Vec::new(),
        }
    }

    /// Adds a flow with nothing to do yet.
    pub fn add(&mut self) {
        self.places.push(Place { slot: Time::NEVER, next: NOBODY, previous: NOBODY });
        if self.places.len() > FLOWS_PER_BUCKET * self.buckets.len() && self.bucket_log2 > 0 {
            self.halve_buckets();
        }
    }

    #[cold]
    fn halve_buckets(&mut self) {
        self.bucket_log2 -= 1;
        self.buckets = vec![NOBODY; 2 * self.buckets.len()];
        self.waiting = 0;
        for flow in 0..self.places.len() as u32 {
            let slot = self.places[flow as usize].slot;
            if self.is_in_bucket(slot) {
                self.enter_bucket(flow, slot);
            }
        }
    }

    /// The next event of the line, or [`NOTHING`]: the next of all before [`Timers::next_turn`].
    #[inline]
    pub fn front(&self) -> Entry {
        self.line.last().copied().unwrap_or(NOTHING)
    }

    /// When [`Timers::turn`] must be called, before any event of this time.
    #[inline]
    pub fn next_turn(&self) -> Time {
        self.next_turn
    }

    /// The flow has something to do at this time, unless it is looked at earlier anyway.
    #[inline]
    pub fn advance(&mut self, flow: u32, time: Time) {
        if time < self.places[flow as usize].slot {
            self.put(flow, time);
        }
    }

    /// The flow has nothing to do. An entry in the line stays: it comes up for nothing.
    pub fn forget(&mut self, flow: u32) {
        self.leave_bucket(flow);
        self.places[flow as usize].slot = Time::NEVER;
    }

    /// Removes the next event of the line. If its flow has something to do later, it must [`Timers::advance`] to that.
    #[inline]
    pub fn pop(&mut self) {
        let (time, component) = self.front();
        if component != NOTHING.1 {
            self.line.pop();
            let place = &mut self.places[(component - self.first) as usize];
            if place.slot == time {
                place.slot = Time::NEVER;
            }
        }
    }

    /// Opens the first bucket. Each of its flows waits from now on until it is `due`; `fetch` is called before, for all.
    #[inline(never)]
    pub fn turn(&mut self, fetch: impl Fn(Component), due: impl Fn(Component) -> Time) {
        let mut opened = std::mem::take(&mut self.opened);
        self.open_bucket(&mut opened);
        opened.iter().for_each(|flow| fetch(self.first + flow));
        for flow in opened.drain(..) {
            let time = due(self.first + flow);
            if time < Time::NEVER {
                self.put(flow, time);
            }
        }
        self.opened = opened;
        self.skip_empty_buckets();
    }

    fn open_bucket(&mut self, opened: &mut Vec<u32>) {
        let bucket = self.bucket(self.opened_until);
        let mut next = std::mem::replace(&mut self.buckets[bucket], NOBODY);
        while let Some(place) = self.places.get_mut(next as usize) {
            opened.push(next);
            place.slot = Time::NEVER;
            next = place.next;
        }
        self.waiting -= opened.len();
        self.opened_until += self.bucket_length();
    }

    fn skip_empty_buckets(&mut self) {
        if self.waiting == 0 {
            self.next_turn = Time::NEVER;
            return;
        }
        while self.buckets[self.bucket(self.opened_until)] == NOBODY {
            self.opened_until += self.bucket_length();
        }
        self.next_turn = self.opened_until;
    }

    #[inline(never)]
    fn put(&mut self, flow: u32, time: Time) {
        self.leave_bucket(flow);
        if time < self.opened_until {
            self.places[flow as usize].slot = time;
            self.enter_line((time, self.first + flow));
        } else {
            self.enter_bucket(flow, time);
        }
    }

    fn enter_line(&mut self, entry: Entry) {
        let place = self.line.partition_point(|other| *other > entry);
        self.line.insert(place, entry);
    }

    #[inline]
    fn enter_bucket(&mut self, flow: u32, time: Time) {
        let last = self.opened_until.0 + ((self.buckets.len() as u64 - 1) << self.bucket_log2);
        let slot = Time(time.0.min(last) >> self.bucket_log2 << self.bucket_log2);
        let bucket = self.bucket(slot);
        let next = std::mem::replace(&mut self.buckets[bucket], flow);
        self.places[flow as usize] = Place { slot, next, previous: NOBODY };
        if let Some(next) = self.places.get_mut(next as usize) {
            next.previous = flow;
        }
        self.waiting += 1;
        self.next_turn = self.opened_until;
    }

    #[inline]
    fn leave_bucket(&mut self, flow: u32) {
        let Place { slot, next, previous } = self.places[flow as usize];
        if !self.is_in_bucket(slot) {
            return;
        }
        match self.places.get_mut(previous as usize) {
            Some(previous) => previous.next = next,
            None => {
                let bucket = self.bucket(slot);
                self.buckets[bucket] = next;
            }
        }
        if let Some(next) = self.places.get_mut(next as usize) {
            next.previous = previous;
        }
        self.waiting -= 1;
    }

    #[inline]
    fn is_in_bucket(&self, slot: Time) -> bool {
        slot >= self.opened_until && slot < Time::NEVER
    }

    #[inline]
    fn bucket(&self, slot: Time) -> usize {
        (slot.0 >> self.bucket_log2) as usize & (self.buckets.len() - 1)
    }

    #[inline]
    fn bucket_length(&self) -> Span {
        Span(1 << self.bucket_log2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    const FIRST: Component = 8;

    /// The calendar beside what it must agree with: the time of each flow, which may be put off without a word.
    struct Watched {
        timers: Timers,
        due: Vec<Time>,
        now: Time,
        /// How often a flow was looked at.
        looks: usize,
    }

    impl Watched {
        fn new() -> Self {
            Self { timers: Timers::new(FIRST), due: Vec::new(), now: Time::ZERO, looks: 0 }
        }

        fn add(&mut self) {
            self.timers.add();
            self.due.push(Time::NEVER);
        }

        fn put(&mut self, flow: usize, time: Time) {
            self.due[flow] = time;
            self.timers.advance(flow as u32, time);
        }

        /// The next event by the calendar: turns it, and pops what comes up for nothing.
        fn next(&mut self) -> Option<Entry> {
            loop {
                let (time, component) = self.timers.front();
                if time >= self.timers.next_turn() && self.timers.next_turn() < Time::NEVER {
                    let looks = Cell::new(self.looks);
                    let due = |component: Component| {
                        looks.set(looks.get() + 1);
                        self.due[(component - FIRST) as usize]
                    };
                    self.timers.turn(|_| {}, due);
                    self.looks = looks.get();
                    continue;
                }
                if time == Time::NEVER {
                    return None;
                }
                assert!(time >= self.now, "{time} after {}", self.now);
                self.now = time;
                self.timers.pop();
                self.looks += 1;
                let flow = (component - FIRST) as usize;
                if self.due[flow] == time {
                    return Some((time, component));
                }
                self.timers.advance(flow as u32, self.due[flow]);
            }
        }

        /// Takes the next event and compares it with the list's.
        fn step(&mut self) -> bool {
            let first = (FIRST..).zip(&self.due).map(|(component, at)| (*at, component)).min();
            let first = first.filter(|(at, _)| *at < Time::NEVER);
            assert_eq!(self.next(), first);
            if let Some((_, component)) = first {
                self.due[(component - FIRST) as usize] = Time::NEVER;
            }
            first.is_some()
        }
    }

    #[test]
    fn a_timer_that_is_put_off_is_looked_at_once_in_each_bucket() {
        let mut watched = Watched::new();
        watched.add();
        let ms = |n: u64| Time(n * 1_000_000);
        watched.put(0, ms(50));
        for n in 51..=100 {
            watched.due[0] = ms(n);
        }
        assert_eq!(watched.next(), Some((ms(100), FIRST)));
        // At about 50 ms, at about 100 ms, and when it is due.
        assert_eq!(watched.looks, 3);
    }

    #[test]
    fn a_timer_after_the_last_bucket_is_kept() {
        let mut watched = Watched::new();
        (0..2).for_each(|_| watched.add());
        watched.put(0, Time(120_000_000_000));
        watched.put(1, Time(1));
        assert!(watched.step() && watched.step() && !watched.step());
        assert!(watched.looks < 1000, "{}", watched.looks);
    }

    #[test]
    fn a_flow_that_is_forgotten_does_not_come_up() {
        let mut watched = Watched::new();
        (0..3).for_each(|_| watched.add());
        (0..3).for_each(|flow| watched.put(flow, Time(50_000_000)));
        watched.due[1] = Time::NEVER;
        watched.timers.forget(1);
        assert!(watched.step() && watched.step() && !watched.step());
    }

    proptest! {
        /// More than a thousand flows need shorter buckets.
        #[test]
        fn agrees_with_a_list(
            moves in prop::collection::vec((any::<prop::sample::Index>(), 0u32..31, any::<u32>(), 0u8..8), 1..300),
            flows in prop_oneof![1usize..20, 1020usize..1030, 2040usize..2100],
            more in 0usize..40,
            coarse in any::<bool>(),
        ) {
            let mut watched = Watched::new();
            (0..flows).for_each(|_| watched.add());
            for (n, (flow, log2, fraction, what)) in moves.into_iter().enumerate() {
                if n < more {
                    watched.add();
                }
                let flow = flow.index(watched.due.len());
                // Coarse times bring many flows into the same buckets, some at their very beginning.
                let fraction = u64::from(fraction);
                let later = if coarse {
                    Time((watched.now.0 >> 19 << 19) + ((1 + fraction % 6) << 19))
                } else {
                    watched.now + Span(fraction & ((1 << log2) - 1))
                };
                match what {
                    0..=2 => watched.put(flow, later),
                    3 if later > watched.due[flow] => watched.due[flow] = later,
                    4 => {
                        watched.due[flow] = Time::NEVER;
                        watched.timers.forget(flow as u32);
                    }
                    _ => _ = watched.step(),
                }
            }
            while watched.step() {}
            prop_assert_eq!(watched.timers.waiting, 0);
        }
    }
}
