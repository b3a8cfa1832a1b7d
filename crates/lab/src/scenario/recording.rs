//! Rates and delays that a link replays from files, and the time in them at which a run begins.

use super::context::Context;
use super::problem::{Checked, Place};
use super::quantity::{self, show_time};
use super::section::Item;
use super::steps::steps;
use super::tree::{Kind, shortened};
use super::words;
use crate::trace::{self, BUILT_IN, BuiltIn, Cycle, Delays, SYNTHETIC, Service, Trace, TraceFile};
use cwndlab_cc::{Rate, Rng, Span};
use cwndlab_sim::Schedule;
use cwndlab_sim::spec::Capacity;
use std::sync::Arc;

/// A larger file takes long to read.
const ODDLY_LARGE: u64 = 1_000_000_000;
/// A longer delay probably has the wrong unit.
const ODDLY_LONG: Span = Span::from_secs(10);
/// Random starts are whole multiples of this, in nanoseconds.
const MILLISECOND: u64 = 1_000_000;
/// The word for a random start in a scenario.
pub(crate) const RANDOM: &str = "random";

/// The time in a recording at which a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    At(Span),
    /// Drawn by the seed.
    Random,
}

impl Start {
    pub(crate) const BEGINNING: Self = Self::At(Span::ZERO);

    /// The start as written in a scenario; `None` for the beginning.
    pub(crate) fn shown(self) -> Option<String> {
        match self {
            Self::BEGINNING => None,
            Self::At(at) => Some(show_time(at)),
            Self::Random => Some(RANDOM.to_owned()),
        }
    }
}

/// A file that a link replays.
#[derive(Clone, Debug)]
pub(crate) struct Recording<T> {
    pub(crate) file: String,
    pub(crate) hash: String,
    pub(crate) start: Start,
    /// The interval of delays that have one line for each interval.
    pub(crate) every: Option<Span>,
    period: Option<Span>,
    content: T,
}

impl<T> Recording<T> {
    /// The length of its cycle, if the run's start in it is random.
    pub(crate) fn drawn_cycle(&self) -> Option<Span> {
        self.period.filter(|_| self.start == Start::Random)
    }

    /// The time in its cycle at which a run begins: its own start or `drawn`, wrapped around past the end.
    pub(crate) fn begins_at(&self, drawn: Span) -> Span {
        let at = if let Start::At(at) = self.start { at } else { drawn };
        self.period.map_or(Span::ZERO, |period| Span(at.0 % period.0))
    }
}

/// The random start of a link's recordings in the run with this seed. All recordings of the link share it,
/// because they were recorded at the same time. The longest of their cycles is `longest`.
pub(crate) fn drawn_start(seed: u64, link: &str, longest: Span) -> Span {
    let mut rng = Rng::named(seed, &format!("link {link} trace start"));
    Span(rng.below(longest.0.div_ceil(MILLISECOND)) * MILLISECOND)
}

/// A recorded trace of rates or delivery opportunities.
pub(crate) type RateRecording = Recording<Service>;

impl RateRecording {
    pub(crate) fn capacity(&self, drawn: Span, duration: Span) -> Capacity {
        self.content.capacity(self.begins_at(drawn), duration)
    }
}

pub(crate) type DelayRecording = Recording<Arc<Cycle<Span>>>;

impl DelayRecording {
    pub(crate) fn schedule(&self, drawn: Span, duration: Span) -> Schedule<Span> {
        self.content.steps(self.begins_at(drawn), duration)
    }
}

/// The delay of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Delay {
    /// The delay in the run; for a random start, as if the run began at the recording's beginning.
    pub(crate) schedule: Schedule<Span>,
    /// The first delay, or a file's mean.
    pub(crate) nominal: Span,
    pub(crate) recording: Option<DelayRecording>,
}

/// A file's item in the scenario, its start, and its interval.
struct Named<'a> {
    item: Item<'a>,
    start: Option<(Start, Item<'a>)>,
    every: Option<Span>,
}

/// Reads a text, or a table with the keys `file` and `start`, and `every` if allowed.
fn named<'a>(item: &Item<'a>, may_have_every: bool) -> Checked<Named<'a>> {
    if !matches!(item.node.kind, Kind::Table(_)) {
        return Ok(Named { item: item.clone(), start: None, every: None });
    }
    let mut section = item.section()?;
    let file = section.require("file", |item| Ok(item.clone()));
    let start = section.get("start", |item| Ok((start(item)?, item.clone())));
    let every = if may_have_every { section.get("every", quantity::time_above_zero) } else { Ok(None) };
    section.finish()?;
    Ok(Named { item: file?, start: start?, every: every? })
}

fn start(item: &Item) -> Checked<Start> {
    match &item.node.kind {
        Kind::Text(text) if text == RANDOM => Ok(Start::Random),
        Kind::Text(text) if !text.contains(|c: char| c.is_ascii_digit()) => Err(item.error(format!(
            "expected a time such as \"12 s\", or \"{RANDOM}\", found \"{}\"",
            shortened(text)
        ))),
        _ => quantity::time(item).map(Start::At),
    }
}

/// Reads the trace of a link; without a start of its own it begins at `inherited`.
pub(crate) fn traced(item: &Item, inherited: Start, cx: &Context) -> Checked<(RateRecording, Rate)> {
    let named = named(item, false)?;
    let until = kept_until(&named, inherited, cx);
    let (file, Trace { service, mean, period, hash }) =
        read(&named.item, cx, |open| trace::read(&mut *open.reader, until))?;
    let start = start_in_force(&named, inherited, period)?;
    let recording = Recording { file, hash, start, every: None, period, content: service };
    if let Some(duration) = cx.duration {
        fits(&named.item, recording.content.fits(recording.latest_start(), duration))?;
    }
    warn_of_repetition(&named.item, start, period, cx);
    Ok((recording, mean))
}

/// Reads a delay: one value, steps, or a file, which begins at `inherited` without a start of its own.
pub(crate) fn delay(item: &Item, inherited: Start, cx: &Context) -> Checked<Delay> {
    if !matches!(item.node.kind, Kind::Table(_)) {
        let schedule = steps(item, link_delay)?;
        return Ok(Delay { nominal: schedule.first(), schedule, recording: None });
    }
    let named = named(item, true)?;
    let until = kept_until(&named, inherited, cx);
    let (file, Delays { cycle, mean, every, hash }) =
        read(&named.item, cx, |open| trace::read_delays(&mut *open.reader, named.every, until))?;
    warn_of_length(&named.item, mean);
    let period = cycle.period();
    let start = start_in_force(&named, inherited, period)?;
    let recording = Recording { file, hash, start, every, period, content: Arc::new(cycle) };
    let duration = cx.duration.unwrap_or(Span::from_secs(1));
    fits(&named.item, recording.content.fits(recording.latest_start(), duration))?;
    warn_of_repetition(&named.item, start, period, cx);
    let schedule = recording.schedule(Span::ZERO, duration);
    Ok(Delay { schedule, nominal: mean, recording: Some(recording) })
}

impl<T> Recording<T> {
    /// The latest time in its cycle at which a run may begin.
    fn latest_start(&self) -> Span {
        self.drawn_cycle().unwrap_or_else(|| self.begins_at(Span::ZERO))
    }
}

fn fits(item: &Item, fits: Result<(), String>) -> Checked<()> {
    fits.map_err(|why| item.error(format!("{}: {why}", item.text().unwrap_or_default())))
}

/// The time up to which a run may need a file's content.
fn kept_until(named: &Named, inherited: Start, cx: &Context) -> Span {
    let duration = cx.duration.unwrap_or(Span::from_secs(1));
    match named.start.as_ref().map_or(inherited, |(start, _)| *start) {
        Start::BEGINNING => duration,
        Start::At(at) if named.start.is_some() => at + duration,
        // The cycle may wrap around, so all of it is needed.
        Start::At(_) | Start::Random => Span(u64::MAX),
    }
}

/// Reads a file; error messages name it.
fn read<T>(
    item: &Item,
    cx: &Context,
    read: impl FnOnce(&mut TraceFile) -> Result<T, String>,
) -> Checked<(String, T)> {
    let file = item.text()?;
    let mut open = opened(item, file, cx)?;
    if open.bytes > ODDLY_LARGE {
        let gigabytes = open.bytes as f64 / 1e9;
        item.warn(format!("this trace has {gigabytes:.1} GB: reading it takes a while"));
    }
    let read = read(&mut open).map_err(|why| item.error(format!("{file}: {why}")))?;
    Ok((file.to_owned(), read))
}

/// Opens a built-in trace by its name, or else a file.
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

/// The start in force: the file's own, which must lie within it, or the inherited one if the file has a cycle.
fn start_in_force(named: &Named, inherited: Start, period: Option<Span>) -> Checked<Start> {
    match (&named.start, period) {
        (None, None) => Ok(Start::BEGINNING),
        (None, Some(_)) => Ok(inherited),
        (Some((Start::BEGINNING, _)), _) => Ok(Start::BEGINNING),
        (Some((_, item)), None) => {
            Err(item.error("the file has a single value and no end, so a start has no effect; leave it out"))
        }
        (Some((Start::At(at), item)), Some(period)) if *at >= period => {
            Err(item.error(format!("expected a start before the end of the file at {period}, found {at}")))
        }
        (Some((start, _)), Some(_)) => Ok(*start),
    }
}

fn warn_of_repetition(item: &Item, start: Start, period: Option<Span>, cx: &Context) {
    let (Some(period), Some(duration)) = (period, cx.duration) else { return };
    match start {
        Start::BEGINNING if period > duration => {
            item.warn(format!("only the first {duration} of the trace's {period} are used"));
        }
        Start::At(at) if at > Span::ZERO && period >= duration && at + duration > period => {
            item.warn(format!(
                "the trace of {period} repeats: the run of {duration} begins at {at} and passes its end"
            ));
        }
        // A trace of 59.986 s in a run of 60 s needs no warning: repeating less than 1 % of it hardly matters.
        _ if period.0 + period.0 / 100 < duration.0 => {
            let times = duration.0 as f64 / period.0 as f64;
            item.warn(format!(
                "the trace of {period} repeats: the run of {duration} goes through it {times:.1} times"
            ));
        }
        _ => {}
    }
}

fn link_delay(item: &Item) -> Checked<Span> {
    let delay = quantity::time(item)?;
    warn_of_length(item, delay);
    Ok(delay)
}

fn warn_of_length(item: &Item, delay: Span) {
    if delay > ODDLY_LONG {
        item.warn(format!("a delay of {delay} is longer than any link's; is the unit right?"));
    }
}
