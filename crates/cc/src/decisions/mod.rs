//! Congestion avoidance by decisions (Seo et al. 2022 and 2024): whenever so many segments have been acknowledged, a
//! policy chooses one of a few actions, and the action moves the window. Slow start, recovery and what a loss leaves
//! are the base algorithm's; in them nobody decides.

mod cubic;
mod newreno;

pub use cubic::{CubicActionParams, CubicActions};
pub use newreno::NewRenoActions;

use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Ack, CongestionControl, Context, Control, Event, Step};
use crate::registry::Setup;

crate::words! {
    /// What follows an action that leaves a window below the slow-start threshold.
    pub enum BelowSsthresh {
        /// The threshold stands, so that slow start wins back what the action took (RFC 5681 section 3.1).
        SlowStart = "slow-start",
        /// The threshold comes down with the window, so that it stays where the action has put it.
        Avoidance = "avoidance",
    }
}

crate::parameters! {
    /// What can be set of every action set.
    pub struct DecisionParams {
        beta: f64 = 0.7, "beta", Allowed::Number(0.1, 0.99), "",
            "what a congestion event leaves of the window",
            "Seo et al. 2024 section 3.1.1 (threshold) and table 2: 0.7; the same section has NewReno halve (0.5)";
        min_cwnd: u64 = 2, "min_cwnd", Allowed::Count(1, 2), "segments",
            "no action leaves less of the window",
            "the papers name no least window; two segments as for ssthresh in RFC 5681 equation (4)";
        below_ssthresh: BelowSsthresh = BelowSsthresh::SlowStart, "below_ssthresh",
            Allowed::Word(BelowSsthresh::WORDS), "",
            "after an action that leaves less than ssthresh: slow start back to it, or avoidance from there",
            "Seo et al. 2024 section 3.1.1: the threshold tells slow start from avoidance, and only a loss sets it";
    }
}

/// A base algorithm whose growth in congestion avoidance is left to actions.
///
/// Its [`grow`](WindowRule::grow) moves nothing: it counts towards the next decision by [`Turn::count`].
pub trait ActionSet: WindowRule {
    /// How many actions there are.
    const ACTIONS: u32;

    /// The way to the next decision.
    fn turn(&mut self) -> &mut Turn;

    /// Moves the window; an action that is out of range is taken as the last one.
    fn act(&mut self, window: &mut Window, action: u32);
}

/// Who decides.
pub trait Policy: Send {
    /// One of the `actions`, from 0 on.
    fn choose(&mut self, cx: &mut Context, actions: u32) -> u32;
}

/// The way from one decision to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    due: bool,
    cnt_segments: Option<f64>,
    action: Option<u32>,
}

impl Turn {
    /// Counts acknowledged bytes; with `cnt` of them a decision is due, one an ACK at most.
    pub fn count(&mut self, window: &mut Window, cnt: u64, acked: u64) {
        self.cnt_segments = Some(cnt as f64 / window.mss as f64);
        self.due = window.count_up_to(cnt, acked);
    }

    /// Writes `action` and `cnt_segments`.
    fn probe(&self, out: &mut [f64]) {
        out[0] = self.action.map_or(f64::NAN, f64::from);
        out[1] = self.cnt_segments.unwrap_or(f64::NAN);
    }
}

/// A controller that asks its policy at each decision point.
pub struct Decided<A, P> {
    classic: Classic<A>,
    policy: P,
    params: DecisionParams,
}

impl<A: ActionSet, P: Policy> Decided<A, P> {
    /// A controller at its initial window.
    pub fn new(setup: &Setup, params: DecisionParams, actions: A, policy: P) -> Self {
        Self { classic: Classic::new(setup, actions), policy, params }
    }

    fn act(&mut self, action: u32) {
        let (actions, window) = self.classic.parts();
        actions.turn().action = Some(action);
        actions.act(window, action);
        window.cwnd = window.cwnd.max(self.params.min_cwnd * window.mss);
        if self.params.below_ssthresh == BelowSsthresh::Avoidance {
            window.ssthresh = window.ssthresh.min(window.cwnd).max(2 * window.mss);
        }
    }
}

impl<A: ActionSet, P: Policy> CongestionControl for Decided<A, P> {
    fn control(&self) -> Control {
        self.classic.control()
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        self.classic.on_event(cx, event);
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Step {
        self.classic.on_ack(cx, ack);
        let (actions, _) = self.classic.parts();
        if std::mem::take(&mut actions.turn().due) {
            let action = self.policy.choose(cx, A::ACTIONS);
            self.act(action);
        }
        Step::Continue
    }

    fn probes(&self) -> &'static [&'static str] {
        self.classic.probes()
    }

    fn probe(&self, out: &mut [f64]) {
        self.classic.probe(out);
    }
}
