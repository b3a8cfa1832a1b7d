//! The queue disciplines by name. A registry is a value that holds the built-in ones and those that a caller
//! adds.

use super::fq_codel::FqCodel;
use super::{Discipline, Limit, codel, droptail, fq_codel, ns3_default};
use cwndlab_cc::params::{ParamSpec, Value};
use cwndlab_cc::{Rate, Rng};

/// The facts that a discipline's constructor gets.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The name of its kind.
    pub kind: &'static str,
    /// The name of its link.
    pub link: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The first rate of the link, or the mean of its trace; `None` if nothing limits it.
    pub rate: Option<Rate>,
    /// How much the queue holds, if its kind is of [`Sizing::Any`].
    pub limit: Limit,
}

impl Site<'_> {
    /// A random stream of this link and seed; a discipline that needs several gives each a name of its own.
    #[must_use]
    pub fn stream(&self, name: &str) -> Rng {
        Rng::named(self.seed, &format!("{} {name}", self.link))
    }
}

/// The name of the parameter that [`Sizing::Limit`] refers to.
pub const LIMIT: &str = "limit";

/// How a scenario sets how much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizing {
    /// By `size`, in packets, bytes or bdp, or "unlimited"; 1 bdp where none is given. It is [`Site::limit`].
    Any,
    /// By the parameter [`LIMIT`], which counts packets; `size` is another name of it, in packets or bdp.
    Limit,
    /// Not at all: the size is fixed.
    Fixed {
        /// The most packets that wait.
        packets: u64,
    },
}

/// What a discipline draws by chance, so that two seeds differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// What is drawn, in a few words, such as "hashes of FQ-CoDel".
    pub what: &'static str,
    /// A flag among its parameters that switches it off.
    pub unless: Option<&'static str>,
}

/// Makes a discipline from checked settings.
pub type BuildQueue = fn(&Site, &[(String, Value)]) -> Box<dyn Discipline>;

/// Makes the FQ-CoDel of a [`Service::DeviceFifo`] from checked settings; also returns how many packets may
/// wait in the FIFO, at least 1.
pub type BuildStack = fn(&Site, &[(String, Value)]) -> (FqCodel, u64);

/// How a link serves a queue.
#[derive(Clone, Copy, Debug)]
pub enum Service {
    /// Packet by packet, with an event for each: the discipline is asked when the previous packet has been
    /// sent.
    ByPacket,
    /// First in, first out; only packets that exceed the limit when they arrive are dropped. A link with a
    /// rate then knows when a packet will leave as soon as it arrives: it needs no service events, and makes
    /// no discipline.
    Fifo,
    /// A device's FIFO behind FQ-CoDel. A link with a rate needs no service events here either.
    DeviceFifo(BuildStack),
}

/// One kind of queue: what it is, what can be set, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct QueueKind {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// RFC, draft or implementation.
    pub source: &'static str,
    /// Where it departs from its source, and why.
    pub departures: &'static [&'static str],
    /// Its parameters, without `size`.
    pub params: fn() -> Vec<ParamSpec>,
    /// How a scenario sets how much it holds.
    pub sizing: Sizing,
    /// How a link serves it.
    pub service: Service,
    /// What it draws by chance, if anything.
    pub chance: Option<Chance>,
    /// Makes a discipline.
    pub build: BuildQueue,
}

/// The kinds of queue that a scenario may name.
#[derive(Clone, Debug, Default)]
pub struct Queues {
    kinds: Vec<QueueKind>,
    withheld: Vec<(&'static str, String)>,
}

impl Queues {
    /// The built-in kinds: one line each.
    #[must_use]
    pub fn built_in() -> Self {
        let kinds = vec![droptail::QUEUE, codel::QUEUE, fq_codel::QUEUE, ns3_default::QUEUE];
        Self { kinds, withheld: Vec::new() }
    }

    /// Adds a kind; one of the same name is replaced.
    pub fn add(&mut self, kind: QueueKind) {
        self.kinds.retain(|other| other.name != kind.name);
        self.kinds.push(kind);
    }

    /// Removes the kind of this name, and keeps the reason to report to those who name it.
    pub fn withhold(&mut self, name: &'static str, reason: String) {
        self.kinds.retain(|other| other.name != name);
        self.withheld.push((name, reason));
    }

    /// The reason why a kind was removed.
    #[must_use]
    pub fn why_not(&self, name: &str) -> Option<&str> {
        self.withheld.iter().find(|(other, _)| *other == name).map(|(_, reason)| reason.as_str())
    }

    /// The kind of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<QueueKind> {
        self.kinds.iter().find(|kind| kind.name == name).copied()
    }

    /// All, in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &QueueKind> {
        self.kinds.iter()
    }

    /// All names, in the order of registration.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.kinds.iter().map(|kind| kind.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::params::Allowed;

    #[test]
    fn what_a_kind_declares_holds_together() {
        for kind in Queues::built_in().iter() {
            let params = (kind.params)();
            let is_flag = |name| params.iter().any(|spec| spec.name == name && spec.allowed == Allowed::Flag);
            let counts_packets = params.iter().any(|spec| {
                spec.name == LIMIT && spec.unit == "packets" && matches!(spec.allowed, Allowed::Count(..))
            });
            assert_eq!(counts_packets, kind.sizing == Sizing::Limit, "{}", kind.name);
            assert!(params.iter().all(|spec| !["kind", "size"].contains(&spec.name)), "{}", kind.name);
            assert!(kind.chance.and_then(|chance| chance.unless).is_none_or(is_flag), "{}", kind.name);
            let is_fifo = matches!(kind.service, Service::Fifo);
            assert!(!is_fifo || params.is_empty(), "a limit is all that `{}` can have", kind.name);
        }
    }

    #[test]
    fn one_of_the_same_name_is_replaced() {
        let mut queues = Queues::built_in();
        queues.add(QueueKind { summary: "another", ..codel::QUEUE });
        assert_eq!(queues.names(), ["droptail", "fq-codel", "ns3-default", "codel"]);
        assert_eq!(queues.get("codel").map(|kind| kind.summary), Some("another"));
        assert!(queues.get("red").is_none());
    }
}
