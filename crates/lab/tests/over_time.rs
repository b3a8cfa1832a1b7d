//! Measures over time of whole runs.

mod common;

use common::accepted;
use cwndlab_lab::measures::{Change, OverTime, outcome_json};
use cwndlab_lab::run::{RunToken, run_seed};
use cwndlab_sim::Outcome;
use serde_json::Value;

fn measured(text: &str, overrides: &[(&str, &str)]) -> (Outcome, OverTime) {
    let scenario = accepted(text, overrides);
    let outcome = run_seed(&scenario, 1, false, &RunToken::default()).expect("an outcome");
    let over_time = OverTime::of(&scenario, 1, &outcome);
    (outcome, over_time)
}

/// Names and recovery times.
fn changes(text: &str, overrides: &[(&str, &str)]) -> Vec<(String, Option<f64>)> {
    let (outcome, over_time) = measured(text, overrides);
    let recovery = |change: &Change| change.recovery_s;
    let recoveries: Vec<_> = over_time.changes.iter().map(recovery).collect();
    let json = outcome_json(&outcome, &over_time);
    let names = json["changes"].as_array().expect("a list").iter();
    names.map(|change| change["name"].as_str().expect("a name").to_owned()).zip(recoveries).collect()
}

const STEPS: &str = include_str!("../../../scenarios/bandwidth-steps.toml");

#[test]
fn a_link_that_speeds_up_is_full_at_once_only_with_a_deep_queue() {
    let told = changes(STEPS, &[]);
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["bottleneck at 20 s", "bottleneck at 40 s"]);
    let (slower, faster) = (told[0].1.expect("recovered"), told[1].1.expect("recovered"));
    // A queue of 500 packets stands at 50 Mbit/s, which is a full window at 100 Mbit/s.
    assert!(slower < 2.0 && faster < 1.0, "{slower} s, {faster} s");
    let shallow = changes(STEPS, &[("link.0.queue", "50 packets")])[1].1;
    assert!(shallow.is_some_and(|s| s > 1.0), "the window has to grow: {shallow:?}");
}

#[test]
fn which_changes_count() {
    let names = |overrides: &[(&str, &str)]| {
        changes(STEPS, overrides).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let steps = |values: [&str; 2]| {
        format!(r#"[{{ at = "0 s", value = {} }}, {{ at = "20 s", value = {} }}]"#, values[0], values[1])
    };
    let (delay, loss) = (steps([r#""30 ms""#, r#""60 ms""#]), steps(["0", "1e-4"]));
    assert_eq!(names(&[("warmup", "20 s")]), ["bottleneck at 20 s", "bottleneck at 40 s"]);
    assert_eq!(names(&[("warmup", "20.1 s")]), ["bottleneck at 40 s"]);
    assert_eq!(names(&[("duration", "40 s")]), ["bottleneck at 20 s"]);
    let at_once = [("link.0.delay", delay.as_str()), ("link.0.loss", loss.as_str()), ("link.0.back", "{}")];
    assert_eq!(names(&at_once), ["bottleneck at 20 s", "bottleneck at 40 s"]);
    let constant = ("link.0.rate", "50 Mbit/s");
    assert_eq!(names(&[constant]), Vec::<String>::new());
    assert_eq!(names(&[constant, at_once[0]]), ["bottleneck at 20 s"]);
    assert_eq!(names(&[constant, at_once[1]]), ["bottleneck at 20 s"]);
    assert_eq!(names(&[constant, ("link.0.back.loss", &loss)]), ["bottleneck at 20 s"]);
    assert_eq!(names(&[constant, ("flow.a.access.delay", &delay)]), ["a.access at 20 s"]);
    let traced = "duration = \"30 s\"\n[[link]]\nname = \"t\"\ntrace = \"steps.csv\"\ndelay = \"9 ms\"\n\
                  [[flow]]\ncc = \"reno\"\npath = [\"t\"]\n";
    assert_eq!(changes(traced, &[]), [], "a trace has none");
}

const TWO: &str = r#"
duration = "30 s"
warmup = "2 s"
[[link]]
name = "b"
rate = [{ at = "0 s", value = "20 Mbit/s" }, { at = "15 s", value = "10 Mbit/s" }]
delay = "10 ms"
[[link]]
name = "elsewhere"
rate = [{ at = "0 s", value = "20 Mbit/s" }, { at = "15 s", value = "10 Mbit/s" }]
delay = "10 ms"
[[flow]]
name = "short"
cc = "cubic"
path = ["b"]
arrivals = { per_second = 30, size = "20 kB" }
[[flow]]
name = "late"
cc = "cubic"
path = ["b"]
start = "5 s"
bytes = "3 MB"
[[flow]]
name = "a"
cc = "cubic"
path = ["b"]
[[flow]]
name = "off"
cc = "cubic"
path = ["elsewhere"]
enabled = false
[[flow]]
name = "b"
cc = "cubic"
path = ["b"]
access = { delay = "1 ms" }
"#;

#[test]
fn flows_are_measured_while_they_run() {
    let (outcome, over_time) = measured(TWO, &[]);
    let names: Vec<&str> = outcome.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["late", "a", "b"]);
    assert_eq!((outcome.groups.len(), over_time.jain_seconds.end_s.len()), (1, 28));
    assert!(over_time.jain_seconds.jain.iter().all(|jain| (1.0 / 3.0..=1.0).contains(jain)));
    let mean = over_time.jain.expect("two flows ran");
    assert!((0.6..1.0).contains(&mean), "{mean}");
    assert!(over_time.convergence_s.iter().skip(1).all(|time| time.own_s.is_some_and(|s| s < 25.0)));
    let (alone, over_time) = measured(TWO, &[("flow.b.enabled", "false"), ("flow.late.enabled", "false")]);
    assert_eq!((alone.flows.len(), over_time.jain), (1, None));
    assert!(over_time.jain_seconds.jain.iter().all(|jain| jain.is_nan()));
    assert_eq!(alone.flows[0].start_s, outcome.flows[1].start_s);
}

#[test]
fn recovery_is_that_of_the_flows_over_the_link() {
    let told = changes(TWO, &[]);
    assert_eq!(told[0].0, "b at 15 s");
    assert!(told[0].1.is_some_and(|s| s < 5.0), "{told:?}");
    assert_eq!(told[1], ("elsewhere at 15 s".to_owned(), None), "nothing comes over it");
    // Nothing but short flows, enough to fill the link.
    let alone = [("flow.a.enabled", "false"), ("flow.b.enabled", "false"), ("flow.late.enabled", "false")];
    let busier = [&alone[..], &[("flow.short.arrivals.per_second", "200")]].concat();
    assert!(changes(TWO, &busier)[0].1.is_some(), "a group is a part of what comes over a link");
}

#[test]
fn what_is_recorded_changes_no_measure() {
    let scenario = accepted(TWO, &[]);
    let json = |record: bool| -> Value {
        let outcome = run_seed(&scenario, 3, record, &RunToken::default()).expect("an outcome");
        outcome_json(&outcome, &OverTime::of(&scenario, 3, &outcome))
    };
    assert_eq!(json(true), json(false));
}
