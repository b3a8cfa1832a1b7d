//! Losses and their undo (draft-ietf-ccwg-bbr sections 5.5.10, 5.5.11 and 5.6.4.4).

use super::model::Bounds;
use super::{Bbr3, State};
use crate::bbr::flight;
use crate::contract::{Context, Lost, Phase};
use crate::units::Rate;

/// What a spurious recovery restores (section 2.15).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The recovery is still in progress.
    open: bool,
    /// The state that its losses ended.
    pub state: Option<State>,
    bounds: Bounds,
    cwnd: u64,
}

impl Default for Undo {
    fn default() -> Self {
        let bounds = Bounds { bw_shortterm: Rate(0), inflight_shortterm: 0, inflight_longterm: 0 };
        Self { open: false, state: None, bounds, cwnd: 0 }
    }
}

impl Bbr3 {
    pub(super) fn handle_lost_packet(&mut self, cx: &mut Context, lost: &Lost) {
        self.note_loss(cx.facts.phase);
        if !self.cycle.samples_probe {
            return;
        }
        let lost_of_flight = lost.lost_total - lost.prior_lost;
        if self.is_too_much(lost_of_flight, lost.in_flight_at_send) {
            let in_flight = self.inflight_at_loss(lost, lost_of_flight);
            self.handle_inflight_too_high(cx, in_flight, lost.app_limited);
        }
    }

    /// The round of a loss lasts a full round trip from its first loss on.
    fn note_loss(&mut self, phase: Phase) {
        if !self.signals.has_loss {
            self.signals.ends_at = self.delivered;
            self.save_state(phase);
            self.signals.has_loss = true;
        }
    }

    /// IsInflightTooHigh: more of a flight was lost than a probe may cost.
    pub(super) fn is_too_much(&self, lost: u64, in_flight: u64) -> bool {
        lost as f64 > in_flight as f64 * self.params.loss_threshold
    }

    /// InflightAtLoss: where in this packet the losses crossed the threshold.
    fn inflight_at_loss(&self, lost: &Lost, lost_of_flight: u64) -> u64 {
        let before = lost.in_flight_at_send.saturating_sub(lost.bytes);
        let lost_before = lost_of_flight.saturating_sub(lost.bytes);
        flight::at_loss_threshold(before, lost_before, self.params.loss_threshold, self.setup.mss)
    }

    /// The probe's flight was too large; handled once per probe (HandleInflightTooHigh).
    fn handle_inflight_too_high(&mut self, cx: &mut Context, in_flight: u64, app_limited: bool) {
        self.cycle.prev_too_high = true;
        self.cycle.samples_probe = false;
        if !app_limited {
            self.bounds.inflight_longterm =
                in_flight.max(self.share(self.target_inflight(), self.params.beta));
        }
        if self.state == State::ProbeUp {
            self.undo.state = Some(State::ProbeUp);
            self.start_probe_down(cx);
        }
    }

    /// OnEnterRTO.
    pub(super) fn enter_timeout(&mut self, phase: Phase) {
        self.save_state(phase);
        self.cwnd = self.setup.mss;
    }

    /// SaveStateUponLoss, once per recovery: later losses must not save what the first ones have changed.
    pub(super) fn save_state(&mut self, phase: Phase) {
        self.save_cwnd(phase);
        if !self.undo.open {
            self.undo = Undo { open: true, state: None, bounds: self.bounds, cwnd: self.prior_cwnd };
        }
    }

    /// The losses are repaired.
    pub(super) fn leave_recovery(&mut self) {
        self.undo.open = false;
        self.restore_cwnd();
    }

    pub(super) fn save_cwnd(&mut self, phase: Phase) {
        let held_down = matches!(phase, Phase::Recovery | Phase::Loss) || self.state == State::ProbeRtt;
        self.prior_cwnd = if held_down { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// HandleSpuriousLossDetection.
    pub(super) fn handle_spurious_loss(&mut self) {
        let undo = self.undo;
        self.leave_recovery();
        self.cwnd = self.cwnd.max(undo.cwnd);
        self.signals.has_loss = false;
        self.full_pipe.reset();
        let bounds = &mut self.bounds;
        bounds.bw_shortterm = bounds.bw_shortterm.max(undo.bounds.bw_shortterm);
        bounds.inflight_shortterm = bounds.inflight_shortterm.max(undo.bounds.inflight_shortterm);
        bounds.inflight_longterm = bounds.inflight_longterm.max(undo.bounds.inflight_longterm);
        self.resume(undo.state);
        self.undo.state = None;
    }

    /// Goes back to the probe that losses had ended.
    fn resume(&mut self, ended: Option<State>) {
        let in_probe_rtt = self.state == State::ProbeRtt;
        match ended {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if !in_probe_rtt {
                    self.enter(State::Startup);
                }
            }
            Some(State::ProbeUp) if self.state != State::ProbeUp && !in_probe_rtt => {
                self.start_probe_refill()
            }
            _ => {}
        }
    }
}
