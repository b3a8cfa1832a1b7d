//! The agent's observation and reward: both cover everything since its last decision.

use crate::contract::{Context, Rtt};
use crate::units::{Span, Time};

/// The components of the state, with their scales: round values of the magnitude that occurs.
pub(super) const STATE: [&str; 5] =
    ["cwnd_segments/1000", "rtt_ms/100", "min_rtt_ms/100", "delivery_rate_mbps/100", "lost_share"];

/// The inputs of a network, as the text that a file of weights carries.
#[must_use]
pub fn inputs() -> String {
    STATE.join(",")
}

/// What happened since the last decision.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    at: Time,
    delivered: u64,
    lost: u64,
}

/// Counts between decisions, and keeps the state and the reward of the last one.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    loss_weight: f64,
    since: Since,
    /// The largest delivery rate between two decisions, in bytes a second.
    largest_rate: f64,
    state: [f32; STATE.len()],
    reward: f32,
}

impl Sight {
    pub(super) fn new(loss_weight: f64) -> Self {
        Self {
            loss_weight,
            since: Since::default(),
            largest_rate: 0.0,
            state: [0.0; STATE.len()],
            reward: 0.0,
        }
    }

    pub(super) fn delivered(&mut self, bytes: u64) {
        self.since.delivered += bytes;
    }

    pub(super) fn lost(&mut self, bytes: u64) {
        self.since.lost += bytes;
    }

    /// The time of the last decision.
    pub(super) fn last(&self) -> Time {
        self.since.at
    }

    pub(super) fn state(&self) -> &[f32; STATE.len()] {
        &self.state
    }

    pub(super) fn reward(&self) -> f32 {
        self.reward
    }

    /// Takes state and reward at a decision, and restarts the counts.
    pub(super) fn look(&mut self, cx: &Context, cwnd: u64) {
        let Since { at, delivered, lost } =
            std::mem::replace(&mut self.since, Since { at: cx.facts.now, ..Since::default() });
        let rtt = cx.facts.rtt;
        let passed = cx.facts.now.since(at);
        let seconds = passed.max(Span(1)).as_secs_f64();
        let rate = delivered as f64 / seconds;
        // ACKs that arrive at one instant give no rate.
        if passed >= rtt.minimum {
            self.largest_rate = self.largest_rate.max(rate);
        }
        self.reward = self.worth(rate, lost as f64 / seconds, rtt);
        let lost_share = if lost == 0 { 0.0 } else { lost as f64 / (lost + delivered) as f64 };
        self.state = [
            cwnd as f64 / cx.facts.mss as f64 / 1000.0,
            rtt.latest.as_millis_f64() / 100.0,
            rtt.minimum.as_millis_f64() / 100.0,
            rate * 8.0 / 1e6 / 100.0,
            lost_share,
        ]
        .map(|value| value as f32);
    }

    /// Delivery rate less loss over the RTT, as a share of its value at the largest rate and the smallest
    /// RTT: Kleinrock's power, with losses, as Abbasloo et al. 2020 (Orca) reward it.
    fn worth(&self, rate: f64, lost_rate: f64, rtt: Rtt) -> f32 {
        let worth = rate - self.loss_weight * lost_rate;
        let share = if self.largest_rate > 0.0 { worth / self.largest_rate } else { 0.0 };
        let stretch = rtt.latest.max(Span(1)).as_secs_f64() / rtt.minimum.max(Span(1)).as_secs_f64();
        (share.clamp(-1.0, 1.0) / stretch) as f32
    }
}
