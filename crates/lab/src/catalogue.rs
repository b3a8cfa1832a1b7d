//! What there is to choose from, with every parameter: algorithms, queues, profiles, TCP options, traces.

use crate::scenario::resolve_setting as setting;
use crate::trace::{BUILT_IN, BuiltIn};
use cwndlab_cc::params::{ParamSpec, Parameters};
use cwndlab_cc::{Algorithm, Declaration, Registry};
use cwndlab_sim::mptcp::MptcpOptions;
use cwndlab_sim::queue::{LIMIT, QueueKind, Queues, Sizing};
use cwndlab_sim::tcp::{PROFILES, Profile, TcpOptions};
use serde_json::{Map, Value, json};

/// Everything as JSON.
#[must_use]
pub fn catalogue(registry: &Registry, queues: &Queues) -> Value {
    json!({
        "algorithms": registry.iter().map(algorithm).collect::<Vec<_>>(),
        "queues": queues.iter().map(queue).collect::<Vec<_>>(),
        "profiles": PROFILES.iter().map(profile).collect::<Vec<_>>(),
        "tcp": params(&TcpOptions::specs()),
        "mptcp": params(&MptcpOptions::specs()),
        "traces": BUILT_IN.iter().map(trace).collect::<Vec<_>>(),
        "environments": crate::gym::catalogue(registry),
        "measures": crate::measures::catalogue(),
        "series": crate::measures::series(),
    })
}

/// With what it declares of a controller whose parameters have their defaults.
fn algorithm(algorithm: &Algorithm) -> Value {
    let Declaration { needs, probes, spaces, bounded, coupled } = algorithm.declaration(&[]);
    json!({
        "name": algorithm.name,
        "summary": algorithm.summary,
        "source": algorithm.source,
        "departures": algorithm.departures,
        "params": params(&algorithm.params),
        "probes": probes,
        "observation_len": spaces.map(|spaces| spaces.observation),
        "actions_len": spaces.map(|spaces| spaces.actions),
        "bounded": bounded,
        "coupled": coupled,
        "ecn": needs.ecn.word(),
        "own_window_in_recovery": needs.own_window_in_recovery,
    })
}

fn params(specs: &[ParamSpec]) -> Value {
    specs.iter().map(param).collect()
}

fn param(spec: &ParamSpec) -> Value {
    json!({
        "name": spec.name,
        "default": setting(&spec.default),
        "allowed": spec.allowed.to_string(),
        "unit": spec.unit,
        "meaning": spec.meaning,
        "source": spec.source,
    })
}

fn queue(kind: &QueueKind) -> Value {
    let size = (kind.sizing == Sizing::Any).then(size);
    let own = (kind.params)();
    let own = own.iter().map(|spec| match (spec.name, kind.sizing) {
        (LIMIT, Sizing::Limit) => limit(spec),
        _ => param(spec),
    });
    json!({
        "name": kind.name,
        "summary": kind.summary,
        "source": kind.source,
        "departures": kind.departures,
        "params": size.into_iter().chain(own).collect::<Vec<_>>(),
        "chance": kind.chance.map(|chance| json!({ "what": chance.what, "unless": chance.unless })),
    })
}

/// A size is no declared parameter: it depends on the link and its flows.
fn size() -> Value {
    json!({
        "name": "size",
        "default": "1 bdp",
        "allowed": "a size as \"1 bdp\", \"100 packets\" or \"250 kB\", or \"unlimited\"",
        "unit": "size",
        "meaning": "how much waits at most, the packet in service not counted; bdp counts packets of 1500 bytes",
        "source": "Van Jacobson's rule: one bandwidth-delay product",
    })
}

/// A limit that `size` gives as well.
fn limit(spec: &ParamSpec) -> Value {
    let mut shown = param(spec);
    shown["meaning"] = json!(format!("{}; `size` is another name of it, in packets or in bdp", spec.meaning));
    shown
}

fn trace(trace: &BuiltIn) -> Value {
    json!({
        "name": trace.name,
        "summary": trace.summary,
        "source": "drawn by cwndlab, equal on every machine; nobody has measured it",
    })
}

fn profile(profile: &Profile) -> Value {
    let mut dialects: Map<String, Value> = Map::new();
    for (algorithm, name, value) in profile.dialects() {
        let of_this = dialects.entry(algorithm).or_insert_with(|| json!({}));
        of_this[name] = setting(&value);
    }
    json!({
        "name": profile.name,
        "summary": profile.summary,
        "source": profile.source,
        "departures": profile.departures,
        "tcp": crate::scenario::resolve_tcp(&profile.options()),
        "dialects": dialects,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_all_there_is() {
        let registry = Registry::built_in();
        let queues = Queues::built_in();
        let catalogue = catalogue(&registry, &queues);
        let names = |kind: &str| -> Vec<String> {
            let items = catalogue[kind].as_array().unwrap().iter();
            items.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names("algorithms"), registry.iter().map(|a| a.name).collect::<Vec<_>>());
        assert_eq!(names("queues"), queues.names());
        assert_eq!(names("profiles"), PROFILES.iter().map(|p| p.name).collect::<Vec<_>>());
        assert_eq!(names("tcp").len(), TcpOptions::specs().len());
        assert_eq!(names("mptcp"), ["scheduler"]);
    }

    #[test]
    fn everything_tells_its_source_and_its_departures() {
        let catalogue = catalogue(&Registry::built_in(), &Queues::built_in());
        for (kind, least) in [("algorithms", 0), ("queues", 1), ("profiles", 1)] {
            for item in catalogue[kind].as_array().unwrap() {
                let sentence = |value: &Value| value.as_str().is_some_and(|text| text.len() > 20);
                assert!(sentence(&item["source"]), "{}", item["name"]);
                let departures = item["departures"].as_array().unwrap();
                assert!(departures.len() >= least && departures.iter().all(sentence), "{}", item["name"]);
            }
        }
    }

    #[test]
    fn an_algorithm_shows_what_it_declares() {
        let catalogue = catalogue(&Registry::built_in(), &Queues::built_in());
        let of = |name: &str| {
            catalogue["algorithms"].as_array().unwrap().iter().find(|a| a["name"] == name).unwrap()
        };
        assert_eq!(of("cubic")["probes"], json!(["ssthresh_bytes", "w_max_segments", "k_s"]));
        assert_eq!((&of("cubic")["actions_len"], &of("dqn-cubic")["actions_len"]), (&json!(null), &json!(4)));
        assert_eq!(of("random")["observation_len"], json!(0), "it decides, and sees nothing");
        assert_eq!((&of("constant")["bounded"], &of("lia")["coupled"]), (&json!(true), &json!(true)));
        assert_eq!(
            (&of("bbr3")["own_window_in_recovery"], &of("bbr3")["ecn"]),
            (&json!(true), &json!("as-configured"))
        );
    }

    #[test]
    fn a_profile_shows_its_options_and_dialects() {
        let catalogue = catalogue(&Registry::built_in(), &Queues::built_in());
        let ns3 = catalogue["profiles"].as_array().unwrap().iter().find(|p| p["name"] == "ns3").unwrap();
        assert_eq!(ns3["tcp"]["overhead"], json!(2));
        assert_eq!(ns3["dialects"]["cubic"]["form"], json!("ns3"));
    }
}
