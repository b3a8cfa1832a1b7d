//! What the senders' processing delay (`send_jitter`) does to shares, and to BBR's queue.

use crate::dumbbell::{Dumbbell, FlowSetup, run_groups};
use crate::stats::{max, mean, min};
use crate::table::{Table, number, publish, range};
use cwndlab_cc::Span;
use cwndlab_sim::Outcome;
use cwndlab_sim::queue::Limit;

const PACKET_BITS: f64 = 1500.0 * 8.0;
/// Sub-packet phases of the path of flows whose RTTs differ, over two packet times, and seeds in each.
const PHASES: u32 = 12;
const PHASE_PACKETS: f64 = 2.0;
const PHASE_SEEDS: u64 = 2;
/// Seeds of flows with the same RTT.
const SEEDS: u64 = 10;
/// The first of two equal flows gets half, but for so much.
const SHARE_BOUND: f64 = 0.05;
/// The mean queueing delay of a lone BBR flow may be off the kernel's by so many per cent, or by so many milliseconds.
const DELAY_BOUND: f64 = 15.0;
const DELAY_BOUND_MS: f64 = 0.3;

/// The delays that are compared; the last one is the default.
fn jitters(rate_mbps: f64) -> [Option<Span>; 4] {
    let packet_time = Span::from_secs_f64(PACKET_BITS / rate_mbps / 1e6);
    [Some(Span::ZERO), Some(Span::from_micros(10)), Some(packet_time), None]
}

fn path(cc: &'static str, rate_mbps: f64, rtts_ms: [f64; 2]) -> Dumbbell {
    let [short, long] = rtts_ms;
    let detour = Span::from_secs_f64((long - short) / 2.0 / 1e3);
    let access = (long > short).then_some((20.0 * rate_mbps, detour));
    let start_jitter = Span::from_millis(10);
    let flows = [None, access].map(|access| FlowSetup { access, start_jitter, ..FlowSetup::new(cc) });
    Dumbbell {
        limit: Limit::Bytes((rate_mbps * short * 1e3 / 8.0) as u64),
        duration_s: 120.0,
        warmup_s: 20.0,
        ..Dumbbell::new("linux", rate_mbps, short, flows.to_vec())
    }
}

/// The same, with the second flow's delay in each phase.
fn phases(case: &Dumbbell) -> Vec<Dumbbell> {
    let packet_time = Span::from_secs_f64(PACKET_BITS / case.rate_mbps / 1e6);
    let shifted = |n: u32| {
        case.but(|case| {
            let (_, delay) = case.flows[1].access.as_mut().expect("a longer path");
            *delay += packet_time.scaled(PHASE_PACKETS * f64::from(n) / f64::from(PHASES) / 2.0);
        })
    };
    (0..PHASES).map(shifted).collect()
}

fn share(outcome: &Outcome) -> f64 {
    let [first, second] = [0, 1].map(|flow| outcome.flows[flow].goodput_mbps);
    first / (first + second)
}

/// The first flow's share by processing delay: of flows that are alike by seed, of others by phase.
fn shares(case: &Dumbbell) -> [Vec<f64>; 4] {
    jitters(case.rate_mbps).map(|send_jitter| {
        let case = case.but(|case| case.send_jitter = send_jitter);
        let groups: Vec<Vec<Dumbbell>> = match case.flows[1].access {
            None => case.seeds(SEEDS).map(|case| vec![case]).collect(),
            Some(_) => phases(&case).iter().map(|case| case.seeds(PHASE_SEEDS).collect()).collect(),
        };
        run_groups(groups).iter().map(|group| mean(&group.iter().map(share).collect::<Vec<_>>())).collect()
    })
}

#[test]
fn shares_of_two_flows() {
    let mut table = Table::new(
        "jitter-shares",
        &["flows", "path, 1 BDP", "of", "no delay", "10 us", "a packet time", "the default"],
    );
    let mut broken = Vec::new();
    for (cc, rate_mbps, rtts_ms) in [
        ("reno", 2.0, [40.0, 40.0]),
        ("reno", 10.0, [40.0, 40.0]),
        ("cubic", 50.0, [40.0, 40.0]),
        ("bbr1", 10.0, [40.0, 40.0]),
        ("bbr2", 50.0, [40.0, 40.0]),
        ("bbr3", 50.0, [40.0, 40.0]),
        ("reno", 10.0, [20.0, 80.0]),
        ("cubic", 10.0, [20.0, 80.0]),
        ("cubic", 50.0, [20.0, 60.0]),
    ] {
        let shares = shares(&path(cc, rate_mbps, rtts_ms));
        let [still, _, _, default] = &shares;
        let alike = rtts_ms[0] == rtts_ms[1];
        let path = format!("{rate_mbps} Mbit/s, {} and {} ms", rtts_ms[0], rtts_ms[1]);
        let spread = |values: &[f64]| max(values) - min(values);
        if alike && (mean(default) - 0.5).abs() > SHARE_BOUND {
            broken.push(format!("{cc}, {path}: {:.3} of the first", mean(default)));
        }
        if !alike && spread(default) > spread(still) / 2.0 {
            broken.push(format!("{cc}, {path}: phases still spread by {:.3}", spread(default)));
        }
        let [none, jitter, packet, default] =
            shares.map(|values| range(mean(&values), min(&values), max(&values), 3));
        let of = if alike { format!("{SEEDS} seeds") } else { format!("{PHASES} phases") };
        table.row([format!("{cc} + {cc}"), path, of, none, jitter, packet, default]);
    }
    publish(&[table], broken);
}

/// A lone flow at 10 Mbit/s and 40 ms with 2 BDP, and the queueing delay of the same flow in its kernel
/// (`tests/reference/bbr.csv`).
#[test]
fn the_queue_of_bbr() {
    let mut table = Table::new(
        "jitter-queue",
        &["algorithm", "kernel, ms", "no delay", "10 us", "a packet time", "the default"],
    );
    let mut broken = Vec::new();
    for cc in ["bbr1", "bbr2", "bbr3"] {
        let kernel = crate::kernel_bbr::lone_queue_delay_ms(cc, "single_10m_40ms_2bdp");
        let case = path(cc, 10.0, [40.0, 40.0]).but(|case| {
            case.flows.truncate(1);
            case.limit = Limit::Bytes(98_500);
            (case.duration_s, case.warmup_s) = (60.0, 0.0);
        });
        let delay = |outcome: &Outcome| outcome.links[0].queue_mean_bytes * 8.0 / case.rate_mbps / 1e3;
        let delays = jitters(case.rate_mbps).map(|send_jitter| {
            let case = case.but(|case| case.send_jitter = send_jitter);
            mean(&run_groups(vec![case.seeds(5).collect()])[0].iter().map(delay).collect::<Vec<_>>())
        });
        let off = (delays[3] - kernel).abs();
        if off > DELAY_BOUND_MS && off > kernel * DELAY_BOUND / 100.0 {
            broken.push(format!("{cc}: {:.2} ms for {kernel:.2}", delays[3]));
        }
        let [none, jitter, packet, default] = delays.map(|delay| number(delay, 2));
        table.row([cc.to_owned(), number(kernel, 2), none, jitter, packet, default]);
    }
    publish(&[table], broken);
}
