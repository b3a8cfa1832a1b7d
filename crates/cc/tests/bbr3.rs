//! BBRv3 against the numbers and the example test cases of draft-ietf-ccwg-bbr: a path of 10 Mbit/s and 100 ms, which
//! is 125 segments of 1000 bytes, an ACK each.

mod common;

use common::modes::Mode;
use common::{MSS, check_golden, sender};
use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Ack, Event, Lost, Phase, Rate, RateSample, SendLimit, Span, Time};
use std::collections::VecDeque;
use std::fmt::Write as _;

const RTT: Span = Span::from_millis(100);
const RATE: Rate = Rate::from_mbit(10);
/// What fills the path: the RTT holds the service of a segment, 0.8 ms.
const BDP: u64 = 126 * MSS;

/// A segment under way, with what section 4.1.2.2 notes of it.
struct Packet {
    sent_at: Time,
    acked_at: Time,
    prior_delivered: u64,
    prior_delivered_at: Time,
    in_flight: u64,
    app_limited: bool,
}

/// A controller, and a path with a queue without end.
struct Pipe {
    sender: Sender,
    rate: Rate,
    /// The application keeps no more than so many bytes in flight.
    app_limit: u64,
    flight: VecDeque<Packet>,
    link_free: Time,
    next_send: Time,
    delivered: u64,
    delivered_at: Time,
    lost: u64,
    /// Bytes that the next ACK marks lost.
    lost_now: u64,
    /// What samples tell of losses in their flight.
    lost_of_flight: u64,
}

impl Pipe {
    fn new(settings: &[(&str, Value)]) -> Self {
        Self {
            sender: sender("bbr3", settings, 10, RTT + RATE.time_for(MSS)),
            rate: RATE,
            app_limit: u64::MAX,
            flight: VecDeque::new(),
            link_free: Time::ZERO,
            next_send: Time::ZERO,
            delivered: 0,
            delivered_at: Time::ZERO,
            lost: 0,
            lost_now: 0,
            lost_of_flight: 0,
        }
    }

    /// One whose flow is in this state, with what all it takes to come there.
    fn in_state(mode: Mode) -> Self {
        let mut pipe = Self::new(&[]);
        pipe.until(mode);
        pipe
    }

    fn until(&mut self, mode: Mode) {
        for _ in 0..40_000 {
            if self.mode() == mode {
                return;
            }
            self.step();
        }
        panic!("mode {mode:?} is never reached, but {:?}", self.mode());
    }

    fn run(&mut self, span: Span) {
        let end = self.now() + span;
        while self.now() < end {
            self.step();
        }
    }

    fn now(&self) -> Time {
        self.sender.facts.now
    }

    fn mode(&self) -> Mode {
        Mode::shown(self.sender.probe("mode"))
    }

    fn longterm(&self) -> f64 {
        self.sender.probe("inflight_longterm_bytes")
    }

    fn max_bw(&self) -> f64 {
        self.sender.probe("max_bw_mbps")
    }

    fn cwnd(&self) -> u64 {
        self.sender.cc.control().cwnd
    }

    fn pacing(&self) -> Rate {
        self.sender.cc.control().pacing_rate.expect("BBR paces")
    }

    fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * MSS
    }

    /// Sends until the next ACK comes, and takes it.
    fn step(&mut self) {
        loop {
            let room = self.cwnd().min(self.app_limit);
            let send_at = self.next_send.max(self.now());
            let acked_at = self.flight.front().map_or(Time::NEVER, |packet| packet.acked_at);
            if self.in_flight() + MSS > room || send_at > acked_at {
                return self.ack();
            }
            self.send(send_at);
        }
    }

    fn send(&mut self, now: Time) {
        self.sender.facts.now = now;
        self.link_free = self.link_free.max(now) + self.rate.time_for(MSS);
        if self.flight.is_empty() {
            self.delivered_at = now;
        }
        self.flight.push_back(Packet {
            sent_at: now,
            acked_at: self.link_free + RTT,
            prior_delivered: self.delivered,
            prior_delivered_at: self.delivered_at,
            in_flight: self.in_flight() + MSS,
            app_limited: self.app_limit < self.cwnd(),
        });
        self.next_send = now + self.pacing().time_for(MSS);
        self.sender.facts.next_departure = self.next_send;
        self.tell_sent();
    }

    fn tell_sent(&mut self) {
        self.sender.facts.in_flight = self.in_flight();
        self.sender.call(|cc, cx| cc.on_sent(cx, MSS));
    }

    fn ack(&mut self) {
        self.ack_of(self.in_flight());
    }

    /// Before the ACK this much was in flight.
    fn ack_of(&mut self, prior_in_flight: u64) {
        let packet = self.flight.pop_front().expect("something is in flight");
        self.sender.facts.now = packet.acked_at;
        let rtt = packet.acked_at.since(packet.sent_at);
        self.delivered += MSS;
        self.delivered_at = packet.acked_at;
        self.sender.facts.in_flight = self.in_flight();
        self.sender.facts.rtt.latest = rtt;
        let lost = std::mem::take(&mut self.lost_now);
        let sample = RateSample {
            delivered: self.delivered - packet.prior_delivered,
            interval: packet.acked_at.since(packet.prior_delivered_at),
            prior_delivered: packet.prior_delivered,
            lost: self.lost_of_flight,
            in_flight_at_send: packet.in_flight,
            app_limited: packet.app_limited,
            ..RateSample::default()
        };
        let ack = Ack {
            acked: MSS,
            advanced: MSS,
            lost,
            prior_in_flight,
            delivered: self.delivered,
            rtt: Some(rtt),
            sample: Some(sample),
            ..Ack::default()
        };
        self.sender.call(|cc, cx| cc.on_ack(cx, &ack));
    }

    /// So many segments are told to be lost, of a flight that all losses of the test belong to.
    fn lose(&mut self, segments: u64, in_flight: u64) {
        for _ in 0..segments {
            self.lost += MSS;
            let lost = Lost {
                bytes: MSS,
                in_flight_at_send: in_flight,
                prior_delivered: self.delivered,
                prior_lost: 0,
                lost_total: self.lost,
                app_limited: self.app_limit < u64::MAX,
            };
            self.sender.call(|cc, cx| cc.on_lost(cx, &lost));
        }
        self.lost_now += segments * MSS;
    }

    fn event(&mut self, event: Event) {
        self.sender.call(|cc, cx| cc.on_event(cx, event));
        self.sender.facts.phase = match event {
            Event::LossRecovery => Phase::Recovery,
            Event::Timeout => Phase::Loss,
            _ => Phase::Open,
        };
    }
}

#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}

/// Section 5.6.2: 2.77 initial windows a round trip, or a ms as long as none is known. 10 000 bytes in 100 ms are
/// 0.8 Mbit/s.
#[test]
fn the_first_rate_is_the_initial_window_in_the_handshakes_rtt() {
    let mut pipe = Pipe { sender: sender("bbr3", &[], 10, RTT), ..Pipe::new(&[]) };
    assert_eq!(pipe.pacing(), Rate(221_600_000));
    pipe.send(Time::ZERO);
    assert_eq!(pipe.pacing(), Rate(2_216_000));
}

/// Sections 5.3.1.1 and 5.3.1.2: from 10 segments to 126 it takes log2(12.6) = 3.7 doublings after the first round
/// trip; three rounds that bring less than a quarter more, each with up to a BDP in the queue, end it.
#[test]
fn startup_finds_the_bandwidth_in_log_rounds_and_ends_after_three_flat_ones() {
    let mut pipe = Pipe::new(&[]);
    while pipe.max_bw() < 9.8 {
        pipe.step();
        assert_eq!(pipe.mode(), Mode::Startup);
    }
    let full = pipe.now().as_secs_f64();
    assert!((0.4..0.7).contains(&full), "full after {full} s");
    pipe.until(Mode::Drain);
    let flat = pipe.now().as_secs_f64() - full;
    assert!((0.3..0.8).contains(&flat), "flat for {flat} s");
    assert_eq!(pipe.sender.probe("pacing_gain"), 0.5);
    assert_near(pipe.pacing().0 as f64, 0.99 * 0.5 * 10e6, 1e3);
}

/// "Never exiting Startup when application-limited with no loss".
#[test]
fn what_the_application_limits_ends_no_startup_and_is_no_bandwidth() {
    let mut pipe = Pipe::new(&[]);
    pipe.app_limit = 5 * MSS;
    pipe.run(Span::from_secs(4));
    assert_eq!(pipe.mode(), Mode::Startup);
    // More than was known counts, whoever limited it; less does not.
    assert_near(pipe.max_bw(), 0.4, 0.01);
    pipe.app_limit = 2 * MSS;
    pipe.run(Span::from_millis(500));
    assert_near(pipe.max_bw(), 0.4, 0.01);
}

/// Section 5.3.1.3: six loss events in a round of fast recovery, and more than 2 %.
#[test]
fn losses_end_startup() {
    let ends = |events: u64, lost_of_flight: u64, recovers: bool| {
        let mut pipe = Pipe::new(&[]);
        pipe.run(Span::from_millis(250));
        for event in 0..events {
            pipe.lose(1, 80 * MSS);
            if event == 0 && recovers {
                pipe.event(Event::LossRecovery);
            }
            pipe.step();
        }
        pipe.lost_of_flight = lost_of_flight;
        pipe.run(Span::from_millis(150));
        (pipe.mode() != Mode::Startup, pipe.longterm())
    };
    let (ended, bound) = ends(6, 10 * MSS, true);
    assert!(ended && (10_000.0..80_000.0).contains(&bound), "bound {bound}");
    assert!(!ends(5, 10 * MSS, true).0, "too few events");
    assert!(!ends(6, 100, true).0, "too little lost");
    assert!(!ends(6, 10 * MSS, false).0, "no recovery");
}

/// Section 5.3.2: Drain ends with a flight of one BDP, and CRUISE follows, as there is nothing left to drain. At half the
/// rate up to two segments are delivered until the next one leaves.
#[test]
fn drain_empties_the_queue() {
    let mut pipe = Pipe::in_state(Mode::Drain);
    assert!(pipe.in_flight() > BDP + 20 * MSS);
    while pipe.mode() == Mode::Drain {
        assert!(pipe.in_flight() > BDP - MSS);
        pipe.step();
    }
    assert!(pipe.in_flight() <= BDP + 2 * MSS);
    pipe.run(Span::from_millis(5));
    assert_eq!(pipe.mode(), Mode::Cruise);
}

/// "Exiting DRAIN based on time": when the path has become slower than half, from two BDP in flight, half a second.
#[test]
fn drain_ends_after_three_rounds() {
    let mut pipe = Pipe::new(&[]);
    pipe.run(Span::from_millis(800));
    pipe.rate = Rate::from_mbit(4);
    pipe.until(Mode::Drain);
    let began = pipe.now();
    pipe.until(Mode::Down);
    assert!(pipe.in_flight() > BDP);
    let took = pipe.now().since(began).as_secs_f64();
    assert!((1.5..2.2).contains(&took), "{took} s");
    assert_eq!(pipe.sender.probe("pacing_gain"), 0.9);
}

/// Section 5.3.3: two to three seconds after DOWN begins REFILL for a round, then UP until three flat rounds, DOWN.
#[test]
fn a_cycle_of_probe_bw() {
    let mut pipe = Pipe::in_state(Mode::Cruise);
    let began = pipe.now();
    pipe.run(RTT);
    assert_near(pipe.cwnd() as f64, 2.0 * BDP as f64, 3.0 * MSS as f64);
    pipe.until(Mode::Refill);
    let waited = pipe.now().since(began).as_secs_f64();
    assert!((1.9..3.1).contains(&waited), "{waited} s");
    assert_eq!(pipe.sender.probe("pacing_gain"), 1.0);
    let mut took = |next: Mode| {
        let began = pipe.now();
        pipe.until(next);
        (pipe.now().since(began).as_secs_f64(), pipe.sender.probe("pacing_gain"))
    };
    let (refill, gain) = took(Mode::Up);
    assert_near(refill, 0.1, 0.01);
    assert_eq!(gain, 1.25);
    let (up, gain) = took(Mode::Down);
    assert!((0.3..0.6).contains(&up), "{up} s");
    assert_eq!(gain, 0.9);
}

/// 2.25 BDP and two segments in UP (sections 5.3.3.5 and 5.6.4.2), with what one ACK brings.
#[test]
fn the_window_of_a_probe() {
    let mut pipe = Pipe::in_state(Mode::Up);
    pipe.run(Span::from_millis(200));
    assert_near(pipe.cwnd() as f64, 2.25 * BDP as f64 + 2.0 * MSS as f64, 3.0 * MSS as f64);
}

/// "Correctly managing sub-packet BDPs": with a BDP of 1.26 segments three quanta of two are in flight, two more in UP.
#[test]
fn the_smallest_window_is_three_quanta() {
    let mut pipe = Pipe::new(&[]);
    pipe.rate = Rate::from_bits_per_sec(100_000);
    pipe.until(Mode::Down);
    pipe.run(Span::from_millis(500));
    let control = pipe.sender.cc.control();
    assert_near(pipe.sender.probe("min_rtt_ms"), 100.8, 0.01);
    assert_eq!(control.send_quantum, 2 * MSS);
    let expected = if pipe.mode() == Mode::Up { 8 * MSS } else { 6 * MSS };
    assert_eq!(control.cwnd, expected);
}

/// Reno's time (section 5.3.3.8): with a BDP of 5 segments and a fraction, which counts as 6, the next probe begins 6 rounds
/// after the last ended, or 5, by chance, and not 2 s.
#[test]
fn small_flows_probe_as_often_as_reno() {
    let mut pipe = Pipe::new(&[]);
    pipe.rate = Rate::from_bits_per_sec(400_000);
    pipe.until(Mode::Up);
    pipe.until(Mode::Down);
    let began = pipe.now();
    pipe.until(Mode::Refill);
    let waited = pipe.now().since(began).as_secs_f64();
    assert!((0.4..1.2).contains(&waited), "{waited} s");
}

/// Section 5.5.10.2: 2 % of 150 are 3. The fourth loss crosses them: 149 before it, of which 3 were lost, and
/// (2.98 - 3) / 0.98 is nothing. Once a probe; then 15 % are left to others.
#[test]
fn a_probe_that_loses_too_much_sets_the_longterm_bound() {
    let mut pipe = Pipe::in_state(Mode::Up);
    pipe.lose(3, 150 * MSS);
    assert_eq!(pipe.mode(), Mode::Up);
    pipe.lose(1, 150 * MSS);
    assert_eq!((pipe.mode(), pipe.longterm()), (Mode::Down, 146_000.0 + 3.0 * 1000.0));
    pipe.lose(10, 140 * MSS);
    assert_eq!(pipe.longterm(), 149_000.0);
    pipe.until(Mode::Cruise);
    pipe.run(RTT);
    assert!(pipe.cwnd() <= 126_650, "{} bytes", pipe.cwnd());
}

/// google/bbr v3 counts packets: bounds in bytes would be a fraction of a segment above what was in flight, so that no
/// flight of the next probe reached them.
#[test]
fn bounds_are_whole_segments_and_the_next_probe_stops_there() {
    for in_flight in 100..130 {
        let mut pipe = Pipe::in_state(Mode::Up);
        pipe.lose(4, in_flight * MSS);
        assert_eq!(pipe.mode(), Mode::Down, "{in_flight}");
        assert_eq!(pipe.longterm() as u64 % MSS, 0, "{in_flight}: {}", pipe.longterm());
        pipe.until(Mode::Cruise);
        assert_eq!(pipe.cwnd() % MSS, 0, "with headroom: {}", pipe.cwnd());
        let bound = pipe.longterm();
        pipe.until(Mode::Up);
        pipe.until(Mode::Down);
        assert_eq!(pipe.longterm(), bound, "it stopped there, as a precaution");
        let stopped = pipe.now();
        pipe.until(Mode::Refill);
        let again = pipe.now().since(stopped);
        assert!(again < RTT.scaled(2.5), "nothing was lost, so the real probe follows: {again}");
    }
}

/// What paced departures will add counts while the flight grows: `bbr_packets_in_net_at_edt`.
#[test]
fn a_probe_stops_a_quantum_before_the_bound() {
    let at_stop = |segments_before: u64| {
        let mut pipe = Pipe::in_state(Mode::Up);
        pipe.lose(4, 120 * MSS);
        pipe.until(Mode::Up);
        let bound = pipe.longterm() as u64;
        // Nothing holds the next one back.
        pipe.sender.facts.next_departure = Time::ZERO;
        pipe.ack_of(bound - segments_before * MSS);
        pipe.mode()
    };
    let quantum = Pipe::in_state(Mode::Up).sender.cc.control().send_quantum / MSS;
    assert_eq!((at_stop(quantum), at_stop(quantum + 1)), (Mode::Down, Mode::Up));
}

/// The losses of one big packet cross the threshold within it: of 100 segments before it 2 may be lost, and of the 50 of
/// the packet another (2 - 0) / 0.98, in whole segments.
#[test]
fn the_threshold_is_found_within_a_packet() {
    let mut pipe = Pipe::in_state(Mode::Up);
    let lost =
        Lost { bytes: 50 * MSS, in_flight_at_send: 150 * MSS, lost_total: 50 * MSS, ..Lost::default() };
    pipe.sender.call(|cc, cx| cc.on_lost(cx, &lost));
    assert_eq!(pipe.longterm(), 102_000.0);
}

/// A flight far below the model is no sign of a smaller path: not below 0.7 of the BDP (HandleInflightTooHigh).
#[test]
fn the_longterm_bound_is_not_below_beta_of_the_target() {
    let mut pipe = Pipe::in_state(Mode::Up);
    pipe.lose(1, 20 * MSS);
    assert_eq!(pipe.mode(), Mode::Down);
    assert_near(pipe.longterm(), 0.7 * BDP as f64, MSS as f64);
}

/// "Exiting PROBE_UP on loss when application-limited": it ends, but the flight tells nothing of the path.
#[test]
fn an_application_limited_flight_sets_no_bound() {
    let mut pipe = Pipe::in_state(Mode::Up);
    pipe.app_limit = 20 * MSS;
    pipe.lose(1, 20 * MSS);
    assert_eq!(pipe.mode(), Mode::Down);
    assert!(pipe.longterm().is_nan());
}

/// The probe after one that lost too much ends at the bound (section 5.3.3.6). If nothing is lost, the next one follows
/// without a cruise, and raises the bound: by 1, 2, 4, 8 segments a round.
#[test]
fn a_careful_probe_first_then_one_that_raises_the_bound() {
    let mut pipe = Pipe::in_state(Mode::Up);
    pipe.lose(3, 100 * MSS);
    assert_eq!(pipe.longterm(), 99_000.0);
    // All of that flight tells the same.
    pipe.lost_of_flight = 10 * MSS;
    pipe.until(Mode::Cruise);
    pipe.lost_of_flight = 0;
    pipe.until(Mode::Up);
    let began = pipe.now();
    pipe.until(Mode::Down);
    assert!(pipe.now().since(began) < Span::from_millis(50), "it does not stay");
    pipe.until(Mode::Refill);
    assert!(pipe.now().since(began) < Span::from_millis(250), "no cruise in between");
    pipe.until(Mode::Up);
    let raised: Vec<_> = (0..4)
        .map(|_| {
            pipe.run(RTT);
            (pipe.longterm() - 99_000.0) / MSS as f64
        })
        .collect();
    assert_eq!(pipe.mode(), Mode::Up, "the bound, not the path, is the limit");
    // 1, 3, 7, 15, less what the first rounds have to wait for a full window.
    for (raised, at_most) in raised.iter().zip([1.0, 3.0, 7.0, 15.0]) {
        assert!((at_most / 3.0 - 1.0..=at_most + 1.0).contains(raised), "{raised} of {at_most}");
    }
    assert!(raised[3] > 2.0 * raised[2], "{raised:?}");
}

/// Section 5.5.10.3: a round with a loss in CRUISE cuts to what it delivered, but by no more than to 0.7. At 5 Mbit/s the
/// queue has grown until a round delivers the whole window.
#[test]
fn losses_between_probes_set_the_shortterm_bounds() {
    for (rate, bw, share) in [(9, 9.0, 0.7), (5, 7.0, 1.0)] {
        let mut pipe = Pipe::in_state(Mode::Cruise);
        pipe.run(RTT);
        let cwnd = pipe.cwnd() as f64;
        pipe.rate = Rate::from_mbit(rate);
        // A round trip and more at the new rate: the signals of the one before are gone when the loss comes.
        pipe.run(Span::from_millis(400));
        pipe.lose(1, BDP);
        pipe.lost_now = 0;
        while pipe.sender.probe("inflight_shortterm_bytes").is_nan() {
            pipe.step();
        }
        assert_near(pipe.sender.probe("bw_mbps"), bw, 0.1);
        assert_near(pipe.max_bw(), 10.0, 0.01);
        assert_near(pipe.sender.probe("inflight_shortterm_bytes"), share * cwnd, 3.0 * MSS as f64);
        pipe.until(Mode::Refill);
        assert_near(pipe.sender.probe("bw_mbps"), 10.0, 0.01);
    }
}

/// Section 5.5.11: what was cut, and the probe that was ended, come back.
#[test]
fn a_spurious_recovery_is_taken_back() {
    let mut pipe = Pipe::in_state(Mode::Up);
    let cwnd = pipe.cwnd();
    pipe.lose(5, 150 * MSS);
    assert_eq!(pipe.mode(), Mode::Down);
    pipe.event(Event::LossRecovery);
    pipe.step();
    assert!(pipe.cwnd() < cwnd);
    pipe.event(Event::Undo);
    assert_eq!(pipe.mode(), Mode::Refill);
    assert!(pipe.longterm().is_nan());
    assert!(pipe.cwnd() >= cwnd);
}

/// Section 5.6.4.4: one segment, and the window from before when all is repaired; what the round of the timeout
/// delivered does not hold the flow down.
#[test]
fn a_timeout_is_no_lock_in() {
    let mut pipe = Pipe::in_state(Mode::Cruise);
    pipe.run(RTT);
    let cwnd = pipe.cwnd();
    pipe.flight.clear();
    pipe.lose(1, BDP);
    pipe.event(Event::Timeout);
    assert_eq!(pipe.cwnd(), MSS);
    // The target of one segment makes it Reno's time to probe: the short view is forgotten with the first ACK.
    pipe.step();
    assert_eq!(pipe.mode(), Mode::Refill);
    assert!(pipe.cwnd() <= 4 * MSS, "{} bytes", pipe.cwnd());
    pipe.event(Event::Recovered);
    pipe.run(Span::from_millis(300));
    assert!(pipe.cwnd() >= cwnd - 2 * MSS, "{} of {cwnd} bytes", pipe.cwnd());
    assert_near(pipe.max_bw(), 10.0, 0.01);
}

/// Section 5.3.4: after 5 s without a lower RTT half a BDP for 200 ms, then CRUISE with the window from before.
#[test]
fn probe_rtt_comes_every_five_seconds() {
    let mut pipe = Pipe::in_state(Mode::ProbeRtt);
    let began = pipe.now();
    assert!((4.9..6.5).contains(&began.as_secs_f64()), "{began}");
    assert_near(pipe.cwnd() as f64, BDP as f64 / 2.0, MSS as f64);
    pipe.until(Mode::Cruise);
    // Half of the flight has to leave first.
    let took = pipe.now().since(began).as_secs_f64();
    assert!((0.2..0.35).contains(&took), "{took} s");
    assert!(pipe.cwnd() >= 2 * BDP - 3 * MSS, "{} bytes", pipe.cwnd());
    assert_near(pipe.sender.probe("bw_mbps"), 10.0, 0.01);
    let ended = pipe.now();
    pipe.until(Mode::ProbeRtt);
    assert_near(pipe.now().since(ended).as_secs_f64(), 5.0, 0.01);
}

/// `<` or `<=`: where samples of the minimum come again and again, `<=` never goes to ProbeRTT.
#[test]
fn an_rtt_that_stands_still_is_a_new_minimum_if_asked_for() {
    let visits = |word: &'static str| {
        let mut pipe = Pipe::new(&[("min_rtt_refresh", Value::Word(word))]);
        (0..150)
            .filter(|_| {
                pipe.run(RTT);
                pipe.mode() == Mode::ProbeRtt
            })
            .count()
    };
    assert_eq!(visits("<="), 0);
    assert!(visits("<") >= 4);
}

/// Lets all in flight be acknowledged, waits, and sends again.
fn pause(pipe: &mut Pipe, limit: SendLimit) {
    while !pipe.flight.is_empty() {
        pipe.ack();
    }
    pipe.sender.wait(Span::from_secs(6));
    pipe.sender.facts.limited_by = limit;
    pipe.send(pipe.now());
}

/// Section 5.4.1: silence is effort enough to see the path without a queue.
#[test]
fn no_probe_rtt_after_silence() {
    let after = |limit: SendLimit| {
        let mut pipe = Pipe::in_state(Mode::Cruise);
        pause(&mut pipe, limit);
        pipe.step();
        pipe.mode()
    };
    assert_ne!(after(SendLimit::Application), Mode::ProbeRtt);
    assert_eq!(after(SendLimit::Window), Mode::ProbeRtt);
}

/// Section 5.4.1: ProbeBW begins again at the bandwidth, and a ProbeRTT that silence has completed is over.
#[test]
fn a_restart_paces_at_the_bandwidth() {
    let mut pipe = Pipe::in_state(Mode::Up);
    pause(&mut pipe, SendLimit::Application);
    assert_eq!(pipe.mode(), Mode::Up);
    assert_near(pipe.pacing().0 as f64, 9.9e6, 1e4);
    let mut pipe = Pipe::in_state(Mode::ProbeRtt);
    pause(&mut pipe, SendLimit::Application);
    assert_eq!(pipe.mode(), Mode::Cruise);
}

/// "Entering and exiting PROBE_RTT during STARTUP".
#[test]
fn from_probe_rtt_back_to_startup() {
    let mut pipe = Pipe::new(&[]);
    pipe.app_limit = 9 * MSS;
    pipe.until(Mode::ProbeRtt);
    pipe.run(Span::from_millis(600));
    assert_eq!(pipe.mode(), Mode::Startup);
}

/// The bandwidth of two cycles ago is forgotten ("Decreasing bandwidth", by half: the pipe loses nothing).
#[test]
fn a_lower_rate_is_believed_after_two_cycles() {
    let mut pipe = Pipe::in_state(Mode::Cruise);
    pipe.rate = Rate::from_mbit(5);
    pipe.until(Mode::Up);
    pipe.until(Mode::Down);
    assert_near(pipe.max_bw(), 10.0, 0.01);
    pipe.until(Mode::Up);
    pipe.until(Mode::Down);
    pipe.until(Mode::Up);
    assert_near(pipe.max_bw(), 5.0, 0.1);
}

/// The whole story, by tenths of a second.
#[test]
fn rounds() {
    let mut pipe = Pipe::new(&[]);
    let mut text = String::from(
        "# bbr3, defaults\n# 10 Mbit/s and 100 ms, an ACK for each segment of 1000 bytes\n\
         # time [100 ms]  mode  window [whole segments]  pacing [kbit/s]  then\n",
    );
    for tenth in 0..=150 {
        if tenth > 0 {
            pipe.run(RTT);
        }
        let then = match tenth {
            35 => "loss",
            70 => "20 Mbit/s",
            120 => "timeout",
            _ => "",
        };
        let line = format!(
            "{tenth:4} {:2} {:6} {:6} {then}",
            pipe.mode() as u8,
            pipe.cwnd() / MSS,
            pipe.pacing().0 / 1000
        );
        let _ = writeln!(text, "{}", line.trim_end());
        match then {
            "loss" => {
                pipe.lose(5, BDP);
                pipe.event(Event::LossRecovery);
                pipe.run(RTT);
                pipe.event(Event::Recovered);
            }
            "timeout" => {
                pipe.flight.clear();
                pipe.lose(1, BDP);
                pipe.event(Event::Timeout);
                pipe.run(RTT);
                pipe.event(Event::Recovered);
            }
            "20 Mbit/s" => pipe.rate = Rate::from_mbit(20),
            _ => {}
        }
    }
    check_golden("bbr3.txt", &text);
}
