//! Our sender and our receiver together: single packets lost, late, doubled or marked, and what it costs.

use crate::path::Path;
use crate::script::{linux, ns3};
use cwndlab_cc::Phase::Open;

#[test]
fn nothing_lost_nothing_sent_again() {
    for opening in [linux(), ns3()] {
        let mut path = Path::of(opening.segments(200));
        path.run(10_000).expect_finished().expect_resent(0).expect_no_timeout();
    }
}

#[test]
fn a_loss_in_the_middle_is_repaired_in_one_round_trip() {
    for opening in [linux(), ns3()] {
        let mut path = Path::of(opening.segments(100)).drop(["20"]);
        path.run(10_000).expect_finished().expect_resent(1).expect_no_timeout();
        let recoveries = path.sender.counters().fast_recoveries;
        path.check(recoveries == 1, "one recovery");
    }
}

#[test]
fn a_lost_tail_is_repaired_by_a_probe_or_by_a_timeout() {
    // RFC 8985 section 7: the probe's SACK shows the loss of 98.
    let mut path = Path::of(linux().segments(100)).drop(["98", "99"]);
    path.run(10_000).expect_finished().expect_no_timeout();
    let probes = path.sender.counters().probes;
    path.check(probes == 1, "one probe");
    // ns-3 has none.
    let mut path = Path::of(ns3().segments(100)).drop(["98", "99"]);
    path.run(10_000).expect_finished();
    let timeouts = path.sender.counters().timeouts;
    path.check(timeouts == 1, "one timeout");
}

#[test]
fn a_lost_retransmission_needs_no_timeout_with_rack() {
    let mut path = Path::of(linux().segments(200)).drop(["20", "20'"]);
    path.run(10_000).expect_finished().expect_resent(2).expect_no_timeout();
    let mut path = Path::of(ns3().segments(200)).drop(["20", "20'"]);
    path.run(10_000).expect_finished();
    let timeouts = path.sender.counters().timeouts;
    path.check(timeouts == 1, "one timeout");
}

#[test]
fn a_late_packet_is_sent_again_and_the_reduction_taken_back() {
    // Segment 20 comes 60 ms late: more than the reordering window of 25 ms.
    let mut path = Path::of(linux().segments(200)).with([("20", [110])]);
    path.run(10_000).expect_finished().expect_no_timeout();
    let counters = path.sender.counters();
    path.check(counters.fast_recoveries == 1 && counters.undos == 1, "one recovery, taken back");
}

#[test]
fn a_slightly_late_packet_is_waited_for() {
    // RFC 8985 section 6.2, step 4: once reordering was seen, three duplicates wait for a quarter of the RTT.
    let mut path = Path::of(linux().segments(200)).with([("8", [51]), ("40", [65])]);
    path.run(10_000).expect_finished().expect_resent(0).expect_no_timeout();
}

#[test]
fn a_doubled_packet_changes_nothing() {
    let mut path = Path::of(linux().segments(200)).with([("20", [50, 51])]);
    path.run(10_000).expect_finished().expect_resent(0).expect_no_timeout();
    let counters = path.sender.counters();
    path.check(counters.fast_recoveries == 0 && path.sender.phase() == Open, "no recovery");
}

#[test]
fn lost_acks_cost_nothing() {
    let mut path = Path::of(linux().segments(200)).drop(["ack 3", "ack 5", "ack 11", "ack 13", "ack 25"]);
    path.run(10_000).expect_finished().expect_resent(0).expect_no_timeout();
}

#[test]
fn a_lost_handshake_is_repeated() {
    for lost in [["SYN", "SYN'"], ["SYN", "SYN-ACK"]] {
        let mut path = Path::of(linux().segments(10)).drop(lost);
        path.run(10_000).expect_finished().expect_resent(0);
    }
}

#[test]
fn a_blackout_is_survived() {
    // RFC 6298 section 5: for two seconds from the first ACK on nothing arrives.
    let mut data = 0;
    let mut path = Path::of(linux().segments(100)).fates(move |name, _| {
        let is_data = !name.contains(char::is_alphabetic);
        data += u32::from(is_data);
        if is_data && (20..36).contains(&data) { vec![] } else { vec![50_000] }
    });
    path.run(60_000).expect_finished();
}

#[test]
fn a_mark_is_echoed_and_answered() {
    let mut path = Path::of(linux().with(|tcp| tcp.ecn = true).segments(300)).mark(["20"]);
    path.run(10_000).expect_finished().expect_resent(0).expect_no_timeout();
    let reductions = path.sender.counters().ecn_reductions;
    path.check(reductions >= 1, "the mark should cost a reduction");
}

#[test]
fn a_short_last_segment_is_delivered_like_any_other() {
    for bytes in [1, 1447, 1448, 1449, 50 * 1448 + 1] {
        let mut path = Path::of(linux().bytes(bytes));
        path.run(10_000).expect_finished().expect_resent(0);
        let segments = path.receiver.next();
        let stream = path.sender.stream().expect("its own");
        assert_eq!((0..segments).map(|seq| stream.payload(seq)).sum::<u64>(), bytes);
        assert_eq!(stream.bytes_below(segments), bytes);
    }
}
