//! A run in Linux: what the kernel's C code drives.

use crate::flow::{Facts, Flow};
use crate::group::Group;
use crate::network::{Arrival, Fates, Network, Sent, Way};
use crate::request::Request;
use cwndlab_cc::{Span, Time};
use cwndlab_lab::measures::{OverTime, outcome_json};
use cwndlab_sim::SimSpec;
use cwndlab_sim::measures::interval;
use cwndlab_sim::outcome::{FlowIntervals, Intervals, Outcome, Recording, Work};
use cwndlab_sim::record::{MOST_EVENTS, most_samples, thin};
use serde_json::{Map, Value, json};

/// The counts of a socket are read at least so often.
const LOOK: Span = Span::from_millis(10);
/// The smallest progress that is passed on to the front end, in thousandths.
const NOTICEABLE: u64 = 10;

/// The times at which the run is looked at.
struct Grid {
    every: Span,
    next: Time,
}

impl Grid {
    fn new(every: Span) -> Self {
        Self { every, next: Time::ZERO + every }
    }

    /// Whether it is due; if so, it moves on.
    fn due(&mut self, now: Time) -> bool {
        let due = self.next <= now;
        if due {
            self.next += self.every;
        }
        due
    }
}

/// A run under way.
pub struct Run {
    request: Request,
    spec: SimSpec,
    network: Network,
    /// Those of the scenario, then those that arrive.
    flows: Vec<Flow>,
    groups: Vec<Group>,
    /// How many flows are the scenario's.
    named: usize,
    looks: Grid,
    intervals: Grid,
    ends: Vec<Time>,
    samples: Option<Grid>,
    /// At this number of samples, every other one is dropped.
    most_samples: usize,
    times: Vec<f64>,
    warmup: Option<Time>,
    events: u64,
    /// How much of the run the front end knows to be done, in thousandths.
    told: u64,
}

impl Run {
    /// Of a request.
    #[must_use]
    pub fn new(request: Request) -> Self {
        let mut spec = request.scenario.spec(request.seed, request.record);
        let every = interval(spec.duration, (spec.flows.len() + spec.arrivals.len()) as u64);
        let named = spec.flows.len();
        let arrive = |group| Group::arrive(group, spec.seed, spec.duration, &mut spec.flows);
        let groups = spec.arrivals.iter().map(arrive).collect();
        let network = Network::new(&spec);
        let columns = named * Flow::columns() + network.columns();
        Self {
            most_samples: spec.record.as_ref().map_or(0, |record| most_samples(record, columns)),
            network,
            flows: spec.flows.iter().map(|flow| Flow::new(flow, spec.seed)).collect(),
            groups,
            named,
            looks: Grid::new(LOOK),
            intervals: Grid::new(every),
            ends: Vec::new(),
            samples: spec.record.as_ref().map(|record| Grid { every: record.interval, next: Time::ZERO }),
            times: Vec::new(),
            warmup: (spec.warmup > Span::ZERO).then_some(Time::ZERO + spec.warmup),
            events: 0,
            told: 0,
            spec,
            request,
        }
    }

    /// What it was made from.
    #[must_use]
    pub fn spec(&self) -> &SimSpec {
        &self.spec
    }

    /// The flows.
    #[must_use]
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// A packet leaves its end.
    pub fn send(&mut self, now: Time, sent: &Sent) {
        if sent.way == Way::Data && sent.bytes > 0 {
            self.flows[sent.flow as usize].on_sent(sent.bytes);
        }
        self.network.send(now, sent);
    }

    /// When [`Run::step`] is due.
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.network.next_event()
    }

    /// Does what is due first on the links, if that is by `now`.
    pub fn step(&mut self, now: Time) -> Option<Arrival> {
        self.events += 1;
        self.network.step(now)
    }

    /// What became of packets since the last call.
    pub fn fates(&mut self) -> Option<Fates> {
        self.network.fates()
    }

    /// The application of a flow's receiver has read payload.
    pub fn on_received(&mut self, flow: usize, now: Time, bytes: u64) {
        self.flows[flow].on_received(now, bytes);
    }

    /// What a flow's socket shows.
    pub fn look(&mut self, flow: usize, now: Time, facts: &Facts) {
        self.flows[flow].look(now, facts);
    }

    /// When the sockets are to be looked at again: every one of them, then [`Run::after_looks`]. The last time is the end.
    #[must_use]
    pub fn next_look(&self) -> Time {
        let sample = self.samples.as_ref().map_or(Time::NEVER, |samples| samples.next);
        let warmup = self.warmup.unwrap_or(Time::NEVER);
        let end = Time::ZERO + self.spec.duration;
        self.looks.next.min(self.intervals.next).min(sample).min(warmup).min(end)
    }

    /// All sockets have been looked at. Returns how much of the run is done, in thousandths, if that has changed noticeably.
    pub fn after_looks(&mut self, now: Time) -> Option<u64> {
        self.looks.due(now);
        if self.warmup.take_if(|warmup| *warmup <= now).is_some() {
            self.network.end_warmup(now);
            self.flows.iter_mut().for_each(|flow| flow.end_warmup(now));
            self.groups.iter_mut().for_each(|group| group.end_warmup(now, &self.flows));
        }
        let end = Time::ZERO + self.spec.duration;
        if self.intervals.due(now) || now >= end {
            let from = self.ends.last().copied().unwrap_or_default();
            if now > from {
                self.flows[..self.named].iter_mut().for_each(|flow| flow.close_interval(from, now));
                self.groups.iter_mut().for_each(|group| group.close_interval(from, now, &self.flows));
                self.ends.push(now);
            }
        }
        if self.samples.as_mut().is_some_and(|samples| samples.due(now)) {
            let since_last_s = self.times.last().map_or(0.0, |last| now.as_secs_f64() - last);
            self.times.push(now.as_secs_f64());
            self.network.sample(now, since_last_s);
            self.flows[..self.named].iter_mut().for_each(|flow| flow.sample(now, since_last_s));
            if self.times.len() >= self.most_samples {
                self.thin(now);
            }
        }
        let done = (u128::from(now.0) * 1000 / u128::from(self.spec.duration.0.max(1))) as u64;
        let told = done >= self.told + NOTICEABLE;
        if told {
            self.told = done;
        }
        told.then_some(done)
    }

    /// As the simulator's recorder does.
    fn thin(&mut self, now: Time) {
        let tables = self.flows[..self.named].iter_mut().map(Flow::table).chain(self.network.tables_mut());
        thin(&mut self.times, tables);
        if let Some(samples) = &mut self.samples {
            samples.every = samples.every.times(2);
            samples.next = now + samples.every;
        }
    }

    /// Where it says how much is done.
    #[must_use]
    pub fn progress_file(&self) -> &str {
        &self.request.progress
    }

    /// The result, and the file that it goes to.
    #[must_use]
    pub fn finish(mut self) -> (String, String) {
        let now = Time::ZERO + self.spec.duration;
        let named = &self.flows[..self.named];
        let mut outcome = Outcome {
            flows: named.iter().map(|flow| flow.outcome(now)).collect(),
            groups: self.groups.iter().map(|group| group.outcome(now, &self.flows)).collect(),
            links: self.network.outcomes(now),
            intervals: Intervals {
                interval_s: self.intervals.every.as_secs_f64(),
                end_s: self.ends.iter().map(|end| end.as_secs_f64()).collect(),
                flows: named.iter().map(|flow| flow.intervals(&self.ends, now)).collect(),
                groups: self.groups.iter().map(Group::intervals).collect(),
            },
            distributions: named.iter().filter_map(Flow::distribution).collect(),
            work: Work { data_packets: self.network.served_data(), events: self.events },
            ..Outcome::default()
        };
        outcome.distributions.extend(self.network.distributions());
        outcome.distributions.extend(self.groups.iter().filter_map(|group| group.distribution(&self.flows)));
        let over_time = OverTime::of(&self.request.scenario, &outcome);
        let mut result = Map::new();
        result.insert("outcome".to_owned(), outcome_json(&outcome, &over_time));
        result.insert("detail".to_owned(), detail(&outcome, &over_time));
        if self.samples.is_some() {
            self.flows.truncate(self.named);
            let recording = recording(self.flows, self.network, self.times);
            result.insert("recording".to_owned(), recorded(&recording));
        }
        (self.request.output, Value::Object(result).to_string())
    }
}

fn recording(flows: Vec<Flow>, network: Network, time_s: Vec<f64>) -> Recording {
    let (mut tables, events): (Vec<_>, Vec<_>) = flows.into_iter().map(Flow::recorded).unzip();
    tables.extend(network.tables());
    let mut events: Vec<_> = events.into_iter().flatten().collect();
    events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    let events_missed = events.len().saturating_sub(MOST_EVENTS) as u64;
    events.truncate(MOST_EVENTS);
    Recording { time_s, tables, events, events_missed }
}

/// As `cwndlab_py` gives it to Python; no number is `null`.
fn detail(outcome: &Outcome, over_time: &OverTime) -> Value {
    let flow = |kept: &FlowIntervals| {
        json!({
            "goodput_mbps": kept.goodput_mbps.0,
            "cwnd_segments": kept.cwnd_segments.0,
            "loss_events": kept.loss_events.0,
        })
    };
    let named = outcome.flows.iter().zip(&outcome.intervals.flows);
    let distributions = outcome.distributions.iter();
    let groups = outcome.groups.iter().zip(&outcome.intervals.groups);
    json!({
        "end_s": outcome.intervals.end_s,
        "flows": named.map(|(one, kept)| json!([one.name, flow(kept)])).collect::<Vec<_>>(),
        "subflows": [],
        "groups": groups
            .map(|(group, kept)| json!([group.name, { "goodput_mbps": kept.0 }]))
            .collect::<Vec<_>>(),
        "jain": [over_time.jain_seconds.end_s, over_time.jain_seconds.jain],
        "distributions": distributions
            .map(|each| json!([each.kind, each.name, each.measure, each.middle, each.counts]))
            .collect::<Vec<_>>(),
        "weights": [],
    })
}

fn recorded(recording: &Recording) -> Value {
    let columns = |columns: &[(String, Vec<f64>)]| -> Map<String, Value> {
        columns.iter().map(|(name, values)| (name.clone(), json!(values))).collect()
    };
    let tables = recording.tables.iter();
    let events = recording.events.iter();
    json!({
        "time_s": recording.time_s,
        "tables": tables.map(|table| json!([table.kind, table.name, columns(&table.columns)])).collect::<Vec<_>>(),
        "events": events.map(|event| json!([event.time_s, event.flow, event.kind])).collect::<Vec<_>>(),
        "events_missed": recording.events_missed,
    })
}
