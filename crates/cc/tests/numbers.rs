//! Numbers from the sources: what RFC 5681, RFC 3465, RFC 9438, Linux, ns-3 and HyStart's authors say that a window
//! must be, computed here without the code under test.

mod common;

use common::{MSS, sender};
use cwndlab_cc::hystart::{self, HyStart, Thresholds};
use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Context, Event, Phase, Span};

const RTT: Span = Span::from_millis(100);

fn word(word: &'static str) -> Value {
    Value::Word(word)
}

/// Acknowledges whole windows of exactly `segments` without letting time pass.
fn acknowledge(sender: &mut Sender, segments: u64, per_ack: u64) {
    for _ in 0..segments / per_ack {
        sender.ack(per_ack);
    }
}

/// Tells of an event with this FlightSize and this pipe, in segments.
fn event_with(sender: &mut Sender, event: Event, flight: u64, pipe: u64) {
    sender.facts.flight_size = flight * MSS;
    sender.facts.in_flight = pipe * MSS;
    sender.facts.outstanding = flight * MSS;
    sender.call(|cc, cx| cc.on_event(cx, event));
}

#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}

// ---------------------------------------------------------------------------------------------------------------
// Slow start and congestion avoidance: RFC 5681 section 3.1, RFC 3465
// ---------------------------------------------------------------------------------------------------------------

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

// ---------------------------------------------------------------------------------------------------------------
// When the window must not grow
// ---------------------------------------------------------------------------------------------------------------

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

// ---------------------------------------------------------------------------------------------------------------
// Reductions: RFC 5681 equation (4) and its readings
// ---------------------------------------------------------------------------------------------------------------

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
        assert_eq!(sender.cwnd_segments(), 100.0, "{name}: nothing to take back");
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

// ---------------------------------------------------------------------------------------------------------------
// CUBIC, RFC 9438
// ---------------------------------------------------------------------------------------------------------------

fn cubic(form: &'static str, settings: &[(&str, Value)], initial_window: u64, rtt: Span) -> Sender {
    let mut all = vec![("form", word(form))];
    all.extend_from_slice(settings);
    sender("cubic", &all, initial_window, rtt)
}

const PURE: (&str, Value) = ("reno_friendly", Value::Flag(false));

/// Section 4.6: 0.7 of FlightSize; Linux and ns-3 cut cwnd.
#[test]
fn cubic_cuts_to_seven_tenths() {
    for (form, expected) in [("rfc9438", 56.0), ("linux", 70.0), ("ns3", 70.0)] {
        let mut sender = cubic(form, &[], 100, RTT);
        event_with(&mut sender, Event::LossRecovery, 80, 60);
        assert_eq!(sender.cwnd_segments(), expected, "{form}");
    }
}

/// Section 4.2: K = cbrt((W_max - cwnd_epoch) / C).
#[test]
fn k_is_the_time_back_to_w_max() {
    for (w_max, c) in [(100, 0.4), (1000, 0.4), (10, 0.4), (100, 1.2)] {
        for form in ["rfc9438", "linux", "ns3"] {
            let mut sender = cubic(form, &[("C", Value::Number(c))], w_max, RTT);
            sender.lose().ack(1);
            let k = sender.probe("k_s");
            assert_near(c * k * k * k, 0.3 * w_max as f64, 1e-6);
        }
    }
    // The value that every reader computes by hand: 30 segments to regain at C = 0.4.
    let mut sender = cubic("rfc9438", &[], 100, RTT);
    sender.lose().ack(1);
    assert_near(sender.probe("k_s"), 4.217_163, 1e-6);
}

/// Section 4.2: the window is at C (t - K)^3 + W_max at time t, whatever the RTT; back at W_max at K.
#[test]
fn the_window_follows_the_cubic() {
    for rtt_ms in [20, 100] {
        let rtt = Span::from_millis(rtt_ms);
        let mut sender = cubic("rfc9438", &[PURE], 100, rtt);
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
    let mut sender = cubic("rfc9438", &[PURE], 100, RTT);
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
        let mut sender = cubic(form, &[("C", Value::Number(1000.0))], 100, RTT);
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
    let mut sender = cubic("rfc9438", &[], 20, Span::from_millis(10));
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
    let mut sender = cubic("rfc9438", &[PURE], 20, Span::from_millis(10));
    sender.lose().round(1);
    // W'(0) = 3 C K^2 = 7.3 segments a second: 0.07 in 10 ms, and not 0.5.
    assert_near(sender.cwnd_segments(), 14.07, 0.03);
}

/// Section 4.7: a loss below the last W_max releases (1 - 0.7) / 2 of the window more.
#[test]
fn fast_convergence() {
    for form in ["rfc9438", "linux", "ns3"] {
        for (on, factor) in [(true, 0.85), (false, 1.0)] {
            let mut sender = cubic(form, &[("fast_convergence", Value::Flag(on))], 100, RTT);
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
    let mut sender = cubic("linux", &[], 110, RTT);
    sender.lose();
    assert_eq!(sender.probe("ssthresh_bytes"), 77.0 * MSS as f64);
}

/// Linux `beta_scale` is 15: a segment of W_est costs 41 * 15 / 8 = 76 with a window of 41, and it comes when more than
/// that has been acknowledged. Two of them lift W_est from 40 above the window.
#[test]
fn linux_grows_w_est_by_whole_segments() {
    for (acked, window) in [(152, 41.0), (153, 42.0)] {
        let mut sender = cubic("linux", &[("C", Value::Number(0.001))], 58, Span::from_millis(1));
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
        let mut sender = cubic(form, &[("hystart", Value::Flag(false)), PURE], 100, RTT);
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
            let mut sender = cubic(form, &[], 100, RTT);
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
        let mut sender = cubic("rfc9438", &[PURE], 100, RTT);
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
        let mut sender = cubic("rfc9438", &[PURE], 100, RTT);
        sender.facts.rtt.rto = Span::from_secs(1000);
        sender.lose().round(1).round(1);
        sender.wait(idle).event(Event::IdleRestart(idle));
        sender.round(1).cwnd_segments()
    };
    assert_near(run(Span::from_secs(5)), run(Span::ZERO), 1e-6);
}

// ---------------------------------------------------------------------------------------------------------------
// CUBIC, the counting form of Linux and ns-3
// ---------------------------------------------------------------------------------------------------------------

/// After how many ACKs of one segment the window grows, time standing still.
fn acks_to_grow(sender: &mut Sender, most: u32) -> Option<u32> {
    let before = sender.cwnd_segments();
    (1..=most).find(|_| {
        sender.ack(1);
        sender.cwnd_segments() > before
    })
}

/// With W_max = 100 and cwnd = 70 at t = 0: K = 4.217 s, the target 100 ms ahead is 100 - trunc(0.4 * 4.117^3) = 73,
/// so cnt = 70 / 3 = 23, then 71 / 2 = 35, then 72 / 1 = 72, then the window stands.
#[test]
fn the_count_is_the_window_over_what_is_missing() {
    for form in ["linux", "ns3"] {
        let mut sender = cubic(form, &[PURE], 100, RTT);
        sender.lose();
        let counts = [1000; 4].map(|most| acks_to_grow(&mut sender, most));
        assert_eq!(counts, [Some(23), Some(35), Some(72), None], "{form}");
    }
}

/// ns-3 sees the smoothed RTT in whole milliseconds, Linux the latest one exactly; both cut the offset to a whole
/// segment. At W_max = 1000 the target lies 710.0 or 710.1 segments up, on either side of a whole one.
#[test]
fn ns3_cuts_delays_to_whole_milliseconds() {
    let count = |form| {
        let mut sender = cubic(form, &[PURE], 1000, Span::from_micros(102_900));
        sender.lose();
        acks_to_grow(&mut sender, 1000)
    };
    let expected = |ahead: f64| {
        // K^3 = 300 / 0.4.
        let k = 9.085_602_964;
        let offset = (0.4 * (k - ahead) * (k - ahead) * (k - ahead)) as u32;
        Some(700 / (1000 - offset - 700))
    };
    assert_eq!(count("linux"), expected(0.1029));
    assert_eq!(count("ns3"), expected(0.102));
    assert_ne!(expected(0.1029), expected(0.102));
}

/// Linux and ns-3: before the first loss cnt is at most 20, so the window grows by 5 % a round trip or more.
#[test]
fn before_the_first_loss_the_window_grows_by_a_twentieth() {
    for form in ["linux", "ns3"] {
        let mut sender = cubic(form, &[PURE], 100, RTT);
        leave_slow_start(&mut sender);
        assert_eq!(sender.cwnd_segments(), 100.0);
        // Time stands still, so the cubic adds nothing of its own.
        acknowledge(&mut sender, 100, 1);
        assert_eq!(sender.cwnd_segments(), 105.0, "{form}");
    }
}

/// A rise of the delay ends slow start without a loss and without growth.
fn leave_slow_start(sender: &mut Sender) {
    sender.facts.window_limited = false;
    sender.ack(1);
    sender.facts.rtt.latest = RTT + RTT + RTT;
    sender.facts.rtt.smoothed = sender.facts.rtt.latest;
    // The rest of this round, which has seen the short delay, and nine samples of the next.
    for _ in 0..sender.cwnd_segments() as u64 + 10 {
        sender.wait(Span::from_millis(3)).ack(1);
    }
    sender.facts.rtt.latest = RTT;
    sender.facts.window_limited = true;
    assert_eq!(sender.probe("ssthresh_bytes"), sender.cwnd_segments() * MSS as f64);
}

/// The Reno-friendly region: 0.529 segments a round trip in the counting form too, in whole segments.
#[test]
fn the_counting_form_is_not_slower_than_reno() {
    let after_ten_rounds = |form, friendly| {
        let settings = [("reno_friendly", Value::Flag(friendly))];
        let mut sender = cubic(form, &settings, 20, Span::from_millis(10));
        sender.lose();
        for _ in 0..10 {
            sender.round(1);
        }
        sender.cwnd_segments()
    };
    // W_est = 14 + 10 * 0.529 = 19.3: the window is the whole segment below it, or one less; Linux, which looks again
    // after three round trips of 10 ms, has two less.
    let (ns3, linux) = (after_ten_rounds("ns3", true), after_ten_rounds("linux", true));
    assert!((18.0..=19.0).contains(&ns3) && linux == 17.0, "{ns3} {linux}");
    for form in ["ns3", "linux"] {
        assert!(after_ten_rounds(form, false) <= 15.0, "{form}");
    }
}

/// Linux bictcp_update: while the window stands still, `cnt` is calculated once in 31 ms.
#[test]
fn linux_keeps_its_count_for_a_while() {
    let after_seventy_acks = |form| {
        let mut sender = cubic(form, &[("reno_friendly", Value::Flag(true))], 20, Span::from_millis(10));
        sender.lose();
        (0..70).for_each(|_| _ = sender.ack(1));
        sender
    };
    // The cubic rounds up to 15 segments. By then W_est is 14.5, and after 42 ACKs more it is 16.
    assert_eq!(after_seventy_acks("ns3").cwnd_segments(), 16.0);
    let mut linux = after_seventy_acks("linux");
    linux.wait(Span::from_millis(31)).ack(1);
    assert_eq!(linux.cwnd_segments(), 15.0);
    linux.wait(Span::from_millis(1)).ack(1);
    assert_eq!(linux.cwnd_segments(), 16.0);
}

// ---------------------------------------------------------------------------------------------------------------
// Vegas: Linux `tcp_vegas`, Brakmo and Peterson 1995
// ---------------------------------------------------------------------------------------------------------------

/// A sender at so many segments that has just left a repair: the ACK taken here begins a round.
fn vegas(settings: &[(&str, Value)], segments: u64) -> Sender {
    let mut sender = sender("vegas", settings, 2 * segments, RTT);
    sender.lose().ack(1);
    assert_eq!(sender.cwnd_segments(), segments as f64);
    sender
}

/// The window after a round in which `diff` segments (times a hundred) waited: with 50 segments and a base of 100 ms a
/// segment of queue is 2 ms.
fn window_after(settings: &[(&str, Value)], diff_hundredths: u64) -> f64 {
    let mut sender = vegas(settings, 50);
    sender.facts.rtt.latest = RTT + Span::from_micros(20 * diff_hundredths);
    // The first ACK above the window that was out at the beginning decides.
    sender.round(1).cwnd_segments()
}

/// Linux: diff = cwnd (rtt - baseRTT) / baseRTT in whole segments; below alpha = 2 one more, above beta = 4 one less.
#[test]
fn vegas_keeps_two_to_four_segments_in_the_queue() {
    let windows = [0, 100, 199, 200, 300, 400, 499, 500, 1000].map(|diff| window_after(&[], diff));
    assert_eq!(windows, [51.0, 51.0, 51.0, 50.0, 50.0, 50.0, 50.0, 49.0, 49.0]);
}

#[test]
fn the_papers_vegas_1_3_keeps_one_to_three() {
    let settings = [("alpha", Value::Count(1)), ("beta", Value::Count(3))];
    let windows = [0, 99, 100, 399, 400].map(|diff| window_after(&settings, diff));
    assert_eq!(windows, [51.0, 51.0, 50.0, 50.0, 49.0]);
}

/// Linux takes the smallest RTT of a round, so that one ACK that was not delayed disproves a queue.
#[test]
fn the_smallest_rtt_of_the_round_decides() {
    let mut sender = vegas(&[], 50);
    for ack in 1..=50 {
        sender.facts.rtt.latest = if ack == 17 { RTT } else { RTT + RTT };
        sender.ack(1);
    }
    assert_eq!((sender.cwnd_segments(), sender.probe("diff_segments")), (51.0, 0.0));
}

/// One move a round, whatever the number of ACKs.
#[test]
fn vegas_moves_once_a_round_and_needs_three_samples() {
    for (per_ack, window) in [(1, 49.0), (5, 49.0), (17, 49.0), (25, 50.0)] {
        let mut sender = vegas(&[], 50);
        sender.facts.rtt.latest = RTT + RTT;
        acknowledge(&mut sender, 50_u64.next_multiple_of(per_ack), per_ack);
        assert_eq!(sender.cwnd_segments(), window, "{per_ack} segments an ACK");
    }
}

/// With two ACKs a round both may have been delayed: then it is Reno, whatever the RTT.
#[test]
fn with_two_samples_a_round_vegas_is_reno() {
    let mut sender = vegas(&[], 50);
    sender.facts.rtt.latest = RTT + RTT;
    acknowledge(&mut sender, 50 * 20, 25);
    assert!(sender.probe("diff_segments").is_nan());
    // As in Linux the ACK that ends a round counts, not the one before: 500 segments of 1000, and 50 + 51 + .. 58 is 486.
    assert_eq!(sender.cwnd_segments(), 59.0);
}

/// Vegas in slow start at 160 segments, at the end of a round with this RTT; the base is 100 ms.
fn end_of_slow_start(settings: &[(&str, Value)], rtt: Span) -> Sender {
    let mut sender = sender("vegas", settings, 40, RTT);
    sender.round(1);
    sender.facts.rtt.latest = rtt;
    sender.round(1);
    assert_eq!(sender.cwnd_segments(), 160.0);
    sender.ack(1);
    sender
}

/// Linux: slow start ends when diff > gamma, at floor(cwnd baseRTT / rtt) + 1, what the path carries without a queue.
#[test]
fn vegas_leaves_slow_start_at_what_the_path_carries() {
    // 160 segments: 1.6, 3.2, 4.8 and 6.4 wait, which is 1, 3, 4 and 6.
    for (gamma, rtt_ms, window) in
        [(1, 101, None), (1, 102, Some(157.0)), (5, 103, None), (5, 104, Some(154.0))]
    {
        let settings = [("gamma", Value::Count(gamma))];
        let sender = end_of_slow_start(&settings, Span::from_millis(rtt_ms));
        assert_eq!(sender.cwnd_segments(), window.unwrap_or(161.0), "{rtt_ms} ms");
        let ssthresh = sender.probe("ssthresh_bytes") / MSS as f64;
        assert!(if window.is_some() { ssthresh == sender.cwnd_segments() } else { ssthresh.is_nan() });
    }
}

/// The paper's slow start: the window rests in every other round.
#[test]
fn vegas_may_double_every_other_round_trip() {
    let windows = |word_of_rule| {
        let mut sender = sender("vegas", &[("slow_start", word(word_of_rule))], 10, RTT);
        [1, 2, 3, 4, 5].map(|_| sender.round(1).cwnd_segments())
    };
    assert_eq!(windows("every-rtt"), [20.0, 40.0, 80.0, 160.0, 320.0]);
    assert_eq!(windows("every-other-rtt"), [20.0, 20.0, 40.0, 40.0, 80.0]);
}

/// Linux tcp_current_ssthresh: once decided, ssthresh is three quarters of the window at least.
#[test]
fn the_threshold_of_vegas_follows_its_window() {
    let mut sender = vegas(&[], 50);
    for _ in 0..40 {
        sender.round(1);
    }
    assert_near(sender.cwnd_segments(), 90.0, 1.0);
    assert_eq!(sender.probe("ssthresh_bytes"), 0.75 * sender.cc.control().cwnd as f64);
}

#[test]
fn vegas_keeps_two_segments() {
    let mut sender = vegas(&[], 5);
    for _ in 0..40 {
        sender.facts.rtt.latest = RTT.times(10);
        sender.ack(1);
    }
    assert_eq!(sender.cwnd_segments(), 2.0);
}

/// A segment has just left, and so many are in flight with it.
fn sent(sender: &mut Sender, in_flight: u64) {
    sender.facts.in_flight = in_flight * MSS;
    sender.call(|cc, cx| cc.on_sent(cx, MSS));
}

/// Linux forgets baseRTT when it sends into an empty path; the first ACK is too early for a decision.
#[test]
fn vegas_measures_a_path_anew_after_silence() {
    let mut sender = vegas(&[], 50);
    sender.facts.rtt.latest = RTT + RTT;
    sent(&mut sender, 2);
    acknowledge(&mut sender, 10, 1);
    assert_eq!(sender.probe("base_rtt_ms"), 100.0, "something was still on its way");
    sent(&mut sender, 1);
    assert!(sender.probe("base_rtt_ms").is_nan());
    sender.ack(1);
    assert!(sender.probe("diff_segments").is_nan());
    sender.round(1);
    assert_eq!((sender.probe("base_rtt_ms"), sender.probe("diff_segments")), (200.0, 0.0));
}

/// So one whose every ACK empties the path is Reno: a segment for each window.
#[test]
fn with_a_window_of_one_ack_vegas_is_reno() {
    let mut sender = vegas(&[], 2);
    let windows = [1, 2, 3, 4].map(|_| {
        sent(&mut sender, 1);
        sender.ack(2);
        sender.cwnd_segments()
    });
    assert_eq!(windows, [3.0, 3.0, 4.0, 4.0]);
}

/// What was sampled before or during a repair says nothing about the window after it.
#[test]
fn vegas_is_reno_while_something_is_missing_and_starts_a_round_after_it() {
    for phase in [Phase::Disorder, Phase::Loss] {
        let mut sender = vegas(&[], 50);
        sender.facts.rtt.latest = RTT + RTT;
        acknowledge(&mut sender, 49, 1);
        sender.facts.phase = phase;
        acknowledge(&mut sender, 100, 1);
        assert_eq!(sender.cwnd_segments(), 51.0, "{phase:?}: one segment for 50, then one for 51");
        sender.facts.phase = Phase::Open;
        acknowledge(&mut sender, 51, 1);
        assert!(sender.probe("diff_segments").is_nan(), "{phase:?}");
        sender.ack(1);
        assert_eq!(sender.probe("diff_segments"), 51.0, "{phase:?}");
    }
}

// ---------------------------------------------------------------------------------------------------------------
// HyStart: Ha and Rhee 2011; thresholds of Linux 6.x and ns-3.37
// ---------------------------------------------------------------------------------------------------------------

/// Whether slow start ends with this ACK of a segment.
fn acknowledged(hystart: &mut HyStart, cx: &Context, rtt: Span, cwnd: u64) -> bool {
    hystart.observe(MSS, Some(rtt));
    hystart.should_exit(cx, rtt, cwnd)
}

/// When slow start ends (milliseconds after the round began), ACKs of one segment coming every `gap`.
fn train_exit_ms(thresholds: &'static Thresholds, paced: bool, window: u64, gap: Span) -> Option<f64> {
    let mut hystart = HyStart::new(thresholds, paced);
    // The first ACK begins the round.
    let mut sender = sender("constant", &[("cwnd", Value::Count(window))], 10, RTT);
    let acks = window.min(400);
    (0..acks).find_map(|n| {
        sender.facts.outstanding = (window - 1) * MSS;
        let exits = sender.call(|_, cx| acknowledged(&mut hystart, cx, RTT, window * MSS));
        let at = n as f64 * gap.as_millis_f64();
        sender.wait(gap);
        exits.then_some(at)
    })
}

/// Linux: half the minimum RTT of 100 ms, with a millisecond for aggregation: beyond 50.5 ms. All of it when paced.
/// ns-3: the whole minimum RTT.
#[test]
fn a_long_ack_train_ends_slow_start() {
    let ms = Span::from_millis(1);
    assert_eq!(train_exit_ms(&hystart::LINUX, false, 300, ms), Some(51.0));
    assert_eq!(train_exit_ms(&hystart::LINUX, true, 300, ms), Some(102.0));
    assert_eq!(train_exit_ms(&hystart::NS3, false, 300, ms), Some(101.0));
}

#[test]
fn acks_further_apart_than_two_milliseconds_are_no_train() {
    assert!(train_exit_ms(&hystart::LINUX, false, 300, Span::from_millis(2)).is_some());
    assert_eq!(train_exit_ms(&hystart::LINUX, false, 300, Span::from_micros(2001)), None);
}

#[test]
fn below_sixteen_segments_nothing_ends_slow_start() {
    let gap = Span::from_millis(2);
    // Half of 20 ms would be over after six ACKs.
    let exit = |window| {
        let mut hystart = HyStart::new(&hystart::LINUX, false);
        let mut sender = sender("constant", &[], 10, Span::from_millis(20));
        (0..window).any(|_| {
            sender.facts.outstanding = window * MSS;
            let rtt = sender.facts.rtt.latest;
            let exits = sender.call(|_, cx| acknowledged(&mut hystart, cx, rtt, window * MSS));
            sender.wait(gap);
            exits
        })
    };
    assert!(!exit(15));
    assert!(exit(16));
}

/// The ACK of the second round at which slow start ends, when every RTT of it is `rise` above the minimum.
fn delay_exit(base: Span, rise: Span) -> Option<u64> {
    let mut hystart = HyStart::new(&hystart::LINUX, false);
    let mut sender = sender("constant", &[("cwnd", Value::Count(30))], 10, base);
    (0..60).find_map(|n| {
        sender.facts.outstanding = 29 * MSS;
        let second_round = n >= 30;
        let rtt = if second_round { base + rise } else { base };
        let exits = sender.call(|_, cx| acknowledged(&mut hystart, cx, rtt, 30 * MSS));
        sender.wait(Span::from_millis(3));
        exits.then(|| n + 1 - 30)
    })
}

/// An eighth of the minimum RTT, but 4 ms at least and 16 ms at most; a rise of exactly that is not yet one. Eight
/// samples are looked at before the test is made.
#[test]
fn a_rise_of_the_delay_ends_slow_start() {
    for (base_ms, threshold_ms) in [(16, 4), (80, 10), (400, 16)] {
        let base = Span::from_millis(base_ms);
        let threshold = Span::from_millis(threshold_ms);
        assert_eq!(delay_exit(base, threshold), None, "{base_ms} ms: at the threshold");
        assert_eq!(delay_exit(base, threshold + Span(1)), Some(9), "{base_ms} ms: above it");
    }
}

/// The least of the round counts: one sample without delay disproves a queue.
#[test]
fn one_fast_sample_keeps_slow_start_going() {
    let mut sender = cubic("linux", &[], 30, Span::from_millis(80));
    for n in 0..60 {
        // One of the first eight samples of every round has no queueing delay.
        let slow = n % 5 != 0;
        sender.facts.rtt.latest = Span::from_millis(if slow { 110 } else { 80 });
        sender.wait(Span::from_millis(3)).ack(1);
    }
    assert!(sender.probe("ssthresh_bytes").is_nan(), "still in slow start");
}

/// Linux `cubictcp_state`: what is out at a timeout is a round of its own, which has no ACK train to look at, and the
/// smallest delay is forgotten.
#[test]
fn hystart_watches_slow_start_after_a_timeout_from_the_next_round() {
    for form in ["linux", "ns3"] {
        let mut sender = cubic(form, &[], 400, RTT);
        leave_slow_start(&mut sender);
        event_with(&mut sender, Event::Timeout, 100, 100);
        let threshold = sender.probe("ssthresh_bytes");
        sender.facts.rtt.latest = Span::from_millis(150);
        sender.facts.rtt.smoothed = Span::from_millis(150);
        for _ in 0..100 {
            sender.wait(Span::from_millis(2)).ack(1);
            assert_eq!(sender.probe("ssthresh_bytes"), threshold, "{form}");
        }
        let window = sender.cwnd_segments();
        assert!(window * (MSS as f64) < threshold, "{form}: still in slow start");
        for _ in 0..window as u64 {
            sender.wait(Span::from_millis(2)).ack(1);
        }
        assert!(sender.probe("ssthresh_bytes") < threshold, "{form}: a long train in the next round");
    }
}

/// A hole keeps the round open, and with it the ACK train (Linux `hystart_update`: `after(snd_una, end_seq)`).
#[test]
fn what_arrives_out_of_order_ends_no_round() {
    let mut hystart = HyStart::new(&hystart::LINUX, false);
    let mut sender = sender("constant", &[], 10, RTT);
    sender.facts.outstanding = 29 * MSS;
    assert!(!sender.call(|_, cx| acknowledged(&mut hystart, cx, RTT, 30 * MSS)));
    let exit = (1..=60).find(|_| {
        sender.wait(Span::from_millis(1));
        sender.call(|_, cx| hystart.should_exit(cx, RTT, 30 * MSS))
    });
    assert_eq!(exit, Some(51), "milliseconds since the round began");
}

/// Linux discards the delays of an epoch's first second (`cubictcp_acked`), ns-3 those of its first 10 ms (`CubicDelta`).
#[test]
fn delays_right_after_a_recovery_are_discarded() {
    for (form, discarded) in [("linux", 1000), ("ns3", 10)] {
        let grown = |after_ms| {
            let mut sender = cubic(form, &[("reno_friendly", Value::Flag(false))], 400, RTT);
            leave_slow_start(&mut sender);
            sender.lose().ack(1);
            // A shorter delay makes the target come later.
            sender.facts.rtt.latest = Span(RTT.0 / 4);
            sender.facts.rtt.smoothed = Span(RTT.0 / 4);
            sender.wait(Span::from_millis(after_ms)).ack(1);
            sender.facts.rtt.latest = RTT;
            sender.facts.rtt.smoothed = RTT;
            sender.wait(Span::from_millis(2000 - after_ms));
            for _ in 0..60 {
                sender.round(1);
            }
            sender.cwnd_segments()
        };
        assert!(grown(discarded - 1) > grown(discarded), "{form}");
    }
}
