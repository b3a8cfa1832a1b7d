//! What the meter keeps of each interval, against what the whole run was, and against values known by hand.

mod ladder;

use cwndlab_cc::{Rate, Span};
use cwndlab_sim::outcome::Outcome;
use cwndlab_sim::queue::{Limit, QueueSpec};
use cwndlab_sim::spec::{ArrivalProcess, FlowSpec, LinkSpec, LossKind, LossSpec, RecordSpec, SizeSpec};
use cwndlab_sim::{Schedule, SimSpec};
use ladder::{at, bottleneck, changed, constant, flow, link, ms, run, spec, transfer};

/// Flows over a link of 12 Mbit/s, a packet a millisecond, with a base RTT of 20 ms.
fn over_a_link(duration_ms: u64, flows: Vec<FlowSpec>) -> SimSpec {
    spec(ms(duration_ms), vec![link("own", Rate::from_mbit(12), ms(10))], flows)
}

/// Payload of all intervals of a flow, in Mbit.
fn megabits(outcome: &Outcome, goodput_mbps: &[f64]) -> f64 {
    let starts = std::iter::once(&0.0).chain(&outcome.intervals.end_s);
    let lengths = starts.zip(&outcome.intervals.end_s).map(|(start, end)| end - start);
    let ran = goodput_mbps.iter().zip(lengths).filter(|(mbps, _)| !mbps.is_nan());
    ran.map(|(mbps, seconds)| mbps * seconds).sum()
}

/// As near as 24 bits of each interval make it.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

#[test]
fn a_window_that_fits_gives_the_same_in_every_interval() {
    let outcome = run(&over_a_link(2000, vec![constant("f", 10)]));
    let intervals = &outcome.intervals;
    assert_eq!((intervals.interval_s, intervals.end_s.len()), (0.1, 20));
    assert_eq!((intervals.end_s[0], intervals.end_s[19]), (0.1, 2.0));
    let flow = &intervals.flows[0];
    assert_eq!(flow.whole, 0..20);
    assert!(flow.cwnd_segments.0[1..].iter().all(|cwnd| *cwnd == 10.0), "{:?}", flow.cwnd_segments);
    assert!(flow.loss_events.0.iter().all(|events| *events == 0.0));
    // 10 packets every 21 ms: 47 or 48 of them in 100 ms, but for bursts at the edges.
    let packets = |mbps: &f64| mbps * 0.1 * 1e6 / 8.0 / ladder::MSS as f64;
    assert!(flow.goodput_mbps.0[1..].iter().all(|mbps| (40.0..=50.01).contains(&packets(mbps))));
    assert!(near(megabits(&outcome, &flow.goodput_mbps.0), outcome.flows[0].goodput_mbps * 2.0));
}

#[test]
fn before_its_start_and_after_its_end_a_flow_has_no_values() {
    let late = changed(transfer("late", 10, 200), |flow| flow.active.start = at(250));
    let outcome = run(&over_a_link(1000, vec![late]));
    let until = 0.25 + outcome.flows[0].completion_s.expect("it ends");
    assert!((0.6..0.8).contains(&until), "{until}");
    let last = (until * 10.0) as usize;
    let flow = &outcome.intervals.flows[0];
    for column in [&flow.goodput_mbps, &flow.cwnd_segments, &flow.loss_events] {
        let has_value: Vec<bool> = column.0.iter().map(|value| !value.is_nan()).collect();
        let expected: Vec<bool> = (0..10).map(|n| (2..=last).contains(&n)).collect();
        assert_eq!(has_value, expected);
    }
    assert_eq!(flow.whole, 3..last);
    // 50 ms of the interval are its own, and it has no window before the handshake of 20 ms is over.
    assert!((5.5..6.5).contains(&flow.cwnd_segments.0[2]), "{:?}", flow.cwnd_segments);
    let bytes = 200.0 * ladder::MSS as f64;
    assert!(near(megabits(&outcome, &flow.goodput_mbps.0), bytes * 8.0 / 1e6));
}

#[test]
fn a_flow_that_was_stopped_has_no_values_after_its_last_byte() {
    let stopped = changed(constant("stopped", 10), |flow| flow.active.stop = Some(at(450)));
    let flow = run(&over_a_link(1000, vec![stopped])).intervals.flows.remove(0);
    assert_eq!(flow.whole, 0..4);
    let has_value = flow.goodput_mbps.0.iter().take_while(|mbps| !mbps.is_nan()).count();
    assert_eq!(has_value, 5);
    assert!(flow.goodput_mbps.0[5..].iter().all(|mbps| mbps.is_nan()));
}

#[test]
fn the_last_interval_may_be_shorter() {
    let outcome = run(&over_a_link(250, vec![constant("f", 10)]));
    assert_eq!(outcome.intervals.end_s, [0.1, 0.2, 0.25]);
    let goodput_mbps = &outcome.intervals.flows[0].goodput_mbps.0;
    assert!(near(megabits(&outcome, goodput_mbps), outcome.flows[0].goodput_mbps * 0.25));
    assert!(goodput_mbps[2] > 4.0, "a rate, not an amount: {goodput_mbps:?}");
}

/// Short flows at random beside a flow with so many losses that it has timeouts as well.
fn crowded() -> SimSpec {
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(0.15)), before_queue: false };
    let lossy = LinkSpec { loss, ..bottleneck(Rate::from_mbit(12), ms(10), 10) };
    let template = changed(flow("short", "cubic"), |flow| flow.active.start = at(150));
    SimSpec {
        arrivals: vec![ladder::arrivals(
            template,
            ArrivalProcess::PerSecond(40.0),
            SizeSpec::Exponential { mean: 20_000.0 },
        )],
        ..spec(Span::from_secs(5), vec![lossy], vec![flow("bulk", "reno")])
    }
}

#[test]
fn intervals_add_up_to_the_run() {
    let outcome = run(&crowded());
    let bulk = &outcome.intervals.flows[0];
    assert_eq!(outcome.intervals.flows.len(), 1, "short flows have none of their own");
    let events: f64 = bulk.loss_events.0.iter().sum();
    let (recoveries, timeouts) = (outcome.flows[0].fast_recoveries, outcome.flows[0].timeouts);
    assert!(recoveries > 0 && timeouts > 0, "{recoveries} fast recoveries, {timeouts} timeouts");
    assert_eq!(events, (recoveries + timeouts) as f64);
    assert!(near(megabits(&outcome, &bulk.goodput_mbps.0), outcome.flows[0].goodput_mbps * 5.0));
    let group = &outcome.intervals.groups[0].0;
    assert_eq!(group.iter().map(|mbps| mbps.is_nan()).collect::<Vec<_>>()[..3], [true, false, false]);
    assert!(near(megabits(&outcome, group), outcome.groups[0].goodput_mbps * 4.85));
}

#[test]
fn the_warm_up_cuts_off_nothing_of_the_intervals() {
    let warmed_up = run(&SimSpec { warmup: ms(1234), ..crowded() });
    assert_eq!(warmed_up.intervals, run(&crowded()).intervals);
}

#[test]
fn distributions_are_those_that_the_percentiles_are_from() {
    let outcome = run(&crowded());
    let names: Vec<_> = outcome.distributions.iter().map(|d| (d.kind, d.name.as_str(), d.measure)).collect();
    let expected = [
        ("flow", "bulk", "rtt_ms"),
        ("link", "bottleneck", "queue_delay_ms"),
        ("group", "short", "completion_ms"),
        ("flow", "bulk", "rtt_peak_ratio"),
        ("group", "short", "rtt_peak_ratio"),
    ];
    assert_eq!(names, expected);
    let ratios: u32 = outcome.distributions[3].counts.iter().sum();
    assert!(u64::from(ratios) <= outcome.flows[0].patterns.expect("they were asked for").rtt_samples);
    let means = [outcome.flows[0].rtt_ms, outcome.links[0].queue_delay_ms, outcome.groups[0].completion_ms];
    for (distribution, mean) in outcome.distributions.iter().zip(means) {
        let counted: f64 = distribution.counts.iter().map(|count| f64::from(*count)).sum();
        let weighted = distribution.middle.iter().zip(&distribution.counts);
        let sum: f64 = weighted.map(|(middle, count)| middle * f64::from(*count)).sum();
        let mean = mean.expect("a mean");
        assert!(
            (sum / counted / mean - 1.0).abs() < 0.008,
            "{}: {} for {mean}",
            distribution.name,
            sum / counted
        );
        assert!(distribution.counts.iter().all(|count| *count > 0));
    }
    let served: u32 = outcome.distributions[1].counts.iter().sum();
    assert_eq!(u64::from(served), outcome.links[0].served_packets);
}

#[test]
fn what_counted_nothing_has_no_distribution() {
    let never = changed(constant("never", 10), |flow| flow.active.start = at(5000));
    assert_eq!(run(&over_a_link(1000, vec![never])).distributions, []);
}

#[test]
fn probes_are_those_of_the_recording() {
    let mut spec = over_a_link(3000, vec![flow("a", "cubic"), flow("b", "cubic")]);
    spec.links[0].queue = QueueSpec::droptail(Limit::Packets(20));
    spec.record = Some(RecordSpec { interval: ms(100), max_samples: 1000 });
    let outcome = run(&spec);
    let recording = outcome.recording.as_ref().expect("it was recorded");
    for (flow, table) in outcome.intervals.flows.iter().zip(&recording.tables) {
        assert!(!flow.probes.is_empty());
        for (name, series) in &flow.probes {
            let (_, recorded) =
                table.columns.iter().find(|(column, _)| column == name).expect("recorded too");
            // The recording has a sample at 0 s; the last interval is read out at the end.
            for (kept, seen) in series.0.iter().zip(&recorded[1..30]) {
                assert_eq!((*kept as f32).to_bits(), (*seen as f32).to_bits(), "{name}");
            }
        }
    }
    let lost: Vec<f64> = outcome.intervals.flows.iter().flat_map(|flow| flow.loss_events.0.clone()).collect();
    assert!(lost.iter().any(|events| *events > 0.0), "nothing happened that a probe could show");
}

#[test]
fn of_many_flows_no_probes_are_kept() {
    let flows = |count| (0..count).map(|n| flow(&format!("f{n}"), "cubic")).collect();
    assert!(!run(&over_a_link(500, flows(16))).intervals.flows[15].probes.is_empty());
    assert!(run(&over_a_link(500, flows(17))).intervals.flows[0].probes.is_empty());
}
