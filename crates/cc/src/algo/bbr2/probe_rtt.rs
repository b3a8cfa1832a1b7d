//! ProbeRTT (`bbr_update_min_rtt`): half a BDP for 200 ms and a round, so that the path is measured without a
//! queue.

use super::{Bbr2, Extension, Mode, probe_bw::AckPhase};
use crate::contract::{Ack, Context, RateSample};
use crate::units::Time;

/// When ProbeRTT ends, and which packets its small window held down.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRtt {
    /// ProbeRTT does not end before this; set once no more than its window is in flight.
    ends: Option<Time>,
    round_done: bool,
    /// Packets sent while the total delivered was between these two values were held down.
    held_from: u64,
    held_until: u64,
}

impl ProbeRtt {
    /// Before the first ProbeRTT.
    pub const NONE: Self = Self { ends: None, round_done: false, held_from: 1, held_until: 0 };

    /// Whether the window of ProbeRTT, not the path, limited a packet: it counts as limited by the application.
    #[must_use]
    pub fn held_down(&self, prior_delivered: u64) -> bool {
        (self.held_from..=self.held_until).contains(&prior_delivered)
    }
}

impl<X: Extension> Bbr2<X> {
    /// Updates the minimum RTT, and runs ProbeRTT when it is due. A flow that restarts after an idle period
    /// has just measured an empty path.
    pub(super) fn update_min_rtt(&mut self, cx: &mut Context, ack: &Ack, sample: &RateSample) {
        let due = self.min_rtt.update(&self.params, cx.facts.now, ack);
        if due && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.start_probe_rtt(cx, ack);
        }
        if self.mode == Mode::ProbeRtt {
            self.hold_down(cx, ack);
        }
        self.idle_restart &= sample.delivered == 0;
    }

    fn start_probe_rtt(&mut self, cx: &Context, ack: &Ack) {
        self.enter(Mode::ProbeRtt);
        self.save_cwnd(cx.facts.phase);
        self.probe_rtt = ProbeRtt { ends: None, round_done: false, held_from: ack.delivered, held_until: 0 };
        self.cycle.ack_phase = AckPhase::Stopping;
        self.rounds.restart(ack.delivered);
    }

    fn hold_down(&mut self, cx: &mut Context, ack: &Ack) {
        self.probe_rtt.held_until = ack.delivered + cx.facts.in_flight;
        if self.probe_rtt.ends.is_some() {
            self.probe_rtt.round_done |= self.rounds.started;
            if self.probe_rtt.round_done {
                self.end_probe_rtt_if_done(cx);
            }
        } else if cx.facts.in_flight <= self.probe_rtt_window() {
            self.probe_rtt.ends = Some(cx.facts.now + self.params.probe_rtt_time);
            self.rounds.restart(ack.delivered);
        }
    }

    /// `bbr_check_probe_rtt_done`, `bbr2_exit_probe_rtt`.
    pub(super) fn end_probe_rtt_if_done(&mut self, cx: &mut Context) {
        if self.probe_rtt.ends.is_none_or(|ends| cx.facts.now <= ends) {
            return;
        }
        self.min_rtt.postpone(cx.facts.now);
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.reset_lower_bounds();
        if self.full_pipe.reached {
            // This draws a new wait for the next probe; with less than a BDP in flight there is nothing to drain.
            self.start_down(cx);
            self.start_cruise();
        } else {
            self.enter(Mode::Startup);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_left_from_its_first_ack_to_the_end_of_its_flight_was_held_down() {
        let probe_rtt = ProbeRtt { held_from: 100, held_until: 200, ..ProbeRtt::NONE };
        assert_eq!([99, 100, 200, 201].map(|at| probe_rtt.held_down(at)), [false, true, true, false]);
        assert!(!ProbeRtt::NONE.held_down(0));
    }
}
