//! A window that an agent steers: when it decides, what it sees, what it is rewarded for, and who it may be. Numbers are
//! computed here without the code under test.

mod common;

use common::{MSS, sender};
use cwndlab_cc::algo::steered::inputs;
use cwndlab_cc::decisions::{GivenWeights, Weights};
use cwndlab_cc::params::{Allowed, NamedFile, Parameter, Value};
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Decision, Event, Lost, Registry, Span};
use cwndlab_learn::{Mlp, Rng};

const RTT: Span = Span::from_millis(100);
const STAY: u32 = 0;

/// An agent outside at 100 segments, which has just decided.
fn steered(set: &[(&str, Value)]) -> Sender {
    let mut sender = sender("steered", set, 100, RTT);
    assert_eq!(sender.wait(RTT).ack(1), Decision::Due);
    act(&mut sender, STAY);
    sender
}

fn act(sender: &mut Sender, action: u32) {
    sender.cc.agent().expect("there is an agent").act(action);
}

fn observe(sender: &mut Sender) -> (f64, [f32; 5]) {
    let mut state = [0.0; 5];
    let reward = sender.cc.agent().expect("there is an agent").observe(&mut state);
    (f64::from(reward), state)
}

fn lose(sender: &mut Sender, segments: u64) {
    let lost = Lost { bytes: segments * MSS, ..Lost::default() };
    sender.call(|cc, cx| cc.on_lost(cx, &lost));
}

/// An RTT passes, in which so many segments are delivered and lost; reward and state.
fn after_a_round(sender: &mut Sender, delivered: u64, lost: u64) -> (f64, [f32; 5]) {
    lose(sender, lost);
    assert_eq!(sender.wait(RTT).ack(delivered), Decision::Due);
    observe(sender)
}

#[track_caller]
fn close((reward, _): (f64, [f32; 5]), expected: f64) {
    assert!((reward - expected).abs() < 1e-6, "{reward}, not {expected}");
}

/// 100 segments of 1000 bytes in 100 ms are the largest rate, 8 Mbit/s; then half of it, and all of it at twice the RTT.
#[test]
fn the_reward_is_the_rate_over_the_rtt_as_a_share_of_the_best() {
    let mut sender = steered(&[]);
    close(after_a_round(&mut sender, 100, 0), 1.0);
    close(after_a_round(&mut sender, 50, 0), 0.5);
    sender.facts.rtt.latest = Span::from_millis(200);
    close(after_a_round(&mut sender, 100, 0), 0.5);
    sender.facts.rtt.latest = RTT;
    close(after_a_round(&mut sender, 200, 0), 1.0);
    close(after_a_round(&mut sender, 100, 0), 0.5);
}

/// Of 100 segments at the best, 60 come and 20 do not: 60 - 20 weight.
#[test]
fn losses_cost_by_their_weight() {
    for (weight, expected) in [(0.0, 0.6), (1.0, 0.4), (3.0, 0.0), (100.0, -1.0)] {
        let mut sender = steered(&[("loss_weight", Value::Number(weight))]);
        after_a_round(&mut sender, 100, 0);
        close(after_a_round(&mut sender, 60, 20), expected);
        close(after_a_round(&mut sender, 60, 0), 0.6);
    }
}

/// Ten segments in a millisecond are 80 Mbit/s, but no rate that a round trip has shown.
#[test]
fn a_burst_is_no_rate_to_be_measured_by() {
    let mut sender = steered(&[("decide", Value::Word("ack"))]);
    after_a_round(&mut sender, 100, 0);
    sender.wait(Span::from_millis(1)).ack(10);
    close(observe(&mut sender), 1.0);
    close(after_a_round(&mut sender, 50, 0), 0.5);
}

#[test]
fn the_state_is_what_it_says() {
    assert_eq!(inputs(), "cwnd_segments/1000,rtt_ms/100,min_rtt_ms/100,delivery_rate_mbps/100,lost_share");
    let mut sender = steered(&[]);
    sender.facts.rtt.latest = Span::from_millis(150);
    let (_, state) = after_a_round(&mut sender, 75, 25);
    // 75 segments of 1000 bytes in 100 ms: 6 Mbit/s.
    assert_eq!(state, [0.1, 1.5, 1.0, 0.06, 0.25]);
}

#[test]
fn actions_move_the_window_between_its_bounds() {
    let mut sender = steered(&[("max_cwnd", Value::Count(150))]);
    let windows = [3, 1, 2, 0, 4, 4, 1, 1, 1, 1, 2, 9].map(|action| {
        act(&mut sender, action);
        sender.cwnd_segments()
    });
    assert_eq!(windows, [110.0, 55.0, 45.0, 45.0, 90.0, 150.0, 75.0, 37.0, 18.0, 9.0, 1.0, 2.0]);
}

#[test]
fn a_timeout_leaves_one_segment_unless_it_was_spurious() {
    let mut sender = steered(&[]);
    assert_eq!(sender.event(Event::LossRecovery).cwnd_segments(), 100.0, "no cut of its own");
    assert_eq!(sender.event(Event::Timeout).cwnd_segments(), 1.0);
    assert_eq!(sender.event(Event::Undo).cwnd_segments(), 100.0);
}

// ---------------------------------------------------------------------------------------------------------------
// A network
// ---------------------------------------------------------------------------------------------------------------

fn file(network: Mlp, inputs: String) -> GivenWeights {
    let weights = Weights { network, inputs };
    GivenWeights::of_file("file", String::new(), weights)
}

/// Halves when the RTT is above twice the least, and adds ten segments otherwise: action 1 is worth rtt - 2 min_rtt.
fn by_the_rtt() -> Mlp {
    let mut network = Mlp::zero(&[5, 5]);
    let mut weights = [0.0; 25];
    (weights[5 + 1], weights[5 + 2]) = (1.0, -2.0);
    network.set_weights(0, &weights, &[-9.0, 0.0, -9.0, 0.0, -9.0]);
    network
}

fn learned(sender: &Sender) -> Option<Mlp> {
    sender.cc.learning()?.weights().map(|weights| weights.network)
}

fn played(network: &Mlp) -> Vec<(&'static str, Value)> {
    vec![
        ("policy", Value::Word("play")),
        ("layers", Value::Count(0)),
        ("weights", file(network.clone(), inputs()).to_value()),
        ("epsilon", Value::Number(0.0)),
    ]
}

#[test]
fn a_network_steers_by_what_it_sees() {
    let network = by_the_rtt();
    let mut sender = sender("steered", &played(&network), 100, RTT);
    assert!(learned(&sender).is_none(), "none before the first decision");
    assert_eq!(sender.wait(RTT).ack(1), Decision::Made(3), "nobody outside is asked");
    assert_eq!((sender.cwnd_segments(), sender.probe("action")), (110.0, 3.0));
    sender.facts.rtt.latest = Span::from_millis(250);
    sender.wait(RTT).ack(1);
    assert_eq!((sender.cwnd_segments(), sender.probe("action")), (55.0, 1.0));
    sender.facts.rtt.latest = Span::from_millis(150);
    sender.wait(RTT).ack(1);
    assert_eq!(sender.cwnd_segments(), 65.0);
    assert_eq!(learned(&sender), Some(network), "it learns nothing");
}

#[test]
fn a_network_that_learns_changes_once_it_has_decisions_enough() {
    let first_step = |train: &'static str, every: u64| {
        let set = [
            ("policy", Value::Word("learn")),
            ("warmup", Value::Count(20)),
            ("max_cwnd", Value::Count(50)),
            ("train", Value::Word(train)),
            ("train_every", Value::Count(every)),
        ];
        let mut sender = sender("steered", &set, 10, RTT);
        let mut after = |rounds| {
            for _ in 0..rounds {
                sender.wait(RTT).ack(1);
            }
            learned(&sender).expect("it has decided")
        };
        let first = after(1);
        (1..100).find(|_| after(1) != first).expect("it learns")
    };
    assert_eq!(first_step("decision", 7), 20, "the first decision is in a tuple at the second");
    assert_eq!(first_step("tuple", 7), 21);
}

#[test]
fn weights_that_do_not_suit_are_refused() {
    let registry = Registry::built_in();
    let algorithm = registry.get("steered").expect("it ships");
    let check = algorithm.params.iter().find_map(|spec| match spec.allowed {
        Allowed::File(kind) => Some(kind.check),
        _ => None,
    });
    let told = |sizes: &[usize], inputs: &str, policy: &'static str| {
        let network = Mlp::random(sizes, &mut Rng::named(1, "x"));
        let settings = [("policy".to_owned(), Value::Word(policy))];
        let weights = Weights { network, inputs: inputs.to_owned() };
        check.expect("it takes weights")(&NamedFile::new("file", String::new(), weights), &settings)
    };
    let sizes = [5, 30, 30, 30, 5];
    assert_eq!(told(&sizes, &inputs(), "play"), Ok(()));
    assert_eq!(told(&sizes, &inputs(), "learn"), Ok(()));
    let cases = [
        (told(&sizes, &inputs(), "outside"), "an external agent has its own weights (policy = outside)"),
        (told(&[5, 30, 5], &inputs(), "play"), "expected a network of 5-30-30-30-5, found 5-30-5"),
        (told(&sizes, "a,b", "play"), "expected a network with the inputs `cwnd_segments/1000,"),
    ];
    for (told, expected) in cases {
        let told = told.expect_err("it does not suit");
        assert!(told.contains(expected), "{told:?}, not {expected:?}");
    }
}
