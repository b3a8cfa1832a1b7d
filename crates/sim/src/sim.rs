//! The simulation: links, flows and arrival processes, and the loop that runs them.
//!
//! Component numbers give the order of simultaneous events: links first, then arrival processes, then flows (the
//! sender before the receiver).

mod hosts;
mod multipath;

use crate::arrivals::Arrivals;
use crate::event::{Component, EventQueue};
use crate::flow::{Answer, Due, Flow, Own, Place, Routes, Shared};
use crate::host::Host;
use crate::link::Link;
use crate::meter::Meter;
use crate::mptcp::Connection;
use crate::outcome::{Distribution, FlowOutcome, Outcome, Work};
use crate::packet::{Body, Packet};
use crate::spec::{ActiveTime, ArrivalSpec, FlowKind, PathSpec, SimSpec};
use crate::tap::{FlowEvent, NoTap, State, Tap, Turn};
use crate::tcp::{Counters, Outgoing, TcpOptions};
use crate::topology::{Topology, packet_time};
use crate::watch::Watch;
use cwndlab_cc::{Agent, Decision, Rng, Span, Time};
use std::sync::Arc;

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

/// What a flow has done up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Data packets sent.
    pub sent_packets: u64,
    /// Data packets sent again.
    pub retransmitted_packets: u64,
    /// The latest RTT sample; zero before the first.
    pub rtt: Span,
    /// All that it had to send has been acknowledged.
    pub finished: bool,
}

/// A simulation, and who looks at it.
pub struct Sim<T = NoTap> {
    now: Time,
    end: Time,
    warmup: Option<Time>,
    events: EventQueue,
    handled: u64,
    links: Vec<Link>,
    hosts: Vec<Host>,
    arrivals: Vec<Arrivals>,
    /// The flows of the scenario, a multipath connection's subflows in its place; behind them those that arrive.
    flows: Vec<Flow>,
    connections: Vec<Connection>,
    /// The component of the first flow.
    first_flow: Component,
    meter: Meter,
    tap: T,
    /// When the warm-up ends, an interval ends or a sample is due.
    next_look: Time,
    outbox: Vec<Outgoing>,
    /// The flow whose ACK is suspended for an agent.
    suspended: Option<usize>,
    seed: u64,
}

impl Sim {
    /// Builds one that nobody looks at; the specification has been checked.
    #[must_use]
    pub fn new(spec: &SimSpec) -> Self {
        debug_assert!(
            spec.record.is_none() && !spec.timeout_patterns,
            "what is to be seen needs Sim::watched"
        );
        Self::with_tap(spec, |_, _, _| NoTap)
    }
}

impl Sim<Watch> {
    /// Builds one of which everything is seen that the specification asks for.
    #[must_use]
    pub fn watched(spec: &SimSpec) -> Self {
        Self::with_tap(spec, |flows, connections, links| Watch::new(spec, flows, connections, links))
    }
}

impl<T: Tap> Sim<T> {
    /// Builds one with a tap of these flows, connections and links.
    #[must_use]
    pub fn with_tap(spec: &SimSpec, tap: impl FnOnce(&[Flow], &[Connection], &[Link]) -> T) -> Self {
        let mut maker = Maker { spec, topology: Topology::new(spec), options: Vec::new() };
        let (flows, connections) = maker.flows();
        let arrivals: Vec<_> = spec.arrivals.iter().map(|arrivals| maker.arrivals(arrivals)).collect();
        let Topology { links, hosts, .. } = maker.topology;
        let tap = tap(&flows, &connections, &links);
        let meter = Meter::new(spec.duration, &flows, connections.len(), arrivals.len());
        let mut events = EventQueue::default();
        let first_flow = (links.len() + arrivals.len()) as Component;
        for _ in 0..first_flow as usize + flows.len() {
            events.add();
        }
        let mut sim = Self {
            now: Time::ZERO,
            end: Time::ZERO + spec.duration,
            warmup: (spec.warmup > Span::ZERO).then_some(Time::ZERO + spec.warmup),
            events,
            handled: 0,
            links,
            hosts,
            arrivals,
            flows,
            connections,
            first_flow,
            meter,
            tap,
            next_look: Time::ZERO,
            outbox: Vec::new(),
            suspended: None,
            seed: spec.seed,
        };
        for link in 0..sim.links.len() {
            sim.schedule_link(link);
        }
        for group in 0..sim.arrivals.len() {
            sim.events.set((sim.links.len() + group) as Component, sim.arrivals[group].next);
        }
        for flow in 0..sim.flows.len() {
            sim.tap.on_flow(Time::ZERO, flow as u32, FlowEvent::Begin { group: None });
            sim.schedule_flow(flow);
        }
        sim
    }

    /// Runs to the end or to the next decision.
    pub fn run(&mut self) -> Stop {
        self.run_until(Time::NEVER)
    }

    /// Runs until this time, the end or the next decision.
    pub fn run_until(&mut self, until: Time) -> Stop {
        if let Some(flow) = self.suspended.take() {
            self.finish_decision(flow);
        }
        let last = until.min(self.end);
        loop {
            let (at, component) = self.events.next().unwrap_or((Time::NEVER, 0));
            let due = at.min(last);
            if due >= self.next_look {
                self.take_measurements(due);
            }
            if at > last || at == Time::NEVER {
                self.now = last;
                return if last == self.end { Stop::Done } else { Stop::Paused };
            }
            self.now = at;
            self.handled += 1;
            if let Some(flow) = self.handle(component) {
                self.suspended = Some(flow);
                return Stop::Decision(flow);
            }
        }
    }

    /// The simulated time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The agent of a flow.
    pub fn agent(&mut self, flow: usize) -> Option<&mut dyn Agent> {
        self.flows.get_mut(flow)?.sender.agent()
    }

    /// What a flow has done so far.
    #[must_use]
    pub fn glance(&self, flow: usize) -> Option<Glance> {
        let flow = self.flows.get(flow)?;
        let counters = flow.sender.counters();
        Some(Glance {
            delivered_bytes: flow.delivered_bytes(),
            sent_packets: counters.sent,
            retransmitted_packets: counters.resent,
            rtt: flow.sender.rtt().latest,
            finished: self.is_finished(flow),
        })
    }

    /// All that a flow, or its connection, had to send was acknowledged.
    fn is_finished(&self, flow: &Flow) -> bool {
        match flow.place {
            None => flow.sender.is_finished(),
            Some(place) => self.connections[place.connection as usize].is_finished(),
        }
    }

    /// Gives the agent's decision; it takes effect after the flow's decision delay.
    pub fn act(&mut self, flow: usize, action: u32) {
        let room = 0;
        let Self { flows, outbox, tap, now, .. } = self;
        if let Some(one) = flows.get_mut(flow) {
            one.sender.act(&mut Turn { now: *now, room, outbox, tap, flow: flow as u32 }, action);
        }
    }

    /// What was measured so far.
    #[must_use]
    pub fn outcome(mut self) -> Outcome {
        let now = self.now;
        let links: Vec<_> = self.links.iter_mut().map(|link| link.outcome(now)).collect();
        let distributions = self.distributions();
        let groups = self
            .arrivals
            .iter()
            .enumerate()
            .map(|(group, arrivals)| arrivals.outcome(now, &self.counted(group)));
        let mut outcome = Outcome {
            flows: self.flow_outcomes(now),
            groups: groups.collect(),
            intervals: self.meter.finish(now, &self.flows, &self.connections, &self.arrivals),
            distributions,
            work: Work {
                data_packets: self.links.first_mut().map_or(0, |link| link.served_data(now)),
                events: self.handled,
            },
            links,
            recording: None,
        };
        let Self { flows, connections, mut links, tap, .. } = self;
        let mut state = State { flows: &flows, connections: &connections, links: &mut links };
        tap.report(&mut state, &mut outcome);
        outcome
    }

    /// The flows in the order of the scenario; a multipath connection is one of them.
    fn flow_outcomes(&self, now: Time) -> Vec<FlowOutcome> {
        let lasting = self.flows.iter().filter(|flow| flow.group.is_none());
        let outcome = |flow: &Flow| match flow.place {
            None => Some(flow.outcome(now)),
            Some(Place { connection, subflow: 0 }) => {
                Some(self.connections[connection as usize].outcome(now, &self.flows))
            }
            Some(_) => None,
        };
        lasting.filter_map(outcome).collect()
    }

    /// All times that were counted; what counted none has no entry.
    fn distributions(&self) -> Vec<Distribution> {
        let lasting = self.flows.iter().filter(|flow| flow.group.is_none());
        let connections = self.connections.iter().map(|connection| {
            let rtts = connection.rtt_samples(&self.flows);
            distribution("flow", &connection.name, "rtt_ms", rtts.buckets())
        });
        let flows = lasting.map(|flow| (flow.kind(), flow.name.as_str(), "rtt_ms", flow.rtt_samples()));
        let links =
            self.links.iter().map(|link| ("link", link.name(), "queue_delay_ms", link.queue_delays()));
        let groups = self
            .arrivals
            .iter()
            .map(|group| ("group", group.spec.name.as_str(), "completion_ms", group.completion_times()));
        let times = flows.chain(links).chain(groups).filter(|(.., times)| times.count() > 0);
        let times =
            times.map(|(kind, name, measure, times)| distribution(kind, name, measure, times.buckets()));
        let connections = connections.filter(|rtts| !rtts.counts.is_empty());
        connections.chain(times).collect()
    }

    /// What all flows of an arrival process have counted, those under way included.
    fn counted(&self, group: usize) -> Counters {
        let mut counters = self.arrivals[group].counted();
        for flow in self.flows.iter().filter(|flow| flow.group == Some(group) && !flow.is_retired()) {
            counters.add(&flow.sender.counters());
        }
        counters
    }

    /// The warm-up, the meter and the tap look on at their times, before what happens then.
    #[cold]
    fn take_measurements(&mut self, due: Time) {
        if self.warmup.is_some_and(|warmup| warmup <= due) {
            self.end_warmup();
        }
        while self.meter.next() <= due {
            self.meter.look(&self.flows, &self.connections, &self.arrivals);
        }
        while self.tap.next_look() <= due {
            let Self { flows, connections, links, tap, .. } = self;
            tap.look(&mut State { flows, connections, links });
        }
        self.next_look = self.tap.next_look().min(self.meter.next()).min(self.warmup.unwrap_or(Time::NEVER));
    }

    fn end_warmup(&mut self) {
        let Some(at) = self.warmup.take() else { return };
        self.links.iter_mut().for_each(|link| link.restart_gauge(at));
        self.flows.iter_mut().for_each(|flow| flow.restart_gauge(at));
        self.connections.iter_mut().for_each(|connection| connection.restart_gauge(at));
        self.arrivals.iter_mut().for_each(|arrivals| arrivals.restart_measure(at));
        self.tap.end_warmup();
    }

    /// Handles a component's event; returns the flow whose agent must decide.
    #[inline]
    fn handle(&mut self, component: Component) -> Option<usize> {
        let index = component as usize;
        if index < self.links.len() {
            let arrived = self.links[index].advance(self.now);
            self.schedule_link(index);
            if let Some(packet) = arrived {
                return self.route(packet);
            }
        } else if component < self.first_flow {
            self.start_arrival(index - self.links.len());
        } else {
            let flow = (component - self.first_flow) as usize;
            if self.flows[flow].sender_due() <= self.now {
                return self.handle_sender(flow);
            }
            self.handle_receiver_timer(flow);
        }
        None
    }

    /// A packet has crossed a link: on to the next one, or to its endpoint.
    #[inline]
    fn route(&mut self, mut packet: Packet) -> Option<usize> {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        if packet.generation != flow.generation {
            return None;
        }
        packet.hop += 1;
        let to_receiver = matches!(packet.body, Body::Data(_) | Body::Syn);
        let route = if to_receiver { &flow.routes.data } else { &flow.routes.acks };
        if let Some(next) = route.hop(packet.hop) {
            self.links[next as usize].receive(self.now, packet);
            self.schedule_link(next as usize);
            return None;
        }
        match packet.body {
            Body::Data(data) => {
                let before = flow.receiver.next();
                let answer = flow.on_data(self.now, &data, packet.ecn);
                if let Some(group) = flow.group {
                    self.arrivals[group].note_bytes(flow.bytes_from(before));
                } else if flow.place.is_some() {
                    self.pass_up(index, before);
                }
                if let Some(answer) = answer {
                    self.answer(index, answer);
                }
                self.schedule_flow(index);
            }
            Body::Syn => {
                let answer = flow.accept(self.now);
                self.answer(index, answer);
                self.schedule_flow(index);
            }
            Body::SynAck { sent_at, window } => self.deliver(index, Answer::SynAck { sent_at, window }),
            Body::Ack(header) => self.deliver(index, Answer::Ack(header)),
        }
        None
    }

    /// A receiver sends something back; the caller sets the flow's slot.
    #[inline]
    fn answer(&mut self, index: usize, mut answer: Answer) {
        let flow = &mut self.flows[index];
        if let Some(place) = flow.place {
            answer.announce(self.connections[place.connection as usize].reassembly.edge());
        }
        match flow.routes.acks.first() {
            None => flow.post(self.now, answer),
            Some(first) => {
                let packet = flow.wrap_answer(index as u32, answer);
                self.links[first as usize].receive(self.now, packet);
                self.schedule_link(first as usize);
            }
        }
    }

    /// What a receiver sent back has crossed its links.
    fn deliver(&mut self, index: usize, answer: Answer) {
        self.flows[index].post(self.now, answer);
        self.schedule_flow(index);
    }

    #[inline]
    fn handle_sender(&mut self, index: usize) -> Option<usize> {
        let now = self.now;
        let room = self.room(index);
        self.exchange_data(index);
        let Self { flows, outbox, tap, .. } = self;
        let flow = &mut flows[index];
        let turn = &mut Turn { now, room, outbox, tap, flow: index as u32 };
        let step = match flow.take_due(now) {
            Due::Answer(Answer::Ack(header)) => {
                let step = flow.sender.on_ack(turn, &header);
                flow.note_sample();
                step
            }
            Due::Answer(Answer::SynAck { sent_at, window }) => {
                flow.sender.on_syn_ack(turn, sent_at, window);
                self.join_others(index);
                Decision::NotDue
            }
            Due::Start => {
                flow.sender.start(turn);
                Decision::NotDue
            }
            Due::Timer => flow.sender.on_timer(turn),
        };
        if step == Decision::Due {
            self.exchange_data(index);
            return Some(index);
        }
        self.after_sender(index);
        None
    }

    fn finish_decision(&mut self, index: usize) {
        let room = self.room(index);
        self.exchange_data(index);
        let Self { flows, outbox, tap, now, .. } = self;
        flows[index].sender.finish_ack(&mut Turn { now: *now, room, outbox, tap, flow: index as u32 });
        self.after_sender(index);
    }

    /// A sender has acted: what it left in the outbox leaves, and what follows from that is done.
    #[inline]
    fn after_sender(&mut self, index: usize) {
        self.send_outbox(index);
        if let Some(place) = self.flows[index].place {
            self.after_subflow(index, place);
        }
    }

    /// Sends what the sender left in the outbox, and sets its slot.
    #[inline]
    fn send_outbox(&mut self, index: usize) {
        let host = self.flows[index].routes.host;
        if let Some(host) = host {
            self.end_turn(index, host);
        }
        let flow = &mut self.flows[index];
        if let Some(first) = flow.routes.data.first().filter(|_| !self.outbox.is_empty()) {
            let first = first as usize;
            for outgoing in self.outbox.drain(..) {
                let packet = flow.wrap(index as u32, &outgoing);
                self.links[first].receive(self.now, packet);
            }
            self.events.set(first as Component, self.links[first].next_event());
        }
        flow.look_ahead();
        if let Some(host) = host {
            self.wait_for_turn(index, host);
        }
        let flow = &mut self.flows[index];
        if flow.group.is_some() && flow.sender.is_finished() {
            self.end_arrival(index);
        }
        self.schedule_flow(index);
    }

    fn handle_receiver_timer(&mut self, index: usize) {
        if let Some(header) = self.flows[index].receiver.on_timer(self.now) {
            self.answer(index, Answer::Ack(header));
        }
        self.schedule_flow(index);
    }

    /// An arrival process starts a flow, in the place of one that has ended if there is one.
    fn start_arrival(&mut self, group: usize) {
        let now = self.now;
        let arrivals = &mut self.arrivals[group];
        let bytes = Some(arrivals.draw_size());
        arrivals.note_arrival();
        arrivals.draw_next(now);
        let next = arrivals.next;
        let (routes, shared) = (arrivals.routes.clone(), arrivals.shared.clone());
        let place = arrivals.free.pop();
        let index = place.unwrap_or(self.flows.len());
        let generation = place.map_or(0, |place| self.flows[place].generation.wrapping_add(1));
        // Every flow of the group has random streams of its own.
        let name = format!("{} {index} {generation}", arrivals.spec.name);
        let own = Own { name, start: now, stop: arrivals.spec.active.stop, bytes, place: None };
        let mut flow = Flow::new(own, &arrivals.spec.kind, self.seed, routes, shared);
        flow.group = Some(group);
        flow.generation = generation;
        if place.is_some() {
            self.flows[index] = flow;
        } else {
            self.flows.push(flow);
            self.events.add();
        }
        self.tap.on_flow(now, index as u32, FlowEvent::Begin { group: Some(group) });
        self.schedule_flow(index);
        self.pass_on_turn(index);
        self.events.set((self.links.len() + group) as Component, next);
    }

    fn end_arrival(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let Some(group) = flow.group.filter(|_| !flow.is_retired()) else { return };
        let arrivals = &mut self.arrivals[group];
        arrivals.note_end(self.now, flow.started(), flow.completion(), &flow.sender);
        arrivals.free.push(index);
        flow.retire();
        self.tap.on_flow(self.now, index as u32, FlowEvent::End);
        let next = arrivals.next;
        self.events.set((self.links.len() + group) as Component, next);
    }

    #[inline]
    fn schedule_link(&mut self, link: usize) {
        self.events.set(link as Component, self.links[link].next_event());
    }

    #[inline]
    fn schedule_flow(&mut self, index: usize) {
        self.events.set(self.first_flow + index as Component, self.flows[index].next_event());
    }
}

fn distribution(
    kind: &'static str,
    name: &str,
    measure: &'static str,
    (middle, counts): (Vec<f64>, Vec<u32>),
) -> Distribution {
    Distribution { kind, name: name.to_owned(), measure, middle, counts }
}

/// Makes flows and arrival processes; equal options are made once.
struct Maker<'a> {
    spec: &'a SimSpec,
    topology: Topology,
    options: Vec<Arc<TcpOptions>>,
}

impl Maker<'_> {
    /// All flows, the subflows of connections among them, and the connections.
    fn flows(&mut self) -> (Vec<Flow>, Vec<Connection>) {
        let mut flows = Vec::new();
        let mut connections: Vec<Connection> = Vec::new();
        for spec in &self.spec.flows {
            let first = flows.len();
            let start = self.start(&spec.name, &spec.active);
            for (subflow, (name, path)) in spec.parts().enumerate() {
                let connection = connections.len() as u32;
                let place = spec.multipath.is_some().then_some(Place { connection, subflow: subflow as u32 });
                let start = if subflow == 0 { start } else { Time::NEVER };
                let own = Own { name, start, stop: spec.active.stop, bytes: spec.bytes, place };
                let (routes, shared) = self.connected(&spec.kind, path);
                flows.push(Flow::new(own, &spec.kind, self.spec.seed, routes, shared));
            }
            if let Some(options) = &spec.multipath {
                connections.push(Connection::new(spec, options, first..flows.len()));
            }
        }
        (flows, connections)
    }

    fn start(&self, name: &str, active: &ActiveTime) -> Time {
        let mut rng = Rng::named(self.spec.seed, &format!("flow {name} start"));
        active.start + Span(rng.below(active.start_jitter.0.saturating_add(1)))
    }

    /// The flows of a process share one path, and one access link if they have one.
    fn arrivals(&mut self, arrivals: &ArrivalSpec) -> Arrivals {
        let (routes, shared) = self.connected(&arrivals.kind, &arrivals.path);
        Arrivals::new(arrivals, self.spec.seed, routes, shared)
    }

    /// What flows of this kind get for one of their paths.
    fn connected(&mut self, kind: &FlowKind, path: &PathSpec) -> (Routes, Shared) {
        let routes = self.topology.routes(kind, path, self.spec);
        let processing = self.spec.send_jitter.unwrap_or_else(|| packet_time(&kind.tcp, path, self.spec));
        let known = self.options.iter().find(|options| ***options == kind.tcp);
        let options = known.cloned().unwrap_or_else(|| {
            let options = Arc::new(kind.tcp.clone());
            self.options.push(options.clone());
            options
        });
        (routes, Shared { options, processing })
    }
}
