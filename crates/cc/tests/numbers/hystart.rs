//! HyStart: Ha and Rhee 2011; thresholds of Linux 6.x and ns-3.37.

use super::common::{MSS, sender};
use super::{RTT, cubic_sender, event_with, leave_slow_start};
use cwndlab_cc::hystart::{self, HyStart, Thresholds};
use cwndlab_cc::params::Value;
use cwndlab_cc::{Context, Event, Span};

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
    let mut sender = cubic_sender("linux", &[], 30, Span::from_millis(80));
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
        let mut sender = cubic_sender(form, &[], 400, RTT);
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
            let mut sender = cubic_sender(form, &[("reno_friendly", Value::Flag(false))], 400, RTT);
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
