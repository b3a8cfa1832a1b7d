//! What links replay from files: where a run begins in them, and delays.

mod common;

use common::accepted;
use cwndlab_cc::{Span, Time};
use cwndlab_lab::measures::{OverTime, outcome_json};
use cwndlab_lab::run::{RunToken, run_seed};
use cwndlab_sim::Schedule;
use cwndlab_sim::queue::Limit;
use cwndlab_sim::spec::{Capacity, LinkSpec};
use serde_json::{Value, json};

/// A link with these keys, and a flow over it.
fn scenario(link: &str) -> String {
    format!(
        "duration = \"4 s\"\n[[link]]\nname = \"cell\"\n{link}\n[[flow]]\nname = \"a\"\ncc = \"cubic\"\npath = [\"cell\"]\n"
    )
}

fn link(keys: &str, seed: u64) -> LinkSpec {
    accepted(&scenario(keys), &[]).spec(seed, false).links.remove(0)
}

/// The milliseconds of the opportunities of the first two seconds, in a cycle that goes on.
fn opportunities(link: &LinkSpec) -> Vec<u64> {
    let Capacity::Trace(trace) = &link.capacity else { panic!("no trace") };
    let cycles =
        (0..100).flat_map(|n| trace.at.iter().map(move |at| (at.0 + n * trace.period.0) / 1_000_000));
    cycles.take_while(|ms| *ms < 2000).collect()
}

fn delays(schedule: &Schedule<Span>) -> Vec<u64> {
    (0..200).map(|n| schedule.at(Time(n * 10_000_000 + 1)).0 / 1_000_000).collect()
}

/// Where a link and its way back begin in the run with this seed, as the results say.
fn starts(text: &str, seed: u64) -> Vec<Value> {
    let scenario = accepted(text, &[]);
    let outcome = run_seed(&scenario, seed, false, &RunToken::default()).expect("an outcome");
    let json = outcome_json(&outcome, &OverTime::of(&scenario, seed, &outcome));
    json["links"].as_array().expect("links").iter().map(|link| link["replay_start_s"].clone()).collect()
}

#[test]
fn a_trace_from_a_start_is_the_same_trace_later() {
    let whole = opportunities(&link("trace = \"short\"\ndelay = \"9 ms\"", 1));
    let later = opportunities(&link("trace = { file = \"short\", start = \"70 ms\" }\ndelay = \"9 ms\"", 1));
    let expected: Vec<u64> = whole.iter().filter(|ms| **ms >= 70).map(|ms| ms - 70).collect();
    assert_eq!(later[..expected.len()], expected);
    assert_eq!(later[..3], [30, 80, 130]);
    let Capacity::Rate(rates) =
        link("trace = { file = \"outages.csv\", start = \"0.4 s\" }\ndelay = \"9 ms\"", 1).capacity
    else {
        panic!("no rates")
    };
    let mbit = |ms: u64| rates.at(Time(Span::from_millis(ms).0)).0 / 1_000_000;
    assert_eq!([0, 99, 100, 399, 400, 699, 700, 999, 1000].map(mbit), [0, 0, 3, 3, 8, 8, 8, 8, 0]);
}

#[test]
fn a_random_start_is_drawn_by_seed_and_by_the_name_of_the_link() {
    let keys = "trace = { file = \"each-ms\", start = \"random\" }\ndelay = \"9 ms\"";
    let of = |seed| starts(&scenario(keys), seed)[0].as_f64().expect("a start");
    let drawn: Vec<f64> = (1..=40).map(of).collect();
    assert!(drawn.iter().all(|s| (0.0..0.199).contains(s) && (s * 1000.0).fract() < 1e-9), "{drawn:?}");
    let distinct: std::collections::BTreeSet<String> = drawn.iter().map(f64::to_string).collect();
    assert!(distinct.len() > 25 && drawn.iter().any(|s| *s > 0.15), "{drawn:?}");
    assert_eq!(of(1), drawn[0]);
    let other = starts(&scenario(keys).replace("cell", "other"), 1);
    assert_ne!(other[0].as_f64(), Some(drawn[0]));
    let Capacity::Trace(trace) = link(keys, 1).capacity else { panic!("no trace") };
    let first = (drawn[0] * 1000.0).round() as u64;
    assert_eq!(
        trace.at[0].0 / 1_000_000,
        if first == 0 { 1 } else { 0 },
        "there is one in every millisecond"
    );
    assert_eq!(trace.at.len(), 199, "nothing of the recording is left out");
}

#[test]
fn both_directions_of_a_link_begin_at_the_same_time() {
    let keys = "trace = { file = \"each-ms\", start = \"random\" }\ndelay = { file = \"ramp\" }\n\
                back = { trace = { file = \"short\", start = \"random\" } }";
    for seed in 1..=20 {
        let starts = starts(&scenario(keys), seed);
        let [down, up] = [0, 1].map(|n| (starts[n].as_f64().expect("a start") * 1000.0).round() as u64);
        // One start is drawn from the longest cycle, the delays' 500 ms; the shorter ones have begun again by then.
        let line = delays(&link(keys, seed).delay)[0] - 20;
        let drawn = (10 * line..10 * line + 10).find(|ms| ms % 199 == down);
        assert_eq!(drawn.map(|ms| ms % 100), Some(up), "seed {seed}: {starts:?}, line {line}");
    }
}

#[test]
fn what_says_nothing_begins_where_the_trace_of_its_link_does() {
    let keys = "trace = { file = \"short\", start = \"70 ms\" }\ndelay = { file = \"ramp\" }\nback = { trace = \"short\" }";
    let spec = link(keys, 1);
    let back = spec.back.as_deref().expect("a way back");
    assert_eq!(opportunities(back)[..3], [30, 80, 130]);
    assert_eq!(delays(&spec.delay)[..3], [27, 28, 29]);
    assert_eq!(back.delay, spec.delay);
    let own = "trace = { file = \"short\", start = \"70 ms\" }\ndelay = { file = \"ramp\", start = \"0 s\" }\n\
               back = { trace = { file = \"short\", start = \"10 ms\" } }";
    let spec = link(own, 1);
    assert_eq!(opportunities(spec.back.as_deref().expect("a way back"))[0], 40);
    assert_eq!(delays(&spec.delay)[0], 20);
}

#[test]
fn a_file_of_delays_is_replayed_without_end() {
    let spec = link("rate = \"5 Mbit/s\"\ndelay = { file = \"ramp\" }", 1);
    let expected: Vec<u64> = (0..200).map(|n| 20 + n % 50).collect();
    assert_eq!(delays(&spec.delay), expected);
    let slower = link("rate = \"5 Mbit/s\"\ndelay = { file = \"ramp\", every = \"20 ms\" }", 1);
    assert_eq!(delays(&slower.delay)[..5], [20, 20, 21, 21, 22]);
    // The mean there and back is 89 ms: 55.6 kB.
    assert_eq!(spec.queue.limit, Limit::Packets(37));
    let csv = link("rate = \"5 Mbit/s\"\ndelay = { file = \"delays.csv\" }", 1).delay;
    let ms = |s: f64| csv.at(Time(Span::from_secs_f64(s).0)).0 / 1_000_000;
    assert_eq!([0.0, 1.49, 1.5, 1.99, 2.0, 2.5, 3.99].map(ms), [20, 20, 60, 60, 20, 20, 20]);
}

/// What a sender meets: its RTTs are between those of the file, and no packet overtakes another where a delay falls.
#[test]
fn a_flow_meets_the_delays_of_the_file_in_order() {
    let text = scenario("rate = \"50 Mbit/s\"\nqueue = \"unlimited\"\ndelay = { file = \"ramp\" }");
    let text =
        text.replace("cc = \"cubic\"", "cc = { name = \"constant\", cwnd = 10 }\ntcp = { delayed_ack = 1 }");
    let scenario = accepted(&text, &[("send_jitter", "0 s")]);
    let outcome = run_seed(&scenario, 1, false, &RunToken::default()).expect("an outcome");
    let flow = &outcome.flows[0];
    let [least, mean] = [flow.rtt_min_ms, flow.rtt_ms].map(|ms| ms.expect("samples"));
    // The handshake takes the shortest delays of the first cycle, so data begin where they are longer.
    assert!((40.0..60.0).contains(&least), "{least} ms");
    assert!((80.0..100.0).contains(&mean), "{mean} ms");
    assert_eq!((flow.retransmitted_packets, flow.fast_recoveries, flow.timeouts), (0, 0, 0));
    let over_time = OverTime::of(&scenario, 1, &outcome);
    assert_eq!(over_time.changes, [], "a recording changes without end");
    assert!(over_time.starts.is_empty());
    assert_eq!(outcome_json(&outcome, &over_time)["links"][0].get("replay_start_s"), None);
}

#[test]
fn what_is_in_force_names_the_files_and_their_starts() {
    let resolved = |keys: &str| accepted(&scenario(keys), &[]).resolve()["link"][0].clone();
    let link = resolved(
        "trace = { file = \"short\", start = \"random\" }\ndelay = { file = \"ramp\", every = \"20 ms\", start = \"0 s\" }",
    );
    assert_eq!((&link["trace"]["file"], &link["trace"]["start"]), (&json!("short"), &json!("random")));
    assert_eq!((&link["delay"]["every"], link["delay"].get("start")), (&json!("20 ms"), None));
    assert_eq!(link["delay"]["sha256"].as_str().map(str::len), Some(64));
    let plain = resolved("trace = { file = \"short\", start = \"0 s\" }\ndelay = \"1 ms\"");
    assert_eq!(plain, resolved("trace = \"short\"\ndelay = \"1 ms\""), "the beginning is no start");
}
