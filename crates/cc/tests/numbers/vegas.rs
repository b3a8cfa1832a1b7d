//! Vegas: Linux `tcp_vegas`, Brakmo and Peterson 1995.

use super::common::{MSS, sender};
use super::{RTT, acknowledge, assert_near, word};
use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Phase, Span};

/// A sender with a window of this many segments whose recovery has just ended: the ACK taken here begins a round.
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

/// Reports that a segment was sent; `in_flight`, in segments, includes it.
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
