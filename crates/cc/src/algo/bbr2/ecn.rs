//! DCTCP's share of marked data, to which BBRv2 may react on short paths (`bbr2_update_ecn_alpha`). Off by
//! default.

use super::params::Bbr2Params;
use crate::contract::{Ack, RateSample};
use crate::units::Span;

/// tcp_bbr2.c: bbr_ecn_alpha_gain, bbr_ecn_factor, bbr_ecn_thresh, bbr_full_ecn_cnt.
const ALPHA_GAIN: f64 = 1.0 / 16.0;
const FACTOR: f64 = 1.0 / 3.0;
const THRESHOLD: f64 = 0.5;
const STARTUP_ROUNDS: u32 = 2;

/// The share of marked data, and when it is too high.
#[derive(Clone, Copy, Debug)]
pub struct MarkedShare {
    /// ECN is on and the path is short enough.
    pub eligible: bool,
    /// A mark came in this round.
    pub in_round: bool,
    /// Smoothed share of marked data; initially 1, so that the first marks have weight (bbr_ecn_alpha_init).
    alpha: f64,
    /// Delivered and marked bytes of the round.
    delivered: u64,
    marked: u64,
    startup_rounds: u32,
}

impl Default for MarkedShare {
    fn default() -> Self {
        Self { eligible: false, in_round: false, alpha: 1.0, delivered: 0, marked: 0, startup_rounds: 0 }
    }
}

impl MarkedShare {
    /// Counts an ACK.
    pub fn count(&mut self, ack: &Ack) {
        self.delivered += ack.acked;
        self.marked += ack.ce;
        self.in_round |= ack.ce > 0;
    }

    /// A round ends; returns whether enough rounds in a row had enough marks to end Startup.
    pub fn end_round(&mut self, params: &Bbr2Params, min_rtt: Span) -> bool {
        self.eligible |= params.ecn && (params.ecn_max_rtt == Span::ZERO || min_rtt <= params.ecn_max_rtt);
        if self.delivered == 0 {
            return false;
        }
        let share = self.marked as f64 / self.delivered as f64;
        self.alpha = ((1.0 - ALPHA_GAIN) * self.alpha + ALPHA_GAIN * share).min(1.0);
        (self.delivered, self.marked) = (0, 0);
        self.startup_rounds = if self.eligible && share >= THRESHOLD { self.startup_rounds + 1 } else { 0 };
        self.startup_rounds >= STARTUP_ROUNDS
    }

    /// Whether a sample has too many marks.
    #[must_use]
    pub fn too_high(&self, sample: &RateSample) -> bool {
        self.eligible && sample.ce > 0 && sample.ce as f64 >= THRESHOLD * sample.delivered as f64
    }

    /// The fraction of a bound that remains after a cut for marks.
    #[must_use]
    pub fn cut(&self) -> f64 {
        1.0 - self.alpha * FACTOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(ecn: &mut MarkedShare, params: &Bbr2Params, marked: u64, min_rtt_ms: u64) -> bool {
        ecn.count(&Ack { acked: 100, ce: marked, ..Ack::default() });
        ecn.end_round(params, Span::from_millis(min_rtt_ms))
    }

    #[test]
    fn alpha_is_smoothed_over_sixteen_rounds() {
        let params = Bbr2Params { ecn: true, ..Bbr2Params::default() };
        let mut ecn = MarkedShare::default();
        assert!((ecn.cut() - 2.0 / 3.0).abs() < 1e-12, "all is taken for marked at first");
        round(&mut ecn, &params, 0, 1);
        assert!((ecn.cut() - (1.0 - 15.0 / 48.0)).abs() < 1e-12);
        round(&mut ecn, &params, 100, 1);
        assert!((ecn.cut() - (1.0 - (15.0 / 16.0 * 15.0 / 16.0 + 1.0 / 16.0) / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn two_rounds_with_half_of_it_marked_end_startup_on_a_short_path() {
        let params = Bbr2Params { ecn: true, ..Bbr2Params::default() };
        let rounds = |params: &Bbr2Params, marked: [u64; 3], min_rtt_ms| {
            let mut ecn = MarkedShare::default();
            marked.map(|marked| round(&mut ecn, params, marked, min_rtt_ms))
        };
        assert_eq!(rounds(&params, [50, 49, 50], 5), [false; 3]);
        assert_eq!(rounds(&params, [50, 50, 49], 5), [false, true, false]);
        assert_eq!(rounds(&params, [50, 50, 50], 6), [false; 3], "a long path");
        assert_eq!(rounds(&Bbr2Params::default(), [50, 50, 50], 5), [false; 3], "switched off");
    }
}
