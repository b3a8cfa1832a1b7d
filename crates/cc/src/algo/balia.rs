//! BALIA, Balanced Linked Adaptation (Peng et al. 2016): growth and cut both depend on how a path's rate compares
//! with the fastest one's.

use crate::algorithm::{Algorithm, Declaration};
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Context, Event};
use crate::coupled::{self, AckCount, Arithmetic, Counting, Path, Remainder};
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
        arithmetic: Arithmetic = Arithmetic::Exact, "arithmetic", Allowed::Word(Arithmetic::WORDS), "",
            "growth in real numbers by the rates at each ACK, or by a segment for a whole number of ACKs, by the rates when the window last grew",
            "draft-walid-mptcp-congestion-control-04 (exact); Linux MPTCP v0.9x net/mptcp/mptcp_balia.c (kernel)";
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
    arithmetic: Arithmetic,
    remainder: Remainder,
    acks: AckCount,
    /// alpha_r as of the last growth of the window.
    alpha: f64,
    /// What the kernel calculates when the window has grown by a segment.
    kept: Option<Kept>,
}

/// What mptcp_balia.c keeps from one change of the window to the next.
#[derive(Clone, Copy)]
struct Kept {
    /// The window for which it was calculated, in segments.
    segments: u64,
    /// What the next loss takes, in segments (`md`); `None` with a single path, where it takes half.
    cut: Option<u64>,
    /// How many ACKs the window needs for its next segment (`ai`).
    acks_per_segment: u64,
}

impl Kept {
    fn of(cx: &Context, window: &Window) -> Self {
        Self {
            segments: window.cwnd / window.mss,
            cut: whole_cut(cx, window),
            acks_per_segment: acks_per_segment(cx, window),
        }
    }
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

/// The number of ACKs for a segment, as mptcp_balia.c calculates it: (sum of x)^2 10 w / ((x + max) (4 x + max)). Rates are
/// whole bytes a second, of which the last bits are dropped until the largest fits into 25 bits.
fn acks_per_segment(cx: &Context, window: &Window) -> u64 {
    const LARGEST_BITS: u32 = 25;
    const DROPPED_BITS: u32 = 5;
    let own_segments = window.cwnd / window.mss;
    let paths = coupled::paths(cx, window.cwnd as f64);
    // Linux takes its own segment size for all paths.
    let rate = |path: &Path| window.mss * path.segments() * 8_000_000 / path.srtt_us_8();
    let Some(own) = paths.clone().find(|path| path.own).map(|path| rate(&path)) else { return own_segments };
    if paths.clone().count() == 1 || own == 0 {
        return own_segments;
    }
    let mut largest = paths.clone().map(|path| rate(&path)).fold(0, u64::max);
    let mut dropped = 0;
    while largest > 1 << LARGEST_BITS {
        largest >>= DROPPED_BITS;
        dropped += DROPPED_BITS;
    }
    let own = own >> dropped;
    let sum: u64 = paths.map(|path| rate(&path) >> dropped).sum();
    let acks = (sum * sum).wrapping_mul(10) / (own + largest);
    match acks.wrapping_mul(own_segments) / (4 * own + largest) {
        0 => own_segments,
        acks => acks,
    }
}

impl WindowRule for Balia {
    const PROBES: &'static [Probe<Self>] = &[("alpha", |rule| rule.alpha)];

    /// x / (rtt (sum of x)^2) (1 + alpha) / 2 (4 + alpha) / 5 of a segment for each one acknowledged.
    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        let (own, mss) = (window.cwnd as f64, window.mss as f64);
        let rates = Rates::of(cx, own);
        let counted = self.counting.of(acked, window.mss);
        self.alpha = rates.as_ref().map_or(1.0, Rates::alpha);
        if self.arithmetic == Arithmetic::Kernel {
            let kept = self.keep(cx, window);
            self.acks.add(window, kept.acks_per_segment, counted);
            self.keep(cx, window);
            return;
        }
        let linked = rates.map_or(1.0 / own, |rates| rates.own / (rates.own_rtt_s * rates.sum * rates.sum));
        let growth = linked * (1.0 + self.alpha) / 2.0 * (4.0 + self.alpha) / 5.0;
        self.remainder.add(window, counted as f64 * mss * growth);
        if self.cut == Cut::Kernel {
            self.keep(cx, window);
        }
    }

    /// The window loses min(alpha, 1.5) halves.
    fn shrink(&mut self, cx: &Context, window: &Window, _event: Event) -> u64 {
        self.remainder.clear();
        self.acks.clear();
        let own = window.cwnd as f64;
        // In slow start the kernel recalculates the cut at every ACK, and once more after a recovery.
        let kept = self.kept.take().filter(|_| !window.in_slow_start());
        if self.cut == Cut::Kernel {
            let cut = kept.map_or_else(|| whole_cut(cx, window), |kept| kept.cut);
            return cut.map_or(window.cwnd / 2, |cut| window.cwnd.saturating_sub(cut * window.mss));
        }
        let alpha = Rates::of(cx, own).map_or(1.0, |rates| rates.alpha());
        (own * (1.0 - alpha.min(LARGEST_CUT_HALVES) / 2.0)) as u64
    }

    /// Linux MPTCP v0.9x mptcp_balia.c counts both the window and the cut on a loss in segments.
    fn counts_segments(&self) -> bool {
        self.cut == Cut::Kernel || self.arithmetic == Arithmetic::Kernel
    }
}

impl Balia {
    /// What was calculated when the window last changed by a segment, or, if it has since, what is now.
    fn keep(&mut self, cx: &Context, window: &Window) -> Kept {
        let segments = window.cwnd / window.mss;
        match self.kept.filter(|kept| kept.segments == segments) {
            Some(kept) => kept,
            None => *self.kept.insert(Kept::of(cx, window)),
        }
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
            "with arithmetic = exact windows grow by fractions of a byte by the rates at each ACK, where mptcp_balia.c counts ACKs for \
             a whole segment, by the rates when the window last grew",
            "with arithmetic = kernel and counting = bytes an ACK counts for all that it covers, where mptcp_balia.c counts ACKs",
            "with cut = loss a loss counts with the rates at the loss, where mptcp_balia.c takes what it calculated when the \
             window last grew by a segment",
            "ssthresh is at least two segments (RFC 5681), where mptcp_balia.c has one",
        ],
        params: BaliaParams::specs().into(),
        declares: Declaration { coupled: true, ..Classic::<Balia>::DECLARATION }.into(),
        build: Arc::new(|setup, settings| {
            let params = BaliaParams::with(settings);
            let BaliaParams { counting, cut, arithmetic } = params;
            let (remainder, acks) = (Remainder::default(), AckCount::default());
            let rule = Balia { counting, cut, arithmetic, remainder, acks, alpha: 1.0, kept: None };
            Box::new(Classic::new(setup, rule))
        }),
    }
}
