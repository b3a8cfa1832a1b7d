//! Packet loss on a link.

use super::problem::Checked;
use super::section::{Item, Section};
use super::steps::steps;
use super::tree::Kind;
use cwndlab_sim::spec::{LossKind, LossSpec};

/// The loss processes by name.
const KINDS: &[&str] = &["random", "gilbert-elliott", "periodic"];
/// Where packets are lost: before the queue or after it.
const PLACES: &[&str] = &["before", "after"];

/// No loss.
pub(crate) const NONE: LossSpec = LossSpec { kind: LossKind::None, before_queue: false };

/// A probability, steps of probabilities, or a table.
pub(crate) fn loss(item: &Item) -> Checked<LossSpec> {
    match &item.node.kind {
        Kind::Table(_) => table(item.section()?),
        Kind::Text(_) => Err(item.needs("a number from 0 to 1, steps of numbers, or { kind = ... }")),
        _ => Ok(LossSpec { kind: random(item)?, before_queue: false }),
    }
}

fn table(mut section: Section) -> Checked<LossSpec> {
    let place = section.get("place", |item| item.word("place", PLACES));
    let kind = match section.require("kind", |item| item.word("kind of loss", KINDS))? {
        "random" => section.require("rate", random),
        "periodic" => section
            .require("every", |item| item.whole_within(1, u64::MAX))
            .map(|every| LossKind::Periodic { every }),
        _ => gilbert_elliott(&mut section),
    };
    section.finish()?;
    Ok(LossSpec { kind: kind?, before_queue: place? == Some("before") })
}

fn random(item: &Item) -> Checked<LossKind> {
    let schedule = steps(item, probability)?;
    let nothing = schedule.iter().all(|(_, rate)| *rate == 0.0);
    Ok(if nothing { LossKind::None } else { LossKind::Random(schedule) })
}

fn gilbert_elliott(section: &mut Section) -> Checked<LossKind> {
    let to_bad = section.require("to_bad", probability);
    let to_good = section.require("to_good", probability);
    let loss_good = section.get("loss_good", probability);
    let loss_bad = section.get("loss_bad", probability);
    Ok(LossKind::GilbertElliott {
        to_bad: to_bad?,
        to_good: to_good?,
        loss_good: loss_good?.unwrap_or(0.0),
        loss_bad: loss_bad?.unwrap_or(1.0),
    })
}

/// A number from 0 to 1.
pub(crate) fn probability(item: &Item) -> Checked<f64> {
    item.real_within(0.0, 1.0)
}
