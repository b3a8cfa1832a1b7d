//! Loss detection and recovery with SACK.

use crate::script::{Script, linux, ns3};
use cwndlab_cc::Phase::{Disorder, Loss, Open, Recovery};
use cwndlab_sim::tcp::{LossDetection, Recovery as Style};

/// Segment 0 of ten is lost; two more left by limited transmit, and the third duplicate ACK has sent it again.
fn first_segment_lost(mut tcp: Script) -> Script {
    tcp.expect_sent(0..10);
    // RFC 3042: each of the first two duplicate ACKs lets a new segment go.
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]).expect_phase(Disorder);
    tcp.at(201).sack(0, [(1, 3)]).expect_sent([11]).expect_cwnd(10).expect_phase(Disorder);
    // RFC 5681 section 3.2, RFC 6675 section 5: the third proves the loss.
    tcp.at(202).sack(0, [(1, 4)]).expect_resent([0]).expect_nothing().expect_phase(Recovery);
    tcp
}

#[test]
fn the_third_duplicate_ack_sends_the_hole_again() {
    for opening in [linux(), ns3()] {
        // RFC 5681 section 3.1, equation (4): half the window.
        first_segment_lost(opening.open()).expect_cwnd(5).expect_ssthresh(5);
    }
    // RFC 9438 section 4.6: CUBIC keeps 0.7 of it.
    first_segment_lost(linux().cc("cubic").open()).expect_cwnd(7).expect_ssthresh(7);
}

#[test]
fn prr_spreads_the_reduction_and_ends_at_ssthresh() {
    let mut tcp = first_segment_lost(linux().open());
    // RFC 9937 section 6.2: about every second ACK sends a segment, none sends two.
    let mut sent = 1;
    for end in 5..=12 {
        tcp.at(200 + u64::from(end)).sack(0, [(1, end)]);
        let now = tcp.count_sent();
        assert!(now <= 1, "{now} segments left on one ACK");
        sent += now;
        assert!(2 * sent <= (end as usize - 3) + 2, "{sent} left for {} delivered", end - 3);
        tcp.expect_cwnd(5).expect_phase(Recovery);
    }
    // Pipe has come down to ssthresh, and not below it.
    tcp.expect_in_flight(5);
    // RFC 9937 section 6.2, RFC 6675 section 5: all that was outstanding is acknowledged, cwnd is ssthresh.
    tcp.at(300).ack(12).expect_cwnd(5).expect_phase(Open);
    tcp.count_sent();
    tcp.expect_in_flight(5);
}

#[test]
fn a_partial_ack_stays_in_recovery() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    // Segments 0 and 4 are lost.
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([10]);
    tcp.at(201).sack(0, [(1, 3)]).expect_sent([11]);
    tcp.at(202).sack(0, [(1, 4)]).expect_resent([0]);
    for end in 6..=12 {
        tcp.at(200 + u64::from(end)).sack(0, [(5, end), (1, 4)]);
        tcp.count_sent();
    }
    // RFC 6582 section 3.2, step 3: 4 is still missing, so recovery goes on, and nothing is reduced again.
    tcp.at(300).sack(4, [(5, 12)]).expect_phase(Recovery).expect_cwnd(5).expect_ssthresh(5);
    tcp.count_sent();
    tcp.at(310).ack(12).expect_phase(Open).expect_cwnd(5);
    tcp.count_sent();
    let counters = tcp.sender.counters();
    tcp.expect("segments sent again", counters.resent, 2);
    tcp.expect("recoveries", counters.fast_recoveries, 1);
}

#[test]
fn losing_half_the_window_is_repaired_by_slow_start_below_ssthresh() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    // Segments 0 to 6 are lost: pipe is far below ssthresh.
    tcp.at(200).sack(0, [(7, 8)]).expect_sent([10]);
    tcp.sack(0, [(7, 9)]).expect_sent([11]);
    tcp.sack(0, [(7, 10)]).expect_resent([0]).expect_cwnd(5);
    // What left before the retransmission arrives before it: one segment for each delivered.
    tcp.at(300).sack(0, [(7, 11)]).expect_resent([1]);
    tcp.sack(0, [(7, 12)]).expect_resent([2]);
    // RFC 9937 section 6.2: SND.UNA advances and nothing more is lost, so one segment more than was delivered.
    tcp.sack(1, [(7, 12)]).expect_resent([3, 4]);
}

/// RFC 8985 section 6.2, step 5: whatever left before a delivered segment is judged, also what nothing new was sent after.
#[test]
fn a_retransmission_that_arrives_shows_that_the_last_segment_is_lost() {
    let mut tcp = linux().segments(10).open();
    tcp.expect_sent(0..10);
    // Segments 7 and 9 are lost; RACK waits a quarter of the RTT for 7, and nothing was delivered that left after 9.
    tcp.at(200).ack(7).expect_phase(Open);
    tcp.sack(7, [(8, 9)]).expect_phase(Disorder);
    tcp.at(224).expect_nothing();
    tcp.at(225).expect_resent([7]).expect_phase(Recovery);
    tcp.at(325).ack(9).expect_resent([9]).expect_phase(Recovery);
    tcp.at(425).ack(10).expect_phase(Open);
    let timeouts = tcp.sender.counters().timeouts;
    tcp.expect("timeouts", timeouts, 0);
}

#[test]
fn rack_sees_that_a_retransmission_is_lost() {
    let mut tcp = first_segment_lost(linux().open());
    tcp.at(210).sack(0, [(1, 10)]);
    assert!(tcp.count_sent() > 0, "something new leaves after the retransmission");
    // RFC 8985 section 6.2, step 5: 12 was sent after the retransmission of 0, and was delivered.
    tcp.at(300).sack(0, [(1, 12)]);
    tcp.count_sent();
    tcp.at(310).sack(0, [(1, 13)]).expect_resent([0]).expect_phase(Recovery);
    tcp.count_sent();
    // It is the same recovery: no second reduction.
    tcp.expect_cwnd(5).expect_ssthresh(5);
    let timeouts = tcp.sender.counters().timeouts;
    tcp.expect("timeouts", timeouts, 0);
}

#[test]
fn without_rack_only_a_timeout_sees_that_a_retransmission_is_lost() {
    let mut tcp = first_segment_lost(ns3().open());
    for (at, end) in [(210, 10), (300, 12), (310, 13), (320, 14), (330, 15)] {
        tcp.at(at).sack(0, [(1, end)]);
        tcp.count_sent();
    }
    let resent = tcp.sender.counters().resent;
    tcp.expect("segments sent again", resent, 1);
    // RFC 6675 section 5.1: the timer that has run since the window left, one second ago.
    tcp.at(1099).expect_nothing().expect_phase(Recovery);
    tcp.at(1100).expect_resent([0]).expect_phase(Loss).expect_cwnd(1);
    // ns-3 sets ssthresh at every timeout: half of the five segments that recovery had left.
    tcp.expect_ssthresh_of(2.5);
}

/// RFC 9937 section 6.1: RecoverFS leaves out what was SACKed before, but keeps what the ACK that starts recovery
/// delivers. One loss of 20 (the RFC's first example): after R every *second* ACK sends, until pipe is at
/// ssthresh.
#[test]
fn recover_fs_keeps_what_the_first_ack_delivers() {
    let mut tcp = linux().with(|tcp| tcp.initial_window = 20).open();
    tcp.expect_sent(0..20);
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([20]);
    tcp.sack(0, [(1, 3)]).expect_sent([21]);
    tcp.sack(0, [(1, 4)]).expect_resent([0]);
    let mut sent = String::from("R");
    for end in 5..=20 {
        tcp.sack(0, [(1, end)]);
        sent.push_str(if tcp.count_sent() == 0 { "." } else { "N" });
    }
    tcp.expect("what each ACK sends", sent.as_str(), "R.N.N.N.N.N.N.N..");
}

/// RFC 5681 section 3.2 step 3, RFC 6675 section 5 step 4.3: the fast retransmit leaves at once, although pipe is
/// above the reduced window.
#[test]
fn the_fast_retransmit_does_not_wait_for_the_window() {
    for style in [Style::Window, Style::Reno] {
        for sack in [true, false] {
            let mut tcp = linux()
                .with(|tcp| {
                    (tcp.recovery, tcp.sack, tcp.loss_detection) = (style, sack, LossDetection::Sack);
                })
                .open();
            tcp.expect_sent(0..10);
            let blocks = [(1, 2), (1, 3), (1, 4)].map(|block| if sack { block } else { (0, 0) });
            tcp.at(200).sack(0, [blocks[0]]).expect_sent([10]);
            tcp.sack(0, [blocks[1]]).expect_sent([11]);
            tcp.sack(0, [blocks[2]]).expect_resent([0]).expect_nothing();
        }
    }
}

/// RFC 8985 section 6.2 (RACK_sent_after): of two packets sent at the same time the one with the higher sequence
/// number counts as sent later, also against a retransmission.
#[test]
fn a_retransmission_and_new_data_of_one_burst_are_in_order() {
    let mut tcp = linux().open();
    tcp.expect_sent(0..10);
    // One ACK sends the hole and new data at once; the new data arrive, the hole stays.
    tcp.at(200).sack(0, [(1, 4)]).expect_resent([0]).expect_sent([10]);
    tcp.at(300).sack(0, [(1, 10)]).count_sent();
    tcp.at(301).sack(0, [(1, 11)]).expect_resent([0]);
    tcp.count_sent();
}

/// Linux's tcp_init_undo counts retrans_out, and retrans_stamp stands as long as a retransmission is out: what was sent
/// again in an earlier recovery may still be under way when the next one begins, and its answer is older than all that
/// the new one sends again.
#[test]
fn the_answer_to_an_earlier_recovery_does_not_take_the_next_one_back() {
    let mut tcp = linux().with(|tcp| tcp.initial_window = 20).open();
    tcp.expect_sent(0..20);
    // Segment 0 is lost. The recovery's end is 22.
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([20]);
    tcp.sack(0, [(1, 3)]).expect_sent([21]);
    tcp.sack(0, [(1, 4)]).expect_resent([0]).expect_phase(Recovery);
    for end in 5..=20 {
        tcp.at(200 + u64::from(end)).sack(0, [(1, end)]);
        tcp.count_sent();
    }
    // 22 is lost, which left within the recovery. It is sent again there, and so is 0, which comes late.
    tcp.at(310).sack(0, [(23, 25), (1, 22)]).expect_resent([0, 22]);
    tcp.count_sent();
    // The first recovery is over, and another begins at once for 22, whose retransmission is still under way.
    tcp.at(311).ack_of_transmission(22, 1).expect_phase(Recovery).expect_ssthresh(5);
    tcp.count_sent();
    let counters = tcp.sender.counters();
    tcp.expect("recoveries", counters.fast_recoveries, 2);
    // 25 is lost and sent again; the answer to 22 then carries a timestamp from before that (RFC 3522 section 3.2).
    tcp.at(320).sack(22, [(26, 29), (23, 25)]).expect_resent([25]);
    tcp.count_sent();
    tcp.at(410).sack(25, [(26, 29)]).expect_ssthresh(5).expect_phase(Recovery);
    tcp.count_sent();
}

/// RFC 5681 section 2: what an ACK acknowledges is not outstanding any more when the same ACK begins a recovery.
#[test]
fn half_of_flight_size_is_without_what_the_ack_acknowledges() {
    let mut tcp = linux().cc("newreno").with(|tcp| tcp.initial_window = 20).open();
    tcp.expect_sent(0..20);
    // Segment 0 is lost. The recovery's end is 22; limited transmit does not count.
    tcp.at(200).sack(0, [(1, 2)]).expect_sent([20]);
    tcp.sack(0, [(1, 3)]).expect_sent([21]);
    tcp.sack(0, [(1, 4)]).expect_resent([0]).expect_ssthresh(10);
    let mut end = 22;
    for edge in 5..=20 {
        tcp.at(200 + u64::from(edge)).sack(0, [(1, edge)]);
        end += tcp.count_sent();
    }
    // 22 is lost, too, and the ACK that ends the first recovery begins the next one.
    tcp.at(310).sack(0, [(23, 25), (1, 22)]).expect_resent([0, 22]);
    end += tcp.count_sent();
    tcp.at(311).ack(22).expect_phase(Recovery).expect_ssthresh_of((end - 22) as f64 / 2.0);
    tcp.count_sent();
}

#[test]
fn flight_size_has_what_replaces_acknowledged_data_in_disorder() {
    let mut tcp = ns3().cc("newreno").with(|tcp| tcp.initial_window = 20).open();
    tcp.expect_sent(0..20);
    let mut end = 20;
    // Every third segment comes late: Disorder lasts, and all that is in flight at its end left in it.
    for una in (0..=36).step_by(3) {
        tcp.at(200 + u64::from(una)).sack(una, [(una + 1, una + 3)]).expect_phase(Disorder);
        end += tcp.count_sent();
    }
    // Segment 36 is lost. Three are SACKed, so limited transmit counts for three at most.
    let flight_size = end - 36 - 3;
    tcp.at(240).sack(36, [(37, 40)]).expect_phase(Recovery).expect_ssthresh_of((flight_size / 2) as f64);
    tcp.count_sent();
}
