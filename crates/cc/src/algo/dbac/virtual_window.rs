//! The window that LIA or Reno would have in place of CUBIC: Han 2024 equations (3) to (6).

use super::params::{DbacParams, LossRate, RatioRtt};
use crate::contract::Context;
use crate::coupled::Coupling;
use crate::units::Span;

/// Equation (3): Reno's average window in segments.
fn average_reno(p: f64) -> f64 {
    (1.5 / p).sqrt()
}

/// Equation (4): CUBIC's average window in segments, 1.054 RTT^(3/4) / p^(3/4) (RFC 9438 section 5.1 with C = 0.4, beta
/// = 0.7).
fn average_cubic(p: f64, rtt_s: f64) -> f64 {
    let three_quarters = |x: f64| (x * x.sqrt()).sqrt();
    1.054 * three_quarters(rtt_s) / three_quarters(p)
}

/// The factor of Han 2024 equation (5); at most 1, because where equation (4) falls below (3) CUBIC has
/// Reno's window (RFC 9438 section 4.3).
fn ratio(p: f64, rtt_s: f64) -> f64 {
    (average_reno(p) / average_cubic(p, rtt_s)).min(1.0)
}

/// An entry of the paper's table over whole milliseconds of RTT. Only the last entry used is kept, because
/// the roots take longer than the rest of an ACK.
#[derive(Clone, Copy, Debug)]
struct Entry {
    p: f64,
    rtt_s: f64,
    ratio: f64,
}

impl Entry {
    fn of(p: f64, rtt_s: f64) -> Self {
        Self { p, rtt_s, ratio: ratio(p, rtt_s) }
    }

    fn at(self, p: f64, rtt_s: f64) -> Self {
        if (p, rtt_s) == (self.p, self.rtt_s) { self } else { Self::of(p, rtt_s) }
    }
}

/// The factors of a high subflow's window.
#[derive(Clone, Copy, Debug)]
pub struct Factors {
    entry: Entry,
    /// alpha with the virtual Reno window in place of the subflow's own window.
    pub alpha1: f64,
    /// Han 2024 equation (6): only sqrt(alpha1) is left, because its last factor undoes equation (5).
    pub share: f64,
}

impl Factors {
    /// Before anything is known: CUBIC's own window.
    pub const ONE: Self = Self { entry: Entry { p: 0.0, rtt_s: 0.0, ratio: 1.0 }, alpha1: 1.0, share: 1.0 };

    /// Equation (5): Reno's window over CUBIC's.
    pub fn ratio(&self) -> f64 {
        self.entry.ratio
    }

    /// Updates the factors for this CUBIC window in bytes.
    pub fn update(&mut self, cx: &Context, params: &DbacParams, cubic: u64) {
        let rtt = match params.ratio_rtt {
            RatioRtt::Smoothed => cx.facts.rtt.smoothed,
            RatioRtt::Minimum => cx.facts.rtt.minimum,
        };
        self.entry = self.entry.at(loss_rate(cx, params), table_step_s(rtt));
        self.alpha1 = Coupling::of(cx, cubic as f64 * self.ratio()).map_or(1.0, |coupling| coupling.alpha);
        self.share = if params.cap_alpha1 { self.alpha1.min(1.0).sqrt() } else { self.alpha1.sqrt() };
    }
}

/// The RTT in whole milliseconds, at least one: the paper's table.
fn table_step_s(rtt: Span) -> f64 {
    (rtt.0 / 1_000_000).max(1) as f64 / 1000.0
}

fn loss_rate(cx: &Context, params: &DbacParams) -> f64 {
    match params.loss_rate {
        LossRate::Fixed => params.p,
        LossRate::Measured => {
            let own = &cx.subflows[cx.me];
            let mss = cx.facts.mss;
            mss as f64 / own.since_loss.max(own.between_losses).max(mss) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(ours: f64, source: f64, share: f64) {
        assert!((ours / source - 1.0).abs() < share, "{ours} for {source}");
    }

    /// RFC 9438 section 5.1, table 1: Reno 1200 and CUBIC 5926 segments at a loss rate of 1e-6 and 100 ms.
    #[test]
    fn averages_are_those_of_rfc_9438() {
        assert_close(average_reno(1e-6), 1224.7, 1e-4);
        assert_close(average_cubic(1e-6, 0.1), 5926.0, 1e-3);
        assert_close(average_cubic(1e-4, 0.1), 187.0, 5e-3);
        // RTT^(3/4).
        assert_close(average_cubic(1e-6, 1.6) / average_cubic(1e-6, 0.1), 8.0, 1e-12);
    }

    #[test]
    fn the_ratio_is_their_quotient_and_at_most_one() {
        assert_close(ratio(1e-6, 0.1), 0.2066, 1e-3);
        assert_close(ratio(1e-6, 0.2), 0.1229, 1e-3);
        // The ratio is proportional to the fourth root of p.
        assert_close(ratio(1e-5, 0.1) / ratio(1e-6, 0.1), 1.7783, 1e-4);
        assert_eq!(ratio(1e-6, 0.01), 1.0);
    }

    #[test]
    fn an_entry_that_is_kept_follows_both_loss_rate_and_rtt() {
        let mut entry = Factors::ONE.entry;
        for (p, rtt_s) in [(1e-6, 0.1), (1e-6, 0.1), (1e-6, 0.2), (1e-5, 0.2)] {
            entry = entry.at(p, rtt_s);
            assert_eq!(entry.ratio, ratio(p, rtt_s));
        }
    }

    #[test]
    fn the_table_has_whole_milliseconds() {
        assert_eq!(table_step_s(Span::from_micros(100_999)), 0.1);
        assert_eq!(table_step_s(Span::from_micros(10)), 0.001);
    }
}
