//! The simulation: components, and the loop that runs them.

use crate::outcome::Outcome;
use crate::spec::SimSpec;
use cwndlab_cc::{Agent, Time};

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The end of the run.
    Done,
    /// The time that was asked for.
    Paused,
    /// The agent of this flow must decide: [`Sim::agent`], [`Sim::act`], then run on.
    Decision(usize),
}

/// A simulation.
pub struct Sim {}

impl Sim {
    /// Builds it; the specification has been checked.
    #[must_use]
    pub fn new(_spec: &SimSpec) -> Self {
        Self {}
    }

    /// Runs to the end or to the next decision.
    pub fn run(&mut self) -> Stop {
        Stop::Done
    }

    /// Runs until this time, the end or the next decision.
    pub fn run_until(&mut self, _until: Time) -> Stop {
        Stop::Done
    }

    /// The simulated time.
    #[must_use]
    pub fn now(&self) -> Time {
        Time::ZERO
    }

    /// The agent of a flow.
    pub fn agent(&mut self, _flow: usize) -> Option<&mut dyn Agent> {
        None
    }

    /// Gives the agent's decision.
    pub fn act(&mut self, _flow: usize, _action: u32) {}

    /// What was measured so far.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        Outcome::default()
    }
}
