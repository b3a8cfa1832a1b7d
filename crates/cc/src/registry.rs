//! The algorithms by name. A registry is a value: the built-in ones, and what a caller adds.

use crate::contract::CongestionControl;
use crate::params::{ParamSpec, Value};
use std::sync::Arc;

/// What a controller is told when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Payload of a full segment in bytes.
    pub mss: u64,
    /// Initial window in bytes.
    pub initial_window: u64,
    /// Slow-start threshold at the start, in bytes; `u64::MAX` for none.
    pub initial_ssthresh: u64,
    /// The transport paces its sending; HyStart's ACK train then allows for it.
    pub paced: bool,
}

/// Makes a controller from checked settings.
pub type Build = Arc<dyn Fn(&Setup, &[(String, Value)]) -> Box<dyn CongestionControl> + Send + Sync>;

/// Before an algorithm's name: each subflow of a multipath connection runs it as if it were alone.
pub const UNCOUPLED: &str = "uncoupled:";

/// One algorithm: what it is, what can be set, and how it is made.
#[derive(Clone)]
pub struct Algorithm {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// RFC, draft or paper.
    pub source: &'static str,
    /// Where it departs from its source, and why.
    pub departures: &'static [&'static str],
    /// Its parameters.
    pub params: Arc<[ParamSpec]>,
    /// Makes a controller.
    pub build: Build,
}

/// The algorithms that a scenario may name.
#[derive(Clone, Default)]
pub struct Registry {
    algorithms: Vec<Algorithm>,
}

impl Registry {
    /// The algorithms that ship: one line each.
    #[must_use]
    pub fn built_in() -> Self {
        use crate::algo::{
            always, balia, bbr1, bbr2, bbr3, constant, cubic, dbac, dqn_cubic, dqn_cubic_2022, dqn_newreno,
            fbbr2, lia, newreno, olia, random, reno, steered, timeout_patterns, vegas,
        };
        Self {
            algorithms: vec![
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
            ],
        }
    }

    /// Adds an algorithm; one of the same name is replaced.
    pub fn add(&mut self, algorithm: Algorithm) {
        self.algorithms.retain(|a| a.name != algorithm.name);
        self.algorithms.push(algorithm);
    }

    /// The algorithm of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Algorithm> {
        self.algorithms.iter().find(|a| a.name == name)
    }

    /// The algorithm that a scenario means by this word, and whether each subflow runs it as if it were alone.
    #[must_use]
    pub fn find(&self, word: &str) -> Option<(&Algorithm, bool)> {
        match word.strip_prefix(UNCOUPLED) {
            Some(name) => self.get(name).map(|algorithm| (algorithm, true)),
            None => self.get(word).map(|algorithm| (algorithm, false)),
        }
    }

    /// All, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &Algorithm> {
        self.algorithms.iter()
    }
}
