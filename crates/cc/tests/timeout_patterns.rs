//! Selective and Proactive Decrease by hand-computed numbers (Lim et al. 2004 section 4), and window by window.

mod common;

use common::{MSS, check_golden, sender};
use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Event, Phase, Span};
use std::fmt::Write as _;

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

fn word(word: &'static str) -> Value {
    Value::Word(word)
}

/// A sample as the transport takes it, on an ACK of one segment.
fn sample(sender: &mut Sender, rtt: Span) {
    let facts = &mut sender.facts.rtt;
    facts.latest = rtt;
    facts.minimum = facts.minimum.min(rtt);
    facts.smoothed = Span(facts.smoothed.0 - facts.smoothed.0 / 8 + rtt.0 / 8);
    sender.ack(1);
}

/// A hundred segments in congestion avoidance (whole ones: SD that ends recovery at ssthresh has 0.7 of 143), base RTT
/// 100 ms, SRTT 120 ms.
fn settled(name: &str, settings: &[(&str, Value)]) -> Sender {
    let window = if settings.contains(&("exit", word("ssthresh"))) { 143 } else { 200 };
    let mut sender = sender(name, settings, window, ms(100));
    sender.call(|cc, cx| cc.on_sent(cx, MSS));
    sender.event(Event::LossRecovery);
    sender.facts.phase = Phase::Recovery;
    for _ in 0..200 {
        sample(&mut sender, ms(120));
    }
    sender.event(Event::Recovered);
    sender.facts.phase = Phase::Open;
    sender
}

/// (RTT - 100) / (120 - 100) = 2.5.
const PEAK: u64 = 150;
/// 1.5.
const CALM: u64 = 130;

fn threshold(sender: &Sender) -> f64 {
    sender.probe("ssthresh_bytes") / MSS as f64
}

/// Window and threshold in segments after an event with such a last RTT.
fn after(settings: &[(&str, Value)], event: Event, last_rtt: u64) -> (f64, f64) {
    let mut sender = settled("sd", settings);
    assert_eq!(sender.cwnd_segments(), 100.0);
    sender.facts.window_limited = false;
    sample(&mut sender, ms(last_rtt));
    sender.event(event);
    (sender.cwnd_segments(), threshold(&sender))
}

#[test]
fn sd_keeps_70_percent_of_the_window_unless_the_loss_came_with_a_peak() {
    // Sec. 4.1: a timeout leaves one segment in any case, a triple duplicate ACK half.
    assert_eq!(after(&[], Event::Timeout, PEAK), (1.0, 50.0));
    assert_eq!(after(&[], Event::Timeout, CALM), (1.0, 70.0));
    assert_eq!(after(&[], Event::LossRecovery, PEAK), (50.0, 50.0));
    assert_eq!(after(&[], Event::LossRecovery, CALM), (50.0, 70.0));
}

#[test]
fn a_peak_begins_at_twice_the_usual_rise() {
    // The ratio is 2 at 140 ms and just below it at 139.
    assert_eq!(after(&[], Event::Timeout, 140).1, 50.0);
    assert_eq!(after(&[], Event::Timeout, 139).1, 70.0);
    let higher = [("peak", Value::Number(3.0))];
    assert_eq!(after(&higher, Event::Timeout, PEAK).1, 70.0);
    assert_eq!(after(&higher, Event::Timeout, 160).1, 50.0);
}

#[test]
fn the_three_constants_can_be_set() {
    let settings = [("ssthresh_at_peak", Value::Number(0.4)), ("ssthresh_without_peak", Value::Number(0.9))];
    assert_eq!(after(&settings, Event::Timeout, PEAK).1, 40.0);
    assert_eq!(after(&settings, Event::Timeout, CALM).1, 90.0);
    assert_eq!(percents_left(&[("cut_to", Value::Number(0.5))], &[PEAK]), [50]);
}

#[test]
fn sd_goes_on_in_slow_start_from_half_or_at_ssthresh() {
    let exit = |settings: &[(&str, Value)]| {
        let mut sender = settled("sd", settings);
        sender.facts.window_limited = false;
        sample(&mut sender, ms(CALM));
        sender.lose();
        let at_exit = sender.cwnd_segments().floor();
        sender.facts.window_limited = true;
        (0..10).for_each(|_| sample(&mut sender, ms(CALM)));
        (at_exit, sender.cwnd_segments().floor())
    };
    assert_eq!(exit(&[]), (50.0, 60.0));
    assert_eq!(exit(&[("exit", word("ssthresh"))]), (70.0, 70.0));
}

/// Undo ends recovery too, and then there is no threshold to go to.
#[test]
fn what_is_taken_back_is_as_before() {
    let mut sender = sender("sd", &[("exit", word("ssthresh"))], 100, ms(100));
    sender.event(Event::LossRecovery);
    sender.facts.phase = Phase::Recovery;
    sender.event(Event::Undo).event(Event::Recovered);
    assert_eq!(sender.cwnd_segments(), 100.0);
}

#[test]
fn evidence_is_the_last_sample_or_the_largest_of_the_round_trip() {
    let kept = |settings: &[(&str, Value)], samples_after: usize| {
        let mut sender = settled("sd", settings);
        sender.facts.window_limited = false;
        sample(&mut sender, ms(PEAK));
        (0..samples_after).for_each(|_| sample(&mut sender, ms(CALM)));
        sender.event(Event::Timeout);
        threshold(&sender)
    };
    assert_eq!(kept(&[], 1), 70.0);
    let largest = [("evidence", word("largest"))];
    assert_eq!(kept(&largest, 1), 50.0);
    assert_eq!(kept(&largest, 90), 50.0);
    // Two round trips later it is over.
    assert_eq!(kept(&largest, 210), 70.0);
}

/// The ACK that tells of the loss may bring a sample; it comes before the event.
#[test]
fn the_sample_of_the_ack_that_tells_of_a_loss_counts_once() {
    let mut sender = settled("sd", &[]);
    sender.facts.rtt.latest = ms(PEAK);
    sender.facts.rtt.smoothed = ms(124);
    sender.event(Event::LossRecovery);
    assert_eq!(threshold(&sender), 50.0);
    let ratio = sender.probe("rtt_peak_ratio");
    sender.facts.phase = Phase::Recovery;
    sender.ack(1);
    assert_eq!(sender.probe("rtt_peak_ratio"), ratio);
}

#[test]
fn an_average_at_the_base_makes_no_peak() {
    let mut sender = sender("sd", &[], 100, ms(100));
    sender.call(|cc, cx| cc.on_sent(cx, MSS));
    sender.facts.window_limited = false;
    sample(&mut sender, ms(500));
    sender.event(Event::Timeout);
    assert_eq!(threshold(&sender), 70.0);
}

#[test]
fn the_average_is_smoothed_or_the_mean_of_the_connection() {
    let ratio = |settings: &[(&str, Value)]| {
        let mut sender = settled("sd", settings);
        // SRTT follows to nearly 160 ms; the mean of 200 samples of 120 ms and 40 of 160 ms is 126.67 ms.
        (0..40).for_each(|_| sample(&mut sender, ms(160)));
        sample(&mut sender, ms(160));
        sender.probe("rtt_peak_ratio")
    };
    assert!((ratio(&[]) - 1.0).abs() < 0.01);
    assert!((ratio(&[("average", word("mean"))]) - 60.0 / (80.0 / 3.0)).abs() < 1e-6);
}

/// What ACKs with these RTTs leave of the window each; whatever was cut stays so for the round trip.
fn percents_left(settings: &[(&str, Value)], rtts: &[u64]) -> Vec<u64> {
    let mut settings = settings.to_vec();
    settings.push(("lowers_ssthresh", word("always")));
    let mut sender = settled("pd", &settings);
    let left = rtts.iter().map(|rtt| {
        let before = sender.cwnd_segments();
        sample(&mut sender, ms(*rtt));
        (100.0 * sender.cwnd_segments() / before).round() as u64
    });
    left.collect()
}

#[test]
fn pd_cuts_once_per_round_trip_or_ack_or_excursion() {
    let rtts = [PEAK, PEAK, CALM, 200];
    assert_eq!(percents_left(&[], &rtts), [80, 100, 100, 100]);
    assert_eq!(percents_left(&[("cut_once_per", word("ack"))], &rtts), [80, 80, 100, 80]);
    assert_eq!(percents_left(&[("cut_once_per", word("excursion"))], &rtts), [80, 100, 100, 80]);
}

#[test]
fn pd_cuts_again_after_a_round_trip() {
    let mut rtts = vec![PEAK];
    rtts.extend([CALM; 78]);
    rtts.extend([1000, CALM, CALM, 1000]);
    let cuts: Vec<_> = percents_left(&[], &rtts)
        .iter()
        .enumerate()
        .filter(|(_, left)| **left < 100)
        .map(|(at, _)| at)
        .collect();
    // 99 segments were in flight at the first cut.
    assert_eq!(cuts, [0]);
    rtts.extend([CALM; 20]);
    rtts.push(2000);
    let left = percents_left(&[], &rtts);
    assert_eq!((left[0], *left.last().unwrap()), (80, 80));
}

/// A window of 100 segments in slow start, or in congestion avoidance at its threshold, after a cut.
#[test]
fn a_cut_lowers_ssthresh_in_slow_start_always_or_never() {
    let in_slow_start = |settings: &[(&str, Value)]| {
        let mut sender = sender("pd", settings, 100, ms(100));
        sender.call(|cc, cx| cc.on_sent(cx, MSS));
        sender.facts.rtt.smoothed = ms(120);
        sender.facts.window_limited = false;
        sample(&mut sender, ms(110));
        sender.facts.window_limited = true;
        sample(&mut sender, ms(300));
        (sender.cwnd_segments(), threshold(&sender))
    };
    let in_avoidance = |settings: &[(&str, Value)]| {
        let mut sender = settled("pd", settings);
        sample(&mut sender, ms(PEAK));
        (sender.cwnd_segments(), threshold(&sender))
    };
    let (always, never) = ([("lowers_ssthresh", word("always"))], [("lowers_ssthresh", word("never"))]);
    assert_eq!((in_slow_start(&[]), in_slow_start(&always)), ((80.0, 80.0), (80.0, 80.0)));
    // Where the threshold stays above the window the ACK itself counts in slow start.
    let (window, threshold) = in_slow_start(&never);
    assert!(window == 81.0 && threshold.is_nan());
    assert_eq!([in_avoidance(&[]), in_avoidance(&never)], [(81.0, 100.0); 2]);
    assert_eq!(in_avoidance(&always), (80.0, 80.0));
}

#[test]
fn pd_leaves_recovery_and_unused_windows_alone() {
    let mut sender = settled("pd", &[]);
    let before = sender.cwnd_segments();
    sender.facts.phase = Phase::Recovery;
    sample(&mut sender, ms(PEAK));
    assert_eq!(sender.cwnd_segments(), before);
    sender.facts.phase = Phase::Open;
    sender.facts.window_limited = false;
    sample(&mut sender, ms(PEAK));
    assert_eq!(sender.cwnd_segments(), before);
    assert_eq!(sender.probe("proactive_cuts"), 0.0);
}

#[test]
fn the_smallest_window_is_a_segment() {
    let mut sender = settled("pd", &[("cut_once_per", word("ack"))]);
    (0..60).for_each(|n| sample(&mut sender, ms(300 << (n / 4))));
    assert!(sender.cwnd_segments() >= 1.0);
}

/// Without peaks PD is Reno, and with peaks only SD is Reno.
#[test]
fn on_their_own_ground_they_are_reno() {
    let calm_pd = settled("pd", &[]).lose().cwnd_segments();
    let calm_reno = settled("reno", &[]).lose().cwnd_segments();
    assert_eq!(calm_pd, calm_reno);
    let mut at_peak = settled("sd", &[]);
    at_peak.facts.window_limited = false;
    sample(&mut at_peak, ms(PEAK));
    assert_eq!(at_peak.lose().cwnd_segments(), 50.0);
}

/// Sixty round trips; the queue swings between 0 and 40 ms, and some end with a peak of 300 ms, a loss or both.
fn snapshot(name: &str) -> String {
    let mut sender = sender(name, &[], 20, ms(100));
    sender.call(|cc, cx| cc.on_sent(cx, MSS));
    let mut text = format!("# {name}, defaults; base RTT 100 ms, initial window 20 segments\n");
    let _ = writeln!(text, "# round trip  RTT [ms]  window [whole segments]  then");
    for round in 0u64..60 {
        let rtt = 100 + 10 * (round % 5);
        for _ in 0..sender.cwnd_segments() as u64 {
            sample(&mut sender, ms(rtt));
        }
        if matches!(round, 12 | 17 | 33 | 45) {
            sample(&mut sender, ms(300));
        }
        let event = match round {
            6 | 33 => "loss",
            24 | 45 => "timeout",
            _ => "",
        };
        let line = format!("{round:4} {rtt:6} {:6} {event}", sender.cwnd_segments() as u64);
        let _ = writeln!(text, "{}", line.trim_end());
        match event {
            "loss" => drop(sender.lose()),
            "timeout" => {
                sender.event(Event::Timeout).event(Event::Recovered);
                sender.facts.phase = Phase::Open;
            }
            _ => {}
        }
    }
    text
}

#[test]
fn window_by_window() {
    for name in ["sd", "pd", "sd-pd"] {
        check_golden(&format!("{name}.txt"), &snapshot(name));
    }
}
