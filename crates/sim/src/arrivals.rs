//! Flows that come and go: when, and how large. They arrive at random, or each in the place of one that has ended.

use crate::flow::{Routes, Shared};
use crate::histogram::Histogram;
use crate::outcome::GroupOutcome;
use crate::spec::{ArrivalProcess, ArrivalSpec, SizeSpec};
use crate::tcp::{Counters, Sender};
use cwndlab_cc::{Rng, Span, Time};
use cwndlab_learn::math;

/// One arrival process, and what its flows measure together.
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
    delivered_bytes: u64,
    measure: Measure,
}

#[derive(Debug, Default)]
struct Measure {
    since: Time,
    arrived: u64,
    completion: Histogram,
    bytes_before: u64,
    /// Of the flows that have ended.
    counters: Counters,
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
            delivered_bytes: 0,
            measure: Measure::default(),
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

    /// A parallel transfer that has ended starts anew after its pause.
    fn follow(&mut self, now: Time) {
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

    /// A flow has started.
    pub fn note_arrival(&mut self) {
        self.measure.arrived += 1;
    }

    /// Data of a flow have arrived in order.
    pub fn note_bytes(&mut self, bytes: u64) {
        self.delivered_bytes += bytes;
    }

    /// Payload that all its flows delivered in order since the start of the run.
    #[must_use]
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Completion times of the measured time.
    #[must_use]
    pub fn completion_times(&self) -> &Histogram {
        &self.measure.completion
    }

    /// A flow has ended. Its completion time counts if it started in the measured time and delivered all that it was
    /// to send.
    pub fn note_end(&mut self, now: Time, started: Time, completion: Option<Span>, sender: &Sender) {
        if let Some(completion) = completion.filter(|_| started >= self.measure.since) {
            self.measure.completion.record(completion);
        }
        self.measure.counters.add(&sender.counters());
        self.follow(now);
    }

    /// What the flows that have ended counted.
    #[must_use]
    pub fn counted(&self) -> Counters {
        self.measure.counters
    }

    /// Forgets what was measured so far.
    pub fn restart_measure(&mut self, now: Time) {
        self.measure = Measure { since: now, bytes_before: self.delivered_bytes, ..Measure::default() };
    }

    /// What was measured up to now, with what all its flows have counted.
    #[must_use]
    pub fn outcome(&self, now: Time, counters: &Counters) -> GroupOutcome {
        let measure = &self.measure;
        let seconds = now.since(measure.since.max(self.spec.active.start)).as_secs_f64();
        let completion = &measure.completion;
        let bytes = self.delivered_bytes - measure.bytes_before;
        GroupOutcome {
            name: self.spec.name.clone(),
            cc: self.spec.kind.cc(),
            arrived: measure.arrived,
            completed: completion.count(),
            goodput_mbps: if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { 0.0 },
            completion_ms: completion.mean_ms(),
            completion_p50_ms: completion.quantile_ms(0.5),
            completion_p95_ms: completion.quantile_ms(0.95),
            completion_p99_ms: completion.quantile_ms(0.99),
            retransmitted_packets: counters.resent,
            timeouts: counters.timeouts,
            fast_recoveries: counters.fast_recoveries,
            patterns: None,
        }
    }
}
