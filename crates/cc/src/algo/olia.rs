//! OLIA, the Opportunistic Linked Increases Algorithm (Khalili et al. 2012): optimal load balancing by a
//! coupled increase, and a second term that moves windows towards the paths that lose least.

use crate::algorithm::{Algorithm, Declaration};
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Context, Event};
use crate::coupled::{self, Counting, Path, Remainder};
use crate::params::Parameters;
use crate::probes::Probe;
use std::sync::Arc;

crate::parameters! {
    /// The parameters.
    pub struct OliaParams {
        counting: Counting = Counting::Bytes, "counting", Allowed::Word(Counting::WORDS), "",
            "what makes the window grow in congestion avoidance: bytes acknowledged, or ACKs regardless of how much they cover",
            "as lia: RFC 6356 section 3 (bytes); Linux mptcp_olia (acks)";
    }
}

/// The window rule of OLIA.
pub struct Olia {
    counting: Counting,
    remainder: Remainder,
    /// alpha_r, as of the last growth.
    alpha: f64,
}

/// How good a path is: l / rtt^2, where l is the number of bytes between two losses. Up to a constant, this
/// is the square of the rate that one TCP would have there, sqrt(2 l) / rtt.
fn quality(path: &Path) -> f64 {
    path.view.since_loss.max(path.view.between_losses) as f64 / (path.rtt_s * path.rtt_s)
}

/// Windows count as equal if they have the same number of whole segments, as in mptcp_olia.c.
fn segments(path: &Path) -> u64 {
    path.window as u64 / path.view.mss.max(1)
}

/// alpha_r of this path: the best paths whose window is not the largest gain what the paths with the largest
/// window lose.
fn alpha<'a>(paths: impl Iterator<Item = Path<'a>> + Clone) -> f64 {
    let best = paths.clone().map(|path| quality(&path)).fold(0.0, f64::max);
    let largest = paths.clone().map(|path| segments(&path)).max().unwrap_or(0);
    let has_largest = |path: &Path| segments(path) == largest;
    let is_collected = |path: &Path| quality(path) == best && !has_largest(path);
    let count = |wanted: &dyn Fn(&Path) -> bool| paths.clone().filter(|path| wanted(path)).count() as f64;
    let (all, collected) = (count(&|_| true), count(&is_collected));
    match paths.clone().find(|path| path.own) {
        Some(own) if is_collected(&own) => 1.0 / (all * collected),
        Some(own) if collected > 0.0 && has_largest(&own) => -1.0 / (all * count(&has_largest)),
        _ => 0.0,
    }
}

impl WindowRule for Olia {
    const PROBES: &'static [Probe<Self>] = &[("alpha", |rule| rule.alpha)];

    /// (w / rtt^2) / (sum of w / rtt)^2 + alpha_r / w of a segment for each one acknowledged.
    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        let (own, mss) = (window.cwnd as f64, window.mss as f64);
        let paths = coupled::paths(cx, own);
        let rate: f64 = paths.clone().map(|path| path.rate()).sum();
        let linked = paths.clone().find(|path| path.own).map(|path| path.rate() / (path.rtt_s * rate * rate));
        self.alpha = alpha(paths);
        let growth = linked.unwrap_or(1.0 / own) + self.alpha / own;
        self.remainder.add(window, self.counting.of(acked, window.mss) as f64 * mss * growth);
    }

    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        self.remainder.clear();
        window.cwnd / 2
    }

    /// Linux MPTCP v0.9x mptcp_olia.c reduces by `tcp_reno_ssthresh`: cwnd >> 1.
    fn counts_segments(&self) -> bool {
        self.counting == Counting::Acks
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
            "windows grow by fractions of a byte in real numbers, where mptcp_olia.c has whole segments and fixed point",
            "a timer that expires within a fast recovery, or again before anything is acknowledged, is no new loss, and a \
             congestion mark is one (as in mptcp_olia.c)",
            "a window that shrinks to ssthresh stays there, because below it slow start grows it again (as in mptcp_olia.c)",
        ],
        params: OliaParams::specs().into(),
        declares: Declaration { coupled: true, ..Classic::<Olia>::DECLARATION }.into(),
        build: Arc::new(|setup, settings| {
            let params = OliaParams::with(settings);
            let rule = Olia { counting: params.counting, remainder: Remainder::default(), alpha: 0.0 };
            Box::new(Classic::new(setup, rule))
        }),
    }
}
