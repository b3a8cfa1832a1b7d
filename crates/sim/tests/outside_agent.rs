//! An agent outside suspends the run at an ACK, looks, decides and lets it go on; what it sees and does is what the
//! same policy inside the controller sees and does.

mod ladder;
#[path = "../../cc/tests/sketch/steered.rs"]
mod steered;

use cwndlab_cc::decisions::{GivenWeights, Weights};
use cwndlab_cc::params::{Parameter, Value};
use cwndlab_cc::{Algorithm, Declares, Rate, Span, Time};
use cwndlab_learn::dqn::{Dqn, DqnConfig, Experience};
use cwndlab_learn::net::Loss;
use cwndlab_learn::{Mlp, Rng};
use cwndlab_sim::outcome::Outcome;
use cwndlab_sim::spec::{FlowSpec, SimSpec};
use cwndlab_sim::{Sim, Stop};
use ladder::{bottleneck, changed, flow, jittered, ms, spec};
use std::sync::{Arc, Mutex};
use steered::{Log, Pilot, Steered, policy};

type SharedLog = Arc<Mutex<Log>>;

fn algorithm(pilot: Pilot, log: SharedLog) -> Algorithm {
    Algorithm {
        name: "steered",
        summary: "a window that an agent steers",
        source: "a sketch",
        departures: &[],
        params: [].into(),
        declares: Declares::default(),
        build: Arc::new(move |setup, _| Box::new(Steered::new(setup, pilot, log.clone()))),
    }
}

fn steered(name: &str, pilot: Pilot) -> (FlowSpec, SharedLog) {
    let log = SharedLog::default();
    let flow = changed(flow(name, "reno"), |flow| {
        flow.kind.algorithm = algorithm(pilot, log.clone());
        flow.kind.settings = vec![];
    });
    (flow, log)
}

/// A small bottleneck (BDP 33 packets, queue 20), so that there are losses and queueing.
fn scenario(flows: Vec<FlowSpec>) -> SimSpec {
    jittered(5, spec(Span::from_secs(20), vec![bottleneck(Rate::from_mbit(20), ms(10), 20)], flows))
}

/// Runs with the policy outside; counts each flow's decisions.
fn fly(spec: &SimSpec) -> (Outcome, Vec<u64>) {
    let mut sim = Sim::watched(spec);
    let mut decisions = vec![0; spec.flows.len()];
    while let Stop::Decision(flow) = sim.run() {
        let agent = sim.agent(flow).expect("only a flow with an agent asks");
        let mut observation = vec![0.0; agent.observation_len()];
        agent.observe(&mut observation);
        sim.act(flow, policy(&observation));
        decisions[flow] += 1;
    }
    (sim.outcome(), decisions)
}

#[test]
fn outside_and_inside_are_the_same_to_the_bit() {
    let worlds = [
        (None, Span::ZERO),
        (Some(flow("other", "cubic")), Span::ZERO),
        (Some(flow("other", "cubic")), Span(7_654_321)),
    ];
    for (competitor, delay) in worlds {
        let with = |pilot| {
            let (mut steered, log) = steered("steered", pilot);
            steered.kind.decision_delay = delay;
            let flows = std::iter::once(steered).chain(competitor.clone()).collect();
            (scenario(flows), log)
        };
        let (outside, outside_log) = with(Pilot::Outside);
        let (inside, inside_log) = with(Pilot::Inside);
        let (flown, decisions) = fly(&outside);
        let (alone, none) = fly(&inside);
        assert!(decisions[0] > 300, "{} decisions", decisions[0]);
        assert!(none.iter().all(|n| *n == 0), "a policy inside never suspends the run");
        assert!(flown.flows[0].fast_recoveries > 0, "there is something to get wrong: {:?}", flown.flows[0]);
        assert_eq!(flown, alone);
        let (outside_log, inside_log) = (outside_log.lock().unwrap(), inside_log.lock().unwrap());
        assert_eq!(outside_log.acted, inside_log.acted);
        assert_eq!(outside_log.windows, inside_log.windows);
        let actions = |wanted| outside_log.acted.iter().filter(|action| **action == wanted).count();
        assert!((0..3).all(|action| actions(action) > 10), "the policy has used all of its actions");
    }
}

#[test]
fn the_run_stops_at_the_very_ack() {
    let (steered, log) = steered("steered", Pilot::Outside);
    let spec = scenario(vec![steered]);
    let mut sim = Sim::watched(&spec);
    for n in 1..100 {
        assert_eq!(sim.run(), Stop::Decision(0));
        assert_eq!(log.lock().unwrap().asked.len(), n);
        assert_eq!(log.lock().unwrap().asked.last(), Some(&sim.now()));
    }
}

/// No answer is an answer: the window stays.
#[test]
fn a_decision_may_be_left_out() {
    let (steered, log) = steered("steered", Pilot::Outside);
    let spec = scenario(vec![steered]);
    let mut sim = Sim::watched(&spec);
    while sim.run() != Stop::Done {}
    assert!(sim.outcome().flows[0].goodput_mbps > 1.0);
    assert!(log.lock().unwrap().acted.is_empty());
    assert!(log.lock().unwrap().windows.iter().all(|(_, window)| *window == 10));
}

#[test]
fn two_flows_learn_in_one_run() {
    let ((a, a_log), (b, b_log)) = (steered("a", Pilot::Outside), steered("b", Pilot::Outside));
    let (outside, decisions) = fly(&scenario(vec![a, flow("between", "reno"), b]));
    assert_eq!(decisions[1], 0);
    assert_eq!(
        [decisions[0], decisions[2]].map(|n| n as usize),
        [&a_log, &b_log].map(|l| l.lock().unwrap().acted.len())
    );
    let ((a, _), (b, _)) = (steered("a", Pilot::Inside), steered("b", Pilot::Inside));
    assert_eq!(outside, fly(&scenario(vec![a, flow("between", "reno"), b])).0);
    // One of each kind, too.
    let ((a, _), (b, _)) = (steered("a", Pilot::Outside), steered("b", Pilot::Inside));
    assert_eq!(outside, fly(&scenario(vec![a, flow("between", "reno"), b])).0);
}

/// The run is suspended between the ACK and what is sent because of it: a window that an agent opens is used at
/// once, not at the next ACK.
#[test]
fn an_action_is_in_force_for_the_sending_of_the_same_ack() {
    let sent_after = |action| {
        let (steered, _) = steered("steered", Pilot::Outside);
        let mut spec = scenario(vec![steered]);
        spec.flows[0].kind.tcp.delayed_ack = 1;
        let mut sim = Sim::watched(&spec);
        assert_eq!(sim.run(), Stop::Decision(0));
        sim.act(0, action);
        let now = sim.now();
        assert_eq!(sim.run_until(now), Stop::Paused);
        sim.outcome().flows[0].sent_packets
    };
    assert_eq!(sent_after(2), sent_after(1) + 1, "one more than the ACK itself lets out");
    assert_eq!(sent_after(0), sent_after(1) - 1);
}

/// To the nanosecond: not a moment before, and at that time whether or not an ACK comes then.
#[test]
fn a_decision_takes_effect_after_its_delay() {
    for delay in [Span::from_micros(1), Span(1_234_567), ms(5)] {
        let (mut steered, log) = steered("steered", Pilot::Outside);
        steered.kind.decision_delay = delay;
        // One segment on its own: a round trip of 20 ms passes between two decisions.
        let spec = scenario(vec![steered]);
        let mut sim = Sim::watched(&spec);
        for n in 0..20 {
            assert_eq!(sim.run(), Stop::Decision(0));
            let (due, acted) = (sim.now() + delay, || log.lock().unwrap().acted.len());
            sim.act(0, 1);
            assert_eq!(acted(), n, "not yet");
            assert_eq!(sim.run_until(Time(due.0 - 1)), Stop::Paused);
            assert_eq!(acted(), n, "a nanosecond before");
            assert_eq!(sim.run_until(due), Stop::Paused);
            assert_eq!(acted(), n + 1, "now");
        }
    }
}

/// A late decision that opens the window sends at that time, without waiting for an ACK.
#[test]
fn a_late_decision_sends_when_it_takes_effect() {
    let sent_by = |action: u32, after: Span| {
        let (mut steered, _) = steered("steered", Pilot::Outside);
        steered.kind.decision_delay = ms(3);
        let mut sim = Sim::watched(&scenario(vec![steered]));
        assert_eq!(sim.run(), Stop::Decision(0));
        let decided = sim.now();
        sim.act(0, action);
        assert_eq!(sim.run_until(decided + after), Stop::Paused);
        sim.outcome().flows[0].sent_packets
    };
    let (before, then) = (Span(2_999_999), ms(3));
    assert_eq!(sent_by(2, before), sent_by(1, before));
    assert_eq!(sent_by(2, then), sent_by(1, then) + 1);
}

#[test]
fn a_flow_without_an_agent_has_none() {
    let mut sim = Sim::watched(&scenario(vec![flow("reno", "reno")]));
    assert!(sim.agent(0).is_none());
    assert!(sim.agent(7).is_none());
    assert_eq!(sim.run(), Stop::Done);
}

// ---------------------------------------------------------------------------------------------------------------
// The DQN, inside and outside
// ---------------------------------------------------------------------------------------------------------------

/// How the network of a DQN is handled.
#[derive(Clone, Copy, PartialEq)]
enum Learner {
    Learn,
    Play,
}

fn dqn(name: &str, policy: &'static str, weights: &GivenWeights) -> FlowSpec {
    let mut flow = flow("learner", name);
    flow.kind.settings.extend([
        ("policy".to_owned(), Value::Word(policy)),
        // What an agent outside sees, too; `steered` knows no other tuples.
        ("tuples".to_owned(), Value::Word("per-decision")),
        ("warmup".to_owned(), Value::Count(50)),
        ("epsilon".to_owned(), Value::Number(0.1)),
    ]);
    if policy != "outside" {
        flow.kind.settings.push(("weights".to_owned(), weights.to_value()));
    }
    flow
}

/// The same learner as the controller has inside, with the same weights and seed.
fn learner(spec: &SimSpec, weights: &GivenWeights) -> Dqn {
    let mut stream = Rng::named(spec.seed, "flow learner cc");
    let rng = Rng::named(stream.bits(), "agent");
    let config = DqnConfig {
        discount: 0.9,
        learning_rate: 1e-4,
        batch: 32,
        replay_capacity: 2000,
        warmup: 50,
        target_sync: 100,
        dropout: 0.1,
        dropout_acting: false,
        loss: Loss::Mse,
        double: false,
        epsilon: 0.1,
        epsilon_decay: 0,
    };
    let network = weights.weights().unwrap().network.clone();
    Dqn::new(config, network, false, rng)
}

fn fly_with(spec: &SimSpec, learner: &mut Dqn, school: Learner) -> Outcome {
    let mut sim = Sim::watched(spec);
    let mut last: Option<(Vec<f32>, u32)> = None;
    while let Stop::Decision(flow) = sim.run() {
        let agent = sim.agent(flow).expect("only a flow with an agent asks");
        let mut state = vec![0.0; agent.observation_len()];
        let reward = agent.observe(&mut state);
        if let (Learner::Learn, Some((before, action))) = (school, &last) {
            let experience = Experience { state: before, action: *action, reward, next_state: &state };
            learner.remember(&experience);
        }
        let action = learner.choose(&state);
        if school == Learner::Learn {
            learner.learn();
        }
        sim.act(flow, action);
        last = Some((state, action));
    }
    sim.outcome()
}

/// The whole outcome and, where it learns, the weights that it ends with.
#[test]
fn a_dqn_outside_is_the_dqn_inside_to_the_bit() {
    for delay in [Span::ZERO, ms(7)] {
        compare_dqns(delay);
    }
}

fn compare_dqns(delay: Span) {
    for (name, sizes) in [
        ("dqn-newreno", &[3, 30, 30, 30, 7][..]),
        ("dqn-cubic", &[5, 50, 50, 50, 50, 50, 4]),
        ("steered", &[5, 30, 30, 30, 5]),
    ] {
        let network = Mlp::random(sizes, &mut Rng::named(1, "weights"));
        let weights = Weights { network, inputs: String::new() };
        let weights = GivenWeights::of_file("file", String::new(), weights);
        for (school, policy) in [(Learner::Play, "play"), (Learner::Learn, "learn")] {
            let late = |policy| changed(dqn(name, policy, &weights), |flow| flow.kind.decision_delay = delay);
            let with = |policy| scenario(vec![late(policy), flow("other", "cubic")]);
            let (mut inside, decisions) = fly(&with(policy));
            assert!(decisions.iter().all(|n| *n == 0), "a network inside never suspends the run");
            let mut learner = learner(&with("outside"), &weights);
            let outside = fly_with(&with("outside"), &mut learner, school);
            assert!(inside.flows[0].fast_recoveries > 0, "there is something to get wrong");
            let learned = inside.flows[0].weights.take().expect("a network inside").network;
            assert_eq!(learned == weights.weights().unwrap().network, school == Learner::Play);
            assert!(learned == *learner.network(), "{name}, {policy}: other weights");
            // Probes tell how a network inside fares; there is none.
            let unprobed = |mut outcome: Outcome| {
                outcome.intervals.flows.iter_mut().for_each(|flow| flow.probes.clear());
                outcome
            };
            assert_eq!(unprobed(outside), unprobed(inside), "{name}, {policy}, {delay}");
        }
    }
}
