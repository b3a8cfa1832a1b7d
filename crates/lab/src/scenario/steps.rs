//! A value that is constant or changes in steps.

use super::problem::Checked;
use super::quantity;
use super::section::Item;
use super::tree::Kind;
use cwndlab_cc::{Span, Time};
use cwndlab_sim::Schedule;

/// One value, or a list of `{ at = "0 s", value = ... }`.
pub(crate) fn steps<T: Copy>(item: &Item, read: fn(&Item) -> Checked<T>) -> Checked<Schedule<T>> {
    if !matches!(item.node.kind, Kind::List(_)) {
        return read(item).map(Schedule::constant);
    }
    let items = item.list()?;
    let read_all: Vec<_> = items.iter().map(|item| step(item, read)).collect();
    let steps = read_all.into_iter().collect::<Checked<Vec<_>>>()?;
    match steps.first() {
        None => return Err(item.error("a list of steps needs at least one: { at = \"0 s\", value = ... }")),
        Some((first, _)) if *first != Span::ZERO => {
            return Err(items[0].error(format!("expected the first step at \"0 s\", found {first}")));
        }
        Some(_) => {}
    }
    if let Some(n) = (1..steps.len()).find(|&n| steps[n].0 <= steps[n - 1].0) {
        let (this, before) = (steps[n].0, steps[n - 1].0);
        return Err(items[n].error(format!("the times of steps must increase: {this} comes after {before}")));
    }
    let timed = steps.into_iter().map(|(at, value)| (Time(at.0), value)).collect();
    Schedule::steps(timed).ok_or_else(|| item.error("the times of steps must increase from \"0 s\""))
}

fn step<T>(item: &Item, read: fn(&Item) -> Checked<T>) -> Checked<(Span, T)> {
    let mut section = item.section()?;
    let at = section.require("at", quantity::time);
    let value = section.require("value", read);
    section.finish()?;
    Ok((at?, value?))
}
