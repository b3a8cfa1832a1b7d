//! The same scenario and seed give the same bits: twice, recorded or not, at once or in slices, on any number of
//! threads. What has nothing to do with a component does not reshuffle its chances.

mod ladder;

use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::outcome::{FlowOutcome, Outcome};
use cwndlab_sim::queue::{QueueSpec, fq_codel};
use cwndlab_sim::spec::{
    AccessSpec, ArrivalProcess, Capacity, FlowSpec, LinkSpec, LossKind, LossSpec, RecordSpec, ReorderSpec,
    SimSpec, SizeSpec,
};
use cwndlab_sim::{Schedule, Sim, Stop};
use ladder::{at, bottleneck, changed, constant, flow, flow_named, interval, jittered, link, ms, run, spec};

/// Random loss, jitter, reordering, FQ-CoDel with ECN, steps of rate and delay, arrivals, a reverse flow, an access
/// link: whatever draws random numbers or holds state.
fn everything(seed: u64) -> SimSpec {
    let steps = vec![
        (Time::ZERO, Rate::from_mbit(30)),
        (at(2000), Rate::from_mbit(15)),
        (at(4000), Rate::from_mbit(40)),
    ];
    let queue = QueueSpec::of(fq_codel::QUEUE);
    // A return queue with a limit: else the reverse flow would drown the ACKs of the others.
    let back = LinkSpec { name: "first.back".to_owned(), ..bottleneck(Rate::from_mbit(20), ms(10), 60) };
    let first = LinkSpec {
        capacity: Capacity::Rate(Schedule::steps(steps).expect("in order")),
        queue,
        jitter: ms(2),
        back: Some(Box::new(back)),
        ..link("first", Rate(1), ms(10))
    };
    let second = LinkSpec {
        delay: Schedule::steps(vec![(Time::ZERO, ms(5)), (at(3000), ms(2))]).expect("in order"),
        loss: LossSpec { kind: LossKind::Random(Schedule::constant(5e-3)), before_queue: false },
        reorder: Some(ReorderSpec { probability: 1e-3, extra_delay: ms(3) }),
        ..link("second", Rate::from_mbit(35), ms(5))
    };
    let mut cubic = flow("cubic", "cubic");
    cubic.paths[0].links = vec![0, 1];
    cubic.kind.tcp.ecn = true;
    let access = AccessSpec { link: link("reno.access", Rate::from_mbit(50), ms(1)), hold_back: true };
    let reno = changed(flow("reno", "reno"), |flow| {
        flow.paths[0].links = vec![0, 1];
        flow.paths[0].access = Some(access);
        flow.active.start = at(500);
    });
    let mut bulk = flow("bulk", "cubic");
    bulk.kind.tcp.ecn = true;
    let up = changed(flow("up", "newreno"), |flow| {
        flow.kind.reverse = true;
        flow.active.stop = Some(at(4500));
    });
    let template = changed(flow("short", "cubic"), |flow| flow.paths[0].links = vec![1]);
    let arrivals = ladder::arrivals(
        template,
        ArrivalProcess::PerSecond(20.0),
        SizeSpec::Pareto { mean: 30_000.0, shape: 1.5 },
    );
    let mut spec = jittered(seed, spec(Span::from_secs(6), vec![first, second], vec![cubic, reno, up, bulk]));
    spec.arrivals = vec![arrivals];
    spec.warmup = ms(700);
    spec
}

/// All that was measured; a recording is no measure.
fn measures(outcome: Outcome) -> Outcome {
    Outcome { recording: None, ..outcome }
}

#[test]
fn the_scenario_has_what_it_is_meant_to_have() {
    let outcome = run(&everything(1));
    assert!(outcome.links[1].lost_packets > 5, "random losses: {:?}", outcome.links[1]);
    assert!(outcome.links[0].marked_packets > 0, "marks: {:?}", outcome.links[0]);
    assert!(outcome.groups[0].completed > 50, "short flows: {:?}", outcome.groups[0]);
    assert!(outcome.flows.iter().all(|flow| flow.goodput_mbps > 0.5), "all flows run: {:?}", outcome.flows);
    // All that follows compares these as well.
    assert_eq!(outcome.intervals.end_s.len(), 60);
    let losses =
        outcome.intervals.flows.iter().map(|flow| flow.loss_events.0.iter().filter(|n| **n > 0.0).count());
    assert!(losses.sum::<usize>() > 10, "loss events: {:?}", outcome.intervals.flows);
    assert!(outcome.intervals.groups[0].0.iter().filter(|mbps| **mbps > 0.0).count() > 30);
    assert!(outcome.distributions.len() > 8, "times of flows, links and the group");
}

#[test]
fn twice_the_same() {
    assert_eq!(run(&everything(1)), run(&everything(1)));
}

#[test]
fn seeds_differ() {
    let goodput = |seed| run(&everything(seed)).flows[0].goodput_mbps;
    assert_ne!(goodput(1), goodput(2));
}

/// Looking on changes nothing, however often.
#[test]
fn recorded_or_not() {
    let plain = run(&everything(1));
    for (interval, max_samples) in [(ms(10), 100_000), (Span::from_micros(777), 500)] {
        let record = Some(RecordSpec { interval, max_samples });
        let recorded = run(&SimSpec { record, ..everything(1) });
        let recording = recorded.recording.as_ref().expect("it was asked for");
        assert!(recording.time_s.len() > 200 && recording.time_s.len() <= max_samples);
        assert!(
            recording.tables.iter().flat_map(|t| &t.columns).all(|(_, c)| c.len() == recording.time_s.len())
        );
        assert_eq!(measures(recorded), plain);
    }
}

/// Stopping and going on changes nothing, wherever the slices end.
#[test]
fn at_once_or_in_slices() {
    let record = Some(RecordSpec { interval: ms(10), max_samples: 100_000 });
    let spec = SimSpec { record, ..everything(1) };
    let at_once = run(&spec);
    // Slices that end on the recorder's grid, on the warm-up and on the steps; slices that end anywhere.
    for slice in [ms(100), Span(77_777_777)] {
        let mut sim = Sim::watched(&spec);
        let mut until = Time::ZERO;
        let mut slices = 0;
        while sim.run_until(until) == Stop::Paused {
            assert_eq!(sim.now(), until);
            until += slice;
            slices += 1;
        }
        assert!(slices > 50);
        let sliced = sim.outcome();
        assert_eq!(measures(sliced.clone()), measures(at_once.clone()), "slices of {slice}");
        // NaN stands for "no value" in a recording: compared as text.
        assert_eq!(
            format!("{:?}", sliced.recording),
            format!("{:?}", at_once.recording),
            "slices of {slice}"
        );
    }
}

#[test]
fn on_one_thread_or_four() {
    let alone: Vec<_> = (1..=8).map(|seed| run(&everything(seed))).collect();
    let mut together = vec![Outcome::default(); 8];
    std::thread::scope(|scope| {
        for (worker, outcomes) in together.chunks_mut(2).enumerate() {
            scope.spawn(move || {
                for (index, outcome) in outcomes.iter_mut().enumerate() {
                    *outcome = run(&everything((2 * worker + index) as u64 + 1));
                }
            });
        }
    });
    assert_eq!(alone, together);
}

// ---------------------------------------------------------------------------------------------------------------
// Independence
// ---------------------------------------------------------------------------------------------------------------

/// A flow over a lossy link of its own.
fn lonely(seed: u64) -> SimSpec {
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(0.01)), before_queue: false };
    let own = LinkSpec { loss, jitter: ms(1), ..link("own", Rate::from_mbit(10), ms(10)) };
    jittered(seed, spec(Span::from_secs(5), vec![own], vec![flow("lonely", "reno")]))
}

fn of_lonely(spec: &SimSpec) -> (FlowOutcome, u64) {
    let outcome = run(spec);
    let lost = ladder::link_named(&outcome, "own").lost_packets;
    (flow_named(&outcome, "lonely").clone(), lost)
}

#[test]
fn a_link_and_a_flow_elsewhere_reshuffle_nothing() {
    let alone = of_lonely(&lonely(1));
    assert!(alone.1 > 10, "{} losses", alone.1);
    let mut with_others = lonely(1);
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(0.05)), before_queue: true };
    let other = LinkSpec { loss, ..link("other", Rate::from_mbit(7), ms(3)) };
    // In front of what was there, so that every index and component number moves.
    with_others.links.insert(0, other);
    with_others.flows[0].paths[0].links = vec![1];
    let neighbour = changed(flow("neighbour", "cubic"), |flow| {
        flow.paths[0].links = vec![0];
        flow.active.start_jitter = ms(10);
    });
    with_others.flows.insert(0, neighbour.clone());
    with_others.arrivals = vec![ladder::arrivals(
        FlowSpec { name: "short".to_owned(), ..neighbour },
        ArrivalProcess::PerSecond(5.0),
        SizeSpec::Constant(20_000),
    )];
    assert_eq!(of_lonely(&with_others), alone);
}

/// The same losses on a link whoever uses it: packet by packet, not by time.
#[test]
fn the_losses_of_a_link_are_its_own() {
    let lost = |name: &str| {
        let loss = LossSpec { kind: LossKind::Random(Schedule::constant(0.01)), before_queue: true };
        let links = vec![LinkSpec { loss, ..link(name, Rate::from_mbit(12), ms(10)) }];
        // A window that is never full: the n-th packet of either run has the same fate.
        run(&spec(Span::from_secs(5), links, vec![constant("f", 10)])).flows[0].retransmitted_packets
    };
    assert_eq!(lost("a"), lost("a"));
    assert_ne!(lost("a"), lost("b"), "two links of different names lose different packets");
}

// ---------------------------------------------------------------------------------------------------------------
// No phase effects: the order of equal flows in the file does not matter
// ---------------------------------------------------------------------------------------------------------------

/// The share of flow "a" of two equal flows, as the first or the second of the file.
fn share_of_a(seed: u64, first: bool) -> f64 {
    let names = if first { ["a", "b"] } else { ["b", "a"] };
    let flows = names.map(|name| flow(name, "reno")).to_vec();
    let links = vec![bottleneck(Rate::from_mbit(10), ms(20), 17)];
    let spec = SimSpec { warmup: Span::from_secs(2), ..spec(Span::from_secs(22), links, flows) };
    let outcome = run(&jittered(seed, spec));
    let goodput = |name| flow_named(&outcome, name).goodput_mbps;
    goodput("a") / (goodput("a") + goodput("b"))
}

/// Over 30 seeds, for a deep enough look: the difference that the place in the file makes has an interval around
/// zero, and so has that of either half of the seeds.
#[test]
fn swapping_two_equal_flows_changes_nothing_but_chance() {
    let differences: Vec<f64> =
        (1..=30).map(|seed| share_of_a(seed, true) - share_of_a(seed, false)).collect();
    let (mean, half) = interval(&differences);
    assert!(mean.abs() <= half, "{mean} +- {half}");
    // An interval that is too wide to say anything would contain zero as well.
    assert!(half < 0.03, "{mean} +- {half}");
    let halves = [interval(&differences[..15]), interval(&differences[15..])];
    assert!((halves[0].0 - halves[1].0).abs() <= halves[0].1 + halves[1].1, "{halves:?}");
}

/// And the flow named "a" is no better than "b".
#[test]
fn two_equal_flows_share_equally_over_seeds() {
    let shares: Vec<f64> = (1..=30).map(|seed| share_of_a(seed, true)).collect();
    let (mean, half) = interval(&shares);
    assert!((mean - 0.5).abs() <= half, "{mean} +- {half}");
    assert!(half < 0.03, "{mean} +- {half}");
}
