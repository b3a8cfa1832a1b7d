//! How much a receiver has room for.

use super::options::TcpOptions;
use cwndlab_cc::{Span, Time};

/// The receive buffer at the start, in bytes (Linux's tcp_rmem default).
const INITIAL_BUFFER: u64 = 131_072;
/// The most that is announced in the handshake, in bytes (Linux tcp_select_initial_window: U16_MAX).
const INITIAL_WINDOW: u64 = 65_535;
/// Buffer space that a segment takes besides its payload, in bytes (Linux `skb->truesize`: 2280 for 1448
/// bytes of payload that come over a virtual link; a driver's buffers may be larger).
const SEGMENT_OVERHEAD: u64 = 832;
/// Waiting segments that share one such overhead (Linux `skb_try_coalesce`: MAX_SKB_FRAGS).
const COALESCED: u64 = 17;
/// Segments in the first round (Linux TCP_INIT_CWND).
const INITIAL_SEGMENTS: u64 = 10;
/// The largest window scale, in bits (RFC 7323 section 2.3).
const MOST_SHIFT: u8 = 14;
/// `best_round` of a window that follows another one: none of its own rounds exceeds this.
const FOLLOWS: u64 = u64::MAX;

/// The receive window. It grows by two segments for each that arrives, as far as the buffer has room beside
/// the segments that wait out of order; the buffer grows to twice what was read in one round trip (Linux's
/// dynamic right-sizing).
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    most: u64,
    mss: u16,
    /// It is the whole buffer, from the start (ns-3, Linux 2.2).
    fixed: bool,
    /// One past the last byte announced so far: the edge never moves back.
    edge: u64,
    /// Bytes of the window that a segment takes as it arrives.
    own_bytes: u16,
    /// The share of the buffer that is payload, in 256ths (Linux `scaling_ratio`).
    ratio: u16,
    shift: u8,
    /// The window if nothing waits out of order (Linux `rcv_ssthresh`), in bytes and in whole segments.
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
        // Linux tcp_measure_rcv_mss.
        let ratio = options.mss * 256 / (options.mss + SEGMENT_OVERHEAD);
        let most = options.receive_buffer;
        let fixed = !options.window_tuning && !options.quick_ack;
        // Linux tcp_init_buffer_space: until a segment shows that ratio, the window is half of the buffer
        // less one segment.
        let (window, space) = if options.window_tuning {
            ((INITIAL_BUFFER / 2 - options.mss).min(most), (INITIAL_BUFFER * ratio / 256).min(most))
        } else if fixed {
            (most, most)
        } else {
            (INITIAL_WINDOW.min(most), most)
        };
        let shift = window_shift(most);
        let segments = in_segments(if fixed { window } else { aligned(window, shift) }, options.mss);
        // tcp_select_initial_window: the SYN-ACK announces half of the buffer, in whole segments.
        let opening = if options.window_tuning { (INITIAL_BUFFER / 2).min(most) } else { window };
        Self {
            mss: options.mss as u16,
            most,
            fixed,
            edge: opening,
            own_bytes: ((options.mss + SEGMENT_OVERHEAD) * ratio).div_ceil(256) as u16,
            ratio: ratio as u16,
            shift,
            window,
            segments,
            space,
            round_start: Time::ZERO,
            round_from: 0,
            best_round: INITIAL_SEGMENTS * options.mss,
        }
    }

    /// The window that the SYN-ACK announces, in segments.
    #[must_use]
    pub fn opening(&self) -> u32 {
        in_segments(self.edge, self.mss.into())
    }

    /// A segment arrived out of order, while `held` others wait; returns whether the window grew (Linux
    /// tcp_grow_window).
    #[inline(always)]
    pub fn grow(&mut self, held: u32) -> bool {
        self.grow_to(self.room(held))
    }

    /// The same for a segment in order. It is in the buffer already (Linux tcp_queue_rcv).
    #[inline(always)]
    pub fn grow_in_order(&mut self, held: u32) -> bool {
        self.grow_to(self.room(held).saturating_sub(self.own_bytes.into()))
    }

    #[inline(always)]
    fn grow_to(&mut self, limit: u64) -> bool {
        let grow = (2 * u64::from(self.mss)).min(limit.saturating_sub(self.window));
        if grow > 0 {
            self.window += grow;
            self.segments = in_segments(aligned(self.window, self.shift), self.mss.into());
        }
        grow > 0
    }

    /// Bytes of payload that the buffer has room for beside `held` segments (Linux tcp_space).
    #[inline(always)]
    fn room(&self, held: u32) -> u64 {
        if held == 0 {
            return self.space;
        }
        self.space.saturating_sub(u64::from(held) * self.held_bytes())
    }

    /// Bytes of the window that a segment takes while it waits out of order.
    fn held_bytes(&self) -> u64 {
        ((u64::from(self.mss) + SEGMENT_OVERHEAD / COALESCED) * u64::from(self.ratio)) >> 8
    }

    /// The window that an ACK of all segments below `next` announces, in segments, while `held` others wait out
    /// of order (Linux tcp_select_window).
    #[inline(always)]
    pub fn announce(&mut self, next: u32, held: u32) -> u32 {
        if self.fixed {
            return self.segments;
        }
        let from = u64::from(next) * u64::from(self.mss);
        let left = self.edge.saturating_sub(from);
        let window = aligned(self.window, self.shift);
        if held == 0 && self.window <= self.space && left <= window {
            self.edge = from + window;
            return self.segments;
        }
        self.announce_beside(from, left, held)
    }

    /// The same where segments wait, or where less than what is left would be announced.
    #[cold]
    #[inline(never)]
    fn announce_beside(&mut self, from: u64, left: u64, held: u32) -> u32 {
        let window = self.beside(held);
        let window = if window < left { aligned(left, self.shift) } else { window };
        self.edge = from + window;
        in_segments(window, self.mss.into())
    }

    /// The window beside `held` segments, in bytes (Linux __tcp_select_window).
    fn beside(&self, held: u32) -> u64 {
        let room = self.room(held);
        let room = if self.is_short(held) { room >> self.shift << self.shift } else { room };
        aligned(room.min(self.window), self.shift)
    }

    /// Whether `held` segments take more than half of the buffer (Linux __tcp_select_window).
    #[inline]
    #[must_use]
    pub fn is_short(&self, held: u32) -> bool {
        !self.fixed && held > 0 && self.room(held) < self.space / 2
    }

    /// The application reads segments `first..next` now. It reads one at a time, so a round that is over ends
    /// after `first`.
    #[inline(always)]
    pub fn on_read(&mut self, now: Time, first: u32, next: u32, rtt: Span) {
        if now.since(self.round_start) >= rtt {
            self.end_round(now, first + 1, next);
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
    /// the round's growth. A round ends with the first segment that is read after its time, and what still
    /// waits to be read, up to `next`, counts against it, so filling a hole does not inflate a round.
    fn end_round(&mut self, now: Time, read: u32, next: u32) {
        // In Linux the first round begins when the handshake is complete, just before the first segment
        // (tcp_init_buffer_space).
        if self.round_start == Time::ZERO {
            self.round_start = now;
            return;
        }
        let mss = u64::from(self.mss);
        let bytes = u64::from((read - self.round_from).saturating_sub(next - read)) * mss;
        if bytes > self.best_round {
            let room = 2 * bytes + 16 * mss;
            let growth = bytes - self.best_round;
            let extra = (u128::from(room) * u128::from(growth) / u128::from(self.best_round.max(1))) as u64;
            let wanted = room.saturating_add(extra.saturating_mul(2));
            self.space = self.space.max(self.in_whole_bytes(wanted)).min(self.most);
            self.best_round = bytes;
        }
        self.round_from = read;
        self.round_start = now;
    }

    /// The payload in a buffer for a window of this size (Linux tcp_space_from_win and tcp_win_from_space).
    fn in_whole_bytes(&self, window: u64) -> u64 {
        let ratio = u128::from(self.ratio);
        let buffer = (u128::from(window) << 8) / ratio;
        ((buffer * ratio) >> 8) as u64
    }

    /// The window if nothing waits out of order, in segments.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.segments
    }
}

/// The window scale with which a window of this size can be announced, in bits.
#[must_use]
pub fn window_shift(receive_buffer: u64) -> u8 {
    let fits = |shift: &u8| u64::from(u16::MAX) << shift >= receive_buffer;
    (0..MOST_SHIFT).find(fits).unwrap_or(MOST_SHIFT)
}

/// What is announced for this window: in units of the scale, rounded up so that none of it is scaled away (Linux
/// __tcp_select_window).
#[inline(always)]
fn aligned(window: u64, shift: u8) -> u64 {
    let unit = 1 << shift;
    window.saturating_add(unit - 1) & !(unit - 1)
}

fn in_segments(window: u64, mss: u64) -> u32 {
    (window / mss).min(u64::from(u32::MAX) / 2) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);

    fn window(window_tuning: bool, quick_ack: bool) -> ReceiveWindow {
        let receive_buffer = 10_000_000;
        ReceiveWindow::new(&TcpOptions { window_tuning, quick_ack, receive_buffer, ..TcpOptions::default() })
    }

    #[test]
    fn without_tuning_linux_opens_by_two_segments_for_each_and_ns3_at_once() {
        let mut linux = window(false, true);
        let before = linux.segments();
        // The scale is 8 bits, so up to 255 bytes more are announced.
        assert_eq!(u64::from(before), INITIAL_WINDOW.next_multiple_of(256) / u64::from(linux.mss));
        assert!(linux.grow(0));
        assert_eq!(linux.segments(), before + 2);
        let mut ns3 = window(false, false);
        assert_eq!(u64::from(ns3.segments()), 10_000_000 / u64::from(ns3.mss));
        assert!(!ns3.grow(0));
        assert_eq!(ns3.announce(5, 4000), ns3.segments());
    }

    #[test]
    fn the_syn_ack_announces_half_of_the_buffer() {
        // 65,160 bytes, and what is announced does not shrink.
        let receive_buffer = 6 << 20;
        let options = TcpOptions { mss: 1448, header: 52, receive_buffer, ..TcpOptions::default() };
        let mut window = ReceiveWindow::new(&options);
        assert_eq!((window.opening(), window.segments()), (45, 44));
        assert_eq!(window.announce(0, 0), 45);
    }

    #[test]
    fn waiting_segments_take_room_but_the_edge_never_moves_back() {
        let mut window = window(false, true);
        while window.grow(0) {}
        let (all, held) = (window.segments(), window.segments() / 2);
        assert_eq!(window.announce(100, 0), all);
        // A segment with its share of an overhead takes about two thirds of what one with its own does.
        let left = u64::from(window.announce(100 + all, held));
        let taken = u64::from(held) * window.held_bytes() / u64::from(window.mss);
        assert!((0.62..0.68).contains(&(taken as f64 / f64::from(held))), "{taken} of {held}");
        assert!(left.abs_diff(u64::from(all) - taken) <= 1, "{left} of {all}, {taken} taken");
        assert_eq!(window.announce(110 + all, 2 * held), left as u32 - 10);
        assert!(!window.is_short(held / 2) && window.is_short(all));
        assert!(!window.grow(held));
    }

    /// As in a kernel that wrote down what it had (6.12, segments of 1460 bytes, 2026-11-29).
    #[test]
    fn it_grows_as_in_linux() {
        let options = TcpOptions { mss: 1460, header: 52, ..TcpOptions::default() };
        let mut window = ReceiveWindow::new(&options);
        let mut grown = || {
            window.grow_in_order(0);
            window.window
        };
        assert_eq!(
            [(); 8].map(|()| grown()),
            [66_996, 69_916, 72_836, 75_756, 78_676, 81_596, 81_996, 81_996]
        );
        window.on_read(Time(1), 0, 1, RTT);
        window.on_read(Time(200_000_000), 10, 11, RTT);
        assert_eq!((window.space(), window.best_round), (83_456, 16_060 - 1460));
    }

    #[test]
    fn a_filled_hole_makes_no_round_look_large() {
        let rounds = |first: u32| {
            let mut window = window(true, true);
            window.on_read(Time(1), 0, 1, RTT);
            window.on_read(Time(200_000_000), 20, 21, RTT);
            let before = window.space();
            window.on_read(Time(400_000_000), first, 400, RTT);
            window.space() > before
        };
        // 379 segments come one after the other, or all behind a hole.
        assert!(rounds(399));
        assert!(!rounds(21));
    }
}
