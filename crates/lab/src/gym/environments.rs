//! All environments, and the ranges from which their episodes are drawn.

use cwndlab_cc::algo::actions::{CubicActions, NewRenoActions};
use cwndlab_cc::algo::steered;
use cwndlab_cc::decisions::{ActionSet, TupleParams};
use cwndlab_cc::params::{Parameters, Value};
use cwndlab_cc::{Registry, Rng, Spaces};
use serde_json::{Value as Json, json};

/// An environment: an algorithm whose decisions an external agent makes.
pub struct Environment {
    /// Its name in Gymnasium's registry.
    pub name: &'static str,
    /// The algorithm.
    pub algorithm: &'static str,
    /// The settings that make the algorithm wait for an agent.
    pub outside: &'static [(&'static str, &'static str)],
    /// A summary in one sentence.
    pub summary: &'static str,
    /// When the agent decides.
    pub decides: &'static str,
    /// What each action does.
    pub actions: &'static [&'static str],
    /// What the reward measures.
    pub reward: &'static str,
    /// Describes a network's inputs with these settings; `None` if their scaling keeps changing.
    pub inputs: fn(&[(String, Value)]) -> Option<String>,
}

const OUTSIDE: &[(&str, &str)] = &[("policy", "outside")];
const SEO_REWARD: &str = "cwnd/RTT as a share of the largest so far; -1 for a loss";

/// All environments.
pub const ENVIRONMENTS: &[Environment] = &[
    Environment {
        name: "cwndlab/DqnNewReno-v0",
        algorithm: "dqn-newreno",
        outside: OUTSIDE,
        summary: "the window of NewReno in congestion avoidance, as DQN-based NewReno has it (Seo and Cho 2024)",
        decides: "once per window of acknowledged segments, in congestion avoidance",
        actions: &["-10", "-3", "-1", "0", "+1", "+3", "+10 segments"],
        reward: SEO_REWARD,
        inputs: |settings| TupleParams::with(settings).state.inputs(NewRenoActions::FEATURES),
    },
    Environment {
        name: "cwndlab/DqnCubic-v0",
        algorithm: "dqn-cubic",
        outside: OUTSIDE,
        summary: "the growth of CUBIC in congestion avoidance, as DQN-based CUBIC has it (Seo and Cho 2024)",
        decides: "when CUBIC's count is reached, after one window at the latest, in congestion avoidance",
        actions: &["one segment less", "nothing", "on with C", "on with 3 C"],
        reward: SEO_REWARD,
        inputs: |settings| TupleParams::with(settings).state.inputs(CubicActions::FEATURES),
    },
    Environment {
        name: "cwndlab/Window-v0",
        algorithm: "steered",
        outside: OUTSIDE,
        summary: "the whole window of a flow, from its first RTT sample on",
        decides: "at each ACK, each round trip or a fixed interval: flow.0.cc.decide",
        actions: &["stay", "half", "-10 segments", "+10 segments", "double"],
        reward: "delivered minus lost rate over the RTT, as a share of the largest rate over the smallest RTT",
        inputs: |_| Some(steered::inputs()),
    },
];

/// A quantity that is drawn for each episode, uniform in its logarithm.
pub struct Range {
    /// Its name, with its unit.
    pub name: &'static str,
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
    /// What it is.
    pub meaning: &'static str,
    /// Where the range comes from.
    pub source: &'static str,
}

/// The drawn quantities, in the order of drawing.
pub const RANGES: [Range; 4] = [
    Range {
        name: "link_rate_mbps",
        low: 5.0,
        high: 100.0,
        meaning: "rate of the bottleneck",
        source: "decided: up to the bottleneck of Seo and Cho 2024",
    },
    Range {
        name: "link_rtt_ms",
        low: 10.0,
        high: 100.0,
        meaning: "round-trip time without a queue",
        source: "decided: a metro to an ocean",
    },
    Range {
        name: "link_buffer_bdp",
        low: 0.25,
        high: 4.0,
        meaning: "its buffer (drop-tail) in bandwidth-delay products",
        source: "decided: a quarter to four times Van Jacobson's rule",
    },
    Range {
        name: "link_loss",
        low: 1e-6,
        high: 1e-3,
        meaning: "probability that a packet is lost at random",
        source: "decided: almost none, up to a poor wireless link",
    },
];

/// Draws the values of one episode.
#[must_use]
pub fn draw(seed: u64) -> [f64; RANGES.len()] {
    let mut rng = Rng::named(seed, "episode");
    RANGES.each_ref().map(|range| {
        let (low, high) = (cwndlab_learn::math::ln(range.low), cwndlab_learn::math::ln(range.high));
        cwndlab_learn::math::exp(low + (high - low) * rng.uniform())
    })
}

/// The environment of this name.
///
/// # Errors
/// There is no such environment; the message lists all names.
pub fn find(name: &str) -> Result<&'static Environment, String> {
    ENVIRONMENTS.iter().find(|environment| environment.name == name).ok_or_else(|| {
        let known: Vec<_> = ENVIRONMENTS.iter().map(|environment| environment.name).collect();
        format!("unknown environment `{name}`; allowed: {}", known.join(", "))
    })
}

impl Environment {
    /// An agent's spaces, as the algorithm declares them; `None` if the registry's algorithm
    /// does not decide by actions.
    #[must_use]
    pub fn spaces(&self, registry: &Registry) -> Option<Spaces> {
        registry.get(self.algorithm)?.declaration(&[]).spaces
    }
}

/// All environments as JSON.
#[must_use]
pub fn catalogue(registry: &Registry) -> Json {
    let ranges: Vec<Json> = RANGES
        .iter()
        .map(|range| {
            json!({
                "name": range.name, "low": range.low, "high": range.high, "meaning": range.meaning,
                "source": range.source,
            })
        })
        .collect();
    let entry = |environment: &Environment| {
        let spaces = environment.spaces(registry).unwrap_or_default();
        json!({
            "name": environment.name,
            "summary": environment.summary,
            "algorithm": environment.algorithm,
            "observation": (environment.inputs)(&[]),
            "observation_len": spaces.observation,
            "actions_len": spaces.actions,
            "actions": environment.actions,
            "decides": environment.decides,
            "reward": environment.reward,
            "duration": super::DURATION,
            "ranges": ranges,
        })
    };
    ENVIRONMENTS.iter().map(entry).collect()
}
