//! LIA, the Linked Increases Algorithm (RFC 6356): the subflows of a connection together grow as one TCP on
//! the best path.

use crate::algorithm::{Algorithm, Declaration};
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Ack, Context, Event, Setup};
use crate::coupled::{AckCount, Arithmetic, Counting, Coupling, Remainder, lia_acks_per_segment};
use crate::hystart::{self, HyStart};
use crate::params::Parameters;
use crate::probes::Probe;
use std::sync::Arc;

crate::parameters! {
    /// The parameters.
    pub struct LiaParams {
        counting: Counting = Counting::Bytes, "counting", Allowed::Word(Counting::WORDS), "",
            "what makes the window grow in congestion avoidance: bytes acknowledged, or ACKs regardless of how much they cover",
            "RFC 6356 section 3 (bytes); Linux mptcp_coupled (acks)";
        arithmetic: Arithmetic = Arithmetic::Exact, "arithmetic", Allowed::Word(Arithmetic::WORDS), "",
            "alpha / W in real numbers, or in whole 4096ths with growth by whole segments",
            "RFC 6356 section 3 (exact); Linux MPTCP v0.9x net/mptcp/mptcp_coupled.c (kernel)";
        hystart: bool = false, "hystart", Allowed::Flag, "",
            "leave slow start by ACK train or delay, as cubic does", "RFC 6356 leaves slow start as it is";
    }
}

/// The window rule of LIA.
pub struct Lia {
    counting: Counting,
    arithmetic: Arithmetic,
    hystart: Option<HyStart>,
    remainder: Remainder,
    acks: AckCount,
    /// alpha as of the last growth; 1 is plain TCP.
    alpha: f64,
}

impl Lia {
    /// A rule with these parameters.
    #[must_use]
    pub fn new(setup: &Setup, params: &LiaParams) -> Self {
        let hystart = params.hystart.then(|| HyStart::new(&hystart::LINUX, setup.paced));
        Self {
            counting: params.counting,
            arithmetic: params.arithmetic,
            hystart,
            remainder: Remainder::default(),
            acks: AckCount::default(),
            alpha: 1.0,
        }
    }

    /// RFC 6356's alpha, as of the last growth.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl WindowRule for Lia {
    const PROBES: &'static [Probe<Self>] = &[("alpha", |rule| rule.alpha)];

    fn observe(&mut self, _cx: &Context, ack: &Ack) {
        if let Some(hystart) = &mut self.hystart {
            hystart.observe(ack.advanced, ack.rtt);
        }
    }

    fn leaves_slow_start(&mut self, cx: &Context, ack: &Ack, cwnd: u64) -> bool {
        match (&mut self.hystart, ack.rtt) {
            (Some(hystart), Some(rtt)) => hystart.should_exit(cx, rtt, cwnd),
            _ => false,
        }
    }

    /// RFC 6356 equation (1): min(alpha / W, 1 / w) of a segment for each one acknowledged.
    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        let (own, mss) = (window.cwnd as f64, window.mss as f64);
        let plain = 1.0 / own;
        let counted = self.counting.of(acked, window.mss);
        let coupling = Coupling::of(cx, own);
        self.alpha = coupling.map_or(1.0, |coupling| coupling.alpha);
        if self.arithmetic == Arithmetic::Kernel {
            let acks_per_segment = lia_acks_per_segment(cx, window);
            self.acks.add(window, acks_per_segment, counted);
            return;
        }
        let linked = coupling.map_or(plain, |coupling| coupling.alpha / coupling.total);
        self.remainder.add(window, counted as f64 * mss * linked.min(plain));
    }

    /// RFC 6356 section 3 leaves the decrease as it is: half.
    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        self.remainder.clear();
        self.acks.clear();
        window.cwnd / 2
    }

    /// Linux MPTCP v0.9x mptcp_coupled.c reduces by `tcp_reno_ssthresh`: cwnd >> 1.
    fn counts_segments(&self) -> bool {
        self.arithmetic == Arithmetic::Kernel
    }

    fn notice(&mut self, cx: &Context, event: Event) {
        if let (Event::Timeout, Some(hystart)) = (event, &mut self.hystart) {
            hystart.restart(cx);
        }
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "lia",
        summary: "LIA: coupled subflows that together grow as one TCP on the best path",
        source: "RFC 6356; with counting = acks: Linux MPTCP v0.9x net/mptcp/mptcp_coupled.c",
        departures: &[
            "alpha is computed at every ACK, where the RFC advises once per window and mptcp_coupled.c computes it when a \
             window has changed by a segment",
            "with arithmetic = exact alpha / W is a real number, where mptcp_coupled.c has a whole number of 4096ths: windows \
             there grow by a segment in 1365, 2048 or 4096 ACKs where W / alpha is that large",
            "ssthresh is half of cwnd (as in Linux), where RFC 5681 equation (4) has half of FlightSize",
            "with counting = acks and arithmetic = exact the window grows by fractions, where mptcp_coupled.c counts ACKs up to \
             W / alpha and one more for a whole segment",
        ],
        params: LiaParams::specs().into(),
        declares: Declaration { coupled: true, ..Classic::<Lia>::DECLARATION }.into(),
        build: Arc::new(|setup, settings| {
            let params = LiaParams::with(settings);
            Box::new(Classic::new(setup, Lia::new(setup, &params)))
        }),
    }
}
