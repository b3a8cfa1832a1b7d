//! What happens to a packet that has crossed a link, and what is prefetched for the next ones.

use super::Sim;
use crate::ahead::FEW_FLOWS;
use crate::event::Component;
use crate::flow::Answer;
use crate::fragment::{Piece, Whole};
use crate::packet::{Body, Data, EcnField, Fragment, Packet};
use crate::tap::{End, Tap};
use cwndlab_cc::Span;

/// What a link hands over: nearly always a packet of data, which is copied without room for an ACK header.
pub(super) enum Arrived {
    Segment(Segment),
    Fragment(Segment, Fragment),
    Other(Packet),
}

/// A packet of data, or a fragment of one.
pub(super) struct Segment {
    flow: u32,
    generation: u16,
    hop: u8,
    ecn: EcnField,
    size: u32,
    data: Data,
}

impl Segment {
    fn packet(&self, fragment: Fragment) -> Packet {
        let Self { flow, generation, hop, ecn, size, data } = *self;
        Packet { flow, generation, hop, ecn, size, fragment, body: Body::Data(data) }
    }
}

impl Arrived {
    #[inline(always)]
    pub(super) fn of(packet: &Packet) -> Self {
        match packet.body {
            Body::Data(data) => {
                let Packet { flow, generation, hop, ecn, size, fragment, .. } = *packet;
                let segment = Segment { flow, generation, hop, ecn, size, data };
                if fragment.of == 1 { Self::Segment(segment) } else { Self::Fragment(segment, fragment) }
            }
            _ => Self::Other(*packet),
        }
    }
}

impl<T: Tap> Sim<T> {
    /// A whole packet of data has crossed a link: on to the next one, or to its receiver.
    #[inline(always)]
    pub(super) fn route_segment(&mut self, segment: &Segment) {
        let index = segment.flow as usize;
        let flow = &mut self.flows[index];
        if segment.generation != flow.generation {
            return;
        }
        let packet = || Packet { hop: segment.hop + 1, ..segment.packet(Fragment::WHOLE) };
        match flow.routes.data.hop(segment.hop + 1) {
            Some(next) => self.pass_on(next, packet()),
            None => self.receive_data(index, segment.data, segment.ecn, packet),
        }
    }

    /// The same for a fragment.
    #[inline(never)]
    pub(super) fn route_fragment(&mut self, segment: &Segment, fragment: Fragment) {
        let index = segment.flow as usize;
        let flow = &mut self.flows[index];
        if segment.generation != flow.generation {
            return;
        }
        let packet = |fragment| Packet { hop: segment.hop + 1, ..segment.packet(fragment) };
        if let Some(next) = flow.routes.data.hop(segment.hop + 1) {
            return self.pass_on(next, packet(fragment));
        }
        let Segment { ecn, size, data, .. } = *segment;
        let piece = Piece { key: (data.sent_at, data.seq), size, ecn, of: fragment.of };
        if let Some(Whole { size, ecn }) = flow.gather(self.now, &piece) {
            let whole = || Packet { size, ecn, ..packet(Fragment::WHOLE) };
            self.receive_data(index, data, ecn, whole);
        }
    }

    /// The same for any other packet.
    #[inline(never)]
    pub(super) fn route(&mut self, mut packet: Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        if packet.generation != flow.generation {
            return;
        }
        packet.hop += 1;
        let route = if matches!(packet.body, Body::Syn) { &flow.routes.data } else { &flow.routes.acks };
        if let Some(next) = route.hop(packet.hop) {
            return self.pass_on(next, packet);
        }
        match packet.body {
            // Handed over as a segment or a fragment.
            Body::Data(_) => {}
            Body::Syn => {
                if T::DETAILED {
                    self.tap.on_packet(self.now, End::Receiver, flow, &packet);
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
    pub(super) fn pass_on(&mut self, link: u32, packet: Packet) {
        self.put(link, &packet);
        self.schedule_link(link as usize);
    }

    /// Data have reached their receiver; `packet` is the whole packet.
    #[inline(always)]
    fn receive_data(&mut self, index: usize, data: Data, ecn: EcnField, packet: impl FnOnce() -> Packet) {
        let many = self.flows.len() > FEW_FLOWS;
        let was_due = self.flows[index].next_event();
        if Self::LOOKS_AHEAD {
            if let Some(place) = self.flows[index].place {
                self.expire_siblings_timers(place);
            } else if self.flows[index].receiver.next_timer() < self.now {
                self.expire_timers(index, self.now - Span(1));
            }
        }
        let Self { flows, coming, events, now, first_flow, .. } = self;
        let flow = &mut flows[index];
        if T::DETAILED || flow.place.is_some() || flow.routes.acks.first().is_some() {
            self.receive_and_answer(index, data, ecn, packet);
            return self.schedule_flow(index);
        }
        if flow.on_data(*now, &data, ecn) {
            let at = flow.acknowledge(*now);
            if many {
                coming.push(at, index as u32);
            }
        }
        let due = flow.next_event();
        if due != was_due {
            events.set(*first_flow + index as Component, due);
        }
    }

    /// The same if the return path has links, the flow is a subflow, or the tap wants packets; the caller sets
    /// the flow's slot.
    #[inline(never)]
    fn receive_and_answer(
        &mut self,
        index: usize,
        data: Data,
        ecn: EcnField,
        packet: impl FnOnce() -> Packet,
    ) {
        let flow = &mut self.flows[index];
        if T::DETAILED {
            self.tap.on_packet(self.now, End::Receiver, flow, &packet());
        }
        let before = flow.receiver.next();
        let must_answer = flow.on_data(self.now, &data, ecn);
        if flow.place.is_some() {
            self.pass_up(index, before);
        }
        if must_answer {
            let header = self.flows[index].receiver.acknowledge(self.now, false);
            self.answer(index, Answer::Ack(header));
        }
    }

    /// With many flows, prefetches the receiver of the packet that arrives on this link after the next one.
    #[inline]
    pub(super) fn fetch_receiver(&self, link: usize) {
        if self.flows.len() > FEW_FLOWS
            && let Some(flow) = self.links[link].flow_after(1)
        {
            self.flows[flow as usize].fetch_receiver();
        }
    }

    /// With many flows, prefetches for the next two senders: for the later one what lies in its flow, and for
    /// the earlier one what its flow points to.
    #[inline]
    pub(super) fn fetch_senders(&mut self) {
        if self.flows.len() > FEW_FLOWS {
            let [next, after] = self.coming.after(self.now);
            if let Some(flow) = next {
                self.flows[flow as usize].fetch_beyond();
                self.tap.fetch(flow);
            }
            if let Some(flow) = after {
                self.flows[flow as usize].fetch_sender();
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
            None => {
                let at = flow.post(self.now, answer);
                if self.flows.len() > FEW_FLOWS {
                    self.coming.push(at, index as u32);
                }
            }
            Some(first) => {
                let packet = flow.wrap_answer(index as u32, answer);
                self.pass_on(first, packet);
            }
        }
    }

    /// What a receiver sent back has crossed its links.
    fn deliver(&mut self, index: usize, answer: Answer) {
        self.flows[index].post(self.now, answer);
        self.schedule_flow(index);
    }
}
