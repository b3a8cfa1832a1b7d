//! A pipe of 100 segments each 100 ms, told in the contract's order, with rate samples.

use super::common::MSS;
use super::common::modes::Mode;
use cwndlab_cc::params::Value;
use cwndlab_cc::{
    Ack, CongestionControl, Context, Event, Facts, Lost, Phase, RateSample, Registry, Rng, Rtt, SendLimit,
    Setup, Span, SubflowView, Time,
};
use std::collections::VecDeque;

pub const RTT: Span = Span::from_millis(100);
/// The pipe serves a segment a millisecond: 8 Mbit/s, a BDP of 100 segments.
pub const SERVICE: Span = Span::from_millis(1);
pub const BDP: f64 = 100.0;

/// A segment under way, with what was noted when it left.
#[derive(Clone, Copy)]
pub struct Segment {
    sent: Time,
    arrives: Time,
    prior_delivered: u64,
    prior_delivered_at: Time,
    prior_lost: u64,
    pub in_flight: u64,
    lost: bool,
}

/// A path with one queue, and a sender that obeys window and pacing; every segment is acknowledged by itself.
pub struct Pipe {
    pub cc: Box<dyn CongestionControl>,
    pub facts: Facts,
    pub rng: Rng,
    pub under_way: VecDeque<Segment>,
    pub free_at: Time,
    pub next_send: Time,
    pub delivered: u64,
    pub delivered_at: Time,
    pub lost: u64,
    pub sent: u64,
    /// Every so many-th segment is lost; none at zero.
    pub lose_each: u64,
    /// Time that others' packets add in the queue.
    pub queue: Span,
    /// Segments that the application lets be in flight.
    pub most: u64,
}

impl Pipe {
    pub fn new(name: &str, settings: &[(&str, Value)], seed: u64) -> Self {
        let settings: Vec<_> =
            settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let setup = Setup { mss: MSS, initial_window: 10 * MSS, initial_ssthresh: u64::MAX, paced: false };
        let algorithm = Registry::built_in().get(name).expect("an algorithm that ships").clone();
        for (name, value) in &settings {
            let spec = algorithm.params.iter().find(|spec| spec.name == name).expect("a parameter");
            assert!(spec.allowed.admits(value), "{name} = {value}");
        }
        let rtt =
            Rtt { smoothed: RTT, variance: Span::ZERO, minimum: RTT, latest: RTT, rto: Span::from_secs(1) };
        Self {
            cc: (algorithm.build)(&setup, &settings),
            facts: Facts { mss: MSS, rtt, window_limited: true, ..Facts::default() },
            rng: Rng::named(seed, "pipe"),
            under_way: VecDeque::new(),
            free_at: Time::ZERO,
            next_send: Time::ZERO,
            delivered: 0,
            delivered_at: Time::ZERO,
            lost: 0,
            sent: 0,
            lose_each: 0,
            queue: Span::ZERO,
            most: u64::MAX,
        }
    }

    pub fn call<T>(&mut self, f: impl FnOnce(&mut dyn CongestionControl, &mut Context) -> T) -> T {
        self.facts.in_flight = self.under_way.len() as u64 * MSS;
        let view = [SubflowView::default()];
        let mut cx = Context { facts: &self.facts, subflows: &view, me: 0, rng: &mut self.rng };
        f(self.cc.as_mut(), &mut cx)
    }

    pub fn probe(&self, name: &str) -> f64 {
        let names = self.cc.probes();
        let mut values = vec![f64::INFINITY; names.len()];
        self.cc.probe(&mut values);
        values[names.iter().position(|probe| *probe == name).unwrap_or_else(|| panic!("no probe {name}"))]
    }

    pub fn mode(&self) -> Mode {
        Mode::shown(self.probe("mode"))
    }

    pub fn cwnd(&self) -> f64 {
        self.cc.control().cwnd as f64 / MSS as f64
    }

    pub fn pace_mbps(&self) -> f64 {
        self.cc.control().pacing_rate.expect("paced").0 as f64 / 1e6
    }

    pub fn may_send(&self) -> bool {
        (self.under_way.len() as u64) < (self.cc.control().cwnd / MSS).min(self.most)
    }

    pub fn send(&mut self) {
        if self.under_way.is_empty() {
            self.delivered_at = self.facts.now;
        }
        let now = self.facts.now;
        self.free_at = self.free_at.max(now) + SERVICE;
        self.sent += 1;
        self.under_way.push_back(Segment {
            sent: now,
            arrives: self.free_at + RTT.saturating_sub(SERVICE) + self.queue,
            prior_delivered: self.delivered,
            prior_delivered_at: self.delivered_at,
            prior_lost: self.lost,
            in_flight: (self.under_way.len() as u64 + 1) * MSS,
            lost: self.lose_each > 0 && self.sent.is_multiple_of(self.lose_each),
        });
        let rate = self.cc.control().pacing_rate.expect("paced");
        self.next_send = self.next_send.max(now) + rate.time_for(MSS);
        self.call(|cc, cx| cc.on_sent(cx, MSS));
    }

    pub fn lose(&mut self, segment: &Segment) {
        self.lost += MSS;
        let lost = Lost {
            bytes: MSS,
            in_flight_at_send: segment.in_flight,
            prior_delivered: segment.prior_delivered,
            prior_lost: segment.prior_lost,
            lost_total: self.lost,
            app_limited: self.most < u64::MAX,
        };
        self.call(|cc, cx| cc.on_lost(cx, &lost));
        if self.facts.phase == Phase::Open {
            self.call(|cc, cx| cc.on_event(cx, Event::LossRecovery));
            self.facts.phase = Phase::Recovery;
        }
    }

    pub fn deliver(&mut self) {
        let prior_in_flight = self.under_way.len() as u64 * MSS;
        let lost_before = self.lost;
        while let Some(segment) = self.under_way.front().copied().filter(|segment| segment.lost) {
            self.under_way.pop_front();
            self.lose(&segment);
        }
        let Some(segment) = self.under_way.pop_front() else { return };
        if self.facts.phase == Phase::Recovery && segment.prior_lost == self.lost {
            self.call(|cc, cx| cc.on_event(cx, Event::Recovered));
            self.facts.phase = Phase::Open;
        }
        self.delivered += MSS;
        self.delivered_at = self.facts.now;
        let rtt = self.facts.now.since(segment.sent);
        self.facts.rtt.latest = rtt;
        self.facts.rtt.minimum = self.facts.rtt.minimum.min(rtt);
        let delivered = self.delivered - segment.prior_delivered;
        let ack = Ack {
            acked: MSS,
            advanced: MSS,
            lost: self.lost - lost_before,
            prior_in_flight,
            delivered: self.delivered,
            rtt: Some(rtt),
            sample: Some(RateSample {
                delivered,
                interval: self.facts.now.since(segment.prior_delivered_at),
                prior_delivered: segment.prior_delivered,
                lost: self.lost - segment.prior_lost,
                ce: 0,
                in_flight_at_send: segment.in_flight,
                app_limited: self.most < u64::MAX,
            }),
            ..Ack::default()
        };
        self.call(|cc, cx| cc.on_ack(cx, &ack));
    }

    /// So many packets of a flight of so many are lost.
    pub fn lose_of(&mut self, packets: u64, in_flight: u64) {
        let (prior_delivered, prior_lost) = (self.delivered, self.lost);
        for n in 1..=packets {
            let lost = Lost {
                bytes: MSS,
                in_flight_at_send: in_flight * MSS,
                prior_delivered,
                prior_lost,
                lost_total: prior_lost + n * MSS,
                app_limited: self.most < u64::MAX,
            };
            self.call(|cc, cx| cc.on_lost(cx, &lost));
        }
    }

    /// The application has nothing to send for so long, and then as much as before.
    pub fn fall_silent(&mut self, span: Span) {
        self.most = 0;
        while !self.under_way.is_empty() {
            self.step();
        }
        self.facts.limited_by = SendLimit::Application;
        self.facts.now += span;
        self.next_send = self.facts.now;
        self.most = u64::MAX;
        self.send();
        self.facts.limited_by = SendLimit::Window;
    }

    /// A timeout, and the repair at the next ACK.
    pub fn time_out(&mut self) {
        self.call(|cc, cx| cc.on_event(cx, Event::Timeout));
        self.facts.phase = Phase::Loss;
        self.deliver();
        self.call(|cc, cx| cc.on_event(cx, Event::Recovered));
        self.facts.phase = Phase::Open;
    }

    /// One thing happens: a segment leaves, or one arrives.
    pub fn step(&mut self) {
        let arrival = self.under_way.front().map(|segment| segment.arrives);
        let departure = self.may_send().then_some(self.next_send.max(self.facts.now));
        match (departure, arrival) {
            (Some(leaves), Some(arrives)) if leaves > arrives => {
                self.facts.now = arrives;
                self.deliver();
            }
            (Some(leaves), _) => {
                self.facts.now = leaves;
                self.send();
            }
            (None, Some(arrives)) => {
                self.facts.now = self.facts.now.max(arrives);
                self.deliver();
            }
            (None, None) => panic!("nothing can happen"),
        }
    }

    pub fn run_for(&mut self, span: Span) {
        let end = self.facts.now + span;
        while self.facts.now < end {
            self.step();
        }
    }

    /// Until it is in this mode.
    #[track_caller]
    pub fn run_until(&mut self, mode: Mode) -> Time {
        let end = self.facts.now + Span::from_secs(60);
        while self.mode() != mode {
            assert!(self.facts.now < end, "in mode {:?} for a minute", self.mode());
            self.step();
        }
        self.facts.now
    }
}

pub fn bbr2() -> Pipe {
    Pipe::new("bbr2", &[], 1)
}

pub fn seconds(from: Time, to: Time) -> f64 {
    to.since(from).as_secs_f64()
}

#[track_caller]
pub fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}
