//! BBRv2 and F-BBRv2 by numbers from their sources: `tcp_bbr2.c` (google/bbr v2alpha) and Cho et al. 2024. A pipe of 100
//! segments each 100 ms, told in the contract's order, with rate samples.
//!
//! `CWNDLAB_BLESS=1 cargo test -p cwndlab-cc --test bbr2` writes the snapshots anew.
#![expect(clippy::disallowed_methods, reason = "a golden file has to be read")]

use cwndlab_cc::params::Value;
use cwndlab_cc::{
    Ack, CongestionControl, Context, Event, Facts, Limit, Lost, Phase, RateSample, Registry, Rng, Rtt, Setup,
    Span, SubflowView, Time,
};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

const MSS: u64 = 1000;
const RTT: Span = Span::from_millis(100);
/// The pipe serves a segment a millisecond: 8 Mbit/s, a BDP of 100 segments.
const SERVICE: Span = Span::from_millis(1);
const BDP: f64 = 100.0;

const STARTUP: f64 = 0.0;
const DRAIN: f64 = 1.0;
const DOWN: f64 = 2.0;
const CRUISE: f64 = 3.0;
const REFILL: f64 = 4.0;
const UP: f64 = 5.0;
const PROBE_RTT: f64 = 6.0;

/// A segment under way, with what was noted when it left.
#[derive(Clone, Copy)]
struct Segment {
    sent: Time,
    arrives: Time,
    prior_delivered: u64,
    prior_delivered_at: Time,
    prior_lost: u64,
    in_flight: u64,
    lost: bool,
}

/// A path with one queue, and a sender that obeys window and pacing; every segment is acknowledged by itself.
struct Pipe {
    cc: Box<dyn CongestionControl>,
    facts: Facts,
    rng: Rng,
    under_way: VecDeque<Segment>,
    free_at: Time,
    next_send: Time,
    delivered: u64,
    delivered_at: Time,
    lost: u64,
    sent: u64,
    /// Every so many-th segment is lost; none at zero.
    lose_each: u64,
    /// Time that others' packets add in the queue.
    queue: Span,
    /// Segments that the application lets be in flight.
    most: u64,
}

impl Pipe {
    fn new(name: &str, settings: &[(&str, Value)], seed: u64) -> Self {
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

    fn call<T>(&mut self, f: impl FnOnce(&mut dyn CongestionControl, &mut Context) -> T) -> T {
        self.facts.in_flight = self.under_way.len() as u64 * MSS;
        let view = [SubflowView::default()];
        let mut cx = Context { facts: &self.facts, subflows: &view, me: 0, rng: &mut self.rng };
        f(self.cc.as_mut(), &mut cx)
    }

    fn probe(&self, name: &str) -> f64 {
        let names = self.cc.probes();
        let mut values = vec![f64::INFINITY; names.len()];
        self.cc.probe(&mut values);
        values[names.iter().position(|probe| *probe == name).unwrap_or_else(|| panic!("no probe {name}"))]
    }

    fn mode(&self) -> f64 {
        self.probe("mode")
    }

    fn cwnd(&self) -> f64 {
        self.cc.control().cwnd as f64 / MSS as f64
    }

    fn pace_mbps(&self) -> f64 {
        self.cc.control().pacing_rate.expect("paced").0 as f64 / 1e6
    }

    fn may_send(&self) -> bool {
        (self.under_way.len() as u64) < (self.cc.control().cwnd / MSS).min(self.most)
    }

    fn send(&mut self) {
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

    fn lose(&mut self, segment: &Segment) {
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

    fn deliver(&mut self) {
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
    fn lose_of(&mut self, packets: u64, in_flight: u64) {
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
    fn fall_silent(&mut self, span: Span) {
        self.most = 0;
        while !self.under_way.is_empty() {
            self.step();
        }
        self.facts.limited_by = Limit::Application;
        self.facts.now += span;
        self.next_send = self.facts.now;
        self.most = u64::MAX;
        self.send();
        self.facts.limited_by = Limit::Window;
    }

    /// One thing happens: a segment leaves, or one arrives.
    fn step(&mut self) {
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

    fn run_for(&mut self, span: Span) {
        let end = self.facts.now + span;
        while self.facts.now < end {
            self.step();
        }
    }

    /// Until it is in this mode.
    #[track_caller]
    fn run_until(&mut self, mode: f64) -> Time {
        let end = self.facts.now + Span::from_secs(60);
        while self.mode() != mode {
            assert!(self.facts.now < end, "in mode {} for a minute", self.mode());
            self.step();
        }
        self.facts.now
    }
}

fn bbr2() -> Pipe {
    Pipe::new("bbr2", &[], 1)
}

fn seconds(from: Time, to: Time) -> f64 {
    to.since(from).as_secs_f64()
}

#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}

// ---------------------------------------------------------------------------------------------------------------
// The window every 100 ms, as text
// ---------------------------------------------------------------------------------------------------------------

/// What happens after so many tenths of a second.
fn script(tenth: u32) -> Option<&'static str> {
    match tenth {
        25 => Some("each 25th segment is lost"),
        28 => Some("nothing is lost"),
        31 => Some("timeout"),
        60 => Some("others' packets add 40 ms"),
        180 => Some("they are gone"),
        _ => None,
    }
}

fn play(pipe: &mut Pipe, event: &str) {
    match event {
        "each 25th segment is lost" => pipe.lose_each = 25,
        "nothing is lost" => pipe.lose_each = 0,
        "timeout" => {
            pipe.call(|cc, cx| cc.on_event(cx, Event::Timeout));
            pipe.facts.phase = Phase::Loss;
            pipe.deliver();
            pipe.call(|cc, cx| cc.on_event(cx, Event::Recovered));
            pipe.facts.phase = Phase::Open;
        }
        "others' packets add 40 ms" => pipe.queue = Span::from_millis(40),
        _ => pipe.queue = Span::ZERO,
    }
}

fn snapshot(name: &str) -> String {
    let mut pipe = Pipe::new(name, &[], 1);
    let mut text = format!("# {name}, defaults\n");
    let _ = writeln!(
        text,
        "# 8 Mbit/s, RTT 100 ms, an ACK for every segment of 1000 bytes, initial window 10 segments"
    );
    let _ = writeln!(text, "# time [0.1 s]  window [whole segments]  pace [Mbit/s, one decimal]  mode  then");
    for tenth in 0..=220 {
        let (window, pace) = (pipe.cwnd() as u64, pipe.pace_mbps());
        let event = script(tenth).unwrap_or_default();
        let line = format!("{tenth:4} {window:5} {pace:6.1} {:2} {event}", pipe.mode());
        let _ = writeln!(text, "{}", line.trim_end());
        if !event.is_empty() {
            play(&mut pipe, event);
        }
        pipe.run_for(Span::from_millis(100));
    }
    text
}

#[test]
fn windows_over_time() {
    for name in ["bbr2", "fbbr2"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/rounds/{name}.txt"));
        let text = snapshot(name);
        if std::env::var_os("CWNDLAB_BLESS").is_some() {
            std::fs::write(&path, text).expect("the golden file can be written");
            continue;
        }
        let golden = std::fs::read_to_string(&path).expect("a golden file; CWNDLAB_BLESS=1 writes it");
        let differs = text.lines().zip(golden.lines()).find(|(ours, golden)| ours != golden);
        assert_eq!(differs, None, "{name}: (now, golden); if it is meant to be so, CWNDLAB_BLESS=1");
        assert_eq!(text.lines().count(), golden.lines().count(), "{name}");
    }
}

// ---------------------------------------------------------------------------------------------------------------
// BBRv2: tcp_bbr2.c
// ---------------------------------------------------------------------------------------------------------------

/// 2.885 x 10 segments in the first round trip, less 1 %; before there is an RTT, in a millisecond.
#[test]
fn the_first_rate_is_the_initial_window_in_the_rtt_of_the_handshake() {
    let mut pipe = bbr2();
    assert_near(pipe.pace_mbps(), 2.885 * 0.99 * 80.0, 1e-3);
    pipe.step();
    assert_near(pipe.pace_mbps(), 2.885 * 0.99 * 0.8, 1e-5);
}

/// From 10 segments to 100 takes four doublings of 0.1 s; then three flat rounds, and up to one before the first of them,
/// each as long as a window of 2.885 BDP takes; Drain at the inverse gain leaves with a BDP in flight.
#[test]
fn startup_doubles_until_three_rounds_are_flat_and_drain_empties_the_queue() {
    let mut pipe = bbr2();
    pipe.run_for(Span::from_millis(600));
    assert!(pipe.probe("bw_mbps") > 7.5, "{}", pipe.probe("bw_mbps"));
    let drains = pipe.run_until(DRAIN);
    assert!((0.4 + 3.0 * 0.2885..0.5 + 4.0 * 0.2885).contains(&seconds(Time::ZERO, drains)), "{drains:?}");
    assert_near(pipe.cwnd(), 2.885 * BDP, 10.0);
    assert_near(pipe.probe("pacing_gain"), 1.0 / 2.885, 1e-9);
    pipe.run_until(DOWN);
    assert_near(pipe.under_way.len() as f64, BDP, 2.0);
    assert_near(pipe.probe("bw_mbps"), 8.0, 0.1);
}

/// DOWN 0.75, CRUISE 1, REFILL 1 for one round, UP 1.25 until 1.25 BDP (and two segments) are in flight; from DOWN to
/// REFILL two to three seconds, or 62 to 63 rounds if those are shorter.
#[test]
fn the_cycle_of_probe_bw() {
    let mut pipe = bbr2();
    let mut waits = Vec::new();
    pipe.run_until(DOWN);
    for _ in 0..20 {
        let begins = pipe.run_until(DOWN);
        assert_near(pipe.pace_mbps(), 0.99 * 0.75 * pipe.probe("bw_mbps"), 0.01);
        pipe.run_until(CRUISE);
        assert!(pipe.under_way.len() as f64 <= BDP + 1.0, "{}", pipe.under_way.len());
        assert_near(pipe.pace_mbps(), 0.99 * pipe.probe("bw_mbps"), 1e-3);
        // ProbeRTT may come in between: then the wait begins anew.
        while pipe.mode() == CRUISE {
            pipe.step();
        }
        if pipe.mode() == PROBE_RTT {
            pipe.run_until(CRUISE);
            pipe.run_until(REFILL);
        } else {
            waits.push(seconds(begins, pipe.facts.now));
        }
        let refills = pipe.facts.now;
        assert_near(pipe.pace_mbps(), 0.99 * pipe.probe("bw_mbps"), 1e-3);
        assert_near(seconds(refills, pipe.run_until(UP)), 0.1, 0.011);
        assert_near(pipe.pace_mbps(), 0.99 * 1.25 * pipe.probe("bw_mbps"), 1e-3);
        let ups = pipe.facts.now;
        pipe.run_until(DOWN);
        assert!(seconds(ups, pipe.facts.now) > 0.1, "at least the minimum RTT");
        assert_near(pipe.under_way.len() as f64, 1.25 * BDP + 2.0, 3.0);
    }
    assert!(waits.iter().all(|wait| (2.0..3.01).contains(wait)), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait < 2.4) && waits.iter().any(|wait| *wait > 2.6), "{waits:?}");
}

/// As many rounds as a Reno flow with as much in flight takes for its cycle, a segment a round, but 63 at most; the count
/// begins at 0 or 1, and CRUISE after the round of DOWN.
#[test]
fn a_probe_comes_as_often_as_reno_would_probe() {
    let never = Value::Span(Span::from_secs(67));
    for (most, rounds) in [(5, 5.0), (20, 20.0), (255, BDP)] {
        let settings = [("probe_rounds", Value::Count(most)), ("probe_wait", never.clone())];
        let mut pipe = Pipe::new("bbr2", &settings, 1);
        pipe.run_until(CRUISE);
        let waited = seconds(pipe.facts.now, pipe.run_until(REFILL)) / 0.1;
        assert!((rounds - 4.0..=rounds + 1.5).contains(&waited), "{waited} of {rounds} rounds");
    }
}

/// ProbeRTT comes 5 s after the last sample that renewed the minimum, holds half a BDP, and lasts 200 ms and a round
/// from when no more is in flight.
#[test]
fn probe_rtt_every_five_seconds_at_half_a_bdp() {
    let mut pipe = Pipe::new("bbr2", &[("min_rtt_refresh", Value::Word("<"))], 1);
    pipe.run_until(CRUISE);
    let mut ends = Time::ZERO;
    for _ in 0..4 {
        let begins = pipe.run_until(PROBE_RTT);
        assert_near(seconds(ends, begins), 5.0, 0.15);
        assert_near(pipe.cwnd(), BDP / 2.0, 1.0);
        let window = pipe.cwnd();
        while pipe.mode() == PROBE_RTT {
            assert!(pipe.cwnd() <= window);
            pipe.step();
        }
        ends = pipe.facts.now;
        assert_eq!(pipe.mode(), CRUISE);
        // Half a round until no more than half a BDP is in flight; the ACKs then come in half of each round.
        assert!((0.24..0.301).contains(&seconds(begins, ends)), "{}", seconds(begins, ends));
        assert!(pipe.cwnd() > 1.5 * BDP, "the window comes back: {}", pipe.cwnd());
        assert_near(pipe.probe("bw_mbps"), 8.0, 0.15);
    }
}

/// Rounds of ProbeRTT show half of what the path carries: they are no flat rounds of Startup.
#[test]
fn probe_rtt_within_startup_is_no_plateau() {
    let settings = [
        ("min_rtt_refresh", Value::Word("<")),
        ("probe_rtt_interval", Value::Span(Span::from_millis(640))),
        ("probe_rtt_time", Value::Span(Span::from_millis(500))),
    ];
    let mut pipe = Pipe::new("bbr2", &settings, 1);
    pipe.run_until(PROBE_RTT);
    while pipe.mode() == PROBE_RTT {
        pipe.step();
    }
    assert_eq!(pipe.mode(), STARTUP);
}

/// A sample as low as the minimum renews it by default, so a flow that never sees a queue has no need of ProbeRTT.
#[test]
fn an_equal_sample_puts_probe_rtt_off() {
    let probes = |refresh: &'static str| {
        let mut pipe = Pipe::new("bbr2", &[("min_rtt_refresh", Value::Word(refresh))], 1);
        let mut probes = 0;
        for _ in 0..200_000 {
            let before = pipe.mode();
            pipe.step();
            probes += u32::from(pipe.mode() == PROBE_RTT && before != PROBE_RTT);
        }
        (probes, seconds(Time::ZERO, pipe.facts.now))
    };
    let (equal, time) = probes("<=");
    let (lower, _) = probes("<");
    assert!(equal == 0 && f64::from(lower) > time / 6.0, "{equal}, {lower} in {time} s");
}

/// Losses while cruising: rate and inflight are cut to 0.7 a round, but not below what arrives; REFILL lifts the bounds.
#[test]
fn losses_outside_a_probe_cut_to_seven_tenths_but_not_below_what_arrives() {
    let mut pipe = bbr2();
    pipe.run_until(CRUISE);
    pipe.run_for(RTT + RTT);
    let before = (pipe.cwnd(), pipe.probe("bw_mbps"));
    pipe.lose_each = 25;
    pipe.run_for(Span::from_millis(150));
    assert!(pipe.probe("inflight_lo_bytes").is_nan(), "not before a round of loss is over");
    pipe.run_for(Span::from_millis(120));
    pipe.lose_each = 0;
    assert_near(pipe.probe("inflight_lo_bytes") / 1e3, 0.7 * before.0, 3.0);
    // What arrived is above 0.7 of the maximum.
    assert!((0.9 * before.1..before.1).contains(&pipe.probe("bw_lo_mbps")), "{}", pipe.probe("bw_lo_mbps"));
    assert_eq!(pipe.cwnd(), (pipe.probe("inflight_lo_bytes") / 1e3).min(before.0));
    pipe.run_until(REFILL);
    assert!(pipe.probe("bw_lo_mbps").is_nan() && pipe.probe("inflight_lo_bytes").is_nan());
}

/// A flight of 40 packets of a probe, one lost: 1 of 40 is more than 2 %. The threshold is crossed within the lost packet
/// at 39 + 0.02 x 39 / 0.98 = 39.79; 0.7 of the BDP is more, so that is inflight_hi.
/// At 200 in flight the fifth is too much: with four lost before it, 199 + 0 are what the path carries.
#[test]
fn the_inflight_at_which_a_probe_lost_too_much_becomes_the_bound() {
    let lost_of = |in_flight: u64, packets: u64| {
        let mut pipe = bbr2();
        pipe.run_until(UP);
        pipe.lose_of(packets, in_flight);
        pipe
    };
    let bound = |pipe: &Pipe| pipe.probe("inflight_hi_bytes") / 1e3;
    // The target in UP holds two segments more.
    assert_near(bound(&lost_of(40, 1)), 0.7 * (BDP + 2.0), 1.5);
    assert!(bound(&lost_of(200, 4)).is_nan(), "4 of 200 are 2 %, not more");
    let pipe = lost_of(200, 5);
    assert_near(bound(&pipe), 199.0, 0.001);
    assert_eq!(pipe.mode(), DOWN, "the probe is over");
    // Cruising leaves 0.15 of it free.
    let mut pipe = lost_of(110, 3);
    assert_near(bound(&pipe), 109.0 + (0.02 * 109.0 - 2.0) / 0.98, 0.001);
    pipe.run_until(CRUISE);
    assert_near(pipe.cwnd(), 0.85 * bound(&pipe), 0.01);
}

/// A sample of a probe judges it too: 6 lost of the 100 and more that were in flight.
#[test]
fn a_sample_with_too_many_losses_ends_a_probe() {
    let mut pipe = bbr2();
    pipe.run_until(UP);
    let in_flight = pipe.under_way[0].in_flight as f64 / 1e3;
    pipe.lost += 6 * MSS;
    pipe.deliver();
    assert_eq!(pipe.mode(), DOWN);
    assert_near(pipe.probe("inflight_hi_bytes") / 1e3, in_flight, 1e-9);
}

/// Only once for each probe, and not for packets that were not sent to probe.
#[test]
fn losses_that_are_not_of_a_probe_set_no_upper_bound() {
    let mut pipe = bbr2();
    pipe.run_until(CRUISE);
    pipe.lose_each = 10;
    pipe.run_for(Span::from_secs(1));
    assert!(pipe.probe("inflight_hi_bytes").is_nan());
}

/// After a bound has been found, UP raises it by 1, 2, 4 ... packets a round while the window is at it.
#[test]
fn the_bound_grows_by_one_two_four_packets_a_round() {
    let mut pipe = bbr2();
    pipe.run_until(UP);
    pipe.lose_of(3, 90);
    pipe.run_until(REFILL);
    let before = pipe.probe("inflight_hi_bytes") / 1e3;
    pipe.run_until(UP);
    // The last probe went too high: this one stops where that one found its bound, and is made again at once.
    pipe.run_until(DOWN);
    let waits = pipe.facts.now;
    pipe.run_until(REFILL);
    assert!(seconds(waits, pipe.facts.now) < 0.15, "the bound was harmless");
    pipe.run_until(UP);
    let mut growth = vec![pipe.probe("inflight_hi_bytes") / 1e3];
    for _ in 0..3 {
        let round = pipe.delivered + pipe.under_way.len() as u64 * MSS;
        while pipe.delivered < round && pipe.mode() == UP {
            pipe.step();
        }
        growth.push(pipe.probe("inflight_hi_bytes") / 1e3);
    }
    assert!(before > 85.0, "{before}");
    let steps: Vec<_> = growth.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_near(steps[0], 1.0, 1.0);
    assert_near(steps[1], 2.0, 1.0);
    assert_near(steps[2], 4.0, 1.0);
}

/// Eight ACKs that report losses within a round of recovery, and more than 2 % lost, end Startup; fewer do not.
#[test]
fn startup_ends_when_much_is_lost() {
    let ends = |losses: u64| {
        let mut pipe = Pipe::new("bbr2", &[("startup_losses", Value::Count(losses))], 1);
        pipe.run_for(Span::from_millis(290));
        assert_eq!(pipe.mode(), STARTUP);
        pipe.lose_each = 10;
        pipe.run_until(DRAIN);
        (seconds(Time::ZERO, pipe.facts.now), pipe.probe("inflight_hi_bytes"))
    };
    let (early, bound) = ends(3);
    let (late, unbound) = ends(15);
    assert!(early < late && bound.is_finite(), "{early} s, {late} s, {bound} {unbound}");
}

/// One segment, then what was in flight before is the short-term bound; with the repair the window is back, and nothing
/// that was measured of the path is forgotten: no lock-in at a low rate.
#[test]
fn a_timeout_cuts_the_window_and_not_the_model() {
    let mut pipe = bbr2();
    pipe.run_until(CRUISE);
    let (before, bandwidth) = (pipe.cwnd(), pipe.probe("bw_mbps"));
    pipe.call(|cc, cx| cc.on_event(cx, Event::Timeout));
    pipe.facts.phase = Phase::Loss;
    assert_eq!(pipe.cwnd(), 1.0);
    assert_near(pipe.probe("inflight_lo_bytes") / 1e3, before, 1e-9);
    assert_eq!(pipe.probe("bw_mbps"), bandwidth);
    pipe.step();
    while pipe.cwnd() == 1.0 {
        pipe.deliver();
    }
    assert!((4.0..=5.0).contains(&pipe.cwnd()), "never below four: {}", pipe.cwnd());
    pipe.call(|cc, cx| cc.on_event(cx, Event::Recovered));
    assert_eq!(pipe.cwnd(), before);
}

/// What Startup's plateau was measured against does not hold after a timeout: three flat rounds are counted anew.
#[test]
fn a_timeout_within_startup_lets_the_search_begin_anew() {
    let drains = |timeout| {
        let mut pipe = bbr2();
        pipe.run_for(Span::from_millis(1300));
        assert_eq!(pipe.mode(), STARTUP);
        if timeout {
            play(&mut pipe, "timeout");
        }
        seconds(Time::ZERO, pipe.run_until(DRAIN))
    };
    let (with, without) = (drains(true), drains(false));
    assert!(with > without + 2.0 * 0.2885, "{with} s, {without} s");
}

#[test]
fn undo_gives_back_window_and_bounds() {
    let mut pipe = bbr2();
    pipe.run_until(CRUISE);
    pipe.run_for(RTT);
    let before = pipe.cwnd();
    pipe.lose_each = 25;
    pipe.run_for(Span::from_millis(350));
    assert!(pipe.cwnd() < before && pipe.probe("bw_lo_mbps").is_finite());
    pipe.lose_each = 0;
    pipe.call(|cc, cx| cc.on_event(cx, Event::Undo));
    assert!(pipe.cwnd() >= before);
    assert!(pipe.probe("bw_lo_mbps").is_nan() && pipe.probe("inflight_lo_bytes").is_nan());
}

/// 50 of 100 segments by the application: its samples show 4 Mbit/s, and the estimate stays at 8.
#[test]
fn samples_that_the_application_limited_do_not_lower_the_estimate() {
    let mut pipe = bbr2();
    pipe.run_until(CRUISE);
    pipe.most = 50;
    pipe.run_for(Span::from_secs(30));
    assert_near(pipe.probe("bw_mbps"), 8.0, 0.15);
    // Without an application that says so they do, after two cycles.
    let mut pipe = bbr2();
    pipe.run_until(CRUISE);
    pipe.queue = RTT;
    pipe.run_for(Span::from_secs(1));
    assert_near(pipe.probe("bw_mbps"), 8.0, 0.15);
}

/// A flow that had nothing to send has not shown how much the path carries.
#[test]
fn losses_of_a_probe_without_data_set_no_bound() {
    let mut pipe = bbr2();
    pipe.run_until(UP);
    pipe.most = 1;
    pipe.lose_of(5, 100);
    assert!(pipe.probe("inflight_hi_bytes").is_nan());
    assert_eq!(pipe.mode(), DOWN, "but the probe is over");
}

/// After silence a flow paces at the bandwidth, whatever the phase, and has just seen the path empty: no ProbeRTT.
#[test]
fn silence_costs_neither_losses_nor_a_probe_rtt() {
    let mut pipe = bbr2();
    pipe.run_until(UP);
    pipe.fall_silent(Span::from_secs(6));
    assert_near(pipe.pace_mbps(), 0.99 * pipe.probe("bw_mbps"), 1e-6);
    let end = pipe.facts.now + Span::from_secs(1);
    while pipe.facts.now < end {
        assert!(pipe.mode() != PROBE_RTT);
        pipe.step();
    }
}

// ---------------------------------------------------------------------------------------------------------------
// F-BBRv2: Cho et al. 2024
// ---------------------------------------------------------------------------------------------------------------

/// A flow that cruises while others' packets make a queue of so much, for more than ten seconds.
fn beside_a_queue(settings: &[(&str, Value)], queue_ms: u64) -> Pipe {
    let mut pipe = Pipe::new("fbbr2", settings, 1);
    pipe.run_until(CRUISE);
    pipe.queue = Span::from_millis(queue_ms);
    pipe.run_for(Span::from_secs(12));
    pipe.run_until(CRUISE);
    pipe
}

fn gain(pipe: &Pipe) -> f64 {
    pipe.pace_mbps() / pipe.probe("bw_mbps")
}

/// At 1.2 times the first RTT the pace while cruising is 0.99 x 1.15; below it 0.99. It stays 1.25 and 0.75 elsewhere.
#[test]
fn a_minimum_rtt_above_the_first_makes_it_cruise_faster() {
    let mut pipe = beside_a_queue(&[], 19);
    assert_eq!((pipe.probe("detected"), pipe.probe("reference_ms")), (0.0, 100.0));
    assert_near(pipe.probe("rtprop_ms"), 119.0, 0.5);
    assert_near(gain(&pipe), 0.99, 1e-6);
    pipe = beside_a_queue(&[], 21);
    assert_eq!((pipe.probe("detected"), pipe.probe("reference_ms")), (1.0, 100.0));
    assert_near(gain(&pipe), 0.99 * 1.15, 1e-6);
    pipe.run_until(UP);
    assert_near(gain(&pipe), 0.99 * 1.25, 1e-6);
    // The others go. Its own faster pace keeps the queue up until ProbeRTT.
    pipe.queue = Span::ZERO;
    pipe.run_until(PROBE_RTT);
    pipe.run_until(CRUISE);
    assert_eq!(pipe.probe("detected"), 0.0);
}

#[test]
fn where_the_gain_applies_and_what_follows_it() {
    let word = |word: &'static str| Value::Word(word);
    let mut all = beside_a_queue(&[("multiplier_in", word("all"))], 40);
    all.run_until(UP);
    assert_near(gain(&all), 0.99 * 1.25 * 1.15, 1e-6);
    let after = beside_a_queue(&[("multiplier_margin", word("after"))], 40);
    assert_near(gain(&after), 1.15, 1e-6);
    let mut plain = beside_a_queue(&[], 40);
    let mut follows = beside_a_queue(&[("cwnd_follows", word("yes"))], 40);
    plain.run_for(Span::from_millis(400));
    follows.run_for(Span::from_millis(400));
    let extra = |pipe: &Pipe| pipe.probe("extra_acked_bytes") / 1e3;
    let bdp = |pipe: &Pipe| pipe.probe("bw_mbps") * pipe.probe("min_rtt_ms") / 8.0;
    assert_near(plain.cwnd(), 2.0 * bdp(&plain) + extra(&plain), 2.0);
    assert_near(follows.cwnd(), 2.3 * bdp(&follows) + extra(&follows), 2.0);
}

#[test]
fn what_is_held_against_what() {
    let word = |word: &'static str| Value::Word(word);
    // The last sample sees a queue at once, the minimum of five seconds after those, the one of ten after ten.
    for (current, soon, later) in [("last", 1.0, 1.0), ("probe-rtt", 0.0, 1.0), ("min_rtt", 0.0, 0.0)] {
        let mut pipe = Pipe::new("fbbr2", &[("current", word(current))], 1);
        pipe.run_until(CRUISE);
        pipe.queue = Span::from_millis(30);
        pipe.run_for(Span::from_millis(400));
        assert_eq!(pipe.probe("detected"), soon, "{current}");
        pipe.run_for(Span::from_secs(6));
        assert_eq!(pipe.probe("detected"), later, "{current}");
    }
    // Begun in a queue of 30 ms, the first sample is wrong for good; a lower one corrects the others' references.
    for (reference, expected) in [("first", 130.0), ("first-window", 100.0), ("alltime-min", 100.0)] {
        let mut pipe = Pipe::new("fbbr2", &[("reference", word(reference))], 1);
        pipe.facts.rtt.latest = Span::from_millis(130);
        pipe.run_for(Span::from_secs(2));
        assert_near(pipe.probe("reference_ms"), expected, 0.1);
    }
    // One whose path is empty only after ten seconds is not corrected by then, unless all count.
    for (reference, expected) in [("first-window", 130.0), ("alltime-min", 100.0)] {
        let mut pipe = Pipe::new("fbbr2", &[("reference", word(reference))], 1);
        pipe.facts.rtt.latest = Span::from_millis(130);
        pipe.queue = Span::from_millis(30);
        pipe.run_for(Span::from_secs(11));
        pipe.queue = Span::ZERO;
        pipe.run_for(Span::from_secs(6));
        assert_near(pipe.probe("reference_ms"), expected, 0.1);
    }
    // Between release and threshold it stays as it was.
    for (release, detected) in [(1.2, 0.0), (1.1, 1.0)] {
        let mut pipe = beside_a_queue(&[("release", Value::Number(release))], 30);
        assert_eq!(pipe.probe("detected"), 1.0);
        pipe.queue = Span::from_millis(15);
        pipe.run_until(PROBE_RTT);
        pipe.run_until(CRUISE);
        assert_eq!(pipe.probe("detected"), detected, "release at {release}");
    }
}

#[test]
fn silence_may_reset_the_reference() {
    for (reset, expected) in [("never", 100.0), ("idle", 130.0)] {
        let mut pipe = Pipe::new("fbbr2", &[("reference_reset", Value::Word(reset))], 1);
        pipe.run_until(CRUISE);
        pipe.queue = Span::from_millis(30);
        pipe.fall_silent(Span::from_secs(1));
        pipe.run_for(RTT + RTT);
        assert_near(pipe.probe("reference_ms"), expected, 0.1);
    }
}

/// 0.85 of the bound, or all of it.
#[test]
fn headroom_may_be_dropped() {
    for (follows, share) in [("no", 0.85), ("drop-headroom", 1.0)] {
        let mut pipe = beside_a_queue(&[("cwnd_follows", Value::Word(follows))], 40);
        pipe.run_until(UP);
        pipe.lose_of(3, 110);
        pipe.run_until(CRUISE);
        assert_eq!(pipe.probe("detected"), 1.0);
        assert_near(pipe.cwnd(), share * pipe.probe("inflight_hi_bytes") / 1e3, 0.01);
    }
}
