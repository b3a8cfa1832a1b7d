//! Fails on 05242f3 (and on any literal RACK_sent_after): a regression of the tie rule.

use crate::script::linux;

/// RFC 8985 section 6.2 wants "sent after"; times in this simulator tie whenever several ACKs are processed in one
/// instant (`Flow::post` gives equal arrivals: `arrival.max(last_arrival)`). Segments 10 and 11 left *before* the
/// retransmission of 0, so their delivery says nothing about it.
#[test]
fn what_left_before_a_retransmission_in_the_same_instant_does_not_condemn_it() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]);
    tcp.sack(0, [(1, 3)]).expect_sent([11]);
    tcp.sack(0, [(1, 4)]).expect_resent([0]);
    tcp.at(210).sack(0, [(1, 10)]).count_sent();
    // The limited transmissions arrive; the retransmission that followed them has a delayed ACK, or is just behind.
    tcp.at(300).sack(0, [(1, 11)]).count_sent();
    tcp.sack(0, [(1, 12)]).count_sent();
    let resent = tcp.sender.counters().resent;
    tcp.expect("segments sent again", resent, 1);
}

/// Linux tcp_limit_reno_sacked (sacked_out + max(lost_out, 1) <= packets_out): still below zero on 05242f3 once plain
/// Reno has left recovery with duplicates left over. Found by `any_path` with `sack = false, recovery = reno`.
#[test]
fn leftover_duplicates_of_plain_reno_do_not_take_pipe_below_zero() {
    let mut tcp = linux()
        .with(|tcp| (tcp.sack, tcp.recovery) = (false, cwndlab_sim::tcp::Recovery::Reno))
        .segments(10)
        .open();
    tcp.expect_sent(0..10);
    for _ in 0..9 {
        tcp.at(200).ack(0).count_sent();
    }
    tcp.at(300).ack(1).count_sent();
    tcp.at(301).ack(2).count_sent();
    assert!(tcp.sender.in_flight() <= 10);
}
