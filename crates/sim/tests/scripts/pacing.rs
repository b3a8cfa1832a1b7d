//! A controller that paces: packets leave at its rate, and with segmentation offload a quantum at once.

use crate::script::{Opening, Script, linux};
use cwndlab_cc::algorithm::Build;
use cwndlab_cc::{Ack, CongestionControl, Context, Control, Decision, Event, Rate, Setup};
use std::sync::Arc;

/// One packet each ten milliseconds.
struct Paced {
    mss: u64,
    window: u64,
    quantum: u64,
}

impl CongestionControl for Paced {
    fn control(&self) -> Control {
        let rate = Rate::from_bits_per_sec(self.mss * 8 * 100);
        let quantum = self.quantum * self.mss;
        Control { pacing_rate: Some(rate), send_quantum: quantum, ..Control::window(self.window * self.mss) }
    }

    fn on_event(&mut self, _cx: &mut Context, _event: Event) {}

    fn on_ack(&mut self, _cx: &mut Context, _ack: &Ack) -> Decision {
        Decision::NotDue
    }
}

fn opening(window: u64, quantum: u64) -> Opening {
    let build: Build =
        Arc::new(move |setup: &Setup, _: &[_]| Box::new(Paced { mss: setup.mss, window, quantum }));
    linux().controller(build)
}

fn paced(window: u64, quantum: u64) -> Script {
    opening(window, quantum).open()
}

/// Linux `tcp_update_skb_after_send`: a segment leaves each ten milliseconds, whatever the quantum. The first one comes
/// late, so that the second one follows after half of that.
#[test]
fn packets_leave_one_by_one_at_the_rate() {
    for quantum in [1, 4] {
        let mut tcp = paced(100, quantum);
        tcp.expect_sent([0]);
        for n in 1..10 {
            tcp.at(94 + 10 * n).expect_nothing();
            tcp.at(95 + 10 * n).expect_sent([n as u32]);
        }
    }
}

/// The window holds segment 2 back for 4 ms and segment 3 for 35: the next gap is shorter by 4 ms, and by half a gap.
#[test]
fn a_late_packet_brings_the_next_one_forward_by_half_a_gap_at_most() {
    let mut tcp = paced(2, 1);
    tcp.expect_sent([0]).at(105).expect_sent([1]);
    tcp.at(119).ack(1).expect_sent([2]).at(123).ack(2).expect_nothing();
    tcp.at(125).expect_sent([3]).at(170).ack(4).expect_sent([4]);
    tcp.at(174).expect_nothing().at(175).expect_sent([5]);
}

#[test]
fn with_segmentation_offload_a_quantum_leaves_at_once_and_the_rate_holds_after_it() {
    let mut tcp = opening(100, 4).with(|options| options.segmentation_offload = true).open();
    tcp.expect_sent(0..4).expect_nothing();
    for n in 1..5 {
        tcp.at(94 + 40 * n).expect_nothing();
        tcp.at(95 + 40 * n).expect_sent(4 * n as u32..4 * n as u32 + 4);
    }
}

#[test]
fn an_ack_does_not_hurry_a_paced_sender_and_the_window_still_limits() {
    let mut tcp = paced(3, 1);
    tcp.expect_sent([0]).at(105).expect_sent([1]).at(115).expect_sent([2]);
    tcp.at(199).expect_nothing();
    tcp.at(200).ack(2).expect_sent([3]).at(202).ack(3).expect_nothing();
    tcp.at(204).expect_nothing().at(205).expect_sent([4]);
    tcp.at(215).expect_sent([5]).at(230).expect_nothing();
}

#[test]
fn what_is_sent_again_is_paced_too() {
    let mut tcp = paced(10, 1);
    tcp.expect_sent([0]);
    for n in 1..8 {
        tcp.at(95 + 10 * n).expect_sent([n as u32]);
    }
    // Segments 0 and 1 are lost.
    tcp.at(170).sack(0, [(2, 5)]).expect_nothing();
    tcp.at(174).expect_nothing();
    tcp.at(175).expect_resent([0]).at(185).expect_resent([1]).at(195).expect_sent([8]);
}
