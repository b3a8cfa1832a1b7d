//! Environments for agents outside: which there are, what their episodes are drawn from, and how one is played, alone,
//! many at a time, or by a DQN that learns.

mod checkpoint;
mod course;
mod environments;
mod episode;
mod fleet;
mod greedy_policy;
mod kernel;
mod link;
mod player;
mod stage;
mod trainer;

pub use checkpoint::Checkpoint;
pub use course::{AlgorithmFailure, Course, HashedFile, World};
pub use environments::{ENVIRONMENTS, Environment, RANGES, Range, catalogue, find};
pub use episode::{End, Episode, Info, Step};
pub use fleet::{Fleet, StepResult};
pub use greedy_policy::GreedyPolicy;
pub use kernel::{Job, Launch, Process};
pub use link::DURATION;
pub use player::{Mark, Played, Player};
pub use trainer::{EpisodeReward, Trainer};
