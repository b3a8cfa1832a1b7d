//! Both ends without a kernel between them.

use super::{Line, Owner, Remote, Server};
use crate::scenario::{Backend, Scenario, Source, read};
use crate::trace::Memory;
use cwndlab_cc::algorithm::Declaration;
use cwndlab_cc::{
    Ack, Algorithm, CongestionControl, Context, Control, Decision, Event, Facts, Registry, Rng, Setup,
};
use cwndlab_learn::Agent;
use cwndlab_sim::queue::Queues;
use std::sync::Arc;

/// Chooses at each ACK the window that the ACK advances by.
struct Deciding(u64);

impl CongestionControl for Deciding {
    fn control(&self) -> Control {
        Control::window(self.0)
    }

    fn on_event(&mut self, _cx: &mut Context, _event: Event) {}

    fn on_ack(&mut self, _cx: &mut Context, ack: &Ack) -> Decision {
        if ack.advanced > 0 { Decision::Made(ack.advanced as u32) } else { Decision::NotDue }
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }
}

impl Agent for Deciding {
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
        self.0 = action.into();
    }
}

struct ToServer(Server);

impl Line for ToServer {
    fn ask(&mut self, message: &[u8]) -> Vec<u8> {
        self.0.answer(message).expect("the controller does not fail")
    }
}

fn scenario() -> Scenario {
    let mut registry = Registry::built_in();
    registry.add(Algorithm {
        name: "deciding",
        summary: "chooses its window",
        source: "this test",
        departures: &[],
        params: [].into(),
        declares: Declaration { bounded: true, ..Declaration::PLAIN }.into(),
        build: Arc::new(|_, _| Box::new(Deciding(1))),
    });
    let text = r#"
        duration = "1 s"
        link = [{ name = "wan", rate = "10 Mbit/s", delay = "10 ms" }]
        flow = [{ cc = "deciding", path = ["wan"] }]
    "#;
    let source = Source {
        backend: Backend::Linux { agents: false },
        file: "test.toml",
        registry: &registry,
        queues: &Queues::built_in(),
        traces: &Memory::default(),
    };
    let (scenario, problems) = read(text.as_bytes(), &source, &[]);
    scenario.unwrap_or_else(|| panic!("{problems:?}"))
}

#[test]
fn a_decision_waits_until_the_kernel_carries_it_out() {
    let line = ToServer(Server::new(&scenario(), 1));
    let setup = Setup { mss: 1448, initial_window: 14_480, initial_ssthresh: u64::MAX, paced: false };
    let mut remote = Remote::new(line, 0, Owner::Flow(0), "a", setup, &[]);
    let (facts, rng) = (Facts::default(), &mut Rng::named(1, "flow a cc"));
    let mut on_ack = |remote: &mut Remote<ToServer>, advanced| {
        let ack = Ack { advanced, ..Ack::default() };
        remote.on_ack(&mut Context { facts: &facts, subflows: &[], me: 0, rng }, &ack)
    };
    assert_eq!(on_ack(&mut remote, 7), Decision::Made(7));
    assert_eq!(remote.control().cwnd, 1, "not carried out yet");
    assert_eq!(on_ack(&mut remote, 0), Decision::NotDue);
    remote.agent().expect("it takes decisions").act(7);
    assert_eq!(remote.control().cwnd, 7);
}
