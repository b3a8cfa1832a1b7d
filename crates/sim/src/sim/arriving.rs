//! What happens to a packet that has crossed a link, and what is prefetched for the next ones.

use super::Sim;
use crate::ahead::FEW_FLOWS;
use crate::event::Component;
use crate::flow::{Answer, Flow};
use crate::fragment::Whole;
use crate::link::Link;
use crate::packet::{Body, Data, Fragment, Packet};
use crate::tap::{End, LinkTurn, Tap};
use cwndlab_cc::{Span, Time};

impl<T: Tap> Sim<T> {
    /// A packet that is due at the far end of a link arrives there.
    #[inline(always)]
    pub(super) fn receive_from(&mut self, link: Component) {
        self.handled += 1;
        let Self { links, flows, events, tap, now, first_flow, .. } = self;
        let many = flows.len() > FEW_FLOWS;
        let from = &mut links[link as usize];
        if many {
            fetch_receiver(from, flows);
        }
        let Some(packet) = from.arrive(&mut LinkTurn { now: *now, tap, link }) else { return };
        let index = packet.flow;
        let flow = &mut flows[index as usize];
        // Nearly every packet is a segment that only its receiver handles: it is read where it is.
        match &packet.body {
            Body::Data(data) if !T::DETAILED && is_for_receiver_alone(packet, flow, *now) => {
                let Some(whole) = flow.gather(*now, packet, data) else { return from.remove_arrived() };
                if flow.on_data(*now, data, whole.ecn) {
                    flow.acknowledge(*now, |at| events.expect(*first_flow + index, at));
                }
                from.remove_arrived();
                events.advance(*first_flow + index, flow.next_event());
            }
            _ => {
                let mut packet = *packet;
                from.remove_arrived();
                self.route(&mut packet);
            }
        }
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
        let header = self.flows[index].receiver.acknowledge(self.now, false);
        self.answer(index, Answer::Ack(header));
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

/// Whether a segment or fragment goes to its receiver and needs nothing else: this was its last link, its ACK
/// crosses no link, and no timer of the receiver was due before.
#[inline(always)]
fn is_for_receiver_alone(packet: &Packet, flow: &Flow, now: Time) -> bool {
    packet.generation == flow.generation
        && packet.hop + 1 == flow.plain_hops
        && flow.receiver.next_timer() >= now
}

/// Prefetches the receiver of the packet that arrives on this link two packets after the one that is due.
#[inline]
fn fetch_receiver(link: &Link, flows: &[Flow]) {
    if let Some(flow) = link.flow_after(6) {
        flows[flow as usize].fetch_receiver();
    }
}
