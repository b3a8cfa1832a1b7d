//! Flows that come and go: when they start, and how large they are. They arrive at random, or each replaces
//! one that has ended.

use crate::flow::Shared;
use crate::route::Routes;
use crate::spec::{ArrivalProcess, ArrivalSpec, SizeSpec};
use cwndlab_cc::{Rng, Span, Time};
use cwndlab_learn::math;
use std::sync::Arc;

/// One arrival process, and what its flows have in common.
pub struct Arrivals {
    /// When its flows arrive, and how large they are.
    pub process: Process,
    /// Indices of flows that have ended, to be reused by new flows.
    pub free: Vec<usize>,
    /// The routes of its flows' packets.
    pub routes: Arc<Routes>,
    /// What its flows share.
    pub shared: Shared,
}

impl Arrivals {
    /// A process of the run with this seed.
    #[must_use]
    pub fn new(spec: &ArrivalSpec, seed: u64, routes: Arc<Routes>, shared: Shared) -> Self {
        Self { process: Process::new(spec, seed), free: Vec::new(), routes, shared }
    }
}

/// When the flows of an arrival process arrive, and how large they are.
pub struct Process {
    /// The specification.
    pub spec: ArrivalSpec,
    /// When the next flow starts.
    pub next: Time,
    rng: Rng,
    /// Start times of parallel transfers after the next one, the latest first.
    starts: Vec<Time>,
}

impl Process {
    /// A process of the run with this seed.
    #[must_use]
    pub fn new(spec: &ArrivalSpec, seed: u64) -> Self {
        let rng = Rng::named(seed, &format!("arrivals {}", spec.name));
        let mut process = Self { spec: spec.clone(), next: spec.active.start, rng, starts: Vec::new() };
        if let ArrivalProcess::Parallel { transfers, .. } = spec.process {
            process.draw_first(transfers);
        }
        process.draw_next(spec.active.start);
        process
    }

    /// The next flow arrives: returns its start and its size in bytes, and draws the one after it.
    pub fn arrive(&mut self) -> (Time, u64) {
        let now = self.next;
        let bytes = self.draw_size();
        self.draw_next(now);
        (now, bytes)
    }

    /// The first parallel transfers start as flows do: each with its own start jitter.
    fn draw_first(&mut self, transfers: u64) {
        let most = self.spec.active.start_jitter.0.saturating_add(1);
        let start = self.spec.active.start;
        self.starts = (0..transfers).map(|_| start + Span(self.rng.below(most))).collect();
        self.starts.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Draws the next arrival after `now` with an exponential gap (a Poisson process), or takes the next
    /// start.
    fn draw_next(&mut self, now: Time) {
        let next = match self.spec.process {
            ArrivalProcess::PerSecond(rate) => now + Span::from_secs_f64(self.rng.exponential() / rate),
            ArrivalProcess::Parallel { .. } => self.starts.pop().unwrap_or(Time::NEVER),
        };
        // A flow that would start at its stop sends nothing.
        let ended = self.spec.active.stop.is_some_and(|stop| next >= stop);
        self.next = if ended { Time::NEVER } else { next };
    }

    /// One of its flows has ended: a parallel transfer starts again after its pause.
    pub fn follow(&mut self, now: Time) {
        let ArrivalProcess::Parallel { pause, .. } = self.spec.process else { return };
        if self.next != Time::NEVER {
            self.starts.push(self.next);
        }
        self.starts.push(now + pause);
        self.starts.sort_unstable_by(|a, b| b.cmp(a));
        self.draw_next(now);
    }

    /// Draws a flow's size in bytes, at least one.
    fn draw_size(&mut self) -> u64 {
        let bytes = match self.spec.size {
            SizeSpec::Constant(bytes) => return bytes.max(1),
            SizeSpec::Exponential { mean } => mean * self.rng.exponential(),
            // The inverse of P(size > x) = (minimum / x)^shape.
            SizeSpec::Pareto { mean, shape } => {
                let minimum = mean * (shape - 1.0) / shape;
                minimum * math::exp(self.rng.exponential() / shape)
            }
        };
        (bytes as u64).max(1)
    }
}
