//! The complete result documents of some eighty scenarios, as hashes: whoever changes how the house is built must not change
//! what it answers. A change of behaviour renews `documents.txt` with `CWNDLAB_RENEW=1` and says why in the changelog.

mod common;

use common::accepted;
use cwndlab_lab::measures::{OverTime, outcome_json};
use cwndlab_lab::run::{RunToken, run_seed};
use cwndlab_lab::scenario::Scenario;
use cwndlab_sim::outcome::{Distribution, FlowIntervals, Recording};
use sha2::{Digest, Sha256};
use std::fmt::Write;

const KEPT: &str = include_str!("documents.txt");

/// Two links; keys of the first, flows and what else is at the top are filled in.
fn text(top: &str, link: &str, flows: &str) -> String {
    let has = |key: &str| link.lines().any(|line| line.starts_with(key));
    let rate = if has("rate") || has("trace") { "" } else { "rate = \"8 Mbit/s\"\n" };
    let delay = if has("delay") { "" } else { "delay = \"15 ms\"\n" };
    format!(
        "timeout_patterns = true\nduration = \"3 s\"\nwarmup = \"0.5 s\"\n{top}\n[[link]]\nname = \"a\"\n{rate}{delay}{link}\n\
         [[link]]\nname = \"b\"\nrate = \"5 Mbit/s\"\ndelay = \"5 ms\"\n{flows}"
    )
}

fn flow(cc: &str, keys: &str) -> String {
    let path = if keys.contains("path") { "" } else { "path = [\"a\"]\n" };
    format!("\n[[flow]]\ncc = {cc}\n{path}{keys}\n")
}

/// Name and text of each scenario.
fn scenarios() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: String, text: String| all.push((name, text));
    let rival = flow("\"cubic\"", "name = \"rival\"\nstart = \"0.3 s\"\n");
    for cc in [
        "reno",
        "newreno",
        "cubic",
        "vegas",
        "bbr1",
        "bbr2",
        "bbr3",
        "fbbr2",
        "sd",
        "pd",
        "sd-pd",
        "dqn-newreno",
        "dqn-cubic",
        "dqn-cubic-2022",
        "lia",
        "olia",
        "balia",
        "dbac",
        "uncoupled:reno",
        "constant",
        "random",
        "always",
    ] {
        add(format!("algorithm {cc}"), text("", "", &(flow(&format!("\"{cc}\""), "") + &rival)));
    }
    for profile in ["ns3", "linux-2.2"] {
        for cc in ["reno", "newreno", "cubic", "sd-pd", "bbr2", "dqn-cubic"] {
            let top = format!("profile = \"{profile}\"");
            add(
                format!("profile {profile} {cc}"),
                text(&top, "", &(flow(&format!("\"{cc}\""), "") + &rival)),
            );
        }
    }
    for queue in [
        "\"5 packets\"",
        "\"20 kB\"",
        "\"unlimited\"",
        "\"codel\"",
        "{ kind = \"codel\", limit = 30, ecn = true }",
        "\"fq-codel\"",
        "{ kind = \"fq-codel\", limit = 20, perfect_hash = true, ecn = false }",
        "\"ns3-default\"",
    ] {
        let flows = flow("\"cubic\"", "tcp = { ecn = true }\n") + &rival + &flow("\"bbr3\"", "");
        add(format!("queue {queue}"), text("", &format!("queue = {queue}\n"), &flows));
    }
    for link in [
        "loss = 0.01\n",
        "loss = { kind = \"random\", rate = 0.02, place = \"before\" }\n",
        "loss = { kind = \"periodic\", every = 70 }\n",
        "loss = { kind = \"gilbert-elliott\", to_bad = 0.005, to_good = 0.3 }\n",
        "rate = [{ at = \"0 s\", value = \"8 Mbit/s\" }, { at = \"1.5 s\", value = \"3 Mbit/s\" }]\n",
        "delay = [{ at = \"0 s\", value = \"15 ms\" }, { at = \"1.5 s\", value = \"40 ms\" }]\n",
        "up = [{ at = \"0 s\", value = true }, { at = \"1 s\", value = false }, { at = \"1.4 s\", value = true }]\n",
        "jitter = \"2 ms\"\n",
        "reorder = { probability = 0.02, delay = \"4 ms\" }\n",
        "overhead = 38\n",
        "back = { rate = \"200 kbit/s\", queue = \"10 packets\" }\n",
        "back = { loss = 0.05 }\n",
        "trace = \"each-ms\"\n",
        "trace = \"long\"\n",
        "trace = \"outages.csv\"\nqueue = \"codel\"\n",
    ] {
        add(
            format!("link {}", link.trim_end().replace('\n', ", ")),
            text("", link, &(flow("\"cubic\"", "") + &rival)),
        );
    }
    for keys in [
        "bytes = \"900 kB\"\n",
        "stop = \"1 s\"\n",
        "count = 5\njitter = \"1 s\"\n",
        "reverse = true\nbytes = \"500 kB\"\n",
        "path = [\"a\", \"b\"]\naccess = { rate = \"20 Mbit/s\", delay = \"3 ms\" }\n",
        "access = { rate = \"6 Mbit/s\", delay = \"3 ms\", queue = \"20 packets\", loss = 0.005 }\n",
        "access = { delay = \"3 ms\" }\n",
        "arrivals = { per_second = 30, size = { kind = \"pareto\", mean = \"20 kB\", shape = 1.3 } }\n",
        "arrivals = { per_second = 20, size = { kind = \"exponential\", mean = \"20 kB\" } }\n",
        "arrivals = { parallel = 12, size = \"60 kB\", pause = \"20 ms\" }\naccess = { rate = \"6 Mbit/s\", delay = \"1 ms\" }\n",
    ] {
        add(
            format!("flow {}", keys.trim_end().replace('\n', ", ")),
            text("", "", &(flow("\"cubic\"", keys) + &rival)),
        );
    }
    for cc in ["lia", "olia", "balia", "dbac", "uncoupled:bbr2", "uncoupled:dqn-cubic"] {
        let flows = flow(&format!("\"{cc}\""), "paths = [[\"a\"], [\"b\"]]\n") + &rival;
        add(format!("multipath {cc}"), text("", "", &flows));
    }
    for keys in [
        "mptcp = { scheduler = \"min-rtt\" }\ntcp = { receive_buffer = \"60 kB\" }\n",
        "mptcp = { scheduler = \"round-robin\" }\nbytes = \"1 MB\"\naccess = { rate = \"20 Mbit/s\", delay = \"1 ms\" }\n",
    ] {
        let flows = flow("\"dbac\"", &format!("paths = [[\"a\"], [\"b\"]]\n{keys}")) + &rival;
        add(format!("multipath {}", keys.trim_end().replace('\n', ", ")), text("", "", &flows));
    }
    for option in [
        "sack = false",
        "recovery = \"window\"",
        "tail_loss_probe = false",
        "pacing = true",
        "mss = 500",
        "mtu = 1000",
        "receive_buffer = \"30 kB\"",
        "send_buffer = \"60 kB\"",
        "undo = false",
        "delayed_ack = 1",
        "timestamps = false",
        "metrics = \"saved\"",
        "clock = \"10 ms\", srtt_ticks = true",
    ] {
        let top = format!("tcp = {{ {option} }}");
        add(format!("option {option}"), text(&top, "loss = 0.005\n", &(flow("\"cubic\"", "") + &rival)));
    }
    all
}

/// All that a run answers, with and without a recording.
fn document(scenario: &Scenario) -> String {
    let mut document = String::new();
    for (seed, record) in [(1, false), (2, true)] {
        let outcome = run_seed(scenario, seed, record, &RunToken::default()).expect("a run");
        let json = outcome_json(&outcome, &OverTime::of(scenario, seed, &outcome));
        let _ = write!(document, "{json}\n{:?}", outcome.intervals.end_s);
        outcome.intervals.flows.iter().for_each(|flow| intervals(&mut document, flow));
        outcome.intervals.groups.iter().for_each(|group| _ = write!(document, "{:?}", group.0));
        for Distribution { kind, name, measure, middle, counts } in &outcome.distributions {
            let _ = write!(document, "\n{kind} {name} {measure} {middle:?} {counts:?}");
        }
        if let Some(recording) = &outcome.recording {
            recorded(&mut document, recording);
        }
    }
    document
}

fn intervals(document: &mut String, flow: &FlowIntervals) {
    for series in [&flow.goodput_mbps, &flow.cwnd_segments, &flow.loss_events] {
        let _ = write!(document, "\n{:?}", series.0);
    }
    flow.probes.iter().for_each(|(name, series)| _ = write!(document, "\n{name} {:?}", series.0));
    flow.subflows.iter().for_each(|subflow| intervals(document, subflow));
}

fn recorded(document: &mut String, recording: &Recording) {
    let _ = write!(document, "\n{:?} {}", recording.time_s, recording.events_missed);
    for table in &recording.tables {
        let _ = write!(document, "\n{} {} {:?}", table.kind, table.name, table.columns);
    }
    for event in &recording.events {
        let _ = write!(document, "\n{} {} {}", event.time_s, event.flow, event.kind);
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[test]
fn what_is_answered_has_not_changed() {
    let lines = scenarios().into_iter().map(|(name, text)| {
        let document = document(&accepted(&text, &[]));
        format!("{}  {name}\n", hash(&document))
    });
    let found: String = lines.collect();
    if std::env::var_os("CWNDLAB_RENEW").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documents.txt"), &found)
            .expect("the file is ours");
        return;
    }
    let changed: Vec<_> = found.lines().filter(|line| !KEPT.lines().any(|kept| kept == *line)).collect();
    assert!(changed.is_empty() && found == KEPT, "other results:\n{}", changed.join("\n"));
}
