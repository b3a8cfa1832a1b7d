//! Explicit congestion notification (RFC 3168).

use crate::path::Path;
use crate::peer::Peer;
use crate::script::{Opening, linux};
use cwndlab_cc::Phase::{Open, Recovery};

fn ecn() -> Opening {
    linux().with(|tcp| tcp.ecn = true)
}

#[test]
fn echoes_of_one_round_trip_cost_one_reduction() {
    let mut tcp = ecn().open();
    tcp.expect_sent(0..10);
    // RFC 3168 section 6.1.2: as for a loss, and the next new segment carries CWR.
    tcp.at(200).echo_marks(true).ack(2).expect_cwnd(5).expect_ssthresh(5).expect_phase(Recovery);
    tcp.expect_sent_with_cwr(10).count_sent();
    for n in 2..5 {
        tcp.at(200 + n).ack(2 * n as u32);
        tcp.expect_cwnd(5);
        tcp.count_sent();
    }
    // The receiver has seen CWR and echoes no longer.
    tcp.at(300).echo_marks(false).ack(11).expect_phase(Open).expect_ssthresh(5);
    tcp.count_sent();
    let counters = tcp.sender.counters();
    tcp.expect("reductions", counters.ecn_reductions, 1);
    tcp.expect("segments sent again", counters.resent, 0);
}

#[test]
fn only_the_first_new_segment_carries_cwr() {
    let mut tcp = ecn().open();
    tcp.expect_sent(0..10);
    tcp.at(200).echo_marks(true).ack(2).expect_sent_with_cwr(10);
    assert!(!tcp.carries_cwr());
    tcp.count_sent();
    tcp.echo_marks(false);
    for n in 2..6 {
        tcp.at(200 + n).ack(2 * n as u32);
        assert!(!tcp.carries_cwr());
        tcp.count_sent();
    }
}

#[test]
fn a_mark_of_the_next_round_costs_another_reduction() {
    let mut tcp = ecn().with(|tcp| tcp.initial_window = 20).open();
    tcp.expect_sent(0..20);
    tcp.at(200).echo_marks(true).ack(2).expect_cwnd(10);
    tcp.count_sent();
    tcp.echo_marks(false).at(210).ack(20);
    tcp.count_sent();
    tcp.at(300).ack(21).expect_phase(Open);
    tcp.count_sent();
    tcp.at(310).echo_marks(true).ack(22).expect_phase(Recovery);
    tcp.count_sent();
    let reductions = tcp.sender.counters().ecn_reductions;
    tcp.expect("reductions", reductions, 2);
}

#[test]
fn the_receiver_echoes_until_it_sees_cwr() {
    let mut peer = Peer::of(linux().with(|tcp| tcp.delayed_ack = 1));
    // RFC 3168 section 6.1.3.
    peer.at(0).data(0).expect_ack(1).expect_ece(false);
    peer.marked(1).expect_ack(2).expect_ece(true);
    peer.data(2).expect_ack(3).expect_ece(true);
    peer.with_cwr(3).expect_ack(4).expect_ece(false);
    // A segment that says CWR and is marked itself starts a new echo.
    peer.marked_with_cwr(4).expect_ack(5).expect_ece(true);
}

/// RFC 3168 section 6.1.2: the window is reduced once for the marks of one window of data. The ACK of the last
/// segment of that window still echoes (the receiver has not seen CWR yet); Linux leaves CWR only above high_seq.
#[test]
fn one_mark_costs_one_reduction() {
    let mut path = Path::of(linux().with(|tcp| tcp.ecn = true).segments(300)).mark(["20"]);
    path.run(10_000).expect_finished();
    let reductions = path.sender.counters().ecn_reductions;
    path.check(reductions == 1, &format!("one mark should cost one reduction, not {reductions}"));
}

/// RFC 3168 section 6.1.2: CWR goes with the first new data after *any* reduction, also for a loss.
#[test]
fn a_reduction_for_a_loss_announces_itself_too() {
    let mut tcp = linux().with(|tcp| tcp.ecn = true).open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]);
    tcp.sack(0, [(1, 3)]).expect_sent([11]);
    tcp.sack(0, [(1, 4)]).expect_resent([0]).expect_phase(Recovery);
    tcp.at(201).sack(0, [(1, 6)]).expect_sent_with_cwr(12);
    tcp.count_sent();
}

/// The same for an ECN reduction: the two segments that the first ACK acknowledges belong to RecoverFS.
#[test]
fn an_ecn_reduction_sends_one_for_two() {
    let mut tcp = linux().with(|tcp| tcp.ecn = true).open();
    tcp.expect_sent(0..10);
    tcp.at(200).echo_marks(true).ack(2).expect_sent([10]).expect_nothing();
}

/// An ECN reduction is never spurious (Linux tcp_enter_cwr clears undo_marker): a DSACK for an earlier recovery
/// must not take it back.
#[test]
fn a_dsack_of_an_earlier_recovery_does_not_undo_an_ecn_reduction() {
    let mut tcp = linux().with(|tcp| (tcp.ecn, tcp.initial_window) = (true, 20)).open();
    tcp.expect_sent(0..20);
    for end in 2..=20 {
        tcp.at(200).sack(0, [(1, end)]).count_sent();
    }
    tcp.at(300).ack(22).expect_phase(Open).expect_cwnd(10);
    tcp.count_sent();
    tcp.at(310).echo_marks(true).ack(23).expect_cwnd(5).expect_phase(Recovery);
    tcp.count_sent();
    // The original of segment 0 comes at last.
    tcp.at(320).echo_marks(false).dsack(23, 0, []).expect_cwnd(5);
    tcp.count_sent();
}
