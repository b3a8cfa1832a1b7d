//! What the ladder's tests share: links and flows in round numbers, without any jitter unless asked for, so that times
//! can be computed by hand. A full packet has 1500 bytes, a SYN or an ACK 52; at 12 Mbit/s a packet takes 1 ms.
#![allow(dead_code, reason = "each test binary uses a part")]

use cwndlab_cc::params::Value;
use cwndlab_cc::{Rate, Registry, Span, Time};
use cwndlab_sim::outcome::{FlowOutcome, LinkOutcome, Outcome};
use cwndlab_sim::queue::{Limit, QueueSpec};
use cwndlab_sim::spec::{
    ActiveTime, ArrivalProcess, ArrivalSpec, Capacity, FlowKind, FlowSpec, LinkSpec, LossKind, LossSpec,
    PathSpec, SimSpec, SizeSpec,
};
use cwndlab_sim::tcp::Profile;
use cwndlab_sim::{Schedule, Sim, Stop};

pub const MSS: u64 = 1448;
pub const PACKET: u64 = 1500;

pub fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

pub fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A link with a queue without end.
pub fn link(name: &str, rate: Rate, delay: Span) -> LinkSpec {
    LinkSpec {
        name: name.to_owned(),
        capacity: Capacity::Rate(Schedule::constant(rate)),
        delay: Schedule::constant(delay),
        up: Schedule::constant(true),
        loss: LossSpec { kind: LossKind::None, before_queue: false },
        queue: QueueSpec::droptail(Limit::Unlimited),
        overhead: 0,
        jitter: Span::ZERO,
        reorder: None,
        back: None,
    }
}

/// The same with a drop-tail queue of so many packets.
pub fn bottleneck(rate: Rate, delay: Span, packets: u64) -> LinkSpec {
    LinkSpec { queue: QueueSpec::droptail(Limit::Packets(packets)), ..link("bottleneck", rate, delay) }
}

/// A bulk flow over the first link, with the `linux` profile and its dialect.
pub fn flow(name: &str, cc: &str) -> FlowSpec {
    let profile = Profile::named("linux").expect("the default profile");
    FlowSpec {
        name: name.to_owned(),
        kind: FlowKind {
            algorithm: Registry::built_in().get(cc).expect("an algorithm that ships").clone(),
            uncoupled: false,
            settings: profile.dialect(cc),
            reverse: false,
            tcp: profile.options(),
            decision_delay: Span::ZERO,
        },
        paths: vec![PathSpec { links: vec![0], access: None, initial_ssthresh: None }],
        multipath: None,
        active: ActiveTime { start: Time::ZERO, start_jitter: Span::ZERO, stop: None },
        bytes: None,
    }
}

/// The same flow after a change.
pub fn changed(mut flow: FlowSpec, change: impl FnOnce(&mut FlowSpec)) -> FlowSpec {
    change(&mut flow);
    flow
}

/// A process whose flows are like this one but for their sizes.
pub fn arrivals(like: FlowSpec, process: ArrivalProcess, size: SizeSpec) -> ArrivalSpec {
    let FlowSpec { name, kind, mut paths, active, .. } = like;
    ArrivalSpec { name, kind, path: paths.remove(0), active, process, size }
}

/// A flow with a constant window that acknowledges every segment.
pub fn constant(name: &str, cwnd: u64) -> FlowSpec {
    changed(flow(name, "constant"), |flow| {
        flow.kind.settings = vec![("cwnd".to_owned(), Value::Count(cwnd))];
        flow.kind.tcp.delayed_ack = 1;
    })
}

/// One that sends so many packets.
pub fn transfer(name: &str, cwnd: u64, packets: u64) -> FlowSpec {
    FlowSpec { bytes: Some(packets * MSS), ..constant(name, cwnd) }
}

/// A run without jitter and without warm-up.
pub fn spec(duration: Span, links: Vec<LinkSpec>, flows: Vec<FlowSpec>) -> SimSpec {
    SimSpec {
        seed: 1,
        duration,
        warmup: Span::ZERO,
        links,
        flows,
        arrivals: vec![],
        send_jitter: Some(Span::ZERO),
        record: None,
        timeout_patterns: true,
    }
}

/// The same as a scenario has it: flows start within 10 ms of each other, and senders need some time.
pub fn jittered(seed: u64, mut spec: SimSpec) -> SimSpec {
    spec.seed = seed;
    spec.send_jitter = None;
    spec.flows.iter_mut().for_each(|flow| flow.active.start_jitter = ms(10));
    spec
}

pub fn run(spec: &SimSpec) -> Outcome {
    let mut sim = Sim::watched(spec);
    assert_eq!(sim.run(), Stop::Done);
    sim.outcome()
}

pub fn flow_named<'a>(outcome: &'a Outcome, name: &str) -> &'a FlowOutcome {
    outcome.flows.iter().find(|flow| flow.name == name).unwrap_or_else(|| panic!("no flow {name}"))
}

pub fn link_named<'a>(outcome: &'a Outcome, name: &str) -> &'a LinkOutcome {
    outcome.links.iter().find(|link| link.name == name).unwrap_or_else(|| panic!("no link {name}"))
}

/// Mean, and half of its 95 % interval by Student's t.
pub fn interval(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    // Student's 97.5 % quantile, for the numbers of seeds that are used here.
    let t = match values.len() {
        6 => 2.571,
        8 => 2.365,
        10 => 2.262,
        15 => 2.145,
        30 => 2.045,
        n => panic!("no quantile for {n} values"),
    };
    (mean, t * (variance / n).sqrt())
}

#[track_caller]
pub fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}
