//! The four actions on CUBIC (Seo et al. 2022; Seo and Cho 2024 section 3.2.2): one segment less, no change,
//! or a step along the cubic with C or 3 C.

use crate::algo::cubic::{COUNT_MIN, Cubic, CubicParams, Form};
use crate::classic::{Window, WindowRule};
use crate::contract::{Ack, Context, Event, Phase, Setup};
use crate::cubic_curve::CubicCurve;
use crate::decisions::{
    ActionSet, CWND, DecisionCounter, Feature, Moment, RTT, SINCE_CONGESTION, SSTHRESH, W_MAX,
};
use crate::probes::Probe;
use crate::units::Span;

crate::words! {
    /// The largest number of segments acknowledged between two decisions.
    pub enum CntCap {
        /// One window, so that there is at least one decision per round trip.
        Cwnd = "cwnd",
        /// No bound: on the plateau CUBIC's count is a hundred windows.
        Uncapped = "uncapped",
        /// Exactly one window.
        PerRtt = "per-rtt",
        /// None: there is a decision at each ACK.
        PerAck = "per-ack",
    }
}

crate::words! {
    /// How an action follows the cubic.
    pub enum Increase {
        /// One segment towards the target, as CUBIC does when its count is reached.
        OneSegment = "one-segment",
        /// Straight to the target, by at most half of the window; there is then one decision per window.
        SetTarget = "set-target",
    }
}

crate::words! {
    /// When W_max is set to (1 + beta) / 2 of the window before a loss, rather than to all of it.
    pub enum WMaxCut {
        /// When the last W_max was not reached again (RFC 9438 section 4.7).
        FastConvergence = "fast-convergence",
        /// At each loss (Seo and Cho 2024 table 2).
        Always = "always",
        /// Never.
        Never = "never",
    }
}

crate::words! {
    /// How the cubic's K is computed.
    pub enum KForm {
        /// cbrt((W_max - cwnd_epoch) / C) (RFC 9438 section 4.2).
        Rfc9438 = "rfc9438",
        /// cbrt(W_max (1 - beta) / C) (Seo and Cho 2024 equation (3)).
        Paper = "paper",
    }
}

/// The counting forms of CUBIC.
const COUNTING_FORMS: &[&str] = &["linux", "ns3"];

crate::parameters! {
    /// The parameters of CUBIC's actions.
    pub struct CubicActionParams {
        c: f64 = 0.4, "C", Allowed::Number(0.001, 1000.0), "segments/s^3",
            "CUBIC's actions: how fast the cubic grows; one action takes three times this",
            "Seo and Cho 2024 table 2 (0.4)";
        cnt_cap: CntCap = CntCap::Cwnd, "cnt_cap", Allowed::Word(CntCap::WORDS), "",
            "CUBIC's actions: CUBIC's count from one decision to the next, at most a window or uncapped; or a window; or \
             none",
            "Seo and Cho 2024 section 3.2.1 has CUBIC's count (uncapped), which on the plateau is a hundred windows; \
             decided: a window at most";
        increase: Increase = Increase::OneSegment, "increase", Allowed::Word(Increase::WORDS), "",
            "CUBIC's actions: one segment towards the target, or to the target at once",
            "Seo and Cho 2024 section 3.2.1: CUBIC's way, when its count is reached; Seo et al. 2022 equation (1) sets \
             cwnd (set-target)";
        w_max_cut: WMaxCut = WMaxCut::FastConvergence, "w_max_cut", Allowed::Word(WMaxCut::WORDS), "",
            "CUBIC's actions: when W_max is (1 + beta) / 2 of the window before a loss",
            "RFC 9438 section 4.7; Seo and Cho 2024 table 2 names no condition (always)";
        k: KForm = KForm::Rfc9438, "K", Allowed::Word(KForm::WORDS), "",
            "CUBIC's actions: K from the window that a loss has left, or from W_max alone",
            "RFC 9438 section 4.2; Seo and Cho 2024 equation (3) (paper)";
        form: Form = Form::Ns3, "form", Allowed::Word(COUNTING_FORMS), "",
            "CUBIC's actions: whose CUBIC is the base",
            "Seo et al. 2022 section III, Seo and Cho 2024 section 4.1: ns-3";
        hystart: bool = true, "hystart", Allowed::Flag, "",
            "CUBIC's actions: leave slow start by ACK train or delay",
            "ns-3 TcpCubic and Linux tcp_cubic; the papers leave slow start as CUBIC has it";
    }
}

/// The factor that the steeper action applies to C (Seo et al. 2022 equation (1), Seo and Cho 2024 equation
/// (4): a = 3).
const STEEPER: f64 = 3.0;

/// CUBIC whose growth in congestion avoidance is left to actions.
pub struct CubicActions {
    params: CubicActionParams,
    beta: f64,
    base: Cubic,
    counter: DecisionCounter,
    /// The C that the last action along the cubic used.
    c: f64,
    /// The time since the epoch began for which the cubic gives the target.
    ahead: Span,
}

impl CubicActions {
    /// Actions on a CUBIC that keeps `beta` of its window on a loss.
    #[must_use]
    pub fn new(setup: &Setup, params: CubicActionParams, beta: f64) -> Self {
        let base = CubicParams {
            form: params.form,
            beta,
            fast_convergence: params.w_max_cut == WMaxCut::FastConvergence,
            // Neither the papers' equations nor ns-3 before 3.41 have a Reno-friendly region.
            reno_friendly: false,
            hystart: params.hystart,
            ..CubicParams::default()
        };
        let (base, c) = (Cubic::new(setup, base), params.c);
        Self { params, beta, base, counter: DecisionCounter::default(), c, ahead: Span::ZERO }
    }

    /// The cubic of this epoch; the first ACK after a loss begins a new one.
    fn curve(&self, cx: &Context, cwnd: u64) -> CubicCurve {
        self.base.curve().unwrap_or_else(|| {
            let w_max = self.base.w_max();
            let curve = CubicCurve::begin(cx.facts.now, cwnd as f64, w_max, self.c);
            match self.params.k {
                KForm::Rfc9438 => curve,
                KForm::Paper => curve.with_rise(w_max * (1.0 - self.beta)),
            }
        })
    }

    /// Whole segments from one decision to the next.
    fn cnt(&self, curve: &CubicCurve, cwnd: u64) -> u64 {
        let count = self.base.count(curve.whole_window(self.ahead), cwnd).max(COUNT_MIN);
        match (self.params.increase, self.params.cnt_cap) {
            // RFC 9438 section 4.2 bounds the target by 1.5 cwnd per round trip, not per decision.
            (Increase::SetTarget, _) | (_, CntCap::PerRtt) => cwnd,
            (_, CntCap::PerAck) => 0,
            (_, CntCap::Cwnd) => count.min(cwnd),
            (_, CntCap::Uncapped) => count,
        }
    }

    /// Moves along the cubic with this C, which also sets the count to the next decision.
    fn climb(&mut self, window: &mut Window, c: f64) {
        self.c = c;
        // If the answer is late, a loss may have ended the epoch in the meantime.
        let Some(curve) = self.base.curve().map(|curve| curve.with_c(c)) else { return };
        self.base.follow(curve);
        let cwnd = window.cwnd / window.mss;
        let missing = curve.whole_window(self.ahead).saturating_sub(cwnd);
        let most = match self.params.increase {
            Increase::OneSegment => 1,
            Increase::SetTarget => cwnd / 2,
        };
        window.cwnd += missing.min(most) * window.mss;
    }
}

impl ActionSet for CubicActions {
    const ACTIONS: u32 = 4;
    /// Seo et al. 2022 figure 1, Seo and Cho 2024 section 3.2.1.
    const FEATURES: &'static [Feature] = &[SSTHRESH, CWND, RTT, W_MAX, SINCE_CONGESTION];

    fn describe(&self, window: &Window, at: Moment, features: &mut [f64]) {
        features.copy_from_slice(&[
            window.ssthresh_segments(),
            window.segments(),
            at.rtt.as_millis_f64(),
            self.base.w_max(),
            at.since_congestion.as_millis_f64(),
        ]);
    }

    fn counter(&mut self) -> &mut DecisionCounter {
        &mut self.counter
    }

    fn act(&mut self, window: &mut Window, action: u32) {
        match action {
            0 => window.cwnd = window.cwnd.saturating_sub(window.mss),
            1 => {}
            2 => self.climb(window, self.params.c),
            _ => self.climb(window, STEEPER * self.params.c),
        }
    }
}

impl WindowRule for CubicActions {
    const PROBES: &'static [Probe<Self>] = &[
        ("action", |actions| actions.counter.action()),
        ("cnt_segments", |actions| actions.counter.cnt_segments()),
        ("w_max_segments", |actions| actions.base.w_max()),
        ("k_s", |actions| actions.base.k_s()),
        ("c_segments_per_s3", |actions| actions.c),
    ];

    fn counted(&self, ack: &Ack, mss: u64) -> u64 {
        self.base.counted(ack, mss)
    }

    fn reduces_again(&self, phase: Phase) -> bool {
        self.base.reduces_again(phase)
    }

    fn carries_credit(&self) -> bool {
        self.base.carries_credit()
    }

    fn counts_segments(&self) -> bool {
        self.base.counts_segments()
    }

    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        let cwnd = window.cwnd / window.mss;
        let curve = self.curve(cx, cwnd);
        self.ahead = self.base.ahead(&curve, cx);
        self.base.follow(curve);
        self.counter.count(window, self.cnt(&curve, cwnd) * window.mss, acked);
    }

    fn shrink(&mut self, cx: &Context, window: &Window, event: Event) -> u64 {
        let ssthresh = self.base.shrink(cx, window, event);
        // CUBIC has forgotten W_max after a timeout.
        if self.params.w_max_cut == WMaxCut::Always && event != Event::Timeout {
            self.base.set_w_max(window.segments() * (1.0 + self.beta) / 2.0);
        }
        ssthresh
    }

    fn notice(&mut self, cx: &Context, event: Event) {
        self.base.notice(cx, event);
    }

    fn observe(&mut self, cx: &Context, ack: &Ack) {
        self.base.observe(cx, ack);
    }

    fn leaves_slow_start(&mut self, cx: &Context, ack: &Ack, cwnd: u64) -> bool {
        self.base.leaves_slow_start(cx, ack, cwnd)
    }
}
