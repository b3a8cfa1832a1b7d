//! Which RTT sample counts as a new minimum. The sources differ, which matters to a flow whose RTT is
//! constant: with `<` it enters ProbeRTT at each interval, with `<=` it need not.

use crate::units::Span;

crate::words! {
    /// The comparison with the minimum so far.
    pub enum Refresh {
        /// Only a lower sample (Linux's tcp_bbr.c since 5.11, draft-ietf-ccwg-bbr).
        Below = "<",
        /// An equal one, too (Linux before, BBRv2's alpha, draft-cardwell-iccrg-bbr-congestion-control-00, ns-3).
        AtMost = "<=",
    }
}

impl Refresh {
    /// Whether a sample renews the minimum.
    #[must_use]
    pub fn renews(self, sample: Span, minimum: Span) -> bool {
        match self {
            Refresh::Below => sample < minimum,
            Refresh::AtMost => sample <= minimum,
        }
    }
}
