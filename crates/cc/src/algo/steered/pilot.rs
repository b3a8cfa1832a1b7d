//! The agent that steers: an external one, or a deep Q-network that remembers each decision and its outcome.

use super::SteeredParams;
use super::sight::{STATE, Sight, inputs};
use crate::contract::Context;
use crate::decisions::{DqnParams, GivenWeights, PolicyRole, dqn_of_flow};
use cwndlab_learn::dqn::{Dqn, Experience};
use cwndlab_learn::{Learning, Weights};

/// A decision: the state, and the action taken.
type Choice = ([f32; STATE.len()], u32);

/// Decides, or leaves the decision to an external agent.
pub(super) struct Pilot {
    role: PolicyRole,
    sizes: Vec<usize>,
    given: GivenWeights,
    params: DqnParams,
    /// Made at the first decision, from the flow's stream of random numbers.
    dqn: Option<Dqn>,
    last: Option<Choice>,
}

impl Pilot {
    pub(super) fn new(params: &SteeredParams, dqn: DqnParams) -> Self {
        Self {
            role: params.role,
            sizes: params.network_sizes(),
            given: params.weights.clone(),
            params: dqn,
            dqn: None,
            last: None,
        }
    }

    /// The action for the current state; `None` leaves the decision to an external agent.
    pub(super) fn choose(&mut self, cx: &mut Context, sight: &Sight) -> Option<u32> {
        if self.role == PolicyRole::Outside {
            return None;
        }
        let learns = self.role == PolicyRole::Learn;
        let dqn = self.dqn.get_or_insert_with(|| {
            dqn_of_flow(cx, self.role, &self.sizes, self.given.weights(), &self.params)
        });
        let state = sight.state();
        if let (true, Some((before, action))) = (learns, self.last) {
            let reward = sight.reward();
            let experience = Experience { state: &before, action, reward, next_state: state };
            self.params.remember(dqn, &experience);
        }
        let action = dqn.choose(state);
        if learns && self.params.learns_at_decision() {
            dqn.learn();
        }
        self.last = Some((*state, action));
        Some(action)
    }
}

impl Learning for Pilot {
    fn weights(&self) -> Option<Weights> {
        Some(Weights { network: self.dqn.as_ref()?.network().clone(), inputs: inputs() })
    }
}
