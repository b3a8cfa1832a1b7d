//! Pacing (draft-ietf-ccwg-bbr sections 5.6.2 and 5.6.3).

use crate::units::{Rate, Span};

/// One per cent below the estimate, so that the queue drains if it is right.
pub const MARGIN: f64 = 0.99;
/// Below this rate a quantum is one segment.
const SLOW: Rate = Rate(1_200_000);
/// A burst is at most what the rate carries in this time, and at most this many bytes.
const BURST: Span = Span::from_millis(1);
const MOST: u64 = 64 * 1024;

/// The pacing rate for this bandwidth and gain.
#[must_use]
pub fn rate(bandwidth: Rate, gain: f64) -> Rate {
    bandwidth.scaled(gain * MARGIN)
}

/// The first rate, before there is a bandwidth sample: the initial window per RTT, or per ms while there is
/// no RTT sample, times the gain.
#[must_use]
pub fn first_rate(initial_window: u64, rtt: Span, gain: f64) -> Rate {
    let rtt = if rtt == Span::ZERO { Span::from_millis(1) } else { rtt };
    Rate::of(initial_window, rtt).unwrap_or_default().scaled(gain)
}

/// How many bytes may be sent at once.
#[must_use]
pub fn quantum(rate: Rate, mss: u64) -> u64 {
    let least = if rate < SLOW { mss } else { 2 * mss };
    rate.bytes_in(BURST).min(MOST).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quanta_of_the_draft() {
        assert_eq!(quantum(Rate::from_mbit(1), 1500), 1500);
        assert_eq!(quantum(Rate::from_mbit(2), 1500), 3000);
        assert_eq!(quantum(Rate::from_mbit(100), 1500), 12_500);
        assert_eq!(quantum(Rate::from_mbit(10_000), 1500), 65_536);
    }

    #[test]
    fn first_rates() {
        assert_eq!(first_rate(15_000, Span::from_millis(10), 2.0), Rate::from_mbit(24));
        assert_eq!(first_rate(15_000, Span::ZERO, 1.0), Rate::from_mbit(120));
    }

    #[test]
    fn a_margin_is_left() {
        assert_eq!(rate(Rate::from_mbit(100), 1.25), Rate(123_750_000));
    }
}
