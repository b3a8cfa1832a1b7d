//! The reward (Seo and Cho 2024 equation (6), Seo et al. 2022 equation (3)): the rate, as a share of the largest; -1
//! for a loss.

use super::{Moment, View};
use crate::bbr::windowed_max::WindowedMax;
use crate::contract::Event;
use crate::units::Span;

crate::words! {
    /// What the rate is divided by.
    pub enum RateMax {
        /// The largest rate up to the first congestion, then the largest at any congestion; it never falls.
        Congestion = "congestion",
        /// The same, restarted at the first congestion, which ends slow start with a window larger than the path holds.
        SecondCongestion = "second-congestion",
        /// The largest rate up to the first congestion, then that at the last congestion.
        LastCongestion = "last-congestion",
        /// The largest rate of the last ten seconds.
        Last10s = "last-10s",
    }
}

crate::parameters! {
    /// The settings of the reward.
    pub struct RewardParams {
        rate_max: RateMax = RateMax::Congestion, "thr_max", Allowed::Word(RateMax::WORDS), "",
            "the rate that a reward of 1 stands for",
            "Seo and Cho 2024 section 3.3: the largest at moments of congestion, and no decay; before the first the largest \
             rate; during learning, and slow start with its first congestion is before it (second-congestion)";
        clip: bool = false, "clip_reward", Allowed::Flag, "",
            "limit rewards to 1", "nothing in Seo and Cho 2024 section 3.3 clips it";
        rtt_weight: f64 = 0.0, "rtt_weight", Allowed::Number(0.0, 100.0), "",
            "amount subtracted from the reward for each minimum RTT by which the RTT is longer",
            "Seo and Cho 2024 equation (6) has the rate alone; counting the RTT is the future work of Seo et al. 2022";
    }
}

/// Which events are punished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Punished {
    /// Every event that cuts the window (Seo and Cho 2024 equation (6): packet loss).
    Congestion,
    /// Three duplicate ACKs, but not a timeout (Seo et al. 2022 section II.B).
    DuplicateAcks,
}

impl Punished {
    pub(super) fn includes(self, event: Event) -> bool {
        self == Punished::Congestion || event == Event::LossRecovery
    }
}

/// The reward for a loss.
pub(super) const LOSS: f32 = -1.0;

/// How far back `RateMax::Last10s` looks for the largest rate.
const WINDOW: Span = Span::from_secs(10);

/// Computes the reward from the flow's rate.
#[derive(Clone, Debug)]
pub struct Reward {
    params: RewardParams,
    /// The rate that a reward of 1 stands for, except under `Last10s`; in bytes per second, like `recent`.
    max: f64,
    recent: WindowedMax<f64>,
    /// Whether a congestion event was seen.
    seen: bool,
    /// Whether one was seen that counts for the maximum.
    congested: bool,
}

impl Reward {
    /// The reward of a flow that has not begun.
    #[must_use]
    pub fn new(params: RewardParams) -> Self {
        Self { params, max: 0.0, recent: WindowedMax::new(WINDOW.0), seen: false, congested: false }
    }

    /// The window over the RTT: Seo and Cho 2024 equation (7), Seo et al. 2022 equation (4), without a
    /// constant factor that cancels in the share.
    fn rate(view: &View) -> f64 {
        view.cwnd as f64 / view.at.rtt.as_secs_f64()
    }

    /// The reward at an ACK without congestion.
    pub fn at_ack(&mut self, view: &View) -> f32 {
        let rate = Self::rate(view);
        self.recent.update(view.at.now.0, rate);
        if !self.congested {
            self.max = self.max.max(rate);
        }
        let max = if self.params.rate_max == RateMax::Last10s { self.recent.get() } else { self.max };
        let share = rate / max;
        let share = if self.params.clip { share.min(1.0) } else { share };
        (share - self.params.rtt_weight * excess_rtt(view.at)) as f32
    }

    /// Sees a congestion event, before the window is cut.
    pub fn at_congestion(&mut self, view: &View) {
        let first = !std::mem::replace(&mut self.seen, true);
        if first && self.params.rate_max == RateMax::SecondCongestion {
            self.max = 0.0;
            return;
        }
        let rate = Self::rate(view);
        self.recent.update(view.at.now.0, rate);
        self.max = match self.params.rate_max {
            RateMax::LastCongestion => rate,
            RateMax::Congestion | RateMax::SecondCongestion | RateMax::Last10s => self.max.max(rate),
        };
        self.congested = true;
    }
}

/// How much longer the RTT is than the minimum RTT, as a share of the minimum.
fn excess_rtt(at: Moment) -> f64 {
    at.rtt.as_secs_f64() / at.rtt_min.as_secs_f64() - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Parameters;
    use crate::units::Time;

    fn view(second: u64, cwnd: u64, rtt_ms: u64) -> View<'static> {
        let (rtt, rtt_min) = (Span::from_millis(rtt_ms), Span::from_millis(50));
        let at = Moment { now: Time(second * 1_000_000_000), rtt, rtt_min, since_congestion: Span::ZERO };
        View { at, cwnd, features: &[] }
    }

    fn reward(set: &[(&str, crate::params::Value)]) -> Reward {
        let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Reward::new(RewardParams::with(&set))
    }

    fn word(word: &'static str) -> crate::params::Value {
        crate::params::Value::Word(word)
    }

    /// Rates of 1000, 2000 and 1000 bytes in 50 ms; then congestion at 1600 bytes in 50 ms.
    fn after_congestion(rule: &'static str) -> [f32; 5] {
        let mut reward = reward(&[("thr_max", word(rule))]);
        let before = [1000, 2000, 1000].map(|cwnd| reward.at_ack(&view(1, cwnd, 50)));
        reward.at_congestion(&view(2, 1600, 50));
        let after = reward.at_ack(&view(3, 800, 50));
        [before[0], before[1], before[2], after, reward.at_ack(&view(30, 800, 50))]
    }

    #[test]
    fn the_largest_rate_is_that_of_the_rule() {
        assert_eq!(after_congestion("congestion"), [1.0, 1.0, 0.5, 0.4, 0.4]);
        assert_eq!(after_congestion("last-congestion"), [1.0, 1.0, 0.5, 0.5, 0.5]);
        assert_eq!(after_congestion("last-10s"), [1.0, 1.0, 0.5, 0.4, 1.0], "it forgets");
    }

    /// Slow start overshoots to twice the window that the path holds, and loses; the next loss is at 1000 bytes.
    #[test]
    fn the_overshoot_of_slow_start_may_be_left_out() {
        for (rule, expected) in [("congestion", [1.0, 0.35, 0.4]), ("second-congestion", [1.0, 1.0, 0.8])] {
            let mut reward = reward(&[("thr_max", word(rule))]);
            let overshoot = reward.at_ack(&view(1, 2000, 50));
            reward.at_congestion(&view(1, 2000, 50));
            let before = reward.at_ack(&view(2, 700, 50));
            reward.at_congestion(&view(3, 1000, 50));
            assert_eq!([overshoot, before, reward.at_ack(&view(4, 800, 50))], expected, "{rule}");
        }
    }

    #[test]
    fn after_congestion_a_larger_rate_is_worth_more_than_one_unless_clipped() {
        for (clip, expected) in [(false, 2.0), (true, 1.0)] {
            let mut reward = reward(&[("clip_reward", crate::params::Value::Flag(clip))]);
            reward.at_congestion(&view(1, 1000, 50));
            assert_eq!(reward.at_ack(&view(2, 2000, 50)), expected);
        }
    }

    #[test]
    fn a_longer_rtt_may_cost() {
        let mut reward = reward(&[("rtt_weight", crate::params::Value::Number(0.5))]);
        assert_eq!(reward.at_ack(&view(1, 1000, 50)), 1.0);
        // The same rate, with the window and the RTT twice as large.
        assert_eq!(reward.at_ack(&view(1, 2000, 100)), 0.5);
    }

    #[test]
    fn what_is_punished() {
        let events = [Event::LossRecovery, Event::Timeout, Event::EcnReduction];
        assert_eq!(events.map(|event| Punished::Congestion.includes(event)), [true; 3]);
        assert_eq!(events.map(|event| Punished::DuplicateAcks.includes(event)), [true, false, false]);
    }
}
