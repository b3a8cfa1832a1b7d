//! The seven actions on NewReno (Seo and Cho 2024 section 3.1.2): one action per window of acknowledged segments.

use crate::algo::newreno::Counting;
use crate::classic::{Window, WindowRule};
use crate::contract::{Ack, Context, Event, Phase};
use crate::decisions::{ActionSet, CWND, DecisionCounter, Feature, Moment, RTT, SSTHRESH};
use crate::probes::Probe;

/// What each action adds to the window, in segments (Seo and Cho 2024 equation (1)).
const DELTAS_SEGMENTS: [i64; 7] = [-10, -3, -1, 0, 1, 3, 10];

crate::parameters! {
    /// The parameters of NewReno's actions.
    pub struct NewRenoActionParams {
        counting: Counting = Counting::Bytes, "counting", Allowed::Word(Counting::WORDS), "",
            "NewReno's actions: what counts towards a decision, and in slow start: bytes acknowledged, or ACKs regardless of \
             how much they cover",
            "RFC 3465 (bytes), as in newreno; Seo and Cho 2024 section 3.1.1: as many ACKs as packets were sent, and ns-3 TcpNewReno \
             (acks)";
    }
}

/// NewReno whose growth in congestion avoidance is left to actions.
pub struct NewRenoActions {
    params: NewRenoActionParams,
    beta: f64,
    counter: DecisionCounter,
}

impl NewRenoActions {
    /// Actions on a base that keeps `beta` of its window on a loss.
    #[must_use]
    pub fn new(params: NewRenoActionParams, beta: f64) -> Self {
        Self { params, beta, counter: DecisionCounter::default() }
    }
}

impl ActionSet for NewRenoActions {
    const ACTIONS: u32 = DELTAS_SEGMENTS.len() as u32;
    /// Seo and Cho 2024 section 3.1.1.
    const FEATURES: &'static [Feature] = &[SSTHRESH, CWND, RTT];

    fn describe(&self, window: &Window, at: Moment, features: &mut [f64]) {
        features.copy_from_slice(&[window.ssthresh_segments(), window.segments(), at.rtt.as_millis_f64()]);
    }

    fn counter(&mut self) -> &mut DecisionCounter {
        &mut self.counter
    }

    fn act(&mut self, window: &mut Window, action: u32) {
        let delta = DELTAS_SEGMENTS[(action as usize).min(DELTAS_SEGMENTS.len() - 1)];
        window.cwnd = window.cwnd.saturating_add_signed(delta * window.mss as i64);
    }
}

impl WindowRule for NewRenoActions {
    const PROBES: &'static [Probe<Self>] = &[
        ("action", |actions| actions.counter.action()),
        ("cnt_segments", |actions| actions.counter.cnt_segments()),
    ];

    fn counted(&self, ack: &Ack, mss: u64) -> u64 {
        self.params.counting.counted(ack, mss)
    }

    /// As `newreno` (RFC 5681 section 3.1).
    fn reduces_again(&self, phase: Phase) -> bool {
        phase != Phase::Loss
    }

    fn grow(&mut self, _cx: &Context, window: &mut Window, acked: u64) {
        self.counter.count(window, window.cwnd, acked);
    }

    /// Seo and Cho 2024 section 3.1.1: the threshold is 0.7 of cwnd, not of FlightSize.
    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        (window.cwnd as f64 * self.beta) as u64
    }
}
