//! What happens to a packet that has crossed a link, and what is prefetched for the next ones.

use super::Sim;
use crate::ahead::FEW_FLOWS;
use crate::event::{Component, EventQueue};
use crate::flow::{Answer, Flow, SubflowPlace};
use crate::fragment::Whole;
use crate::link::{Flight, Link};
use crate::packet::{Body, Data, Fragment, Packet};
use crate::tap::{End, Tap};
use crate::turn::LinkTurn;
use cwndlab_cc::{Span, Time};

/// How many packets ahead a receiver is prefetched.
const FETCHED_AHEAD: usize = 6;

impl<T: Tap> Sim<T> {
    /// The event of a link at its far end: a packet that is due there arrives.
    #[inline(always)]
    pub(super) fn receive_from(&mut self, link: Component) {
        self.handled += 1;
        if self.links[link as usize].next_arrival() <= self.now && !self.far_end(link).receive() {
            self.route_arrived(link);
        }
    }

    /// All packets arrive at the far end of a link that are due there by `until`, each at its own time.
    #[inline(always)]
    pub(super) fn receive_until(&mut self, link: Component, until: Time) {
        while !self.receive_segments(link, until) {
            self.route_arrived(link);
        }
    }

    /// The same up to the first packet that its receiver cannot handle alone. Returns whether there was none.
    #[inline(always)]
    fn receive_segments(&mut self, link: Component, until: Time) -> bool {
        let mut at = self.far_end(link);
        while at.link.next_arrival() <= until {
            *at.handled += 1;
            *at.now = at.link.next_arrival();
            if !at.receive() {
                return false;
            }
        }
        true
    }

    /// The packet that has arrived on a link goes on.
    #[inline(always)]
    fn route_arrived(&mut self, link: Component) {
        let Self { links, flows, .. } = self;
        let from = &mut links[link as usize];
        let Some(Flight { packet, .. }) = from.flight_after(0) else { return };
        let index = packet.flow as usize;
        if let Some((place, data)) = segment_for_subflow(packet, &flows[index]).filter(|_| Self::LOOKS_AHEAD)
        {
            let ecn = packet.ecn;
            from.remove_arrived();
            self.expire_siblings_timers(place);
            self.receive_on_subflow(index, place, data, ecn);
            return self.schedule_flow(index);
        }
        let mut packet = *packet;
        from.remove_arrived();
        self.route(&mut packet);
    }

    #[inline(always)]
    fn far_end(&mut self, number: Component) -> FarEnd<'_, T> {
        let Self { links, flows, events, tap, now, handled, first_flow, .. } = self;
        let link = &mut links[number as usize];
        let many = flows.len() > FEW_FLOWS;
        FarEnd { link, number, flows, events, tap, now, handled, first_flow: *first_flow, many }
    }

    /// A packet has crossed a link: on to the next one, or to the end of its connection.
    #[inline(never)]
    fn route(&mut self, packet: &mut Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        if packet.generation != flow.generation {
            return;
        }
        packet.hop += 1;
        let to_receiver = matches!(packet.body, Body::Data(_) | Body::Syn);
        let route = if to_receiver { &flow.routes.data } else { &flow.routes.acks };
        if let Some(next) = route.hop(packet.hop) {
            return self.pass_on(next, packet);
        }
        match packet.body {
            Body::Data(data) => {
                if let Some(Whole { size, ecn }) = flow.gather(self.now, packet, &data) {
                    (packet.size, packet.ecn, packet.fragment) = (size, ecn, Fragment::WHOLE);
                    self.receive_data(packet, data);
                }
            }
            Body::Syn => {
                if T::DETAILED {
                    self.tap.on_packet(self.now, End::Receiver, flow, packet);
                }
                let answer = flow.accept(self.now);
                self.answer(index, answer);
                self.schedule_flow(index);
            }
            Body::SynAck { sent_at, window } => self.deliver(index, Answer::SynAck { sent_at, window }),
            Body::Ack(header) => self.deliver(index, Answer::Ack(header)),
        }
    }

    #[inline(never)]
    pub(super) fn pass_on(&mut self, link: u32, packet: &Packet) {
        self.put(link, packet);
        self.schedule_link(link as usize);
    }

    /// A whole packet of data has reached its receiver.
    #[inline]
    fn receive_data(&mut self, packet: &Packet, data: Data) {
        let index = packet.flow as usize;
        if Self::LOOKS_AHEAD {
            if let Some(place) = self.flows[index].place {
                self.expire_siblings_timers(place);
            } else if self.flows[index].receiver.next_timer() < self.now {
                self.expire_timers(index, self.now - Span(1));
            }
        }
        let flow = &mut self.flows[index];
        if T::DETAILED {
            self.tap.on_packet(self.now, End::Receiver, flow, packet);
        }
        if let Some(place) = flow.place {
            self.receive_on_subflow(index, place, data, packet.ecn);
        } else if flow.on_data(self.now, &data, packet.ecn) {
            self.answer_at_once(index);
        }
        self.schedule_flow(index);
    }

    /// A receiver acknowledges what has arrived; the caller sets the flow's slot.
    pub(super) fn answer_at_once(&mut self, index: usize) {
        if !T::DETAILED && self.flows[index].routes.acks.first().is_none() {
            return self.acknowledge_in_place(index);
        }
        let header = self.flows[index].receiver.acknowledge(self.now, false);
        self.answer(index, Answer::Ack(header));
    }

    /// The same on a return path without links.
    fn acknowledge_in_place(&mut self, index: usize) {
        let Self { flows, connections, events, now, first_flow, .. } = self;
        let flow = &mut flows[index];
        let edge = flow.place.map(|place| connections[place.connection as usize].reassembly.edge());
        let answer = flow.acknowledge(*now, |at| events.expect(*first_flow + index as Component, at));
        if let Some(edge) = edge {
            answer.announce(edge);
        }
    }

    /// With many flows, prefetches for the next two senders whose answers are expected, after `skipped` of them: for the
    /// later one what lies in its flow, and for the earlier one what its flow points to.
    #[inline]
    pub(super) fn fetch_senders(&mut self, skipped: usize) {
        if self.flows.len() > FEW_FLOWS {
            let [next, after] = self.events.next_expected(skipped);
            if let Some(component) = next {
                let flow = component - self.first_flow;
                self.flows[flow as usize].fetch_beyond();
                self.tap.fetch_beyond(flow);
            }
            if let Some(component) = after {
                let flow = component - self.first_flow;
                self.flows[flow as usize].fetch_sender();
                self.tap.fetch(flow);
            }
        }
    }

    /// A receiver sends something back; the caller sets the flow's slot.
    #[inline(never)]
    pub(super) fn answer(&mut self, index: usize, mut answer: Answer) {
        let flow = &mut self.flows[index];
        if let Some(place) = flow.place {
            answer.announce(self.connections[place.connection as usize].reassembly.edge());
        }
        if T::DETAILED {
            self.tap.on_packet(self.now, End::Receiver, flow, &flow.wrap_answer(index as u32, answer));
        }
        match flow.routes.acks.first() {
            None => self.post(index, answer),
            Some(first) => {
                let packet = flow.wrap_answer(index as u32, answer);
                self.pass_on(first, &packet);
            }
        }
    }

    /// What a receiver sent back has crossed its links.
    fn deliver(&mut self, index: usize, answer: Answer) {
        self.post(index, answer);
        self.schedule_flow(index);
    }

    /// An answer is on its way to its sender, over no more links.
    fn post(&mut self, index: usize, answer: Answer) {
        let Self { flows, events, now, first_flow, .. } = self;
        flows[index].post(*now, answer, |at| events.expect(*first_flow + index as Component, at));
    }
}

/// What the arrival of a segment touches.
struct FarEnd<'a, T> {
    link: &'a mut Link,
    number: Component,
    flows: &'a mut [Flow],
    events: &'a mut EventQueue,
    tap: &'a mut T,
    now: &'a mut Time,
    handled: &'a mut u64,
    first_flow: Component,
    /// There are many flows: they are prefetched.
    many: bool,
}

impl<T: Tap> FarEnd<'_, T> {
    /// The next packet arrives, which is due. Nearly every packet is a segment that only its receiver handles: it is read
    /// where it is. Returns false if it is any other packet, which stays on the link.
    #[inline(always)]
    fn receive(&mut self) -> bool {
        let Self { link, number, flows, events, tap, now, first_flow, .. } = self;
        let now = **now;
        if self.many {
            fetch_receiver(link, flows);
        }
        let Some(packet) = link.arrive(&mut LinkTurn { now, tap: &mut **tap, link: *number }) else {
            return true;
        };
        let index = packet.flow;
        let flow = &mut flows[index as usize];
        match &packet.body {
            Body::Data(data) if !T::DETAILED && is_for_receiver_alone(packet, flow, now) => {
                let whole = flow.gather(now, packet, data);
                if whole.is_some_and(|whole| flow.on_data(now, data, whole.ecn)) {
                    flow.acknowledge(now, |at| events.expect(*first_flow + index, at));
                }
                link.remove_arrived();
                events.advance(*first_flow + index, flow.next_event());
                true
            }
            _ => false,
        }
    }
}

/// Whether a segment or fragment goes to its receiver and needs nothing else: this was its last link, its ACK
/// crosses no link, and no timer of the receiver was due before.
#[inline(always)]
fn is_for_receiver_alone(packet: &Packet, flow: &Flow, now: Time) -> bool {
    packet.generation == flow.generation
        && packet.hop + 1 == flow.plain_hops
        && flow.receiver.next_timer() >= now
}

/// What arrives if it is a whole segment of a subflow, at the end of its last link.
#[inline(always)]
fn segment_for_subflow(packet: &Packet, flow: &Flow) -> Option<(SubflowPlace, Data)> {
    let place = flow.place?;
    let Body::Data(data) = packet.body else { return None };
    let is_here = packet.generation == flow.generation && flow.routes.data.hop(packet.hop + 1).is_none();
    (is_here && packet.fragment.of == 1).then_some((place, data))
}

/// Prefetches the receiver of a packet that arrives on this link soon after the one that is due.
#[inline]
fn fetch_receiver(link: &Link, flows: &[Flow]) {
    if let Some(flight) = link.flight_after(FETCHED_AHEAD) {
        flows[flight.packet.flow as usize].fetch_receiver();
    }
}
