//! BBR version 1 in whole runs: bounds that follow from its source, with room for what that leaves out.

mod ladder;

use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::spec::{Capacity, LinkSpec, LossKind, LossSpec, RecordSpec, SimSpec};
use cwndlab_sim::{Outcome, Schedule};
use ladder::{at, bottleneck, flow, interval, jittered, ms, run, spec};

/// 20 Mbit/s and 40 ms: a BDP of 67 packets.
const RATE: Rate = Rate::from_mbit(20);
const BDP: f64 = 66.7;
const STARTUP: f64 = 0.0;
const PROBE_RTT: f64 = 3.0;

fn path(buffer_bdp: f64) -> LinkSpec {
    bottleneck(RATE, ms(20), (buffer_bdp * BDP).round() as u64)
}

fn random_loss(p: f64) -> LossSpec {
    LossSpec { kind: LossKind::Random(Schedule::constant(p)), before_queue: false }
}

/// A lone flow for so many seconds, recorded each 10 ms; senders need no time, as the maximum filter counts what their
/// delays take from an interval as bandwidth.
fn alone(link: LinkSpec, seconds: u64, warmup_s: u64, seed: u64) -> Outcome {
    let spec = spec(Span::from_secs(seconds), vec![link], vec![flow("f", "bbr1")]);
    let record = Some(RecordSpec { interval: ms(10), max_samples: 100_000 });
    let spec = SimSpec { warmup: Span::from_secs(warmup_s), record, ..jittered(seed, spec) };
    run(&SimSpec { send_jitter: Some(Span::ZERO), ..spec })
}

/// A probe over time.
fn series(outcome: &Outcome, name: &str) -> Vec<(f64, f64)> {
    let recording = outcome.recording.as_ref().expect("it was recorded");
    let mut columns = recording.tables.iter().flat_map(|table| &table.columns);
    let (_, values) = columns.find(|(column, _)| column == name).expect("a probe of bbr1");
    recording.time_s.iter().copied().zip(values.iter().copied()).collect()
}

/// Paced at 0.99 of the bandwidth, with 0.2 of each 10 s in ProbeRTT, it uses 0.96 of the link and more; its queue is what
/// a probe puts in for one of eight round trips, and nothing is lost.
#[test]
fn alone_it_fills_the_link_and_not_the_queue() {
    for seed in 1..=3 {
        let outcome = alone(path(4.0), 60, 10, seed);
        let link = &outcome.links[0];
        assert!(link.utilisation.expect("a rate") > 0.96, "{link:?}");
        // A quarter of a BDP is 10 ms, for a quarter of the time at most.
        assert!(link.queue_delay_ms.expect("packets") < 5.0, "{link:?}");
        assert_eq!((link.dropped_packets, outcome.flows[0].timeouts), (0, 0));
    }
}

/// From 10 segments it takes log2(BDP / 10) doublings to fill the pipe, of 1 to 1.25 round trips, as samples start with the
/// flight before; one round trip each for the handshake, the first ACK, which samples one packet, the first window, the last
/// doubling and the start of a round; and three flat ones, each up to 2.885 min RTTs long with the queue that has grown.
#[test]
fn startup_ends_three_rounds_after_the_pipe_is_full() {
    for (mbit, doublings) in [(20, 2.7), (100, 5.1), (400, 7.1)] {
        let rate = Rate::from_mbit(mbit);
        let outcome = alone(bottleneck(rate, ms(20), 100_000), 3, 0, 1);
        let modes = series(&outcome, "mode");
        let end = modes.iter().find(|(_, mode)| *mode > STARTUP).expect("it ends").0 / 0.040;
        assert!(
            (doublings + 3.0..1.25 * doublings + 5.0 + 3.0 * 2.885).contains(&end),
            "{mbit} Mbit/s: {end} round trips"
        );
        let bandwidth = series(&outcome, "bw_mbps").last().expect("samples").1;
        assert!((0.94..0.98).contains(&(bandwidth / mbit as f64)), "{bandwidth} of payload");
    }
}

/// Ten seconds after the last, as nothing is lower than the handshake's RTT; each lasts 200 ms and a round trip or two.
#[test]
fn probe_rtt_comes_each_ten_seconds() {
    let outcome = alone(path(4.0), 60, 0, 1);
    let modes = series(&outcome, "mode");
    let begins: Vec<f64> = modes
        .windows(2)
        .filter(|pair| pair[0].1 != PROBE_RTT && pair[1].1 == PROBE_RTT)
        .map(|pair| pair[1].0)
        .collect();
    assert!((5..=6).contains(&begins.len()), "{begins:?}");
    assert!(begins.windows(2).all(|pair| (10.2..10.6).contains(&(pair[1] - pair[0]))), "{begins:?}");
    let share = modes.iter().filter(|(_, mode)| *mode == PROBE_RTT).count() as f64 / modes.len() as f64;
    assert!((0.015..0.035).contains(&share), "{share} of the time");
}

/// One packet in a hundred is lost and repaired, and that is all: Reno would have a tenth of the link. Where nothing is
/// reordered no recovery is spurious.
#[test]
fn random_loss_costs_what_is_lost() {
    for seed in 1..=3 {
        let outcome = alone(LinkSpec { loss: random_loss(0.01), ..path(1.0) }, 30, 0, seed);
        assert!(outcome.flows[0].goodput_mbps > 0.88 * 20.0, "{:?}", outcome.flows[0]);
        assert_eq!(outcome.flows[0].undos, 0, "seed {seed}");
    }
}

/// Twice the rate is found by probes of a quarter each eight round trips: three or four of them, 1.3 s, and as much again
/// for what they find late.
#[test]
fn a_faster_path_is_found_within_a_few_cycles() {
    let steps = vec![(Time::ZERO, RATE), (at(15_000), Rate::from_mbit(40))];
    let capacity = Capacity::Rate(Schedule::steps(steps).expect("in order"));
    for seed in 1..=3 {
        let outcome = alone(LinkSpec { capacity: capacity.clone(), ..path(4.0) }, 20, 0, seed);
        let found = series(&outcome, "bw_mbps").into_iter().find(|(_, bandwidth)| *bandwidth > 0.9 * 40.0);
        let found = found.expect("it is found").0;
        assert!((15.0..18.0).contains(&found), "seed {seed}: after {found} s");
    }
}

/// A second of nothing means timeouts; the rate is back at once, as neither model nor window is given up.
#[test]
fn an_outage_does_not_lock_it_at_a_low_rate() {
    let steps = vec![(Time::ZERO, 0.0), (at(5000), 1.0), (at(6000), 0.0)];
    let loss =
        LossSpec { kind: LossKind::Random(Schedule::steps(steps).expect("in order")), before_queue: false };
    for seed in 1..=3 {
        let outcome = alone(LinkSpec { loss: loss.clone(), ..path(1.0) }, 30, 9, seed);
        let recording = outcome.recording.as_ref().expect("it was recorded");
        assert!(recording.events.iter().any(|event| event.kind == "timeout"), "seed {seed}");
        assert!(outcome.links[0].utilisation.expect("a rate") > 0.95, "{:?}", outcome.links[0]);
    }
}

fn share(first: &str, second: &str, buffer_bdp: f64) -> f64 {
    let shares: Vec<f64> = (1..=6)
        .map(|seed| {
            let flows = vec![flow("a", first), flow("b", second)];
            let spec = spec(Span::from_secs(70), vec![path(buffer_bdp)], flows);
            let flows = run(&jittered(seed, SimSpec { warmup: Span::from_secs(20), ..spec })).flows;
            flows[0].goodput_mbps / (flows[0].goodput_mbps + flows[1].goodput_mbps)
        })
        .collect();
    interval(&shares).0
}

/// Two of a kind share within ten points.
#[test]
fn two_share_evenly() {
    for buffer in [1.0, 4.0] {
        let share = share("bbr1", "bbr1", buffer);
        assert!((0.4..0.6).contains(&share), "{buffer} BDP: {share}");
    }
}

/// In a small buffer it hardly minds the losses that halve the other (the kernel: 85 of 100 at 1 BDP); in a deep one its
/// window of 2 BDP is the smaller (34 of 100 at 4 BDP).
#[test]
fn against_cubic_the_buffer_decides() {
    let [small, deep] = [1.0, 4.0].map(|buffer| share("bbr1", "cubic", buffer));
    assert!((0.75..0.95).contains(&small) && (0.2..0.5).contains(&deep), "{small} and {deep}");
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let outcome = |seed| {
        let outcome = alone(LinkSpec { loss: random_loss(1e-3), ..path(1.0) }, 15, 0, seed);
        (outcome.flows, outcome.links)
    };
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}
