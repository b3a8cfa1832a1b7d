//! Transfers of which a given number is there: each that has ended starts anew.

mod ladder;

use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::Outcome;
use cwndlab_sim::spec::{ArrivalProcess, FlowSpec, SimSpec, SizeSpec};
use ladder::{MSS, bottleneck, flow, ms, run, spec};

/// So many transfers of 200 segments over 20 Mbit/s and 40 ms for 60 s.
fn transfers(transfers: u64, pause: Span, change: impl FnOnce(&mut FlowSpec)) -> Outcome {
    let mut template = flow("ftp", "reno");
    change(&mut template);
    let process = ArrivalProcess::Parallel { transfers, pause };
    let mut spec = spec(Span::from_secs(60), vec![bottleneck(Rate::from_mbit(20), ms(20), 67)], vec![]);
    spec.arrivals = vec![ladder::arrivals(template, process, SizeSpec::Constant(200 * MSS))];
    run(&SimSpec { send_jitter: None, ..spec })
}

/// One after the other: as many as the time holds, for each takes as long as the first.
#[test]
fn a_transfer_follows_the_one_before() {
    let group = &transfers(1, Span::ZERO, |_| {}).groups[0];
    let each_s = group.completion_ms.expect("some ended") / 1e3;
    // The last ACK comes half a round trip after the last byte.
    let expected = 60.0 / (each_s + 0.020);
    assert!((group.completed as f64 - expected).abs() <= 2.0, "{group:?}, expected {expected}");
    assert_eq!(group.arrived, group.completed + 1);
}

#[test]
fn a_pause_lies_between_them() {
    let group = &transfers(1, Span::from_secs(5), |_| {}).groups[0];
    let each_s = group.completion_ms.expect("some ended") / 1e3 + 0.020 + 5.0;
    assert_eq!(group.completed, (60.0 / each_s).ceil() as u64, "{group:?}");
}

/// Their number is kept: what arrived is what ended and the number that is under way, whatever their jitter.
#[test]
fn so_many_are_under_way_at_any_time() {
    for (number, jitter) in [(1, ms(0)), (4, ms(10)), (16, Span::from_secs(2))] {
        let outcome = transfers(number, Span::ZERO, |flow| flow.active.start_jitter = jitter);
        let group = &outcome.groups[0];
        assert_eq!(group.arrived, group.completed + number, "{group:?}");
        // Sixteen windows of a segment fill the 67 packets of the path and more.
        if number == 16 {
            assert!(outcome.links[0].utilisation.expect("a rate") > 0.9, "{:?}", outcome.links[0]);
        }
    }
}

#[test]
fn none_starts_after_the_stop() {
    let stop = Some(Time::ZERO + Span::from_secs(20));
    let group = &transfers(3, Span::ZERO, |flow| flow.active.stop = stop).groups[0];
    // The stop cuts those under way short: they deliver less than they were to, so they have no completion time. What
    // had left altogether still completes.
    assert!((group.completed..=group.completed + 3).contains(&group.arrived), "{group:?}");
    let all = &transfers(3, Span::ZERO, |_| {}).groups[0];
    assert!(group.completed < all.completed / 2, "{} of {}", group.completed, all.completed);
}

/// Losses and peaks are those of all transfers, ended or not.
#[test]
fn what_they_count_is_of_all_of_them() {
    let group = &transfers(8, Span::ZERO, |_| {}).groups[0];
    assert!(group.retransmitted_packets > 0 && group.fast_recoveries > 0, "{group:?}");
    let patterns = group.patterns.expect("they were asked for");
    let samples = patterns.rtt_samples as f64;
    // Every second segment of 200 has an ACK, and more of them without delay.
    let segments = group.goodput_mbps * 1e6 / 8.0 * 60.0 / MSS as f64;
    assert!((0.4 * segments..=1.1 * segments).contains(&samples), "{samples} samples of {segments} segments");
    assert!(patterns.rtt_peaks > 0);
}
