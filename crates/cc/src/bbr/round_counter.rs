//! Packet-timed round trips (draft-ietf-ccwg-bbr section 5.5.1): a round begins when a packet sent after the
//! start of the last one is acknowledged.

use crate::contract::RateSample;

/// Counts rounds by the bytes that had been delivered when the acknowledged packet was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundCounter {
    /// Bytes delivered when the current round began.
    next_delivered: u64,
    /// Rounds so far.
    pub count: u64,
    /// Whether the ACK being processed began a round.
    pub started: bool,
}

impl RoundCounter {
    /// Takes the sample of an ACK that brings the total to `delivered` bytes.
    pub fn update(&mut self, sample: &RateSample, delivered: u64) {
        self.started = sample.prior_delivered >= self.next_delivered;
        if self.started {
            self.next_delivered = delivered;
            self.count += 1;
        }
    }

    /// Begins a round now: it ends when a packet sent from now on is acknowledged.
    pub fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_what_was_sent_after_its_start() {
        let mut rounds = RoundCounter::default();
        let mut ack = |prior_delivered, delivered| {
            rounds.update(&RateSample { prior_delivered, ..RateSample::default() }, delivered);
            (rounds.started, rounds.count)
        };
        assert_eq!(ack(0, 1000), (true, 1));
        // Sent before 1000 bytes were delivered: still the same round.
        assert_eq!(ack(0, 2000), (false, 1));
        assert_eq!(ack(999, 3000), (false, 1));
        assert_eq!(ack(1000, 4000), (true, 2));
        assert_eq!(ack(3999, 5000), (false, 2));
    }
}
