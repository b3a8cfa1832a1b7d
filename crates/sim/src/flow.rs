//! A flow: its two endpoints, and the routes of its data and of its ACKs.

use crate::ahead::{LINE, fetch};
use crate::expected::Awaited;
use crate::fragment::{Piece, Reassembly, Whole};
use crate::measures::measured_until;
use crate::packet::{AckHeader, Body, Data, EcnField, Fragment, Packet};
use crate::processing::Processing;
use crate::ring::Ring;
use crate::route::Routes;
use crate::spec::FlowKind;
use crate::tap::{End, Tap};
use crate::tcp::{Outgoing, Receiver, Sender, Stream, Supply, TcpOptions, TimestampClock};
use crate::turn::Turn;
use crate::way_out::Stamp;
use cwndlab_cc::{Decision, Ecn, Rng, Span, Time};
use std::mem::offset_of;
use std::sync::Arc;

/// What a receiver sends back.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// The connection is accepted.
    SynAck {
        /// When it was sent.
        sent_at: Time,
        /// Segments that the receiver has room for.
        window: u32,
    },
    /// An acknowledgement.
    Ack(AckHeader),
}

impl Answer {
    /// What is in a place that no answer has taken yet.
    pub const BLANK: Self = Self::SynAck { sent_at: Time::ZERO, window: 0 };

    /// The ACK that it is from now on; what it was stays in it.
    #[inline]
    fn as_ack(&mut self) -> &mut AckHeader {
        if let Self::SynAck { .. } = self {
            *self = Self::Ack(AckHeader::default());
        }
        match self {
            Self::Ack(header) => header,
            Self::SynAck { .. } => unreachable!("it has just become an ACK"),
        }
    }

    /// Announces the connection's room (for data below segment `edge`) instead of the subflow's own room.
    pub fn announce(&mut self, edge: u32) {
        match self {
            Self::SynAck { window, .. } | Self::Ack(AckHeader { window, .. }) => *window = edge,
        }
    }
}

/// An answer on its way to the sender, over no more links.
#[derive(Clone, Debug)]
struct Arriving {
    at: Time,
    answer: Answer,
}

impl Arriving {
    /// A place that no answer has taken yet.
    const BLANK: Self = Self { at: Time::NEVER, answer: Answer::BLANK };
}

/// What many flows have in common.
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
/// The fields lie in memory in this order, from the start of a cache line on: first what the arrival of a
/// segment touches, then what each event of the sender touches, last what only the start and the end of the
/// flow and looks of the tap touch.
#[repr(C, align(64))]
pub struct Flow {
    processing_rng: Rng,
    last_arrival: Time,
    processing: Span,
    /// When the sender has something to do; answers count only if `answers_in_slot`.
    sender_due: Time,
    /// Distinguishes it from the flows that used this index before.
    pub generation: u16,
    ecn: EcnField,
    retired: bool,
    /// Its stream has an end.
    ends: bool,
    /// Its sender has opened the connection.
    begun: bool,
    /// It waits for a slot of its host's queue.
    pub waits_for_host: bool,
    /// There are answers in its inbox, which need the flow's slot.
    answers_in_slot: bool,
    /// The number of links that its data cross, if only its receiver handles what arrives: it is no subflow, and its
    /// ACKs cross no link. Otherwise 0.
    pub plain_hops: u8,
    /// Its place in a multipath connection.
    pub place: Option<SubflowPlace>,
    /// Where its packets go.
    pub routes: Arc<Routes>,
    /// Its receiver.
    pub receiver: Receiver,
    /// When it starts or stops, whichever comes next.
    bound: Time,
    /// When it stops; [`Time::NEVER`] once it has.
    stop: Time,
    /// The link that its segments enter as they are sent ([`WayOut`](crate::way_out::WayOut)), if each is whole, no host
    /// holds it back, and nothing is written into it later.
    pub direct: Option<u32>,
    /// The index of its arrival process.
    pub group: Option<u32>,
    header: u32,
    /// The longest packet that is sent without fragmentation, in bytes.
    pub mtu: u32,
    /// Its sender.
    pub sender: Sender,
    // With many flows, most events touch none of the fields below.
    /// The answers without an event of their own.
    inbox: Ring<Arriving>,
    /// Its name.
    pub name: String,
    cc: Box<str>,
    mss: u64,
    /// Payload in bytes that it delivered before any other subflow of its connection.
    brought_bytes: u64,
    stopped: Option<Time>,
    /// Bytes that it has to send, if that is limited.
    bytes: Option<u64>,
    completed: Option<Time>,
    started: Time,
    /// Fragments of a full segment.
    pub fragments: u32,
    /// Packets of which only some fragments have arrived.
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
    /// Bytes that it, or its connection, sends; `None`: without end.
    pub bytes: Option<u64>,
    /// Its place in a multipath connection.
    pub place: Option<SubflowPlace>,
}

/// The event of a sender that is due.
pub enum Due {
    /// Its start.
    Start,
    /// An answer from its receiver that has this event of its own: [`Flow::process_answer`].
    Expected,
    /// The first answer in its inbox: [`Flow::process_answer`].
    Answer,
    /// Its stop: [`Flow::stop_sending`], then as a timer.
    Stop,
    /// A timer.
    Timer,
}

impl Flow {
    /// A flow of this kind that has not started.
    #[must_use]
    pub fn new(own: Own, kind: &FlowKind, seed: u64, routes: Arc<Routes>, shared: Shared) -> Self {
        let Own { name, start, stop, bytes, place } = own;
        let Shared { options, processing } = shared;
        let random = |what: &str| Rng::named(seed, &format!("flow {name} {what}"));
        let build = |setup: &_| (kind.algorithm.build)(setup, &kind.settings);
        let supply = match place {
            None => Supply::Own(Stream::of(&options, bytes)),
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
        let is_direct = routes.host.is_none() && options.fragments() == 1 && options.send_buffer == u64::MAX;
        let is_plain = place.is_none() && routes.acks.first().is_none();
        Self {
            processing_rng: random("processing"),
            plain_hops: if is_plain { routes.data.links().len() as u8 } else { 0 },
            name,
            cc: kind.cc().into_boxed_str(),
            sender,
            receiver: Receiver::new(options.clone()),
            group: None,
            place,
            brought_bytes: 0,
            generation: 0,
            begun: false,
            stop: stop.unwrap_or(Time::NEVER),
            bound: start.min(stop.unwrap_or(Time::NEVER)),
            stopped: None,
            bytes,
            ends: bytes.is_some(),
            inbox: Ring::default(),
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
            direct: routes.data.first().filter(|_| is_direct),
            routes,
            ecn,
            retired: false,
            waits_for_host: false,
            answers_in_slot: false,
        }
    }

    /// Prefetches what the arrival of a segment touches.
    #[inline]
    pub fn fetch_receiver(&self) {
        fetch(self, offset_of!(Self, bound));
    }

    /// Prefetches what an event of the sender touches.
    #[inline]
    pub fn fetch_sender(&self) {
        fetch(self, LINE);
        fetch(&self.bound, offset_of!(Self, sender) - offset_of!(Self, bound) + Sender::HOT);
    }

    /// Prefetches what such an event touches outside the flow; the pointers to it are in the cache by now.
    #[inline]
    pub fn fetch_beyond(&self) {
        self.sender.fetch_beyond();
    }

    /// When the sender next has something to do, as of its last event and the answers that came since.
    #[inline]
    #[must_use]
    pub fn sender_due(&self) -> Time {
        self.sender_due
    }

    /// Determines when the sender next has something to do: called after it has acted, or when it is to
    /// start.
    #[inline]
    pub fn refresh_due(&mut self) {
        self.sender_due = self.bound.min(self.sender.next_timer());
        if self.answers_in_slot {
            self.count_answers();
        }
    }

    #[inline]
    fn count_answers(&mut self) {
        match self.inbox.front() {
            Some(arriving) => self.sender_due = self.sender_due.min(arriving.at),
            None => self.answers_in_slot = false,
        }
    }

    /// An answer begins its way to the sender, over no more links. Returns where it waits, and the receiver. It has an event
    /// of its own if `expect` finds a place for it (see [`EventQueue::expect`](crate::event::EventQueue::expect));
    /// otherwise it needs the flow's slot, as do all that come before the inbox is empty again.
    #[inline(always)]
    fn announce<'a>(
        &'a mut self,
        now: Time,
        expect: impl FnOnce(Time) -> Option<&'a mut Awaited>,
    ) -> (&'a mut Answer, &'a mut Receiver) {
        let at = self.expect_answer(now);
        // The answers to a subflow stop counting when its connection ends.
        let needs_slot = self.answers_in_slot || self.place.is_some();
        let place = match if needs_slot { None } else { expect(at) } {
            Some(awaited) => {
                awaited.generation = self.generation;
                &mut awaited.answer
            }
            None => {
                self.answers_in_slot = true;
                self.sender_due = self.sender_due.min(at);
                let arriving = self.inbox.add(&Arriving::BLANK);
                arriving.at = at;
                &mut arriving.answer
            }
        };
        (place, &mut self.receiver)
    }

    /// Whether an answer has arrived at its sender.
    #[inline]
    #[must_use]
    pub fn has_answer(&self, now: Time) -> bool {
        self.inbox.front().is_some_and(|arriving| arriving.at <= now)
    }

    /// When the flow has something to do, apart from answers with events of their own.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.sender_due.min(self.receiver.next_timer())
    }

    /// Prefetches what [`Flow::next_event`] reads.
    #[inline]
    pub fn fetch_due(&self) {
        fetch(&self.sender_due, LINE);
        self.receiver.fetch_timers();
    }

    /// What the sender must do first of all that is due.
    #[inline]
    #[must_use]
    pub fn due(&self, now: Time) -> Due {
        if self.has_answer(now) {
            return Due::Answer;
        }
        if self.start() <= now {
            return Due::Start;
        }
        if self.stop <= now { Due::Stop } else { Due::Timer }
    }

    /// When it starts; [`Time::NEVER`] once it has.
    fn start(&self) -> Time {
        if self.begun { Time::NEVER } else { self.started }
    }

    /// Its sender opens the connection.
    pub fn begin<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.begun = true;
        self.bound = self.stop;
        self.sender.start(turn);
    }

    /// Its sender sends no new data from now on.
    pub fn stop_sending(&mut self, now: Time) {
        self.stop = Time::NEVER;
        self.bound = self.start();
        self.stopped = Some(now);
        self.ends = true;
        self.sender.stop();
    }

    /// Its sender processes this answer, which had an event of its own, or the first one of its inbox.
    #[inline(always)]
    pub fn process_answer<T: Tap>(&mut self, turn: &mut Turn<T>, expected: Option<&Answer>) -> Decision {
        let first = || self.inbox.front().map(|arriving| &arriving.answer);
        let Some(answer) = expected.or_else(first) else { return Decision::NotDue };
        if T::DETAILED {
            turn.tap.on_packet(turn.now, End::Sender, self, &self.wrap_answer(turn.flow, *answer));
        }
        let decision = match answer {
            Answer::Ack(header) => self.sender.on_ack(turn, header),
            Answer::SynAck { sent_at, window } => {
                self.sender.on_syn_ack(turn, *sent_at, *window);
                Decision::NotDue
            }
        };
        if expected.is_none() {
            self.inbox.pop_front();
        }
        decision
    }

    /// An answer has crossed the links of its route.
    pub fn post<'a>(
        &'a mut self,
        now: Time,
        answer: Answer,
        expect: impl FnOnce(Time) -> Option<&'a mut Awaited>,
    ) {
        *self.announce(now, expect).0 = answer;
    }

    /// The receiver acknowledges what has arrived, on a return path without links. Returns the ACK where it waits.
    #[inline(always)]
    pub fn acknowledge<'a>(
        &'a mut self,
        now: Time,
        expect: impl FnOnce(Time) -> Option<&'a mut Awaited>,
    ) -> &'a mut Answer {
        let (place, receiver) = self.announce(now, expect);
        receiver.write_ack(now, false, place.as_ack());
        place
    }

    /// When the sender processes an answer that has crossed its links now: after the delays of its route that are
    /// not links and the processing delay, and never before an earlier answer.
    #[inline(always)]
    fn expect_answer(&mut self, now: Time) -> Time {
        let processing = Span(self.processing_rng.below(self.processing.0 + 1));
        let arrival = (now + self.routes.acks.delay(now) + processing).max(self.last_arrival);
        self.last_arrival = arrival;
        arrival
    }

    /// What all packets of its sender have in common; `index` is the flow's.
    #[inline]
    #[must_use]
    pub fn stamp(&self, index: u32) -> Stamp {
        Stamp { flow: index, generation: self.generation, ecn: self.ecn, header: self.header }
    }

    /// The packet for something that its sender wants to send.
    #[must_use]
    pub fn wrap(&self, index: u32, outgoing: &Outgoing) -> Packet {
        let mut packet = Packet::BLANK;
        self.stamp(index).write(outgoing, &mut packet);
        packet
    }

    /// The packet for an answer, for a reverse path with links.
    #[must_use]
    pub fn wrap_answer(&self, index: u32, answer: Answer) -> Packet {
        let body = match answer {
            Answer::SynAck { sent_at, window } => Body::SynAck { sent_at, window },
            Answer::Ack(header) => Body::Ack(header),
        };
        let options = match &answer {
            Answer::Ack(header) => match header.sack.iter().filter(|b| b.end > b.start).count() as u32 {
                0 => 0,
                // RFC 2018 section 3: two bytes plus eight for each block, padded to a multiple of four.
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

    /// A segment or a fragment of one arrives; returns the whole packet, unless fragments are missing.
    #[inline(always)]
    pub fn gather(&mut self, now: Time, packet: &Packet, data: &Data) -> Option<Whole> {
        if packet.fragment.of == 1 {
            return Some(Whole { size: packet.size, ecn: packet.ecn });
        }
        self.reassembly.take(now, &Piece::new(packet, data))
    }

    /// A segment arrives. Returns whether its receiver must answer at once.
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

    /// Payload in bytes delivered in order since the start; for a subflow, the payload that it was the first
    /// to deliver.
    #[must_use]
    pub fn delivered_bytes(&self) -> u64 {
        match self.place {
            Some(_) => self.brought_bytes,
            None => self.bytes_below(self.receiver.next()),
        }
    }

    /// What results call it: a flow, or a subflow of a flow.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.place.is_some() { "subflow" } else { "flow" }
    }

    /// The name of its algorithm.
    #[must_use]
    pub fn cc(&self) -> &str {
        &self.cc
    }

    /// Time from the start to the arrival of the last byte, for a flow of a given size; `None` if its stop
    /// cut it short.
    #[must_use]
    pub fn completion(&self) -> Option<Span> {
        self.completion_with(self.delivered_bytes())
    }

    /// The same for a flow whose connection has delivered this number of bytes.
    #[must_use]
    pub fn completion_with(&self, delivered_bytes: u64) -> Option<Span> {
        let whole = self.bytes.is_some_and(|bytes| delivered_bytes >= bytes);
        self.completed.filter(|_| whole).map(|at| at.since(self.started))
    }

    /// The end of its measured time: its last byte's arrival, its stop if all data had arrived before, or
    /// now.
    #[must_use]
    pub fn measured_until(&self, now: Time) -> Time {
        measured_until(self.completed, self.stopped, || self.sender.is_finished(), now)
    }

    /// When it started (or will).
    #[must_use]
    pub fn started(&self) -> Time {
        self.started
    }

    /// Joins its connection as a subflow, now that the connection is established.
    pub fn join(&mut self, now: Time) {
        self.started = now;
        self.bound = self.start().min(self.stop);
        self.refresh_due();
    }

    /// It was the first subflow to deliver these bytes of payload.
    pub fn note_brought(&mut self, bytes: u64) {
        self.brought_bytes += bytes;
    }

    /// All data of its connection have arrived.
    pub fn complete(&mut self, now: Time) {
        self.completed.get_or_insert(now);
    }

    /// Its connection is over: it sends nothing more, and its packets still in flight are discarded.
    pub fn close(&mut self) {
        self.sender.close();
        self.inbox.clear();
        self.generation = self.generation.wrapping_add(1);
    }

    /// Its index is free for another flow.
    pub fn retire(&mut self) {
        self.retired = true;
    }

    /// Whether its index is free for another flow.
    #[must_use]
    pub fn is_retired(&self) -> bool {
        self.retired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a thousand flows, every 64-byte cache line that an event touches comes from distant memory. Place
    /// a new field according to what touches it, and raise a bound only for a field that events need.
    #[test]
    fn what_an_event_touches_of_a_flow_is_small() {
        let receiver = offset_of!(Flow, bound);
        let sender = offset_of!(Flow, sender) - receiver + Sender::HOT;
        assert!(receiver <= 360, "the arrival of a segment: {receiver} bytes");
        assert!(sender <= 10 * LINE, "an event of the sender: {sender} bytes");
        assert!(size_of::<Awaited>() <= 72, "an answer on its way: {} bytes", size_of::<Awaited>());
        assert!(size_of::<Flow>() <= 1408, "a flow: {} bytes", size_of::<Flow>());
    }
}
