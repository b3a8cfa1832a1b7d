//! What a scenario may use on the Linux backend: the kernel's own algorithms and queues.

pub mod queues;
pub mod remote;

use cwndlab_cc::algorithm::Declares;
use cwndlab_cc::{Algorithm, Registry};
use cwndlab_sim::queue::Queues;
use std::sync::Arc;

/// Prefix of the kernel's algorithms and queues in scenario files.
pub const PREFIX: &str = "linux:";

/// The kernel's algorithms: their names in scenario files and their summaries.
pub const ALGORITHMS: [(&str, &str); 17] = [
    ("linux:reno", "NewReno of Linux (net/ipv4/tcp_cong.c)"),
    ("linux:bic", "BIC of Linux (net/ipv4/tcp_bic.c)"),
    ("linux:cubic", "CUBIC with HyStart of Linux (net/ipv4/tcp_cubic.c)"),
    ("linux:westwood", "TCP Westwood+ of Linux (net/ipv4/tcp_westwood.c)"),
    ("linux:htcp", "H-TCP of Linux (net/ipv4/tcp_htcp.c)"),
    ("linux:highspeed", "HighSpeed TCP of Linux (net/ipv4/tcp_highspeed.c)"),
    ("linux:hybla", "TCP Hybla of Linux (net/ipv4/tcp_hybla.c)"),
    ("linux:vegas", "TCP Vegas of Linux (net/ipv4/tcp_vegas.c)"),
    ("linux:nv", "TCP NV of Linux (net/ipv4/tcp_nv.c)"),
    ("linux:scalable", "Scalable TCP of Linux (net/ipv4/tcp_scalable.c)"),
    ("linux:lp", "TCP Low Priority of Linux (net/ipv4/tcp_lp.c)"),
    ("linux:veno", "TCP Veno of Linux (net/ipv4/tcp_veno.c)"),
    ("linux:yeah", "YeAH-TCP of Linux (net/ipv4/tcp_yeah.c)"),
    ("linux:illinois", "TCP Illinois of Linux (net/ipv4/tcp_illinois.c)"),
    ("linux:dctcp", "DCTCP of Linux (net/ipv4/tcp_dctcp.c)"),
    ("linux:cdg", "CDG of Linux (net/ipv4/tcp_cdg.c)"),
    ("linux:bbr", "BBR version 1 of Linux (net/ipv4/tcp_bbr.c)"),
];

/// The algorithms that a scenario may name on the Linux backend: `ours` and the kernel's, which cannot be built here.
#[must_use]
pub fn with_algorithms(ours: &Registry) -> Registry {
    let mut registry = ours.clone();
    for (name, summary) in ALGORITHMS {
        registry.add(Algorithm {
            name,
            summary,
            source: "Linux",
            departures: &[],
            params: Arc::new([]),
            declares: Declares::default(),
            build: Arc::new(|_, _| unreachable!("a controller of the kernel is made in the kernel")),
        });
    }
    registry
}

/// These queues, and the kernel's queues that are not among them.
#[must_use]
pub fn with_queues(queues: &Queues) -> Queues {
    let mut all = queues.clone();
    let kernels = queues::QUEUES.into_iter().map(|queue| queue.kind);
    kernels.filter(|kind| queues.get(kind.name).is_none()).for_each(|kind| all.add(kind));
    all
}

/// The message for a queue that only the Linux backend has.
pub(crate) fn queue_elsewhere(name: &str) -> Option<String> {
    let found = queues::KernelQueue::named(name)?;
    let name = found.kind.name;
    Some(format!("`{name}` is code of the Linux kernel; run the scenario with --backend linux"))
}

/// The message for an algorithm that only the Linux backend has.
pub(crate) fn elsewhere(name: &str) -> Option<String> {
    let listed = ALGORITHMS.iter().any(|(each, _)| *each == name);
    listed.then(|| format!("`{name}` is code of the Linux kernel; run the scenario with --backend linux"))
}
