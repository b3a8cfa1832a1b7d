//! One episode: a run that stops at each decision.

use super::stage::Stage;
use crate::run::Failure;
use crate::scenario::Scenario;
use cwndlab_cc::Time;
use cwndlab_sim::{Glance, SimSpec, Stop};

/// Why an episode is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All data of the agents' flows have been acknowledged.
    Terminated,
    /// Its time is up.
    Truncated,
}

/// What a flow did since its last decision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Info {
    /// Simulated time.
    pub time_s: f64,
    /// Payload delivered in order.
    pub goodput_mbps: f64,
    /// The latest RTT sample.
    pub rtt_ms: f64,
    /// The share of its packets that were retransmissions.
    pub loss: f64,
}

/// The result of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The index of the agent that this result is for.
    pub agent: usize,
    /// Its reward since its last decision.
    pub reward: f32,
    /// Whether the episode is over.
    pub end: Option<End>,
}

/// An agent's flow at its last decision.
#[derive(Clone, Copy, Default)]
struct Noted {
    at: Time,
    glance: Glance,
}

/// A run that agents steer.
pub struct Episode {
    /// The run; `None` once it has failed.
    stage: Option<Stage>,
    /// The flow of each agent, and its last noted state.
    agents: Vec<(usize, Noted)>,
    /// The index of the agent whose decision is due.
    turn: usize,
    end: Option<End>,
}

impl Episode {
    /// An episode of a run in which the flows with these names have agents.
    #[must_use]
    pub(super) fn new(stage: Stage, spec: &SimSpec, agents: &[String]) -> Self {
        let flows: Vec<String> =
            spec.flows.iter().flat_map(|flow| flow.parts()).map(|(name, _)| name).collect();
        let place = |name: &String| flows.iter().position(|flow| flow == name);
        let agents = agents.iter().filter_map(place).map(|flow| (flow, Noted::default())).collect();
        Self { stage: Some(stage), agents, turn: 0, end: None }
    }

    /// Runs to the next decision, or to the end.
    ///
    /// # Errors
    /// A controller aborted the run, the kernel failed, or the simulator has a fault.
    pub fn advance(&mut self) -> Result<(), Failure> {
        let Some(stage) = self.stage.take() else { return Ok(()) };
        let (stage, stop) = stage.run()?;
        match stop {
            Stop::Decision(flow) => {
                self.turn = self.agents.iter().position(|(agent, _)| *agent == flow).unwrap_or(self.turn);
            }
            Stop::Done | Stop::Paused => self.end = Some(End::Truncated),
        }
        let over = |(flow, _): &(usize, Noted)| stage.glance(*flow).is_some_and(|glance| glance.finished);
        if self.agents.iter().all(over) {
            self.end = Some(End::Terminated);
        }
        self.stage = Some(stage);
        Ok(())
    }

    /// The index of the agent whose turn it is.
    #[must_use]
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// Whether it is over, and why.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Fills in the observation of the agent whose turn it is.
    pub fn observe(&mut self, observation: &mut [f32]) -> Step {
        self.observe_as(self.turn, observation)
    }

    /// Like [`Episode::observe`], for any of the agents, at the end of the episode.
    pub fn observe_as(&mut self, agent: usize, observation: &mut [f32]) -> Step {
        let flow = self.agents.get(agent).map_or(usize::MAX, |(flow, _)| *flow);
        let over = self.end.is_some();
        let reward = self.stage.as_mut().and_then(|stage| stage.observe(flow, over, observation));
        // Without any decision there is nothing to reward.
        let reward = reward.unwrap_or_default();
        Step { agent, reward: if reward.is_nan() { 0.0 } else { reward }, end: self.end }
    }

    /// What an agent's flow did since the last call.
    pub fn info(&mut self, agent: usize) -> Info {
        let (Some(stage), Some((flow, noted))) = (&self.stage, self.agents.get_mut(agent)) else {
            return Info::default();
        };
        let Some(glance) = stage.glance(*flow) else { return Info::default() };
        let now = stage.now();
        let seconds = now.since(noted.at).as_secs_f64();
        let before = std::mem::replace(noted, Noted { at: now, glance }).glance;
        let share = |part: u64, whole: u64| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
        let bits = 8 * (glance.delivered_bytes - before.delivered_bytes);
        Info {
            time_s: now.since(Time::ZERO).as_secs_f64(),
            goodput_mbps: if seconds > 0.0 { bits as f64 / seconds / 1e6 } else { 0.0 },
            rtt_ms: glance.rtt.as_millis_f64(),
            loss: share(
                glance.retransmitted_packets - before.retransmitted_packets,
                glance.sent_packets - before.sent_packets,
            ),
        }
    }

    /// Takes the action of the agent whose turn it is; it takes effect after the flow's decision delay.
    pub fn act(&mut self, action: u32) {
        if let (Some(stage), Some((flow, _))) = (&mut self.stage, self.agents.get(self.turn)) {
            stage.act(*flow, action);
        }
    }

    /// Whether its measures are available: a kernel reports them only after the whole run.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.end.is_some() || !matches!(self.stage, Some(Stage::Linux(_)))
    }

    /// The measures of the run, whose scenario is given, as JSON.
    ///
    /// # Errors
    /// The run has failed.
    pub fn measures(self, scenario: &Scenario) -> Result<String, String> {
        self.stage.ok_or("the run has failed")?.measures(scenario)
    }
}
