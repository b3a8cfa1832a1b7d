//! External agents: the kernel sends the front end their observations and waits for the actions. Virtual time
//! stands still meanwhile.

use super::Run;
use crate::controller::Controller;
use crate::facts::Facts;
use cwndlab_cc::Time;
use cwndlab_lab::linux::remote::{self, Seen};
use cwndlab_sim::Glance;

/// The parts that agents steer.
#[derive(Default)]
pub(super) struct Agents {
    parts: Vec<usize>,
    /// The agents have seen the end.
    over: bool,
}

impl Agents {
    pub(super) fn of(parts: Vec<usize>) -> Self {
        Self { over: parts.is_empty(), parts }
    }
}

impl Run {
    /// The agent of a part, whose socket shows `facts`, must decide. As in the simulator, the agents have
    /// reached the end instead if the flows of all of them are finished.
    pub fn decide(&mut self, part: usize, now: Time, facts: &Facts) {
        if self.agents.over {
            return;
        }
        let latest = |agent: usize| if agent == part { *facts } else { self.flows[agent].facts };
        let shown: Vec<_> = self.agents.parts.iter().map(|agent| (*agent, latest(*agent))).collect();
        if shown.iter().all(|(agent, facts)| self.is_finished(*agent, now, facts)) {
            return self.end_agents(now, &shown);
        }
        let seen = self.seen(part, now, facts, Controller::observe);
        let action = remote::decide(&mut self.line, part, seen);
        if let Some(controller) = &mut self.controllers[part] {
            controller.act(now, action);
        }
    }

    /// The run is over: ends it for all agents, if they have not seen the end before.
    pub(super) fn end_with_agents(&mut self) {
        if !self.agents.over {
            let shown: Vec<_> =
                self.agents.parts.iter().map(|agent| (*agent, self.flows[*agent].facts)).collect();
            self.end_agents(self.end, &shown);
        }
    }

    fn end_agents(&mut self, now: Time, shown: &[(usize, Facts)]) {
        let seen: Vec<_> = shown
            .iter()
            .map(|(agent, facts)| (*agent, self.seen(*agent, now, facts, Controller::observe_end)))
            .collect();
        self.agents.over = true;
        remote::end(&mut self.line, seen);
    }

    /// What the agent of a part sees.
    fn seen(
        &mut self,
        part: usize,
        now: Time,
        facts: &Facts,
        observe: fn(&mut Controller) -> (f32, Vec<f32>),
    ) -> Seen {
        let glance = Glance {
            delivered_bytes: self.flows[part].received().max(facts.received),
            sent_packets: facts.sent,
            retransmitted_packets: self.flows[part].resent_data(facts),
            rtt: self.flows[part].latest_rtt(facts).unwrap_or_default(),
            finished: self.is_finished(part, now, facts),
        };
        // There is no controller before the connection is established.
        let (reward, observation) = self.controllers[part].as_mut().map(observe).unwrap_or_default();
        Seen { now, glance, reward, observation }
    }

    /// Whether everything that the flow of a part, or its connection, had to send has been acknowledged.
    fn is_finished(&self, part: usize, now: Time, facts: &Facts) -> bool {
        let whole = match self.lane_of(part).connection {
            Some(connection) => &self.connections[connection].whole,
            None => &self.flows[part],
        };
        whole.is_written(now) && facts.unacknowledged == 0
    }
}
