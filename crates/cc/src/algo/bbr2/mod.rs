//! BBRv2, the alpha of 2019 (google/bbr v2alpha, `net/ipv4/tcp_bbr2.c`): a model of the path, as in BBRv1,
//! with bounds on rate and inflight that it learns from losses and ECN marks. The modules follow the parts of
//! its source: the bandwidth filter, the minimum RTT, ECN; the signals of a round; the upper bound; the
//! phases of ProbeBW; ProbeRTT; and the pacing rate and window that follow from them.

mod bandwidth;
mod control;
mod ecn;
mod extension;
mod min_rtt;
mod params;
mod probe_bw;
mod probe_rtt;
mod signals;
mod upper_bound;

pub use extension::{Extension, Plain};
pub use min_rtt::MinRtt;
pub use params::Bbr2Params;

use crate::algorithm::{Algorithm, Declaration, Declares};
use crate::bbr::{Aggregation, FullPipe, RoundCounter};
use crate::contract::{
    Ack, CongestionControl, Context, Control, Decision, Ecn, Event, Lost, Needs, Phase, RateSample,
    SendLimit, Setup,
};
use crate::params::Parameters;
use crate::probes::{self, Names, Probe};
use crate::units::{Rate, Span};
use bandwidth::{Bandwidth, NO_BOUND};
use ecn::MarkedShare;
use probe_bw::Cycle;
use probe_rtt::ProbeRtt;
use signals::Signals;
use std::sync::Arc;

/// A bound on inflight that is not set.
const NO_LIMIT: u64 = u64::MAX;
/// A window that delayed ACKs do not stall (tcp_bbr2.c bbr_cwnd_min_target).
const LEAST_SEGMENTS: u64 = 4;
/// tcp_bbr2.c bbr_extra_acked_win_rtts: a maximum of the last 5 to 10 rounds; of 1 to 2 in Startup.
const AGGREGATION_ROUNDS: u64 = 5;
const AGGREGATION_ROUNDS_IN_STARTUP: u64 = 1;

/// The rate as a recorded value: not a number where it is no bound.
fn mbps(rate: Rate) -> f64 {
    if rate == NO_BOUND { f64::NAN } else { rate.0 as f64 / 1e6 }
}

/// The same for a bound on inflight.
fn limit(bytes: u64) -> f64 {
    if bytes == NO_LIMIT { f64::NAN } else { bytes as f64 }
}

/// The states, including the phases of ProbeBW; the probe `mode` records these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Doubles the rate each round.
    Startup = 0,
    /// Lets Startup's queue run empty.
    Drain = 1,
    /// ProbeBW:DOWN.
    Down = 2,
    /// ProbeBW:CRUISE.
    Cruise = 3,
    /// ProbeBW:REFILL.
    Refill = 4,
    /// ProbeBW:UP.
    Up = 5,
    /// Sends half a BDP, to measure the path without a queue.
    ProbeRtt = 6,
}

impl Mode {
    /// Whether this mode may follow: the diagram at the head of `tcp_bbr2.c`, with the cycle of ProbeBW that
    /// `bbr2_update_cycle_phase` walks through.
    fn may_become(self, next: Self) -> bool {
        use Mode::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};
        match (self, next) {
            (Startup, Drain) | (Drain, Down) => true,
            (Down, Cruise) | (Down | Cruise, Refill) | (Refill, Up) | (Up, Down) => true,
            (ProbeRtt, Startup | Down) => true,
            (from, ProbeRtt) => from != ProbeRtt,
            _ => false,
        }
    }

    /// Whether this is one of the four phases of ProbeBW.
    #[must_use]
    pub fn is_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// Whether losses may now be of our own making (`bbr2_is_probing_bandwidth`).
    fn probes_bandwidth(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }
}

/// What is restored when a reduction proves spurious (`bbr2_undo_cwnd`).
#[derive(Clone, Copy, Debug, Default)]
struct Saved {
    cwnd: u64,
    bw_lo: Rate,
    inflight_lo: u64,
    inflight_hi: u64,
}

/// BBRv2 with an extension; [`Plain`] has none.
pub struct Bbr2<X> {
    params: Bbr2Params,
    extension: X,
    mss: u64,
    initial_window: u64,
    mode: Mode,
    rounds: RoundCounter,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    bandwidth: Bandwidth,
    min_rtt: MinRtt,
    marked: MarkedShare,
    signals: Signals,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    /// The most data in flight that the path is known to carry without too much loss.
    inflight_hi: u64,
    /// The short-term bound that losses and marks have set since the last probe.
    inflight_lo: u64,
    cwnd: u64,
    pacing_rate: Rate,
    pacing_gain: f64,
    /// The last window that neither losses nor ProbeRTT had cut.
    prior_cwnd: u64,
    saved: Saved,
    seen_rtt: bool,
    idle_restart: bool,
}

impl<X: Extension> Bbr2<X> {
    const PROBES: &'static [Probe<Self>] = &[
        ("bw_mbps", |bbr| mbps(bbr.bandwidth.estimate())),
        ("max_bw_mbps", |bbr| mbps(bbr.bandwidth.max())),
        ("bw_lo_mbps", |bbr| mbps(bbr.bandwidth.lo)),
        ("min_rtt_ms", |bbr| {
            let path = bbr.min_rtt.path;
            if path == Span::MAX { f64::NAN } else { path.as_millis_f64() }
        }),
        ("pacing_gain", |bbr| bbr.pacing_gain),
        ("mode", |bbr| f64::from(bbr.mode as u8)),
        ("inflight_hi_bytes", |bbr| limit(bbr.inflight_hi)),
        ("inflight_lo_bytes", |bbr| limit(bbr.inflight_lo)),
        ("extra_acked_bytes", |bbr| bbr.aggregation.extra_acked() as f64),
    ];
    const NAMES: &'static Names = &Names::of(Self::PROBES).and(X::PROBES);

    fn declaration(params: &Bbr2Params) -> Declaration {
        let ecn = if params.ecn { Ecn::Ect0 } else { Ecn::AsConfigured };
        let needs = Needs {
            ecn,
            sent_packets: true,
            lost_packets: true,
            own_window_in_recovery: true,
            ..Needs::NONE
        };
        Declaration { needs, probes: Self::NAMES.list(), ..Declaration::PLAIN }
    }

    /// The declaration of BBRv2 with this extension.
    #[must_use]
    pub fn declares() -> Declares {
        Declares::by(|settings| Self::declaration(&Bbr2Params::with(settings)))
    }

    /// A controller with these parameters.
    #[must_use]
    pub fn new(setup: &Setup, params: Bbr2Params, extension: X) -> Self {
        let pacing_gain = params.startup_gain;
        let mut bbr = Self {
            params,
            extension,
            mss: setup.mss,
            initial_window: setup.initial_window,
            mode: Mode::Startup,
            rounds: RoundCounter::default(),
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::default(),
            bandwidth: Bandwidth::default(),
            min_rtt: MinRtt::UNKNOWN,
            marked: MarkedShare::default(),
            signals: Signals::default(),
            cycle: Cycle::default(),
            probe_rtt: ProbeRtt::NONE,
            inflight_hi: NO_LIMIT,
            inflight_lo: NO_LIMIT,
            cwnd: setup.initial_window,
            pacing_rate: Rate(0),
            pacing_gain,
            prior_cwnd: setup.initial_window,
            saved: Saved::default(),
            seen_rtt: false,
            idle_restart: false,
        };
        bbr.pace_first(Span::ZERO);
        bbr
    }

    /// The handshake gives the first RTT (`bbr_init`).
    fn take_first_rtt(&mut self, cx: &Context) {
        let rtt = cx.facts.rtt;
        if self.seen_rtt || rtt.smoothed == Span::ZERO {
            return;
        }
        self.seen_rtt = true;
        self.min_rtt = MinRtt::begin(rtt.minimum, cx.facts.now);
        self.pace_first(rtt.smoothed);
        self.extension.first_rtt(cx.facts.now, rtt.latest);
    }

    fn enter(&mut self, mode: Mode) {
        debug_assert!(self.mode.may_become(mode), "from {:?} to {mode:?}", self.mode);
        self.mode = mode;
    }

    fn enter_drain(&mut self) {
        self.enter(Mode::Drain);
        self.signals.reset();
    }

    /// Moves from Startup to Drain, and on to ProbeBW once no more is in flight than the path holds
    /// (`bbr2_check_drain`).
    fn drain(&mut self, cx: &mut Context) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.enter_drain();
        }
        if self.mode == Mode::Drain
            && self.in_network(cx.facts, cx.facts.in_flight) <= self.inflight(self.bandwidth.max(), 1.0)
        {
            self.start_down(cx);
        }
    }

    fn reset_lower_bounds(&mut self) {
        self.bandwidth.lo = NO_BOUND;
        self.inflight_lo = NO_LIMIT;
    }

    /// `bbr_save_cwnd`: a window that has already been cut is no better than the one before it.
    fn save_cwnd(&mut self, phase: Phase) {
        let cut = matches!(phase, Phase::Recovery | Phase::Loss) || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// Saves what is restored if the reduction proves spurious (`bbr2_ssthresh`).
    fn save(&mut self, phase: Phase) {
        self.save_cwnd(phase);
        let (bw_lo, inflight_lo, inflight_hi) = (self.bandwidth.lo, self.inflight_lo, self.inflight_hi);
        self.saved = Saved { cwnd: self.prior_cwnd, bw_lo, inflight_lo, inflight_hi };
    }

    fn undo(&mut self) {
        self.full_pipe.restart();
        self.signals.lossy = false;
        self.bandwidth.lo = self.bandwidth.lo.max(self.saved.bw_lo);
        self.inflight_lo = self.inflight_lo.max(self.saved.inflight_lo);
        self.inflight_hi = self.inflight_hi.max(self.saved.inflight_hi);
        self.cwnd = self.cwnd.max(self.saved.cwnd);
    }

    /// `bbr2_set_state`: the loss window says nothing about the path; the window before the loss does.
    fn time_out(&mut self, phase: Phase) {
        if matches!(phase, Phase::Open | Phase::Disorder) {
            self.save(phase);
        }
        self.full_pipe.restart();
        if !self.mode.probes_bandwidth() && self.inflight_lo == NO_LIMIT {
            self.inflight_lo = self.prior_cwnd;
        }
        self.cwnd = self.mss;
    }

    /// `CA_EVENT_TX_START`: the path is empty because there was nothing to send.
    fn restart_from_idle(&mut self, cx: &mut Context) {
        self.idle_restart = true;
        self.aggregation.restart(cx.facts.now);
        self.extension.idle_restart();
        match self.mode {
            // Pacing above the bandwidth would only fill buffers.
            mode if mode.is_probe_bw() => self.pace(1.0),
            Mode::ProbeRtt => self.end_probe_rtt_if_done(cx),
            _ => {}
        }
    }

    fn start_round(&mut self, ack: &Ack) {
        self.rounds.started = false;
        if let Some(sample) = &ack.sample {
            self.rounds.update(sample, ack.delivered);
        }
        if self.rounds.started {
            self.cycle.rounds += 1;
            if self.marked.end_round(&self.params, self.min_rtt.path) && !self.full_pipe.reached {
                self.end_startup_by_queue();
            }
        }
    }

    /// `bbr_update_ack_aggregation`.
    fn update_aggregation(&mut self, cx: &Context, ack: &Ack) {
        if self.rounds.started {
            let full = self.full_pipe.reached;
            self.aggregation.start_round(if full {
                AGGREGATION_ROUNDS
            } else {
                AGGREGATION_ROUNDS_IN_STARTUP
            });
        }
        self.aggregation.update(cx.facts.now, ack.acked, self.bandwidth.estimate(), self.cwnd);
    }

    /// `bbr2_update_model`, in the same order.
    fn update_model(&mut self, cx: &mut Context, ack: &Ack, sample: &RateSample) {
        if ack.sample.is_some() && ack.acked > 0 {
            self.update_signals(ack, sample);
            self.update_aggregation(cx, ack);
        }
        self.check_startup_losses(cx, ack, sample);
        if self.rounds.started {
            self.full_pipe.round(self.bandwidth.max(), sample.app_limited);
        }
        self.drain(cx);
        self.update_cycle(cx, ack, sample);
        self.update_min_rtt(cx, ack, sample);
    }
}

impl<X: Extension> CongestionControl for Bbr2<X> {
    fn needs(&self) -> Needs {
        Self::declaration(&self.params).needs
    }

    fn control(&self) -> Control {
        Control {
            pacing_rate: Some(self.pacing_rate),
            send_quantum: self.quantum(),
            ..Control::window(self.cwnd)
        }
    }

    fn on_sent(&mut self, cx: &mut Context, bytes: u64) {
        self.take_first_rtt(cx);
        if cx.facts.in_flight <= bytes && cx.facts.limited_by == SendLimit::Application {
            self.restart_from_idle(cx);
        }
    }

    fn on_lost(&mut self, cx: &mut Context, lost: &Lost) {
        self.signals.note_loss();
        self.judge_loss(cx, lost);
    }

    /// An idle restart is noticed in `on_sent`.
    fn on_event(&mut self, cx: &mut Context, event: Event) {
        match event {
            Event::LossRecovery | Event::EcnReduction => self.save(cx.facts.phase),
            Event::Timeout => self.time_out(cx.facts.phase),
            Event::Recovered if cx.facts.phase == Phase::Loss => self.cwnd = self.cwnd.max(self.prior_cwnd),
            Event::Undo => self.undo(),
            Event::Recovered | Event::IdleRestart(_) => {}
        }
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.take_first_rtt(cx);
        self.signals.begin_ack(ack);
        self.marked.count(ack);
        self.start_round(ack);
        let mut sample = ack.sample.unwrap_or_default();
        sample.app_limited |= self.probe_rtt.held_down(sample.prior_delivered);
        self.update_model(cx, ack, &sample);
        self.extension.observe(cx.facts.now, ack.rtt, &self.min_rtt);
        self.pace(self.gain());
        self.set_cwnd(ack.acked);
        Decision::NotDue
    }

    fn probes(&self) -> &'static [&'static str] {
        Self::NAMES.list()
    }

    fn probe(&self, out: &mut [f64]) {
        let extensions = probes::read(Self::PROBES, self, out);
        probes::read(X::PROBES, &self.extension, extensions);
    }
}

/// Where this implementation departs from the code of the alpha; F-BBRv2 shares these departures.
pub const DEPARTURES: &[&str] = &[
    "gains, rates and ECN's fractions are exact, where the kernel has 256ths",
    "no fast path: the kernel leaves out updates while the application limits the flow, to save time",
    "when a loss ends a probe, the next round counts from the ACK before it, by which less was delivered",
    "fast ACKs, and the experiments that the source switches off (ecn_reprobe_gain, refill_add_inc, \
     usage_based_cwnd), are left out",
    "the first packet leaves before the handshake's RTT is known, paced by a nominal 1 ms",
];

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "bbr2",
        summary: "BBRv2, the alpha of 2019: a model of the path with bounds learned from losses",
        source: "google/bbr v2alpha net/ipv4/tcp_bbr2.c; Cardwell et al., IETF 104 to 106, ICCRG",
        departures: DEPARTURES,
        params: Bbr2Params::specs().into(),
        declares: Bbr2::<Plain>::declares(),
        build: Arc::new(|setup, settings| Box::new(Bbr2::new(setup, Bbr2Params::with(settings), Plain))),
    }
}
