//! What one flow does.

use super::histogram::Histogram;
use crate::flow::Flow;
use crate::fragment::{IP_HEADER, fragments};
use crate::outcome::FlowOutcome;
use crate::tap::FlowEvent;
use crate::tcp::Counters;
use cwndlab_cc::{Span, Time};

/// A flow from a given time on.
#[derive(Debug, Default)]
pub(super) struct FlowGauge {
    since: Time,
    /// Bytes of a packet's headers.
    header: u64,
    /// The longest packet that leaves whole.
    mtu: u64,
    rtt: Histogram,
    rtt_min: Option<Span>,
    sent_bytes: u64,
    window: WindowIntegral,
    bytes_before: u64,
    counters_before: Counters,
    window_before: u128,
}

/// The controller's window, and its integral over time.
#[derive(Clone, Copy, Debug, Default)]
struct WindowIntegral {
    segments: u32,
    since: Time,
    /// The integral until then, in segment nanoseconds.
    nanos: u128,
}

impl WindowIntegral {
    fn nanos(&self, now: Time) -> u128 {
        self.nanos + u128::from(self.segments) * u128::from(now.since(self.since).0)
    }
}

impl FlowGauge {
    /// Of a flow that has not begun.
    pub(super) fn new(flow: &Flow) -> Self {
        Self { header: flow.header(), mtu: u64::from(flow.mtu), ..Self::default() }
    }

    /// Bytes of a segment's packet, or of its fragments.
    #[inline]
    fn packet(&self, payload: u64) -> u64 {
        let size = self.header + payload;
        if size <= self.mtu { size } else { size + IP_HEADER * (fragments(size, self.mtu) - 1) }
    }

    #[inline(always)]
    pub(super) fn on_event(&mut self, now: Time, event: FlowEvent<'_>) {
        match event {
            FlowEvent::SynSent => self.sent_bytes += self.header,
            FlowEvent::Sent { payload, .. } => self.sent_bytes += self.packet(payload),
            FlowEvent::RttSampled { latest, .. } => {
                self.rtt.record(latest);
                self.rtt_min = Some(self.rtt_min.map_or(latest, |least| least.min(latest)));
            }
            FlowEvent::WindowChanged { segments } => {
                self.window = WindowIntegral { segments, since: now, nanos: self.window.nanos(now) };
            }
            _ => {}
        }
    }

    /// Forgets what was measured so far.
    pub(super) fn restart(&mut self, flow: &Flow, now: Time) {
        *self = Self {
            since: now,
            header: self.header,
            mtu: self.mtu,
            rtt_min: self.rtt_min,
            window: self.window,
            bytes_before: flow.delivered_bytes(),
            counters_before: flow.sender.counters(),
            window_before: self.window.nanos(now),
            ..Self::default()
        };
    }

    /// The RTT samples of the measured time.
    pub(super) fn rtts(&self) -> &Histogram {
        &self.rtt
    }

    /// The integral of the window over time up to `now`, in segment nanoseconds.
    pub(super) fn window_nanos(&self, now: Time) -> u128 {
        self.window.nanos(now)
    }

    /// What was measured up to now. A flow is measured from its start on, to its end if it has one.
    pub(super) fn outcome(&self, flow: &Flow, now: Time) -> FlowOutcome {
        let from = self.since.max(flow.started());
        let until = flow.measured_until(now);
        let seconds = until.since(from).as_secs_f64();
        let mbps = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { 0.0 };
        let window = self.window.nanos(until).saturating_sub(self.window_before) as f64 / 1e9;
        let (counters, before) = (flow.sender.counters(), self.counters_before);
        FlowOutcome {
            name: flow.name.clone(),
            cc: flow.cc().to_owned(),
            start_s: flow.started().as_secs_f64(),
            goodput_mbps: mbps(flow.delivered_bytes() - self.bytes_before),
            throughput_mbps: mbps(self.sent_bytes),
            rtt_ms: self.rtt.mean_ms(),
            rtt_p95_ms: self.rtt.quantile_ms(0.95),
            rtt_min_ms: self.rtt_min.map(Span::as_millis_f64),
            cwnd_mean_segments: if seconds > 0.0 { window / seconds } else { 0.0 },
            sent_packets: counters.sent - before.sent,
            retransmitted_packets: counters.resent - before.resent,
            timeouts: counters.timeouts - before.timeouts,
            fast_recoveries: counters.fast_recoveries - before.fast_recoveries,
            tail_loss_probes: counters.probes - before.probes,
            undos: counters.undos - before.undos,
            ecn_reductions: counters.ecn_reductions - before.ecn_reductions,
            // A subflow has no end of its own.
            completion_s: flow.completion().filter(|_| flow.place.is_none()).map(Span::as_secs_f64),
            patterns: None,
            weights: flow.sender.weights(),
            degraded: false,
            multipath: None,
        }
    }
}

/// The RTT samples of all these flows.
pub(super) fn rtts_of(flows: &[FlowGauge]) -> Histogram {
    let mut all = Histogram::default();
    flows.iter().for_each(|flow| all.add(&flow.rtt));
    all
}
