//! The algorithms by name. A registry is a value: the built-in algorithms, and those that a caller adds.

use crate::algo;
use crate::algorithm::Algorithm;

/// Prefix of an algorithm's name: each subflow of a multipath connection runs it as if it were alone.
pub const UNCOUPLED: &str = "uncoupled:";

/// The algorithms that a scenario may name.
#[derive(Clone, Default)]
pub struct Registry {
    algorithms: Vec<Algorithm>,
}

impl Registry {
    /// The algorithms that ship.
    #[must_use]
    pub fn built_in() -> Self {
        Self { algorithms: algo::built_in() }
    }

    /// Adds an algorithm, which replaces one of the same name.
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

    /// All algorithms, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &Algorithm> {
        self.algorithms.iter()
    }
}
