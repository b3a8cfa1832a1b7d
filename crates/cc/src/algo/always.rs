//! The same action at each decision: a control that shows what learning adds to the best single action. It
//! decides at the same points as the DQN of Seo et al. 2022 and Seo and Cho 2024, among the same actions.

use super::actions::{CubicActionParams, CubicActions, NewRenoActionParams, NewRenoActions};
use super::random::{Actions, RandomParams};
use crate::algorithm::{Algorithm, Declares};
use crate::contract::Context;
use crate::decisions::{Decided, DecisionParams, Policy};
use crate::params::Parameters;
use std::sync::Arc;

crate::parameters! {
    /// The parameters in addition to those of the actions.
    pub struct AlwaysParams {
        action: u64 = 3, "action", Allowed::Count(0, 6), "",
            "the action, counted from 0; a larger number means the last one: newreno's are -10, -3, -1, 0, 1, 3, 10 segments; cubic's \
             one segment less, nothing, on with C, on with 3 C",
            "Seo and Cho 2024 equation (4): a = 3, the steeper cubic";
    }
}

struct Always(u32);

impl Policy for Always {
    fn choose(&mut self, _cx: &mut Context, _actions: u32) -> Option<u32> {
        Some(self.0)
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    let params = [
        AlwaysParams::specs(),
        RandomParams::specs(),
        DecisionParams::specs(),
        NewRenoActionParams::specs(),
        CubicActionParams::specs(),
    ];
    Algorithm {
        name: "always",
        summary: "the same action wherever a DQN would decide: a control",
        source: "a control of this laboratory, on the decision points and actions of Seo and Cho 2024 and \
                 Seo et al. 2022",
        departures: &["it makes no decision, where the papers' agents choose; otherwise as `random`"],
        params: params.concat().into(),
        declares: Declares::by(|settings| match RandomParams::with(settings).actions {
            Actions::NewReno => Decided::<NewRenoActions, Always>::DECLARATION,
            Actions::Cubic => Decided::<CubicActions, Always>::DECLARATION,
        }),
        build: Arc::new(|setup, settings| {
            let shared = DecisionParams::with(settings);
            let beta = shared.beta;
            let policy = Always(AlwaysParams::with(settings).action as u32);
            match RandomParams::with(settings).actions {
                Actions::NewReno => Box::new(Decided::new(
                    setup,
                    shared,
                    NewRenoActions::new(NewRenoActionParams::with(settings), beta),
                    policy,
                )),
                Actions::Cubic => {
                    let actions = CubicActions::new(setup, CubicActionParams::with(settings), beta);
                    Box::new(Decided::new(setup, shared, actions, policy))
                }
            }
        }),
    }
}
