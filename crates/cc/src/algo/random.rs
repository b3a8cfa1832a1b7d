//! Uniformly random actions: a control that separates learning from luck. It decides at the same points as
//! the DQN of Seo et al. 2022 and Seo and Cho 2024, among the same actions, but uses no information.

use super::actions::{CubicActionParams, CubicActions, NewRenoActionParams, NewRenoActions};
use crate::algorithm::{Algorithm, Declares};
use crate::contract::Context;
use crate::decisions::{Decided, DecisionParams, Policy};
use crate::params::Parameters;
use std::sync::Arc;

crate::words! {
    /// Whose actions are drawn.
    pub enum Actions {
        /// Those of DQN-based NewReno: -10, -3, -1, 0, 1, 3 or 10 segments.
        NewReno = "newreno",
        /// Those of DQN-based CUBIC: one segment less, no change, or a step along the cubic with C or 3 C.
        Cubic = "cubic",
    }
}

crate::parameters! {
    /// The parameters in addition to those of the actions.
    pub struct RandomParams {
        actions: Actions = Actions::NewReno, "actions", Allowed::Word(Actions::WORDS), "",
            "base algorithm and actions: those of DQN-based NewReno or of DQN-based CUBIC",
            "Seo and Cho 2024 sections 3.1 (newreno) and 3.2 (cubic); the first of the two";
    }
}

/// Each action is as likely as any other.
pub struct UniformlyRandom;

impl Policy for UniformlyRandom {
    fn choose(&mut self, cx: &mut Context, actions: u32) -> Option<u32> {
        Some(cx.rng.below(u64::from(actions)) as u32)
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    let params = [
        RandomParams::specs(),
        DecisionParams::specs(),
        NewRenoActionParams::specs(),
        CubicActionParams::specs(),
    ];
    Algorithm {
        name: "random",
        summary: "uniformly random actions where a DQN would decide: a control",
        source: "a control of this laboratory, on the decision points and actions of Seo and Cho 2024 and \
                 Seo et al. 2022",
        departures: &[
            "random throughout, where the papers' agents are random until 2000 tuples are stored, and with probability \
             0.015 after that",
            "actions = newreno: acknowledged bytes are counted, in slow start too, where ns-3's NewReno counts ACKs",
            "actions = cubic: no Reno-friendly region, as in the papers' equations and in ns-3 before 3.41",
            "actions = cubic: a decision comes after a window of acknowledged segments at the latest, where CUBIC's \
             count on its plateau is a hundred windows (cnt_cap = uncapped)",
            "actions = cubic: W_max and K are RFC 9438's, where the paper's table cuts W_max at each loss (w_max_cut \
             = always) and its equation takes K from W_max alone (K = paper)",
        ],
        params: params.concat().into(),
        declares: Declares::by(|settings| match RandomParams::with(settings).actions {
            Actions::NewReno => Decided::<NewRenoActions, UniformlyRandom>::DECLARATION,
            Actions::Cubic => Decided::<CubicActions, UniformlyRandom>::DECLARATION,
        }),
        build: Arc::new(|setup, settings| {
            let shared = DecisionParams::with(settings);
            let beta = shared.beta;
            match RandomParams::with(settings).actions {
                Actions::NewReno => Box::new(Decided::new(
                    setup,
                    shared,
                    NewRenoActions::new(NewRenoActionParams::with(settings), beta),
                    UniformlyRandom,
                )),
                Actions::Cubic => {
                    let actions = CubicActions::new(setup, CubicActionParams::with(settings), beta);
                    Box::new(Decided::new(setup, shared, actions, UniformlyRandom))
                }
            }
        }),
    }
}
