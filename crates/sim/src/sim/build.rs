//! From a specification to a simulation that has not begun.

use super::Sim;
use crate::arrivals::Arrivals;
use crate::event::{Component, EventQueue};
use crate::flow::{Flow, Own, Shared, SubflowPlace};
use crate::mptcp::Connection;
use crate::processing::Processing;
use crate::route::Routes;
use crate::spec::{ArrivalSpec, FlowKind, PathSpec, SimSpec};
use crate::tap::{FlowEvent, State, Tap};
use crate::tcp::TcpOptions;
use crate::topology::{Topology, packet_time};
use cwndlab_cc::{Span, Time};
use std::sync::Arc;

impl<T: Tap> Sim<T> {
    /// Builds a simulation with the tap that `tap` makes from the initial state.
    #[must_use]
    pub fn with_tap(spec: &SimSpec, tap: impl FnOnce(&State<'_>) -> T) -> Self {
        let routes = Arc::default();
        let mut maker = Maker { spec, topology: Topology::new(spec), options: Vec::new(), routes };
        let (flows, connections) = maker.flows();
        let arrivals: Vec<_> = spec.arrivals.iter().map(|arrivals| maker.arrivals(arrivals)).collect();
        let Topology { links, hosts, .. } = maker.topology;
        let tap = tap(&State {
            now: Time::ZERO,
            flows: &flows,
            connections: &connections,
            arrivals: &arrivals,
            links: &links,
            handled: 0,
        });
        let first_flow = (links.len() + arrivals.len()) as Component;
        let mut events = EventQueue::new(first_flow);
        flows.iter().for_each(|_| _ = events.add_flow());
        let warmup = (spec.warmup > Span::ZERO).then_some(Time::ZERO + spec.warmup);
        let mut sim = Self {
            now: Time::ZERO,
            end: Time::ZERO + spec.duration,
            warmup,
            events,
            handled: 0,
            links,
            together: Vec::new(),
            hosts,
            arrivals,
            flows,
            connections,
            first_flow,
            next_look: tap.next_look().min(warmup.unwrap_or(Time::NEVER)),
            tap,
            outbox: Vec::new(),
            suspended: None,
            seed: spec.seed,
        };
        sim.begin();
        sim
    }

    fn begin(&mut self) {
        self.look_ahead();
        for link in 0..self.links.len() {
            self.schedule_link(link);
        }
        for group in 0..self.arrivals.len() {
            self.events.set((self.links.len() + group) as Component, self.arrivals[group].process.next);
        }
        for flow in 0..self.flows.len() {
            self.tap.on_flow(Time::ZERO, flow as u32, FlowEvent::Begin { group: None });
            self.schedule_flow(flow);
        }
    }
}

/// Makes flows and arrival processes; those with equal options share them.
struct Maker<'a> {
    spec: &'a SimSpec,
    topology: Topology,
    options: Vec<Arc<TcpOptions>>,
    /// Those of the flow before: the flows of a group have the same.
    routes: Arc<Routes>,
}

impl Maker<'_> {
    /// All flows, including the subflows of connections, and the connections.
    fn flows(&mut self) -> (Vec<Flow>, Vec<Connection>) {
        let mut flows = Vec::with_capacity(self.spec.flows.iter().map(|spec| spec.paths.len()).sum());
        let mut connections: Vec<Connection> = Vec::new();
        for spec in &self.spec.flows {
            let first = flows.len();
            let start = spec.active.drawn_start(self.spec.seed, &spec.name);
            for (subflow, (name, path)) in spec.parts().enumerate() {
                let connection = connections.len() as u32;
                let place =
                    spec.multipath.is_some().then_some(SubflowPlace { connection, subflow: subflow as u32 });
                let start = if subflow == 0 { start } else { Time::NEVER };
                let own = Own { name, start, stop: spec.active.stop, bytes: spec.bytes, place };
                let (routes, shared) = self.connected(&spec.kind, path);
                let mut flow = Flow::new(own, &spec.kind, self.spec.seed, routes, shared);
                if spec.multipath.as_ref().is_some_and(|options| options.push_bursts) {
                    // PSH is written into the last segment of a burst after the burst.
                    flow.direct = None;
                }
                flows.push(flow);
            }
            if let Some(options) = &spec.multipath {
                connections.push(Connection::new(spec, options, first..flows.len()));
            }
        }
        (flows, connections)
    }

    /// The flows of a process share one path, and one access link if they have one.
    fn arrivals(&mut self, arrivals: &ArrivalSpec) -> Arrivals {
        let (routes, shared) = self.connected(&arrivals.kind, &arrivals.path);
        Arrivals::new(arrivals, self.spec.seed, routes, shared)
    }

    /// The routes and the shared values of flows of this kind on one of their paths.
    fn connected(&mut self, kind: &FlowKind, path: &PathSpec) -> (Arc<Routes>, Shared) {
        let routes = self.topology.routes(kind, path, self.spec);
        if *self.routes != routes {
            self.routes = Arc::new(routes);
        }
        let processing = match self.spec.send_jitter {
            Some(most) => Processing::of(most),
            None => Processing::against_phase_effects(packet_time(&kind.tcp, path, self.spec)),
        };
        let tcp = kind.tcp_on(path);
        let known = self.options.iter().find(|options| ***options == *tcp);
        let options = known.cloned().unwrap_or_else(|| {
            let options = Arc::new(tcp.into_owned());
            self.options.push(options.clone());
            options
        });
        (self.routes.clone(), Shared { options, processing })
    }
}
