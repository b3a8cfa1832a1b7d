//! Against ns-3.37.

use crate::dumbbell::{Dumbbell, FlowSetup, run_groups};
use crate::reference::{Row, grouped, ns3, ns3_fragments};
use crate::stats::{gap, max, mean, median, min, quantile};
use crate::table::{Table, number, percent, publish, range};
use cwndlab_cc::Span;
use cwndlab_sim::Outcome;
use cwndlab_sim::queue::{Limit, ns3_default};

/// What ns-3's links carry for a full segment and for an ACK, in bits (PPP takes two bytes).
const DATA_BITS: f64 = 1502.0 * 8.0;
const ACK_BITS: f64 = 54.0 * 8.0;
/// Sub-packet phases in which a single flow is run ...
const PHASES: u32 = 12;
/// ... and when it sends more than half a million packets, which takes its time.
const PHASES_LONG: u32 = 4;
const LONG_PACKETS: f64 = 5e5;
/// Phases are a sample: ns-3 may be so much outside of what they give, in parts of one.
const ROUNDING: f64 = 1e-3;
/// A packet is acknowledged with the next one: phases repeat after two packet times.
const PHASE_PACKETS: f64 = 2.0;
/// And the access rate slips by so much from phase to phase, in parts of one.
const ACCESS_SLIP: f64 = 1e-4;
/// Seeds of two flows, and of four.
pub const PAIR_SEEDS: u64 = 24;
const QUARTET_SEEDS: u64 = 40;

pub fn algorithm(cc: &str) -> &'static str {
    match cc {
        "TcpNewReno" => "newreno",
        "TcpLinuxReno" => "reno",
        "TcpCubic" => "cubic",
        "TcpBbr" => "bbr1",
        other => panic!("{other} is not compared"),
    }
}

/// The geometry of dumbbell.cc: what the rows of one run, one a flow, describe.
pub fn dumbbell(rows: &[Row]) -> Dumbbell {
    let row = &rows[0];
    let rate = row.number("rate_mbps");
    let access = row.number("access_mbps");
    // A flow's access links: ours is on the sender's side only, so it has the delay of both.
    let access_ms = |row: &Row| 2.0 * row.number("access_delay_ms");
    // The receiver's access link and the serialisation of ACKs hold nothing up; they are delay.
    let serialisation_ms = (DATA_BITS / access + ACK_BITS * (2.0 / access + 1.0 / rate)) / 1e3;
    let rtt_ms = row.number("base_rtt_ms") - 2.0 * access_ms(row) + serialisation_ms;
    let flow = |row: &Row| FlowSetup {
        access: Some((access, Span::from_secs_f64(access_ms(row) / 1e3))),
        start_jitter: Span::from_secs_f64(row.number("jitter_s")),
        ..FlowSetup::new(algorithm(row.text("cc")))
    };
    Dumbbell {
        limit: Limit::Packets(row.number("queue_pkts") as u64),
        duration_s: row.number("dur_s"),
        // ns-3's hosts take no time to process an ACK. Two flows have our default, a packet time of 0.12 ms, which keeps
        // them from phase effects; on the slow links of four it would be a good part of the RTT.
        send_jitter: if rows.len() == 2 { None } else { Some(Span::ZERO) },
        ..Dumbbell::new("ns3", rate, rtt_ms, rows.iter().map(flow).collect())
    }
}

/// A run is its rows, one a flow.
fn by_run(rows: Vec<Row>) -> Vec<Vec<Row>> {
    grouped(rows, |row| (row.text("label").to_owned(), row.text("run").to_owned()))
}

/// Runs by scenario.
pub fn by_scenario(rows: Vec<Row>) -> Vec<Vec<Vec<Row>>> {
    grouped(by_run(rows), |run| run[0].text("label").to_owned())
}

fn of(families: &[&str]) -> Vec<Row> {
    ns3().into_iter().filter(|row| families.contains(&row.text("family"))).collect()
}

/// All runs of these families.
fn runs(families: &[&str]) -> Vec<Vec<Row>> {
    by_run(of(families))
}

/// Runs of these families, by scenario.
fn scenarios(families: &[&str]) -> Vec<Vec<Vec<Row>>> {
    by_scenario(of(families))
}

pub fn total(outcome: &Outcome) -> f64 {
    outcome.flows.iter().map(|flow| flow.goodput_mbps).sum()
}

pub fn drops(outcome: &Outcome) -> f64 {
    outcome.links[0].dropped_packets as f64
}

pub fn timeouts(outcome: &Outcome) -> f64 {
    outcome.flows.iter().map(|flow| flow.timeouts as f64).sum()
}

pub fn collect(outcomes: &[Outcome], measure: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    outcomes.iter().map(measure).collect()
}

pub fn sum(rows: &[Row], column: &str) -> f64 {
    rows.iter().map(|row| row.number(column)).sum()
}

/// `50 Mbit/s, 60 ms`.
pub fn path(row: &Row) -> String {
    format!("{} Mbit/s, {:.0} ms", row.text("rate_mbps"), row.number("base_rtt_ms"))
}

fn phases(rows: &[Row]) -> Vec<Dumbbell> {
    let exact = dumbbell(rows);
    let packet_s = DATA_BITS / (exact.rate_mbps * 1e6);
    let count = if exact.duration_s / packet_s > LONG_PACKETS { PHASES_LONG } else { PHASES };
    let shift = |phase: u32| PHASE_PACKETS * packet_s * f64::from(phase) / f64::from(count);
    let phase = |phase: u32| {
        exact.but(|case| {
            case.rtt += Span::from_secs_f64(shift(phase));
            // The access rate is three halves or twice the bottleneck's, so that a burst arrives in step with departures
            // whatever the RTT: a part in ten thousand lets it slip by a packet time in ten thousand packets.
            for (rate, _) in case.flows.iter_mut().filter_map(|flow| flow.access.as_mut()) {
                *rate *= 1.0 + ACCESS_SLIP * f64::from(phase);
            }
        })
    };
    (0..count).map(phase).collect()
}

/// Whether the reference lies within what we get.
pub fn spans(ours: &[f64], theirs: f64) -> bool {
    (min(ours) * (1.0 - ROUNDING)..=max(ours) * (1.0 + ROUNDING)).contains(&theirs)
}

/// The verdict of a row; one that is neither within its bound nor explained breaks the test.
pub fn settle(label: &str, verdict: Result<&str, String>, broken: &mut Vec<String>) -> String {
    match verdict {
        Ok(verdict) => verdict.to_owned(),
        Err(gap) => {
            broken.push(format!("{label}: {gap}"));
            "NO".to_owned()
        }
    }
}

/// Single flows: a deterministic draw of ns-3 against twelve phases of ours.
#[test]
fn single_flows() {
    let runs = runs(&["A", "B"]);
    let groups = run_groups(runs.iter().map(|rows| phases(rows)).collect());
    let mut table = Table::new(
        "ns3-single",
        &[
            "path",
            "queue, BDP (packets)",
            "algorithm",
            "ns-3 goodput, Mbit/s",
            "ours, the same phase",
            "gap, %",
            "ours over the phases: median [min, max]",
            "gap of the median, %",
            "bound, %",
            "ns-3 drops",
            "our drops: same phase; median [min, max]",
            "timeouts: ns-3; ours same phase, mean of phases",
            "verdict",
        ],
    );
    let mut broken = Vec::new();
    for (rows, outcomes) in runs.iter().zip(&groups) {
        let row = &rows[0];
        let goodput = collect(outcomes, total);
        let dropped = collect(outcomes, drops);
        let theirs = row.number("goodput_mbps");
        let bound = if row.number("queue_bdp") > 0.99 { 2.0 } else { 5.0 };
        let gaps = [gap(goodput[0], theirs), gap(median(&goodput), theirs)];
        let verdict = if gaps.iter().any(|gap| gap.abs() <= bound) {
            Ok("ok")
        } else if spans(&goodput, theirs) {
            Ok("phase")
        } else {
            Err(format!("{theirs} against {goodput:?}"))
        };
        let expiries = collect(outcomes, timeouts);
        table.row([
            path(row),
            format!("{:.2} ({})", row.number("queue_bdp"), row.text("queue_pkts")),
            algorithm(row.text("cc")).into(),
            number(theirs, 2),
            number(goodput[0], 2),
            percent(gaps[0]),
            range(median(&goodput), min(&goodput), max(&goodput), 2),
            percent(gaps[1]),
            number(bound, 0),
            row.text("bneck_drops").into(),
            format!("{}; {}", dropped[0], range(median(&dropped), min(&dropped), max(&dropped), 0)),
            format!("{}; {}, {:.1}", row.text("n_rto"), expiries[0], mean(&expiries)),
            settle(row.text("label"), verdict, &mut broken),
        ]);
    }
    publish(&[table], broken);
}

/// Segments that fit into a packet of 1500 bytes and segments that do not, over ns-3's default queues.
#[test]
fn fragments() {
    let runs = by_run(ns3_fragments());
    let cases = |rows: &Vec<Row>| {
        let of_size = |case: Dumbbell| {
            case.but(|case| {
                case.tcp.mss = rows[0].number("segment_bytes") as u64;
                case.queue = Some(ns3_default::QUEUE);
            })
        };
        phases(rows).into_iter().map(of_size).collect()
    };
    let groups = run_groups(runs.iter().map(cases).collect());
    let mut table = Table::new(
        "ns3-fragments",
        &[
            "segment, bytes",
            "algorithm",
            "ns-3 goodput, Mbit/s",
            "ours, the same phase",
            "ours over the phases: median [min, max]",
            "gap of the median, %",
            "verdict",
        ],
    );
    let mut broken = Vec::new();
    for (rows, outcomes) in runs.iter().zip(&groups) {
        let row = &rows[0];
        let goodput = collect(outcomes, total);
        let theirs = row.number("goodput_mbps");
        let gap = gap(median(&goodput), theirs);
        let verdict = if gap.abs() <= 2.0 { Ok("ok") } else { Err(format!("{theirs} against {goodput:?}")) };
        table.row([
            row.text("segment_bytes").into(),
            algorithm(row.text("cc")).into(),
            number(theirs, 2),
            number(goodput[0], 2),
            range(median(&goodput), min(&goodput), max(&goodput), 2),
            percent(gap),
            settle(row.text("label"), verdict, &mut broken),
        ]);
    }
    publish(&[table], broken);
}

/// Two flows: totals, and the share of the first as a distribution.
#[test]
fn two_flows() {
    let scenarios = scenarios(&["C", "D"]);
    let groups =
        run_groups(scenarios.iter().map(|runs| dumbbell(&runs[0]).seeds(PAIR_SEEDS).collect()).collect());
    let mut table = Table::new(
        "ns3-two-flows",
        &[
            "flows",
            "RTTs, ms",
            "queue, packets",
            "ns-3 total, Mbit/s (mean of runs)",
            "ours: mean [min, max]",
            "gap, %",
            "verdict on the total",
            "ns-3 share of the first, % (each run)",
            "ours: mean, 5-95 % [min, max]",
            "ns-3 shares outside [min, max]",
            "ns-3 drops (each run)",
            "ours: mean [min, max]",
        ],
    );
    let mut broken = Vec::new();
    let (mut all_shares, mut all_outside) = (0, 0);
    for (runs, outcomes) in scenarios.iter().zip(&groups) {
        let rows = &runs[0];
        let share = |a: f64, b: f64| 100.0 * a / (a + b);
        let totals = collect(outcomes, total);
        let dropped = collect(outcomes, drops);
        let shares = collect(outcomes, |o| share(o.flows[0].goodput_mbps, o.flows[1].goodput_mbps));
        let their_totals: Vec<f64> = runs.iter().map(|rows| sum(rows, "goodput_mbps")).collect();
        let their_share =
            |rows: &Vec<Row>| share(rows[0].number("goodput_mbps"), rows[1].number("goodput_mbps"));
        let their_shares: Vec<f64> = runs.iter().map(their_share).collect();
        let gap = gap(mean(&totals), mean(&their_totals));
        let outside =
            their_shares.iter().filter(|share| !(min(&shares)..=max(&shares)).contains(share)).count();
        all_shares += their_shares.len();
        all_outside += outside;
        let verdict = if gap.abs() <= 2.0 {
            Ok("ok")
        } else if their_totals.iter().all(|theirs| spans(&totals, *theirs)) {
            Ok("phase")
        } else {
            Err(format!("total {gap:+.1} %"))
        };
        let rtt = |row: &Row| row.number("base_rtt_ms").round();
        table.row([
            format!("{} + {}", algorithm(rows[0].text("cc")), algorithm(rows[1].text("cc"))),
            format!("{} / {}", rtt(&rows[0]), rtt(&rows[1])),
            rows[0].text("queue_pkts").into(),
            number(mean(&their_totals), 2),
            range(mean(&totals), min(&totals), max(&totals), 2),
            percent(gap),
            settle(rows[0].text("label"), verdict, &mut broken),
            each(&their_shares, 1),
            format!(
                "{:.1}, {:.1}-{:.1} [{:.1}, {:.1}]",
                mean(&shares),
                quantile(&shares, 0.05),
                quantile(&shares, 0.95),
                min(&shares),
                max(&shares)
            ),
            outside.to_string(),
            each(&runs.iter().map(|rows| rows[0].number("bneck_drops")).collect::<Vec<_>>(), 0),
            range(mean(&dropped), min(&dropped), max(&dropped), 0),
        ]);
    }
    let allowed = outside_at_most(all_shares, PAIR_SEEDS);
    if all_outside > allowed {
        broken.push(format!(
            "{all_outside} of {all_shares} shares are outside of ours; chance allows {allowed}"
        ));
    }
    let mut summary = Table::new(
        "ns3-shares-outside",
        &[
            "ns-3 shares",
            "outside [min, max] of our seeds",
            "expected if the distributions are the same",
            "at most (1 % level)",
        ],
    );
    let expected = all_shares as f64 * outside_probability(PAIR_SEEDS);
    summary.row([all_shares.to_string(), all_outside.to_string(), number(expected, 1), allowed.to_string()]);
    publish(&[table, summary], broken);
}

/// The probability that one more draw of the same distribution is the smallest or the largest of all.
fn outside_probability(seeds: u64) -> f64 {
    2.0 / (seeds + 1) as f64
}

/// So many of `draws` may lie outside before chance is excluded at the 1 % level (binomial).
fn outside_at_most(draws: usize, seeds: u64) -> usize {
    let p = outside_probability(seeds);
    let mut term = (1.0 - p).powi(draws as i32);
    let mut cumulative = term;
    let mut count = 0;
    while cumulative < 0.99 {
        term *= (draws - count) as f64 / (count + 1) as f64 * p / (1.0 - p);
        cumulative += term;
        count += 1;
    }
    count
}

/// Four flows on a slow link, where drops are many: totals and drop counts.
#[test]
fn four_flows() {
    let scenarios = scenarios(&["F"]);
    let groups =
        run_groups(scenarios.iter().map(|runs| dumbbell(&runs[0]).seeds(QUARTET_SEEDS).collect()).collect());
    let mut table = Table::new(
        "ns3-four-flows",
        &[
            "path",
            "algorithm",
            "ns-3 total, Mbit/s (mean of runs)",
            "ours (mean)",
            "gap, %",
            "ns-3 drops (each run)",
            "ours: mean [min, max]",
            "gap of the means, %",
            "timeouts: ns-3 (each run)",
            "ours (mean)",
            "verdict",
        ],
    );
    let mut broken = Vec::new();
    for (runs, outcomes) in scenarios.iter().zip(&groups) {
        let row = &runs[0][0];
        let totals = collect(outcomes, total);
        let dropped = collect(outcomes, drops);
        let their_totals: Vec<f64> = runs.iter().map(|rows| sum(rows, "goodput_mbps")).collect();
        let their_drops: Vec<f64> = runs.iter().map(|rows| rows[0].number("bneck_drops")).collect();
        let gaps = [gap(mean(&totals), mean(&their_totals)), gap(mean(&dropped), mean(&their_drops))];
        let verdict = if gaps[0].abs() <= 2.0 && gaps[1].abs() <= 15.0 {
            Ok("ok")
        } else {
            Err(format!("total {:+.1} %, drops {:+.1} %", gaps[0], gaps[1]))
        };
        let expiries: Vec<f64> = runs.iter().map(|rows| sum(rows, "n_rto")).collect();
        table.row([
            path(row),
            algorithm(row.text("cc")).into(),
            number(mean(&their_totals), 3),
            number(mean(&totals), 3),
            percent(gaps[0]),
            each(&their_drops, 0),
            range(mean(&dropped), min(&dropped), max(&dropped), 0),
            percent(gaps[1]),
            each(&expiries, 0),
            number(mean(&collect(outcomes, timeouts)), 1),
            settle(row.text("label"), verdict, &mut broken),
        ]);
    }
    publish(&[table], broken);
}

pub fn each(values: &[f64], decimals: usize) -> String {
    values.iter().map(|value| number(*value, decimals)).collect::<Vec<_>>().join(", ")
}
