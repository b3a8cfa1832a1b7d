//! What the front end decides in a kernel: by its controllers, those in Python and those of a crate of the user's own, and
//! by agents outside.
//!
//! The kernel sends each callback of a controller's contract, and what an agent sees at each of its decisions, as a message
//! and waits for the answer. Meanwhile virtual time stands still.

mod client;
mod server;
mod wire;

pub use client::{Line, Remote, decide, end, stand_in};
pub(crate) use server::is_served;
pub use server::{Heard, Server, served};
pub use wire::word;

use cwndlab_cc::{Ack, Control, Event, Facts, Lost, Needs, Setup, SubflowView, Time};
use cwndlab_sim::Glance;

/// Which flow of the scenario a controller belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The flow of this number.
    Flow(u64),
    /// A flow of the arrivals of this number.
    Arrivals(u64),
}

/// What the kernel asks.
#[derive(Clone, Debug, PartialEq)]
enum Message {
    /// A controller is to be made for the flow or subflow of this name, with what its TCP begins with; it gets the next number.
    New(Owner, String, Setup),
    /// A callback of the controller of this number.
    Callback(u64, Moment, Callback),
    /// The agent of the flow of this number must decide: the answer is its action.
    Decision(u64, Seen),
    /// No decision follows; what the agent of the flow of this number sees then.
    End(u64, Seen),
    /// All agents have seen the end. The answer lets the kernel finish its run.
    Over,
}

/// What an agent sees of its flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// When.
    pub now: Time,
    /// What the flow has done so far.
    pub glance: Glance,
    /// The reward since its last decision.
    pub reward: f32,
    /// The observation; empty if the flow has not begun.
    pub observation: Vec<f32>,
}

/// What holds at a callback: [`cwndlab_cc::Context`] without its random numbers.
#[derive(Clone, Debug, PartialEq)]
struct Moment {
    facts: Facts,
    subflows: Vec<SubflowView>,
    me: u64,
}

/// A callback of the contract.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Callback {
    Sent(u64),
    Lost(Lost),
    Event(Event),
    Ack(Ack),
    Timer,
}

/// What the front end answers: all that the contract's getters say then.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    control: Control,
    timer: Option<Time>,
    needs: Needs,
    /// The values of its probes.
    probed: Vec<f64>,
}
