//! BBRv2's phases (`tcp_bbr2.c`): Startup, Drain, the cycle of ProbeBW, ProbeRTT.

use super::common::modes::Mode;
use super::pipe::*;
use cwndlab_cc::params::Value;
use cwndlab_cc::{Span, Time};

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
    let drains = pipe.run_until(Mode::Drain);
    assert!((0.4 + 3.0 * 0.2885..0.5 + 4.0 * 0.2885).contains(&seconds(Time::ZERO, drains)), "{drains:?}");
    assert_near(pipe.cwnd(), 2.885 * BDP, 10.0);
    assert_near(pipe.probe("pacing_gain"), 1.0 / 2.885, 1e-9);
    pipe.run_until(Mode::Down);
    assert_near(pipe.under_way.len() as f64, BDP, 2.0);
    assert_near(pipe.probe("bw_mbps"), 8.0, 0.1);
}

/// DOWN 0.75, CRUISE 1, REFILL 1 for one round, UP 1.25 until 1.25 BDP (and two segments) are in flight; from DOWN to
/// REFILL two to three seconds, or 62 to 63 rounds if those are shorter.
#[test]
fn the_cycle_of_probe_bw() {
    let mut pipe = bbr2();
    let mut waits = Vec::new();
    pipe.run_until(Mode::Down);
    for _ in 0..20 {
        let begins = pipe.run_until(Mode::Down);
        assert_near(pipe.pace_mbps(), 0.99 * 0.75 * pipe.probe("bw_mbps"), 0.01);
        pipe.run_until(Mode::Cruise);
        assert!(pipe.under_way.len() as f64 <= BDP + 1.0, "{}", pipe.under_way.len());
        assert_near(pipe.pace_mbps(), 0.99 * pipe.probe("bw_mbps"), 1e-3);
        // ProbeRTT may come in between: then the wait begins anew.
        while pipe.mode() == Mode::Cruise {
            pipe.step();
        }
        if pipe.mode() == Mode::ProbeRtt {
            pipe.run_until(Mode::Cruise);
            pipe.run_until(Mode::Refill);
        } else {
            waits.push(seconds(begins, pipe.facts.now));
        }
        let refills = pipe.facts.now;
        assert_near(pipe.pace_mbps(), 0.99 * pipe.probe("bw_mbps"), 1e-3);
        assert_near(seconds(refills, pipe.run_until(Mode::Up)), 0.1, 0.011);
        assert_near(pipe.pace_mbps(), 0.99 * 1.25 * pipe.probe("bw_mbps"), 1e-3);
        let ups = pipe.facts.now;
        pipe.run_until(Mode::Down);
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
        pipe.run_until(Mode::Cruise);
        let waited = seconds(pipe.facts.now, pipe.run_until(Mode::Refill)) / 0.1;
        assert!((rounds - 4.0..=rounds + 1.5).contains(&waited), "{waited} of {rounds} rounds");
    }
}

/// ProbeRTT comes 5 s after the last sample that renewed the minimum, holds half a BDP, and lasts 200 ms and a round
/// from when no more is in flight.
#[test]
fn probe_rtt_every_five_seconds_at_half_a_bdp() {
    let mut pipe = Pipe::new("bbr2", &[("min_rtt_refresh", Value::Word("<"))], 1);
    pipe.run_until(Mode::Cruise);
    let mut ends = Time::ZERO;
    for _ in 0..4 {
        let begins = pipe.run_until(Mode::ProbeRtt);
        assert_near(seconds(ends, begins), 5.0, 0.15);
        assert_near(pipe.cwnd(), BDP / 2.0, 1.0);
        let window = pipe.cwnd();
        while pipe.mode() == Mode::ProbeRtt {
            assert!(pipe.cwnd() <= window);
            pipe.step();
        }
        ends = pipe.facts.now;
        assert_eq!(pipe.mode(), Mode::Cruise);
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
    pipe.run_until(Mode::ProbeRtt);
    while pipe.mode() == Mode::ProbeRtt {
        pipe.step();
    }
    assert_eq!(pipe.mode(), Mode::Startup);
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
            probes += u32::from(pipe.mode() == Mode::ProbeRtt && before != Mode::ProbeRtt);
        }
        (probes, seconds(Time::ZERO, pipe.facts.now))
    };
    let (equal, time) = probes("<=");
    let (lower, _) = probes("<");
    assert!(equal == 0 && f64::from(lower) > time / 6.0, "{equal}, {lower} in {time} s");
}
