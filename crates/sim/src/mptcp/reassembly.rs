//! The receiving side of the data level: it puts the subflows' data in order, within one window that they share.

use super::segments::Segments;
use crate::tcp::{ReceiveWindow, TcpOptions};
use cwndlab_cc::{Span, Time};

/// The part of a connection's data that has arrived.
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

    /// One past the last segment that there is room for, counted from the data in order (RFC 8684 section 3.3.4).
    #[must_use]
    pub fn edge(&self) -> u32 {
        self.next().saturating_add(self.window.segments())
    }

    /// The limit to which the window may grow now, in bytes.
    #[must_use]
    pub fn space(&self) -> u64 {
        self.window.space()
    }

    /// Segments that wait for one below them.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// A subflow delivers a segment. Returns whether it is new.
    pub fn on_segment(&mut self, segment: u32) -> bool {
        let before = self.next();
        if !self.arrived.insert(segment) {
            return false;
        }
        let in_order = self.next() - before;
        for _ in 0..in_order {
            if !self.window.grow(0) {
                break;
            }
        }
        self.waiting = self.waiting + 1 - in_order;
        true
    }

    /// The application has read all that is in order; `rtt` is the longest of the subflows' RTTs.
    pub fn on_read(&mut self, now: Time, rtt: Span) {
        self.window.on_read(now, self.next() - 1, self.next(), rtt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_room(segments: u64) -> Reassembly {
        let defaults = TcpOptions::default();
        let receive_buffer = segments * defaults.mss;
        Reassembly::new(&TcpOptions { receive_buffer, window_tuning: false, ..defaults })
    }

    #[test]
    fn data_wait_until_all_below_them_have_come() {
        let mut data = with_room(10);
        assert!(data.on_segment(0));
        assert!(data.on_segment(2) && data.on_segment(3));
        assert_eq!((data.next(), data.waiting()), (1, 2));
        assert!(!data.on_segment(2), "it had come before");
        assert!(data.on_segment(1));
        assert_eq!((data.next(), data.waiting()), (4, 0));
    }

    #[test]
    fn the_window_counts_from_the_data_in_order() {
        let mut data = with_room(10);
        assert_eq!(data.edge(), 10);
        data.on_segment(5);
        assert_eq!(data.edge(), 10, "what waits takes room");
        data.on_segment(0);
        assert_eq!(data.edge(), 11);
    }
}
