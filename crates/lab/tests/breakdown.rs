//! A controller that cannot go on: its own words reach whoever started the run.

use cwndlab_cc::{
    Ack, Algorithm, CongestionControl, Context, Control, Decision, Declares, Event, Registry, break_off,
};
use cwndlab_lab::run::{Failure, RunToken, run_seed};
use cwndlab_lab::scenario::{Backend, Scenario, Source, read};
use cwndlab_lab::trace::Memory;
use cwndlab_sim::queue::Queues;
use std::sync::Arc;
use std::sync::atomic::Ordering;

struct Failing(Arc<RunToken>, bool);

impl CongestionControl for Failing {
    fn control(&self) -> Control {
        Control::window(14_480)
    }

    fn on_event(&mut self, _cx: &mut Context, _event: Event) {}

    fn on_ack(&mut self, _cx: &mut Context, _ack: &Ack) -> Decision {
        self.0.cancel.store(self.1, Ordering::Relaxed);
        break_off("my table is empty")
    }
}

/// A scenario with one flow whose controller breaks off at the first ACK, the run being cancelled by then or not.
fn scenario(token: &Arc<RunToken>, cancelled: bool) -> Scenario {
    let token = token.clone();
    let mut registry = Registry::built_in();
    registry.add(Algorithm {
        name: "failing",
        summary: "breaks off",
        source: "this test",
        departures: &[],
        params: [].into(),
        declares: Declares::default(),
        build: Arc::new(move |_, _| Box::new(Failing(token.clone(), cancelled))),
    });
    let text = r#"
        duration = "1 s"
        link = [{ name = "wan", rate = "10 Mbit/s", delay = "10 ms" }]
        flow = [{ cc = "failing", path = ["wan"] }]
    "#;
    let (queues, traces) = (Queues::built_in(), Memory::default());
    let source = Source {
        backend: Backend::Sim,
        file: "test.toml",
        registry: &registry,
        queues: &queues,
        traces: &traces,
    };
    let (scenario, problems) = read(text.as_bytes(), &source, &[]);
    scenario.unwrap_or_else(|| panic!("{problems:?}"))
}

#[test]
fn a_breakdown_is_no_fault_of_the_simulator() {
    let token = Arc::default();
    let failure = run_seed(&scenario(&token, false), 1, false, &token).unwrap_err();
    assert_eq!(failure, Failure::Controller("my table is empty".to_owned()));
    assert_eq!(failure.to_string(), "my table is empty");
}

#[test]
fn a_cancelled_run_is_interrupted_however_it_ends() {
    let token = Arc::default();
    let failure = run_seed(&scenario(&token, true), 1, false, &token).unwrap_err();
    assert_eq!(failure, Failure::Interrupted);
}
