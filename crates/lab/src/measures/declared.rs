//! Every measure, declared once: its name, heading, unit and meaning, how the values of several components
//! combine into one of a whole run, and how its value is read. The JSON of a run, the headings of tables and
//! the tables of docs/results.md are made from these declarations.

use super::{Change, Convergence, number};
use cwndlab_cc::Span;
use cwndlab_sim::outcome::{FlowOutcome, GroupOutcome, LinkOutcome, MultipathOutcome, PatternsOutcome};
use cwndlab_sim::series::{self, Column};
use serde_json::{Map, Value, json};

/// How the values of several components combine into one of a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Their sum.
    Sum,
    /// Their mean, each component counted once.
    Mean,
    /// They are not combined.
    Apart,
}

impl Together {
    fn name(self) -> &'static str {
        match self {
            Together::Sum => "sum",
            Together::Mean => "mean",
            Together::Apart => "apart",
        }
    }
}

/// A measure that is read from components of type `T`.
pub struct Measure<T: 'static> {
    /// Its name, with the unit at its end where it has one.
    pub name: &'static str,
    /// Its heading in tables.
    pub heading: &'static str,
    /// Its unit; empty for a count of events.
    pub unit: &'static str,
    /// Its meaning, as a line of docs/results.md.
    pub meaning: &'static str,
    /// How the values of several components combine.
    pub together: Together,
    value: fn(&T) -> Value,
}

/// `name, heading, unit, together, meaning, value;` for each measure.
macro_rules! measures {
    ($(#[$about:meta])* $table:ident of $view:ty: $($name:literal, $heading:literal, $unit:literal, $together:ident, $meaning:literal, $value:expr;)*) => {
        $(#[$about])*
        pub const $table: &[Measure<$view>] = &[$(Measure {
            name: $name, heading: $heading, unit: $unit, meaning: $meaning, together: Together::$together, value: $value,
        }),*];
    };
}

fn optional(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}

measures! {
    /// The measures of a flow.
    FLOW of FlowOutcome:
    "goodput_mbps", "goodput", "Mbit/s", Sum, "payload delivered in order, each byte counted once", |f| number(f.goodput_mbps);
    "throughput_mbps", "throughput", "Mbit/s", Sum, "bytes sent on its first link, including headers and retransmissions", |f| number(f.throughput_mbps);
    "rtt_ms", "RTT", "ms", Mean, "mean of the RTT samples", |f| optional(f.rtt_ms);
    "rtt_p95_ms", "RTT p95", "ms", Apart, "95th percentile of the RTT samples", |f| optional(f.rtt_p95_ms);
    "rtt_min_ms", "RTT min", "ms", Apart, "smallest RTT sample of the whole run, including the warm-up", |f| optional(f.rtt_min_ms);
    "cwnd_mean_segments", "cwnd", "segments", Sum, "congestion window, averaged over time", |f| number(f.cwnd_mean_segments);
    "sent_packets", "sent", "packets", Sum, "data packets sent, including retransmissions", |f| json!(f.sent_packets);
    "retransmitted_packets", "retrans.", "packets", Sum, "data packets retransmitted", |f| json!(f.retransmitted_packets);
    "timeouts", "timeouts", "", Sum, "retransmission timeouts", |f| json!(f.timeouts);
    "fast_recoveries", "fast rec.", "", Sum, "entries into fast recovery", |f| json!(f.fast_recoveries);
    "tail_loss_probes", "probes", "", Sum, "tail loss probes sent (RFC 8985)", |f| json!(f.tail_loss_probes);
    "undos", "undone", "", Sum, "reductions undone after a spurious loss", |f| json!(f.undos);
    "ecn_reductions", "ECN red.", "", Sum, "reductions because of ECN marks", |f| json!(f.ecn_reductions);
    "start_s", "start", "s", Apart, "start time, including jitter", |f| number(f.start_s);
    "completion_s", "done in", "s", Apart, "time from the start until the last byte arrived; only for flows with `bytes` that delivered them all", |f| optional(f.completion_s);
}

measures! {
    /// The measures of a flow over time.
    OVER_TIME of Convergence:
    "convergence_s", "stable after", "s", Apart, "time from the start until the goodput becomes steady: until the first five seconds in which the mean of each second is within 25 % of the mean of all five (after Dong et al. 2015); no value if that never happens", |c| optional(c.own_s);
}

measures! {
    /// The additional measures of a multipath connection.
    CONNECTION of MultipathOutcome:
    "reassembly_delay_ms", "reassembly", "ms", Mean, "mean time that data wait at the receiver for data on another path", |c| optional(c.reassembly_delay_ms);
    "reassembly_mean_bytes", "waits", "bytes", Sum, "data waiting there, averaged over time", |c| optional(c.reassembly_mean_bytes);
    "reassembly_max_bytes", "waits at most", "bytes", Apart, "largest amount of data that waited there at once", |c| json!(c.reassembly_max_bytes);
    "receive_limited", "held back", "0 to 1", Mean, "share of the time during which the receive window held back a subflow that had room in its congestion window", |c| optional(c.receive_limited);
    "reinjected_packets", "reinjected", "packets", Sum, "data packets sent again on another subflow because their own had failed", |c| json!(c.reinjected_packets);
}

measures! {
    /// The timeout patterns of a flow or a group, if the scenario asks for them.
    PATTERNS of PatternsOutcome:
    "rtt_samples", "RTT samples", "", Sum, "number of RTT samples", |p| json!(p.rtt_samples);
    "rtt_peaks", "RTT peaks", "", Sum, "RTT samples that are peaks", |p| json!(p.rtt_peaks);
    "timeouts_at_peak", "timeouts at peak", "", Sum, "timeouts whose last RTT sample was a peak", |p| json!(p.timeouts_at_peak);
    "fast_recoveries_at_peak", "fast rec. at peak", "", Sum, "entries into fast recovery whose last RTT sample was a peak", |p| json!(p.fast_recoveries_at_peak);
    "regained_segments", "regained", "segments", Mean, "mean growth of the window from a loss without a peak to the next loss; no value without such a loss", |p| optional(p.regained_segments);
    "regained_after_peak_segments", "regained after peak", "segments", Mean, "the same, from a loss with a peak", |p| optional(p.regained_after_peak_segments);
    "regained_after_timeout_segments", "regained after timeout", "segments", Mean, "mean growth of the window from a timeout without a peak to the next loss; no value without such a timeout", |p| optional(p.regained_after_timeout_segments);
    "regained_after_timeout_at_peak_segments", "reg. after timeout at peak", "segments", Mean, "the same, from a timeout with a peak", |p| optional(p.regained_after_timeout_at_peak_segments);
    "regained_after_fast_recovery_segments", "regained after fast rec.", "segments", Mean, "mean growth of the window from a fast recovery without a peak to the next loss; no value without such a fast recovery", |p| optional(p.regained_after_fast_recovery_segments);
    "regained_after_fast_recovery_at_peak_segments", "reg. after fast rec. at peak", "segments", Mean, "the same, from a fast recovery with a peak", |p| optional(p.regained_after_fast_recovery_at_peak_segments);
}

measures! {
    /// The measures of all flows of an arrival process together.
    GROUP of GroupOutcome:
    "arrived", "arrived", "flows", Sum, "flows that started in the measured time", |g| json!(g.arrived);
    "completed", "ended", "flows", Sum, "flows among these that delivered all their bytes", |g| json!(g.completed);
    "completion_ms", "mean", "ms", Mean, "mean completion time of the completed flows", |g| optional(g.completion_ms);
    "completion_p50_ms", "p50", "ms", Mean, "median of these completion times", |g| optional(g.completion_p50_ms);
    "completion_p95_ms", "p95", "ms", Mean, "95th percentile of these completion times", |g| optional(g.completion_p95_ms);
    "completion_p99_ms", "p99", "ms", Mean, "99th percentile of these completion times", |g| optional(g.completion_p99_ms);
    "goodput_mbps", "goodput", "Mbit/s", Sum, "payload delivered in order by all flows of the group, each byte counted once", |g| number(g.goodput_mbps);
    "retransmitted_packets", "retrans.", "packets", Sum, "data packets retransmitted by all flows of the group", |g| json!(g.retransmitted_packets);
    "timeouts", "timeouts", "", Sum, "retransmission timeouts of all flows of the group", |g| json!(g.timeouts);
    "fast_recoveries", "fast rec.", "", Sum, "entries into fast recovery of all flows of the group", |g| json!(g.fast_recoveries);
}

measures! {
    /// The measures of one direction of a link.
    LINK of LinkOutcome:
    "utilisation", "used", "0 to 1", Apart, "bits served, as a share of the bits that could have been served; no value without a rate", |l| optional(l.utilisation);
    "served_packets", "served", "packets", Apart, "packets served, including ACKs", |l| json!(l.served_packets);
    "dropped_packets", "dropped", "packets", Sum, "packets dropped by the queue", |l| json!(l.dropped_packets);
    "lost_packets", "lost", "packets", Sum, "packets lost by the link", |l| json!(l.lost_packets);
    "marked_packets", "marked", "packets", Sum, "packets marked with ECN", |l| json!(l.marked_packets);
    "queue_delay_ms", "queue delay", "ms", Apart, "mean time from a packet's arrival to the start of its service", |l| optional(l.queue_delay_ms);
    "queue_delay_p95_ms", "delay p95", "ms", Apart, "95th percentile of the time from a packet's arrival to the start of its service", |l| optional(l.queue_delay_p95_ms);
    "queue_mean_bytes", "queue", "bytes", Apart, "bytes waiting or in service, averaged over time", |l| number(l.queue_mean_bytes);
}

measures! {
    /// The measure of a link that replays a recording from a random start.
    REPLAY of Span:
    "replay_start_s", "replays from", "s", Apart, "where in its recording the link begins; only with `start = \"random\"`", |start| number(start.as_secs_f64());
}

measures! {
    /// The measures of a change of a link.
    CHANGE of Change:
    "at_s", "at", "s", Apart, "time of the change; the same with every seed", |c| number(c.at.as_secs_f64());
    "recovery_s", "recovered after", "s", Apart, "time from the change until the link's goodput recovers: until the first five seconds in which the mean of each second, over all traffic on the link, is at least 90 % of the level. The level is the mean in the second half of the period from this change to the link's next one, or to the end of the run. No value if that never happens, or if the period is shorter than ten seconds", |c| optional(c.recovery_s);
}

/// The values of one component, by measure name.
pub(super) fn values<T>(measures: &[Measure<T>], component: &T) -> Map<String, Value> {
    measures.iter().map(|measure| (measure.name.to_owned(), (measure.value)(component))).collect()
}

/// All declarations, by the kind of component.
#[must_use]
pub fn catalogue() -> Value {
    let flow = [described(FLOW), described(OVER_TIME)].concat();
    json!({
        "flow": flow,
        "connection": described(CONNECTION),
        "patterns": described(PATTERNS),
        "group": described(GROUP),
        "link": described(LINK),
        "replay": described(REPLAY),
        "change": described(CHANGE),
    })
}

/// The columns of recorded series, by the kind of component.
#[must_use]
pub fn series() -> Value {
    let flow = [columns(series::FLOW), columns(series::PATTERNS)].concat();
    json!({
        "flow": flow,
        "connection": columns(series::CONNECTION),
        "link": columns(series::LINK),
    })
}

fn columns<S>(columns: &[Column<S>]) -> Vec<Value> {
    let one =
        |column: &Column<S>| json!({ "name": column.name, "unit": column.unit, "meaning": column.meaning });
    columns.iter().map(one).collect()
}

fn described<T>(measures: &[Measure<T>]) -> Vec<Value> {
    let one = |measure: &Measure<T>| {
        json!({
            "name": measure.name,
            "heading": measure.heading,
            "unit": measure.unit,
            "meaning": measure.meaning,
            "together": measure.together.name(),
        })
    };
    measures.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_end_with_their_units() {
        let tables = catalogue();
        for (kind, measures) in tables.as_object().unwrap() {
            let mut names = BTreeSet::new();
            for measure in measures.as_array().unwrap() {
                let text = |key: &str| measure[key].as_str().unwrap();
                assert!(names.insert(text("name")), "{kind} has {} twice", text("name"));
                assert!(!text("heading").is_empty() && text("meaning").len() > 10, "{measure}");
                let ending = match text("unit") {
                    "Mbit/s" => "_mbps",
                    "ms" => "_ms",
                    "s" => "_s",
                    "segments" => "_segments",
                    "packets" => "_packets",
                    "bytes" => "_bytes",
                    "" | "0 to 1" | "flows" => "",
                    other => panic!("{kind}: no measure has the unit {other}"),
                };
                assert!(text("name").ends_with(ending), "{measure}");
            }
        }
    }
}
