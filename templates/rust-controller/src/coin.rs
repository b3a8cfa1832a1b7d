//! My own queue discipline: first in, first out, but it drops some of the packets that will have to wait too long.

use cwndlab_cc::params::Parameters;
use cwndlab_cc::{Rate, Rng, Span, Time};
use cwndlab_sim::queue::{Backlog, Chance, Discipline, Limit, QueueKind, QueueTap, Service, Sizing, Waiting};
use std::collections::VecDeque;

cwndlab_cc::parameters! {
    /// What can be set.
    pub struct CoinParams {
        odds: f64 = 0.05, "odds", Allowed::Number(0.0, 1.0), "", "the share of late packets that is dropped",
            "a choice of mine";
        target: Span = Span::from_millis(5), "target", Allowed::Span(Span::ZERO, Span::from_secs(1)), "time",
            "how long a packet may have to wait", "a choice of mine";
    }
}

/// How scenarios know it.
pub const QUEUE: QueueKind = QueueKind {
    name: "coin",
    summary: "drops some of the packets that will have to wait too long",
    source: "an example",
    departures: &[],
    params: CoinParams::specs,
    sizing: Sizing::Any,
    service: Service::ByPacket,
    chance: Some(Chance { what: "drops of the queue", unless: None }),
    build: |site, settings| {
        Box::new(Coin {
            params: CoinParams::with(settings),
            // Without a rate nothing waits.
            rate: site.rate.unwrap_or(Rate(u64::MAX)),
            limit: site.limit,
            rng: site.stream("coin"),
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
        })
    },
};

struct Coin {
    params: CoinParams,
    rate: Rate,
    limit: Limit,
    rng: Rng,
    waiting: VecDeque<Waiting>,
    backlog: Backlog,
}

impl Discipline for Coin {
    fn enqueue(&mut self, _now: Time, waiting: Waiting, tap: &mut dyn QueueTap) {
        let wait = Span::from_secs_f64(self.backlog.bytes as f64 * 8.0 / self.rate.0 as f64);
        let unlucky = wait > self.params.target && self.rng.chance(self.params.odds);
        if unlucky || !self.limit.admits(self.backlog, waiting.bytes) {
            tap.dropped(&waiting);
        } else {
            self.backlog.add(waiting.bytes);
            self.waiting.push_back(waiting);
        }
    }

    fn dequeue(&mut self, _now: Time, _tap: &mut dyn QueueTap) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        self.backlog.take(waiting.bytes);
        Some(waiting)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn each_waiting(&self, show: &mut dyn FnMut(&Waiting)) {
        self.waiting.iter().for_each(show);
    }
}
