//! Whatever bytes are given, the reader answers: with a scenario that builds a simulation which starts, or with
//! errors.

mod common;

use common::read_with;
use cwndlab_cc::Time;
use cwndlab_sim::Sim;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Scenarios that are mutated: together they hold every key.
const SEEDS: &[&str] = &[
    r#"name = "x"
duration = "10 s"
profile = "ns3"
warmup = "1 s"
send_jitter = "1 ms"
timeout_patterns = true
record = { interval = "5 ms" }
tcp = { mss = 500, rto_min = "1 s", recovery = "prr", sack = true }
[[link]]
name = "b"
rate = [{ at = "0 s", value = "10 Mbit/s" }, { at = "5 s", value = "5 Mbit/s" }]
delay = "30 ms"
queue = { kind = "fq-codel", size = "1 bdp", target = "5 ms" }
loss = { kind = "gilbert-elliott", to_bad = 0.1, to_good = 0.1, loss_good = 0, loss_bad = 1, place = "before" }
overhead = 4
jitter = "1 ms"
reorder = { probability = 0.1, delay = "2 ms" }
back = { rate = "1 Mbit/s", queue = "10 packets" }
[[link]]
name = "c"
trace = "short"
delay = "3 ms"
up = [{ at = "0 s", value = true }, { at = "2 s", value = false }]
queue = "64 kB"
back = { rate = "5 Mbit/s" }
[[flow]]
name = "a"
cc = { name = "cubic", C = 1.2 }
path = ["b", "c"]
access = { rate = "1 Gbit/s", delay = "1 ms", queue = "unlimited" }
start = "1 s"
jitter = "0 s"
stop = "9 s"
bytes = "10 MB"
tcp = { ecn = true }
[[flow]]
cc = "reno"
path = ["c"]
reverse = true
count = 3
decision_delay = "1 ms"
[[flow]]
cc = "newreno"
path = ["b"]
arrivals = { per_second = 20, size = { kind = "pareto", mean = "30 kB", shape = 1.3 } }
[[flow]]
cc = "uncoupled:cubic"
paths = [["b"], ["c"]]
access = [{ delay = "1 ms" }, { rate = "50 Mbit/s", delay = "2 ms" }]
mptcp = { scheduler = "min-rtt" }
"#,
    "duration = \"1 s\"\n[[link]]\nname = \"b\"\ntrace = { file = \"each-ms\", start = \"random\" }\n\
     delay = { file = \"ramp\", every = \"10 ms\" }\n[link.back]\ntrace = { file = \"steps.csv\", start = \"3 s\" }\n\
     delay = { file = \"delays.csv\", start = \"random\" }\n[[flow]]\ncc = \"reno\"\npath = [\"b\"]\n",
    "duration = \"1 s\"\n[[link]]\nname = \"b\"\ntrace = \"steps.csv\"\ndelay = \"1 ms\"\nloss = 0.1\n\
     [[flow]]\ncc = \"reno\"\npath = [\"b\"]\n",
];

/// Values that are put in the place of others: at the edges of what is allowed, and far beyond.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "0.5",
    "1e308",
    "nan",
    "inf",
    "true",
    "false",
    "[]",
    "{}",
    "[[[]]]",
    "65535",
    "18446744073709551615",
    "99999999999999999999999999",
    "1979-05-27",
    "\"\"",
    "\"1 bdp\"",
    "\"1e9 bdp\"",
    "\"1 packets\"",
    "\"1501 B\"",
    "\"1 B\"",
    "\"1 ns\"",
    "\"1 s\"",
    "\"2 s\"",
    "\"1e18 ns\"",
    "\"1 bit/s\"",
    "\"1e15 bit/s\"",
    "\"30 kbit/s\"",
    "\"unlimited\"",
    "\"host\"",
    "\"codel\"",
    "\"fq-codel\"",
    "\"ns3-default\"",
    "\"ns3\"",
    "\"linux\"",
    "\"cubic\"",
    "\"b\"",
    "[\"b\"]",
    "[\"c\"]",
    "\"short\"",
    "\"ramp\"",
    "\"delays.csv\"",
    "\"random\"",
    "{ file = \"one.csv\", start = \"random\" }",
    "{ file = \"ramp\", every = \"1 ns\", start = \"1 ns\" }",
    "\"steps.csv\"",
    "\"\\u0000\"",
];

/// Numbers that are put in the place of others, with the unit left as it is.
const NUMBERS: &[&str] =
    &["0", "1", "2", "7", "0.5", "1e-9", "100", "1000", "65536", "1e6", "1e9", "1e18", "-1"];

/// The property. What is accepted must build; the flows are few, or building takes long.
fn answers(text: &[u8], overrides: &[(&str, &str)]) -> Result<(), TestCaseError> {
    let (scenario, problems) = read_with(text, overrides);
    match scenario {
        None => prop_assert!(problems.iter().any(|problem| problem.contains("error: "))),
        Some(scenario) => {
            let _json = scenario.resolve().to_string();
            let spec = scenario.spec(1, false);
            prop_assert!(!spec.links.is_empty() && spec.flows.len() + spec.arrivals.len() > 0);
            let mut paths = spec.flows.iter().flat_map(|flow| &flow.paths);
            prop_assert!(paths.all(|path| path.links.iter().all(|link| *link < spec.links.len())));
            if spec.flows.len() < 100 {
                // It starts as well: a tenth of a millisecond is short on any link.
                let _stop = Sim::watched(&spec).run_until(Time(100_000));
            }
        }
    }
    Ok(())
}

/// One change of a text.
#[derive(Clone, Debug)]
enum Mutation {
    Flip(Index, u8),
    Delete(Index, usize),
    Splice(Index, Index, usize),
    /// Another value behind the equals sign of some line.
    Value(Index, &'static str),
    /// Another number, with the unit of the old one.
    Number(Index, &'static str),
    /// A line is left out.
    Drop(Index),
    /// The values of two lines change places.
    Swap(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        1 => (any::<Index>(), prop_oneof![0x20..0x7f_u8, any::<u8>()]).prop_map(|(at, byte)| Mutation::Flip(at, byte)),
        1 => (any::<Index>(), 1..40_usize).prop_map(|(at, length)| Mutation::Delete(at, length)),
        1 => (any::<Index>(), any::<Index>(), 1..80_usize)
            .prop_map(|(from, to, length)| Mutation::Splice(from, to, length)),
        4 => (any::<Index>(), select(NUMBERS)).prop_map(|(line, number)| Mutation::Number(line, number)),
        4 => any::<Index>().prop_map(Mutation::Drop),
        2 => (any::<Index>(), select(VALUES)).prop_map(|(line, value)| Mutation::Value(line, value)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Mutation::Swap(a, b)),
    ]
}

impl Mutation {
    fn apply(&self, text: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        match self {
            Mutation::Flip(at, byte) => {
                let at = at.index(text.len());
                text[at] = *byte;
            }
            Mutation::Delete(at, length) => {
                let at = at.index(text.len());
                text.drain(at..(at + length).min(text.len()));
            }
            Mutation::Splice(from, to, length) => {
                let from = from.index(text.len());
                let piece = text[from..(from + length).min(text.len())].to_vec();
                let to = to.index(text.len());
                text.splice(to..to, piece);
            }
            Mutation::Value(line, value) => {
                let mut lines = lines(text);
                let line = line.index(lines.len());
                lines[line] = format!("{} = {value}", key(&lines[line]));
                *text = lines.join("\n").into_bytes();
            }
            Mutation::Number(line, number) => {
                let mut lines = lines(text);
                let line = line.index(lines.len());
                lines[line] = with_number(&lines[line], number);
                *text = lines.join("\n").into_bytes();
            }
            Mutation::Drop(line) => {
                let mut lines = lines(text);
                lines.remove(line.index(lines.len()));
                *text = lines.join("\n").into_bytes();
            }
            Mutation::Swap(a, b) => {
                let mut lines = lines(text);
                let (a, b) = (a.index(lines.len()), b.index(lines.len()));
                let (old_a, old_b) = (lines[a].clone(), lines[b].clone());
                lines[a] = format!("{}={}", key(&old_a), value(&old_b));
                lines[b] = format!("{}={}", key(&old_b), value(&old_a));
                *text = lines.join("\n").into_bytes();
            }
        }
    }
}

fn lines(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text).split('\n').map(str::to_owned).collect()
}

/// The line with its first number replaced.
fn with_number(line: &str, number: &str) -> String {
    let digit = |c: char| c.is_ascii_digit() || c == '.';
    let Some(start) = line.find(digit) else { return line.to_owned() };
    let rest = line[start..].trim_start_matches(digit);
    format!("{}{number}{rest}", &line[..start])
}

fn key(line: &str) -> &str {
    line.split_once('=').map_or(line, |(key, _)| key)
}

fn value(line: &str) -> &str {
    line.split_once('=').map_or("", |(_, value)| value)
}

#[test]
fn the_seeds_are_sound() {
    for text in SEEDS {
        let (scenario, problems) = read_with(text.as_bytes(), &[]);
        assert!(scenario.is_some(), "{problems:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_scenarios(seed in select(SEEDS), mutations in prop::collection::vec(mutation(), 1..4)) {
        let mut text = seed.as_bytes().to_vec();
        mutations.iter().for_each(|mutation| mutation.apply(&mut text));
        answers(&text, &[])?;
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        answers(&bytes, &[])?;
    }

    #[test]
    fn overrides(
        seed in select(SEEDS),
        key in "(flow|link|tcp|duration|record)(\\.(0|1|9|a|b|\"|cc|rate|queue|back|mss|loss|x)){0,4}",
        value in prop_oneof![select(VALUES).prop_map(str::to_owned), ".{0,12}"],
    ) {
        answers(seed.as_bytes(), &[(&key, &value)])?;
    }
}
