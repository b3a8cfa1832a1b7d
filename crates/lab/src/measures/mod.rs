//! An outcome as JSON, with the field names of `cwndlab run --json`, and the measures over time, computed
//! from the intervals that every run keeps.

mod changes;
mod convergence;
mod declared;
mod fairness;
mod seconds;

pub use changes::Change;
pub use declared::{Measure, Together, catalogue, series};
pub use fairness::JainSeconds;

use crate::scenario::Scenario;
use cwndlab_cc::Span;
use cwndlab_sim::Outcome;
use cwndlab_sim::outcome::{FlowIntervals, FlowOutcome, GroupOutcome, LinkOutcome, PatternsOutcome};
use seconds::Seconds;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Time until a flow's rate was steady, and those of its subflows; `None` if it never was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Convergence {
    /// The flow's own time.
    pub own_s: Option<f64>,
    /// The times of a multipath connection's subflows.
    pub subflows_s: Vec<Option<f64>>,
}

/// The measures over time.
#[derive(Clone, Debug, Default)]
pub struct OverTime {
    /// Jain's index in each second.
    pub jain_seconds: JainSeconds,
    /// The mean of Jain's index over the seconds.
    pub jain: Option<f64>,
    /// For each flow, the time until its rate was steady.
    pub convergence_s: Vec<Convergence>,
    /// Changes of links.
    pub changes: Vec<Change>,
    /// The start of each link's recording that draws its start, by the link's name.
    pub starts: BTreeMap<String, Span>,
}

impl OverTime {
    /// Computes the measures of a run of this scenario with this seed.
    #[must_use]
    pub fn of(scenario: &Scenario, seed: u64, outcome: &Outcome) -> Self {
        let seconds = Seconds::of(&outcome.intervals);
        let jain_seconds = fairness::jain_seconds(&outcome.intervals, scenario.warmup.as_secs_f64());
        let flows = outcome.flows.iter().zip(&outcome.intervals.flows);
        let converged = |flow: &FlowOutcome, kept: &FlowIntervals| {
            convergence::convergence_s(&seconds, &kept.goodput_mbps.0, flow.start_s)
        };
        let convergence_s = flows.map(|(flow, kept)| {
            let subflows = flow.subflows().iter().zip(&kept.subflows);
            let subflows_s = subflows.map(|(flow, kept)| converged(flow, kept)).collect();
            Convergence { own_s: converged(flow, kept), subflows_s }
        });
        Self {
            jain: fairness::over_time(&jain_seconds),
            jain_seconds,
            convergence_s: convergence_s.collect(),
            changes: changes::changes(scenario, outcome),
            starts: scenario.drawn_starts(seed),
        }
    }
}

/// All measures except the recorded series and the intervals.
#[must_use]
pub fn outcome_json(outcome: &Outcome, over_time: &OverTime) -> Value {
    let convergence_s =
        over_time.convergence_s.iter().cloned().chain(std::iter::repeat(Convergence::default()));
    json!({
        "flows": outcome.flows.iter().zip(convergence_s).map(|(one, times)| flow(one, &times)).collect::<Vec<_>>(),
        "groups": outcome.groups.iter().map(group).collect::<Vec<_>>(),
        "links": outcome.links.iter().map(|each| link(each, &over_time.starts)).collect::<Vec<_>>(),
        "jain": fairness::jain(&outcome.flows).map(number),
        "jain_over_time": over_time.jain.map(number),
        "changes": over_time.changes.iter().map(change).collect::<Vec<_>>(),
        "work": { "data_packets": outcome.work.data_packets, "events": outcome.work.events },
    })
}

fn flow(flow: &FlowOutcome, convergence: &Convergence) -> Value {
    let mut object = declared::values(declared::FLOW, flow);
    object.extend(declared::values(declared::OVER_TIME, convergence));
    object.extend(named(&flow.name, Some(&flow.cc)));
    object.insert("degraded".to_owned(), json!(flow.degraded));
    object.extend(patterns(flow.patterns.as_ref()));
    if let Some(multipath) = &flow.multipath {
        object.extend(declared::values(declared::CONNECTION, multipath));
        let times = convergence.subflows_s.iter().copied().chain(std::iter::repeat(None));
        let times = times.map(|own_s| Convergence { own_s, ..Convergence::default() });
        let subflows = multipath.subflows.iter().zip(times).map(|(subflow, own)| self::flow(subflow, &own));
        object.insert("subflows".to_owned(), subflows.collect());
    }
    Value::Object(object)
}

/// The measures of timeout patterns, if they were counted.
fn patterns(patterns: Option<&PatternsOutcome>) -> Map<String, Value> {
    patterns.map_or_else(Map::new, |patterns| declared::values(declared::PATTERNS, patterns))
}

fn group(group: &GroupOutcome) -> Value {
    let mut object = declared::values(declared::GROUP, group);
    object.extend(named(&group.name, Some(&group.cc)));
    object.extend(patterns(group.patterns.as_ref()));
    Value::Object(object)
}

fn link(link: &LinkOutcome, starts: &BTreeMap<String, Span>) -> Value {
    let mut object = declared::values(declared::LINK, link);
    object.extend(
        starts.get(&link.name).map_or_else(Map::new, |start| declared::values(declared::REPLAY, start)),
    );
    object.extend(named(&link.name, None));
    Value::Object(object)
}

fn change(change: &Change) -> Value {
    let mut object = declared::values(declared::CHANGE, change);
    object.extend(named(&change.name(), None));
    object.insert("link".to_owned(), json!(change.link));
    Value::Object(object)
}

/// The name of a component, and its algorithm.
fn named(name: &str, cc: Option<&str>) -> impl Iterator<Item = (String, Value)> {
    let name = ("name".to_owned(), json!(name));
    std::iter::once(name).chain(cc.map(|cc| ("cc".to_owned(), json!(cc))))
}

/// JSON has no NaN and no infinity: `null` stands for them.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::Time;

    fn with_goodput(goodputs: &[f64]) -> Outcome {
        let flow = |goodput_mbps: &f64| FlowOutcome { goodput_mbps: *goodput_mbps, ..FlowOutcome::default() };
        Outcome { flows: goodputs.iter().map(flow).collect(), ..Outcome::default() }
    }

    #[test]
    fn nothing_that_is_no_number_gets_out() {
        let over_time = OverTime {
            jain: Some(f64::NAN),
            convergence_s: [None, Some(2.5)]
                .map(|own_s| Convergence { own_s, ..Convergence::default() })
                .into(),
            ..OverTime::default()
        };
        let outcome = outcome_json(&with_goodput(&[f64::NAN, f64::INFINITY]), &over_time);
        assert_eq!(outcome["flows"][0]["goodput_mbps"], Value::Null);
        assert_eq!(outcome["flows"][1]["goodput_mbps"], Value::Null);
        assert_eq!(outcome["flows"][0]["convergence_s"], Value::Null);
        assert_eq!(outcome["flows"][1]["convergence_s"], json!(2.5));
        assert_eq!((&outcome["jain"], &outcome["jain_over_time"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn a_change_is_called_by_its_link_and_time() {
        let change = Change { link: "cell".to_owned(), at: Time(50_000_000_000), recovery_s: None };
        let over_time = OverTime { changes: vec![change], ..OverTime::default() };
        let expected = json!([{ "name": "cell at 50 s", "link": "cell", "at_s": 50.0, "recovery_s": null }]);
        assert_eq!(outcome_json(&Outcome::default(), &over_time)["changes"], expected);
    }
}
