//! CUBIC: RFC 9438.

use super::common::MSS;
use super::{PURE, RTT, acks_to_grow, assert_near, cubic_sender, event_with};
use cwndlab_cc::params::Value;
use cwndlab_cc::{Event, Span};

/// Section 4.6: 0.7 of FlightSize; Linux and ns-3 cut cwnd.
#[test]
fn cubic_cuts_to_seven_tenths() {
    for (form, expected) in [("rfc9438", 56.0), ("linux", 70.0), ("ns3", 70.0)] {
        let mut sender = cubic_sender(form, &[], 100, RTT);
        event_with(&mut sender, Event::LossRecovery, 80, 60);
        assert_eq!(sender.cwnd_segments(), expected, "{form}");
    }
}

/// Section 4.2: K = cbrt((W_max - cwnd_epoch) / C).
#[test]
fn k_is_the_time_back_to_w_max() {
    for (w_max, c) in [(100, 0.4), (1000, 0.4), (10, 0.4), (100, 1.2)] {
        for form in ["rfc9438", "linux", "ns3"] {
            let mut sender = cubic_sender(form, &[("C", Value::Number(c))], w_max, RTT);
            sender.lose().ack(1);
            let k = sender.probe("k_s");
            assert_near(c * k * k * k, 0.3 * w_max as f64, 1e-6);
        }
    }
    // The value that every reader computes by hand: 30 segments to regain at C = 0.4.
    let mut sender = cubic_sender("rfc9438", &[], 100, RTT);
    sender.lose().ack(1);
    assert_near(sender.probe("k_s"), 4.217_163, 1e-6);
}

/// Section 4.2: the window is at C (t - K)^3 + W_max at time t, whatever the RTT; back at W_max at K.
#[test]
fn the_window_follows_the_cubic() {
    for rtt_ms in [20, 100] {
        let rtt = Span::from_millis(rtt_ms);
        let mut sender = cubic_sender("rfc9438", &[PURE], 100, rtt);
        sender.lose().ack(1);
        let (start, k) = (sender.facts.now, sender.probe("k_s"));
        for _ in 0..8_000 / rtt_ms {
            sender.round(1);
            let t = sender.facts.now.since(start).as_secs_f64();
            let cubic = 100.0 + 0.4 * (t - k) * (t - k) * (t - k);
            // One round trip of lag in reaching a target one round trip ahead leaves RTT^2 / 2 W'', below 0.2.
            assert_near(sender.cwnd_segments(), cubic, 0.3);
        }
        assert!(sender.cwnd_segments() > 115.0, "past W_max it probes: {}", sender.cwnd_segments());
    }
}

#[test]
fn the_window_is_back_at_w_max_after_k() {
    let mut sender = cubic_sender("rfc9438", &[PURE], 100, RTT);
    sender.lose().ack(1);
    let end = sender.facts.now + Span::from_secs_f64(sender.probe("k_s"));
    while sender.facts.now < end {
        sender.wait(Span::from_millis(1)).ack(1);
    }
    assert_near(sender.cwnd_segments(), 100.0, 0.1);
}

/// Section 4.2: the target is at most 1.5 cwnd, so a round trip adds at most half.
#[test]
fn no_form_grows_by_more_than_half_a_round_trip() {
    for form in ["rfc9438", "linux", "ns3"] {
        let mut sender = cubic_sender(form, &[("C", Value::Number(1000.0))], 100, RTT);
        sender.lose().wait(Span::from_secs(10)).ack(1);
        // Far beyond K: everything is capped. One ACK has begun the epoch.
        sender.wait(Span::from_secs(10));
        for _ in 0..5 {
            let before = sender.cwnd_segments();
            let grown = sender.round(1).cwnd_segments() / before;
            // A segment may have been as good as earned by the round before.
            assert!((1.45..=1.5 + 1.0 / before).contains(&grown), "{form}: {grown}");
        }
    }
}

/// Section 4.3: alpha = 3 (1 - 0.7) / (1 + 0.7) = 0.529 segments a round trip, one from cwnd_prior on.
#[test]
fn where_reno_would_be_faster_cubic_is_reno() {
    // With 10 ms the cubic crawls: from 14 back to 20 it needs 2.5 s, Reno 0.11 s.
    let mut sender = cubic_sender("rfc9438", &[], 20, Span::from_millis(10));
    sender.lose();
    let mut expected = 14.0;
    for _ in 0..30 {
        // One ACK for a window, so that W_est grows by alpha * acked / cwnd at once.
        let window = sender.cwnd_segments() as u64;
        let alpha = if expected >= 20.0 { 1.0 } else { 0.9 / 1.7 };
        expected += alpha * window as f64 / sender.cwnd_segments();
        sender.wait(Span::from_millis(10)).ack(window);
        assert_near(sender.cwnd_segments(), expected, 0.01);
    }
    assert!(expected > 35.0, "it has seen both slopes: {expected}");
}

#[test]
fn the_reno_friendly_region_can_be_left_out() {
    let mut sender = cubic_sender("rfc9438", &[PURE], 20, Span::from_millis(10));
    sender.lose().round(1);
    // W'(0) = 3 C K^2 = 7.3 segments a second: 0.07 in 10 ms, and not 0.5.
    assert_near(sender.cwnd_segments(), 14.07, 0.03);
}

/// Section 4.7: a loss below the last W_max releases (1 - 0.7) / 2 of the window more.
#[test]
fn fast_convergence() {
    for form in ["rfc9438", "linux", "ns3"] {
        for (on, factor) in [(true, 0.85), (false, 1.0)] {
            let mut sender = cubic_sender(form, &[("fast_convergence", Value::Flag(on))], 100, RTT);
            sender.lose();
            assert_eq!(sender.probe("w_max_segments"), 100.0, "the first one is kept whole");
            sender.lose();
            // Linux counts whole segments.
            let w_max = if form == "linux" { f64::floor(70.0 * factor) } else { 70.0 * factor };
            assert_near(sender.probe("w_max_segments"), w_max, 1e-9);
        }
    }
}

/// Linux `beta` is 717 of 1024: of 110 segments 77 are left, where 0.7 in floating point leaves 76.
#[test]
fn linux_cuts_by_717_of_1024() {
    let mut sender = cubic_sender("linux", &[], 110, RTT);
    sender.lose();
    assert_eq!(sender.probe("ssthresh_bytes"), 77.0 * MSS as f64);
}

/// Linux `beta_scale` is 15: a segment of W_est costs 41 * 15 / 8 = 76 with a window of 41, and it comes when more than
/// that has been acknowledged. Two of them lift W_est from 40 above the window.
#[test]
fn linux_grows_w_est_by_whole_segments() {
    for (acked, window) in [(152, 41.0), (153, 42.0)] {
        let mut sender = cubic_sender("linux", &[("C", Value::Number(0.001))], 58, Span::from_millis(1));
        sender.lose();
        assert_eq!(sender.cwnd_segments(), 40.0);
        // The cubic rises by less than a segment, of which Linux makes one.
        let first = acks_to_grow(&mut sender, 50).expect("one segment");
        assert_eq!(sender.cwnd_segments(), 41.0);
        sender.ack(acked - 1 - u64::from(first));
        sender.wait(Span::from_millis(32)).ack(1);
        assert_eq!(sender.cwnd_segments(), window, "{acked} acknowledged");
    }
}

/// Section 4.8: after a timeout W_max is the window at which congestion avoidance begins, so K is zero.
#[test]
fn after_a_timeout_the_epoch_starts_at_its_plateau() {
    for form in ["rfc9438", "linux", "ns3"] {
        let mut sender = cubic_sender(form, &[("hystart", Value::Flag(false)), PURE], 100, RTT);
        sender.event(Event::Timeout);
        while sender.probe("k_s").is_nan() {
            sender.round(1);
        }
        assert_eq!(sender.probe("k_s"), 0.0, "{form}");
        assert_near(sender.cwnd_segments(), 70.0, 3.0);
    }
}

/// Section 4.9, after a loss as after a timeout. Linux and ns-3 restore the window only: a new epoch begins.
#[test]
fn undo_gives_cubic_its_epoch_back() {
    for event in [Event::LossRecovery, Event::Timeout] {
        for (form, restores) in [("rfc9438", true), ("linux", false), ("ns3", false)] {
            let mut sender = cubic_sender(form, &[], 100, RTT);
            sender.lose().round(1).round(1);
            let before = ["w_max_segments", "k_s"].map(|name| sender.probe(name));
            sender.event(event).event(Event::Undo);
            let after = ["w_max_segments", "k_s"].map(|name| sender.probe(name));
            assert_eq!(after == before, restores, "{form} {event:?}: {before:?} {after:?}");
        }
    }
}

/// And time goes on from the old epoch's start: the window is where it would have been.
#[test]
fn a_spurious_loss_leaves_no_trace_in_the_cubic() {
    let run = |spurious: bool| {
        let mut sender = cubic_sender("rfc9438", &[PURE], 100, RTT);
        sender.lose();
        for round in 0..30 {
            if spurious && round == 10 {
                sender.event(Event::LossRecovery).event(Event::Undo);
            }
            sender.round(1);
        }
        sender.cwnd_segments()
    };
    assert_near(run(true), run(false), 0.01);
}

/// Section 4.2: a silence does not count as time.
#[test]
fn silence_does_not_count_as_time() {
    let run = |idle: Span| {
        let mut sender = cubic_sender("rfc9438", &[PURE], 100, RTT);
        sender.facts.rtt.rto = Span::from_secs(1000);
        sender.lose().round(1).round(1);
        sender.wait(idle).event(Event::IdleRestart(idle));
        sender.round(1).cwnd_segments()
    };
    assert_near(run(Span::from_secs(5)), run(Span::ZERO), 1e-6);
}
