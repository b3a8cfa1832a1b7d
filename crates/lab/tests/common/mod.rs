//! Reading scenarios that are texts, with traces that are texts.
#![allow(dead_code, reason = "each test file uses a part")]

use cwndlab_cc::Registry;
use cwndlab_lab::scenario::{Backend, Scenario, Source, read};
use cwndlab_lab::trace::Memory;
use cwndlab_sim::queue::Queues;

fn traces() -> Memory {
    let mut traces = Memory::default();
    let mut add = |name: &str, text: &str| traces.0.insert(name.to_owned(), text.to_owned());
    add("short", "50\n100\n");
    add("long", &(1..=2000).map(|n| format!("{}\n", n * 10)).collect::<String>());
    add("empty", "");
    add("unsorted", "5\n3\n");
    add("words", "5\nmany\n");
    add("negative", "-1\n");
    add("dead.csv", "0,0\n1,0\n");
    add("semicolons.csv", "seconds;Mbit/s\n0;10\n");
    add("each-ms", &(1..200).map(|n| format!("{n}\n")).collect::<String>());
    add("outages.csv", "0,8\n0.3,0\n0.5,3\n0.8,8\n");
    add("ramp", &(0..50).map(|n| format!("{}\n", 20 + n)).collect::<String>());
    add("delays.csv", "seconds,ms\n0,20\n1.5,60\n2,20\n");
    add("one.csv", "0,5\n");
    add("gap", "20\n\n30\n");
    add("steps.csv", "seconds,Mbit/s\n0,10\n5,30\n");
    traces
}

/// Reads a text with overrides.
pub fn read_with(text: &[u8], overrides: &[(&str, &str)]) -> (Option<Scenario>, Vec<String>) {
    let (registry, queues) = (Registry::built_in(), Queues::built_in());
    let source = Source {
        backend: Backend::Sim,
        file: "x.toml",
        registry: &registry,
        queues: &queues,
        traces: &traces(),
    };
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let (scenario, problems) = read(text, &source, &overrides);
    (scenario, problems.iter().map(ToString::to_string).collect())
}

/// What is said of a text.
pub fn problems(text: &[u8]) -> Vec<String> {
    read_with(text, &[]).1
}

/// What is said of a text with overrides.
pub fn problems_with(text: &[u8], overrides: &[(&str, &str)]) -> Vec<String> {
    read_with(text, overrides).1
}

/// A text that must be accepted.
pub fn accepted(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let (scenario, problems) = read_with(text.as_bytes(), overrides);
    scenario.unwrap_or_else(|| panic!("refused: {problems:#?}"))
}

/// A sound scenario; a case replaces one of its lines.
pub const SOUND: &str = r#"name = "x"
duration = "10 s"
profile = "linux"
warmup = "1 s"
send_jitter = "0 s"
[tcp]
mss = 1448
[record]
interval = "10 ms"
[[link]]
name = "b"
rate = "100 Mbit/s"
delay = "30 ms"
queue = "1 bdp"
loss = 0.001
[[flow]]
name = "a"
cc = "cubic"
path = ["b"]
start = "0 s"
access = { rate = "1 Gbit/s", delay = "1 ms" }
"#;

/// The number of the line that gives this key: `duration`, or `link.rate` for the `rate` in a table `link`.
pub fn line_of(key: &str) -> usize {
    let mut table = "";
    let gives = |line: &'static str| {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        }
        let name = line.split(" = ").next().unwrap_or_default();
        if table.is_empty() { name == key } else { format!("{table}.{name}") == key }
    };
    SOUND.lines().position(gives).unwrap_or_else(|| panic!("no line gives {key}")) + 1
}

/// The number of the first line that follows the sound scenario.
pub fn after_sound() -> usize {
    SOUND.lines().count() + 1
}

/// The sound scenario with another line in place of the one that gives this key.
pub fn with_line(key: &str, text: &str) -> String {
    let line = line_of(key);
    let lines = SOUND.lines().enumerate().map(|(n, old)| if n + 1 == line { text } else { old });
    lines.map(|line| format!("{line}\n")).collect()
}

/// A scenario of one link and one flow.
pub fn small(link: &str, flow: &str) -> String {
    format!(
        "duration = \"100 s\"\n[[link]]\nname = \"b\"\ndelay = \"30 ms\"\n{link}\n\
         [[flow]]\nname = \"a\"\ncc = \"reno\"\npath = [\"b\"]\n{flow}\n"
    )
}
