//! BBRv1 against ns-3.44; that of ns-3.37 falls to a low rate after a timeout and stays there.

use crate::dumbbell::{Dumbbell, run_groups};
use crate::ns3::{
    algorithm, by_scenario, collect, drops, dumbbell, each, path, settle, spans, sum, timeouts, total,
};
use crate::reference::{Row, ns3_44};
use crate::stats::{gap, max, mean, min};
use crate::table::{Table, number, percent, publish, range};
use cwndlab_sim::spec::LossKind;
use cwndlab_sim::{Outcome, Schedule};

/// Of ours: what varies from seed to seed is the phase of the gain cycle, and the starts.
const SEEDS: u64 = 24;
/// The goodput of all flows may be so many per cent off.
const TOTAL_BOUND: f64 = 2.0;
/// And that of the first, unless it lies within our seeds.
const FIRST_BOUND: f64 = 5.0;
/// The rows that are not, as the page tells.
const OPEN: [&str; 2] = ["D_TcpBbr_40v60", "E_Bbr+Cubic_q4"];

fn case(rows: &[Row]) -> Dumbbell {
    let loss = rows[0].number("loss");
    dumbbell(rows).but(|case| {
        if loss > 0.0 {
            case.loss = LossKind::Random(Schedule::constant(loss));
        }
    })
}

fn first(outcome: &Outcome) -> f64 {
    outcome.flows[0].goodput_mbps
}

/// One draw or two of ns-3 against seeds of ours: what all get, and what BBR gets beside another flow.
#[test]
fn bbr1() {
    let scenarios = by_scenario(ns3_44());
    let groups = run_groups(scenarios.iter().map(|runs| case(&runs[0]).seeds(SEEDS).collect()).collect());
    let mut table = Table::new(
        "ns3-bbr",
        &[
            "flows",
            "path",
            "queue, BDP; random loss",
            "ns-3 total, Mbit/s (mean of runs)",
            "ours: mean [min, max]",
            "gap, %",
            "ns-3 goodput of the first (each run)",
            "ours: mean [min, max]",
            "gap of the means, %",
            "ns-3 drops (each run)",
            "ours: mean [min, max]",
            "timeouts: ns-3 (each run)",
            "ours (mean)",
            "verdict",
        ],
    );
    let mut broken = Vec::new();
    for (runs, outcomes) in scenarios.iter().zip(&groups) {
        let rows = &runs[0];
        let totals = collect(outcomes, total);
        let firsts = collect(outcomes, first);
        let dropped = collect(outcomes, drops);
        let their_totals: Vec<f64> = runs.iter().map(|rows| sum(rows, "goodput_mbps")).collect();
        let their_firsts: Vec<f64> = runs.iter().map(|rows| rows[0].number("goodput_mbps")).collect();
        let gaps = [gap(mean(&totals), mean(&their_totals)), gap(mean(&firsts), mean(&their_firsts))];
        let first_holds =
            gaps[1].abs() <= FIRST_BOUND || their_firsts.iter().all(|theirs| spans(&firsts, *theirs));
        let label = rows[0].text("label");
        let verdict = match (gaps[0].abs() <= TOTAL_BOUND && first_holds, OPEN.contains(&label)) {
            (true, false) => Ok("ok"),
            (false, true) => Ok("open"),
            (true, true) => Err("is no longer open".to_owned()),
            (false, false) => Err(format!("total {:+.1} %, first {:+.1} %", gaps[0], gaps[1])),
        };
        let expiries: Vec<f64> = runs.iter().map(|rows| sum(rows, "n_rto")).collect();
        table.row([
            rows.iter().map(|row| algorithm(row.text("cc"))).collect::<Vec<_>>().join(" + "),
            path(&rows[0]),
            format!("{:.1}; {}", rows[0].number("queue_bdp"), rows[0].text("loss")),
            number(mean(&their_totals), 2),
            range(mean(&totals), min(&totals), max(&totals), 2),
            percent(gaps[0]),
            each(&their_firsts, 2),
            range(mean(&firsts), min(&firsts), max(&firsts), 2),
            percent(gaps[1]),
            each(&runs.iter().map(|rows| rows[0].number("bneck_drops")).collect::<Vec<_>>(), 0),
            range(mean(&dropped), min(&dropped), max(&dropped), 0),
            each(&expiries, 0),
            number(mean(&collect(outcomes, timeouts)), 1),
            settle(label, verdict, &mut broken),
        ]);
    }
    publish(&[table], broken);
}
