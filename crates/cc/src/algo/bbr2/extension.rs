//! Where an algorithm that is BBRv2 but for one thing may put that thing: what it is told, and what it may change.

use super::{MinRtt, Mode};
use crate::bbr::pacing;
use crate::units::{Rate, Span, Time};

/// BBRv2's own probes; those of an extension follow.
#[macro_export]
#[doc(hidden)]
macro_rules! bbr2_probes {
    ($($more:literal),*) => {
        &[
            "bw_mbps", "max_bw_mbps", "bw_lo_mbps", "min_rtt_ms", "pacing_gain", "mode",
            "inflight_hi_bytes", "inflight_lo_bytes", "extra_acked_bytes" $(, $more)*
        ]
    };
}

/// What an extension is told and asked.
pub trait Extension: Send {
    /// Names of all probes.
    const PROBES: &'static [&'static str] = bbr2_probes!();

    /// The first RTT of the connection.
    fn first_rtt(&mut self, _now: Time, _rtt: Span) {}

    /// Sending starts again after there was nothing to send.
    fn idle_restart(&mut self) {}

    /// An ACK has been taken into the model.
    fn observe(&mut self, _now: Time, _rtt: Option<Span>, _min_rtt: &MinRtt) {}

    /// The rate for a gain over the bandwidth.
    fn pacing_rate(&self, _mode: Mode, bandwidth: Rate, gain: f64) -> Rate {
        pacing::rate(bandwidth, gain)
    }

    /// The window's gain.
    fn cwnd_gain(&self, _mode: Mode, gain: f64) -> f64 {
        gain
    }

    /// Whether headroom is left for others while cruising.
    fn leaves_headroom(&self) -> bool {
        true
    }

    /// Writes the probes of its own.
    fn probe(&self, _out: &mut [f64]) {}
}

/// BBRv2 as it is.
pub struct Plain;

impl Extension for Plain {}
