//! What a run yields: plain values, with units in their names.

use crate::measures::Histogram;
use cwndlab_cc::decisions::Weights;
use std::ops::Range;

/// Everything that was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The flows, in the order of the scenario.
    pub flows: Vec<FlowOutcome>,
    /// The arrival processes, in the order of the scenario.
    pub groups: Vec<GroupOutcome>,
    /// The links in the order of the scenario; access links and return directions follow (names `<flow>.access`,
    /// `<link>.back`).
    pub links: Vec<LinkOutcome>,
    /// What happened in each interval of the run.
    pub intervals: Intervals,
    /// The distributions of the times behind the means and percentiles.
    pub distributions: Vec<Distribution>,
    /// How much work the run took.
    pub work: Work,
    /// The recording, if one was made.
    pub recording: Option<Recording>,
}

/// One flow; measures are taken from the warm-up (or the flow's start) to the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// Its name.
    pub name: String,
    /// Its algorithm.
    pub cc: String,
    /// When it started, with its jitter.
    pub start_s: f64,
    /// Unique payload delivered in order, over the measured time.
    pub goodput_mbps: f64,
    /// Bytes that it put on its first link (with headers), over the measured time.
    pub throughput_mbps: f64,
    /// Mean of the RTT samples; `None` if there was none.
    pub rtt_ms: Option<f64>,
    /// Their 95th percentile (buckets of 1.6 %).
    pub rtt_p95_ms: Option<f64>,
    /// Smallest RTT sample of the whole run.
    pub rtt_min_ms: Option<f64>,
    /// Time-weighted mean of the window in segments.
    pub cwnd_mean_segments: f64,
    /// Data packets sent.
    pub sent_packets: u64,
    /// Data packets sent again.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Tail-loss probes.
    pub tail_loss_probes: u64,
    /// Reductions undone as spurious.
    pub undos: u64,
    /// Window reductions in response to ECN.
    pub ecn_reductions: u64,
    /// From start to the last byte's arrival, for a flow of a given size that ended.
    pub completion_s: Option<f64>,
    /// Peaks of its RTT, and its losses.
    pub patterns: Option<PatternsOutcome>,
    /// The weights of a learning algorithm at the end.
    pub weights: Option<Weights>,
    /// The transport could not serve what the algorithm needs; its numbers are those of a degraded run.
    pub degraded: bool,
    /// Further results of a multipath connection; `None` for a flow with one path.
    pub multipath: Option<MultipathOutcome>,
}

impl FlowOutcome {
    /// A connection of this name: the sums over its subflows, and its further results. Values that are not
    /// sums are left to the caller.
    ///
    /// # Panics
    /// It has no subflow.
    #[must_use]
    pub fn of_subflows(name: String, subflows: Vec<Self>, multipath: MultipathOutcome) -> Self {
        let sum = |count: fn(&Self) -> u64| subflows.iter().map(count).sum();
        let sum_of = |rate: fn(&Self) -> f64| subflows.iter().map(rate).sum();
        Self {
            name,
            cc: subflows[0].cc.clone(),
            start_s: subflows[0].start_s,
            throughput_mbps: sum_of(|flow| flow.throughput_mbps),
            rtt_min_ms: subflows.iter().filter_map(|flow| flow.rtt_min_ms).min_by(f64::total_cmp),
            cwnd_mean_segments: sum_of(|flow| flow.cwnd_mean_segments),
            sent_packets: sum(|flow| flow.sent_packets),
            retransmitted_packets: sum(|flow| flow.retransmitted_packets),
            timeouts: sum(|flow| flow.timeouts),
            fast_recoveries: sum(|flow| flow.fast_recoveries),
            tail_loss_probes: sum(|flow| flow.tail_loss_probes),
            undos: sum(|flow| flow.undos),
            ecn_reductions: sum(|flow| flow.ecn_reductions),
            degraded: subflows.iter().any(|flow| flow.degraded),
            multipath: Some(MultipathOutcome { subflows, ..multipath }),
            ..Self::default()
        }
    }

    /// The subflows of a multipath connection; empty for a flow with one path.
    #[must_use]
    pub fn subflows(&self) -> &[FlowOutcome] {
        self.multipath.as_ref().map_or(&[], |multipath| &multipath.subflows)
    }
}

/// Results that only a multipath connection has. The connection's counts, rates and window are sums over its
/// subflows; its goodput counts the connection's data in order. `None`: the backend does not measure it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultipathOutcome {
    /// Mean time that data wait at the receiver for data on another path (head-of-line blocking).
    pub reassembly_delay_ms: Option<f64>,
    /// Time-weighted mean of the payload that waits there.
    pub reassembly_mean_bytes: Option<f64>,
    /// The most payload that waited there.
    pub reassembly_max_bytes: Option<u64>,
    /// Share of the time, 0 to 1, in which the receive window held back a subflow that had room in its own window.
    pub receive_limited: Option<f64>,
    /// Data packets sent on another subflow because theirs had failed.
    pub reinjected_packets: u64,
    /// Its subflows, in the order of their paths. Their goodput is unique payload that they were the first to deliver.
    pub subflows: Vec<FlowOutcome>,
}

/// The flows of one arrival process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupOutcome {
    /// Its name.
    pub name: String,
    /// Its algorithm.
    pub cc: String,
    /// Flows that arrived in the measured time.
    pub arrived: u64,
    /// Of these, flows that ended.
    pub completed: u64,
    /// Unique payload delivered in order by all of them, over the measured time.
    pub goodput_mbps: f64,
    /// Mean completion time; `None` if none ended.
    pub completion_ms: Option<f64>,
    /// Percentiles of the completion time (buckets of 1.6 %).
    pub completion_p50_ms: Option<f64>,
    /// 95th percentile.
    pub completion_p95_ms: Option<f64>,
    /// 99th percentile.
    pub completion_p99_ms: Option<f64>,
    /// Data packets sent again.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Peaks of their RTTs, and their losses.
    pub patterns: Option<PatternsOutcome>,
}

/// How peaks of the RTT and losses go together (Lim et al. 2004 section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PatternsOutcome {
    /// RTT samples on ACKs of data.
    pub rtt_samples: u64,
    /// Of these, peaks.
    pub rtt_peaks: u64,
    /// Timeouts whose last sample was a peak.
    pub timeouts_at_peak: u64,
    /// Entries into fast recovery whose last sample was a peak.
    pub fast_recoveries_at_peak: u64,
    /// Mean growth of the window from a loss without a peak to the next loss.
    pub regained_segments: Option<f64>,
    /// The same after a loss with a peak.
    pub regained_after_peak_segments: Option<f64>,
    /// The same after timeouts without a peak only.
    pub regained_after_timeout_segments: Option<f64>,
    /// The same after timeouts with a peak only.
    pub regained_after_timeout_at_peak_segments: Option<f64>,
    /// The same after fast recoveries without a peak only.
    pub regained_after_fast_recovery_segments: Option<f64>,
    /// The same after fast recoveries with a peak only.
    pub regained_after_fast_recovery_at_peak_segments: Option<f64>,
}

/// One direction of a link; measures are taken from the warm-up to the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkOutcome {
    /// Its name.
    pub name: String,
    /// Bits served over bits that could have been served; `None` for a link without a rate.
    pub utilisation: Option<f64>,
    /// Packets served.
    pub served_packets: u64,
    /// Packets dropped by the queue.
    pub dropped_packets: u64,
    /// Packets lost by the loss process.
    pub lost_packets: u64,
    /// Packets marked CE.
    pub marked_packets: u64,
    /// Mean time from arrival to the start of service.
    pub queue_delay_ms: Option<f64>,
    /// Its 95th percentile (buckets of 1.6 %).
    pub queue_delay_p95_ms: Option<f64>,
    /// Time-weighted mean of the bytes that wait or are in service.
    pub queue_mean_bytes: f64,
}

/// The whole run, warm-up included, in intervals; it is kept whether the run is recorded or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals {
    /// Length of an interval; the last one may be shorter.
    pub interval_s: f64,
    /// The end of each interval.
    pub end_s: Vec<f64>,
    /// The flows, in the order of the scenario.
    pub flows: Vec<FlowIntervals>,
    /// Goodput of each arrival process in Mbit/s; NaN before its start.
    pub groups: Vec<Series>,
}

/// One flow, interval by interval; NaN where it did not run at all: before its start, and after its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowIntervals {
    /// Unique payload delivered in order, over the interval.
    pub goodput_mbps: Series,
    /// Time-weighted mean of the window in segments, from the flow's start on.
    pub cwnd_segments: Series,
    /// Fast recoveries and timeouts that began in it.
    pub loss_events: Series,
    /// The probes of its algorithm at the end of each interval, by their names; none where there are many flows.
    pub probes: Vec<(&'static str, Series)>,
    /// The intervals in which it ran from beginning to end.
    pub whole: Range<usize>,
    /// The subflows of a multipath connection, whose own window and loss events are sums.
    pub subflows: Vec<FlowIntervals>,
}

impl FlowIntervals {
    /// The intervals of a connection with these subflows and this goodput, which ran from beginning to end in
    /// the intervals `whole`.
    ///
    /// # Panics
    /// It has no subflow.
    #[must_use]
    pub fn of_connection(goodput_mbps: Series, whole: Range<usize>, subflows: Vec<Self>) -> Self {
        Self {
            goodput_mbps,
            cwnd_segments: Series::sum(subflows.iter().map(|flow| &flow.cwnd_segments)),
            loss_events: Series::sum(subflows.iter().map(|flow| &flow.loss_events)),
            probes: Vec::new(),
            whole,
            subflows,
        }
    }
}

/// Values that may be NaN. Two series are equal if they have the same bits.
#[derive(Clone, Debug, Default)]
pub struct Series(pub Vec<f64>);

impl Series {
    /// The sum of the values that are numbers; NaN where none is.
    fn sum<'a>(mut all: impl Iterator<Item = &'a Self>) -> Self {
        let add = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
            (true, _) => b,
            (false, true) => a,
            (false, false) => a + b,
        };
        let mut total = all.next().expect("a connection has a subflow").clone();
        for series in all {
            total.0.iter_mut().zip(&series.0).for_each(|(total, value)| *total = add(*total, *value));
        }
        total
    }
}

impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        let bits = |value: &f64| value.to_bits();
        self.0.iter().map(bits).eq(other.0.iter().map(bits))
    }
}

/// A histogram over the measured time: times in buckets of 1.6 %, peak ratios in buckets of 0.1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// `flow`, `subflow`, `link` or `group`.
    pub kind: &'static str,
    /// The component's name.
    pub name: String,
    /// `rtt_ms`, `queue_delay_ms`, `completion_ms` or `rtt_peak_ratio`.
    pub measure: &'static str,
    /// The middle of each bucket that is not empty, in the unit of the measure.
    pub middle: Vec<f64>,
    /// The number of values in each of these buckets.
    pub counts: Vec<u32>,
}

impl Distribution {
    /// The times of a histogram; `None` if it is empty.
    #[must_use]
    pub fn of_times(
        kind: &'static str,
        name: &str,
        measure: &'static str,
        times: &Histogram,
    ) -> Option<Self> {
        let (middle, counts) = times.buckets();
        (!counts.is_empty()).then(|| Self { kind, name: name.to_owned(), measure, middle, counts })
    }
}

/// How much work a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Data packets served by the first link.
    pub data_packets: u64,
    /// Events handled.
    pub events: u64,
}

/// Samples on a common grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The grid in seconds.
    pub time_s: Vec<f64>,
    /// One table for each flow and each link.
    pub tables: Vec<SeriesTable>,
    /// Events of flows, each with its exact time.
    pub events: Vec<RecordedEvent>,
    /// The number of events beyond the limit, which were not kept.
    pub events_missed: u64,
}

/// Something that happened to a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedEvent {
    /// When it happened.
    pub time_s: f64,
    /// The flow's name.
    pub flow: String,
    /// `fast_recovery`, `timeout`, `undo`, `ecn_reduction` or `tail_loss_probe`.
    pub kind: &'static str,
}

/// The recorded columns of one component, each as long as the grid; NaN where there is no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesTable {
    /// `flow`, `subflow` or `link`.
    pub kind: &'static str,
    /// The component's name.
    pub name: String,
    /// Names with units, and values: the columns of [`series`](crate::series), followed in a flow's table by
    /// the probes of its algorithm.
    pub columns: Vec<(String, Vec<f64>)>,
}
