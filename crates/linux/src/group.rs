//! Flows that come and go, the same ones as in the simulator, and their measurements as a group.

use crate::flow::Flow;
use crate::patterns::patterns_of;
use cwndlab_cc::{Span, Time};
use cwndlab_sim::arrivals::Process;
use cwndlab_sim::measures::{GroupTotals, Histogram, Interval, Ran};
use cwndlab_sim::outcome::{Distribution, GroupOutcome, Series};
use cwndlab_sim::spec::{ActiveTime, ArrivalProcess, ArrivalSpec, FlowSpec};
use cwndlab_sim::tcp::Counters;
use cwndlab_sim::timeout_patterns::Patterns;

/// The flows of an arrival process.
pub struct Group {
    spec: ArrivalSpec,
    process: Process,
    /// Their indices among all measured flows.
    flows: Vec<usize>,
    /// The start of the measured time.
    since: Time,
    bytes_before: u64,
    bytes_at_interval: u64,
    goodput_mbps: Vec<f64>,
    /// Whether timeout patterns are counted.
    counts_patterns: bool,
    /// On how many pairs of hosts its transfers take turns, if they arrive at random and share hosts.
    shared: Option<usize>,
    /// The arrivals that have no hosts yet, and the end of the run.
    ahead: Process,
    end: Time,
}

impl Group {
    /// A group of the run with this seed and end; `shared`: on how many pairs of hosts transfers that arrive at random take
    /// turns.
    #[must_use]
    pub fn new(
        spec: &ArrivalSpec,
        seed: u64,
        end: Time,
        counts_patterns: bool,
        shared: Option<usize>,
    ) -> Self {
        let at_random = matches!(spec.process, ArrivalProcess::PerSecond(_));
        Self {
            shared: shared.filter(|_| at_random),
            ahead: Process::new(spec, seed),
            end,
            spec: spec.clone(),
            process: Process::new(spec, seed),
            flows: Vec::new(),
            since: Time::ZERO,
            bytes_before: 0,
            bytes_at_interval: 0,
            goodput_mbps: Vec::new(),
            counts_patterns,
        }
    }

    /// Whether each transfer follows the one before in its place.
    #[must_use]
    pub fn repeats(&self) -> bool {
        self.shared.is_some() || matches!(self.spec.process, ArrivalProcess::Parallel { .. })
    }

    /// The flows that its hosts carry: each flow that arrives at random, or the first of those that follow
    /// each other, whose sizes are drawn when they start.
    #[must_use]
    pub fn lanes(&mut self) -> Vec<FlowSpec> {
        let mut lanes = Vec::new();
        while self.ahead.next < self.end && self.shared.is_none_or(|hosts| lanes.len() < hosts) {
            let (start, bytes) = self.ahead.arrive();
            lanes.push(self.transfer(lanes.len(), start, bytes));
        }
        lanes
    }

    fn transfer(&self, number: usize, start: Time, bytes: u64) -> FlowSpec {
        FlowSpec {
            name: format!("{} {number}", self.spec.name),
            kind: self.spec.kind.clone(),
            paths: vec![self.spec.path.clone()],
            multipath: None,
            active: ActiveTime { start, start_jitter: Span::ZERO, stop: self.spec.active.stop },
            bytes: Some(bytes),
        }
    }

    /// Adds a flow of the group, measured at this index.
    pub fn add(&mut self, place: usize) {
        self.flows.push(place);
    }

    /// The transfer that begins now.
    #[must_use]
    pub fn begin(&mut self) -> FlowSpec {
        let (start, bytes) = self.process.arrive();
        self.transfer(self.flows.len(), start, bytes)
    }

    /// A transfer has ended; returns when the next one starts in its place.
    ///
    /// # Errors
    /// A message: it should have started already, but all hosts were busy.
    pub fn follow(&mut self, now: Time) -> Result<Option<Time>, String> {
        if self.shared.is_some() {
            return self.take_turn(now);
        }
        let ArrivalProcess::Parallel { pause, .. } = self.spec.process else { return Ok(None) };
        self.process.follow(now);
        let next = now + pause;
        Ok(self.spec.active.stop.is_none_or(|stop| next < stop).then_some(next))
    }

    /// Whether every transfer that arrives by the end of the run has got hosts.
    ///
    /// # Errors
    /// A message: one has not.
    pub fn check_turns(&self) -> Result<(), String> {
        if self.ahead.next < self.end { Err(self.too_many(self.ahead.next)) } else { Ok(()) }
    }

    fn too_many(&self, start: Time) -> String {
        let hosts = self.shared.unwrap_or_default();
        format!(
            "expected at most {hosts} transfers of `{}` at once, found more at {:.3} s; this run has more \
             connections than the backend has hosts, so they share {hosts} pairs",
            self.spec.name,
            start.as_secs_f64()
        )
    }

    /// Arrivals are in order, so the first one that has no hosts yet gets those that are free.
    fn take_turn(&mut self, now: Time) -> Result<Option<Time>, String> {
        if self.ahead.next >= self.end {
            return Ok(None);
        }
        let (start, _) = self.ahead.arrive();
        if start < now {
            return Err(self.too_many(start));
        }
        Ok(Some(start))
    }

    fn all<'a>(&'a self, flows: &'a [Flow]) -> impl Iterator<Item = &'a Flow> {
        self.flows.iter().map(|place| &flows[*place])
    }

    fn delivered(&self, flows: &[Flow]) -> u64 {
        self.all(flows).map(Flow::received).sum()
    }

    /// The warm-up is over.
    pub fn end_warmup(&mut self, now: Time, flows: &[Flow]) {
        self.since = now;
        self.bytes_before = self.delivered(flows);
    }

    /// An interval of the run ends.
    pub fn close_interval(&mut self, interval: &Interval, flows: &[Flow]) {
        let bytes = self.delivered(flows);
        self.goodput_mbps.push(interval.mbps(bytes - self.bytes_at_interval));
        self.bytes_at_interval = bytes;
    }

    /// Goodput by interval.
    #[must_use]
    pub fn intervals(&self, ends: &[Time]) -> Series {
        let ran = Ran { started: self.spec.active.start, until: Time::NEVER, ends };
        ran.series(self.goodput_mbps.iter().copied())
    }

    /// The completion times of its flows that started in the measured time and delivered everything.
    fn completion(&self, flows: &[Flow]) -> Histogram {
        let mut times = Histogram::default();
        let measured = self.all(flows).filter(|flow| flow.start >= self.since);
        measured.filter_map(Flow::completion).for_each(|time| times.record(time));
        times
    }

    /// The measurements up to now.
    #[must_use]
    pub fn outcome(&self, now: Time, all: &[Flow]) -> GroupOutcome {
        let mut counters = Counters::default();
        self.all(all).for_each(|flow| counters.add(&flow.counted()));
        let totals = GroupTotals {
            arrived: self.all(all).filter(|flow| flow.start >= self.since).count() as u64,
            bytes: self.delivered(all) - self.bytes_before,
            completion: &self.completion(all),
            counters,
        };
        GroupOutcome {
            patterns: self.patterns(all).map(|patterns| patterns.outcome()),
            ..totals.outcome(&self.spec, self.since, now)
        }
    }

    /// How the completion times are distributed.
    #[must_use]
    pub fn distribution(&self, flows: &[Flow]) -> Option<Distribution> {
        Distribution::of_times("group", &self.spec.name, "completion_ms", &self.completion(flows))
    }

    /// How their peak ratios are distributed.
    #[must_use]
    pub fn peak_ratios(&self, flows: &[Flow]) -> Option<Distribution> {
        self.patterns(flows)?.distribution("group", &self.spec.name)
    }

    fn patterns(&self, flows: &[Flow]) -> Option<Patterns> {
        patterns_of(self.all(flows)).or_else(|| self.counts_patterns.then(Patterns::default))
    }
}
