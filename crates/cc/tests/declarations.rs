//! What an algorithm declares is what its controllers do.

use cwndlab_cc::params::{Allowed, Value};
use cwndlab_cc::testing::{Sender, check_declaration};
use cwndlab_cc::{Ack, Algorithm, Decision, RateSample, Registry, Setup, Span, SubflowView};

const MSS: u64 = 1000;
const RTT: Span = Span::from_millis(50);
/// More than any parameter bounds a window to by default.
const MANY_SEGMENTS: f64 = 1e6;

fn controller(algorithm: &Algorithm) -> Sender {
    let setup = Setup { mss: MSS, initial_window: 10 * MSS, initial_ssthresh: u64::MAX, paced: false };
    Sender::new((algorithm.build)(&setup, &[]), MSS, RTT)
}

/// Defaults, and each word and flag by itself: what a declaration may depend on.
fn settings(algorithm: &Algorithm) -> Vec<Vec<(String, Value)>> {
    let choices = algorithm.params.iter().flat_map(|spec| {
        let values = match spec.allowed {
            Allowed::Word(words) => words.iter().map(|word| Value::Word(word)).collect(),
            Allowed::Flag => vec![Value::Flag(false), Value::Flag(true)],
            _ => vec![],
        };
        values.into_iter().map(|value| vec![(spec.name.to_owned(), value)])
    });
    std::iter::once(vec![]).chain(choices).collect()
}

#[test]
fn needs_probes_and_spaces_are_the_controllers() {
    for algorithm in Registry::built_in().iter() {
        for settings in settings(algorithm) {
            check_declaration(algorithm, &settings);
        }
    }
}

/// A whole window is acknowledged each round trip, and nothing is lost; an agent doubles the window if it can.
fn window_on_an_endless_path(algorithm: &Algorithm, samples: bool) -> f64 {
    let mut sender = controller(algorithm);
    let mut delivered = 0;
    for _ in 0..100 {
        let window = sender.cc.control().cwnd;
        (sender.facts.in_flight, sender.facts.flight_size) = (window, window);
        sender.call(|cc, cx| cc.on_sent(cx, window));
        sender.wait(RTT);
        sender.facts.in_flight = 0;
        let sample = RateSample {
            delivered: window,
            interval: RTT,
            prior_delivered: delivered,
            in_flight_at_send: window,
            ..RateSample::default()
        };
        delivered += window;
        let ack = Ack {
            acked: window,
            advanced: window,
            prior_in_flight: window,
            delivered,
            rtt: Some(RTT),
            sample: samples.then_some(sample),
            ..Ack::default()
        };
        let step = sender.call(|cc, cx| cc.on_ack(cx, &ack));
        if let Some(agent) = sender.cc.agent() {
            match step {
                Decision::NotDue => {}
                Decision::Due => agent.act(agent.actions() - 1),
                Decision::Made(action) => agent.act(action),
            }
        }
        if sender.cwnd_segments() > MANY_SEGMENTS {
            break;
        }
    }
    sender.cwnd_segments()
}

#[test]
fn a_bounded_window_ends_somewhere_and_any_other_does_not() {
    for algorithm in Registry::built_in().iter() {
        let window = window_on_an_endless_path(algorithm, true);
        let bounded = algorithm.declaration(&[]).bounded;
        assert_eq!(window < MANY_SEGMENTS, bounded, "{}: {window} segments", algorithm.name);
    }
}

#[test]
fn a_rate_sample_makes_a_difference_unless_it_is_ignored() {
    for algorithm in Registry::built_in().iter() {
        let window = |samples| window_on_an_endless_path(algorithm, samples);
        let ignored = algorithm.declaration(&[]).needs.ignores_rate_samples;
        if ignored {
            assert_eq!(window(true), window(false), "{}", algorithm.name);
        } else if algorithm.name.contains("bbr") {
            assert_ne!(window(true), window(false), "{}", algorithm.name);
        }
    }
}

/// The windows of a subflow in congestion avoidance, beside a sibling that shows this window.
fn windows_beside(algorithm: &Algorithm, segments: u64) -> Vec<u64> {
    let mut sender = controller(algorithm);
    let view =
        SubflowView { window: segments * MSS, srtt: RTT, mss: MSS, usable: true, ..SubflowView::default() };
    sender.subflows = vec![view; 2];
    sender.round(1).round(1).round(1).lose();
    let rounds = (0..50).map(|_| sender.round(1).cc.control().cwnd);
    rounds.collect()
}

#[test]
fn a_coupled_window_depends_on_its_siblings_and_no_other_does() {
    for algorithm in Registry::built_in().iter() {
        let depends = windows_beside(algorithm, 10) != windows_beside(algorithm, 1000);
        assert_eq!(depends, algorithm.declaration(&[]).coupled, "{}", algorithm.name);
    }
}
