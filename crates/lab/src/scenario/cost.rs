//! Estimates of a run's time and memory. A wrong unit can make either a thousand times larger.

use super::flow::{Flow, Path};
use super::link::Link;
use super::problem::Problems;
use super::section::Origin;
use super::settle::base_rtt;
use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::queue::{Limit, QueueSpec};
use cwndlab_sim::spec::{ArrivalProcess, Capacity, SizeSpec};
use std::collections::BTreeMap;

/// A run with more data packets than this gets a warning.
const ODDLY_MANY_PACKETS: f64 = 100e6;
/// CPU time of one data packet, in seconds.
const CPU_S: f64 = 0.15e-6;
/// A link with more packets than this in flight at once gets a warning too.
const ODDLY_MANY_UNDER_WAY: f64 = 1e6;

/// The estimated size of a run in packets and flows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ExpectedWork {
    /// Data packets that the run may carry.
    pub(crate) packets: f64,
    /// The most data packets that are sent and not yet acknowledged, in queues or in flight.
    pub(crate) held: f64,
    /// Concurrent transfers of arrival processes.
    pub(crate) transfers: f64,
}

/// The flows whose slowest shared link is the same direction of the same link. Amounts are in data packets.
struct Bottleneck<'a> {
    origin: &'a Origin,
    /// Packets that the link can carry in the run.
    capacity: f64,
    /// Packets that its flows may send in the run.
    sent: f64,
    /// Packets per second that its unbounded flows may send.
    lasting_per_second: f64,
    /// Largest base round-trip time of its unbounded flows.
    rtt: Span,
    /// Largest base round-trip time of all its flows.
    longest: Span,
    /// Packets that its queue holds.
    queue: f64,
}

/// Warns of a run with very many packets, and of links that hold very many at once; returns the estimate.
pub(crate) fn warn(
    links: &[Option<Link>],
    flows: &[Option<Flow>],
    duration: Span,
    problems: &Problems,
) -> ExpectedWork {
    let bottlenecks = bottlenecks(links, flows, duration);
    for bottleneck in &bottlenecks {
        under_way(bottleneck, duration, problems);
    }
    let packets: f64 = bottlenecks.iter().map(carried).sum();
    let work = ExpectedWork {
        packets,
        held: bottlenecks.iter().map(|bottleneck| held(bottleneck, duration)).sum(),
        transfers: flows.iter().flatten().map(|flow| transfers(flow, links, duration)).sum(),
    };
    let Some(most) = bottlenecks.iter().max_by(|a, b| carried(a).total_cmp(&carried(b))) else { return work };
    if packets > ODDLY_MANY_PACKETS {
        let here = if bottlenecks.len() > 1 { ", most of them here" } else { "" };
        let message = format!(
            "the run may carry {:.0} million data packets{here}, which takes about {:.0} s of CPU; are the rate and \
             the duration right?",
            packets / 1e6,
            packets * CPU_S
        );
        problems.warn(&most.origin.at, &most.origin.key, message);
    }
    work
}

fn carried(bottleneck: &Bottleneck) -> f64 {
    bottleneck.sent.min(bottleneck.capacity)
}

fn held(bottleneck: &Bottleneck, duration: Span) -> f64 {
    let under_way = bottleneck.capacity / duration.as_secs_f64() * bottleneck.longest.as_secs_f64();
    (under_way + bottleneck.queue).min(carried(bottleneck))
}

/// Concurrent transfers of an arrival process: the arrivals of one second, and those that the
/// slowest link cannot carry.
fn transfers(flow: &Flow, links: &[Option<Link>], duration: Span) -> f64 {
    let Some(arrivals) = flow.arrivals.filter(|_| flow.enabled) else { return 0.0 };
    let processes = flow.count.unwrap_or(1) as f64;
    let ArrivalProcess::PerSecond(rate) = arrivals.process else {
        let ArrivalProcess::Parallel { transfers, .. } = arrivals.process else { return 0.0 };
        return processes * transfers as f64;
    };
    let seconds = Span(duration.0.saturating_sub(flow.active.start.0)).as_secs_f64();
    let offered = rate * mean(arrivals.size) * 8.0;
    let of_path = flow.paths.iter().flat_map(|path| &path.links);
    let rates =
        of_path.filter_map(|&n| Some(run_bits(links.get(n)?.as_ref()?, duration)? / duration.as_secs_f64()));
    let slowest = rates.fold(f64::INFINITY, f64::min);
    let left_over = (1.0 - slowest / offered).max(0.0);
    processes * rate * (seconds.min(1.0) + seconds * left_over)
}

/// The packets of 1500 bytes that a queue can hold.
fn room(queue: &QueueSpec) -> f64 {
    match queue.most() {
        Limit::Unlimited => f64::INFINITY,
        Limit::Packets(packets) => packets as f64,
        Limit::Bytes(bytes) => bytes as f64 / 1500.0,
    }
}

fn under_way(bottleneck: &Bottleneck, duration: Span, problems: &Problems) {
    let per_second = bottleneck.lasting_per_second.min(bottleneck.capacity / duration.as_secs_f64());
    let packets = per_second * bottleneck.rtt.as_secs_f64();
    if packets > ODDLY_MANY_UNDER_WAY {
        let message = format!(
            "its bandwidth-delay product is {:.1} million packets, all in memory at once; are the rate and \
             the delays right?",
            packets / 1e6
        );
        problems.warn(&bottleneck.origin.at, &bottleneck.origin.key, message);
    }
}

fn bottlenecks<'a>(
    links: &'a [Option<Link>],
    flows: &'a [Option<Flow>],
    duration: Span,
) -> Vec<Bottleneck<'a>> {
    let run_bits = |link: &Link| run_bits(link, duration);
    let forward: Vec<_> = links.iter().map(|link| run_bits(link.as_ref()?)).collect();
    let backward: Vec<_> = links.iter().map(|link| run_bits(link.as_ref()?.back.as_deref()?)).collect();
    // The key is the link and its direction; a path that no shared link limits has a key of its own.
    let mut found: BTreeMap<(Option<usize>, usize), Bottleneck> = BTreeMap::new();
    for (index, (flow, path)) in paths(flows).enumerate() {
        let bits = if flow.kind.reverse { &backward } else { &forward };
        let rated = path.links.iter().filter_map(|&n| Some((n, bits[n]?)));
        let slowest = rated.min_by(|a, b| a.1.total_cmp(&b.1));
        let tcp = &flow.kind.tcp;
        let packet_bits = (tcp.mss + tcp.header) as f64 * 8.0 / tcp.fragments() as f64;
        let capacity = slowest.map_or(f64::INFINITY, |(_, bits)| bits / packet_bits);
        let access = path.access.as_ref().and_then(run_bits).map_or(f64::INFINITY, |bits| bits / packet_bits);
        let rtt = base_rtt(path, links);
        let sent = sent(flow, capacity, access, rtt, duration);
        if !sent.is_finite() {
            // A fixed window on an unlimited path: no estimate is possible.
            continue;
        }
        let shared = slowest.and_then(|(n, _)| Some((n, flow.data_direction(links[n].as_ref()?)?)));
        let (key, origin) = match shared {
            Some((n, link)) => ((Some(n), usize::from(flow.kind.reverse)), &link.origin),
            None => ((None, index), &flow.origin),
        };
        let queue = shared.map_or(f64::INFINITY, |(_, link)| room(&link.spec.queue));
        let bottleneck = found.entry(key).or_insert(Bottleneck {
            origin,
            queue,
            longest: Span::ZERO,
            capacity,
            sent: 0.0,
            lasting_per_second: 0.0,
            rtt: Span::ZERO,
        });
        bottleneck.capacity = bottleneck.capacity.max(capacity);
        bottleneck.sent += sent;
        bottleneck.longest = bottleneck.longest.max(rtt);
        if !flow.bounded() {
            let count = flow.count.unwrap_or(1) as f64;
            bottleneck.lasting_per_second += count * access / duration.as_secs_f64();
            bottleneck.rtt = bottleneck.rtt.max(rtt);
        }
    }
    found.into_values().collect()
}

/// The paths of the flows that run.
fn paths(flows: &[Option<Flow>]) -> impl Iterator<Item = (&Flow, &Path)> {
    let running = flows.iter().flatten().filter(|flow| flow.enabled);
    running.flat_map(|flow| flow.paths.iter().map(move |path| (flow, path)))
}

/// Bits that a link can carry in the run; `None` if it has no rate.
fn run_bits(link: &Link, duration: Span) -> Option<f64> {
    let Capacity::Rate(rates) = &link.spec.capacity else {
        return link.nominal.map(|mean| mean.0 as f64 * duration.as_secs_f64());
    };
    let ends = rates.iter().skip(1).map(|(at, _)| at.0).chain([u64::MAX]);
    let step = |((at, rate), end): (&(Time, Rate), u64)| {
        rate.0 as f64 * Span(end.min(duration.0).saturating_sub(at.0)).as_secs_f64()
    };
    Some(rates.iter().zip(ends).map(step).sum())
}

/// The most packets that the flows of a table send, if `shared` and `access` are the most packets that the
/// shared links and the access link of their path carry in the whole run.
fn sent(flow: &Flow, shared: f64, access: f64, rtt: Span, duration: Span) -> f64 {
    let active = &flow.active;
    let end = active.stop.map_or(duration.0, |stop| stop.0.min(duration.0));
    let active = Span(end.saturating_sub(active.start.0)).as_secs_f64();
    let share = active / duration.as_secs_f64();
    let mss = flow.kind.tcp.mss as f64 / flow.kind.tcp.fragments() as f64;
    let window = match flow.kind.tcp.receive_buffer.min(flow.kind.tcp.send_buffer) {
        u64::MAX => f64::INFINITY,
        // A round trip of 0 gives no limit.
        buffer => buffer as f64 / mss / rtt.as_secs_f64() * active,
    };
    let own = match (flow.arrivals, flow.bytes) {
        (Some(arrivals), _) => match arrivals.process {
            ArrivalProcess::PerSecond(rate) => rate * active * mean(arrivals.size) / mss,
            // There is always more to send.
            ArrivalProcess::Parallel { .. } => f64::INFINITY,
        },
        (None, Some(bytes)) => bytes as f64 / mss,
        (None, None) => f64::INFINITY,
    };
    let windows = if flow.arrivals.is_some() { f64::INFINITY } else { window };
    let each = own.min(windows).min(access * share);
    (each * flow.count.unwrap_or(1) as f64).min(shared * share)
}

fn mean(size: SizeSpec) -> f64 {
    match size {
        SizeSpec::Constant(bytes) => bytes as f64,
        SizeSpec::Exponential { mean } | SizeSpec::Pareto { mean, .. } => mean,
    }
}
