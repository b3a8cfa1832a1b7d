//! BBRv3 (draft-ietf-ccwg-bbr, working copy 4ce5e87 after version 06; where it is silent, google/bbr v3 `tcp_bbr.c`,
//! 001a430b): a model of the path, made of its bandwidth and its shortest RTT, bounds what is sent by pacing and by a
//! window; losses bound the model. The files follow the draft's sections: Startup and Drain (sections 5.3.1
//! and 5.3.2), ProbeBW (section 5.3.3), ProbeRTT (section 5.3.4), the model (section 5.5), losses and their
//! undo (sections 5.5.10 and 5.5.11), the control parameters (section 5.6).

mod control;
mod loss;
mod model;
mod params;
mod probe_bw;
mod probe_rtt;
mod startup;

pub use params::Bbr3Params;

use crate::algorithm::{Algorithm, Declaration};
use crate::bbr::{Aggregation, FullPipe, RoundCounter};
use crate::contract::{
    Ack, CongestionControl, Context, Control, Decision, Event, Lost, Needs, RateSample, SendLimit, Setup,
};
use crate::params::Parameters;
use crate::probes::{self, Names, Probe};
use crate::units::{Rate, Span};
use loss::Undo;
use model::{Bounds, MaxBandwidth, RoundSignals};
use probe_bw::Cycle;
use probe_rtt::{MinRtt, ProbeRtt};
use std::sync::Arc;

/// A bound that is not set ("Infinity" in the draft).
const UNBOUNDED: u64 = u64::MAX;
/// BBR.MinPipeCwnd: with an ACK for every other segment the pipe never runs dry (section 5.6.4.3).
const LEAST_SEGMENTS: u64 = 4;

/// The bound as a recorded value: not a number where it is not set.
fn bound(bytes: u64) -> f64 {
    if bytes == UNBOUNDED { f64::NAN } else { bytes as f64 }
}

/// The states of the draft's machine (section 5.1); the probe `mode` records their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeDown,
    ProbeCruise,
    ProbeRefill,
    ProbeUp,
    ProbeRtt,
}

impl State {
    /// Whether this state may follow: the state transition diagram of section 5.1, and the return to a probe
    /// that spurious losses had ended (section 5.5.11).
    fn may_become(self, next: Self) -> bool {
        use State::{Drain, ProbeCruise, ProbeDown, ProbeRefill, ProbeRtt, ProbeUp, Startup};
        match (self, next) {
            (Startup, Drain) | (Drain, ProbeDown) => true,
            (ProbeDown, ProbeCruise) | (ProbeDown | ProbeCruise, ProbeRefill) => true,
            (ProbeRefill, ProbeUp) | (ProbeUp, ProbeDown) => true,
            (ProbeRtt, Startup | ProbeDown) => true,
            (from, ProbeRtt) => from != ProbeRtt,
            (from, Startup) => from == Drain || from.is_probe_bw(),
            (ProbeRefill, ProbeRefill) => true,
            _ => false,
        }
    }

    fn is_probe_bw(self) -> bool {
        matches!(self, Self::ProbeDown | Self::ProbeCruise | Self::ProbeRefill | Self::ProbeUp)
    }

    /// IsProbingBW: the flow accelerates, so that only the long-term model reacts to losses.
    fn is_probing_bandwidth(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeRefill | Self::ProbeUp)
    }
}

/// One connection's BBRv3.
pub struct Bbr3 {
    params: Bbr3Params,
    setup: Setup,
    state: State,
    rounds: RoundCounter,
    /// Total bytes delivered as of the last ACK.
    delivered: u64,
    max_bandwidth: MaxBandwidth,
    bounds: Bounds,
    signals: RoundSignals,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    /// BBR.full_bw_now is `full_pipe.reached`.
    full_pipe: FullPipe,
    /// The available bandwidth was fully used once.
    full_bw_reached: bool,
    drain_start_round: u64,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    /// The first ACK after an idle period has not arrived yet.
    idle_restart: bool,
    undo: Undo,
    cwnd: u64,
    /// The last window that neither recovery nor ProbeRTT held down.
    prior_cwnd: u64,
    /// Until this many bytes are delivered, the last round counts as one with a full window.
    window_full_until: u64,
    seen_rtt: bool,
    pacing_rate: Rate,
    send_quantum: u64,
}

impl Bbr3 {
    const PROBES: &'static [Probe<Self>] = &[
        ("bw_mbps", |bbr| bbr.bw().0 as f64 / 1e6),
        ("max_bw_mbps", |bbr| bbr.max_bandwidth.rate.0 as f64 / 1e6),
        ("min_rtt_ms", |bbr| bbr.min_rtt.get().map_or(f64::NAN, Span::as_millis_f64)),
        ("pacing_gain", Self::pacing_gain),
        ("mode", |bbr| f64::from(bbr.state as u8)),
        ("inflight_longterm_bytes", |bbr| bound(bbr.bounds.inflight_longterm)),
        ("inflight_shortterm_bytes", |bbr| bound(bbr.bounds.inflight_shortterm)),
    ];
    const NAMES: &'static Names = &Names::of(Self::PROBES);
    const DECLARATION: Declaration = Declaration {
        needs: Needs { sent_packets: true, lost_packets: true, own_window_in_recovery: true, ..Needs::NONE },
        probes: Self::NAMES.list(),
        ..Declaration::PLAIN
    };

    fn enter(&mut self, state: State) {
        debug_assert!(self.state.may_become(state), "from {:?} to {state:?}", self.state);
        self.state = state;
    }

    /// OnInit (section 5.2.1).
    #[must_use]
    pub fn new(setup: &Setup, params: Bbr3Params) -> Self {
        let mut bbr = Self {
            setup: *setup,
            state: State::Startup,
            rounds: RoundCounter::default(),
            delivered: 0,
            max_bandwidth: MaxBandwidth::default(),
            bounds: Bounds::NONE,
            signals: RoundSignals::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            full_pipe: FullPipe::default(),
            full_bw_reached: false,
            drain_start_round: 0,
            cycle: Cycle::default(),
            probe_rtt: ProbeRtt::default(),
            idle_restart: false,
            undo: Undo::default(),
            cwnd: setup.initial_window,
            prior_cwnd: 0,
            window_full_until: 0,
            seen_rtt: false,
            pacing_rate: Rate(0),
            send_quantum: 0,
            params,
        };
        bbr.init_pacing_rate(Span::ZERO);
        bbr
    }

    /// The handshake gives the first RTT.
    fn take_first_rtt(&mut self, cx: &Context) {
        let rtt = cx.facts.rtt.smoothed;
        if self.seen_rtt || rtt == Span::ZERO {
            return;
        }
        self.seen_rtt = true;
        self.min_rtt.begin(rtt, cx.facts.now);
        self.init_pacing_rate(rtt);
    }

    /// HandleRestartFromIdle (section 5.4.1).
    fn restart_from_idle(&mut self, cx: &mut Context) {
        self.idle_restart = true;
        self.aggregation.restart(cx.facts.now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(cx);
        }
    }

    /// UpdateModelAndState (section 5.2.3).
    fn update_model_and_state(&mut self, cx: &mut Context, ack: &Ack, sample: &RateSample) {
        self.update_latest_delivery_signals(sample);
        self.update_congestion_signals(sample);
        self.update_ack_aggregation(cx.facts.now, ack.acked);
        self.check_full_bw_reached(sample);
        self.check_startup_done(cx, ack, sample);
        self.check_drain_done(cx);
        self.update_probe_bw_cycle_phase(cx, ack, sample);
        self.update_min_rtt(cx.facts.now, ack.rtt);
        self.check_probe_rtt(cx, ack);
        self.advance_latest_delivery_signals(sample);
    }
}

impl CongestionControl for Bbr3 {
    fn needs(&self) -> Needs {
        Self::DECLARATION.needs
    }

    fn control(&self) -> Control {
        Control {
            pacing_rate: Some(self.pacing_rate),
            send_quantum: self.send_quantum,
            ..Control::window(self.cwnd)
        }
    }

    fn on_sent(&mut self, cx: &mut Context, _bytes: u64) {
        self.take_first_rtt(cx);
        let was_idle = cx.facts.in_flight <= self.setup.mss;
        if was_idle && cx.facts.limited_by == SendLimit::Application {
            self.restart_from_idle(cx);
        }
        if cx.facts.in_flight + self.setup.mss > self.cwnd {
            self.window_full_until = self.delivered + cx.facts.in_flight;
        }
    }

    fn on_lost(&mut self, cx: &mut Context, lost: &Lost) {
        self.handle_lost_packet(cx, lost);
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        match event {
            // ECN is not part of the draft's algorithm, but the transport answers a mark with a recovery.
            Event::LossRecovery | Event::EcnReduction => self.save_state(cx.facts.phase),
            Event::Timeout => self.enter_timeout(cx.facts.phase),
            Event::Recovered => self.leave_recovery(),
            Event::Undo => self.handle_spurious_loss(),
            // An idle period is noticed when sending resumes.
            Event::IdleRestart(_) => {}
        }
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.take_first_rtt(cx);
        self.delivered = ack.delivered;
        let sample = self.take_sample(ack);
        self.update_model_and_state(cx, ack, &sample);
        self.set_pacing_rate(self.pacing_gain());
        self.set_send_quantum();
        self.set_cwnd(ack.acked);
        Decision::NotDue
    }

    fn probes(&self) -> &'static [&'static str] {
        Self::DECLARATION.probes
    }

    fn probe(&self, out: &mut [f64]) {
        probes::read(Self::PROBES, self, out);
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "bbr3",
        summary: "BBRv3 by its draft: paces by a model of the path, with bounds from losses",
        source: "draft-ietf-ccwg-bbr, working copy 4ce5e87 (2026-08-03, after -06); where it is silent, google/bbr v3",
        departures: &[
            "ECN is left out: the draft's core has none, and google/bbr v3 has it off above 5 ms",
            "loss events of a round in Startup are counted by ACKs that mark losses, as google/bbr v3 does: the draft's \
             sequence ranges are hidden from a controller",
            "every connection counts as one with selective acknowledgements: a controller cannot see it",
            "a timeout leaves one segment, as the contract requires of all; the draft adds the data in flight",
            "as in google/bbr v3, restart from idle forgets what the last aggregation epoch had acknowledged, where the \
             draft keeps the count and would take all of it for aggregation",
            "as in google/bbr v3, the BDP and the bounds on inflight are whole segments, the BDP rounded up and the others \
             down (the threshold of losses up): a flight of whole segments never reaches a fraction of one. The draft \
             counts bytes",
            "as in google/bbr v3, a flight is compared as it will be at the next paced departure, with the quantum that \
             leaves then where the pacing gain is above 1",
            "as in google/bbr v3, growth of the delivery rate counts with any ACK, its absence once a round; the draft \
             looks at both once a round",
            "as in google/bbr v3, extra_acked is the largest of the last 5 to 10 rounds, or 1 to 2 in Startup; the draft \
             has 10, and 1",
            "as in google/bbr v3, the part of a lost packet that fits below the loss threshold is not below zero",
            "what an undo restores is saved with the first loss of a recovery, as section 5.5.11.1 says in words: its \
             pseudo-code would save again each round, when the losses have changed it already",
            "as in google/bbr v3, ProbeBW compares with the flight before the ACK: after it the flight is always below \
             the bound, and a precautionary probe would never end there",
            "a spurious recovery restores the window that its own losses had saved, even if ProbeRTT saved another since",
            "the initial window leaves before the handshake's RTT is known, so at the rate of an RTT of 1 ms; the \
             rate of a restart from idle counts from the second packet on",
            "a lost packet's round ends with what was delivered up to the last ACK: losses are reported before the ACK that \
             shows them",
        ],
        params: Bbr3Params::specs().into(),
        declares: Bbr3::DECLARATION.into(),
        build: Arc::new(|setup, settings| Box::new(Bbr3::new(setup, Bbr3Params::with(settings)))),
    }
}
