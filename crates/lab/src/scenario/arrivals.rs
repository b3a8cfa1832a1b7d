//! Arrival processes: flows that arrive at random, or each when another one has ended.

use super::limits;
use super::problem::Checked;
use super::quantity;
use super::section::{Item, Section};
use super::tree::Kind;
use cwndlab_cc::Span;
use cwndlab_sim::spec::{ArrivalProcess, SizeSpec};

/// When the flows start, and how large they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arrivals {
    pub(crate) process: ArrivalProcess,
    pub(crate) size: SizeSpec,
}

/// Distributions of flow sizes by name.
const KINDS: &[&str] = &["constant", "exponential", "pareto"];
/// The highest mean number of arrivals a second.
const MOST_PER_SECOND: f64 = 1e6;
/// Default tail index of a Pareto distribution: that of web objects (Crovella and Bestavros 1997).
const SHAPE: f64 = 1.2;

/// `{ per_second = 20, size = "30 kB" }`, or `{ parallel = 8, size = "10 MB" }`
pub(crate) fn arrivals(item: &Item) -> Checked<Arrivals> {
    let mut section = item.section()?;
    let process = process(&mut section);
    let size = section.require("size", size);
    section.finish()?;
    Ok(Arrivals { process: process?, size: size? })
}

fn process(section: &mut Section) -> Checked<ArrivalProcess> {
    let Some(item) = section.item("parallel") else {
        let rate = section.require("per_second", per_second);
        if let Some(pause) = section.item("pause") {
            return Err(pause.error("`pause` needs `parallel`"));
        }
        return rate.map(ArrivalProcess::PerSecond);
    };
    let transfers = item.whole_within(1, limits::FLOWS);
    let pause = section.get("pause", quantity::time);
    if let Some(rate) = section.item("per_second") {
        return Err(rate.error(
            "expected `per_second` (random arrivals) or `parallel` (a fixed number of flows), found both",
        ));
    }
    Ok(ArrivalProcess::Parallel { transfers: transfers?, pause: pause?.unwrap_or(Span::ZERO) })
}

fn per_second(item: &Item) -> Checked<f64> {
    let rate = item.real_within(0.0, MOST_PER_SECOND)?;
    if rate > 0.0 { Ok(rate) } else { Err(item.error("must be above zero")) }
}

fn size(item: &Item) -> Checked<SizeSpec> {
    let Kind::Table(_) = item.node.kind else {
        return quantity::bytes(item).map(SizeSpec::Constant);
    };
    let mut section = item.section()?;
    let kind = section.require("kind", |item| item.word("distribution", KINDS));
    let mean = section.require("mean", quantity::bytes);
    let kind = kind?;
    let shape = match kind {
        "pareto" => section.get("shape", |item| item.real_within(1.001, 100.0)),
        _ => Ok(None),
    };
    section.finish()?;
    let (mean, shape) = (mean?, shape?.unwrap_or(SHAPE));
    Ok(match kind {
        "constant" => SizeSpec::Constant(mean),
        "exponential" => SizeSpec::Exponential { mean: mean as f64 },
        _ => SizeSpec::Pareto { mean: mean as f64, shape },
    })
}
