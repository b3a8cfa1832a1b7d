//! Links: those of `[[link]]`, their return directions, and the access links of flows.

use super::context::Context;
use super::loss::{self, loss};
use super::problem::Checked;
use super::quantity::{self, QueueSize};
use super::queue::{Queue, queue};
use super::recording::{self, Delay, DelayRecording, RateRecording, Start, drawn_start};
use super::section::{Item, Origin, Section};
use super::steps::steps;
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::Schedule;
use cwndlab_sim::spec::{Capacity, LinkSpec, ReorderSpec};

/// A rate above this probably has the wrong unit.
const ODDLY_FAST: Rate = Rate(400_000_000_000);
/// A rate below this probably has the wrong unit too.
const ODDLY_SLOW: Rate = Rate(1_000);

/// One direction of a link as written, with the data for sizing its queue.
#[derive(Clone)]
pub(crate) struct Link {
    /// The simulator's specification, without the return direction and without a queue size in bdp.
    pub(crate) spec: LinkSpec,
    pub(crate) origin: Origin,
    /// The first rate, or a trace's mean; `None` if unlimited.
    pub(crate) nominal: Option<Rate>,
    /// The trace that it replays; its start may depend on the seed.
    pub(crate) trace: Option<RateRecording>,
    pub(crate) delays: Option<DelayRecording>,
    /// The first delay, or a file's mean.
    pub(crate) nominal_delay: Span,
    pub(crate) size: Option<(QueueSize, Origin)>,
    /// Whether the sender is held back before the queue (access links).
    pub(crate) hold_back: bool,
    pub(crate) back: Option<Box<Link>>,
}

/// The role of a link in its scenario; its defaults depend on it.
#[derive(Clone)]
pub(crate) enum Role {
    /// One of `[[link]]`.
    Shared,
    /// The access link of a flow.
    Access,
    /// A return direction.
    Back(Forward),
}

/// The settings that a return direction inherits from the forward direction.
#[derive(Clone)]
pub(crate) struct Forward {
    delay: Checked<Delay>,
    up: Checked<Schedule<bool>>,
    start: Start,
}

impl Link {
    /// The base delay of a round trip: forward and return direction.
    pub(crate) fn round_trip(&self) -> Span {
        let back = self.back.as_deref().unwrap_or(self);
        self.nominal_delay + back.nominal_delay
    }

    /// The forward direction, and the return direction if it has one.
    pub(crate) fn directions(&self) -> impl Iterator<Item = &Link> {
        std::iter::once(self).chain(self.back.as_deref())
    }

    /// The simulator's specification, under this name, for a run with this seed and duration.
    pub(crate) fn spec(&self, name: &str, seed: u64, duration: Span) -> LinkSpec {
        let drawn = self.drawn_start(name, seed).unwrap_or(Span::ZERO);
        let back = self.back.as_ref().map(|back| Box::new(back.replayed(&back_name(name), drawn, duration)));
        LinkSpec { back, ..self.replayed(name, drawn, duration) }
    }

    /// The specification of one direction; recordings with a random start begin at `drawn`.
    fn replayed(&self, name: &str, drawn: Span, duration: Span) -> LinkSpec {
        let mut spec = LinkSpec { name: name.to_owned(), ..self.spec.clone() };
        if let Some(trace) = self.trace.as_ref().filter(|trace| trace.start == Start::Random) {
            spec.capacity = trace.capacity(drawn, duration);
        }
        if let Some(delays) = self.delays.as_ref().filter(|delays| delays.start == Start::Random) {
            spec.delay = delays.schedule(drawn, duration);
        }
        spec
    }

    /// The random start of its recordings in both directions, if any of them draws its start.
    fn drawn_start(&self, name: &str, seed: u64) -> Option<Span> {
        let longest = self.directions().filter_map(Link::drawn_cycle).max()?;
        Some(drawn_start(seed, name, longest))
    }

    fn drawn_cycle(&self) -> Option<Span> {
        let trace = self.trace.as_ref().and_then(RateRecording::drawn_cycle);
        trace.max(self.delays.as_ref().and_then(DelayRecording::drawn_cycle))
    }

    /// The names of the directions that draw a start, each with its start in the run with this seed.
    pub(crate) fn drawn_starts(&self, name: &str, seed: u64) -> Vec<(String, Span)> {
        let Some(drawn) = self.drawn_start(name, seed) else { return Vec::new() };
        let begins = |direction: &Link| {
            let trace = direction.trace.as_ref().filter(|trace| trace.start == Start::Random);
            let delays = direction.delays.as_ref().filter(|delays| delays.start == Start::Random);
            trace.map(|trace| trace.begins_at(drawn)).or(delays.map(|delays| delays.begins_at(drawn)))
        };
        let names = [name.to_owned(), back_name(name)];
        self.directions().zip(names).filter_map(|(each, name)| Some((name, begins(each)?))).collect()
    }
}

/// The name of a return direction.
fn back_name(name: &str) -> String {
    format!("{name}.back")
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
    let inherited = if let Role::Back(forward) = role { forward.start } else { Start::BEGINNING };
    let capacity = capacity(&mut section, role, inherited, cx);
    let of_trace = capacity.as_ref().ok().and_then(|capacity| Some(capacity.trace.as_ref()?.start));
    let delay = delay(&mut section, role, of_trace.unwrap_or(inherited), cx);
    let of_delay = delay.as_ref().ok().and_then(|delay| Some(delay.recording.as_ref()?.start));
    let up = up(&mut section, role);
    let loss = section.get("loss", loss);
    let queue = section.get("queue", |item| queue(item, cx.queues, matches!(role, Role::Access)));
    let own_overhead = section.get("overhead", |item| item.whole_within(0, 1000));
    let jitter = section.get("jitter", |item| jitter(item, delay.as_ref().ok().map(|delay| delay.nominal)));
    let reorder = section.get("reorder", reorder);
    let back = match role {
        Role::Back(..) => Ok(None),
        _ => {
            let start = of_trace.or(of_delay).unwrap_or(Start::BEGINNING);
            let role = Role::Back(Forward { delay: delay.clone(), up: up.clone(), start });
            section.get("back", |item| link(item.section()?, "", &role, overhead, cx))
        }
    };
    section.finish()?;

    let capacity = capacity?;
    let Delay { schedule, nominal: nominal_delay, recording: delays } = delay?;
    let queue = queue?.unwrap_or_else(|| default_queue(role, &capacity, &origin));
    let spec = LinkSpec {
        name: name.to_owned(),
        capacity: capacity.served,
        delay: schedule,
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
        delays,
        nominal_delay,
        size: queue.size,
        hold_back: queue.host,
        back: back?.map(Box::new),
    })
}

/// The capacity of a link, its nominal rate, and the trace that it replays.
struct LinkCapacity {
    served: Capacity,
    nominal: Option<Rate>,
    trace: Option<RateRecording>,
}

fn capacity(section: &mut Section, role: &Role, inherited: Start, cx: &Context) -> Checked<LinkCapacity> {
    let rate = section.get("rate", |item| steps(item, link_rate));
    let trace = section.get("trace", |item| Ok((traced(item, inherited, cx)?, item.clone())));
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

fn traced(item: &Item, inherited: Start, cx: &Context) -> Checked<LinkCapacity> {
    let (trace, mean) = recording::traced(item, inherited, cx)?;
    let served = trace.capacity(Span::ZERO, cx.duration.unwrap_or(Span::from_secs(1)));
    Ok(LinkCapacity { served, nominal: Some(mean), trace: Some(trace) })
}

fn delay(section: &mut Section, role: &Role, start: Start, cx: &Context) -> Checked<Delay> {
    let read = |item: &Item| recording::delay(item, start, cx);
    match role {
        Role::Back(forward) => match section.get("delay", read)? {
            Some(own) => Ok(own),
            None => forward.delay.clone(),
        },
        _ => section.require("delay", read),
    }
}

fn up(section: &mut Section, role: &Role) -> Checked<Schedule<bool>> {
    match (section.get("up", |item| steps(item, |item| item.flag()))?, role) {
        (Some(own), _) => Ok(own),
        (None, Role::Back(forward)) => forward.up.clone(),
        (None, _) => Ok(Schedule::constant(true)),
    }
}

fn jitter(item: &Item, delay: Option<Span>) -> Checked<Span> {
    let jitter = quantity::time(item)?;
    if let Some(delay) = delay.filter(|delay| jitter > *delay) {
        item.warn(format!("a jitter of {jitter} is larger than the delay of {delay}"));
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
