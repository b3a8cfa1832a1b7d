//! The model of the path: bandwidth, ACK aggregation, and the bounds that losses set (draft-ietf-ccwg-bbr
//! sections 5.5.1 to 5.5.9, and 5.5.10.3).

use super::{Bbr3, UNBOUNDED};
use crate::bbr::{WindowedMax, flight};
use crate::contract::{Ack, RateSample};
use crate::units::{Rate, Span, Time};

/// BBR.MaxBwFilterLen: this cycle of ProbeBW and the one before.
const MAX_BW_CYCLES: u64 = 2;
/// In Startup the window grows so fast that only the last one to two rounds are informative.
const EXTRA_ACKED_STARTUP_ROUNDS: u64 = 1;
/// Later the last five to ten are (google/bbr v3 `bbr_extra_acked_win_rtts`).
const EXTRA_ACKED_ROUNDS: u64 = 5;

/// BBR.max_bw and its filter (sections 5.5.3 to 5.5.6).
#[derive(Clone, Debug)]
pub(super) struct MaxBandwidth {
    filter: WindowedMax<Rate>,
    /// BBR.cycle_count: the filter's time.
    cycle: u64,
    /// Zero before the first sample.
    pub rate: Rate,
}

impl Default for MaxBandwidth {
    fn default() -> Self {
        Self { filter: WindowedMax::new(MAX_BW_CYCLES), cycle: 0, rate: Rate(0) }
    }
}

impl MaxBandwidth {
    /// UpdateMaxBw: an application-limited sample counts only if it is not below the known maximum.
    fn update(&mut self, rate: Rate, app_limited: bool) {
        if rate > Rate(0) && (rate >= self.rate || !app_limited) {
            self.filter.update(self.cycle, rate);
            self.rate = self.filter.get();
        }
    }

    /// AdvanceMaxBwFilter: the next cycle begins.
    pub fn advance(&mut self) {
        self.cycle += 1;
    }
}

/// The bounds that losses set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Until the next probe.
    pub bw_shortterm: Rate,
    /// Until the next probe.
    pub inflight_shortterm: u64,
    /// The bound that the last probes found safe.
    pub inflight_longterm: u64,
}

impl Bounds {
    pub const NONE: Self =
        Self { bw_shortterm: Rate(UNBOUNDED), inflight_shortterm: UNBOUNDED, inflight_longterm: UNBOUNDED };

    /// ResetShortTermModel.
    pub fn forget_shortterm(&mut self) {
        *self = Self { inflight_longterm: self.inflight_longterm, ..Self::NONE };
    }
}

/// What a round delivered, and whether it lost something (section 5.5.10.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundSignals {
    bw_latest: Rate,
    /// The largest amount delivered in one round trip, as sampled in this round.
    pub inflight_latest: u64,
    /// The round ends with the data sent once this many bytes had been delivered.
    pub ends_at: u64,
    /// The current ACK ends the round.
    pub ended: bool,
    pub has_loss: bool,
    /// ACKs that marked losses in this round of Startup.
    pub loss_events: u64,
}

impl RoundSignals {
    /// ResetCongestionSignals.
    pub fn reset(&mut self) {
        (self.has_loss, self.bw_latest, self.inflight_latest) = (false, Rate(0), 0);
    }
}

impl Bbr3 {
    /// The sample of an ACK; an ACK without one gives no rate and starts no round. Data sent in ProbeRTT
    /// counts as application-limited (MarkConnectionAppLimited).
    pub(super) fn take_sample(&mut self, ack: &Ack) -> RateSample {
        self.rounds.started = false;
        let Some(mut sample) = ack.sample else { return RateSample::default() };
        sample.app_limited |= self.probe_rtt.limited(sample.prior_delivered);
        self.rounds.update(&sample, ack.delivered);
        self.cycle.rounds_since_up += u64::from(self.rounds.started);
        sample
    }

    /// BBR.bw: the lower of the long-term and the short-term estimate.
    pub(super) fn bw(&self) -> Rate {
        self.max_bandwidth.rate.min(self.bounds.bw_shortterm)
    }

    /// BDPMultiple (section 5.6.4.2), rounded up to whole segments: rounding down would make a small estimate
    /// ever smaller.
    pub(super) fn bdp(&self, bandwidth: Rate, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt.get() else { return self.setup.initial_window };
        flight::ceil((bandwidth.bytes_in(min_rtt) as f64 * gain) as u64, self.setup.mss)
    }

    /// This share of a flight, in whole segments.
    pub(super) fn share(&self, bytes: u64, of: f64) -> u64 {
        flight::whole((bytes as f64 * of) as u64, self.setup.mss)
    }

    pub(super) fn update_latest_delivery_signals(&mut self, sample: &RateSample) {
        let signals = &mut self.signals;
        signals.bw_latest = signals.bw_latest.max(sample.rate());
        signals.inflight_latest = signals.inflight_latest.max(sample.delivered);
        signals.ended = sample.interval > Span::ZERO && sample.prior_delivered >= signals.ends_at;
        if signals.ended {
            signals.ends_at = self.delivered;
        }
    }

    pub(super) fn advance_latest_delivery_signals(&mut self, sample: &RateSample) {
        if self.signals.ended {
            (self.signals.bw_latest, self.signals.inflight_latest) = (sample.rate(), sample.delivered);
        }
    }

    pub(super) fn update_congestion_signals(&mut self, sample: &RateSample) {
        self.max_bandwidth.update(sample.rate(), sample.app_limited);
        if !self.signals.ended {
            return;
        }
        if self.signals.has_loss && !self.state.is_probing_bandwidth() {
            self.lower_shortterm();
        }
        self.signals.has_loss = false;
    }

    /// InitLowerBounds and LossLowerBounds: down to what the round delivered, but by no more than CUBIC's
    /// reduction.
    fn lower_shortterm(&mut self) {
        let (bounds, beta) = (&mut self.bounds, self.params.beta);
        if bounds.bw_shortterm == Rate(UNBOUNDED) {
            bounds.bw_shortterm = self.max_bandwidth.rate;
        }
        if bounds.inflight_shortterm == UNBOUNDED {
            bounds.inflight_shortterm = self.cwnd;
        }
        bounds.bw_shortterm = self.signals.bw_latest.max(bounds.bw_shortterm.scaled(beta));
        let least = self.share(self.bounds.inflight_shortterm, beta);
        self.bounds.inflight_shortterm = self.signals.inflight_latest.max(least);
    }

    /// UpdateACKAggregation (section 5.5.9).
    pub(super) fn update_ack_aggregation(&mut self, now: Time, acked: u64) {
        if self.rounds.started {
            let half = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { EXTRA_ACKED_STARTUP_ROUNDS };
            self.aggregation.start_round(half);
        }
        self.aggregation.update(now, acked, self.bw(), self.cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cycles without a network-limited sample are no reason to trust an application-limited one.
    #[test]
    fn the_application_lowers_no_bandwidth() {
        let mut bandwidth = MaxBandwidth::default();
        bandwidth.update(Rate::from_mbit(10), false);
        bandwidth.advance();
        bandwidth.advance();
        bandwidth.update(Rate::from_mbit(1), true);
        assert_eq!(bandwidth.rate, Rate::from_mbit(10));
        bandwidth.update(Rate::from_mbit(2), false);
        assert_eq!(bandwidth.rate, Rate::from_mbit(2));
        bandwidth.update(Rate::from_mbit(3), true);
        assert_eq!(bandwidth.rate, Rate::from_mbit(3));
    }
}
