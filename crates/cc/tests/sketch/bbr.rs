//! The shape of BBRv2 (draft-ietf-ccwg-bbr, google/bbr v2alpha): a sketch that shows what the contract can carry,
//! not an algorithm that ships. It uses everything that a model-based controller needs and a loss-based one does not.

use cwndlab_cc::{
    Ack, CongestionControl, Context, Control, Decision, Event, Lost, Needs, Phase, Rate, Setup, Span, Time,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const STARTUP_GAIN: f64 = 2.885;
const DRAIN_GAIN: f64 = 0.347;
const PACING_MARGIN: f64 = 0.99;
const LOSS_THRESHOLD: f64 = 0.02;
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.85;
const PROBE_RTT_INTERVAL: Span = Span::from_secs(5);
const PROBE_RTT_TIME: Span = Span::from_millis(200);
const FULL_PIPE_ROUNDS: u32 = 3;

/// What a test may see of a sketch that has gone into a simulation.
#[derive(Default)]
pub struct Seen {
    pub rounds: AtomicU64,
    pub lost_bytes: AtomicU64,
    pub probe_rtts: AtomicU64,
    pub probes_up: AtomicU64,
    /// The largest pipe seen in recovery beyond the window of this controller, in bytes.
    pub excess_in_recovery: AtomicU64,
    pub acks_in_recovery: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Startup,
    Drain,
    Cruise,
    Up,
    Down,
    ProbeRtt,
}

pub struct Bbr {
    setup: Setup,
    pub mode: Mode,
    seen: Arc<Seen>,
    cwnd: u64,
    pacing: Option<Rate>,
    /// Packet-timed rounds: one ends when something sent after its start is delivered.
    round_end: u64,
    pub max_rate: Rate,
    min_rtt: Span,
    min_rtt_at: Time,
    full_rate: Rate,
    full_rounds: u32,
    /// The most that the path is known to carry without too much loss.
    pub inflight_hi: u64,
    probe_at: Time,
    /// The end of ProbeRTT: a timer of the controller.
    probe_rtt_done: Option<Time>,
}

impl Bbr {
    pub fn new(setup: &Setup, seen: Arc<Seen>) -> Self {
        Self {
            setup: *setup,
            mode: Mode::Startup,
            seen,
            cwnd: setup.initial_window,
            pacing: None,
            round_end: 0,
            max_rate: Rate(0),
            min_rtt: Span::MAX,
            min_rtt_at: Time::ZERO,
            full_rate: Rate(0),
            full_rounds: 0,
            inflight_hi: u64::MAX,
            probe_at: Time::NEVER,
            probe_rtt_done: None,
        }
    }

    fn bdp(&self) -> u64 {
        self.max_rate.bytes_in(self.min_rtt)
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (STARTUP_GAIN, STARTUP_GAIN),
            Mode::Drain => (DRAIN_GAIN, STARTUP_GAIN),
            Mode::Up => (1.25, 2.0),
            Mode::Down => (0.75, 2.0),
            Mode::Cruise => (1.0, 2.0),
            Mode::ProbeRtt => (1.0, 0.5),
        }
    }

    fn update_model(&mut self, cx: &Context, ack: &Ack) -> bool {
        if let Some(rtt) = ack.rtt
            && (rtt <= self.min_rtt || cx.facts.now > self.min_rtt_at + PROBE_RTT_INTERVAL)
        {
            if rtt > self.min_rtt && self.mode != Mode::ProbeRtt {
                self.enter_probe_rtt(cx.facts.now);
            }
            (self.min_rtt, self.min_rtt_at) = (rtt, cx.facts.now);
        }
        let Some(sample) = ack.sample else { return false };
        if !sample.app_limited || sample.rate() > self.max_rate {
            self.max_rate = self.max_rate.max(sample.rate());
        }
        let round_start = sample.prior_delivered >= self.round_end;
        if round_start {
            self.round_end = ack.delivered;
            self.seen.rounds.fetch_add(1, Relaxed);
        }
        round_start
    }

    fn enter_probe_rtt(&mut self, now: Time) {
        self.mode = Mode::ProbeRtt;
        self.probe_rtt_done = Some(now + PROBE_RTT_TIME);
        self.seen.probe_rtts.fetch_add(1, Relaxed);
    }

    /// The next probe for bandwidth comes after two to three seconds, so that flows do not probe in step.
    fn cruise(&mut self, cx: &mut Context) {
        self.mode = Mode::Cruise;
        self.probe_at = cx.facts.now + Span::from_secs_f64(2.0 + cx.rng.uniform());
    }

    fn step(&mut self, cx: &mut Context, round_start: bool) {
        let in_flight = cx.facts.in_flight;
        match self.mode {
            Mode::Startup if round_start => {
                if self.max_rate >= self.full_rate.scaled(1.25) {
                    (self.full_rate, self.full_rounds) = (self.max_rate, 0);
                } else {
                    self.full_rounds += 1;
                }
                if self.full_rounds >= FULL_PIPE_ROUNDS {
                    self.mode = Mode::Drain;
                }
            }
            Mode::Drain if in_flight <= self.bdp() => self.cruise(cx),
            Mode::Cruise if cx.facts.now >= self.probe_at => {
                self.mode = Mode::Up;
                self.seen.probes_up.fetch_add(1, Relaxed);
            }
            Mode::Up if in_flight as f64 >= 1.25 * self.bdp() as f64 => self.mode = Mode::Down,
            Mode::Down if in_flight <= self.bdp() => self.cruise(cx),
            _ => {}
        }
    }
}

impl CongestionControl for Bbr {
    fn needs(&self) -> Needs {
        Needs { sent_packets: true, lost_packets: true, own_window_in_recovery: true, ..Needs::default() }
    }

    fn control(&self) -> Control {
        Control { pacing_rate: self.pacing, send_quantum: 2 * self.setup.mss, ..Control::window(self.cwnd) }
    }

    /// Too much of what was in flight when this packet left is lost: the path does not carry so much.
    fn on_lost(&mut self, _cx: &mut Context, lost: &Lost) {
        self.seen.lost_bytes.fetch_add(lost.bytes, Relaxed);
        let lost_of_flight = lost.lost_total - lost.prior_lost;
        if lost_of_flight as f64 > LOSS_THRESHOLD * lost.in_flight_at_send as f64 && self.max_rate > Rate(0) {
            let floor = (self.bdp() as f64 * BETA) as u64;
            self.inflight_hi = lost.in_flight_at_send.max(floor).min(self.inflight_hi);
            match self.mode {
                Mode::Startup => self.mode = Mode::Drain,
                Mode::Up => self.mode = Mode::Down,
                _ => {}
            }
        }
    }

    fn on_event(&mut self, _cx: &mut Context, event: Event) {
        if event == Event::Timeout {
            self.cwnd = self.setup.mss;
        }
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        if cx.facts.phase == Phase::Recovery {
            let excess = cx.facts.in_flight.saturating_sub(self.cwnd);
            self.seen.excess_in_recovery.fetch_max(excess, Relaxed);
            self.seen.acks_in_recovery.fetch_add(1, Relaxed);
        }
        let round_start = self.update_model(cx, ack);
        self.step(cx, round_start);
        if self.max_rate == Rate(0) {
            return Decision::NotDue;
        }
        let (pacing_gain, cwnd_gain) = self.gains();
        self.pacing = Some(self.max_rate.scaled(pacing_gain * PACING_MARGIN));
        let mut target = ((self.bdp() as f64 * cwnd_gain) as u64).max(4 * self.setup.mss);
        if self.mode != Mode::ProbeRtt {
            let room = if self.mode == Mode::Up { 1.0 } else { HEADROOM };
            target = target.min((self.inflight_hi as f64 * room) as u64).max(4 * self.setup.mss);
        }
        self.cwnd = if self.mode == Mode::ProbeRtt { target } else { (self.cwnd + ack.acked).min(target) };
        Decision::NotDue
    }

    fn next_timer(&self) -> Option<Time> {
        self.probe_rtt_done
    }

    fn on_timer(&mut self, cx: &mut Context) -> Decision {
        self.probe_rtt_done = None;
        self.cruise(cx);
        self.cwnd = self.bdp().max(4 * self.setup.mss);
        Decision::NotDue
    }

    fn probes(&self) -> &'static [&'static str] {
        &["max_rate_mbps", "min_rtt_ms"]
    }

    fn probe(&self, out: &mut [f64]) {
        out[0] = self.max_rate.0 as f64 / 1e6;
        out[1] = self.min_rtt.as_millis_f64();
    }
}
