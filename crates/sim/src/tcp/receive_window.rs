//! How much a receiver has room for.

use super::options::TcpOptions;
use cwndlab_cc::{Span, Time};

/// The receive buffer at the start, in bytes (Linux's tcp_rmem default).
const INITIAL_BUFFER: u64 = 131_072;
/// Buffer space that a segment takes besides its payload, in bytes (Linux `skb->truesize`: 2304 for 1448
/// bytes of payload).
const SEGMENT_OVERHEAD: u64 = 856;
/// Segments in the first round (Linux TCP_INIT_CWND).
const INITIAL_SEGMENTS: u64 = 10;
/// Headers of IPv4 and TCP without options, in bytes.
const PLAIN_HEADERS: u64 = 40;
/// `best_round` of a window that follows another one: none of its own rounds exceeds this.
const FOLLOWS: u64 = u64::MAX;

/// The receive window. It grows to twice what arrived in one round trip (Linux's dynamic right-sizing).
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    mss: u64,
    most: u64,
    /// The advertised window, in bytes and in whole segments.
    window: u64,
    segments: u32,
    /// The limit to which the window may grow now, in bytes.
    space: u64,
    round_start: Time,
    /// The first segment of the round.
    round_from: u32,
    /// The most bytes in one round so far, or [`FOLLOWS`].
    best_round: u64,
}

impl ReceiveWindow {
    /// The window at the start.
    #[must_use]
    pub fn new(options: &TcpOptions) -> Self {
        // Linux tcp_measure_rcv_mss: the share of the buffer that is payload, in 256ths.
        let ratio = options.mss * 256 / (options.mss + SEGMENT_OVERHEAD);
        let announced_mss = options.mss + options.header.saturating_sub(PLAIN_HEADERS);
        let most = options.receive_buffer;
        // Linux tcp_init_buffer_space: until a segment shows that ratio, the window is half of the buffer
        // less one segment.
        let (window, space) = if options.window_tuning {
            ((INITIAL_BUFFER / 2 - announced_mss).min(most), (INITIAL_BUFFER * ratio / 256).min(most))
        } else {
            (most, most)
        };
        Self {
            mss: options.mss,
            most,
            window,
            segments: in_segments(window, options.mss),
            space,
            round_start: Time::ZERO,
            round_from: 0,
            best_round: INITIAL_SEGMENTS * announced_mss,
        }
    }

    /// A segment arrived, in order or not; returns whether the window grew (Linux tcp_grow_window).
    #[inline(always)]
    pub fn grow(&mut self) -> bool {
        let grow = (2 * self.mss).min(self.space.saturating_sub(self.window));
        if grow > 0 {
            self.window += grow;
            self.segments = in_segments(self.window, self.mss);
        }
        grow > 0
    }

    /// The application has read all segments below `next`.
    #[inline(always)]
    pub fn on_read(&mut self, now: Time, next: u32, rtt: Span) {
        if now.since(self.round_start) >= rtt {
            self.end_round(now, next);
        }
    }

    /// The limit to which the window may grow now, in bytes.
    #[must_use]
    pub fn space(&self) -> u64 {
        self.space
    }

    /// Lets a subflow's window grow to its connection's limit; the subflow's own segments make it grow (Linux
    /// `mptcp_rcv_space_adjust` sets `sk_rcvbuf` and `window_clamp` of all subflows).
    #[inline]
    pub fn follow(&mut self, space: u64) {
        self.best_round = FOLLOWS;
        self.space = self.space.max(space);
    }

    /// Linux tcp_rcv_space_adjust: room for twice the last round plus 16 segments, and more in proportion to
    /// the round's growth.
    fn end_round(&mut self, now: Time, next: u32) {
        // In Linux the first round begins when the handshake is complete, just before the first segment
        // (tcp_init_buffer_space).
        if self.round_start == Time::ZERO {
            self.round_start = now;
            return;
        }
        let bytes = u64::from(next - self.round_from) * self.mss;
        if bytes > self.best_round {
            let room = 2 * bytes + 16 * self.mss;
            let growth = bytes - self.best_round;
            let extra = (u128::from(room) * u128::from(growth) / u128::from(self.best_round.max(1))) as u64;
            self.space = self.space.max(room.saturating_add(extra.saturating_mul(2))).min(self.most);
            self.best_round = bytes;
        }
        self.round_from = next;
        self.round_start = now;
    }

    /// The advertised window in segments.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.segments
    }
}

fn in_segments(window: u64, mss: u64) -> u32 {
    (window / mss).min(u64::from(u32::MAX) / 2) as u32
}
