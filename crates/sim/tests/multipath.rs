//! Multipath connections: stories and envelopes of whole runs, and what must hold of the data whatever happens.

mod ladder;

use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::mptcp::{MptcpOptions, Scheduler};
use cwndlab_sim::outcome::{FlowOutcome, MultipathOutcome, Outcome};
use cwndlab_sim::spec::{FlowSpec, LinkSpec, LossKind, LossSpec, PathSpec, RecordSpec, SimSpec};
use cwndlab_sim::{Schedule, Sim, Stop};
use ladder::{
    MSS, PACKET, assert_near, at, bottleneck, changed, constant, flow, jittered, link, ms, run, spec,
};

/// The flow over two paths, each of one link: 0 and 1.
fn over_two(flow: FlowSpec, scheduler: Scheduler) -> FlowSpec {
    over(flow, scheduler, vec![vec![0], vec![1]])
}

fn over(flow: FlowSpec, scheduler: Scheduler, paths: Vec<Vec<usize>>) -> FlowSpec {
    changed(flow, |flow| {
        flow.paths =
            paths.into_iter().map(|links| PathSpec { links, access: None, initial_ssthresh: None }).collect();
        flow.multipath = Some(MptcpOptions { scheduler, ..MptcpOptions::default() });
    })
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
    assert_eq!((of(connection).receive_limited, of(connection).reinjected_packets), (Some(0.0), 0));
}

/// With one path a connection is the flow that it would be without: every number of it. (But for the receive window, which is that of
/// the connection: what waits on a subflow takes no room in it.)
#[test]
fn one_path_is_plain_tcp() {
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(1e-3)), before_queue: false };
    for cc in ["reno", "cubic", "bbr2"] {
        let links = || vec![LinkSpec { loss: loss.clone(), ..bottleneck(Rate::from_mbit(20), ms(20), 60) }];
        let run_of = |flow: FlowSpec| run(&spec(Span::from_secs(20), links(), vec![flow]));
        let alone = run_of(with_fixed_window(flow("m/1", cc)));
        let connection = run_of(over(with_fixed_window(flow("m", cc)), Scheduler::Saturate, vec![vec![0]]));
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

/// An environment asks each agent's flow whether it is done: a subflow is when its connection is.
#[test]
fn a_subflow_is_finished_when_its_connection_is() {
    let transfer = FlowSpec { bytes: Some(300_000), ..flow("m", "cubic") };
    let mut sim = Sim::new(&SimSpec {
        timeout_patterns: false,
        ..spec(Span::from_secs(5), long_and_short(), vec![over_two(transfer, Scheduler::MinRtt)])
    });
    let finished = |sim: &Sim| [0, 1].map(|subflow| sim.glance(subflow).expect("a subflow").finished);
    sim.run_until(at(50));
    assert_eq!(finished(&sim), [false, false]);
    sim.run();
    assert_eq!(finished(&sim), [true, true]);
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
            changed(flow("single", "reno"), |flow| flow.paths[0].links = vec![1]),
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

/// The second subflow joins when data of the first are acknowledged, after two round trips of the first path, and its data follow
/// the fourth message, after two of its own (RFC 8684 sections 3.1 and 3.2). Linux 6.12 in virtual time does the same.
#[test]
fn the_second_subflow_joins_when_data_of_the_first_are_acknowledged() {
    let links = vec![link("a", Rate::from_mbit(12), ms(50)), link("b", Rate::from_mbit(12), ms(10))];
    let delivered_by = |end| {
        let flows = vec![over_two(constant("m", 4), Scheduler::Saturate)];
        let outcome = run(&spec(ms(end), links.clone(), flows));
        let subflows = of(&outcome.flows[0]).subflows.iter();
        subflows.map(|part| (part.start_s, part.sent_packets)).collect::<Vec<_>>()
    };
    // What a packet takes to be sent comes on top: 1 ms for data, less for the handshake.
    let [first, second] = delivered_by(500)[..] else { panic!("two subflows") };
    assert_eq!(first.0, 0.0);
    assert!((0.200..0.202).contains(&second.0), "two round trips of 100 ms: {}", second.0);
    let sent = |end| delivered_by(end)[1].1;
    assert_eq!((sent(238), sent(244)), (0, 4), "two round trips of 20 ms after that");
}

/// A third message that gets lost is sent again.
#[test]
fn a_join_survives_the_loss_of_its_third_message() {
    let mut links = vec![link("a", Rate::from_mbit(12), ms(50)), link("b", Rate::from_mbit(12), ms(10))];
    // The third message is on its way from 0.221 s to 0.231 s.
    links[1].up = Schedule::steps(vec![(at(0), true), (at(225), false), (at(240), true)]).expect("in order");
    let outcome =
        run(&spec(Span::from_secs(5), links, vec![over_two(constant("m", 4), Scheduler::Saturate)]));
    assert!(of(&outcome.flows[0]).subflows[1].sent_packets > 0);
}

/// So many segments of receive window, from the start on.
fn with_window(flow: FlowSpec, segments: u64) -> FlowSpec {
    let mut flow = flow;
    flow.kind.tcp.receive_buffer = segments * MSS;
    with_fixed_window(flow)
}

/// The receive window is the whole buffer, from the start on, whatever waits in it.
fn with_fixed_window(flow: FlowSpec) -> FlowSpec {
    changed(flow, |flow| (flow.kind.tcp.window_tuning, flow.kind.tcp.quick_ack) = (false, false))
}

fn goodputs(outcome: &Outcome) -> Vec<f64> {
    of(&outcome.flows[0]).subflows.iter().map(|part| part.goodput_mbps).collect()
}

/// A window of 20 segments is less than the fast path carries in a round trip, so min-rtt has nothing for the slow one
/// but what its first round trip got; round-robin gives it every other segment while it has room.
#[test]
fn the_fast_path_is_filled_first_where_room_is_short() {
    let share_of_slow = |scheduler| {
        let links =
            vec![link("slow", Rate::from_mbit(50), ms(50)), link("fast", Rate::from_mbit(50), ms(10))];
        let connection = over_two(with_window(constant("m", 100), 20), scheduler);
        let outcome = run(&SimSpec { warmup: ms(500), ..spec(Span::from_secs(5), links, vec![connection]) });
        let parts = goodputs(&outcome);
        assert!(of(&outcome.flows[0]).receive_limited > Some(0.9), "{scheduler:?}: {:?}", outcome.flows[0]);
        parts[0] / (parts[0] + parts[1])
    };
    assert!(share_of_slow(Scheduler::MinRtt) < 0.01, "{}", share_of_slow(Scheduler::MinRtt));
    assert_near(share_of_slow(Scheduler::RoundRobin), 0.5, 0.01);
}

/// With a window that holds what both paths carry in the longest round trip nothing is held back; with an eighth of it
/// the fast path waits for the slow one, and the connection gets less than the fast path alone would.
#[test]
fn a_small_receive_window_blocks_the_head_of_the_line() {
    let of_window = |segments| {
        let connection = over_two(with_window(flow("m", "cubic"), segments), Scheduler::Saturate);
        let spec = spec(Span::from_secs(20), long_and_short(), vec![connection]);
        run(&SimSpec { warmup: Span::from_secs(5), ..spec }).flows.remove(0)
    };
    let (wide, narrow) = (of_window(2000), of_window(110));
    assert_near(of(&wide).receive_limited.unwrap(), 0.0, 1e-12);
    assert!(wide.goodput_mbps > 0.95 * payload_mbps(50.0), "{}", wide.goodput_mbps);
    assert!(of(&narrow).receive_limited > Some(0.5), "{:?}", of(&narrow).receive_limited);
    assert!(of(&narrow).reassembly_max_bytes < Some(110 * MSS), "what waits is within the window");
    // 110 segments in a round trip of at least 100 ms.
    assert!(narrow.goodput_mbps < 110.0 * MSS as f64 * 8.0 / 0.1 / 1e6, "{}", narrow.goodput_mbps);
}

/// A link that is down from 5 s to 10 s.
fn failing(link: LinkSpec) -> LinkSpec {
    let steps = vec![(Time::ZERO, true), (at(5000), false), (at(10_000), true)];
    LinkSpec { up: Schedule::steps(steps).expect("in order"), ..link }
}

/// While one path is dead all data go by the other; when it is back, so is its share.
#[test]
fn a_dead_path_costs_its_share_and_no_data() {
    for scheduler in [Scheduler::Saturate, Scheduler::MinRtt, Scheduler::RoundRobin] {
        for dead in [0, 1] {
            let mut links = long_and_short();
            links[dead] = failing(links[dead].clone());
            let connection = over_two(flow("m", "cubic"), scheduler);
            let outcome = run(&spec(Span::from_secs(20), links, vec![connection]));
            let rate = |seconds: std::ops::Range<usize>| {
                let goodput =
                    &outcome.intervals.flows[0].goodput_mbps.0[seconds.start * 10..seconds.end * 10];
                goodput.iter().sum::<f64>() / goodput.len() as f64
            };
            let alive = payload_mbps(if dead == 0 { 10.0 } else { 40.0 });
            let all = payload_mbps(50.0);
            assert!(rate(3..5) > 0.9 * all, "{scheduler:?}, {dead}: {} before", rate(3..5));
            // What waited for the dead path's data comes out once these have gone the other way.
            assert_near(rate(7..10) / alive, 1.0, 0.1);
            assert!(rate(16..20) > 0.9 * all, "{scheduler:?}, {dead}: {} after", rate(16..20));
            assert!(of(&outcome.flows[0]).reinjected_packets > 0, "{scheduler:?}, {dead}");
        }
    }
}

/// A transfer ends although the path that much of it was under way on never comes back.
#[test]
fn what_a_dead_path_had_under_way_arrives_by_the_other() {
    for dead in [0, 1] {
        let mut links = long_and_short();
        let steps = vec![(Time::ZERO, true), (at(1000), false)];
        links[dead].up = Schedule::steps(steps).expect("in order");
        let transfer = FlowSpec { bytes: Some(10_000_000), ..flow("m", "cubic") };
        let outcome = run(&spec(Span::from_secs(60), links, vec![over_two(transfer, Scheduler::Saturate)]));
        let connection = &outcome.flows[0];
        let seconds = connection.completion_s.expect("all of it arrives");
        assert_near(connection.goodput_mbps * seconds * 1e6 / 8.0, 10_000_000.0, 1e-3);
        assert!(of(connection).reinjected_packets > 0);
        // The dead subflow ends with the connection: it does not go on trying.
        let tries = of(connection).subflows[dead].timeouts;
        assert!((1..8).contains(&tries), "{tries} timeouts in {seconds} s");
    }
}

/// Three paths, loss, an outage, a small window, another connection beside it: whatever holds state.
fn everything(seed: u64) -> SimSpec {
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(2e-3)), before_queue: false };
    let mut links = long_and_short();
    links[0].loss = loss;
    links[1] = failing(links[1].clone());
    links.push(link("third", Rate::from_mbit(5), ms(30)));
    let three = over(flow("three", "cubic"), Scheduler::RoundRobin, vec![vec![0], vec![1], vec![2]]);
    let two = over_two(with_window(flow("two", "reno"), 120), Scheduler::MinRtt);
    let sized = changed(flow("sized", "bbr2"), |flow| {
        flow.bytes = Some(2_000_000);
        flow.active.start = at(300);
    });
    let flows = vec![three, two, over_two(sized, Scheduler::Saturate), flow("plain", "cubic")];
    SimSpec { warmup: ms(700), ..jittered(seed, spec(Span::from_secs(12), links, flows)) }
}

#[test]
fn the_same_bits_every_time() {
    let once = run(&everything(1));
    assert!(of(&once.flows[0]).reinjected_packets > 0 && of(&once.flows[1]).receive_limited > Some(0.1));
    assert_eq!(run(&everything(1)), once);
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| run(&everything(1)))).collect();
    for thread in threads {
        assert_eq!(thread.join().expect("no panic"), once);
    }
    let record = Some(RecordSpec { interval: ms(10), max_samples: 10_000 });
    let recorded = run(&SimSpec { record, ..everything(1) });
    assert_eq!(Outcome { recording: None, ..recorded }, once);
    let mut sim = Sim::watched(&everything(1));
    let mut until = Time::ZERO;
    while sim.run_until(until) == Stop::Paused {
        until += Span(77_777_777);
    }
    assert_eq!(sim.outcome(), once);
}
