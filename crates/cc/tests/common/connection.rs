//! Subflows of one connection over paths of fixed RTTs: each sees what the others show, and time goes by acknowledgements.
#![allow(dead_code, reason = "each test binary uses a part")]

use super::{MSS, sender};
use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Span, SubflowView, Time};

/// A subflow: its sender, and what the transport counts of it.
pub struct Subflow {
    pub sender: Sender,
    since_loss: u64,
    between_losses: u64,
    pub acked_segments: u64,
    /// When the next ACK comes.
    next_ack: Time,
}

/// What a subflow is made of.
pub struct Start<'a> {
    pub name: &'a str,
    pub settings: &'a [(&'a str, Value)],
    /// Segments.
    pub window: u64,
    pub rtt: Span,
}

/// A multipath connection without a network.
pub struct Connection {
    pub subflows: Vec<Subflow>,
    pub now: Time,
    pub segments_per_ack: u64,
}

impl Connection {
    /// Every subflow at its initial window.
    pub fn new(starts: &[Start]) -> Self {
        let subflow = |(me, start): (usize, &Start)| {
            let mut sender = sender(start.name, start.settings, start.window, start.rtt);
            sender.me = me;
            Subflow { sender, since_loss: 0, between_losses: 0, acked_segments: 0, next_ack: Time::ZERO }
        };
        let subflows = starts.iter().enumerate().map(subflow).collect();
        let mut connection = Self { subflows, now: Time::ZERO, segments_per_ack: 1 };
        connection.refresh();
        connection
    }

    /// So many subflows that are alike, past slow start with half of this window.
    pub fn alike(name: &str, settings: &[(&str, Value)], count: usize, window: u64, rtt: Span) -> Self {
        let start = || Start { name, settings, window, rtt };
        let mut connection = Self::new(&(0..count).map(|_| start()).collect::<Vec<_>>());
        (0..count).for_each(|subflow| connection.lose(subflow));
        connection
    }

    /// Every subflow sees the windows shown now.
    fn refresh(&mut self) {
        let view = |subflow: &Subflow| SubflowView {
            window: subflow.sender.cc.control().shown_window,
            srtt: subflow.sender.facts.rtt.smoothed,
            since_loss: subflow.since_loss,
            between_losses: subflow.between_losses,
            mss: MSS,
            usable: true,
        };
        let views: Vec<_> = self.subflows.iter().map(view).collect();
        for subflow in &mut self.subflows {
            subflow.sender.subflows.clone_from(&views);
            subflow.sender.facts.now = self.now;
        }
    }

    /// A loss, repaired at once.
    pub fn lose(&mut self, subflow: usize) {
        self.refresh();
        let subflow = &mut self.subflows[subflow];
        (subflow.between_losses, subflow.since_loss) = (subflow.since_loss, 0);
        subflow.sender.lose();
    }

    /// One ACK of a subflow, with no time passing.
    pub fn ack(&mut self, subflow: usize) {
        self.refresh();
        let segments = self.segments_per_ack;
        let subflow = &mut self.subflows[subflow];
        subflow.sender.ack(segments);
        subflow.acked_segments += segments;
        subflow.since_loss += segments * MSS;
    }

    /// Time goes on by so much; a window's worth of ACKs comes in an RTT. Every so many segments, each path has a loss; zero for
    /// never.
    pub fn pass(&mut self, span: Span, loss_every: &[u64]) {
        let end = self.now + span;
        loop {
            let next =
                (0..self.subflows.len()).min_by_key(|n| self.subflows[*n].next_ack).expect("a subflow");
            self.now = self.subflows[next].next_ack.max(self.now);
            if self.now >= end {
                self.now = end;
                return;
            }
            let before = self.subflows[next].acked_segments;
            self.ack(next);
            let after = self.subflows[next].acked_segments;
            if loss_every[next] > 0 && before / loss_every[next] < after / loss_every[next] {
                self.lose(next);
            }
            let subflow = &mut self.subflows[next];
            let rounds = self.segments_per_ack as f64 / subflow.sender.cwnd_segments();
            subflow.next_ack = self.now + subflow.sender.facts.rtt.smoothed.scaled(rounds);
        }
    }

    /// Segments a second of each subflow over a span.
    pub fn rates(&mut self, span: Span, loss_every: &[u64]) -> Vec<f64> {
        let before: Vec<_> = self.subflows.iter().map(|subflow| subflow.acked_segments).collect();
        self.pass(span, loss_every);
        let after = self.subflows.iter().map(|subflow| subflow.acked_segments);
        after.zip(before).map(|(after, before)| (after - before) as f64 / span.as_secs_f64()).collect()
    }

    /// Windows in segments.
    pub fn windows(&self) -> Vec<f64> {
        self.subflows.iter().map(|subflow| subflow.sender.cwnd_segments()).collect()
    }

    /// The value of a probe of a subflow.
    pub fn probe(&self, subflow: usize, name: &str) -> f64 {
        self.subflows[subflow].sender.probe(name)
    }
}
