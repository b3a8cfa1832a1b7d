//! The behaviour of a flow, seen from outside: from what its socket shows after every ACK and at fixed times.

use crate::facts::{Counts, Facts};
use crate::patterns;
use cwndlab_cc::{Span, Time};
use cwndlab_sim::measures::{Gain, Histogram, Interval, Ran, Reached, Seen, Totals, mbps, measured_until};
use cwndlab_sim::outcome::{Distribution, FlowIntervals, FlowOutcome, RecordedEvent, SeriesTable};
use cwndlab_sim::series;
use cwndlab_sim::spec::FlowSpec;
use cwndlab_sim::tcp::Counters;
use cwndlab_sim::timeout_patterns::Patterns;
use std::iter::repeat;

/// Values of `icsk_ca_state`.
const OPEN: u64 = 0;
const CWR: u64 = 2;

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

/// A flow or a subflow, and its measurements.
pub struct Flow {
    /// Its name.
    pub name: String,
    kind: &'static str,
    cc: String,
    /// The payload of a full segment in bytes.
    pub mss: u64,
    /// When it starts.
    pub start: Time,
    bytes: Option<u64>,
    stop: Option<Time>,
    /// The last state that its socket showed.
    pub facts: Facts,
    /// How many times its SYN was retransmitted: as timeouts, and as packets sent again.
    syn_timeouts: u64,
    resent_syns: u64,
    ecn_reductions: u64,
    /// Payload delivered in order.
    received: u64,
    /// When all of its payload had arrived.
    completed: Option<Time>,
    seen: Seen,
    latest_rtt: Option<Span>,
    reached: Reached,
    gains: Vec<Gain>,
    sampled_bytes: u64,
    table: SeriesTable,
    events: Vec<RecordedEvent>,
    /// Its timeout patterns, if they are counted.
    patterns: Option<Patterns>,
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
            syn_timeouts: 0,
            resent_syns: 0,
            ecn_reductions: 0,
            received: 0,
            completed: None,
            seen: Seen::default(),
            latest_rtt: None,
            reached: Reached::default(),
            gains: Vec::new(),
            sampled_bytes: 0,
            table: SeriesTable { kind: "flow", name: spec.name.clone(), columns: columns.to_vec() },
            events: Vec::new(),
            patterns: None,
        }
    }

    /// Records these probes of its controller.
    pub fn record_probes(&mut self, names: &[&str]) {
        self.table.columns.extend(names.iter().map(|name| ((*name).to_owned(), Vec::new())));
    }

    /// Counts its timeout patterns.
    pub fn count_patterns(&mut self) {
        self.patterns = Some(Patterns::default());
        self.table.columns.extend(series::PATTERNS.iter().map(|column| (column.name.to_owned(), Vec::new())));
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
        self.seen.on_sent(bytes.into());
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

    /// The time from its start until its last byte arrived.
    #[must_use]
    pub fn completion(&self) -> Option<Span> {
        self.completed.map(|at| at.since(self.start))
    }

    /// Takes the state that the socket shows now.
    pub fn look(&mut self, now: Time, facts: &Facts) {
        let mut facts = *facts;
        // As in the simulator, a retransmitted SYN is neither a timeout nor a data packet.
        if facts.sent == 0 {
            self.syn_timeouts = facts.counts.timeouts;
            self.resent_syns = facts.resent;
        }
        facts.counts.timeouts -= self.syn_timeouts;
        facts.resent -= self.resent_syns;
        let before = std::mem::replace(&mut self.facts, facts);
        self.received = self.received.max(facts.received);
        let sample = rtt_sample(&before, &facts);
        self.latest_rtt = sample.or(self.latest_rtt);
        // As in the simulator, the RTT of the handshake is no sample.
        let sample = sample.filter(|_| facts.sent > 0);
        if let Some(patterns) = &mut self.patterns {
            patterns::count(patterns, &before, &facts, sample);
        }
        if let Some(sample) = sample {
            self.seen.on_rtt(sample);
        }
        if facts.cwnd != before.cwnd {
            self.seen.on_window(now, facts.cwnd);
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

    /// The newest RTT sample, with what the socket shows now.
    #[must_use]
    pub fn latest_rtt(&self, facts: &Facts) -> Option<Span> {
        rtt_sample(&self.facts, facts).or(self.latest_rtt)
    }

    /// The value that Linux keeps in its cache for the next connection to this host, in segments
    /// (`tcp_update_metrics`): in congestion avoidance ssthresh or half of the window, otherwise nothing.
    #[must_use]
    pub fn saved_ssthresh(&self) -> Option<u64> {
        let Facts { cwnd, ca_state, .. } = self.facts;
        let ssthresh = self.facts.known_ssthresh().filter(|ssthresh| ca_state == OPEN && cwnd >= *ssthresh);
        ssthresh.map(|ssthresh| ssthresh.max(cwnd / 2))
    }

    /// The kernel's counts since the start.
    fn counters(&self) -> Counters {
        let Facts { sent, resent, counts, .. } = self.facts;
        let Counts { timeouts, fast_recoveries, probes, undos } = counts;
        let ecn_reductions = self.ecn_reductions;
        Counters { sent, resent, timeouts, fast_recoveries, probes, undos, ecn_reductions }
    }

    /// The counts in the measured time.
    #[must_use]
    pub fn counted(&self) -> Counters {
        self.seen.counted(&self.counters())
    }

    /// The warm-up is over: what was measured so far is forgotten, except the smallest RTT.
    pub fn end_warmup(&mut self, now: Time) {
        self.seen.restart(now, self.received, self.counters());
        self.patterns.iter_mut().for_each(Patterns::restart);
    }

    /// An interval of the run ends.
    pub fn close_interval(&mut self, interval: &Interval) {
        let Counts { fast_recoveries, timeouts, .. } = self.facts.counts;
        let window_nanos = self.seen.window_nanos(interval.until);
        let now = Reached { bytes: self.received, losses: fast_recoveries + timeouts, window_nanos };
        self.gains.push(interval.gain(self.start, &self.reached, &now));
        self.reached = now;
    }

    /// Takes the counts of the host of a connection with subflows, which this flow represents as a whole.
    pub fn count(&mut self, counts: Counts, unacknowledged: u64) {
        self.facts.counts = counts;
        self.facts.unacknowledged = unacknowledged;
    }

    /// How many times its SYN was retransmitted.
    #[must_use]
    pub fn syn_timeouts(&self) -> u64 {
        self.syn_timeouts
    }

    /// Data packets retransmitted, of all that the kernel counts.
    #[must_use]
    pub fn resent_data(&self, facts: &Facts) -> u64 {
        facts.resent - self.resent_syns
    }

    /// Whether no more data follows: all has arrived, or its stop time has come.
    #[must_use]
    pub fn is_written(&self, now: Time) -> bool {
        self.completed.is_some() || self.stop.is_some_and(|stop| stop <= now)
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

    /// Its segments in flight.
    #[must_use]
    pub fn in_flight_segments(&self) -> u64 {
        self.facts.in_flight
    }

    /// Until when the flow is measured.
    #[must_use]
    pub fn until(&self, now: Time) -> Time {
        let stopped = self.stop.filter(|stop| *stop <= now);
        measured_until(self.completed, stopped, || self.facts.unacknowledged == 0, now)
    }

    /// Its intervals, of which only those that ended by `until` count.
    #[must_use]
    pub fn intervals(&self, ends: &[Time], until: Time) -> FlowIntervals {
        Ran { started: self.start, until, ends }.intervals(self.gains.iter().copied())
    }

    /// Takes a sample, with the probes of its controller if there is one yet.
    pub fn sample(&mut self, now: Time, since_last_s: f64, probed: &[f64]) {
        let facts = &self.facts;
        let running = self.start <= now;
        let shown = |value: f64| if running { value } else { f64::NAN };
        let mbps = |bytes: u64, seconds: f64| mbps(bytes, seconds).unwrap_or(f64::NAN);
        let pacing = facts.known_pacing_rate().map_or(f64::NAN, |rate| rate as f64 * 8.0 / 1e6);
        let values = [
            shown(facts.cwnd as f64),
            self.latest_rtt.map_or(f64::NAN, Span::as_millis_f64),
            shown(facts.in_flight as f64),
            shown(mbps(self.received - self.sampled_bytes, since_last_s)),
            facts.known_ssthresh().map_or(f64::NAN, |ssthresh| shown(ssthresh as f64)),
            shown(pacing),
            shown(mbps(facts.rate_delivered * self.mss, facts.rate_interval_us as f64 / 1e6)),
            shown(facts.ca_state as f64),
        ];
        self.sampled_bytes = self.received;
        let ratio = self.patterns.as_ref().map(|patterns| patterns.ratio().unwrap_or(f64::NAN));
        let probed = probed.iter().map(|value| shown(*value)).chain(repeat(f64::NAN));
        let values = values.into_iter().chain(ratio).chain(probed);
        for ((_, column), value) in self.table.columns.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// How many columns a recorded flow has.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.table.columns.len()
    }

    /// Its samples.
    pub fn table(&mut self) -> &mut SeriesTable {
        &mut self.table
    }

    /// The measurements up to `until`.
    #[must_use]
    pub fn outcome(&self, until: Time) -> FlowOutcome {
        let totals = Totals { started: self.start, bytes: self.received, counters: self.counters() };
        FlowOutcome {
            completion_s: self.completion().map(Span::as_secs_f64),
            patterns: self.patterns.as_ref().map(Patterns::outcome),
            ..self.seen.outcome(&self.name, self.cc.clone(), &totals, until)
        }
    }

    /// Its RTT samples.
    #[must_use]
    pub fn rtts(&self) -> &Histogram {
        self.seen.rtts()
    }

    /// Its timeout patterns, if they are counted.
    #[must_use]
    pub fn patterns(&self) -> Option<&Patterns> {
        self.patterns.as_ref()
    }

    /// How its peak ratios are distributed.
    #[must_use]
    pub fn peak_ratios(&self) -> Option<Distribution> {
        self.patterns.as_ref()?.distribution(self.kind, &self.name)
    }

    /// How its RTT samples are distributed.
    #[must_use]
    pub fn distribution(&self) -> Option<Distribution> {
        Distribution::of_times(self.kind, &self.name, "rtt_ms", self.rtts())
    }

    /// Its samples and events.
    #[must_use]
    pub fn recorded(self) -> (SeriesTable, Vec<RecordedEvent>) {
        (self.table, self.events)
    }
}

/// The RTT sample that an ACK brought: that of the newest segment that it delivered, as the simulator takes it. This segment
/// may be older than those that came before.
pub fn rtt_sample(before: &Facts, now: &Facts) -> Option<Span> {
    let newest = |facts: &Facts| (facts.rtt_sent_us, facts.rtt_end_seq);
    if newest(now) != newest(before) {
        return Some(Span::from_micros(now.rtt_us));
    }
    // A retransmission that is answered too early counts as delivered, but has no RTT (tcp_rack_advance).
    let older = now.delivered > before.delivered && now.last_rtt_us != before.last_rtt_us;
    older.then(|| Span::from_micros(now.last_rtt_us))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::a_flow;

    /// A flow whose timeout patterns are counted.
    fn flow() -> Flow {
        let mut flow = Flow::new(&a_flow(""), 1);
        flow.count_patterns();
        flow
    }

    fn after_timeouts(timeouts: u64) -> Counts {
        Counts { timeouts, ..Counts::default() }
    }

    #[test]
    fn the_rtt_of_the_handshake_is_no_sample() {
        let mut flow = flow();
        let handshake = Facts { rtt_us: 40_000, rtt_sent_us: 1, ..Facts::default() };
        flow.look(Time(1), &handshake);
        flow.look(Time(2), &Facts { rtt_us: 41_000, rtt_sent_us: 2, sent: 1, ..handshake });
        let outcome = flow.outcome(Time(3));
        assert_eq!((outcome.patterns.unwrap().rtt_samples, outcome.rtt_min_ms), (1, Some(41.0)));
    }

    #[test]
    fn a_syn_that_is_sent_again_is_no_timeout() {
        let mut flow = flow();
        let syns = Facts { decided: 1, resent: 2, counts: after_timeouts(2), ..Facts::default() };
        flow.look(Time(1), &syns);
        flow.look(Time(2), &Facts { sent: 4, ..syns });
        flow.look(Time(3), &Facts { sent: 5, resent: 3, counts: after_timeouts(3), ..syns });
        let outcome = flow.outcome(Time(4));
        assert_eq!((outcome.timeouts, flow.syn_timeouts(), outcome.retransmitted_packets), (1, 2, 1));
        assert_eq!(flow.events.len(), 1);
    }

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

    #[test]
    fn a_late_segment_brings_a_sample_if_no_newer_one_comes_with_it() {
        let before =
            Facts { rtt_us: 60_000, last_rtt_us: 60_000, rtt_sent_us: 17, delivered: 5, ..Facts::default() };
        let late = Facts { rtt_us: 61_000, last_rtt_us: 72_000, delivered: 6, ..before };
        assert_eq!(rtt_sample(&before, &late), Some(Span::from_micros(72_000)));
        assert_eq!(rtt_sample(&before, &Facts { rtt_sent_us: 18, ..late }), Some(Span::from_micros(61_000)));
        let ambiguous = Facts { last_rtt_us: before.last_rtt_us, ..late };
        assert_eq!(rtt_sample(&before, &ambiguous), None);
    }
}
