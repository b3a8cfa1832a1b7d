//! Flows that arrive at random: the same ones as in the simulator, and what they do together.

use crate::flow::Flow;
use cwndlab_cc::{Span, Time};
use cwndlab_sim::arrivals::Process;
use cwndlab_sim::measures::histogram::Histogram;
use cwndlab_sim::outcome::{Distribution, GroupOutcome, Series};
use cwndlab_sim::spec::{ActiveTime, ArrivalSpec, FlowSpec};
use std::ops::Range;

/// The flows of an arrival process.
pub struct Group {
    spec: ArrivalSpec,
    /// Their places among all flows.
    flows: Range<usize>,
    /// Since when it is measured.
    since: Time,
    bytes_before: u64,
    bytes_at_interval: u64,
    goodput_mbps: Vec<f64>,
}

impl Group {
    /// Draws all arrivals of a run with this seed, and adds their flows.
    #[must_use]
    pub fn arrive(spec: &ArrivalSpec, seed: u64, duration: Span, flows: &mut Vec<FlowSpec>) -> Self {
        let first = flows.len();
        let mut process = Process::new(spec, seed);
        while process.next < Time::ZERO + duration {
            let (start, bytes) = process.arrive();
            flows.push(FlowSpec {
                name: format!("{} {}", spec.name, flows.len() - first),
                kind: spec.kind.clone(),
                paths: vec![spec.path.clone()],
                multipath: None,
                active: ActiveTime { start, start_jitter: Span::ZERO, stop: spec.active.stop },
                bytes: Some(bytes),
            });
        }
        Self {
            spec: spec.clone(),
            flows: first..flows.len(),
            since: Time::ZERO,
            bytes_before: 0,
            bytes_at_interval: 0,
            goodput_mbps: Vec::new(),
        }
    }

    fn delivered(&self, flows: &[Flow]) -> u64 {
        flows[self.flows.clone()].iter().map(Flow::received).sum()
    }

    /// The warm-up is over.
    pub fn end_warmup(&mut self, now: Time, flows: &[Flow]) {
        self.since = now;
        self.bytes_before = self.delivered(flows);
    }

    /// An interval of the run ends.
    pub fn close_interval(&mut self, from: Time, until: Time, flows: &[Flow]) {
        let bytes = self.delivered(flows);
        let mbps = (bytes - self.bytes_at_interval) as f64 * 8.0 / until.since(from).as_secs_f64() / 1e6;
        self.goodput_mbps.push(if until > self.spec.active.start { mbps } else { f64::NAN });
        self.bytes_at_interval = bytes;
    }

    /// Goodput by interval.
    #[must_use]
    pub fn intervals(&self) -> Series {
        Series(self.goodput_mbps.clone())
    }

    /// The times that its flows took which started in the measured time and delivered all.
    fn completion(&self, flows: &[Flow]) -> Histogram {
        let mut times = Histogram::default();
        let measured = flows[self.flows.clone()].iter().filter(|flow| flow.start >= self.since);
        measured.filter_map(Flow::completion).for_each(|time| times.record(time));
        times
    }

    /// What was measured up to now.
    #[must_use]
    pub fn outcome(&self, now: Time, all: &[Flow]) -> GroupOutcome {
        let flows = &all[self.flows.clone()];
        let seconds = now.since(self.since.max(self.spec.active.start)).as_secs_f64();
        let bytes = self.delivered(all) - self.bytes_before;
        let counted: Vec<_> = flows.iter().map(|flow| flow.outcome(now)).collect();
        let completion = self.completion(all);
        GroupOutcome {
            name: self.spec.name.clone(),
            cc: self.spec.kind.cc(),
            arrived: flows.iter().filter(|flow| flow.start >= self.since).count() as u64,
            completed: completion.count(),
            goodput_mbps: if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { 0.0 },
            completion_ms: completion.mean_ms(),
            completion_p50_ms: completion.quantile_ms(0.5),
            completion_p95_ms: completion.quantile_ms(0.95),
            completion_p99_ms: completion.quantile_ms(0.99),
            retransmitted_packets: counted.iter().map(|flow| flow.retransmitted_packets).sum(),
            timeouts: counted.iter().map(|flow| flow.timeouts).sum(),
            fast_recoveries: counted.iter().map(|flow| flow.fast_recoveries).sum(),
            patterns: None,
        }
    }

    /// How the completion times are distributed.
    #[must_use]
    pub fn distribution(&self, flows: &[Flow]) -> Option<Distribution> {
        Distribution::of_times("group", &self.spec.name, "completion_ms", &self.completion(flows))
    }
}
