//! Pacing rate and window, derived from the model (Linux tcp_bbr.c `bbr_set_pacing_rate`, `bbr_inflight`,
//! `bbr_set_cwnd`).

use super::cycle::GainPhase;
use super::{Bbr1, Mode};
use crate::bbr::pacing;
use crate::contract::{Ack, Context};
use crate::units::{Rate, Span};

/// Aggregated ACKs add at most the data that the bandwidth delivers in this time (`bbr_extra_acked_max_us`).
const EXTRA_ACKED_MOST: Span = Span::from_millis(100);
/// Quanta that may wait in the end hosts in addition to the data on the path (`bbr_quantization_budget`).
const QUANTA_IN_HOSTS: u64 = 3;

impl Bbr1 {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.params.startup_gain,
            Mode::Drain => 1.0 / self.params.startup_gain,
            Mode::ProbeRtt => 1.0,
            // A policer would drop the probe.
            Mode::ProbeBw if self.policer.rate().is_some() => 1.0,
            Mode::ProbeBw => match self.cycle.phase() {
                GainPhase::Up => self.params.up_gain,
                GainPhase::Down => self.params.down_gain,
                GainPhase::Cruise => 1.0,
            },
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => self.params.startup_gain,
            Mode::ProbeBw => self.params.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// The BDP in whole segments, rounded up: rounding down would make a small estimate ever smaller (`bbr_bdp`).
    fn bdp_segments(&self, rate: Rate, gain: f64) -> u64 {
        let bytes =
            self.min_rtt.get().map_or(self.setup.initial_window, |rtt| rate.scaled(gain).bytes_in(rtt));
        bytes.div_ceil(self.setup.mss)
    }

    pub(super) fn quantum_segments(&self) -> u64 {
        self.quantum / self.setup.mss
    }

    /// Bytes to have in flight for this many segments on the path (`bbr_quantization_budget`): an even number
    /// of segments, because a delayed ACK waits for the second one.
    fn with_budget(&self, segments: u64) -> u64 {
        let even = (segments + QUANTA_IN_HOSTS * self.quantum_segments()).next_multiple_of(2);
        let up = self.mode == Mode::ProbeBw && self.cycle.phase() == GainPhase::Up;
        // Up must exceed the BDP even on a path of few segments.
        (even + if up { 2 } else { 0 }) * self.setup.mss
    }

    /// Bytes in flight for this gain times the BDP at the largest bandwidth (`bbr_inflight`).
    pub(super) fn inflight(&self, gain: f64) -> u64 {
        self.with_budget(self.bdp_segments(self.bandwidth.get(), gain))
    }

    pub(super) fn pace_first_window(&mut self, rtt: Span) {
        let gain = self.params.startup_gain * pacing::MARGIN;
        self.pace(pacing::first_rate(self.window.cwnd, rtt, gain));
    }

    pub(super) fn pace(&mut self, rate: Rate) {
        if rate != self.pacing_rate {
            // A rate of zero would never send the packets that measure a better one.
            self.pacing_rate = rate.max(Rate(1));
            self.quantum = pacing::quantum(self.pacing_rate, self.setup.mss);
        }
    }

    /// `bbr_set_pacing_rate`: until the pipe is full the rate only rises.
    pub(super) fn set_pacing_rate(&mut self) {
        let rate = pacing::rate(self.rate(), self.pacing_gain());
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pace(rate);
        }
    }

    /// `bbr_set_cwnd`.
    pub(super) fn set_window(&mut self, cx: &Context, ack: &Ack) {
        let path = self.bdp_segments(self.rate(), self.cwnd_gain());
        let target = self.with_budget(path + self.extra_segments());
        let in_flight = cx.facts.in_flight;
        if self.window.update(ack, in_flight, target, self.full_pipe.reached) {
            self.rounds.restart(ack.delivered);
        }
        if self.mode == Mode::ProbeRtt {
            self.window.cut();
        }
    }

    /// `bbr_ack_aggregation_cwnd`.
    fn extra_segments(&self) -> u64 {
        if !self.full_pipe.reached {
            return 0;
        }
        let extra = (self.aggregation.extra_acked() as f64 * self.params.extra_acked_gain) as u64;
        extra.min(self.rate().bytes_in(EXTRA_ACKED_MOST)) / self.setup.mss
    }
}
