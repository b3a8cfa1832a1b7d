//! The minimum RTT over ten seconds, and over the five seconds that schedule ProbeRTT (`bbr_update_min_rtt`).

use super::params::Bbr2Params;
use crate::contract::Ack;
use crate::units::{Span, Time};

/// Two minima; [`Span::MAX`] before the first sample.
#[derive(Clone, Copy, Debug)]
pub struct MinRtt {
    /// min_rtt: the path without a queue.
    pub path: Span,
    path_at: Time,
    /// probe_rtt_min: the smallest since ProbeRTT was last due.
    pub recent: Span,
    recent_at: Time,
}

impl MinRtt {
    /// Before any sample.
    pub const UNKNOWN: Self =
        Self { path: Span::MAX, path_at: Time::ZERO, recent: Span::MAX, recent_at: Time::ZERO };

    /// Starts with the RTT of the handshake.
    #[must_use]
    pub fn begin(rtt: Span, now: Time) -> Self {
        Self { path: rtt, path_at: now, recent: rtt, recent_at: now }
    }

    /// ProbeRTT has just been done: the next one is due after a whole interval.
    pub fn postpone(&mut self, now: Time) {
        self.recent_at = now;
    }

    /// Takes an ACK's sample; returns whether the recent minimum was too old, so that ProbeRTT is due.
    pub fn update(&mut self, params: &Bbr2Params, now: Time, ack: &Ack) -> bool {
        // tcp_bbr2.c bbr_init: the interval is at most the window.
        let interval = params.probe_rtt_interval.min(params.min_rtt_window);
        let due = now > self.recent_at + interval;
        if let Some(rtt) = ack.rtt
            && (params.min_rtt_refresh.renews(rtt, self.recent) || (due && !ack.delayed))
        {
            (self.recent, self.recent_at) = (rtt, now);
        }
        if params.min_rtt_refresh.renews(self.recent, self.path) || now > self.path_at + params.min_rtt_window
        {
            (self.path, self.path_at) = (self.recent, self.recent_at);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr::Refresh;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn ack(ms: u64, delayed: bool) -> Ack {
        Ack { rtt: Some(Span::from_millis(ms)), delayed, ..Ack::default() }
    }

    fn minima(min_rtt: &MinRtt) -> (u64, u64) {
        (min_rtt.path.0 / 1_000_000, min_rtt.recent.0 / 1_000_000)
    }

    #[test]
    fn probe_rtt_is_due_after_five_seconds_and_the_path_is_forgotten_after_ten() {
        let params = Bbr2Params::default();
        let mut min_rtt = MinRtt::begin(Span::from_millis(40), Time::ZERO);
        assert!(!min_rtt.update(&params, at(5000), &ack(50, false)));
        assert!(
            min_rtt.update(&params, at(5001), &ack(55, true)),
            "due, but a delayed ACK is no sample of the path"
        );
        assert_eq!(minima(&min_rtt), (40, 40));
        assert!(min_rtt.update(&params, at(5002), &ack(60, false)));
        assert_eq!(minima(&min_rtt), (40, 60));
        assert!(!min_rtt.update(&params, at(10_000), &ack(70, false)));
        assert_eq!(minima(&min_rtt), (40, 60));
        min_rtt.update(&params, at(10_001), &ack(70, false));
        assert_eq!(minima(&min_rtt), (60, 60));
    }

    #[test]
    fn a_sample_as_low_renews_the_minimum_unless_it_must_be_lower() {
        for (min_rtt_refresh, due) in [(Refresh::AtMost, false), (Refresh::Below, true)] {
            let params = Bbr2Params { min_rtt_refresh, ..Bbr2Params::default() };
            let mut min_rtt = MinRtt::begin(Span::from_millis(40), Time::ZERO);
            min_rtt.update(&params, at(3000), &ack(40, false));
            assert_eq!(min_rtt.update(&params, at(6000), &ack(50, false)), due);
        }
    }
}
