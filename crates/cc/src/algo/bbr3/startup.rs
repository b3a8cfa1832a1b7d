//! Startup and Drain (draft-ietf-ccwg-bbr sections 5.3.1 and 5.3.2): the rate doubles each round until the bandwidth
//! stops growing or too much is lost; then the queue that this has left is drained.

use super::{Bbr3, State};
use crate::contract::{Ack, Context, Phase, RateSample};
use crate::units::Span;

/// Drain ends after this many rounds: the bandwidth may have been overestimated.
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3 {
    /// CheckFullBWReached (section 5.3.1.2): in Startup, and again in each ProbeBW_UP.
    pub(super) fn check_full_bw_reached(&mut self, sample: &RateSample) {
        // An ACK without a sample shows no rate.
        if sample.interval > Span::ZERO {
            self.full_pipe.sample(sample.rate(), sample.app_limited, self.rounds.started);
            self.full_bw_reached |= self.full_pipe.reached;
        }
    }

    pub(super) fn check_startup_done(&mut self, cx: &Context, ack: &Ack, sample: &RateSample) {
        if self.state != State::Startup {
            return;
        }
        self.check_startup_high_loss(cx, ack, sample);
        if self.full_bw_reached {
            self.enter(State::Drain);
            self.drain_start_round = self.rounds.count;
        }
    }

    /// Section 5.3.1.3: a full round in fast recovery, many loss events, and too much lost.
    fn check_startup_high_loss(&mut self, cx: &Context, ack: &Ack, sample: &RateSample) {
        self.signals.loss_events += u64::from(ack.lost > 0);
        if !self.signals.ended {
            return;
        }
        let events = std::mem::take(&mut self.signals.loss_events);
        if cx.facts.phase == Phase::Recovery
            && events >= self.params.full_loss_count
            && self.is_too_much(sample.lost, sample.in_flight_at_send)
        {
            self.undo.state = Some(State::Startup);
            self.full_bw_reached = true;
            self.bounds.inflight_longterm = self.bdp(self.bw(), 1.0).max(self.signals.inflight_latest);
        }
    }

    pub(super) fn check_drain_done(&mut self, cx: &mut Context) {
        if self.state != State::Drain {
            return;
        }
        let drained = self.in_network(cx.facts, cx.facts.in_flight) <= self.inflight(self.bw(), 1.0);
        if drained || self.rounds.count > self.drain_start_round + DRAIN_ROUNDS {
            self.start_probe_down(cx);
        }
    }
}
