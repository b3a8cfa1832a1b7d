//! A DQN that learns in an environment over any number of episodes; its ring of experiences outlives them.

use super::{Checkpoint, Player, Step};
use cwndlab_cc::Spaces;
use cwndlab_cc::decisions::{Blamed, DqnParams, TupleRule, Weights, sizes};
use cwndlab_cc::params::{Parameter, Parameters, Value};
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

/// The network that an algorithm's settings ask for.
struct Shape {
    sizes: Vec<usize>,
    params: DqnParams,
    inputs: String,
}

/// A DQN that learns by playing.
pub struct Trainer {
    player: Player,
    dqn: Dqn,
    params: DqnParams,
    inputs: String,
    state: Vec<f32>,
    seed: u64,
    /// The sum of the episode's rewards.
    rewards: f64,
    /// Whether an episode is in progress.
    playing: bool,
}

/// The random stream of a learner.
const STREAM: &str = "train";

impl Trainer {
    /// A learner with random weights, or with given ones.
    ///
    /// # Errors
    /// The weights do not fit the environment, or its scenario has mistakes.
    pub fn new(mut player: Player, seed: u64, given: Option<Weights>) -> Result<Self, String> {
        player.reset(Some(seed))?;
        let Shape { sizes, params, inputs } = shape(&player)?;
        let mut rng = Rng::named(seed, STREAM);
        let fresh = given.is_none();
        let network = match given {
            None => Mlp::random(&sizes, &mut rng),
            Some(given) if given.network.sizes() != sizes => {
                let shown =
                    |sizes: &[usize]| sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("-");
                let (found, needed) = (shown(given.network.sizes()), shown(&sizes));
                return Err(format!("expected a network of {needed}, found {found}"));
            }
            Some(given) if given.inputs != inputs => {
                return Err(format!(
                    "expected a network with the inputs `{inputs}`, found `{}`",
                    given.inputs
                ));
            }
            Some(given) => given.network,
        };
        let dqn = Dqn::new(params.config(), network, fresh, rng);
        let state = player.observation().to_vec();
        Ok(Self { player, dqn, params, inputs, state, seed, rewards: 0.0, playing: true })
    }

    /// A learner that resumes from a checkpoint as if it had never stopped.
    ///
    /// # Errors
    /// The checkpoint belongs to another training.
    pub fn resumed(player: Player, seed: u64, checkpoint: Checkpoint) -> Result<Self, String> {
        let mut trainer = Self::new(player, seed, None)?;
        let other =
            "it belongs to another training: environment, scenario, flow, settings and seed must be the same";
        if checkpoint.training != trainer.identity() {
            return Err(other.to_owned());
        }
        let restored = trainer.dqn.restored(checkpoint.dqn, Rng::named(seed, STREAM));
        trainer.dqn = restored.ok_or(other)?;
        trainer.player.reset(Some(checkpoint.episode))?;
        for action in checkpoint.actions {
            trainer.act(action)?;
        }
        trainer.state.copy_from_slice(trainer.player.observation());
        trainer.player.follow(seed, checkpoint.seeds);
        Ok(trainer)
    }

    /// A checkpoint from which another learner can resume.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        let mark = self.player.mark();
        Checkpoint {
            training: self.identity(),
            dqn: self.dqn.state(),
            episode: mark.seed,
            actions: self.player.actions().iter().map(|action| u32::from(*action)).collect(),
            seeds: mark.drawn,
        }
    }

    fn identity(&self) -> String {
        format!("{} seed {}", self.player.course().identity(), self.seed)
    }

    /// Makes this many decisions and learns from each; returns the episodes that ended.
    ///
    /// # Errors
    /// A run failed.
    pub fn train(&mut self, decisions: u64) -> Result<Vec<EpisodeReward>, String> {
        let mut ended = Vec::new();
        for _ in 0..decisions {
            if !self.playing {
                self.player.reset(None)?;
                self.state.copy_from_slice(self.player.observation());
                self.rewards = 0.0;
                self.playing = true;
            }
            let action = self.dqn.choose(&self.state);
            let step = self.act(action)?;
            let next_state = self.player.observation();
            let experience = Experience { state: &self.state, action, reward: step.reward, next_state };
            self.params.remember(&mut self.dqn, &experience);
            if self.params.learns_at_decision() {
                self.dqn.learn();
            }
            self.state.copy_from_slice(next_state);
            if step.end.is_some() {
                let decisions = self.player.actions().len() as u64;
                let mean_reward = self.rewards / decisions as f64;
                ended.push(EpisodeReward { seed: self.player.seed(), decisions, mean_reward });
            }
        }
        Ok(ended)
    }

    fn act(&mut self, action: u32) -> Result<Step, String> {
        let (step, _) = self.player.step(action)?;
        self.rewards += f64::from(step.reward);
        self.playing = step.end.is_none();
        Ok(step)
    }

    /// The decisions that it learned from, including those before the checkpoint.
    #[must_use]
    pub fn decisions(&self) -> u64 {
        self.dqn.replay().made()
    }

    /// The weights learned so far.
    #[must_use]
    pub fn weights(&self) -> Weights {
        Weights { network: self.dqn.network().clone(), inputs: self.inputs.clone() }
    }
}

/// Refuses settings that training cannot follow: it sees the flow only at its decisions, so it has no tuples
/// of the ACKs between them and blames its last action.
fn refuse_other_tuples(settings: &[(String, Value)]) -> Result<(), String> {
    for (name, done) in
        [("tuples", TupleRule::PerDecision.to_value()), ("blamed", Blamed::LastAction.to_value())]
    {
        let set = settings.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        if let Some(found) = set.filter(|found| **found != done) {
            return Err(format!(
                "`{name}`: expected {done}, found {found}; a training learns only from decisions and their rewards, \
                 so another value has no effect"
            ));
        }
    }
    Ok(())
}

/// The network that the scenario's settings ask for.
fn shape(player: &Player) -> Result<Shape, String> {
    let course = player.course();
    let settings = course.settings(player.seed())?;
    refuse_other_tuples(&settings)?;
    let count = |name: &str| {
        let set = settings.iter().find(|(key, _)| key == name);
        let declared = course.parameter(name);
        match set.map(|(_, value)| value).or(declared.as_ref()) {
            Some(Value::Count(count)) => *count,
            _ => 0,
        }
    };
    let Spaces { observation, actions } = course.spaces().unwrap_or_default();
    let inputs = course.inputs()?.ok_or_else(|| {
        "weights learned with running normalisation cannot be saved; choose another `state`".to_owned()
    })?;
    Ok(Shape {
        sizes: sizes(observation, count("layers"), count("nodes"), actions),
        params: DqnParams::with(&settings),
        inputs,
    })
}
