//! What both backends measure of a flow in the same way: from its packets, its RTT samples, its window and its counts.

use super::histogram::Histogram;
use super::integral::Integral;
use super::rate::mbps;
use crate::outcome::FlowOutcome;
use crate::tcp::Counters;
use cwndlab_cc::{Span, Time};

/// A flow from a given time on. The fields lie in memory in this order: first those that every ACK touches.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Seen {
    rtt: Histogram,
    sent_bytes: u64,
    rtt_min: Option<Span>,
    window: Integral,
    window_before: u128,
    since: Time,
    bytes_before: u64,
    counters_before: Counters,
}

/// The totals of a flow since its start: when that was, the payload delivered in order, and its counts.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// When it started.
    pub started: Time,
    /// Payload delivered in order.
    pub bytes: u64,
    /// What its sender counted.
    pub counters: Counters,
}

impl Seen {
    /// Bytes were put on the first link, headers included.
    #[inline]
    pub fn on_sent(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
    }

    /// An RTT sample was taken.
    #[inline]
    pub fn on_rtt(&mut self, sample: Span) {
        let bucket = self.note_rtt(sample);
        self.count_rtt(bucket);
    }

    /// The same without its bucket, which is returned: [`Seen::count_rtt`] must follow.
    #[inline]
    pub fn note_rtt(&mut self, sample: Span) -> u32 {
        self.rtt_min = Some(self.rtt_min.map_or(sample, |least| least.min(sample)));
        self.rtt.note(sample)
    }

    /// Counts an RTT sample in its bucket.
    #[inline]
    pub fn count_rtt(&mut self, bucket: u32) {
        self.rtt.count_in(bucket);
    }

    /// Prefetches a bucket of the RTT samples.
    #[inline]
    pub fn fetch_rtt(&self, bucket: u32) {
        self.rtt.fetch(bucket);
    }

    /// The window has changed.
    #[inline]
    pub fn on_window(&mut self, now: Time, segments: u64) {
        self.window.change(now, segments);
    }

    /// Forgets what was measured so far, except the smallest RTT.
    pub fn restart(&mut self, now: Time, bytes: u64, counters: Counters) {
        *self = Self {
            since: now,
            rtt_min: self.rtt_min,
            window: self.window,
            bytes_before: bytes,
            counters_before: counters,
            window_before: self.window.nanos(now),
            ..Self::default()
        };
    }

    /// The RTT samples of the measured time.
    #[must_use]
    pub fn rtts(&self) -> &Histogram {
        &self.rtt
    }

    /// The integral of the window over time up to `now`, in segment nanoseconds.
    #[must_use]
    pub fn window_nanos(&self, now: Time) -> u128 {
        self.window.nanos(now)
    }

    /// What was counted in the measured time.
    #[must_use]
    pub fn counted(&self, counters: &Counters) -> Counters {
        counters.since(&self.counters_before)
    }

    /// What was measured of a flow up to `until`, from its start on.
    #[must_use]
    pub fn outcome(&self, name: &str, cc: String, totals: &Totals, until: Time) -> FlowOutcome {
        let Totals { started, bytes, counters } = *totals;
        let seconds = until.since(self.since.max(started)).as_secs_f64();
        let mbps = |bytes: u64| mbps(bytes, seconds).unwrap_or(0.0);
        let window = self.window.nanos(until).saturating_sub(self.window_before) as f64 / 1e9;
        let counted = self.counted(&counters);
        FlowOutcome {
            name: name.to_owned(),
            cc,
            start_s: started.as_secs_f64(),
            goodput_mbps: mbps(bytes - self.bytes_before),
            throughput_mbps: mbps(self.sent_bytes),
            rtt_ms: self.rtt.mean_ms(),
            rtt_p95_ms: self.rtt.quantile_ms(0.95),
            rtt_min_ms: self.rtt_min.map(Span::as_millis_f64),
            cwnd_mean_segments: if seconds > 0.0 { window / seconds } else { 0.0 },
            sent_packets: counted.sent,
            retransmitted_packets: counted.resent,
            timeouts: counted.timeouts,
            fast_recoveries: counted.fast_recoveries,
            tail_loss_probes: counted.probes,
            undos: counted.undos,
            ecn_reductions: counted.ecn_reductions,
            ..FlowOutcome::default()
        }
    }
}

/// The end of a flow's measured time: its last byte's arrival, its stop if all data had arrived before, or
/// now.
#[must_use]
pub fn measured_until(
    completed: Option<Time>,
    stopped: Option<Time>,
    all_arrived: impl FnOnce() -> bool,
    now: Time,
) -> Time {
    match (completed, stopped) {
        (Some(completed), stopped) => completed.max(stopped.unwrap_or_default()),
        (None, Some(stopped)) if all_arrived() => stopped,
        (None, _) => now,
    }
}
