//! Timeout patterns (Lim et al. 2004 section 3): how often the RTT of a flow has a peak, how often a loss comes with
//! one, and how far the window then grows until the next loss.

mod patterns;

use crate::flow::SubflowPlace;
use crate::outcome::Outcome;
use crate::tap::{FlowEvent, Reduction, State};
pub use patterns::{Loss, Patterns};

/// The patterns of every flow and every group of arrivals.
#[derive(Debug, Default)]
pub struct TimeoutPatterns {
    flows: Vec<Patterns>,
    /// The group of each flow that is running; `None` for a flow without one.
    group_of: Vec<Option<usize>>,
    /// Patterns of the flows that have ended, by group.
    groups: Vec<Patterns>,
}

impl TimeoutPatterns {
    /// The peak ratio of a flow's last sample; none while the average is the base RTT.
    #[must_use]
    pub fn ratio(&self, flow: usize) -> Option<f64> {
        self.flows.get(flow)?.ratio()
    }

    fn begin(&mut self, flow: usize, group: Option<usize>) {
        if flow >= self.flows.len() {
            self.flows.resize_with(flow + 1, Patterns::default);
            self.group_of.resize(flow + 1, None);
        }
        self.flows[flow] = Patterns::default();
        self.group_of[flow] = group;
    }

    fn end(&mut self, flow: usize) {
        if let Some(group) = self.group_of[flow].take() {
            let ended = std::mem::take(&mut self.flows[flow]);
            self.group(group).add(&ended);
        }
    }

    fn group(&mut self, group: usize) -> &mut Patterns {
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, Patterns::default);
        }
        &mut self.groups[group]
    }

    /// The sum over the subflows of a connection, or a flow's own.
    fn of(&self, flows: std::ops::Range<usize>) -> Patterns {
        let mut all = Patterns::default();
        self.flows[flows].iter().for_each(|patterns| all.add(patterns));
        all
    }

    /// Takes an event of the flow with this index.
    pub fn on_flow(&mut self, flow: u32, event: FlowEvent<'_>) {
        let flow = flow as usize;
        match event {
            FlowEvent::Begin { group } => self.begin(flow, group),
            FlowEvent::End { .. } => self.end(flow),
            FlowEvent::RttSampled { before, latest } => self.flows[flow].on_sample(before, latest),
            FlowEvent::Reduced { by, before, after } => {
                let loss = match by {
                    Reduction::FastRecovery => Loss::FastRecovery,
                    Reduction::Timeout => Loss::Timeout,
                    Reduction::EcnMark | Reduction::ProbedLoss => return,
                };
                self.flows[flow].on_loss(loss, f64::from(before), f64::from(after));
            }
            _ => {}
        }
    }

    /// The measured time begins.
    pub fn end_warmup(&mut self) {
        self.flows.iter_mut().for_each(Patterns::restart);
        self.groups.clear();
    }

    /// Adds the counts to the run's outcome.
    pub fn report(mut self, state: &State<'_>, outcome: &mut Outcome) {
        for flow in 0..self.flows.len() {
            self.end(flow);
        }
        let mut lasting = outcome.flows.iter_mut();
        let (mut connections, mut flows) = (Vec::new(), Vec::new());
        for (index, flow) in state.flows.iter().enumerate().filter(|(_, flow)| flow.group.is_none()) {
            flows.push(self.flows[index].distribution(flow.kind(), &flow.name));
            let parts = match flow.place {
                None => index..index + 1,
                Some(SubflowPlace { connection, subflow: 0 }) => {
                    state.connections[connection as usize].flows.clone()
                }
                Some(_) => continue,
            };
            let Some(reported) = lasting.next() else { break };
            let all = self.of(parts.clone());
            reported.patterns = Some(all.outcome());
            if let Some(multipath) = &mut reported.multipath {
                connections.push(all.distribution("flow", &reported.name));
                for (subflow, part) in multipath.subflows.iter_mut().zip(parts) {
                    subflow.patterns = Some(self.flows[part].outcome());
                }
            }
        }
        let mut groups = Vec::new();
        for (group, reported) in outcome.groups.iter_mut().enumerate() {
            let patterns = self.group(group);
            reported.patterns = Some(patterns.outcome());
            groups.push(patterns.distribution("group", &reported.name));
        }
        outcome.distributions.extend(connections.into_iter().chain(flows).chain(groups).flatten());
    }
}
