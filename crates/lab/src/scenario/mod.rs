//! Scenario files: reads TOML text and returns a checked scenario, or every mistake in it.

mod arrivals;
mod context;
mod cost;
mod flow;
mod limits;
mod link;
mod linux;
mod loss;
mod names;
mod odd;
mod overrides;
mod paths;
mod problem;
mod quantity;
mod queue;
mod recording;
mod resolve;
mod section;
mod settings;
mod settle;
mod steps;
mod top;
pub(crate) mod tree;
mod visible;
mod weights;
mod words;

use arrivals::Arrivals;
use cost::ExpectedWork;
use flow::Path;

pub(crate) use flow::Flow;
pub(crate) use link::Link;
pub use problem::{Place, Problem, Severity};
pub(crate) use quantity::{QueueSize, show_time};
pub(crate) use resolve::{setting as resolve_setting, tcp as resolve_tcp};
pub(crate) use settle::PACKET_BITS;
pub use words::nearest;

use crate::trace::{self, TraceFiles};
use cwndlab_cc::params::Value;
use cwndlab_cc::{Registry, Span, Time};
use cwndlab_sim::SimSpec;
use cwndlab_sim::queue::Queues;
use cwndlab_sim::spec::{AccessSpec, ArrivalProcess, ArrivalSpec, FlowSpec, PathSpec, RecordSpec};
use cwndlab_sim::tcp::{Metrics, TcpOptions};
use std::collections::BTreeMap;

/// Where a scenario runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The simulator.
    #[default]
    Sim,
    /// Linux in virtual time.
    Linux {
        /// Whether external agents decide, as in an environment.
        agents: bool,
    },
}

impl Backend {
    /// The backend of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sim" => Some(Self::Sim),
            "linux" => Some(Self::Linux { agents: false }),
            _ => None,
        }
    }
}

/// Everything needed to read a scenario besides its text.
pub struct Source<'a> {
    /// Where it runs.
    pub backend: Backend,
    /// The file's name, for messages.
    pub file: &'a str,
    /// The algorithms that it may name.
    pub registry: &'a Registry,
    /// The kinds of queue that it may name.
    pub queues: &'a Queues,
    /// Where it finds traces.
    pub traces: &'a dyn TraceFiles,
}

/// A checked scenario: it builds a simulation for any seed.
pub struct Scenario {
    pub(crate) name: String,
    pub(crate) profile: &'static str,
    pub(crate) duration: Span,
    pub(crate) warmup: Span,
    pub(crate) send_jitter: Option<Span>,
    pub(crate) record_interval: Span,
    pub(crate) timeout_patterns: bool,
    pub(crate) tcp: TcpOptions,
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) work: ExpectedWork,
}

/// The most cells of a recording: 128 MB of numbers.
const RECORDED_CELLS: usize = 16_000_000;
/// Approximate number of columns in a flow's or link's table.
const COLUMNS: usize = 8;
/// Allowed number of samples of a series: enough for any plot.
const SAMPLES: std::ops::RangeInclusive<usize> = 100..=10_000;

/// Reads a scenario and applies overrides (dotted key, value). Returns the scenario only if no problem is an error.
#[must_use]
pub fn read(
    text: &[u8],
    source: &Source,
    overrides: &[(String, String)],
) -> (Option<Scenario>, Vec<Problem>) {
    let queues = match source.backend {
        Backend::Sim => source.queues.clone(),
        Backend::Linux { .. } => crate::linux::with_queues(source.queues),
    };
    let source = &Source { queues: &queues, ..*source };
    let (root, problems) = match decode(text) {
        Ok(text) => {
            let (root, syntax) = tree::parse(text);
            if !syntax.is_empty() && trace::is_like_trace(text) {
                return (None, vec![a_trace(source.file)]);
            }
            (root, problem::Problems::new(source.file, syntax))
        }
        Err(message) => {
            let problems = problem::Problems::new(source.file, Vec::new());
            problems.error(&Place::TOP, "", message);
            return (None, problems.into_sorted());
        }
    };
    let root = overrides::apply(root, overrides, source.queues, &problems);
    let scenario = top::scenario(&root, source, &problems);
    match (source.backend, &scenario) {
        (Backend::Linux { agents }, Ok(scenario)) => linux::check(scenario, &root, agents, &problems),
        (Backend::Sim, Ok(scenario)) => linux::check_elsewhere(scenario, &root, &problems),
        (_, Err(_)) => {}
    }
    let accepted = scenario.ok().filter(|_| !problems.any_error());
    (accepted, problems.into_sorted())
}

/// The only problem reported for a trace: as a scenario, every line of it would be a mistake.
fn a_trace(file: &str) -> Problem {
    let path: String = file.chars().map(visible::shown).collect();
    let message = format!(
        "this is a trace, not a scenario; a scenario names a trace in a [[link]], by its path from the scenario's folder: \
         trace = \"{path}\""
    );
    Problem { file: file.into(), severity: Severity::Error, place: Place::Whole, key: String::new(), message }
}

fn decode(text: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(text)
        .map_err(|error| format!("not a text file: byte {} is not UTF-8", error.valid_up_to() + 1))?;
    if text.trim().is_empty() { Err("the file is empty".to_owned()) } else { Ok(text) }
}

impl Scenario {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length of the run.
    #[must_use]
    pub fn duration(&self) -> Span {
        self.duration
    }

    /// About how many data packets the run will carry at most, so that the work of several runs can be compared.
    /// Flows for which no finite bound is known are left out. A required earlier run counts too.
    #[must_use]
    pub fn packets_expected(&self) -> f64 {
        self.work.packets * if self.knows_earlier_run() { 2.0 } else { 1.0 }
    }

    /// About how many data packets are in the simulator's memory at once, at most: sent and not yet acknowledged.
    #[must_use]
    pub fn packets_held(&self) -> f64 {
        self.work.held
    }

    /// About how many senders exist at once: flows, subflows, connections, and transfers of arrival processes.
    #[must_use]
    pub fn senders(&self) -> f64 {
        let lasting = self.running().filter(|flow| flow.arrivals.is_none());
        lasting.map(recorded_tables).sum::<usize>() as f64 + self.work.transfers
    }

    /// The most connections that a run makes; for random arrivals, their mean number plus four standard deviations.
    #[must_use]
    pub fn connections(&self) -> f64 {
        self.running().map(|flow| self.connections_of(flow)).sum()
    }

    /// The most connections of one flow.
    pub(crate) fn connections_of(&self, flow: &Flow) -> f64 {
        let named = flow.names.len() as f64;
        let Some(Arrivals { process: ArrivalProcess::PerSecond(rate), .. }) = flow.arrivals else {
            return named;
        };
        let end = flow.active.stop.unwrap_or(Time::NEVER).min(Time::ZERO + self.duration);
        let mean = rate * end.since(flow.active.start).as_secs_f64();
        named * (mean + 4.0 * mean.sqrt())
    }

    /// The number of link directions, access links included.
    #[must_use]
    pub fn directions(&self) -> usize {
        let directions = |link: &Link| 1 + usize::from(link.back.is_some());
        let own = |flow: &Flow| {
            flow.names.len()
                * flow.paths.iter().filter_map(|path| path.access.as_ref()).map(directions).sum::<usize>()
        };
        self.links.iter().map(directions).sum::<usize>() + self.running().map(own).sum::<usize>()
    }

    /// The flows that run.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().filter(|flow| flow.enabled)
    }

    /// Whether a flow begins with metrics that an earlier, equal run saved.
    #[must_use]
    pub fn knows_earlier_run(&self) -> bool {
        self.running().any(|flow| flow.kind.tcp.metrics == Metrics::Saved)
    }

    /// The simulator's specification, without metrics of an earlier run.
    #[must_use]
    pub fn spec(&self, seed: u64, record: bool) -> SimSpec {
        let (arriving, lasting): (Vec<&Flow>, Vec<&Flow>) =
            self.running().partition(|flow| flow.arrivals.is_some());
        SimSpec {
            seed,
            duration: self.duration,
            warmup: self.warmup,
            links: self.links.iter().map(|link| link.spec(&link.spec.name, seed, self.duration)).collect(),
            flows: lasting.into_iter().flat_map(|flow| flow_specs(flow, seed, self.duration)).collect(),
            arrivals: arriving
                .into_iter()
                .flat_map(|flow| arrival_specs(flow, seed, self.duration))
                .collect(),
            send_jitter: self.send_jitter,
            record: record.then(|| self.record_spec()),
            timeout_patterns: self.timeout_patterns,
        }
    }

    /// The drawn starts of recordings with a random start, by the names of the links' directions.
    pub(crate) fn drawn_starts(&self, seed: u64) -> BTreeMap<String, Span> {
        let shared = self.links.iter().map(|link| link.drawn_starts(&link.spec.name, seed));
        let parts = self.running().flat_map(|flow| flow.names.iter().flat_map(|name| flow.parts(name)));
        let own = parts
            .filter_map(|(part, path)| Some(path.access.as_ref()?.drawn_starts(&access_name(&part), seed)));
        shared.chain(own).flatten().collect()
    }

    /// The files that it names, recordings and weights, each with the hash of its content when the scenario was read.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        let access = self.flows.iter().flat_map(|flow| &flow.paths).filter_map(|path| path.access.as_ref());
        let directions = self.links.iter().chain(access).flat_map(Link::directions);
        let replayed = directions.flat_map(|direction| {
            let trace = direction.trace.as_ref().map(|trace| (trace.file.clone(), trace.hash.clone()));
            let delays = direction.delays.as_ref().map(|delays| (delays.file.clone(), delays.hash.clone()));
            [trace, delays].into_iter().flatten()
        });
        let settings = self.flows.iter().flat_map(|flow| &flow.kind.settings);
        let files = settings.filter_map(|(_, value)| match value {
            Value::File(file) => Some((file.name.clone(), file.hash.clone())),
            _ => None,
        });
        replayed.chain(files).collect()
    }

    /// All values in force, defaults included, as canonical JSON: keys sorted, values exact.
    #[must_use]
    pub fn resolve(&self) -> serde_json::Value {
        resolve::resolve(self)
    }

    fn record_spec(&self) -> RecordSpec {
        let tables = self.links.len() + self.running().map(recorded_tables).sum::<usize>();
        let max_samples =
            (RECORDED_CELLS / (COLUMNS * tables.max(1))).clamp(*SAMPLES.start(), *SAMPLES.end());
        RecordSpec { interval: self.record_interval, max_samples }
    }
}

/// The recorded tables of a flow: a multipath connection has one of its own besides those of its subflows.
fn recorded_tables(flow: &Flow) -> usize {
    flow.names.len() * (flow.paths.len() + usize::from(flow.mptcp.is_some()))
}

fn flow_specs(flow: &Flow, seed: u64, duration: Span) -> impl Iterator<Item = FlowSpec> {
    flow.names.iter().map(move |name| FlowSpec {
        name: name.clone(),
        kind: flow.kind.clone(),
        paths: path_specs(flow, name, seed, duration).collect(),
        multipath: flow.mptcp.clone(),
        active: flow.active,
        bytes: flow.bytes,
    })
}

fn path_specs(flow: &Flow, name: &str, seed: u64, duration: Span) -> impl Iterator<Item = PathSpec> {
    flow.parts(name).map(move |(part, path)| path_spec(&part, path, seed, duration))
}

fn path_spec(name: &str, path: &Path, seed: u64, duration: Span) -> PathSpec {
    let access = path.access.as_ref().map(|access| AccessSpec {
        link: access.spec(&access_name(name), seed, duration),
        hold_back: access.hold_back,
    });
    PathSpec { links: path.links.clone(), access, initial_ssthresh: None }
}

/// The name of a flow's or subflow's access link.
fn access_name(part: &str) -> String {
    format!("{part}.access")
}

fn arrival_specs(flow: &Flow, seed: u64, duration: Span) -> impl Iterator<Item = ArrivalSpec> {
    let processes = flow.names.iter().zip(flow.arrivals);
    processes.filter_map(move |(name, Arrivals { process, size })| {
        let path = path_specs(flow, name, seed, duration).next()?;
        let (name, kind) = (name.clone(), flow.kind.clone());
        Some(ArrivalSpec { name, kind, path, active: flow.active, process, size })
    })
}
