//! Arrival processes: flows that come at random.

use super::problem::Checked;
use super::quantity;
use super::section::Item;
use super::tree::Kind;
use cwndlab_sim::spec::SizeSpec;

/// How often, and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arrivals {
    pub(crate) per_second: f64,
    pub(crate) size: SizeSpec,
}

/// Distributions of flow sizes by name.
const KINDS: &[&str] = &["constant", "exponential", "pareto"];
/// Mean arrivals a second at most.
const MOST_PER_SECOND: f64 = 1e6;
/// Tail index of a Pareto distribution where none is given: that of web objects (Crovella and Bestavros 1997).
const SHAPE: f64 = 1.2;

/// `{ per_second = 20, size = "30 kB" }`
pub(crate) fn arrivals(item: &Item) -> Checked<Arrivals> {
    let mut section = item.section()?;
    let per_second = section.require("per_second", per_second);
    let size = section.require("size", size);
    section.finish()?;
    Ok(Arrivals { per_second: per_second?, size: size? })
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
