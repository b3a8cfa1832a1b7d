//! HyStart (Ha and Rhee 2011): leave slow start before the queue overflows, when an ACK train is long or the
//! delay has risen. Linux and ns-3 ship it with different thresholds.

use crate::contract::Context;
use crate::units::{Rate, Span, Time};

/// The thresholds of one implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// No exit below this window, in segments.
    pub low_window: u64,
    /// ACKs closer than this belong to one train.
    pub ack_spacing: Span,
    /// The train's length is compared with the minimum RTT divided by this number.
    pub train_divisor: u64,
    /// Largest allowance for aggregated ACKs, which is added to the minimum RTT.
    pub ack_allowance: Span,
    /// The rise in delay is compared with the minimum RTT divided by this number ...
    pub delay_divisor: u64,
    /// ... but not below this ...
    pub delay_floor: Span,
    /// ... nor above this.
    pub delay_ceiling: Span,
}

/// Linux 6.x `tcp_cubic`: train of half the minimum RTT (a whole one when paced), rise of an eighth, 4 to 16 ms.
pub static LINUX: Thresholds = Thresholds {
    low_window: 16,
    ack_spacing: Span::from_millis(2),
    train_divisor: 2,
    ack_allowance: Span::from_millis(1),
    delay_divisor: 8,
    delay_floor: Span::from_millis(4),
    delay_ceiling: Span::from_millis(16),
};

/// ns-3.35 to 3.37 `TcpCubic`: both thresholds are the whole minimum RTT, so the delay test hardly ever fires.
pub static NS3: Thresholds = Thresholds {
    low_window: 16,
    ack_spacing: Span::from_millis(2),
    train_divisor: 1,
    ack_allowance: Span::ZERO,
    delay_divisor: 1,
    delay_floor: Span::from_millis(4),
    delay_ceiling: Span::from_secs(1),
};

/// RTT samples that a round must have before the delay test applies.
const DELAY_SAMPLES: u32 = 8;
/// The kernel's allowance for ACKs held back by segmentation offload: four buffers of 64 kB at the pacing rate.
const OFFLOAD_BYTES: u64 = 4 * 65_536;

/// The state of HyStart.
#[derive(Clone, Debug)]
pub struct HyStart {
    thresholds: &'static Thresholds,
    paced: bool,
    /// [`Span::MAX`] before the first sample.
    minimum: Span,
    /// Bytes acknowledged cumulatively, and the number beyond which the round ends: a hole keeps the round open.
    acknowledged: u64,
    round_end: u64,
    round_start: Time,
    last_ack: Time,
    round_minimum: Span,
    samples: u32,
    done: bool,
}

impl HyStart {
    /// HyStart with the thresholds of one implementation.
    #[must_use]
    pub fn new(thresholds: &'static Thresholds, paced: bool) -> Self {
        Self {
            thresholds,
            paced,
            minimum: Span::MAX,
            acknowledged: 0,
            round_end: 0,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            round_minimum: Span::MAX,
            samples: 0,
            done: false,
        }
    }

    /// Watches slow start again after a timeout: a new round begins with all outstanding data, and the
    /// minimum delay is forgotten (Linux `cubictcp_state`, ns-3 `TcpCubic::CongestionStateSet`).
    pub fn restart(&mut self, cx: &Context) {
        self.done = false;
        self.minimum = Span::MAX;
        self.begin_round(cx);
    }

    /// Records an ACK, in slow start or not: the bytes by which the cumulative acknowledgement advanced, and
    /// the delay sample.
    pub fn observe(&mut self, advanced: u64, delay: Option<Span>) {
        self.acknowledged += advanced;
        self.minimum = self.minimum.min(delay.unwrap_or(Span::MAX));
    }

    /// Whether slow start should end at this ACK, which [`observe`](Self::observe) has already recorded.
    pub fn should_exit(&mut self, cx: &Context, delay: Span, cwnd: u64) -> bool {
        if self.done {
            return false;
        }
        if self.acknowledged > self.round_end {
            self.begin_round(cx);
        }
        if cwnd < self.thresholds.low_window * cx.facts.mss {
            return false;
        }
        self.done = self.train_is_long(cx, cwnd) || self.delay_rose(delay);
        self.done
    }

    /// Linux `bictcp_hystart_reset`: the round ends when more than the data now outstanding is acknowledged.
    fn begin_round(&mut self, cx: &Context) {
        self.round_end = self.acknowledged + cx.facts.outstanding;
        self.round_start = cx.facts.now;
        self.last_ack = cx.facts.now;
        self.round_minimum = Span::MAX;
        self.samples = 0;
    }

    fn train_is_long(&mut self, cx: &Context, cwnd: u64) -> bool {
        let now = cx.facts.now;
        if now.since(self.last_ack) > self.thresholds.ack_spacing {
            return false;
        }
        self.last_ack = now;
        // Pacing may spread packets over half a round trip, so a paced train proves nothing before a whole one.
        let divisor = if self.paced { 1 } else { self.thresholds.train_divisor };
        let minimum = self.minimum;
        let threshold = Span((minimum + self.allowance(cx, cwnd)).0 / divisor);
        now.since(self.round_start) > threshold
    }

    fn allowance(&self, cx: &Context, cwnd: u64) -> Span {
        // The kernel's notion of the pacing rate in slow start: two windows a round trip.
        let pacing = Rate::of(2 * cwnd, cx.facts.rtt.smoothed);
        pacing.map_or(Span::ZERO, |rate| rate.time_for(OFFLOAD_BYTES).min(self.thresholds.ack_allowance))
    }

    fn delay_rose(&mut self, delay: Span) -> bool {
        self.round_minimum = self.round_minimum.min(delay);
        if self.samples < DELAY_SAMPLES {
            self.samples += 1;
            return false;
        }
        let minimum = self.minimum;
        let rise = Span(minimum.0 / self.thresholds.delay_divisor)
            .max(self.thresholds.delay_floor)
            .min(self.thresholds.delay_ceiling);
        self.round_minimum > minimum + rise
    }
}
