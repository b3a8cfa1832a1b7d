//! The recorder: samples of every flow and link on a grid, in bounded memory. Measures never look at it.

use crate::flow::Flow;
use crate::link::Link;
use crate::mptcp::Connection;
use crate::outcome::{self, Recording, SeriesTable};
use crate::spec::RecordSpec;
use crate::tap::{FlowEvent, LinkEvent, Reduction, State};
use crate::timeout_patterns::TimeoutPatterns;
use cwndlab_cc::{Span, Time};

/// Values kept in all: 32 MB.
const MOST_VALUES: usize = 4_000_000;
/// Events kept in all.
const MOST_EVENTS: usize = 100_000;
const FLOW_COLUMNS: [&str; 4] = ["cwnd_segments", "rtt_ms", "in_flight_segments", "goodput_mbps"];
/// Stands behind them where timeout patterns are counted.
const PEAK_RATIO: &str = "rtt_peak_ratio";
const CONNECTION_COLUMNS: [&str; 4] =
    ["cwnd_segments", "in_flight_segments", "goodput_mbps", "reassembly_segments"];
const LINK_COLUMNS: [&str; 5] =
    ["queue_packets", "queue_bytes", "throughput_mbps", "dropped_packets", "lost_packets"];

/// Keeps samples and events; flows that an arrival process makes are not recorded one by one. When there
/// are too many samples it drops every other one and doubles its interval.
pub struct Recorder {
    interval: Span,
    next: Time,
    most: usize,
    times: Vec<f64>,
    flows: Vec<SeriesTable>,
    connections: Vec<SeriesTable>,
    /// Where the subflows of each connection begin among the flows.
    first_subflows: Vec<usize>,
    links: Vec<SeriesTable>,
    /// Bytes delivered by each flow and connection at the last sample.
    flow_bytes: Vec<u64>,
    connection_bytes: Vec<u64>,
    link_totals: Vec<LinkTotals>,
    last: Time,
    probes: Vec<f64>,
    events: Vec<outcome::RecordedEvent>,
    events_missed: u64,
}

/// What happened on a link since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
struct LinkTotals {
    served_bytes: u64,
    /// The same at the last sample.
    sampled_bytes: u64,
    dropped_packets: u64,
    lost_packets: u64,
}

impl Recorder {
    /// A recorder of these components.
    #[must_use]
    pub fn new(spec: &RecordSpec, patterns: bool, state: &State<'_>) -> Self {
        let State { flows, connections, links, .. } = state;
        let ratio = patterns.then_some(&PEAK_RATIO);
        let flow_table = |flow: &Flow| {
            let own = FLOW_COLUMNS.iter().chain(ratio).chain(flow.sender.controller().probes());
            table(flow.kind(), &flow.name, own.map(|name| (*name).to_owned()))
        };
        let link_table =
            |link: &Link| table("link", link.name(), LINK_COLUMNS.iter().map(|n| (*n).to_owned()));
        let connection_table = |connection: &Connection| {
            table("flow", &connection.name, CONNECTION_COLUMNS.iter().map(|n| (*n).to_owned()))
        };
        let first_subflows = connections.iter().map(|connection| connection.flows.start).collect();
        let flows: Vec<_> = flows.iter().map(flow_table).collect();
        let connections: Vec<_> = connections.iter().map(connection_table).collect();
        let links: Vec<_> = links.iter().map(link_table).collect();
        let all = flows.iter().chain(&connections).chain(&links);
        let columns: usize = all.map(|table| table.columns.len()).sum();
        Self {
            interval: spec.interval,
            next: Time::ZERO,
            // An odd number, so that the last sample is one of those that thinning keeps.
            most: spec.max_samples.min(MOST_VALUES / (columns + 1)).max(2) | 1,
            times: Vec::new(),
            flow_bytes: vec![0; flows.len()],
            events: Vec::new(),
            events_missed: 0,
            connection_bytes: vec![0; connections.len()],
            link_totals: vec![LinkTotals::default(); links.len()],
            flows,
            connections,
            first_subflows,
            links,
            last: Time::ZERO,
            probes: Vec::new(),
        }
    }

    /// When the next sample is due.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Keeps what a chart marks. Flows that an arrival process makes are not recorded one by one.
    pub fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        let kind = match event {
            FlowEvent::Reduced { by: Reduction::FastRecovery, .. } => "fast_recovery",
            FlowEvent::Reduced { by: Reduction::Timeout, .. } => "timeout",
            FlowEvent::Reduced { by: Reduction::EcnMark, .. } => "ecn_reduction",
            FlowEvent::Undone => "undo",
            FlowEvent::TailLossProbe => "tail_loss_probe",
            _ => return,
        };
        let Some(table) = self.flows.get(flow as usize) else { return };
        if self.events.len() == MOST_EVENTS {
            self.events_missed += 1;
        } else {
            let flow = table.name.clone();
            self.events.push(outcome::RecordedEvent { time_s: now.as_secs_f64(), flow, kind });
        }
    }

    /// Counts what happens on links.
    #[inline]
    pub fn on_link(&mut self, link: u32, event: LinkEvent<'_>) {
        let totals = &mut self.link_totals[link as usize];
        match event {
            LinkEvent::Served { bytes, .. } => totals.served_bytes += u64::from(bytes),
            LinkEvent::Dropped { .. } => totals.dropped_packets += 1,
            LinkEvent::Lost { .. } => totals.lost_packets += 1,
            _ => {}
        }
    }

    /// Takes the sample that is due.
    pub fn sample(&mut self, state: &State<'_>, patterns: Option<&TimeoutPatterns>) {
        let State { flows, connections, links, .. } = state;
        let at = self.next;
        let seconds = at.since(self.last).as_secs_f64();
        let mbps = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { f64::NAN };
        self.times.push(at.as_secs_f64());
        let tables = self.flows.iter_mut().zip(flows.iter()).zip(&mut self.flow_bytes);
        for (index, ((table, flow), bytes)) in tables.enumerate() {
            let delivered = flow.delivered_bytes();
            let control = flow.sender.control();
            let rtt = flow.sender.rtt();
            let running = flow.started() <= at;
            let shown = |value: f64| if running { value } else { f64::NAN };
            push(table, 0, shown(control.cwnd as f64 / flow.mss() as f64));
            push(table, 1, if rtt.latest == Span::ZERO { f64::NAN } else { rtt.latest.as_millis_f64() });
            push(table, 2, shown(f64::from(flow.sender.in_flight())));
            push(table, 3, shown(mbps(delivered - *bytes)));
            let mut own = FLOW_COLUMNS.len();
            if let Some(patterns) = patterns {
                push(table, own, patterns.ratio(index).unwrap_or(f64::NAN));
                own += 1;
            }
            *bytes = delivered;
            let probes = table.columns.len() - own;
            self.probes.clear();
            self.probes.resize(probes, f64::NAN);
            flow.sender.controller().probe(&mut self.probes);
            for (column, value) in self.probes.iter().enumerate() {
                push(table, own + column, shown(*value));
            }
        }
        let tables = self.connections.iter_mut().zip(connections.iter());
        for ((table, connection), bytes) in tables.zip(&mut self.connection_bytes) {
            let subflows = &flows[connection.flows.clone()];
            let delivered = connection.delivered_bytes();
            let running = subflows[0].started() <= at;
            let shown = |value: f64| if running { value } else { f64::NAN };
            let window = |flow: &Flow| flow.sender.control().cwnd as f64 / flow.mss() as f64;
            let joined = subflows.iter().filter(|flow| flow.started() <= at);
            push(table, 0, shown(joined.map(window).sum()));
            push(table, 1, shown(subflows.iter().map(|flow| f64::from(flow.sender.in_flight())).sum()));
            push(table, 2, shown(mbps(delivered - *bytes)));
            push(table, 3, shown(f64::from(connection.reassembly.waiting())));
            *bytes = delivered;
        }
        for ((table, link), totals) in self.links.iter_mut().zip(links.iter()).zip(&mut self.link_totals) {
            let backlog = link.backlog();
            push(table, 0, backlog.packets as f64);
            push(table, 1, backlog.bytes as f64);
            push(table, 2, mbps(totals.served_bytes - totals.sampled_bytes));
            push(table, 3, totals.dropped_packets as f64);
            push(table, 4, totals.lost_packets as f64);
            totals.sampled_bytes = totals.served_bytes;
        }
        self.last = at;
        self.next = at + self.interval;
        if self.times.len() >= self.most {
            self.thin();
        }
    }

    fn thin(&mut self) {
        keep_even(&mut self.times);
        for table in self.flows.iter_mut().chain(&mut self.connections).chain(&mut self.links) {
            for (name, values) in &mut table.columns {
                // A rate is a mean over the time since the last sample: of two, the mean is kept.
                if name.ends_with("_mbps") {
                    average_pairs(values);
                }
                keep_even(values);
            }
        }
        self.interval = self.interval.times(2);
        self.next = self.last + self.interval;
    }

    /// What was kept.
    #[must_use]
    pub fn finish(self) -> Recording {
        let mut tables = self.flows;
        // A connection stands before its subflows; from the last one on, so that no place moves.
        for (first, connection) in self.first_subflows.into_iter().zip(self.connections).rev() {
            tables.insert(first, connection);
        }
        tables.extend(self.links);
        Recording { time_s: self.times, tables, events: self.events, events_missed: self.events_missed }
    }
}

fn table(kind: &'static str, name: &str, columns: impl Iterator<Item = String>) -> SeriesTable {
    let columns = columns.map(|column| (column, Vec::new())).collect();
    SeriesTable { kind, name: name.to_owned(), columns }
}

fn push(table: &mut SeriesTable, column: usize, value: f64) {
    table.columns[column].1.push(value);
}

/// Gives each even sample the mean of itself and the one before it, whose time it will cover as well.
fn average_pairs(values: &mut [f64]) {
    for at in (2..values.len()).step_by(2) {
        values[at] = (values[at - 1] + values[at]) / 2.0;
    }
}

fn keep_even(values: &mut Vec<f64>) {
    let mut index = 0;
    values.retain(|_| {
        index += 1;
        index % 2 == 1
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_levels_and_averages_rates() {
        let mut rates = vec![f64::NAN, 1.0, 3.0, 5.0, 7.0];
        average_pairs(&mut rates);
        keep_even(&mut rates);
        assert_eq!(rates[1..], [2.0, 6.0]);
        let mut levels = vec![0.0, 1.0, 2.0, 3.0, 4.0];
        keep_even(&mut levels);
        assert_eq!(levels, [0.0, 2.0, 4.0]);
    }
}
