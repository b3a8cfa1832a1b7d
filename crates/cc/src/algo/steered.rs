//! A window that an agent outside steers, whatever the base algorithms do: no slow start, no cut at a loss. The agent
//! sees what its last action brought, and answers for all of it.

use crate::contract::{Ack, CongestionControl, Context, Control, Event, Lost, Needs, Phase, Step};
use crate::params::Parameters;
use crate::registry::{Algorithm, Setup};
use crate::units::{Span, Time};
use cwndlab_learn::Agent;
use std::sync::Arc;

crate::words! {
    /// When the agent decides.
    pub enum Decide {
        /// At each ACK.
        Ack = "ack",
        /// At the first ACK after a smoothed RTT since the last decision.
        RoundTrip = "round-trip",
        /// At fixed times, ACK or not.
        Interval = "interval",
    }
}

crate::parameters! {
    /// What can be set.
    pub struct SteeredParams {
        decide: Decide = Decide::RoundTrip, "decide", Allowed::Word(Decide::WORDS), "",
            "when the agent decides: at each ACK, once a round trip or at fixed times",
            "decided: an action shows its effect after a round trip";
        interval: Span = Span::from_millis(100), "interval",
            Allowed::Span(Span::from_micros(100), Span::from_secs(10)), "",
            "time between two decisions, with decide = \"interval\"",
            "Sivakumar et al., \"MVFST-RL\", 2019: observations gathered over 100 ms";
        loss_weight: f64 = 1.0, "loss_weight", Allowed::Number(0.0, 100.0), "",
            "how many delivered bytes a lost byte takes off the reward",
            "decided: a lost byte costs what a delivered one is worth";
        max_cwnd: u64 = 10_000, "max_cwnd", Allowed::Count(2, 10_000_000), "segments",
            "no action leaves more of the window",
            "decided: above BDP and buffer of any world that cwndlab/Window-v0 draws, so that a runaway agent ends there";
    }
}

/// What the actions do to a window of so many segments: stay, halve, 10 less, 10 more, double (Sivakumar et al. 2019,
/// the actions of its published code).
const ACTIONS: [fn(u64) -> u64; 5] = [|w| w, |w| w / 2, |w| w.saturating_sub(10), |w| w + 10, |w| 2 * w];

/// The numbers of the state, with their scales: round values of the size that occurs.
const STATE: [&str; 5] =
    ["cwnd_segments/1000", "rtt_ms/100", "min_rtt_ms/100", "delivery_rate_mbps/100", "lost_share"];

/// What a network takes in, in words that a file of weights carries.
#[must_use]
pub fn inputs() -> String {
    STATE.join(",")
}

/// What happened since the last decision.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    at: Time,
    delivered: u64,
    lost: u64,
}

/// The controller.
pub struct Steered {
    params: SteeredParams,
    mss: u64,
    cwnd: u64,
    /// The window before what was the first loss since all was in order, to be taken back if it was none.
    before_loss: Option<u64>,
    since: Since,
    /// When the next decision at a fixed time is due.
    next: Option<Time>,
    /// Bytes a second, the most of any time between two decisions.
    largest_rate: f64,
    state: [f32; STATE.len()],
    reward: f32,
    action: Option<u32>,
}

impl Steered {
    /// A controller at its initial window.
    #[must_use]
    pub fn new(setup: &Setup, params: SteeredParams) -> Self {
        Self {
            params,
            mss: setup.mss,
            cwnd: setup.initial_window,
            before_loss: None,
            since: Since::default(),
            next: None,
            largest_rate: 0.0,
            state: [0.0; STATE.len()],
            reward: 0.0,
            action: None,
        }
    }

    /// Takes state and reward, and counts anew.
    fn ask(&mut self, cx: &Context) -> Step {
        self.look(cx);
        self.since = Since { at: cx.facts.now, ..Since::default() };
        self.next = Some(cx.facts.now + self.params.interval);
        Step::Decide
    }

    /// The reward is delivery rate less loss over the RTT, as a share of what the largest rate at the smallest RTT would
    /// be: Kleinrock's power, with losses, as Abbasloo et al. (Orca, SIGCOMM 2020) reward it.
    fn look(&mut self, cx: &Context) {
        let Since { at, delivered, lost } = self.since;
        let rtt = cx.facts.rtt;
        let seconds = cx.facts.now.since(at).max(Span(1)).as_secs_f64();
        let rate = delivered as f64 / seconds;
        // A burst of ACKs at one moment is no rate.
        if cx.facts.now.since(at) >= rtt.minimum {
            self.largest_rate = self.largest_rate.max(rate);
        }
        let lost_share = if lost == 0 { 0.0 } else { lost as f64 / (lost + delivered) as f64 };
        let worth = rate - self.params.loss_weight * lost as f64 / seconds;
        let stretch = rtt.latest.max(Span(1)).as_secs_f64() / rtt.minimum.max(Span(1)).as_secs_f64();
        let share = if self.largest_rate > 0.0 { worth / self.largest_rate } else { 0.0 };
        self.reward = (share.clamp(-1.0, 1.0) / stretch) as f32;
        let windows = self.cwnd as f64 / self.mss as f64;
        let mbps = rate * 8.0 / 1e6;
        self.state = [
            windows / 1000.0,
            rtt.latest.as_millis_f64() / 100.0,
            rtt.minimum.as_millis_f64() / 100.0,
            mbps / 100.0,
            lost_share,
        ]
        .map(|value| value as f32);
    }

    fn is_due(&self, cx: &Context) -> bool {
        match self.params.decide {
            Decide::Ack => true,
            Decide::RoundTrip => cx.facts.now.since(self.since.at) >= cx.facts.rtt.smoothed,
            // The first ACK sets the clock.
            Decide::Interval => self.next.is_none(),
        }
    }
}

impl CongestionControl for Steered {
    fn needs(&self) -> Needs {
        Needs { lost_packets: true, ..Needs::default() }
    }

    fn control(&self) -> Control {
        Control::window(self.cwnd)
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        let first = matches!(cx.facts.phase, Phase::Open | Phase::Disorder);
        if first && matches!(event, Event::LossRecovery | Event::Timeout) {
            self.before_loss = Some(self.cwnd);
        }
        match event {
            // RFC 5681 section 3.1: the loss window. From there it is the agent's to open it again.
            Event::Timeout => self.cwnd = self.mss,
            Event::Undo => self.cwnd = self.cwnd.max(self.before_loss.take().unwrap_or(0)),
            _ => {}
        }
    }

    fn on_lost(&mut self, _cx: &mut Context, lost: &Lost) {
        self.since.lost += lost.bytes;
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Step {
        self.since.delivered += ack.acked;
        let measured = cx.facts.rtt.latest > Span::ZERO;
        if measured && self.is_due(cx) { self.ask(cx) } else { Step::Continue }
    }

    fn next_timer(&self) -> Option<Time> {
        self.next.filter(|_| self.params.decide == Decide::Interval)
    }

    fn on_timer(&mut self, cx: &mut Context) -> Step {
        self.ask(cx)
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }

    fn probes(&self) -> &'static [&'static str] {
        &["action", "reward"]
    }

    fn probe(&self, out: &mut [f64]) {
        out[0] = self.action.map_or(f64::NAN, f64::from);
        out[1] = f64::from(self.reward);
    }
}

impl Agent for Steered {
    fn observation_len(&self) -> usize {
        STATE.len()
    }

    fn actions(&self) -> u32 {
        ACTIONS.len() as u32
    }

    fn observe(&mut self, observation: &mut [f32]) -> f32 {
        observation.copy_from_slice(&self.state);
        self.reward
    }

    fn act(&mut self, action: u32) {
        let change = ACTIONS[(action as usize).min(ACTIONS.len() - 1)];
        let segments = change(self.cwnd / self.mss).clamp(1, self.params.max_cwnd);
        self.cwnd = segments * self.mss;
        self.action = Some(action);
    }
}

/// How the registry knows it.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "steered",
        summary: "a window that an agent outside steers: see cwndlab/Window-v0",
        source: "a control of this laboratory; actions of Sivakumar et al., \"MVFST-RL\", 2019, reward after Abbasloo et \
                 al., \"Orca\", SIGCOMM 2020",
        departures: &[
            "a timeout leaves one segment (RFC 5681 section 3.1), where MVFST-RL's agent alone moves the window",
            "the reward's RTT is the latest and has no tolerance, where Orca forgives a quarter of the smallest RTT",
        ],
        params: SteeredParams::specs().into(),
        build: Arc::new(|setup, settings| Box::new(Steered::new(setup, SteeredParams::with(settings)))),
    }
}
