//! One episode: a run that stops at each decision.

use super::stage::Stage;
use crate::run::Failure;
use crate::scenario::Scenario;
use cwndlab_cc::Time;
use cwndlab_sim::{Glance, SimSpec, Stop};

/// Why an episode is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The flows of its agents have sent all they had.
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
    /// The share of its packets that were sent again.
    pub loss: f64,
}

/// What a decision led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Whose turn it is, by its place among the agents.
    pub agent: usize,
    /// Its reward since its last decision.
    pub reward: f32,
    /// Whether the episode is over.
    pub end: Option<End>,
}

/// What is noted of an agent's flow at its decisions.
#[derive(Clone, Copy, Default)]
struct Noted {
    at: Time,
    glance: Glance,
}

/// A run that agents steer.
pub struct Episode {
    /// `None` once it has failed.
    stage: Option<Stage>,
    /// The flows of the agents, and what was last seen of each.
    agents: Vec<(usize, Noted)>,
    /// Whose decision is due.
    turn: usize,
    end: Option<End>,
}

impl Episode {
    /// Of a run in which the flows of these names have agents.
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
    /// A controller broke the run off, the kernel failed, or the simulator has a fault.
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

    /// Whose turn it is, by its place among the agents.
    #[must_use]
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// Whether it is over, and why.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Fills in what the agent whose turn it is sees.
    pub fn observe(&mut self, observation: &mut [f32]) -> Step {
        self.observe_as(self.turn, observation)
    }

    /// The same for any of the agents, at the end of the episode.
    pub fn observe_as(&mut self, agent: usize, observation: &mut [f32]) -> Step {
        let flow = self.agents.get(agent).map_or(usize::MAX, |(flow, _)| *flow);
        let over = self.end.is_some();
        let reward = self.stage.as_mut().and_then(|stage| stage.observe(flow, over, observation));
        // Where nothing was ever decided there is nothing to reward.
        let reward = reward.unwrap_or_default();
        Step { agent, reward: if reward.is_nan() { 0.0 } else { reward }, end: self.end }
    }

    /// What an agent's flow did since this was asked last.
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

    /// The action of the agent whose turn it is; it is in force after the flow's decision delay.
    pub fn act(&mut self, action: u32) {
        if let (Some(stage), Some((flow, _))) = (&mut self.stage, self.agents.get(self.turn)) {
            stage.act(*flow, action);
        }
    }

    /// Whether there are measures of it yet: a kernel measures the whole run.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.end.is_some() || !matches!(self.stage, Some(Stage::Linux(_)))
    }

    /// The measures of the run, which is of this scenario, as JSON.
    ///
    /// # Errors
    /// It has failed.
    pub fn measures(self, scenario: &Scenario) -> Result<String, String> {
        self.stage.ok_or("the run has failed")?.measures(scenario)
    }
}
