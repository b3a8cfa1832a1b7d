//! The phases of ProbeBW (`bbr2_update_cycle_phase`): DOWN lets a queue drain, CRUISE leaves headroom, REFILL fills the
//! pipe for a round, UP looks for more.

use super::{Bbr2, Extension, Mode, NO_LIMIT};
use crate::contract::{Ack, Context, RateSample};
use crate::units::{Span, Time};

/// How the arriving ACKs relate to a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckPhase {
    /// They belong to no probe.
    #[default]
    Init,
    /// Data is being sent to fill the pipe.
    Refilling,
    /// The probe has begun, but these ACKs are for data sent before it.
    Starting,
    /// The ACKs are for data of the probe.
    Feedback,
    /// The probe is over, but these ACKs are still for its data.
    Stopping,
}

/// When a cycle probes for bandwidth, and how the probe went.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// When UP began; in other phases, when this cycle began with DOWN.
    since: Time,
    /// When to probe again, after `since`.
    wait: Span,
    /// Rounds since the last probe, counted from a random start.
    pub rounds: u64,
    pub ack_phase: AckPhase,
    /// Samples and losses come from data that was sent to probe.
    pub samples: bool,
    /// The last probe ended because too much was lost.
    pub previous_too_high: bool,
    /// The last probe ended at a bound that an earlier one had set.
    pub stopped_risky: bool,
    /// A sample of this probe had neither too many losses nor marks.
    pub fair_sample: bool,
    /// Rounds of UP in which inflight_hi grew.
    pub up_rounds: u32,
    /// Bytes that must be acknowledged for each packet added to inflight_hi, and the bytes acknowledged so far.
    pub up_acked_per_packet: u64,
    pub up_acked: u64,
}

impl Default for Cycle {
    fn default() -> Self {
        Self {
            since: Time::ZERO,
            wait: Span::ZERO,
            rounds: 0,
            ack_phase: AckPhase::Init,
            samples: false,
            previous_too_high: false,
            stopped_risky: false,
            fair_sample: false,
            up_rounds: 0,
            up_acked_per_packet: u64::MAX,
            up_acked: 0,
        }
    }
}

impl Cycle {
    fn has_lasted(&self, now: Time, span: Span) -> bool {
        now.since(self.since) > span
    }
}

impl<X: Extension> Bbr2<X> {
    /// Moves from one phase to the next.
    pub(super) fn update_cycle(&mut self, cx: &mut Context, ack: &Ack, sample: &RateSample) {
        if !self.full_pipe.reached || self.adapt_upper_bounds(cx, ack, sample) {
            return;
        }
        let in_network = self.in_network(cx.facts, ack.prior_in_flight);
        match self.mode {
            Mode::Cruise if self.is_time_to_probe(cx.facts.now) => self.start_refill(ack.delivered),
            Mode::Down if self.is_time_to_probe(cx.facts.now) => self.start_refill(ack.delivered),
            Mode::Down if self.is_time_to_cruise(in_network) => self.start_cruise(),
            Mode::Refill if self.rounds.started => self.start_up(cx.facts.now, ack.delivered),
            Mode::Up => self.end_up_if_done(cx, in_network),
            _ => {}
        }
    }

    /// After two to three seconds, or after as many rounds as a Reno flow with the same inflight would wait,
    /// but at most 63 (`bbr2_check_time_to_probe_bw`).
    fn is_time_to_probe(&self, now: Time) -> bool {
        self.cycle.has_lasted(now, self.cycle.wait) || self.cycle.rounds >= self.rounds_between_probes()
    }

    fn rounds_between_probes(&self) -> u64 {
        (self.target_inflight() / self.mss).min(self.params.probe_rounds)
    }

    /// The queue is drained, and there is headroom (`bbr2_check_time_to_cruise`).
    fn is_time_to_cruise(&self, in_flight: u64) -> bool {
        in_flight <= self.with_headroom() && in_flight <= self.inflight(self.bandwidth.max(), 1.0)
    }

    /// `bbr2_start_bw_probe_down`. The random wait keeps flows from probing in step.
    pub(super) fn start_down(&mut self, cx: &mut Context) {
        self.enter(Mode::Down);
        self.signals.reset();
        self.cycle.up_acked_per_packet = u64::MAX;
        // tcp_bbr2.c bbr_bw_probe_rand_rounds: 0 or 1.
        self.cycle.rounds = cx.rng.below(2);
        let random = self.params.probe_wait_random.scaled(cx.rng.uniform());
        self.cycle.wait = self.params.probe_wait + random;
        self.cycle.since = cx.facts.now;
        self.stop_probe();
    }

    /// For one more round, ACKs are still for data that has already been sent.
    pub(super) fn stop_probe(&mut self) {
        self.cycle.ack_phase = AckPhase::Stopping;
        self.rounds.restart(self.signals.delivered());
    }

    /// `bbr2_start_bw_probe_cruise`.
    pub(super) fn start_cruise(&mut self) {
        self.enter(Mode::Cruise);
        if self.inflight_lo != NO_LIMIT {
            self.inflight_lo = self.inflight_lo.min(self.inflight_hi);
        }
    }

    /// Fills the pipe before the probe; otherwise a small buffer would look like a small path
    /// (`bbr2_start_bw_probe_refill`).
    pub(super) fn start_refill(&mut self, delivered: u64) {
        self.enter(Mode::Refill);
        self.reset_lower_bounds();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0;
        self.cycle.stopped_risky = false;
        self.cycle.fair_sample = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.restart(delivered);
    }

    /// `bbr2_start_bw_probe_up`.
    fn start_up(&mut self, now: Time, delivered: u64) {
        self.enter(Mode::Up);
        self.cycle.samples = true;
        self.cycle.ack_phase = AckPhase::Starting;
        self.cycle.since = now;
        self.rounds.restart(delivered);
        self.steepen();
    }

    /// Ends UP at a bound that was too high the last time, or when UP has built a queue; if too much is lost,
    /// [`step_back`](Self::step_back) ends it.
    fn end_up_if_done(&mut self, cx: &mut Context, in_network: u64) {
        let risky = self.cycle.previous_too_high && in_network >= self.inflight_hi;
        let queuing = self.cycle.has_lasted(cx.facts.now, self.min_rtt.path)
            && in_network >= self.inflight(self.bandwidth.max(), self.params.up_gain);
        if risky || queuing {
            self.cycle.stopped_risky |= risky;
            self.cycle.previous_too_high = false;
            self.start_down(cx);
        }
    }
}
