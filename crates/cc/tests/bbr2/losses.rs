//! BBRv2's answers to losses, timeouts and silence (`tcp_bbr2.c`).

use super::common::MSS;
use super::common::modes::Mode;
use super::pipe::*;
use cwndlab_cc::params::Value;
use cwndlab_cc::{Event, Phase, Span, Time};

/// Losses while cruising: rate and inflight are cut to 0.7 a round, but not below what arrives; REFILL lifts the bounds.
#[test]
fn losses_outside_a_probe_cut_to_seven_tenths_but_not_below_what_arrives() {
    let mut pipe = bbr2();
    pipe.run_until(Mode::Cruise);
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
    pipe.run_until(Mode::Refill);
    assert!(pipe.probe("bw_lo_mbps").is_nan() && pipe.probe("inflight_lo_bytes").is_nan());
}

/// A flight of 40 packets of a probe, one lost: 1 of 40 is more than 5 of 256. The threshold is crossed within the lost
/// packet; 0.7 of the BDP is more, so that is inflight_hi. At 250 in flight the fifth is too much, as 4.9 are allowed: with
/// four lost before it and a budget of five, one more, so 250 are what the path carries.
#[test]
fn the_inflight_at_which_a_probe_lost_too_much_becomes_the_bound() {
    let lost_of = |in_flight: u64, packets: u64| {
        let mut pipe = bbr2();
        pipe.run_until(Mode::Up);
        pipe.lose_of(packets, in_flight);
        pipe
    };
    let bound = |pipe: &Pipe| pipe.probe("inflight_hi_bytes") / 1e3;
    // The target in UP holds two segments more.
    assert_near(bound(&lost_of(40, 1)), 0.7 * (BDP + 2.0), 1.5);
    assert!(bound(&lost_of(250, 4)).is_nan(), "4 of 250 are allowed");
    let pipe = lost_of(250, 5);
    assert_near(bound(&pipe), 250.0, 0.001);
    assert_eq!(pipe.mode(), Mode::Down, "the probe is over");
    // Cruising leaves 38 of 256 of it free, in whole packets: 16 of 110.
    let mut pipe = lost_of(110, 3);
    assert_near(bound(&pipe), 110.0, 0.001);
    pipe.run_until(Mode::Cruise);
    assert_near(pipe.cwnd(), 94.0, 0.001);
}

/// The kernel counts packets: a bound that is a fraction of one would be reached by no flight of the next probe.
#[test]
fn bounds_are_whole_packets() {
    for in_flight in 100..130 {
        let mut pipe = bbr2();
        pipe.run_until(Mode::Up);
        pipe.lose_of(3, in_flight);
        let bound = pipe.probe("inflight_hi_bytes") / 1e3;
        assert_near(bound, bound.round(), 1e-9);
        pipe.run_until(Mode::Cruise);
        assert_near(pipe.cwnd(), pipe.cwnd().round(), 1e-9);
    }
}

/// A sample of a probe judges it too: 6 lost of the 100 and more that were in flight.
#[test]
fn a_sample_with_too_many_losses_ends_a_probe() {
    let mut pipe = bbr2();
    pipe.run_until(Mode::Up);
    let in_flight = pipe.under_way[0].in_flight as f64 / 1e3;
    pipe.lost += 6 * MSS;
    pipe.deliver();
    assert_eq!(pipe.mode(), Mode::Down);
    assert_near(pipe.probe("inflight_hi_bytes") / 1e3, in_flight, 1e-9);
}

/// Only once for each probe, and not for packets that were not sent to probe.
#[test]
fn losses_that_are_not_of_a_probe_set_no_upper_bound() {
    let mut pipe = bbr2();
    pipe.run_until(Mode::Cruise);
    pipe.lose_each = 10;
    pipe.run_for(Span::from_secs(1));
    assert!(pipe.probe("inflight_hi_bytes").is_nan());
}

/// After a bound has been found, UP raises it by 1, 2, 4 ... packets a round while the window is at it.
#[test]
fn the_bound_grows_by_one_two_four_packets_a_round() {
    let mut pipe = bbr2();
    pipe.run_until(Mode::Up);
    pipe.lose_of(3, 90);
    pipe.run_until(Mode::Refill);
    let before = pipe.probe("inflight_hi_bytes") / 1e3;
    pipe.run_until(Mode::Up);
    // The last probe went too high: this one stops where that one found its bound, and is made again at once.
    pipe.run_until(Mode::Down);
    let waits = pipe.facts.now;
    pipe.run_until(Mode::Refill);
    assert!(seconds(waits, pipe.facts.now) < 0.15, "the bound was harmless");
    pipe.run_until(Mode::Up);
    let mut growth = vec![pipe.probe("inflight_hi_bytes") / 1e3];
    for _ in 0..3 {
        let round = pipe.delivered + pipe.under_way.len() as u64 * MSS;
        while pipe.delivered < round && pipe.mode() == Mode::Up {
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
        assert_eq!(pipe.mode(), Mode::Startup);
        pipe.lose_each = 10;
        pipe.run_until(Mode::Drain);
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
    pipe.run_until(Mode::Cruise);
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
        assert_eq!(pipe.mode(), Mode::Startup);
        if timeout {
            pipe.time_out();
        }
        seconds(Time::ZERO, pipe.run_until(Mode::Drain))
    };
    let (with, without) = (drains(true), drains(false));
    assert!(with > without + 2.0 * 0.2885, "{with} s, {without} s");
}

#[test]
fn undo_gives_back_window_and_bounds() {
    let mut pipe = bbr2();
    pipe.run_until(Mode::Cruise);
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
    pipe.run_until(Mode::Cruise);
    pipe.most = 50;
    pipe.run_for(Span::from_secs(30));
    assert_near(pipe.probe("bw_mbps"), 8.0, 0.15);
    // Without an application that says so they do, after two cycles.
    let mut pipe = bbr2();
    pipe.run_until(Mode::Cruise);
    pipe.queue = RTT;
    pipe.run_for(Span::from_secs(1));
    assert_near(pipe.probe("bw_mbps"), 8.0, 0.15);
}

/// A flow that had nothing to send has not shown how much the path carries.
#[test]
fn losses_of_a_probe_without_data_set_no_bound() {
    let mut pipe = bbr2();
    pipe.run_until(Mode::Up);
    pipe.most = 1;
    pipe.lose_of(5, 100);
    assert!(pipe.probe("inflight_hi_bytes").is_nan());
    assert_eq!(pipe.mode(), Mode::Down, "but the probe is over");
}

/// After silence a flow paces at the bandwidth, whatever the phase, and has just seen the path empty: no ProbeRTT.
#[test]
fn silence_costs_neither_losses_nor_a_probe_rtt() {
    let mut pipe = bbr2();
    pipe.run_until(Mode::Up);
    pipe.fall_silent(Span::from_secs(6));
    assert_near(pipe.pace_mbps(), 0.99 * pipe.probe("bw_mbps"), 1e-6);
    let end = pipe.facts.now + Span::from_secs(1);
    while pipe.facts.now < end {
        assert!(pipe.mode() != Mode::ProbeRtt);
        pipe.step();
    }
}
