//! BBR version 1 (Cardwell et al. 2016; draft-cardwell-iccrg-bbr-congestion-control-00) as Linux
//! (`tcp_bbr.c`) has it: the bandwidth and the propagation delay of the path are measured, each at its own
//! time, and their product is kept in flight. Losses are repaired but otherwise have little effect. `control`
//! derives the rate and the window from the model.

mod control;
mod cycle;
mod min_rtt;
mod params;
mod policer;
mod window;

pub use params::Bbr1Params;

use crate::algorithm::{Algorithm, Declaration};
use crate::bbr::{Aggregation, FullPipe, RoundCounter, WindowedMax, flight, pacing};
use crate::contract::{
    Ack, CongestionControl, Context, Control, Decision, Event, Facts, Lost, Needs, RateSample, SendLimit,
    Setup,
};
use crate::params::Parameters;
use crate::probes::{self, Names, Probe};
use crate::units::{Rate, Span};
use cycle::{Cycle, Progress};
use min_rtt::{MinRtt, ProbeRtt};
use policer::{Policer, Signs, Totals};
use std::sync::Arc;
use window::{LEAST_SEGMENTS, Window};

/// The largest excess of acknowledged data is kept for this many rounds to twice as many
/// (`bbr_extra_acked_win_rtts`).
const EXTRA_ACKED_ROUNDS: u64 = 5;

/// The flow's mode (`bbr_mode`; the probe records these numbers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup = 0,
    Drain = 1,
    ProbeBw = 2,
    ProbeRtt = 3,
}

impl Mode {
    /// Whether this mode may follow: the state transition diagram at the head of Linux `tcp_bbr.c`.
    fn may_become(self, next: Self) -> bool {
        use Mode::{Drain, ProbeBw, ProbeRtt, Startup};
        match (self, next) {
            (Startup, Drain) | (Drain, ProbeBw) => true,
            // A new cycle, once the policer's rate has been given up (`bbr_reset_probe_bw_mode`).
            (ProbeBw, ProbeBw) => true,
            (ProbeRtt, Startup | ProbeBw) => true,
            (from, ProbeRtt) => from != ProbeRtt,
            _ => false,
        }
    }
}

/// The controller.
pub struct Bbr1 {
    params: Bbr1Params,
    setup: Setup,
    mode: Mode,
    rounds: RoundCounter,
    bandwidth: WindowedMax<Rate>,
    aggregation: Aggregation,
    full_pipe: FullPipe,
    policer: Policer,
    totals: Totals,
    min_rtt: MinRtt,
    probe_rtt: ProbeRtt,
    cycle: Cycle,
    /// Sending has resumed after an idle period, and none of the new data has been acknowledged.
    restarts: bool,
    window: Window,
    pacing_rate: Rate,
    /// Derived from the pacing rate.
    quantum: u64,
}

impl Bbr1 {
    const PROBES: &'static [Probe<Self>] = &[
        ("bw_mbps", |bbr| bbr.rate().0 as f64 / 1e6),
        ("min_rtt_ms", |bbr| bbr.min_rtt.get().map_or(f64::NAN, Span::as_millis_f64)),
        ("pacing_gain", Self::pacing_gain),
        ("mode", |bbr| f64::from(bbr.mode as u8)),
    ];
    const NAMES: &'static Names = &Names::of(Self::PROBES);
    const DECLARATION: Declaration = Declaration {
        needs: Needs { sent_packets: true, lost_packets: true, own_window_in_recovery: true, ..Needs::NONE },
        probes: Self::NAMES.list(),
        ..Declaration::PLAIN
    };

    /// A controller with these parameters.
    #[must_use]
    pub fn new(setup: &Setup, params: Bbr1Params) -> Self {
        let mut bbr = Self {
            setup: *setup,
            mode: Mode::Startup,
            rounds: RoundCounter::default(),
            // Linux's filter drops samples older than its length, so that it spans one more round.
            bandwidth: WindowedMax::new(params.bandwidth_rounds + 1),
            aggregation: Aggregation::default(),
            full_pipe: FullPipe::default(),
            policer: Policer::default(),
            totals: Totals::default(),
            min_rtt: MinRtt::new(params.min_rtt_window, params.min_rtt_refresh),
            probe_rtt: ProbeRtt::default(),
            cycle: Cycle::default(),
            restarts: false,
            window: Window::new(setup.initial_window, setup.mss),
            pacing_rate: Rate::default(),
            quantum: 0,
            params,
        };
        bbr.pace_first_window(Span::ZERO);
        bbr
    }

    /// The bandwidth in use: the policer's rate if there is one, else the measured maximum (`bbr_bw`).
    fn rate(&self) -> Rate {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    /// The handshake measures the first RTT (`bbr_init`).
    fn take_first_rtt(&mut self, facts: &Facts) {
        if self.min_rtt.get().is_none() && facts.rtt.smoothed > Span::ZERO {
            self.min_rtt.update(facts.now, Some(facts.rtt.minimum), false);
            self.pace_first_window(facts.rtt.smoothed);
        }
    }

    /// `bbr_update_bw`, `bbr_update_ack_aggregation`, `bbr_check_full_bw_reached`.
    fn take_sample(&mut self, cx: &mut Context, ack: &Ack, sample: &RateSample) {
        let app_limited = sample.app_limited || self.probe_rtt.has_slowed(sample);
        self.rounds.update(sample, ack.delivered);
        if self.rounds.started {
            self.window.end_round();
        }
        self.look_for_policer(cx, ack.lost > 0, app_limited);
        let rate = sample.rate();
        // An application limit can lower a sample, but never raise it above the path's bandwidth.
        if !app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.update(self.rounds.count, rate);
        }
        if ack.acked > 0 {
            if self.rounds.started {
                self.aggregation.start_round(EXTRA_ACKED_ROUNDS);
            }
            self.aggregation.update(cx.facts.now, ack.acked, self.rate(), self.window.cwnd);
        }
        if self.rounds.started {
            self.full_pipe.round(self.bandwidth.get(), app_limited);
        }
    }

    fn look_for_policer(&mut self, cx: &mut Context, lost: bool, app_limited: bool) {
        let signs = Signs {
            lost,
            app_limited,
            round_started: self.rounds.started,
            probing_bandwidth: self.mode == Mode::ProbeBw,
        };
        if self.params.policer_detection && self.policer.update(self.totals, signs) {
            self.enter_probe_bw(cx);
        }
    }

    /// `bbr_packets_in_net_at_edt`, in bytes.
    fn in_network(&self, facts: &Facts, in_flight: u64) -> u64 {
        let leaving = if self.pacing_gain() > 1.0 { self.quantum } else { 0 };
        flight::at_next_departure(facts, in_flight, self.rate(), leaving)
    }

    /// `bbr_update_cycle_phase`.
    fn advance_cycle(&mut self, cx: &Context, ack: &Ack) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let in_network = self.in_network(cx.facts, ack.prior_in_flight);
        let progress = Progress {
            now: cx.facts.now,
            min_rtt: self.min_rtt.get().unwrap_or_default(),
            lost: ack.lost > 0,
            high: in_network >= self.inflight(self.params.up_gain),
            low: in_network <= self.inflight(1.0),
        };
        self.cycle.update(&progress);
    }

    fn enter(&mut self, mode: Mode) {
        debug_assert!(self.mode.may_become(mode), "from {:?} to {mode:?}", self.mode);
        self.mode = mode;
    }

    /// `bbr_check_drain`.
    fn drain(&mut self, cx: &mut Context) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.enter(Mode::Drain);
        }
        if self.mode == Mode::Drain && self.in_network(cx.facts, cx.facts.in_flight) <= self.inflight(1.0) {
            self.enter_probe_bw(cx);
        }
    }

    fn enter_probe_bw(&mut self, cx: &mut Context) {
        self.enter(Mode::ProbeBw);
        self.cycle = Cycle::start(cx.facts.now, cx.rng);
    }

    /// `bbr_update_min_rtt`.
    fn watch_min_rtt(&mut self, cx: &mut Context, ack: &Ack) {
        let stale = self.min_rtt.update(cx.facts.now, ack.rtt, ack.delayed);
        // After an idle period the queue is empty: the RTT is measured without ProbeRTT.
        if stale && !self.restarts && self.mode != Mode::ProbeRtt {
            self.window.save(false);
            self.enter(Mode::ProbeRtt);
            self.probe_rtt.begin(ack.delivered);
        }
        if self.mode == Mode::ProbeRtt {
            self.dip(cx, ack);
        }
        self.restarts &= ack.sample.is_none();
    }

    fn dip(&mut self, cx: &mut Context, ack: &Ack) {
        let in_flight = cx.facts.in_flight;
        self.probe_rtt.slow_down(ack.delivered, in_flight);
        let least = in_flight <= LEAST_SEGMENTS * self.setup.mss;
        if least && self.probe_rtt.begin_time(cx.facts.now, self.params.probe_rtt_duration) {
            self.rounds.restart(ack.delivered);
            return;
        }
        self.probe_rtt.note_round(self.rounds.started);
        if self.probe_rtt.is_done(cx.facts.now) {
            self.leave_probe_rtt(cx);
        }
    }

    fn leave_probe_rtt(&mut self, cx: &mut Context) {
        self.min_rtt.renew(cx.facts.now);
        self.window.restore();
        if self.full_pipe.reached {
            self.enter_probe_bw(cx);
        } else {
            self.enter(Mode::Startup);
        }
    }

    /// `bbr_cwnd_event`: the first packet after the application had nothing to send.
    fn restart_after_silence(&mut self, cx: &mut Context) {
        self.restarts = true;
        match self.mode {
            // There is no need to pace above the bandwidth: no probe begins with an empty path.
            Mode::ProbeBw => self.pace(pacing::rate(self.rate(), 1.0)),
            Mode::ProbeRtt if self.probe_rtt.is_time_over(cx.facts.now) => self.leave_probe_rtt(cx),
            _ => {}
        }
    }

    /// `bbr_ssthresh`, `bbr_set_state`: the old bandwidth no longer shows whether the pipe is full.
    fn time_out(&mut self, cx: &mut Context) {
        self.window.time_out(self.mode == Mode::ProbeRtt);
        self.full_pipe.restart();
        self.rounds.started = true;
        self.look_for_policer(cx, true, false);
    }

    /// `bbr_undo_cwnd`: the next ACK that delivers something restores the window (`bbr_set_cwnd`).
    fn undo(&mut self) {
        self.window.end_repair();
        self.full_pipe.restart();
        self.policer.reset();
    }
}

impl CongestionControl for Bbr1 {
    fn needs(&self) -> Needs {
        Self::DECLARATION.needs
    }

    fn control(&self) -> Control {
        Control {
            pacing_rate: Some(self.pacing_rate),
            send_quantum: self.quantum,
            ..Control::window(self.window.cwnd)
        }
    }

    fn on_sent(&mut self, cx: &mut Context, _bytes: u64) {
        self.take_first_rtt(cx.facts);
        if cx.facts.in_flight <= cx.facts.mss && cx.facts.limited_by == SendLimit::Application {
            self.restart_after_silence(cx);
        }
    }

    fn on_lost(&mut self, _cx: &mut Context, lost: &Lost) {
        self.totals.lost = lost.lost_total;
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        match event {
            Event::LossRecovery => self.window.begin_recovery(self.mode == Mode::ProbeRtt),
            Event::Recovered => self.window.end_repair(),
            Event::Timeout => self.time_out(cx),
            Event::Undo => self.undo(),
            // BBR ignores ECN marks, and a window derived from a model does not go stale.
            Event::EcnReduction | Event::IdleRestart(_) => {}
        }
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.take_first_rtt(cx.facts);
        if ack.acked > 0 {
            (self.totals.at, self.totals.delivered) = (cx.facts.now, ack.delivered);
        }
        self.rounds.started = false;
        if let Some(sample) = &ack.sample {
            self.take_sample(cx, ack, sample);
        }
        self.advance_cycle(cx, ack);
        self.drain(cx);
        self.watch_min_rtt(cx, ack);
        self.set_pacing_rate();
        self.set_window(cx, ack);
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
        name: "bbr1",
        summary: "BBR version 1: paces at the measured bandwidth, and hardly reacts to losses",
        source: "Cardwell et al. 2016, draft-cardwell-iccrg-bbr-congestion-control-00, as in Linux \
                 net/ipv4/tcp_bbr.c",
        departures: &[
            "as in Linux: pacing one per cent below the bandwidth, a window for bunched ACKs, and a search for \
             policers (policer_detection = false), none of which is in the paper of 2016",
            "unlike Linux: gains and rates are real numbers, where the kernel rounds to 256ths (Drain's gain is 0.347, \
             not 0.344)",
            "unlike Linux: the filter of the bandwidth is an exact maximum, where the kernel keeps three values",
            "unlike Linux: a timeout leaves a window of one segment (RFC 5681), where the kernel adds what is still in \
             flight",
        ],
        params: Bbr1Params::specs().into(),
        declares: Bbr1::DECLARATION.into(),
        build: Arc::new(|setup, settings| Box::new(Bbr1::new(setup, Bbr1Params::with(settings)))),
    }
}
