//! Flows that come and go: when, and how large. They arrive at random, or each in the place of one that has ended.

use crate::flow::Shared;
use crate::route::Routes;
use crate::spec::{ArrivalProcess, ArrivalSpec, SizeSpec};
use cwndlab_cc::{Rng, Span, Time};
use cwndlab_learn::math;

/// One arrival process.
pub struct Arrivals {
    /// What was asked for.
    pub spec: ArrivalSpec,
    /// When the next one starts.
    pub next: Time,
    /// Places of flows that have ended, for new ones.
    pub free: Vec<usize>,
    /// The way of its flows' packets.
    pub routes: Routes,
    /// What its flows share.
    pub shared: Shared,
    rng: Rng,
    /// When transfers start whose number is given, the last first.
    starts: Vec<Time>,
}

impl Arrivals {
    /// A process of the run with this seed.
    #[must_use]
    pub fn new(spec: &ArrivalSpec, seed: u64, routes: Routes, shared: Shared) -> Self {
        let rng = Rng::named(seed, &format!("arrivals {}", spec.name));
        let mut arrivals = Self {
            spec: spec.clone(),
            next: spec.active.start,
            free: Vec::new(),
            routes,
            shared,
            rng,
            starts: Vec::new(),
        };
        if let ArrivalProcess::Parallel { transfers, .. } = spec.process {
            arrivals.draw_first(transfers);
        }
        arrivals.draw_next(spec.active.start);
        arrivals
    }

    /// The first of parallel transfers start as flows do: each with a jitter of its own.
    fn draw_first(&mut self, transfers: u64) {
        let most = self.spec.active.start_jitter.0.saturating_add(1);
        let start = self.spec.active.start;
        self.starts = (0..transfers).map(|_| start + Span(self.rng.below(most))).collect();
        self.starts.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Draws the next arrival after `now`: exponential gaps, so a Poisson process; or takes the next start.
    pub fn draw_next(&mut self, now: Time) {
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
    pub fn draw_size(&mut self) -> u64 {
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
