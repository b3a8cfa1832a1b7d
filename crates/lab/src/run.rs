//! Running a scenario with one seed.

use crate::export::{Export, Wanted};
use crate::scenario::Scenario;
use cwndlab_cc::{Breakdown, Time};
use cwndlab_sim::spec::FlowSpec;
use cwndlab_sim::tap::Tap;
use cwndlab_sim::tcp::Metrics;
use cwndlab_sim::{Outcome, Sim, SimSpec, Stop, Watch};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The slices of a run: before each it checks for cancellation, after each it reports its progress.
const SLICES: u64 = 200;
const PERMILLE: u64 = 1000;

/// Lets another thread watch and cancel a run.
#[derive(Debug, Default)]
pub struct RunToken {
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
    /// A controller aborted the run, for this reason.
    Controller(String),
    /// The kernel of the Linux backend failed.
    Kernel(String),
    /// The flow of this name waits for an external agent, and there is none.
    Waiting(String),
    /// A file of an export cannot be written.
    Export(String),
    /// The simulator has a fault; the seed reproduces it.
    Fault {
        /// The seed.
        seed: u64,
        /// The panic message.
        message: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Interrupted => f.write_str("the run was interrupted"),
            Failure::Controller(why) | Failure::Kernel(why) | Failure::Export(why) => f.write_str(why),
            Failure::Waiting(flow) => write!(
                f,
                "flow `{flow}` needs an external agent; use an environment (cwndlab list environments), or set policy = \"play\""
            ),
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
/// The run was cancelled, a controller aborted it, or the simulator has a fault.
pub fn run_seed(scenario: &Scenario, seed: u64, record: bool, token: &RunToken) -> Result<Outcome, Failure> {
    run_spec(scenario, seed, record, token, |spec| {
        if spec.record.is_some() || spec.timeout_patterns {
            Ok(run_in_slices(Sim::watched(spec), scenario, seed, token)?.outcome())
        } else {
            Ok(run_in_slices(Sim::new(spec), scenario, seed, token)?.outcome())
        }
    })
}

/// Like [`run_seed`], and also exports files for other programs. Data written before a failure stay.
///
/// # Errors
/// Those of [`run_seed`], or a file cannot be written.
pub fn run_and_export(
    scenario: &Scenario,
    seed: u64,
    record: bool,
    wanted: &Wanted,
    token: &RunToken,
) -> Result<Outcome, Failure> {
    run_spec(scenario, seed, record, token, |spec| {
        let mut export = Export::create(wanted, spec).map_err(Failure::Export)?;
        let mut begun = Ok(());
        let sim = Sim::with_tap(spec, |state| {
            begun = export.begin(state);
            (Watch::new(spec, state), export)
        });
        begun.map_err(Failure::Export)?;
        let (outcome, written) = run_in_slices(sim, scenario, seed, token)?.outcome();
        written.map_err(Failure::Export)?;
        Ok(outcome)
    })
}

/// Builds the scenario's specification for this seed and runs it.
fn run_spec(
    scenario: &Scenario,
    seed: u64,
    record: bool,
    token: &RunToken,
    run: impl FnOnce(&SimSpec) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    let prepared = || {
        let mut spec = scenario.spec(seed, record);
        if scenario.knows_earlier_run() {
            remember(&mut spec, scenario, token)?;
        }
        run(&spec)
    };
    match guarded(seed, prepared) {
        // Cancelling may have interrupted a controller in an endless loop.
        Err(Failure::Controller(_)) if token.cancel.load(Ordering::Relaxed) => Err(Failure::Interrupted),
        result => result?,
    }
}

/// Runs this and catches a panic. The simulation must be dropped on failure, so that nobody sees a broken state.
pub(crate) fn guarded<T>(seed: u64, run: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| match payload.downcast::<Breakdown>() {
        Ok(breakdown) => Failure::Controller(breakdown.0),
        Err(payload) => Failure::Fault { seed, message: panic_message(&*payload) },
    })
}

/// Does a first run without saved metrics, and makes the flows with `metrics = "saved"` begin with
/// the ssthresh that it saved.
fn remember(spec: &mut SimSpec, scenario: &Scenario, token: &RunToken) -> Result<(), Failure> {
    let sim = run_in_slices(Sim::untapped(spec), scenario, spec.seed, token)?;
    begin_with(spec, &sim.saved_ssthresh());
    Ok(())
}

/// Makes the flows with `metrics = "saved"` begin with the ssthresh that an earlier run saved: one for each
/// path of each flow, in segments.
pub fn begin_with(spec: &mut SimSpec, saved: &[Option<u64>]) {
    let mut saved = saved.iter();
    for flow in &mut spec.flows {
        for (path, saved) in flow.paths.iter_mut().zip(saved.by_ref()) {
            if flow.kind.tcp.metrics == Metrics::Saved {
                path.initial_ssthresh = *saved;
            }
        }
    }
}

fn run_in_slices<T: Tap>(
    mut sim: Sim<T>,
    scenario: &Scenario,
    seed: u64,
    token: &RunToken,
) -> Result<Sim<T>, Failure> {
    for slice in 1..=SLICES {
        if token.cancel.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        if let Stop::Decision(flow) = sim.run_until(slice_end(scenario, slice)) {
            return Err(Failure::Waiting(name_of(scenario, seed, flow)));
        }
        token.progress.store(slice * PERMILLE / SLICES, Ordering::Relaxed);
    }
    Ok(sim)
}

fn name_of(scenario: &Scenario, seed: u64, flow: usize) -> String {
    let flows = scenario.spec(seed, false).flows;
    flows.iter().flat_map(FlowSpec::parts).nth(flow).map_or_else(String::new, |(name, _)| name)
}

fn slice_end(scenario: &Scenario, slice: u64) -> Time {
    let nanos = u128::from(scenario.duration().0) * u128::from(slice) / u128::from(SLICES);
    // At most the duration, which fits in 64 bits.
    Time(nanos as u64)
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
