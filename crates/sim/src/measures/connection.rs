//! What a multipath connection does beyond its subflows.

use super::flow::{FlowGauge, rtts_of};
use super::integral::{Integral, mean_segments};
use super::rate::mbps;
use crate::mptcp::Connection;
use crate::outcome::{FlowOutcome, MultipathOutcome};
use crate::tap::State;
use cwndlab_cc::{Span, Time};

/// A connection from a given time on.
#[derive(Debug, Default)]
pub(super) struct ConnectionGauge {
    since: Time,
    waiting: WaitingSegments,
    bytes_before: u64,
    segments_before: u32,
    reinjected_before: u64,
    blocked_before: Span,
}

/// Segments that wait at the receiver for data on another path: head-of-line blocking.
#[derive(Clone, Copy, Debug, Default)]
struct WaitingSegments {
    over_time: Integral,
    most: u64,
}

impl WaitingSegments {
    fn change(&mut self, now: Time, segments: u64) {
        self.over_time.change(now, segments);
        self.most = self.most.max(segments);
    }

    /// The same number of segments wait; counting begins at `now`.
    fn restarted(&self, now: Time) -> Self {
        Self { over_time: self.over_time.restarted(now), most: self.over_time.segments() }
    }
}

impl ConnectionGauge {
    /// The number of segments that wait has changed.
    pub(super) fn on_waiting(&mut self, now: Time, segments: u32) {
        self.waiting.change(now, segments.into());
    }

    /// Forgets what was measured so far.
    pub(super) fn restart(&mut self, connection: &Connection, now: Time) {
        *self = Self {
            since: now,
            waiting: self.waiting.restarted(now),
            bytes_before: connection.delivered_bytes(),
            segments_before: connection.reassembly.next(),
            reinjected_before: connection.reinjected(),
            blocked_before: connection.blocked(now),
        };
    }

    /// What was measured up to now: counts and rates are sums over the subflows, except goodput, which is
    /// that of the connection's data in order.
    pub(super) fn outcome(
        &self,
        connection: &Connection,
        gauges: &[FlowGauge],
        state: &State<'_>,
    ) -> FlowOutcome {
        let (parts, now) = (connection.flows.clone(), state.now);
        let flows = &state.flows[parts.clone()];
        let first = &flows[0];
        let until = first.measured_until(now);
        let seconds = until.since(self.since.max(first.started())).as_secs_f64();
        let rtt = rtts_of(&gauges[parts.clone()]);
        let subflows: Vec<_> =
            gauges[parts].iter().zip(flows).map(|(gauge, flow)| gauge.outcome(flow, now)).collect();
        let bytes = connection.delivered_bytes() - self.bytes_before;
        let multipath = self.data_level(connection, until, first.mss(), seconds);
        FlowOutcome {
            goodput_mbps: mbps(bytes, seconds).unwrap_or(0.0),
            rtt_ms: rtt.mean_ms(),
            rtt_p95_ms: rtt.quantile_ms(0.95),
            completion_s: first.completion_with(connection.delivered_bytes()).map(Span::as_secs_f64),
            // Each subflow has weights of its own.
            ..FlowOutcome::of_subflows(connection.name.clone(), subflows, multipath)
        }
    }

    fn data_level(&self, connection: &Connection, until: Time, mss: u64, seconds: f64) -> MultipathOutcome {
        let blocked = Span(connection.blocked(until).0 - self.blocked_before.0).as_secs_f64();
        let delivered = connection.reassembly.next() - self.segments_before;
        let (mean_ms, mean_segments) = self.waited(until, delivered);
        MultipathOutcome {
            reassembly_delay_ms: mean_ms,
            reassembly_mean_bytes: Some(mean_segments * mss as f64),
            reassembly_max_bytes: Some(self.waiting.most * mss),
            receive_limited: Some(if seconds > 0.0 { blocked / seconds } else { 0.0 }),
            reinjected_packets: connection.reinjected() - self.reinjected_before,
            subflows: Vec::new(),
        }
    }

    /// The mean time from a segment's arrival until all data below it had arrived, in ms, `None` if none was
    /// `delivered`; and the time-weighted mean of the segments that waited. The first follows from the second
    /// by Little's law.
    fn waited(&self, now: Time, delivered: u32) -> (Option<f64>, f64) {
        let nanos = self.waiting.over_time.nanos(now);
        let mean_ms = (delivered > 0).then(|| nanos as f64 / f64::from(delivered) / 1e6);
        (mean_ms, mean_segments(nanos, now.since(self.since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_mean_wait_is_over_all_segments_that_were_delivered() {
        let mut gauge = ConnectionGauge::default();
        for (ms, segments) in [(10, 1), (20, 2), (40, 0)] {
            gauge.on_waiting(at(ms), segments);
        }
        // One waited for 30 ms, one for 20 ms: 50 ms over four segments, and over 100 ms of time.
        let (mean_ms, mean_segments) = gauge.waited(at(100), 4);
        assert_eq!((mean_ms, gauge.waiting.most), (Some(12.5), 2));
        assert!((mean_segments - 0.5).abs() < 1e-12);
        assert_eq!(gauge.waited(at(100), 0).0, None);
    }

    #[test]
    fn what_waited_before_the_gauge_started_is_forgotten() {
        let mut gauge = ConnectionGauge::default();
        gauge.on_waiting(at(0), 1);
        gauge.since = at(50);
        gauge.waiting = gauge.waiting.restarted(at(50));
        gauge.on_waiting(at(60), 0);
        let (mean_ms, mean_segments) = gauge.waited(at(70), 2);
        assert_eq!((mean_ms, gauge.waiting.most), (Some(5.0), 1));
        assert!((mean_segments - 0.5).abs() < 1e-12);
    }
}
