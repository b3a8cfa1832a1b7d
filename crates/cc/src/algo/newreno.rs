//! NewReno as RFC 5681 and RFC 6582 have it: half of FlightSize on a loss; counts bytes or, as ns-3 does, ACKs.

use crate::algorithm::Algorithm;
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Ack, Context, Event, Phase};
use crate::params::Parameters;
use std::sync::Arc;

crate::words! {
    /// What makes the window grow.
    pub enum Counting {
        /// Bytes acknowledged (RFC 3465).
        Bytes = "bytes",
        /// ACKs, whatever they cover (RFC 5681 without RFC 3465; ns-3): with delayed ACKs half as fast.
        Acks = "acks",
    }
}

impl Counting {
    /// The bytes that an ACK counts for.
    #[must_use]
    pub fn counted(self, ack: &Ack, mss: u64) -> u64 {
        match self {
            Counting::Bytes => ack.acked,
            Counting::Acks => ack.acked.min(mss),
        }
    }
}

crate::words! {
    /// What is halved on a loss.
    pub enum HalfOf {
        /// FlightSize: what was sent and not cumulatively acknowledged (RFC 5681).
        FlightSize = "flight-size",
        /// The pipe, without data that is SACKed or lost (ns-3).
        Pipe = "pipe",
    }
}

crate::parameters! {
    /// The parameters.
    pub struct NewRenoParams {
        half_of: HalfOf = HalfOf::FlightSize, "half_of", Allowed::Word(HalfOf::WORDS), "",
            "what is halved on a loss", "RFC 5681 equation (4) (flight-size); ns-3 TcpNewReno (pipe)";
        counting: Counting = Counting::Bytes, "counting", Allowed::Word(Counting::WORDS), "",
            "what makes the window grow: bytes acknowledged, or ACKs regardless of how much they cover",
            "RFC 3465 (bytes); ns-3 TcpNewReno (acks)";
    }
}

/// The window rule of NewReno.
pub struct NewReno {
    params: NewRenoParams,
}

impl WindowRule for NewReno {
    fn counted(&self, ack: &Ack, mss: u64) -> u64 {
        self.params.counting.counted(ack, mss)
    }

    fn grow(&mut self, _cx: &Context, window: &mut Window, acked: u64) {
        match self.params.counting {
            Counting::Bytes => window.grow_one_per(window.cwnd, acked),
            // RFC 5681 equation (3): SMSS * SMSS / cwnd for each ACK, in whole bytes, at least one.
            Counting::Acks => window.cwnd += (window.mss * window.mss / window.cwnd).max(1),
        }
    }

    /// RFC 5681 equation (4) applies at a timeout unless the timer has already resent the segment; ns-3's
    /// rule applies at each timeout.
    fn reduces_again(&self, phase: Phase) -> bool {
        phase != Phase::Loss || self.params.half_of == HalfOf::Pipe
    }

    /// RFC 5681 equation (4): half of FlightSize.
    fn shrink(&mut self, cx: &Context, window: &Window, event: Event) -> u64 {
        let facts = cx.facts;
        let base = match (self.params.half_of, event) {
            (HalfOf::FlightSize, _) => facts.flight_size,
            // At a timeout nothing counts as in flight any more; the data that was in flight is at most the
            // window.
            (HalfOf::Pipe, Event::Timeout) => facts.flight_size.min(window.cwnd),
            (HalfOf::Pipe, _) => facts.in_flight,
        };
        base / 2
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "newreno",
        summary: "NewReno: one segment per round trip, half of FlightSize on a loss",
        source: "RFC 5681, RFC 6582; with counting = acks: ns-3.37 TcpNewReno",
        departures: &["recovery is the profile's (SACK and PRR by default), not RFC 6582's window inflation"],
        params: NewRenoParams::specs().into(),
        declares: Classic::<NewReno>::DECLARATION.into(),
        build: Arc::new(|setup, settings| {
            let params = NewRenoParams::with(settings);
            Box::new(Classic::new(setup, NewReno { params }))
        }),
    }
}
