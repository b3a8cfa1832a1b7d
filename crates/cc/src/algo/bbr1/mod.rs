//! BBR version 1 (Cardwell et al. 2016; draft-cardwell-iccrg-bbr-congestion-control-00) as Linux (`tcp_bbr.c`) has it:
//! the bandwidth and the propagation delay of the path are measured, each at its own time, and their product is kept in
//! flight. Losses are repaired and otherwise hardly minded.

mod cycle;
mod min_rtt;
mod policer;
mod window;

use crate::bbr::{Aggregation, FullPipe, Refresh, Rounds, WindowedMax, pacing};
use crate::contract::{
    Ack, CongestionControl, Context, Control, Event, Facts, Limit, Lost, Needs, RateSample, Step,
};
use crate::params::Parameters;
use crate::registry::{Algorithm, Setup};
use crate::units::{Rate, Span};
use cycle::{Cycle, Phase, Progress};
use min_rtt::{MinRtt, ProbeRtt};
use policer::{Policer, Signs, Totals};
use std::sync::Arc;
use window::{LEAST_SEGMENTS, Window};

crate::parameters! {
    /// What can be set.
    pub struct Bbr1Params {
        startup_gain: f64 = 2.885, "startup_gain", Allowed::Number(1.1, 10.0), "",
            "pacing and window gain of Startup; Drain paces at its inverse",
            "Linux tcp_bbr bbr_high_gain: 2 / ln 2";
        cwnd_gain: f64 = 2.0, "cwnd_gain", Allowed::Number(1.0, 10.0), "BDP",
            "window of ProbeBW, so that delayed ACKs do not stop the flow",
            "Linux tcp_bbr bbr_cwnd_gain";
        up_gain: f64 = 1.25, "up_gain", Allowed::Number(1.0, 4.0), "",
            "pacing gain of ProbeBW that probes for more bandwidth",
            "Linux tcp_bbr bbr_pacing_gain";
        down_gain: f64 = 0.75, "down_gain", Allowed::Number(0.1, 1.0), "",
            "pacing gain of ProbeBW that drains what the probe has queued",
            "Linux tcp_bbr bbr_pacing_gain";
        bandwidth_rounds: u64 = 10, "bandwidth_rounds", Allowed::Count(1, 1000), "rounds",
            "the bandwidth is the largest sample that is not older than this",
            "Linux tcp_bbr bbr_bw_rtts: a gain cycle and two more";
        extra_acked_gain: f64 = 1.0, "extra_acked_gain", Allowed::Number(0.0, 10.0), "",
            "how much of what is acknowledged beyond the model is added to the window",
            "Linux tcp_bbr bbr_extra_acked_gain; not in Cardwell et al. 2016 (0)";
        min_rtt_window: Span = Span::from_secs(10), "min_rtt_window",
            Allowed::Span(Span::from_millis(100), Span::from_secs(1000)), "s",
            "after so long without confirmation the smallest RTT is measured anew, in ProbeRTT",
            "Linux tcp_bbr bbr_min_rtt_win_sec";
        min_rtt_refresh: Refresh = Refresh::Below, "min_rtt_refresh", Allowed::Word(Refresh::WORDS), "",
            "which RTT sample confirms the smallest",
            "Linux since 5.11 (<); Linux before, draft-cardwell-00, ns-3 (<=)";
        probe_rtt_duration: Span = Span::from_millis(200), "probe_rtt_duration",
            Allowed::Span(Span::from_millis(1), Span::from_secs(10)), "s",
            "how long ProbeRTT keeps four segments in flight, and a round trip at least",
            "Linux tcp_bbr bbr_probe_rtt_mode_ms";
        policer_detection: bool = true, "policer_detection", Allowed::Flag, "",
            "two intervals of the same rate with a fifth lost are a policer, whose rate is kept for 48 rounds",
            "Linux tcp_bbr bbr_lt_bw_sampling; not in Cardwell et al. 2016 (false)";
    }
}

/// Rounds over which the largest excess of acknowledged data counts: twice `bbr_extra_acked_win_rtts`.
const EXTRA_ACKED_ROUNDS: u64 = 10;
/// And at most what the bandwidth brings in this time (`bbr_extra_acked_max_us`).
const EXTRA_ACKED_MOST: Span = Span::from_millis(100);
/// Quanta that may wait in the end hosts beside what is on the path (`bbr_quantization_budget`).
const QUANTA_IN_HOSTS: u64 = 3;

/// What the flow is about (`bbr_mode`; the numbers are the probe's).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup = 0,
    Drain = 1,
    ProbeBw = 2,
    ProbeRtt = 3,
}

/// The controller.
pub struct Bbr1 {
    params: Bbr1Params,
    setup: Setup,
    mode: Mode,
    rounds: Rounds,
    bandwidth: WindowedMax<Rate>,
    aggregation: Aggregation,
    full_pipe: FullPipe,
    policer: Policer,
    totals: Totals,
    min_rtt: MinRtt,
    probe_rtt: ProbeRtt,
    cycle: Cycle,
    /// Data leave again after a silence, and none of them has been acknowledged.
    restarts: bool,
    window: Window,
    pacing_rate: Rate,
    /// Follows from the pacing rate.
    quantum: u64,
}

impl Bbr1 {
    /// A controller with these parameters.
    #[must_use]
    pub fn new(setup: &Setup, params: Bbr1Params) -> Self {
        let mut bbr = Self {
            setup: *setup,
            mode: Mode::Startup,
            rounds: Rounds::default(),
            // Linux's filter drops what is older than its length, so that one round more is in it.
            bandwidth: WindowedMax::new(params.bandwidth_rounds + 1),
            aggregation: Aggregation::new(EXTRA_ACKED_ROUNDS),
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

    /// The bandwidth that is reckoned with (`bbr_bw`).
    fn rate(&self) -> Rate {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.params.startup_gain,
            Mode::Drain => 1.0 / self.params.startup_gain,
            Mode::ProbeRtt => 1.0,
            // A probe against a policer is lost.
            Mode::ProbeBw if self.policer.rate().is_some() => 1.0,
            Mode::ProbeBw => match self.cycle.phase() {
                Phase::Up => self.params.up_gain,
                Phase::Down => self.params.down_gain,
                Phase::Cruise => 1.0,
            },
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => self.params.startup_gain,
            Mode::ProbeBw => self.params.cwnd_gain,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// Whole segments, rounded up: rounded down a small estimate would make itself smaller (`bbr_bdp`).
    fn bdp_segments(&self, rate: Rate, gain: f64) -> u64 {
        let bytes =
            self.min_rtt.get().map_or(self.setup.initial_window, |rtt| rate.scaled(gain).bytes_in(rtt));
        bytes.div_ceil(self.setup.mss)
    }

    fn quantum_segments(&self) -> u64 {
        self.quantum / self.setup.mss
    }

    /// Bytes to have in flight for so many segments on the path (`bbr_quantization_budget`): an even number, as an ACK is
    /// delayed until the second segment.
    fn with_budget(&self, segments: u64) -> u64 {
        let even = (segments + QUANTA_IN_HOSTS * self.quantum_segments()).next_multiple_of(2);
        let up = self.mode == Mode::ProbeBw && self.cycle.phase() == Phase::Up;
        // On a path of few segments Up must get above the BDP.
        (even + if up { 2 } else { 0 }) * self.setup.mss
    }

    /// What this gain over the largest bandwidth has in flight (`bbr_inflight`).
    fn inflight(&self, gain: f64) -> u64 {
        self.with_budget(self.bdp_segments(self.bandwidth.get(), gain))
    }

    fn pace_first_window(&mut self, rtt: Span) {
        let gain = self.params.startup_gain * pacing::MARGIN;
        self.pace(pacing::first_rate(self.window.cwnd, rtt, gain));
    }

    fn pace(&mut self, rate: Rate) {
        if rate != self.pacing_rate {
            // A rate of zero would never send what tells a better one.
            self.pacing_rate = rate.max(Rate(1));
            self.quantum = pacing::quantum(self.pacing_rate, self.setup.mss);
        }
    }

    /// The handshake tells the first RTT (`bbr_init`).
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
        // The application may limit a sample, but not make it larger than the path is.
        if !app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.update(self.rounds.count, rate);
        }
        if ack.acked > 0 {
            let rate = self.rate();
            self.aggregation.update(cx.facts.now, ack.acked, rate, self.rounds.count, self.window.cwnd);
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

    /// `bbr_update_cycle_phase`.
    fn advance_cycle(&mut self, cx: &Context, ack: &Ack) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        // What leaves next is on its way when Up counts.
        let prior = ack.prior_in_flight;
        let progress = Progress {
            now: cx.facts.now,
            min_rtt: self.min_rtt.get().unwrap_or_default(),
            lost: ack.lost > 0,
            high: prior + self.quantum_segments() * self.setup.mss >= self.inflight(self.params.up_gain),
            low: prior <= self.inflight(1.0),
        };
        self.cycle.update(&progress);
    }

    /// `bbr_check_drain`.
    fn drain(&mut self, cx: &mut Context) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && cx.facts.in_flight <= self.inflight(1.0) {
            self.enter_probe_bw(cx);
        }
    }

    fn enter_probe_bw(&mut self, cx: &mut Context) {
        self.mode = Mode::ProbeBw;
        self.cycle = Cycle::start(cx.facts.now, cx.rng);
    }

    /// `bbr_update_min_rtt`.
    fn watch_min_rtt(&mut self, cx: &mut Context, ack: &Ack) {
        let stale = self.min_rtt.update(cx.facts.now, ack.rtt, ack.delayed);
        // After a silence the queue was empty: the RTT is measured without a dip.
        if stale && !self.restarts && self.mode != Mode::ProbeRtt {
            self.window.save(false);
            self.mode = Mode::ProbeRtt;
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
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_set_pacing_rate`: until the pipe is full the rate only rises.
    fn set_pacing_rate(&mut self) {
        let rate = pacing::rate(self.rate(), self.pacing_gain());
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pace(rate);
        }
    }

    /// `bbr_set_cwnd`.
    fn set_window(&mut self, cx: &Context, ack: &Ack) {
        let path = self.bdp_segments(self.rate(), self.cwnd_gain());
        let target = self.with_budget(path + self.extra_segments());
        let in_flight = cx.facts.in_flight;
        if self.window.update(ack, in_flight, target, self.full_pipe.reached) {
            self.rounds.restart(ack.delivered);
        }
        if self.mode == Mode::ProbeRtt {
            self.window.cut();
        }
    }

    /// `bbr_ack_aggregation_cwnd`.
    fn extra_segments(&self) -> u64 {
        if !self.full_pipe.reached {
            return 0;
        }
        let extra = (self.aggregation.extra_acked() as f64 * self.params.extra_acked_gain) as u64;
        extra.min(self.rate().bytes_in(EXTRA_ACKED_MOST)) / self.setup.mss
    }

    /// `bbr_cwnd_event`: the first packet after the application had nothing to send.
    fn restart_after_silence(&mut self, cx: &mut Context) {
        self.restarts = true;
        match self.mode {
            // There is no need for more than the path has: no probe begins with an empty path.
            Mode::ProbeBw => self.pace(pacing::rate(self.rate(), 1.0)),
            Mode::ProbeRtt if self.probe_rtt.is_time_over(cx.facts.now) => self.leave_probe_rtt(cx),
            _ => {}
        }
    }

    /// `bbr_ssthresh`, `bbr_set_state`: what the bandwidth was tells no more whether the pipe is full.
    fn time_out(&mut self, cx: &mut Context) {
        self.window.time_out(self.mode == Mode::ProbeRtt);
        self.full_pipe.restart();
        self.rounds.started = true;
        self.look_for_policer(cx, true, false);
    }

    /// `bbr_undo_cwnd`.
    fn undo(&mut self) {
        self.window.end_repair();
        self.full_pipe.restart();
        self.policer.reset();
    }
}

impl CongestionControl for Bbr1 {
    fn needs(&self) -> Needs {
        Needs { lost_packets: true, own_window_in_recovery: true, ..Needs::default() }
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
        if cx.facts.in_flight <= cx.facts.mss && cx.facts.limited_by == Limit::Application {
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
            // Marks say nothing to it, and a window that is a model's does not go stale.
            Event::EcnReduction | Event::IdleRestart(_) => {}
        }
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Step {
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
        Step::Continue
    }

    fn probes(&self) -> &'static [&'static str] {
        &["bw_mbps", "min_rtt_ms", "pacing_gain", "mode"]
    }

    fn probe(&self, out: &mut [f64]) {
        out[0] = self.rate().0 as f64 / 1e6;
        out[1] = self.min_rtt.get().map_or(f64::NAN, Span::as_millis_f64);
        out[2] = self.pacing_gain();
        out[3] = f64::from(self.mode as u8);
    }
}

/// How the registry knows it.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "bbr1",
        summary: "BBR version 1: paces at the measured bandwidth, and hardly minds losses",
        source: "Cardwell et al. 2016 (ACM Queue 14(5)), draft-cardwell-iccrg-bbr-congestion-control-00, as in Linux \
                 net/ipv4/tcp_bbr.c",
        departures: &[
            "as in Linux: pacing one per cent below the bandwidth, a window for bunched ACKs, and a search for \
             policers (policer_detection = false), none of which is in the paper of 2016",
            "unlike Linux: gains and rates are real numbers, where the kernel rounds to 256ths (Drain's gain is 0.347, \
             not 0.344)",
            "unlike Linux: the filters of bandwidth and of bunched ACKs are exact maxima, where the kernel keeps three \
             values, and two for 5 to 10 rounds",
            "unlike Linux: a timeout leaves a window of one segment (RFC 5681), where the kernel adds what is still in \
             flight, and an undo restores the window at once, where the kernel waits for the next ACK",
            "unlike Linux: what the pacing clock holds back is not in flight here, so nothing is taken off for it",
        ],
        params: Bbr1Params::specs().into(),
        build: Arc::new(|setup, settings| Box::new(Bbr1::new(setup, Bbr1Params::with(settings)))),
    }
}
