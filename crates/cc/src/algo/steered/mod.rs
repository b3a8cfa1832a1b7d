//! A window that only an agent steers, without a base algorithm: no slow start, no cut at a loss. The agent
//! sees the effect of its last action, and is responsible for all of it. It is external, or a deep Q-network.

mod pilot;
mod sight;

pub use sight::inputs;

use crate::algorithm::{Algorithm, Declaration, Spaces};
use crate::contract::{Ack, CongestionControl, Context, Control, Decision, Event, Lost, Needs, Phase, Setup};
use crate::decisions::{DqnParams, GivenWeights, PolicyRole, sizes, suit};
use crate::params::{FileKind, NamedFile, Parameters, Value};
use crate::probes::{self, Names, Probe};
use crate::units::{Span, Time};
use cwndlab_learn::{Agent, Learning};
use pilot::Pilot;
use sight::{STATE, Sight};
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
    /// The parameters.
    pub struct SteeredParams {
        role: PolicyRole = PolicyRole::Outside, "policy", Allowed::Word(PolicyRole::WORDS), "",
            "an external agent, a network that plays given weights, or one that learns",
            "decided: it is what cwndlab/Window-v0 plays";
        decide: Decide = Decide::RoundTrip, "decide", Allowed::Word(Decide::WORDS), "",
            "when the agent decides: at each ACK, once per round trip or at fixed times",
            "decided: an action shows its effect after a round trip";
        interval: Span = Span::from_millis(100), "interval",
            Allowed::Span(Span::from_micros(100), Span::from_secs(10)), "",
            "time between two decisions, with decide = \"interval\"",
            "Sivakumar et al. 2019: observations gathered over 100 ms";
        loss_weight: f64 = 1.0, "loss_weight", Allowed::Number(0.0, 100.0), "",
            "number of delivered bytes that a lost byte cancels in the reward",
            "decided: a lost byte costs what a delivered one is worth";
        max_cwnd: u64 = 10_000, "max_cwnd", Allowed::Count(2, 10_000_000), "segments",
            "largest window that an action may leave",
            "decided: above BDP and buffer of any world that cwndlab/Window-v0 draws, so that a runaway agent ends there";
        layers: u64 = 3, "layers", Allowed::Count(0, 16), "",
            "hidden layers of the network", "decided: those of dqn-newreno";
        nodes: u64 = 30, "nodes", Allowed::Count(1, 512), "",
            "nodes of each hidden layer", "decided: those of dqn-newreno";
        weights: GivenWeights = GivenWeights::default(), "weights", Allowed::File(&WEIGHTS), "",
            "a file of weights to start from; fresh: drawn at random as PyTorch does",
            "decided: none has been trained before";
    }
}

/// What the actions do to a window in segments: stay, halve, 10 less, 10 more, double (Sivakumar et al. 2019,
/// the actions of its published code).
const ACTIONS: [fn(u64) -> u64; 5] = [|w| w, |w| w / 2, |w| w.saturating_sub(10), |w| w + 10, |w| 2 * w];

const WEIGHTS: FileKind = GivenWeights::kind(suits);

fn suits(file: &NamedFile, settings: &[(String, Value)]) -> Result<(), String> {
    let params = SteeredParams::with(settings);
    suit(file, params.role, &params.network_sizes(), Some(inputs()))
}

impl SteeredParams {
    fn network_sizes(&self) -> Vec<usize> {
        sizes(STATE.len(), self.layers, self.nodes, ACTIONS.len() as u32)
    }
}

/// The controller.
pub struct Steered {
    params: SteeredParams,
    mss: u64,
    cwnd: u64,
    /// The window before the first loss since the path was last in order; restored if the loss proves spurious.
    before_loss: Option<u64>,
    sight: Sight,
    pilot: Pilot,
    /// When the next decision at a fixed time is due.
    next: Option<Time>,
    action: Option<u32>,
}

impl Steered {
    const PROBES: &'static [Probe<Self>] = &[
        ("action", |steered| steered.action.map_or(f64::NAN, f64::from)),
        ("reward", |steered| f64::from(steered.sight.reward())),
    ];
    const NAMES: &'static Names = &Names::of(Self::PROBES);
    const SPACES: Spaces = Spaces { observation: STATE.len(), actions: ACTIONS.len() as u32 };
    const DECLARATION: Declaration = Declaration {
        needs: Needs { lost_packets: true, ..Needs::NONE },
        probes: Self::NAMES.list(),
        spaces: Some(Self::SPACES),
        bounded: true,
        coupled: false,
    };

    /// A controller at its initial window.
    #[must_use]
    pub fn new(setup: &Setup, params: SteeredParams, dqn: DqnParams) -> Self {
        Self {
            mss: setup.mss,
            cwnd: setup.initial_window,
            before_loss: None,
            sight: Sight::new(params.loss_weight),
            pilot: Pilot::new(&params, dqn),
            next: None,
            action: None,
            params,
        }
    }

    fn decide(&mut self, cx: &mut Context) -> Decision {
        self.sight.look(cx, self.cwnd);
        self.next = Some(cx.facts.now + self.params.interval);
        self.pilot.choose(cx, &self.sight).map_or(Decision::Due, Decision::Made)
    }

    fn is_due(&self, cx: &Context) -> bool {
        match self.params.decide {
            Decide::Ack => true,
            Decide::RoundTrip => cx.facts.now.since(self.sight.last()) >= cx.facts.rtt.smoothed,
            // The first ACK sets the clock.
            Decide::Interval => self.next.is_none(),
        }
    }
}

impl CongestionControl for Steered {
    fn needs(&self) -> Needs {
        Self::DECLARATION.needs
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
            // RFC 5681 section 3.1: the loss window. It is up to the agent to open it again from there.
            Event::Timeout => self.cwnd = self.mss,
            Event::Undo => self.cwnd = self.cwnd.max(self.before_loss.take().unwrap_or(0)),
            _ => {}
        }
    }

    fn on_lost(&mut self, _cx: &mut Context, lost: &Lost) {
        self.sight.lost(lost.bytes);
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.sight.delivered(ack.acked);
        let measured = cx.facts.rtt.latest > Span::ZERO;
        if measured && self.is_due(cx) { self.decide(cx) } else { Decision::NotDue }
    }

    fn next_timer(&self) -> Option<Time> {
        self.next.filter(|_| self.params.decide == Decide::Interval)
    }

    fn on_timer(&mut self, cx: &mut Context) -> Decision {
        self.decide(cx)
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }

    fn learning(&self) -> Option<&dyn Learning> {
        Some(&self.pilot)
    }

    fn probes(&self) -> &'static [&'static str] {
        Self::DECLARATION.probes
    }

    fn probe(&self, out: &mut [f64]) {
        probes::read(Self::PROBES, self, out);
    }
}

impl Agent for Steered {
    fn observation_len(&self) -> usize {
        Self::SPACES.observation
    }

    fn actions(&self) -> u32 {
        Self::SPACES.actions
    }

    fn observe(&mut self, observation: &mut [f32]) -> f32 {
        observation.copy_from_slice(self.sight.state());
        self.sight.reward()
    }

    fn act(&mut self, action: u32) {
        let change = ACTIONS[(action as usize).min(ACTIONS.len() - 1)];
        let segments = change(self.cwnd / self.mss).clamp(1, self.params.max_cwnd);
        self.cwnd = segments * self.mss;
        self.action = Some(action);
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "steered",
        summary: "a window that an agent controls: an external one (cwndlab/Window-v0) or a deep Q-network",
        source: "a control of this laboratory; actions of Sivakumar et al. 2019 (MVFST-RL), reward after \
                 Abbasloo et al. 2020 (Orca)",
        departures: &[
            "a timeout leaves one segment (RFC 5681 section 3.1), where MVFST-RL's agent alone moves the window",
            "an action may open the window in recovery, and where it was not the limit: RFC 5681 section 3.2 and RFC 7661 have \
             it grow in neither",
            "the reward's RTT is the latest and has no tolerance, where Orca forgives a quarter of the smallest RTT",
        ],
        params: [SteeredParams::specs(), DqnParams::specs()].concat().into(),
        declares: Steered::DECLARATION.into(),
        build: Arc::new(|setup, settings| {
            Box::new(Steered::new(setup, SteeredParams::with(settings), DqnParams::with(settings)))
        }),
    }
}
