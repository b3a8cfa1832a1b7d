//! When a receiver acknowledges, and what its ACKs say.

use crate::peer::Peer;
use crate::script::{Opening, linux, linux_with_ticks, ns3};

/// A host that compresses SACKs from the start.
fn unhurried() -> Opening {
    linux().with(|tcp| tcp.quick_ack = false)
}

/// A receiver that has the first segment, and neither hurries nor compresses.
fn plain() -> Peer {
    let mut peer = Peer::of(linux().with(|tcp| {
        (tcp.quick_ack, tcp.sack_compression) = (false, cwndlab_cc::Span::ZERO);
    }));
    peer.at(100).data(0).expect_ack(1);
    peer
}

#[test]
fn two_segments_share_an_ack_and_a_lone_one_waits() {
    // RFC 5681 section 4.2: every second full-sized segment, and at most 500 ms later. Linux waits for a tick.
    for (opening, timeout) in [(linux_with_ticks(), 41), (ns3(), 200)] {
        let mut peer = Peer::of(opening.with(|tcp| tcp.quick_ack = false));
        peer.at(100).data(0).expect_ack(1);
        peer.at(101).data(1).expect_nothing();
        peer.at(102).data(2).expect_ack(3).expect_delayed(false);
        peer.at(110).data(3).expect_nothing();
        peer.at(109 + timeout).expect_nothing();
        peer.at(110 + timeout).expect_ack(4).expect_delayed(true);
        peer.at(5000).expect_nothing();
    }
}

#[test]
fn a_gap_and_what_fills_it_are_acknowledged_at_once() {
    let mut peer = plain();
    // RFC 5681 section 4.2: out-of-order segments at once, and what fills all or part of a gap.
    peer.data(2).expect_sack(1, [(2, 3)]);
    peer.data(4).expect_sack(1, [(4, 5), (2, 3)]);
    peer.data(1).expect_sack(3, [(4, 5)]);
    peer.data(3).expect_ack(5);
    // In order again: every second.
    peer.data(5).expect_nothing().data(6).expect_ack(7);
}

#[test]
fn a_gap_releases_an_ack_that_was_held_back() {
    let mut peer = plain();
    peer.data(1).expect_nothing();
    peer.data(3).expect_sack(2, [(3, 4)]);
    peer.at(1000).expect_nothing();
}

#[test]
fn the_newest_block_comes_first_and_the_others_follow_by_age() {
    let mut peer = plain();
    // RFC 2018 section 4.
    peer.data(2).expect_sack(1, [(2, 3)]);
    peer.data(4).expect_sack(1, [(4, 5), (2, 3)]);
    peer.data(6).expect_sack(1, [(6, 7), (4, 5), (2, 3)]);
    peer.data(8).expect_sack(1, [(8, 9), (6, 7), (4, 5)]);
    // An old block that grows comes to the front.
    peer.data(5).expect_sack(1, [(4, 7), (8, 9)]);
}

#[test]
fn a_duplicate_comes_first() {
    let mut peer = plain();
    peer.data(3).expect_sack(1, [(3, 4)]).expect_dsack(false);
    // RFC 2883 section 4: below the cumulative ACK.
    peer.data(0).expect_sack(1, [(0, 1), (3, 4)]).expect_dsack(true);
    // Above it, the block that holds the duplicate follows; and a duplicate is reported once.
    peer.data(5).expect_sack(1, [(5, 6), (3, 4)]).expect_dsack(false);
    peer.data(3).expect_sack(1, [(3, 4), (3, 4), (5, 6)]).expect_dsack(true);
    peer.data(4).expect_sack(1, [(3, 6)]).expect_dsack(false);
}

#[test]
fn without_sack_a_duplicate_ack_says_no_more() {
    let mut peer = Peer::of(linux().with(|tcp| tcp.sack = false));
    peer.at(100).data(0).expect_ack(1);
    peer.data(2).expect_ack(1).expect_dsack(false);
    peer.data(0).expect_ack(1).expect_dsack(false);
}

/// Linux __tcp_ack_snd_check: the first ACKs are not delayed, and SACKs are not compressed as long as that lasts.
#[test]
fn as_long_as_acks_are_quick_no_sack_waits() {
    let mut peer = Peer::of(linux());
    peer.at(100).data(0).expect_ack(1);
    // The window has room to grow four times more beside what waits, and then come 16, and the three duplicates.
    for seq in 2..2 + 4 + 16 + 3 {
        peer.data(seq).expect_sack(1, [(2, seq + 1)]);
    }
    peer.data(25).expect_nothing();
}

#[test]
fn after_three_duplicates_one_sack_a_millisecond() {
    let mut peer = Peer::of(unhurried());
    peer.at(100).data(0).expect_ack(1);
    // Linux tcp_sack_compress_send_ack: the sender learns of the loss without delay.
    for seq in 2..5 {
        peer.at(100).data(seq).expect_sack(1, [(2, seq + 1)]);
    }
    for round in 0..3 {
        let first = 5 + 10 * round;
        let at = 101 + 3 * u64::from(round);
        peer.at(at);
        for seq in first..first + 10 {
            peer.data(seq).expect_nothing();
        }
        // The slack of the timer adds a tenth of a millisecond.
        peer.at(at + 1).at(at + 2).expect_sack(1, [(2, first + 10)]);
    }
    // What fills the gap does not wait.
    peer.data(1).expect_ack(35);
}

#[test]
fn compression_leaves_no_block_unreported() {
    let mut peer = Peer::of(unhurried());
    peer.at(100).data(0).expect_ack(1);
    for seq in [2, 3, 4] {
        peer.data(seq).count_acks();
    }
    // Linux tcp_sack_new_ofo_skb: one that waits reports two. Before the third, it leaves.
    peer.data(10).expect_nothing();
    peer.data(20).expect_sack(1, [(10, 11), (2, 5)]);
    peer.data(30).expect_nothing().data(31).expect_nothing();
    peer.at(101).at(102).expect_sack(1, [(30, 32), (20, 21), (10, 11)]);
}

#[test]
fn a_new_hole_sends_three_at_once_again() {
    let mut peer = Peer::of(unhurried());
    peer.at(100).data(0).expect_ack(1);
    for seq in [2, 3, 4] {
        peer.data(seq).count_acks();
    }
    peer.data(5).expect_nothing().at(102).expect_sack(1, [(2, 6)]);
    peer.data(1).expect_ack(6);
    for seq in [7, 8, 9] {
        peer.data(seq).expect_sack(6, [(7, seq + 1)]);
    }
    peer.data(10).expect_nothing().at(104).expect_sack(6, [(7, 11)]);
}

#[test]
fn every_segment_is_acknowledged_while_the_window_grows() {
    let acks = |quick_ack| {
        let mut peer = Peer::of(linux().with(|tcp| tcp.quick_ack = quick_ack));
        let mut seq = 0;
        let mut acks = Vec::new();
        // Three round trips of 30 segments: more than the initial window, so the receiver makes room.
        for round in 1..=3 {
            peer.at(100 * round);
            let mut answered = 0;
            for _ in 0..30 {
                peer.data(seq);
                answered += peer.count_acks();
                seq += 1;
            }
            acks.push(answered);
            peer.at(100 * round + 50).count_acks();
        }
        acks
    };
    let (quick, delayed) = (acks(true), acks(false));
    // Linux tcp_incr_quickack, tcp_grow_window: in the first round 16 and seven while the window grows, first to 65,536
    // bytes, then two segments at a time to the 81,920 that the first segment leaves room for; then every second of 7.
    assert_eq!((quick[0], delayed[0]), (23 + 3, 15));
    assert!(quick[1] + quick[2] > 40, "{quick:?}");
    assert_eq!(delayed[1..], [15, 15]);
}

#[test]
fn the_sixteen_acks_after_a_silence_or_a_duplicate_are_not_delayed() {
    // Linux tcp_event_data_recv, tcp_data_queue.
    // The window does not grow, so that nothing else makes the receiver hurry.
    let mut peer = Peer::of(linux().with(|tcp| (tcp.window_tuning, tcp.receive_buffer) = (false, 60_000)));
    peer.at(100);
    let mut seq = 0;
    let mut acks_of_ten =
        |peer: &mut Peer| (0..10).map(|_| (peer.data(seq).count_acks(), seq += 1).0).sum::<usize>();
    assert_eq!((acks_of_ten(&mut peer), acks_of_ten(&mut peer), acks_of_ten(&mut peer)), (10, 8, 5));
    peer.data(0).count_acks();
    assert_eq!((acks_of_ten(&mut peer), acks_of_ten(&mut peer)), (10, 7));
    peer.at(2000).count_acks();
    assert_eq!((acks_of_ten(&mut peer), acks_of_ten(&mut peer)), (10, 8));
}

/// A buffer of Linux for 44 segments of payload.
fn small_buffer() -> Opening {
    linux().with(|tcp| (tcp.window_tuning, tcp.receive_buffer) = (false, 64_000))
}

/// Linux tcp_select_window: the edge stands still while segments wait; those behind a filled hole take room until the
/// application has read them, which is after the ACK.
#[test]
fn what_a_filled_hole_brings_takes_room_until_it_is_read() {
    let mut peer = Peer::of(small_buffer().with(|tcp| tcp.delayed_ack = 1));
    peer.at(100).data(0).expect_ack(1).expect_edge(45);
    for seq in 2..15 {
        peer.data(seq).expect_sack(1, [(2, seq + 1)]).expect_edge(45);
    }
    // 14 segments take as much as 9 in the window.
    peer.data(1).expect_ack(15).expect_edge(50);
    peer.data(15).expect_ack(16).expect_edge(60);
}

/// Linux __tcp_select_window: ACKs are no longer quick once more than half of the buffer is taken.
#[test]
fn a_receiver_short_of_room_does_not_hurry() {
    for (waiting, quick) in [(20, 1), (36, 0)] {
        let mut peer = Peer::of(small_buffer());
        peer.at(100).data(0).expect_ack(1);
        for seq in 2..2 + waiting {
            peer.data(seq).count_acks();
        }
        peer.at(150).count_acks();
        // A duplicate would make the next 16 quick.
        peer.data(0).count_acks();
        assert_eq!(peer.data(2 + waiting).count_acks(), quick, "{waiting} segments wait");
    }
}

/// RFC 7323 section 5.3, Linux tcp_paws_discard: with timestamps, a segment is refused that left more than 1 ms before one which
/// has filled a hole.
#[test]
fn what_left_before_a_retransmission_below_it_is_refused() {
    for (sent_at, on, refused) in [(118, true, true), (119, true, false), (118, false, false)] {
        let mut peer = Peer::of(linux().with(|tcp| (tcp.quick_ack, tcp.paws) = (false, on)));
        peer.at(100).data(0).expect_ack(1);
        peer.at(165).data_of(115, 2).expect_sack(1, [(2, 3)]);
        peer.at(170).data_of(120, 1).expect_ack(3);
        peer.at(171).data_of(sent_at, 4);
        if !refused {
            peer.expect_sack(3, [(4, 5)]);
            continue;
        }
        peer.expect_ack(3);
        // Linux tcp_send_dupack: a duplicate is reported.
        peer.data_of(50, 0).expect_sack(3, [(0, 1)]).expect_dsack(true);
        // What left later is welcome.
        peer.data_of(121, 4).expect_sack(3, [(4, 5)]);
    }
}

/// Linux tcp_sequence: what lies below the last ACK is dropped before its timestamp is kept.
#[test]
fn a_segment_below_the_last_ack_leaves_the_timestamp_to_echo() {
    let mut peer = plain();
    peer.at(101).data(1).expect_nothing();
    peer.at(102).data(2).expect_ack(3);
    peer.at(200).data_of(150, 0).expect_sack(3, [(0, 1)]).expect_dsack(true);
    // Had that timestamp been kept, this one would be refused.
    peer.at(201).data_of(60, 4).expect_sack(3, [(4, 5)]);
}
