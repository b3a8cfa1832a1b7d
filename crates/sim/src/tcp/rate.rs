//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1): how fast data left the network, not distorted by
//! bursts at either end.

use super::scoreboard::{Record, Snapshot};
use cwndlab_cc::{RateSample, Time};

/// Totals of a connection, and the values that its next records take.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRate {
    /// Total segments delivered.
    pub delivered: u32,
    /// Total segments marked lost.
    pub lost: u32,
    /// Total segments that arrived marked CE.
    pub ce: u32,
    delivered_at: Time,
    first_sent_at: Time,
    /// Transmissions so far.
    sent: u32,
    /// Segments sent are app-limited until more than this total is delivered; zero when they are not.
    app_limited_until: u32,
}

impl DeliveryRate {
    /// Transmissions so far.
    #[inline]
    pub fn sent(&self) -> u32 {
        self.sent
    }

    /// The record of a segment that is sent now.
    #[inline]
    pub fn record(&mut self, now: Time) -> Record {
        self.sent += 1;
        Record { sent_at: now, order: self.sent }
    }

    /// The snapshot of a segment that is sent now, with this many segments in flight before it.
    #[inline]
    pub fn snapshot(&mut self, now: Time, in_flight: u32) -> Snapshot {
        if in_flight == 0 {
            // A new flight: what came before says nothing about its rate.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            delivered: self.delivered,
            lost: self.lost,
            ce: self.ce,
            in_flight: in_flight + 1,
            app_limited: self.app_limited_until != 0,
        }
    }

    /// This many segments have been delivered.
    #[inline]
    pub fn deliver(&mut self, now: Time, segments: u32) {
        self.delivered += segments;
        self.delivered_at = now;
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
    }

    /// There is nothing to send: segments sent before those in flight are delivered are app-limited.
    pub fn limit_by_application(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// The sample of an ACK, from the packet that was sent last of those newly delivered.
    #[inline]
    pub fn sample(&mut self, now: Time, sent_at: Time, then: &Snapshot, mss: u64) -> RateSample {
        self.first_sent_at = sent_at;
        let send_interval = sent_at.since(then.first_sent_at);
        let ack_interval = now.since(then.delivered_at);
        let bytes = |segments: u32| u64::from(segments) * mss;
        RateSample {
            delivered: bytes(self.delivered - then.delivered),
            interval: send_interval.max(ack_interval),
            prior_delivered: bytes(then.delivered),
            lost: bytes(self.lost - then.lost),
            ce: bytes(self.ce - then.ce),
            in_flight_at_send: bytes(then.in_flight),
            app_limited: then.app_limited,
        }
    }
}
