//! Congestion avoidance by decisions (Seo et al. 2022, Seo and Cho 2024): whenever a number of segments has been
//! acknowledged, a policy chooses one of a few actions, and the action moves the window. Slow start, recovery
//! and the reduction at a loss belong to the base algorithm; no decisions are made there.

mod dqn;
mod dqn_policy;
mod reward;
mod state;
mod tuples;
mod weights;

pub use cwndlab_learn::Weights;
pub use dqn::{
    DqnParams, LossFunction, PolicyParams, PolicyRole, Train, TupleParams, dqn_of_flow, sizes, suit,
};
pub use dqn_policy::DqnPolicy;
pub use reward::{Punished, Reward, RewardParams};
pub use state::{CWND, Feature, RTT, SINCE_CONGESTION, SSTHRESH, Scaling, W_MAX};
pub use tuples::{Blamed, TupleRule};
pub use weights::GivenWeights;

use crate::algorithm::{Declaration, Spaces};
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Ack, CongestionControl, Context, Control, Decision, Event, Needs, Phase, Setup};
use crate::probes::{self, Names, Probe};
use crate::units::{Span, Time};
use cwndlab_learn::{Agent, Learning};

crate::words! {
    /// What happens after an action that leaves the window below the slow-start threshold.
    pub enum BelowSsthresh {
        /// The threshold stays, so slow start regains what the action took (RFC 5681 section 3.1).
        SlowStart = "slow-start",
        /// The threshold comes down with the window, so the window stays where the action put it.
        Avoidance = "avoidance",
    }
}

crate::words! {
    /// When a decision is due.
    pub enum Decide {
        /// When a given number of segments has been acknowledged.
        Count = "count",
        /// At fixed intervals in congestion avoidance, with or without an ACK.
        Interval = "interval",
    }
}

crate::parameters! {
    /// The settings of every action set.
    pub struct DecisionParams {
        beta: f64 = 0.7, "beta", Allowed::Number(0.1, 0.99), "",
            "share of the window that a congestion event leaves",
            "Seo and Cho 2024 section 3.1.1 (threshold) and table 2: 0.7; the same section has NewReno halve (0.5)";
        min_cwnd: u64 = 2, "min_cwnd", Allowed::Count(1, 2), "segments",
            "smallest window that an action may leave",
            "the papers name no least window; two segments as for ssthresh in RFC 5681 equation (4)";
        decide: Decide = Decide::Count, "decide", Allowed::Word(Decide::WORDS), "",
            "when a decision is due in congestion avoidance: when enough segments were acknowledged, or at fixed times",
            "Seo and Cho 2024 sections 3.1.1 and 3.2.1 count ACKs; its section 4.1 has a timer, as ns3-gym's time-based \
             TCP example (interval)";
        interval: Span = Span::from_millis(100), "interval",
            Allowed::Span(Span::from_micros(100), Span::from_secs(10)), "",
            "with decide = interval: time between two decisions",
            "ns3-gym's time-based TCP example: 100 ms";
        below_ssthresh: BelowSsthresh = BelowSsthresh::SlowStart, "below_ssthresh",
            Allowed::Word(BelowSsthresh::WORDS), "",
            "after an action that leaves less than ssthresh: slow start back to it, or avoidance from there",
            "Seo and Cho 2024 section 3.1.1: the threshold separates slow start from avoidance, and only a loss sets it";
    }
}

/// A base algorithm that leaves the growth in congestion avoidance to actions.
///
/// Its [`grow`](WindowRule::grow) moves no window: it counts towards the next decision with
/// [`DecisionCounter::count`].
pub trait ActionSet: WindowRule {
    /// How many actions there are.
    const ACTIONS: u32;

    /// The features of the flow that a policy sees.
    const FEATURES: &'static [Feature];

    /// Fills in the [`FEATURES`](ActionSet::FEATURES).
    fn describe(&self, window: &Window, at: Moment, features: &mut [f64]);

    /// The counter that runs towards the next decision.
    fn counter(&mut self) -> &mut DecisionCounter;

    /// Moves the window; an action that is out of range counts as the one with the highest number.
    fn act(&mut self, window: &mut Window, action: u32);
}

/// The moment at which a policy sees the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The current time.
    pub now: Time,
    /// The latest RTT sample.
    pub rtt: Span,
    /// The smallest RTT sample.
    pub rtt_min: Span,
    /// Time since the last congestion event, or since the first [`View`] if there was none.
    pub since_congestion: Span,
}

/// What a policy sees of a flow, at an ACK in congestion avoidance or at a congestion event.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The moment of the view.
    pub at: Moment,
    /// The window in bytes.
    pub cwnd: u64,
    /// The features, as the action set describes them.
    pub features: &'a [f64],
}

/// The part of a controller that decides.
pub trait Policy: Send + Sized + 'static {
    /// The policy's own recorded values; those of the base algorithm and its actions come before them.
    const PROBES: &'static [Probe<Self>] = &[];

    /// Whether it sees the [`FEATURES`](ActionSet::FEATURES), and shows them to an agent.
    const SEES: bool = false;

    /// Sees each ACK in congestion avoidance, before a decision on it.
    fn watch(&mut self, _cx: &mut Context, _view: &View) {}

    /// Sees each congestion event, before the window is cut.
    fn congestion(&mut self, _cx: &mut Context, _view: &View, _event: Event) {}

    /// Chooses one of the `actions`, from 0 on; `None` leaves the choice to an external agent.
    fn choose(&mut self, cx: &mut Context, actions: u32) -> Option<u32>;

    /// Shows an agent the state, and returns the reward since the previous decision.
    fn observe(&self, _observation: &mut [f32]) -> f32 {
        0.0
    }

    /// The same at the end of a run.
    fn observe_end(&self, observation: &mut [f32]) -> f32 {
        self.observe(observation)
    }

    /// The learning side of a policy.
    fn learning(&self) -> Option<&dyn Learning> {
        None
    }
}

/// Counts from one decision to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecisionCounter {
    due: bool,
    cnt_segments: Option<f64>,
    /// The action in force.
    action: Option<u32>,
}

impl DecisionCounter {
    /// Counts acknowledged bytes; a decision is due after every `cnt` bytes, but at most one per ACK.
    pub fn count(&mut self, window: &mut Window, cnt: u64, acked: u64) {
        self.cnt_segments = Some(cnt as f64 / window.mss as f64);
        self.due = window.count_up_to(cnt, acked);
    }

    /// The action in force; NaN before the first.
    #[must_use]
    pub fn action(&self) -> f64 {
        self.action.map_or(f64::NAN, f64::from)
    }

    /// The last `cnt`, in segments; NaN before the first count.
    #[must_use]
    pub fn cnt_segments(&self) -> f64 {
        self.cnt_segments.unwrap_or(f64::NAN)
    }
}

/// A controller that asks its policy at each decision point.
pub struct Decided<A, P> {
    classic: Classic<A>,
    policy: P,
    params: DecisionParams,
    /// The last congestion event, or the first [`View`] if there was none.
    congested: Option<Time>,
    /// When the next decision at a fixed interval is due; the first ACK in congestion avoidance starts the clock.
    next: Option<Time>,
    features: Vec<f64>,
}

impl<A: ActionSet, P: Policy> Decided<A, P> {
    const NAMES: &'static Names = &Classic::<A>::NAMES.and(P::PROBES);
    const SPACES: Spaces =
        Spaces { observation: if P::SEES { A::FEATURES.len() } else { 0 }, actions: A::ACTIONS };
    /// The declaration of a controller with this policy and these actions.
    pub const DECLARATION: Declaration =
        Declaration { probes: Self::NAMES.list(), spaces: Some(Self::SPACES), ..Classic::<A>::DECLARATION };

    /// A controller at its initial window.
    pub fn new(setup: &Setup, params: DecisionParams, actions: A, policy: P) -> Self {
        let features = vec![0.0; A::FEATURES.len()];
        Self { classic: Classic::new(setup, actions), policy, params, congested: None, next: None, features }
    }

    fn decide(&mut self, cx: &mut Context) -> Decision {
        self.policy.choose(cx, A::ACTIONS).map_or(Decision::Due, Decision::Made)
    }

    /// Shows the policy the flow's current state.
    fn show(&mut self, cx: &mut Context, call: impl FnOnce(&mut P, &mut Context, &View)) {
        let now = cx.facts.now;
        let since_congestion = now.since(*self.congested.get_or_insert(now));
        let rtt = cx.facts.rtt;
        let at = Moment { now, rtt: rtt.latest, rtt_min: rtt.minimum, since_congestion };
        let (actions, window) = self.classic.parts();
        actions.describe(window, at, &mut self.features);
        call(&mut self.policy, cx, &View { at, cwnd: window.cwnd, features: &self.features });
    }
}

impl<A: ActionSet, P: Policy> CongestionControl for Decided<A, P> {
    fn needs(&self) -> Needs {
        Self::DECLARATION.needs
    }

    fn control(&self) -> Control {
        self.classic.control()
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        if matches!(event, Event::LossRecovery | Event::EcnReduction | Event::Timeout) {
            if cx.facts.rtt.latest > Span::ZERO {
                self.show(cx, |policy, cx, view| policy.congestion(cx, view, event));
            }
            self.congested = Some(cx.facts.now);
        }
        self.classic.on_event(cx, event);
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.classic.on_ack(cx, ack);
        let (actions, window) = self.classic.parts();
        let due = std::mem::take(&mut actions.counter().due);
        let avoiding = due || (!window.in_slow_start() && cx.facts.phase != Phase::Recovery);
        if avoiding && cx.facts.rtt.latest > Span::ZERO {
            self.show(cx, |policy, cx, view| policy.watch(cx, view));
            if self.params.decide == Decide::Interval && self.next.is_none() {
                self.next = Some(cx.facts.now + self.params.interval);
            }
        }
        if due && self.params.decide == Decide::Count { self.decide(cx) } else { Decision::NotDue }
    }

    fn next_timer(&self) -> Option<Time> {
        self.next
    }

    /// State and reward are those of the last ACK in congestion avoidance.
    fn on_timer(&mut self, cx: &mut Context) -> Decision {
        self.next = Some(cx.facts.now + self.params.interval);
        let avoiding =
            !self.classic.window().in_slow_start() && matches!(cx.facts.phase, Phase::Open | Phase::Disorder);
        if avoiding { self.decide(cx) } else { Decision::NotDue }
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }

    fn learning(&self) -> Option<&dyn Learning> {
        self.policy.learning()
    }

    fn probes(&self) -> &'static [&'static str] {
        Self::DECLARATION.probes
    }

    fn probe(&self, out: &mut [f64]) {
        let (own, policys) = out.split_at_mut(Classic::<A>::NAMES.list().len());
        self.classic.probe(own);
        probes::read(P::PROBES, &self.policy, policys);
    }
}

/// The agent's side: a built-in and an external agent have the same state, reward and actions.
impl<A: ActionSet, P: Policy> Agent for Decided<A, P> {
    fn observation_len(&self) -> usize {
        Self::SPACES.observation
    }

    fn actions(&self) -> u32 {
        Self::SPACES.actions
    }

    fn observe(&mut self, observation: &mut [f32]) -> f32 {
        self.policy.observe(observation)
    }

    fn observe_end(&mut self, observation: &mut [f32]) -> f32 {
        self.policy.observe_end(observation)
    }

    fn act(&mut self, action: u32) {
        let (actions, window) = self.classic.parts();
        actions.counter().action = Some(action);
        actions.act(window, action);
        window.cwnd = window.cwnd.max(self.params.min_cwnd * window.mss);
        if self.params.below_ssthresh == BelowSsthresh::Avoidance {
            window.ssthresh = window.ssthresh.min(window.cwnd).max(2 * window.mss);
        }
    }
}
