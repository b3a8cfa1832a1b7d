//! The front end's side: its controllers, which answer the kernel's messages, and the messages for agents.

use super::wire::{decode, encode};
use super::{Answer, Callback, Message, Moment, Owner, Seen};
use crate::linux::PREFIX;
use crate::run::{Failure, guarded};
use crate::scenario::Scenario;
use cwndlab_cc::{Algorithm, CongestionControl, Context, Decision, Registry, Rng, Setup};
use cwndlab_sim::spec::{FlowKind, SimSpec};

/// Whether the front end has to run an algorithm: it is not the kernel's own, not built in, and not linked into it.
fn is_served(algorithm: &Algorithm, ships: &Registry, linked: &[&str]) -> bool {
    let name = algorithm.name;
    !name.starts_with(PREFIX) && ships.get(name).is_none() && !linked.contains(&name)
}

/// What the kernel knows of an algorithm that the front end runs: the key where the scenario names it, its name, its
/// probes, and the word of the ECN codepoint that it needs.
pub type RemoteAlgorithm = (String, &'static str, &'static [&'static str], &'static str);

/// The algorithms of a scenario that the front end runs. Those named in `linked` are linked into the kernel.
#[must_use]
pub fn served(scenario: &Scenario, linked: &[&str]) -> Vec<RemoteAlgorithm> {
    let ships = Registry::built_in();
    let named = scenario.flows.iter().map(|flow| &flow.kind).enumerate();
    let served = named.filter(|(_, kind)| is_served(&kind.algorithm, &ships, linked));
    let described = |(flow, kind): (usize, &FlowKind)| {
        let FlowKind { algorithm, settings, .. } = kind;
        let declaration = algorithm.declaration(settings);
        (format!("flow.{flow}.cc"), algorithm.name, declaration.probes, declaration.needs.ecn.word())
    };
    served.map(described).collect()
}

/// The result of handling a message of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A controller has handled it; its answer.
    Answered(Vec<u8>),
    /// The agent of this flow must decide; the answer is its action.
    Decision(usize, Seen),
    /// What the agent of this flow sees at the end; any answer will do.
    End(usize, Seen),
    /// No decisions are left. After any answer the kernel finishes the run.
    Over,
}

/// The controllers of a run.
pub struct Server {
    spec: SimSpec,
    controllers: Vec<Served>,
}

/// A controller with its own random numbers.
struct Served {
    cc: Box<dyn CongestionControl>,
    rng: Rng,
}

impl Server {
    /// A server for a run with this seed.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        Self { spec: scenario.spec(seed, false), controllers: Vec::new() }
    }

    /// Handles a message of the kernel.
    ///
    /// # Errors
    /// The controller that the message is for aborted the run or has a fault.
    pub fn hear(&mut self, message: &[u8]) -> Result<Heard, Failure> {
        let seed = self.spec.seed;
        guarded(seed, || match decode(message).expect("both ends are of one build") {
            Message::New(owner, name, setup) => Heard::Answered(encode(&self.make(owner, &name, &setup))),
            Message::Callback(number, moment, callback) => {
                let served = &mut self.controllers[number as usize];
                let made = served.call(&moment, callback);
                Heard::Answered(encode(&served.answer(made)))
            }
            Message::Act(number, action) => {
                let served = &mut self.controllers[number as usize];
                served.act(action);
                Heard::Answered(encode(&served.answer(None)))
            }
            Message::Decision(flow, seen) => Heard::Decision(flow as usize, seen),
            Message::End(flow, seen) => Heard::End(flow as usize, seen),
            Message::Over => Heard::Over,
        })
    }

    /// Answers a message of a kernel whose run has no external agents.
    ///
    /// # Errors
    /// As [`Server::hear`].
    pub fn answer(&mut self, message: &[u8]) -> Result<Vec<u8>, Failure> {
        match self.hear(message)? {
            Heard::Answered(answer) => Ok(answer),
            heard => unreachable!("agents were refused with the scenario: {heard:?}"),
        }
    }

    fn make(&mut self, owner: Owner, name: &str, setup: &Setup) -> Answer {
        let kind = self.kind(owner);
        let cc = (kind.algorithm.build)(setup, &kind.settings);
        let rng = Rng::named(self.spec.seed, &format!("flow {name} cc"));
        self.controllers.push(Served { cc, rng });
        self.controllers[self.controllers.len() - 1].answer(None)
    }

    fn kind(&self, owner: Owner) -> &FlowKind {
        match owner {
            Owner::Flow(number) => &self.spec.flows[number as usize].kind,
            Owner::Arrivals(number) => &self.spec.arrivals[number as usize].kind,
        }
    }
}

impl Served {
    fn answer(&self, made: Option<u64>) -> Answer {
        let mut probed = vec![f64::NAN; self.cc.probes().len()];
        self.cc.probe(&mut probed);
        Answer {
            control: self.cc.control(),
            timer: self.cc.next_timer(),
            made,
            needs: self.cc.needs(),
            probed,
        }
    }

    /// Makes a callback; returns the action that the controller's own policy chose in it.
    fn call(&mut self, moment: &Moment, callback: Callback) -> Option<u64> {
        let Moment { facts, subflows, me } = moment;
        let cx = &mut Context { facts, subflows, me: *me as usize, rng: &mut self.rng };
        let decision = match callback {
            Callback::Sent(bytes) => {
                self.cc.on_sent(cx, bytes);
                Decision::NotDue
            }
            Callback::Lost(lost) => {
                self.cc.on_lost(cx, &lost);
                Decision::NotDue
            }
            Callback::Event(event) => {
                self.cc.on_event(cx, event);
                Decision::NotDue
            }
            Callback::Ack(ack) => self.cc.on_ack(cx, &ack),
            Callback::Timer => self.cc.on_timer(cx),
        };
        match decision {
            Decision::Made(action) => Some(action.into()),
            // A user's own algorithm has no environment whose agent could decide.
            Decision::Due | Decision::NotDue => None,
        }
    }

    fn act(&mut self, action: u64) {
        if let Some(agent) = self.cc.agent() {
            // The word encodes a 32-bit action.
            agent.act(action as u32);
        }
    }
}
