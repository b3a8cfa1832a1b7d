//! Environments for external agents: their list, the ranges of their episodes, and how they run: one, many at
//! a time, or with a DQN that learns.

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
