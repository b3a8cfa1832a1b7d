//! CoDel (RFC 8289).

use super::{Backlog, Discipline, Tally, Waiting};
use cwndlab_cc::{Span, Time};

cwndlab_cc::parameters! {
    /// What can be set of CoDel.
    pub struct CodelParams {
        limit: u64 = 1000, "limit", Allowed::Count(1, 100_000_000), "packets",
            "the most that waits", "Linux sch_codel";
        target: Span = Span::from_millis(5), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "acceptable standing delay", "RFC 8289 section 4.2";
        interval: Span = Span::from_millis(100), "interval", Allowed::Span(Span::from_micros(10), Span::from_secs(100)), "time",
            "how long the delay must stand before a drop", "RFC 8289 section 4.3";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "RFC 8289 section 5.2; off as in Linux sch_codel";
    }
}

/// A CoDel queue.
pub struct Codel;

impl Codel {
    /// An empty queue.
    #[must_use]
    pub fn new(_params: &CodelParams) -> Self {
        Self
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, _now: Time, _waiting: Waiting, _tally: &mut Tally) {}
    fn dequeue(&mut self, _now: Time, _tally: &mut Tally) -> Option<Waiting> {
        None
    }
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
}
