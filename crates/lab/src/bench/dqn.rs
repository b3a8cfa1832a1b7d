//! Steps of a DQN, timed alone: what a built-in agent adds to the cost of a simulation.

use cpu_time::ThreadTime;
use cwndlab_cc::algo::actions::{CubicActions, NewRenoActions};
use cwndlab_cc::algo::{dqn_cubic, dqn_newreno};
use cwndlab_cc::decisions::{ActionSet, DqnParams, sizes};
use cwndlab_learn::dqn::{Dqn, Experience};
use cwndlab_learn::{Mlp, Rng};
use serde_json::{Value, json};

/// Name, operation and network of each case. Networks and parameters are the defaults of the papers' algorithms.
const CASES: &[(&str, Operation, Network)] = &[
    ("dqn-train-30x3", Operation::Train, Network::NewReno),
    ("dqn-train-50x5", Operation::Train, Network::Cubic),
    ("dqn-infer-30x3", Operation::Infer, Network::NewReno),
    ("dqn-infer-50x5", Operation::Infer, Network::Cubic),
];

#[derive(Clone, Copy)]
enum Operation {
    Train,
    Infer,
}

#[derive(Clone, Copy)]
enum Network {
    NewReno,
    Cubic,
}

impl Network {
    fn sizes(self) -> Vec<usize> {
        match self {
            Network::NewReno => {
                let dqn_newreno::NetworkParams { layers, nodes, .. } = dqn_newreno::NetworkParams::default();
                sizes(NewRenoActions::FEATURES.len(), layers, nodes, NewRenoActions::ACTIONS)
            }
            Network::Cubic => {
                let dqn_cubic::NetworkParams { layers, nodes, .. } = dqn_cubic::NetworkParams::default();
                sizes(CubicActions::FEATURES.len(), layers, nodes, CubicActions::ACTIONS)
            }
        }
    }
}

/// The names of the cases.
pub(super) fn cases() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|(name, ..)| *name)
}

/// Steps in a repeat, enough to take some ten milliseconds.
fn steps(operation: Operation) -> u32 {
    match operation {
        Operation::Train => 500,
        Operation::Infer => 50_000,
    }
}

/// The best of `repeats` repeats; `None` if this is not a DQN case.
pub(super) fn bench(case: &str, repeats: u32) -> Option<Value> {
    let (name, operation, network) = CASES.iter().find(|(name, ..)| *name == case)?;
    let sizes = network.sizes();
    let mut dqn = learner(&sizes);
    let state = vec![0.5; sizes[0]];
    let mut once = || {
        let begin = ThreadTime::now();
        for _ in 0..steps(*operation) {
            match operation {
                Operation::Train => dqn.learn(),
                Operation::Infer => {
                    std::hint::black_box(dqn.choose(std::hint::black_box(&state)));
                }
            }
        }
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(steps(*operation))
    };
    // The first repeat is a warm-up.
    once();
    let best = (0..repeats.max(1)).map(|_| once()).fold(f64::INFINITY, f64::min);
    Some(json!({ "name": name, "us_per_op": best }))
}

/// A learner with a full ring of random experiences that never explores.
fn learner(sizes: &[usize]) -> Dqn {
    let mut rng = Rng::named(1, "bench");
    let weights = Mlp::random(sizes, &mut rng);
    let params = DqnParams { epsilon: 0.0, ..DqnParams::default() };
    let mut dqn = Dqn::new(params.config(), weights, false, rng.clone());
    let actions = sizes[sizes.len() - 1] as u64;
    for _ in 0..params.warmup.max(params.replay) {
        let mut draw = || (0..sizes[0]).map(|_| rng.uniform() as f32).collect::<Vec<f32>>();
        let (state, next_state) = (draw(), draw());
        let (action, reward) = (rng.below(actions) as u32, rng.uniform() as f32);
        dqn.remember(&Experience { state: &state, action, reward, next_state: &next_state });
    }
    dqn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_is_timed() {
        for case in cases() {
            assert!(bench(case, 1).is_some_and(|report| report["us_per_op"].as_f64() > Some(0.0)), "{case}");
        }
        assert!(bench("flows-10", 1).is_none());
    }
}
