//! Recovery when the receiver tells nothing but the next segment that it expects.

use crate::script::{Opening, linux};
use cwndlab_cc::Phase::{Open, Recovery};
use cwndlab_sim::tcp::Recovery as Style;

fn without_sack() -> Opening {
    linux().with(|tcp| tcp.sack = false)
}

#[test]
fn newreno_repairs_a_hole_for_each_partial_ack() {
    let mut tcp = without_sack().open();
    tcp.expect_sent(0..10);
    // Segments 0 and 4 are lost. RFC 3042, then RFC 5681 section 3.2.
    tcp.at(200).ack(0).expect_sent([10]);
    tcp.ack(0).expect_sent([11]);
    tcp.ack(0).expect_resent([0]).expect_phase(Recovery).expect_cwnd(5).expect_ssthresh(5);
    for _ in 0..7 {
        tcp.ack(0);
        tcp.count_sent();
    }
    // RFC 6582 section 3.2, step 3: a partial ACK means that the next hole is lost as well.
    tcp.at(300).ack(4).expect_resent([4]).expect_phase(Recovery).expect_cwnd(5);
    tcp.count_sent();
    // Step 3, full acknowledgement: 11 was the highest sent when recovery began.
    tcp.at(400).ack(12).expect_phase(Open);
    tcp.count_sent();
    let counters = tcp.sender.counters();
    tcp.expect("recoveries and segments sent again", (counters.fast_recoveries, counters.resent), (1, 2));
}

#[test]
fn plain_reno_leaves_at_the_first_new_ack() {
    let mut tcp = without_sack().with(|tcp| tcp.recovery = Style::Reno).open();
    tcp.expect_sent(0..10);
    for _ in 0..3 {
        tcp.at(200).ack(0);
        tcp.count_sent();
    }
    tcp.expect_phase(Recovery).expect_cwnd(5);
    for _ in 0..7 {
        tcp.ack(0);
        tcp.count_sent();
    }
    let resent = tcp.sender.counters().resent;
    tcp.expect("segments sent again", resent, 1);
    // RFC 5681 section 3.2, step 6: the next ACK of new data ends it, although 4 is missing.
    tcp.at(300).ack(4);
    let phase = tcp.sender.phase();
    tcp.count_sent();
    assert_ne!(phase, Recovery);
    // RFC 6582 section 3.2, step 2: duplicates of what was outstanding then start no other recovery; a timeout will.
    for _ in 0..3 {
        tcp.at(301).ack(4);
        tcp.count_sent();
    }
    let counters = tcp.sender.counters();
    tcp.expect("recoveries and segments sent again", (counters.fast_recoveries, counters.resent), (1, 1));
    tcp.at(1000).count_sent();
    let timeouts = tcp.sender.counters().timeouts;
    assert!(timeouts > 0);
}

#[test]
fn what_was_outstanding_ends_recovery() {
    let mut tcp = without_sack().open();
    tcp.expect_sent(0..10);
    for _ in 0..3 {
        tcp.at(200).ack(0);
        tcp.count_sent();
    }
    for _ in 0..8 {
        tcp.ack(0);
        tcp.count_sent();
    }
    tcp.at(300).ack(12).expect_phase(Open);
    tcp.count_sent();
    // RFC 6582 section 3.2, step 2: the next loss is one of its own.
    for _ in 0..3 {
        tcp.at(400).ack(12).count_sent();
    }
    tcp.expect_phase(Recovery);
    let recoveries = tcp.sender.counters().fast_recoveries;
    tcp.expect("recoveries", recoveries, 2);
}

/// RFC 8985 section 4: RACK needs SACK; Linux falls back to RFC 6582. Were it used, the partial
/// ACK would mark segments that are counted as delivered.
#[test]
fn without_sack_there_is_no_rack() {
    let mut tcp = without_sack().open();
    tcp.expect_sent(0..10);
    for _ in 0..10 {
        tcp.at(200).ack(0).count_sent();
    }
    tcp.at(300).ack(4).expect_resent([4]).expect_phase(Recovery);
    tcp.count_sent();
    assert!(tcp.sender.in_flight() < 20);
}

/// Linux tcp_limit_reno_sacked: duplicates and losses together are never more than is outstanding. Here packets
/// doubled by the network give nine duplicate ACKs before a partial ACK.
#[test]
fn duplicates_and_losses_are_never_more_than_is_outstanding() {
    let mut tcp = without_sack().segments(10).open();
    tcp.expect_sent(0..10);
    for _ in 0..9 {
        tcp.at(200).ack(0).count_sent();
    }
    tcp.at(300).ack(1).count_sent();
    assert!(tcp.sender.in_flight() <= 10);
}

/// RFC 9937 section 6 (DeliveredData without SACK), contract (`Ack::acked`: each byte counts once): the ACK that
/// advances counts what it covers less what its duplicates have counted already.
#[test]
fn without_sack_each_segment_is_delivered_once() {
    let mut tcp = without_sack().open();
    tcp.expect_sent(0..10);
    for _ in 0..11 {
        tcp.at(200).ack(0).count_sent();
    }
    // One segment of twelve is new, eleven were counted before: a window of five does not grow for one.
    tcp.at(300).ack(12).expect_cwnd(5);
    tcp.count_sent();
}

/// RFC 6582 section 3.2: partial ACKs mean losses in *fast* recovery. The round after an ECN mark is none: there
/// every ACK is "partial", and nothing is lost.
#[test]
fn without_sack_the_round_after_a_mark_sends_nothing_again() {
    let mut tcp = linux().with(|tcp| (tcp.sack, tcp.ecn) = (false, true)).open();
    tcp.expect_sent(0..10);
    tcp.at(200).echo_marks(true).ack(2).count_sent();
    tcp.at(201).ack(4).count_sent();
    tcp.at(202).ack(6).count_sent();
    let resent = tcp.sender.counters().resent;
    tcp.expect("segments sent again", resent, 0);
}
