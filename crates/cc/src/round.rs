//! Packet-timed round trips (draft-ietf-ccwg-bbr section 5.5.1): a round ends when data sent after its start
//! are acknowledged.

/// Counts round trips by delivered bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    end: u64,
}

impl Round {
    /// Starts a round now: it lasts until more than the bytes now in flight have been delivered.
    pub fn restart(&mut self, delivered: u64, in_flight: u64) {
        self.end = delivered + in_flight;
    }

    /// Whether the ACK that brings the total to `delivered` ends the round.
    #[must_use]
    pub fn ended(&self, delivered: u64) -> bool {
        delivered > self.end
    }
}
