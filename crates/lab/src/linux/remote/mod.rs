//! Controllers of the front end that drive the kernel's sockets: those in Python, and those of a crate of the user's own.
//!
//! The kernel sends each callback of the contract as a message and waits for the answer. Meanwhile virtual time
//! stands still.

mod client;
mod server;
mod wire;

pub use client::{Line, Remote, stand_in};
pub(crate) use server::is_served;
pub use server::{Server, served};

use cwndlab_cc::{Ack, Control, Event, Facts, Lost, Needs, SubflowView, Time};

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
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and nearly all are callbacks")]
enum Message {
    /// A controller is to be made for the flow or subflow of this name; it gets the next number.
    New(Owner, String),
    /// A callback of the controller of this number.
    Callback(u64, Moment, Callback),
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
