//! First in, first out; packets that do not fit are dropped.

use super::{Backlog, Discipline, Limit, QueueKind, QueueTap, Service, Sizing, Waiting};
use cwndlab_cc::Time;
use std::collections::VecDeque;

/// The queue kind, as scenarios name it.
pub const QUEUE: QueueKind = QueueKind {
    name: "droptail",
    summary: "first in, first out; packets that do not fit are dropped",
    source: "Linux sch_fifo (pfifo, bfifo); ns-3 DropTailQueue",
    departures: &[
        "a packet leaves the queue when its sending begins: below Linux's queue the driver's ring holds more",
        "a packet is one segment: Linux's limit counts what segmentation offload hands down as one packet",
    ],
    params: Vec::new,
    sizing: Sizing::Any,
    service: Service::Fifo,
    chance: None,
    build: |site, _| Box::new(DropTail::new(site.limit)),
};

/// A drop-tail queue.
pub struct DropTail {
    limit: Limit,
    waiting: VecDeque<Waiting>,
    backlog: Backlog,
}

impl DropTail {
    /// An empty queue.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self { limit, waiting: VecDeque::new(), backlog: Backlog::default() }
    }
}

impl Discipline for DropTail {
    fn enqueue(&mut self, _now: Time, waiting: Waiting, tap: &mut dyn QueueTap) {
        if self.limit.admits(self.backlog, waiting.bytes) {
            self.backlog.add(waiting.bytes);
            self.waiting.push_back(waiting);
        } else {
            tap.dropped(&waiting);
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
