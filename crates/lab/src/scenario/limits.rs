//! How much the simulator can hold.

use super::flow::Flow;
use super::link::Link;
use super::problem::{Checked, Problems};
use super::quantity::{self, show_rate, show_time};
use super::section::Item;
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::spec::Capacity;

/// The most flows of one scenario.
pub(crate) const FLOWS: u64 = 1_000_000;
/// So many flows are a matter of gigabytes.
const ODDLY_MANY_FLOWS: u64 = 100_000;
/// The most segments that one flow may send: the simulator numbers them with 32 bits.
const SEGMENTS: f64 = 4e9;

/// Refuses too many flows.
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

/// Refuses what the simulator could not number.
pub(crate) fn check(
    links: &[Option<Link>],
    flows: &[Option<Flow>],
    duration: Option<Span>,
    problems: &Problems,
) {
    for flow in flows.iter().flatten() {
        segments(flow, links, duration, problems);
    }
}

/// Bytes of a flow, at most what it may send.
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

fn segments(flow: &Flow, links: &[Option<Link>], duration: Option<Span>, problems: &Problems) {
    let path = flow.template.path.iter().filter_map(|&n| links[n].as_ref());
    let slowest = path.chain(&flow.access).filter_map(highest_rate).min();
    let (Some(rate), Some(duration), None) = (slowest, duration, flow.template.bytes) else { return };
    let segments = rate.0 as f64 / 8.0 * duration.as_secs_f64() / flow.template.tcp.mss as f64;
    if segments > SEGMENTS {
        let (rate, duration) = (show_rate(rate), show_time(duration));
        let message =
            format!("at {rate} for {duration} it may send more than {SEGMENTS} segments, which is too many");
        problems.error(&flow.origin.at, &flow.origin.key, message);
    }
}

fn highest_rate(link: &Link) -> Option<Rate> {
    match &link.spec.capacity {
        Capacity::Rate(rates) => rates.iter().map(|(_, rate)| *rate).max(),
        _ => link.nominal,
    }
}
