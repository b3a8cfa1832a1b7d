//! The backend of an episode: the simulator or a kernel.

use super::kernel::KernelRun;
use crate::measures::{OverTime, outcome_json};
use crate::run::{Failure, guarded};
use crate::scenario::Scenario;
use cwndlab_cc::Time;
use cwndlab_sim::{Glance, Sim, Stop};

/// A run that stops at each decision. Flows are numbered; a connection's subflows are numbered in its place.
pub(super) enum Stage {
    /// A run in the simulator, with its seed.
    Sim(Box<Sim>, u64),
    /// A run in a kernel.
    Linux(Box<KernelRun>),
}

impl Stage {
    /// Runs to the next decision or to the end. After an error the run cannot continue.
    pub(super) fn run(self) -> Result<(Self, Stop), Failure> {
        match self {
            Stage::Sim(mut sim, seed) => guarded(seed, move || {
                let stop = sim.run();
                (Stage::Sim(sim, seed), stop)
            }),
            Stage::Linux(mut kernel) => {
                let stop = kernel.run()?;
                Ok((Stage::Linux(kernel), stop))
            }
        }
    }

    /// The time of the last decision, or of the end.
    pub(super) fn now(&self) -> Time {
        match self {
            Stage::Sim(sim, _) => sim.now(),
            Stage::Linux(kernel) => kernel.now(),
        }
    }

    /// What a flow has done so far. A kernel reports this for an agent at its decisions, and for all agents at the end.
    pub(super) fn glance(&self, flow: usize) -> Option<Glance> {
        match self {
            Stage::Sim(sim, _) => sim.glance(flow),
            Stage::Linux(kernel) => kernel.seen(flow).map(|seen| seen.glance),
        }
    }

    /// Fills in the observation of a flow's agent; returns the reward since its last decision. `over`: none follows.
    pub(super) fn observe(&mut self, flow: usize, over: bool, observation: &mut [f32]) -> Option<f32> {
        match self {
            Stage::Sim(sim, _) => {
                let agent = sim.agent(flow)?;
                Some(if over { agent.observe_end(observation) } else { agent.observe(observation) })
            }
            Stage::Linux(kernel) => {
                let seen = kernel.seen(flow)?;
                observation.iter_mut().zip(&seen.observation).for_each(|(to, from)| *to = *from);
                Some(seen.reward)
            }
        }
    }

    /// Takes the action of the agent that must decide.
    pub(super) fn act(&mut self, flow: usize, action: u32) {
        match self {
            Stage::Sim(sim, _) => sim.act(flow, action),
            Stage::Linux(kernel) => kernel.act(action),
        }
    }

    /// Ends the run and returns its measures as JSON.
    pub(super) fn measures(self, scenario: &Scenario) -> Result<String, String> {
        match self {
            Stage::Sim(sim, seed) => {
                let outcome = sim.outcome();
                Ok(outcome_json(&outcome, &OverTime::of(scenario, seed, &outcome)).to_string())
            }
            Stage::Linux(kernel) => kernel.measures(),
        }
    }
}
