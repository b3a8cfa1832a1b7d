//! One episode: a simulation that stops at each decision.

use crate::run::{Failure, guarded};
use cwndlab_cc::Time;
use cwndlab_sim::{Glance, Outcome, Sim, SimSpec, Stop};

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

/// A simulation that agents steer.
pub struct Episode {
    /// `None` once it has failed.
    sim: Option<Sim>,
    seed: u64,
    /// The flows of the agents, and what was last seen of each.
    agents: Vec<(usize, Noted)>,
    /// Whose decision is due.
    turn: usize,
    end: Option<End>,
}

impl Episode {
    /// Of a simulation in which the flows of these names have agents.
    #[must_use]
    pub fn new(spec: &SimSpec, agents: &[String]) -> Self {
        let flows: Vec<String> =
            spec.flows.iter().flat_map(|flow| flow.parts()).map(|(name, _)| name).collect();
        let place = |name: &String| flows.iter().position(|flow| flow == name);
        let agents = agents.iter().filter_map(place).map(|flow| (flow, Noted::default())).collect();
        Self { sim: Some(Sim::new(spec)), seed: spec.seed, agents, turn: 0, end: None }
    }

    /// Runs to the next decision, or to the end.
    ///
    /// # Errors
    /// A controller broke the run off, or the simulator has a fault.
    pub fn advance(&mut self) -> Result<(), Failure> {
        let Some(mut sim) = self.sim.take() else { return Ok(()) };
        let (sim, stop) = guarded(self.seed, move || {
            let stop = sim.run();
            (sim, stop)
        })?;
        match stop {
            Stop::Decision(flow) => {
                self.turn = self.agents.iter().position(|(agent, _)| *agent == flow).unwrap_or(self.turn);
            }
            Stop::Done | Stop::Paused => self.end = Some(End::Truncated),
        }
        let over = |(flow, _): &(usize, Noted)| sim.glance(*flow).is_some_and(|glance| glance.finished);
        if self.agents.iter().all(over) {
            self.end = Some(End::Terminated);
        }
        self.sim = Some(sim);
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
        let seen = self.sim.as_mut().and_then(|sim| sim.agent(flow));
        let reward = match seen {
            Some(agent) if self.end.is_none() => agent.observe(observation),
            Some(agent) => agent.observe_end(observation),
            None => 0.0,
        };
        // Where nothing was ever decided there is nothing to reward.
        Step { agent, reward: if reward.is_nan() { 0.0 } else { reward }, end: self.end }
    }

    /// What an agent's flow did since this was asked last.
    pub fn info(&mut self, agent: usize) -> Info {
        let (Some(sim), Some((flow, noted))) = (&self.sim, self.agents.get_mut(agent)) else {
            return Info::default();
        };
        let Some(glance) = sim.glance(*flow) else { return Info::default() };
        let now = sim.now();
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
        if let (Some(sim), Some((flow, _))) = (&mut self.sim, self.agents.get(self.turn)) {
            sim.act(*flow, action);
        }
    }

    /// What was measured.
    #[must_use]
    pub fn outcome(self) -> Option<Outcome> {
        self.sim.map(Sim::outcome)
    }
}
