//! A multipath connection: both sides of its data level, and what it measures beside its subflows.

use super::distributor::Distributor;
use super::options::MptcpOptions;
use super::reassembly::Reassembly;
use crate::flow::Flow;
use crate::histogram::Histogram;
use crate::outcome::{FlowOutcome, MultipathOutcome};
use crate::spec::FlowSpec;
use crate::tcp::Stream;
use cwndlab_cc::{Span, Time};
use std::ops::Range;

/// One connection.
pub struct Connection {
    /// Its name.
    pub name: String,
    /// Its subflows among the flows of the simulation.
    pub flows: Range<usize>,
    /// Its sending side; a subflow's sender has it while it handles an event.
    pub distributor: Option<Box<Distributor>>,
    /// Its receiving side.
    pub reassembly: Reassembly,
    gauge: Gauge,
}

/// What had been counted when the measured time began.
#[derive(Debug, Default)]
struct Gauge {
    since: Time,
    bytes: u64,
    reinjected: u64,
    blocked: Span,
}

impl Connection {
    /// A connection whose subflows are these.
    #[must_use]
    pub fn new(spec: &FlowSpec, options: &MptcpOptions, flows: Range<usize>) -> Self {
        let stream = Stream::new(spec.kind.tcp.mss, spec.bytes);
        let distributor = Distributor::new(options, flows.len(), stream);
        Self {
            name: spec.name.clone(),
            flows,
            distributor: Some(Box::new(distributor)),
            reassembly: Reassembly::new(&spec.kind.tcp),
            gauge: Gauge::default(),
        }
    }

    /// A subflow delivers these of its segments in order; gives the payload that had not come before.
    pub fn deliver(&mut self, now: Time, subflow: usize, segments: Range<u32>, rtt: Span) -> u64 {
        let Self { distributor, reassembly, .. } = self;
        let Some(distributor) = distributor else { return 0 };
        let carried = distributor.carried(subflow, segments);
        let new = carried.filter(|segment| reassembly.on_segment(now, *segment, rtt));
        new.map(|segment| distributor.stream().payload(segment)).sum()
    }

    /// Payload delivered in order since the start.
    #[must_use]
    pub fn delivered_bytes(&self) -> u64 {
        let next = self.reassembly.next();
        self.distributor.as_ref().map_or(0, |distributor| distributor.stream().bytes_below(next))
    }

    /// All of its data have arrived.
    #[must_use]
    pub fn has_all(&self) -> bool {
        let total = self.distributor.as_ref().and_then(|distributor| distributor.stream().segments());
        total == Some(self.reassembly.next())
    }

    /// All of its data have been acknowledged.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.distributor.as_ref().is_some_and(|distributor| distributor.is_finished())
    }

    fn reinjected(&self) -> u64 {
        self.distributor.as_ref().map_or(0, |distributor| distributor.reinjected())
    }

    fn blocked(&self, now: Time) -> Span {
        self.distributor.as_ref().map_or(Span::ZERO, |distributor| distributor.blocked(now))
    }

    /// Forgets what was measured so far.
    pub fn restart_gauge(&mut self, now: Time) {
        self.reassembly.restart_gauge(now);
        self.gauge = Gauge {
            since: now,
            bytes: self.delivered_bytes(),
            reinjected: self.reinjected(),
            blocked: self.blocked(now),
        };
    }

    /// The RTT samples of all subflows in the measured time.
    #[must_use]
    pub fn rtt_samples(&self, flows: &[Flow]) -> Histogram {
        let mut all = Histogram::default();
        flows[self.flows.clone()].iter().for_each(|flow| all.add(flow.rtt_samples()));
        all
    }

    /// What was measured up to now: counts and rates are sums over the subflows, but goodput, which is that of the data
    /// in order.
    #[must_use]
    pub fn outcome(&self, now: Time, flows: &[Flow]) -> FlowOutcome {
        let first = &flows[self.flows.start];
        let until = first.measured_until(now);
        let seconds = until.since(self.gauge.since.max(first.started())).as_secs_f64();
        let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let bytes = self.delivered_bytes() - self.gauge.bytes;
        let rtt = self.rtt_samples(flows);
        let subflows: Vec<_> = flows[self.flows.clone()].iter().map(|flow| flow.outcome(now)).collect();
        let sum = |count: fn(&FlowOutcome) -> u64| subflows.iter().map(count).sum();
        let sum_of = |rate: fn(&FlowOutcome) -> f64| subflows.iter().map(rate).sum();
        let waited = self.reassembly.waited(until);
        let blocked = Span(self.blocked(until).0 - self.gauge.blocked.0);
        let mss = first.mss();
        FlowOutcome {
            name: self.name.clone(),
            cc: first.cc().to_owned(),
            start_s: first.started().as_secs_f64(),
            goodput_mbps: rate(bytes as f64 * 8.0) / 1e6,
            throughput_mbps: sum_of(|flow| flow.throughput_mbps),
            rtt_ms: rtt.mean_ms(),
            rtt_p95_ms: rtt.quantile_ms(0.95),
            rtt_min_ms: subflows.iter().filter_map(|flow| flow.rtt_min_ms).min_by(f64::total_cmp),
            cwnd_mean_segments: sum_of(|flow| flow.cwnd_mean_segments),
            sent_packets: sum(|flow| flow.sent_packets),
            retransmitted_packets: sum(|flow| flow.retransmitted_packets),
            timeouts: sum(|flow| flow.timeouts),
            fast_recoveries: sum(|flow| flow.fast_recoveries),
            tail_loss_probes: sum(|flow| flow.tail_loss_probes),
            undos: sum(|flow| flow.undos),
            ecn_reductions: sum(|flow| flow.ecn_reductions),
            patterns: None,
            completion_s: first.completion_with(self.delivered_bytes()).map(Span::as_secs_f64),
            // Each subflow has its own.
            weights: None,
            degraded: subflows.iter().any(|flow| flow.degraded),
            multipath: Some(MultipathOutcome {
                reassembly_delay_ms: waited.mean_ms,
                reassembly_mean_bytes: waited.mean_segments * mss as f64,
                reassembly_max_bytes: u64::from(waited.most_segments) * mss,
                receive_limited: rate(blocked.as_secs_f64()),
                reinjected_packets: self.reinjected() - self.gauge.reinjected,
                subflows,
            }),
        }
    }
}
