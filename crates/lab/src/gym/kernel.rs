//! A run in Linux that agents steer: the kernel's process sends their observations and waits for their actions.

use crate::linux::remote::{Heard, RemoteAlgorithm, Seen, Server, served, word};
use crate::run::Failure;
use crate::scenario::Scenario;
use cwndlab_cc::Time;
use cwndlab_sim::Stop;
use std::collections::BTreeMap;

/// A run for a kernel to do.
pub struct Job<'a> {
    /// The scenario's text.
    pub text: &'a [u8],
    /// Its file's name.
    pub file: &'a str,
    /// The overrides of the scenario.
    pub overrides: Vec<(String, String)>,
    /// The algorithms whose controllers run in the front end.
    pub remote: Vec<RemoteAlgorithm>,
    /// The names of the flows that agents steer.
    pub agents: &'a [String],
    /// The seed of every random stream.
    pub seed: u64,
    /// About how many data packets the run carries.
    pub packets_expected: f64,
    /// About how many data packets are in memory at once.
    pub packets_held: f64,
    /// The most connections that it makes.
    pub connections: f64,
    /// The most pairs of hosts that these need.
    pub hosts: f64,
}

impl<'a> Job<'a> {
    /// A run of a scenario that was read from `text` with `overrides`. The algorithms named in `linked`
    /// are linked into the kernel.
    pub(super) fn new(
        scenario: &Scenario,
        seed: u64,
        (text, file): (&'a [u8], &'a str),
        overrides: Vec<(String, String)>,
        agents: &'a [String],
        linked: &[&str],
    ) -> Self {
        Self {
            text,
            file,
            overrides,
            remote: served(scenario, linked),
            agents,
            seed,
            packets_expected: scenario.packets_expected(),
            packets_held: scenario.packets_held(),
            connections: scenario.connections(),
            hosts: scenario.hosts(),
        }
    }
}

/// Starts kernels.
pub trait Launch: Send + Sync {
    /// Starts a kernel for this job.
    ///
    /// # Errors
    /// It cannot be started.
    fn launch(&self, job: &Job<'_>) -> Result<Box<dyn Process>, String>;

    /// The names of a user's algorithms that are linked into the kernels.
    fn linked(&self) -> &[&'static str];
}

/// The process of a kernel. Dropping this ends it.
pub trait Process: Send {
    /// Waits for its next message; `None` if it has ended.
    ///
    /// # Errors
    /// It sends nothing for too long.
    fn receive(&mut self) -> Result<Option<Vec<u8>>, String>;

    /// Sends an answer. If the process has ended, the next [`Process::receive`] returns `None`.
    fn answer(&mut self, answer: &[u8]);

    /// The measures of its run, as JSON, once it has ended.
    ///
    /// # Errors
    /// The process ended before its run was complete.
    fn measures(&mut self) -> Result<String, String>;
}

/// A run in progress.
pub(super) struct KernelRun {
    process: Box<dyn Process>,
    /// The controllers that run in the front end.
    server: Server,
    now: Time,
    /// The last state that each agent saw, by the number of its flow.
    seen: BTreeMap<usize, Seen>,
}

impl KernelRun {
    /// Starts a run.
    pub(super) fn start(launcher: &dyn Launch, scenario: &Scenario, job: &Job<'_>) -> Result<Self, String> {
        Ok(Self {
            process: launcher.launch(job)?,
            server: Server::new(scenario, job.seed),
            now: Time::ZERO,
            seen: BTreeMap::new(),
        })
    }

    /// Runs to the next decision or to the end.
    pub(super) fn run(&mut self) -> Result<Stop, Failure> {
        loop {
            match self.hear()? {
                Some(Heard::Answered(answer)) => self.process.answer(&answer),
                Some(Heard::Decision(flow, seen)) => {
                    self.note(flow, seen);
                    return Ok(Stop::Decision(flow));
                }
                Some(Heard::End(flow, seen)) => {
                    self.note(flow, seen);
                    self.process.answer(&word(0));
                }
                Some(Heard::Over) => return Ok(Stop::Done),
                None => return Err(Failure::Kernel(self.process.measures().err().unwrap_or_default())),
            }
        }
    }

    fn hear(&mut self) -> Result<Option<Heard>, Failure> {
        let message = self.process.receive().map_err(Failure::Kernel)?;
        message.map(|message| self.server.hear(&message)).transpose()
    }

    fn note(&mut self, flow: usize, seen: Seen) {
        self.now = seen.now;
        self.seen.insert(flow, seen);
    }

    /// The time of the last message.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// The last state that the agent of a flow saw.
    pub(super) fn seen(&self, flow: usize) -> Option<&Seen> {
        self.seen.get(&flow)
    }

    /// The action of the agent that must decide.
    pub(super) fn act(&mut self, action: u32) {
        self.process.answer(&word(action.into()));
    }

    /// Finishes a run whose agents have seen the end; returns its measures as JSON.
    pub(super) fn measures(mut self) -> Result<String, String> {
        self.process.answer(&word(0));
        self.finish()
    }

    /// Completes a run without agents, or the rest of a run; returns its measures as JSON.
    pub(super) fn finish(mut self) -> Result<String, String> {
        // Controllers in the front end may still have to answer.
        while let Some(heard) = self.hear().map_err(|failure| failure.to_string())? {
            if let Heard::Answered(answer) = heard {
                self.process.answer(&answer);
            }
        }
        self.process.measures()
    }
}
