//! When a receiver acknowledges every segment, as Linux does where it expects the sender to need the ACKs.

use super::options::TcpOptions;
use cwndlab_cc::{Span, Time};

/// Quick ACKs after a start, a long silence, or duplicate data (Linux: TCP_MAX_QUICKACKS).
const MOST: u32 = 16;
/// Quick ACKs after a congestion mark (Linux `__tcp_ecn_check_ce`).
const FOR_A_MARK: u32 = 2;

/// Linux's `icsk_ack.quick`: how many of the next ACKs are not delayed.
#[derive(Clone, Copy, Debug)]
pub struct QuickAcks {
    enabled: bool,
    left: u32,
    arrived: Time,
    /// A silence longer than this means that the sender starts again.
    silence: Span,
}

impl QuickAcks {
    /// None yet, and never any if the profile turns quick ACKs off.
    #[must_use]
    pub fn new(options: &TcpOptions) -> Self {
        Self { enabled: options.quick_ack, left: 0, arrived: Time::ZERO, silence: Span::ZERO }
    }

    /// A new segment arrives, with this receive window in segments and this RTT; the first one, or one after
    /// a silence longer than the receiver's own RTO, begins a series (Linux `tcp_event_data_recv`).
    #[inline]
    pub fn on_data(&mut self, now: Time, window: u32, rtt: Span, rto_min: Span) {
        if self.silence == Span::ZERO {
            // RFC 6298 rule (2.2) for the RTT of the handshake, the only one that a pure receiver measures.
            self.silence = rtt + rto_min.max(Span(2 * rtt.0));
            self.enter(MOST, window);
        } else if now.since(self.arrived) > self.silence {
            self.enter(MOST, window);
        }
        self.arrived = now;
    }

    /// A duplicate segment arrived (Linux `tcp_data_queue`).
    pub fn on_duplicate(&mut self, window: u32) {
        self.enter(MOST, window);
    }

    /// A congestion mark arrived (Linux `__tcp_ecn_check_ce`).
    pub fn on_mark(&mut self, window: u32) {
        self.enter(FOR_A_MARK, window);
    }

    /// The receive window grew (Linux `tcp_grow_window`).
    #[inline]
    pub fn on_growth(&mut self) {
        self.left |= 1;
    }

    /// The buffer is short of room (Linux `__tcp_select_window`).
    pub fn stop(&mut self) {
        self.left = 0;
    }

    /// An ACK was sent.
    #[inline]
    pub fn on_ack(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Whether the next ACK is not delayed. `push`: it answers the end of what the peer has written at a time, which
    /// the application reads at once (Linux `tcp_measure_rcv_mss`, `__tcp_cleanup_rbuf`).
    #[inline]
    #[must_use]
    pub fn is_due(&self, push: bool) -> bool {
        self.enabled && (self.left > 0 || push)
    }

    /// Linux `tcp_incr_quickack`: at most half as many as the window has segments.
    fn enter(&mut self, most: u32, window: u32) {
        let half = if window < 2 { 2 } else { window / 2 };
        self.left = self.left.max(half.min(most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(40);
    const RTO_MIN: Span = Span::from_millis(200);

    /// How many ACKs in a row are not delayed.
    fn series(quick: &mut QuickAcks) -> u32 {
        let mut sent = 0;
        while quick.is_due(false) {
            quick.on_ack();
            sent += 1;
        }
        sent
    }

    #[test]
    fn the_first_sixteen_acks_are_not_delayed() {
        let mut quick = QuickAcks::new(&TcpOptions::default());
        quick.on_data(Time(0), 45, RTT, RTO_MIN);
        assert_eq!(series(&mut quick), 16);
        quick.on_data(Time(1000), 45, RTT, RTO_MIN);
        assert_eq!(series(&mut quick), 0);
        // Half of a small window, and two at least.
        for (window, expected) in [(10, 5), (1, 2)] {
            let mut quick = QuickAcks::new(&TcpOptions::default());
            quick.on_data(Time(0), window, RTT, RTO_MIN);
            assert_eq!(series(&mut quick), expected);
        }
    }

    #[test]
    fn the_end_of_the_data_is_acknowledged_at_once() {
        let quick = QuickAcks::new(&TcpOptions::default());
        assert!(quick.is_due(true) && !quick.is_due(false));
        let other = QuickAcks::new(&TcpOptions { quick_ack: false, ..TcpOptions::default() });
        assert!(!other.is_due(true));
    }

    #[test]
    fn silence_duplicates_marks_and_growth_begin_another_series() {
        let mut quick = QuickAcks::new(&TcpOptions::default());
        quick.on_data(Time(0), 45, RTT, RTO_MIN);
        assert_eq!(series(&mut quick), 16);
        // 40 + max(2 * 40, 200) ms.
        let at = |millis: u64| Time(millis * 1_000_000);
        quick.on_data(at(240), 45, RTT, RTO_MIN);
        assert_eq!(series(&mut quick), 0);
        quick.on_data(at(481), 45, RTT, RTO_MIN);
        assert_eq!(series(&mut quick), 16);
        quick.on_duplicate(45);
        assert_eq!(series(&mut quick), 16);
        quick.on_mark(45);
        assert_eq!(series(&mut quick), 2);
        quick.on_growth();
        assert_eq!(series(&mut quick), 1);
    }

    #[test]
    fn without_quick_acks_there_are_none() {
        let mut quick = QuickAcks::new(&TcpOptions { quick_ack: false, ..TcpOptions::default() });
        quick.on_data(Time(0), 45, RTT, RTO_MIN);
        quick.on_growth();
        assert!(!quick.is_due(false));
    }
}
