//! Long-term bandwidth sampling: a token-bucket policer is recognised by two intervals of the same rate with
//! heavy loss, and its rate is then kept for a while (Linux tcp_bbr.c `bbr_lt_bw_sampling`; Flach et al.
//! 2016).

use crate::units::{Rate, Span, Time};

/// An interval has at least this many rounds, and at most four times as many (`bbr_lt_intvl_min_rtts`).
const LEAST_ROUNDS: u64 = 4;
const MOST_ROUNDS: u64 = 4 * LEAST_ROUNDS;
/// An interval is lossy if at least 50 bytes are lost for every 256 delivered (`bbr_lt_loss_thresh`).
const LOST: u64 = 50;
const OF_DELIVERED: u64 = 256;
/// Two rates agree within an eighth, or within 4 kbit/s (`bbr_lt_bw_ratio`, `bbr_lt_bw_diff`).
const RATIO: u64 = 8;
const DIFFERENCE: Rate = Rate(4000);
/// Rounds of ProbeBW until bandwidth is probed for again (`bbr_lt_bw_max_rtts`).
const KEPT_ROUNDS: u64 = 48;
/// A shorter interval gives no rate.
const LEAST_SPAN: Span = Span::from_millis(1);

/// Totals of the connection when something was last delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub at: Time,
    pub delivered: u64,
    pub lost: u64,
}

/// What the current ACK (or a timeout) says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    pub lost: bool,
    pub app_limited: bool,
    pub round_started: bool,
    pub probing_bandwidth: bool,
}

/// The detector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    /// The totals at the start of the current interval; `None` before a loss.
    start: Option<Totals>,
    /// The rate of the last interval, or the policer's.
    rate: Option<Rate>,
    detected: bool,
    /// Rounds of the interval, or since the policer was detected.
    rounds: u64,
}

impl Policer {
    /// The rate that a policer allows, if there is one.
    pub fn rate(&self) -> Option<Rate> {
        self.rate.filter(|_| self.detected)
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Takes a sample; returns whether a kept rate has just been given up.
    pub fn update(&mut self, totals: Totals, signs: Signs) -> bool {
        if self.detected {
            return self.give_up(signs);
        }
        // Until the first loss the bucket still has tokens, and data passes faster than the policer's rate.
        if self.start.is_none() && !signs.lost {
            return false;
        }
        let start = *self.start.get_or_insert(totals);
        self.rounds += u64::from(signs.round_started);
        // A pause makes the rate too low; an interval that is too long mixes data that does not belong together.
        if signs.app_limited || self.rounds > MOST_ROUNDS {
            self.reset();
        } else if self.rounds >= LEAST_ROUNDS && signs.lost {
            // An interval ends with a loss, just as it began: the bucket is empty at both ends.
            self.end_interval(start, totals);
        }
        false
    }

    fn give_up(&mut self, signs: Signs) -> bool {
        self.rounds += u64::from(signs.probing_bandwidth && signs.round_started);
        let over = self.rounds >= KEPT_ROUNDS;
        if over {
            self.reset();
        }
        over
    }

    fn end_interval(&mut self, start: Totals, end: Totals) {
        let (lost, delivered) = (end.lost - start.lost, end.delivered - start.delivered);
        let span = end.at.since(start.at);
        if delivered == 0 || lost * OF_DELIVERED < LOST * delivered || span < LEAST_SPAN {
            return;
        }
        let rate = Rate::of(delivered, span).unwrap_or_default();
        (self.start, self.rounds) = (Some(end), 0);
        self.detected = self.rate.is_some_and(|last| agree(rate, last));
        self.rate = match self.rate {
            Some(last) if self.detected => Some(Rate(rate.0.midpoint(last.0))),
            _ => Some(rate),
        };
    }
}

fn agree(rate: Rate, last: Rate) -> bool {
    let difference = rate.0.abs_diff(last.0);
    difference <= last.0 / RATIO || difference <= DIFFERENCE.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNS: Signs =
        Signs { lost: true, app_limited: false, round_started: true, probing_bandwidth: true };

    /// Rounds of 100 ms with given numbers of delivered and lost bytes.
    struct Story {
        policer: Policer,
        totals: Totals,
    }

    impl Story {
        fn new() -> Self {
            Self { policer: Policer::default(), totals: Totals::default() }
        }

        fn rounds(&mut self, count: u32, delivered: u64, lost: u64) -> &mut Self {
            for _ in 0..count {
                self.round(delivered, lost, SIGNS);
            }
            self
        }

        fn round(&mut self, delivered: u64, lost: u64, signs: Signs) -> bool {
            self.totals.at += Span::from_millis(100);
            self.totals.delivered += delivered;
            self.totals.lost += lost;
            self.policer.update(self.totals, Signs { lost: lost > 0, ..signs })
        }
    }

    /// 50 000 bytes in 100 ms are 4 Mbit/s. The loss that begins sampling counts its round as the first, so the first
    /// interval has three rounds after it and the second four.
    #[test]
    fn two_lossy_intervals_of_one_rate_are_a_policer() {
        let mut story = Story::new();
        assert_eq!(story.rounds(7, 50_000, 12_500).policer.rate(), None);
        assert_eq!(story.rounds(1, 50_000, 12_500).policer.rate(), Some(Rate::from_mbit(4)));
    }

    #[test]
    fn the_two_rates_must_agree_and_their_mean_is_kept() {
        let rate = |second: u64| {
            let mut story = Story::new();
            story.rounds(4, 48_000, 12_500).rounds(4, second, 12_500).policer.rate()
        };
        // 3.84 Mbit/s; an eighth of it is 0.48.
        assert_eq!(rate(54_000), Some(Rate(4_080_000)));
        assert_eq!(rate(54_001), None);
        assert_eq!(rate(42_000), Some(Rate(3_600_000)));
        assert_eq!(rate(41_999), None);
    }

    #[test]
    fn fifty_of_256_are_lossy() {
        let detected = |lost| Story::new().rounds(8, 51_200, lost).policer.rate().is_some();
        assert!(detected(10_000));
        assert!(!detected(9_999));
    }

    #[test]
    fn pauses_and_long_intervals_begin_anew() {
        let mut story = Story::new();
        story.rounds(7, 50_000, 12_500).round(50_000, 12_500, Signs { app_limited: true, ..SIGNS });
        assert_eq!(story.rounds(7, 50_000, 12_500).policer.rate(), None);
        let mut story = Story::new();
        story.rounds(7, 50_000, 12_500).rounds(17, 50_000, 0);
        assert_eq!(story.rounds(7, 50_000, 12_500).policer.rate(), None);
    }

    #[test]
    fn the_rate_is_kept_for_48_rounds_of_probe_bw() {
        let mut story = Story::new();
        story.rounds(8, 50_000, 12_500);
        let elsewhere = Signs { probing_bandwidth: false, ..SIGNS };
        assert!((0..100).all(|_| !story.round(50_000, 0, elsewhere)));
        assert!((0..47).all(|_| !story.round(50_000, 0, SIGNS)));
        assert!(story.round(50_000, 0, SIGNS), "the 48th");
        assert_eq!(story.policer.rate(), None);
    }
}
