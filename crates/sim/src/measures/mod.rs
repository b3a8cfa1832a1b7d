//! The tap that measures: what flows, groups, connections and links did after the warm-up, and in each
//! interval of the run.

mod connection;
mod flow;
mod gains;
mod group;
mod histogram;
mod integral;
mod intervals;
mod link;
mod rate;
mod seen;

pub use gains::{Gain, Interval, Ran, Reached};
pub use group::GroupTotals;
pub use histogram::Histogram;
pub use intervals::{MOST_PROBED_FLOWS, interval};
pub use link::LinkGauge;
pub use rate::mbps;
pub use seen::{Seen, Totals, measured_until};

use crate::ahead::{LINE, fetch};
use crate::flow::{Flow, SubflowPlace};
use crate::outcome::{Distribution, FlowOutcome, Outcome, Work};
use crate::tap::{ConnectionEvent, FlowEvent, LinkEvent, State, Tap};
use connection::ConnectionGauge;
use cwndlab_cc::{Span, Time};
use flow::FlowGauge;
use group::GroupGauge;
use intervals::Meter;

/// What is measured of every run.
pub struct Measures {
    /// One for each flow of the scenario; those that arrive are measured as groups.
    flows: Vec<FlowGauge>,
    groups: Vec<GroupGauge>,
    connections: Vec<ConnectionGauge>,
    links: Vec<LinkGauge>,
    meter: Meter,
}

impl Measures {
    /// Measures of a run of this length that has not begun.
    #[must_use]
    pub fn new(duration: Span, state: &State<'_>) -> Self {
        Self {
            flows: state.flows.iter().map(FlowGauge::new).collect(),
            groups: state.arrivals.iter().map(|_| GroupGauge::default()).collect(),
            connections: state.connections.iter().map(|_| ConnectionGauge::default()).collect(),
            links: state.links.iter().map(|_| LinkGauge::default()).collect(),
            meter: Meter::new(duration, state),
        }
    }

    /// The flows in the order of the scenario; a multipath connection is one of them.
    fn flow_outcomes(&self, state: &State<'_>) -> Vec<FlowOutcome> {
        let of_flow = |(gauge, flow): (&FlowGauge, &Flow)| match flow.place {
            None => Some(gauge.outcome(flow, state.now)),
            Some(SubflowPlace { connection, subflow: 0 }) => {
                let connection = connection as usize;
                Some(self.connections[connection].outcome(&state.connections[connection], &self.flows, state))
            }
            Some(_) => None,
        };
        self.flows.iter().zip(state.flows).filter_map(of_flow).collect()
    }

    /// The distributions of all times that were counted; a component that counted none has no entry.
    fn distributions(&self, state: &State<'_>) -> Vec<Distribution> {
        let connections = state.connections.iter().map(|connection| {
            let rtts = flow::rtts_of(&self.flows[connection.flows.clone()]);
            Distribution::of_times("flow", &connection.name, "rtt_ms", &rtts)
        });
        let flows = self
            .flows
            .iter()
            .zip(state.flows)
            .map(|(gauge, flow)| Distribution::of_times(flow.kind(), &flow.name, "rtt_ms", gauge.rtts()));
        let links = self.links.iter().zip(state.links).map(|(gauge, link)| {
            Distribution::of_times("link", link.name(), "queue_delay_ms", gauge.queue_delays())
        });
        let groups = self.groups.iter().zip(state.arrivals).map(|(gauge, arrivals)| {
            Distribution::of_times(
                "group",
                &arrivals.process.spec.name,
                "completion_ms",
                gauge.completion_times(),
            )
        });
        connections.chain(flows).chain(links).chain(groups).flatten().collect()
    }
}

impl Tap for Measures {
    type Outcome = Outcome;

    const IN_ORDER: bool = false;

    #[inline(always)]
    fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        match event {
            FlowEvent::Begin { group: Some(group) } => self.groups[group].begin(),
            FlowEvent::End { flow } => {
                if let Some(group) = flow.group {
                    self.groups[group as usize].end(flow);
                }
            }
            _ => {
                if let Some(gauge) = self.flows.get_mut(flow as usize) {
                    gauge.on_event(now, event);
                }
            }
        }
    }

    fn on_connection(&mut self, now: Time, connection: u32, event: ConnectionEvent) {
        let ConnectionEvent::WaitingChanged { segments } = event;
        self.connections[connection as usize].on_waiting(now, segments);
    }

    #[inline(always)]
    fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        self.links[link as usize].on_event(at, event);
    }

    #[inline]
    fn fetch(&self, flow: u32) {
        if let Some(gauge) = self.flows.get(flow as usize) {
            fetch(gauge, 2 * LINE);
        }
    }

    #[inline]
    fn fetch_beyond(&self, flow: u32) {
        if let Some(gauge) = self.flows.get(flow as usize) {
            gauge.fetch_beyond();
        }
    }

    #[inline]
    fn next_look(&self) -> Time {
        self.meter.next()
    }

    fn look(&mut self, state: &State<'_>) {
        self.meter.look(&self.flows, &self.groups, state);
    }

    fn end_warmup(&mut self, state: &State<'_>) {
        self.links.iter_mut().zip(state.links).for_each(|(gauge, link)| gauge.restart(link, state.now));
        self.flows.iter_mut().zip(state.flows).for_each(|(gauge, flow)| gauge.restart(flow, state.now));
        let connections = self.connections.iter_mut().zip(state.connections);
        connections.for_each(|(gauge, connection)| gauge.restart(connection, state.now));
        self.groups.iter_mut().enumerate().for_each(|(group, gauge)| gauge.restart(group, state));
    }

    fn finish(mut self, state: &State<'_>) -> Outcome {
        self.flows.iter_mut().for_each(FlowGauge::count_latest_rtt);
        let links = self.links.iter().zip(state.links);
        let groups = self.groups.iter().enumerate();
        Outcome {
            links: links.map(|(gauge, link)| gauge.outcome(link, state.now)).collect(),
            groups: groups.map(|(group, gauge)| gauge.outcome(group, state)).collect(),
            flows: self.flow_outcomes(state),
            distributions: self.distributions(state),
            work: Work {
                data_packets: self.links.first().map_or(0, LinkGauge::served_data),
                events: state.handled,
            },
            intervals: self.meter.finish(&self.flows, &self.groups, state),
            recording: None,
        }
    }
}
