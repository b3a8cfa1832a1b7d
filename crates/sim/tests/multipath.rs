//! Multipath connections: stories and envelopes of whole runs, and what must hold of the data whatever happens.

mod ladder;

use cwndlab_cc::{Rate, Span};
use cwndlab_sim::Schedule;
use cwndlab_sim::mptcp::{MptcpOptions, Scheduler};
use cwndlab_sim::outcome::{FlowOutcome, MultipathOutcome, Outcome};
use cwndlab_sim::spec::{
    FlowSpec, LinkSpec, LossKind, LossSpec, MultipathSpec, PathSpec, RecordSpec, SimSpec,
};
use ladder::{MSS, PACKET, assert_near, bottleneck, constant, flow, jittered, link, ms, run, spec};

/// The flow over two paths, each of one link: 0 and 1.
fn over_two(flow: FlowSpec, scheduler: Scheduler) -> FlowSpec {
    over(flow, scheduler, vec![vec![0], vec![1]])
}

fn over(flow: FlowSpec, scheduler: Scheduler, paths: Vec<Vec<usize>>) -> FlowSpec {
    let subflows = paths.into_iter().map(|links| PathSpec { links, access: None }).collect();
    FlowSpec {
        path: vec![],
        multipath: Some(MultipathSpec { subflows, options: MptcpOptions { scheduler } }),
        ..flow
    }
}

fn of(flow: &FlowOutcome) -> &MultipathOutcome {
    flow.multipath.as_ref().expect("a multipath connection")
}

/// 40 Mbit/s and 100 ms beside 10 Mbit/s and 20 ms, a buffer of a BDP each.
fn long_and_short() -> Vec<LinkSpec> {
    let long = bottleneck(Rate::from_mbit(40), ms(50), 333);
    let short = bottleneck(Rate::from_mbit(10), ms(10), 17);
    vec![LinkSpec { name: "long".to_owned(), ..long }, LinkSpec { name: "short".to_owned(), ..short }]
}

/// What a link carries in payload.
fn payload_mbps(mbit: f64) -> f64 {
    mbit * MSS as f64 / PACKET as f64
}

#[test]
fn a_connection_fills_both_paths() {
    let spec =
        spec(Span::from_secs(30), long_and_short(), vec![over_two(flow("m", "cubic"), Scheduler::Saturate)]);
    let outcome = run(&SimSpec { warmup: Span::from_secs(10), ..spec });
    let connection = &outcome.flows[0];
    let parts = &of(connection).subflows;
    assert_eq!(parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["m/1", "m/2"]);
    assert!(outcome.links.iter().all(|link| link.utilisation.unwrap() > 0.95), "{:?}", outcome.links);
    assert_near(connection.goodput_mbps, parts.iter().map(|part| part.goodput_mbps).sum(), 0.01);
    assert!(
        parts[0].goodput_mbps > 0.95 * payload_mbps(40.0)
            && parts[1].goodput_mbps > 0.95 * payload_mbps(10.0)
    );
    let waits = of(connection).reassembly_delay_ms.expect("data");
    assert!(waits > 5.0, "data of the short path wait for those of the long one: {waits} ms");
    assert_eq!((of(connection).receive_limited, of(connection).reinjected_packets), (0.0, 0));
}

/// With one path a connection is the flow that it would be without: every number of it.
#[test]
fn one_path_is_plain_tcp() {
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(1e-3)), before_queue: false };
    for cc in ["reno", "cubic", "bbr2"] {
        let links = || vec![LinkSpec { loss: loss.clone(), ..bottleneck(Rate::from_mbit(20), ms(20), 60) }];
        let run_of = |flow: FlowSpec| run(&spec(Span::from_secs(20), links(), vec![flow]));
        let alone = run_of(flow("m/1", cc));
        let connection = run_of(over(flow("m", cc), Scheduler::Saturate, vec![vec![0]]));
        assert_eq!(of(&connection.flows[0]).subflows, alone.flows, "{cc}");
        assert_eq!(connection.flows[0].goodput_mbps, alone.flows[0].goodput_mbps, "{cc}");
        assert_eq!(connection.links, alone.links, "{cc}");
    }
}

/// The whole transfer arrives, once, and the connection ends.
#[test]
fn a_transfer_ends_once() {
    for scheduler in [Scheduler::Saturate, Scheduler::MinRtt, Scheduler::RoundRobin] {
        let bytes = 3_000_000 + 17;
        let transfer = FlowSpec { bytes: Some(bytes), ..flow("m", "cubic") };
        let spec = spec(Span::from_secs(20), long_and_short(), vec![over_two(transfer, scheduler)]);
        let outcome = run(&spec);
        let connection = &outcome.flows[0];
        let seconds = connection.completion_s.expect("it ends");
        assert!((0.5..3.0).contains(&seconds), "{scheduler:?}: {seconds} s");
        assert_near(connection.goodput_mbps * seconds * 1e6 / 8.0, bytes as f64, 1e-3);
        // A subflow is measured from its own start on.
        let brought = |part: &FlowOutcome| part.goodput_mbps * (seconds - part.start_s) * 1e6 / 8.0;
        assert_near(of(connection).subflows.iter().map(brought).sum(), bytes as f64, 1e-3);
        assert_eq!(connection.sent_packets - connection.retransmitted_packets, 2072, "{scheduler:?}");
        assert_eq!(of(connection).subflows[0].completion_s, None);
    }
}

fn sum(outcome: &Outcome) -> f64 {
    outcome.flows.iter().map(|flow| flow.goodput_mbps).sum()
}

#[test]
fn as_sums_of_its_subflows() {
    let spec = spec(
        Span::from_secs(10),
        long_and_short(),
        vec![
            over_two(flow("m", "reno"), Scheduler::Saturate),
            FlowSpec { path: vec![1], ..flow("single", "reno") },
        ],
    );
    let record = Some(RecordSpec { interval: ms(100), max_samples: 1000 });
    let outcome = run(&jittered(3, SimSpec { record, ..spec }));
    assert_eq!(outcome.flows.len(), 2);
    assert!(sum(&outcome) > 40.0);
    let connection = &outcome.flows[0];
    let total = |count: fn(&FlowOutcome) -> f64| of(connection).subflows.iter().map(count).sum::<f64>();
    assert_near(connection.throughput_mbps, total(|flow| flow.throughput_mbps), 1e-9);
    assert_near(connection.cwnd_mean_segments, total(|flow| flow.cwnd_mean_segments), 1e-9);
    assert_near(connection.sent_packets as f64, total(|flow| flow.sent_packets as f64), 0.0);
    let kept = &outcome.intervals.flows[0];
    assert_eq!((outcome.intervals.flows.len(), kept.subflows.len()), (2, 2));
    let at = 50;
    let windows = kept.subflows[0].cwnd_segments.0[at] + kept.subflows[1].cwnd_segments.0[at];
    assert_near(kept.cwnd_segments.0[at], windows, 1e-9);
    let recorded = outcome.recording.expect("it was asked for");
    let tables: Vec<_> = recorded.tables.iter().map(|table| (table.kind, table.name.as_str())).collect();
    let expected =
        [("flow", "m"), ("subflow", "m/1"), ("subflow", "m/2"), ("flow", "single"), ("link", "long")];
    assert_eq!(tables[..5], expected);
}

/// What a constant window of the two paths would carry, a packet a window: the first joins first.
#[test]
fn the_second_subflow_joins_when_the_first_is_established() {
    let links = vec![link("a", Rate::from_mbit(12), ms(50)), link("b", Rate::from_mbit(12), ms(10))];
    let outcome =
        run(&spec(Span::from_secs(5), links, vec![over_two(constant("m", 4), Scheduler::Saturate)]));
    let starts = of(&outcome.flows[0]).subflows.iter().map(|part| part.start_s);
    let starts: Vec<_> = starts.collect();
    assert_eq!(starts[0], 0.0);
    assert!((0.100..0.101).contains(&starts[1]), "a SYN and its answer take 100 ms: {}", starts[1]);
}
