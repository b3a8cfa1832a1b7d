//! Warnings of legal but odd settings that show only in the whole scenario.

use super::flow::{Flow, Path};
use super::link::Link;
use super::problem::Problems;
use super::quantity::show_rate;
use super::section::Item;
use super::settle::base_rtt;
use cwndlab_cc::{Span, Time};
use cwndlab_sim::Schedule;
use cwndlab_sim::spec::{Capacity, FlowKind, LinkSpec, LossKind};
use std::collections::BTreeSet;

/// Warns of settings that would surprise a reader of the scenario.
pub(crate) fn warn(
    links: &[Option<Link>],
    flows: &[Option<Flow>],
    duration: Option<Span>,
    problems: &Problems,
) {
    unused(links, flows, problems);
    let accesses =
        flows.iter().flatten().flat_map(|flow| &flow.paths).filter_map(|path| path.access.as_ref());
    for link in links.iter().flatten().chain(accesses) {
        late_steps(link, None, duration, problems);
        if let Some(back) = &link.back {
            late_steps(back, Some(link), duration, problems);
        }
    }
    for flow in flows.iter().flatten() {
        for path in &flow.paths {
            no_round_trip(flow, path, links, problems);
            slow_access(flow, path, links, problems);
        }
        late_start(flow, duration, problems);
        unused_decision_delay(flow, problems);
    }
}

/// Warns of an interval between samples that is longer than the run: no sample is ever taken.
pub(crate) fn long_interval(item: &Item, interval: Span, duration: Option<Span>) {
    if let Some(end) = duration.filter(|&end| interval > end) {
        item.warn(format!("at {interval} it is longer than the run of {end}: the series show nothing"));
    }
}

fn unused(links: &[Option<Link>], flows: &[Option<Flow>], problems: &Problems) {
    if flows.is_empty() || flows.iter().any(Option::is_none) {
        // A missing or unreadable flow might use the link.
        return;
    }
    let paths = flows.iter().flatten().flat_map(|flow| &flow.paths);
    let used: BTreeSet<usize> = paths.flat_map(|path| &path.links).copied().collect();
    let unused = links.iter().enumerate().filter(|(n, _)| !used.contains(n));
    for link in unused.filter_map(|(_, link)| link.as_ref()) {
        problems.warn(&link.origin.at, &link.origin.key, "no flow uses this link");
    }
}

fn no_round_trip(flow: &Flow, path: &Path, links: &[Option<Link>], problems: &Problems) {
    let known = path.links.iter().all(|&n| links[n].is_some());
    if known && base_rtt(path, links) == Span::ZERO {
        problems.warn(&flow.origin.at, &flow.origin.key, "its base round-trip time is 0");
    }
}

fn slow_access(flow: &Flow, path: &Path, links: &[Option<Link>], problems: &Problems) {
    let Some(access) = &path.access else { return };
    let shared = path.links.iter().filter_map(|&n| links[n].as_ref());
    let slowest =
        shared.filter_map(|link| Some((flow.data_direction(link)?.nominal?, &link.spec.name))).min();
    if let (Some(own), Some((rate, name))) = (access.nominal, slowest)
        && own <= rate
    {
        let message = format!(
            "at {} it is no faster than `{name}` ({}): the flow's bottleneck is its own access link",
            show_rate(own),
            show_rate(rate)
        );
        problems.warn(&access.origin.at, &access.origin.key, message);
    }
}

/// Warns of steps after the end; a return direction does not repeat those that it may have from its `forward` direction.
fn late_steps(link: &Link, forward: Option<&Link>, duration: Option<Span>, problems: &Problems) {
    let Some(end) = duration.map(|duration| Time(duration.0)) else { return };
    let known = forward.map_or_else(Vec::new, |forward| last_steps(forward).collect());
    for (what, last) in last_steps(link).filter(|step| step.1 >= end.max(Time(1)) && !known.contains(step)) {
        let message = format!("the step of `{what}` at {last} has no effect: the run ends at {end}");
        problems.warn(&link.origin.at, &link.origin.key, message);
    }
}

/// When each setting that may change in steps does so for the last time.
fn last_steps(link: &Link) -> impl Iterator<Item = (&'static str, Time)> {
    let LinkSpec { capacity, delay, up, loss, .. } = &link.spec;
    let rate = if let Capacity::Rate(rates) = capacity { last_step(rates) } else { Time::ZERO };
    let loss = if let LossKind::Random(rates) = &loss.kind { last_step(rates) } else { Time::ZERO };
    // A recorded delay has a step for each of its values.
    let delay = if link.delays.is_none() { last_step(delay) } else { Time::ZERO };
    [("rate", rate), ("delay", delay), ("up", last_step(up)), ("loss", loss)].into_iter()
}

fn last_step<T: Copy>(schedule: &Schedule<T>) -> Time {
    schedule.iter().last().map_or(Time::ZERO, |(at, _)| *at)
}

fn late_start(flow: &Flow, duration: Option<Span>, problems: &Problems) {
    let latest = flow.active.start + flow.active.start_jitter;
    if duration.is_some_and(|duration| latest.0 >= duration.0) {
        let message = format!("with its jitter it may start at {latest}, after the end of the run");
        problems.warn(&flow.origin.at, &flow.origin.key, message);
    }
}

fn unused_decision_delay(flow: &Flow, problems: &Problems) {
    let FlowKind { algorithm, settings, decision_delay, .. } = &flow.kind;
    if *decision_delay > Span::ZERO && algorithm.declaration(settings).spaces.is_none() {
        let message = format!("its `decision_delay` has no effect: `{}` takes no actions", algorithm.name);
        problems.warn(&flow.origin.at, &flow.origin.key, message);
    }
}
