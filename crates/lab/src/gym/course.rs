//! The source of an environment's episodes: a random link for each, or a fixed scenario.

use super::environments::{Environment, RANGES, draw};
use super::kernel::{Job, KernelRun, Launch};
use super::stage::Stage;
use super::{Episode, link};
use crate::linux;
use crate::measures::{OverTime, outcome_json};
use crate::run::{RunToken, run_seed};
use crate::scenario::{Backend, Flow, Scenario, Source, read};
use crate::trace::Directory;
use crate::weights;
use cwndlab_cc::params::Value;
use cwndlab_cc::{Registry, Spaces};
use cwndlab_sim::Sim;
use cwndlab_sim::queue::Queues;
use std::sync::Arc;

/// A file's name and the hash of its content.
pub type HashedFile = (String, String);

/// Dotted keys and values that override a scenario.
type Overrides = Vec<(String, String)>;

/// The network in which the episodes run.
#[derive(Clone)]
pub enum World {
    /// A link drawn for each episode, with this many equal flows that agents steer.
    Drawn {
        /// The number of flows.
        flows: u64,
    },
    /// A scenario, in which agents steer the named flows, or the first one if no names are given.
    Scenario {
        /// The scenario's text.
        text: Vec<u8>,
        /// Its file's name.
        file: String,
        /// The names of the steered flows.
        flows: Vec<String>,
    },
}

/// Why an episode could not run with another algorithm.
#[derive(Debug)]
pub enum AlgorithmFailure {
    /// The scenario with this algorithm has mistakes.
    Scenario(String),
    /// The run failed.
    Run(String),
}

/// Makes the scenario of any episode.
pub struct Course {
    environment: &'static Environment,
    registry: Registry,
    queues: Queues,
    text: Vec<u8>,
    file: String,
    /// The user's overrides, which take precedence over drawn values.
    own: Overrides,
    /// The entries of `[[flow]]` that agents steer, and whether the scenario already gives them
    /// the environment's algorithm.
    steered: Vec<(usize, bool)>,
    /// Starts kernels, if the episodes run in Linux.
    linux: Option<Arc<dyn Launch>>,
    /// The scenario, if it is the same for all episodes.
    pinned: Option<Arc<Scenario>>,
    agents: Vec<String>,
    /// The files that its scenario names, with the hashes of their content when the course was made.
    files: Vec<HashedFile>,
    algorithms: Vec<&'static str>,
}

impl Course {
    /// A course of an environment in a world, with the user's overrides; with `linux`, in kernels that this starts.
    ///
    /// # Errors
    /// The scenario has mistakes, or lacks one of the named flows.
    pub fn new(
        environment: &'static Environment,
        world: World,
        own: &[(String, String)],
        (registry, queues): (Registry, Queues),
        linux: Option<Arc<dyn Launch>>,
    ) -> Result<Self, String> {
        let drawn = matches!(world, World::Drawn { .. });
        let (text, file, wanted) = match world {
            World::Drawn { flows } => {
                (link::scenario(environment, flows), "<drawn>".to_owned(), link::agents(flows).collect())
            }
            World::Scenario { text, file, flows } => (text, file, flows),
        };
        let mut course = Self {
            environment,
            registry: if linux.is_some() { linux::with_algorithms(&registry) } else { registry },
            queues,
            text,
            file,
            own: own.to_vec(),
            steered: Vec::new(),
            linux,
            pinned: None,
            agents: Vec::new(),
            files: Vec::new(),
            algorithms: Vec::new(),
        };
        // Settings of the agents' algorithm mean nothing before the flows have that algorithm.
        let others = own.iter().filter(|(key, _)| !key.contains(".cc.")).cloned().collect();
        let given = if drawn { link::overrides(draw(0)) } else { Vec::new() };
        let before = course.read_exactly(&[given, others].concat())?;
        course.steered = course.find(&before, &wanted)?;
        if !drawn {
            course.pinned = Some(Arc::new(course.read(course.steering())?));
        }
        let first = course.unchecked(0)?;
        course.agents = course.waiting(&first);
        course.refuse_other_agents(&first)?;
        course.files = first.files();
        course.algorithms = first.flows.iter().map(|flow| flow.kind.algorithm.name).collect();
        course.link(&first)?;
        if drawn {
            course.check_extremes()?;
        }
        Ok(course)
    }

    /// The environment.
    #[must_use]
    pub fn environment(&self) -> &'static Environment {
        self.environment
    }

    /// Names of the flows that agents steer.
    #[must_use]
    pub fn agents(&self) -> &[String] {
        &self.agents
    }

    /// An agent's observation and action spaces.
    #[must_use]
    pub fn spaces(&self) -> Option<Spaces> {
        self.environment.spaces(&self.registry)
    }

    /// A hash of everything that determines the episodes.
    #[must_use]
    pub fn identity(&self) -> String {
        let mut own = self.own.clone();
        own.sort();
        let text = String::from_utf8_lossy(&self.text);
        let backend = if self.linux.is_some() { " in Linux" } else { "" };
        weights::hash(format!("{:?}{backend}", (self.environment.name, text, own, &self.agents)).as_bytes())
    }

    /// Describes the first agent's observation as a weights file does; `None` if its scaling keeps changing.
    ///
    /// # Errors
    /// The scenario has mistakes.
    pub fn inputs(&self) -> Result<Option<String>, String> {
        Ok((self.environment.inputs)(&self.settings(0)?))
    }

    /// The settings of the first agent's algorithm in the episode with this seed.
    pub(super) fn settings(&self, seed: u64) -> Result<Vec<(String, Value)>, String> {
        let scenario = self.scenario(seed)?;
        let first = self.steered.first().map(|(n, _)| &scenario.flows[*n].kind);
        Ok(first.map(|kind| kind.settings.clone()).unwrap_or_default())
    }

    /// The default of a parameter of the agents' algorithm.
    pub(super) fn parameter(&self, name: &str) -> Option<Value> {
        let algorithm = self.registry.get(self.environment.algorithm)?;
        algorithm.params.iter().find(|param| param.name == name).map(|param| param.default.clone())
    }

    /// The algorithms of its flows.
    #[must_use]
    pub fn algorithms(&self) -> &[&'static str] {
        &self.algorithms
    }

    /// The files that its scenario names, each with the hash of its content when the course was made.
    #[must_use]
    pub fn files(&self) -> &[HashedFile] {
        &self.files
    }

    /// The link values in force in an episode's scenario, by the names of [`RANGES`], except those that are
    /// no single number; empty for a user's own scenario.
    ///
    /// # Errors
    /// Its rate or its delay is no single value.
    pub fn link(&self, scenario: &Scenario) -> Result<Vec<(&'static str, f64)>, String> {
        match (&self.pinned, self.steered.first()) {
            (None, Some((flow, _))) => link::in_force(scenario, &scenario.flows[*flow]),
            _ => Ok(Vec::new()),
        }
    }

    /// The scenario of the episode with this seed.
    ///
    /// # Errors
    /// It has mistakes, or a file that it names has changed since the course was made.
    pub fn scenario(&self, seed: u64) -> Result<Arc<Scenario>, String> {
        let scenario = self.unchecked(seed)?;
        let found = scenario.files();
        match self.files.iter().find(|file| !found.contains(file)) {
            Some((name, _)) => Err(format!("{name}: has changed since the environment was made")),
            None => Ok(scenario),
        }
    }

    fn unchecked(&self, seed: u64) -> Result<Arc<Scenario>, String> {
        match &self.pinned {
            Some(scenario) => Ok(scenario.clone()),
            None => self.read(self.drawn(seed)).map(Arc::new),
        }
    }

    /// The overrides of the episode with this seed, applied before the user's.
    fn drawn(&self, seed: u64) -> Overrides {
        let link = if self.pinned.is_some() { Vec::new() } else { link::overrides(draw(seed)) };
        [link, self.steering()].concat()
    }

    /// Begins the episode with this seed, whose scenario is given.
    ///
    /// # Errors
    /// Its kernel cannot be started.
    pub(super) fn begin(&self, scenario: &Scenario, seed: u64) -> Result<Episode, String> {
        let spec = scenario.spec(seed, false);
        let stage = match &self.linux {
            None => Stage::Sim(Box::new(Sim::new(&spec)), seed),
            Some(launcher) => {
                let overrides = [self.drawn(seed), self.own.clone()].concat();
                let run = (&self.text[..], &*self.file);
                let job = Job::new(scenario, seed, run, overrides, &self.agents, launcher.linked());
                Stage::Linux(Box::new(KernelRun::start(launcher.as_ref(), scenario, &job)?))
            }
        };
        Ok(Episode::new(stage, &spec, &self.agents))
    }

    /// Refuses a scenario with a flow that waits for an agent and has none.
    fn refuse_other_agents(&self, scenario: &Scenario) -> Result<(), String> {
        let steered = |n: usize| self.steered.iter().any(|(entry, _)| *entry == n);
        let waiting = scenario.flows.iter().enumerate();
        let mut alone = waiting.filter(|(n, flow)| flow.enabled && flow.waits_for_agent() && !steered(*n));
        match alone.next() {
            None => Ok(()),
            Some((n, flow)) => Err(format!(
                "{}: flow.{n}.cc: {} waits for an agent outside, and only {} has one here; expected another policy",
                self.file,
                flow.kind.algorithm.name,
                self.agents.join(", ")
            )),
        }
    }

    /// Checks that the user's overrides are valid on every link that may be drawn, by trying the
    /// smallest and the largest.
    fn check_extremes(&self) -> Result<(), String> {
        let smallest = RANGES.each_ref().map(|range| range.low);
        let largest = RANGES.each_ref().map(|range| range.high);
        for (which, values) in [("smallest", smallest), ("largest", largest)] {
            self.read([link::overrides(values), self.steering()].concat())
                .and_then(|scenario| self.link(&scenario))
                .map_err(|why| format!("on the {which} link that an episode may draw: {why}"))?;
        }
        Ok(())
    }

    /// Runs the episode with this seed to its end with another algorithm in place of the agents. The
    /// algorithm is a name or a table, as in a scenario. Returns the measures as JSON.
    ///
    /// # Errors
    /// There is no such algorithm, or the run failed.
    pub fn with_algorithm(&self, seed: u64, algorithm: &str) -> Result<String, AlgorithmFailure> {
        let overrides = self.replacing(seed, algorithm);
        let scenario = self.read_exactly(&overrides).map_err(AlgorithmFailure::Scenario)?;
        match &self.linux {
            None => {
                let outcome = run_seed(&scenario, seed, false, &RunToken::default())
                    .map_err(|failure| AlgorithmFailure::Run(failure.to_string()))?;
                Ok(outcome_json(&outcome, &OverTime::of(&scenario, seed, &outcome)).to_string())
            }
            Some(launcher) => {
                let run = (&self.text[..], &*self.file);
                let job = Job::new(&scenario, seed, run, overrides, &[], launcher.linked());
                KernelRun::start(launcher.as_ref(), &scenario, &job)
                    .and_then(KernelRun::finish)
                    .map_err(AlgorithmFailure::Run)
            }
        }
    }

    /// The overrides that replace the agents by another algorithm in the episode with this seed.
    fn replacing(&self, seed: u64, algorithm: &str) -> Overrides {
        let drawn = if self.pinned.is_some() { Vec::new() } else { link::overrides(draw(seed)) };
        let replaced = self.steered.iter().map(|(n, _)| (format!("flow.{n}.cc"), algorithm.to_owned()));
        // The user's settings of the agents' algorithm mean nothing to another algorithm.
        let of_agents =
            |key: &str| self.steered.iter().any(|(n, _)| key.starts_with(&format!("flow.{n}.cc")));
        let own = self.own.iter().filter(|(key, _)| !of_agents(key)).cloned();
        [drawn, own.collect(), replaced.collect()].concat()
    }

    fn read(&self, overrides: Overrides) -> Result<Scenario, String> {
        self.read_exactly(&[overrides, self.own.clone()].concat())
    }

    fn read_exactly(&self, overrides: &Overrides) -> Result<Scenario, String> {
        let traces = Directory::of(&self.file);
        let source = Source {
            backend: if self.linux.is_some() { Backend::Linux { agents: true } } else { Backend::Sim },
            file: &self.file,
            registry: &self.registry,
            queues: &self.queues,
            traces: &traces,
        };
        let (scenario, problems) = read(&self.text, &source, overrides);
        let scenario = scenario
            .ok_or_else(|| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        if scenario.knows_earlier_run() {
            return Err(format!(
                "{}: tcp.metrics = \"saved\" needs an earlier run, which an episode has not",
                self.file
            ));
        }
        Ok(scenario)
    }

    /// The entries of the named flows, or without names the first flow that is no arrival process.
    fn find(&self, scenario: &Scenario, wanted: &[String]) -> Result<Vec<(usize, bool)>, String> {
        let lasting: Vec<(usize, &Flow)> = scenario
            .flows
            .iter()
            .enumerate()
            .filter(|(_, flow)| flow.enabled && flow.arrivals.is_none())
            .collect();
        let stands =
            |(n, flow): &(usize, &Flow)| (*n, flow.kind.algorithm.name == self.environment.algorithm);
        if wanted.is_empty() {
            let first = lasting.first().map(stands);
            return first
                .map(|first| vec![first])
                .ok_or_else(|| format!("{}: expected a flow without `arrivals`, found none", self.file));
        }
        let one = |name: &String| {
            let found = lasting.iter().find(|(_, flow)| flow.names.contains(name)).map(stands);
            found.ok_or_else(|| {
                let known: Vec<&str> =
                    lasting.iter().flat_map(|(_, flow)| &flow.names).map(String::as_str).collect();
                format!("{}: expected one of {1}, found `{name}`", self.file, known.join(", "))
            })
        };
        let mut found = wanted.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The overrides that make the flows wait for their agents.
    fn steering(&self) -> Overrides {
        let mut overrides = Vec::new();
        for (n, stands) in &self.steered {
            if !stands {
                overrides.push((format!("flow.{n}.cc"), self.environment.algorithm.to_owned()));
            }
            for (key, value) in self.environment.outside {
                overrides.push((format!("flow.{n}.cc.{key}"), (*value).to_owned()));
            }
        }
        overrides
    }

    /// Names of the flows that wait for agents, with a multipath connection replaced by its subflows.
    fn waiting(&self, scenario: &Scenario) -> Vec<String> {
        let entries = self.steered.iter().map(|(n, _)| &scenario.flows[*n]);
        entries
            .flat_map(|flow| flow.names.iter().flat_map(|name| flow.parts(name)))
            .map(|(name, _)| name)
            .collect()
    }
}
