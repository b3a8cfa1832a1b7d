//! Slow start, congestion avoidance, and when the window must not grow: RFC 5681 section 3.1, RFC 3465.

use super::common::{MSS, sender};
use super::{RTT, acknowledge, word};
use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Event, Phase, Span};

/// A sender in congestion avoidance at 50 segments: it lost something at 100.
fn reno_at_50(name: &str, settings: &[(&str, Value)]) -> Sender {
    let mut sender = sender(name, settings, 100, RTT);
    sender.lose();
    assert_eq!(sender.cwnd_segments(), 50.0);
    sender
}

#[test]
fn slow_start_doubles_every_round_trip_whether_or_not_acks_are_delayed() {
    for name in ["reno", "newreno", "cubic"] {
        for per_ack in [1, 2, 5] {
            // HyStart would end it early.
            let settings = if name == "cubic" { vec![("hystart", Value::Flag(false))] } else { vec![] };
            let mut sender = sender(name, &settings, 10, RTT);
            let windows = [1, 2, 3].map(|_| sender.round(per_ack).cwnd_segments());
            assert_eq!(windows, [20.0, 40.0, 80.0], "{name}, {per_ack} segments an ACK");
        }
    }
}

/// RFC 5681 section 3.1 without RFC 3465: at most SMSS for each ACK, so ACKs of two grow by half only.
#[test]
fn ack_counting_slow_start_grows_by_half_with_delayed_acks() {
    let mut sender = sender("newreno", &[("counting", word("acks"))], 16, RTT);
    let windows = [1, 2, 3].map(|_| sender.round(2).cwnd_segments());
    assert_eq!(windows, [24.0, 36.0, 54.0]);
}

#[test]
fn slow_start_ends_at_ssthresh_exactly() {
    for name in ["reno", "newreno"] {
        let mut sender = sender(name, &[], 100, RTT);
        sender.event(Event::Timeout);
        // 1, 2, 4, .. 32, then 50 and not 64; what is left of the round counts for congestion avoidance.
        let windows: Vec<f64> = (0..7).map(|_| sender.round(1).cwnd_segments()).collect();
        assert_eq!(windows, [2.0, 4.0, 8.0, 16.0, 32.0, 50.0, 51.0], "{name}");
    }
}

#[test]
fn congestion_avoidance_adds_one_segment_a_round_trip_exactly() {
    for name in ["reno", "newreno"] {
        let mut sender = reno_at_50(name, &[]);
        for round in 1..=200 {
            assert_eq!(sender.round(1).cwnd_segments(), 50.0 + f64::from(round), "{name}");
        }
    }
}

/// RFC 3465: what counts is how much is acknowledged, not by how many ACKs.
#[test]
fn byte_counting_does_not_mind_delayed_acks() {
    for name in ["reno", "newreno"] {
        for per_ack in [1, 2, 5, 10] {
            let mut sender = reno_at_50(name, &[]);
            // The windows from 50 to 69 and 20 more, all divisible by ten in sum.
            acknowledge(&mut sender, (50..70).sum::<u64>(), per_ack);
            assert_eq!(sender.cwnd_segments(), 70.0, "{name}, {per_ack} segments an ACK");
        }
    }
}

/// ns-3's TcpNewReno: SMSS * SMSS / cwnd for each ACK (RFC 5681 equation (3)) in whole bytes, whatever it covers, so
/// ACKs of two segments give half the growth.
#[test]
fn ack_counting_halves_growth_with_delayed_acks() {
    let grown = |per_ack| {
        let mut sender = reno_at_50("newreno", &[("counting", word("acks"))]);
        acknowledge(&mut sender, 50 * 20, per_ack);
        sender.cc.control().cwnd
    };
    let by_hand = |acks| (0..acks).fold(50_000, |cwnd: u64, _| cwnd + 1_000_000 / cwnd);
    assert_eq!((grown(1), grown(2)), (by_hand(1000), by_hand(500)));
}

/// In congestion avoidance growth goes on where it was: a segment each 50, then each 51.
#[test]
fn ns3_counts_what_the_cumulative_acknowledgement_covers() {
    let grown = |counting| {
        let mut sender = reno_at_50("reno", &[("counting", word(counting))]);
        // The ACK that ends a recovery: one segment is new, fifty had been SACKed before.
        let ack = cwndlab_cc::Ack { acked: MSS, advanced: 51 * MSS, ..Default::default() };
        sender.call(|cc, cx| cc.on_ack(cx, &ack));
        sender.cwnd_segments() - 50.0
    };
    assert_eq!((grown("delivered"), grown("cumulative")), (0.0, 1.0));
}

#[test]
fn nothing_grows_in_recovery_or_behind_an_idle_application() {
    for name in ["reno", "newreno", "cubic"] {
        for (phase, window_limited) in [(Phase::Recovery, true), (Phase::Open, false)] {
            let mut sender = sender(name, &[], 10, RTT);
            (sender.facts.phase, sender.facts.window_limited) = (phase, window_limited);
            sender.round(1).round(1);
            assert_eq!(sender.cwnd_segments(), 10.0, "{name} in {phase:?}, limited by it: {window_limited}");
            sender.event(Event::LossRecovery);
            let reduced = sender.cwnd_segments();
            sender.round(1).round(1);
            assert_eq!(sender.cwnd_segments(), reduced, "{name} in {phase:?} after a reduction");
        }
    }
}

#[test]
fn a_sack_without_advance_does_not_open_the_window() {
    for name in ["reno", "newreno", "cubic"] {
        let mut sender = sender(name, &[], 10, RTT);
        let ack = cwndlab_cc::Ack { acked: MSS, advanced: 0, rtt: Some(RTT), ..Default::default() };
        sender.facts.phase = Phase::Disorder;
        sender.call(|cc, cx| cc.on_ack(cx, &ack));
        assert_eq!(sender.cwnd_segments(), 10.0, "{name}");
    }
}

/// RFC 2861 section 3: halved for each RTO of silence, not below the initial window; ssthresh keeps 3/4 of it.
#[test]
fn silence_halves_the_window_for_each_rto_down_to_the_initial_one() {
    for (idle_ms, expected) in [(999, 160.0), (1000, 80.0), (2500, 40.0), (4000, 10.0), (600_000, 10.0)] {
        let mut sender = sender("reno", &[], 10, RTT);
        sender.facts.rtt.rto = Span::from_secs(1);
        sender.round(1).round(1).round(1).round(1);
        assert_eq!(sender.cwnd_segments(), 160.0);
        sender.event(Event::IdleRestart(Span::from_millis(idle_ms)));
        assert_eq!(sender.cwnd_segments(), expected, "after {idle_ms} ms");
    }
    let mut sender = reno_at_50("reno", &[]);
    sender.facts.rtt.rto = Span::from_secs(1);
    acknowledge(&mut sender, (50..100).sum(), 1);
    sender.event(Event::IdleRestart(Span::from_secs(1)));
    assert_eq!((sender.cwnd_segments(), sender.probe("ssthresh_bytes")), (100.0, 75_000.0));
}
