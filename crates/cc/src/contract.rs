//! The contract between a transport and a congestion control.
//!
//! # Rules
//!
//! 1. **Order on one ACK**, always: [`on_lost`](CongestionControl::on_lost) for each packet marked lost,
//!    [`on_event`](CongestionControl::on_event) for each event, [`on_ack`](CongestionControl::on_ack) once; then the
//!    transport reads [`control`](CongestionControl::control) and sends. A timer of the transport (RACK, RTO) calls
//!    `on_lost`*, `on_event`*, then `control`. [`Event::Undo`] comes before [`Event::Recovered`]. `control` is read
//!    after every group of callbacks and never kept across one.
//! 2. [`Decision::Due`] suspends the run **between `on_ack` and the reading of `control`**: the agent's action is
//!    applied, then `control` is read and data are sent. [`Decision::Made`] comes from a built-in policy; the
//!    transport applies it through the same [`agent`](CongestionControl::agent), at the same place and after the
//!    same delay. An external agent sees and does the same as a built-in one.
//! 3. After [`Event::LossRecovery`] and [`Event::EcnReduction`] the transport takes `control().cwnd` as its ssthresh
//!    for PRR. PRR limits only what may be sent and never writes the controller's window. After
//!    [`Event::Timeout`] `control` shows the loss window, one segment (RFC 5681 section 3.1).
//! 4. Window rules are not asked to grow between `LossRecovery` (or `EcnReduction`) and `Recovered`; after `Timeout`
//!    they grow at once.
//! 5. During `on_event`, [`Facts::phase`] is the phase *before* the event, so that a rule can tell a first timeout
//!    from one inside recovery.
//! 6. If a controller [`needs`](CongestionControl::needs) its own window in recovery, the transport obeys it, but
//!    still detects losses and retransmits.
//! 7. A controller that cannot go on calls [`break_off`](crate::break_off): no callback returns an error.

use crate::units::{Rate, Span, Time};
use cwndlab_learn::{Agent, Learning, Rng};

/// A congestion control: what it is given, and what it decides.
pub trait CongestionControl: Send {
    /// What this algorithm needs of its transport; asked once, at the start.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// The decision in force. Pure: two calls in a row return the same.
    fn control(&self) -> Control;

    /// `bytes` bytes of data have just been sent (new data or a retransmission). Called only if the controller needs
    /// [`sent_packets`](Needs::sent_packets).
    fn on_sent(&mut self, _cx: &mut Context, _bytes: u64) {}

    /// A packet has just been marked lost. Called only if the controller needs
    /// [`lost_packets`](Needs::lost_packets).
    fn on_lost(&mut self, _cx: &mut Context, _lost: &Lost) {}

    /// Something that happens at most once a round trip.
    fn on_event(&mut self, cx: &mut Context, event: Event);

    /// An ACK has been processed: SACK, loss detection, RTT and rate sample are done.
    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision;

    /// When this controller wants [`on_timer`](CongestionControl::on_timer) to be called.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time requested by [`next_timer`](CongestionControl::next_timer) has come.
    fn on_timer(&mut self, _cx: &mut Context) -> Decision {
        Decision::NotDue
    }

    /// The agent's side of an algorithm that decides by actions: what an agent sees and does. A controller
    /// that returns [`Decision::Due`] or [`Decision::Made`] has one.
    fn agent(&mut self) -> Option<&mut dyn Agent> {
        None
    }

    /// The learning side of an algorithm, for a caller that saves what it has learned.
    fn learning(&self) -> Option<&dyn Learning> {
        None
    }

    /// Names (with units) of the internal values that a recording may show.
    fn probes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Writes the values named by [`probes`](CongestionControl::probes), in their order.
    fn probe(&self, _out: &mut [f64]) {}
}

/// What a controller knows when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Initial window in bytes.
    pub initial_window: u64,
    /// Slow-start threshold at the start, in bytes; `u64::MAX` for none.
    pub initial_ssthresh: u64,
    /// The transport paces its sending; HyStart's ACK train then allows for it.
    pub paced: bool,
}

/// What a controller decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Pacing rate; `None` leaves sending to the ACK clock (or to the profile's own pacing).
    pub pacing_rate: Option<Rate>,
    /// How many bytes are sent at once when paced, if the host has segmentation offload.
    pub send_quantum: u64,
    /// The window that sibling subflows see, in bytes.
    pub shown_window: u64,
}

impl Control {
    /// A window alone: no pacing, and siblings see the window as it is.
    #[must_use]
    pub fn window(cwnd: u64) -> Self {
        Self { cwnd, pacing_rate: None, send_quantum: 0, shown_window: cwnd }
    }
}

/// What a controller needs of its transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The codepoint to send data with.
    pub ecn: Ecn,
    /// [`CongestionControl::on_sent`] for each packet sent.
    pub sent_packets: bool,
    /// [`CongestionControl::on_lost`] for each lost packet.
    pub lost_packets: bool,
    /// Whether its own window is obeyed in recovery, in place of PRR.
    pub own_window_in_recovery: bool,
    /// Whether it ignores [`Ack::sample`]: then a transport may leave it out.
    pub ignores_rate_samples: bool,
}

impl Needs {
    /// What every transport does.
    pub const NONE: Self = Self {
        ecn: Ecn::AsConfigured,
        sent_packets: false,
        lost_packets: false,
        own_window_in_recovery: false,
        ignores_rate_samples: false,
    };
}

/// The ECN codepoint of data packets (RFC 3168, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The codepoint that the flow's options give.
    #[default]
    AsConfigured,
    /// ECT(0): classic ECN.
    Ect0,
    /// ECT(1): L4S.
    Ect1,
}

impl Ecn {
    /// All codepoints.
    pub const ALL: [Self; 3] = [Self::AsConfigured, Self::Ect0, Self::Ect1];

    /// Its name in a controller's declaration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AsConfigured => "as-configured",
            Self::Ect0 => "ect0",
            Self::Ect1 => "ect1",
        }
    }
}

/// The facts at a callback: plain values, which can be copied to a controller in another language or process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// The current time.
    pub now: Time,
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Round-trip times.
    pub rtt: Rtt,
    /// Bytes in flight ("pipe", RFC 6675) after the event being reported.
    pub in_flight: u64,
    /// FlightSize (RFC 5681 section 2): bytes sent and not cumulatively acknowledged, not even by the ACK that
    /// brings the event, without the bytes that limited transmit added.
    pub flight_size: u64,
    /// Bytes sent and not cumulatively acknowledged (SND.NXT - SND.UNA), after the event being reported.
    pub outstanding: u64,
    /// State of the transport's loss recovery; during [`CongestionControl::on_event`] the one before the event.
    pub phase: Phase,
    /// What limited the last send.
    pub limited_by: SendLimit,
    /// When pacing releases the next segment; a time in the past means at once.
    pub next_departure: Time,
    /// Whether the window was the limit at any time in the last round (RFC 7661: otherwise it must not grow).
    pub window_limited: bool,
}

/// Round-trip times of a flow, at the resolution of its profile's clock; all but the RTO are zero until the
/// first sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rtt {
    /// SRTT (RFC 6298).
    pub smoothed: Span,
    /// RTTVAR (RFC 6298).
    pub variance: Span,
    /// Smallest sample of the connection.
    pub minimum: Span,
    /// Latest sample.
    pub latest: Span,
    /// The retransmission timeout that follows from these values, without back-off.
    pub rto: Span,
}

/// State of the transport's loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is missing.
    #[default]
    Open,
    /// Something arrived out of order; nothing has been marked lost.
    Disorder,
    /// Fast recovery, or the round after an ECN mark.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// What limited the last send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendLimit {
    /// The congestion window (or pacing).
    #[default]
    Window,
    /// The application had no more data.
    Application,
    /// The receiver's window.
    Receiver,
}

/// Everything that a controller may read when it is called.
pub struct Context<'a> {
    /// Plain values.
    pub facts: &'a Facts,
    /// Every subflow of the connection; one for plain TCP.
    pub subflows: &'a [SubflowView],
    /// The index of the subflow that this controller drives.
    pub me: usize,
    /// This flow's own random stream.
    pub rng: &'a mut Rng,
}

impl Context<'_> {
    /// Whether the window may grow by what this ACK delivers: not in recovery (rule 4), and only if the
    /// window was the limit, because otherwise the ACK says nothing about the path (RFC 7661).
    #[must_use]
    pub fn may_grow(&self, ack: &Ack) -> bool {
        let Facts { phase, window_limited, .. } = *self.facts;
        phase != Phase::Recovery && window_limited && (ack.advanced > 0 || ack.unordered_growth)
    }
}

/// What a controller may know about a subflow of its connection. No controller writes a sibling's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowView {
    /// The window shown to siblings, in bytes.
    pub window: u64,
    /// SRTT.
    pub srtt: Span,
    /// Bytes acknowledged since the last loss (OLIA's l2).
    pub since_loss: u64,
    /// Bytes acknowledged between the last two losses (OLIA's l1).
    pub between_losses: u64,
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Established, and not failed.
    pub usable: bool,
}

/// One acknowledgement, after SACK, loss detection and rate sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ack {
    /// Bytes newly delivered (acknowledged or SACKed; each byte counts once).
    pub acked: u64,
    /// Bytes by which the cumulative acknowledgement advanced.
    pub advanced: u64,
    /// Bytes newly marked lost.
    pub lost: u64,
    /// Of `acked`, bytes that arrived with a congestion mark.
    pub ce: u64,
    /// Bytes in flight before this ACK.
    pub prior_in_flight: u64,
    /// Bytes delivered in all, this ACK included.
    pub delivered: u64,
    /// RTT of the newest packet acknowledged; `None` if only retransmitted data were acknowledged.
    pub rtt: Option<Span>,
    /// The receiver held this ACK back (delayed-ACK timer).
    pub delayed: bool,
    /// It acknowledges a tail-loss probe.
    pub tail_probe: bool,
    /// It delivers data out of order, but the path reorders so much that the window grows anyway (Linux
    /// `tcp_may_raise_cwnd`).
    pub unordered_growth: bool,
    /// Delivery-rate sample; `None` when there is no valid one.
    pub sample: Option<RateSample>,
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1), taken from the newly acknowledged packet that
/// was sent last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered between the packet's sending and its acknowledgement.
    pub delivered: u64,
    /// The time that this took: the longer of the send and the ACK interval.
    pub interval: Span,
    /// Bytes delivered in all when the packet was sent.
    pub prior_delivered: u64,
    /// Bytes marked lost between the packet's sending and its acknowledgement.
    pub lost: u64,
    /// Bytes marked CE during the same time.
    pub ce: u64,
    /// Bytes in flight when the packet was sent, itself included.
    pub in_flight_at_send: u64,
    /// The application, not the network, limited the rate.
    pub app_limited: bool,
}

impl RateSample {
    /// The rate; zero when the interval is empty.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::of(self.delivered, self.interval).unwrap_or_default()
    }
}

/// A packet just marked lost, with the values recorded when it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Payload bytes.
    pub bytes: u64,
    /// Bytes in flight when it was sent, itself included.
    pub in_flight_at_send: u64,
    /// Bytes delivered in all when it was sent.
    pub prior_delivered: u64,
    /// Bytes lost in all when it was sent.
    pub prior_lost: u64,
    /// Bytes lost in all now, this packet included.
    pub lost_total: u64,
    /// The application, not the network, limited the rate when it was sent.
    pub app_limited: bool,
}

/// Events that happen at most once per round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Fast recovery begins.
    LossRecovery,
    /// The receiver echoed a congestion mark (classic ECN, RFC 3168).
    EcnReduction,
    /// All data outstanding when recovery or loss began have been acknowledged.
    Recovered,
    /// The retransmission timer expired.
    Timeout,
    /// The last reduction was spurious (RFC 3522, DSACK).
    Undo,
    /// Sending restarts after a silence of this length.
    IdleRestart(Span),
}

/// Whether there is a decision at this ACK, and who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No decision: go on.
    NotDue,
    /// Suspend the run here until the agent has acted.
    Due,
    /// The built-in policy has chosen this action; it takes effect at once, or after the flow's decision delay.
    Made(u32),
}
