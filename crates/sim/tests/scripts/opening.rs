//! Opening a connection, and its first round trips.

use crate::script::{linux, ns3};
use cwndlab_cc::Phase::Open;
use cwndlab_cc::Span;

#[test]
fn slow_start_doubles_each_round_trip_with_delayed_acks_too() {
    for algorithm in ["reno", "newreno", "cubic"] {
        let mut tcp = linux().cc(algorithm).open();
        // RFC 6928 section 2: ten segments at once.
        tcp.expect_sent(0..10).expect_cwnd(10).expect_phase(Open);
        // RFC 5681 section 3.1 with RFC 3465: the window grows by what is acknowledged, two segments an ACK.
        for n in 0..5 {
            tcp.at(200).ack(2 * n + 2).expect_sent(10 + 4 * n..14 + 4 * n);
        }
        tcp.expect_cwnd(20).expect_in_flight(20).expect_no_ssthresh();
        for n in 0..10 {
            tcp.at(300).ack(12 + 2 * n).expect_sent(30 + 4 * n..34 + 4 * n);
        }
        tcp.expect_cwnd(40).expect_in_flight(40).expect_no_ssthresh();
    }
}

#[test]
fn slow_start_ends_at_the_initial_ssthresh() {
    for algorithm in ["reno", "newreno"] {
        let mut tcp = linux().cc(algorithm).with(|tcp| tcp.initial_ssthresh = 16).open();
        tcp.expect_sent(0..10);
        for n in 0..3 {
            tcp.at(200).ack(2 * n + 2).expect_sent(10 + 4 * n..14 + 4 * n);
        }
        // Sixteen of sixteen: from here on one segment a round trip (RFC 5681 section 3.1).
        tcp.expect_cwnd(16);
        for n in 3..5 {
            tcp.at(200).ack(2 * n + 2).expect_sent(16 + 2 * n..18 + 2 * n);
        }
        tcp.expect_cwnd(16);
    }
}

#[test]
fn counting_acks_with_delayed_acks_grows_by_half() {
    let mut tcp = ns3().cc("newreno").open();
    tcp.expect_sent(0..10);
    // RFC 5681 section 3.1: at most one segment for each ACK.
    for n in 0..5 {
        tcp.at(200).ack(2 * n + 2).expect_sent(10 + 3 * n..13 + 3 * n);
    }
    tcp.expect_cwnd(15);
}

#[test]
fn congestion_avoidance_adds_one_segment_a_round_trip() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    // A loss sets ssthresh to five; its repair ends recovery.
    for end in 2..=12 {
        tcp.at(200).sack(0, [(1, end)]).count_sent();
    }
    tcp.at(300).ack(12).expect_phase(Open).expect_cwnd(5).expect_in_flight(5).count_sent();
    let mut una = 12;
    for round in 1..5 {
        // RFC 5681 section 3.1, equation (3): a window of ACKs.
        for _ in 0..4 + round {
            una += 1;
            tcp.at(300 + 100 * round).ack(una).count_sent();
        }
        tcp.expect_cwnd(5 + round);
    }
}

#[test]
fn a_lost_syn_is_sent_again_after_a_second_and_tells_no_round_trip_time() {
    let mut tcp = linux().start();
    tcp.expect_syn();
    // RFC 6298 rules (2.1) and (5.5): one second, then two.
    tcp.at(999).expect_nothing();
    tcp.at(1000).expect_syn();
    tcp.at(2999).expect_nothing();
    tcp.at(3000).expect_syn();
    // RFC 6298 section 3 (Karn): which SYN was answered is not known.
    tcp.at(3050).syn_ack();
    let smoothed = tcp.sender.rtt().smoothed;
    tcp.expect("SRTT", smoothed, Span::ZERO);
    assert!(tcp.count_sent() > 0);
}

#[test]
fn the_handshake_gives_the_first_round_trip_time() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    // RFC 6298 rule (2.2): SRTT = R, RTTVAR = R/2, RTO = R + 4 RTTVAR.
    let rtt = tcp.sender.rtt();
    let ms = Span::from_millis;
    tcp.expect("the estimates", (rtt.smoothed, rtt.variance, rtt.rto), (ms(100), ms(50), ms(300)));
}

/// RFC 6298 rule (5.7): after a SYN timeout the RTO begins at 3 s when data transmission begins, while there is no
/// sample. (Linux: TCP_TIMEOUT_FALLBACK.)
#[test]
fn after_a_lost_syn_the_first_rto_is_three_seconds() {
    let mut tcp = linux().with(|tcp| tcp.tail_loss_probe = false).start();
    tcp.expect_syn();
    tcp.at(1000).expect_syn().at(1100).syn_ack().expect_sent(0..10);
    tcp.at(4099).expect_nothing().at(4100).expect_resent([0]);
}
