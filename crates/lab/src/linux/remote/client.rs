//! The kernel's side: a controller that forwards its callbacks to the front end.

use super::wire::Words;
use super::wire::{decode, encode};
use super::{Answer, Callback, Message, Moment, Owner, Seen};
use cwndlab_cc::algorithm::Declaration;
use cwndlab_cc::{
    Ack, Agent, Algorithm, CongestionControl, Context, Control, Decision, Ecn, Event, Lost, Needs, Setup,
    Time,
};
use std::sync::Arc;

/// A connection to the front end. Without an answer there is no run, so `ask` does not return then.
pub trait Line: Send {
    /// Sends a message and waits for the answer.
    fn ask(&mut self, message: &[u8]) -> Vec<u8>;
}

/// A controller that runs in the front end.
pub struct Remote<L> {
    line: L,
    number: u64,
    probes: &'static [&'static str],
    answer: Answer,
}

impl<L: Line> Remote<L> {
    /// Makes the front end build its controller with this number and these probes, for the flow or subflow of
    /// this name, whose TCP starts with `setup`.
    pub fn new(
        mut line: L,
        number: u64,
        owner: Owner,
        name: &str,
        setup: Setup,
        probes: &'static [&'static str],
    ) -> Self {
        let answer = exchange(&mut line, &Message::New(owner, name.to_owned(), setup));
        Self { line, number, probes, answer }
    }

    fn call(&mut self, cx: &Context, callback: Callback) {
        let moment = Moment { facts: *cx.facts, subflows: cx.subflows.to_vec(), me: cx.me as u64 };
        self.answer = exchange(&mut self.line, &Message::Callback(self.number, moment, callback));
    }

    /// The decision that its last callback made.
    fn decision(&self) -> Decision {
        // The word encodes a 32-bit action.
        self.answer.made.map_or(Decision::NotDue, |action| Decision::Made(action as u32))
    }
}

/// Asks the agent of this flow for its action, given what it sees.
pub fn decide(line: &mut impl Line, flow: usize, seen: Seen) -> u32 {
    // The word encodes a 32-bit action.
    exchange::<u64>(line, &Message::Decision(flow as u64, seen)) as u32
}

/// Shows the end to the agents of these flows; returns when the front end lets the run finish.
pub fn end(line: &mut impl Line, agents: impl IntoIterator<Item = (usize, Seen)>) {
    for (flow, seen) in agents {
        exchange::<u64>(line, &Message::End(flow as u64, seen));
    }
    exchange::<u64>(line, &Message::Over);
}

/// # Panics
/// The answer cannot be decoded: the two ends come from different builds.
fn exchange<A: Words>(line: &mut impl Line, message: &Message) -> A {
    decode(&line.ask(&encode(message))).expect("both ends are of one build")
}

impl<L: Line> CongestionControl for Remote<L> {
    fn needs(&self) -> Needs {
        self.answer.needs
    }

    fn control(&self) -> Control {
        self.answer.control
    }

    fn on_sent(&mut self, cx: &mut Context, bytes: u64) {
        self.call(cx, Callback::Sent(bytes));
    }

    fn on_lost(&mut self, cx: &mut Context, lost: &Lost) {
        self.call(cx, Callback::Lost(*lost));
    }

    fn on_event(&mut self, cx: &mut Context, event: Event) {
        self.call(cx, Callback::Event(event));
    }

    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.call(cx, Callback::Ack(*ack));
        self.decision()
    }

    fn next_timer(&self) -> Option<Time> {
        self.answer.timer
    }

    fn on_timer(&mut self, cx: &mut Context) -> Decision {
        self.call(cx, Callback::Timer);
        self.decision()
    }

    fn agent(&mut self) -> Option<&mut dyn Agent> {
        Some(self)
    }

    fn probes(&self) -> &'static [&'static str] {
        self.probes
    }

    fn probe(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.answer.probed);
    }
}

/// Takes the actions that the policy in the front end has chosen. No environment shows a user's own algorithm to an
/// agent, so there is nothing to observe.
impl<L: Line> Agent for Remote<L> {
    fn observation_len(&self) -> usize {
        0
    }

    fn actions(&self) -> u32 {
        0
    }

    fn observe(&mut self, _observation: &mut [f32]) -> f32 {
        0.0
    }

    fn act(&mut self, action: u32) {
        self.answer = exchange(&mut self.line, &Message::Act(self.number, action.into()));
    }
}

/// A placeholder for an algorithm of the front end, with these probes and the codepoint that it needs, for reading a
/// scenario in the kernel. Its settings stay in the front end.
#[must_use]
pub fn stand_in(name: &'static str, probes: &'static [&'static str], ecn: Ecn) -> Algorithm {
    let needs = Needs { ecn, ..Needs::NONE };
    Algorithm {
        name,
        summary: "a controller of the front end",
        source: "",
        departures: &[],
        params: Arc::new([]),
        declares: Declaration { needs, probes, ..Declaration::PLAIN }.into(),
        build: Arc::new(|_, _| Box::new(StandIn)),
    }
}

/// Only reports what it needs; never drives a flow.
struct StandIn;

impl CongestionControl for StandIn {
    fn control(&self) -> Control {
        Control::window(0)
    }

    fn on_event(&mut self, _cx: &mut Context, _event: Event) {}

    fn on_ack(&mut self, _cx: &mut Context, _ack: &Ack) -> Decision {
        Decision::NotDue
    }
}
