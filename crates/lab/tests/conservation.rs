//! What must hold of any scenario, whatever is in it: nothing is delivered that was not sent, no link carries more than
//! it can, no queue holds more than its size, looking on changes nothing, links that know their departures come to the
//! same as links with service events, and links that look ahead to the same as links that do not. `CWNDLAB_SCENARIOS=5000 cargo test -p cwndlab-lab --test conservation` tries more
//! scenarios than the suite does.

mod common;
mod generated;

use common::read_with;
use cwndlab_cc::{Span, Time};
use cwndlab_lab::run::{RunToken, run_seed};
use cwndlab_lab::scenario::Scenario;
use cwndlab_sim::outcome::{FlowIntervals, FlowOutcome, GroupOutcome, Intervals, LinkOutcome, Outcome, Work};
use cwndlab_sim::queue::{Limit, Service};
use cwndlab_sim::spec::{Capacity, FlowKind, LinkSpec, PathSpec, SimSpec};
use cwndlab_sim::tap::{State, Tap};
use cwndlab_sim::{Measures, Sim};
use generated::{Generated, config, scenario};
use proptest::prelude::*;

/// A departure is a whole nanosecond, at most one earlier than the packet's last bit.
const ROUNDING_S: f64 = 1e-9;
/// Percentiles come from buckets that are 1/64 of a power of two wide.
const BUCKET: f64 = 1.0 / 64.0;
/// Sums of many numbers.
const EPSILON: f64 = 1e-9;
/// SACK blocks and timestamps make an ACK longer than the headers of a data packet.
const LONGEST_ACK: u64 = 100;

/// A run to be checked, and what was found wrong with it.
struct Check<'a> {
    spec: &'a SimSpec,
    outcome: &'a Outcome,
    wrong: Vec<String>,
}

impl Check<'_> {
    fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(what());
        }
    }

    fn all(mut self) -> Vec<String> {
        self.outcome.links.iter().for_each(|link| self.link(link));
        self.spec.links.iter().zip(&self.outcome.links).for_each(|(spec, link)| self.queue(spec, link));
        self.outcome.flows.iter().for_each(|flow| self.flow(flow));
        self.outcome.groups.iter().for_each(|group| self.group(group));
        self.delivered();
        self.wrong
    }

    /// The measured time.
    fn seconds(&self) -> f64 {
        (Time::ZERO + self.spec.duration).since(Time::ZERO + self.spec.warmup).as_secs_f64()
    }

    /// How much faster than on average a link's fastest nanosecond of the measured time is.
    fn peak_to_mean(&self, link: &str) -> f64 {
        let named = self.spec.links.iter().find(|spec| spec.name == link);
        let Some(Capacity::Rate(rates)) = named.map(|spec| &spec.capacity) else { return 1.0 };
        let fastest = rates.iter().map(|(_, rate)| rate.0).max().unwrap_or(0) as f64 / 8.0;
        let whole = |until: Span| capacity_bytes(&Capacity::Rate(rates.clone()), until);
        fastest * self.seconds() / (whole(self.spec.duration) - whole(self.spec.warmup))
    }

    fn link(&mut self, link: &LinkOutcome) {
        let spared_s = (link.served_packets + 2) as f64 * ROUNDING_S;
        let rounding = spared_s / self.seconds() * self.peak_to_mean(&link.name) + EPSILON;
        if let Some(used) = link.utilisation {
            self.expect((-rounding..=1.0 + rounding).contains(&used), || {
                format!("utilisation {used}: {link:?}")
            });
        }
        let delays = [link.queue_delay_ms, link.queue_delay_p95_ms].into_iter().flatten();
        self.expect(delays.chain([link.queue_mean_bytes]).all(|value| value >= 0.0), || {
            format!("negative: {link:?}")
        });
    }

    /// A drop-tail queue in front of a rate: what waits is at most its size and the packet in service.
    fn queue(&mut self, spec: &LinkSpec, link: &LinkOutcome) {
        if !matches!(spec.queue.kind.service, Service::Fifo) {
            return;
        }
        let packet = self.longest_packet() + spec.overhead;
        let most = match spec.queue.limit {
            Limit::Packets(packets) => packets * packet + packet,
            Limit::Bytes(bytes) => bytes + packet,
            Limit::Unlimited => return,
        };
        let slack = 1.0 + EPSILON;
        self.expect(link.queue_mean_bytes <= most as f64 * slack, || format!("more than {most} B: {link:?}"));
        let Capacity::Rate(rates) = &spec.capacity else { return };
        let slowest = rates.iter().map(|(_, rate)| rate.0).min().unwrap_or(0);
        if slowest > 0 {
            let most_ms = most as f64 * 8e3 / slowest as f64;
            let within = |delay: Option<f64>| delay.unwrap_or(0.0) <= most_ms * (1.0 + BUCKET) + EPSILON;
            let fine = within(link.queue_delay_ms) && within(link.queue_delay_p95_ms);
            self.expect(fine, || format!("more than {most_ms} ms: {link:?}"));
        }
    }

    fn longest_packet(&self) -> u64 {
        let arriving = self.spec.arrivals.iter().map(|group| &group.kind);
        let kinds = self.spec.flows.iter().map(|flow| &flow.kind).chain(arriving);
        kinds
            .map(|kind| (kind.tcp.mss + kind.tcp.header).max(kind.tcp.header + LONGEST_ACK))
            .max()
            .unwrap_or(0)
    }

    fn flow(&mut self, flow: &FlowOutcome) {
        let rates = [flow.goodput_mbps, flow.throughput_mbps, flow.cwnd_mean_segments];
        self.expect(rates.iter().all(|rate| *rate >= 0.0 && rate.is_finite()), || format!("rates: {flow:?}"));
        self.expect(flow.retransmitted_packets <= flow.sent_packets, || format!("sent again: {flow:?}"));
        if let (Some(least), Some(mean), Some(p95)) = (flow.rtt_min_ms, flow.rtt_ms, flow.rtt_p95_ms) {
            let fine = least > 0.0 || self.base_is_zero();
            self.expect(fine && least <= mean * (1.0 + EPSILON) + EPSILON, || format!("RTT: {flow:?}"));
            self.expect(least <= p95 * (1.0 + BUCKET) + EPSILON, || format!("RTT: {flow:?}"));
        }
        if let Some(completion_s) = flow.completion_s {
            let most_s = self.spec.duration.as_secs_f64();
            self.expect(completion_s > 0.0 && completion_s <= most_s, || format!("completion: {flow:?}"));
        }
        if let Some(multipath) = &flow.multipath {
            let limited = multipath.receive_limited.expect("the simulator measures it");
            self.expect((0.0..=1.0 + EPSILON).contains(&limited), || format!("receive_limited {limited}"));
            multipath.subflows.iter().for_each(|subflow| self.flow(subflow));
        }
    }

    /// Links that delay nothing and serve at once would give an RTT of 0.
    fn base_is_zero(&self) -> bool {
        self.spec.links.iter().any(|link| link.delay.iter().any(|(_, delay)| *delay == Span::ZERO))
    }

    fn group(&mut self, group: &GroupOutcome) {
        self.expect(group.completed <= group.arrived, || format!("{group:?}"));
        let percentiles = [group.completion_p50_ms, group.completion_p95_ms, group.completion_p99_ms];
        self.expect(percentiles.is_sorted(), || format!("{group:?}"));
    }

    /// Over the whole run: what was delivered was sent, and crossed links that could carry it.
    fn delivered(&mut self) {
        let Intervals { flows, groups, .. } = &self.outcome.intervals;
        let bytes = |series: &[f64]| payload_bytes(&self.outcome.intervals, series);
        let mut crossed = vec![0.0; self.spec.links.len()];
        let mut wrong = Vec::new();
        for ((spec, kept), flow) in self.spec.flows.iter().zip(flows).zip(&self.outcome.flows) {
            let parts: Vec<&FlowIntervals> =
                if spec.multipath.is_some() { kept.subflows.iter().collect() } else { vec![kept] };
            for (path, kept) in spec.paths.iter().zip(parts) {
                carry(&mut crossed, &spec.kind, path, bytes(&kept.goodput_mbps.0));
            }
            let delivered = bytes(&kept.goodput_mbps.0);
            let once = (flow.sent_packets - flow.retransmitted_packets) * spec.kind.tcp.mss;
            if self.spec.warmup == Span::ZERO && delivered > once as f64 * (1.0 + EPSILON) + 1.0 {
                wrong.push(format!("{delivered} B delivered, {once} B sent: {flow:?}"));
            }
            if flow.completion_s.is_some() && (delivered - spec.bytes.unwrap_or(0) as f64).abs() > 1.0 {
                wrong.push(format!("{delivered} B delivered of {:?} and completed: {flow:?}", spec.bytes));
            }
        }
        for (group, series) in self.spec.arrivals.iter().zip(groups) {
            carry(&mut crossed, &group.kind, &group.path, bytes(&series.0));
        }
        for (link, bytes) in self.spec.links.iter().zip(crossed) {
            let most = capacity_bytes(&link.capacity, self.spec.duration);
            if bytes > most * (1.0 + EPSILON) + 1.0 {
                wrong.push(format!("{} carried {bytes} B of payload, and could carry {most} B", link.name));
            }
        }
        self.wrong.extend(wrong);
    }
}

fn carry(crossed: &mut [f64], kind: &FlowKind, path: &PathSpec, bytes: f64) {
    path.links.iter().filter(|_| !kind.reverse).for_each(|link| crossed[*link] += bytes);
}

fn payload_bytes(intervals: &Intervals, mbps: &[f64]) -> f64 {
    let mut before = 0.0;
    let mut bits = 0.0;
    for (end, mbps) in intervals.end_s.iter().zip(mbps) {
        bits += if mbps.is_nan() { 0.0 } else { mbps * 1e6 * (end - before) };
        before = *end;
    }
    bits / 8.0
}

/// Written apart from the simulator's own sum, which this checks.
fn capacity_bytes(capacity: &Capacity, duration: Span) -> f64 {
    let end = Time::ZERO + duration;
    match capacity {
        Capacity::Unlimited => f64::INFINITY,
        Capacity::Rate(rates) => {
            let steps: Vec<_> = rates.iter().filter(|(at, _)| *at < end).collect();
            let ends = steps.iter().skip(1).map(|(at, _)| *at).chain([end]);
            steps
                .iter()
                .zip(ends)
                .map(|((at, rate), until)| rate.0 as f64 * until.since(*at).as_secs_f64() / 8.0)
                .sum()
        }
        Capacity::Trace(trace) => {
            let cycles = 0..=duration.0 / trace.period.0;
            let times = cycles.flat_map(|cycle| trace.at.iter().map(move |at| cycle * trace.period.0 + at.0));
            (times.filter(|at| *at <= duration.0).count() as u64 * trace.bytes) as f64
        }
    }
}

fn outcome(scenario: &Scenario, seed: u64, record: bool) -> Outcome {
    let outcome = run_seed(scenario, seed, record, &RunToken::default());
    Outcome { recording: None, ..outcome.unwrap_or_else(|failure| panic!("{failure}")) }
}

fn read(text: &str) -> Result<Scenario, TestCaseError> {
    let (scenario, problems) = read_with(text.as_bytes(), &[]);
    scenario.ok_or_else(|| TestCaseError::fail(format!("refused: {problems:#?}")))
}

/// What was measured beside the timeout patterns.
fn without_patterns(mut outcome: Outcome) -> Outcome {
    for flow in &mut outcome.flows {
        flow.patterns = None;
        let subflows = flow.multipath.iter_mut().flat_map(|multipath| &mut multipath.subflows);
        subflows.for_each(|subflow| subflow.patterns = None);
    }
    outcome.groups.iter_mut().for_each(|group| group.patterns = None);
    outcome.distributions.retain(|times| times.measure != "rtt_peak_ratio");
    outcome
}

/// Everything that is checked of a scenario.
fn check(text: &str) -> Result<(), TestCaseError> {
    let scenario = read(text)?;
    let one = outcome(&scenario, 1, false);
    let wrong = Check { spec: &scenario.spec(1, false), outcome: &one, wrong: Vec::new() }.all();
    prop_assert!(wrong.is_empty(), "{wrong:#?}");
    prop_assert_eq!(&outcome(&scenario, 1, true), &one, "recorded and not recorded");
    let (patterns, _) = read_with(text.as_bytes(), &[("timeout_patterns", "true")]);
    let patterns = patterns.map(|scenario| without_patterns(outcome(&scenario, 1, true)));
    prop_assert_eq!(patterns.as_ref(), Some(&one), "with timeout patterns and without");
    let together = std::thread::scope(|scope| {
        let threads = [1, 2].map(|seed| {
            scope.spawn({
                let scenario = &scenario;
                move || outcome(scenario, seed, false)
            })
        });
        threads.map(|thread| thread.join().expect("no panic"))
    });
    prop_assert_eq!(&together, &[one, outcome(&scenario, 2, false)], "two threads and one");
    let looking_ahead = Sim::new(&scenario.spec(1, false));
    let in_order =
        Sim::with_tap(&scenario.spec(1, false), |state| (Measures::new(scenario.duration(), state), InOrder));
    prop_assert_eq!(run(looking_ahead), run(in_order).0, "with lookahead and without");
    let mut spec = scenario.spec(1, false);
    if !links(&mut spec).any(|link| draws_again(link)) {
        let [foreseen, by_packet] = [spec, by_packet(scenario.spec(1, false))].map(simulated);
        prop_assert_eq!(foreseen, by_packet, "links that know their departures, and service events");
    }
    Ok(())
}

/// A step of the rate re-times packets that have drawn their jitter, if the link knows their departures: they draw again.
fn draws_again(link: &LinkSpec) -> bool {
    let steps = |capacity: &Capacity| matches!(capacity, Capacity::Rate(rates) if rates.iter().count() > 1);
    let back = link.back.as_deref().is_some_and(draws_again);
    back || link.jitter > Span::ZERO && steps(&link.capacity)
}

/// Every link asks its queue packet by packet.
fn by_packet(mut spec: SimSpec) -> SimSpec {
    for link in links(&mut spec) {
        link.queue.kind.service = Service::ByPacket;
        if let Some(back) = &mut link.back {
            back.queue.kind.service = Service::ByPacket;
        }
    }
    spec
}

/// All links, with those of flows, but not their return directions.
fn links(spec: &mut SimSpec) -> impl Iterator<Item = &mut LinkSpec> {
    let paths = spec.flows.iter_mut().flat_map(|flow| &mut flow.paths);
    let paths = paths.chain(spec.arrivals.iter_mut().map(|group| &mut group.path));
    let access = paths.filter_map(|path| path.access.as_mut()).map(|access| &mut access.link);
    spec.links.iter_mut().chain(access)
}

/// What a simulation comes to, but for the number of its events.
fn simulated(spec: SimSpec) -> Outcome {
    Outcome { work: Work::default(), ..run(Sim::new(&spec)) }
}

fn run<T: Tap>(mut sim: Sim<T>) -> T::Outcome {
    sim.run();
    sim.outcome()
}

/// Observes nothing, but wants the events of all components in the order of their times: no link looks ahead.
struct InOrder;

impl Tap for InOrder {
    type Outcome = ();

    fn finish(self, _state: &State<'_>) {}
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn any_scenario(generated in scenario()) {
        let generated: Generated = generated;
        check(&generated.text())?;
    }
}

/// Scenarios that once broke a rule, each as small as it shrank to.
const ONCE_WRONG: &[(&str, &str)] = &[
    (
        "an opportunity at the very end of the measured time is used",
        "duration = \"2 s\"\nwarmup = \"1 s\"\n[[link]]\nname = \"l\"\ntrace = \"each-ms\"\ndelay = \"1 ms\"\n\
         queue = \"unlimited\"\n[[flow]]\ncc = \"cubic\"\npath = [\"l\"]\n",
    ),
    (
        "a packet that is re-timed keeps what is out of it",
        "duration = \"0.01 s\"\nwarmup = \"0.00422449 s\"\n[[link]]\nname = \"l\"\ndelay = \"10 ms\"\n\
         rate = [{ at = \"0 s\", value = \"1000 bit/s\" }, { at = \"7462975 ns\", value = \"8 bit/s\" }]\n\
         [[flow]]\ncc = \"reno\"\npath = [\"l\"]\njitter = \"0 s\"\n",
    ),
    (
        "what was served before the warm-up ended does not depend on who looked",
        "duration = \"1 s\"\nwarmup = \"0.710945 s\"\n[[link]]\nname = \"l\"\nrate = \"10 Mbit/s\"\n\
         delay = \"277781128 ns\"\n[[flow]]\ncc = \"reno\"\npath = [\"l\"]\n",
    ),
    (
        "a connection that stops before it starts completes nothing",
        "duration = \"1 s\"\n[[link]]\nname = \"l\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[flow]]\ncc = \"lia\"\npaths = [[\"l\"], [\"l\"]]\nbytes = \"1 MB\"\nstop = \"1 ns\"\njitter = \"10 ms\"\n",
    ),
    (
        "a transfer that its stop cuts short is not complete",
        "duration = \"1 s\"\n[[link]]\nname = \"l\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[flow]]\ncc = \"cubic\"\npath = [\"l\"]\nbytes = \"1 MB\"\nstop = \"100 ms\"\n",
    ),
    (
        "a sender that is woken for nothing keeps the timer of its probe",
        "duration = \"978523519 ns\"\nprofile = \"linux\"\nsend_jitter = \"0 s\"\n[[link]]\nname = \"l0\"\n\
         rate = \"64000 bit/s\"\ndelay = { file = \"ramp\" }\n\
         queue = { kind = \"fq-codel\", limit = 8, perfect_hash = true }\n\
         [[flow]]\nname = \"f0\"\ncc = \"reno\"\npath = [\"l0\"]\nstart = \"77417670 ns\"\njitter = \"0 s\"\n\
         arrivals = { per_second = 69, size = { kind = \"exponential\", mean = \"5531 B\" } }\n\
         access = { rate = \"73000 bit/s\", delay = \"1000000 ns\" }\n\
         [[flow]]\nname = \"f1\"\ncc = \"reno\"\npath = [\"l0\"]\ncount = 1\nstart = \"50317752 ns\"\n\
         [[flow]]\nname = \"f2\"\ncc = \"reno\"\npath = [\"l0\"]\ncount = 1\nstart = \"40657341 ns\"\n",
    ),
];

#[test]
fn what_was_once_wrong_is_right() {
    let checked = ONCE_WRONG.iter().filter_map(|(what, text)| Some((what, check(text).err()?)));
    let wrong: Vec<_> = checked.map(|(what, error)| format!("{what}: {error}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a receiver announces in an ACK depends on the data from all paths, so the paths must look ahead together: with a
/// small receive window, with delayed ACKs that wait, and where the connection ends or is stopped.
#[test]
fn the_paths_of_a_connection_look_ahead_together() {
    let flows = [
        "",
        "bytes = \"300 kB\"\n",
        "stop = \"1234567 us\"\n",
        "mptcp = { scheduler = \"round-robin\" }\nbytes = \"77 kB\"\n",
    ];
    // With delays above the timeout of a delayed ACK, its timer starts and expires while other paths wait.
    for (delay_ms, buffer_kb) in [(15, 20), (33, 40), (90, 60), (90, 6000)] {
        for flow in flows {
            let text = format!(
                "duration = \"3 s\"\nprofile = \"ns3\"\n[tcp]\nreceive_buffer = \"{buffer_kb} kB\"\ndelayed_ack = 2\ndelayed_ack_timeout = \"3 ms\"\n\
                 [[link]]\nname = \"a\"\nrate = \"3 Mbit/s\"\ndelay = \"20 ms\"\nloss = 0.01\n\
                 [[link]]\nname = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"{delay_ms} ms\"\nqueue = \"20 packets\"\n\
                 [[link]]\nname = \"c\"\nrate = \"1 Mbit/s\"\ndelay = \"25 ms\"\n\
                 [[flow]]\ncc = \"lia\"\npaths = [[\"a\"], [\"b\"], [\"c\"]]\n{flow}\
                 [[flow]]\ncc = \"reno\"\npath = [\"b\"]\n"
            );
            let checked = check(&text);
            assert!(checked.is_ok(), "{text}\n{checked:?}");
        }
    }
}
