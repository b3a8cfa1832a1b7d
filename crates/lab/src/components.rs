//! The components that a run will report on, known before it runs: the names of flows, groups and links, and
//! the probes of each flow's algorithm.

use crate::linux::PREFIX;
use crate::run::guarded;
use crate::scenario::Scenario;
use cwndlab_sim::spec::{FlowKind, LinkSpec};
use serde_json::{Map, Value, json};

/// Names by kind, and the probes of each flow and subflow. A controller that cannot be built has no probes
/// here; the run reports why.
#[must_use]
pub fn components(scenario: &Scenario) -> Value {
    let spec = scenario.spec(0, false);
    let parts = || spec.flows.iter().flat_map(|flow| flow.parts().map(move |part| (flow, part)));
    let subflows = parts().filter(|(flow, _)| flow.multipath.is_some()).map(|(_, (name, _))| name);
    let arriving = spec.arrivals.iter().map(|arrivals| &arrivals.path);
    let paths = spec.flows.iter().flat_map(|flow| &flow.paths).chain(arriving);
    let access = paths.filter_map(|path| path.access.as_ref().map(|access| &access.link));
    let links: Vec<&LinkSpec> = spec.links.iter().chain(access).collect();
    let back = links.iter().filter(|link| link.back.is_some()).map(|link| format!("{}.back", link.name));
    let names = links.iter().map(|link| link.name.clone()).chain(back);
    let probes = parts().filter_map(|(flow, (name, _))| Some((name, json!(probes(&flow.kind)?))));
    json!({
        "flow": spec.flows.iter().map(|flow| &flow.name).collect::<Vec<_>>(),
        "subflow": subflows.collect::<Vec<_>>(),
        "group": spec.arrivals.iter().map(|arrivals| &arrivals.name).collect::<Vec<_>>(),
        "link": names.collect::<Vec<_>>(),
        "probes": probes.collect::<Map<_, _>>(),
    })
}

fn probes(kind: &FlowKind) -> Option<&'static [&'static str]> {
    if kind.algorithm.name.starts_with(PREFIX) {
        return Some(&[]);
    }
    guarded(0, || (kind.algorithm.build)(&kind.tcp.setup(), &kind.settings).probes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Queues;
    use crate::scenario::{Backend, Source, read};
    use crate::trace::Directory;
    use cwndlab_cc::Registry;

    fn of(text: &str) -> Value {
        let source = Source {
            backend: Backend::Sim,
            file: "-",
            registry: &Registry::built_in(),
            queues: &Queues::built_in(),
            traces: &Directory::of("-"),
        };
        let (scenario, problems) = read(text.as_bytes(), &source, &[]);
        components(&scenario.unwrap_or_else(|| panic!("{problems:?}")))
    }

    #[test]
    fn it_names_what_runs() {
        let found = of(r#"
            duration = "1 s"
            [[link]]
            name = "up"
            rate = "10 Mbit/s"
            delay = "10 ms"
            back = { rate = "1 Mbit/s" }
            [[flow]]
            name = "many"
            count = 2
            cc = "bbr1"
            path = ["up"]
            access = { rate = "20 Mbit/s", delay = "1 ms" }
            [[flow]]
            name = "off"
            cc = "reno"
            path = ["up"]
            enabled = false
            [[flow]]
            name = "both"
            cc = "dbac"
            paths = [["up"], ["up"]]
            [[flow]]
            name = "web"
            cc = "reno"
            path = ["up"]
            arrivals = { per_second = 1, size = "1 kB" }
        "#);
        assert_eq!(found["flow"], json!(["many-1", "many-2", "both"]));
        assert_eq!(found["subflow"], json!(["both/1", "both/2"]));
        assert_eq!(found["group"], json!(["web"]));
        assert_eq!(found["link"], json!(["up", "many-1.access", "many-2.access", "up.back"]));
        assert_eq!(found["probes"]["many-2"], json!(["bw_mbps", "min_rtt_ms", "pacing_gain", "mode"]));
        assert_eq!(found["probes"].as_object().unwrap().len(), 4);
    }
}
