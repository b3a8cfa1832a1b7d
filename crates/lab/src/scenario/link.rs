//! Links: those of `[[link]]`, their return directions, and the access links of flows.

use super::context::Context;
use super::loss::{self, loss};
use super::problem::{Checked, Place};
use super::quantity::{self, QueueSize};
use super::queue::{Queue, queue};
use super::section::{Item, Origin, Section};
use super::steps::steps;
use super::words;
use crate::trace::{self, BUILT_IN, BuiltIn, SYNTHETIC, Service, TraceFile};
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::Schedule;
use cwndlab_sim::spec::{Capacity, LinkSpec, ReorderSpec};

/// A rate beyond this is probably a slip of the unit.
const ODDLY_FAST: Rate = Rate(400_000_000_000);
/// As is one below this.
const ODDLY_SLOW: Rate = Rate(1_000);
/// And a delay beyond this.
const ODDLY_LONG: Span = Span::from_secs(10);
/// A trace of this size takes long to read.
const ODDLY_LARGE: u64 = 1_000_000_000;

/// One direction of a link as written, with what is needed to size its queue.
#[derive(Clone)]
pub(crate) struct Link {
    /// What the simulator gets, but for the return direction and a queue size in bdp.
    pub(crate) spec: LinkSpec,
    pub(crate) origin: Origin,
    /// First rate, or a trace's mean; `None` if unlimited.
    pub(crate) nominal: Option<Rate>,
    pub(crate) trace: Option<TraceInForce>,
    pub(crate) size: Option<(QueueSize, Origin)>,
    /// The sender is held back before the queue (access links).
    pub(crate) hold_back: bool,
    pub(crate) back: Option<Box<Link>>,
}

/// Which trace serves a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceInForce {
    pub(crate) file: String,
    pub(crate) hash: String,
}

/// What a link is to its scenario; its defaults depend on it.
#[derive(Clone)]
pub(crate) enum Role {
    /// One of `[[link]]`.
    Shared,
    /// The access link of a flow.
    Access,
    /// A return direction, with the delay of the other one, and with when that is up.
    Back(Checked<Schedule<Span>>, Checked<Schedule<bool>>),
}

impl Link {
    /// Base delay of a round trip through it: its own way and the way back.
    pub(crate) fn round_trip(&self) -> Span {
        let back = self.back.as_deref().unwrap_or(self);
        self.spec.delay.first() + back.spec.delay.first()
    }

    /// What the simulator gets, under this name.
    pub(crate) fn spec(&self, name: &str) -> LinkSpec {
        let back = self.back.as_ref().map(|back| Box::new(back.spec(&format!("{name}.back"))));
        LinkSpec { name: name.to_owned(), back, ..self.spec.clone() }
    }
}

/// Reads a link; `overhead` is the profile's.
pub(crate) fn link(
    mut section: Section,
    name: &str,
    role: &Role,
    overhead: u64,
    cx: &Context,
) -> Checked<Link> {
    let origin = section.origin();
    let capacity = capacity(&mut section, role, cx);
    let delay = delay(&mut section, role);
    let up = up(&mut section, role);
    let loss = section.get("loss", loss);
    let queue = section.get("queue", |item| queue(item, cx.queues, matches!(role, Role::Access)));
    let own_overhead = section.get("overhead", |item| item.whole_within(0, 1000));
    let jitter = section.get("jitter", |item| jitter(item, delay.as_ref().ok()));
    let reorder = section.get("reorder", reorder);
    let back = match role {
        Role::Back(..) => Ok(None),
        _ => {
            let role = Role::Back(delay.clone(), up.clone());
            section.get("back", |item| link(item.section()?, "", &role, overhead, cx))
        }
    };
    section.finish()?;

    let capacity = capacity?;
    let queue = queue?.unwrap_or_else(|| default_queue(role, &capacity, &origin));
    let spec = LinkSpec {
        name: name.to_owned(),
        capacity: capacity.served,
        delay: delay?,
        up: up?,
        loss: loss?.unwrap_or(loss::NONE),
        queue: queue.spec,
        overhead: own_overhead?.unwrap_or(overhead),
        jitter: jitter?.unwrap_or(Span::ZERO),
        reorder: reorder?,
        back: None,
    };
    let (nominal, trace) = (capacity.nominal, capacity.trace);
    Ok(Link {
        spec,
        origin,
        nominal,
        trace,
        size: queue.size,
        hold_back: queue.host,
        back: back?.map(Box::new),
    })
}

/// How fast a link serves, and what is known of it.
struct LinkCapacity {
    served: Capacity,
    nominal: Option<Rate>,
    trace: Option<TraceInForce>,
}

fn capacity(section: &mut Section, role: &Role, cx: &Context) -> Checked<LinkCapacity> {
    let rate = section.get("rate", |item| steps(item, link_rate));
    let trace = section.get("trace", |item| Ok((traced(item, cx)?, item.clone())));
    match (rate?, trace?) {
        (Some(_), Some((_, item))) => Err(item.error("expected a `rate` or a `trace`, found both")),
        (Some(rate), None) => {
            Ok(LinkCapacity { nominal: Some(rate.first()), served: Capacity::Rate(rate), trace: None })
        }
        (None, Some((served, _))) => Ok(served),
        (None, None) if matches!(role, Role::Shared) => Err(section.missing("rate")),
        (None, None) => Ok(LinkCapacity { served: Capacity::Unlimited, nominal: None, trace: None }),
    }
}

fn link_rate(item: &Item) -> Checked<Rate> {
    let rate = quantity::rate(item)?;
    if rate > ODDLY_FAST {
        item.warn(format!("{} is faster than any link today; is the unit right?", quantity::show_rate(rate)));
    }
    if rate < ODDLY_SLOW {
        item.warn(format!("{} is slower than a modem; is the unit right?", quantity::show_rate(rate)));
    }
    Ok(rate)
}

fn traced(item: &Item, cx: &Context) -> Checked<LinkCapacity> {
    let file = item.text()?;
    let mut open = opened(item, file, cx)?;
    if open.bytes > ODDLY_LARGE {
        let gigabytes = open.bytes as f64 / 1e9;
        item.warn(format!("this trace has {gigabytes:.1} GB: reading it takes a while"));
    }
    let duration = cx.duration.unwrap_or(Span::from_secs(1));
    let trace =
        trace::read(&mut *open.reader, duration).map_err(|why| item.error(format!("{file}: {why}")))?;
    if let (Some(period), Some(duration)) = (trace.period, cx.duration) {
        warn_of_repetition(item, period, duration);
    }
    let served = match trace.service {
        Service::Opportunities(opportunities) => Capacity::Trace(opportunities),
        Service::Rates(rates) => Capacity::Rate(rates),
    };
    let in_force = TraceInForce { file: file.to_owned(), hash: trace.hash };
    Ok(LinkCapacity { served, nominal: Some(trace.mean), trace: Some(in_force) })
}

/// One of ours by its name, else a file.
fn opened<'a>(item: &Item, file: &str, cx: &Context<'a>) -> Checked<TraceFile<'a>> {
    let names = BUILT_IN.each_ref().map(|trace| trace.name);
    match (BuiltIn::named(file), &item.node.at) {
        (Some(trace), _) => return Ok(trace.open()),
        (None, _) if file.starts_with(SYNTHETIC) => {
            return Err(item.error(words::unknown("trace", file, &names)));
        }
        (None, Place::Override(_)) => cx.traces.open_override(file),
        (None, _) => cx.traces.open(file),
    }
    .map_err(|why| match words::nearest(file, &names).first() {
        Some(name) => item.error(format!("{why}; did you mean `{name}`?")),
        None => item.error(why),
    })
}

fn warn_of_repetition(item: &Item, period: Span, duration: Span) {
    if period > duration {
        item.warn(format!("only the first {duration} of the trace's {period} are used"));
    }
    if period < duration {
        let times = duration.0 as f64 / period.0 as f64;
        item.warn(format!(
            "the trace of {period} repeats: the run of {duration} goes through it {times:.1} times"
        ));
    }
}

fn delay(section: &mut Section, role: &Role) -> Checked<Schedule<Span>> {
    match role {
        Role::Back(forward, _) => match section.get("delay", |item| steps(item, link_delay))? {
            Some(own) => Ok(own),
            None => forward.clone(),
        },
        _ => section.require("delay", |item| steps(item, link_delay)),
    }
}

fn up(section: &mut Section, role: &Role) -> Checked<Schedule<bool>> {
    match (section.get("up", |item| steps(item, |item| item.flag()))?, role) {
        (Some(own), _) => Ok(own),
        (None, Role::Back(_, forward)) => forward.clone(),
        (None, _) => Ok(Schedule::constant(true)),
    }
}

fn link_delay(item: &Item) -> Checked<Span> {
    let delay = quantity::time(item)?;
    if delay > ODDLY_LONG {
        item.warn(format!("a delay of {delay} is longer than any link's; is the unit right?"));
    }
    Ok(delay)
}

fn jitter(item: &Item, delay: Option<&Schedule<Span>>) -> Checked<Span> {
    let jitter = quantity::time(item)?;
    if let Some(delay) = delay.filter(|delay| jitter > delay.first()) {
        item.warn(format!("a jitter of {jitter} is larger than the delay of {}", delay.first()));
    }
    Ok(jitter)
}

fn reorder(item: &Item) -> Checked<ReorderSpec> {
    let mut section = item.section()?;
    let probability = section.require("probability", loss::probability);
    let delay = section.require("delay", quantity::time);
    section.finish()?;
    Ok(ReorderSpec { probability: probability?, extra_delay: delay? })
}

fn default_queue(role: &Role, capacity: &LinkCapacity, origin: &Origin) -> Queue {
    match role {
        Role::Access => Queue::unlimited(true),
        Role::Back(..) if capacity.nominal.is_none() => Queue::unlimited(false),
        _ => Queue::droptail(QueueSize::Default, origin.clone()),
    }
}
