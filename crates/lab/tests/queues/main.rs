//! Queues are a registry: a new kind is one file and one line, and everything else follows.

// A queue as a user writes one: the template of a crate of one's own has it.
#[path = "../../../../templates/rust-controller/src/coin.rs"]
mod coin;

use cwndlab_cc::Registry;
use cwndlab_lab::catalogue::catalogue;
use cwndlab_lab::run::{RunToken, run_seed};
use cwndlab_lab::scenario::{Backend, Scenario, Source, read};
use cwndlab_lab::trace::Memory;
use cwndlab_sim::outcome::LinkOutcome;
use cwndlab_sim::queue::{LIMIT, Queues, Service, Sizing};
use cwndlab_sim::spec::SimSpec;
use serde_json::{Value, json};

const TEXT: &str = r#"
duration = "20 s"
link = [{ name = "wan", rate = "20 Mbit/s", delay = "20 ms", queue = "coin" }]
flow = [{ cc = "cubic", path = ["wan"] }]
"#;

fn queues() -> Queues {
    let mut queues = Queues::built_in();
    queues.add(coin::QUEUE);
    queues
}

fn told(overrides: &[(&str, &str)]) -> (Option<Scenario>, Vec<String>) {
    let (registry, queues, mut traces) = (Registry::built_in(), queues(), Memory::default());
    traces.0.insert("each-ms".to_owned(), (1..1000).map(|ms| format!("{ms}\n")).collect());
    let source = Source {
        backend: Backend::Sim,
        file: "x.toml",
        registry: &registry,
        queues: &queues,
        traces: &traces,
    };
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let (scenario, problems) = read(TEXT.as_bytes(), &source, &overrides);
    (scenario, problems.iter().map(ToString::to_string).collect())
}

fn accepted(overrides: &[(&str, &str)]) -> Scenario {
    let (scenario, problems) = told(overrides);
    assert!(problems.is_empty(), "{problems:#?}");
    scenario.expect("a scenario without a problem")
}

fn run(overrides: &[(&str, &str)], seed: u64) -> LinkOutcome {
    run_seed(&accepted(overrides), seed, false, &RunToken::default()).expect("a run").links.remove(0)
}

fn resolved(overrides: &[(&str, &str)]) -> Value {
    accepted(overrides).resolve()["link"][0]["queue"].clone()
}

#[test]
fn a_new_kind_is_read_and_resolved() {
    let defaults = json!({ "kind": "coin", "size": "67 packets", "odds": 0.05, "target": "5 ms" });
    assert_eq!(resolved(&[]), defaults, "1 bdp is 20 Mbit/s x 40 ms");
    assert_eq!(resolved(&[("link.wan.queue.size", "30 kB")])["size"], "30 kB");
    let set = resolved(&[("link.wan.queue.odds", "0.5"), ("link.wan.queue.target", "1 ms")]);
    assert_eq!((&set["odds"], &set["target"]), (&json!(0.5), &json!("1 ms")));
    assert_eq!(resolved(&[("link.wan.queue", "{ kind = \"coin\", target = \"2 ms\" }")])["target"], "2 ms");
}

#[test]
fn mistakes_about_a_new_kind_are_told() {
    for (key, value, message) in [
        ("link.wan.queue", "coim", "unknown queue `coim`; did you mean `coin`?"),
        ("link.wan.queue.kind", "coim", "unknown queue `coim`; did you mean `coin`?"),
        (
            "link.wan.queue.ods",
            "1",
            "unknown key `ods`; did you mean `odds`? Allowed: kind, odds, size, target",
        ),
        ("link.wan.queue.odds", "2", "expected a number from 0 to 1, found 2"),
        (
            "link.wan.queue.size",
            "10 B",
            "expected at least one full packet, 1500 bytes on this link, found 10 bytes",
        ),
    ] {
        let (scenario, problems) = told(&[(key, value)]);
        assert!(scenario.is_none() && problems.len() == 1, "{key} = {value}: {problems:#?}");
        assert!(problems[0].contains(message), "{problems:#?}");
    }
}

#[test]
fn a_new_kind_is_in_the_catalogue() {
    let catalogue = catalogue(&Registry::built_in(), &queues());
    let shown = catalogue["queues"].as_array().and_then(|queues| queues.last()).expect("the last queue");
    assert_eq!(shown["name"], "coin");
    let params = shown["params"].as_array().expect("parameters");
    assert_eq!(params.iter().map(|param| &param["name"]).collect::<Vec<_>>(), ["size", "odds", "target"]);
    assert_eq!(shown["chance"]["what"], "drops of the queue");
}

/// It knows the rate (or it could tell no delay), the size, its parameters and a random stream.
#[test]
fn a_new_kind_is_run() {
    let fifo = run(&[("link.wan.queue.kind", "droptail")], 1);
    let coin = run(&[], 1);
    assert!(coin.dropped_packets > fifo.dropped_packets, "{coin:?} {fifo:?}");
    assert!(coin.queue_delay_ms < fifo.queue_delay_ms, "{coin:?} {fifo:?}");
    assert_eq!(coin, run(&[], 1), "the same seed");
    assert_ne!(coin, run(&[], 2), "another seed");
    let never = run(&[("link.wan.queue.odds", "0")], 1);
    assert_eq!(never.dropped_packets, fifo.dropped_packets, "only the size counts");
    let on_a_trace =
        [("link", "[{ name = \"wan\", trace = \"each-ms\", delay = \"20 ms\", queue = \"coin\" }]")];
    assert!(told(&on_a_trace).0.is_some());
}

/// A link serves drop-tail, and a FIFO behind FQ-CoDel, by itself, with the same result as when it asks packet by packet.
#[test]
fn a_fifo_needs_no_service_events() {
    for kind in ["droptail", "ns3-default"] {
        let scenario = accepted(&[("link.wan.queue.kind", kind)]);
        let mut spec = scenario.spec(1, false);
        let (few, fast) = events(&spec);
        spec.links[0].queue.kind.service = Service::ByPacket;
        let (many, slow) = events(&spec);
        assert!(few < many, "{kind}: {few} events, {many} packet by packet");
        assert!(fast.dropped_packets > 0);
        assert_eq!(fast, slow, "{kind}");
    }
}

fn events(spec: &SimSpec) -> (u64, LinkOutcome) {
    let mut sim = cwndlab_sim::Sim::new(spec);
    sim.run();
    let mut outcome = sim.outcome();
    (outcome.work.events, outcome.links.remove(0))
}

/// The table of docs/scenario.md names every kind with all that can be set.
#[test]
fn the_documentation_names_every_kind() {
    let text = include_str!("../../../../docs/scenario.md");
    let (_, section) = text.split_once("\n## Queues\n").expect("a section about queues");
    let (section, _) = section.split_once("\n## ").expect("a section behind it");
    for kind in Queues::built_in().iter() {
        let mut expected: Vec<_> = (kind.params)().iter().map(|spec| spec.name).collect();
        match kind.sizing {
            Sizing::Any => expected.insert(0, "size"),
            Sizing::Limit => {
                expected.insert(1 + expected.iter().position(|name| *name == LIMIT).unwrap(), "size")
            }
            Sizing::Fixed { .. } => {}
        }
        let row = section.lines().find_map(|line| line.strip_prefix(&format!("| `{}` |", kind.name)));
        let row = row.unwrap_or_else(|| panic!("docs/scenario.md has no row for `{}`", kind.name));
        let named: Vec<_> = row.split('`').skip(1).step_by(2).collect();
        assert_eq!(named, expected, "docs/scenario.md, `{}`", kind.name);
    }
}
