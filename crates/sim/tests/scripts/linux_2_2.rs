//! The stack of Linux 2.2: plain Reno, no SACK and no timestamps, a clock of ten-millisecond ticks.

use crate::script::{Script, linux_2_2};
use cwndlab_cc::Phase::{Loss, Open, Recovery};
use cwndlab_cc::Span;

/// Two segments at first, and one more for each ACK, whatever it covers (RFC 2581 section 3.1).
#[test]
fn it_begins_with_two_segments_and_counts_acks() {
    let mut tcp = linux_2_2().open();
    tcp.expect_sent(0..2);
    // A delayed ACK of both: three segments, where bytes counted would make four.
    tcp.at(200).ack(2).expect_cwnd(3).expect_sent(2..5);
    tcp.at(300).ack(4).expect_cwnd(4).expect_sent(5..8);
}

/// A flight of eight after three round trips, each segment acknowledged.
fn flight_of_eight() -> Script {
    let mut tcp = linux_2_2().open();
    tcp.expect_sent(0..2);
    for (at, acked) in [(200, 1), (200, 2), (300, 3), (300, 4), (300, 5), (300, 6)] {
        tcp.at(at).ack(acked).count_sent();
    }
    tcp.expect_cwnd(8).expect_in_flight(8);
    tcp
}

/// Acknowledges everything once a round trip, at these times in milliseconds.
fn acknowledge_all(
    tcp: &mut Script,
    times: impl IntoIterator<Item = u64>,
    mut each: impl FnMut(&mut Script),
) {
    let (mut next, mut window) = (2, 2);
    tcp.expect_sent(0..2);
    for at in times {
        tcp.at(at).ack(next).count_sent();
        window += 1;
        next += window;
        each(tcp);
    }
}

#[test]
fn samples_are_whole_ticks() {
    let tick = Span::from_millis(10);
    let mut seen = Vec::new();
    acknowledge_all(&mut linux_2_2().open(), [203, 307, 404, 509, 601], |tcp| {
        seen.push(tcp.sender.rtt().latest);
    });
    // 103, 104, 97, 105 and 92 ms, of which a clock of ticks shows one of the two multiples of 10 around each.
    for (sample, exact) in seen.iter().zip([103, 104, 97, 105, 92].map(Span::from_millis)) {
        assert_eq!(sample.0 % tick.0, 0, "{sample}");
        assert!(sample.0.abs_diff(exact.0) < tick.0, "{sample} for {exact}");
    }
}

/// HZ / 5 is the floor of the whole timeout, not of its variance.
#[test]
fn the_timeout_is_two_hundred_milliseconds_at_least() {
    let mut tcp = linux_2_2().open();
    acknowledge_all(&mut tcp, (2..42).map(|round| 100 * round), |_| {});
    let rto = tcp.sender.rtt().rto;
    tcp.expect("the RTO", rto, Span::from_millis(200));
}

/// The first ACK of new data ends fast recovery at ssthresh; the second hole waits for a timeout.
#[test]
fn the_second_loss_of_a_window_waits_for_a_timeout() {
    let mut tcp = flight_of_eight();
    // Of segments 6 to 13 the first and the fourth are lost. RFC 3042 is of 2001: nothing leaves for two duplicates.
    tcp.at(400).ack(6).expect_nothing().ack(6).expect_nothing();
    tcp.ack(6).expect_phase(Recovery).expect_cwnd(4).expect_resent([6]);
    for _ in 0..3 {
        tcp.ack(6).count_sent();
    }
    tcp.at(500).ack(9).expect_phase(Open).expect_ssthresh(4);
    tcp.count_sent();
    tcp.at(699).expect_phase(Open).expect_nothing();
    tcp.at(700).expect_phase(Loss).expect_cwnd(1).expect_resent([9]);
    let counters = tcp.sender.counters();
    tcp.expect("recoveries and timeouts", (counters.fast_recoveries, counters.timeouts), (1, 1));
}

/// Karn: what was sent again gives no sample, and until there is one the back-off stands.
#[test]
fn the_back_off_stands_until_a_segment_that_was_sent_once_is_acknowledged() {
    let mut tcp = linux_2_2().open();
    tcp.expect_sent(0..2);
    // RTO = SRTT + 4 RTTVAR = 300 ms, twice as long after the first expiry.
    tcp.at(399).expect_nothing();
    tcp.at(400).expect_resent([0]);
    let before = tcp.sender.rtt();
    tcp.at(600).ack(1).expect_resent([1]).expect_sent([2]);
    let after = tcp.sender.rtt();
    tcp.expect("the RTT", after, before);
    tcp.at(600 + 599).expect_nothing();
    tcp.at(600 + 600).expect_resent([1]).expect_cwnd(1);
    // Both were sent again: still no sample, and now four times the RTO.
    tcp.at(1300).ack(2).count_sent();
    tcp.at(1300 + 1199).expect_nothing();
    tcp.at(1300 + 1200).count_sent();
}

/// The kernel reduces at the first timeout whatever went before, also within fast recovery.
#[test]
fn a_timeout_within_fast_recovery_reduces_again() {
    let mut tcp = flight_of_eight();
    for _ in 0..3 {
        tcp.at(400).ack(6).count_sent();
    }
    tcp.expect_phase(Recovery).expect_ssthresh(4);
    tcp.at(1000).expect_phase(Loss).expect_cwnd(1).expect_ssthresh(2);
    tcp.count_sent();
}
