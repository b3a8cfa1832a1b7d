//! What happens to a packet that has crossed a link, and what is prefetched for the next ones.

use super::Sim;
use crate::ahead::FEW_FLOWS;
use crate::flow::Answer;
use crate::packet::{Body, Data, EcnField, Fragment, Packet};
use crate::tap::{End, Tap};

/// What a link hands over: nearly always a whole packet of data, which is copied without room for an ACK
/// header.
pub(super) enum Arrived {
    Segment(Segment),
    Other(Packet),
}

/// A packet of data that was not fragmented.
pub(super) struct Segment {
    flow: u32,
    generation: u16,
    hop: u8,
    ecn: EcnField,
    size: u32,
    data: Data,
}

impl Segment {
    fn packet(&self) -> Packet {
        let Self { flow, generation, hop, ecn, size, data } = *self;
        Packet { flow, generation, hop, ecn, size, fragment: Fragment::WHOLE, body: Body::Data(data) }
    }
}

impl Arrived {
    #[inline(always)]
    pub(super) fn of(packet: &Packet) -> Self {
        match packet.body {
            Body::Data(data) if packet.fragment.of == 1 => {
                let Packet { flow, generation, hop, ecn, size, .. } = *packet;
                Self::Segment(Segment { flow, generation, hop, ecn, size, data })
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
        let packet = || Packet { hop: segment.hop + 1, ..segment.packet() };
        match flow.routes.data.hop(segment.hop + 1) {
            Some(next) => self.pass_on(next, packet()),
            None => self.receive_data(index, segment.data, segment.ecn, packet),
        }
    }

    /// The same for any other packet.
    #[inline(never)]
    pub(super) fn route(&mut self, mut packet: Packet) -> Option<usize> {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        if packet.generation != flow.generation {
            return None;
        }
        packet.hop += 1;
        let to_receiver = matches!(packet.body, Body::Data(_) | Body::Syn);
        let route = if to_receiver { &flow.routes.data } else { &flow.routes.acks };
        if let Some(next) = route.hop(packet.hop) {
            self.pass_on(next, packet);
            return None;
        }
        match packet.body {
            Body::Data(data) => {
                let ecn = flow.gather(self.now, packet, data)?;
                self.receive_data(index, data, ecn, || Packet { ecn, fragment: Fragment::WHOLE, ..packet });
            }
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
        None
    }

    #[inline(never)]
    pub(super) fn pass_on(&mut self, link: u32, packet: Packet) {
        self.put(link, &packet);
        self.schedule_link(link as usize);
    }

    /// Data have reached their receiver; `packet` is the whole packet.
    #[inline(always)]
    fn receive_data(&mut self, index: usize, data: Data, ecn: EcnField, packet: impl FnOnce() -> Packet) {
        let flow = &mut self.flows[index];
        if T::DETAILED {
            self.tap.on_packet(self.now, End::Receiver, flow, &packet());
        }
        let before = flow.receiver.next();
        let due = flow.on_data(self.now, &data, ecn);
        if flow.place.is_some() {
            self.pass_up(index, before);
        }
        if due {
            let header = self.flows[index].receiver.acknowledge(self.now, false);
            self.answer(index, Answer::Ack(header));
        }
        self.schedule_flow(index);
    }

    /// A receiver sends something back; the caller sets the flow's slot.
    #[inline(always)]
    pub(super) fn answer(&mut self, index: usize, answer: Answer) {
        let flow = &mut self.flows[index];
        if T::DETAILED || flow.place.is_some() || flow.routes.acks.first().is_some() {
            self.answer_over_links(index, answer);
        } else {
            let at = flow.post(self.now, answer);
            if self.flows.len() > FEW_FLOWS {
                self.coming.push(at, index as u32);
            }
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

    /// The same if the return path has links, the flow is a subflow, or the tap wants packets.
    #[inline(never)]
    fn answer_over_links(&mut self, index: usize, mut answer: Answer) {
        let flow = &mut self.flows[index];
        if let Some(place) = flow.place {
            answer.announce(self.connections[place.connection as usize].reassembly.edge());
        }
        if T::DETAILED {
            self.tap.on_packet(self.now, End::Receiver, flow, &flow.wrap_answer(index as u32, answer));
        }
        match flow.routes.acks.first() {
            None => {
                flow.post(self.now, answer);
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
