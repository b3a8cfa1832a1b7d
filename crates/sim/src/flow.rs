//! A flow: its two endpoints, and the routes of its data and of its ACKs.

use crate::ahead::{LINE, fetch};
use crate::fragment::Reassembly;
use crate::measures::measured_until;
use crate::packet::{AckHeader, Body, Data, EcnField, Fragment, Packet};
use crate::processing::Processing;
use crate::route::Routes;
use crate::spec::FlowKind;
use crate::tcp::{Outgoing, Receiver, Sender, Stream, Supply, TcpOptions, TimestampClock};
use cwndlab_cc::{Ecn, Rng, Span, Time};
use std::collections::VecDeque;
use std::mem::offset_of;
use std::sync::Arc;

/// What a receiver sends back.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// The connection is accepted.
    SynAck {
        /// When.
        sent_at: Time,
        /// Segments that there is room for.
        window: u32,
    },
    /// An acknowledgement.
    Ack(AckHeader),
}

impl Answer {
    /// Announces room for data below this segment of a connection, in the place of room on the subflow.
    pub fn announce(&mut self, edge: u32) {
        match self {
            Self::SynAck { window, .. } | Self::Ack(AckHeader { window, .. }) => *window = edge,
        }
    }
}

/// What is the same for many flows.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Options of its endpoints; equal ones are shared, which keeps them in the cache.
    pub options: Arc<TcpOptions>,
    /// Bounds of its sender's processing delay.
    pub processing: Processing,
}

/// Which subflow of which connection a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowPlace {
    /// The connection.
    pub connection: u32,
    /// The subflow among the connection's; 0 opens it.
    pub subflow: u32,
}

/// One flow.
///
/// The fields stand in memory in this order, from the begin of a cache line on: what the arrival of a segment touches, what each
/// event of the sender does, and last what only the begin, the end and looks do.
#[repr(C, align(64))]
pub struct Flow {
    processing_rng: Rng,
    last_arrival: Time,
    processing: Span,
    /// When the sender has something to do.
    sender_due: Time,
    inbox: VecDeque<(Time, Answer)>,
    /// Which of the flows that used this place it is.
    pub generation: u16,
    ecn: EcnField,
    retired: bool,
    /// Its stream has an end.
    ends: bool,
    /// It waits for a slot of its host's queue.
    pub waits_for_host: bool,
    /// Its place in a multipath connection.
    pub place: Option<SubflowPlace>,
    /// Where its packets go.
    pub routes: Routes,
    /// Its receiver.
    pub receiver: Receiver,
    /// When it starts, until it has started.
    pub start: Time,
    stop: Time,
    /// The index of its arrival process.
    pub group: Option<usize>,
    header: u32,
    /// The longest packet that leaves whole.
    pub mtu: u32,
    /// Its sender.
    pub sender: Sender,
    // From here on nothing that most events touch.
    /// Its name.
    pub name: String,
    cc: String,
    mss: u64,
    /// Payload that it was the first subflow of its connection to deliver.
    brought_bytes: u64,
    stopped: Option<Time>,
    /// How much it is to send, if that is given.
    bytes: Option<u64>,
    completed: Option<Time>,
    started: Time,
    /// Fragments of a full segment.
    pub fragments: u32,
    /// Packets of which fragments have come.
    reassembly: Reassembly,
}

/// What sets a flow apart from others of its kind.
#[derive(Clone, Debug)]
pub struct Own {
    /// Its name; its random streams derive from it.
    pub name: String,
    /// When it starts; never, for a subflow that waits for the first one.
    pub start: Time,
    /// When it stops sending new data.
    pub stop: Option<Time>,
    /// How much it sends, or its connection; `None`: without end.
    pub bytes: Option<u64>,
    /// Its place in a multipath connection.
    pub place: Option<SubflowPlace>,
}

/// What a due event of a sender is.
pub enum Due {
    /// Its start.
    Start,
    /// An answer of its receiver.
    Answer(Answer),
    /// A clock.
    Timer,
}

impl Flow {
    /// A flow of this kind that has not started.
    #[must_use]
    pub fn new(own: Own, kind: &FlowKind, seed: u64, routes: Routes, shared: Shared) -> Self {
        let Own { name, start, stop, bytes, place } = own;
        let Shared { options, processing } = shared;
        let random = |what: &str| Rng::named(seed, &format!("flow {name} {what}"));
        let build = |setup: &_| (kind.algorithm.build)(setup, &kind.settings);
        let supply = match place {
            None => Supply::Own(Stream::new(options.mss, bytes)),
            Some(_) => Supply::Lent(None),
        };
        let clock = TimestampClock::new(&options, &mut random("clock"));
        let mut sender = Sender::new(options.clone(), build, supply, clock, random("cc"));
        sender.delay_decisions(kind.decision_delay);
        if let Some(place) = place {
            sender.become_subflow(place.subflow > 0, kind.uncoupled);
        }
        let paced = options.pacing || sender.control().pacing_rate.is_some();
        let ecn = match sender.ecn() {
            None => EcnField::NotEct,
            Some(Ecn::Ect1) => EcnField::Ect1,
            Some(_) => EcnField::Ect0,
        };
        Self {
            processing_rng: random("processing"),
            name,
            cc: kind.cc(),
            routes,
            sender,
            receiver: Receiver::new(&options),
            group: None,
            place,
            brought_bytes: 0,
            generation: 0,
            start,
            stop: stop.unwrap_or(Time::NEVER),
            stopped: None,
            bytes,
            ends: bytes.is_some(),
            inbox: VecDeque::new(),
            last_arrival: Time::ZERO,
            sender_due: start.min(stop.unwrap_or(Time::NEVER)),
            processing: if paced { processing.paced } else { processing.ack_clocked },
            completed: None,
            started: start,
            header: options.header as u32,
            mss: options.mss,
            mtu: u32::try_from(options.mtu).unwrap_or(u32::MAX),
            fragments: options.fragments() as u32,
            reassembly: Reassembly::default(),
            ecn,
            retired: false,
            waits_for_host: false,
        }
    }

    /// Asks for what the arrival of a segment touches.
    #[inline]
    pub fn fetch_receiver(&self) {
        fetch(self, offset_of!(Self, start));
    }

    /// Asks for what an event of the sender touches.
    #[inline]
    pub fn fetch_sender(&self) {
        fetch(self, LINE);
        fetch(&self.start, offset_of!(Self, sender) - offset_of!(Self, start) + Sender::HOT);
    }

    /// The same for what stands elsewhere; what has the pointers to it is here by now.
    #[inline]
    pub fn fetch_beyond(&self) {
        if let Some(answer) = self.inbox.front() {
            fetch(answer, size_of_val(answer));
        }
        self.sender.fetch_beyond();
    }

    /// When the sender has something to do: known from its last event, or an answer that came since.
    #[inline]
    #[must_use]
    pub fn sender_due(&self) -> Time {
        self.sender_due
    }

    /// The sender has acted, or is to start: when it has something to do next.
    #[inline]
    pub fn look_ahead(&mut self) {
        let answer = self.inbox.front().map_or(Time::NEVER, |(at, _)| *at);
        self.sender_due = self.start.min(self.stop).min(answer).min(self.sender.next_timer());
    }

    /// When the flow has something to do.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.sender_due.min(self.receiver.next_timer())
    }

    /// What the sender has to do now.
    #[inline]
    pub fn take_due(&mut self, now: Time) -> Due {
        if let Some((at, answer)) = self.inbox.front()
            && *at <= now
        {
            let answer = *answer;
            self.inbox.pop_front();
            return Due::Answer(answer);
        }
        if self.start <= now {
            self.start = Time::NEVER;
            return Due::Start;
        }
        if self.stop <= now {
            self.stop = Time::NEVER;
            self.stopped = Some(now);
            self.ends = true;
            self.sender.stop();
        }
        Due::Timer
    }

    /// An answer has crossed the links of its route; it is processed after the delays beside them and the sender's
    /// processing delay, in order: returns when.
    #[inline(always)]
    pub fn post(&mut self, now: Time, answer: Answer) -> Time {
        let processing = Span(self.processing_rng.below(self.processing.0 + 1));
        let arrival = (now + self.routes.acks.delay(now) + processing).max(self.last_arrival);
        self.last_arrival = arrival;
        self.sender_due = self.sender_due.min(arrival);
        self.inbox.push_back((arrival, answer));
        arrival
    }

    /// Whether its packet is no longer than the MTU; asked before the packet is made, which is then made in its place.
    #[inline]
    #[must_use]
    pub fn leaves_whole(&self, outgoing: &Outgoing) -> bool {
        match outgoing {
            Outgoing::Syn => true,
            Outgoing::Segment { payload, .. } => u64::from(self.header) + payload <= u64::from(self.mtu),
        }
    }

    /// The packet of something that the sender wants to send.
    #[inline]
    #[must_use]
    pub fn wrap(&self, index: u32, outgoing: &Outgoing) -> Packet {
        let (size, ecn, body) = match outgoing {
            Outgoing::Syn => (self.header, EcnField::NotEct, Body::Syn),
            Outgoing::Segment { data, payload, resent } => {
                // RFC 3168 section 6.1.5: a retransmission is not ECN-capable.
                let ecn = if *resent { EcnField::NotEct } else { self.ecn };
                (self.header + *payload as u32, ecn, Body::Data(*data))
            }
        };
        let fragment = Fragment::WHOLE;
        Packet { flow: index, generation: self.generation, hop: 0, ecn, size, fragment, body }
    }

    /// The packet of an answer, for a return path of links.
    #[must_use]
    pub fn wrap_answer(&self, index: u32, answer: Answer) -> Packet {
        let body = match answer {
            Answer::SynAck { sent_at, window } => Body::SynAck { sent_at, window },
            Answer::Ack(header) => Body::Ack(header),
        };
        let options = match &answer {
            Answer::Ack(header) => match header.sack.iter().filter(|b| b.end > b.start).count() as u32 {
                0 => 0,
                // RFC 2018 section 3: two bytes and eight for each block, padded to four.
                blocks => 4 + 8 * blocks,
            },
            Answer::SynAck { .. } => 0,
        };
        let size = self.header + options;
        let (ecn, fragment) = (EcnField::NotEct, Fragment::WHOLE);
        Packet { flow: index, generation: self.generation, hop: 0, ecn, size, fragment, body }
    }

    /// The SYN arrives.
    pub fn accept(&mut self, now: Time) -> Answer {
        self.receiver.accept(now);
        Answer::SynAck { sent_at: now, window: self.receiver.window() }
    }

    /// A fragment of a segment arrives; if it was the last one missing, gives the ECN field of the whole packet.
    #[cold]
    #[inline(never)]
    pub fn gather(&mut self, now: Time, mut packet: Packet, data: Data) -> Option<EcnField> {
        self.reassembly.take(now, &mut packet, &data).then_some(packet.ecn)
    }

    /// A segment arrives; whether its receiver is to answer at once.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, data: &Data, ecn: EcnField) -> bool {
        let due = self.receiver.on_data(now, data, ecn);
        if self.ends && self.sender.stream().and_then(Stream::segments) == Some(self.receiver.next()) {
            self.completed.get_or_insert(now);
        }
        due
    }

    /// Payload of the segments below this one.
    fn bytes_below(&self, seq: u32) -> u64 {
        self.sender.stream().map_or(0, |stream| stream.bytes_below(seq))
    }

    /// Bytes of a packet's headers.
    #[must_use]
    pub fn header(&self) -> u64 {
        u64::from(self.header)
    }

    /// Payload of a full segment in bytes.
    #[must_use]
    pub fn mss(&self) -> u64 {
        self.mss
    }

    /// Payload delivered in order since the start; of a subflow, what it was the first to deliver.
    #[must_use]
    pub fn delivered_bytes(&self) -> u64 {
        match self.place {
            Some(_) => self.brought_bytes,
            None => self.bytes_below(self.receiver.next()),
        }
    }

    /// What results call it: a flow, or a subflow of one.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.place.is_some() { "subflow" } else { "flow" }
    }

    /// The name of its algorithm.
    #[must_use]
    pub fn cc(&self) -> &str {
        &self.cc
    }

    /// Time from the start to the arrival of the last byte, for a flow of a given size; `None` if its stop cut it short.
    #[must_use]
    pub fn completion(&self) -> Option<Span> {
        self.completion_with(self.delivered_bytes())
    }

    /// The same for a flow whose connection has delivered this much.
    #[must_use]
    pub fn completion_with(&self, delivered_bytes: u64) -> Option<Span> {
        let whole = self.bytes.is_some_and(|bytes| delivered_bytes >= bytes);
        self.completed.filter(|_| whole).map(|at| at.since(self.started))
    }

    /// Until when it is measured: its last byte's arrival, its stop if all had arrived before, or now.
    #[must_use]
    pub fn measured_until(&self, now: Time) -> Time {
        measured_until(self.completed, self.stopped, || self.sender.is_finished(), now)
    }

    /// When it started (or will).
    #[must_use]
    pub fn started(&self) -> Time {
        self.started
    }

    /// The connection that it is a subflow of is established: it joins.
    pub fn join(&mut self, now: Time) {
        (self.start, self.started) = (now, now);
        self.look_ahead();
    }

    /// It was the first subflow to deliver so much payload.
    pub fn note_brought(&mut self, bytes: u64) {
        self.brought_bytes += bytes;
    }

    /// All data of its connection have arrived.
    pub fn complete(&mut self, now: Time) {
        self.completed.get_or_insert(now);
    }

    /// Its connection is over: it sends nothing more, and what is under way finds nobody.
    pub fn close(&mut self) {
        self.sender.close();
        self.inbox.clear();
        self.generation = self.generation.wrapping_add(1);
    }

    /// Its place is free for another one.
    pub fn retire(&mut self) {
        self.retired = true;
    }

    /// Whether its place is free for another one.
    #[must_use]
    pub fn is_retired(&self) -> bool {
        self.retired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a thousand flows every cache line of 64 bytes that an event touches comes from far. Whoever adds a field puts it
    /// where it belongs by what touches it, and raises a bound only for a field that events need.
    #[test]
    fn what_an_event_touches_of_a_flow_is_small() {
        let receiver = offset_of!(Flow, start);
        let sender = offset_of!(Flow, sender) - receiver + Sender::HOT;
        assert!(receiver <= 528, "the arrival of a segment: {receiver} bytes");
        assert!(sender <= 688, "an event of the sender: {sender} bytes");
        assert!(size_of::<Flow>() <= 1536, "a flow: {} bytes", size_of::<Flow>());
    }
}
