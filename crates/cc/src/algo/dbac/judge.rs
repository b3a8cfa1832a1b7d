//! Judges which subflow has a high bandwidth-delay product, and when this changes.

use super::params::{Bdp, DbacParams, Judged};
use crate::contract::{Ack, Context};
use crate::units::{Rate, Time};

/// Distinguishes high subflows from low ones.
pub struct Judge {
    max_rate: Rate,
    /// The next judgement; none after the last.
    due: Option<Time>,
}

impl Judge {
    /// A judge that has not judged anything yet.
    pub fn new() -> Self {
        Self { max_rate: Rate::default(), due: Some(Time::ZERO) }
    }

    /// Learns from every ACK.
    pub fn observe(&mut self, ack: &Ack) {
        if let Some(sample) = &ack.sample {
            self.max_rate = self.max_rate.max(sample.rate());
        }
    }

    /// Whether the subflow is high from now on, given whether it was `high` so far and the window in use in
    /// congestion avoidance; `None` while no judgement is due.
    pub fn verdict(&mut self, cx: &Context, params: &DbacParams, high: bool, cwnd: u64) -> Option<bool> {
        if self.due? > cx.facts.now {
            return None;
        }
        self.due = match params.judged {
            Judged::Continuously => Some(cx.facts.now + params.judge_interval),
            Judged::Once => None,
        };
        let bdp = match params.bdp {
            Bdp::Window => cwnd,
            Bdp::Rate => self.max_rate.bytes_in(cx.facts.rtt.minimum),
        };
        let kept = if high { 1.0 - params.hysteresis } else { 1.0 };
        Some((bdp / cx.facts.mss) as f64 >= params.threshold as f64 * kept)
    }
}
