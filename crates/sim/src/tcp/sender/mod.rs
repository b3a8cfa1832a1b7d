//! The sending endpoint: a state machine that handles ACKs and timers, and puts packets into an outbox.
//!
//! `ack` processes acknowledgements, `recovery` moves between the phases, `transmit` decides what to send,
//! `timers` keeps the timers, `distances` counts the bytes acknowledged between losses.

mod ack;
mod distances;
mod recovery;
mod timers;
mod transmit;

use super::options::{LossDetection, Recovery, TcpOptions};
use super::prr::Prr;
use super::rack::{DupThresh, Rack};
use super::rate::DeliveryRate;
use super::rtt::{self, TimestampClock};
use super::scoreboard::Scoreboard;
use super::send_buffer::SendBuffer;
use super::supply::{Stream, Supply};
use super::ticks::Timer;
use crate::ahead::{LINE, fetch};
use crate::mptcp::Distributor;
use crate::packet::Data;
use crate::tap::{FlowEvent, Reduction, Tap};
use crate::turn::Turn;
use cwndlab_cc::decisions::Weights;
use cwndlab_cc::{
    Agent, CongestionControl, Context, Control, Decision, Ecn, Facts, Needs, Phase, Rng, Rtt, Setup, Span,
    SubflowView, Time,
};
pub use distances::LossDistances;
use recovery::Undo;
use std::collections::VecDeque;
use std::mem::offset_of;
use std::sync::Arc;
use timers::Timers;

/// What a sender wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// The opening of the connection.
    Syn,
    /// A segment.
    Segment {
        /// Its number and header fields.
        data: Data,
        /// Bytes of payload.
        payload: u64,
        /// It was sent before.
        resent: bool,
    },
}

/// The state of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handshake {
    Closed,
    Opening {
        syn_sent: Time,
        again: bool,
    },
    /// A join whose SYN was answered: the third message left at this time; data wait for its answer (RFC 8684
    /// section 3.2).
    Confirming {
        since: Time,
    },
    Open,
}

/// A sender's counters, all since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data packets sent.
    pub sent: u64,
    /// Data packets sent again.
    pub resent: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Tail-loss probes.
    pub probes: u64,
    /// Reductions undone because they were spurious.
    pub undos: u64,
    /// Reductions by ECN.
    pub ecn_reductions: u64,
}

impl Counters {
    /// Adds another sender's counts.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.resent += other.resent;
        self.timeouts += other.timeouts;
        self.fast_recoveries += other.fast_recoveries;
        self.probes += other.probes;
        self.undos += other.undos;
        self.ecn_reductions += other.ecn_reductions;
    }

    /// The counts since it had the counts `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            resent: self.resent - before.resent,
            timeouts: self.timeouts - before.timeouts,
            fast_recoveries: self.fast_recoveries - before.fast_recoveries,
            probes: self.probes - before.probes,
            undos: self.undos - before.undos,
            ecn_reductions: self.ecn_reductions - before.ecn_reductions,
        }
    }
}

/// How losses are detected.
enum Detector {
    Time(Rack),
    Count(DupThresh),
}

/// The receiver's state, as its ACKs report it.
#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    /// One past the last segment that it has room for.
    window_end: u32,
    /// Total segments that reached it marked CE.
    ce_count: u32,
    /// Its newest timestamp.
    timestamp: Time,
}

/// A tail-loss probe in flight.
#[derive(Clone, Copy, Debug)]
struct TailProbe {
    /// An ACK of all segments below this one answers it.
    end: u32,
    /// It was a retransmission, so an answer may hide a loss.
    resent: bool,
}

/// Whether the window was the limit, round by round (Linux tcp_cwnd_validate).
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    round_end: u32,
    limited: bool,
}

/// Bytes at the start of a controller that an ACK touches: one rough figure for all controllers.
const CONTROLLER_HOT: usize = 4 * LINE;

/// The sender of one flow.
///
/// The fields lie in memory in this order. Those that every ACK and every segment touch come first, so that
/// they share few cache lines: with a thousand flows that decides how long an event takes.
#[repr(C)]
pub struct Sender {
    board: Scoreboard,
    cc: Box<dyn CongestionControl>,
    options: Arc<TcpOptions>,
    facts: Facts,
    rate: DeliveryRate,
    timers: Timers,
    peer: Peer,
    supply: Supply,
    /// The controller's window at the last send, in bytes and in segments.
    window_bytes: u64,
    window: u32,
    /// New segments sent since something arrived out of order (RFC 3042).
    limited_transmit: u32,
    usage: Usage,
    /// Recovery or loss ends when all segments below this one are acknowledged.
    recovery_point: u32,
    needs: Needs,
    /// Its controller does not see sibling subflows.
    uncoupled: bool,
    /// It is a subflow that joins a connection.
    joins: bool,
    /// The reduction under way is for a congestion mark: nothing is lost.
    reduced_for_mark: bool,
    /// The next retransmission leaves however much is in flight.
    retransmit_at_once: bool,
    /// An agent decides at a timer, not at an ACK.
    decides_at_timer: bool,
    /// The next segment tells the receiver that the window was reduced (CWR).
    announce_reduction: bool,
    /// The last attempt to send ended because the host's queue was full.
    held_by_host: bool,
    last_sent: Time,
    view: [SubflowView; 1],
    distances: LossDistances,
    detector: Detector,
    undo: Undo,
    probe: Option<TailProbe>,
    connection: Handshake,
    clock: TimestampClock,
    // Most events touch none of the fields below, and only the length of a tick of the clock.
    send_buffer: Option<Box<SendBuffer>>,
    /// In [`Phase::Recovery`] only.
    prr: Option<Prr>,
    /// All but the number of packets sent, which `rate` has.
    counters: Counters,
    /// Decisions that have not taken effect yet, with the times when they do.
    delayed_actions: VecDeque<(Time, u32)>,
    /// Time until a decision takes effect.
    decision_delay: Span,
    rng: Rng,
}

impl Sender {
    /// Bytes that most events touch.
    pub const HOT: usize = offset_of!(Self, clock) + TimestampClock::HOT;

    /// Prefetches what an ACK touches outside this struct: the controller, and what its parts point to.
    #[inline]
    pub fn fetch_beyond(&self) {
        fetch(self.cc.as_ref(), CONTROLLER_HOT);
        self.board.fetch_beyond();
        if let Detector::Time(rack) = &self.detector {
            rack.fetch_beyond();
        }
    }

    /// A sender that has not started.
    #[must_use]
    pub fn new(
        options: Arc<TcpOptions>,
        build: impl FnOnce(&Setup) -> Box<dyn CongestionControl>,
        mut supply: Supply,
        clock: TimestampClock,
        rng: Rng,
    ) -> Self {
        let mss = options.mss;
        let cc = build(&options.setup());
        let needs = cc.needs();
        let send_buffer = supply
            .stream_mut()
            .and_then(|stream| SendBuffer::filled(&options, needs.own_window_in_recovery, stream));
        let mut board = Scoreboard::default();
        if needs.lost_packets || !needs.ignores_rate_samples {
            board.keep_snapshots();
        }
        // RFC 8985 section 4: RACK needs SACK.
        let detector = match options.loss_detection {
            LossDetection::Rack if options.sack => Detector::Time(Rack::default()),
            LossDetection::Rack | LossDetection::Sack => Detector::Count(DupThresh::default()),
        };
        Self {
            clock,
            needs,
            cc,
            rng,
            facts: Facts { mss, rtt: rtt::unmeasured(&options), window_limited: true, ..Facts::default() },
            view: [SubflowView { mss, usable: true, ..SubflowView::default() }],
            distances: LossDistances::default(),
            supply,
            uncoupled: false,
            joins: false,
            connection: Handshake::Closed,
            board,
            rate: DeliveryRate::default(),
            detector,
            recovery_point: 0,
            prr: None,
            reduced_for_mark: false,
            retransmit_at_once: false,
            decides_at_timer: false,
            undo: Undo::default(),
            probe: None,
            peer: Peer::default(),
            usage: Usage { round_end: 0, limited: true },
            timers: Timers::default(),
            counters: Counters::default(),
            last_sent: Time::ZERO,
            announce_reduction: false,
            held_by_host: false,
            send_buffer,
            window: 0,
            window_bytes: 0,
            decision_delay: Span::ZERO,
            delayed_actions: VecDeque::new(),
            limited_transmit: 0,
            options,
        }
    }

    /// Opens the connection.
    pub fn start<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.facts.now = turn.now;
        self.connection = Handshake::Opening { syn_sent: turn.now, again: false };
        self.retransmit_after(turn.now, self.options.rto_initial);
        turn.outbox.push(Outgoing::Syn);
        turn.emit(FlowEvent::SynSent);
    }

    /// A message of the handshake was answered.
    pub fn on_syn_ack<T: Tap>(&mut self, turn: &mut Turn<T>, sent_at: Time, window: u32) {
        self.facts.now = turn.now;
        match self.connection {
            Handshake::Opening { syn_sent, again } => {
                self.time_handshake(turn.now, syn_sent, again);
                if self.joins { self.confirm(turn) } else { self.open(turn, sent_at, window) }
            }
            Handshake::Confirming { since } if sent_at >= since => self.open(turn, sent_at, window),
            _ => {}
        }
    }

    fn time_handshake(&mut self, now: Time, syn_sent: Time, again: bool) {
        // Karn: the answer to a repeated SYN gives no sample.
        if again {
            rtt::distrust(&mut self.facts.rtt);
        } else {
            let sample = self.clock.between(syn_sent, now);
            self.clock.sample(&mut self.facts.rtt, &self.options, sample, sample);
            self.view[0].srtt = self.facts.rtt.smoothed;
        }
    }

    fn confirm<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.connection = Handshake::Confirming { since: turn.now };
        self.timers.backoff = 0;
        self.retransmit_after(turn.now, self.backed_off());
        turn.outbox.push(Outgoing::Syn);
        turn.emit(FlowEvent::SynSent);
    }

    /// The connection was accepted.
    fn open<T: Tap>(&mut self, turn: &mut Turn<T>, sent_at: Time, window: u32) {
        self.connection = Handshake::Open;
        self.timers.retransmit = Timer::OFF;
        self.timers.backoff = 0;
        self.peer.window_end = window;
        self.peer.timestamp = sent_at;
        self.view[0].usable = true;
        if let Some(distributor) = self.supply.distributor() {
            distributor.on_ack(0, window);
        }
        self.send(turn);
    }

    /// Makes this sender a subflow of a multipath connection, usable once established. All subflows but the first join.
    pub fn become_subflow(&mut self, joins: bool, uncoupled: bool) {
        self.view[0].usable = false;
        (self.joins, self.uncoupled) = (joins, uncoupled);
    }

    /// From now on a decision, of an external agent or a built-in policy, takes effect this much later.
    pub fn delay_decisions(&mut self, delay: Span) {
        self.decision_delay = delay;
    }

    /// Whether any of its data were acknowledged.
    #[must_use]
    pub fn has_acknowledged(&self) -> bool {
        self.board.una() > 0
    }

    /// Takes the distributor of its connection, or returns it and stores this subflow's view for its siblings.
    #[inline]
    pub fn exchange(&mut self, distributor: &mut Option<Box<Distributor>>) {
        self.supply.exchange(distributor, self.view[0]);
    }

    /// Tries again to send: there may be data now for this subflow.
    pub fn wake<T: Tap>(&mut self, turn: &mut Turn<T>) {
        self.facts.now = turn.now;
        self.try_to_send(turn);
    }

    /// The connection of this subflow is over: it sends nothing more.
    pub fn close(&mut self) {
        self.connection = Handshake::Closed;
        self.timers = Timers::default();
    }

    /// No new data from now on.
    pub fn stop(&mut self) {
        self.supply.stop(self.board.next());
    }

    /// The data that it sends; `None` for a subflow, which sends those of its connection.
    #[inline]
    #[must_use]
    pub fn stream(&self) -> Option<&Stream> {
        self.supply.stream()
    }

    /// Whether all of its own stream was acknowledged.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.stream().is_some_and(|stream| !stream.has(self.board.una()))
    }

    /// The counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters { sent: self.rate.sent().into(), ..self.counters }
    }

    /// The decision in force.
    #[must_use]
    pub fn control(&self) -> Control {
        self.cc.control()
    }

    /// The options of its TCP.
    #[must_use]
    pub fn options(&self) -> &TcpOptions {
        &self.options
    }

    /// Round-trip times.
    #[must_use]
    pub fn rtt(&self) -> Rtt {
        self.facts.rtt
    }

    /// The phase of loss recovery.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.facts.phase
    }

    /// Segments in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.board.pipe()
    }

    /// The controller, for its probes.
    #[must_use]
    pub fn controller(&self) -> &dyn CongestionControl {
        self.cc.as_ref()
    }

    /// The ssthresh in segments that Linux saves for the next connection to this destination if this one ends now
    /// (`tcp_update_metrics`, with nothing saved before): `None` in the first slow start, and after a timeout until the
    /// window reaches ssthresh again. A connection ends when all is acknowledged, so recovery is over then.
    #[must_use]
    pub fn saved_ssthresh(&self) -> Option<u64> {
        let probe = self.cc.probes().iter().position(|name| *name == "ssthresh_bytes")?;
        let mut probes = vec![f64::NAN; self.cc.probes().len()];
        self.cc.probe(&mut probes);
        let ssthresh = Some(probes[probe]).filter(|bytes| !bytes.is_nan())? as u64 / self.facts.mss;
        let window = match self.facts.phase {
            Phase::Recovery => ssthresh,
            Phase::Open | Phase::Disorder | Phase::Loss => self.cc.control().cwnd / self.facts.mss,
        };
        (window >= ssthresh && self.timers.backoff == 0).then(|| ssthresh.max(window / 2))
    }

    /// The agent of a learning controller.
    pub fn agent(&mut self) -> Option<&mut dyn Agent> {
        self.cc.agent()
    }

    /// The weights that a learning controller has learned.
    pub fn weights(&self) -> Option<Weights> {
        self.cc.learning()?.weights()
    }

    /// The ECN codepoint of its data; `None` if they are not sent ECN-capable.
    #[must_use]
    pub fn ecn(&self) -> Option<Ecn> {
        match self.needs.ecn {
            Ecn::AsConfigured => self.options.ecn.then_some(Ecn::Ect0),
            chosen => Some(chosen),
        }
    }

    /// Takes a decision: it applies at once, or after its delay.
    pub fn act<T: Tap>(&mut self, turn: &mut Turn<T>, action: u32) {
        if self.decision_delay == Span::ZERO {
            return self.apply(turn, action);
        }
        let due = turn.now + self.decision_delay;
        self.delayed_actions.push_back((due, action));
        self.timers.decision = self.timers.decision.min(due);
    }

    fn apply<T: Tap>(&mut self, turn: &mut Turn<T>, action: u32) {
        if let Some(agent) = self.cc.agent() {
            agent.act(action);
            turn.emit(FlowEvent::Decided { action });
        }
    }

    /// Reports that the controller has reduced its window; `before` is the window of the last send.
    #[inline]
    fn emit_reduced<T: Tap>(&self, turn: &mut Turn<T>, by: Reduction) {
        if T::LOOKS {
            let after = (self.cc.control().cwnd / self.facts.mss).min(u64::from(u32::MAX)) as u32;
            turn.emit(FlowEvent::Reduced { by, before: self.window, after });
        }
    }

    /// Moves to another phase of loss recovery. A timeout may come in any of them; an episode ends in Open (Linux
    /// `tcp_fastretrans_alert`, and the states of `enum tcp_ca_state`).
    #[inline]
    fn enter_phase<T: Tap>(&mut self, turn: &mut Turn<T>, to: Phase) {
        use Phase::{Disorder, Loss, Open, Recovery};
        let from = std::mem::replace(&mut self.facts.phase, to);
        debug_assert!(
            matches!((from, to), (Open | Disorder, _) | (_, Loss) | (Recovery | Loss, Open)),
            "from {from:?} to {to:?}"
        );
        if from != to {
            turn.emit(FlowEvent::PhaseChanged { from, to });
        }
    }

    /// Calls the controller with the context that it may read.
    #[inline]
    fn call<T>(&mut self, f: impl FnOnce(&mut dyn CongestionControl, &mut Context) -> T) -> T {
        self.facts.in_flight = u64::from(self.board.pipe()) * self.facts.mss;
        self.facts.outstanding = u64::from(self.board.outstanding()) * self.facts.mss;
        let (subflows, me) = match self.supply.distributor() {
            Some(distributor) if !self.uncoupled => distributor.show(self.view[0]),
            _ => (&self.view[..], 0),
        };
        let mut cx = Context { facts: &self.facts, subflows, me, rng: &mut self.rng };
        f(self.cc.as_mut(), &mut cx)
    }

    /// FlightSize in bytes: data sent and not cumulatively acknowledged, without those that limited transmit
    /// added (RFC 5681 section 3.2, step 2): one for each segment that arrived out of order (RFC 3042). What
    /// else leaves in Disorder takes the place of acknowledged data.
    fn flight_size(&self) -> u64 {
        let added = self.limited_transmit.min(self.board.sacked());
        u64::from(self.board.outstanding().saturating_sub(added)) * self.facts.mss
    }

    /// The proportional rate reduction of a recovery that begins now, if the profile has one.
    fn begin_prr(&self, ssthresh: u32, arrived: u32) -> Option<Prr> {
        let outstanding = self.board.outstanding();
        match self.options.recovery {
            _ if self.needs.own_window_in_recovery => None,
            // RFC 9937 section 6.1: RecoverFS leaves out what was SACKed before the ACK that begins this recovery,
            // and keeps what that ACK delivers.
            Recovery::Prr => Some(Prr::begin(ssthresh, outstanding - self.board.sacked() + arrived)),
            Recovery::PrrNs3 => Some(Prr::begin_ns3(ssthresh, outstanding, self.facts.mss)),
            Recovery::Window | Recovery::Reno => None,
        }
    }

    /// The window in segments: PRR's in recovery, the controller's otherwise.
    #[inline]
    fn window_segments(&self, control: &Control) -> u32 {
        match &self.prr {
            Some(prr) if self.facts.phase == Phase::Recovery => prr.window(),
            _ => self.in_segments(control.cwnd).max(1),
        }
    }

    /// The proportional rate reduction, if one is under way. Asking for the phase first spares most events a look at it.
    #[inline]
    fn prr(&mut self) -> Option<&mut Prr> {
        debug_assert!(self.prr.is_none() || self.facts.phase == Phase::Recovery);
        if self.facts.phase == Phase::Recovery { self.prr.as_mut() } else { None }
    }

    /// A controller's window in segments; no division is needed while it is that of the last send.
    #[inline]
    fn in_segments(&self, bytes: u64) -> u32 {
        if bytes == self.window_bytes {
            return self.window;
        }
        (bytes / self.facts.mss).min(u64::from(u32::MAX)) as u32
    }

    /// Goes on after an agent has decided, at an ACK or at a timer.
    pub fn finish_decision<T: Tap>(&mut self, turn: &mut Turn<T>) {
        if std::mem::take(&mut self.decides_at_timer) {
            self.try_to_send(turn);
        } else {
            self.send(turn);
        }
    }

    /// Sends after a callback, in the way of `send`. If the callback asked for an external agent, the agent must
    /// act first.
    #[inline]
    fn go_on<T: Tap>(
        &mut self,
        decision: Decision,
        turn: &mut Turn<T>,
        send: impl FnOnce(&mut Self, &mut Turn<T>),
    ) -> Decision {
        if decision == Decision::Due {
            return decision;
        }
        if let Decision::Made(action) = decision {
            self.act(turn, action);
        }
        send(self, turn);
        Decision::NotDue
    }
}
