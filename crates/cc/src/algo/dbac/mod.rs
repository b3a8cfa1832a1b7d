//! DBAC, Dynamic Bandwidth Aware Congestion Control (Han 2024): CUBIC on subflows with a high bandwidth-delay product,
//! LIA on the others, which see a high subflow as if it ran LIA.

mod judge;
mod params;
mod rule;
mod virtual_window;

use crate::algorithm::{Algorithm, Declaration};
use crate::classic::{Classic, Window};
use crate::contract::{Ack, CongestionControl, Context, Control, Decision, Event, Setup};
use crate::params::Parameters;
use crate::probes::{self, Names, Probe};
use crate::units::{Span, Time};
use judge::Judge;
pub use params::{Bdp, DbacParams, Judged, LossRate, RatioRtt, Scaled, VirtualWindow};
use rule::Rule;
use std::sync::Arc;
use virtual_window::Factors;

/// The controller of one subflow.
pub struct Dbac {
    params: DbacParams,
    /// Holds CUBIC's window while the subflow is high, otherwise LIA's.
    inner: Classic<Rule>,
    judge: Judge,
    factors: Factors,
    /// The factor on CUBIC's window: sqrt(alpha1) where equation (6) applies.
    scale: f64,
    /// With `scaled = state`: when the window is next scaled.
    next_scaling: Time,
}

impl Dbac {
    const PROBES: &'static [Probe<Self>] = &[
        ("ssthresh_bytes", |dbac| dbac.inner.window().ssthresh_probe()),
        ("high", |dbac| probes::flag(dbac.is_high())),
        (
            "cubic_window_segments",
            |dbac| if dbac.is_high() { dbac.inner.window().segments() } else { f64::NAN },
        ),
        ("shown_window_segments", |dbac| dbac.control().shown_window as f64 / dbac.inner.window().mss as f64),
        ("alpha", |dbac| if dbac.is_high() { dbac.factors.alpha1 } else { dbac.inner.rule().alpha2() }),
    ];
    const NAMES: &'static Names = &Names::of(Self::PROBES);
    const DECLARATION: Declaration =
        Declaration { probes: Self::NAMES.list(), coupled: true, ..Declaration::PLAIN };

    /// A subflow at its initial window.
    #[must_use]
    pub fn new(setup: &Setup, params: DbacParams) -> Self {
        let inner = Classic::new(setup, Rule::new(setup, &params));
        Self {
            params,
            inner,
            judge: Judge::new(),
            factors: Factors::ONE,
            scale: 1.0,
            next_scaling: Time::ZERO,
        }
    }

    fn is_high(&self) -> bool {
        self.inner.rule().high
    }

    /// The window that siblings see of a high subflow whose own window in use is `cwnd`.
    fn shown(&self, cwnd: u64) -> u64 {
        let window = self.inner.window();
        let shown = match self.params.vwindow {
            VirtualWindow::None => cwnd,
            VirtualWindow::Reno => (window.cwnd as f64 * self.factors.ratio()) as u64,
            VirtualWindow::Lia => self.virtual_lia(),
        };
        shown.max(window.mss)
    }

    /// Equation (5) times sqrt(alpha1). With `scaled = state` CUBIC's window already includes that factor.
    fn virtual_lia(&self) -> u64 {
        let share = if self.params.scaled == Scaled::State { 1.0 } else { self.factors.share };
        (self.inner.window().cwnd as f64 * self.factors.ratio() * share) as u64
    }

    /// A subflow that becomes high keeps its window; one that becomes low continues with its virtual LIA window.
    fn judge(&mut self, cx: &Context) {
        if self.inner.window().in_slow_start() || self.params.high_subflows > 0 {
            return;
        }
        let high = self.is_high();
        let Some(verdict) = self.judge.verdict(cx, &self.params, high, self.control().cwnd) else { return };
        if verdict == high {
            return;
        }
        let virtual_lia = self.virtual_lia();
        let (rule, window) = self.inner.parts();
        rule.change_to(verdict);
        if !verdict {
            set(window, virtual_lia);
        }
    }

    /// Equation (6).
    fn rescale(&mut self, cx: &Context) {
        if !self.is_high() {
            return;
        }
        self.factors.update(cx, &self.params, self.inner.window().cwnd);
        let applies = self.params.scale_in_slow_start || !self.inner.window().in_slow_start();
        let share = if applies { self.factors.share } else { 1.0 };
        match self.params.scaled {
            Scaled::Copy => self.scale = share,
            Scaled::State if cx.facts.now < self.next_scaling => {}
            Scaled::State => {
                self.next_scaling = cx.facts.now + cx.facts.rtt.smoothed.max(Span(1));
                let (_, window) = self.inner.parts();
                let cwnd = (window.cwnd as f64 * share) as u64;
                set(window, cwnd);
            }
        }
    }
}

/// Sets a window that stays in congestion avoidance.
fn set(window: &mut Window, cwnd: u64) {
    window.cwnd = cwnd.max(2 * window.mss);
    window.ssthresh = window.ssthresh.min(window.cwnd);
}

impl CongestionControl for Dbac {
    fn control(&self) -> Control {
        let control = self.inner.control();
        if !self.is_high() {
            return control;
        }
        let cwnd = ((control.cwnd as f64 * self.scale) as u64).max(self.inner.window().mss);
        let pacing_rate = control.pacing_rate.map(|rate| rate.scaled(self.scale));
        Control { cwnd, pacing_rate, shown_window: self.shown(cwnd), ..control }
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        self.inner.on_event(cx, event);
        // Contract, rule 3: the loss window is one segment.
        if event == Event::Timeout {
            self.scale = self.scale.min(1.0);
        }
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        if self.params.high_subflows > 0 {
            let high = (cx.me as u64) < self.params.high_subflows;
            self.inner.parts().0.high = high;
        }
        self.judge.observe(ack);
        let step = self.inner.on_ack(cx, ack);
        // While the window may not grow, its factor may not change either.
        if cx.may_grow(ack) {
            self.judge(cx);
            self.rescale(cx);
        }
        step
    }

    fn probes(&self) -> &'static [&'static str] {
        Self::DECLARATION.probes
    }

    fn probe(&self, out: &mut [f64]) {
        probes::read(Self::PROBES, self, out);
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "dbac",
        summary: "DBAC: CUBIC on subflows with a high bandwidth-delay product, LIA on the others, coupled by a virtual window",
        source: "Han 2024 (Dynamic Bandwidth Aware Congestion Control)",
        departures: &[
            "sqrt(alpha1) is at most 1, where Han 2024 equation (6) has no bound",
            "the ratio of equation (5) is at most 1: where equation (4) falls below (3) CUBIC has Reno's window",
            "alpha1 is a real number, where the kernel that Han 2024 changed has whole ones (for alpha2 see arithmetic)",
            "a subflow that becomes high keeps its window, where the flow chart does not mention a change",
        ],
        params: DbacParams::specs().into(),
        declares: Dbac::DECLARATION.into(),
        build: Arc::new(|setup, settings| Box::new(Dbac::new(setup, DbacParams::with(settings)))),
    }
}
