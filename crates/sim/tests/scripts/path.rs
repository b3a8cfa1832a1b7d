//! A real sender and a real receiver with a wire between them, on which single packets meet their fate.
//!
//! A packet is named by its segment, `"7"`; sent again, it is `"7'"`, then `"7''"`. An ACK is `"ack 7"` by what it
//! expects next, and its repetitions have primes as well.

use crate::script::{Opening, turn};
use cwndlab_cc::{Span, Time};
use cwndlab_sim::packet::{AckHeader, Data, EcnField};
use cwndlab_sim::tcp::{Outgoing, Receiver, Sender, Stream};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// One way takes so many milliseconds.
pub const WAY: u64 = 50;

/// When the copies of a packet that leaves now arrive: after so many microseconds: none if it is lost, two if it is duplicated.
pub type Fates = Box<dyn FnMut(&str, Time) -> Vec<u64>>;

enum Arrival {
    Syn,
    SynAck(Time, u32),
    Data(Data, EcnField),
    Ack(AckHeader),
}

/// Sender, wire, receiver.
pub struct Path {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    mss: u64,
    fates: Fates,
    marked: Vec<String>,
    wire: BTreeMap<(Time, u64), (String, Arrival)>,
    packets: u64,
    outbox: Vec<Outgoing>,
    names: BTreeMap<String, u32>,
    /// What is sent and not acknowledged, as the sender knows it; with the times that it was sent.
    una: u32,
    times_sent: Vec<u32>,
    story: String,
}

impl Path {
    /// A connection that opens at 0 ms over a wire that keeps all.
    pub fn of(opening: Opening) -> Self {
        let mut path = Self {
            sender: opening.sender(),
            receiver: Receiver::new(Arc::new(opening.options.clone())),
            now: Time::ZERO,
            mss: opening.options.mss,
            fates: Box::new(|_, _| vec![WAY * 1000]),
            marked: Vec::new(),
            wire: BTreeMap::new(),
            packets: 0,
            outbox: Vec::new(),
            names: BTreeMap::new(),
            una: 0,
            times_sent: Vec::new(),
            story: String::new(),
        };
        path.sender.start(&mut turn(Time::ZERO, &mut path.outbox));
        path
    }

    /// The wire treats each packet as this says.
    pub fn fates(mut self, fates: impl FnMut(&str, Time) -> Vec<u64> + 'static) -> Self {
        self.fates = Box::new(fates);
        self
    }

    /// These packets take so many milliseconds each, in place of 50; the others are not touched.
    pub fn with<const N: usize, const M: usize>(self, special: [(&'static str, [u64; M]); N]) -> Self {
        self.fates(move |name, _| {
            let found = special.iter().find(|(special, _)| *special == name);
            found.map_or(vec![WAY * 1000], |(_, ways)| ways.iter().map(|ms| ms * 1000).collect())
        })
    }

    /// These packets are lost.
    pub fn drop<const N: usize>(self, lost: [&'static str; N]) -> Self {
        self.with(lost.map(|name| (name, [])))
    }

    /// These packets arrive with a congestion mark.
    pub fn mark<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.marked = names.map(str::to_owned).to_vec();
        self
    }

    /// Runs until nothing is left to do, or so many milliseconds have passed.
    #[track_caller]
    pub fn run(&mut self, until: u64) -> &mut Self {
        let until = Time::ZERO + Span::from_millis(until);
        self.put();
        loop {
            let arrival = self.wire.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let (sending, receiving) = (self.sender.next_timer(), self.receiver.next_timer());
            let next = arrival.min(sending).min(receiving);
            if next > until || next == Time::NEVER {
                return self;
            }
            self.check(next >= self.now, "the clock goes back");
            self.now = next;
            if arrival == next {
                self.arrive();
            } else if receiving == next {
                let answer = self.receiver.on_timer(next);
                self.answer(answer);
                self.check(self.receiver.next_timer() > next, "a clock of the receiver stands still");
            } else {
                self.tell("a clock of the sender is due");
                self.sender.on_timer(&mut turn(next, &mut self.outbox));
                self.put();
                self.check(self.sender.next_timer() > next, "a clock of the sender stands still");
            }
            self.check_invariants();
        }
    }

    /// All data have arrived and are known to have.
    #[track_caller]
    pub fn expect_finished(&self) -> &Self {
        self.check(self.sender.is_finished(), "the flow should have finished");
        let total = self.sender.stream().and_then(Stream::segments);
        self.check(total == Some(self.receiver.next()), "the receiver should have all");
        self
    }

    /// How often the segments were sent again, in all.
    #[track_caller]
    pub fn expect_resent(&self, segments: u64) -> &Self {
        let resent = self.sender.counters().resent;
        self.check(resent == segments, &format!("{segments} should be sent again, not {resent}"));
        self
    }

    /// No timeout was needed.
    #[track_caller]
    pub fn expect_no_timeout(&self) -> &Self {
        self.check(self.sender.counters().timeouts == 0, "no timeout should be needed");
        self
    }

    fn arrive(&mut self) {
        let Some((_, (name, arrival))) = self.wire.pop_first() else { return };
        self.tell(&format!("{name} arrives"));
        match arrival {
            Arrival::Syn => {
                self.receiver.accept(self.now);
                let window = self.receiver.window();
                let now = self.now;
                self.carry("SYN-ACK".to_owned(), || Arrival::SynAck(now, window));
            }
            Arrival::SynAck(sent_at, window) => {
                self.sender.on_syn_ack(&mut turn(self.now, &mut self.outbox), sent_at, window);
                self.put();
            }
            Arrival::Data(data, ecn) => {
                let due = self.receiver.on_data(self.now, &data, ecn);
                let answer = due.then(|| self.receiver.acknowledge(self.now, false));
                self.answer(answer);
            }
            Arrival::Ack(header) => {
                self.una = self.una.max(header.cumulative);
                self.sender.on_ack(&mut turn(self.now, &mut self.outbox), &header);
                self.put();
            }
        }
    }

    fn answer(&mut self, answer: Option<AckHeader>) {
        if let Some(header) = answer {
            self.carry(format!("ack {}", header.cumulative), || Arrival::Ack(header));
        }
    }

    /// Puts on the wire what the sender sent.
    fn put(&mut self) {
        for outgoing in std::mem::take(&mut self.outbox) {
            match outgoing {
                Outgoing::Syn => self.carry("SYN".to_owned(), || Arrival::Syn),
                Outgoing::Segment { data, payload, .. } => {
                    self.check(
                        Some(payload) == self.sender.stream().map(|stream| stream.payload(data.seq)),
                        "a payload is wrong",
                    );
                    let seq = data.seq as usize;
                    if seq >= self.times_sent.len() {
                        self.check(seq == self.times_sent.len(), "new segments leave in order");
                        self.times_sent.push(0);
                    }
                    self.times_sent[seq] += 1;
                    let mut name = data.seq.to_string();
                    name.extend(std::iter::repeat_n('\'', self.times_sent[seq] as usize - 1));
                    let marked = self.marked.contains(&name);
                    let ecn = if marked { EcnField::Ce } else { EcnField::Ect0 };
                    self.carry_named(name, || Arrival::Data(data, ecn));
                }
            }
        }
    }

    fn carry(&mut self, what: String, arrival: impl Fn() -> Arrival) {
        let before = self.names.entry(what.clone()).or_default();
        let name = what + &"'".repeat(*before as usize);
        *before += 1;
        self.carry_named(name, arrival);
    }

    fn carry_named(&mut self, name: String, arrival: impl Fn() -> Arrival) {
        let ways = (self.fates)(&name, self.now);
        self.tell(&format!("    {name} leaves, and arrives after {ways:?} us"));
        for way in ways {
            self.packets += 1;
            self.wire.insert((self.now + Span::from_micros(way), self.packets), (name.clone(), arrival()));
        }
    }

    #[track_caller]
    fn check_invariants(&self) {
        let next = self.times_sent.len() as u32;
        let outstanding = &self.times_sent[self.una.min(next) as usize..];
        let resent = outstanding.iter().filter(|times| **times > 1).count();
        let pipe = self.sender.in_flight() as usize;
        self.check(pipe <= outstanding.len() + resent, "more is counted in flight than can be");
        self.check(self.sender.control().cwnd >= self.mss, "the window is below one segment");
    }

    fn tell(&mut self, what: &str) {
        let sender = &self.sender;
        let cwnd = sender.control().cwnd as f64 / self.mss as f64;
        let (at, in_flight, phase) = (Span(self.now.0).as_millis_f64(), sender.in_flight(), sender.phase());
        let _infallible =
            writeln!(self.story, "{at:>9.2} ms  {what:<50} cwnd {cwnd:.1}, {in_flight} in flight, {phase:?}");
    }

    #[track_caller]
    pub fn check(&self, holds: bool, what: &str) {
        assert!(holds, "{what}, at {}\n\nThe story so far:\n{}", Span(self.now.0), self.story);
    }
}
