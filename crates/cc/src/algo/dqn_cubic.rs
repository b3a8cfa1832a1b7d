//! DQN-based CUBIC (Seo and Cho 2024 section 3.2, Seo et al. 2022): a network moves along the cubic with C or
//! with 3 C, keeps the window, or removes a segment, and learns from the outcome.

use super::actions::{CubicActionParams, CubicActions};
use crate::algorithm::{Algorithm, Build, Declaration};
use crate::decisions::{
    ActionSet, Decided, DecisionParams, DqnParams, DqnPolicy, GivenWeights, PolicyParams, Punished,
    RewardParams, TupleParams, sizes, suit,
};
use crate::params::{FileKind, NamedFile, ParamSpec, Parameters, Value};
use std::sync::Arc;

crate::parameters! {
    /// The network.
    pub struct NetworkParams {
        layers: u64 = 5, "layers", Allowed::Count(0, 16), "",
            "hidden layers of the network", "Seo and Cho 2024 section 3.2.1: 5";
        nodes: u64 = 50, "nodes", Allowed::Count(1, 512), "",
            "nodes of each hidden layer", "Seo and Cho 2024 section 3.2.1: 50 in each";
        weights: GivenWeights = GivenWeights::default(), "weights", Allowed::File(&WEIGHTS), "",
            "a file of weights to start from; fresh: drawn at random as PyTorch does",
            "Seo and Cho 2024 section III: learning in real time, no training before";
    }
}

fn network_sizes(settings: &[(String, Value)]) -> Vec<usize> {
    let NetworkParams { layers, nodes, .. } = NetworkParams::with(settings);
    sizes(CubicActions::FEATURES.len(), layers, nodes, CubicActions::ACTIONS)
}

const WEIGHTS: FileKind = GivenWeights::kind(suits);

fn suits(file: &NamedFile, settings: &[(String, Value)]) -> Result<(), String> {
    let inputs = TupleParams::with(settings).state.inputs(CubicActions::FEATURES);
    suit(file, PolicyParams::with(settings).role, &network_sizes(settings), inputs)
}

/// All parameters.
pub(super) fn params() -> Arc<[ParamSpec]> {
    let params = [
        PolicyParams::specs(),
        NetworkParams::specs(),
        RewardParams::specs(),
        TupleParams::specs(),
        DqnParams::specs(),
        DecisionParams::specs(),
        CubicActionParams::specs(),
    ];
    params.concat().into()
}

/// Departures from the papers that several of these algorithms share.
pub(super) const NO_RENO: &str =
    "no Reno-friendly region, as in the papers' equations and in ns-3 before 3.41";
pub(super) const ONCE_A_WINDOW: &str = "a decision comes after a window of acknowledged segments at the latest, where \
     CUBIC's count on its plateau is a hundred windows (cnt_cap = uncapped)";
pub(super) const NO_SPAN: &str =
    "no tuple spans a recovery: the next one begins at the first ACK in congestion avoidance";

/// The declaration, whichever events are punished.
pub(super) const DECLARATION: Declaration = Decided::<CubicActions, DqnPolicy>::DECLARATION;

/// Builds a controller that is punished for these events.
pub(super) fn build(punished: Punished) -> Build {
    Arc::new(move |setup, settings| {
        let shared = DecisionParams::with(settings);
        let actions = CubicActions::new(setup, CubicActionParams::with(settings), shared.beta);
        let given = NetworkParams::with(settings).weights;
        let policy = DqnPolicy::new::<CubicActions>(network_sizes(settings), given, punished, settings);
        Box::new(Decided::new(setup, shared, actions, policy))
    })
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "dqn-cubic",
        summary: "CUBIC whose growth a deep Q-network chooses, learning as it goes",
        source: "Seo and Cho 2024 section 3.2: \"Performance Evaluation of DQN-Based Congestion Control Algorithm for \
                 TCP\"",
        departures: &[
            NO_RENO,
            ONCE_A_WINDOW,
            "W_max and K are RFC 9438's, where the paper's table cuts W_max at each loss (w_max_cut = always) and its \
             equation takes K from W_max alone (K = paper)",
            "action 2 follows C (T - K)^3, as in Seo et al. 2022; Seo and Cho 2024 equation (4) lacks the factor C",
            NO_SPAN,
        ],
        params: params(),
        declares: DECLARATION.into(),
        build: build(Punished::Congestion),
    }
}
