//! The shortest RTT, and ProbeRTT (draft-ietf-ccwg-bbr sections 5.3.4 and 5.5.7): from time to time the flow
//! keeps little in flight for a moment, so that all flows together measure the path without a queue.

use super::{Bbr3, State};
use crate::contract::{Ack, Context};
use crate::units::{Span, Time};

/// An RTT, and when it was measured.
#[derive(Clone, Copy, Debug)]
struct Measured {
    rtt: Span,
    at: Time,
}

/// BBR.min_rtt, and the minimum that schedules ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// BBR.min_rtt.
    model: Option<Measured>,
    /// BBR.probe_rtt_min_delay.
    recent: Option<Measured>,
    /// The recent minimum is due for a refresh.
    expired: bool,
}

impl MinRtt {
    /// The first RTT of the connection.
    pub fn begin(&mut self, rtt: Span, at: Time) {
        let first = Some(Measured { rtt, at });
        (self.model, self.recent) = (first, first);
    }

    pub fn get(&self) -> Option<Span> {
        self.model.map(|measured| measured.rtt)
    }
}

/// The state of ProbeRTT.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// When ProbeRTT has lasted long enough; set once the flight is small.
    done_at: Option<Time>,
    /// Whether a round has passed since the flight became small.
    round_done: bool,
    /// Packets sent while the total delivered is between these two values are limited on purpose.
    limited: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// Whether ProbeRTT held back a packet that was sent at this total of delivered bytes.
    pub fn limited(&self, prior_delivered: u64) -> bool {
        self.limited.is_some_and(|(from, until)| (from..=until).contains(&prior_delivered))
    }

    /// MarkConnectionAppLimited.
    fn mark_limited(&mut self, delivered: u64, in_flight: u64) {
        let from = self.limited.map_or(delivered, |(from, _)| from);
        self.limited = Some((from, delivered + in_flight));
    }
}

impl Bbr3 {
    /// UpdateMinRTT (section 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, now: Time, rtt: Option<Span>) {
        let refresh = self.params.min_rtt_refresh;
        let is_older = |measured: Measured, span: Span| now > measured.at + span;
        let improves = |rtt: Span, known: Measured| refresh.renews(rtt, known.rtt);
        let MinRtt { model, recent, expired } = &mut self.min_rtt;
        *expired = recent.is_some_and(|known| is_older(known, self.params.probe_rtt_interval));
        if let Some(rtt) = rtt
            && (*expired || recent.is_none_or(|known| improves(rtt, known)))
        {
            *recent = Some(Measured { rtt, at: now });
        }
        if let Some(new) = *recent
            && model.is_none_or(|old| improves(new.rtt, old) || is_older(old, self.params.min_rtt_window))
        {
            *model = Some(new);
        }
    }

    pub(super) fn check_probe_rtt(&mut self, cx: &mut Context, ack: &Ack) {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.enter_probe_rtt(cx);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(cx);
        }
        self.idle_restart &= ack.acked == 0;
    }

    fn enter_probe_rtt(&mut self, cx: &Context) {
        self.save_cwnd(cx.facts.phase);
        self.enter(State::ProbeRtt);
        self.probe_rtt = ProbeRtt::default();
        self.cycle.stopping = true;
        self.rounds.restart(self.delivered);
    }

    fn handle_probe_rtt(&mut self, cx: &mut Context) {
        self.probe_rtt.mark_limited(self.delivered, cx.facts.in_flight);
        if self.probe_rtt.done_at.is_some() {
            self.probe_rtt.round_done |= self.rounds.started;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(cx);
            }
        } else if cx.facts.in_flight <= self.probe_rtt_cwnd() {
            self.probe_rtt.done_at = Some(cx.facts.now + self.params.probe_rtt_duration);
            self.rounds.restart(self.delivered);
        }
    }

    /// Ends ProbeRTT once it has lasted long enough; the next one is then a full interval away.
    pub(super) fn check_probe_rtt_done(&mut self, cx: &mut Context) {
        let now = cx.facts.now;
        if self.probe_rtt.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        if let Some(recent) = &mut self.min_rtt.recent {
            recent.at = now;
        }
        self.restore_cwnd();
        self.exit_probe_rtt(cx);
    }

    /// The flight is below the BDP, so there is nothing left to drain (section 5.3.4.4).
    fn exit_probe_rtt(&mut self, cx: &mut Context) {
        self.bounds.forget_shortterm();
        if self.full_bw_reached {
            self.start_probe_down(cx);
            self.enter(State::ProbeCruise);
        } else {
            self.enter(State::Startup);
        }
    }
}
