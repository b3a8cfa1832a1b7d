//! The settings of a DQN that decides: the papers' values, and choices where the papers leave a value open.

use super::state::Scaling;
use super::tuples::{Blamed, TupleRule};
use crate::contract::Context;
use crate::params::{NamedFile, Parameter};
use cwndlab_learn::dqn::{Dqn, DqnConfig, Experience};
use cwndlab_learn::net::Loss;
use cwndlab_learn::{Mlp, Rng, Weights};

crate::words! {
    /// Who decides, and whether the network learns.
    pub enum PolicyRole {
        /// The network, which learns while it decides.
        Learn = "learn",
        /// The network with the weights that it was given.
        Play = "play",
        /// An external agent; the run waits for it at each decision.
        Outside = "outside",
    }
}

crate::words! {
    /// What triggers a learning step.
    pub enum Train {
        /// Each decision.
        Decision = "decision",
        /// Every `train_every` tuples that are stored.
        Tuple = "tuple",
    }
}

crate::words! {
    /// The loss function.
    pub enum LossFunction {
        /// The squared error.
        Mse = "mse",
        /// Half of the squared error up to 1, linear beyond.
        Huber = "huber",
    }
}

crate::parameters! {
    /// Who decides.
    pub struct PolicyParams {
        role: PolicyRole = PolicyRole::Learn, "policy", Allowed::Word(PolicyRole::WORDS), "",
            "a network that learns, one that plays given weights, or an external agent",
            "Seo and Cho 2024 section III: it learns in real time";
    }
}

crate::parameters! {
    /// What it learns from: the tuples, and the state in them.
    pub struct TupleParams {
        tuples: TupleRule = TupleRule::SinceCongestion, "tuples", Allowed::Word(TupleRule::WORDS), "",
            "when a tuple is stored: at an ACK, if a minimum RTT has passed since the last congestion or the last tuple \
             or if the window has changed; at each decision; or once a minimum RTT",
            "Seo and Cho 2024 section 3.2.1: T, the time since the last congestion, above the minimum RTT, or another cwnd";
        blamed: Blamed = Blamed::LastAction, "blamed", Allowed::Word(Blamed::WORDS), "",
            "which tuples get -1 for a loss: that of the last action, or all of the last RTT too",
            "Seo and Cho 2024 equation (6): when packet loss occurs; a tuple has one action";
        state: Scaling = Scaling::Fixed, "state", Allowed::Word(Scaling::WORDS), "",
            "how the state is scaled: windows by 1000 segments, the RTT by 100 ms, T by 1000 ms; not at all; or to mean 0 \
             and variance 1",
            "decided: round values of the size that occurs; Seo et al. name no scale (raw)";
    }
}

crate::parameters! {
    /// How it learns.
    pub struct DqnParams {
        epsilon: f64 = 0.015, "epsilon", Allowed::Number(0.0, 1.0), "",
            "probability of a random action",
            "Seo and Cho 2024 equation (2), Seo et al. 2022 section II.A";
        epsilon_decay: u64 = 0, "epsilon_decay", Allowed::Count(0, 1_000_000_000), "decisions",
            "number of decisions after the warm-up in which that probability falls from 1 to epsilon",
            "Seo and Cho 2024 equation (2) has a constant";
        warmup: u64 = 2000, "warmup", Allowed::Count(0, 1_000_000_000), "tuples",
            "number of tuples stored before learning starts; until then a fresh network acts at random",
            "Seo and Cho 2024 section 3.1.1 (2000)";
        discount: f64 = 0.9, "gamma", Allowed::Number(0.0, 1.0), "",
            "weight of the next state's value",
            "decided: Seo et al. give none; 0.8 in ns3-ai's TCP example, 0.99 in Mnih et al. 2015";
        learning_rate: f64 = 1e-4, "learning_rate", Allowed::Number(0.0, 1.0), "",
            "Adam's step size",
            "Seo et al. give none; ns3-ai's TCP example has Adam with this";
        batch: u64 = 32, "batch", Allowed::Count(1, 1024), "tuples",
            "tuples per learning step",
            "Seo et al. give none; 32 in ns3-ai's TCP example and in Mnih et al. 2015";
        train: Train = Train::Decision, "train", Allowed::Word(Train::WORDS), "",
            "what is followed by a learning step: each decision, or every train_every-th tuple stored",
            "Seo and Cho 2024 section 4.1: state, learning, action, and again; ns3-ai's TCP example learns after each tuple (tuple)";
        train_every: u64 = 1, "train_every", Allowed::Count(1, 1_000_000_000), "tuples",
            "with train = tuple: tuples stored per learning step",
            "ns3-ai's TCP example: 1";
        replay: u64 = 2000, "replay", Allowed::Count(1, 10_000_000), "tuples",
            "number of tuples kept",
            "Seo et al. give none; 2000 in ns3-ai's TCP example, which waits for as many";
        target_sync: u64 = 100, "target_sync", Allowed::Count(1, 1_000_000_000), "steps",
            "learning steps between copies to the target network; 1: no target network",
            "Seo et al. name none; 100 in ns3-ai's TCP example; Mnih et al. 2013 have no target network (1)";
        dropout: f64 = 0.1, "dropout", Allowed::Number(0.0, 0.9), "",
            "share of each hidden layer that a learning step leaves out",
            "Seo and Cho 2024 section 3.1.1 has dropout without a share; decided: 0.1";
        dropout_acting: bool = false, "dropout_acting", Allowed::Flag, "",
            "leave that share out at decisions, too",
            "Srivastava et al. 2014: not at test time; Seo and Cho 2024 section 3.1.1 does not say";
        loss: LossFunction = LossFunction::Mse, "loss", Allowed::Word(LossFunction::WORDS), "",
            "cost of an error",
            "Mnih et al. 2015 algorithm 1: the squared error; clipped in its methods (huber)";
        double: bool = false, "double", Allowed::Flag, "",
            "the learning network chooses the next action that the target network values",
            "van Hasselt et al. 2016; Seo et al. name plain DQN";
    }
}

impl DqnParams {
    /// Whether a learning step follows a decision.
    #[must_use]
    pub fn learns_at_decision(&self) -> bool {
        self.train == Train::Decision
    }

    /// Stores an experience, and learns if a step is due.
    pub fn remember(&self, dqn: &mut Dqn, experience: &Experience) {
        dqn.remember(experience);
        if self.train == Train::Tuple && dqn.replay().made().is_multiple_of(self.train_every) {
            dqn.learn();
        }
    }

    /// The settings in the form that the learner takes.
    #[must_use]
    pub fn config(&self) -> DqnConfig {
        DqnConfig {
            discount: self.discount as f32,
            learning_rate: self.learning_rate,
            batch: self.batch as usize,
            replay_capacity: self.replay as usize,
            warmup: self.warmup,
            target_sync: self.target_sync,
            dropout: self.dropout,
            dropout_acting: self.dropout_acting,
            loss: match self.loss {
                LossFunction::Mse => Loss::Mse,
                LossFunction::Huber => Loss::Huber,
            },
            double: self.double,
            epsilon: self.epsilon,
            epsilon_decay: self.epsilon_decay,
        }
    }
}

/// Layer sizes: inputs, equal hidden layers, outputs.
#[must_use]
pub fn sizes(inputs: usize, layers: u64, nodes: u64, outputs: u32) -> Vec<usize> {
    let hidden = (0..layers).map(|_| nodes as usize);
    std::iter::once(inputs).chain(hidden).chain(std::iter::once(outputs as usize)).collect()
}

/// The learner or player of a flow, seeded from the flow's random stream.
#[must_use]
pub fn dqn_of_flow(
    cx: &mut Context,
    role: PolicyRole,
    sizes: &[usize],
    given: Option<&Weights>,
    params: &DqnParams,
) -> Dqn {
    // It has its own random stream, so that an external agent can have the same one.
    let mut rng = Rng::named(cx.rng.bits(), "agent");
    let fresh = given.is_none() && role == PolicyRole::Learn;
    let weights = given.map_or_else(|| Mlp::random(sizes, &mut rng), |given| given.network.clone());
    Dqn::new(params.config(), weights, fresh, rng)
}

/// Checks that given weights suit a network of these sizes and inputs; `inputs` is `None` if the inputs'
/// scales keep changing.
///
/// # Errors
/// Why they do not suit, as the end of a sentence.
pub fn suit(
    file: &NamedFile,
    role: PolicyRole,
    sizes: &[usize],
    inputs: Option<String>,
) -> Result<(), String> {
    let given: &Weights = file.content().ok_or("it holds no network")?;
    if role == PolicyRole::Outside {
        return Err(format!(
            "an external agent has its own weights (policy = {})",
            PolicyRole::Outside.to_value()
        ));
    }
    if given.network.sizes() != sizes {
        let (found, needed) = (shown(given.network.sizes()), shown(sizes));
        return Err(format!("expected a network of {needed}, found {found}"));
    }
    match inputs {
        Some(inputs) if given.inputs == inputs => Ok(()),
        Some(inputs) => {
            Err(format!("expected a network with the inputs `{inputs}`, found `{}`", given.inputs))
        }
        None => {
            Err("running normalisation cannot be used with saved weights; choose another `state`".to_owned())
        }
    }
}

fn shown(sizes: &[usize]) -> String {
    sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("-")
}
