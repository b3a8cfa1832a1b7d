use super::*;
use crate::request::a_flow;
use cwndlab_cc::{Agent, Control};

/// Decides at each ACK, by itself or through an external agent; its window is the action in force, in segments.
struct Decides {
    window: u64,
    outside: bool,
}

impl CongestionControl for Decides {
    fn control(&self) -> Control {
        Control::window(self.window * 1448)
    }

    fn on_event(&mut self, _cx: &mut Context, _event: Event) {}

    fn on_ack(&mut self, _cx: &mut Context, ack: &Ack) -> Decision {
        if self.outside { Decision::Due } else { Decision::Made(ack.advanced as u32) }
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }
}

impl Agent for Decides {
    fn observation_len(&self) -> usize {
        0
    }

    fn actions(&self) -> u32 {
        10
    }

    fn observe(&mut self, _observation: &mut [f32]) -> f32 {
        0.0
    }

    fn act(&mut self, action: u32) {
        self.window = action.into();
    }
}

fn controller(outside: bool, line: &str) -> Controller {
    Controller::new(Box::new(Decides { window: 1, outside }), &a_flow(line), "a", 1)
}

fn at(now: u64) -> CFacts {
    CFacts { now, ..CFacts::default() }
}

fn acks(advanced: u64) -> CAck {
    CAck { advanced, ..CAck::default() }
}

#[test]
fn a_decision_is_in_force_at_once_or_after_its_delay() {
    let mut prompt = controller(false, "");
    prompt.on_ack(&at(1), &[], 0, &acks(7));
    assert_eq!((prompt.control().cwnd_segments, prompt.next_timer()), (7, None));

    let mut late = controller(false, "decision_delay = \"5 ns\"");
    late.on_ack(&at(1), &[], 0, &acks(7));
    late.on_ack(&at(3), &[], 0, &acks(9));
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (1, Some(Time(6))));
    late.on_timer(&at(6), &[], 0);
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (7, Some(Time(8))));
    late.on_timer(&at(8), &[], 0);
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (9, None));
}

#[test]
fn an_agent_outside_is_asked_and_its_decision_has_the_same_delay() {
    let mut prompt = controller(true, "");
    assert!(prompt.on_ack(&at(1), &[], 0, &acks(7)));
    prompt.act(Time(1), 4);
    assert_eq!((prompt.control().cwnd_segments, prompt.next_timer()), (4, None));

    let mut late = controller(true, "decision_delay = \"5 ns\"");
    assert!(late.on_ack(&at(1), &[], 0, &acks(7)));
    late.act(Time(1), 4);
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (1, Some(Time(6))));
    assert!(!late.on_timer(&at(6), &[], 0), "it has decided");
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (4, None));
}
