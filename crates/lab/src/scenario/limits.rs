//! Limits on the size of a scenario.

use super::cost::{self, ExpectedWork};
use super::flow::{Flow, Path};
use super::link::Link;
use super::problem::{Checked, Problems};
use super::quantity::{self, show_rate, show_time};
use super::section::Item;
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::spec::Capacity;

/// The most flows in one scenario.
pub(crate) const FLOWS: u64 = 1_000_000;
/// More flows than this need gigabytes of memory.
const ODDLY_MANY_FLOWS: u64 = 100_000;
/// The most segments that one flow may send: the simulator numbers them with 32 bits.
const SEGMENTS: f64 = 4e9;

/// Refuses too many flows, and warns of many.
pub(crate) fn flows(flows: &[Option<Flow>], problems: &Problems) -> Checked<()> {
    let mut total = 0;
    for flow in flows.iter().flatten() {
        let before = total;
        total += flow.count.unwrap_or(1);
        let origin = &flow.origin;
        if total > FLOWS {
            let message = format!("that makes {total} flows; at most {FLOWS} are allowed");
            return Err(problems.error(&origin.at, &origin.key, message));
        }
        if before <= ODDLY_MANY_FLOWS && total > ODDLY_MANY_FLOWS {
            problems.warn(
                &origin.at,
                &origin.key,
                format!("that makes {total} flows, which need gigabytes of memory"),
            );
        }
    }
    Ok(())
}

/// Refuses a scenario that the simulator could not hold or number, and warns of one that would take long;
/// returns the estimated work, if it is known.
pub(crate) fn check(
    links: &[Option<Link>],
    flows: &[Option<Flow>],
    duration: Option<Span>,
    problems: &Problems,
) -> ExpectedWork {
    let mut fits = Ok(());
    for flow in flows.iter().flatten() {
        for path in &flow.paths {
            fits = fits.and(endless(flow, path, links, problems));
        }
        fits = fits.and(segments(flow, links, duration, problems));
    }
    match (fits, duration) {
        (Ok(()), Some(duration)) => cost::warn(links, flows, duration, problems),
        _ => ExpectedWork::default(),
    }
}

/// Bytes that a flow sends, refused above the limit on segments.
pub(crate) fn bytes(item: &Item, mss: u64) -> Checked<u64> {
    let bytes = quantity::bytes(item)?;
    let segments = bytes as f64 / mss as f64;
    if segments > SEGMENTS {
        return Err(
            item.error(format!("{segments:.0} segments are too many; a flow sends at most {SEGMENTS}"))
        );
    }
    Ok(bytes)
}

/// Refuses a flow whose window nothing would limit: it would double each round trip until memory is full.
fn endless(flow: &Flow, path: &Path, links: &[Option<Link>], problems: &Problems) -> Checked<()> {
    let shared = path.links.iter().map(|&n| links[n].as_ref());
    // A link that could not be read may have had a rate.
    let Some(shared) = shared.collect::<Option<Vec<_>>>() else { return Ok(()) };
    let directions = shared.iter().filter_map(|link| flow.data_direction(link));
    let limited = directions.chain(&path.access).any(|link| link.nominal.is_some());
    if limited || flow.bounded() {
        return Ok(());
    }
    let names: Vec<String> = shared.iter().map(|link| format!("`{}`", link.spec.name)).collect();
    let names = names.join(", ");
    let message = format!(
        "nothing limits the rate of its data on the return path over {names}, so its window would grow without end; \
         give a `rate` (or `trace`) in [link.back] of {names} or in the flow's `access`, or bound the flow with \
         `bytes`, tcp.receive_buffer or tcp.send_buffer"
    );
    let origin = flow.reversed.as_ref().unwrap_or(&flow.origin);
    Err(problems.error(&origin.at, &origin.key, message))
}

fn segments(flow: &Flow, links: &[Option<Link>], duration: Option<Span>, problems: &Problems) -> Checked<()> {
    let slowest = |path: &Path| {
        let shared = path.links.iter().filter_map(|&n| flow.data_direction(links[n].as_ref()?));
        shared.chain(&path.access).filter_map(highest_rate).min()
    };
    // A connection numbers its data across all its paths.
    let rate = flow.paths.iter().filter_map(slowest).map(|rate| rate.0).fold(0, u64::saturating_add);
    let rate = Some(Rate(rate)).filter(|rate| rate.0 > 0);
    let (Some(rate), Some(duration), None) = (rate, duration, flow.bytes) else { return Ok(()) };
    let segments = rate.0 as f64 / 8.0 * duration.as_secs_f64() / flow.kind.tcp.mss as f64;
    if segments > SEGMENTS {
        let (rate, duration) = (show_rate(rate), show_time(duration));
        let message =
            format!("at {rate} for {duration} it may send more than {SEGMENTS} segments, which is too many");
        return Err(problems.error(&flow.origin.at, &flow.origin.key, message));
    }
    Ok(())
}

fn highest_rate(link: &Link) -> Option<Rate> {
    match &link.spec.capacity {
        Capacity::Rate(rates) => rates.iter().map(|(_, rate)| *rate).max(),
        _ => link.nominal,
    }
}
