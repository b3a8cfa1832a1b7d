//! The tap observes a run. It gets the events of every flow as they happen, and may look at the whole run at times that it
//! chooses. Links send no events yet.
//!
//! A tap is a type parameter of [`Sim`](crate::Sim), so that a run without one ([`NoTap`]) pays nothing: neither the event
//! nor the work to prepare it is compiled in. A tap changes nothing.

use crate::flow::Flow;
use crate::link::Link;
use crate::mptcp::Connection;
use crate::outcome::Outcome;
use cwndlab_cc::{Phase, Rtt, Span, Time};

/// What has reduced a window.
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
#[derive(Clone, Copy, Debug)]
pub enum FlowEvent<'a> {
    /// It takes its place among the flows: one of the scenario at the start, others when they arrive.
    Begin {
        /// The arrival process that made it.
        group: Option<usize>,
    },
    /// A data segment left.
    Sent {
        /// Which.
        seq: u32,
        /// Its payload in bytes.
        payload: u64,
        /// It was sent before.
        resent: bool,
    },
    /// A tail-loss probe left (RFC 8985 section 7.3).
    TailLossProbe,
    /// An ACK was taken in, and the controller has answered.
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
        /// The RTTs before the sample.
        before: &'a Rtt,
        /// The sample.
        latest: Span,
    },
    /// A segment was marked lost.
    Lost {
        /// Which.
        seq: u32,
    },
    /// The window was reduced.
    Reduced {
        /// Why.
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
        /// Before.
        from: Phase,
        /// Now.
        to: Phase,
    },
    /// An action takes effect.
    Decided {
        /// Which.
        action: u32,
    },
    /// All that an arrived flow had to send was acknowledged; its place is free.
    End,
}

/// What a tap may look at between events.
pub struct State<'a> {
    /// The flows of the scenario, subflows in the place of connections; behind them those that arrive.
    pub flows: &'a [Flow],
    /// The multipath connections.
    pub connections: &'a [Connection],
    /// The links of the scenario, then return directions, then access links.
    pub links: &'a mut [Link],
}

/// An observer of a run.
pub trait Tap {
    /// Whether anybody looks. Work that is done for the tap alone depends on it.
    const LOOKS: bool = true;

    /// An event of the flow with this index.
    fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>);

    /// When it wants to look next.
    fn next_look(&self) -> Time {
        Time::NEVER
    }

    /// The time that it asked for has come: it looks at what is, before what happens then.
    fn look(&mut self, state: &mut State<'_>) {
        let _ = state;
    }

    /// The warm-up is over: the measured time begins.
    fn end_warmup(&mut self) {}

    /// Adds what it saw to what the run yields.
    fn report(self, state: &mut State<'_>, outcome: &mut Outcome)
    where
        Self: Sized;
}

/// Nobody looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTap;

impl Tap for NoTap {
    const LOOKS: bool = false;

    #[inline(always)]
    fn on_flow(&mut self, _now: Time, _flow: u32, _event: FlowEvent<'_>) {}

    fn report(self, _state: &mut State<'_>, _outcome: &mut Outcome) {}
}

/// A sender's turn: what it needs to act, and the tap that observes it.
pub struct Turn<'a, T> {
    /// The time.
    pub now: Time,
    /// Packets that its host's queue takes.
    pub room: u32,
    /// Where packets go that leave.
    pub outbox: &'a mut Vec<crate::tcp::Outgoing>,
    /// Whoever looks ...
    pub tap: &'a mut T,
    /// ... at the flow with this index.
    pub flow: u32,
}

impl<T: Tap> Turn<'_, T> {
    /// Sends an event to the tap.
    #[inline(always)]
    pub fn emit(&mut self, event: FlowEvent<'_>) {
        self.tap.on_flow(self.now, self.flow, event);
    }
}
