//! Running a scenario with one seed.

use crate::scenario::Scenario;
use cwndlab_cc::{Breakdown, Time};
use cwndlab_sim::{Outcome, Sim, Stop};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often a run looks whether it is to stop, and says how far it is.
const SLICES: u64 = 200;
const PERMILLE: u64 = 1000;

/// What another thread may see of a run and do to it.
#[derive(Debug, Default)]
pub struct Control {
    /// Set it to stop the run soon.
    pub cancel: AtomicBool,
    /// How much of the simulated time is done, in thousandths.
    pub progress: AtomicU64,
}

/// Why there is no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The run was cancelled.
    Interrupted,
    /// A controller broke the run off, for this reason.
    Controller(String),
    /// The simulator has a fault; the seed finds it again.
    Fault {
        /// The seed.
        seed: u64,
        /// What the simulator said.
        message: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Interrupted => f.write_str("the run was interrupted"),
            Failure::Controller(why) => f.write_str(why),
            Failure::Fault { seed, message } => {
                write!(f, "the simulator failed with seed {seed}, which is a fault of cwndlab: {message}")
            }
        }
    }
}

impl std::error::Error for Failure {}

/// Runs a scenario with this seed.
///
/// # Errors
/// The run was cancelled, a controller broke it off, or the simulator has a fault.
pub fn run_seed(scenario: &Scenario, seed: u64, record: bool, control: &Control) -> Result<Outcome, Failure> {
    // Nothing of the simulation outlives a fault in it, so none of it is seen in a broken state.
    let run = AssertUnwindSafe(|| run_in_slices(scenario, seed, record, control));
    match catch_unwind(run) {
        Ok(outcome) => outcome.ok_or(Failure::Interrupted),
        Err(payload) => Err(match payload.downcast::<Breakdown>() {
            // Who cancels a run may have torn its controller out of an endless loop.
            Ok(_) if control.cancel.load(Ordering::Relaxed) => Failure::Interrupted,
            Ok(breakdown) => Failure::Controller(breakdown.0),
            Err(payload) => Failure::Fault { seed, message: panic_message(&*payload) },
        }),
    }
}

fn run_in_slices(scenario: &Scenario, seed: u64, record: bool, control: &Control) -> Option<Outcome> {
    let mut sim = Sim::new(&scenario.spec(seed, record));
    for slice in 1..=SLICES {
        let until = slice_end(scenario, slice);
        loop {
            if control.cancel.load(Ordering::Relaxed) {
                return None;
            }
            // No flow has an agent outside: a decision, if there should be one, is the agent's own.
            if !matches!(sim.run_until(until), Stop::Decision(_)) {
                break;
            }
        }
        control.progress.store(slice * PERMILLE / SLICES, Ordering::Relaxed);
    }
    Some(sim.outcome())
}

fn slice_end(scenario: &Scenario, slice: u64) -> Time {
    let nanos = u128::from(scenario.duration().0) * u128::from(slice) / u128::from(SLICES);
    // Not above the duration, which is 64 bits.
    Time(nanos as u64)
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
