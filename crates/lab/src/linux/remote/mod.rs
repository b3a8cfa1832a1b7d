//! Decisions in a kernel that the front end makes: by controllers in Python or in a user's own
//! crate, and by external agents.
//!
//! The kernel sends a message for each controller callback and for each decision of an agent, with what the
//! agent sees, and waits for the answer. Meanwhile virtual time stands still.

mod client;
mod server;
mod wire;

pub use client::{Line, Remote, decide, end, stand_in};
pub use server::{Heard, RemoteAlgorithm, Server, served};
pub use wire::word;

use cwndlab_cc::{Ack, Control, Event, Facts, Lost, Needs, Setup, SubflowView, Time};
use cwndlab_sim::Glance;

/// The flow of the scenario that a controller belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The flow of this number.
    Flow(u64),
    /// A flow of the arrivals of this number.
    Arrivals(u64),
}

/// A message of the kernel.
#[derive(Clone, Debug, PartialEq)]
enum Message {
    /// Build a controller for the flow or subflow of this name, whose TCP starts with this; it gets the next number.
    New(Owner, String, Setup),
    /// A callback of the controller of this number.
    Callback(u64, Moment, Callback),
    /// The controller of this number takes this action, which its own policy has chosen.
    Act(u64, u64),
    /// The agent of the flow of this number must decide: the answer is its action.
    Decision(u64, Seen),
    /// No decision follows for the flow of this number; what its agent sees at the end.
    End(u64, Seen),
    /// All agents have seen the end. The answer lets the kernel finish its run.
    Over,
}

/// The state of a flow that its agent sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The time.
    pub now: Time,
    /// What the flow has done so far.
    pub glance: Glance,
    /// The reward since its last decision.
    pub reward: f32,
    /// The observation; empty if the flow has not begun.
    pub observation: Vec<f32>,
}

/// The state at a callback: [`cwndlab_cc::Context`] without its random numbers.
#[derive(Clone, Debug, PartialEq)]
struct Moment {
    facts: Facts,
    subflows: Vec<SubflowView>,
    me: u64,
}

/// A callback of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Callback {
    Sent(u64),
    Lost(Lost),
    Event(Event),
    Ack(Ack),
    Timer,
}

/// The front end's answer: the values of all the controller's getters after the callback.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    control: Control,
    timer: Option<Time>,
    /// The action that its own policy chose in this callback ([`Decision::Made`](cwndlab_cc::Decision::Made)).
    made: Option<u64>,
    needs: Needs,
    /// The values of its probes.
    probed: Vec<f64>,
}

#[cfg(test)]
mod tests;
