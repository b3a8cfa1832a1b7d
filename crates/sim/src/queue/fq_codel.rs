//! FQ-CoDel (RFC 8290).

use super::{Backlog, Discipline, Tally, Waiting};
use cwndlab_cc::{Span, Time};

cwndlab_cc::parameters! {
    /// What can be set of FQ-CoDel.
    pub struct FqCodelParams {
        limit: u64 = 10_240, "limit", Allowed::Count(1, 100_000_000), "packets",
            "the most that waits in all", "RFC 8290 section 5.2.2";
        flows: u64 = 1024, "flows", Allowed::Count(1, 65_536), "queues",
            "queues that flows are hashed to", "RFC 8290 section 5.2.4";
        quantum: u64 = 1514, "quantum", Allowed::Count(64, 100_000), "bytes",
            "what a queue may send a turn", "RFC 8290 section 5.2.3";
        target: Span = Span::from_millis(5), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "acceptable standing delay of a queue", "RFC 8290 section 5.2.1";
        interval: Span = Span::from_millis(100), "interval", Allowed::Span(Span::from_micros(10), Span::from_secs(100)), "time",
            "how long the delay must stand before a drop", "RFC 8290 section 5.2.1";
        ecn: bool = true, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "RFC 8290 section 5.2.5";
        perfect_hash: bool = false, "perfect_hash", Allowed::Flag, "",
            "a queue of its own for each flow: no collisions", "an option of this laboratory";
    }
}

/// An FQ-CoDel queue.
pub struct FqCodel;

impl FqCodel {
    /// An empty queue; `seed` and `name` choose its hash.
    #[must_use]
    pub fn new(_params: &FqCodelParams, _seed: u64, _name: &str) -> Self {
        Self
    }
}

impl Discipline for FqCodel {
    fn enqueue(&mut self, _now: Time, _waiting: Waiting, _tally: &mut Tally) {}
    fn dequeue(&mut self, _now: Time, _tally: &mut Tally) -> Option<Waiting> {
        None
    }
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
}
