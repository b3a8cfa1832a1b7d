//! The signals of a round with losses (`bbr2_update_congestion_signals`): the lower bounds, and the end of
//! Startup.

use super::bandwidth::NO_BOUND;
use super::{Bbr2, Extension, Mode, NO_LIMIT};
use crate::bbr::flight;
use crate::contract::{Ack, Context, Lost, Phase, RateSample};
use crate::units::Rate;

/// The signals of one round trip with losses.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    /// Bytes delivered when the round began: it ends when something sent from then on is delivered.
    round_delivered: u64,
    /// The current ACK ended a round.
    round_ended: bool,
    /// Something was lost in this round.
    pub lossy: bool,
    /// The first loss of the round came with the ACK that is about to be reported.
    began_with_this_ack: bool,
    /// Bytes delivered by the last ACK.
    delivered: u64,
    /// bw_latest and inflight_latest: the maxima of this round.
    rate: Rate,
    inflight: u64,
    /// ACKs of this round that reported losses, in Startup.
    startup_losses: u64,
}

impl Default for Signals {
    fn default() -> Self {
        Self {
            // tcp_bbr2.c bbr2_init: the first full flight is one round.
            round_delivered: 1,
            round_ended: false,
            lossy: false,
            began_with_this_ack: false,
            delivered: 0,
            rate: Rate(0),
            inflight: 0,
            startup_losses: 0,
        }
    }
}

impl Signals {
    /// Bytes delivered in all, up to the last ACK.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// `bbr2_reset_congestion_signals`.
    pub fn reset(&mut self) {
        self.lossy = false;
        (self.rate, self.inflight) = (Rate(0), 0);
    }

    /// A packet is lost (`bbr2_skb_marked_lost`): the first loss begins a round, so that a full round is
    /// observed.
    pub fn note_loss(&mut self) {
        if !self.lossy {
            self.round_delivered = self.delivered;
            self.began_with_this_ack = true;
        }
        self.lossy = true;
    }

    /// The ACK is reported after its losses: the data it delivered belongs before the round that those losses
    /// began.
    pub fn begin_ack(&mut self, ack: &Ack) {
        if self.began_with_this_ack && ack.lost > 0 {
            self.round_delivered = ack.delivered;
        }
        self.began_with_this_ack = false;
        self.round_ended = false;
        self.delivered = ack.delivered;
    }
}

impl<X: Extension> Bbr2<X> {
    /// Takes the bandwidth and losses of an ACK; at the end of a round of losses, adapts the lower bounds.
    pub(super) fn update_signals(&mut self, ack: &Ack, sample: &RateSample) {
        let rate = sample.rate();
        self.bandwidth.take(rate, sample.app_limited);
        self.signals.lossy |= ack.lost > 0;
        self.signals.rate = self.signals.rate.max(rate);
        self.signals.inflight = self.signals.inflight.max(sample.delivered);
        if sample.prior_delivered < self.signals.round_delivered {
            return;
        }
        self.signals.round_delivered = ack.delivered;
        self.signals.round_ended = true;
        if !self.mode.probes_bandwidth() {
            self.adapt_lower_bounds();
        }
        (self.signals.lossy, self.marked.in_round) = (false, false);
        (self.signals.rate, self.signals.inflight) = (rate, sample.delivered);
    }

    /// Lowers the bounds after losses and marks outside a probe; losses do not lower them below what was
    /// delivered (`bbr2_adapt_lower_bounds`).
    fn adapt_lower_bounds(&mut self) {
        let marked = self.marked.in_round && self.marked.eligible;
        if !marked && !self.signals.lossy {
            return;
        }
        if self.bandwidth.lo == NO_BOUND {
            self.bandwidth.lo = self.bandwidth.max();
        }
        if self.inflight_lo == NO_LIMIT {
            self.inflight_lo = self.cwnd;
        }
        let (bw, inflight) = (self.bandwidth.lo, self.inflight_lo);
        if self.signals.lossy {
            let kept = 1.0 - self.params.beta;
            self.bandwidth.lo = bw.scaled(kept).max(self.signals.rate);
            self.inflight_lo = self.share(inflight, kept).max(self.signals.inflight);
        }
        if marked {
            self.bandwidth.lo = self.bandwidth.lo.min(bw.scaled(self.marked.cut()));
            self.inflight_lo = self.inflight_lo.min(self.share(inflight, self.marked.cut()));
        }
    }

    /// Startup ends at the end of a round of recovery in which much was lost (`bbr2_check_loss_too_high_in_startup`).
    pub(super) fn check_startup_losses(&mut self, cx: &Context, ack: &Ack, sample: &RateSample) {
        if self.full_pipe.reached {
            return;
        }
        self.signals.startup_losses += u64::from(ack.lost > 0);
        if !self.signals.round_ended {
            return;
        }
        let many = self.signals.startup_losses >= self.params.startup_losses;
        if many && cx.facts.phase == Phase::Recovery && self.too_high(sample) {
            self.end_startup_by_queue();
            return;
        }
        self.signals.startup_losses = 0;
    }

    /// `bbr2_handle_queue_too_high_in_startup`.
    pub(super) fn end_startup_by_queue(&mut self) {
        self.full_pipe.reached = true;
        self.inflight_hi = self.inflight(self.bandwidth.max(), 1.0);
    }

    /// Whether more of the data in flight was lost, or marked, than on a path that is not overfilled
    /// (`bbr2_is_inflight_too_high`).
    pub(super) fn too_high(&self, sample: &RateSample) -> bool {
        self.loss_too_high(sample.lost, sample.in_flight_at_send) || self.marked.too_high(sample)
    }

    fn loss_too_high(&self, lost: u64, in_flight: u64) -> bool {
        in_flight > 0 && lost as f64 > self.params.loss_threshold * in_flight as f64
    }

    /// A lost packet of a probe shows at which inflight the losses crossed the threshold
    /// (`bbr2_skb_marked_lost`).
    pub(super) fn judge_loss(&mut self, cx: &mut Context, lost: &Lost) {
        let lost_of_flight = lost.lost_total - lost.prior_lost;
        if self.cycle.samples && self.loss_too_high(lost_of_flight, lost.in_flight_at_send) {
            let before = lost.in_flight_at_send.saturating_sub(lost.bytes);
            let lost_before = lost_of_flight - lost.bytes;
            let inflight =
                flight::at_loss_threshold(before, lost_before, self.params.loss_threshold, self.mss);
            let app_limited = lost.app_limited || self.probe_rtt.held_down(lost.prior_delivered);
            self.step_back(cx, inflight, app_limited);
        }
    }

    /// A probe went too high; handled once per probe (`bbr2_handle_inflight_too_high`). An
    /// application-limited flow has not probed.
    pub(super) fn step_back(&mut self, cx: &mut Context, inflight: u64, app_limited: bool) {
        self.cycle.previous_too_high = true;
        self.cycle.samples = false;
        if !app_limited {
            self.inflight_hi = inflight.max(self.share(self.target_inflight(), 1.0 - self.params.beta));
            if self.marked.eligible && !self.cycle.fair_sample {
                let bw = if self.bandwidth.hi == NO_BOUND { self.bandwidth.max() } else { self.bandwidth.hi };
                self.bandwidth.hi = bw.scaled(self.marked.cut());
            }
        }
        if self.mode == Mode::Up {
            self.start_down(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loss that an ACK revealed is reported before the ACK; one that a timer found comes without an ACK.
    #[test]
    fn the_first_loss_begins_a_round_where_the_sender_stands() {
        let ack = |delivered, lost| Ack { delivered, lost, ..Ack::default() };
        let round_after = |lost| {
            let mut signals = Signals::default();
            signals.begin_ack(&ack(5000, 0));
            signals.note_loss();
            signals.begin_ack(&ack(7000, lost));
            signals.note_loss();
            signals.begin_ack(&ack(9000, 1000));
            signals.round_delivered
        };
        assert_eq!((round_after(1000), round_after(0)), (7000, 5000));
    }
}
