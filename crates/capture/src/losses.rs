//! The losses of a sender, from a capture taken at the sender. The window and the sender's decisions are not in the
//! packets: the kind of a retransmission is inferred from its time, its position and the ACKs before it.

use crate::arrivals::Arrived;
use crate::connection::{Ack, Data, Event, Transfer};
use cwndlab_cc::{Rtt, Span};
use cwndlab_sim::timeout_patterns::{Loss, Patterns};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// The least that Linux and most others add to SRTT for the RTO; in RFC 6298 the whole RTO is at least 1 s.
const RTO_MARGIN_NS: u64 = 200_000_000;
/// A timer may fire at this share of the RTO estimated from outside: clocks tick in milliseconds, and rounding differs.
const EARLY: f64 = 0.9;
/// A segment sent this soon after an ACK with news responds to that ACK, not to a timer.
const AT_ONCE_NS: u64 = 1_000_000;
/// Duplicate ACKs that begin fast recovery without SACK (RFC 5681 section 3.2).
const DUPLICATES: u32 = 3;
/// The most events that are listed.
const MOST_LISTED: usize = 100_000;

/// A segment in flight, as far as the sender knows.
struct Outstanding {
    start: i64,
    end: i64,
    /// When it was sent last.
    at: u64,
    sent_again: bool,
}

/// What an observer beside the sender knows about it.
#[derive(Default)]
struct Observer {
    arrived: Arrived,
    outstanding: VecDeque<Outstanding>,
    /// One past the highest byte that was sent.
    next: i64,
    duplicates: u32,
    /// The current recovery ends when all bytes below this one have arrived.
    recovery: Option<i64>,
    /// When the cumulative acknowledgement last advanced, and when an ACK last had any news.
    advanced: u64,
    news: u64,
    rtt: Rtt,
    variation_ns: u64,
    patterns: Patterns,
    rtts_ns: u128,
    counts: Counts,
    listed: Vec<(u64, &'static str)>,
}

#[derive(Default)]
struct Counts {
    retransmitted: u64,
    timeouts: u64,
    recoveries: u64,
    probes: u64,
    unclear: u64,
}

/// Counts, RTTs and a list of the losses of a transfer.
pub(crate) fn losses(transfer: &Transfer) -> Map<String, Value> {
    let mut observer = Observer::default();
    if let Some(rtt) = transfer.first_rtt() {
        observer.smooth(rtt, rtt);
    }
    for event in &transfer.events {
        match event {
            Event::Data(data) => observer.on_data(data),
            Event::Ack(ack) => observer.on_ack(ack),
        }
    }
    observer.facts()
}

impl Observer {
    fn on_data(&mut self, data: &Data) {
        if data.end > self.next {
            let sent_again = data.start < self.next;
            let (start, end, at) = (self.next, data.end, data.at);
            self.outstanding.push_back(Outstanding { start, end, at, sent_again });
            self.next = data.end;
            return;
        }
        // A keep-alive repeats a byte that has arrived.
        if data.end <= self.arrived.below() {
            return;
        }
        self.counts.retransmitted += 1;
        self.classify(data);
        for sent in self.outstanding.iter_mut().filter(|sent| sent.end > data.start && sent.start < data.end)
        {
            (sent.sent_again, sent.at) = (true, data.at);
        }
    }

    /// Decides what kind of retransmission this is.
    fn classify(&mut self, data: &Data) {
        let of_it = self.outstanding.iter().find(|sent| sent.end > data.start).map_or(0, |sent| sent.at);
        let waited = data.at.saturating_sub(of_it.max(self.advanced));
        let answers = data.at.saturating_sub(self.news) < AT_ONCE_NS;
        let at_front = data.start <= self.arrived.below();
        let at_end = data.end == self.next;
        let signalled = self.arrived.has_gap() || self.duplicates >= DUPLICATES;
        if at_front && !answers && waited as f64 >= EARLY * self.rto_ns() as f64 {
            self.recovery = Some(self.next);
            self.counts.timeouts += 1;
            self.lost(data.at, Loss::Timeout, "timeout");
        } else if self.recovery.is_some() {
            // It belongs to the recovery that is going on.
        } else if signalled {
            self.recovery = Some(self.next);
            self.counts.recoveries += 1;
            self.lost(data.at, Loss::FastRecovery, "fast recovery");
        } else if at_end {
            self.counts.probes += 1;
            self.list(data.at, "tail loss probe");
        } else {
            self.counts.unclear += 1;
            self.list(data.at, "unclear");
        }
    }

    fn lost(&mut self, at: u64, loss: Loss, name: &'static str) {
        // Windows are not in the packets: only the loss is counted, and whether it came with a peak.
        self.patterns.on_loss(loss, 0.0, 0.0);
        self.list(at, name);
    }

    fn list(&mut self, at: u64, name: &'static str) {
        if self.listed.len() < MOST_LISTED {
            self.listed.push((at, name));
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        let below = self.arrived.below();
        let mut new = self.arrived.advance(ack.cumulative.min(self.next));
        for (start, end) in ack.sack.into_iter().flatten().filter(|(_, end)| *end <= self.next) {
            new += self.arrived.add(start, end);
        }
        let advanced = self.arrived.below() > below;
        if advanced {
            self.duplicates = 0;
            self.advanced = ack.at;
        } else if ack.cumulative == below && !self.outstanding.is_empty() {
            self.duplicates += 1;
        }
        if new > 0 {
            self.news = ack.at;
            self.sample(ack.at);
        }
        if self.recovery.is_some_and(|end| self.arrived.below() >= end) {
            self.recovery = None;
        }
    }

    /// RTTs as Linux and the simulator measure them: SRTT from the oldest segment that is acknowledged, the
    /// sample from the one that was sent last; neither from a retransmitted one (Karn).
    fn sample(&mut self, now: u64) {
        let (mut acknowledged, mut named, mut newest) = (None, None, None);
        let arrived = &self.arrived;
        self.outstanding.retain(|sent| {
            let below = sent.end <= arrived.below();
            let gone = below || arrived.has(sent.start, sent.end);
            if gone && !sent.sent_again {
                let oldest = if below { &mut acknowledged } else { &mut named };
                *oldest = oldest.or(Some(sent.at));
                newest = newest.max(Some(sent.at));
            }
            !gone
        });
        let (Some(oldest), Some(newest)) = (acknowledged.or(named), newest) else { return };
        let [oldest, latest] = [oldest, newest].map(|at| Span(now.saturating_sub(at)));
        self.patterns.on_sample(&self.rtt, latest);
        self.rtts_ns += u128::from(latest.0);
        self.smooth(oldest, latest);
    }

    /// SRTT and RTTVAR (RFC 6298 rules (2.2) and (2.3)), and the minimum RTT.
    fn smooth(&mut self, oldest: Span, latest: Span) {
        let first = self.rtt.smoothed == Span::ZERO;
        let smoothed = self.rtt.smoothed.0;
        self.variation_ns =
            if first { oldest.0 / 2 } else { (3 * self.variation_ns + smoothed.abs_diff(oldest.0)) / 4 };
        self.rtt.smoothed = if first { oldest } else { Span((7 * smoothed + oldest.0) / 8) };
        self.rtt.minimum = if first { latest } else { self.rtt.minimum.min(latest) };
        self.rtt.latest = latest;
    }

    fn rto_ns(&self) -> u64 {
        if self.rtt.smoothed == Span::ZERO {
            // Before the first sample: RFC 6298 rule (2.1).
            return 1_000_000_000;
        }
        self.rtt.smoothed.0 + (4 * self.variation_ns).max(RTO_MARGIN_NS)
    }

    fn facts(self) -> Map<String, Value> {
        let patterns = self.patterns.outcome();
        let mean =
            (patterns.rtt_samples > 0).then(|| self.rtts_ns as f64 / patterns.rtt_samples as f64 / 1e6);
        let least = (self.rtt.minimum > Span::ZERO).then(|| self.rtt.minimum.as_millis_f64());
        let events: Vec<Value> =
            self.listed.iter().map(|(at, name)| json!([*at as f64 / 1e9, name])).collect();
        let facts = json!({
            "rtt_ms": mean,
            "rtt_min_ms": least,
            "rtt_samples": patterns.rtt_samples,
            "rtt_peaks": patterns.rtt_peaks,
            "retransmitted_packets": self.counts.retransmitted,
            "timeouts": self.counts.timeouts,
            "timeouts_at_peak": patterns.timeouts_at_peak,
            "fast_recoveries": self.counts.recoveries,
            "fast_recoveries_at_peak": patterns.fast_recoveries_at_peak,
            "tail_loss_probes": self.counts.probes,
            "unclear_retransmissions": self.counts.unclear,
            "losses": events,
        });
        facts.as_object().cloned().unwrap_or_default()
    }
}
