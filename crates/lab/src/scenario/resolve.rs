//! All values in force in a scenario as canonical JSON, which `cwndlab show` prints and which keys the caches.

use super::Scenario;
use super::arrivals::Arrivals;
use super::flow::{Flow, Path};
use super::link::Link;
use super::quantity::{show_bytes, show_packets, show_rate, show_time};
use super::recording::Recording;
use super::settings::{UNLIMITED, last};
use cwndlab_cc::params::{ParamSpec, Parameters, Value as Setting};
use cwndlab_cc::{Span, Time};
use cwndlab_sim::Schedule;
use cwndlab_sim::mptcp::MptcpOptions;
use cwndlab_sim::queue::{Limit, QueueSpec, Sizing};
use cwndlab_sim::spec::{ArrivalProcess, Capacity, LossKind, LossSpec, SizeSpec};
use cwndlab_sim::tcp::TcpOptions;
use serde_json::{Map, Value, json};

/// The whole scenario.
pub(crate) fn resolve(scenario: &Scenario) -> Value {
    let links = scenario.links.iter().map(|link| {
        let mut object = link_object(link);
        object.insert("name".to_owned(), json!(link.spec.name));
        Value::Object(object)
    });
    json!({
        "name": scenario.name,
        "profile": scenario.profile,
        "duration": show_time(scenario.duration),
        "warmup": show_time(scenario.warmup),
        "send_jitter": scenario.send_jitter.map(show_time),
        "record": { "interval": show_time(scenario.record_interval) },
        "timeout_patterns": scenario.timeout_patterns,
        "tcp": tcp(&scenario.tcp),
        "link": links.collect::<Vec<_>>(),
        "flow": scenario.flows.iter().map(|entry| flow(entry, &scenario.links)).collect::<Vec<_>>(),
    })
}

fn link_object(link: &Link) -> Map<String, Value> {
    let spec = &link.spec;
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    match (&link.trace, &spec.capacity) {
        (Some(trace), _) => put("trace", recording(trace)),
        (None, Capacity::Rate(rates)) => put("rate", schedule(rates, |rate| json!(show_rate(*rate)))),
        (None, _) => put("rate", json!(UNLIMITED)),
    };
    put(
        "delay",
        match &link.delays {
            Some(delays) => recording(delays),
            None => schedule(&spec.delay, |delay| json!(show_time(*delay))),
        },
    );
    put("up", schedule(&spec.up, |up| json!(up)));
    put("loss", loss(&spec.loss));
    put("queue", if link.hold_back { json!("host") } else { queue(&spec.queue) });
    put("overhead", json!(spec.overhead));
    put("jitter", json!(show_time(spec.jitter)));
    let reorder = spec.reorder.map(
        |reorder| json!({ "probability": reorder.probability, "delay": show_time(reorder.extra_delay) }),
    );
    put("reorder", json!(reorder));
    put("back", json!(link.back.as_ref().map(|back| link_object(back))));
    object
}

/// A replayed file; a start at its beginning is left out.
fn recording<T>(recording: &Recording<T>) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("file", json!(recording.file));
    put("sha256", json!(recording.hash));
    if let Some(every) = recording.every {
        put("every", json!(show_time(every)));
    }
    if let Some(start) = recording.start.shown() {
        put("start", json!(start));
    }
    Value::Object(object)
}

fn schedule<T: Copy>(schedule: &Schedule<T>, show: impl Fn(&T) -> Value) -> Value {
    if schedule.iter().count() == 1 {
        return show(&schedule.first());
    }
    let step = |(at, value): &(Time, T)| json!({ "at": show_time(Span(at.0)), "value": show(value) });
    schedule.iter().map(step).collect()
}

fn loss(loss: &LossSpec) -> Value {
    let place = if loss.before_queue { "before" } else { "after" };
    match &loss.kind {
        LossKind::None => json!(0),
        LossKind::Random(rates) => {
            json!({ "kind": "random", "place": place, "rate": schedule(rates, |rate| json!(rate)) })
        }
        LossKind::Periodic { every } => json!({ "kind": "periodic", "place": place, "every": every }),
        LossKind::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => json!({
            "kind": "gilbert-elliott", "place": place,
            "to_bad": to_bad, "to_good": to_good, "loss_good": loss_good, "loss_bad": loss_bad,
        }),
    }
}

fn queue(queue: &QueueSpec) -> Value {
    let mut object = declared(&(queue.kind.params)(), |spec| last(&queue.settings, spec.name));
    object.insert("kind".to_owned(), json!(queue.kind.name));
    if queue.kind.sizing == Sizing::Any {
        object.insert("size".to_owned(), size(queue.limit));
    }
    Value::Object(object)
}

fn size(limit: Limit) -> Value {
    match limit {
        Limit::Unlimited => json!(UNLIMITED),
        Limit::Packets(packets) => json!(show_packets(packets)),
        Limit::Bytes(bytes) => json!(show_bytes(bytes)),
    }
}

fn flow(flow: &Flow, links: &[Link]) -> Value {
    let (kind, active) = (&flow.kind, &flow.active);
    let algorithm = &kind.algorithm;
    let mut cc = declared(&algorithm.params, |spec| last(&kind.settings, spec.name));
    cc.insert("name".to_owned(), json!(kind.cc()));
    let mut object = way(flow, links);
    let own = json!({
        "names": flow.names,
        "enabled": flow.enabled,
        "cc": cc,
        "reverse": kind.reverse,
        "start": show_time(Span(active.start.0)),
        "jitter": show_time(active.start_jitter),
        "stop": active.stop.map(|stop| show_time(Span(stop.0))),
        "bytes": flow.bytes.map(show_bytes),
        "tcp": tcp(&kind.tcp),
        "decision_delay": show_time(kind.decision_delay),
        "arrivals": flow.arrivals.as_ref().map(arrivals),
    });
    if let Value::Object(own) = own {
        object.extend(own);
    }
    Value::Object(object)
}

/// A flow's `path` and `access`, or its `paths`, their access links and the options of a multipath connection.
fn way(flow: &Flow, links: &[Link]) -> Map<String, Value> {
    let named = |path: &Path| -> Value {
        path.links.iter().filter_map(|&n| Some(json!(links.get(n)?.spec.name))).collect()
    };
    let access = |path: &Path| json!(path.access.as_ref().map(link_object));
    let entries = match (&flow.mptcp, flow.paths.as_slice()) {
        (None, [path]) => vec![("path", named(path)), ("access", access(path))],
        (options, paths) => {
            let options = options.clone().unwrap_or_default();
            let shown = declared(&MptcpOptions::specs(), |spec| options.get(spec.name));
            vec![
                ("paths", paths.iter().map(named).collect()),
                ("access", paths.iter().map(access).collect()),
                ("mptcp", Value::Object(shown)),
            ]
        }
    };
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn arrivals(arrivals: &Arrivals) -> Value {
    let size = match arrivals.size {
        SizeSpec::Constant(bytes) => json!({ "kind": "constant", "mean": show_bytes(bytes) }),
        SizeSpec::Exponential { mean } => json!({ "kind": "exponential", "mean": show_bytes(mean as u64) }),
        SizeSpec::Pareto { mean, shape } => {
            json!({ "kind": "pareto", "mean": show_bytes(mean as u64), "shape": shape })
        }
    };
    match arrivals.process {
        ArrivalProcess::PerSecond(rate) => json!({ "per_second": rate, "size": size }),
        ArrivalProcess::Parallel { transfers, pause } => {
            json!({ "parallel": transfers, "pause": show_time(pause), "size": size })
        }
    }
}

/// TCP options in force.
pub(crate) fn tcp(options: &TcpOptions) -> Value {
    Value::Object(declared(&TcpOptions::specs(), |spec| options.get(spec.name)))
}

/// Declared parameters with the values that are set, or else their defaults.
fn declared(specs: &[ParamSpec], set: impl Fn(&ParamSpec) -> Option<Setting>) -> Map<String, Value> {
    let entry = |spec: &ParamSpec| {
        let value = set(spec).unwrap_or_else(|| spec.default.clone());
        (spec.name.to_owned(), setting(&value))
    };
    specs.iter().map(entry).collect()
}

/// A parameter's value as it would be written in a scenario.
pub(crate) fn setting(value: &Setting) -> Value {
    match value {
        Setting::Number(x) => json!(x),
        Setting::Count(u64::MAX) => json!(UNLIMITED),
        Setting::Count(n) => json!(n),
        Setting::Flag(flag) => json!(flag),
        Setting::Word(word) => json!(word),
        Setting::Span(span) => json!(show_time(*span)),
        Setting::File(file) => json!({ "file": file.name, "sha256": file.hash }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::Rate;

    #[test]
    fn steps_are_shown_with_their_times() {
        let steps =
            Schedule::steps(vec![(Time(0), Rate::from_mbit(1)), (Time(5_000_000_000), Rate::from_mbit(2))]);
        let shown = schedule(&steps.unwrap(), |rate| json!(show_rate(*rate)));
        assert_eq!(
            shown,
            json!([{ "at": "0 s", "value": "1 Mbit/s" }, { "at": "5 s", "value": "2 Mbit/s" }])
        );
    }
}
