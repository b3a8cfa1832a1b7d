//! The extension point for algorithms that differ from BBRv2 in one thing: what they receive, and what they
//! may change.

use super::{MinRtt, Mode};
use crate::bbr::pacing;
use crate::probes::Probe;
use crate::units::{Rate, Span, Time};

/// What an extension receives, and what it decides.
pub trait Extension: Send + Sized + 'static {
    /// The extension's own recorded values; they follow BBRv2's.
    const PROBES: &'static [Probe<Self>] = &[];

    /// The first RTT of the connection.
    fn first_rtt(&mut self, _now: Time, _rtt: Span) {}

    /// Sending resumes after an idle period.
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
}

/// BBRv2 without any extension.
pub struct Plain;

impl Extension for Plain {}
