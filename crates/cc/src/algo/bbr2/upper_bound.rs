//! inflight_hi, the most that the path carries without too much loss (`bbr2_adapt_upper_bounds`).

use super::bandwidth::NO_BOUND;
use super::probe_bw::AckPhase;
use super::{Bbr2, Extension, Mode, NO_LIMIT};
use crate::contract::{Ack, Context, RateSample};

impl<X: Extension> Bbr2<X> {
    /// Learns from an ACK; returns whether that decided the phase.
    pub(super) fn adapt_upper_bounds(&mut self, cx: &mut Context, ack: &Ack, sample: &RateSample) -> bool {
        if self.rounds.started && self.follow_probe(ack, sample) {
            return true;
        }
        if self.too_high(sample) {
            if self.cycle.samples {
                self.step_back(cx, sample.in_flight_at_send, sample.app_limited);
            }
            return false;
        }
        self.cycle.fair_sample |= self.cycle.samples;
        self.raise_bounds(cx, ack, sample);
        false
    }

    /// Tracks which ACKs belong to a probe: from one round after its start to one round after its end. Then
    /// the bandwidth of the cycle before is forgotten, and a probe that stopped at a bound that proved
    /// harmless is repeated at once.
    fn follow_probe(&mut self, ack: &Ack, sample: &RateSample) -> bool {
        match self.cycle.ack_phase {
            AckPhase::Starting => self.cycle.ack_phase = AckPhase::Feedback,
            AckPhase::Stopping => {
                self.cycle.samples = false;
                self.cycle.ack_phase = AckPhase::Init;
                if self.mode.is_probe_bw() && !sample.app_limited {
                    self.bandwidth.next_cycle();
                }
                if self.mode.is_probe_bw() && self.cycle.stopped_risky && !self.cycle.previous_too_high {
                    self.start_refill(ack.delivered);
                    return true;
                }
            }
            AckPhase::Init | AckPhase::Refilling | AckPhase::Feedback => {}
        }
        false
    }

    /// Raises the bounds to what was in flight without harm, in any phase.
    fn raise_bounds(&mut self, cx: &Context, ack: &Ack, sample: &RateSample) {
        if self.inflight_hi == NO_LIMIT && self.bandwidth.hi == NO_BOUND {
            return;
        }
        self.inflight_hi = self.inflight_hi.max(sample.in_flight_at_send);
        self.bandwidth.hi = self.bandwidth.hi.max(sample.rate());
        if self.mode == Mode::Up {
            self.probe_upward(cx, ack);
        }
    }

    /// Raises inflight_hi by one packet in the first round, two in the second, four in the third, while the
    /// flow is limited by it (`bbr2_probe_inflight_hi_upward`).
    fn probe_upward(&mut self, cx: &Context, ack: &Ack) {
        if !cx.facts.window_limited || self.cwnd < self.inflight_hi {
            self.cycle.up_acked = 0;
            return;
        }
        self.cycle.up_acked += ack.acked;
        let packets = self.cycle.up_acked / self.cycle.up_acked_per_packet;
        self.cycle.up_acked -= packets * self.cycle.up_acked_per_packet;
        self.inflight_hi += packets * self.mss;
        if self.rounds.started {
            self.steepen();
        }
    }

    /// `bbr2_raise_inflight_hi_slope`.
    pub(super) fn steepen(&mut self) {
        let packets_this_round = 1 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.up_acked_per_packet = (self.cwnd / packets_this_round).max(self.mss);
    }
}
