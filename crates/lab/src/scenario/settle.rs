//! Checks and sizes that need all links and flows: queue sizes in bdp, and whether a packet fits.

use super::flow::{Flow, Path};
use super::link::Link;
use super::problem::Problems;
use super::quantity::QueueSize;
use super::section::Origin;
use cwndlab_cc::params::Value;
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::queue::{LIMIT, Limit, QueueSpec, Sizing};

/// Bits of a packet by which queue sizes in bdp are counted.
pub(crate) const PACKET_BITS: f64 = 1500.0 * 8.0;
/// More than this is legal, but larger than any real buffer.
const ODDLY_MANY_BDP: f64 = 100.0;

/// The properties of the flows over a link that size its queue.
#[derive(Clone, Copy)]
struct Load {
    /// The smallest base RTT.
    rtt: Span,
    /// The largest packet in bytes, without the link's overhead.
    packet: u64,
    /// The most fragments of a segment.
    fragments: u64,
}

/// Sizes all queues.
pub(crate) fn settle(links: &mut [Option<Link>], flows: &mut [Option<Flow>], problems: &Problems) {
    let loads = loads(links, flows);
    for (link, load) in links.iter_mut().zip(loads) {
        if let Some(link) = link {
            let alone = Load { rtt: link.round_trip(), packet: 0, fragments: 1 };
            size_both_ways(link, load.unwrap_or(alone), problems);
        }
    }
    for flow in flows.iter_mut().flatten() {
        let alone = load(flow, Span::ZERO);
        for path in &mut flow.paths {
            let load = Load { rtt: base_rtt(path, links), ..alone };
            if let Some(access) = &mut path.access {
                size_both_ways(access, load, problems);
            }
        }
    }
}

/// The load of each link; `None` for a link without flows.
fn loads(links: &[Option<Link>], flows: &[Option<Flow>]) -> Vec<Option<Load>> {
    let mut loads: Vec<Option<Load>> = vec![None; links.len()];
    for flow in flows.iter().flatten() {
        for path in &flow.paths {
            let own = load(flow, base_rtt(path, links));
            for &n in &path.links {
                let other = loads[n].unwrap_or(own);
                loads[n] = Some(Load {
                    rtt: own.rtt.min(other.rtt),
                    packet: own.packet.max(other.packet),
                    fragments: own.fragments.max(other.fragments),
                });
            }
        }
    }
    loads
}

/// The load of one flow, with this base RTT.
fn load(flow: &Flow, rtt: Span) -> Load {
    let tcp = &flow.kind.tcp;
    Load { rtt, packet: tcp.mss + tcp.header, fragments: tcp.fragments() }
}

/// The sum of the base delays of all links of a path, in both directions.
pub(crate) fn base_rtt(path: &Path, links: &[Option<Link>]) -> Span {
    let shared = path.links.iter().filter_map(|&n| links.get(n)?.as_ref());
    let each = shared.chain(&path.access).map(Link::round_trip);
    each.fold(Span::ZERO, |sum, delay| sum + delay)
}

fn size_both_ways(link: &mut Link, load: Load, problems: &Problems) {
    size(link, load, problems);
    if let Some(back) = &mut link.back {
        size(back, load, problems);
    }
}

fn size(link: &mut Link, load: Load, problems: &Problems) {
    let Some((size, origin)) = &link.size else { return };
    let limit = match *size {
        QueueSize::Unlimited => Limit::Unlimited,
        QueueSize::Packets(packets) => Limit::Packets(packets),
        QueueSize::Bytes(bytes) => Limit::Bytes(bytes),
        // A queue counts fragments, so a bdp is its number of segments times the fragments of each.
        QueueSize::Bdp(bdp) => match in_packets(bdp, link.nominal, load.rtt) {
            Ok(packets) => Limit::Packets(packets * load.fragments),
            Err(message) => {
                problems.error(&origin.at, &origin.key, message);
                return;
            }
        },
        QueueSize::Default => match link.nominal {
            Some(rate) => Limit::Packets(packets_of(1.0, rate, load.rtt) * load.fragments),
            None => Limit::Unlimited,
        },
    };
    let packet = load.packet + load.fragments * link.spec.overhead;
    if let Limit::Bytes(bytes) = limit
        && bytes < packet
    {
        let message =
            format!("expected at least one full packet, {packet} bytes on this link, found {bytes} bytes");
        problems.error(&origin.at, &origin.key, message);
    }
    if let Some(rate) = link.nominal {
        warn_of_odd_size(limit, packets_of(1.0, rate, load.rtt) * load.fragments, origin, problems);
    }
    if let Err(message) = apply(&mut link.spec.queue, limit) {
        problems.error(&origin.at, &origin.key, message);
    }
}

/// Converts a size in bdp to packets; a size that rounds to zero is an error.
fn in_packets(bdp: f64, rate: Option<Rate>, rtt: Span) -> Result<u64, String> {
    let rate = rate.ok_or("a size in bdp needs a rate, and this link has none")?;
    let packets = exact_packets_of(bdp, rate, rtt);
    if packets.round() >= 1.0 {
        return Ok(packets.round() as u64);
    }
    let one = match bdp {
        1.0 => String::new(),
        _ => format!("; 1 bdp is {} packets", shown(exact_packets_of(1.0, rate, rtt))),
    };
    Err(format!("{bdp} bdp is {} packets here{one}; a queue holds at least one packet", shown(packets)))
}

/// A number of packets with three significant digits, or more before the point.
fn shown(packets: f64) -> String {
    if packets == 0.0 || packets >= 100.0 {
        return format!("{packets:.0}");
    }
    let digits = (2.0 - packets.log10().floor()).clamp(0.0, 20.0) as usize;
    let text = format!("{packets:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Converts bandwidth-delay products to packets of 1500 bytes, rounded to the nearest, at least one.
fn packets_of(bdp: f64, rate: Rate, rtt: Span) -> u64 {
    exact_packets_of(bdp, rate, rtt).round().max(1.0) as u64
}

fn exact_packets_of(bdp: f64, rate: Rate, rtt: Span) -> f64 {
    bdp * rate.0 as f64 * rtt.as_secs_f64() / PACKET_BITS
}

fn warn_of_odd_size(limit: Limit, bdp_packets: u64, origin: &Origin, problems: &Problems) {
    let packets = match limit {
        Limit::Unlimited => return,
        Limit::Packets(packets) => packets as f64,
        Limit::Bytes(bytes) => bytes as f64 * 8.0 / PACKET_BITS,
    };
    let bdp = packets / bdp_packets as f64;
    // A bdp of one or two packets says nothing about a queue's size.
    if bdp > ODDLY_MANY_BDP && bdp_packets > 2 {
        problems.warn(&origin.at, &origin.key, format!("the queue holds {bdp:.0} bandwidth-delay products"));
    }
}

fn apply(queue: &mut QueueSpec, limit: Limit) -> Result<(), String> {
    match (queue.kind.sizing, limit) {
        (Sizing::Any, limit) => queue.limit = limit,
        (Sizing::Limit, Limit::Packets(packets)) => {
            let value = Value::Count(packets);
            let specs = (queue.kind.params)();
            if let Some(spec) = specs.iter().find(|spec| spec.name == LIMIT && !spec.allowed.admits(&value)) {
                return Err(format!("expected {}, found {packets} packets", spec.allowed));
            }
            queue.settings.push((LIMIT.to_owned(), value));
        }
        // Such a size was refused when it was read.
        (Sizing::Limit | Sizing::Fixed { .. }, _) => {}
    }
    Ok(())
}
