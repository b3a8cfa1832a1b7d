//! Pacing rate and window, derived from the model (`bbr_set_pacing_rate`, `bbr_set_cwnd`,
//! `bbr2_bound_cwnd_for_inflight_model`).

use super::{Bbr2, Extension, LEAST_SEGMENTS, Mode, NO_LIMIT};
use crate::bbr::{flight, pacing};
use crate::contract::Facts;
use crate::units::{Rate, Span};

/// extra_acked adds at most the data delivered in this time (tcp_bbr2.c bbr_extra_acked_max_us).
const MOST_AGGREGATION: Span = Span::from_millis(100);
/// tcp_bbr2.c bbr_quantization_budget: so that UP exceeds even a BDP of few packets.
const UP_SEGMENTS: u64 = 2;
/// tcp_bbr2.c bbr_quantization_budget: one quantum in the host's queue, one in its offload engine, one at the receiver.
const QUANTA_IN_HOSTS: u64 = 3;
/// tcp_bbr2.c bbr_tso_rtt_shift: on a short path a quantum may be 64 KiB larger, halved for each 512 us of RTT.
const SHORT_PATH_QUANTUM: u64 = 64 * 1024;
const SHORT_PATH: Span = Span::from_micros(512);
/// tcp_bbr2.c bbr_rate_bytes_per_sec: one byte per second.
const LEAST_RATE: Rate = Rate(8);

impl<X: Extension> Bbr2<X> {
    pub(super) fn gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.params.startup_gain,
            Mode::Drain => 1.0 / self.params.startup_gain,
            Mode::Down => self.params.down_gain,
            Mode::Up => self.params.up_gain,
            Mode::Cruise | Mode::Refill | Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => self.params.startup_gain,
            Mode::ProbeRtt => 1.0,
            mode => self.extension.cwnd_gain(mode, self.params.cwnd_gain),
        }
    }

    /// `bbr_init_pacing_rate_from_rtt`.
    pub(super) fn pace_first(&mut self, rtt: Span) {
        let rate = pacing::first_rate(self.cwnd, rtt, self.params.startup_gain * pacing::MARGIN);
        self.pacing_rate = rate.max(LEAST_RATE);
    }

    /// Until the pipe is full the rate never falls: a low sample only means that too little was sent to
    /// measure more.
    pub(super) fn pace(&mut self, gain: f64) {
        self.pacing_gain = gain;
        let rate = self.extension.pacing_rate(self.mode, self.bandwidth.estimate(), gain).max(LEAST_RATE);
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// `bbr_tso_segs_goal`, in bytes.
    pub(super) fn quantum(&self) -> u64 {
        let halvings = (self.min_rtt.path.0 / SHORT_PATH.0).min(63);
        let more = SHORT_PATH_QUANTUM >> halvings;
        flight::whole((pacing::quantum(self.pacing_rate, self.mss) + more).min(SHORT_PATH_QUANTUM), self.mss)
    }

    /// `bbr_packets_in_net_at_edt`, in bytes.
    pub(super) fn in_network(&self, facts: &Facts, in_flight: u64) -> u64 {
        let leaving = if self.pacing_gain > 1.0 { self.quantum() } else { 0 };
        flight::at_next_departure(facts, in_flight, self.bandwidth.estimate(), leaving)
    }

    /// The BDP rounded up to whole segments; otherwise each rounding would lower the rate that is measured next.
    fn bdp(&self, bandwidth: Rate, gain: f64) -> u64 {
        if self.min_rtt.path == Span::MAX {
            return self.initial_window;
        }
        flight::ceil((bandwidth.bytes_in(self.min_rtt.path) as f64 * gain) as u64, self.mss)
    }

    /// This share of the bytes, in whole segments.
    pub(super) fn share(&self, bytes: u64, of: f64) -> u64 {
        flight::whole((bytes as f64 * of) as u64, self.mss)
    }

    /// `bbr_quantization_budget`.
    fn with_budget(&self, window: u64) -> u64 {
        let up = if self.mode == Mode::Up { UP_SEGMENTS * self.mss } else { 0 };
        window.max(QUANTA_IN_HOSTS * self.quantum()).max(LEAST_SEGMENTS * self.mss) + up
    }

    /// `bbr_inflight`.
    pub(super) fn inflight(&self, bandwidth: Rate, gain: f64) -> u64 {
        self.with_budget(self.bdp(bandwidth, gain))
    }

    /// The BDP, unless congestion has cut the window (`bbr2_target_inflight`).
    pub(super) fn target_inflight(&self) -> u64 {
        self.inflight(self.bandwidth.estimate(), 1.0).min(self.cwnd)
    }

    /// `bbr_probe_rtt_cwnd`.
    pub(super) fn probe_rtt_window(&self) -> u64 {
        self.bdp(self.bandwidth.estimate(), self.params.probe_rtt_gain).max(LEAST_SEGMENTS * self.mss)
    }

    /// inflight_hi less the headroom left for other flows (`bbr2_inflight_with_headroom`).
    pub(super) fn with_headroom(&self) -> u64 {
        if self.inflight_hi == NO_LIMIT {
            return NO_LIMIT;
        }
        let headroom = self.share(self.inflight_hi, self.params.headroom).max(self.mss);
        self.inflight_hi.saturating_sub(headroom).max(LEAST_SEGMENTS * self.mss)
    }

    /// Moves the window toward its target, then keeps it within the bounds.
    pub(super) fn set_cwnd(&mut self, acked: u64) {
        if acked > 0 {
            self.approach_target(acked);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
        let bound = self.inflight_bound().min(self.inflight_lo).max(LEAST_SEGMENTS * self.mss);
        self.cwnd = self.cwnd.min(bound);
    }

    /// Only a full pipe cuts the window to its target.
    fn approach_target(&mut self, acked: u64) {
        let bandwidth = self.bandwidth.estimate();
        let aggregated = self.aggregation.extra_acked().min(bandwidth.bytes_in(MOST_AGGREGATION));
        let target = self.with_budget(self.bdp(bandwidth, self.cwnd_gain()).saturating_add(aggregated));
        if self.full_pipe.reached {
            self.cwnd = (self.cwnd + acked).min(target);
        } else if self.cwnd < target || self.cwnd < 2 * self.initial_window {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(LEAST_SEGMENTS * self.mss);
    }

    fn inflight_bound(&self) -> u64 {
        match self.mode {
            Mode::Startup | Mode::Drain => NO_LIMIT,
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_hi,
            Mode::Cruise if !self.extension.leaves_headroom() => self.inflight_hi,
            Mode::Cruise | Mode::ProbeRtt => self.with_headroom(),
        }
    }
}
