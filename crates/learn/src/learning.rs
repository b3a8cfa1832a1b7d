//! What a learner has learned, as a file keeps it.

use crate::net::Mlp;

/// A network, and what it takes in.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The network.
    pub network: Mlp,
    /// Its inputs and their scales, in words that a file carries.
    pub inputs: String,
}

/// The side of an algorithm that learns.
pub trait Learning {
    /// The network as it is now; `None` where there is none, or none that a file could hold.
    fn weights(&self) -> Option<Weights>;
}
