//! What a user's own crate adds: one value serves both its Python extension module and a kernel that links it.

use crate::Queues;
use cwndlab_cc::{Algorithm, Registry};
use cwndlab_sim::queue::QueueKind;

/// Algorithms and queues in addition to the built-in ones.
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
    /// Adds its algorithms and queues.
    ///
    /// # Errors
    /// An algorithm or a queue with one of these names already exists.
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
