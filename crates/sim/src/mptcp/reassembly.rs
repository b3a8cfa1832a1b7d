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
}

impl Reassembly {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(options: &TcpOptions) -> Self {
        Self { arrived: Segments::default(), waiting: 0, window: ReceiveWindow::new(options) }
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
            self.window.grow();
        }
        if in_order > 0 {
            self.window.on_read(now, self.next(), rtt);
        }
        self.waiting = self.waiting + 1 - in_order;
        true
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
}
