//! Which queue a link has.

use super::problem::Checked;
use super::quantity::{self, QueueSize};
use super::section::{Item, Origin, Section};
use super::settings::settings;
use super::tree::Kind;
use super::words;
use cwndlab_cc::params::{ParamSpec, Parameters};
use cwndlab_sim::queue::codel::CodelParams;
use cwndlab_sim::queue::fq_codel::FqCodelParams;
use cwndlab_sim::queue::ns3_default::Ns3DefaultParams;
use cwndlab_sim::queue::{Limit, QueueSpec};

/// The disciplines by their names in scenario files.
pub(crate) const KINDS: &[&str] = &["droptail", "codel", "fq-codel", "ns3-default"];
/// The queue of an access link before which the sender is held back.
pub(crate) const HOST: &str = "host";

/// A queue as written.
pub(crate) struct Queue {
    /// The discipline; a size that is still to be applied is not in it.
    pub(crate) spec: QueueSpec,
    /// The size, where one was written or is the discipline's default.
    pub(crate) size: Option<(QueueSize, Origin)>,
    /// The sender is held back before it.
    pub(crate) host: bool,
}

impl Queue {
    /// Drop-tail of this size.
    pub(crate) fn droptail(size: QueueSize, origin: Origin) -> Self {
        Self { spec: QueueSpec::DropTail(Limit::Unlimited), size: Some((size, origin)), host: false }
    }

    /// No queue that is ever full.
    pub(crate) fn unlimited(host: bool) -> Self {
        Self { spec: QueueSpec::DropTail(Limit::Unlimited), size: None, host }
    }
}

/// A size, the name of a discipline, or a table of both; `host_allowed` on access links.
pub(crate) fn queue(item: &Item, host_allowed: bool) -> Checked<Queue> {
    let text = match &item.node.kind {
        Kind::Text(text) => text,
        Kind::Table(_) => return table(item.section()?),
        // Says that a unit is missing.
        Kind::Whole(_) | Kind::Real(_) => {
            return Ok(Queue::droptail(quantity::queue_size(item)?, item.origin()));
        }
        _ => {
            return Err(item.needs("a size as \"1 bdp\", the name of a queue, or { kind = ..., size = ... }"));
        }
    };
    match text.trim() {
        HOST if host_allowed => Ok(Queue::unlimited(true)),
        HOST => Err(item.error("only an access link has the queue \"host\": it holds its own sender back")),
        word if KINDS.contains(&word) => discipline(word, None, item.origin()),
        word if word.starts_with(char::is_alphabetic) && word != "unlimited" => {
            Err(item.error(words::unknown("queue", word, KINDS)))
        }
        _ => Ok(Queue::droptail(quantity::queue_size(item)?, item.origin())),
    }
}

fn table(mut section: Section) -> Checked<Queue> {
    let kind = section.get("kind", |item| item.word("queue", KINDS));
    let kind = kind?.unwrap_or("droptail");
    let origin = section.origin();
    let read = discipline(kind, Some(&mut section), origin);
    section.finish()?;
    read
}

fn discipline(kind: &str, section: Option<&mut Section>, origin: Origin) -> Checked<Queue> {
    match kind {
        "codel" => declared::<CodelParams>(section, QueueSpec::Codel),
        "fq-codel" => declared::<FqCodelParams>(section, QueueSpec::FqCodel),
        "ns3-default" => declared::<Ns3DefaultParams>(section, QueueSpec::Ns3Default),
        _ => {
            let size = section.map_or(Ok(None), |section| section.get("size", sized))?;
            let (size, origin) = size.unwrap_or((QueueSize::Default, origin));
            Ok(Queue::droptail(size, origin))
        }
    }
}

fn sized(item: &Item) -> Checked<(QueueSize, Origin)> {
    Ok((quantity::queue_size(item)?, item.origin()))
}

/// A discipline with declared parameters; where one of them is `limit`, in packets, `size` is another way to give it.
fn declared<P: Parameters>(section: Option<&mut Section>, wrap: fn(P) -> QueueSpec) -> Checked<Queue> {
    let Some(section) = section else {
        return Ok(Queue { spec: wrap(P::default()), size: None, host: false });
    };
    let specs = P::specs();
    let settings = settings(section, &specs);
    let size = match specs.iter().any(|spec| spec.name == "limit") {
        true => limit_as_size(section, &specs)?,
        false => None,
    };
    Ok(Queue { spec: wrap(P::with(&settings?)), size, host: false })
}

fn limit_as_size(section: &mut Section, specs: &[ParamSpec]) -> Checked<Option<(QueueSize, Origin)>> {
    let size = section.get("size", |item| {
        let (size, origin) = sized(item)?;
        let most = specs.iter().find(|spec| spec.name == "limit").map(|spec| spec.allowed.to_string());
        match size {
            QueueSize::Packets(_) | QueueSize::Bdp(_) => Ok((size, origin)),
            _ => Err(item.error(format!(
                "this queue counts packets: give \"1000 packets\" or \"1 bdp\" ({})",
                most.unwrap_or_default()
            ))),
        }
    });
    let limited = section.has("limit");
    match size? {
        Some(_) if limited => {
            Err(section.error("`size` and `limit` are two names for one thing: give one of them"))
        }
        size => Ok(size),
    }
}
