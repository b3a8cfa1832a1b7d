//! The policy of Seo et al. 2022 and Seo and Cho 2024: a DQN that sees the state and the reward, or an
//! external agent that sees them.

use super::dqn::{DqnParams, PolicyParams, PolicyRole, TupleParams, dqn_of_flow};
use super::reward::{LOSS, Punished, Reward, RewardParams};
use super::state::{Feature, Scaler};
use super::tuples::{Blamed, Chain};
use super::weights::GivenWeights;
use super::{ActionSet, Policy, View};
use crate::contract::{Context, Event};
use crate::params::{Parameters, Value};
use crate::probes::Probe;
use cwndlab_learn::dqn::{Dqn, Experience, Learned};
use cwndlab_learn::{Learning, Weights};

/// The settings of a policy.
struct PolicySetup {
    /// Who decides.
    role: PolicyRole,
    /// Layer sizes of the network.
    sizes: Vec<usize>,
    /// Initial weights.
    given: GivenWeights,
    /// The features that the network sees.
    features: &'static [Feature],
    /// What it learns from.
    tuples: TupleParams,
    /// How it learns.
    params: DqnParams,
    /// The reward that it is to maximise.
    reward: Reward,
    /// Which events are punished.
    punished: Punished,
}

/// Observes the flow, and decides by a network or leaves the decision to an external agent.
pub struct DqnPolicy {
    setup: PolicySetup,
    scaler: Scaler,
    /// Made at the flow's first decision, and seeded from the flow's random stream.
    dqn: Option<Dqn>,
    chain: Chain,
    state: Vec<f32>,
    /// The latest reward; NaN before the first.
    reward: f32,
    /// Whether a punished event has occurred since the last decision.
    lost: bool,
    /// The reward as the last decision saw it.
    shown: f32,
    /// The action chosen last: in force, or waiting for the decision delay.
    action: Option<u32>,
}

impl DqnPolicy {
    /// A policy for a flow that has not begun. With these settings it chooses among the actions of `A`, by a
    /// network of these sizes.
    #[must_use]
    pub fn new<A: ActionSet>(
        sizes: Vec<usize>,
        given: GivenWeights,
        punished: Punished,
        settings: &[(String, Value)],
    ) -> Self {
        let setup = PolicySetup {
            role: PolicyParams::with(settings).role,
            sizes,
            given,
            features: A::FEATURES,
            tuples: TupleParams::with(settings),
            params: DqnParams::with(settings),
            reward: Reward::new(RewardParams::with(settings)),
            punished,
        };
        Self {
            scaler: Scaler::new(setup.tuples.state, setup.features),
            dqn: None,
            chain: Chain::new(setup.tuples.tuples),
            state: vec![0.0; setup.features.len()],
            reward: f32::NAN,
            lost: false,
            shown: 0.0,
            action: None,
            setup,
        }
    }

    fn dqn(&mut self, cx: &mut Context) -> &mut Dqn {
        let PolicySetup { role, sizes, given, params, .. } = &self.setup;
        self.dqn.get_or_insert_with(|| dqn_of_flow(cx, *role, sizes, given.weights(), params))
    }

    /// Completes the tuple in progress, if there is one, and stores it.
    fn keep(&mut self, view_at: super::Moment, reward: f32) {
        let (Some(dqn), Some(state), Some(action)) = (&mut self.dqn, &self.chain.state, self.action) else {
            return;
        };
        let experience = Experience { state, action, reward, next_state: &self.state };
        self.setup.params.remember(dqn, &experience);
        self.chain.stored(view_at);
    }

    /// A value of the last learning step; NaN before the first step, and once the network has diverged.
    fn learned(&self, value: fn(&Learned) -> f32) -> f64 {
        let value = self.dqn.as_ref().and_then(Dqn::last).map_or(f32::NAN, |learned| value(&learned));
        if value.is_finite() { f64::from(value) } else { f64::NAN }
    }

    fn learns(&self) -> bool {
        self.setup.role == PolicyRole::Learn
    }

    fn hold_against_last_rtt(&mut self, view: &View) {
        if self.setup.tuples.blamed == Blamed::LostWindow {
            let tuples = self.chain.of_last_rtt(view.at);
            if let Some(dqn) = &mut self.dqn {
                dqn.reward_again(tuples, LOSS);
            }
        }
    }
}

impl Policy for DqnPolicy {
    const PROBES: &'static [Probe<Self>] = &[
        ("reward", |policy| f64::from(policy.reward)),
        ("replay_tuples", |policy| policy.dqn.as_ref().map_or(0.0, |dqn| dqn.replay().len() as f64)),
        ("loss", |policy| policy.learned(|learned| learned.loss)),
        ("mean_q", |policy| policy.learned(|learned| learned.mean_q)),
    ];
    const SEES: bool = true;

    fn watch(&mut self, _cx: &mut Context, view: &View) {
        self.scaler.scale(view.features, &mut self.state);
        self.reward = self.setup.reward.at_ack(view);
        if !self.learns() || self.chain.per_decision() || self.action.is_none() {
            return;
        }
        if self.chain.state.is_none() {
            self.chain.begin(&self.state, view);
        } else if self.chain.ends_at_ack(view) {
            self.keep(view.at, self.reward);
            self.chain.begin(&self.state, view);
        }
    }

    fn congestion(&mut self, _cx: &mut Context, view: &View, event: Event) {
        self.setup.reward.at_congestion(view);
        let punished = self.setup.punished.includes(event);
        if punished {
            (self.lost, self.reward) = (true, LOSS);
        }
        if !self.learns() {
            return;
        }
        if punished {
            self.scaler.scale(view.features, &mut self.state);
            self.hold_against_last_rtt(view);
        }
        if !self.chain.per_decision() {
            if punished {
                self.keep(view.at, LOSS);
            }
            // What happens between a loss and the next ACK in congestion avoidance does not result from an action.
            self.chain.state = None;
        }
    }

    fn choose(&mut self, cx: &mut Context, _actions: u32) -> Option<u32> {
        self.shown = if std::mem::take(&mut self.lost) { LOSS } else { self.reward };
        if self.setup.role == PolicyRole::Outside {
            return None;
        }
        self.dqn(cx);
        if self.learns() && self.chain.per_decision() {
            let at = super::Moment { now: cx.facts.now, rtt: cx.facts.rtt.latest, ..Default::default() };
            self.keep(at, self.shown);
            self.chain.begin_at(&self.state);
        }
        let learns = self.learns() && self.setup.params.learns_at_decision();
        let state = std::mem::take(&mut self.state);
        let dqn = self.dqn(cx);
        let action = dqn.choose(&state);
        if learns {
            dqn.learn();
        }
        self.state = state;
        self.action = Some(action);
        Some(action)
    }

    fn observe(&self, observation: &mut [f32]) -> f32 {
        observation.copy_from_slice(&self.state);
        self.shown
    }

    fn observe_end(&self, observation: &mut [f32]) -> f32 {
        observation.copy_from_slice(&self.state);
        if self.lost { LOSS } else { self.reward }
    }

    fn learning(&self) -> Option<&dyn Learning> {
        Some(self)
    }
}

impl Learning for DqnPolicy {
    fn weights(&self) -> Option<Weights> {
        let inputs = self.setup.tuples.state.inputs(self.setup.features)?;
        Some(Weights { network: self.dqn.as_ref()?.network().clone(), inputs })
    }
}
