//! What a crate of a user's own adds: the same value fills its extension module for Python, and is linked into a kernel.

use crate::Queues;
use cwndlab_cc::{Algorithm, Registry};
use cwndlab_sim::queue::QueueKind;

/// Algorithms and queues beside those that ship.
#[derive(Clone, Default)]
pub struct Extension {
    /// Its algorithms.
    pub algorithms: Vec<Algorithm>,
    /// Its kinds of queue.
    pub queues: Vec<QueueKind>,
}

impl<const N: usize> From<[Algorithm; N]> for Extension {
    fn from(algorithms: [Algorithm; N]) -> Self {
        Self { algorithms: algorithms.into(), queues: Vec::new() }
    }
}

impl Extension {
    /// Adds all of it.
    ///
    /// # Errors
    /// There is an algorithm or a queue of one of these names already.
    pub fn add_to(self, registry: &mut Registry, queues: &mut Queues) -> Result<(), String> {
        for algorithm in self.algorithms {
            if registry.get(algorithm.name).is_some() {
                return Err(taken("an algorithm", algorithm.name));
            }
            registry.add(algorithm);
        }
        for kind in self.queues {
            if queues.get(kind.name).is_some() {
                return Err(taken("a queue", kind.name));
            }
            queues.add(kind);
        }
        Ok(())
    }

    /// The names of its algorithms.
    #[must_use]
    pub fn algorithm_names(&self) -> Vec<&'static str> {
        self.algorithms.iter().map(|algorithm| algorithm.name).collect()
    }

    /// The names of its queues.
    #[must_use]
    pub fn queue_names(&self) -> Vec<&'static str> {
        self.queues.iter().map(|kind| kind.name).collect()
    }
}

fn taken(what: &str, name: &str) -> String {
    format!("there is already {what} `{name}`; choose another name")
}
