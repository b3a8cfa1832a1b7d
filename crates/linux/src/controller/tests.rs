use super::*;
use crate::request::a_flow;
use cwndlab_cc::{Agent, Control};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

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
    prompt.on_ack(&at(1), &mut [], 0, &acks(7));
    assert_eq!((prompt.control().cwnd_segments, prompt.next_timer()), (7, None));

    let mut late = controller(false, "decision_delay = \"5 ns\"");
    late.on_ack(&at(1), &mut [], 0, &acks(7));
    late.on_ack(&at(3), &mut [], 0, &acks(9));
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (1, Some(Time(6))));
    late.on_timer(&at(6), &mut [], 0);
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (7, Some(Time(8))));
    late.on_timer(&at(8), &mut [], 0);
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (9, None));
}

#[test]
fn an_agent_outside_is_asked_and_its_decision_has_the_same_delay() {
    let mut prompt = controller(true, "");
    assert!(prompt.on_ack(&at(1), &mut [], 0, &acks(7)));
    prompt.act(Time(1), 4);
    assert_eq!((prompt.control().cwnd_segments, prompt.next_timer()), (4, None));

    let mut late = controller(true, "decision_delay = \"5 ns\"");
    assert!(late.on_ack(&at(1), &mut [], 0, &acks(7)));
    late.act(Time(1), 4);
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (1, Some(Time(6))));
    assert!(!late.on_timer(&at(6), &mut [], 0), "it has decided");
    assert_eq!((late.control().cwnd_segments, late.next_timer()), (4, None));
}

/// Keeps what it was shown last: the rate sample's losses, and which subflows are usable.
#[derive(Default)]
struct Watches {
    lost: Arc<AtomicU64>,
    usable: Arc<AtomicU64>,
}

impl CongestionControl for Watches {
    fn control(&self) -> Control {
        Control::window(1448)
    }

    fn on_event(&mut self, cx: &mut Context, _event: Event) {
        let bits = cx.subflows.iter().rev().fold(0, |bits, view| 2 * bits + u64::from(view.usable));
        self.usable.store(bits, Relaxed);
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.lost.store(ack.sample.as_ref().map_or(0, |sample| sample.lost), Relaxed);
        self.on_event(cx, Event::Recovered);
        Decision::NotDue
    }
}

#[test]
fn a_rate_sample_counts_losses_for_those_who_hear_of_no_single_one() {
    let watches = Watches::default();
    let lost = watches.lost.clone();
    let mut watching = Controller::new(Box::new(watches), &a_flow(""), "a", 1);
    assert_eq!(watching.needs(), 2, "the kernel reports each packet that is lost");
    for end in 1..=3 {
        watching.on_sent(&at(end), &mut [], 0, 1448 * end as u32, 1448);
    }
    watching.on_lost(&at(4), &mut [], 0, 0, 1448);
    let third = CAck { end_seq: 3 * 1448, sample_delivered: 1, sample_interval: 1, ..acks(0) };
    watching.on_ack(&at(5), &mut [], 0, &third);
    assert_eq!(lost.load(Relaxed), 1448);
}

#[test]
fn a_subflow_is_not_usable_from_a_timeout_until_something_arrives() {
    let watches = Watches::default();
    let usable = watches.usable.clone();
    let mut watching = Controller::new(Box::new(watches), &a_flow(""), "a", 1);
    let mut views = [SubflowView { usable: true, ..SubflowView::default() }, SubflowView::default()];
    let timeout = 3;
    watching.on_event(&at(1), &mut views, 1, timeout, 0);
    assert_eq!(usable.load(Relaxed), 0b01);
    watching.on_ack(&at(2), &mut views, 1, &CAck { acked: 0, ..acks(0) });
    assert_eq!(usable.load(Relaxed), 0b01);
    watching.on_ack(&at(3), &mut views, 1, &CAck { acked: 1, ..acks(1448) });
    assert_eq!(usable.load(Relaxed), 0b11);
}
