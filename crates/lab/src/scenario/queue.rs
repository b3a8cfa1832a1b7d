//! The queue of a link.

use super::problem::Checked;
use super::quantity::{self, QueueSize};
use super::section::{Item, Origin, Section};
use super::settings::{UNLIMITED, settings};
use super::tree::Kind;
use super::words;
use crate::linux;
use cwndlab_cc::params::ParamSpec;
use cwndlab_sim::queue::{LIMIT, Limit, QueueKind, QueueSpec, Queues, Sizing, droptail};

/// The queue of an access link that holds its sender back before the queue.
pub(crate) const HOST: &str = "host";

/// A queue as written.
pub(crate) struct Queue {
    /// Its kind and parameters, without a size that is still to be applied.
    pub(crate) spec: QueueSpec,
    /// The size as written, or the kind's default size if it has one.
    pub(crate) size: Option<(QueueSize, Origin)>,
    /// Whether the sender is held back before the queue.
    pub(crate) host: bool,
}

impl Queue {
    /// Drop-tail of this size.
    pub(crate) fn droptail(size: QueueSize, origin: Origin) -> Self {
        Self { spec: QueueSpec::droptail(Limit::Unlimited), size: Some((size, origin)), host: false }
    }

    /// A queue that is never full.
    pub(crate) fn unlimited(host: bool) -> Self {
        Self { spec: QueueSpec::droptail(Limit::Unlimited), size: None, host }
    }
}

/// Reads a size, the name of a kind, or a table of both; `host_allowed` is set for access links.
pub(crate) fn queue(item: &Item, queues: &Queues, host_allowed: bool) -> Checked<Queue> {
    let text = match &item.node.kind {
        Kind::Text(text) => text,
        Kind::Table(_) => return table(item.section()?, queues),
        // Reports that the unit is missing.
        Kind::Whole(_) | Kind::Real(_) => {
            return Ok(Queue::droptail(quantity::queue_size(item)?, item.origin()));
        }
        _ => {
            return Err(
                item.needs("a size such as \"1 bdp\", the name of a queue, or { kind = ..., size = ... }")
            );
        }
    };
    let word = text.trim();
    match queues.get(word) {
        _ if word == HOST && host_allowed => Ok(Queue::unlimited(true)),
        _ if word == HOST => {
            Err(item
                .error("only an access link may have the queue \"host\", which holds its own sender back"))
        }
        Some(kind) => Ok(by_default(kind, item.origin())),
        None if word.starts_with(char::is_alphabetic) && word != UNLIMITED => {
            let reason = why_not(word, queues);
            Err(item.error(reason.unwrap_or_else(|| words::unknown("queue", word, &queues.names()))))
        }
        None => Ok(Queue::droptail(quantity::queue_size(item)?, item.origin())),
    }
}

/// Why an existing kind of queue cannot be used here.
fn why_not(word: &str, queues: &Queues) -> Option<String> {
    queues.why_not(word).map(str::to_owned).or_else(|| linux::queue_elsewhere(word))
}

/// A queue of this kind with default settings.
fn by_default(kind: QueueKind, origin: Origin) -> Queue {
    let size = (kind.sizing == Sizing::Any).then_some((QueueSize::Default, origin));
    Queue { spec: QueueSpec::of(kind), size, host: false }
}

fn table(mut section: Section, queues: &Queues) -> Checked<Queue> {
    let kind = section.get("kind", |item| match &item.node.kind {
        Kind::Text(text) if queues.get(text).is_none() => match why_not(text, queues) {
            Some(reason) => Err(item.error(reason)),
            None => item.word("queue", &queues.names()),
        },
        _ => item.word("queue", &queues.names()),
    })?;
    let kind = kind.and_then(|name| queues.get(name)).unwrap_or(droptail::QUEUE);
    let mut queue = by_default(kind, section.origin());
    let specs = (kind.params)();
    let settings = settings(&mut section, &specs).and_then(|settings| {
        let kernels = linux::queues::KernelQueue::named(kind.name);
        let checked = kernels.map_or(Ok(()), |kernels| kernels.check(&settings));
        checked.map(|()| settings).map_err(|wrong| section.error(wrong))
    });
    let size = match kind.sizing {
        Sizing::Any => section.get("size", sized),
        Sizing::Limit => limit_as_size(&mut section, &specs),
        Sizing::Fixed { .. } => Ok(None),
    };
    section.finish()?;
    queue.spec.settings = settings?;
    queue.size = size?.or(queue.size);
    Ok(queue)
}

fn sized(item: &Item) -> Checked<(QueueSize, Origin)> {
    Ok((quantity::queue_size(item)?, item.origin()))
}

/// A size in place of the parameter [`LIMIT`].
fn limit_as_size(section: &mut Section, specs: &[ParamSpec]) -> Checked<Option<(QueueSize, Origin)>> {
    let size = section.get("size", |item| {
        let (size, origin) = sized(item)?;
        let most = specs.iter().find(|spec| spec.name == LIMIT).map(|spec| spec.allowed.to_string());
        match size {
            QueueSize::Packets(_) | QueueSize::Bdp(_) => Ok((size, origin)),
            _ => Err(item.error(format!(
                "this queue counts packets: give \"1000 packets\" or \"1 bdp\" ({})",
                most.unwrap_or_default()
            ))),
        }
    });
    let limited = section.has(LIMIT);
    match size? {
        Some(_) if limited => {
            Err(section.error("expected `size` or `limit`, which mean the same, found both"))
        }
        size => Ok(size),
    }
}
