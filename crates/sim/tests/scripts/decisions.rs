//! A controller whose policy decides at each ACK: its actions are in force when the flow's decision delay is over.

use crate::script::{RTT, Script, linux};
use cwndlab_cc::algorithm::Build;
use cwndlab_cc::{Ack, Agent, CongestionControl, Context, Control, Decision, Event, Setup, Span};
use std::sync::Arc;

/// An action is a window in segments.
struct Chooser {
    mss: u64,
    window: u64,
    /// What is chosen at one ACK after the other.
    choices: std::slice::Iter<'static, u32>,
}

impl CongestionControl for Chooser {
    fn control(&self) -> Control {
        Control::window(self.window * self.mss)
    }

    fn on_event(&mut self, _cx: &mut Context, _event: Event) {}

    fn on_ack(&mut self, _cx: &mut Context, _ack: &Ack) -> Decision {
        self.choices.next().copied().map_or(Decision::NotDue, Decision::Made)
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }
}

impl Agent for Chooser {
    fn observation_len(&self) -> usize {
        0
    }

    fn actions(&self) -> u32 {
        u32::MAX
    }

    fn observe(&mut self, _observation: &mut [f32]) -> f32 {
        0.0
    }

    fn act(&mut self, action: u32) {
        self.window = u64::from(action);
    }
}

/// Ten segments have left at 100 ms.
fn chooser(delay_ms: u64, choices: &'static [u32]) -> Script {
    let build: Build = Arc::new(|setup: &Setup, _: &[_]| {
        Box::new(Chooser { mss: setup.mss, window: 10, choices: choices.iter() })
    });
    let mut tcp = linux().controller(build).open();
    tcp.sender.delay_decisions(Span::from_millis(delay_ms));
    tcp.expect_sent(0..10);
    tcp
}

#[test]
fn without_a_delay_an_action_is_in_force_for_the_sending_of_its_ack() {
    chooser(0, &[14]).at(100 + RTT).ack(2).expect_sent(10..16).expect_nothing();
}

#[test]
fn an_action_is_in_force_when_its_delay_is_over_and_sends_without_an_ack() {
    let mut tcp = chooser(30, &[14]);
    tcp.at(200).ack(2).expect_sent(10..12);
    tcp.at(229).expect_nothing().expect_cwnd(10);
    tcp.at(230).expect_sent(12..16).expect_nothing();
}

/// Chosen at 200 and 210 ms; at 230 the window has opened by four, at 240 it is closed by two.
#[test]
fn actions_that_wait_are_in_force_one_after_the_other() {
    let mut tcp = chooser(30, &[14, 12]);
    tcp.at(200).ack(2).expect_sent(10..12);
    tcp.at(210).ack(4).expect_sent(12..14);
    tcp.at(230).expect_sent(14..18).expect_cwnd(14);
    tcp.at(239).expect_cwnd(14).at(240).expect_cwnd(12);
    tcp.at(250).ack(6).expect_nothing().ack(7).expect_sent([18]);
}

#[test]
fn an_action_that_closes_the_window_keeps_back_what_an_ack_would_let_out() {
    let mut tcp = chooser(30, &[8]);
    tcp.at(200).ack(2).expect_sent(10..12);
    tcp.at(231).ack(3).expect_nothing().ack(5).expect_sent([12]);
}
