//! What it does to BBR that the host which measured Linux 6.18 stood still now and then.

use crate::dumbbell::{Dumbbell, run_all};
use crate::linux::{dumbbell, path};
use crate::reference::{Row, linux};
use crate::stats::{max, mean, min};
use crate::table::{Table, number, publish, range};
use cwndlab_cc::{Rate, Time};
use cwndlab_learn::Rng;
use cwndlab_sim::Schedule;

/// How often each case is run, each time with its stalls at other times.
const DRAWS: u32 = 12;
/// After a stall the emulator released what was due at once; a link of many times the rate is nearly that.
const CATCHING_UP: f64 = 10.0;
/// A link that stands still.
const STILL: Rate = Rate(1);
/// BBR probes for more bandwidth once in this number of round trips: the times of a single stall are those of one such cycle.
const CYCLE_ROUND_TRIPS: f64 = 8.0;

/// How long the host stood still in a run of the reference, as it was measured.
enum Stalls {
    /// Once, at a time that was not recorded, for at most this number of milliseconds; then it caught up.
    Worst { ms: f64 },
    /// How often, and for how many seconds in all; packets kept their spacing.
    Pauses { count: u32, total_s: f64 },
}

/// The runs that `linux-single` lists as beyond a bound.
const CASES: &[(&str, Stalls)] = &[
    ("S2_50M_100ms_q1_bbr_r1", Stalls::Worst { ms: 10.522 }),
    ("S1_100M_60ms_q0.25_bbr_r1a3", Stalls::Pauses { count: 658, total_s: 1.2026 }),
    ("S1_100M_60ms_q0.25_bbr_r2a2", Stalls::Pauses { count: 763, total_s: 1.0934 }),
];

impl Stalls {
    fn describe(&self) -> String {
        match self {
            Stalls::Worst { ms } => format!("one of {ms:.1} ms"),
            Stalls::Pauses { count, total_s } => format!("{count}, {total_s:.2} s in all"),
        }
    }

    /// The rate of a link that stands still, as `draw` has it.
    fn rates(&self, case: &Dumbbell, draw: u32) -> Schedule<Rate> {
        let rate = Rate((case.rate_mbps * 1e6) as u64);
        let at = |seconds: f64, rate: Rate| (Time((seconds * 1e9) as u64), rate);
        let mut steps = vec![(Time::ZERO, rate)];
        match self {
            Stalls::Worst { ms } => {
                let cycle_s = CYCLE_ROUND_TRIPS * case.rtt.0 as f64 / 1e9;
                let begin = case.duration_s / 3.0 + cycle_s * f64::from(draw) / f64::from(DRAWS);
                let end = begin + ms / 1e3;
                let caught_up = end + ms / 1e3 / (CATCHING_UP - 1.0);
                steps.push(at(begin, STILL));
                steps.push(at(end, Rate((case.rate_mbps * CATCHING_UP * 1e6) as u64)));
                steps.push(at(caught_up, rate));
            }
            Stalls::Pauses { count, total_s } => {
                let mut rng = Rng::named(u64::from(draw), "pauses");
                let (between_s, mean_s) =
                    ((case.duration_s - total_s) / f64::from(*count), total_s / f64::from(*count));
                let mut time = 0.0;
                for _ in 0..*count {
                    time += between_s * rng.exponential();
                    steps.push(at(time, STILL));
                    time += mean_s * rng.exponential();
                    steps.push(at(time, rate));
                }
            }
        }
        Schedule::steps(steps).expect("times that increase")
    }
}

/// The kernel's mean queue and retransmissions lie between ours without and with the stalls at their worst.
#[test]
fn stalls_of_the_host() {
    let rows = linux();
    let heads = [
        "path",
        "queue, BDP",
        "stalls of the host",
        "kernel mean queue, kB",
        "ours without",
        "ours with them: mean [min, max]",
        "kernel retransmissions",
        "ours without",
        "ours with them: mean [min, max]",
    ];
    let mut table = Table::new("linux-stalls", &heads);
    let mut broken = Vec::new();
    for (run, stalls) in CASES {
        let row: &Row = rows.iter().find(|row| row.text("run") == *run).expect("a run of the reference");
        let still = dumbbell(std::slice::from_ref(row));
        let stalled = (0..DRAWS).map(|draw| still.but(|case| case.rates = Some(stalls.rates(&still, draw))));
        let outcomes = run_all(&std::iter::once(still.clone()).chain(stalled).collect::<Vec<_>>());
        let queues: Vec<f64> = outcomes.iter().map(|each| each.links[0].queue_mean_bytes / 1e3).collect();
        let resent: Vec<f64> =
            outcomes.iter().map(|each| each.flows[0].retransmitted_packets as f64).collect();
        let kernel = [row.number("queue_mean_bytes") / 1e3, row.number("retrans_segs")];
        for (kernel, ours) in kernel.iter().zip([&queues, &resent]) {
            if !(min(ours)..=max(ours)).contains(kernel) {
                broken.push(format!("{run}: the kernel has {kernel}, ours {ours:?}"));
            }
        }
        let spread = |values: &[f64], decimals| range(mean(values), min(values), max(values), decimals);
        table.row([
            path(row),
            row.text("queue_bdp").into(),
            stalls.describe(),
            number(kernel[0], 1),
            number(queues[0], 1),
            spread(&queues[1..], 1),
            number(kernel[1], 0),
            number(resent[0], 0),
            spread(&resent[1..], 0),
        ]);
    }
    publish(&[table], broken);
}
