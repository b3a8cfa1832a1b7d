//! CUBIC in the counting form of Linux and ns-3.

use super::{PURE, RTT, acknowledge, acks_to_grow, cubic_sender, leave_slow_start};
use cwndlab_cc::Span;
use cwndlab_cc::params::Value;

/// With W_max = 100 and cwnd = 70 at t = 0: K = 4.217 s, the target 100 ms ahead is 100 - trunc(0.4 * 4.117^3) = 73,
/// so cnt = 70 / 3 = 23, then 71 / 2 = 35, then 72 / 1 = 72, then the window stands.
#[test]
fn the_count_is_the_window_over_what_is_missing() {
    for form in ["linux", "ns3"] {
        let mut sender = cubic_sender(form, &[PURE], 100, RTT);
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
        let mut sender = cubic_sender(form, &[PURE], 1000, Span::from_micros(102_900));
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
        let mut sender = cubic_sender(form, &[PURE], 100, RTT);
        leave_slow_start(&mut sender);
        assert_eq!(sender.cwnd_segments(), 100.0);
        // Time stands still, so the cubic adds nothing of its own.
        acknowledge(&mut sender, 100, 1);
        assert_eq!(sender.cwnd_segments(), 105.0, "{form}");
    }
}

/// The Reno-friendly region: 0.529 segments a round trip in the counting form too, in whole segments.
#[test]
fn the_counting_form_is_not_slower_than_reno() {
    let after_ten_rounds = |form, friendly| {
        let settings = [("reno_friendly", Value::Flag(friendly))];
        let mut sender = cubic_sender(form, &settings, 20, Span::from_millis(10));
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
        let mut sender =
            cubic_sender(form, &[("reno_friendly", Value::Flag(true))], 20, Span::from_millis(10));
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
