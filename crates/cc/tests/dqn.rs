//! The policy of Seo et al. 2022 and Seo and Cho 2024: when a tuple is stored and with which reward, when the network
//! learns, what an agent outside sees, and which weights suit. Numbers are computed here without the code under test.

mod common;

use common::{MSS, sender};
use cwndlab_cc::algo::actions::{CubicActions, NewRenoActions};
use cwndlab_cc::decisions::{ActionSet, GivenWeights, Scaling, Weights};
use cwndlab_cc::params::{Allowed, NamedFile, Parameter, Value};
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Decision, Event, Phase, Registry, Span};
use cwndlab_learn::{Mlp, Rng};

const RTT: Span = Span::from_millis(100);
const BOTH: [&str; 2] = ["dqn-newreno", "dqn-cubic"];

fn word(word: &'static str) -> (&'static str, Value) {
    ("tuples", Value::Word(word))
}

/// Without HyStart, so that slow start lasts until something is lost.
fn after_a_loss(name: &str, set: &[(&str, Value)]) -> Sender {
    let set = [&[("hystart", Value::Flag(false))], set].concat();
    let mut sender = sender(name, &set, 100, RTT);
    sender.lose();
    sender
}

/// A network without hidden layers that prefers this action, as a file.
fn preferring(action: usize, features: usize, actions: usize, inputs: String) -> GivenWeights {
    let mut network = Mlp::zero(&[features, actions]);
    let mut biases = vec![0.0; actions];
    biases[action] = 1.0;
    network.set_weights(0, &vec![0.0; features * actions], &biases);
    let weights = Weights { network, inputs };
    GivenWeights::of_file("file", String::new(), weights)
}

fn play(name: &str, action: usize) -> Vec<(&'static str, Value)> {
    let (features, actions) = if name == "dqn-newreno" { (3, 7) } else { (5, 4) };
    vec![
        ("policy", Value::Word("play")),
        ("layers", Value::Count(0)),
        ("weights", preferring(action, features, actions, String::new()).to_value()),
        ("epsilon", Value::Number(0.0)),
    ]
}

/// Stored since, over so many ACKs of one segment, a millisecond apart.
fn stored(sender: &mut Sender, acks: u32) -> f64 {
    let before = sender.probe("replay_tuples");
    for _ in 0..acks {
        sender.wait(Span::from_millis(1)).ack(1);
    }
    sender.probe("replay_tuples") - before
}

/// T above the minimum RTT is reached 100 ms after the loss: from then on each ACK ends a tuple. Counted from the last
/// tuple instead there is one in 101 ms, and one for each change of the window.
#[test]
fn tuples_are_stored_by_the_rule() {
    for name in BOTH {
        let mut literal = after_a_loss(name, &[]);
        stored(&mut literal, 200);
        // Below the threshold, where an action may have left the window, there is slow start for some ACKs.
        let most = stored(&mut literal, 1000);
        assert!((900.0..=1000.0).contains(&most), "{name}: nearly every ACK of a run, and {most}");

        let mut per_rtt = after_a_loss(name, &[word("per-rtt")]);
        stored(&mut per_rtt, 500);
        assert_eq!(stored(&mut per_rtt, 1000), 10.0, "{name}");

        let mut since_tuple = after_a_loss(name, &[word("since-tuple")]);
        stored(&mut since_tuple, 500);
        let few = stored(&mut since_tuple, 1000);
        assert!((9.0..100.0).contains(&few), "{name}: {few}");
    }
}

/// NewReno decides once a window of 70 segments; "0" keeps the window there.
#[test]
fn one_tuple_a_decision() {
    let still = preferring(3, 3, 7, String::new());
    let set = [
        word("per-decision"),
        ("layers", Value::Count(0)),
        ("weights", still.to_value()),
        ("epsilon", Value::Number(0.0)),
    ];
    let mut sender = after_a_loss("dqn-newreno", &set);
    stored(&mut sender, 70);
    assert_eq!(stored(&mut sender, 700), 10.0);
}

/// Before T is above the minimum RTT only a change of the window ends a tuple.
#[test]
fn right_after_a_loss_tuples_are_rare() {
    for name in BOTH {
        let mut sender = after_a_loss(name, &[]);
        sender.facts.rtt.minimum = Span::from_secs(10);
        let few = stored(&mut sender, 1000);
        assert!(few < 60.0, "{name}: {few}");
    }
}

#[test]
fn in_slow_start_and_recovery_nothing_is_stored() {
    for name in BOTH {
        let mut sender = sender(name, &[("hystart", Value::Flag(false))], 10, RTT);
        assert_eq!(stored(&mut sender, 500), 0.0, "{name}: slow start");
        sender.lose();
        stored(&mut sender, 1000);
        sender.event(Event::LossRecovery);
        sender.facts.phase = Phase::Recovery;
        assert_eq!(stored(&mut sender, 100), 0.0, "{name}: recovery");
    }
}

/// Until so many are stored the actions are random; then the network decides and learns.
#[test]
fn it_learns_once_there_are_tuples_enough() {
    for name in BOTH {
        let mut sender = after_a_loss(name, &[("warmup", Value::Count(500))]);
        while sender.probe("replay_tuples") < 499.0 {
            sender.wait(Span::from_millis(1)).ack(1);
        }
        assert!(sender.probe("loss").is_nan() && sender.probe("mean_q").is_nan(), "{name}");
        stored(&mut sender, 200);
        assert!(sender.probe("loss") >= 0.0 && sender.probe("mean_q").is_finite(), "{name}");
    }
}

/// NewReno decides once a window of 70 segments or more; each ACK in between stores a tuple.
#[test]
fn a_learning_step_follows_each_decision_or_so_many_tuples() {
    let learned_after = |train: &'static str, every: u64| {
        let set = [
            ("warmup", Value::Count(10)),
            ("train", Value::Word(train)),
            ("train_every", Value::Count(every)),
            ("below_ssthresh", Value::Word("avoidance")),
        ];
        let mut sender = after_a_loss("dqn-newreno", &set);
        sender.facts.rtt.minimum = Span::from_micros(1);
        (0..1000).find(|_| {
            stored(&mut sender, 1);
            !sender.probe("loss").is_nan()
        })?;
        Some(sender.probe("replay_tuples"))
    };
    assert_eq!(learned_after("tuple", 1), Some(10.0), "as soon as the warm-up is over");
    assert_eq!(learned_after("tuple", 25), Some(25.0));
    assert_eq!(learned_after("tuple", 10_000), None, "no decision is followed by a step");
    assert!(learned_after("decision", 1) > Some(50.0), "at the next decision");
    assert_eq!(learned_after("decision", 1), learned_after("decision", 25));
}

/// A layer of one node: without it all actions are worth the bias, and the first of equal ones is taken.
#[test]
fn dropout_may_stay_on_while_acting() {
    let actions = |acting: bool| {
        let mut network = Mlp::zero(&[3, 1, 7]);
        network.set_weights(0, &[0.0; 3], &[1.0]);
        network.set_weights(1, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 7]);
        let weights =
            GivenWeights::of_file("file", String::new(), Weights { network, inputs: String::new() });
        let set = [
            ("policy", Value::Word("play")),
            ("layers", Value::Count(1)),
            ("nodes", Value::Count(1)),
            ("weights", weights.to_value()),
            ("epsilon", Value::Number(0.0)),
            ("dropout", Value::Number(0.5)),
            ("dropout_acting", Value::Flag(acting)),
            ("below_ssthresh", Value::Word("avoidance")),
        ];
        let mut sender = sender("dqn-newreno", &set, 1000, RTT);
        sender.lose();
        let mut taken = Vec::new();
        while taken.len() < 40 {
            if let Decision::Made(action) = sender.wait(Span::from_millis(1)).ack(1000) {
                taken.push(action);
            }
        }
        taken
    };
    assert_eq!(actions(false), [3; 40]);
    let taken = actions(true);
    assert!(taken.contains(&0) && taken.contains(&3), "{taken:?}");
}

/// The loss of 100 segments ends slow start; without it the first rate after it is the largest.
#[test]
fn the_overshoot_of_slow_start_may_be_left_out_of_the_reward() {
    for (rule, expected) in [("congestion", 0.7), ("second-congestion", 1.0)] {
        let set = [play("dqn-newreno", 3), vec![("thr_max", Value::Word(rule))]].concat();
        let mut sender = after_a_loss("dqn-newreno", &set);
        sender.wait(RTT).ack(1);
        assert!((sender.probe("reward") - expected).abs() < 1e-6, "{rule}");
    }
}

#[test]
fn the_ring_holds_so_many() {
    let mut sender = after_a_loss("dqn-cubic", &[("replay", Value::Count(64))]);
    stored(&mut sender, 1000);
    assert_eq!(sender.probe("replay_tuples"), 64.0);
}

/// The rate is the window over the RTT; the largest is that at the loss, of 100 segments.
#[test]
fn the_reward_is_a_share_of_the_largest_rate_and_minus_one_for_a_loss() {
    for name in BOTH {
        let mut sender = sender(name, &play(name, if name == "dqn-cubic" { 1 } else { 3 }), 100, RTT);
        assert!(sender.probe("reward").is_nan(), "{name}: nothing was seen");
        sender.lose();
        assert_eq!(sender.probe("reward"), -1.0, "{name}");
        sender.wait(RTT).ack(1);
        assert!((sender.probe("reward") - 0.7).abs() < 1e-6, "{name}");
        sender.facts.rtt.latest = Span::from_millis(200);
        sender.wait(RTT).ack(1);
        assert!((sender.probe("reward") - 0.35).abs() < 1e-6, "{name}: as the RTT doubles");
    }
}

/// In 2022 three duplicate ACKs are punished; in 2024 each loss is.
#[test]
fn a_timeout_is_punished_by_the_later_paper() {
    for (name, reward) in [("dqn-cubic", -1.0), ("dqn-cubic-2022", 0.7)] {
        let mut sender = after_a_loss(name, &play(name, 1));
        sender.wait(RTT).ack(1);
        sender.event(Event::Timeout);
        assert!((sender.probe("reward") - reward).abs() < 1e-6, "{name}");
        sender.lose();
        assert_eq!(sender.probe("reward"), -1.0, "{name}");
    }
}

#[test]
fn given_weights_play() {
    let mut newreno = after_a_loss("dqn-newreno", &play("dqn-newreno", 6));
    stored(&mut newreno, 70);
    assert_eq!((newreno.cwnd_segments(), newreno.probe("action")), (80.0, 6.0));
    assert_eq!(newreno.probe("replay_tuples"), 0.0, "who does not learn keeps nothing");
    let mut cubic = after_a_loss("dqn-cubic", &play("dqn-cubic", 3));
    stored(&mut cubic, 200);
    assert_eq!(cubic.probe("action"), 3.0);
    assert!((cubic.probe("c_segments_per_s3") - 1.2).abs() < 1e-9);
}

fn learned(sender: &Sender) -> Option<Weights> {
    sender.cc.learning()?.weights()
}

/// What comes in is what goes out, as long as nothing is learned.
#[test]
fn weights_are_given_back() {
    for name in BOTH {
        let mut sender = after_a_loss(name, &play(name, 1));
        assert!(learned(&sender).is_none(), "none before the first decision");
        stored(&mut sender, 200);
        let kept = learned(&sender).unwrap();
        let (_, Value::File(file)) = &play(name, 1)[2] else { unreachable!() };
        assert_eq!(file.content(), Some(&Weights { inputs: String::new(), ..kept }));
    }
    assert!(sender("cubic", &[], 10, RTT).cc.learning().is_none());
    let mut running = after_a_loss("dqn-cubic", &[("state", Value::Word("running"))]);
    stored(&mut running, 200);
    assert!(learned(&running).is_none(), "its inputs have no constant scale");
}

/// An agent outside is asked where the network would decide; it sees the state and the reward since its last decision.
#[test]
fn an_agent_outside_is_asked() {
    let outside = ("policy", Value::Word("outside"));
    let mut sender = sender("dqn-newreno", &[outside], 100, RTT);
    sender.lose();
    for _ in 0..69 {
        assert_eq!(sender.wait(Span::from_millis(1)).ack(1), Decision::NotDue);
    }
    assert_eq!(sender.wait(Span::from_millis(1)).ack(1), Decision::Due);
    let mut state = [0.0; 3];
    let agent = sender.cc.agent().unwrap();
    assert_eq!((agent.observation_len(), agent.actions()), (3, 7));
    assert_eq!(agent.observe(&mut state), -1.0, "there was a loss");
    assert_eq!(state, [0.07, 0.07, 1.0]);
    agent.act(6);
    assert_eq!(sender.cwnd_segments(), 80.0);
    let decided = (0..80).filter(|_| sender.wait(Span::from_millis(1)).ack(1) == Decision::Due).count();
    assert_eq!(decided, 1);
    let reward = sender.cc.agent().unwrap().observe(&mut state);
    assert!((reward - 0.8).abs() < 1e-6 && state[1] == 0.08, "{reward}, {state:?}");
}

#[test]
fn who_decides_has_an_agent_whether_or_not_there_is_something_to_see() {
    let seen = |name| sender(name, &[], 10, RTT).cc.agent().map(|agent| agent.observation_len());
    assert_eq!(["dqn-cubic", "random", "always", "cubic"].map(seen), [Some(5), Some(0), Some(0), None]);
}

fn told(name: &str, given: &Weights, settings: &[(&str, Value)]) -> Result<(), String> {
    let registry = Registry::built_in();
    let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let params = &registry.get(name).unwrap().params;
    let check = params.iter().find_map(|spec| match spec.allowed {
        Allowed::File(kind) => Some(kind.check),
        _ => None,
    });
    check.unwrap()(&NamedFile::new("file", String::new(), given.clone()), &settings)
}

#[test]
fn weights_that_do_not_suit_are_refused() {
    let inputs = Scaling::Fixed.inputs(CubicActions::FEATURES).unwrap();
    let network = |sizes: &[usize]| Mlp::random(sizes, &mut Rng::named(1, "x"));
    let given = Weights { network: network(&[5, 50, 50, 50, 50, 50, 4]), inputs };
    assert_eq!(told("dqn-cubic", &given, &[]), Ok(()));
    assert_eq!(told("dqn-cubic-2022", &given, &[]), Ok(()));
    let cases = [
        (told("dqn-newreno", &given, &[]), "3-30-30-30-7"),
        (told("dqn-cubic", &given, &[("nodes", Value::Count(20))]), "5-20-20-20-20-20-4"),
        (
            told("dqn-cubic", &given, &[("state", Value::Word("raw"))]),
            "expected a network with the inputs `ssthresh_segments,cwnd",
        ),
        (
            told("dqn-cubic", &given, &[("state", Value::Word("running"))]),
            "cannot be used with saved weights",
        ),
        (told("dqn-cubic", &given, &[("policy", Value::Word("outside"))]), "its own weights"),
    ];
    for (told, expected) in cases {
        let told = told.unwrap_err();
        assert!(told.contains(expected), "{told:?}, not {expected:?}");
    }
    let newreno = Scaling::Fixed.inputs(NewRenoActions::FEATURES).unwrap();
    let given = Weights { network: network(&[3, 30, 30, 30, 7]), inputs: newreno };
    assert_eq!(told("dqn-newreno", &given, &[]), Ok(()));
}

/// All that was stored in the last RTT, where the rule says so: 101 of them, with the one that the loss ends.
#[test]
fn a_loss_may_be_held_against_all_of_the_last_rtt() {
    // Chances of a reward of -1 are told by what the network learns of it: the mean value falls faster.
    let mean_q = |blamed: &'static str| {
        let set = [
            ("blamed", Value::Word(blamed)),
            ("warmup", Value::Count(200)),
            ("replay", Value::Count(200)),
            ("gamma", Value::Number(0.0)),
            ("learning_rate", Value::Number(0.01)),
            ("dropout", Value::Number(0.0)),
        ];
        let mut sender = after_a_loss("dqn-cubic", &set);
        stored(&mut sender, 400);
        sender.lose();
        // Too soon after a loss for tuples, but not for decisions.
        sender.facts.rtt.minimum = Span::from_secs(100);
        stored(&mut sender, 2000);
        sender.probe("mean_q")
    };
    let (one, all) = (mean_q("last-action"), mean_q("lost-window"));
    assert!(one > 0.4 && all < 0.3, "{one}, {all}");
}

#[test]
fn segments_are_whole() {
    let mut sender = after_a_loss("dqn-newreno", &[]);
    stored(&mut sender, 2000);
    assert_eq!(sender.cc.control().cwnd % MSS, 0);
}
