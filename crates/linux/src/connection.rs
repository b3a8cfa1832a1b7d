//! A multipath connection: the measurements of its subflows together.

use crate::facts::Counts;
use crate::flow::Flow;
use crate::patterns::patterns_of;
use cwndlab_cc::Time;
use cwndlab_sim::measures::{Histogram, mbps};
use cwndlab_sim::outcome::{Distribution, FlowIntervals, FlowOutcome, MultipathOutcome, SeriesTable};
use cwndlab_sim::spec::FlowSpec;
use std::ops::Range;

/// The columns of a recorded connection.
const COLUMNS: [&str; 3] = ["cwnd_segments", "in_flight_segments", "goodput_mbps"];

/// A connection and its subflows.
pub struct Connection {
    /// The connection as its application sees it.
    pub whole: Flow,
    /// The indices of its subflows.
    pub parts: Range<usize>,
    reinjected: u64,
    reinjected_before: u64,
    sampled_bytes: u64,
    table: SeriesTable,
}

impl Connection {
    /// A connection of the run with this seed that has not started.
    #[must_use]
    pub fn new(spec: &FlowSpec, parts: Range<usize>, seed: u64) -> Self {
        let columns = COLUMNS.map(|name| (name.to_owned(), Vec::new()));
        Self {
            whole: Flow::new(spec, seed),
            parts,
            reinjected: 0,
            reinjected_before: 0,
            sampled_bytes: 0,
            table: SeriesTable { kind: "flow", name: spec.name.clone(), columns: columns.to_vec() },
        }
    }

    fn subflows<'a>(&self, flows: &'a [Flow]) -> &'a [Flow] {
        &flows[self.parts.clone()]
    }

    /// Takes the counts of the sender's host, and the number of segments sent again on another subflow
    /// because their own had failed.
    pub fn count(&mut self, counts: Counts, reinjected: u64, flows: &[Flow]) {
        // The first subflow, which opened the connection, has already shown this.
        let unacknowledged = self.subflows(flows)[0].unacknowledged();
        let syns: u64 = self.subflows(flows).iter().map(Flow::syn_timeouts).sum();
        let counts = Counts { timeouts: counts.timeouts.saturating_sub(syns), ..counts };
        self.whole.count(counts, unacknowledged);
        self.reinjected = reinjected;
    }

    /// The warm-up is over.
    pub fn end_warmup(&mut self, now: Time) {
        self.whole.end_warmup(now);
        self.reinjected_before = self.reinjected;
    }

    /// Takes a sample.
    pub fn sample(&mut self, now: Time, since_last_s: f64, flows: &[Flow]) {
        let subflows = self.subflows(flows);
        let running = self.whole.start <= now;
        let shown = |value: f64| if running { value } else { f64::NAN };
        let bytes = self.whole.received() - self.sampled_bytes;
        let mbps = mbps(bytes, since_last_s).unwrap_or(f64::NAN);
        let values = [
            shown(subflows.iter().map(|flow| flow.window_segments() as f64).sum()),
            shown(subflows.iter().map(|flow| flow.in_flight_segments() as f64).sum()),
            shown(mbps),
        ];
        self.sampled_bytes = self.whole.received();
        for ((_, column), value) in self.table.columns.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// How many columns a recorded connection has.
    #[must_use]
    pub const fn columns() -> usize {
        COLUMNS.len()
    }

    /// Its samples.
    pub fn table(&mut self) -> &mut SeriesTable {
        &mut self.table
    }

    /// Its samples.
    #[must_use]
    pub fn recorded(self) -> SeriesTable {
        self.table
    }

    fn rtts(&self, flows: &[Flow]) -> Histogram {
        Histogram::of(self.subflows(flows).iter().map(Flow::rtts))
    }

    /// How the RTT samples of all its subflows are distributed.
    #[must_use]
    pub fn distribution(&self, flows: &[Flow]) -> Option<Distribution> {
        Distribution::of_times("flow", &self.whole.name, "rtt_ms", &self.rtts(flows))
    }

    /// How their peak ratios are distributed.
    #[must_use]
    pub fn peak_ratios(&self, flows: &[Flow]) -> Option<Distribution> {
        patterns_of(self.subflows(flows))?.distribution("flow", &self.whole.name)
    }

    /// Its intervals.
    #[must_use]
    pub fn intervals(&self, ends: &[Time], now: Time, flows: &[Flow]) -> FlowIntervals {
        let until = self.whole.until(now);
        let whole = self.whole.intervals(ends, until);
        let subflows = self.subflows(flows).iter().map(|flow| flow.intervals(ends, until)).collect();
        FlowIntervals::of_connection(whole.goodput_mbps, whole.whole, subflows)
    }

    /// The measurements, as in the simulator, except that the counts are those of the sender's host.
    #[must_use]
    pub fn outcome(&self, now: Time, flows: &[Flow]) -> FlowOutcome {
        let until = self.whole.until(now);
        let whole = self.whole.outcome(until);
        let rtt = self.rtts(flows);
        let subflows: Vec<_> = self.subflows(flows).iter().map(|flow| flow.outcome(until)).collect();
        let multipath = MultipathOutcome {
            reinjected_packets: self.reinjected - self.reinjected_before,
            ..MultipathOutcome::default()
        };
        FlowOutcome {
            goodput_mbps: whole.goodput_mbps,
            rtt_ms: rtt.mean_ms(),
            rtt_p95_ms: rtt.quantile_ms(0.95),
            timeouts: whole.timeouts,
            fast_recoveries: whole.fast_recoveries,
            tail_loss_probes: whole.tail_loss_probes,
            undos: whole.undos,
            completion_s: whole.completion_s,
            patterns: patterns_of(self.subflows(flows)).map(|patterns| patterns.outcome()),
            ..FlowOutcome::of_subflows(whole.name, subflows, multipath)
        }
    }
}
