//! Data in flight in whole segments, as the kernels count them. A flight of whole segments never reaches a
//! bound that ends within a segment: it would stop just short of it.

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

/// The bytes in the network when pacing releases the next segment: `in_flight`, plus the `leaving` bytes that
/// are sent then, less those delivered by then (Linux and google/bbr `bbr_packets_in_net_at_edt`). A growing
/// flight is judged just after that departure (`leaving` is its quantum), a shrinking one just before (`leaving` is 0).
#[must_use]
pub fn at_next_departure(facts: &Facts, in_flight: u64, bandwidth: Rate, leaving: u64) -> u64 {
    let delivered = bandwidth.bytes_in(facts.next_departure.since(facts.now));
    (in_flight + whole(leaving, facts.mss)).saturating_sub(whole(delivered, facts.mss))
}

/// The bytes in flight at which a flight's losses crossed the threshold (google/bbr
/// `bbr2_inflight_hi_from_lost_skb`, draft-ietf-ccwg-bbr section 5.5.10.2): `before` and x segments of the
/// last packet, so that (lost_before + x) / (before + x) is the threshold. `before` and `lost_before` are
/// bytes without that packet.
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

    /// 8 Mbit/s deliver one segment of 1000 bytes per ms; the next one leaves in 2.5 ms.
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

    /// 100 segments before the last packet may lose 2: with 1 lost, one more may be; with 2 lost, none. Of
    /// 101 segments 2.02 may be lost, rounded up to 3.
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
