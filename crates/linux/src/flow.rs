//! What a flow does, seen from outside: what its socket shows after every ACK and at fixed times.

use crate::facts::{Counts, Facts};
use crate::intervals::Rows;
use cwndlab_cc::{Span, Time};
use cwndlab_sim::measures::Histogram;
use cwndlab_sim::outcome::{Distribution, FlowIntervals, FlowOutcome, RecordedEvent, SeriesTable};
use cwndlab_sim::spec::FlowSpec;

/// Of `icsk_ca_state`.
const OPEN: u64 = 0;
const CWR: u64 = 2;

/// Counts of the measured time.
#[derive(Clone, Copy, Debug, Default)]
struct Base {
    facts: Facts,
    ecn_reductions: u64,
    received: u64,
    sent_bytes: u64,
    window_nanos: u128,
}

/// The columns of a recorded flow.
const COLUMNS: [&str; 8] = [
    "cwnd_segments",
    "rtt_ms",
    "in_flight_segments",
    "goodput_mbps",
    "ssthresh_segments",
    "pacing_rate_mbps",
    "delivery_rate_mbps",
    "ca_state",
];

/// Larger values of `snd_ssthresh` mean that there is none (TCP_INFINITE_SSTHRESH).
const NO_SSTHRESH: u64 = 0x7fff_ffff;

/// A flow or a subflow, and what was measured of it.
pub struct Flow {
    /// Its name.
    pub name: String,
    kind: &'static str,
    cc: String,
    mss: u64,
    /// When it starts.
    pub start: Time,
    bytes: Option<u64>,
    stop: Option<Time>,
    facts: Facts,
    ecn_reductions: u64,
    /// Payload delivered in order.
    received: u64,
    /// When all of it had arrived.
    completed: Option<Time>,
    sent_bytes: u64,
    rtt: Histogram,
    rtt_min: Option<Span>,
    latest_rtt: Option<Span>,
    window_since: Time,
    window_nanos: u128,
    base: Base,
    measured_from: Time,
    rows: Rows,
    sampled_bytes: u64,
    table: SeriesTable,
    events: Vec<RecordedEvent>,
}

impl Flow {
    /// A flow of the run with this seed that has not started.
    #[must_use]
    pub fn new(spec: &FlowSpec, seed: u64) -> Self {
        let columns = COLUMNS.map(|name| (name.to_owned(), Vec::new()));
        Self {
            name: spec.name.clone(),
            kind: "flow",
            cc: spec.kind.cc(),
            mss: spec.kind.tcp.mss,
            start: spec.active.drawn_start(seed, &spec.name),
            bytes: spec.bytes,
            stop: spec.active.stop,
            facts: Facts::default(),
            ecn_reductions: 0,
            received: 0,
            completed: None,
            sent_bytes: 0,
            rtt: Histogram::default(),
            rtt_min: None,
            latest_rtt: None,
            window_since: Time::ZERO,
            window_nanos: 0,
            base: Base::default(),
            measured_from: Time::ZERO,
            rows: Rows::default(),
            sampled_bytes: 0,
            table: SeriesTable { kind: "flow", name: spec.name.clone(), columns: columns.to_vec() },
            events: Vec::new(),
        }
    }

    /// A subflow of this connection. It has no end of its own.
    #[must_use]
    pub fn subflow(spec: &FlowSpec, name: String, seed: u64) -> Self {
        let mut subflow = Self::new(spec, seed);
        subflow.bytes = None;
        subflow.kind = "subflow";
        subflow.table.kind = "subflow";
        subflow.table.name.clone_from(&name);
        subflow.name = name;
        subflow
    }

    /// The sender put a packet of this length on its first link.
    pub fn on_sent(&mut self, bytes: u32) {
        self.sent_bytes += u64::from(bytes);
    }

    /// The receiver's application has read payload.
    pub fn on_received(&mut self, now: Time, bytes: u64) {
        self.received += bytes;
        if self.completed.is_none() && self.bytes.is_some_and(|all| self.received >= all) {
            self.completed = Some(now);
        }
    }

    /// Payload delivered in order, in bytes.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// From its start until its last byte had arrived.
    #[must_use]
    pub fn completion(&self) -> Option<Span> {
        self.completed.map(|at| at.since(self.start))
    }

    /// What the socket shows now.
    pub fn look(&mut self, now: Time, facts: &Facts) {
        let before = std::mem::replace(&mut self.facts, *facts);
        self.received = self.received.max(facts.received);
        if let Some(sample) = rtt_sample(&before, facts) {
            self.rtt.record(sample);
            self.rtt_min = Some(self.rtt_min.map_or(sample, |least| least.min(sample)));
            self.latest_rtt = Some(sample);
        }
        if facts.cwnd != before.cwnd {
            self.window_nanos += Self::nanos(&before, self.window_since, now);
            self.window_since = now;
        }
        let entered_cwr = facts.ca_state == CWR && before.ca_state != CWR;
        self.ecn_reductions += u64::from(entered_cwr);
        let (counts, counted) = (facts.counts, before.counts);
        let kinds = [
            ("fast_recovery", counts.fast_recoveries > counted.fast_recoveries),
            ("timeout", counts.timeouts > counted.timeouts),
            ("undo", counts.undos > counted.undos),
            ("ecn_reduction", entered_cwr),
            ("tail_loss_probe", counts.probes > counted.probes),
        ];
        for (kind, _) in kinds.iter().filter(|(_, happened)| *happened) {
            self.events.push(RecordedEvent { time_s: now.as_secs_f64(), flow: self.name.clone(), kind });
        }
    }

    /// What Linux keeps in its cache for the next connection to this host, in segments (`tcp_update_metrics`): in congestion
    /// avoidance ssthresh or half of the window, otherwise nothing.
    #[must_use]
    pub fn saved_ssthresh(&self) -> Option<u64> {
        let Facts { cwnd, ssthresh, ca_state, .. } = self.facts;
        let avoids_congestion = ca_state == OPEN && cwnd >= ssthresh && ssthresh < NO_SSTHRESH;
        avoids_congestion.then(|| ssthresh.max(cwnd / 2))
    }

    fn nanos(facts: &Facts, since: Time, until: Time) -> u128 {
        u128::from(facts.cwnd) * u128::from(until.since(since).0)
    }

    /// The integral of the window up to now, in segment nanoseconds.
    fn window_nanos(&self, now: Time) -> u128 {
        self.window_nanos + Self::nanos(&self.facts, self.window_since, now)
    }

    /// The warm-up is over: what was measured so far is forgotten, except the smallest RTT.
    pub fn end_warmup(&mut self, now: Time) {
        self.measured_from = now;
        self.rtt = Histogram::default();
        self.base = Base {
            facts: self.facts,
            ecn_reductions: self.ecn_reductions,
            received: self.received,
            sent_bytes: self.sent_bytes,
            window_nanos: self.window_nanos(now),
        };
    }

    /// An interval of the run ends.
    pub fn close_interval(&mut self, from: Time, until: Time) {
        let Counts { fast_recoveries, timeouts, .. } = self.facts.counts;
        let window = self.window_nanos(until);
        self.rows.push(self.start, from, until, self.received, fast_recoveries + timeouts, window);
    }

    /// What the host of a connection with subflows has counted, of which this is the whole.
    pub fn count(&mut self, counts: Counts, unacknowledged: u64) {
        self.facts.counts = counts;
        self.facts.unacknowledged = unacknowledged;
    }

    /// Bytes written by the application and not yet acknowledged.
    #[must_use]
    pub fn unacknowledged(&self) -> u64 {
        self.facts.unacknowledged
    }

    /// Its congestion window.
    #[must_use]
    pub fn window_segments(&self) -> u64 {
        self.facts.cwnd
    }

    /// What it has in flight.
    #[must_use]
    pub fn in_flight_segments(&self) -> u64 {
        self.facts.in_flight
    }

    /// Until when the flow is measured, as in the simulator: its last byte's arrival, its stop if all had arrived, or now.
    #[must_use]
    pub fn until(&self, now: Time) -> Time {
        let stopped = self.stop.filter(|stop| *stop <= now);
        match (self.completed, stopped) {
            (Some(completed), stop) => completed.max(stop.unwrap_or_default()),
            (None, Some(stop)) if self.facts.unacknowledged == 0 => stop,
            (None, _) => now,
        }
    }

    /// Its intervals, of which those count that ended by `until`.
    #[must_use]
    pub fn intervals(&self, ends: &[Time], until: Time) -> FlowIntervals {
        self.rows.intervals(self.start, until, ends)
    }

    /// Takes a sample.
    pub fn sample(&mut self, now: Time, since_last_s: f64) {
        let facts = &self.facts;
        let running = self.start <= now;
        let shown = |value: f64| if running { value } else { f64::NAN };
        let mbps = |bytes: u64, seconds: f64| {
            if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { f64::NAN }
        };
        let pacing =
            if facts.pacing_rate == u64::MAX { f64::NAN } else { facts.pacing_rate as f64 * 8.0 / 1e6 };
        let values = [
            shown(facts.cwnd as f64),
            self.latest_rtt.map_or(f64::NAN, Span::as_millis_f64),
            shown(facts.in_flight as f64),
            shown(mbps(self.received - self.sampled_bytes, since_last_s)),
            if facts.ssthresh >= NO_SSTHRESH { f64::NAN } else { shown(facts.ssthresh as f64) },
            shown(pacing),
            shown(mbps(facts.rate_delivered * self.mss, facts.rate_interval_us as f64 / 1e6)),
            shown(facts.ca_state as f64),
        ];
        self.sampled_bytes = self.received;
        for ((_, column), value) in self.table.columns.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// How many columns a recorded flow has.
    #[must_use]
    pub const fn columns() -> usize {
        COLUMNS.len()
    }

    /// Its samples.
    pub fn table(&mut self) -> &mut SeriesTable {
        &mut self.table
    }

    /// What was measured until then.
    #[must_use]
    pub fn outcome(&self, until: Time) -> FlowOutcome {
        let seconds = until.since(self.measured_from.max(self.start)).as_secs_f64();
        let mbps = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { 0.0 };
        let (facts, base) = (&self.facts, &self.base);
        let (counts, counted) = (facts.counts, base.facts.counts);
        let window = self.window_nanos(until.max(self.window_since)).saturating_sub(base.window_nanos);
        FlowOutcome {
            name: self.name.clone(),
            cc: self.cc.clone(),
            start_s: self.start.as_secs_f64(),
            goodput_mbps: mbps(self.received - base.received),
            throughput_mbps: mbps(self.sent_bytes - base.sent_bytes),
            rtt_ms: self.rtt.mean_ms(),
            rtt_p95_ms: self.rtt.quantile_ms(0.95),
            rtt_min_ms: self.rtt_min.map(Span::as_millis_f64),
            cwnd_mean_segments: if seconds > 0.0 { window as f64 / 1e9 / seconds } else { 0.0 },
            sent_packets: facts.sent - base.facts.sent,
            retransmitted_packets: facts.resent - base.facts.resent,
            timeouts: counts.timeouts - counted.timeouts,
            fast_recoveries: counts.fast_recoveries - counted.fast_recoveries,
            tail_loss_probes: counts.probes - counted.probes,
            undos: counts.undos - counted.undos,
            ecn_reductions: self.ecn_reductions - base.ecn_reductions,
            completion_s: self.completion().map(Span::as_secs_f64),
            ..FlowOutcome::default()
        }
    }

    /// Its RTT samples.
    #[must_use]
    pub fn rtts(&self) -> &Histogram {
        &self.rtt
    }

    /// How they are distributed.
    #[must_use]
    pub fn distribution(&self) -> Option<Distribution> {
        Distribution::of_times(self.kind, &self.name, "rtt_ms", &self.rtt)
    }

    /// Its samples and events.
    #[must_use]
    pub fn recorded(self) -> (SeriesTable, Vec<RecordedEvent>) {
        (self.table, self.events)
    }
}

/// The RTT sample that an ACK brought: that of the newest segment that it delivered, as the simulator takes it.
fn rtt_sample(before: &Facts, now: &Facts) -> Option<Span> {
    let of = |facts: &Facts| (facts.rtt_sent_us, facts.rtt_end_seq);
    (of(now) != of(before)).then(|| Span::from_micros(now.rtt_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_that_delivers_nothing_brings_no_sample() {
        let before = Facts { rtt_us: 60_000, rtt_sent_us: 5, ..Facts::default() };
        let now = Facts { rtt_us: 60_012, rtt_sent_us: 17, cwnd: 11, ..before };
        assert_eq!(rtt_sample(&before, &now), Some(Span::from_micros(60_012)));
        assert_eq!(rtt_sample(&now, &Facts { cwnd: 12, ..now }), None);
        // Segments of a burst have the same time.
        let next = Facts { rtt_us: 60_024, rtt_end_seq: 1449, ..now };
        assert_eq!(rtt_sample(&now, &next), Some(Span::from_micros(60_024)));
    }
}
