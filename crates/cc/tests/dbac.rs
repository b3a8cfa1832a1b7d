//! DBAC by numbers: Han 2024 equations (1) to (6), who is high, and what each option changes.
mod common;

use common::MSS;
use common::connection::{Connection, Start};
use cwndlab_cc::params::Value;
use cwndlab_cc::{Event, Phase, Span};

const LONG: Span = Span::from_millis(100);
const SHORT: Span = Span::from_millis(30);
/// sqrt(3 / (2 p)) / (1.054 RTT^(3/4) / p^(3/4)) at p = 1e-6 and 100 ms.
const RATIO: f64 = 0.206_64;

fn word(word: &'static str) -> Value {
    Value::Word(word)
}

fn dbac<'a>(settings: &'a [(&'a str, Value)], window: u64, rtt: Span) -> Start<'a> {
    Start { name: "dbac", settings, window, rtt }
}

/// A long path with 6000 segments of CUBIC and a short one with 50, both past slow start and judged.
fn two_paths(settings: &[(&str, Value)]) -> Connection {
    let mut both = Connection::new(&[dbac(settings, 12_000, LONG), dbac(settings, 100, SHORT)]);
    (0..2).for_each(|subflow| both.lose(subflow));
    // Once for the judgement, once more with both of them known.
    (0..2).for_each(|_| (0..2).for_each(|subflow| both.ack(subflow)));
    both
}

fn shown(connection: &Connection, subflow: usize) -> f64 {
    connection.subflows[subflow].sender.cc.control().shown_window as f64 / MSS as f64
}

fn is_high(connection: &Connection, subflow: usize) -> bool {
    connection.probe(subflow, "high") == 1.0
}

fn assert_close(ours: f64, wanted: f64, share: f64) {
    assert!((ours / wanted - 1.0).abs() < share, "{ours} for {wanted}");
}

/// LIA's alpha of the long path with this window, and 50 segments on the short one.
fn alpha(long: f64) -> f64 {
    let (long_s, short_s) = (LONG.as_secs_f64(), SHORT.as_secs_f64());
    let best = (long / (long_s * long_s)).max(50.0 / (short_s * short_s));
    let rate = long / long_s + 50.0 / short_s;
    (long + 50.0) * best / (rate * rate)
}

#[test]
fn equations_1_to_6_by_numbers() {
    let both = two_paths(&[]);
    assert!(is_high(&both, 0) && !is_high(&both, 1));
    let cubic = both.probe(0, "cubic_window_segments");
    assert_close(cubic, 6000.0, 1e-3);
    // Equation (5), and (1) with it: 1240 and 50 segments have 0.808.
    let alpha1 = alpha(cubic * RATIO);
    assert_close(alpha1, 0.808, 1e-3);
    assert_close(both.probe(0, "alpha"), alpha1, 1e-3);
    // Equation (6): W_CUBIC sqrt(alpha1), and V_LIA beside it.
    assert_close(both.windows()[0], cubic * alpha1.sqrt(), 1e-3);
    assert_close(shown(&both, 0), cubic * RATIO * alpha1.sqrt(), 1e-3);
    // alpha2 is of V_LIA.
    assert_close(both.probe(1, "alpha"), alpha(shown(&both, 0)), 1e-3);
    assert_eq!(shown(&both, 1), both.windows()[1]);
}

/// Equation (6) multiplies back what (5) divided by: p only shifts alpha1.
#[test]
fn equation_6_collapses_to_cubics_window_times_the_root_of_alpha1() {
    for p in [1e-8, 1e-7, 1e-6, 1e-5, 1e-3] {
        let both = two_paths(&[("p", Value::Number(p))]);
        let (cubic, alpha1) = (both.probe(0, "cubic_window_segments"), both.probe(0, "alpha"));
        assert_close(both.windows()[0], cubic * alpha1.min(1.0).sqrt(), 1e-6);
        assert!(p == 1e-6 || (shown(&both, 0) / (cubic * RATIO) - 1.0).abs() > 0.1, "but not what is shown");
    }
}

/// Equations (5) and (6) for n equal high subflows: each sees the others' virtual LIA windows, so s = sqrt(alpha1) solves
/// s^2 (1 + (n - 1) s) = 1, and n s is more than one CUBIC.
#[test]
fn several_high_subflows_are_more_than_one_cubic() {
    for (count, share) in [(2, 0.754_878), (3, 0.657_298), (8, 0.479_215)] {
        assert_close(share * share * (1.0 + f64::from(count - 1) * share), 1.0, 1e-5);
        let mut all = Connection::new(&(0..count).map(|_| dbac(&[], 12_000, LONG)).collect::<Vec<_>>());
        (0..count as usize).for_each(|subflow| all.lose(subflow));
        (0..100).for_each(|_| (0..count as usize).for_each(|subflow| all.ack(subflow)));
        for subflow in 0..count as usize {
            let cubic = all.probe(subflow, "cubic_window_segments");
            assert_close(all.windows()[subflow], share * cubic, 1e-3);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Alone
// ---------------------------------------------------------------------------------------------------------------

/// The same story told to two single subflows: rounds, losses, a timeout, an undo.
fn same_windows(a: Start, b: Start) {
    let mut pair = [a, b].map(|start| Connection::new(&[start]));
    for round in 0..120 {
        let windows = pair.each_mut().map(|connection| {
            connection.pass(LONG, &[0]);
            let window = connection.windows()[0];
            let sender = &mut connection.subflows[0].sender;
            match round {
                4 | 12 | 70 => drop(sender.lose()),
                30 => {
                    sender.event(Event::Timeout).event(Event::Recovered).facts.phase = Phase::Open;
                }
                50 => drop(sender.event(Event::LossRecovery).event(Event::Undo).event(Event::Recovered)),
                _ => {}
            }
            window
        });
        assert!((windows[0] - windows[1]).abs() < 2.0, "round {round}: {windows:?}");
    }
}

#[test]
fn alone_and_high_it_is_cubic() {
    let high = [("high_subflows", Value::Count(1))];
    let cubic = [("form", word("linux")), ("hystart", Value::Flag(false))];
    same_windows(dbac(&high, 10, LONG), Start { name: "cubic", settings: &cubic, window: 10, rtt: LONG });
}

#[test]
fn alone_and_low_it_is_reno() {
    same_windows(dbac(&[], 10, LONG), Start { name: "reno", settings: &[], window: 10, rtt: LONG });
}

// ---------------------------------------------------------------------------------------------------------------
// Who is high
// ---------------------------------------------------------------------------------------------------------------

#[test]
fn a_subflow_is_judged_first_at_the_end_of_slow_start() {
    let mut one = Connection::new(&[dbac(&[], 900, LONG)]);
    one.pass(Span::from_millis(190), &[0]);
    assert!(one.windows()[0] > 1000.0 && !is_high(&one, 0), "slow start is nobody's");
    one.lose(0);
    let left = one.windows()[0];
    one.ack(0);
    assert_eq!(is_high(&one, 0), left >= 1000.0, "{left}");
    assert!(is_high(&one, 0));
}

/// Linux's CUBIC begins where it is; from high to low the virtual LIA window goes on.
#[test]
fn a_change_keeps_what_is_sent_or_what_siblings_see() {
    let mut one = Connection::new(&[dbac(&[], 2200, LONG)]);
    one.lose(0);
    one.ack(0);
    assert!(is_high(&one, 0));
    assert_close(one.windows()[0], 1100.0, 1e-3);
    one.lose(0);
    // Judged again a second later.
    one.pass(Span::from_millis(900), &[0]);
    assert!(is_high(&one, 0));
    let before = shown(&one, 0);
    one.pass(Span::from_millis(200), &[0]);
    assert!(!is_high(&one, 0), "0.7 x 1100 is below 1000");
    assert_close(one.windows()[0], before, 0.02);
    assert_eq!(shown(&one, 0), one.windows()[0]);
}

#[test]
fn judgement_has_a_threshold_a_hysteresis_and_may_be_the_last() {
    let after_a_loss = |settings: &[(&str, Value)]| {
        let mut one = Connection::new(&[dbac(settings, 2200, LONG)]);
        one.lose(0);
        one.ack(0);
        let first = is_high(&one, 0);
        one.lose(0);
        one.pass(Span::from_millis(1100), &[0]);
        (first, is_high(&one, 0))
    };
    assert_eq!(after_a_loss(&[]), (true, false));
    assert_eq!(after_a_loss(&[("threshold", Value::Count(1200))]), (false, false));
    assert_eq!(after_a_loss(&[("hysteresis", Value::Number(0.3))]), (true, true));
    assert_eq!(after_a_loss(&[("judged", word("once"))]), (true, true));
    assert_eq!(after_a_loss(&[("judge_interval", Value::Span(Span::from_secs(60)))]), (true, true));
}

/// The first so many subflows, whatever their windows.
#[test]
fn high_subflows_may_be_set() {
    let settings = [("high_subflows", Value::Count(1))];
    let mut both = Connection::new(&[dbac(&settings, 10, LONG), dbac(&settings, 12_000, SHORT)]);
    (0..2).for_each(|subflow| both.lose(subflow));
    (0..2).for_each(|subflow| both.ack(subflow));
    assert!(is_high(&both, 0) && !is_high(&both, 1));
}

// ---------------------------------------------------------------------------------------------------------------
// Options of the window
// ---------------------------------------------------------------------------------------------------------------

#[test]
fn siblings_see_what_vwindow_says() {
    let both = two_paths(&[("vwindow", word("none"))]);
    assert_eq!(shown(&both, 0), both.windows()[0]);
    let both = two_paths(&[("vwindow", word("reno"))]);
    assert_close(shown(&both, 0), both.probe(0, "cubic_window_segments") * RATIO, 1e-3);
}

/// At a loss every 10 000 segments the averages are 122.5 and 187.4, at 100 ms.
#[test]
fn the_loss_rate_may_be_measured() {
    let mut both = two_paths(&[("loss_rate", word("measured")), ("vwindow", word("reno"))]);
    (0..10_000).for_each(|_| both.ack(0));
    both.lose(0);
    both.ack(0);
    assert_close(shown(&both, 0) / both.probe(0, "cubic_window_segments"), 122.5 / 187.4, 2e-3);
}

/// RTT^(3/4) of 50 ms, not of 100.
#[test]
fn the_ratio_may_take_the_smallest_rtt() {
    let ratio = |settings: &[(&str, Value)]| {
        let mut both = Connection::new(&[dbac(settings, 12_000, LONG), dbac(settings, 100, SHORT)]);
        both.subflows[0].sender.facts.rtt.minimum = Span::from_millis(50);
        both.lose(0);
        (0..2).for_each(|_| both.ack(0));
        shown(&both, 0) / both.probe(0, "cubic_window_segments")
    };
    let reno = ("vwindow", word("reno"));
    assert_close(ratio(std::slice::from_ref(&reno)), RATIO, 1e-3);
    assert_close(ratio(&[reno, ("ratio_rtt", word("minimum"))]), RATIO * 1.6818, 1e-3);
}

/// Once a round trip CUBIC's own window falls by the factor; its curve, a function of time, takes it back.
#[test]
fn the_state_may_be_scaled() {
    let mut both = two_paths(&[("scaled", word("state"))]);
    for _ in 0..20 {
        both.pass(LONG, &[0, 0]);
        assert_eq!(both.windows()[0], both.probe(0, "cubic_window_segments"));
        let falls = (0..20).filter_map(|_| {
            let before = both.windows()[0];
            both.pass(LONG.scaled(0.05), &[0, 0]);
            let after = both.windows()[0];
            (after < before).then_some(after / before)
        });
        let falls: Vec<_> = falls.collect();
        assert!(falls.len() == 1 && (0.85..0.95).contains(&falls[0]), "{falls:?}");
        assert_close(shown(&both, 0), both.windows()[0] * RATIO, 1e-3);
    }
}

#[test]
fn slow_start_is_scaled_only_if_asked() {
    let in_slow_start = |settings: &[(&str, Value)]| {
        let mut both = two_paths(settings);
        both.subflows[0].sender.event(Event::Timeout).event(Event::Recovered).facts.phase = Phase::Open;
        (0..3000).for_each(|_| both.ack(0));
        both.windows()[0] / both.probe(0, "cubic_window_segments")
    };
    assert_eq!(in_slow_start(&[]), 1.0);
    assert!(in_slow_start(&[("scale_in_slow_start", Value::Flag(true))]) < 0.95);
}

/// A short path with as much of the rate and far less of the RTT: alpha1 is above 1.
#[test]
fn the_share_is_at_most_one_unless_asked() {
    let share = |settings: &[(&str, Value)]| {
        let mut both =
            Connection::new(&[dbac(settings, 12_000, LONG), dbac(settings, 500, Span::from_millis(5))]);
        (0..2).for_each(|subflow| both.lose(subflow));
        (0..3).for_each(|_| (0..2).for_each(|subflow| both.ack(subflow)));
        assert!(both.probe(0, "alpha") > 1.0);
        both.windows()[0] / both.probe(0, "cubic_window_segments")
    };
    assert_eq!(share(&[]), 1.0);
    assert!(share(&[("cap_alpha1", Value::Flag(false))]) > 1.1);
}

/// LIA's part counts as LIA does.
#[test]
fn low_subflows_may_count_acks() {
    let grown = |settings: &[(&str, Value)]| {
        let mut both = two_paths(settings);
        both.segments_per_ack = 2;
        let before = both.windows()[1];
        (0..1000).for_each(|_| both.ack(1));
        both.windows()[1] - before
    };
    assert_close(grown(&[("counting", word("acks"))]), grown(&[]) / 2.0, 0.02);
}
