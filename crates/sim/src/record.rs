//! The recorder: samples of every flow and link on a grid, in bounded memory. Measures never look at it.

use crate::flow::Flow;
use crate::link::Link;
use crate::measures::mbps;
use crate::mptcp::Connection;
use crate::outcome::{self, Recording, SeriesTable};
use crate::series::{self, Column, ConnectionSample, FlowSample, LinkSample};
use crate::spec::RecordSpec;
use crate::tap::{FlowEvent, LinkEvent, Reduction, State};
use crate::timeout_patterns::TimeoutPatterns;
use cwndlab_cc::{Span, Time};

/// The most values kept in total: 32 MB.
const MOST_VALUES: usize = 4_000_000;
/// The most events kept in total.
pub const MOST_EVENTS: usize = 100_000;

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
    /// Bytes served up to the last sample.
    sampled_bytes: u64,
    dropped_packets: u64,
    lost_packets: u64,
}

impl Recorder {
    /// A recorder of these components.
    #[must_use]
    pub fn new(spec: &RecordSpec, patterns: bool, state: &State<'_>) -> Self {
        let State { flows, connections, links, .. } = state;
        let patterns = if patterns { series::PATTERNS } else { &[] };
        let flow_table = |flow: &Flow| {
            let probes = flow.sender.controller().probes().iter().copied();
            table(flow.kind(), &flow.name, names(series::FLOW).chain(names(patterns)).chain(probes))
        };
        let link_table = |link: &Link| table("link", link.name(), names(series::LINK));
        let connection_table =
            |connection: &Connection| table("flow", &connection.name, names(series::CONNECTION));
        let first_subflows = connections.iter().map(|connection| connection.flows.start).collect();
        let flows: Vec<_> = flows.iter().map(flow_table).collect();
        let connections: Vec<_> = connections.iter().map(connection_table).collect();
        let links: Vec<_> = links.iter().map(link_table).collect();
        let all = flows.iter().chain(&connections).chain(&links);
        let columns: usize = all.map(|table| table.columns.len()).sum();
        Self {
            interval: spec.interval,
            next: Time::ZERO,
            most: most_samples(spec, columns),
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

    /// Keeps the events that a chart marks. Flows that an arrival process makes are not recorded one by one.
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
        let mbps = |bytes: u64| mbps(bytes, seconds).unwrap_or(f64::NAN);
        self.times.push(at.as_secs_f64());
        let tables = self.flows.iter_mut().zip(flows.iter()).zip(&mut self.flow_bytes);
        for (index, ((table, flow), bytes)) in tables.enumerate() {
            let delivered = flow.delivered_bytes();
            let ratio = patterns.and_then(|patterns| patterns.ratio(index));
            let sample = FlowSample::new(flow, at, mbps(delivered - *bytes), ratio);
            *bytes = delivered;
            let mut own = push(table, 0, series::FLOW, &sample);
            if patterns.is_some() {
                own = push(table, own, series::PATTERNS, &sample);
            }
            self.probes.clear();
            self.probes.resize(table.columns.len() - own, f64::NAN);
            flow.sender.controller().probe(&mut self.probes);
            for ((_, values), probe) in table.columns[own..].iter_mut().zip(&self.probes) {
                values.push(if sample.running { *probe } else { f64::NAN });
            }
        }
        let tables = self.connections.iter_mut().zip(connections.iter());
        for ((table, connection), bytes) in tables.zip(&mut self.connection_bytes) {
            let delivered = connection.delivered_bytes();
            let subflows = &flows[connection.flows.clone()];
            let sample = ConnectionSample::new(connection, subflows, at, mbps(delivered - *bytes));
            *bytes = delivered;
            push(table, 0, series::CONNECTION, &sample);
        }
        for ((table, link), totals) in self.links.iter_mut().zip(links.iter()).zip(&mut self.link_totals) {
            let sample = LinkSample {
                backlog: link.backlog(),
                throughput_mbps: mbps(totals.served_bytes - totals.sampled_bytes),
                dropped: totals.dropped_packets,
                lost: totals.lost_packets,
            };
            totals.sampled_bytes = totals.served_bytes;
            push(table, 0, series::LINK, &sample);
        }
        self.last = at;
        self.next = at + self.interval;
        if self.times.len() >= self.most {
            self.thin();
        }
    }

    fn thin(&mut self) {
        let Self { times, flows, connections, links, .. } = self;
        thin(times, flows.iter_mut().chain(connections).chain(links));
        self.interval = self.interval.times(2);
        self.next = self.last + self.interval;
    }

    /// The recording.
    #[must_use]
    pub fn finish(self) -> Recording {
        let mut tables = self.flows;
        // A connection's table goes before its subflows' tables. Inserting the last one first keeps the other
        // indices valid.
        for (first, connection) in self.first_subflows.into_iter().zip(self.connections).rev() {
            tables.insert(first, connection);
        }
        tables.extend(self.links);
        Recording { time_s: self.times, tables, events: self.events, events_missed: self.events_missed }
    }
}

fn names<S>(columns: &'static [Column<S>]) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|column| column.name)
}

fn table<'a>(kind: &'static str, name: &str, columns: impl Iterator<Item = &'a str>) -> SeriesTable {
    let columns = columns.map(|column| (column.to_owned(), Vec::new())).collect();
    SeriesTable { kind, name: name.to_owned(), columns }
}

/// Adds a sample to these columns of a table, the first of which is `from`; returns the index of the column
/// after them.
fn push<S>(table: &mut SeriesTable, from: usize, columns: &[Column<S>], sample: &S) -> usize {
    for (column, (_, values)) in columns.iter().zip(&mut table.columns[from..]) {
        values.push((column.value)(sample));
    }
    from + columns.len()
}

/// The number of samples at which they are thinned: odd, so that thinning keeps the last one.
#[must_use]
pub fn most_samples(spec: &RecordSpec, columns: usize) -> usize {
    spec.max_samples.min(MOST_VALUES / (columns + 1)).max(2) | 1
}

/// Drops every other sample.
pub fn thin<'a>(times: &mut Vec<f64>, tables: impl IntoIterator<Item = &'a mut SeriesTable>) {
    keep_even(times);
    for (name, values) in tables.into_iter().flat_map(|table| &mut table.columns) {
        // A rate is a mean over the time since the last sample, so the mean of two samples is kept.
        if name.ends_with("_mbps") {
            average_pairs(values);
        }
        keep_even(values);
    }
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
