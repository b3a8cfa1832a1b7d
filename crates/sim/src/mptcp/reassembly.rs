//! The receiving side of the data level: what subflows deliver is put in order, within one window for all of them.

use super::segments::Segments;
use crate::tcp::{ReceiveWindow, TcpOptions};
use cwndlab_cc::{Span, Time};

/// What has arrived of a connection's data.
#[derive(Clone, Debug)]
pub struct Reassembly {
    arrived: Segments,
    /// Segments that wait for one below them.
    waiting: u32,
    window: ReceiveWindow,
    /// When `waiting` changed last.
    changed: Time,
    gauge: Gauge,
}

/// What is measured from a given time on.
#[derive(Clone, Copy, Debug, Default)]
struct Gauge {
    since: Time,
    /// Segments delivered in order before.
    before: u32,
    /// The integral of `waiting` over time, in segment nanoseconds.
    waiting_nanos: u128,
    most_waiting: u32,
}

/// How much waited for data on another path: head-of-line blocking.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waited {
    /// Mean time from a segment's arrival until all data below it had arrived; `None` if none was delivered.
    pub mean_ms: Option<f64>,
    /// Time-weighted mean of the segments that waited.
    pub mean_segments: f64,
    /// The most that waited.
    pub most_segments: u32,
}

impl Reassembly {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(options: &TcpOptions) -> Self {
        Self {
            arrived: Segments::default(),
            waiting: 0,
            window: ReceiveWindow::new(options),
            changed: Time::ZERO,
            gauge: Gauge::default(),
        }
    }

    /// The next segment of data expected: all below have arrived.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.arrived.next()
    }

    /// One past the last segment that there is room for: relative to the data in order (RFC 8684 section 3.3.4).
    #[must_use]
    pub fn edge(&self) -> u32 {
        self.next().saturating_add(self.window.segments())
    }

    /// Segments that wait for one below them.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// A subflow delivers a segment; `rtt` is the longest of the subflows' RTTs. Says whether it had not come before.
    pub fn on_segment(&mut self, now: Time, segment: u32, rtt: Span) -> bool {
        let before = self.next();
        if !self.arrived.insert(segment) {
            return false;
        }
        let in_order = self.next() - before;
        for _ in 0..in_order {
            self.window.on_segment(now, rtt);
        }
        // In the common case it comes in order, and nothing waits.
        if in_order != 1 || self.waiting > 0 {
            self.account(now);
            self.waiting = self.waiting + 1 - in_order;
            self.gauge.most_waiting = self.gauge.most_waiting.max(self.waiting);
        }
        true
    }

    fn account(&mut self, now: Time) {
        self.gauge.waiting_nanos = self.waiting_nanos(now);
        self.changed = now;
    }

    fn waiting_nanos(&self, now: Time) -> u128 {
        self.gauge.waiting_nanos + u128::from(self.waiting) * u128::from(now.since(self.changed).0)
    }

    /// Forgets what was measured so far.
    pub fn restart_gauge(&mut self, now: Time) {
        self.changed = now;
        let (before, most_waiting) = (self.next(), self.waiting);
        self.gauge = Gauge { since: now, before, waiting_nanos: 0, most_waiting };
    }

    /// What was measured up to now. The mean time follows from the mean number that waits by Little's law.
    #[must_use]
    pub fn waited(&self, now: Time) -> Waited {
        let nanos = self.waiting_nanos(now) as f64;
        let delivered = self.next() - self.gauge.before;
        let measured = now.since(self.gauge.since).0;
        Waited {
            mean_ms: (delivered > 0).then(|| nanos / f64::from(delivered) / 1e6),
            mean_segments: if measured > 0 { nanos / measured as f64 } else { 0.0 },
            most_segments: self.gauge.most_waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn with_room(segments: u64) -> Reassembly {
        let defaults = TcpOptions::default();
        let receive_buffer = segments * defaults.mss;
        Reassembly::new(&TcpOptions { receive_buffer, window_tuning: false, ..defaults })
    }

    #[test]
    fn data_wait_until_all_below_them_have_come() {
        let mut data = with_room(10);
        assert!(data.on_segment(at(0), 0, Span::ZERO));
        assert!(data.on_segment(at(10), 2, Span::ZERO) && data.on_segment(at(20), 3, Span::ZERO));
        assert_eq!((data.next(), data.waiting()), (1, 2));
        assert!(!data.on_segment(at(25), 2, Span::ZERO), "it had come before");
        assert!(data.on_segment(at(40), 1, Span::ZERO));
        assert_eq!((data.next(), data.waiting()), (4, 0));
        // One waited for 30 ms, one for 20 ms: 50 ms over four segments, and over 100 ms of time.
        let waited = data.waited(at(100));
        assert_eq!((waited.mean_ms, waited.most_segments), (Some(12.5), 2));
        assert!((waited.mean_segments - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_window_counts_from_the_data_in_order() {
        let mut data = with_room(10);
        assert_eq!(data.edge(), 10);
        data.on_segment(at(0), 5, Span::ZERO);
        assert_eq!(data.edge(), 10, "what waits takes room");
        data.on_segment(at(0), 0, Span::ZERO);
        assert_eq!(data.edge(), 11);
    }

    #[test]
    fn what_waited_before_the_gauge_started_is_forgotten() {
        let mut data = with_room(10);
        data.on_segment(at(0), 1, Span::ZERO);
        data.restart_gauge(at(50));
        data.on_segment(at(60), 0, Span::ZERO);
        let waited = data.waited(at(70));
        assert_eq!((waited.mean_ms, waited.most_segments), (Some(5.0), 1));
        assert!((waited.mean_segments - 0.5).abs() < 1e-12);
    }
}
