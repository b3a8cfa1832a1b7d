//! Pacing rate, quantum and window (draft-ietf-ccwg-bbr section 5.6).

use super::{Bbr3, LEAST_SEGMENTS, State, UNBOUNDED};
use crate::bbr::{flight, pacing};
use crate::contract::Facts;
use crate::units::{Rate, Span};

/// BBR.offload_budget: one quantum waits at the sender, one is being segmented, one is not yet acknowledged
/// (section 5.5.8.1).
const QUANTA_IN_HOSTS: u64 = 3;
/// The quantum is never below two segments (section 5.6.3).
const LEAST_QUANTUM_SEGMENTS: u64 = 2;
/// ProbeBW_UP adds two segments, so that even a window of four grows (section 5.6.4.2).
const PROBE_UP_SEGMENTS: u64 = 2;

impl Bbr3 {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.params.startup_pacing_gain,
            State::Drain => self.params.drain_pacing_gain,
            State::ProbeDown => self.params.probe_down_pacing_gain,
            State::ProbeUp => self.params.probe_up_pacing_gain,
            State::ProbeCruise | State::ProbeRefill | State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::ProbeUp => self.params.probe_up_cwnd_gain,
            State::ProbeRtt => self.params.probe_rtt_cwnd_gain,
            _ => self.params.cwnd_gain,
        }
    }

    /// InitPacingRate (section 5.6.2).
    pub(super) fn init_pacing_rate(&mut self, rtt: Span) {
        self.pacing_rate =
            pacing::first_rate(self.setup.initial_window, rtt, self.params.startup_pacing_gain);
        self.set_send_quantum();
    }

    /// Until the pipe is full the rate only rises: samples may have been limited by the application.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = pacing::rate(self.bw(), gain);
        if rate > self.pacing_rate || (self.full_bw_reached && rate > Rate(0)) {
            self.pacing_rate = rate;
        }
    }

    pub(super) fn set_send_quantum(&mut self) {
        let least = LEAST_QUANTUM_SEGMENTS * self.setup.mss;
        self.send_quantum = pacing::quantum(self.pacing_rate, self.setup.mss).max(least);
    }

    /// Inflight (section 5.6.4.2): the bytes that this gain needs on the path and in the hosts.
    pub(super) fn inflight(&self, bandwidth: Rate, gain: f64) -> u64 {
        self.with_quanta(self.bdp(bandwidth, gain))
    }

    /// How much of this flight will be in the network at the next departure (google/bbr v3
    /// `bbr_packets_in_net_at_edt`).
    pub(super) fn in_network(&self, facts: &Facts, in_flight: u64) -> u64 {
        let leaving = if self.pacing_gain() > 1.0 { self.send_quantum } else { 0 };
        flight::at_next_departure(facts, in_flight, self.bw(), leaving)
    }

    /// QuantizationBudget.
    fn with_quanta(&self, inflight: u64) -> u64 {
        let least = (QUANTA_IN_HOSTS * self.send_quantum).max(LEAST_SEGMENTS * self.setup.mss);
        let more = if self.state == State::ProbeUp { PROBE_UP_SEGMENTS * self.setup.mss } else { 0 };
        inflight.max(least).saturating_add(more)
    }

    /// SetCwnd (section 5.6.4.6): grows by the bytes acknowledged, shrinks at once.
    pub(super) fn set_cwnd(&mut self, acked: u64) {
        let path = self.bdp(self.bw(), self.cwnd_gain());
        let most = self.with_quanta(path.saturating_add(self.aggregation.extra_acked()));
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + acked).min(most);
        } else if self.cwnd < most || self.delivered < self.setup.initial_window {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(LEAST_SEGMENTS * self.setup.mss);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.cwnd = self.cwnd.min(self.cap());
    }

    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        let cwnd = self.bdp(self.bw(), self.params.probe_rtt_cwnd_gain);
        cwnd.max(LEAST_SEGMENTS * self.setup.mss)
    }

    /// BoundCwndForModel (section 5.6.4.7): the bound that losses have set.
    fn cap(&self) -> u64 {
        let longterm = match self.state {
            State::ProbeDown | State::ProbeRefill | State::ProbeUp => self.bounds.inflight_longterm,
            State::ProbeCruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => UNBOUNDED,
        };
        longterm.min(self.bounds.inflight_shortterm).max(LEAST_SEGMENTS * self.setup.mss)
    }
}
