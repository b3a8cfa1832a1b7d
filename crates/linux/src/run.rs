//! A run in Linux, driven by the kernel's C code.

mod agents;

use crate::connection::Connection;
use crate::controller::Controller;
use crate::facts::{Counts, Facts};
use crate::flow::Flow;
use crate::group::Group;
use crate::line::Socket;
use crate::network::{Arrival, Fates, Network, Sent, Way};
use crate::probed::{Probed, names_of};
use crate::qlog::Qlog;
use crate::request::Request;
use crate::result::{detail, recorded};
use agents::Agents;
use cwndlab_cc::{CongestionControl, Ecn, Span, SubflowView, Time};
use cwndlab_lab::export::{Ends, folder_of};
use cwndlab_lab::linux::remote::{Owner, Remote};
use cwndlab_lab::measures::{OverTime, outcome_json};
use cwndlab_lab::run::begin_with;
use cwndlab_sim::measures::{Interval, interval};
use cwndlab_sim::outcome::{Distribution, FlowIntervals, FlowOutcome, Intervals, Outcome, Recording, Work};
use cwndlab_sim::record::{MOST_EVENTS, most_samples, thin};
use cwndlab_sim::spec::{FlowKind, FlowSpec};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// The longest time between two readings of a socket's counts.
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

/// A pair of hosts: those of a flow of the scenario, of a flow that arrives, or of transfers that follow each
/// other.
pub struct Lane {
    /// The flow that it carries, or the first of its transfers.
    pub spec: FlowSpec,
    /// The first of its parts: one for each path.
    pub first_part: usize,
    /// Whether another transfer follows one that has ended.
    pub repeats: bool,
    /// Its connection, if that has subflows.
    connection: Option<usize>,
    group: Option<usize>,
}

impl Lane {
    fn parts(&self) -> Range<usize> {
        self.first_part..self.first_part + self.spec.paths.len()
    }

    /// Whether its data is to be ECN-capable, and its controllers are to know how many packets were marked.
    #[must_use]
    pub fn counts_marks(&self) -> bool {
        self.needed_ecn() != Ecn::AsConfigured
    }

    /// The ECN codepoint that its controllers need.
    fn needed_ecn(&self) -> Ecn {
        let FlowKind { algorithm, settings, .. } = &self.spec.kind;
        algorithm.declaration(settings).needs.ecn
    }
}

/// A run in progress.
pub struct Run {
    request: Request,
    seed: u64,
    end: Time,
    network: Network,
    /// The lanes of the scenario's flows, then those of flows that arrive.
    lanes: Vec<Lane>,
    /// The number of lanes of the scenario's flows.
    named: usize,
    /// Whether timeout patterns are counted.
    counts_patterns: bool,
    /// The measured flows: the parts of the scenario's flows, then flows that arrive.
    flows: Vec<Flow>,
    /// How many of these are the scenario's parts.
    named_parts: usize,
    /// The index of the flow that is on each part now.
    on_part: Vec<Option<usize>>,
    connections: Vec<Connection>,
    groups: Vec<Group>,
    /// The controller of each part, if it is one of ours.
    controllers: Vec<Option<Controller>>,
    probed: Probed,
    looks: Grid,
    intervals: Grid,
    ends: Vec<Time>,
    samples: Option<Grid>,
    /// At this number of samples, every other one is dropped.
    most_samples: usize,
    times: Vec<f64>,
    warmup: Option<Time>,
    events: u64,
    /// The progress last reported to the front end, in thousandths.
    told: u64,
    /// The connection to the controllers and agents in the front end.
    line: Socket,
    /// The number of controllers made in the front end.
    remotes: u64,
    agents: Agents,
    qlog: Option<Qlog>,
}

impl Run {
    /// A run of a request, with the connection to the front end.
    #[must_use]
    pub fn new(request: Request, line: Socket) -> Self {
        let mut spec = request.scenario.spec(request.seed, request.record);
        begin_with(&mut spec, &request.saved);
        let (end, shared) = (Time::ZERO + spec.duration, request.scenario.shared_hosts());
        let group = |group| Group::new(group, spec.seed, end, spec.timeout_patterns, shared);
        let mut groups: Vec<_> = spec.arrivals.iter().map(group).collect();
        let mut carried: Vec<_> = spec.flows.iter().map(|flow| (flow.clone(), None)).collect();
        for (place, group) in groups.iter_mut().enumerate() {
            carried.extend(group.lanes().into_iter().map(|flow| (flow, Some(place))));
        }
        let network = Network::new(&spec, &carried);
        let every = interval(spec.duration, (spec.flows.len() + groups.len()) as u64);
        let record = spec.record.as_ref();
        let mut run = Self {
            seed: spec.seed,
            end,
            network,
            lanes: Vec::new(),
            named: spec.flows.len(),
            counts_patterns: spec.timeout_patterns,
            flows: Vec::new(),
            named_parts: spec.flows.iter().map(|flow| flow.paths.len()).sum(),
            on_part: Vec::new(),
            connections: Vec::new(),
            groups,
            controllers: Vec::new(),
            probed: Probed::new(&spec.flows),
            looks: Grid::new(LOOK),
            intervals: Grid::new(every),
            ends: Vec::new(),
            samples: record.map(|record| Grid { every: record.interval, next: Time::ZERO }),
            most_samples: 0,
            times: Vec::new(),
            warmup: (spec.warmup > Span::ZERO).then_some(Time::ZERO + spec.warmup),
            events: 0,
            told: 0,
            line,
            remotes: 0,
            agents: Agents::default(),
            qlog: None,
            request,
        };
        carried.into_iter().for_each(|(flow, group)| run.add_lane(flow, group));
        run.controllers = run.on_part.iter().map(|_| None).collect();
        for (part, flow) in run.flows[..run.named_parts].iter_mut().enumerate() {
            flow.record_probes(run.probed.names(part));
        }
        let named = run.flows[..run.named_parts].iter().enumerate();
        let steered = named.filter(|(_, flow)| run.request.agents.contains(&flow.name));
        run.agents = Agents::of(steered.map(|(part, _)| part).collect());
        let columns = run.flows[..run.named_parts].iter().map(Flow::columns).sum::<usize>()
            + run.connections.len() * Connection::columns()
            + run.network.columns();
        run.most_samples = record.map_or(0, |record| most_samples(record, columns));
        run
    }

    fn add_lane(&mut self, spec: FlowSpec, group: Option<usize>) {
        let first_part = self.on_part.len();
        let repeats = group.is_some_and(|group| self.groups[group].repeats());
        let mut lane = Lane { spec, first_part, repeats, connection: None, group };
        if repeats {
            // The transfer that it carries is drawn when the transfer begins.
            self.on_part.push(None);
        } else if lane.spec.multipath.is_some() {
            for (name, _) in lane.spec.parts() {
                self.add_flow(Flow::subflow(&lane.spec, name, self.seed));
            }
            self.on_part.extend(lane.parts().map(Some));
            lane.connection = Some(self.connections.len());
            self.connections.push(Connection::new(&lane.spec, lane.parts(), self.seed));
        } else {
            let flow = self.measure(&lane.spec, group);
            self.on_part.push(Some(flow));
        }
        self.lanes.push(lane);
    }

    /// Adds a flow with one path to those that are measured.
    fn measure(&mut self, spec: &FlowSpec, group: Option<usize>) -> usize {
        let place = self.add_flow(Flow::new(spec, self.seed));
        if let Some(group) = group {
            self.groups[group].add(place);
        }
        place
    }

    fn add_flow(&mut self, mut flow: Flow) -> usize {
        if self.counts_patterns {
            flow.count_patterns();
        }
        self.flows.push(flow);
        self.flows.len() - 1
    }

    /// When the run ends.
    #[must_use]
    pub fn end(&self) -> Time {
        self.end
    }

    /// The pairs of hosts.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The number of parts.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.on_part.len()
    }

    /// When the first transfer of a lane starts.
    #[must_use]
    pub fn start(&self, lane: usize) -> Time {
        let spec = &self.lanes[lane].spec;
        spec.active.drawn_start(self.seed, &spec.name)
    }

    /// Where the first slow start of a part ends, in segments.
    #[must_use]
    pub fn initial_ssthresh(&self, part: usize) -> u64 {
        let lane = self.lane_of(part);
        lane.spec.kind.tcp_on(&lane.spec.paths[part - lane.first_part]).initial_ssthresh
    }

    /// Whether the sender of a part is held back until its packets have left its host.
    #[must_use]
    pub fn holds_back(&self, part: u32) -> bool {
        self.network.holds_back(part)
    }

    /// A transfer begins; returns how many bytes it has, if it has an end.
    pub fn begin(&mut self, lane: usize) -> Option<u64> {
        let Lane { spec, first_part, repeats, group, .. } = &self.lanes[lane];
        let Some(group) = group.filter(|_| *repeats) else { return spec.bytes };
        let part = *first_part;
        let transfer = self.groups[group].begin();
        self.on_part[part] = Some(self.measure(&transfer, Some(group)));
        transfer.bytes
    }

    /// A transfer has ended and is fully acknowledged; returns when the next one starts.
    ///
    /// # Errors
    /// As [`Group::follow`].
    pub fn follow(&mut self, now: Time, lane: usize) -> Result<Option<Time>, String> {
        self.lanes[lane].group.map_or(Ok(None), |group| self.groups[group].follow(now))
    }

    /// Whether the data of a part are sent with ECT(1).
    #[must_use]
    pub fn sends_ect1(&self, part: usize) -> bool {
        self.lane_of(part).needed_ecn() == Ecn::Ect1
    }

    fn lane_of(&self, part: usize) -> &Lane {
        let behind = self.lanes.partition_point(|lane| lane.first_part <= part);
        &self.lanes[behind - 1]
    }

    /// A connection or subflow has been established: makes its controller and returns it.
    pub fn control(&mut self, part: usize) -> &Controller {
        let flow = self.on_part[part].expect("the transfer has begun");
        let name = self.flows[flow].name.clone();
        let cc = self.algorithm(part, &name);
        let controller = Controller::new(cc, &self.lane_of(part).spec, &name, self.seed);
        self.controllers[part].insert(controller)
    }

    /// The algorithm of a part, made here or in the front end.
    fn algorithm(&mut self, part: usize, name: &str) -> Box<dyn CongestionControl> {
        let place = self.lanes.partition_point(|lane| lane.first_part <= part) - 1;
        let Lane { spec, group, .. } = &self.lanes[place];
        let kind = &spec.kind;
        let setup = kind.tcp_on(&spec.paths[part - self.lanes[place].first_part]).setup();
        if !self.request.remote.contains(&kind.algorithm.name) {
            return (kind.algorithm.build)(&setup, &kind.settings);
        }
        let owner = group.map_or(Owner::Flow(place as u64), |group| Owner::Arrivals(group as u64));
        self.remotes += 1;
        Box::new(Remote::new(self.line.clone(), self.remotes - 1, owner, name, setup, names_of(spec)))
    }

    /// The controller of a part.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn controller(&self, part: usize) -> &Controller {
        self.controllers[part].as_ref().expect("the part is one of ours")
    }

    /// Calls the controller of a part with the subflows that it sees, and its index among them.
    ///
    /// # Panics
    /// If it has none.
    pub fn with_controller<T>(
        &mut self,
        part: usize,
        f: impl FnOnce(&mut Controller, &mut [SubflowView], usize) -> T,
    ) -> T {
        let lane = self.lane_of(part);
        let (first, parts) = (lane.first_part, lane.parts());
        let coupled = lane.spec.multipath.is_some() && !lane.spec.kind.uncoupled;
        let view = |controller: &Option<Controller>| {
            controller.as_ref().map_or_else(SubflowView::default, Controller::view)
        };
        let mut siblings: Vec<_> =
            if coupled { self.controllers[parts].iter().map(view).collect() } else { Vec::new() };
        let controller = self.controllers[part].as_mut().expect("the part is one of ours");
        f(controller, &mut siblings, part - first)
    }

    /// A packet with these headers leaves its end.
    pub fn send(&mut self, now: Time, sent: &Sent, headers: &[u8]) {
        if sent.way == Way::Data
            && let Some(flow) = self.on_part[sent.part as usize]
        {
            self.flows[flow].on_sent(sent.bytes);
        }
        if let Some(qlog) = &mut self.qlog {
            qlog.sent(now, sent, headers);
        }
        self.network.send(now, sent, headers);
    }

    /// Starts to write the captures and the qlog that were requested.
    ///
    /// # Errors
    /// A message: there are too many files, or one cannot be written.
    pub fn begin_exports(&mut self) -> Result<(), String> {
        if let Some(wanted) = &self.request.qlog {
            let names: Vec<_> = self.flows[..self.named_parts].iter().map(|flow| flow.name.clone()).collect();
            self.qlog = Some(Qlog::create(&folder_of(wanted, self.seed), &names, self.seed)?);
        }
        let Some(wanted) = &self.request.pcap else { return Ok(()) };
        let ends =
            Ends::create(&folder_of(wanted, self.seed), format!("Seed {}. Packets of Linux.", self.seed))?;
        self.network.capture(ends)
    }

    /// Whether packets are captured.
    #[must_use]
    pub fn captures(&self) -> bool {
        self.network.captures()
    }

    /// Writes the rest of captures and qlog.
    ///
    /// # Errors
    /// A message that says why a file is not complete.
    pub fn end_exports(&mut self) -> Result<(), String> {
        self.qlog.take().map_or(Ok(()), Qlog::finish)?;
        self.network.end_capture()
    }

    /// When [`Run::step`] is due.
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.network.next_event()
    }

    /// Processes the first event on the links, if it is due by `now`.
    pub fn step(&mut self, now: Time) -> Option<Arrival> {
        self.events += 1;
        let arrival = self.network.step(now)?;
        if let Some(qlog) = self.qlog.as_mut().filter(|_| arrival.way == Way::Acks) {
            qlog.arrived(now, arrival.part, arrival.handle);
        }
        Some(arrival)
    }

    /// What happened to packets since the last call.
    pub fn fates(&mut self) -> Option<Fates> {
        self.network.fates()
    }

    /// The application of a receiver has read payload; returns whether there is more to come in this transfer.
    pub fn on_received(&mut self, lane: usize, now: Time, bytes: u64) -> bool {
        let Lane { first_part, connection, repeats, .. } = self.lanes[lane];
        let flow = match connection {
            Some(connection) => &mut self.connections[connection].whole,
            None => &mut self.flows[self.on_part[first_part].expect("the transfer has begun")],
        };
        flow.on_received(now, bytes);
        !(repeats && flow.completion().is_some())
    }

    /// Takes the state that a part's socket shows.
    pub fn look(&mut self, part: usize, now: Time, facts: &Facts) {
        let Some(flow) = self.on_part[part] else { return };
        let flow = &mut self.flows[flow];
        let before = flow.facts;
        flow.look(now, facts);
        if let Some(qlog) = self.qlog.as_mut().filter(|_| part < self.named_parts) {
            qlog.look(now, part, &before, &flow.facts, flow.mss);
            if let Some(controller) = &self.controllers[part] {
                qlog.probed(now, part, self.probed.names(part), controller.probed());
            }
        }
    }

    /// The kernel has marked data of a part as lost.
    pub fn lost(&mut self, part: usize, now: Time, seq: u32, end_seq: u32) {
        if let Some(qlog) = &mut self.qlog {
            qlog.lost(now, part, seq, end_seq);
        }
    }

    /// Takes the counts of the sender's host of a connection with subflows.
    pub fn count(&mut self, lane: usize, counts: Counts, reinjected: u64) {
        if let Some(connection) = self.lanes[lane].connection {
            self.connections[connection].count(counts, reinjected, &self.flows);
        }
    }

    /// When all sockets are to be looked at again, followed by [`Run::after_looks`]. The last time is the end
    /// of the run.
    #[must_use]
    pub fn next_look(&self) -> Time {
        let sample = self.samples.as_ref().map_or(Time::NEVER, |samples| samples.next);
        let warmup = self.warmup.unwrap_or(Time::NEVER);
        self.looks.next.min(self.intervals.next).min(sample).min(warmup).min(self.end)
    }

    /// All sockets have been looked at. Returns how much of the run is done, in thousandths, if that has
    /// changed noticeably.
    pub fn after_looks(&mut self, now: Time) -> Option<u64> {
        self.looks.due(now);
        if self.warmup.take_if(|warmup| *warmup <= now).is_some() {
            self.network.end_warmup(now);
            self.flows.iter_mut().for_each(|flow| flow.end_warmup(now));
            self.connections.iter_mut().for_each(|connection| connection.end_warmup(now));
            self.groups.iter_mut().for_each(|group| group.end_warmup(now, &self.flows));
        }
        if self.intervals.due(now) || now >= self.end {
            let from = self.ends.last().copied().unwrap_or_default();
            if now > from {
                let interval = Interval { from, until: now };
                let wholes = self.connections.iter_mut().map(|connection| &mut connection.whole);
                self.flows[..self.named_parts].iter_mut().chain(wholes).for_each(|flow| {
                    flow.close_interval(&interval);
                });
                self.groups.iter_mut().for_each(|group| group.close_interval(&interval, &self.flows));
                self.probed.close_interval(&self.controllers);
                self.ends.push(now);
            }
        }
        if self.samples.as_mut().is_some_and(|samples| samples.due(now)) {
            let since_last_s = self.times.last().map_or(0.0, |last| now.as_secs_f64() - last);
            self.times.push(now.as_secs_f64());
            self.network.sample(now, since_last_s);
            for (flow, controller) in self.flows[..self.named_parts].iter_mut().zip(&self.controllers) {
                let probed = controller.as_ref().map(Controller::probed).unwrap_or_default();
                flow.sample(now, since_last_s, &probed);
            }
            for connection in &mut self.connections {
                connection.sample(now, since_last_s, &self.flows);
            }
            if self.times.len() >= self.most_samples {
                self.thin(now);
            }
        }
        let done = (u128::from(now.0) * 1000 / u128::from(self.end.0.max(1))) as u64;
        let told = done >= self.told + NOTICEABLE;
        if told {
            self.told = done;
        }
        told.then_some(done)
    }

    /// Thins the samples as the simulator's recorder does.
    fn thin(&mut self, now: Time) {
        let connections = self.connections.iter_mut().map(Connection::table);
        let tables = self.flows[..self.named_parts].iter_mut().map(Flow::table).chain(connections);
        let tables = tables.chain(self.network.tables_mut());
        thin(&mut self.times, tables);
        if let Some(samples) = &mut self.samples {
            samples.every = samples.every.times(2);
            samples.next = now + samples.every;
        }
    }

    /// The file to which the progress is written.
    #[must_use]
    pub fn progress_file(&self) -> &str {
        &self.request.progress
    }

    /// The outcome of a flow of the scenario, with one path or several.
    fn outcome(&self, lane: &Lane) -> FlowOutcome {
        let flow = &self.flows[lane.first_part];
        let mut outcome = match lane.connection {
            Some(connection) => self.connections[connection].outcome(self.end, &self.flows),
            None => flow.outcome(flow.until(self.end)),
        };
        let mut learned = lane.parts().map(|part| self.controllers[part].as_ref()?.weights());
        match &mut outcome.multipath {
            Some(multipath) => {
                multipath.subflows.iter_mut().zip(learned).for_each(|(one, weights)| one.weights = weights);
            }
            None => outcome.weights = learned.next().flatten(),
        }
        outcome
    }

    fn flow_intervals(&self, lane: &Lane) -> FlowIntervals {
        let flow = &self.flows[lane.first_part];
        let mut intervals = match lane.connection {
            Some(connection) => self.connections[connection].intervals(&self.ends, self.end, &self.flows),
            None => flow.intervals(&self.ends, flow.until(self.end)),
        };
        match lane.connection {
            Some(_) => {
                let subflows = intervals.subflows.iter_mut().zip(lane.parts());
                subflows.for_each(|(one, part)| self.probed.show(part, one));
            }
            None => self.probed.show(lane.first_part, &mut intervals),
        }
        intervals
    }

    fn distributions(&self) -> Vec<Distribution> {
        let connections = self.connections.iter().map(|connection| connection.distribution(&self.flows));
        let flows = self.flows[..self.named_parts].iter().map(Flow::distribution);
        let links = self.network.distributions().into_iter().map(Some);
        let groups = self.groups.iter().map(|group| group.distribution(&self.flows));
        let times = connections.chain(flows).chain(links).chain(groups);
        // In the simulator's order.
        let connections = self.connections.iter().map(|connection| connection.peak_ratios(&self.flows));
        let flows = self.flows[..self.named_parts].iter().map(Flow::peak_ratios);
        let groups = self.groups.iter().map(|group| group.peak_ratios(&self.flows));
        times.chain(connections).chain(flows).chain(groups).flatten().collect()
    }

    /// Whether every transfer that arrives by the end has begun.
    ///
    /// # Errors
    /// A message: one has not, for want of hosts.
    pub fn check_turns(&self) -> Result<(), String> {
        self.groups.iter().try_for_each(Group::check_turns)
    }

    /// The output file, and the result for it.
    #[must_use]
    pub fn finish(mut self) -> (String, String) {
        self.end_with_agents();
        let links = self.network.outcomes(self.end);
        let named = &self.lanes[..self.named];
        let outcome = Outcome {
            flows: named.iter().map(|lane| self.outcome(lane)).collect(),
            groups: self.groups.iter().map(|group| group.outcome(self.end, &self.flows)).collect(),
            links,
            intervals: Intervals {
                interval_s: self.intervals.every.as_secs_f64(),
                end_s: self.ends.iter().map(|end| end.as_secs_f64()).collect(),
                flows: named.iter().map(|lane| self.flow_intervals(lane)).collect(),
                groups: self.groups.iter().map(|group| group.intervals(&self.ends)).collect(),
            },
            distributions: self.distributions(),
            work: Work { data_packets: self.network.served_data(), events: self.events },
            ..Outcome::default()
        };
        let saved: Vec<_> = self.flows[..self.named_parts].iter().map(Flow::saved_ssthresh).collect();
        let over_time = OverTime::of(&self.request.scenario, self.request.seed, &outcome);
        let mut result = Map::new();
        result.insert("outcome".to_owned(), outcome_json(&outcome, &over_time));
        result.insert("detail".to_owned(), detail(&outcome, &over_time));
        result.insert("saved_ssthresh".to_owned(), json!(saved));
        let output = self.request.output.clone();
        if self.samples.is_some() {
            result.insert("recording".to_owned(), recorded(&self.recording()));
        }
        (output, Value::Object(result).to_string())
    }

    fn recording(mut self) -> Recording {
        self.flows.truncate(self.named_parts);
        let (mut tables, events): (Vec<_>, Vec<_>) = self.flows.into_iter().map(Flow::recorded).unzip();
        tables.extend(self.connections.into_iter().map(Connection::recorded));
        tables.extend(self.network.tables());
        let mut events: Vec<_> = events.into_iter().flatten().collect();
        events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let events_missed = events.len().saturating_sub(MOST_EVENTS) as u64;
        events.truncate(MOST_EVENTS);
        Recording { time_s: self.times, tables, events, events_missed }
    }
}
