//! Duels: two flows at one bottleneck of 20 Mbit/s and 40 ms, with buffers of 0.5, 1 and 4 BDP, over six seeds. The
//! bounds hold for the mean share of the first; each comes with its reason.

mod ladder;

use cwndlab_cc::params::Value;
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::spec::{FlowSpec, SimSpec};
use ladder::{bottleneck, changed, flow, flow_named, interval, jittered, ms, run, spec};

const BUFFERS: [f64; 3] = [0.5, 1.0, 4.0];
const SEEDS: u64 = 6;

/// The first one's share of the goodput, by seed; no run leaves the link idle beyond what the algorithms do alone.
fn shares(first: &str, second: &str, buffer_bdp: f64) -> Vec<f64> {
    shares_of(&flow("first", first), &flow("second", second), buffer_bdp)
}

fn shares_of(first: &FlowSpec, second: &FlowSpec, buffer_bdp: f64) -> Vec<f64> {
    let share = |seed| {
        // Every other seed has them in the other order, so that a place in the file favours nobody.
        let mut flows = vec![first.clone(), second.clone()];
        if seed % 2 == 0 {
            flows.reverse();
        }
        let links = vec![bottleneck(Rate::from_mbit(20), ms(20), (buffer_bdp * 66.7).round() as u64)];
        let spec = SimSpec { warmup: Span::from_secs(10), ..spec(Span::from_secs(70), links, flows) };
        let outcome = run(&jittered(seed, spec));
        assert!(
            outcome.links[0].utilisation.expect("a rate") > 0.95,
            "{}/{}: {:?}",
            first.kind.algorithm.name,
            second.kind.algorithm.name,
            outcome.links[0]
        );
        let goodput = |name| flow_named(&outcome, name).goodput_mbps;
        goodput("first") / (goodput("first") + goodput("second"))
    };
    (1..=SEEDS).map(share).collect()
}

#[track_caller]
fn assert_mean(shares: &[f64], bounds: std::ops::RangeInclusive<f64>, what: &str) {
    let (mean, half) = interval(shares);
    assert!(bounds.contains(&mean), "{what}: {mean} +- {half}, allowed {bounds:?}; by seed {shares:?}");
}

/// Equals share equally: within five points on the mean, and no run is beyond 36 to 64 (two of CUBIC at 1 BDP have 37 to 56
/// in 40 seeds, and 41 to 60 in Linux in virtual time); at 4 BDP, where a cycle takes a
/// third of the run, beyond 25 to 75 (the Linux kernel gives 34.6 and 13.5 of 48 Mbit/s in a run of 60 s there).
#[test]
fn equals_share_equally() {
    for cc in ["reno", "newreno", "cubic"] {
        for buffer in BUFFERS {
            let shares = shares(cc, cc, buffer);
            assert_mean(&shares, 0.45..=0.55, &format!("{cc}/{cc} at {buffer} BDP"));
            let bounds = if buffer > 1.0 { 0.25..=0.75 } else { 0.36..=0.64 };
            assert!(shares.iter().all(|share| bounds.contains(share)), "{cc} at {buffer} BDP: {shares:?}");
        }
    }
}

/// With a small buffer CUBIC is in its Reno-friendly region, where alpha = 0.53 with beta = 0.7 is meant to be worth
/// one and a half (RFC 9438 section 4.3): the two are equal within ten points. The larger the buffer, the longer the
/// epochs, the more the cubic is above Reno: at 4 BDP it has between 58 and 75 of 100 (with W_max near 165 segments
/// and an RTT near 180 ms, K is 5 s, and Reno needs 15 s for its half).
#[test]
fn cubic_against_reno() {
    assert_mean(&shares("cubic", "reno", 0.5), 0.45..=0.60, "0.5 BDP");
    assert_mean(&shares("cubic", "reno", 1.0), 0.48..=0.62, "1 BDP");
    assert_mean(&shares("cubic", "reno", 4.0), 0.58..=0.75, "4 BDP");
}

#[test]
fn the_larger_the_buffer_the_more_cubic_takes() {
    let means = BUFFERS.map(|buffer| interval(&shares("cubic", "reno", buffer)).0);
    // Up to one BDP it is Reno-friendly most of the time, so there is little between the first two.
    assert!(means[0] < means[1] + 0.03 && means[1] + 0.05 < means[2], "{means:?}");
}

/// Two that keep 2 to less than 5 segments in one queue have at least a quarter each, whatever the buffer. If both knew the
/// base RTT, they would share as their segments do, at worst as 2 : 5; but each measures it with some of the other's queue
/// in it. (Linux 6.12 in virtual time, same paths, twelve seeds: 0.266 to 0.689.) On the mean it is even, within what six
/// seeds of that spread tell.
#[test]
fn vegas_shares_with_vegas_within_its_bounds() {
    for buffer in BUFFERS {
        let shares = shares("vegas", "vegas", buffer);
        let bounds = 0.25..=0.75;
        assert!(shares.iter().all(|share| bounds.contains(share)), "{buffer} BDP: {shares:?}");
        let (mean, half) = interval(&shares);
        assert!((mean - 0.5).abs() < half, "{buffer} BDP: {mean} +- {half}");
    }
}

/// A loss-based flow fills the buffer and Vegas makes way for it: it has less than a fifth, and less than a tenth at 4
/// BDP, where nothing is left to it but the window below three ACKs a round trip, in which it is Reno.
#[test]
fn vegas_loses_to_what_fills_the_buffer() {
    for other in ["reno", "cubic"] {
        let means = BUFFERS.map(|buffer| interval(&shares("vegas", other, buffer)).0);
        assert!(means[0] < 0.2 && means[2] < 0.1, "against {other}: {means:?}");
        assert!(means.is_sorted_by(|a, b| a > b), "the deeper the buffer the less: {means:?}");
    }
}

/// Random actions starve nobody and are starved by nobody. NewReno's keep their own beside CUBIC: they have 0.53, 0.48
/// and 0.43 over 60 runs, less the deeper the buffer, as CUBIC grows in seconds and they by the round trip; the mean of six lies
/// within 0.05, three of its standard deviations, so a run lies within 0.12 of 0.53. CUBIC's have
/// less than CUBIC itself, which is Reno-friendly where they are not: between 0.23 and 0.35 at half a BDP, where that
/// region matters most, and between 0.4 and 0.55 at 4 BDP. A run of CUBIC's at half a BDP lies within three standard deviations
/// (0.28 and 0.053 over 80 runs).
#[test]
fn random_actions_starve_nobody() {
    let means = |actions: &'static str| {
        let settings = vec![("actions".to_owned(), Value::Word(actions))];
        let random = changed(flow("first", "random"), |flow| flow.kind.settings = settings);
        BUFFERS.map(|buffer| {
            let shares = shares_of(&random, &flow("second", "cubic"), buffer);
            let bounds = match actions {
                "newreno" => 0.2..0.65,
                _ if buffer < 1.0 => 0.12..0.6,
                _ => 0.2..0.6,
            };
            assert!(shares.iter().all(|share| bounds.contains(share)), "{actions}, {buffer} BDP: {shares:?}");
            interval(&shares).0
        })
    };
    let newreno = means("newreno");
    assert!(
        newreno.iter().zip([0.53, 0.48, 0.43]).all(|(mean, known)| (mean - known).abs() < 0.05),
        "{newreno:?}"
    );
    assert!(newreno.is_sorted_by(|a, b| a > b), "{newreno:?}");
    let cubic = means("cubic");
    assert!((0.23..0.35).contains(&cubic[0]) && (0.4..0.55).contains(&cubic[2]), "{cubic:?}");
}

/// What one has the other has not: seen from the other side the duel is the same.
#[test]
fn a_duel_seen_from_either_side() {
    let (cubic, _) = interval(&shares("cubic", "reno", 4.0));
    let (reno, _) = interval(&shares("reno", "cubic", 4.0));
    assert!((cubic + reno - 1.0).abs() < 0.06, "{cubic} and {reno}");
}
