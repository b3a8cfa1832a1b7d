//! A trained network as a policy: it takes the action with the highest value.

use cwndlab_cc::decisions::Weights;
use cwndlab_learn::net::{Evaluation, argmax};

/// Acts by a network's weights, without exploring.
pub struct GreedyPolicy {
    weights: Weights,
    evaluation: Evaluation,
}

impl GreedyPolicy {
    /// A policy with these weights.
    #[must_use]
    pub fn new(weights: Weights) -> Self {
        Self { evaluation: Evaluation::new(&weights.network), weights }
    }

    /// The weights.
    #[must_use]
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The action for an observation.
    ///
    /// # Errors
    /// The network has another number of inputs.
    pub fn choose(&mut self, observation: &[f32]) -> Result<u32, String> {
        let network = &self.weights.network;
        let (wanted, found) = (network.inputs(), observation.len());
        if wanted != found {
            return Err(format!("expected {wanted} numbers for the network, found {found}"));
        }
        Ok(argmax(self.evaluation.outputs(network, observation).iter().copied()) as u32)
    }
}
