//! A DQN that learns in an environment, over as many episodes as it takes; its ring of experiences outlives them.

use super::Player;
use cwndlab_cc::decisions::{DqnParams, Weights, sizes};
use cwndlab_cc::params::{Parameters, Value};
use cwndlab_learn::dqn::{Dqn, Experience};
use cwndlab_learn::{Mlp, Rng};

/// One episode that was played to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpisodeReward {
    /// Its seed.
    pub seed: u64,
    /// Its decisions.
    pub decisions: u64,
    /// Their mean reward.
    pub mean_reward: f64,
}

/// What a network of an algorithm with these settings is like.
struct Shape {
    sizes: Vec<usize>,
    params: DqnParams,
    inputs: String,
}

/// Learns.
pub struct Trainer {
    player: Player,
    dqn: Dqn,
    inputs: String,
    state: Vec<f32>,
    decisions: u64,
    rewards: f64,
    /// An episode is under way.
    playing: bool,
}

impl Trainer {
    /// A learner with random weights, or with given ones.
    ///
    /// # Errors
    /// The weights do not suit the environment, or its scenario has mistakes.
    pub fn new(mut player: Player, seed: u64, given: Option<Weights>) -> Result<Self, String> {
        player.reset(Some(seed))?;
        let Shape { sizes, params, inputs } = shape(&player)?;
        let mut rng = Rng::named(seed, "train");
        let fresh = given.is_none();
        let network = match given {
            None => Mlp::random(&sizes, &mut rng),
            Some(given) if given.network.sizes() != sizes => {
                let shown =
                    |sizes: &[usize]| sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("-");
                let (found, needed) = (shown(given.network.sizes()), shown(&sizes));
                return Err(format!("it holds a network of {found}; the environment needs one of {needed}"));
            }
            Some(given) if given.inputs != inputs => {
                return Err(format!("it takes in `{}`; the environment gives `{inputs}`", given.inputs));
            }
            Some(given) => given.network,
        };
        let dqn = Dqn::new(params.config(), network, fresh, rng);
        let state = player.observation().to_vec();
        Ok(Self { player, dqn, inputs, state, decisions: 0, rewards: 0.0, playing: true })
    }

    /// Makes so many decisions, and learns from each; the episodes that ended.
    ///
    /// # Errors
    /// A run failed.
    pub fn train(&mut self, decisions: u64) -> Result<Vec<EpisodeReward>, String> {
        let mut ended = Vec::new();
        for _ in 0..decisions {
            if !self.playing {
                self.player.reset(None)?;
                self.state.copy_from_slice(self.player.observation());
                self.playing = true;
            }
            let action = self.dqn.choose(&self.state);
            let step = self.player.step(action)?;
            let next_state = self.player.observation();
            self.dqn.remember(&Experience { state: &self.state, action, reward: step.reward, next_state });
            self.dqn.learn();
            self.state.copy_from_slice(next_state);
            self.decisions += 1;
            self.rewards += f64::from(step.reward);
            if step.end.is_some() {
                ended.push(self.end_episode());
            }
        }
        Ok(ended)
    }

    fn end_episode(&mut self) -> EpisodeReward {
        self.playing = false;
        let decisions = std::mem::take(&mut self.decisions);
        let mean_reward = std::mem::take(&mut self.rewards) / decisions as f64;
        EpisodeReward { seed: self.player.seed(), decisions, mean_reward }
    }

    /// What was learned so far.
    #[must_use]
    pub fn weights(&self) -> Weights {
        Weights { network: self.dqn.network().clone(), inputs: self.inputs.clone() }
    }
}

/// The network that the scenario's settings ask for.
fn shape(player: &Player) -> Result<Shape, String> {
    let course = player.course();
    let settings = course.settings(player.seed())?;
    let count = |name: &str| {
        let set = settings.iter().find(|(key, _)| key == name);
        let declared = course.parameter(name);
        match set.map(|(_, value)| value).or(declared.as_ref()) {
            Some(Value::Count(count)) => *count,
            _ => 0,
        }
    };
    let (observation, actions) = course.spaces().unwrap_or_default();
    let inputs = course.inputs()?.ok_or_else(|| {
        "a state that is scaled by what was seen can be kept in no file; take another `state`".to_owned()
    })?;
    Ok(Shape {
        sizes: sizes(observation, count("layers"), count("nodes"), actions),
        params: DqnParams::with(&settings),
        inputs,
    })
}
