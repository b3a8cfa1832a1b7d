//! What limits sending besides the network: the receiver, the application, the end of the data.

use crate::script::linux;
use cwndlab_cc::Phase::Open;
use cwndlab_cc::Time;

#[test]
fn the_receive_window_limits_sending_and_the_window_does_not_grow() {
    let mut tcp = linux().room_below(4).open();
    // RFC 9293 section 3.8.6.
    tcp.expect_sent(0..4).expect_in_flight(4);
    // RFC 7661 section 4.4: a window that was not used says nothing about the path.
    tcp.at(200).room_below(6).ack(2).expect_sent([4, 5]).expect_cwnd(10);
    tcp.at(201).room_below(8).ack(4).expect_sent([6, 7]).expect_cwnd(10);
    // Room alone lets data go, too.
    tcp.at(202).room_below(9).ack(4).expect_sent([8]).expect_cwnd(10);
}

#[test]
fn a_receiver_does_not_take_room_back() {
    let mut tcp = linux().room_below(20).open();
    tcp.expect_sent(0..10);
    // What was offered once stays offered (RFC 9293 section 3.8.6: the right edge does not move left).
    tcp.at(200).room_below(11).ack(2).expect_sent(10..14);
}

#[test]
fn a_window_without_data_to_fill_it_does_not_grow() {
    let mut tcp = linux().segments(5).open();
    tcp.expect_sent(0..5);
    // RFC 7661 section 4.4.
    tcp.at(200).ack(2).expect_cwnd(10).ack(4).expect_cwnd(10);
    // A transport without window validation grows it all the same.
    let mut tcp = linux().with(|tcp| tcp.window_validation = false).segments(5).open();
    tcp.expect_sent(0..5);
    tcp.at(200).ack(2).expect_cwnd(12);
}

#[test]
fn a_silence_longer_than_the_rto_restarts_at_the_initial_window() {
    let restarted = |silence: u64, validation: bool| {
        let mut tcp = linux().with(|tcp| tcp.window_validation = validation).room_below(30).open();
        tcp.expect_sent(0..10);
        tcp.at(200).ack(10).expect_sent(10..30).expect_cwnd(20);
        tcp.at(300).ack(30).expect_phase(Open).expect_in_flight(0);
        let before = tcp.sender.control().cwnd / 1448;
        // The receiver has room again.
        tcp.at(200 + silence).room_below(1000).ack(30);
        (before, tcp.sender.control().cwnd / 1448, tcp.count_sent() as u64)
    };
    // RFC 2861 section 3: the window halves for each RTO (300 ms) of silence, down to the initial window.
    let (before, after, sent) = restarted(1400, true);
    assert!(before >= 20, "{before}");
    assert_eq!((after, sent), (10, 10));
    let (before, after, sent) = restarted(320, true);
    assert_eq!((after, sent), (before / 2, before / 2));
    // Shorter: it stands.
    let (before, after, sent) = restarted(200, true);
    assert_eq!((after, sent), (before, before));
    let (before, after, sent) = restarted(1400, false);
    assert_eq!((after, sent), (before, before));
}

#[test]
fn a_sized_flow_sends_exactly_its_bytes() {
    let mut tcp = linux().bytes(2 * 1448 + 100).open();
    tcp.expect_payload(0, 1448).expect_payload(1, 1448).expect_payload(2, 100).expect_nothing();
    tcp.at(200).ack(2);
    assert!(!tcp.sender.is_finished());
    tcp.at(240).ack(3).expect_in_flight(0);
    assert!(tcp.sender.is_finished());
    // No clock runs any more.
    let next = tcp.sender.next_timer();
    tcp.expect("the next clock", next, Time::NEVER);
}

#[test]
fn a_flow_of_one_byte_is_one_segment() {
    linux().bytes(1).open().expect_payload(0, 1);
    linux().bytes(1448).open().expect_payload(0, 1448);
    linux().bytes(1449).open().expect_payload(0, 1448).expect_payload(1, 1);
}
