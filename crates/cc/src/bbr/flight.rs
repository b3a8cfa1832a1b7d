//! Data in flight in whole segments, as the kernels count them. A flight of whole segments never reaches a bound that is
//! a fraction of one: it would stop one segment short of it.

use crate::contract::Facts;
use crate::units::Rate;

/// Rounded down to whole segments.
#[must_use]
pub fn whole(bytes: u64, mss: u64) -> u64 {
    bytes - bytes % mss
}

/// Rounded up to whole segments.
#[must_use]
pub fn ceil(bytes: u64, mss: u64) -> u64 {
    bytes.div_ceil(mss).saturating_mul(mss)
}

/// What of `in_flight` bytes will be in the network when pacing lets the next segment go, with the `leaving` bytes that
/// go then (Linux and google/bbr `bbr_packets_in_net_at_edt`): a flight that grows is judged after that departure, with
/// its quantum; one that shrinks just before it, with nothing.
#[must_use]
pub fn at_next_departure(facts: &Facts, in_flight: u64, bandwidth: Rate, leaving: u64) -> u64 {
    let delivered = bandwidth.bytes_in(facts.next_departure.since(facts.now));
    (in_flight + whole(leaving, facts.mss)).saturating_sub(whole(delivered, facts.mss))
}

/// What may be in flight where the losses of a flight crossed the threshold (google/bbr `bbr2_inflight_hi_from_lost_skb`,
/// draft-ietf-ccwg-bbr section 5.5.10.2): x segments of the last packet, so that (lost_before + x) / (before + x) is the
/// threshold. `before` and `lost_before` are bytes without that packet.
#[must_use]
pub fn at_loss_threshold(before: u64, lost_before: u64, threshold: f64, mss: u64) -> u64 {
    let allowed = ceil((before as f64 * threshold).ceil() as u64, mss).saturating_sub(lost_before);
    before + whole((allowed as f64 / (1.0 - threshold)) as u64, mss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Span, Time};

    #[test]
    fn whole_segments_below_and_above() {
        assert_eq!((whole(2999, 1000), ceil(2001, 1000)), (2000, 3000));
        assert_eq!((whole(3000, 1000), ceil(3000, 1000)), (3000, 3000));
        assert_eq!(ceil(u64::MAX, 1000), u64::MAX);
    }

    /// 8 Mbit/s deliver a segment of 1000 bytes a ms; the next one leaves in 2.5 ms.
    #[test]
    fn a_growing_flight_counts_what_leaves_next_and_none_what_is_delivered_until_then() {
        let now = Time::ZERO + Span::from_millis(7);
        let facts =
            Facts { now, mss: 1000, next_departure: now + Span::from_micros(2500), ..Facts::default() };
        let rate = Rate::from_mbit(8);
        assert_eq!(at_next_departure(&facts, 10_000, rate, 0), 8000);
        assert_eq!(at_next_departure(&facts, 10_000, rate, 4500), 12_000);
        assert_eq!(at_next_departure(&facts, 1000, rate, 0), 0);
        let facts = Facts { next_departure: Time::ZERO, ..facts };
        assert_eq!(at_next_departure(&facts, 10_000, rate, 0), 10_000, "nothing holds it back");
    }

    /// 100 segments before it, of which 2 may be lost: with 1 lost, one more; with 2, none. Of 101 it is 2.02, and so 3.
    #[test]
    fn the_crossing_of_the_threshold() {
        let crossing =
            |before: u64, lost: u64| at_loss_threshold(before * 1000, lost * 1000, 0.02, 1000) / 1000;
        assert_eq!(
            [crossing(100, 0), crossing(100, 1), crossing(100, 2), crossing(100, 9)],
            [102, 101, 100, 100]
        );
        assert_eq!(crossing(101, 2), 102);
    }
}
