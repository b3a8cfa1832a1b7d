//! How much a receiver has room for.

use super::options::TcpOptions;
use cwndlab_cc::{Span, Time};

/// The receive window at the start, in bytes: half of Linux's tcp_rmem default of 128 kB.
const INITIAL_WINDOW: u64 = 65_536;

/// How the receive window grows: twice what one round trip brought (Linux's dynamic right-sizing).
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    mss: u64,
    most: u64,
    /// What is advertised, in bytes, and in whole segments.
    window: u64,
    segments: u32,
    /// What it may grow to.
    space: u64,
    round_start: Time,
    round_bytes: u64,
    best_round: u64,
}

impl ReceiveWindow {
    /// The window at the start.
    #[must_use]
    pub fn new(options: &TcpOptions) -> Self {
        let first = if options.window_tuning { INITIAL_WINDOW } else { u64::MAX };
        let space = first.min(options.receive_buffer);
        // Linux tcp_select_initial_window: whole segments at first, so that the first one to arrive makes the window grow.
        let window = if options.window_tuning { space / options.mss * options.mss } else { space };
        Self {
            mss: options.mss,
            most: options.receive_buffer,
            window,
            segments: in_segments(window, options.mss),
            space,
            round_start: Time::ZERO,
            round_bytes: 0,
            best_round: options.initial_window * options.mss,
        }
    }

    /// A segment arrived in order; says whether the window grew.
    pub fn on_segment(&mut self, now: Time, rtt: Span) -> bool {
        self.round_bytes += self.mss;
        if now.since(self.round_start) >= rtt {
            self.end_round(now);
        }
        let grow = (2 * self.mss).min(self.space.saturating_sub(self.window));
        if grow > 0 {
            self.window += grow;
            self.segments = in_segments(self.window, self.mss);
        }
        grow > 0
    }

    /// Linux tcp_rcv_space_adjust: room for twice the last round and what it grew by, and 16 segments.
    fn end_round(&mut self, now: Time) {
        if self.round_bytes > self.best_round {
            let room = 2 * self.round_bytes + 16 * self.mss;
            let growth = self.round_bytes - self.best_round;
            let extra = (u128::from(room) * u128::from(growth) / u128::from(self.best_round.max(1))) as u64;
            self.space = self.space.max(room.saturating_add(extra.saturating_mul(2))).min(self.most);
            self.best_round = self.round_bytes;
        }
        self.round_bytes = 0;
        self.round_start = now;
    }

    /// What is advertised, in segments.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.segments
    }
}

fn in_segments(window: u64, mss: u64) -> u32 {
    (window / mss).min(u64::from(u32::MAX) / 2) as u32
}
