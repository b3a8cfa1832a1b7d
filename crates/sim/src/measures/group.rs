//! What the flows of an arrival process do together.

use super::histogram::Histogram;
use super::rate::mbps;
use crate::flow::Flow;
use crate::outcome::GroupOutcome;
use crate::spec::ArrivalSpec;
use crate::tap::State;
use crate::tcp::Counters;
use cwndlab_cc::Time;

/// An arrival process from a given time on.
#[derive(Debug, Default)]
pub(super) struct GroupGauge {
    since: Time,
    arrived: u64,
    completion: Histogram,
    /// Counters of the flows that have ended in the measured time.
    counters: Counters,
    /// Payload of all flows that have ended since the start of the run.
    ended_bytes: u64,
    bytes_before: u64,
}

impl GroupGauge {
    /// A flow begins.
    pub(super) fn begin(&mut self) {
        self.arrived += 1;
    }

    /// A flow has ended. Its completion time counts if it started in the measured time and delivered all its
    /// data.
    pub(super) fn end(&mut self, flow: &Flow) {
        if let Some(completion) = flow.completion().filter(|_| flow.started() >= self.since) {
            self.completion.record(completion);
        }
        self.counters.add(&flow.sender.counters());
        self.ended_bytes += flow.delivered_bytes();
    }

    /// Completion times of the measured time.
    pub(super) fn completion_times(&self) -> &Histogram {
        &self.completion
    }

    /// Payload that all its flows have delivered in order since the start of the run.
    pub(super) fn delivered_bytes(&self, group: usize, state: &State<'_>) -> u64 {
        self.ended_bytes + under_way(group, state).map(Flow::delivered_bytes).sum::<u64>()
    }

    /// Forgets what was measured so far.
    pub(super) fn restart(&mut self, group: usize, state: &State<'_>) {
        let bytes_before = self.delivered_bytes(group, state);
        let ended_bytes = self.ended_bytes;
        *self = Self { since: state.now, ended_bytes, bytes_before, ..Self::default() };
    }

    /// What was measured up to now.
    pub(super) fn outcome(&self, group: usize, state: &State<'_>) -> GroupOutcome {
        let mut counters = self.counters;
        under_way(group, state).for_each(|flow| counters.add(&flow.sender.counters()));
        let totals = GroupTotals {
            arrived: self.arrived,
            bytes: self.delivered_bytes(group, state) - self.bytes_before,
            completion: &self.completion,
            counters,
        };
        totals.outcome(&state.arrivals[group].process.spec, self.since, state.now)
    }
}

/// What the flows of an arrival process did in the measured time.
#[derive(Clone, Copy, Debug)]
pub struct GroupTotals<'a> {
    /// Flows that arrived.
    pub arrived: u64,
    /// Payload that they delivered in order.
    pub bytes: u64,
    /// Completion times of those that ended.
    pub completion: &'a Histogram,
    /// What their senders counted.
    pub counters: Counters,
}

impl GroupTotals<'_> {
    /// The outcome of a process measured from `since`, or from its start if that is later, up to now.
    #[must_use]
    pub fn outcome(&self, spec: &ArrivalSpec, since: Time, now: Time) -> GroupOutcome {
        let Self { arrived, bytes, completion, counters } = *self;
        let seconds = now.since(since.max(spec.active.start)).as_secs_f64();
        GroupOutcome {
            name: spec.name.clone(),
            cc: spec.kind.cc(),
            arrived,
            completed: completion.count(),
            goodput_mbps: mbps(bytes, seconds).unwrap_or(0.0),
            completion_ms: completion.mean_ms(),
            completion_p50_ms: completion.quantile_ms(0.5),
            completion_p95_ms: completion.quantile_ms(0.95),
            completion_p99_ms: completion.quantile_ms(0.99),
            retransmitted_packets: counters.resent,
            timeouts: counters.timeouts,
            fast_recoveries: counters.fast_recoveries,
            patterns: None,
        }
    }
}

/// The flows of a group that have not ended.
fn under_way<'a>(group: usize, state: &'a State<'_>) -> impl Iterator<Item = &'a Flow> {
    state.flows.iter().filter(move |flow| flow.group == Some(group as u32) && !flow.is_retired())
}
