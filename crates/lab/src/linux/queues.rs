//! The kernel's own queue disciplines: their names in scenario files and their parameters.
//!
//! The defaults are those of Linux 6.12. Some are multiples of a device's packet, which here is that of Ethernet.

mod options;
mod red;
mod sfq;

use super::PREFIX;
use cwndlab_cc::params::{ParamSpec, Parameters, Value};
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::queue::{BuildQueue, Chance, QueueKind, Service, Sizing};

cwndlab_cc::parameters! {
    /// The parameters of Linux's CoDel.
    pub struct CodelParams {
        limit: u64 = 1000, "limit", Allowed::Count(1, 100_000_000), "packets",
            "most packets that may wait", "Linux sch_codel";
        target: Span = Span::from_millis(5), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "acceptable standing delay", "Linux sch_codel";
        interval: Span = Span::from_millis(100), "interval", Allowed::Span(Span::from_micros(10), Span::from_secs(100)), "time",
            "how long the delay must stay above the target before a drop", "Linux sch_codel";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "Linux sch_codel";
    }
}

cwndlab_cc::parameters! {
    /// The parameters of Linux's FQ-CoDel.
    pub struct FqCodelParams {
        limit: u64 = 10_240, "limit", Allowed::Count(1, 100_000_000), "packets",
            "most packets that may wait", "Linux sch_fq_codel";
        flows: u64 = 1024, "flows", Allowed::Count(1, 65_536), "",
            "queues that flows are hashed to", "Linux sch_fq_codel";
        target: Span = Span::from_millis(5), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "acceptable standing delay", "Linux sch_fq_codel";
        interval: Span = Span::from_millis(100), "interval", Allowed::Span(Span::from_micros(10), Span::from_secs(100)), "time",
            "how long the delay must stay above the target before a drop", "Linux sch_fq_codel";
        quantum: u64 = 1514, "quantum", Allowed::Count(256, 1_048_576), "bytes",
            "bytes that a queue may send at its turn", "Linux sch_fq_codel, psched_mtu of Ethernet";
        memory: u64 = 33_554_432, "memory", Allowed::Count(1514, 4_294_967_295), "bytes",
            "most memory that packets may take, the kernel's overhead included", "Linux sch_fq_codel";
        ecn: bool = true, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "Linux sch_fq_codel";
    }
}

cwndlab_cc::parameters! {
    /// The parameters of Linux's fair queue. It paces by the senders' sockets, which do not exist in a router.
    pub struct FqParams {
        limit: u64 = 10_000, "limit", Allowed::Count(1, 100_000_000), "packets",
            "most packets that may wait", "Linux sch_fq";
        flow_limit: u64 = 100, "flow_limit", Allowed::Count(1, 100_000_000), "packets",
            "most packets of one flow that may wait", "Linux sch_fq";
        quantum: u64 = 3028, "quantum", Allowed::Count(1, 1_048_576), "bytes",
            "bytes that a flow may send at its turn", "Linux sch_fq, twice psched_mtu of Ethernet";
        initial_quantum: u64 = 15_140, "initial_quantum", Allowed::Count(1, 2_147_483_647), "bytes",
            "bytes that a new flow may send at its first turn", "Linux sch_fq, ten times psched_mtu of Ethernet";
    }
}

cwndlab_cc::parameters! {
    /// The parameters of Linux's PIE.
    pub struct PieParams {
        limit: u64 = 1000, "limit", Allowed::Count(1, 100_000_000), "packets",
            "most packets that may wait", "Linux sch_pie";
        target: Span = Span::from_millis(15), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "delay that it steers to", "Linux sch_pie";
        update: Span = Span::from_millis(15), "update", Allowed::Span(Span::from_millis(1), Span::from_secs(10)), "time",
            "time between two updates of the probability", "Linux sch_pie";
        alpha: u64 = 2, "alpha", Allowed::Count(0, 32), "",
            "weight of the delay's distance from the target, in sixteenths", "Linux sch_pie";
        beta: u64 = 20, "beta", Allowed::Count(0, 32), "",
            "weight of the delay's change, in sixteenths", "Linux sch_pie";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "Linux sch_pie";
    }
}

cwndlab_cc::parameters! {
    /// The parameters of Linux's FQ-PIE.
    pub struct FqPieParams {
        limit: u64 = 10_240, "limit", Allowed::Count(1, 100_000_000), "packets",
            "most packets that may wait", "Linux sch_fq_pie";
        flows: u64 = 1024, "flows", Allowed::Count(1, 65_536), "",
            "queues that flows are hashed to", "Linux sch_fq_pie";
        target: Span = Span::from_millis(15), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "delay that it steers to", "Linux sch_fq_pie";
        update: Span = Span::from_millis(15), "update", Allowed::Span(Span::from_millis(1), Span::from_secs(10)), "time",
            "time between two updates of the probability", "Linux sch_fq_pie";
        quantum: u64 = 1514, "quantum", Allowed::Count(1, 1_048_576), "bytes",
            "bytes that a queue may send at its turn", "Linux sch_fq_pie, psched_mtu of Ethernet";
        memory: u64 = 33_554_432, "memory", Allowed::Count(1514, 4_294_967_295), "bytes",
            "most memory that packets may take, the kernel's overhead included", "Linux sch_fq_pie";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "Linux sch_fq_pie";
    }
}

cwndlab_cc::parameters! {
    /// The parameters of CAKE. Its shaper is off, because the link sets the rate.
    pub struct CakeParams {
        rtt: Span = Span::from_millis(100), "rtt", Allowed::Span(Span::from_micros(1), Span::from_secs(1000)), "time",
            "interval of its CoDel (COBALT)", "Linux sch_cake";
        target: Span = Span::from_millis(5), "target", Allowed::Span(Span::from_micros(1), Span::from_secs(10)), "time",
            "acceptable standing delay", "Linux sch_cake";
        memory: u64 = 15_728_640, "memory", Allowed::Count(1514, 4_294_967_295), "bytes",
            "most memory that packets may take, the kernel's overhead included", "about what Linux sch_cake takes without a rate: 10,240 packets";
        ack_filter: bool = false, "ack_filter", Allowed::Flag, "",
            "drop ACKs that a later one makes needless", "Linux sch_cake";
    }
}

/// A scenario's settings of a queue, by parameter name.
type Settings = [(String, Value)];

/// A queue discipline of the kernel.
pub struct KernelQueue {
    /// The kind of queue that scenarios name.
    pub kind: QueueKind,
    layout: Layout,
}

/// How a discipline's settings are passed to Linux (`include/uapi/linux/pkt_sched.h`).
enum Layout {
    /// As attributes: the attribute number of each parameter.
    Attributes(&'static [(&'static str, u16)]),
    /// In a structure of the discipline's own.
    Built {
        /// Checks settings that are each within their limits.
        check: fn(&Settings) -> Result<(), String>,
        /// Writes the structure, for a link of this rate.
        options: fn(&Settings, Option<Rate>) -> Vec<u8>,
    },
}

/// The most packets that CAKE holds.
const CAKE_PACKETS: u64 = 10_240;

const fn kind(
    name: &'static str,
    summary: &'static str,
    params: fn() -> Vec<ParamSpec>,
    chance: Option<Chance>,
) -> QueueKind {
    QueueKind {
        name,
        summary,
        source: "Linux",
        departures: &[],
        params,
        sizing: Sizing::Limit,
        service: Service::ByPacket,
        chance,
        build: |_, _| unreachable!("a queue of the kernel is made in the kernel"),
    }
}

const HASHES: Option<Chance> = Some(Chance { what: "hashes of the kernel's queue", unless: None });
const DROPS: Option<Chance> = Some(Chance { what: "drops of the kernel's queue", unless: None });

/// All kernel queues that a scenario may name.
pub const QUEUES: [KernelQueue; 8] = [
    KernelQueue {
        kind: kind("linux:codel", "CoDel of Linux (net/sched/sch_codel.c)", CodelParams::specs, None),
        layout: Layout::Attributes(&[("target", 1), ("limit", 2), ("interval", 3), ("ecn", 4)]),
    },
    KernelQueue {
        kind: kind(
            "linux:fq_codel",
            "FQ-CoDel of Linux (net/sched/sch_fq_codel.c)",
            FqCodelParams::specs,
            HASHES,
        ),
        layout: Layout::Attributes(&[
            ("target", 1),
            ("limit", 2),
            ("interval", 3),
            ("ecn", 4),
            ("flows", 5),
            ("quantum", 6),
            ("memory", 9),
        ]),
    },
    KernelQueue {
        kind: kind("linux:fq", "fair queue of Linux (net/sched/sch_fq.c)", FqParams::specs, HASHES),
        layout: Layout::Attributes(&[
            ("limit", 1),
            ("flow_limit", 2),
            ("quantum", 3),
            ("initial_quantum", 4),
        ]),
    },
    KernelQueue {
        kind: kind("linux:pie", "PIE of Linux (net/sched/sch_pie.c)", PieParams::specs, DROPS),
        layout: Layout::Attributes(&[
            ("target", 1),
            ("limit", 2),
            ("update", 3),
            ("alpha", 4),
            ("beta", 5),
            ("ecn", 6),
        ]),
    },
    KernelQueue {
        kind: kind("linux:fq_pie", "FQ-PIE of Linux (net/sched/sch_fq_pie.c)", FqPieParams::specs, HASHES),
        layout: Layout::Attributes(&[
            ("limit", 1),
            ("flows", 2),
            ("target", 3),
            ("update", 4),
            ("quantum", 7),
            ("memory", 8),
            ("ecn", 10),
        ]),
    },
    KernelQueue {
        kind: QueueKind {
            sizing: Sizing::Fixed { packets: CAKE_PACKETS },
            ..kind("linux:cake", "CAKE of Linux (net/sched/sch_cake.c)", CakeParams::specs, HASHES)
        },
        layout: Layout::Attributes(&[("rtt", 7), ("target", 8), ("memory", 10), ("ack_filter", 16)]),
    },
    KernelQueue {
        kind: kind("linux:red", "RED of Linux (net/sched/sch_red.c)", red::RedParams::specs, DROPS),
        layout: Layout::Built { check: red::check, options: red::options },
    },
    KernelQueue {
        kind: kind("linux:sfq", "SFQ of Linux (net/sched/sch_sfq.c)", sfq::SfqParams::specs, HASHES),
        layout: Layout::Built { check: |_| Ok(()), options: sfq::options },
    },
];

/// The kinds of queue, each built by `build`.
pub fn kinds(build: BuildQueue) -> impl Iterator<Item = QueueKind> {
    QUEUES.into_iter().map(move |queue| QueueKind { build, ..queue.kind })
}

impl KernelQueue {
    /// The queue of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        QUEUES.into_iter().find(|queue| queue.kind.name == name)
    }

    /// Its name in the kernel.
    #[must_use]
    pub fn kernels_name(&self) -> &'static str {
        self.kind.name.trim_start_matches(PREFIX)
    }

    /// Checks that these settings, each within its limits, are consistent.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, settings: &Settings) -> Result<(), String> {
        match self.layout {
            Layout::Attributes(_) => Ok(()),
            Layout::Built { check, .. } => check(settings),
        }
    }

    /// The settings in Linux's form, the content of `TCA_OPTIONS`, for a link of this rate.
    #[must_use]
    pub fn options(&self, settings: &Settings, rate: Option<Rate>) -> Vec<u8> {
        match self.layout {
            Layout::Attributes(numbers) => self
                .values(numbers, settings)
                .into_iter()
                .flat_map(|(number, value)| options::attribute(number, &value.to_ne_bytes()))
                .collect(),
            Layout::Built { options, .. } => options(settings, rate),
        }
    }

    /// The attribute numbers and their values: times in microseconds, flags as 0 or 1.
    fn values(&self, numbers: &[(&str, u16)], settings: &Settings) -> Vec<(u16, u32)> {
        let value = |spec: ParamSpec| {
            let attribute = numbers.iter().find(|(name, _)| *name == spec.name)?.1;
            let given = settings.iter().find(|(name, _)| *name == spec.name);
            let value = match given.map_or(&spec.default, |(_, value)| value) {
                Value::Count(count) => u32::try_from(*count).unwrap_or(u32::MAX),
                Value::Flag(flag) => u32::from(*flag),
                Value::Span(span) => (span.0 / Span::from_micros(1).0) as u32,
                Value::Number(_) | Value::Word(_) | Value::File(_) => return None,
            };
            Some((attribute, value))
        };
        (self.kind.params)().into_iter().filter_map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_an_attribute() {
        for queue in QUEUES {
            let Layout::Attributes(numbers) = queue.layout else { continue };
            let params = (queue.kind.params)();
            assert_eq!(queue.values(numbers, &[]).len(), params.len(), "{}", queue.kind.name);
            assert_eq!(numbers.len(), params.len(), "{}", queue.kind.name);
        }
    }

    #[test]
    fn times_are_in_microseconds() {
        let set =
            [("target".to_owned(), Value::Span(Span::from_millis(7))), ("ecn".to_owned(), Value::Flag(true))];
        let codel = KernelQueue::named("linux:codel").expect("it is one of them");
        let words = |numbers: [(u16, u32); 4]| -> Vec<u8> {
            let word =
                |(number, value): (u16, u32)| [&[8, 0, number as u8, 0], &value.to_ne_bytes()[..]].concat();
            numbers.into_iter().flat_map(word).collect()
        };
        assert_eq!(codel.options(&set, None), words([(2, 1000), (1, 7000), (3, 100_000), (4, 1)]));
        assert_eq!(codel.kernels_name(), "codel");
    }
}
