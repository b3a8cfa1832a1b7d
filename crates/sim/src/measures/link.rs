//! What one direction of a link does.

use super::histogram::Histogram;
use crate::link::Link;
use crate::outcome::LinkOutcome;
use crate::tap::LinkEvent;
use cwndlab_cc::Time;

/// A link from a given time on.
#[derive(Debug, Default)]
pub struct LinkGauge {
    since: Time,
    served_packets: u64,
    served_data: u64,
    served_bytes: u64,
    /// Bytes of the packet in service that were out when the gauge started.
    before_bytes: f64,
    dropped_packets: u64,
    marked_packets: u64,
    lost_packets: u64,
    queue_delay: Histogram,
    /// The time that packets which have left spent here, weighted by their bytes: with the packets that are
    /// still here it is the integral of the backlog over time.
    byte_nanos: u128,
    /// Data packets served before the gauge started.
    served_data_before: u64,
}

impl LinkGauge {
    /// Something happened to a packet.
    #[inline(always)]
    pub fn on_event(&mut self, at: Time, event: LinkEvent<'_>) {
        match event {
            LinkEvent::Dropped { bytes, arrived, .. } => {
                self.dropped_packets += 1;
                self.byte_nanos += self.stay(arrived, at, bytes);
            }
            LinkEvent::Marked { .. } => self.marked_packets += 1,
            LinkEvent::Served { packet, bytes, arrived, started } => {
                self.served_packets += 1;
                self.served_data += u64::from(packet.is_data());
                self.served_bytes += u64::from(bytes);
                self.queue_delay.record(started.since(arrived));
                self.byte_nanos += self.stay(arrived, at, bytes);
            }
            LinkEvent::Lost { .. } => self.lost_packets += 1,
            LinkEvent::Enqueued { .. } | LinkEvent::Delivered { .. } => {}
        }
    }

    /// The part of a packet's stay that lies in the measured time, in byte nanoseconds.
    #[inline]
    fn stay(&self, arrived: Time, until: Time, bytes: u32) -> u128 {
        u128::from(until.since(arrived.max(self.since)).0) * u128::from(bytes)
    }

    /// Forgets what was measured so far; the link is settled.
    pub fn restart(&mut self, link: &Link, now: Time) {
        *self = Self {
            since: now,
            before_bytes: link.partly_served(now),
            served_data_before: self.served_data(),
            ..Self::default()
        };
    }

    /// Times from arrival to the start of service.
    #[must_use]
    pub fn queue_delays(&self) -> &Histogram {
        &self.queue_delay
    }

    /// Data packets served since the start of the run.
    #[must_use]
    pub fn served_data(&self) -> u64 {
        self.served_data_before + self.served_data
    }

    /// What was measured up to now; the link is settled.
    #[must_use]
    pub fn outcome(&self, link: &Link, now: Time) -> LinkOutcome {
        let carried = self.served_bytes as f64 - self.before_bytes + link.partly_served(now);
        let seconds = now.since(self.since).as_secs_f64();
        let possible = link.possible_bits(self.since, now).filter(|bits| *bits > 0.0);
        let mut byte_nanos = self.byte_nanos;
        link.each_waiting(|bytes, arrived| byte_nanos += self.stay(arrived, now, bytes));
        LinkOutcome {
            name: link.name().to_owned(),
            utilisation: possible.map(|bits| carried * 8.0 / bits),
            served_packets: self.served_packets,
            dropped_packets: self.dropped_packets,
            lost_packets: self.lost_packets,
            marked_packets: self.marked_packets,
            queue_delay_ms: self.queue_delay.mean_ms(),
            queue_delay_p95_ms: self.queue_delay.quantile_ms(0.95),
            queue_mean_bytes: if seconds > 0.0 { byte_nanos as f64 / 1e9 / seconds } else { 0.0 },
        }
    }
}
