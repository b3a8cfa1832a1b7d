//! F-BBRv2 (Cho and Cho 2024).

use super::common::modes::Mode;
use super::pipe::*;
use cwndlab_cc::Span;
use cwndlab_cc::params::Value;

/// A flow that cruises while others' packets make a queue of so much, for more than ten seconds.
fn beside_a_queue(settings: &[(&str, Value)], queue_ms: u64) -> Pipe {
    let mut pipe = Pipe::new("fbbr2", settings, 1);
    pipe.run_until(Mode::Cruise);
    pipe.queue = Span::from_millis(queue_ms);
    pipe.run_for(Span::from_secs(12));
    pipe.run_until(Mode::Cruise);
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
    pipe.run_until(Mode::Up);
    assert_near(gain(&pipe), 0.99 * 1.25, 1e-6);
    // The others go. Its own faster pace keeps the queue up until ProbeRTT.
    pipe.queue = Span::ZERO;
    pipe.run_until(Mode::ProbeRtt);
    pipe.run_until(Mode::Cruise);
    assert_eq!(pipe.probe("detected"), 0.0);
}

#[test]
fn where_the_gain_applies_and_what_follows_it() {
    let word = |word: &'static str| Value::Word(word);
    let mut all = beside_a_queue(&[("multiplier_in", word("all"))], 40);
    all.run_until(Mode::Up);
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
        pipe.run_until(Mode::Cruise);
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
        pipe.run_until(Mode::ProbeRtt);
        pipe.run_until(Mode::Cruise);
        assert_eq!(pipe.probe("detected"), detected, "release at {release}");
    }
}

#[test]
fn silence_may_reset_the_reference() {
    for (reset, expected) in [("never", 100.0), ("idle", 130.0)] {
        let mut pipe = Pipe::new("fbbr2", &[("reference_reset", Value::Word(reset))], 1);
        pipe.run_until(Mode::Cruise);
        pipe.queue = Span::from_millis(30);
        pipe.fall_silent(Span::from_secs(1));
        pipe.run_for(RTT + RTT);
        assert_near(pipe.probe("reference_ms"), expected, 0.1);
    }
}

/// 38 of 256 of the bound are left free, in whole packets; or none.
#[test]
fn headroom_may_be_dropped() {
    for (follows, free) in [("no", 38.0 / 256.0), ("drop-headroom", 0.0)] {
        let mut pipe = beside_a_queue(&[("cwnd_follows", Value::Word(follows))], 40);
        pipe.run_until(Mode::Up);
        pipe.lose_of(3, 110);
        pipe.run_until(Mode::Cruise);
        assert_eq!(pipe.probe("detected"), 1.0);
        let bound = pipe.probe("inflight_hi_bytes") / 1e3;
        assert_near(pipe.cwnd(), bound - (free * bound).floor(), 0.01);
    }
}
