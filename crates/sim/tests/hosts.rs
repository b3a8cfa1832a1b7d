//! Senders that share a host's queue: each slot that comes free wakes one of them, in turn.

mod ladder;

use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::Schedule;
use cwndlab_sim::outcome::Outcome;
use cwndlab_sim::queue::ns3_default::{self, Ns3DefaultParams};
use cwndlab_sim::queue::{QueueSpec, Service};
use cwndlab_sim::spec::{AccessSpec, ArrivalProcess, Capacity, LinkSpec, SimSpec, SizeSpec};
use ladder::{MSS, assert_near, at, bottleneck, changed, flow, link, ms, run, spec};

/// So many transfers from one host with 50 Mbit/s, over 100 Mbit/s.
fn from_one_host(transfers: u64, bytes: u64, access: Capacity) -> SimSpec {
    let access = LinkSpec { capacity: access, ..link("host.access", Rate(1), Span::from_micros(300)) };
    let template = changed(flow("f", "cubic"), |flow| {
        flow.paths[0].access = Some(AccessSpec { link: access, hold_back: true })
    });
    let process = ArrivalProcess::Parallel { transfers, pause: Span::ZERO };
    let mut spec = spec(Span::from_secs(10), vec![bottleneck(Rate::from_mbit(100), ms(10), 167)], vec![]);
    spec.arrivals = vec![ladder::arrivals(template, process, SizeSpec::Constant(bytes))];
    spec
}

fn steady(mbit: u64) -> Capacity {
    Capacity::Rate(Schedule::constant(Rate::from_mbit(mbit)))
}

fn events_per_packet(outcome: &Outcome) -> f64 {
    outcome.work.events as f64 / outcome.work.data_packets as f64
}

/// Waking all of them for each slot would cost a thousand events a packet. More senders have more delayed ACKs and timers,
/// so the events are not quite the same.
#[test]
fn a_thousand_waiting_senders_cost_as_much_as_ten() {
    let [few, many] = [10, 1000].map(|transfers| run(&from_one_host(transfers, 10_000_000, steady(50))));
    assert!(many.links[0].utilisation.expect("a rate") > 0.49, "{:?}", many.links[0]);
    let (few, many) = (events_per_packet(&few), events_per_packet(&many));
    assert!(many < 2.0 * few, "{many} events a packet with a thousand senders, {few} with ten");
}

/// Equal transfers that start together take turns, so they end together.
#[test]
fn waiting_senders_take_turns() {
    let outcome = run(&from_one_host(50, 200 * MSS, steady(50)));
    let group = &outcome.groups[0];
    let (median, slowest) =
        (group.completion_p50_ms.expect("ended"), group.completion_p99_ms.expect("ended"));
    assert!(group.completed > 50 && slowest < 1.2 * median, "{group:?}");
    assert_near(outcome.links[0].utilisation.expect("a rate"), 0.5, 0.01);
}

/// An outage of the host's link, a slower and a faster rate: nobody waits for a time that has become wrong.
#[test]
fn senders_go_on_when_the_rate_of_their_link_changes() {
    let steps = [(0, 50), (2000, 0), (3000, 10), (5000, 100)];
    let steps = steps.map(|(ms, mbit)| (at(ms), Rate::from_mbit(mbit))).to_vec();
    let rates = Schedule::steps(steps).expect("in order");
    let outcome = run(&from_one_host(40, 100_000_000, Capacity::Rate(rates)));
    let kept = &outcome.intervals;
    let mean = |from_s: f64, to_s: f64| {
        let ends = kept.end_s.iter().zip(&kept.groups[0].0);
        let rates: Vec<_> =
            ends.filter(|(end, _)| **end > from_s + 0.01 && **end <= to_s + 0.01).map(|(_, r)| *r).collect();
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    // After each change some time for timeouts; the payload is 1448 of 1500 bytes.
    for (from_s, to_s, mbit) in [(1.0, 2.0, 50.0), (2.2, 3.0, 0.0), (4.5, 5.0, 10.0), (8.0, 10.0, 100.0)] {
        let expected = mbit * 1448.0 / 1500.0;
        assert!(
            (mean(from_s, to_s) - expected).abs() <= 0.1 * expected,
            "{from_s} to {to_s} s: {}",
            mean(from_s, to_s)
        );
    }
}

/// Nothing waits before a link without a rate, so it holds nobody back.
#[test]
fn a_link_that_only_delays_holds_nobody_back() {
    let goodput = |hold_back| {
        let access = LinkSpec { capacity: Capacity::Unlimited, ..link("f.access", Rate(1), ms(1)) };
        let flow = changed(flow("f", "cubic"), |flow| {
            flow.paths[0].access = Some(AccessSpec { link: access, hold_back })
        });
        let links = vec![bottleneck(Rate::from_mbit(100), ms(10), 167)];
        run(&spec(Span::from_secs(5), links, vec![flow])).flows[0].goodput_mbps
    };
    assert!(goodput(false) > 85.0, "{} Mbit/s", goodput(false));
    assert_eq!(goodput(true), goodput(false));
}

/// The place of a flow that waited first is given to a new one, while others wait behind it.
#[test]
fn who_waits_behind_a_flow_that_has_gone_is_woken() {
    let mut spec = from_one_host(30, 20 * MSS, steady(50));
    spec.arrivals[0].active.stop = Some(Time::ZERO + ms(5000));
    let outcome = run(&spec);
    let sent_s = outcome.groups[0].completed as f64 * 20.0 * 12e3 / 50e6;
    assert!(sent_s > 4.0, "{} transfers in 5 s: {sent_s} s of the link", outcome.groups[0].completed);
}

/// A host whose queue is a device's FIFO behind FQ-CoDel wakes its senders at the same times as one with service events.
#[test]
fn a_stack_wakes_senders_as_service_events_do() {
    let held = |name| {
        changed(flow(name, "cubic"), |flow| {
            flow.kind.tcp.mtu = 1000;
            let stack = Ns3DefaultParams { device: 1, ..Ns3DefaultParams::default() };
            let queue = QueueSpec::with(ns3_default::QUEUE, &stack);
            let link = LinkSpec { queue, ..link("host", Rate::from_mbit(8), ms(1)) };
            flow.paths[0].access = Some(AccessSpec { link, hold_back: true });
        })
    };
    let mut spec =
        spec(Span::from_secs(5), vec![bottleneck(Rate::from_mbit(5), ms(20), 20)], vec![held("a")]);
    let foreseen = run(&spec);
    assert!(foreseen.links[1].served_packets > 2000 && foreseen.flows[0].retransmitted_packets > 0);
    let access = spec.flows[0].paths[0].access.as_mut().expect("it has one");
    access.link.queue.kind.service = Service::ByPacket;
    let by_packet = run(&spec);
    assert_eq!(Outcome { work: by_packet.work, ..foreseen }, by_packet);
}
