//! Decisions in congestion avoidance: what each action of Seo et al. 2022 and Seo and Cho 2024 does, when one is asked
//! for and when not, and that chance is fair. Numbers are computed here without the code under test.

mod common;

use common::{MSS, sender};
use cwndlab_cc::algo::actions::{CubicActionParams, CubicActions, NewRenoActionParams, NewRenoActions};
use cwndlab_cc::algo::random::UniformlyRandom;
use cwndlab_cc::decisions::{ActionSet, Decided, DecisionParams, Policy};
use cwndlab_cc::params::{Parameters, Value};
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Context, Decision, Event, Phase, Setup, Span};
use std::sync::{Arc, Mutex};

const RTT: Span = Span::from_millis(100);

/// The actions that were taken.
type Log = Arc<Mutex<Vec<u32>>>;

/// Takes the same action always.
struct Always(u32);

impl Policy for Always {
    fn choose(&mut self, _cx: &mut Context, _actions: u32) -> Option<u32> {
        Some(self.0)
    }
}

/// Another policy, its choices noted.
struct Noted<P>(P, Log);

impl<P: Policy> Policy for Noted<P> {
    fn choose(&mut self, cx: &mut Context, actions: u32) -> Option<u32> {
        let action = self.0.choose(cx, actions)?;
        self.1.lock().unwrap().push(action);
        Some(action)
    }
}

fn word(word: &'static str) -> Value {
    Value::Word(word)
}

fn settings(settings: &[(&str, Value)]) -> Vec<(String, Value)> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn setup(segments: u64) -> Setup {
    Setup { mss: MSS, initial_window: segments * MSS, initial_ssthresh: u64::MAX, paced: false }
}

fn decided(
    set: &[(&str, Value)],
    actions: impl ActionSet + 'static,
    policy: impl Policy + 'static,
    setup: &Setup,
) -> (Sender, Log) {
    let log = Log::default();
    let policy = Noted(policy, log.clone());
    let controller = Decided::new(setup, DecisionParams::with(&settings(set)), actions, policy);
    (Sender::new(Box::new(controller), MSS, RTT), log)
}

/// NewReno's actions, at so many segments: in slow start until something is lost.
fn newreno(set: &[(&str, Value)], policy: impl Policy + 'static, segments: u64) -> (Sender, Log) {
    let beta = DecisionParams::with(&settings(set)).beta;
    let params = NewRenoActionParams::with(&settings(set));
    decided(set, NewRenoActions::new(params, beta), policy, &setup(segments))
}

/// CUBIC's actions, at so many segments, on Linux's form: the target is one RTT ahead to the nanosecond.
fn cubic(set: &[(&str, Value)], policy: impl Policy + 'static, segments: u64) -> (Sender, Log) {
    let set = [&[("form", word("linux"))], set].concat();
    let params = CubicActionParams::with(&settings(&set));
    decided(&set, CubicActions::new(&setup(segments), params, 0.7), policy, &setup(segments))
}

/// After how many ACKs of one segment the next decision is made, time standing still.
fn acks_to_decide((sender, log): &mut (Sender, Log)) -> usize {
    let before = log.lock().unwrap().len();
    (1..=100_000)
        .find(|_| {
            sender.ack(1);
            log.lock().unwrap().len() > before
        })
        .expect("a decision")
}

// ---------------------------------------------------------------------------------------------------------------
// NewReno's actions: Seo and Cho 2024 section 3.1
// ---------------------------------------------------------------------------------------------------------------

/// Equation (1), once as many segments as the window holds are acknowledged, and not one earlier.
#[test]
fn newreno_actions_move_the_window_by_segments() {
    for (action, delta) in
        [(0, -10.0), (1, -3.0), (2, -1.0), (3, 0.0), (4, 1.0), (5, 3.0), (6, 10.0), (9, 10.0)]
    {
        let (mut sender, log) = newreno(&[], Always(action), 200);
        sender.lose();
        for _ in 0..139 {
            sender.ack(1);
        }
        assert_eq!((sender.cwnd_segments(), log.lock().unwrap().len()), (140.0, 0));
        sender.ack(1);
        assert_eq!(
            (sender.cwnd_segments(), log.lock().unwrap().len()),
            (140.0 + delta, 1),
            "action {action}"
        );
        assert_eq!(sender.probe("action"), f64::from(action));
        assert_eq!(sender.probe("cnt_segments"), 140.0);
    }
}

/// One ACK for more than a window is one decision, and what it brought beyond the window counts for the next.
#[test]
fn an_ack_brings_one_decision_at_most() {
    let (mut sender, log) = newreno(&[], Always(3), 200);
    sender.lose().ack(150);
    assert_eq!(log.lock().unwrap().len(), 1);
    assert_eq!(acks_to_decide(&mut (sender, log)), 130);
}

/// With delayed ACKs a window of 140 segments is 70 ACKs, or twice as many where ACKs are counted.
#[test]
fn newreno_counts_bytes_or_acks() {
    for (counting, acks) in [("bytes", 70), ("acks", 140)] {
        let (mut sender, log) = newreno(&[("counting", word(counting))], Always(3), 200);
        sender.lose();
        (1..acks).for_each(|_| _ = sender.ack(2));
        assert_eq!(log.lock().unwrap().len(), 0, "{counting}");
        sender.ack(2);
        assert_eq!(log.lock().unwrap().len(), 1, "{counting}");
    }
}

/// The first ACK in congestion avoidance sets the clock; between the fixed times no ACK brings a decision, and in slow
/// start and recovery no fixed time does.
#[test]
fn decisions_may_come_at_fixed_times() {
    let every = Span::from_millis(10);
    let set = [("decide", word("interval")), ("interval", Value::Span(every))];
    let (mut sender, log) = newreno(&set, Always(4), 200);
    assert_eq!(sender.cc.next_timer(), None);
    sender.ack(1);
    assert_eq!(sender.cc.next_timer(), None, "slow start");
    sender.lose();
    (0..1000).for_each(|_| _ = sender.ack(1));
    assert_eq!((sender.cwnd_segments(), log.lock().unwrap().len()), (140.7, 0));
    for n in 1..=3 {
        assert_eq!(sender.cc.next_timer(), Some(sender.facts.now + every));
        sender.wait(every);
        assert_eq!(sender.call(|cc, cx| cc.on_timer(cx)), Decision::Made(4));
        assert_eq!(log.lock().unwrap().len(), n);
    }
    sender.event(Event::LossRecovery);
    sender.facts.phase = Phase::Recovery;
    sender.wait(every);
    assert_eq!(sender.call(|cc, cx| cc.on_timer(cx)), Decision::NotDue);
    assert_eq!(sender.cc.next_timer(), Some(sender.facts.now + every), "it goes on after recovery");
}

/// Seo and Cho 2024 section 3.1.1: the threshold is 0.7 of the window at the loss; 0.5 is what the text says of NewReno.
#[test]
fn a_loss_leaves_beta_of_the_window() {
    for (beta, left) in [(0.7, 140.0), (0.5, 100.0)] {
        let (mut sender, _) = newreno(&[("beta", Value::Number(beta))], Always(3), 200);
        assert_eq!(sender.lose().cwnd_segments(), left);
        assert_eq!(sender.probe("ssthresh_bytes"), left * MSS as f64);
    }
}

#[test]
fn no_action_leaves_less_than_the_least_window() {
    for least in [1, 2] {
        let set = [("min_cwnd", Value::Count(least)), ("below_ssthresh", word("avoidance"))];
        let (mut sender, _) = newreno(&set, Always(0), 10);
        sender.lose();
        acknowledge(&mut sender, 7);
        assert_eq!(sender.cwnd_segments(), least as f64);
    }
}

fn acknowledge(sender: &mut Sender, segments: u64) {
    for _ in 0..segments {
        sender.ack(1);
    }
}

/// Slow start wins back what an action took below the threshold; or the threshold comes down with the window.
#[test]
fn below_the_threshold_there_is_slow_start_or_avoidance() {
    for (rule, after, threshold) in [("slow-start", 135.0, 140.0), ("avoidance", 130.0, 130.0)] {
        let (mut sender, log) = newreno(&[("below_ssthresh", word(rule))], Always(0), 200);
        sender.lose();
        acknowledge(&mut sender, 140);
        assert_eq!(sender.cwnd_segments(), 130.0, "{rule}");
        acknowledge(&mut sender, 5);
        assert_eq!(sender.cwnd_segments(), after, "{rule}");
        assert_eq!(sender.probe("ssthresh_bytes"), threshold * MSS as f64, "{rule}");
        assert_eq!(log.lock().unwrap().len(), 1);
    }
}

// ---------------------------------------------------------------------------------------------------------------
// When nobody decides
// ---------------------------------------------------------------------------------------------------------------

/// Both action sets, each with the log of its decisions.
fn both(segments: u64) -> [(Sender, Log); 2] {
    // Without HyStart slow start lasts until something is lost.
    let cubic = cubic(&[("hystart", Value::Flag(false))], Always(1), segments);
    [newreno(&[], Always(3), segments), cubic]
}

#[test]
fn in_slow_start_nobody_decides() {
    for (mut sender, log) in both(10) {
        let windows = [1, 2, 3].map(|_| sender.round(1).cwnd_segments());
        assert_eq!(windows, [20.0, 40.0, 80.0], "slow start is the base algorithm's");
        assert!(log.lock().unwrap().is_empty());
        assert!(sender.probe("action").is_nan() && sender.probe("cnt_segments").is_nan());
    }
}

#[test]
fn in_recovery_nobody_decides() {
    for (mut flow, cnt) in both(100).into_iter().zip([70, 23]) {
        let (sender, log) = &mut flow;
        sender.event(Event::LossRecovery);
        sender.facts.phase = Phase::Recovery;
        acknowledge(sender, 500);
        assert_eq!((sender.cwnd_segments(), log.lock().unwrap().len()), (70.0, 0));
        sender.event(Event::Recovered);
        sender.facts.phase = Phase::Open;
        assert_eq!(acks_to_decide(&mut flow), cnt, "what was acknowledged in recovery does not count");
    }
}

#[test]
fn after_a_timeout_nobody_decides_up_to_the_threshold() {
    for (mut sender, log) in both(100) {
        sender.event(Event::Timeout);
        assert_eq!(sender.cwnd_segments(), 1.0);
        acknowledge(&mut sender, 69);
        assert_eq!((sender.cwnd_segments(), log.lock().unwrap().len()), (70.0, 0));
        acknowledge(&mut sender, 70);
        assert!(!log.lock().unwrap().is_empty());
    }
}

/// RFC 7661: a window that was not the limit says nothing, so there is nothing to decide.
#[test]
fn while_the_window_is_not_the_limit_nobody_decides() {
    for (mut sender, log) in both(100) {
        sender.lose();
        sender.facts.window_limited = false;
        acknowledge(&mut sender, 500);
        assert!(log.lock().unwrap().is_empty());
    }
}

// ---------------------------------------------------------------------------------------------------------------
// CUBIC's actions: Seo et al. 2022 equations (1) and (2), Seo and Cho 2024 section 3.2
// ---------------------------------------------------------------------------------------------------------------

/// With W_max = 1000 and cwnd = 700 at t = 0 and C = 0.4: K = 9.086 s, the target 100 ms ahead is
/// 1000 - trunc(0.4 * 8.986^3) = 710, so cnt = 700 / 10 = 70. With 3 C: K = 6.300 s, 1000 - trunc(1.2 * 6.200^3) = 715.
#[test]
fn cubic_actions_follow_the_cubic_or_do_not() {
    // The first action; the window after it; after how many ACKs the next comes.
    let cases = [
        // One less is below the threshold: one more ACK brings it back.
        (0, 699.0, 1 + 70, 0.4, 9.0856),
        (1, 700.0, 70, 0.4, 9.0856),
        (2, 701.0, 701 / (710 - 701), 0.4, 9.0856),
        (3, 701.0, 701 / (715 - 701), 1.2, 6.2996),
    ];
    for (action, window, next, c, k) in cases {
        let mut flow = cubic(&[], Always(action), 1000);
        flow.0.lose();
        assert_eq!(acks_to_decide(&mut flow), 70, "action {action}");
        assert_eq!(flow.0.cwnd_segments(), window, "action {action}");
        assert_eq!(
            flow.0.probe("c_segments_per_s3").to_bits(),
            if c < 1.0 { 0.4f64 } else { 3.0 * 0.4 }.to_bits()
        );
        assert!((flow.0.probe("k_s") - k).abs() < 1e-4, "K = {}", flow.0.probe("k_s"));
        assert_eq!(acks_to_decide(&mut flow), next, "action {action}");
    }
}

/// With W_max = 100, cwnd = 70 and the target at 73 the counts are 70 / 3, 71 / 2, 72 / 1. From 73 on the window
/// stands, and a decision comes once a window; CUBIC's own count is a hundred windows.
#[test]
fn on_the_plateau_a_decision_comes_once_a_window() {
    for (cap, counts, window) in [
        ("cwnd", [23, 35, 72, 73, 73], 73.0),
        ("uncapped", [23, 35, 72, 7300, 7300], 73.0),
        ("per-rtt", [70, 71, 72, 73, 73], 73.0),
    ] {
        let mut flow = cubic(&[("cnt_cap", word(cap))], Always(2), 100);
        flow.0.lose();
        assert_eq!([0; 5].map(|_| acks_to_decide(&mut flow)), counts, "{cap}");
        assert_eq!(flow.0.cwnd_segments(), window, "{cap}");
    }
}

/// The count is two at least, however far the target is.
#[test]
fn a_decision_takes_two_segments_at_least() {
    let mut flow = cubic(&[], Always(2), 100);
    flow.0.lose().ack(1);
    flow.0.wait(Span::from_secs(100));
    acks_to_decide(&mut flow);
    assert_eq!([0; 3].map(|_| acks_to_decide(&mut flow)), [2, 2, 2]);
}

/// Seo et al. 2022 equation (1) sets the window: to 710, and ten seconds past K by half of it, not by more.
#[test]
fn the_target_can_be_set_at_once() {
    let mut flow = cubic(&[("increase", word("set-target"))], Always(2), 1000);
    flow.0.lose();
    assert_eq!((acks_to_decide(&mut flow), flow.0.cwnd_segments()), (700, 710.0));
    flow.0.wait(Span::from_secs(20));
    assert_eq!((acks_to_decide(&mut flow), flow.0.cwnd_segments()), (710, 1065.0));
}

/// RFC 9438 section 4.7 against Seo and Cho 2024 table 2, where W_max is 0.85 of the window at each loss.
#[test]
fn w_max_is_cut_at_some_losses_at_all_or_at_none() {
    // Linux's own cut leaves whole segments.
    for (rule, first, second) in
        [("fast-convergence", 100.0, 59.0), ("always", 85.0, 59.5), ("never", 100.0, 70.0)]
    {
        let (mut sender, _) = cubic(&[("w_max_cut", word(rule))], Always(1), 100);
        let w_max = [0; 2].map(|_| sender.lose().probe("w_max_segments"));
        assert!((w_max[0] - first).abs() < 1e-9 && (w_max[1] - second).abs() < 1e-9, "{rule}: {w_max:?}");
    }
}

/// With W_max cut to 85 and 70 left: cbrt(15 / 0.4) = 3.347 s, and by the paper's equation cbrt(85 * 0.3 / 0.4) = 3.995 s.
#[test]
fn k_is_taken_from_what_was_left_or_from_w_max_alone() {
    for (form, k) in [("rfc9438", 3.3472), ("paper", 3.9948)] {
        let set = [("w_max_cut", word("always")), ("K", word(form))];
        let (mut sender, _) = cubic(&set, Always(1), 100);
        sender.lose().ack(1);
        assert!((sender.probe("k_s") - k).abs() < 1e-4, "{form}: {}", sender.probe("k_s"));
    }
}

/// "Or 0": the window is past W_max when the epoch begins, after a timeout, or because a spurious loss cut W_max alone.
#[test]
fn past_w_max_k_is_zero() {
    for form in ["rfc9438", "paper"] {
        let set = [("w_max_cut", word("always")), ("K", word(form))];
        let (mut sender, _) = cubic(&set, Always(1), 100);
        sender.lose();
        sender.event(Event::LossRecovery).event(Event::Undo).ack(1);
        assert_eq!((sender.cwnd_segments(), sender.probe("w_max_segments")), (70.0, 59.5));
        assert_eq!(sender.probe("k_s"), 0.0, "{form}");
        sender.event(Event::Timeout);
        acknowledge(&mut sender, 100);
        assert_eq!(sender.probe("k_s"), 0.0, "{form}");
    }
}

/// What is C in a new epoch is what the last action made it.
#[test]
fn the_steeper_cubic_outlives_a_loss() {
    let mut flow = cubic(&[], Always(3), 100);
    flow.0.lose();
    acks_to_decide(&mut flow);
    let (sender, _) = &mut flow;
    let cwnd = sender.cwnd_segments();
    sender.lose().ack(1);
    // Fast convergence; 0.7 of the window is left. Both are whole segments.
    let (rise, k) = ((0.85 * cwnd).floor() - (0.7 * cwnd).floor(), sender.probe("k_s"));
    assert!((1.2 * k * k * k - rise).abs() < 1e-6, "K = {k} s");
}

// ---------------------------------------------------------------------------------------------------------------
// Chance
// ---------------------------------------------------------------------------------------------------------------

/// The sum of (seen - expected)^2 / expected.
fn chi_square(counts: &[usize]) -> f64 {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let excess = counts.iter().map(|count| *count as f64 - expected);
    excess.map(|excess| excess * excess / expected).sum()
}

fn assert_uniform(mut flow: (Sender, Log), actions: usize, most: f64, most_of_pairs: f64) {
    flow.0.lose();
    while flow.1.lock().unwrap().len() < 10_000 {
        flow.0.round(2);
    }
    let log = flow.1.lock().unwrap();
    let (mut alone, mut pairs) = (vec![0; actions], vec![0; actions * actions]);
    for pair in log.chunks_exact(2) {
        let (a, b) = (pair[0] as usize, pair[1] as usize);
        alone[a] += 1;
        alone[b] += 1;
        pairs[a * actions + b] += 1;
    }
    assert!(chi_square(&alone) < most, "{alone:?}");
    assert!(chi_square(&pairs) < most_of_pairs, "{pairs:?}");
}

/// The bounds are exceeded by chance once in a thousand seeds: 22.5 and 84.0 for 6 and 48 degrees of freedom, 16.3 and
/// 37.7 for 3 and 15.
#[test]
fn each_action_is_as_likely_as_any_other_whatever_came_before() {
    assert_uniform(newreno(&[], UniformlyRandom, 100), 7, 22.5, 84.0);
    assert_uniform(cubic(&[], UniformlyRandom, 100), 4, 16.3, 37.7);
}

/// Ten segments less would be as likely as ten more, if slow start did not win them back: the threshold holds from below.
#[test]
fn a_random_window_is_reflected_at_its_threshold() {
    let mut walker = sender("random", &[], 100, RTT);
    walker.lose();
    for _ in 0..300 {
        walker.round(2);
        assert!(walker.cwnd_segments() >= 60.0, "{}", walker.cwnd_segments());
    }
    assert!(walker.cwnd_segments() > 100.0, "{}", walker.cwnd_segments());
}

/// The setting chooses the action set.
#[test]
fn random_draws_from_either_set() {
    for (actions, probes) in [("newreno", 3), ("cubic", 6)] {
        let mut sender = sender("random", &[("actions", word(actions))], 100, RTT);
        assert_eq!(sender.cc.probes().len(), probes, "{actions}");
        sender.lose();
        for _ in 0..10 {
            sender.round(2);
        }
        assert!(sender.probe("action") >= 0.0, "{actions}");
    }
}
