//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1): how fast data left the network, free of bursts at
//! either end.

use super::scoreboard::Record;
use cwndlab_cc::{RateSample, Time};

/// Totals of a connection, and what its next records note.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRate {
    /// Segments delivered in all.
    pub delivered: u32,
    /// Segments marked lost in all.
    pub lost: u32,
    /// Segments that arrived marked CE in all.
    pub ce: u32,
    delivered_at: Time,
    first_sent_at: Time,
    /// Transmissions so far.
    sent: u32,
    /// Samples are app-limited until this many segments are delivered; zero when they are not.
    app_limited_until: u32,
}

impl DeliveryRate {
    /// The record of a segment that is sent now, with this many segments in flight before it.
    #[inline]
    pub fn record(&mut self, now: Time, in_flight: u32) -> Record {
        if in_flight == 0 {
            // A new flight: what came before says nothing about its rate.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        self.sent += 1;
        Record {
            sent_at: now,
            order: self.sent,
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

    /// There is nothing to send: what is in flight and what follows it is app-limited.
    pub fn limit_by_application(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// The sample of an ACK, from the record of the packet that was sent last of those newly delivered.
    #[inline]
    pub fn sample(&mut self, now: Time, newest: &Record, mss: u64) -> RateSample {
        self.first_sent_at = newest.sent_at;
        let send_interval = newest.sent_at.since(newest.first_sent_at);
        let ack_interval = now.since(newest.delivered_at);
        let bytes = |segments: u32| u64::from(segments) * mss;
        RateSample {
            delivered: bytes(self.delivered - newest.delivered),
            interval: send_interval.max(ack_interval),
            prior_delivered: bytes(newest.delivered),
            lost: bytes(self.lost - newest.lost),
            ce: bytes(self.ce - newest.ce),
            in_flight_at_send: bytes(newest.in_flight),
            app_limited: newest.app_limited,
        }
    }
}
