//! The top level of a scenario file.

use super::context::Context;
use super::cost::ExpectedWork;
use super::flow::{self, Flow, LinkNumbers};
use super::link::{Link, Role, link};
use super::problem::{Checked, Problems};
use super::quantity;
use super::section::{Item, Section};
use super::tree::{Kind, Node};
use super::{Scenario, Source, limits, names, odd, settle};
use cwndlab_cc::Span;
use cwndlab_cc::params::Parameters;
use cwndlab_sim::tcp::{PROFILES, Profile, TcpOptions};
use std::collections::BTreeSet;

/// Longer runs are legal, but probably a mistake.
const ODDLY_LONG: Span = Span::from_secs(86_400);
/// The default time between two recorded samples.
const RECORD_INTERVAL: Span = Span::from_millis(10);

/// Reads the whole scenario.
pub(crate) fn scenario(root: &Node, source: &Source, problems: &Problems) -> Checked<Scenario> {
    let mut section = Item { node: root, key: String::new(), problems }.section()?;
    let name = section.get("name", names::title);
    let duration = section.require("duration", duration);
    let profile = section.get("profile", profile).map(|named| named.unwrap_or(&PROFILES[0]));
    let warmup = section.get("warmup", |item| warmup(item, duration));
    let send_jitter = section.get("send_jitter", quantity::time);
    let record_interval = section.get("record", |item| record_interval(item, duration));
    let timeout_patterns = section.get("timeout_patterns", |item| item.flag());
    // If the profile is wrong, the rest is checked with the default profile.
    let in_force = profile.unwrap_or(&PROFILES[0]);
    let tcp = section.get("tcp", |item| flow::options(item, &in_force.options()));
    problems.note_keys("tcp", TcpOptions::specs().iter().map(|spec| spec.name));
    let mut cx = Context {
        registry: source.registry,
        queues: source.queues,
        traces: source.traces,
        problems,
        duration: duration.ok(),
        profile: in_force,
        tcp: in_force.options(),
    };
    if let Ok(Some(options)) = &tcp {
        cx.tcp = options.clone();
    }
    let (links, flows, work) = network(&mut section, &cx);
    section.finish()?;

    Ok(Scenario {
        name: name?.map_or_else(|| stem(source.file), str::to_owned),
        profile: profile?.name,
        duration: duration?,
        warmup: warmup?.unwrap_or(Span::ZERO),
        send_jitter: send_jitter?,
        record_interval: record_interval?.unwrap_or(RECORD_INTERVAL),
        timeout_patterns: timeout_patterns?.unwrap_or(false),
        tcp: tcp?.unwrap_or_else(|| in_force.options()),
        links: links.into_iter().flatten().collect(),
        flows: flows.into_iter().flatten().collect(),
        work,
    })
}

/// Links and flows, and the estimated work. A link or flow that could not be read is `None` and has been reported.
fn network(section: &mut Section, cx: &Context) -> (Vec<Option<Link>>, Vec<Option<Flow>>, ExpectedWork) {
    let link_items = tables(section, "link");
    let named = link_items.iter().map(|item| names::named(item, "link").ok()).collect();
    let (link_names, mut links) = read_links(named, cx);
    let named = link_names.iter().enumerate();
    let numbers: LinkNumbers = named.filter_map(|(n, name)| Some((name.as_deref()?, n))).collect();
    let flow_items = tables(section, "flow");
    let mut flows: Vec<_> = flow_items.iter().map(|item| flow::flow(item, &numbers, cx).ok()).collect();
    if limits::flows(&flows, cx.problems).is_ok() {
        names::name_flows(&mut flows, cx.problems);
    }
    settle::settle(&mut links, &mut flows, cx.problems);
    none_enabled(&flows, cx.problems);
    let work = limits::check(&links, &flows, cx.duration, cx.problems);
    odd::warn(&links, &flows, cx.duration, cx.problems);
    (links, flows, work)
}

/// Refuses a scenario in which nothing would run.
fn none_enabled(flows: &[Option<Flow>], problems: &Problems) {
    let disabled = |flow: &Option<Flow>| flow.as_ref().is_some_and(|flow| !flow.enabled);
    if let Some(Some(first)) = flows.first().filter(|_| flows.iter().all(disabled)) {
        let message = "no flow is enabled: all have `enabled = false`, and at least one must run";
        problems.error(&first.origin.at, &first.origin.key, message);
    }
}

/// The tables of `[[link]]` or `[[flow]]`; at least one is required.
fn tables<'a>(section: &mut Section<'a>, kind: &'static str) -> Vec<Item<'a>> {
    let Some(item) = section.item(kind) else {
        let at = section.origin().at;
        section.problems.missing(
            &at,
            kind,
            format!("there is no {kind}; a scenario has at least one [[{kind}]] table"),
        );
        return Vec::new();
    };
    match &item.node.kind {
        Kind::List(items) if items.is_empty() => {
            item.error(format!("there is no {kind}; a scenario has at least one [[{kind}]] table"));
            Vec::new()
        }
        Kind::List(_) => item.list().unwrap_or_default(),
        _ => {
            item.needs(&format!("a table in double brackets: [[{kind}]]"));
            Vec::new()
        }
    }
}

/// The links and their names, in the order of the file.
fn read_links(
    named: Vec<Option<(Option<String>, Section)>>,
    cx: &Context,
) -> (Vec<Option<String>>, Vec<Option<Link>>) {
    let mut taken = BTreeSet::new();
    let mut read_one = |named: Option<(Option<String>, Section)>| {
        let Some((name, mut section)) = named else { return (None, None) };
        let proper = proper_name(&name, &mut section, &mut taken);
        let link = link(section, name.as_deref().unwrap_or_default(), &Role::Shared, cx.tcp.overhead, cx);
        (name.filter(|_| proper.is_ok()), link.ok().filter(|_| proper.is_ok()))
    };
    named.into_iter().map(&mut read_one).unzip()
}

/// Checks that a link has a unique name, because flows and overrides refer to it by name.
fn proper_name(name: &Option<String>, section: &mut Section, taken: &mut BTreeSet<String>) -> Checked<()> {
    match name {
        Some(name) if !taken.insert(name.clone()) => {
            Err(section.error(format!("another link is already called `{name}`")))
        }
        None if !section.has("name") => Err(section.missing("name")),
        _ => Ok(()),
    }
}

fn duration(item: &Item) -> Checked<Span> {
    let duration = quantity::time_above_zero(item)?;
    if duration > ODDLY_LONG {
        item.warn(format!("a run of {} days is long", duration.0 / ODDLY_LONG.0));
    }
    Ok(duration)
}

fn warmup(item: &Item, duration: Checked<Span>) -> Checked<Span> {
    let warmup = quantity::time(item)?;
    match duration {
        Ok(duration) if warmup >= duration => {
            Err(item.error(format!("expected a time shorter than the run of {duration}, found {warmup}")))
        }
        _ => Ok(warmup),
    }
}

fn profile(item: &Item) -> Checked<&'static Profile> {
    let names: Vec<&'static str> = PROFILES.iter().map(|profile| profile.name).collect();
    let name = item.word("profile", &names)?;
    Profile::named(name).ok_or_else(|| item.needs("a profile"))
}

fn record_interval(item: &Item, duration: Checked<Span>) -> Checked<Span> {
    let mut section = item.section()?;
    let interval = section.get("interval", |item| {
        let interval = quantity::time_above_zero(item)?;
        odd::long_interval(item, interval, duration.ok());
        Ok(interval)
    });
    section.finish()?;
    Ok(interval?.unwrap_or(RECORD_INTERVAL))
}

/// A file's name without directory and extension.
fn stem(file: &str) -> String {
    let stem = std::path::Path::new(file).file_stem();
    stem.map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
