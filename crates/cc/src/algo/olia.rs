//! OLIA, the Opportunistic Linked Increases Algorithm (Khalili et al. 2012): optimal load balancing by a
//! coupled increase, and a second term that moves windows towards the paths that lose least.

use crate::algorithm::{Algorithm, Declaration};
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Context, Event};
use crate::coupled::{self, Arithmetic, Counting, Path, Remainder};
use crate::params::Parameters;
use crate::probes::Probe;
use std::sync::Arc;

crate::parameters! {
    /// The parameters.
    pub struct OliaParams {
        counting: Counting = Counting::Bytes, "counting", Allowed::Word(Counting::WORDS), "",
            "what makes the window grow in congestion avoidance: bytes acknowledged, or ACKs regardless of how much they cover",
            "as lia: RFC 6356 section 3 (bytes); Linux mptcp_olia (acks)";
        arithmetic: Arithmetic = Arithmetic::Exact, "arithmetic", Allowed::Word(Arithmetic::WORDS), "",
            "growth in real numbers, or in whole 1024ths of a segment that move the window by whole segments",
            "draft-khalili-mptcp-congestion-control-05 (exact); Linux MPTCP v0.9x net/mptcp/mptcp_olia.c (kernel)";
    }
}

/// The window rule of OLIA.
pub struct Olia {
    counting: Counting,
    arithmetic: Arithmetic,
    remainder: Remainder,
    /// With `arithmetic = kernel`: what the window has not moved by yet, in 1024ths of a segment.
    steps: i64,
    /// alpha_r, as of the last growth.
    alpha: Share,
}

/// alpha_r of a path: one part in `of`, given or taken, or nothing.
#[derive(Clone, Copy, Debug)]
struct Share {
    sign: i64,
    of: u64,
}

impl Share {
    const NONE: Self = Self { sign: 0, of: 1 };

    fn value(self) -> f64 {
        self.sign as f64 / self.of as f64
    }
}

/// How good a path is: l / rtt^2, where l is the number of bytes between two losses. Up to a constant, this
/// is the square of the rate that one TCP would have there, sqrt(2 l) / rtt.
fn quality(path: &Path) -> f64 {
    path.view.since_loss.max(path.view.between_losses) as f64 / (path.rtt_s * path.rtt_s)
}

/// alpha_r of this path: the best paths whose window is not the largest gain what the paths with the largest
/// window lose. Windows count as equal if they have the same number of whole segments, as in mptcp_olia.c.
fn alpha<'a>(paths: impl Iterator<Item = Path<'a>> + Clone) -> Share {
    let best = paths.clone().map(|path| quality(&path)).fold(0.0, f64::max);
    let largest = paths.clone().map(|path| path.segments()).max().unwrap_or(0);
    let has_largest = |path: &Path| path.segments() == largest;
    let is_collected = |path: &Path| quality(path) == best && !has_largest(path);
    let count = |wanted: &dyn Fn(&Path) -> bool| paths.clone().filter(|path| wanted(path)).count() as u64;
    let (all, collected) = (count(&|_| true), count(&is_collected));
    match paths.clone().find(|path| path.own) {
        Some(own) if is_collected(&own) => Share { sign: 1, of: all * collected },
        Some(own) if collected > 0 && has_largest(&own) => Share { sign: -1, of: all * count(&has_largest) },
        _ => Share::NONE,
    }
}

/// The scale of mptcp_olia.c, as a power of two.
const SCALE: u32 = 10;

/// What an ACK adds to the window in 1024ths of a segment, as mptcp_olia.c calculates it: (w / rtt^2) / (sum of w / rtt)^2 is
/// w^2 / (w rate), where the rate is the square of the sum of w_p rtt / rtt_p. Products wrap around at 64 bits, as there.
fn whole_growth<'a>(paths: impl Iterator<Item = Path<'a>> + Clone, alpha: Share) -> i64 {
    let Some(own) = paths.clone().find(|path| path.own) else { return 0 };
    let scaled = |path: &Path| path.segments() << SCALE;
    let relative = |path: Path| scaled(&path).wrapping_mul(own.srtt_us_8()) / path.srtt_us_8();
    let rate = 1 + paths.map(relative).fold(0, u64::wrapping_add);
    let rate = rate.wrapping_mul(rate);
    let linked = alpha.of.wrapping_mul(scaled(&own)).wrapping_mul(scaled(&own));
    let (numerator, sign) = match alpha.sign {
        -1 if linked < rate => (rate - linked, -1),
        -1 => (linked - rate, 1),
        sign => (linked.wrapping_add(if sign == 1 { rate } else { 0 }), 1),
    };
    let denominator = alpha.of.wrapping_mul(own.segments()).wrapping_mul(rate).max(1);
    // With windows of some 10,000 segments the denominator wraps around, and the quotient may be any number.
    sign * i64::try_from((numerator << SCALE) / denominator).unwrap_or(i64::MAX)
}

impl Olia {
    /// Moves the window by a segment as soon as the steps make one, but for the last (mptcp_olia.c).
    fn step(&mut self, window: &mut Window, steps: i64) {
        const SEGMENT: i64 = (1 << SCALE) - 1;
        self.steps = self.steps.saturating_add(steps);
        if self.steps >= SEGMENT {
            window.cwnd += window.mss;
        } else if self.steps <= -SEGMENT {
            window.cwnd = window.cwnd.saturating_sub(window.mss).max(window.mss);
        } else {
            return;
        }
        self.steps = 0;
    }
}

impl WindowRule for Olia {
    const PROBES: &'static [Probe<Self>] = &[("alpha", |rule| rule.alpha.value())];

    /// (w / rtt^2) / (sum of w / rtt)^2 + alpha_r / w of a segment for each one acknowledged.
    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        let (own, mss) = (window.cwnd as f64, window.mss as f64);
        let paths = coupled::paths(cx, own);
        let counted = self.counting.of(acked, window.mss);
        self.alpha = alpha(paths.clone());
        if self.arithmetic == Arithmetic::Kernel && paths.clone().any(|path| path.own) {
            let steps = whole_growth(paths, self.alpha);
            return self.step(window, steps.saturating_mul(counted as i64) / window.mss as i64);
        }
        let rate: f64 = paths.clone().map(|path| path.rate()).sum();
        let linked = paths.clone().find(|path| path.own).map(|path| path.rate() / (path.rtt_s * rate * rate));
        let growth = linked.unwrap_or(1.0 / own) + self.alpha.value() / own;
        self.remainder.add(window, counted as f64 * mss * growth);
    }

    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        self.remainder.clear();
        window.cwnd / 2
    }

    /// Linux MPTCP v0.9x mptcp_olia.c reduces by `tcp_reno_ssthresh`: cwnd >> 1.
    fn counts_segments(&self) -> bool {
        self.counting == Counting::Acks || self.arithmetic == Arithmetic::Kernel
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "olia",
        summary: "OLIA: coupled subflows whose windows move towards the paths that lose least",
        source: "draft-khalili-mptcp-congestion-control-05; Linux MPTCP v0.9x net/mptcp/mptcp_olia.c",
        departures: &[
            "with arithmetic = exact windows grow by fractions of a byte in real numbers, where mptcp_olia.c has whole segments and \
             fixed point",
            "with arithmetic = kernel and counting = bytes an ACK counts for all that it covers, where mptcp_olia.c counts ACKs",
            "a timer that expires within a fast recovery, or again before anything is acknowledged, is no new loss, and a \
             congestion mark is one (as in mptcp_olia.c)",
            "a window that shrinks to ssthresh stays there, because below it slow start grows it again (as in mptcp_olia.c)",
        ],
        params: OliaParams::specs().into(),
        declares: Declaration { coupled: true, ..Classic::<Olia>::DECLARATION }.into(),
        build: Arc::new(|setup, settings| {
            let params = OliaParams::with(settings);
            let OliaParams { counting, arithmetic } = params;
            let rule =
                Olia { counting, arithmetic, remainder: Remainder::default(), steps: 0, alpha: Share::NONE };
            Box::new(Classic::new(setup, rule))
        }),
    }
}
