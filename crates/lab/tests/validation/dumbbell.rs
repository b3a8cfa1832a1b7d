//! One bottleneck with the flows that share it, as a specification, and many of them run on all cores.

use cwndlab_cc::params::Value;
use cwndlab_cc::{Rate, Registry, Span, Time};
use cwndlab_sim::queue::{Limit, QueueKind, QueueSpec};
use cwndlab_sim::spec::{
    AccessSpec, ActiveTime, Capacity, FlowKind, FlowSpec, LinkSpec, LossKind, LossSpec, PathSpec, RecordSpec,
    SimSpec,
};
use cwndlab_sim::tcp::{Profile, TcpOptions};
use cwndlab_sim::{Outcome, Schedule, Sim, Stop};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A flow of a dumbbell.
#[derive(Clone)]
pub struct FlowSetup {
    /// Name of the algorithm.
    pub cc: &'static str,
    /// Settings beside the profile's dialect.
    pub settings: Vec<(&'static str, Value)>,
    /// Rate of its access link in Mbit/s, and one-way delay; `None`: it stands at the bottleneck.
    pub access: Option<(f64, Span)>,
    /// When it starts, at the earliest.
    pub start: Span,
    /// And at the latest so much after.
    pub start_jitter: Span,
}

impl FlowSetup {
    /// A flow at the bottleneck that starts at once.
    pub fn new(cc: &'static str) -> Self {
        Self { cc, settings: Vec::new(), access: None, start: Span::ZERO, start_jitter: Span::ZERO }
    }

    /// With a setting of its algorithm.
    pub fn with(mut self, name: &'static str, value: Value) -> Self {
        self.settings.push((name, value));
        self
    }
}

/// One bottleneck and its flows.
#[derive(Clone)]
pub struct Dumbbell {
    pub profile: &'static Profile,
    /// The profile's options, where a case changes them.
    pub tcp: TcpOptions,
    pub rate_mbps: f64,
    /// The bottleneck's rate over time, if it is not always that.
    pub rates: Option<Schedule<Rate>>,
    /// RTT without queues, serialisation and access links.
    pub rtt: Span,
    pub limit: Limit,
    /// A kind of queue for all links, in the place of drop-tail.
    pub queue: Option<QueueKind>,
    pub loss: LossKind,
    pub loss_before_queue: bool,
    pub duration_s: f64,
    pub warmup_s: f64,
    pub seed: u64,
    /// `None`: the default, one packet time.
    pub send_jitter: Option<Span>,
    /// Grid of the recording, if there is to be one.
    pub record: Option<Span>,
    pub flows: Vec<FlowSetup>,
}

impl Dumbbell {
    /// A lossless bottleneck without a limit of its queue, and senders without a processing delay.
    pub fn new(profile: &str, rate_mbps: f64, rtt_ms: f64, flows: Vec<FlowSetup>) -> Self {
        let profile = Profile::named(profile).expect("a profile");
        Self {
            profile,
            tcp: profile.options(),
            rate_mbps,
            rates: None,
            rtt: Span::from_secs_f64(rtt_ms / 1e3),
            limit: Limit::Unlimited,
            queue: None,
            loss: LossKind::None,
            loss_before_queue: false,
            duration_s: 0.0,
            warmup_s: 0.0,
            seed: 1,
            send_jitter: Some(Span::ZERO),
            record: None,
            flows,
        }
    }

    /// The same with these settings changed.
    pub fn but(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut other = self.clone();
        change(&mut other);
        other
    }

    /// The same with each of the seeds 1 to n.
    pub fn seeds(&self, n: u64) -> impl Iterator<Item = Self> + '_ {
        (1..=n).map(|seed| self.but(|case| case.seed = seed))
    }

    /// Runs it.
    pub fn run(&self) -> Outcome {
        let mut sim = Sim::watched(&self.spec());
        assert_eq!(sim.run(), Stop::Done);
        sim.outcome()
    }

    fn spec(&self) -> SimSpec {
        let loss = LossSpec { kind: self.loss.clone(), before_queue: self.loss_before_queue };
        let one_way = Span(self.rtt.0 / 2);
        let always = self.link("bottleneck", self.rate_mbps, one_way);
        let bottleneck = LinkSpec {
            loss,
            queue: self.queue(self.limit),
            capacity: self.rates.clone().map_or(always.capacity.clone(), Capacity::Rate),
            ..always
        };
        SimSpec {
            seed: self.seed,
            duration: Span::from_secs_f64(self.duration_s),
            warmup: Span::from_secs_f64(self.warmup_s),
            links: vec![bottleneck],
            flows: self.flows.iter().enumerate().map(|(index, flow)| self.flow(index, flow)).collect(),
            arrivals: Vec::new(),
            send_jitter: self.send_jitter,
            timeout_patterns: false,
            record: self.record.map(|interval| RecordSpec { interval, max_samples: 100_000 }),
        }
    }

    fn queue(&self, limit: Limit) -> QueueSpec {
        self.queue.map_or(QueueSpec::droptail(limit), QueueSpec::of)
    }

    fn link(&self, name: &str, rate_mbps: f64, delay: Span) -> LinkSpec {
        LinkSpec {
            name: name.to_owned(),
            capacity: Capacity::Rate(Schedule::constant(Rate((rate_mbps * 1e6).round() as u64))),
            delay: Schedule::constant(delay),
            up: Schedule::constant(true),
            loss: LossSpec { kind: LossKind::None, before_queue: false },
            queue: self.queue(Limit::Unlimited),
            overhead: self.tcp.overhead,
            jitter: Span::ZERO,
            reorder: None,
            back: None,
        }
    }

    fn flow(&self, index: usize, flow: &FlowSetup) -> FlowSpec {
        let algorithm = Registry::built_in().get(flow.cc).expect(flow.cc).clone();
        let mut settings = self.profile.dialect(flow.cc);
        settings.extend(flow.settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let name = format!("f{index}");
        let access = flow.access.map(|(mbps, delay)| AccessSpec {
            link: self.link(&format!("{name}.access"), mbps, delay),
            hold_back: false,
        });
        FlowSpec {
            name,
            kind: FlowKind {
                algorithm,
                uncoupled: false,
                settings,
                reverse: false,
                tcp: self.tcp.clone(),
                decision_delay: Span::ZERO,
            },
            paths: vec![PathSpec { links: vec![0], access, initial_ssthresh: None }],
            multipath: None,
            active: ActiveTime {
                start: Time::ZERO + flow.start,
                start_jitter: flow.start_jitter,
                stop: None,
            },
            bytes: None,
        }
    }
}

/// Runs them on all cores; outcomes are in the order of the cases.
pub fn run_all(cases: &[Dumbbell]) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < cases.len());
        std::iter::from_fn(take).map(|index| (index, cases[index].run())).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut outcomes: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a run has panicked")).collect()
    });
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Runs groups of cases on all cores; one group of outcomes for each.
pub fn run_groups(groups: Vec<Vec<Dumbbell>>) -> Vec<Vec<Outcome>> {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let mut outcomes = run_all(&groups.concat()).into_iter();
    sizes.into_iter().map(|size| outcomes.by_ref().take(size).collect()).collect()
}
