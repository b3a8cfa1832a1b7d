//! DQN-based NewReno (Seo and Cho 2024 section 3.1): a network adds -10, -3, -1, 0, 1, 3 or 10 segments to
//! the window, once per window of acknowledged segments, and learns from the outcome.

use super::actions::{NewRenoActionParams, NewRenoActions};
use super::dqn_cubic::NO_SPAN;
use crate::algorithm::Algorithm;
use crate::decisions::{
    ActionSet, Decided, DecisionParams, DqnParams, DqnPolicy, GivenWeights, PolicyParams, Punished,
    RewardParams, TupleParams, sizes, suit,
};
use crate::params::{FileKind, NamedFile, Parameters, Value};
use std::sync::Arc;

crate::parameters! {
    /// The network.
    pub struct NetworkParams {
        layers: u64 = 3, "layers", Allowed::Count(0, 16), "",
            "hidden layers of the network", "Seo and Cho 2024 section 3.1.1: 3";
        nodes: u64 = 30, "nodes", Allowed::Count(1, 512), "",
            "nodes of each hidden layer",
            "Seo and Cho 2024 section 3.1.1: 30 nodes, read as in each layer, as it says of DQN-based CUBIC";
        weights: GivenWeights = GivenWeights::default(), "weights", Allowed::File(&WEIGHTS), "",
            "a file of weights to start from; fresh: drawn at random as PyTorch does",
            "Seo and Cho 2024 section III: learning in real time, no training before";
    }
}

fn network_sizes(settings: &[(String, Value)]) -> Vec<usize> {
    let NetworkParams { layers, nodes, .. } = NetworkParams::with(settings);
    sizes(NewRenoActions::FEATURES.len(), layers, nodes, NewRenoActions::ACTIONS)
}

const WEIGHTS: FileKind = GivenWeights::kind(suits);

fn suits(file: &NamedFile, settings: &[(String, Value)]) -> Result<(), String> {
    let inputs = TupleParams::with(settings).state.inputs(NewRenoActions::FEATURES);
    suit(file, PolicyParams::with(settings).role, &network_sizes(settings), inputs)
}

fn policy(settings: &[(String, Value)]) -> DqnPolicy {
    let given = NetworkParams::with(settings).weights;
    DqnPolicy::new::<NewRenoActions>(network_sizes(settings), given, Punished::Congestion, settings)
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    let params = [
        PolicyParams::specs(),
        NetworkParams::specs(),
        RewardParams::specs(),
        TupleParams::specs(),
        DqnParams::specs(),
        DecisionParams::specs(),
        NewRenoActionParams::specs(),
    ];
    Algorithm {
        name: "dqn-newreno",
        summary: "NewReno whose window a deep Q-network moves, learning as it goes",
        source: "Seo and Cho 2024 section 3.1: \"Performance Evaluation of DQN-Based Congestion Control Algorithm for \
                 TCP\"",
        departures: &[
            "acknowledged bytes are counted, in slow start too, where ns-3's NewReno counts ACKs (counting = acks)",
            "tuples are stored by the rule that the paper states for DQN-based CUBIC: one at each decision would be \
             833 in 50 s, but learning waits for 2000",
            NO_SPAN,
        ],
        params: params.concat().into(),
        declares: Decided::<NewRenoActions, DqnPolicy>::DECLARATION.into(),
        build: Arc::new(|setup, settings| {
            let shared = DecisionParams::with(settings);
            let actions = NewRenoActions::new(NewRenoActionParams::with(settings), shared.beta);
            Box::new(Decided::new(setup, shared, actions, policy(settings)))
        }),
    }
}
