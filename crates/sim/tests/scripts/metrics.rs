//! What Linux keeps of a connection for the next one (`tcp_update_metrics`).

use crate::script::{Script, linux};
use cwndlab_cc::Phase::{Loss, Recovery};

/// What would be saved now; what was sent is of no interest.
fn saved(tcp: &mut Script) -> Option<u64> {
    tcp.count_sent();
    tcp.sender.saved_ssthresh()
}

#[test]
fn nothing_is_saved_in_the_first_slow_start() {
    let mut tcp = linux().cc("reno").open();
    assert_eq!(saved(&mut tcp), None);
    tcp.at(200).ack(2).expect_cwnd(12);
    assert_eq!(saved(&mut tcp), None);
}

#[test]
fn in_congestion_avoidance_ssthresh_is_saved_or_half_of_a_larger_window() {
    let mut tcp = linux().cc("reno").with(|tcp| tcp.initial_ssthresh = 8).open();
    assert_eq!(saved(&mut tcp), Some(8));
    let mut tcp = linux().cc("reno").with(|tcp| tcp.initial_ssthresh = 3).open();
    assert_eq!(saved(&mut tcp), Some(5));
}

#[test]
fn recovery_is_over_before_a_connection_ends() {
    let mut tcp = linux().cc("reno").open();
    tcp.count_sent();
    for end in 2..=5 {
        tcp.at(200).sack(0, [(1, end)]).count_sent();
    }
    tcp.expect_phase(Recovery).expect_ssthresh(5);
    assert_eq!(saved(&mut tcp), Some(5));
}

#[test]
fn after_a_timeout_nothing_is_saved_before_ssthresh_is_reached_again() {
    let mut tcp = linux().cc("reno").with(|tcp| tcp.tail_loss_probe = false).open();
    tcp.expect_sent(0..10).at(400).expect_resent([0]).expect_phase(Loss).expect_ssthresh(5);
    assert_eq!(saved(&mut tcp), None);
    tcp.at(500).ack(1).expect_cwnd(2);
    assert_eq!(saved(&mut tcp), None);
    tcp.at(600).ack(3).expect_cwnd(4);
    assert_eq!(saved(&mut tcp), None);
    tcp.at(700).ack(5).expect_cwnd(5);
    assert_eq!(saved(&mut tcp), Some(5));
}

#[test]
fn bbr_has_no_ssthresh_to_save() {
    assert_eq!(saved(&mut linux().cc("bbr1").open()), None);
}
