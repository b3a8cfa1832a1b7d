//! When each of many flows has something to do: a calendar queue (Brown 1988) that does not move what is put off.
//!
//! Most timers are put off before they expire: a retransmission timer by each ACK, the timer of a delayed ACK by the next
//! segment. So a flow waits in a bucket, with others of about the same time and in no order. Its slot, the time of the
//! bucket, is never later than the time at which it has something to do, so putting that off costs nothing. When the
//! bucket is opened, each of its flows is asked for its time. It goes to a later bucket or, if it is due within this one,
//! into the line, which is sorted by exact time.
//!
//! Everything before `opened_until` is in the line, and everything later in a bucket. The buckets form a ring; a time
//! beyond it is in the last bucket, and goes on from there when that is opened.

use crate::event::{Component, Entry, NOTHING};
use cwndlab_cc::{Span, Time};

/// No flow.
const NOBODY: u32 = u32::MAX;

/// The number of buckets at the beginning. All buckets together last a quarter of a second, which few timers exceed.
const BUCKETS: usize = 256;

/// The length of a bucket at the beginning, as a power of two in ns: about a millisecond.
const BUCKET_LOG2: u32 = 20;

/// The shortest length: about a microsecond.
const SHORTEST_BUCKET_LOG2: u32 = 10;

/// If more flows than this are due within a bucket, buckets are too long.
const LONG_LINE: usize = 64;

/// How many flows are prefetched together.
const FETCHED: usize = 16;

/// Where a flow waits.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// When its bucket begins, or its exact time if it is in the line; [`Time::NEVER`] if it waits nowhere.
    slot: Time,
    /// Its neighbours in the bucket.
    next: u32,
    previous: u32,
}

/// Flows, numbered from the first component on, and the earliest times at which they have something to do.
#[derive(Clone, Debug)]
pub struct Calendar {
    first: Component,
    places: Vec<Place>,
    /// The first flow of each bucket.
    buckets: Vec<u32>,
    /// The length of a bucket, as a power of two in ns.
    bucket_log2: u32,
    /// How many flows are in buckets.
    waiting: usize,
    /// The end of the last bucket that was opened.
    opened_until: Time,
    /// When the next bucket with flows begins; [`Time::NEVER`] if there is none.
    next_opening: Time,
    /// The next events; the first of them is the last here, so that taking it moves nothing. The entry of a flow that has
    /// moved to an earlier time, or nowhere, stays behind.
    line: Vec<Entry>,
    /// The flows of a bucket that is being opened.
    opened: Vec<u32>,
}

impl Calendar {
    /// No flows yet; this will be the component of the first.
    pub fn new(first: Component) -> Self {
        Self {
            first,
            places: Vec::new(),
            buckets: vec![NOBODY; BUCKETS],
            bucket_log2: BUCKET_LOG2,
            waiting: 0,
            opened_until: Time::ZERO,
            next_opening: Time::NEVER,
            line: Vec::new(),
            opened: Vec::new(),
        }
    }

    /// Adds a flow with nothing to do yet.
    pub fn add(&mut self) {
        self.places.push(Place { slot: Time::NEVER, next: NOBODY, previous: NOBODY });
    }

    /// The next event before [`Calendar::next_opening`], or [`NOTHING`].
    #[inline]
    pub fn front(&self) -> Entry {
        self.line.last().copied().unwrap_or(NOTHING)
    }

    /// When [`Calendar::open_next`] must be called, before any event of this time.
    #[inline]
    pub fn next_opening(&self) -> Time {
        self.next_opening
    }

    /// The flow has something to do at this time, unless it is looked at earlier anyway.
    #[inline]
    pub fn advance(&mut self, flow: u32, time: Time) {
        if time < self.places[flow as usize].slot {
            self.put(flow, time);
        }
    }

    /// The flow has nothing to do.
    pub fn forget(&mut self, flow: u32) {
        self.leave_bucket(flow);
        self.places[flow as usize].slot = Time::NEVER;
    }

    /// Removes the next event of the line. Returns false if its flow has moved since: then it is no event. Otherwise the
    /// caller must [`Calendar::advance`] the flow to its next event, if it has one.
    #[inline]
    pub fn pop(&mut self) -> bool {
        let Some((time, component)) = self.line.pop() else { return false };
        let place = &mut self.places[(component - self.first) as usize];
        let is_valid = place.slot == time;
        if is_valid {
            place.slot = Time::NEVER;
        }
        is_valid
    }

    /// Opens the next bucket: each of its flows waits from now on until it is `due`. `fetch` is called before `due`, for
    /// some flows together.
    #[inline(never)]
    pub fn open_next(&mut self, fetch: impl Fn(Component), due: impl Fn(Component) -> Time) {
        let mut opened = std::mem::take(&mut self.opened);
        self.empty_next_bucket(&mut opened);
        for flows in opened.chunks(FETCHED) {
            flows.iter().for_each(|flow| fetch(self.first + flow));
            for &flow in flows {
                self.advance(flow, due(self.first + flow));
            }
        }
        opened.clear();
        self.opened = opened;
        if self.line.len() > LONG_LINE {
            self.shorten_buckets();
        }
        self.find_next_bucket();
    }

    fn empty_next_bucket(&mut self, opened: &mut Vec<u32>) {
        let bucket = self.bucket(self.next_opening);
        let mut next = std::mem::replace(&mut self.buckets[bucket], NOBODY);
        while let Some(place) = self.places.get_mut(next as usize) {
            opened.push(next);
            place.slot = Time::NEVER;
            next = place.next;
        }
        self.waiting -= opened.len();
        self.opened_until = self.next_opening + Span(1 << self.bucket_log2);
        self.next_opening = Time::NEVER;
    }

    fn find_next_bucket(&mut self) {
        self.next_opening = if self.waiting == 0 { Time::NEVER } else { self.opened_until };
        while self.waiting > 0 && self.buckets[self.bucket(self.next_opening)] == NOBODY {
            self.next_opening += Span(1 << self.bucket_log2);
        }
    }

    /// Halves the length of buckets, unless that would not part what is in the line.
    #[cold]
    fn shorten_buckets(&mut self) {
        let [Some(last), Some(first)] = [self.line.first(), self.line.last()] else { return };
        if self.bucket_log2 == SHORTEST_BUCKET_LOG2 || last.0.since(first.0).0 < 1 << (self.bucket_log2 - 1) {
            return;
        }
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
        self.next_opening = self.next_opening.min(slot);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    const FIRST: Component = 8;

    /// The calendar beside what it must agree with: the time of each flow, which may be put off without a word.
    struct Watched {
        calendar: Calendar,
        due: Vec<Time>,
        now: Time,
        /// How often a flow was looked at.
        looks: usize,
    }

    impl Watched {
        fn new() -> Self {
            Self { calendar: Calendar::new(FIRST), due: Vec::new(), now: Time::ZERO, looks: 0 }
        }

        fn add(&mut self) {
            self.calendar.add();
            self.due.push(Time::NEVER);
        }

        fn put(&mut self, flow: usize, time: Time) {
            self.due[flow] = time;
            self.calendar.advance(flow as u32, time);
        }

        /// The next event by the calendar. Opens buckets, and pops what comes up for nothing.
        fn next(&mut self) -> Option<Entry> {
            loop {
                let (time, component) = self.calendar.front();
                if time >= self.calendar.next_opening() && self.calendar.next_opening() < Time::NEVER {
                    let looks = Cell::new(self.looks);
                    let due = |component: Component| {
                        looks.set(looks.get() + 1);
                        self.due[(component - FIRST) as usize]
                    };
                    self.calendar.open_next(|_| {}, due);
                    self.looks = looks.get();
                    continue;
                }
                if time == Time::NEVER {
                    return None;
                }
                assert!(time >= self.now, "{time} after {}", self.now);
                self.now = time;
                let is_valid = self.calendar.pop();
                self.looks += 1;
                let flow = (component - FIRST) as usize;
                if !is_valid {
                    continue;
                }
                if self.due[flow] == time {
                    return Some((time, component));
                }
                self.calendar.advance(flow as u32, self.due[flow]);
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
        // In its bucket, and, after the first step, in the line. A flow that has ended may still have timers.
        watched.calendar.forget(1);
        assert_eq!(watched.next(), Some((Time(50_000_000), FIRST)));
        watched.due[0] = Time::NEVER;
        watched.calendar.forget(2);
        assert_eq!(watched.next(), None);
    }

    /// Puts all flows close together, so that too many are due within one bucket.
    fn many_at(watched: &mut Watched, time: Time, log2: u32) {
        for flow in 0..watched.due.len() {
            watched.put(flow, time + Span((flow as u64) << log2.min(16)));
        }
    }

    #[test]
    fn buckets_are_short_where_many_flows_are_due() {
        let mut watched = Watched::new();
        (0..1000).for_each(|_| watched.add());
        let mut longest = 0;
        for _ in 0..5 {
            let later = watched.now + Span(5_000_000);
            many_at(&mut watched, later, 13);
            while watched.step() {
                longest = watched.calendar.line.len();
            }
        }
        assert!(watched.calendar.bucket_log2 < BUCKET_LOG2, "{}", watched.calendar.bucket_log2);
        assert!(longest <= LONG_LINE, "{longest}");
        // At one time, shorter buckets part nothing.
        let length = watched.calendar.bucket_log2;
        let together = watched.now + Span(5_000_000);
        (0..1000).for_each(|flow| watched.put(flow, together));
        while watched.step() {}
        assert_eq!(watched.calendar.bucket_log2, length);
    }

    proptest! {
        #[test]
        fn agrees_with_a_list(
            moves in prop::collection::vec((any::<prop::sample::Index>(), 0u32..31, any::<u32>(), 0u8..8), 1..300),
            flows in prop_oneof![1usize..20, 100usize..300],
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
                        watched.calendar.forget(flow as u32);
                    }
                    5 => many_at(&mut watched, later, log2),
                    _ => _ = watched.step(),
                }
            }
            while watched.step() {}
            prop_assert_eq!(watched.calendar.waiting, 0);
        }
    }
}
