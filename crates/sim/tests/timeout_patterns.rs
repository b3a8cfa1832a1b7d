//! Whole runs with Selective and Proactive Decrease: what follows from their rules, with room for what the rules leave
//! out; and that the patterns of a flow do not depend on who looks.

mod ladder;

use cwndlab_cc::{Rate, Span};
use cwndlab_sim::outcome::{FlowOutcome, Outcome, PatternsOutcome};
use cwndlab_sim::spec::{FlowSpec, SimSpec};
use ladder::{bottleneck, flow, flow_named, interval, jittered, ms, run, spec};

/// 20 Mbit/s and 40 ms: 66.7 packets.
const BDP_PACKETS: f64 = 66.7;
const SEEDS: u64 = 6;

fn beside(names: &[(&str, &str)], buffer_bdp: f64, seed: u64) -> Outcome {
    let flows = names.iter().map(|(name, cc)| FlowSpec { name: (*name).to_owned(), ..flow("", cc) });
    let links = vec![bottleneck(Rate::from_mbit(20), ms(20), (buffer_bdp * BDP_PACKETS).round() as u64)];
    let spec = SimSpec { warmup: Span::from_secs(10), ..spec(Span::from_secs(70), links, flows.collect()) };
    run(&jittered(seed, spec))
}

fn patterns(flow: &FlowOutcome) -> &PatternsOutcome {
    flow.patterns.as_ref().expect("they were asked for")
}

fn alone(cc: &str, buffer_bdp: f64) -> Outcome {
    beside(&[("f", cc)], buffer_bdp, 1)
}

/// A lone flow's queue rises slowly, so its losses have no peak: SD keeps 0.7 and fills a link whose buffer is too small for
/// Reno's half. (Not where it cannot hold the burst with which slow start goes from half to 0.7.) With a quarter BDP
/// one run of SD differs from the next by up to 4 %, so there are 30: it has 0.882 over 150 runs, with a standard deviation
/// of 0.007, and Reno 0.874.
#[test]
fn sd_needs_less_buffer_than_reno() {
    for (buffer, more) in [(0.25, 0.003), (0.5, 0.01)] {
        let used = |cc| {
            let runs = (1..=30).map(|seed| beside(&[("f", cc)], buffer, seed).links[0].utilisation);
            interval(&runs.map(|each| each.expect("a rate")).collect::<Vec<_>>()).0
        };
        let (sd, reno) = (used("sd"), used("reno"));
        assert!(sd > reno + more, "{buffer} BDP: {sd} and {reno}");
        assert_eq!(patterns(&alone("sd", buffer).flows[0]).fast_recoveries_at_peak, 0);
    }
}

/// PD cuts where the RTT rises fast, so four of it drop a quarter less than four of Reno do.
#[test]
fn pd_loses_less_than_reno() {
    for buffer in [0.5, 1.0] {
        let four = |cc| beside(&[("a", cc), ("b", cc), ("c", cc), ("d", cc)], buffer, 1);
        let (pd, reno) = (four("pd"), four("reno"));
        let lost = |outcome: &Outcome| outcome.links[0].dropped_packets;
        assert!(lost(&pd) * 4 <= lost(&reno) * 3, "{buffer} BDP: {} and {}", lost(&pd), lost(&reno));
    }
}

/// Who backs off to 0.7 gets more than who backs off to half, and less than nine tenths; who also backs off without a
/// loss gets less.
#[test]
fn duels_with_reno() {
    let share = |cc: &str, buffer: f64| {
        let shares: Vec<_> = (1..=SEEDS)
            .map(|seed| {
                let outcome = beside(&[("first", cc), ("second", "reno")], buffer, seed);
                let goodput = |name| flow_named(&outcome, name).goodput_mbps;
                goodput("first") / (goodput("first") + goodput("second"))
            })
            .collect();
        interval(&shares).0
    };
    for buffer in [0.5, 1.0] {
        let (sd, pd) = (share("sd", buffer), share("pd", buffer));
        assert!((0.5..0.9).contains(&sd), "sd at {buffer} BDP: {sd}");
        assert!((0.1..0.52).contains(&pd), "pd at {buffer} BDP: {pd}");
    }
}

/// Patterns are measured of any algorithm, and they add up.
#[test]
fn every_algorithm_has_patterns() {
    for cc in ["reno", "cubic", "vegas", "bbr1", "sd-pd"] {
        let outcome = beside(&[("a", cc), ("b", cc)], 0.5, 2);
        for flow in &outcome.flows {
            let patterns = patterns(flow);
            assert!(patterns.rtt_samples > 1000, "{cc}: {patterns:?}");
            assert!(patterns.rtt_peaks < patterns.rtt_samples / 2, "{cc}: {patterns:?}");
            assert!(patterns.timeouts_at_peak <= flow.timeouts, "{cc}: {patterns:?}");
            assert!(patterns.fast_recoveries_at_peak <= flow.fast_recoveries, "{cc}: {patterns:?}");
        }
    }
}
