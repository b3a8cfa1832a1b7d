//! Weights as they come from a file and go to one.

use crate::params::Value;
use cwndlab_learn::Mlp;
use std::sync::Arc;

/// A network, and what it takes in.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The network.
    pub network: Mlp,
    /// Its inputs and their scales ([`Scaling::inputs`](super::Scaling::inputs)).
    pub inputs: String,
}

/// Weights that were read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightsFile {
    /// The file's name as it was given.
    pub name: String,
    /// A hash of its content.
    pub hash: String,
    /// What it holds.
    pub weights: Weights,
}

/// Weights to begin with: none, or those of a file. As a parameter it tells what a file must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenWeights(pub Option<Arc<WeightsFile>>);

impl GivenWeights {
    /// The word for none.
    pub const FRESH: &str = "fresh";

    /// The file's name, or the word for none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.as_ref().map_or(Self::FRESH, |file| &file.name)
    }
}

/// Whether a file suits an algorithm with these settings; if not, why.
pub type Suits = fn(&Weights, &[(String, Value)]) -> Result<(), String>;

/// The check that an algorithm makes of a file.
#[derive(Clone, Copy, Debug)]
pub struct WeightsCheck(pub Suits);

impl PartialEq for WeightsCheck {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}
