//! The algorithms: one file each, or one folder, and one line each in [`built_in`].

pub mod actions;
pub mod always;
pub mod balia;
pub mod bbr1;
pub mod bbr2;
pub mod bbr3;
pub mod constant;
pub mod cubic;
pub mod dbac;
pub mod dqn_cubic;
pub mod dqn_cubic_2022;
pub mod dqn_newreno;
pub mod fbbr2;
pub mod lia;
pub mod newreno;
pub mod olia;
pub mod random;
pub mod reno;
pub mod steered;
pub mod timeout_patterns;
pub mod vegas;

use crate::algorithm::Algorithm;

/// The algorithms that ship with this crate.
#[must_use]
pub fn built_in() -> Vec<Algorithm> {
    vec![
        reno::algorithm(),
        newreno::algorithm(),
        cubic::algorithm(),
        vegas::algorithm(),
        bbr1::algorithm(),
        bbr2::algorithm(),
        bbr3::algorithm(),
        fbbr2::algorithm(),
        timeout_patterns::sd(),
        timeout_patterns::pd(),
        timeout_patterns::sd_pd(),
        dqn_newreno::algorithm(),
        dqn_cubic::algorithm(),
        dqn_cubic_2022::algorithm(),
        lia::algorithm(),
        olia::algorithm(),
        balia::algorithm(),
        dbac::algorithm(),
        constant::algorithm(),
        random::algorithm(),
        always::algorithm(),
        steered::algorithm(),
    ]
}
