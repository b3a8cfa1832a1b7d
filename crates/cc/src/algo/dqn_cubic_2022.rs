//! DQN-based CUBIC as first published (Seo et al. 2022): as in 2024, except that a timeout is not punished.

use super::dqn_cubic::{DECLARATION, NO_RENO, NO_SPAN, ONCE_A_WINDOW, build, params};
use crate::algorithm::Algorithm;
use crate::decisions::Punished;

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "dqn-cubic-2022",
        summary: "CUBIC whose growth a deep Q-network chooses, learning as it goes, as first published",
        source: "Seo et al. 2022 section II: \"A DQN-based CUBIC for TCP Congestion Control\"",
        departures: &[
            NO_RENO,
            ONCE_A_WINDOW,
            "actions 2 and 3 go towards the cubic's target by a segment when the count is reached, where equation (1) \
             sets the window to the cubic (increase = set-target)",
            "W_max and K are RFC 9438's, where Seo et al. 2022 equation (1) takes K from W_max alone (K = paper)",
            "the network and the rule of storing tuples are those of 2024: the paper of 2022 names neither",
            NO_SPAN,
        ],
        params: params(),
        declares: DECLARATION.into(),
        build: build(Punished::DuplicateAcks),
    }
}
