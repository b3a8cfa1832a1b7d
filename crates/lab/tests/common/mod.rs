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
