//! The frame of a loss-based algorithm: slow start (with HyStart), byte counting, window validation, undo.
//!
//! An algorithm is a [`WindowRule`]: how the window grows in congestion avoidance, and how far it shrinks.

use crate::algorithm::Declaration;
use crate::contract::{Ack, CongestionControl, Context, Control, Decision, Event, Needs, Phase, Setup};
use crate::probes::{self, Names, Probe};
use crate::units::{Rate, Span};

/// The window of a loss-based algorithm, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` until the first reduction, unless the stack sets one from the start.
    pub ssthresh: u64,
    /// Payload of a full segment.
    pub mss: u64,
    /// Acknowledged bytes that have not yet led to growth.
    credit: u64,
}

impl Window {
    /// The initial window.
    #[must_use]
    pub fn new(setup: &Setup) -> Self {
        Self { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh, mss: setup.mss, credit: 0 }
    }

    /// Whether the window is below the slow-start threshold.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The window in segments.
    #[must_use]
    pub fn segments(&self) -> f64 {
        self.cwnd as f64 / self.mss as f64
    }

    /// The slow-start threshold in segments.
    #[must_use]
    pub fn ssthresh_segments(&self) -> f64 {
        self.ssthresh as f64 / self.mss as f64
    }

    /// The slow-start threshold in bytes; NaN while there is none.
    pub(crate) fn ssthresh_probe(&self) -> f64 {
        if self.ssthresh == u64::MAX { f64::NAN } else { self.ssthresh as f64 }
    }

    /// Slow start up to ssthresh (RFC 5681 section 3.1); returns the bytes left over for congestion avoidance.
    pub fn slow_start(&mut self, acked: u64) -> u64 {
        let used = acked.min(self.ssthresh.saturating_sub(self.cwnd));
        self.cwnd += used;
        acked - used
    }

    /// Grows by one segment for each `per` bytes acknowledged (RFC 5681 section 3.1 with the byte counting of
    /// RFC 3465: `per` is the window itself for an increase of one segment a round trip).
    pub fn grow_one_per(&mut self, per: u64, acked: u64) {
        let per = per.max(1);
        // Bytes counted towards a larger `per` never give more than one segment at once.
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += self.mss;
        }
        self.credit += acked;
        // Most ACKs add no segment, so this test saves them a slow division.
        if self.credit >= per {
            let steps = self.credit / per;
            self.credit -= steps * per;
            self.cwnd += steps * self.mss;
        }
    }

    /// Counts acknowledged bytes up to `per` and returns whether that was reached; any excess is carried over.
    pub fn count_up_to(&mut self, per: u64, acked: u64) -> bool {
        self.credit += acked;
        let reached = self.credit >= per;
        if reached {
            self.credit -= per;
        }
        reached
    }
}

/// What makes one loss-based algorithm differ from another.
pub trait WindowRule: Send + Sized + 'static {
    /// The rule's own recorded values; `ssthresh_bytes` comes before them.
    const PROBES: &'static [Probe<Self>] = &[];

    /// How many bytes this ACK counts for; the default is byte counting.
    fn counted(&self, ack: &Ack, _mss: u64) -> u64 {
        ack.acked
    }

    /// Whether a timeout in this phase, after a reduction, sets ssthresh again. The frame's rule is Linux's: neither in
    /// recovery nor when the timer expires again.
    fn reduces_again(&self, _phase: Phase) -> bool {
        false
    }

    /// Whether bytes counted before a reduction still count after it (ns-3); by default they do not, as in Linux.
    fn carries_credit(&self) -> bool {
        false
    }

    /// Whether ssthresh is rounded down to whole segments, as in a kernel that counts its window in segments
    /// (Linux `snd_cwnd`).
    fn counts_segments(&self) -> bool {
        false
    }

    /// Lets the rule grow the window in its own way, even in slow start; `false` leaves this ACK to slow
    /// start and [`grow`](WindowRule::grow).
    fn steer(&mut self, _window: &mut Window, _acked: u64) -> bool {
        false
    }

    /// Congestion avoidance: grows the window for `acked` counted bytes.
    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64);

    /// The slow-start threshold after a congestion event, in bytes; the frame keeps it at two segments or more.
    fn shrink(&mut self, cx: &Context, window: &Window, event: Event) -> u64;

    /// The window with which recovery begins. `window` is the one before recovery, but with the new ssthresh.
    /// The default is ssthresh (RFC 5681 section 3.2, step 6: where recovery ends).
    fn recovery_window(&self, window: &Window) -> u64 {
        window.ssthresh
    }

    /// The window with which fast recovery ends; by default it stays as it is.
    fn window_after_recovery(&self, window: &Window) -> u64 {
        window.cwnd
    }

    /// Sees every event, before the frame acts on it.
    fn notice(&mut self, _cx: &Context, _event: Event) {}

    /// Whether the rule [sees](WindowRule::sent) every packet sent.
    const SEES_SENT: bool = false;

    /// Whether the rule sees the rate samples of ACKs ([`Ack::sample`]). To keep them costs a transport memory and time.
    const SEES_RATE_SAMPLES: bool = false;

    /// Sees every packet sent, if it [wants](WindowRule::SEES_SENT) to.
    fn sent(&mut self, _cx: &Context) {}

    /// Sees every ACK, before the frame acts on it.
    fn observe(&mut self, _cx: &Context, _ack: &Ack) {}

    /// Whether slow start ends at this ACK, before anything is lost (HyStart). Asked in slow start only.
    fn leaves_slow_start(&mut self, _cx: &Context, _ack: &Ack, _cwnd: u64) -> bool {
        false
    }
}

/// A loss-based controller: a rule on the shared frame. Memory keeps the order of the fields: those that
/// every ACK touches come first.
#[repr(C)]
pub struct Classic<R> {
    window: Window,
    /// The pacing rate, when the transport paces and there is an RTT.
    pacing: Option<Pacing>,
    rule: R,
    initial_window: u64,
    before_reduction: Option<Window>,
}

/// The pacing of a window (Linux tcp_update_pacing_rate): faster than one window per round trip, so that
/// pacing never limits growth.
#[derive(Clone, Copy, Debug)]
enum Pacing {
    Wanted,
    At(Rate),
}

/// Two windows per round trip while the window is below half of ssthresh, so that it may double ...
const PACING_SLOW_START: f64 = 2.0;
/// ... and 1.2 windows after that.
const PACING_AVOIDANCE: f64 = 1.2;
/// Bytes sent at once: a millisecond's worth (sk_pacing_shift), but at least two segments.
const PACING_QUANTUM: Span = Span::from_millis(1);

impl<R: WindowRule> Classic<R> {
    const PROBES: &'static [Probe<Self>] = &[("ssthresh_bytes", |classic| classic.window.ssthresh_probe())];
    /// The names of all recorded values.
    pub(crate) const NAMES: &'static Names = &Names::of(Self::PROBES).and(R::PROBES);
    /// The declaration of every rule on this frame.
    pub const DECLARATION: Declaration = Declaration {
        needs: Needs {
            sent_packets: R::SEES_SENT,
            ignores_rate_samples: !R::SEES_RATE_SAMPLES,
            ..Needs::NONE
        },
        probes: Self::NAMES.list(),
        ..Declaration::PLAIN
    };

    /// A controller at its initial window.
    pub fn new(setup: &Setup, rule: R) -> Self {
        let window = Window::new(setup);
        let pacing = setup.paced.then_some(Pacing::Wanted);
        Self { rule, window, initial_window: setup.initial_window, before_reduction: None, pacing }
    }

    /// The rule, for a controller around this one.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// The window that the rule moves.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The rule, and the window that it moves, for a controller around this one.
    pub fn parts(&mut self) -> (&mut R, &mut Window) {
        (&mut self.rule, &mut self.window)
    }

    /// Sets ssthresh on a loss (RFC 5681 section 3.1), to at least two segments.
    fn reduce(&mut self, cx: &Context, event: Event) {
        // An undo reverts all reductions since the phase was last open or disorder.
        if matches!(cx.facts.phase, Phase::Open | Phase::Disorder) {
            self.before_reduction = Some(self.window);
        }
        let mss = self.window.mss;
        let cut = self.rule.shrink(cx, &self.window, event);
        // A fraction of a segment cannot be sent, but would slow the growth to the next segment.
        let kept = if self.rule.counts_segments() { cut / mss * mss } else { cut };
        self.window.ssthresh = kept.max(2 * mss);
        self.forget_credit();
    }

    fn on_timeout(&mut self, cx: &Context) {
        let again = match cx.facts.phase {
            Phase::Open | Phase::Disorder => true,
            phase => self.rule.reduces_again(phase),
        };
        if again {
            self.reduce(cx, Event::Timeout);
        }
        self.window.cwnd = self.window.mss;
        self.forget_credit();
    }

    fn forget_credit(&mut self) {
        if !self.rule.carries_credit() {
            self.window.credit = 0;
        }
    }

    fn on_undo(&mut self) {
        if let Some(before) = self.before_reduction.take() {
            self.window.cwnd = self.window.cwnd.max(before.cwnd);
            self.window.ssthresh = before.ssthresh;
        }
    }

    /// RFC 2861 section 3: the window is halved for each RTO of silence, down to the initial window.
    fn on_idle(&mut self, cx: &Context, idle: Span) {
        let rto = cx.facts.rtt.rto;
        if rto == Span::ZERO {
            return;
        }
        let restart = self.initial_window.min(self.window.cwnd);
        if self.window.ssthresh != u64::MAX {
            self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd / 4 * 3);
        }
        let mut left = idle;
        while left >= rto && self.window.cwnd > restart {
            left = left.saturating_sub(rto);
            self.window.cwnd /= 2;
        }
        self.window.cwnd = self.window.cwnd.max(restart);
    }

    fn update_pacing(&mut self, cx: &Context) {
        if self.pacing.is_none() {
            return;
        }
        let growing = self.window.cwnd < self.window.ssthresh / 2;
        let ratio = if growing { PACING_SLOW_START } else { PACING_AVOIDANCE };
        let windowful = Rate::of(self.window.cwnd, cx.facts.rtt.smoothed);
        self.pacing = Some(windowful.map_or(Pacing::Wanted, |rate| Pacing::At(rate.scaled(ratio))));
    }
}

impl<R: WindowRule> CongestionControl for Classic<R> {
    fn needs(&self) -> Needs {
        Self::DECLARATION.needs
    }

    fn control(&self) -> Control {
        let control = Control::window(self.window.cwnd);
        let Some(Pacing::At(rate)) = self.pacing else { return control };
        let send_quantum = rate.bytes_in(PACING_QUANTUM).max(2 * self.window.mss);
        Control { pacing_rate: Some(rate), send_quantum, ..control }
    }

    fn on_sent(&mut self, cx: &mut Context, _bytes: u64) {
        self.rule.sent(cx);
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        self.rule.notice(cx, event);
        match event {
            Event::LossRecovery | Event::EcnReduction => {
                self.reduce(cx, event);
                self.window.cwnd = self.rule.recovery_window(&self.window);
            }
            Event::Timeout => self.on_timeout(cx),
            Event::Undo => self.on_undo(),
            Event::IdleRestart(idle) => self.on_idle(cx, idle),
            Event::Recovered if cx.facts.phase == Phase::Recovery => {
                self.window.cwnd = self.rule.window_after_recovery(&self.window);
            }
            Event::Recovered => {}
        }
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.rule.observe(cx, ack);
        if self.window.in_slow_start() && self.rule.leaves_slow_start(cx, ack, self.window.cwnd) {
            self.window.ssthresh = self.window.cwnd;
        }
        if cx.may_grow(ack) {
            let acked = self.rule.counted(ack, self.window.mss);
            if !self.rule.steer(&mut self.window, acked) {
                let left = self.window.slow_start(acked);
                if left > 0 {
                    self.rule.grow(cx, &mut self.window, left);
                }
            }
        }
        self.update_pacing(cx);
        Decision::NotDue
    }

    fn probes(&self) -> &'static [&'static str] {
        Self::DECLARATION.probes
    }

    fn probe(&self, out: &mut [f64]) {
        let rules = probes::read(Self::PROBES, self, out);
        probes::read(R::PROBES, &self.rule, rules);
    }
}
