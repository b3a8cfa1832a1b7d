//! The simulation: links, flows and arrival processes, and the loop that runs them.
//!
//! Component numbers give the order of simultaneous events: links first, then arrival processes, then flows (the
//! sender before the receiver).

mod arriving;
mod build;
mod hosts;
mod lookahead;
mod multipath;

use crate::arrivals::Arrivals;
use crate::event::{Component, Event, EventQueue};
use crate::expected::Awaited;
use crate::flow::{Due, Flow, Own};
use crate::fragment;
use crate::host::Host;
use crate::link::Link;
use crate::measures::Measures;
use crate::mptcp::Connection;
use crate::packet::Packet;
use crate::spec::SimSpec;
use crate::tap::{End, FlowEvent, NoTap, State, Tap};
use crate::tcp::Outgoing;
use crate::turn::{LinkTurn, Turn};
use crate::watch::Watch;
use crate::way_out::WayOut;
use cwndlab_cc::{Agent, Decision, Span, Time};
use std::sync::Arc;

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The end of the run.
    Done,
    /// The requested time has come.
    Paused,
    /// The agent of this flow must decide: [`Sim::agent`], [`Sim::act`], then run on.
    Decision(usize),
}

/// What a flow has done so far.
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
    /// Whether all that it had to send has been acknowledged.
    pub finished: bool,
}

/// A simulation, and the tap that observes it.
pub struct Sim<T = Measures> {
    now: Time,
    end: Time,
    warmup: Option<Time>,
    events: EventQueue,
    handled: u64,
    links: Vec<Link>,
    /// For each link those that are handled together with it, itself among them, in order.
    together: Vec<Arc<[Component]>>,
    hosts: Vec<Host>,
    arrivals: Vec<Arrivals>,
    /// The flows of the scenario, with a multipath connection's subflows in its place; after them the flows
    /// that arrive.
    flows: Vec<Flow>,
    connections: Vec<Connection>,
    /// The component of the first flow.
    first_flow: Component,
    tap: T,
    /// When the warm-up ends or the tap looks next, whichever comes first.
    next_look: Time,
    outbox: Vec<Outgoing>,
    /// The flow whose ACK is suspended for an agent.
    suspended: Option<usize>,
    seed: u64,
}

impl Sim {
    /// Builds a simulation that is measured; the specification has been checked.
    #[must_use]
    pub fn new(spec: &SimSpec) -> Self {
        debug_assert!(
            spec.record.is_none() && !spec.timeout_patterns,
            "what is to be seen needs Sim::watched"
        );
        Self::with_tap(spec, |state| Measures::new(spec.duration, state))
    }
}

impl Sim<Watch> {
    /// Builds a simulation of which everything is observed that the specification asks for.
    #[must_use]
    pub fn watched(spec: &SimSpec) -> Self {
        Self::with_tap(spec, |state| Watch::new(spec, state))
    }
}

impl Sim<NoTap> {
    /// Builds a simulation without a tap.
    #[must_use]
    pub fn untapped(spec: &SimSpec) -> Self {
        Self::with_tap(spec, |_| NoTap)
    }
}

impl<T: Tap> Sim<T> {
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
            let event = self.events.next();
            let at = event.at;
            let due = at.min(last);
            // A flow of the bucket may be due before the next look.
            if due >= self.events.next_opening() {
                self.look_at_flows();
                continue;
            }
            if due >= self.next_look {
                self.take_measurements(due);
                continue;
            }
            if at > last || at == Time::NEVER {
                self.now = last;
                if self.catch_up(last) {
                    continue;
                }
                return if last == self.end { Stop::Done } else { Stop::Paused };
            }
            self.now = at;
            if let Some(flow) = self.handle(event) {
                self.suspended = Some(flow);
                self.catch_up(at);
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

    /// The ssthresh that Linux would save if each flow (and subflow) ended now, in segments, in the order of the flows.
    #[must_use]
    pub fn saved_ssthresh(&self) -> Vec<Option<u64>> {
        self.flows.iter().map(|flow| flow.sender.saved_ssthresh()).collect()
    }

    /// Whether all that a flow, or its connection, had to send was acknowledged.
    fn is_finished(&self, flow: &Flow) -> bool {
        match flow.place {
            None => flow.sender.is_finished(),
            Some(place) => self.connections[place.connection as usize].is_finished(),
        }
    }

    /// Passes on the agent's decision; it takes effect after the flow's decision delay.
    pub fn act(&mut self, flow: usize, action: u32) {
        let room = 0;
        let Self { flows, outbox, tap, now, .. } = self;
        if let Some(one) = flows.get_mut(flow) {
            let turn = &mut Turn { now: *now, room, outbox, tap, flow: flow as u32, way_out: None };
            one.sender.act(turn, action);
        }
    }

    /// The tap's result for the run so far.
    #[must_use]
    pub fn outcome(mut self) -> T::Outcome {
        self.settle_links(self.now);
        let Self { now, flows, connections, arrivals, links, handled, tap, .. } = self;
        tap.finish(&State {
            now,
            flows: &flows,
            connections: &connections,
            arrivals: &arrivals,
            links: &links,
            handled,
        })
    }

    /// Ends the warm-up and lets the tap look, each at its time and before the other events of that time.
    #[cold]
    fn take_measurements(&mut self, due: Time) {
        while self.next_look <= due {
            let at = self.next_look;
            self.catch_up(at - Span(1));
            self.settle_links(at);
            let Self { flows, connections, arrivals, links, handled, tap, warmup, .. } = self;
            let state = State { now: at, flows, connections, arrivals, links, handled: *handled };
            if warmup.take_if(|warmup| *warmup <= at).is_some() {
                tap.end_warmup(&state);
            }
            if tap.next_look() <= at {
                tap.look(&state);
            }
            self.next_look = tap.next_look().min(warmup.unwrap_or(Time::NEVER));
        }
    }

    fn settle_links(&mut self, now: Time) {
        let Self { links, tap, .. } = self;
        for (index, link) in links.iter_mut().enumerate() {
            link.settle(&mut LinkTurn { now, tap, link: index as u32 });
        }
    }

    /// A packet comes to a link; the caller sets the link's slot.
    #[inline]
    fn put(&mut self, link: u32, packet: &Packet) {
        let Self { links, tap, now, .. } = self;
        links[link as usize].receive(&mut LinkTurn { now: *now, tap, link }, packet);
    }

    /// A link, after accounting for the packets that have left it.
    #[inline]
    fn settled(&mut self, link: u32) -> &Link {
        let Self { links, tap, now, .. } = self;
        let one = &mut links[link as usize];
        one.settle(&mut LinkTurn { now: *now, tap, link });
        one
    }

    /// Handles an event; returns the flow whose agent must decide.
    #[inline(always)]
    fn handle(&mut self, event: Event) -> Option<usize> {
        let Event { component, expected, .. } = event;
        let index = component as usize;
        if index < self.links.len() {
            self.handle_link(component);
            return None;
        }
        if component < self.first_flow {
            self.handled += 1;
            self.start_arrival(index - self.links.len());
            return None;
        }
        let index = (component - self.first_flow) as usize;
        let flow = &self.flows[index];
        let due = if expected {
            // The answer may have been for a flow that used this index before.
            let is_current = |awaited: &Awaited| awaited.generation == flow.generation;
            if !self.events.first_expected().is_some_and(is_current) {
                self.events.pop_expected();
                return None;
            }
            Due::Expected
        } else {
            if !self.events.pop_slot(component) {
                return None;
            }
            if flow.sender_due() > self.now {
                self.handle_own_slot(index);
                return None;
            }
            flow.due(self.now)
        };
        self.handle_sender(index, due)
    }

    /// The slot of a flow has come up, but its sender has nothing to do: a timer of its receiver is due, or a timer was
    /// put off and the slot is too early.
    #[inline(never)]
    fn handle_own_slot(&mut self, index: usize) {
        if self.flows[index].receiver.next_timer() <= self.now {
            self.handle_receiver_timer(index);
        }
        self.schedule_flow(index);
    }

    /// The flows whose timers may expire next are looked at.
    fn look_at_flows(&mut self) {
        let Self { flows, events, first_flow, .. } = self;
        let flow = |component: Component| &flows[(component - *first_flow) as usize];
        events.open_next(|component| flow(component).fetch_due(), |component| flow(component).next_event());
    }

    #[inline(always)]
    fn handle_sender(&mut self, index: usize, due: Due) -> Option<usize> {
        self.handled += 1;
        self.fetch_senders(usize::from(matches!(due, Due::Expected)));
        let now = self.now;
        let flow = &self.flows[index];
        let direct = flow.direct.filter(|_| Self::LOOKS_AHEAD);
        // Most senders are alone: no host holds them back, and their data are their own.
        let is_alone = flow.place.is_none() && (direct.is_some() || flow.routes.host.is_none());
        let is_simple = is_alone && !matches!(due, Due::Stop);
        let room = if is_simple { u32::MAX } else { self.prepare(index, &due) };
        let Self { links, flows, events, outbox, tap, first_flow, .. } = self;
        let flow = &mut flows[index];
        let mut way_out =
            direct.map(|first| WayOut::new(now, &mut links[first as usize], first, flow.stamp(index as u32)));
        let turn = &mut Turn { now, room, outbox, tap, flow: index as u32, way_out: way_out.as_mut() };
        let decision = match due {
            Due::Expected | Due::Answer => {
                let expected = events.first_expected().filter(|_| matches!(due, Due::Expected));
                flow.process_answer(turn, expected.map(|awaited| &awaited.answer))
            }
            Due::Start => {
                flow.begin(turn);
                Decision::NotDue
            }
            Due::Stop | Due::Timer => flow.sender.on_timer(turn),
        };
        if matches!(due, Due::Expected) {
            events.pop_expected();
        }
        if let Some(first) = direct {
            events.set(first as Component, links[first as usize].next_event());
            if is_alone && decision == Decision::NotDue && outbox.is_empty() && flow.group.is_none() {
                flow.refresh_due();
                events.advance(*first_flow + index as Component, flow.next_event());
                return None;
            }
        }
        if decision == Decision::Due {
            self.exchange_data(index);
            return Some(index);
        }
        if is_alone {
            self.send_outbox(index)
        } else {
            self.after_sender(index)
        }
        None
    }

    /// Lends a sender what it needs for its event, and returns how many segments its host's queue takes from it.
    #[inline(never)]
    fn prepare(&mut self, index: usize, due: &Due) -> u32 {
        let stops = matches!(due, Due::Stop);
        if stops {
            // Before the sender borrows its connection's data, which arrivals need.
            self.catch_up_with(index);
        }
        let room = self.room(index);
        self.exchange_data(index);
        if stops {
            self.flows[index].stop_sending(self.now);
        }
        room
    }

    fn finish_decision(&mut self, index: usize) {
        let room = self.room(index);
        self.exchange_data(index);
        let Self { flows, outbox, tap, now, .. } = self;
        let turn = &mut Turn { now: *now, room, outbox, tap, flow: index as u32, way_out: None };
        flows[index].sender.finish_decision(turn);
        self.after_sender(index);
    }

    /// A sender has acted: sends what it left in the outbox, and does what follows from that.
    #[inline]
    fn after_sender(&mut self, index: usize) {
        self.send_outbox(index);
        if let Some(place) = self.flows[index].place {
            self.after_subflow(index, place);
        }
    }

    /// Sends what the sender left in the outbox, and sets its event slot.
    #[inline]
    fn send_outbox(&mut self, index: usize) {
        let Self { links, flows, tap, now, outbox, events, first_flow, .. } = self;
        let flow = &mut flows[index];
        if flow.routes.host.is_some() || flow.group.is_some() {
            return self.send_and_look_around(index);
        }
        hand_over(links, flow, index as u32, &mut Departure { now: *now, tap, outbox, events });
        if T::DETAILED {
            tap.on_turn(*now, index as u32, &flow.sender);
        }
        events.advance(*first_flow + index as Component, flow.next_event());
    }

    /// The same for a sender that shares its host's queue, or whose flow ends with its last byte.
    #[inline(never)]
    fn send_and_look_around(&mut self, index: usize) {
        let host = self.flows[index].routes.host;
        if let Some(host) = host {
            self.end_turn(index, host);
        }
        let Self { links, flows, tap, now, outbox, events, .. } = self;
        hand_over(links, &mut flows[index], index as u32, &mut Departure { now: *now, tap, outbox, events });
        if let Some(host) = host {
            self.wait_for_turn(index, host);
        }
        let flow = &mut self.flows[index];
        if T::DETAILED {
            self.tap.on_turn(self.now, index as u32, &flow.sender);
        }
        if flow.group.is_some() && flow.sender.is_finished() {
            self.end_arrival(index);
        }
        self.schedule_flow(index);
    }

    /// A receiver's timer expires, unless a segment that has arrived by now has reset it.
    fn handle_receiver_timer(&mut self, index: usize) {
        self.catch_up_with(index);
        self.expire_timers(index, self.now);
    }

    /// An arrival process starts a flow, in the place of one that has ended if there is one.
    fn start_arrival(&mut self, group: usize) {
        if let Some(&ended) = self.arrivals[group].free.last() {
            self.catch_up_with(ended);
        }
        let arrivals = &mut self.arrivals[group];
        let (now, bytes) = arrivals.process.arrive();
        let spec = &arrivals.process.spec;
        let next = arrivals.process.next;
        let (routes, shared) = (arrivals.routes.clone(), arrivals.shared.clone());
        let place = arrivals.free.pop();
        let index = place.unwrap_or(self.flows.len());
        let generation = place.map_or(0, |place| self.flows[place].generation.wrapping_add(1));
        // Every flow of the group has random streams of its own.
        let name = format!("{} {index} {generation}", spec.name);
        let own = Own { name, start: now, stop: spec.active.stop, bytes: Some(bytes), place: None };
        let mut flow = Flow::new(own, &spec.kind, self.seed, routes, shared);
        flow.group = Some(group as u32);
        flow.generation = generation;
        if place.is_some() {
            self.flows[index] = flow;
        } else {
            self.flows.push(flow);
            self.events.add_flow();
        }
        self.tap.on_flow(now, index as u32, FlowEvent::Begin { group: Some(group) });
        self.schedule_flow(index);
        self.pass_on_turn(index);
        self.events.set((self.links.len() + group) as Component, next);
    }

    fn end_arrival(&mut self, index: usize) {
        let flow = &self.flows[index];
        let Some(group) = flow.group.filter(|_| !flow.is_retired()) else { return };
        let group = group as usize;
        self.catch_up_with(index);
        let flow = &mut self.flows[index];
        self.tap.on_flow(self.now, index as u32, FlowEvent::End { flow });
        flow.retire();
        let arrivals = &mut self.arrivals[group];
        arrivals.process.follow(self.now);
        arrivals.free.push(index);
        let next = arrivals.process.next;
        self.events.set((self.links.len() + group) as Component, next);
    }

    #[inline(always)]
    fn schedule_link(&mut self, link: usize) {
        self.events.set(link as Component, self.links[link].next_event());
    }

    #[inline(always)]
    fn schedule_flow(&mut self, index: usize) {
        self.events.advance(self.first_flow + index as Component, self.flows[index].next_event());
    }
}

/// What a sender's packets need to leave.
struct Departure<'a, T> {
    now: Time,
    tap: &'a mut T,
    outbox: &'a mut Vec<Outgoing>,
    events: &'a mut EventQueue,
}

/// Puts what a sender left in the outbox on its first link, and determines when the sender has something to do.
#[inline(always)]
fn hand_over<T: Tap>(links: &mut [Link], flow: &mut Flow, index: u32, departure: &mut Departure<T>) {
    let Departure { now, tap, outbox, events } = departure;
    if let Some(first) = flow.routes.data.first().filter(|_| !outbox.is_empty()) {
        let link = &mut links[first as usize];
        let turn = &mut LinkTurn { now: *now, tap: &mut **tap, link: first };
        link.expect_new(turn.now);
        for outgoing in outbox.iter() {
            if T::DETAILED {
                turn.tap.on_packet(turn.now, End::Sender, flow, &flow.wrap(index, outgoing));
            }
            let stamp = flow.stamp(index);
            let size = stamp.size_of(outgoing);
            if size <= flow.mtu || matches!(outgoing, Outgoing::Syn) {
                link.receive_new(turn, size, |packet: &mut _| stamp.write(outgoing, packet));
            } else {
                receive_fragments(link, turn, flow, index, outgoing);
            }
        }
        outbox.clear();
        events.set(first as Component, link.next_event());
    }
    flow.refresh_due();
}

/// Puts a segment that is longer than the MTU on a link in fragments.
#[inline(never)]
fn receive_fragments<T: Tap>(
    link: &mut Link,
    turn: &mut LinkTurn<T>,
    flow: &mut Flow,
    index: u32,
    outgoing: &Outgoing,
) {
    fragment::cut(flow.wrap(index, outgoing), flow.mtu, |fragment| link.receive(turn, fragment));
}
