//! What a learner has learned, in the form that a file stores.

use crate::net::Mlp;

/// A network, and a description of its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The network.
    pub network: Mlp,
    /// Its inputs and their scales, as the text that a file stores.
    pub inputs: String,
}

/// The learning side of an algorithm.
pub trait Learning {
    /// The network as it is now; `None` if there is none, or none that can be saved in a file.
    fn weights(&self) -> Option<Weights>;
}
