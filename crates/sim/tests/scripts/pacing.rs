//! A controller that paces: packets leave at its rate, and no more than its quantum at once.

use crate::script::{Script, linux};
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

fn paced(window: u64, quantum: u64) -> Script {
    let build: Build =
        Arc::new(move |setup: &Setup, _: &[_]| Box::new(Paced { mss: setup.mss, window, quantum }));
    linux().controller(build).open()
}

#[test]
fn packets_leave_one_by_one_at_the_rate() {
    let mut tcp = paced(100, 1);
    tcp.expect_sent([0]);
    for n in 1..10 {
        tcp.at(99 + 10 * n).expect_nothing();
        tcp.at(100 + 10 * n).expect_sent([n as u32]);
    }
}

#[test]
fn a_quantum_leaves_at_once_and_the_rate_holds_after_it() {
    let mut tcp = paced(100, 4);
    tcp.expect_sent(0..4).expect_nothing();
    for n in 1..9 {
        tcp.at(99 + 10 * n).expect_nothing();
        tcp.at(100 + 10 * n).expect_sent([n as u32 + 3]);
    }
}

#[test]
fn an_ack_does_not_hurry_a_paced_sender_and_the_window_still_limits() {
    let mut tcp = paced(3, 1);
    tcp.expect_sent([0]).at(110).expect_sent([1]).at(120).expect_sent([2]);
    tcp.at(199).expect_nothing();
    tcp.at(200).ack(2).expect_sent([3]).at(205).ack(3).expect_nothing();
    tcp.at(209).expect_nothing().at(210).expect_sent([4]);
    tcp.at(220).expect_sent([5]).at(230).expect_nothing();
}

#[test]
fn what_is_sent_again_is_paced_too() {
    let mut tcp = paced(10, 1);
    tcp.expect_sent([0]);
    for n in 1..8 {
        tcp.at(100 + 10 * n).expect_sent([n as u32]);
    }
    // Segments 0 and 1 are lost.
    tcp.at(175).sack(0, [(2, 5)]).expect_nothing();
    tcp.at(179).expect_nothing();
    tcp.at(180).expect_resent([0]).at(190).expect_resent([1]).at(200).expect_sent([8]);
}
