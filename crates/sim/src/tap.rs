//! The tap observes a run: it gets the events of every flow, connection and link as they happen, and looks at the whole
//! run at times that it chooses. Measures, recordings and exports are taps, and nothing else measures.
//!
//! A tap is a type parameter of [`Sim`](crate::Sim), so that a run without one ([`NoTap`]) pays nothing:
//! neither the event nor the work to prepare it is compiled in. The same holds for events that only exports
//! need ([`Tap::DETAILED`]). A tap does not change the run.

use crate::arrivals::Arrivals;
use crate::flow::Flow;
use crate::link::Link;
use crate::mptcp::Connection;
use crate::packet::Packet;
use crate::tcp::Sender;
use cwndlab_cc::{Phase, Rtt, Span, Time};

/// The cause of a window reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Fast recovery: losses were detected.
    FastRecovery,
    /// The retransmission timer expired.
    Timeout,
    /// A congestion mark (RFC 3168).
    EcnMark,
    /// A tail-loss probe repaired a loss (RFC 8985 section 7.4.2).
    ProbedLoss,
}

/// Something that a flow's sender did or learned. Segments are numbered from 0.
#[derive(Clone, Copy)]
pub enum FlowEvent<'a> {
    /// It is added to the run: a flow of the scenario at the start, others when they arrive.
    Begin {
        /// The index of the arrival process that made it.
        group: Option<usize>,
    },
    /// A SYN left, or the third message of a join.
    SynSent,
    /// A data segment left.
    Sent {
        /// The segment's number.
        seq: u32,
        /// Its payload in bytes.
        payload: u64,
        /// Whether it is a retransmission.
        resent: bool,
    },
    /// A tail-loss probe left (RFC 8985 section 7.3).
    TailLossProbe,
    /// An ACK was processed, and the controller has responded.
    Acked {
        /// Segments that it delivered.
        segments: u32,
        /// Segments by which the cumulative acknowledgement moved.
        advanced: u32,
        /// Segments in flight after it.
        in_flight: u32,
    },
    /// An RTT was sampled.
    RttSampled {
        /// The RTT state before the sample.
        before: &'a Rtt,
        /// The sample.
        latest: Span,
    },
    /// A segment was marked lost.
    Lost {
        /// The segment's number.
        seq: u32,
    },
    /// The controller's window differs from that of the last send.
    WindowChanged {
        /// The window in segments.
        segments: u32,
    },
    /// The window was reduced.
    Reduced {
        /// The cause.
        by: Reduction,
        /// The window of the last send, in segments.
        before: u32,
        /// The controller's window now, in segments.
        after: u32,
    },
    /// A reduction was spurious and is undone.
    Undone,
    /// The phase of loss recovery changed.
    PhaseChanged {
        /// The phase before.
        from: Phase,
        /// The phase now.
        to: Phase,
    },
    /// An action takes effect.
    Decided {
        /// The action.
        action: u32,
    },
    /// All that an arrived flow had to send was acknowledged; its index is free for another flow.
    End {
        /// The flow as it ended.
        flow: &'a Flow,
    },
}

/// The end of a connection at which a packet leaves or arrives: data and the SYN leave the sender and arrive
/// at the receiver, ACKs and the SYN-ACK go the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end that sends data.
    Sender,
    /// The end that receives them.
    Receiver,
}

/// Something that happened at the data level of a multipath connection.
#[derive(Clone, Copy, Debug)]
pub enum ConnectionEvent {
    /// The number of segments that wait at the receiver for data below them has changed.
    WaitingChanged {
        /// The number that wait now.
        segments: u32,
    },
}

/// Something that happened to a packet on a link. Sizes in bytes are those on the link, with its overhead.
#[derive(Clone, Copy)]
pub enum LinkEvent<'a> {
    /// It arrived at the queue. A queue without room drops it, or another one, at the same time.
    Enqueued {
        /// The packet.
        packet: &'a Packet,
        /// Its size.
        bytes: u32,
    },
    /// The queue dropped it.
    Dropped {
        /// The packet.
        packet: &'a Packet,
        /// Its size.
        bytes: u32,
        /// When it had arrived at the queue.
        arrived: Time,
    },
    /// The queue marked it CE.
    Marked {
        /// The packet.
        packet: &'a Packet,
    },
    /// Its last bit has been sent.
    Served {
        /// The packet.
        packet: &'a Packet,
        /// Its size.
        bytes: u32,
        /// When it had arrived at the queue.
        arrived: Time,
        /// When its first bit was sent.
        started: Time,
    },
    /// It has reached the far end.
    Delivered {
        /// The packet.
        packet: &'a Packet,
    },
    /// The loss process struck it, or the link was down.
    Lost {
        /// The packet.
        packet: &'a Packet,
    },
}

/// What a tap may look at.
pub struct State<'a> {
    /// The time.
    pub now: Time,
    /// The flows of the scenario, subflows in the place of connections; after them the flows that arrive.
    pub flows: &'a [Flow],
    /// The multipath connections.
    pub connections: &'a [Connection],
    /// The arrival processes.
    pub arrivals: &'a [Arrivals],
    /// The links of the scenario, then return directions, then access links.
    pub links: &'a [Link],
    /// The number of events that the event loop has handled.
    pub handled: u64,
}

/// An observer of a run.
///
/// Events come in the order of their times, unless the tap does not ask for that ([`Tap::IN_ORDER`]). Some
/// events of a link may then come late, when the link is next handled or before a look: departures from a
/// drop-tail queue in front of a rate, what FQ-CoDel does in front of a device's FIFO, and arrivals and losses at
/// the far end of a link that looks ahead.
pub trait Tap {
    /// What it yields at the end of the run.
    type Outcome;

    /// Whether the tap observes anything. Work that is done only for the tap depends on it.
    const LOOKS: bool = true;

    /// Whether it gets each packet at the ends of its connection, and each sender after its turn.
    const DETAILED: bool = false;

    /// Whether events must come in the order of their times, across all components. A tap that only counts
    /// does not need that: links may then look ahead, and account for departures when packets arrive, but
    /// always before a look.
    const IN_ORDER: bool = true;

    /// An event of the flow with this index.
    fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        let _ = (now, flow, event);
    }

    /// A packet leaves or arrives at an end of this flow's connection, before IP fragments it or after IP has
    /// reassembled it.
    fn on_packet(&mut self, now: Time, end: End, flow: &Flow, packet: &Packet) {
        let _ = (now, end, flow, packet);
    }

    /// The sender of the flow with this index has done all that followed from an event.
    fn on_turn(&mut self, now: Time, flow: u32, sender: &Sender) {
        let _ = (now, flow, sender);
    }

    /// An event of the connection with this index.
    fn on_connection(&mut self, now: Time, connection: u32, event: ConnectionEvent) {
        let _ = (now, connection, event);
    }

    /// An event of the link with this index, which happened at `at`.
    fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        let _ = (at, link, event);
    }

    /// The sender of this flow acts next: the tap may prefetch what it will touch.
    #[inline]
    fn fetch(&self, flow: u32) {
        let _ = flow;
    }

    /// The same for what the tap's state for a flow points to; that state was prefetched before.
    #[inline]
    fn fetch_beyond(&self, flow: u32) {
        let _ = flow;
    }

    /// When it wants to look next.
    fn next_look(&self) -> Time {
        Time::NEVER
    }

    /// The time that it asked for has come: it looks at the state before the other events of that time.
    /// Packets that leave a FIFO at exactly that time have left.
    fn look(&mut self, state: &State<'_>) {
        let _ = state;
    }

    /// The warm-up is over: the measured time begins.
    fn end_warmup(&mut self, state: &State<'_>) {
        let _ = state;
    }

    /// The run is over.
    fn finish(self, state: &State<'_>) -> Self::Outcome;
}

/// A tap that observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTap;

impl Tap for NoTap {
    type Outcome = ();

    const LOOKS: bool = false;
    const IN_ORDER: bool = false;

    fn finish(self, _state: &State<'_>) {}
}

/// Two taps on one run.
impl<A: Tap, B: Tap> Tap for (A, B) {
    type Outcome = (A::Outcome, B::Outcome);

    const LOOKS: bool = A::LOOKS || B::LOOKS;
    const DETAILED: bool = A::DETAILED || B::DETAILED;
    const IN_ORDER: bool = A::IN_ORDER || B::IN_ORDER;

    #[inline]
    fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        self.0.on_flow(now, flow, event);
        self.1.on_flow(now, flow, event);
    }

    #[inline]
    fn on_packet(&mut self, now: Time, end: End, flow: &Flow, packet: &Packet) {
        self.0.on_packet(now, end, flow, packet);
        self.1.on_packet(now, end, flow, packet);
    }

    #[inline]
    fn on_turn(&mut self, now: Time, flow: u32, sender: &Sender) {
        self.0.on_turn(now, flow, sender);
        self.1.on_turn(now, flow, sender);
    }

    #[inline]
    fn on_connection(&mut self, now: Time, connection: u32, event: ConnectionEvent) {
        self.0.on_connection(now, connection, event);
        self.1.on_connection(now, connection, event);
    }

    #[inline]
    fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        self.0.on_link(at, link, event);
        self.1.on_link(at, link, event);
    }

    #[inline]
    fn fetch(&self, flow: u32) {
        self.0.fetch(flow);
        self.1.fetch(flow);
    }

    #[inline]
    fn fetch_beyond(&self, flow: u32) {
        self.0.fetch_beyond(flow);
        self.1.fetch_beyond(flow);
    }

    #[inline]
    fn next_look(&self) -> Time {
        self.0.next_look().min(self.1.next_look())
    }

    fn look(&mut self, state: &State<'_>) {
        let due = |next: Time| next <= state.now;
        if due(self.0.next_look()) {
            self.0.look(state);
        }
        if due(self.1.next_look()) {
            self.1.look(state);
        }
    }

    fn end_warmup(&mut self, state: &State<'_>) {
        self.0.end_warmup(state);
        self.1.end_warmup(state);
    }

    fn finish(self, state: &State<'_>) -> Self::Outcome {
        (self.0.finish(state), self.1.finish(state))
    }
}
