//! BALIA, Balanced Linked Adaptation (Peng et al. 2016): growth and cut both depend on how a path's rate compares
//! with the fastest one's.

use crate::algorithm::{Algorithm, Declaration};
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Context, Event};
use crate::coupled::{self, Counting, Remainder};
use crate::params::Parameters;
use crate::probes::Probe;
use std::sync::Arc;

crate::parameters! {
    /// The parameters.
    pub struct BaliaParams {
        counting: Counting = Counting::Bytes, "counting", Allowed::Word(Counting::WORDS), "",
            "what makes the window grow in congestion avoidance: bytes acknowledged, or ACKs regardless of how much they cover",
            "as lia: RFC 6356 section 3 (bytes); Linux mptcp_balia (acks)";
        cut: Cut = Cut::Loss, "cut", Allowed::Word(Cut::WORDS), "",
            "what a loss takes: by the rates at the loss, or, in whole numbers, by those when the window last grew by a segment",
            "draft-walid-mptcp-congestion-control-04 (loss); Linux MPTCP v0.9x net/mptcp/mptcp_balia.c (kernel)";
    }
}

crate::words! {
    /// How far a loss shrinks the window.
    pub enum Cut {
        /// By the rates at the loss, in real numbers.
        Loss = "loss",
        /// By the cut calculated when the window last grew by a segment, with alpha_r and windows as whole
        /// numbers.
        Kernel = "kernel",
    }
}

/// A loss takes at most this many halves of the window.
const LARGEST_CUT_HALVES: f64 = 1.5;

/// The window rule of BALIA.
pub struct Balia {
    counting: Counting,
    cut: Cut,
    remainder: Remainder,
    /// alpha_r as of the last growth of the window.
    alpha: f64,
    /// With `cut = kernel`: the window for which the next cut was calculated, and that cut (`md`), both in
    /// segments.
    kept: Option<(u64, u64)>,
}

/// The rates of the connection's paths, in bytes a second.
struct Rates {
    own: f64,
    own_rtt_s: f64,
    largest: f64,
    sum: f64,
}

impl Rates {
    /// `None` before the first RTT sample: the path then behaves as in plain TCP.
    fn of(cx: &Context, own_window: f64) -> Option<Self> {
        let paths = coupled::paths(cx, own_window);
        let own = paths.clone().find(|path| path.own)?;
        let rates = paths.map(|path| path.rate());
        let largest = rates.clone().fold(0.0, f64::max);
        Some(Self { own: own.rate(), own_rtt_s: own.rtt_s, largest, sum: rates.sum() })
    }

    /// alpha_r: the fastest path's rate divided by this path's.
    fn alpha(&self) -> f64 {
        self.largest / self.own
    }
}

/// The cut that mptcp_balia.c makes in this window, in segments: half of it, times alpha_r as a whole number,
/// or times 1.5 if that is less. `None` with a single path, where the cut is half.
fn whole_cut(cx: &Context, window: &Window) -> Option<u64> {
    let own = window.cwnd as f64;
    let several = coupled::paths(cx, own).count() > 1;
    let alpha = Rates::of(cx, own).filter(|_| several)?.alpha() as u64;
    let half = window.cwnd / window.mss / 2;
    Some(if alpha > 1 { half * 3 / 2 } else { half })
}

impl WindowRule for Balia {
    const PROBES: &'static [Probe<Self>] = &[("alpha", |rule| rule.alpha)];

    /// x / (rtt (sum of x)^2) (1 + alpha) / 2 (4 + alpha) / 5 of a segment for each one acknowledged.
    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        let (own, mss) = (window.cwnd as f64, window.mss as f64);
        let rates = Rates::of(cx, own);
        self.alpha = rates.as_ref().map_or(1.0, Rates::alpha);
        let linked = rates.map_or(1.0 / own, |rates| rates.own / (rates.own_rtt_s * rates.sum * rates.sum));
        let growth = linked * (1.0 + self.alpha) / 2.0 * (4.0 + self.alpha) / 5.0;
        self.remainder.add(window, self.counting.of(acked, window.mss) as f64 * mss * growth);
        let segments = window.cwnd / window.mss;
        if self.cut == Cut::Kernel && self.kept.is_none_or(|(with, _)| with != segments) {
            self.kept = whole_cut(cx, window).map(|cut| (segments, cut));
        }
    }

    /// The window loses min(alpha, 1.5) halves.
    fn shrink(&mut self, cx: &Context, window: &Window, _event: Event) -> u64 {
        self.remainder.clear();
        let own = window.cwnd as f64;
        if self.cut == Cut::Kernel {
            // In slow start the kernel recalculates the cut at every ACK, and once more after a recovery.
            let kept = self.kept.take().filter(|_| !window.in_slow_start()).map(|(_, cut)| cut);
            let cut = kept.or_else(|| whole_cut(cx, window));
            return cut.map_or(window.cwnd / 2, |cut| window.cwnd.saturating_sub(cut * window.mss));
        }
        let alpha = Rates::of(cx, own).map_or(1.0, |rates| rates.alpha());
        (own * (1.0 - alpha.min(LARGEST_CUT_HALVES) / 2.0)) as u64
    }

    /// Linux MPTCP v0.9x mptcp_balia.c counts both the window and the cut on a loss in segments.
    fn counts_segments(&self) -> bool {
        self.cut == Cut::Kernel
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "balia",
        summary: "BALIA: coupled subflows, between LIA's friendliness and OLIA's balance",
        source: "draft-walid-mptcp-congestion-control-04; Linux MPTCP v0.9x net/mptcp/mptcp_balia.c",
        departures: &[
            "windows grow by fractions of a byte and alpha_r is a real number, where mptcp_balia.c cuts it to a whole one (in \
             the cut, cut = kernel does so, too)",
            "with cut = loss a loss counts with the rates at the loss, where mptcp_balia.c takes what it calculated when the \
             window last grew by a segment",
            "ssthresh is at least two segments (RFC 5681), where mptcp_balia.c has one",
        ],
        params: BaliaParams::specs().into(),
        declares: Declaration { coupled: true, ..Classic::<Balia>::DECLARATION }.into(),
        build: Arc::new(|setup, settings| {
            let params = BaliaParams::with(settings);
            let BaliaParams { counting, cut } = params;
            let rule = Balia { counting, cut, remainder: Remainder::default(), alpha: 1.0, kept: None };
            Box::new(Classic::new(setup, rule))
        }),
    }
}
