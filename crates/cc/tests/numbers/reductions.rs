//! Reductions: RFC 5681 equation (4) and its readings.

use super::common::sender;
use super::{RTT, assert_near, event_with, word};
use cwndlab_cc::params::Value;
use cwndlab_cc::{Event, Phase};

/// With a window of 100, FlightSize 80 and pipe 60 the three readings of "half" differ.
#[test]
fn half_of_what() {
    for event in [Event::LossRecovery, Event::EcnReduction, Event::Timeout] {
        let halves = [("reno", vec![]), ("newreno", vec![]), ("newreno", vec![("half_of", word("pipe"))])];
        let ssthresh = halves.map(|(name, settings)| {
            let mut sender = sender(name, &settings, 100, RTT);
            event_with(&mut sender, event, 80, 60);
            sender.probe("ssthresh_bytes")
        });
        // After a timeout nothing counts as in flight any more: the pipe is what was, at most the window.
        let of_pipe = if event == Event::Timeout { 40_000.0 } else { 30_000.0 };
        assert_eq!(ssthresh, [50_000.0, 40_000.0, of_pipe], "{event:?}");
    }
}

#[test]
fn ssthresh_is_two_segments_at_least() {
    for name in ["reno", "newreno", "cubic"] {
        let mut sender = sender(name, &[], 1, RTT);
        event_with(&mut sender, Event::LossRecovery, 1, 0);
        assert_eq!((sender.probe("ssthresh_bytes"), sender.cwnd_segments()), (2000.0, 2.0), "{name}");
    }
}

#[test]
fn a_timeout_leaves_one_segment_and_slow_start() {
    for (name, ssthresh) in [("reno", 50_000.0), ("newreno", 50_000.0), ("cubic", 70_000.0)] {
        let mut sender = sender(name, &[], 100, RTT);
        sender.event(Event::Timeout);
        assert_eq!((sender.cwnd_segments(), sender.probe("ssthresh_bytes")), (1.0, ssthresh), "{name}");
        // It grows at once, before all that was outstanding is acknowledged.
        assert_eq!(sender.facts.phase, Phase::Loss);
        assert_eq!(sender.round(1).cwnd_segments(), 2.0, "{name}");
    }
}

/// RFC 5681 section 3.1: a segment that the timer has already resent holds ssthresh constant; one that only fast
/// retransmit has resent does not. Linux holds it there, too; ns-3 sets it at every timeout.
#[test]
fn a_timeout_after_a_reduction() {
    let cumulative = ("counting", word("cumulative"));
    let forms = ["rfc9438", "linux", "ns3"].map(|form| ("form", word(form)));
    // ssthresh in segments after a second timeout, and after a timeout in recovery; 100 segments before all.
    for (name, settings, again, in_recovery) in [
        ("reno", vec![], 50.0, 50.0),
        ("reno", vec![cumulative], 2.0, 25.0),
        ("newreno", vec![], 50.0, 25.0),
        // Nothing is in flight here, so the first cut is as deep as it can be.
        ("newreno", vec![("half_of", word("pipe"))], 2.0, 2.0),
        ("cubic", vec![forms[0].clone()], 70.0, 49.0),
        ("cubic", vec![forms[1].clone()], 70.0, 70.0),
        ("cubic", vec![forms[2].clone()], 2.0, 49.0),
    ] {
        for (first, phase, expected) in
            [(Event::Timeout, Phase::Loss, again), (Event::LossRecovery, Phase::Recovery, in_recovery)]
        {
            let mut sender = sender(name, &settings, 100, RTT);
            sender.event(first);
            sender.facts.phase = phase;
            sender.event(Event::Timeout);
            let ssthresh = sender.probe("ssthresh_bytes") / 1000.0;
            assert_eq!(sender.cwnd_segments(), 1.0, "{name} {settings:?} {first:?}");
            assert_near(ssthresh, expected, 0.01);
        }
    }
}

#[test]
fn undo_restores_window_and_threshold() {
    for name in ["reno", "newreno", "cubic"] {
        for event in [Event::LossRecovery, Event::Timeout] {
            let mut sender = sender(name, &[], 100, RTT);
            // A threshold to restore, and a window above it.
            sender.lose();
            sender.round(1).round(1);
            let before = (sender.cwnd_segments(), sender.probe("ssthresh_bytes"));
            sender.event(event);
            assert_ne!((sender.cwnd_segments(), sender.probe("ssthresh_bytes")), before);
            sender.event(Event::Undo);
            assert_eq!((sender.cwnd_segments(), sender.probe("ssthresh_bytes")), before, "{name} {event:?}");
        }
    }
}

#[test]
fn undo_takes_back_one_reduction_and_never_shrinks() {
    for name in ["reno", "newreno", "cubic"] {
        let mut sender = sender(name, &[], 100, RTT);
        sender.event(Event::Undo);
        assert_eq!(sender.cwnd_segments(), 100.0, "{name}: nothing to undo");
        sender.lose();
        let reduced = sender.cwnd_segments();
        sender.lose();
        sender.event(Event::Undo).event(Event::Undo);
        assert_eq!(sender.cwnd_segments(), reduced, "{name}: the last reduction only");
    }
}

#[test]
fn a_constant_window_stays() {
    let mut sender = sender("constant", &[("cwnd", Value::Count(42))], 10, RTT);
    assert_eq!(sender.cwnd_segments(), 42.0);
    sender.round(1).lose().round(2).event(Event::Timeout).round(1).event(Event::Undo);
    assert_eq!(sender.cwnd_segments(), 42.0);
}
