//! A learner's saved state, from which it continues as if it had never stopped.

use super::Dqn;
use crate::Rng;

/// Everything that changes while a learner runs; its configuration is not included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DqnState {
    /// Parameters of the network, and of the target network.
    pub online: Vec<f32>,
    /// See above.
    pub target: Vec<f32>,
    /// Adam's running means of the gradients, and of their squares.
    pub first_moments: Vec<f32>,
    /// See above.
    pub second_moments: Vec<f32>,
    /// Adam's decays to the power of the number of steps taken.
    pub powers: [f64; 2],
    /// Number of learning steps.
    pub steps: u64,
    /// For each experience in the ring, its state and the state that followed.
    pub states: Vec<f32>,
    /// Their actions.
    pub actions: Vec<u32>,
    /// Their rewards.
    pub rewards: Vec<f32>,
    /// Number of experiences ever stored.
    pub made: u64,
    /// Number of experiences before which all actions are random.
    pub warmup: u64,
    /// Number of decisions since then.
    pub decided: u64,
    /// Number of random numbers drawn.
    pub drawn: u64,
}

impl Dqn {
    /// The state to save.
    #[must_use]
    pub fn state(&self) -> DqnState {
        let (first, second, powers) = self.school.adam.state();
        DqnState {
            online: self.online.parameters().to_vec(),
            target: self.school.target.parameters().to_vec(),
            first_moments: first.to_vec(),
            second_moments: second.to_vec(),
            powers,
            steps: self.school.steps,
            states: self.replay.states.clone(),
            actions: self.replay.actions.clone(),
            rewards: self.replay.rewards.clone(),
            made: self.replay.made,
            warmup: self.explorer.warmup,
            decided: self.explorer.decided,
            drawn: self.rng.drawn(),
        }
    }

    /// Restores a saved state; `None` if it does not fit this learner's shape. `rng` is the saved learner's
    /// random stream from its beginning.
    #[must_use]
    pub fn restored(mut self, state: DqnState, rng: Rng) -> Option<Self> {
        let parameters = self.online.parameters().len();
        let networks = [&state.online, &state.target, &state.first_moments, &state.second_moments];
        let held = state.rewards.len();
        let fits = networks.iter().all(|values| values.len() == parameters)
            && held as u64 == state.made.min(self.replay.capacity as u64)
            && state.actions.len() == held
            && state.states.len() == 2 * held * self.replay.state_len
            && state.actions.iter().all(|action| (*action as usize) < self.online.outputs());
        if !fits {
            return None;
        }
        self.online.set_parameters(&state.online);
        self.school.target.set_parameters(&state.target);
        self.school.adam.restore(&state.first_moments, &state.second_moments, state.powers);
        self.school.steps = state.steps;
        self.replay.states = state.states;
        self.replay.actions = state.actions;
        self.replay.rewards = state.rewards;
        self.replay.made = state.made;
        self.explorer.warmup = state.warmup;
        self.explorer.decided = state.decided;
        self.rng = rng.after(state.drawn);
        Some(self)
    }
}
