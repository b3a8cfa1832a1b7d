//! The propagation delay: the smallest RTT of ten seconds, and ProbeRTT, which empties the queue to measure
//! it again (Linux tcp_bbr.c `bbr_update_min_rtt`; draft-cardwell-iccrg-bbr-congestion-control-00 section
//! 4.3.5).

use crate::bbr::Refresh;
use crate::contract::RateSample;
use crate::units::{Span, Time};

/// The estimate.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    window: Span,
    refresh: Refresh,
    rtt: Option<Span>,
    at: Time,
}

impl MinRtt {
    pub fn new(window: Span, refresh: Refresh) -> Self {
        Self { window, refresh, rtt: None, at: Time::ZERO }
    }

    /// The estimate; `None` before the first sample.
    pub fn get(&self) -> Option<Span> {
        self.rtt
    }

    /// Takes a sample, if there is one; returns whether the last estimate has gone stale.
    pub fn update(&mut self, now: Time, rtt: Option<Span>, delayed: bool) -> bool {
        let stale = self.rtt.is_some() && now.since(self.at) > self.window;
        if let Some(rtt) = rtt
            && (self.confirms(rtt) || (stale && !delayed))
        {
            (self.rtt, self.at) = (Some(rtt), now);
        }
        stale
    }

    fn confirms(&self, rtt: Span) -> bool {
        self.rtt.is_none_or(|least| self.refresh.renews(rtt, least))
    }

    /// The minimum was measured again: the window restarts.
    pub fn renew(&mut self, now: Time) {
        self.at = now;
    }
}

/// The state of ProbeRTT, and the range of samples that it slows down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// When the time with little in flight ends; `None` until the data in flight has fallen that low.
    done_at: Option<Time>,
    round_done: bool,
    /// Packets sent while the total of delivered bytes was between these two values were sent slowly.
    slowed: Option<(u64, u64)>,
}

impl ProbeRtt {
    pub fn begin(&mut self, delivered: u64) {
        *self = Self { slowed: Some((delivered, delivered)), ..Self::default() };
    }

    /// The data now in flight is slowed, and so is all data sent until it is delivered (Linux sets
    /// `tp->app_limited`).
    pub fn slow_down(&mut self, delivered: u64, in_flight: u64) {
        if let Some((_, until)) = &mut self.slowed {
            *until = delivered + in_flight;
        }
    }

    /// Whether the sample says no more about the path than an application-limited one.
    pub fn has_slowed(&self, sample: &RateSample) -> bool {
        self.slowed.is_some_and(|(from, until)| (from..=until).contains(&sample.prior_delivered))
    }

    /// Little enough is in flight: starts the timer. Returns false if it is already running.
    pub fn begin_time(&mut self, now: Time, duration: Span) -> bool {
        let begins = self.done_at.is_none();
        if begins {
            (self.done_at, self.round_done) = (Some(now + duration), false);
        }
        begins
    }

    pub fn note_round(&mut self, started: bool) {
        self.round_done |= started && self.done_at.is_some();
    }

    /// Whether the time is over and a round has passed.
    pub fn is_done(&self, now: Time) -> bool {
        self.round_done && self.is_time_over(now)
    }

    /// Whether the time is over. This suffices after an idle period, when nothing was in flight.
    pub fn is_time_over(&self, now: Time) -> bool {
        self.done_at.is_some_and(|at| now > at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn estimate(refresh: Refresh) -> MinRtt {
        let mut estimate = MinRtt::new(Span::from_secs(10), refresh);
        assert!(!estimate.update(at(1000), Some(Span::from_millis(50)), false));
        estimate
    }

    #[test]
    fn an_equal_sample_confirms_only_where_it_is_said() {
        for (refresh, stale) in [(Refresh::Below, true), (Refresh::AtMost, false)] {
            let mut estimate = estimate(refresh);
            estimate.update(at(6000), Some(Span::from_millis(50)), false);
            assert!(!estimate.update(at(11_000), Some(Span::from_millis(60)), false), "ten seconds old");
            assert_eq!(estimate.update(at(11_001), Some(Span::from_millis(60)), false), stale);
            let expected = if stale { 60 } else { 50 };
            assert_eq!(estimate.get(), Some(Span::from_millis(expected)));
        }
    }

    #[test]
    fn a_delayed_ack_does_not_replace_a_stale_estimate() {
        let mut estimate = estimate(Refresh::Below);
        assert!(estimate.update(at(12_000), Some(Span::from_millis(90)), true));
        assert_eq!(estimate.get(), Some(Span::from_millis(50)));
        assert!(estimate.update(at(12_000), Some(Span::from_millis(40)), true), "a lower one always does");
        assert_eq!(estimate.get(), Some(Span::from_millis(40)));
    }

    #[test]
    fn samples_of_what_left_slowly_are_known() {
        let mut probe = ProbeRtt::default();
        let slowed = |probe: &ProbeRtt, prior| {
            probe.has_slowed(&RateSample { prior_delivered: prior, ..RateSample::default() })
        };
        assert!(!slowed(&probe, 0));
        probe.begin(1000);
        probe.slow_down(5000, 4000);
        assert_eq!([999, 1000, 9000, 9001].map(|prior| slowed(&probe, prior)), [false, true, true, false]);
    }

    #[test]
    fn it_lasts_its_time_and_a_round() {
        let mut probe = ProbeRtt::default();
        probe.note_round(true);
        assert!(probe.begin_time(at(100), Span::from_millis(200)) && !probe.begin_time(at(150), Span::ZERO));
        assert!(!probe.is_done(at(400)), "the round before does not count");
        probe.note_round(true);
        assert!(!probe.is_done(at(300)) && probe.is_done(at(301)));
    }
}
