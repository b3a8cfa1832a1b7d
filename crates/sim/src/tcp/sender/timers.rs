//! The sender's timers: retransmission, tail-loss probe, reordering, pacing, host queue, delayed decisions.

use super::{Handshake, Outgoing, Sender};
use crate::tap::{FlowEvent, Tap};
use crate::tcp::TcpOptions;
use crate::tcp::ticks::{Timer, expiry};
use crate::turn::Turn;
use cwndlab_cc::{Decision, Phase, Span, Time};

/// Timers, and deadlines: [`Time::NEVER`] when one is off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub(super) retransmit: Timer,
    pub(super) probe: Timer,
    pub(super) reorder: Time,
    pub(super) pacing: Time,
    pub(super) host: Time,
    pub(super) decision: Time,
    /// How often the retransmission timer has expired in a row.
    pub(super) backoff: u32,
}

impl Default for Timers {
    fn default() -> Self {
        let never = Time::NEVER;
        Self {
            retransmit: Timer::OFF,
            probe: Timer::OFF,
            reorder: never,
            pacing: never,
            host: never,
            decision: never,
            backoff: 0,
        }
    }
}

impl Sender {
    /// When [`Sender::on_timer`] is due.
    #[inline]
    #[must_use]
    pub fn next_timer(&self) -> Time {
        let t = &self.timers;
        let ticking = t.retransmit.due().min(t.probe.due());
        let own = ticking.min(t.reorder).min(t.pacing).min(t.host).min(t.decision);
        self.cc.next_timer().map_or(own, |at| own.min(at))
    }

    /// A timer is due. After [`Decision::Due`] the caller lets the agent act, then calls [`Sender::finish_decision`].
    pub fn on_timer<T: Tap>(&mut self, turn: &mut Turn<T>) -> Decision {
        let now = turn.now;
        self.facts.now = now;
        self.timers.clear_wakeups(now);
        let tick = self.options.timer_tick;
        // RFC 8985 section 7.2: a probe replaces a retransmission timeout that is due at the same time.
        let timed_out = self.timers.retransmit.expires(now, tick);
        if self.timers.probe.expires(now, tick) || (timed_out && self.timers.probe.is_on()) {
            self.send_probe(turn);
        } else if timed_out {
            self.on_retransmit_timer(turn);
        }
        if self.timers.reorder <= now {
            self.on_reorder_timer(turn);
        }
        if self.timers.decision <= now {
            self.take_decisions(turn);
        }
        let mut decision = Decision::NotDue;
        if self.cc.next_timer().is_some_and(|at| at <= now) {
            decision = self.call(|cc, cx| cc.on_timer(cx));
        }
        self.decides_at_timer = decision == Decision::Due;
        self.go_on(decision, turn, Self::try_to_send)
    }

    /// Sends what it can, without an ACK. RFC 8985 section 7.2: new data and ACKs restart the timer of the
    /// probe. If nothing was sent, the timer keeps its time.
    pub(super) fn try_to_send<T: Tap>(&mut self, turn: &mut Turn<T>) {
        let (probe, sent) = (self.timers.probe, self.rate.sent());
        self.send(turn);
        if self.rate.sent() == sent && self.timers.probe.is_on() && probe.due() < self.timers.probe.due() {
            self.timers.probe = probe;
        }
    }

    fn take_decisions<T: Tap>(&mut self, turn: &mut Turn<T>) {
        while let Some(&(due, action)) = self.delayed_actions.front()
            && due <= turn.now
        {
            self.delayed_actions.pop_front();
            self.apply(turn, action);
        }
        self.timers.decision = self.delayed_actions.front().map_or(Time::NEVER, |(due, _)| *due);
    }

    fn on_retransmit_timer<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.timers.backoff += 1;
        if let Handshake::Opening { again, .. } = &mut self.connection {
            *again = true;
        }
        if matches!(self.connection, Handshake::Opening { .. } | Handshake::Confirming { .. }) {
            turn.outbox.push(Outgoing::Syn);
            turn.emit(FlowEvent::SynSent);
        } else if self.board.outstanding() > 0 {
            self.timers.probe = Timer::OFF;
            self.timers.reorder = Time::NEVER;
            self.time_out(turn);
        } else {
            self.timers.retransmit = Timer::OFF;
            return;
        }
        self.retransmit_after(turn.now, self.backed_off());
    }

    fn on_reorder_timer<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.timers.reorder = Time::NEVER;
        self.facts.flight_size = self.flight_size();
        let again = self.detect_losses(turn);
        self.look_again(turn.now, again);
        let open = matches!(self.facts.phase, Phase::Open | Phase::Disorder);
        if open && self.board.lost() > 0 {
            self.enter_recovery(turn, 0);
            let pipe = self.board.pipe();
            if let Some(prr) = self.prr() {
                prr.on_ack(0, pipe, false);
            }
        }
    }

    /// RFC 6298 rule (5.5): the timeout doubles each time, up to a ceiling.
    pub(super) fn backed_off(&self) -> Span {
        let rto = self.facts.rtt.rto;
        Span(rto.0.saturating_mul(1 << self.timers.backoff.min(32))).min(self.options.rto_max)
    }

    /// RFC 6298 rules (5.2) and (5.3): new data were acknowledged. Without timestamps the back-off remains
    /// until the next sample (section 5, last paragraph).
    #[inline]
    pub(super) fn restart_retransmit_timer(&mut self, now: Time, measured: bool) {
        if measured || self.options.timestamps {
            self.timers.backoff = 0;
        }
        let backoff = self.timers.backoff;
        let rto = if backoff == 0 { self.facts.rtt.rto } else { self.backed_off() };
        let idle = self.board.outstanding() == 0;
        self.timers.retransmit = if idle { Timer::OFF } else { Timer::until(now, now + rto) };
    }

    /// RFC 6298 rule (5.1): data are sent while the timer is off.
    #[inline]
    pub(super) fn start_retransmit_timer(&mut self, now: Time) {
        if !self.timers.retransmit.is_on() {
            self.retransmit_after(now, self.backed_off());
        }
    }

    #[inline]
    pub(super) fn retransmit_after(&mut self, now: Time, rto: Span) {
        self.timers.retransmit = Timer::until(now, now + rto);
    }

    /// RFC 8985 section 6.2, step 5: looks for lost packets again when the last of those that may be late is due.
    #[inline]
    pub(super) fn look_again(&mut self, now: Time, due: Option<Time>) {
        let TcpOptions { timer_tick: tick, timer_margin: margin, .. } = *self.options;
        self.timers.reorder = due.map_or(Time::NEVER, |due| expiry(tick, now, due + margin));
    }

    /// RFC 8985 section 7.2: a probe after two SRTT of silence, later when one lone segment may wait for the
    /// delayed-ACK timer, but never after the retransmission timer.
    #[inline]
    pub(super) fn schedule_probe(&mut self, now: Time) {
        if !(self.options.tail_loss_probe & self.options.sack) {
            return;
        }
        let wanted = ((self.facts.phase == Phase::Open) | self.reduced_for_mark)
            & self.probe.is_none()
            & (self.board.outstanding() > 0)
            & (self.facts.rtt.smoothed > Span::ZERO);
        let mut wait = self.facts.rtt.smoothed.times(2);
        let lone = self.board.outstanding() == 1;
        wait += if lone { self.options.rto_min } else { self.options.timer_margin };
        let timer = Timer::until(now, (now + wait).min(self.timers.retransmit.due()));
        self.timers.probe = if wanted { timer } else { Timer::OFF };
    }
}

impl Timers {
    /// The timers of pacing and the host queue only wake the sender, which then checks both again.
    fn clear_wakeups(&mut self, now: Time) {
        for wakeup in [&mut self.pacing, &mut self.host] {
            if *wakeup <= now {
                *wakeup = Time::NEVER;
            }
        }
    }
}
