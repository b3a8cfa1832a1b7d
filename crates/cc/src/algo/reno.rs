//! Reno as Linux (`tcp_reno`) and ns-3 (`TcpLinuxReno`) have it: bytes counted, half the window on a loss.

use crate::algorithm::Algorithm;
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Ack, Context, Event, Phase};
use crate::params::Parameters;
use std::sync::Arc;

crate::words! {
    /// Which bytes of an ACK make the window grow.
    pub enum Counting {
        /// Those newly delivered, by acknowledgement or SACK: each counts once (Linux).
        Delivered = "delivered",
        /// Those by which the cumulative acknowledgement advanced: the ACK that ends recovery counts for all that
        /// was SACKed before (ns-3).
        Cumulative = "cumulative",
        /// One segment for each ACK that advances, whatever it covers (RFC 5681 without RFC 3465; Linux 2.2): with
        /// delayed ACKs half as fast.
        Acks = "acks",
    }
}

crate::parameters! {
    /// The parameters.
    pub struct RenoParams {
        counting: Counting = Counting::Delivered, "counting", Allowed::Word(Counting::WORDS), "",
            "which bytes of an ACK make the window grow",
            "Linux (delivered); ns-3 TcpLinuxReno (cumulative); Linux 2.2 (acks: a segment for each ACK)";
    }
}

/// The window rule of Reno.
pub struct Reno {
    counting: Counting,
}

impl Reno {
    /// A rule with these parameters.
    #[must_use]
    pub fn new(params: &RenoParams) -> Self {
        Self { counting: params.counting }
    }
}

impl WindowRule for Reno {
    fn counted(&self, ack: &Ack, mss: u64) -> u64 {
        match self.counting {
            Counting::Delivered => ack.acked,
            Counting::Cumulative => ack.advanced,
            Counting::Acks => ack.advanced.min(mss),
        }
    }

    fn carries_credit(&self) -> bool {
        self.counting == Counting::Cumulative
    }

    /// Linux `tcp_reno_ssthresh`: cwnd >> 1.
    fn counts_segments(&self) -> bool {
        self.counting == Counting::Delivered
    }

    /// ns-3 sets ssthresh at every timeout, Linux 2.2 at the first one, within fast recovery too.
    fn reduces_again(&self, phase: Phase) -> bool {
        match self.counting {
            Counting::Delivered => false,
            Counting::Cumulative => true,
            Counting::Acks => phase == Phase::Recovery,
        }
    }

    /// RFC 5681 section 3.1: one segment a round trip.
    fn grow(&mut self, _cx: &Context, window: &mut Window, acked: u64) {
        window.grow_one_per(window.cwnd, acked);
    }

    /// Half the window; RFC 5681 equation (4) has half of FlightSize, for which see `newreno`.
    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        window.cwnd / 2
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "reno",
        summary: "Reno with byte counting: one segment per round trip, half the window on a loss",
        source: "RFC 5681, RFC 3465; Linux 6.18 net/ipv4/tcp_cong.c",
        departures: &[
            "ssthresh is half of cwnd (as in Linux), where RFC 5681 equation (4) has half of FlightSize",
            "slow start counts every byte acknowledged (as in Linux), where RFC 3465 stops at two segments per ACK",
        ],
        params: RenoParams::specs().into(),
        declares: Classic::<Reno>::DECLARATION.into(),
        build: Arc::new(|setup, settings| {
            Box::new(Classic::new(setup, Reno::new(&RenoParams::with(settings))))
        }),
    }
}
