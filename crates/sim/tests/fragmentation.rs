//! Segments longer than the MTU: each leaves as several packets, and is lost with any of them.

mod ladder;

use cwndlab_cc::{Rate, Span};
use cwndlab_sim::Outcome;
use cwndlab_sim::spec::{AccessSpec, FlowSpec, LinkSpec, LossKind, LossSpec, SimSpec};
use ladder::{bottleneck, changed, constant, link, ms, run, spec};

const RATE: Rate = Rate::from_mbit(12);
const DELAY: Span = Span::from_millis(50);
/// IP packets of 1512 bytes: fragments of 1500 and 32.
const MSS: u64 = 1460;

/// A constant window of such segments.
fn segments(window: u64) -> FlowSpec {
    changed(constant("f", window), |flow| {
        (flow.kind.tcp.mss, flow.kind.tcp.mtu) = (MSS, 1500);
    })
}

fn over(link: LinkSpec, flow: FlowSpec) -> Outcome {
    run(&SimSpec { warmup: Span::from_secs(2), ..spec(Span::from_secs(12), vec![link], vec![flow]) })
}

#[test]
fn each_fragment_has_headers_of_its_own_on_the_wire() {
    let wire = LinkSpec { overhead: 2, ..link("l", RATE, DELAY) };
    let outcome = over(wire.clone(), segments(200));
    let (flow, link) = (&outcome.flows[0], &outcome.links[0]);
    assert_near(flow.goodput_mbps, 12.0 * 1460.0 / (1502.0 + 34.0), 0.002);
    assert_near(flow.throughput_mbps, 12.0 * 1532.0 / (1502.0 + 34.0), 0.002);
    assert!(link.served_packets.abs_diff(2 * flow.sent_packets) < 10, "{link:?} {flow:?}");
    // Without a limit the same segments leave whole.
    let whole = changed(segments(200), |flow| flow.kind.tcp.mtu = u64::MAX);
    let outcome = over(wire, whole);
    assert_near(outcome.flows[0].goodput_mbps, 12.0 * 1460.0 / 1514.0, 0.002);
    assert_near(outcome.flows[0].throughput_mbps, 12.0 * 1512.0 / 1514.0, 0.002);
}

/// Of a burst of 30 segments, 60 fragments, one is in service and 40 wait: 20 segments and half of one arrive.
#[test]
fn a_queue_counts_fragments() {
    let burst = FlowSpec { bytes: Some(30 * MSS), ..segments(30) };
    let outcome = run(&spec(Span::from_secs(5), vec![bottleneck(RATE, DELAY, 40)], vec![burst]));
    let flow = &outcome.flows[0];
    assert_eq!(
        (outcome.links[0].dropped_packets, flow.retransmitted_packets, flow.sent_packets),
        (19, 10, 40)
    );
    assert!(flow.completion_s.is_some());
}

/// The first fragment in one run, the second in another, and now one, now the other in a third.
#[test]
fn a_segment_is_lost_with_any_of_its_fragments() {
    for every in [100, 101] {
        for skipped in [0, 1] {
            let loss = LossSpec { kind: LossKind::Periodic { every: every + skipped }, before_queue: true };
            let transfer = FlowSpec { bytes: Some(500 * MSS), ..segments(10) };
            let outcome = run(&spec(
                Span::from_secs(20),
                vec![LinkSpec { loss, ..link("l", RATE, DELAY) }],
                vec![transfer],
            ));
            let (flow, lost) = (&outcome.flows[0], outcome.links[0].lost_packets);
            assert!(lost >= 9 && flow.completion_s.is_some(), "{lost} {flow:?}");
            assert_eq!(flow.retransmitted_packets, lost, "{every}");
        }
    }
}

/// Two segments may wait at the host, whole or in fragments.
#[test]
fn a_host_holds_its_sender_back_by_segments() {
    let waiting = |mtu| {
        let held = changed(segments(300), |flow| {
            flow.kind.tcp.mtu = mtu;
            flow.paths[0].access = Some(AccessSpec { link: link("f.access", RATE, ms(1)), hold_back: true });
        });
        let outcome =
            run(&spec(Span::from_secs(10), vec![link("l", Rate::from_mbit(100), DELAY)], vec![held]));
        outcome.links[1].queue_mean_bytes
    };
    let (whole, cut) = (waiting(u64::MAX), waiting(1500));
    assert!((2000.0..3024.0).contains(&whole), "{whole}");
    assert!((2000.0..3600.0).contains(&cut), "{cut}");
}

fn assert_near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found}, not {expected}");
}
