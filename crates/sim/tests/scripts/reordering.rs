//! Packets that come late are not lost (RFC 8985 section 6).

use crate::script::{Script, linux, linux_with_ticks};
use cwndlab_cc::Phase::{Disorder, Open, Recovery};

/// Segment 0 is overtaken by 1 and comes 20 ms late.
fn reordered() -> Script {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]).expect_phase(Disorder);
    // RFC 8985 section 6.2, step 4: a quarter of the minimum RTT is waited.
    tcp.at(220).expect_nothing().ack_of_original(2, []).expect_phase(Open);
    tcp
}

#[test]
fn reordering_within_the_window_sends_nothing_again() {
    let mut tcp = reordered();
    tcp.expect_no_ssthresh();
    tcp.count_sent();
    let resent = tcp.sender.counters().resent;
    tcp.expect("segments sent again", resent, 0);
}

#[test]
fn the_window_passes_and_the_timer_sends_again() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]);
    // RFC 8985 section 6.3: 25 ms after the round trip that a later segment took.
    tcp.at(224).expect_nothing().expect_phase(Disorder);
    tcp.at(225).expect_resent([0]).expect_phase(Recovery).expect_cwnd(5);
}

/// Linux tcp_rack_mark_lost: 2 ms more, in whole ticks from the next one on.
#[test]
fn linuxs_timer_comes_three_milliseconds_later() {
    let mut tcp = linux_with_ticks().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]);
    tcp.at(227).expect_nothing().expect_phase(Disorder);
    tcp.at(228).expect_resent([0]).expect_phase(Recovery);
}

/// RFC 8985 section 6.2, step 5: the longest wait.
#[test]
fn the_timer_waits_for_the_last_that_may_be_late() {
    let mut tcp = reordered();
    tcp.count_sent();
    tcp.at(221).ack(10).count_sent();
    // 10 left at 200 ms, 11 at 220 ms, and 12 took 101 ms.
    tcp.at(321).sack(10, [(12, 13)]).expect_phase(Disorder).count_sent();
    tcp.at(345).expect_nothing().expect_phase(Disorder);
    tcp.at(346).expect_resent([10]).expect_phase(Recovery);
}

#[test]
fn once_reordering_was_seen_three_duplicates_wait_too() {
    let mut tcp = reordered();
    tcp.count_sent();
    // RFC 8985 section 6.2, step 4: 2 left at 100 ms, 5 took 121 ms, and 25 ms are waited.
    tcp.at(221).sack(2, [(3, 6)]).expect_phase(Disorder);
    tcp.count_sent();
    tcp.at(245).expect_nothing().expect_phase(Disorder);
    tcp.at(246).expect_resent([2]).expect_phase(Recovery);
}

/// Linux tcp_may_raise_cwnd: slow start grows by a SACK once a segment was overtaken by more than three.
#[test]
fn after_reordering_by_more_than_three_windows_grow_out_of_order() {
    let growth = |overtaken_by: u32| {
        let mut tcp = linux().open();
        tcp.expect_sent(0..10);
        tcp.at(200).sack(0, [(overtaken_by - 1, overtaken_by)]);
        tcp.count_sent();
        tcp.at(220).ack_of_original(overtaken_by, []).expect_phase(Open);
        tcp.count_sent();
        let before = tcp.sender.control().cwnd;
        tcp.at(221).sack(overtaken_by, [(overtaken_by + 1, overtaken_by + 2)]).expect_phase(Disorder);
        tcp.count_sent();
        (tcp.sender.control().cwnd - before) / 1448
    };
    assert_eq!([2, 3, 4, 6].map(growth), [0, 0, 1, 1]);
}

#[test]
fn a_dsack_after_reordering_widens_the_window() {
    let mut tcp = reordered();
    tcp.count_sent();
    tcp.at(221).dsack(2, 0, []);
    tcp.count_sent();
    // RFC 8985 section 6.2, step 4: two quarters of the minimum RTT now. 2 left at 100 ms, 3 took 122 ms.
    tcp.at(222).sack(2, [(3, 4)]).expect_phase(Disorder);
    tcp.count_sent();
    tcp.at(271).expect_nothing().expect_phase(Disorder);
    tcp.at(272).expect_resent([2]).expect_phase(Recovery);
}

/// RFC 8985 section 6.2, step 4: a DSACK alone is no reordering, so three duplicates still act at once.
#[test]
fn after_a_dsack_three_duplicates_act_at_once() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).dsack(2, 0, []);
    tcp.count_sent();
    tcp.at(201).sack(2, [(3, 6)]).expect_phase(Recovery).expect_resent([2]);
    tcp.count_sent();
}

#[test]
fn reordering_beyond_the_window_is_taken_back() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]);
    tcp.sack(0, [(1, 3)]).expect_sent([11]);
    tcp.sack(0, [(1, 4)]).expect_resent([0]).expect_cwnd(5).expect_ssthresh(5);
    // RFC 3522 section 3.2: the late original fills the hole. (Slow start then adds the one segment delivered.)
    tcp.at(230).ack_of_original(4, []).expect_phase(Open).expect_no_ssthresh().expect_cwnd(11);
    tcp.count_sent();
}

/// Linux tcp_try_undo_partial: the late original was overtaken, although nothing is SACKed any more.
#[test]
fn once_a_reduction_was_taken_back_three_duplicates_wait() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 4)]).count_sent();
    tcp.at(230).ack_of_original(4, []).expect_phase(Open).count_sent();
    tcp.at(231).sack(4, [(5, 8)]).expect_phase(Disorder).count_sent();
}

#[test]
fn a_dsack_takes_back_what_timestamps_do_not_tell() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 4)]);
    tcp.count_sent();
    tcp.expect_cwnd(5).at(230).sack(4, []);
    tcp.count_sent();
    // RFC 3708 section 2: the one retransmission was superfluous.
    tcp.at(300).dsack(4, 0, []).expect_no_ssthresh().expect_phase(Open);
    tcp.count_sent();
    let cwnd = tcp.sender.control().cwnd;
    assert!(cwnd >= 10 * 1448, "{cwnd}");
}

/// RFC 3708 section 2: a DSACK for a segment that was never sent again is the network's doing, and explains no
/// retransmission.
#[test]
fn a_dsack_of_what_was_sent_once_undoes_nothing() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    tcp.at(200).sack(0, [(1, 4)]).count_sent();
    tcp.expect_ssthresh(5);
    // Segment 2 was doubled by the network; 0 is lost for good.
    tcp.at(210).dsack(0, 2, [(1, 4)]).expect_ssthresh(5).expect_phase(Recovery);
    tcp.count_sent();
}
