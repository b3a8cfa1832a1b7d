//! Random scenarios, each as the text of a scenario file. They shrink part by part: fewer flows, fewer links, fewer
//! keys, rounder numbers. A scenario's `Debug` is its file, so that a failing test prints the smallest one that fails.

use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use std::fmt::{self, Write};

/// Every algorithm that decides by itself.
const ALGORITHMS: &[&str] = &[
    "reno",
    "cubic",
    "newreno",
    "vegas",
    "bbr1",
    "bbr2",
    "bbr3",
    "fbbr2",
    "sd",
    "pd",
    "sd-pd",
    "lia",
    "olia",
    "balia",
    "dbac",
    "uncoupled:cubic",
    "constant",
    "random",
    "always",
    "dqn-newreno",
    "dqn-cubic",
    "dqn-cubic-2022",
];
const PROFILES: &[&str] = &["linux", "ns3", "linux-2.2"];
/// The traces of the module `common`.
const TRACES: &[&str] = &["short", "long", "each-ms", "steps.csv", "outages.csv"];
const QUEUES: &[&str] = &[
    "\"5 packets\"",
    "\"100 packets\"",
    "\"20 kB\"",
    "\"unlimited\"",
    "\"codel\"",
    "{ kind = \"codel\", limit = 20, ecn = true }",
    "\"fq-codel\"",
    "{ kind = \"fq-codel\", limit = 8, perfect_hash = true }",
    "\"ns3-default\"",
    "{ kind = \"ns3-default\", device = 1 }",
    "{ kind = \"ns3-default\", device = 5 }",
];
const LOSSES: &[&str] = &[
    "0.01",
    "0.3",
    "{ kind = \"random\", rate = 0.02, place = \"before\" }",
    "{ kind = \"periodic\", every = 50 }",
    "{ kind = \"gilbert-elliott\", to_bad = 0.01, to_good = 0.2 }",
    "1",
];
const TCP_OPTIONS: &[&str] = &[
    "ecn = true",
    "pacing = true",
    "sack = false",
    "mss = 500",
    "mtu = 600",
    "delayed_ack = 1",
    "receive_buffer = \"30 kB\"",
    "send_buffer = \"60 kB\"",
    "recovery = \"window\"",
    "tail_loss_probe = false",
    "rto_min = \"1 s\"",
];

/// A share of the run's duration.
type Share = u16;

fn at(duration_ns: u64, share: Share) -> u64 {
    (u128::from(duration_ns) * u128::from(share) / (1 << 16)) as u64
}

/// A time of the run in nanoseconds that is not 0.
fn within(duration_ns: u64, share: Share) -> u64 {
    at(duration_ns, share).max(1)
}

/// Round numbers more often than others: coincidences are where the order of events matters.
fn nanoseconds(most_ms: u64) -> impl Strategy<Value = u64> {
    prop_oneof![(0..=most_ms).prop_map(|ms| ms * 1_000_000), 0..=most_ms * 1_000_000]
}

/// From 8 kbit/s to 1 Gbit/s, the small as likely as the large.
fn rate() -> impl Strategy<Value = u64> {
    (0..=5_u32, 8..=100_u64).prop_map(|(power, digits)| digits * 1000 * 10_u64.pow(power) / 10)
}

#[derive(Clone, Debug)]
enum Rate {
    Constant(u64),
    Steps(u64, Vec<(Share, u64)>),
    Trace(&'static str),
    /// A trace from a random start.
    Drawn(&'static str),
}

fn any_rate() -> impl Strategy<Value = Rate> {
    prop_oneof![
        4 => rate().prop_map(Rate::Constant),
        1 => (rate(), prop::collection::vec((any::<Share>(), rate()), 1..4))
            .prop_map(|(first, steps)| Rate::Steps(first, steps)),
        1 => select(TRACES).prop_map(Rate::Trace),
        1 => select(TRACES).prop_map(Rate::Drawn),
    ]
}

impl Rate {
    fn write(&self, text: &mut String, duration_ns: u64) {
        let _ = match self {
            Rate::Constant(rate) => writeln!(text, "rate = \"{rate} bit/s\""),
            Rate::Steps(first, steps) => {
                let steps = in_order(steps.iter().map(|(share, rate)| (within(duration_ns, *share), rate)));
                let _ = write!(text, "rate = [{{ at = \"0 s\", value = \"{first} bit/s\" }}");
                for (at, rate) in steps {
                    let _ = write!(text, ", {{ at = \"{at} ns\", value = \"{rate} bit/s\" }}");
                }
                writeln!(text, "]")
            }
            Rate::Trace(name) => writeln!(text, "trace = \"{name}\""),
            Rate::Drawn(name) => writeln!(text, "trace = {{ file = \"{name}\", start = \"random\" }}"),
        };
    }
}

/// Steps in order, each at a time of its own.
fn in_order<V>(steps: impl Iterator<Item = (u64, V)>) -> Vec<(u64, V)> {
    let mut steps: Vec<_> = steps.collect();
    steps.sort_by_key(|(at, _)| *at);
    steps.dedup_by_key(|(at, _)| *at);
    steps
}

#[derive(Clone, Debug)]
struct Link {
    rate: Rate,
    delay_ns: u64,
    delay_step: Option<(Share, u64)>,
    queue: Option<&'static str>,
    loss: Option<&'static str>,
    overhead: Option<u64>,
    jitter_ns: Option<u64>,
    reordered: bool,
    down: Option<(Share, Share)>,
    back: Option<(u64, &'static str)>,
}

fn link() -> impl Strategy<Value = Link> {
    let service = (any_rate(), nanoseconds(300), weighted(0.1, (any::<Share>(), nanoseconds(100))));
    let queue = (weighted(0.7, select(QUEUES)), weighted(0.2, select(LOSSES)), weighted(0.1, 0..100_u64));
    let chance = (weighted(0.1, nanoseconds(20)), prop::bool::weighted(0.1));
    let rest = (weighted(0.1, (any::<Share>(), any::<Share>())), weighted(0.3, (rate(), select(QUEUES))));
    (service, queue, chance, rest).prop_map(|(service, queue, chance, rest)| Link {
        rate: service.0,
        delay_ns: service.1,
        delay_step: service.2,
        queue: queue.0,
        loss: queue.1,
        overhead: queue.2,
        jitter_ns: chance.0,
        reordered: chance.1,
        down: rest.0,
        back: rest.1,
    })
}

impl Link {
    fn write(&self, text: &mut String, index: usize, duration_ns: u64) {
        let _ = writeln!(text, "\n[[link]]\nname = \"l{index}\"");
        self.rate.write(text, duration_ns);
        let _ = match self.delay_step {
            None if self.delay_ns.is_multiple_of(5) => writeln!(text, "delay = {{ file = \"ramp\" }}"),
            None => writeln!(text, "delay = \"{} ns\"", self.delay_ns),
            Some((share, then)) => writeln!(
                text,
                "delay = [{{ at = \"0 s\", value = \"{} ns\" }}, {{ at = \"{} ns\", value = \"{then} ns\" }}]",
                self.delay_ns,
                within(duration_ns, share)
            ),
        };
        let mut key = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(text, "{name} = {value}");
            }
        };
        key("queue", self.queue.map(str::to_owned));
        key("loss", self.loss.map(str::to_owned));
        key("overhead", self.overhead.map(|bytes| bytes.to_string()));
        key("jitter", self.jitter_ns.map(|ns| format!("\"{ns} ns\"")));
        key("reorder", self.reordered.then(|| "{ probability = 0.05, delay = \"3 ms\" }".to_owned()));
        key("up", self.down.map(|(from, to)| outage(within(duration_ns, from), within(duration_ns, to))));
        key("back", self.back.map(|(rate, queue)| format!("{{ rate = \"{rate} bit/s\", queue = {queue} }}")));
    }
}

/// Up, down between two times, and up again.
fn outage(a: u64, b: u64) -> String {
    let (from, to) = (a.min(b), a.max(b).max(a.min(b) + 1));
    format!(
        "[{{ at = \"0 s\", value = true }}, {{ at = \"{from} ns\", value = false }}, {{ at = \"{to} ns\", value = true }}]"
    )
}

#[derive(Clone, Debug)]
enum Kind {
    Bulk { count: u64 },
    Sized { bytes: u64, reverse: bool },
    Poisson { per_second: u64, bytes: u64 },
    Parallel { transfers: u64, bytes: u64 },
    Multipath { scheduler: &'static str, bytes: Option<u64> },
}

fn kind() -> impl Strategy<Value = Kind> {
    let bytes = || 1..300_000_u64;
    prop_oneof![
        4 => (1..4_u64).prop_map(|count| Kind::Bulk { count }),
        2 => (bytes(), any::<bool>()).prop_map(|(bytes, reverse)| Kind::Sized { bytes, reverse }),
        1 => (1..200_u64, bytes()).prop_map(|(per_second, bytes)| Kind::Poisson { per_second, bytes }),
        1 => (1..40_u64, bytes()).prop_map(|(transfers, bytes)| Kind::Parallel { transfers, bytes }),
        2 => (select(&["saturate", "min-rtt", "round-robin"][..]), weighted(0.5, bytes()))
            .prop_map(|(scheduler, bytes)| Kind::Multipath { scheduler, bytes }),
    ]
}

#[derive(Clone, Debug)]
struct Access {
    rate: Option<u64>,
    delay_ns: u64,
    queue: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct Flow {
    cc: &'static str,
    kind: Kind,
    /// Which links it crosses: bits.
    links: u8,
    access: Option<Access>,
    start: Share,
    stop: Option<Share>,
    jitter: bool,
    tcp: Option<&'static str>,
}

fn flow() -> impl Strategy<Value = Flow> {
    let access = (weighted(0.8, rate()), nanoseconds(50), weighted(0.3, select(QUEUES)));
    let access = access.prop_map(|(rate, delay_ns, queue)| Access { rate, delay_ns, queue });
    let times = (any::<Share>(), weighted(0.2, any::<Share>()), any::<bool>());
    let what = (select(ALGORITHMS), kind(), any::<u8>(), weighted(0.4, access));
    (what, times, weighted(0.3, select(TCP_OPTIONS))).prop_map(|(what, times, tcp)| Flow {
        cc: what.0,
        kind: what.1,
        links: what.2,
        access: what.3,
        start: times.0,
        stop: times.1,
        jitter: times.2,
        tcp,
    })
}

impl Flow {
    fn write(&self, text: &mut String, index: usize, links: usize, duration_ns: u64) {
        let crossed: Vec<_> = (0..links)
            .filter(|link| self.links >> link & 1 == 1 || links == 1)
            .map(|l| format!("\"l{l}\""))
            .collect();
        let path = if crossed.is_empty() { "\"l0\"".to_owned() } else { crossed.join(", ") };
        let _ = writeln!(text, "\n[[flow]]\nname = \"f{index}\"\ncc = \"{}\"", self.cc);
        let _ = match &self.kind {
            Kind::Bulk { count } => writeln!(text, "path = [{path}]\ncount = {count}"),
            Kind::Sized { bytes, reverse } => {
                writeln!(text, "path = [{path}]\nbytes = \"{bytes} B\"\nreverse = {reverse}")
            }
            Kind::Poisson { per_second, bytes } => writeln!(
                text,
                "path = [{path}]\narrivals = {{ per_second = {per_second}, size = {{ kind = \"exponential\", mean = \"{bytes} B\" }} }}"
            ),
            Kind::Parallel { transfers, bytes } => {
                writeln!(
                    text,
                    "path = [{path}]\narrivals = {{ parallel = {transfers}, size = \"{bytes} B\" }}"
                )
            }
            Kind::Multipath { scheduler, bytes } => {
                let _ =
                    writeln!(text, "paths = [[{path}], [\"l0\"]]\nmptcp = {{ scheduler = \"{scheduler}\" }}");
                bytes.map_or(Ok(()), |bytes| writeln!(text, "bytes = \"{bytes} B\""))
            }
        };
        if let Some(access) = &self.access {
            let rate = access.rate.map_or(String::new(), |rate| format!("rate = \"{rate} bit/s\", "));
            let queue = access.queue.filter(|_| access.rate.is_some());
            let queue = queue.map_or(String::new(), |queue| format!(", queue = {queue}"));
            let _ = writeln!(text, "access = {{ {rate}delay = \"{} ns\"{queue} }}", access.delay_ns);
        }
        let start = at(duration_ns, self.start);
        let _ = writeln!(text, "start = \"{start} ns\"");
        if let Some(stop) = self.stop {
            let _ = writeln!(text, "stop = \"{} ns\"", start + within(duration_ns, stop));
        }
        if !self.jitter {
            let _ = writeln!(text, "jitter = \"0 s\"");
        }
        // A connection over several paths has no send buffer.
        let refused =
            |option: &str| matches!(self.kind, Kind::Multipath { .. }) && option.starts_with("send_buffer");
        if let Some(option) = self.tcp.filter(|option| !refused(option)) {
            let _ = writeln!(text, "tcp = {{ {option} }}");
        }
    }
}

/// A scenario that the reader must accept.
#[derive(Clone)]
pub struct Generated {
    duration_ns: u64,
    warmup: Option<Share>,
    profile: &'static str,
    jitter: bool,
    links: Vec<Link>,
    flows: Vec<Flow>,
}

/// Scenarios of at most 2 s, three links and four flows or groups of flows.
pub fn scenario() -> impl Strategy<Value = Generated> {
    let top = (nanoseconds(1990), weighted(0.5, any::<Share>()), select(PROFILES), any::<bool>());
    let links = prop::collection::vec(link(), 1..4);
    let flows = prop::collection::vec(flow(), 1..5);
    (top, links, flows).prop_map(|(top, links, flows)| Generated {
        duration_ns: top.0 + 10_000_000,
        warmup: top.1,
        profile: top.2,
        jitter: top.3,
        links,
        flows,
    })
}

impl Generated {
    /// The scenario's file.
    pub fn text(&self) -> String {
        let mut text = format!("duration = \"{} ns\"\nprofile = \"{}\"\n", self.duration_ns, self.profile);
        if let Some(warmup) = self.warmup {
            let _ = writeln!(text, "warmup = \"{} ns\"", at(self.duration_ns, warmup));
        }
        if !self.jitter {
            text.push_str("send_jitter = \"0 s\"\n");
        }
        for (index, link) in self.links.iter().enumerate() {
            link.write(&mut text, index, self.duration_ns);
        }
        for (index, flow) in self.flows.iter().enumerate() {
            flow.write(&mut text, index, self.links.len(), self.duration_ns);
        }
        text
    }
}

impl fmt::Debug for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this scenario file:\n\n{}", self.text())
    }
}

/// The suite tries `cases` scenarios, the same each time. With `CWNDLAB_SCENARIOS=N` it tries N others, new ones each time.
pub fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("CWNDLAB_SCENARIOS").ok();
    let number = asked.map(|number| number.parse().expect("CWNDLAB_SCENARIOS is a number of scenarios"));
    ProptestConfig {
        cases: number.unwrap_or(cases),
        rng_seed: if number.is_some() { RngSeed::Random } else { RngSeed::Fixed(1) },
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
