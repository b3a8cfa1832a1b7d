//! The link of a drawn episode: its scenario, its drawn values, and the values in force.

use super::environments::{Environment, RANGES};
use crate::scenario::{Flow, Link, PACKET_BITS, QueueSize, Scenario};
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::Schedule;
use cwndlab_sim::spec::{Capacity, LossKind};

/// Length of a drawn episode.
pub const DURATION: &str = "10 s";

/// The values of one episode, in the order of [`RANGES`].
pub(super) type Drawn = [f64; RANGES.len()];

/// The scenario that the drawn values override: flows of the environment's algorithm on one link.
pub(super) fn scenario(environment: &Environment, flows: u64) -> Vec<u8> {
    let link = format!(
        "duration = \"{DURATION}\"\n\n[[link]]\nname = \"bottleneck\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n"
    );
    let flow = |name: String| {
        let cc = environment.algorithm;
        format!("\n[[flow]]\nname = \"{name}\"\ncc = \"{cc}\"\npath = [\"bottleneck\"]\n")
    };
    std::iter::once(link).chain(agents(flows).map(flow)).collect::<String>().into_bytes()
}

/// The names of its flows; PettingZoo counts agents from 0.
pub(super) fn agents(flows: u64) -> impl Iterator<Item = String> {
    (0..flows).map(|n| format!("agent_{n}"))
}

/// The overrides that set the link to these values; half of the RTT is in each direction.
pub(super) fn overrides([rate_mbps, rtt_ms, buffer_bdp, loss]: Drawn) -> Vec<(String, String)> {
    let set = |key: &str, value: String| (format!("link.bottleneck.{key}"), value);
    vec![
        set("rate", format!("{rate_mbps:.3} Mbit/s")),
        set("delay", format!("{:.3} ms", rtt_ms / 2.0)),
        set("queue", format!("{buffer_bdp:.3} bdp")),
        set("loss", format!("{loss:.9}")),
    ]
}

/// The link values that a flow meets in a scenario, by the names of [`RANGES`]: drawn, or set by the user. A
/// buffer or a loss that is no single number is left out.
///
/// # Errors
/// Rate or delay is no single number, so goodput and RTT could not be expressed relative to it.
pub(super) fn in_force(scenario: &Scenario, flow: &Flow) -> Result<Vec<(&'static str, f64)>, String> {
    let [path] = flow.paths.as_slice() else {
        return Err(format!("the flow has {} paths; {ONE}", flow.paths.len()));
    };
    let shared = || path.links.iter().map(|n| &scenario.links[*n]);
    let links: Vec<&Link> = shared().chain(&path.access).collect();
    // The access link belongs to the sender, so data always cross it in its forward direction.
    let crossed: Vec<&Link> =
        shared().filter_map(|link| flow.data_direction(link)).chain(&path.access).collect();
    let rates = crossed.iter().map(|link| Ok((rate(link)?, *link))).collect::<Result<Vec<_>, String>>()?;
    let limits = rates.into_iter().filter_map(|(rate, link)| Some((rate?, link)));
    let (rate, bottleneck) = limits
        .min_by_key(|(rate, _)| *rate)
        .ok_or_else(|| format!("no link of the flow has a `rate`; {ONE}"))?;
    let rtt = rtt(&links)?;
    let loss = crossed.iter().try_fold(0.0, |sum, link| Some(either(sum, loss(link)?)));
    let bdp_bits = rate.0 as f64 * rtt.as_secs_f64();
    let values = [Some(rate.0 as f64 / 1e6), Some(rtt.as_millis_f64()), buffer(bottleneck, bdp_bits), loss];
    Ok(RANGES.iter().zip(values).filter_map(|(range, value)| Some((range.name, value?))).collect())
}

/// Why some links cannot be used.
const ONE: &str = "a drawn link has one rate and one delay, which `info` and scores report; \
                   give a scenario for any other network";

/// The rate; `None` if the link is unlimited.
fn rate(link: &Link) -> Result<Option<Rate>, String> {
    match &link.spec.capacity {
        Capacity::Unlimited => Ok(None),
        Capacity::Rate(rates) => match single(rates) {
            Some(rate) => Ok(Some(rate)),
            None => Err(format!("the link's `rate` changes; {ONE}")),
        },
        Capacity::Trace(_) => Err(format!("the link has a `trace`; {ONE}")),
    }
}

/// The round-trip time without a queue.
fn rtt(links: &[&Link]) -> Result<Span, String> {
    let mut directions = links.iter().flat_map(|link| [Some(*link), link.back.as_deref()]).flatten();
    match directions.find(|direction| single(&direction.spec.delay).is_none()) {
        Some(_) => Err(format!("the link's `delay` changes; {ONE}")),
        None => Ok(links.iter().fold(Span::ZERO, |sum, link| sum + link.round_trip())),
    }
}

/// The buffer in bandwidth-delay products of `bdp_bits` bits.
fn buffer(link: &Link, bdp_bits: f64) -> Option<f64> {
    let of_bits = |bits: f64| (bdp_bits > 0.0).then(|| bits / bdp_bits);
    match link.size.as_ref()?.0 {
        QueueSize::Bdp(bdp) => Some(bdp),
        QueueSize::Default => Some(1.0),
        QueueSize::Packets(packets) => of_bits(packets as f64 * PACKET_BITS),
        QueueSize::Bytes(bytes) => of_bits(8.0 * bytes as f64),
        QueueSize::Unlimited => None,
    }
}

/// The probability that a packet is lost at random.
fn loss(link: &Link) -> Option<f64> {
    match &link.spec.loss.kind {
        LossKind::None => Some(0.0),
        LossKind::Random(rates) => single(rates),
        LossKind::Periodic { .. } | LossKind::GilbertElliott { .. } => None,
    }
}

/// The probability that at least one of two independent events occurs.
fn either(a: f64, b: f64) -> f64 {
    a + b - a * b
}

fn single<T: Copy>(schedule: &Schedule<T>) -> Option<T> {
    (schedule.iter().count() == 1).then(|| schedule.first())
}
