//! A deep Q-network that learns while it acts (Mnih et al. 2015): epsilon-greedy actions, a ring of
//! experiences, and learning steps on random batches from the ring.

mod explore;
mod replay;
mod state;

pub use replay::{Experience, Replay};
pub use state::DqnState;

use crate::Rng;
use crate::net::{Adam, AdamConfig, Batch, Evaluation, Loss, Mlp, argmax};
use explore::Explorer;

/// The settings; the caller supplies the defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct DqnConfig {
    /// Weight of the next state's value.
    pub discount: f32,
    /// Adam's step size.
    pub learning_rate: f64,
    /// Experiences per learning step.
    pub batch: usize,
    /// Experiences that the ring holds.
    pub replay_capacity: usize,
    /// Experiences that must be stored before learning starts.
    pub warmup: u64,
    /// Learning steps between copies to the target network; 1 amounts to having no target network.
    pub target_sync: u64,
    /// The share of each hidden layer that a learning step leaves out.
    pub dropout: f64,
    /// The same share is left out while acting, too.
    pub dropout_acting: bool,
    /// The loss function.
    pub loss: Loss,
    /// The online network chooses the next action that the target network values (van Hasselt et al. 2016).
    pub double: bool,
    /// Probability of a random action.
    pub epsilon: f64,
    /// Number of decisions over which that probability falls from 1 to epsilon.
    pub epsilon_decay: u64,
}

/// The results of the last learning step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// Mean loss of the batch.
    pub loss: f32,
    /// Mean Q-value of the actions taken in the batch.
    pub mean_q: f32,
}

/// A learner, or a player of fixed weights, whose `learn` is never called.
#[derive(Clone, Debug)]
pub struct Dqn {
    online: Mlp,
    evaluation: Evaluation,
    explorer: Explorer,
    replay: Replay,
    config: DqnConfig,
    rng: Rng,
    school: Learner,
}

/// What only learning needs.
#[derive(Clone, Debug)]
struct Learner {
    target: Mlp,
    adam: Adam,
    /// The batch's states, and those that followed.
    before: Batch,
    after: Batch,
    drawn: Vec<usize>,
    /// The target value of each experience of the batch: its reward plus the discounted value of the next state.
    wanted: Vec<f32>,
    steps: u64,
    last: Option<Learned>,
}

impl Dqn {
    /// A learner that begins with these weights; a `fresh` one acts at random until its warm-up is over.
    #[must_use]
    pub fn new(config: DqnConfig, weights: Mlp, fresh: bool, rng: Rng) -> Self {
        let school = Learner {
            target: weights.clone(),
            adam: Adam::new(&weights, AdamConfig::with_rate(config.learning_rate)),
            before: Batch::new(&weights, config.batch),
            after: Batch::new(&weights, config.batch),
            drawn: vec![0; config.batch],
            wanted: vec![0.0; config.batch],
            steps: 0,
            last: None,
        };
        Self {
            evaluation: Evaluation::new(&weights),
            explorer: Explorer::new(
                config.epsilon,
                config.epsilon_decay,
                if fresh { config.warmup } else { 0 },
            ),
            replay: Replay::new(weights.inputs(), config.replay_capacity),
            online: weights,
            config,
            rng,
            school,
        }
    }

    /// The network as it is now.
    #[must_use]
    pub fn network(&self) -> &Mlp {
        &self.online
    }

    /// The experiences that are held.
    #[must_use]
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// The results of the last learning step.
    #[must_use]
    pub fn last(&self) -> Option<Learned> {
        self.school.last
    }

    /// An action for this state.
    pub fn choose(&mut self, state: &[f32]) -> u32 {
        if self.explorer.explores(self.replay.made(), &mut self.rng) {
            return self.rng.below(self.online.outputs() as u64) as u32;
        }
        let outputs = if self.config.dropout_acting {
            let (dropout, rng) = (self.config.dropout, &mut self.rng);
            self.evaluation.outputs_with(&self.online, state, |values| drop_out(values, dropout, rng))
        } else {
            self.evaluation.outputs(&self.online, state)
        };
        argmax(outputs.iter().copied()) as u32
    }

    /// Keeps an experience.
    pub fn remember(&mut self, experience: &Experience) {
        self.replay.push(experience);
    }

    /// Gives the last n experiences this reward.
    pub fn reward_again(&mut self, experiences: usize, reward: f32) {
        self.replay.reward_again(experiences, reward);
    }

    /// Takes one learning step, once there are enough experiences.
    pub fn learn(&mut self) {
        if self.replay.made() < self.config.warmup.max(1) {
            return;
        }
        let (dropout, rng) = (self.config.dropout, &mut self.rng);
        self.school.draw(&self.replay, rng);
        self.school
            .step(&mut self.online, &self.replay, &self.config, |values| drop_out(values, dropout, rng));
    }
}

impl Learner {
    /// Draws a batch from the ring, uniformly and with replacement.
    fn draw(&mut self, replay: &Replay, rng: &mut Rng) {
        self.drawn.fill_with(|| rng.below(replay.len() as u64) as usize);
    }

    /// One step on the batch that was drawn.
    fn step(
        &mut self,
        online: &mut Mlp,
        replay: &Replay,
        config: &DqnConfig,
        dropout: impl FnMut(&mut [f32]),
    ) {
        for (sample, index) in self.drawn.iter().enumerate() {
            self.before.set_input(sample, replay.state(*index));
            self.after.set_input(sample, replay.next_state(*index));
        }
        self.value_next_states(online, replay, config);
        self.before.forward_with(online, dropout);
        self.last = Some(self.set_slopes(online, replay, config.loss));
        self.before.step(online, kept_scale(config.dropout), &mut self.adam);
        self.steps += 1;
        if self.steps.is_multiple_of(config.target_sync.max(1)) {
            self.target.copy_from(online);
        }
    }

    /// Sets each target value to the reward plus the discounted value of the best next action: Mnih et al.
    /// 2015 algorithm 1; double: van Hasselt et al. 2016 equation (4).
    fn value_next_states(&mut self, online: &Mlp, replay: &Replay, config: &DqnConfig) {
        let mut chosen = Vec::new();
        if config.double {
            self.after.forward(online);
            chosen.extend((0..self.drawn.len()).map(|sample| argmax(self.after.outputs(online, sample))));
        }
        self.after.forward(&self.target);
        for (sample, index) in self.drawn.iter().enumerate() {
            let mut values = self.after.outputs(&self.target, sample);
            let next = match chosen.get(sample) {
                Some(&action) => values.nth(action).unwrap_or(f32::NAN),
                None => values.fold(f32::NEG_INFINITY, f32::max),
            };
            self.wanted[sample] = replay.reward(*index) + config.discount * next;
        }
    }

    fn set_slopes(&mut self, online: &Mlp, replay: &Replay, loss: Loss) -> Learned {
        let share = 1.0 / self.drawn.len() as f32;
        let mut learned = Learned { loss: 0.0, mean_q: 0.0 };
        for (sample, index) in self.drawn.iter().enumerate() {
            let action = replay.action(*index) as usize;
            let value = self.before.outputs(online, sample).nth(action).unwrap_or(f32::NAN);
            let (cost, slope) = loss.of(value - self.wanted[sample]);
            learned.loss += cost * share;
            learned.mean_q += value * share;
            let slopes =
                (0..online.outputs()).map(|output| if output == action { slope * share } else { 0.0 });
            self.before.set_slopes(sample, slopes);
        }
        learned
    }
}

/// Drops a share of the values and scales up the rest to make up for it (Srivastava et al. 2014, inverted).
fn drop_out(values: &mut [f32], share: f64, rng: &mut Rng) {
    if share == 0.0 {
        return;
    }
    let (below, scale) = ((share * 4_294_967_296.0) as u32, kept_scale(share).to_bits());
    // All draws of a chunk come first: the loop over its values then runs on vectors, with no branch to mispredict.
    let mut halves = [0; 2048];
    for chunk in values.chunks_mut(halves.len()) {
        rng.fill(&mut halves[..chunk.len()]);
        for (value, half) in chunk.iter_mut().zip(&halves) {
            // Masks all bits of the factor or none.
            *value *= f32::from_bits(scale & u32::from(*half < below).wrapping_sub(1));
        }
    }
}

fn kept_scale(dropout: f64) -> f32 {
    (1.0 / (1.0 - dropout)) as f32
}

#[cfg(test)]
mod pytorch;
#[cfg(test)]
mod tests;
