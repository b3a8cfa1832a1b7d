//! ProbeBW (draft-ietf-ccwg-bbr section 5.3.3): sends below the bandwidth until there is room, at it until it
//! is time to probe, fills the pipe again for a round, then sends above it until the bandwidth stops growing
//! or too much is lost.

use super::{Bbr3, LEAST_SEGMENTS, State, UNBOUNDED};
use crate::contract::{Ack, Context, RateSample};
use crate::units::{Span, Time};

/// The growth of inflight_longterm doubles at most this many times (RaiseInflightLongtermSlope).
const MOST_DOUBLINGS: u32 = 30;

/// The state of a cycle (section 2.14). Of the draft's ACK phases only ACKS_PROBE_STOPPING affects a decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    /// ACKS_PROBE_STOPPING: probing is over, but its samples still arrive.
    pub stopping: bool,
    /// BBR.is_bw_probe_sample: the data now acknowledged or lost was sent while probing.
    pub samples_probe: bool,
    /// The last probe lost too much.
    pub prev_too_high: bool,
    /// The last probe ended where the one before it had lost too much.
    prev_precautionary: bool,
    acked_since_raise: u64,
    /// Bytes that must be acknowledged for each segment by which inflight_longterm grows.
    acked_per_raise: u64,
    doublings: u32,
    pub rounds_since_up: u64,
    wait: Span,
    started: Time,
}

impl Default for Cycle {
    fn default() -> Self {
        Self {
            stopping: false,
            samples_probe: false,
            prev_too_high: false,
            prev_precautionary: false,
            acked_since_raise: 0,
            acked_per_raise: UNBOUNDED,
            doublings: 0,
            rounds_since_up: 0,
            wait: Span::ZERO,
            started: Time::ZERO,
        }
    }
}

impl Bbr3 {
    pub(super) fn start_probe_down(&mut self, cx: &mut Context) {
        self.signals.reset();
        self.pick_probe_wait(cx);
        self.cycle.acked_per_raise = UNBOUNDED;
        self.cycle.started = cx.facts.now;
        self.cycle.stopping = true;
        self.rounds.restart(self.delivered);
        self.enter(State::ProbeDown);
    }

    /// Draws the wait at random, so that flows do not probe in step.
    fn pick_probe_wait(&mut self, cx: &mut Context) {
        self.cycle.rounds_since_up = u64::from(cx.rng.uniform() < 0.5);
        self.cycle.wait = self.params.probe_wait + self.params.probe_wait_spread.scaled(cx.rng.uniform());
    }

    pub(super) fn start_probe_refill(&mut self) {
        self.bounds.forget_shortterm();
        self.cycle.doublings = 0;
        self.cycle.acked_since_raise = 0;
        self.cycle.prev_precautionary = false;
        self.cycle.stopping = false;
        self.rounds.restart(self.delivered);
        self.enter(State::ProbeRefill);
    }

    fn start_probe_up(&mut self, sample: &RateSample) {
        self.cycle.samples_probe = true;
        self.rounds.restart(self.delivered);
        self.full_pipe.restart_from(sample.rate());
        self.enter(State::ProbeUp);
        self.raise_longterm_slope();
    }

    /// The decision uses the flight before the ACK, as google/bbr v3 `bbr_update_cycle_phase` does: the data
    /// that the ACK removes from it would hide that the bound was reached.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, cx: &mut Context, ack: &Ack, sample: &RateSample) {
        if !self.full_bw_reached || self.adapt_longterm_model(ack, sample) {
            return;
        }
        let in_network = self.in_network(cx.facts, ack.prior_in_flight);
        match self.state {
            State::ProbeDown if self.is_time_to_probe(cx.facts.now) => self.start_probe_refill(),
            State::ProbeDown if self.is_time_to_cruise(in_network) => self.enter(State::ProbeCruise),
            State::ProbeCruise if self.is_time_to_probe(cx.facts.now) => self.start_probe_refill(),
            State::ProbeRefill if self.rounds.started => self.start_probe_up(sample),
            State::ProbeUp => self.look_for_the_end(cx, in_network, sample),
            _ => {}
        }
    }

    fn is_time_to_probe(&self, now: Time) -> bool {
        now > self.cycle.started + self.cycle.wait || self.is_reno_coexistence_probe_time()
    }

    /// Whether as many rounds have passed as Reno would take to regain what it lost.
    fn is_reno_coexistence_probe_time(&self) -> bool {
        let reno_rounds = self.target_inflight() / self.setup.mss;
        self.cycle.rounds_since_up >= reno_rounds.min(self.params.probe_rounds)
    }

    /// The BDP, unless congestion has cut the window.
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp(self.bw(), 1.0).min(self.cwnd)
    }

    fn is_time_to_cruise(&self, in_flight: u64) -> bool {
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.max_bandwidth.rate, 1.0)
    }

    /// InflightWithHeadroom: the long-term bound less the headroom left for other flows.
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = self.share(longterm, self.params.headroom).max(self.setup.mss);
        longterm.saturating_sub(headroom).max(LEAST_SEGMENTS * self.setup.mss)
    }

    /// IsTimeToGoDown: at the bound where the last probe lost too much, or when the bandwidth has stopped
    /// growing.
    fn look_for_the_end(&mut self, cx: &mut Context, in_network: u64, sample: &RateSample) {
        let is_risky = self.cycle.prev_too_high && in_network >= self.bounds.inflight_longterm;
        self.cycle.prev_precautionary |= is_risky;
        if !is_risky && self.is_held_by_longterm() {
            // The bound, not the path, keeps the bandwidth from growing.
            self.full_pipe.restart_from(sample.rate());
        }
        if is_risky || self.full_pipe.reached {
            self.cycle.prev_too_high = false;
            self.start_probe_down(cx);
        }
    }

    fn is_held_by_longterm(&self) -> bool {
        self.delivered <= self.window_full_until && self.cwnd >= self.bounds.inflight_longterm
    }

    /// Growth of one segment in the first round of the probe, then 2, 4, 8, each spread over its round.
    fn raise_longterm_slope(&mut self) {
        let growth_this_round = 1 << self.cycle.doublings;
        self.cycle.doublings = (self.cycle.doublings + 1).min(MOST_DOUBLINGS);
        self.cycle.acked_per_raise = (self.cwnd / growth_this_round).max(self.setup.mss);
    }

    fn probe_longterm_upward(&mut self, acked: u64) {
        if !self.is_held_by_longterm() {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.acked_since_raise += acked;
        let raises = cycle.acked_since_raise / cycle.acked_per_raise;
        cycle.acked_since_raise %= cycle.acked_per_raise;
        self.bounds.inflight_longterm += raises * self.setup.mss;
        if self.rounds.started {
            self.raise_longterm_slope();
        }
    }

    /// AdaptLongTermModel; returns whether it has decided on a state.
    fn adapt_longterm_model(&mut self, ack: &Ack, sample: &RateSample) -> bool {
        if self.cycle.stopping && self.rounds.started && self.end_feedback(sample) {
            return true;
        }
        let longterm = self.bounds.inflight_longterm;
        if longterm == UNBOUNDED || self.is_too_much(sample.lost, sample.in_flight_at_send) {
            return false;
        }
        self.bounds.inflight_longterm = longterm.max(sample.in_flight_at_send);
        if self.state == State::ProbeUp {
            self.probe_longterm_upward(ack.acked);
        }
        false
    }

    /// The last samples of a probe are in. If it was cut short and did not lose too much, a full probe
    /// follows at once.
    fn end_feedback(&mut self, sample: &RateSample) -> bool {
        self.cycle.samples_probe = false;
        self.cycle.stopping = false;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !sample.app_limited {
            self.max_bandwidth.advance();
        }
        let again = self.cycle.prev_precautionary && !self.cycle.prev_too_high;
        if again {
            self.start_probe_refill();
        }
        again
    }
}
