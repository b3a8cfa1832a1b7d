//! What one flow does.

use super::histogram::Histogram;
use super::seen::{Seen, Totals};
use crate::flow::Flow;
use crate::fragment::{IP_HEADER, fragments};
use crate::outcome::FlowOutcome;
use crate::tap::FlowEvent;
use cwndlab_cc::{Span, Time};

/// A flow from a given time on. The fields lie in memory in this order: an ACK and the packets that it sets free touch two
/// cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct FlowGauge {
    /// Bytes of a packet's headers.
    header: u32,
    /// The longest packet that leaves whole, in bytes.
    mtu: u32,
    /// The bucket of the latest RTT sample, which is counted with the next one: with many flows it is far from what was
    /// touched before, and is fetched ahead by then.
    latest_rtt: Option<u32>,
    seen: Seen,
}

impl FlowGauge {
    /// A gauge of a flow that has not begun.
    pub(super) fn new(flow: &Flow) -> Self {
        Self { header: flow.header() as u32, mtu: flow.mtu, latest_rtt: None, seen: Seen::default() }
    }

    /// Bytes of a segment's packet, or of its fragments.
    #[inline]
    fn packet(&self, payload: u64) -> u64 {
        let (size, mtu) = (u64::from(self.header) + payload, u64::from(self.mtu));
        if size <= mtu { size } else { size + IP_HEADER * (fragments(size, mtu) - 1) }
    }

    #[inline(always)]
    pub(super) fn on_event(&mut self, now: Time, event: FlowEvent<'_>) {
        match event {
            FlowEvent::SynSent => self.seen.on_sent(self.header.into()),
            FlowEvent::Sent { payload, .. } => self.seen.on_sent(self.packet(payload)),
            FlowEvent::RttSampled { latest, .. } => {
                self.count_latest_rtt();
                self.latest_rtt = Some(self.seen.note_rtt(latest));
            }
            FlowEvent::WindowChanged { segments } => self.seen.on_window(now, segments.into()),
            _ => {}
        }
    }

    /// Forgets what was measured so far.
    /// Counts the latest RTT sample; before the samples are looked at.
    #[inline]
    pub(super) fn count_latest_rtt(&mut self) {
        if let Some(bucket) = self.latest_rtt.take() {
            self.seen.count_rtt(bucket);
        }
    }

    /// Prefetches what an RTT sample touches outside the gauge, which is in the cache by now.
    #[inline]
    pub(super) fn fetch_beyond(&self) {
        if let Some(bucket) = self.latest_rtt {
            self.seen.fetch_rtt(bucket);
        }
    }

    pub(super) fn restart(&mut self, flow: &Flow, now: Time) {
        self.latest_rtt = None;
        self.seen.restart(now, flow.delivered_bytes(), flow.sender.counters());
    }

    /// The RTT samples of the measured time.
    pub(super) fn rtts(&self) -> &Histogram {
        self.seen.rtts()
    }

    /// The integral of the window over time up to `now`, in segment nanoseconds.
    pub(super) fn window_nanos(&self, now: Time) -> u128 {
        self.seen.window_nanos(now)
    }

    /// What was measured up to now. A flow is measured from its start on, to its end if it has one.
    pub(super) fn outcome(&self, flow: &Flow, now: Time) -> FlowOutcome {
        let (bytes, counters) = (flow.delivered_bytes(), flow.sender.counters());
        let totals = Totals { started: flow.started(), bytes, counters };
        FlowOutcome {
            // A subflow has no end of its own.
            completion_s: flow.completion().filter(|_| flow.place.is_none()).map(Span::as_secs_f64),
            weights: flow.sender.weights(),
            ..self.seen.outcome(&flow.name, flow.cc().to_owned(), &totals, flow.measured_until(now))
        }
    }
}

/// The RTT samples of all these flows.
pub(super) fn rtts_of(flows: &[FlowGauge]) -> Histogram {
    Histogram::of(flows.iter().map(FlowGauge::rtts))
}
