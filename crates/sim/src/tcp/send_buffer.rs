//! The send buffer of Linux: how far the application writes ahead of what is acknowledged, and which segments it pushes.
//!
//! The application writes until the buffer is full, waits until a third of it is free, and writes again. Linux sets PSH on
//! the last segment before each wait, unless it has left already (`tcp_sendmsg_locked`, `tcp_push`). The buffer grows with
//! the window (`tcp_sndbuf_expand`).

use super::options::TcpOptions;
use super::supply::Stream;
use std::collections::VecDeque;

/// What a segment takes in addition to its payload, in bytes: `struct sk_buff`, `struct skb_shared_info`, and the room for
/// headers, in Linux 6.12 on x86-64 without wireless devices, with one segment per `sk_buff` (no segmentation offload).
const OVERHEAD: u64 = 832;
/// What `tcp_sndbuf_expand` adds to a payload before it rounds up to a power of two (`MAX_TCP_HEADER`, `struct
/// skb_shared_info`), and what it adds then (`struct sk_buff`), in bytes.
const BEFORE_ROUNDING: u64 = 512;
const AFTER_ROUNDING: u64 = 256;
/// Bytes of the timestamp option, which the announced segment size includes.
const TIMESTAMP: u64 = 12;
/// The receive window of a SYN-ACK, which is not scaled, in bytes.
const FIRST_RECEIVE_WINDOW: u64 = 65_535;
/// Smallest window that the buffer is made for, in segments (`TCP_INIT_CWND`).
const LEAST_WINDOW: u32 = 10;

/// How far a sender is, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The first segment that is not acknowledged.
    pub una: u32,
    /// Segments that have no overhead of their own: a SACKed one is merged with a SACKed one before it (Linux
    /// `tcp_shift_skb_data`).
    pub merged: u32,
    /// The end of what the windows let leave at once.
    pub may_leave: u32,
    /// The congestion window.
    pub window: u32,
    /// Whether it had room after some new segment of this event (Linux looks after each, `tcp_event_new_data_sent`).
    pub unused: bool,
    /// The receive window.
    pub receive_window: u32,
}

/// How far the application writes ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendBuffer {
    /// Its size now, and the largest; in bytes, overhead included.
    size: u64,
    most: u64,
    /// Bytes that a segment takes.
    cost: u64,
    /// Bytes for each segment of the window, in the worst case.
    share: u64,
    /// Windows that it holds.
    windows: u64,
    /// Segments that the application has written.
    written: u32,
    /// The ends of the pushed segments that are not yet acknowledged.
    pushed: VecDeque<u32>,
    /// The end of the last one.
    last_pushed: u32,
    /// Largest receive window so far, in segments.
    largest_window: u32,
}

impl SendBuffer {
    /// The buffer of a connection that opens, if its options limit it: the application has filled it with the first data of
    /// this stream. With a window of its own in recovery, a controller needs room for a third (Linux `bbr_sndbuf_expand`).
    pub fn filled(
        options: &TcpOptions,
        own_window_in_recovery: bool,
        stream: &mut Stream,
    ) -> Option<Box<Self>> {
        if options.send_buffer == u64::MAX {
            return None;
        }
        let announced = options.mss + if options.timestamps { TIMESTAMP } else { 0 };
        let mut new = Self {
            size: 0,
            most: options.send_buffer,
            cost: options.mss + OVERHEAD,
            share: (announced + BEFORE_ROUNDING).next_power_of_two() + AFTER_ROUNDING,
            windows: if own_window_in_recovery { 3 } else { 2 },
            written: 0,
            pushed: VecDeque::new(),
            last_pushed: 0,
            largest_window: (FIRST_RECEIVE_WINDOW / options.mss) as u32,
        };
        let window = u32::try_from(options.initial_window).unwrap_or(u32::MAX);
        new.grow(window);
        new.fill(stream, 0, 0, window);
        Some(Box::new(new))
    }

    /// Whether this segment has PSH because the application waited after it.
    #[must_use]
    pub fn pushes(&self, segment: u32) -> bool {
        self.pushed.contains(&(segment + 1))
    }

    /// After a sender has sent what it may: the application writes again if there is room (Linux `tcp_check_space`);
    /// whether it did.
    pub fn on_sent(&mut self, stream: &mut Stream, now: &Progress) -> bool {
        self.largest_window = self.largest_window.max(now.receive_window);
        if now.unused {
            self.grow(now.window);
        }
        let queued = self.queued(now.una, now.merged);
        // sk_stream_is_writeable: the free part is at least half of the used one.
        let writeable = queued < self.size && self.size - queued >= queued / 2;
        writeable && self.fill(stream, now.una, now.merged, now.may_leave)
    }

    /// Linux `tcp_sndbuf_expand`.
    fn grow(&mut self, window: u32) {
        let wanted = self.windows * u64::from(window.max(LEAST_WINDOW)) * self.share;
        self.size = self.size.max(wanted.min(self.most));
    }

    /// Writes until the buffer is full (Linux `sk_stream_memory_free`); whether that was anything.
    fn fill(&mut self, stream: &mut Stream, una: u32, merged: u32, may_leave: u32) -> bool {
        let before = self.written;
        while self.queued(una, merged) < self.size && stream.has(self.written) {
            self.written += 1;
            // Linux forced_push: over half of the largest receive window since the last one.
            if 2 * u64::from(self.written - self.last_pushed) > u64::from(self.largest_window) {
                self.push();
            }
        }
        if self.written == before {
            return false;
        }
        stream.write(self.written);
        self.pushed.retain(|&end| end > una);
        if self.written > may_leave {
            self.push();
        }
        true
    }

    fn push(&mut self) {
        if self.pushed.back() != Some(&self.written) {
            self.pushed.push_back(self.written);
        }
        self.last_pushed = self.written;
    }

    /// Bytes in the buffer: all that was written and is not acknowledged.
    fn queued(&self, una: u32, merged: u32) -> u64 {
        u64::from(self.written - una.min(self.written)) * self.cost - u64::from(merged) * OVERHEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer and its stream.
    fn opened(most: u64, bytes: Option<u64>, own_window_in_recovery: bool) -> (Box<SendBuffer>, Stream) {
        let options = TcpOptions { mss: 1448, send_buffer: most, ..TcpOptions::default() };
        let mut stream = Stream::of(&options, bytes);
        let buffer = SendBuffer::filled(&options, own_window_in_recovery, &mut stream);
        (buffer.expect("a limit"), stream)
    }

    /// The windows let nothing more leave.
    fn full(una: u32, window: u32) -> Progress {
        Progress { una, merged: 0, may_leave: 0, window, unused: true, receive_window: 1000 }
    }

    fn pushed(buffer: &SendBuffer) -> Vec<u32> {
        buffer.pushed.iter().copied().collect()
    }

    /// The sizes and amounts that `tcp_new_space` and `tcp_sendmsg_locked` of Linux 6.12 had in a slow start, and the
    /// segments with PSH of a capture.
    #[test]
    fn slow_start_fills_the_buffer_as_in_linux() {
        let (mut buffer, mut stream) = opened(256 << 20, None, false);
        assert_eq!((buffer.size, buffer.queued(0, 0)), (46_080, 47_880));
        for (una, window, size, filled) in
            [(4, 14, 64_512, 66_120), (9, 19, 87_552, 88_920), (15, 25, 115_200, 116_280)]
        {
            assert!(buffer.on_sent(&mut stream, &full(una, window)));
            assert_eq!((buffer.size, buffer.queued(una, 0)), (size, filled));
        }
        assert_eq!(pushed(&buffer), [21, 33, 48, 66]);
    }

    #[test]
    fn a_controller_with_its_own_window_in_recovery_gets_three() {
        let (buffer, _) = opened(256 << 20, None, true);
        assert_eq!((buffer.size, buffer.written), (69_120, 31));
        assert_eq!(pushed(&buffer), [23, 31], "half of the first receive window, and the end");
    }

    #[test]
    fn the_application_waits_until_a_third_is_free() {
        let (mut buffer, mut stream) = opened(46_080, None, false);
        assert!(
            !buffer.on_sent(&mut stream, &full(7, 100)),
            "14 segments of 2280 bytes are over two thirds of 46080"
        );
        assert!(buffer.on_sent(&mut stream, &full(8, 100)));
        assert_eq!((buffer.size, buffer.written), (46_080, 29));
        assert!(!buffer.on_sent(&mut stream, &full(8, 100)), "it is full");
    }

    #[test]
    fn merged_segments_leave_room() {
        let (mut buffer, mut stream) = opened(46_080, None, false);
        assert!(!buffer.on_sent(&mut stream, &Progress { merged: 1, ..full(7, 100) }), "31,088 bytes");
        assert!(buffer.on_sent(&mut stream, &Progress { merged: 2, ..full(7, 100) }), "30,256 bytes");
        assert_eq!(buffer.written, 28);
    }

    #[test]
    fn what_has_left_is_not_pushed() {
        let (mut buffer, mut stream) = opened(46_080, None, false);
        assert!(buffer.on_sent(&mut stream, &Progress { may_leave: 29, ..full(8, 100) }));
        assert_eq!((buffer.written, pushed(&buffer)), (29, vec![21]));
        assert_eq!(pushed(&opened(20_000, None, false).0), [], "9 segments leave at once");
    }

    #[test]
    fn half_of_the_receive_window_is_pushed() {
        let (mut buffer, mut stream) = opened(1 << 20, None, false);
        assert!(
            buffer.on_sent(&mut stream, &Progress { may_leave: 1000, receive_window: 45, ..full(20, 100) })
        );
        assert_eq!(pushed(&buffer)[..3], [21, 44, 67], "23 segments are over half of 45");
        assert!(buffer.pushes(43) && !buffer.pushes(44));
    }

    #[test]
    fn the_last_segment_is_pushed() {
        let (mut buffer, mut stream) = opened(1 << 20, Some(30 * 1448), false);
        assert!(stream.is_ready(20) && !stream.is_ready(21));
        assert!(buffer.on_sent(&mut stream, &Progress { may_leave: 100, ..full(21, 10) }));
        assert!(stream.is_ready(29) && !stream.is_ready(30) && stream.ends_a_write(29) && !buffer.pushes(28));
        assert!(!buffer.on_sent(&mut stream, &full(30, 10)), "nothing is left to write");
    }
}
