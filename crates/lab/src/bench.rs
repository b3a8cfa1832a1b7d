//! The benchmark cases, timed by the CPU time of their thread: built-in scenarios and steps of a DQN.

mod dqn;

use crate::run::{RunToken, run_seed};
use crate::scenario::{Backend, Scenario, Source, read};
use crate::trace::Memory;
use cpu_time::ThreadTime;
use cwndlab_cc::Registry;
use cwndlab_sim::outcome::Work;
use cwndlab_sim::queue::Queues;
use serde_json::{Value, json};

/// Name and scenario of each case.
const CASES: &[(&str, &str)] = &[
    ("one-flow-100mbit", include_str!("bench/one-flow-100mbit.toml")),
    ("one-flow-1gbit", include_str!("bench/one-flow-1gbit.toml")),
    ("flows-10", include_str!("bench/flows-10.toml")),
    ("flows-100", include_str!("bench/flows-100.toml")),
    ("flows-1000", include_str!("bench/flows-1000.toml")),
    ("flows-10000", include_str!("bench/flows-10000.toml")),
    ("hosts-10", include_str!("bench/hosts-10.toml")),
    ("hosts-1000", include_str!("bench/hosts-1000.toml")),
    ("lte-trace", include_str!("bench/lte-trace.toml")),
    ("two-paths", include_str!("bench/two-paths.toml")),
    ("ns3-stack", include_str!("bench/ns3-stack.toml")),
];

/// The names of the cases.
#[must_use]
pub fn cases() -> Vec<&'static str> {
    CASES.iter().map(|(name, _)| *name).chain(dqn::cases()).collect()
}

/// Runs a case with overrides `repeats` times (at least once) and returns the fastest run as JSON.
///
/// # Errors
/// There is no such case, an override is wrong, or the run failed.
pub fn bench(
    case: &str,
    repeats: u32,
    registry: &Registry,
    queues: &Queues,
    overrides: &[(String, String)],
) -> Result<Value, String> {
    if let Some(report) = dqn::bench(case, repeats) {
        return if overrides.is_empty() {
            Ok(report)
        } else {
            Err(format!("the case `{case}` is not a scenario, so nothing can be set"))
        };
    }
    let scenario = scenario(case, registry, queues, overrides)?;
    let mut best: Option<(f64, Work)> = None;
    for _ in 0..repeats.max(1) {
        let timed = time_once(&scenario)?;
        if best.is_none_or(|(cpu_s, _)| timed.0 < cpu_s) {
            best = Some(timed);
        }
    }
    let (cpu_s, work) = best.ok_or("nothing was run")?;
    Ok(report(case, &scenario, cpu_s, work))
}

fn scenario(
    case: &str,
    registry: &Registry,
    queues: &Queues,
    overrides: &[(String, String)],
) -> Result<Scenario, String> {
    let found = CASES.iter().find(|(name, _)| *name == case);
    let (name, text) =
        found.ok_or_else(|| format!("unknown case `{case}`; allowed: {}", cases().join(", ")))?;
    let source = Source { backend: Backend::Sim, file: name, registry, queues, traces: &Memory::default() };
    let (scenario, problems) = read(text.as_bytes(), &source, overrides);
    scenario.ok_or_else(|| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn time_once(scenario: &Scenario) -> Result<(f64, Work), String> {
    let begin = ThreadTime::now();
    let outcome =
        run_seed(scenario, 1, false, &RunToken::default()).map_err(|failure| failure.to_string())?;
    Ok((begin.elapsed().as_secs_f64(), outcome.work))
}

fn report(case: &str, scenario: &Scenario, cpu_s: f64, work: Work) -> Value {
    let packets = work.data_packets as f64;
    let ratio = |a: f64, b: f64| if b > 0.0 { json!(a / b) } else { Value::Null };
    json!({
        "name": case,
        "packets": work.data_packets,
        "events": work.events,
        "cpu_s": cpu_s,
        "ns_per_packet": ratio(cpu_s * 1e9, packets),
        "events_per_packet": ratio(work.events as f64, packets),
        "x_real_time": ratio(scenario.duration().as_secs_f64(), cpu_s),
        "peak_rss_mb": peak_rss_mb(),
    })
}

/// The peak resident memory of this process in MB, where the system reports it.
fn peak_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_sound_scenario() {
        let (registry, queues) = (Registry::built_in(), Queues::built_in());
        for (case, _) in CASES {
            assert_eq!(scenario(case, &registry, &queues, &[]).err(), None, "{case}");
        }
        assert!(bench("flows-7", 1, &registry, &queues, &[]).unwrap_err().contains("flows-1000"));
    }
}
