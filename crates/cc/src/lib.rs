//! The contract of a congestion control, and every algorithm that ships.
//!
//! A controller is a plain state machine: facts come in by argument ([`Context`], [`Ack`], [`Event`], [`Lost`]),
//! the decision goes out by a pure getter ([`CongestionControl::control`]). It has no clock, no I/O and no global
//! randomness. The transport keeps what is common to all algorithms: scoreboard, loss detection, RTT,
//! delivery rate, recovery and PRR, undo detection, pacing clock. The rules of the contract are in
//! [`contract`].
//!
//! One algorithm is one module in [`algo`] and one line in [`algo::built_in`].

pub mod algo;
pub mod algorithm;
pub mod bbr;
pub mod breakdown;
pub mod classic;
pub mod contract;
pub mod coupled;
pub mod cubic_curve;
pub mod decisions;
pub mod hystart;
pub mod params;
pub mod probes;
pub mod registry;
pub mod round;
pub mod rtt_peak;
pub mod testing;
pub mod units;

pub use algorithm::{Algorithm, Build, Declaration, Declares, Spaces};
pub use breakdown::{Breakdown, break_off};
pub use classic::{Classic, Window, WindowRule};
pub use contract::{
    Ack, CongestionControl, Context, Control, Decision, Ecn, Event, Facts, Lost, Needs, Phase, RateSample,
    Rtt, SendLimit, Setup, SubflowView,
};
pub use cwndlab_learn::{Agent, Learning, Rng};
pub use probes::Probe;
pub use registry::Registry;
pub use units::{Rate, Span, Time};
