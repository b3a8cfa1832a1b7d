//! When an experience is stored: a state, the last action chosen, and what it led to.

use super::{Moment, View};
use crate::units::{Span, Time};
use std::collections::VecDeque;

crate::words! {
    /// When a tuple is stored.
    pub enum TupleRule {
        /// At an ACK, when more than a minimum RTT has passed since the last congestion, or the window has changed.
        SinceCongestion = "since-congestion",
        /// At an ACK, when more than a minimum RTT has passed since the last tuple, or the window has changed.
        SinceTuple = "since-tuple",
        /// At each decision.
        PerDecision = "per-decision",
        /// At an ACK, once per minimum RTT.
        PerRtt = "per-rtt",
    }
}

crate::words! {
    /// Which tuples a loss is held against.
    pub enum Blamed {
        /// The tuple of the last action.
        LastAction = "last-action",
        /// All tuples of the last RTT.
        LostWindow = "lost-window",
    }
}

/// The chain of tuples: where the next one begins, and when the last ones were stored.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    rule: TupleRule,
    /// The state in which the next tuple begins; `None` right after a loss.
    pub(super) state: Option<Vec<f32>>,
    cwnd: u64,
    last: Time,
    /// The times at which the tuples of the last RTT were stored.
    recent: VecDeque<Time>,
}

impl Chain {
    pub(super) fn new(rule: TupleRule) -> Self {
        Self { rule, state: None, cwnd: 0, last: Time::ZERO, recent: VecDeque::new() }
    }

    /// Whether an ACK ends a tuple.
    pub(super) fn ends_at_ack(&self, view: &View) -> bool {
        let Moment { now, rtt_min, since_congestion, .. } = view.at;
        let changed = view.cwnd != self.cwnd;
        match self.rule {
            TupleRule::SinceCongestion => changed || since_congestion > rtt_min,
            TupleRule::SinceTuple => changed || now.since(self.last) > rtt_min,
            TupleRule::PerRtt => now.since(self.last) >= rtt_min,
            TupleRule::PerDecision => false,
        }
    }

    pub(super) fn per_decision(&self) -> bool {
        self.rule == TupleRule::PerDecision
    }

    /// The next tuple begins here.
    pub(super) fn begin(&mut self, state: &[f32], view: &View) {
        self.begin_at(state);
        (self.cwnd, self.last) = (view.cwnd, view.at.now);
    }

    /// The next tuple begins in this state.
    pub(super) fn begin_at(&mut self, state: &[f32]) {
        let begun = self.state.get_or_insert_default();
        begun.clear();
        begun.extend_from_slice(state);
    }

    /// A tuple was stored.
    pub(super) fn stored(&mut self, at: Moment) {
        self.recent.push_back(at.now);
        self.forget(at);
    }

    /// How many tuples were stored in the last RTT.
    pub(super) fn of_last_rtt(&mut self, at: Moment) -> usize {
        self.forget(at);
        self.recent.len()
    }

    fn forget(&mut self, at: Moment) {
        let longest: Span = at.rtt;
        while self.recent.front().is_some_and(|stored| at.now.since(*stored) > longest) {
            self.recent.pop_front();
        }
    }
}
