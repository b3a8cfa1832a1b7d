//! The retransmission timeout, and taking it back.

use crate::script::{Script, linux, linux_with_ticks, ns3};
use cwndlab_cc::Phase::{Loss, Open};
use cwndlab_cc::Span;

/// A flight of ten is unanswered, and the timer has expired.
fn timed_out(algorithm: &str) -> Script {
    let mut tcp = linux().cc(algorithm).with(|tcp| tcp.tail_loss_probe = false).open();
    tcp.expect_sent(0..10);
    // RFC 6298 rule (5.1): RTO = SRTT + 4 RTTVAR = 300 ms after the first of the flight left.
    tcp.at(399).expect_nothing().expect_phase(Open);
    tcp.at(400).expect_resent([0]).expect_nothing().expect_phase(Loss);
    tcp
}

#[test]
fn a_timeout_takes_the_loss_window_and_backs_off() {
    let mut tcp = timed_out("reno");
    // RFC 5681 section 3.1: the loss window is one segment, ssthresh half of what was in flight.
    tcp.expect_cwnd(1).expect_ssthresh(5);
    // RFC 6298 rule (5.5): the timeout doubles. RFC 5681 section 3.1: ssthresh is not reduced twice.
    tcp.at(999).expect_nothing();
    tcp.at(1000).expect_resent([0]).expect_cwnd(1).expect_ssthresh(5);
    tcp.at(2199).expect_nothing();
    tcp.at(2200).expect_resent([0]).expect_cwnd(1).expect_ssthresh(5);
    // RFC 6298 section 3 (Karn): the sample is that of the last transmission, which the timestamp tells.
    tcp.at(2300).ack(1).expect_resent([1, 2]).expect_cwnd(2);
    let latest = tcp.sender.rtt().latest;
    tcp.expect("the RTT sample", latest, Span::from_millis(100));
    // Slow start up to ssthresh, in the order of the holes; the back-off is over.
    tcp.at(2400).ack(3).expect_resent([3, 4, 5, 6]).expect_cwnd(4);
    tcp.at(2699).expect_nothing();
    tcp.at(2700).expect_resent([3]).expect_cwnd(1).expect_ssthresh(5);
}

/// Linux calc_wheel_index: 300 ms expire at a multiple of 8 ms, 600 and 1200 ms at one of 64 ms.
#[test]
fn long_timeouts_of_linux_are_coarse() {
    let mut tcp = linux_with_ticks().with(|tcp| tcp.tail_loss_probe = false).open();
    tcp.expect_sent(0..10);
    for (before, at) in [(407, 408), (1023, 1024), (2239, 2240)] {
        tcp.at(before).expect_nothing();
        tcp.at(at).expect_resent([0]).expect_phase(Loss);
    }
}

#[test]
fn all_that_was_outstanding_ends_the_loss_phase() {
    let mut tcp = timed_out("reno");
    tcp.at(500).ack(1).expect_resent([1, 2]);
    tcp.at(600).ack(3).expect_resent([3, 4, 5, 6]).expect_phase(Loss);
    tcp.at(700).ack(7).expect_resent([7, 8, 9]).expect_phase(Loss);
    tcp.count_sent();
    tcp.at(800).ack(10).expect_phase(Open);
    tcp.count_sent();
}

#[test]
fn a_spurious_timeout_is_undone_by_timestamps() {
    for algorithm in ["reno", "newreno", "cubic"] {
        let mut tcp = timed_out(algorithm);
        tcp.expect_cwnd(1);
        // RFC 3522 section 3.2: the ACK answers the original, which left before the retransmission did. RFC 4015:
        // window and threshold are as before, and nothing else is sent again. (Slow start then adds the two.)
        tcp.at(410).ack_of_original(2, []).expect_phase(Open).expect_no_ssthresh().expect_cwnd(12);
        tcp.expect_sent(10..14);
        let undos = tcp.sender.counters().undos;
        tcp.expect("undos", undos, 1);
    }
}

#[test]
fn a_timeout_of_a_lost_segment_is_not_undone() {
    let mut tcp = timed_out("reno");
    // The retransmission is what fills the hole: its own timestamp comes back.
    tcp.at(500).ack(10).expect_ssthresh(5);
    tcp.count_sent();
    let undos = tcp.sender.counters().undos;
    tcp.expect("undos", undos, 0);
}

#[test]
fn the_answer_to_the_first_retransmission_undoes_nothing() {
    let mut tcp = timed_out("reno");
    tcp.at(1000).expect_resent([0]);
    // RFC 3522 section 3.2: what counts is when the first of them left; the original never arrived.
    tcp.at(1010).ack_of_transmission(1, 1).expect_phase(Loss).expect_ssthresh(5);
    tcp.count_sent();
}

#[test]
fn a_spurious_timeout_is_undone_by_a_dsack() {
    let mut tcp = timed_out("reno");
    // The timestamp does not tell, but the duplicate is reported (RFC 3708 section 2).
    tcp.at(500).ack(10).expect_phase(Open).expect_ssthresh(5);
    tcp.count_sent();
    tcp.dsack(10, 0, []).expect_no_ssthresh().expect_cwnd(10);
    tcp.count_sent();
}

#[test]
fn without_undo_a_spurious_timeout_stands() {
    let mut tcp = linux().with(|tcp| (tcp.tail_loss_probe, tcp.undo) = (false, false)).open();
    tcp.expect_sent(0..10);
    tcp.at(400).expect_resent([0]);
    tcp.at(410).ack_of_original(2, []).expect_phase(Loss).expect_ssthresh(5).expect_cwnd(3);
    tcp.count_sent();
}

/// RFC 6298 rule (5.4), Linux tcp_retransmit_timer: the timer sends the first segment again, whatever is in flight.
#[test]
fn a_timeout_sends_the_first_segment_whatever_is_in_flight() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]);
    tcp.sack(0, [(1, 3)]).expect_sent([11]);
    tcp.sack(0, [(1, 4)]).expect_resent([0]);
    // The path has become slow: more of the flight arrives, and new data leave.
    tcp.at(490).sack(0, [(1, 9)]);
    assert!(tcp.count_sent() > 0);
    tcp.at(499).expect_nothing();
    // The timer ran anew when the first segment was sent again.
    tcp.at(500).expect_phase(Loss).expect_cwnd(1).expect_resent([0]);
}

/// RFC 3522 section 3.2: detection is not started again while loss recovery goes on. A timeout inside recovery
/// that is answered by the fast retransmission must not take back the reduction of the genuine loss.
#[test]
fn a_timeout_in_recovery_does_not_undo_the_loss() {
    let mut tcp = ns3().with(|tcp| tcp.undo = true).open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]);
    tcp.sack(0, [(1, 3)]).expect_sent([11]);
    tcp.sack(0, [(1, 4)]).expect_resent([0]).expect_ssthresh(5);
    let fast = 1;
    // ns-3 sets ssthresh at every timeout.
    tcp.at(1100).expect_phase(Loss).expect_resent([0]).expect_ssthresh_of(2.5);
    // What fills the hole is the fast retransmission: segment 0 itself was lost.
    tcp.at(1110).ack_of_transmission(4, fast).expect_ssthresh_of(2.5);
    tcp.count_sent();
}

/// RFC 6298 rule (2.5), Linux tcp_bound_rto: `rto_max` bounds the timeout itself, not only its back-off.
#[test]
fn the_ceiling_holds_for_the_timeout_itself() {
    let mut tcp = linux().with(|tcp| tcp.rto_max = Span::from_secs(1)).start();
    tcp.expect_syn();
    // The handshake takes 900 ms: SRTT + 4 RTTVAR would be 2.7 s.
    tcp.at(900).syn_ack().expect_sent(0..10);
    let rto = tcp.sender.rtt().rto;
    assert!(rto <= Span::from_secs(1), "{rto}");
}
