//! What a simulation is made from: plain values, checked by the crate that fills them in (`cwndlab-lab`).

use crate::mptcp::MptcpOptions;
use crate::queue::QueueSpec;
use crate::schedule::Schedule;
use crate::tcp::TcpOptions;
use cwndlab_cc::params::Value;
use cwndlab_cc::registry::UNCOUPLED;
use cwndlab_cc::{Algorithm, Rate, Rng, Span, Time};
use std::borrow::Cow;
use std::sync::Arc;

/// A whole simulation.
#[derive(Clone)]
pub struct SimSpec {
    /// Seed of every random stream.
    pub seed: u64,
    /// Length of the run.
    pub duration: Span,
    /// The time at the start of the run that measures leave out.
    pub warmup: Span,
    /// The links; flows name them by index.
    pub links: Vec<LinkSpec>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
    /// Processes that start flows.
    pub arrivals: Vec<ArrivalSpec>,
    /// Upper bound of the senders' processing delay; `None`: one packet time of the slowest link of the path,
    /// and for paced senders 10 us if that is less.
    pub send_jitter: Option<Span>,
    /// What [`Watch`](crate::Watch) records; `None`: nothing.
    pub record: Option<RecordSpec>,
    /// Whether [`Watch`](crate::Watch) counts timeout patterns.
    pub timeout_patterns: bool,
}

/// What the recorder keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordSpec {
    /// Time between two samples.
    pub interval: Span,
    /// The most samples kept of each series; beyond that the recorder keeps every other one and doubles its
    /// interval.
    pub max_samples: usize,
}

/// One direction of a link: loss before, queue, server, propagation, loss after.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Its name.
    pub name: String,
    /// How fast it serves.
    pub capacity: Capacity,
    /// One-way propagation delay.
    pub delay: Schedule<Span>,
    /// Whether it works; a link that is down loses packets that arrive at its near end and packets that reach
    /// its far end.
    pub up: Schedule<bool>,
    /// The packets that it loses.
    pub loss: LossSpec,
    /// The queue in which packets wait.
    pub queue: QueueSpec,
    /// Bytes that this link adds to each packet.
    pub overhead: u64,
    /// Upper bound of a uniform extra delay; order is kept.
    pub jitter: Span,
    /// Packets that are delayed and overtaken by others.
    pub reorder: Option<ReorderSpec>,
    /// The opposite direction; `None`: not congested, lossless, the same delay.
    pub back: Option<Box<LinkSpec>>,
}

impl LinkSpec {
    /// Whether it is ever down.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.up.iter().any(|(_, up)| !up)
    }
}

/// How fast a link serves.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// Packets are served at once.
    Unlimited,
    /// At a rate that may change in steps.
    Rate(Schedule<Rate>),
    /// At the delivery opportunities of a trace.
    Trace(Arc<Opportunities>),
}

impl Capacity {
    /// The first rate, or the mean of the trace.
    #[must_use]
    pub fn nominal(&self) -> Option<Rate> {
        match self {
            Capacity::Unlimited => None,
            Capacity::Rate(rates) => Some(rates.first()),
            Capacity::Trace(trace) => {
                let bits = trace.at.len() as f64 * trace.bytes as f64 * 8.0;
                Some(Rate((bits / trace.period.as_secs_f64()).round() as u64))
            }
        }
    }
}

/// Delivery opportunities of a cellular link (mahimahi's format): at each time a number of bytes may leave; what is not
/// used is lost; after the period it starts again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Times in order; equal times are separate opportunities.
    pub at: Vec<Time>,
    /// Length of one cycle; not before the last opportunity, and above zero.
    pub period: Span,
    /// Bytes of one opportunity.
    pub bytes: u64,
}

/// What a link loses, and where.
#[derive(Clone, Debug)]
pub struct LossSpec {
    /// The loss process.
    pub kind: LossKind,
    /// Whether packets are lost before the queue (as in Dummynet) or after it.
    pub before_queue: bool,
}

/// A loss process.
#[derive(Clone, Debug)]
pub enum LossKind {
    /// Nothing is lost.
    None,
    /// Each packet with this probability, independently.
    Random(Schedule<f64>),
    /// Every n-th packet.
    Periodic {
        /// n
        every: u64,
    },
    /// Gilbert and Elliott's two states, stepped packet by packet.
    GilbertElliott {
        /// Probability of going from good to bad.
        to_bad: f64,
        /// Probability of going from bad to good.
        to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

/// Packets that are delayed and overtaken by others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderSpec {
    /// Probability that a packet is delayed.
    pub probability: f64,
    /// The delay added to that of the link.
    pub extra_delay: Span,
}

/// What runs at the ends of a flow, independent of when it starts and how much it sends. All flows of an
/// arrival process are of one kind.
#[derive(Clone)]
pub struct FlowKind {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Each subflow runs it as if it were alone.
    pub uncoupled: bool,
    /// Settings of the algorithm's parameters; the others have their defaults.
    pub settings: Vec<(String, Value)>,
    /// Whether its data cross the links in the reverse direction.
    pub reverse: bool,
    /// Its TCP options.
    pub tcp: TcpOptions,
    /// Time until a decision, of an external agent or a built-in policy, takes effect.
    pub decision_delay: Span,
}

impl FlowKind {
    /// What a scenario calls its algorithm.
    #[must_use]
    pub fn cc(&self) -> String {
        format!("{}{}", if self.uncoupled { UNCOUPLED } else { "" }, self.algorithm.name)
    }

    /// Its TCP options on one of its paths.
    #[must_use]
    pub fn tcp_on(&self, path: &PathSpec) -> Cow<'_, TcpOptions> {
        match path.initial_ssthresh {
            Some(initial_ssthresh) => Cow::Owned(TcpOptions { initial_ssthresh, ..self.tcp.clone() }),
            None => Cow::Borrowed(&self.tcp),
        }
    }
}

/// One path of a flow.
#[derive(Clone)]
pub struct PathSpec {
    /// The links it crosses, by index.
    pub links: Vec<usize>,
    /// Its access link at the sender, if it has one.
    pub access: Option<AccessSpec>,
    /// The initial ssthresh in segments, where it replaces that of the TCP options.
    pub initial_ssthresh: Option<u64>,
}

/// When flows send.
#[derive(Clone, Copy, Debug)]
pub struct ActiveTime {
    /// When a flow starts ...
    pub start: Time,
    /// ... plus a uniform delay up to this.
    pub start_jitter: Span,
    /// When it stops sending new data.
    pub stop: Option<Time>,
}

impl ActiveTime {
    /// When the flow of this name starts in the run with this seed.
    #[must_use]
    pub fn drawn_start(&self, seed: u64, name: &str) -> Time {
        let mut rng = Rng::named(seed, &format!("flow {name} start"));
        self.start + Span(rng.below(self.start_jitter.0.saturating_add(1)))
    }
}

/// One flow.
#[derive(Clone)]
pub struct FlowSpec {
    /// Its name.
    pub name: String,
    /// What runs at its ends.
    pub kind: FlowKind,
    /// Its path, or those of its subflows; the first opens the connection.
    pub paths: Vec<PathSpec>,
    /// The options of a multipath connection; `None` for a flow with one path.
    pub multipath: Option<MptcpOptions>,
    /// When it sends.
    pub active: ActiveTime,
    /// How much it sends; `None`: without end.
    pub bytes: Option<u64>,
}

impl FlowSpec {
    /// Whether one of its paths crosses this link.
    #[must_use]
    pub fn crosses(&self, link: usize) -> bool {
        self.paths.iter().any(|path| path.links.contains(&link))
    }

    /// The names of its parts, path by path: its own, or those of its subflows, `<name>/1` and so on.
    pub fn parts(&self) -> impl Iterator<Item = (String, &PathSpec)> {
        let multipath = self.multipath.is_some();
        let name = move |n| if multipath { format!("{}/{}", self.name, n + 1) } else { self.name.clone() };
        self.paths.iter().enumerate().map(move |(n, path)| (name(n), path))
    }
}

/// An access link at the sender.
#[derive(Clone, Debug)]
pub struct AccessSpec {
    /// The link.
    pub link: LinkSpec,
    /// Whether the sender is held back before the link's queue, as TCP small queues do.
    pub hold_back: bool,
}

/// Flows that come and go.
#[derive(Clone)]
pub struct ArrivalSpec {
    /// The name of the group.
    pub name: String,
    /// What runs at the ends of each flow.
    pub kind: FlowKind,
    /// The path of each flow; they share its access link.
    pub path: PathSpec,
    /// When the process begins and ends.
    pub active: ActiveTime,
    /// When its flows start.
    pub process: ArrivalProcess,
    /// Sizes of the flows in bytes.
    pub size: SizeSpec,
}

/// When the flows of a process start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrivalProcess {
    /// At random, with this mean number per second: a Poisson process.
    PerSecond(f64),
    /// A constant number at a time: each transfer that has ended is followed by another connection.
    Parallel {
        /// The number of transfers at a time.
        transfers: u64,
        /// Time from the end of one to the start of the next.
        pause: Span,
    },
}

/// A distribution of flow sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeSpec {
    /// All flows have this size.
    Constant(u64),
    /// Exponential with this mean.
    Exponential {
        /// Mean in bytes.
        mean: f64,
    },
    /// Pareto: P(size > x) = (minimum / x)^shape.
    Pareto {
        /// Mean in bytes; the minimum is mean (shape - 1) / shape.
        mean: f64,
        /// Tail index, above 1.
        shape: f64,
    },
}
