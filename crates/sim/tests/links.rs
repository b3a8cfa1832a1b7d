//! Links, with numbers computed by hand: flows have constant windows, so what a link gets to carry is known.

mod ladder;

use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::Schedule;
use cwndlab_sim::outcome::Outcome;
use cwndlab_sim::queue::{Limit, QueueSpec};
use cwndlab_sim::spec::{
    AccessSpec, Capacity, LinkSpec, LossKind, LossSpec, Opportunities, ReorderSpec, SimSpec,
};
use cwndlab_sim::tcp::Profile;
use ladder::{
    MSS, PACKET, assert_near, at, bottleneck, changed, constant, flow_named, link, link_named, ms, run, spec,
    transfer,
};
use std::sync::Arc;

/// At this rate a packet takes a millisecond.
const RATE: Rate = Rate::from_mbit(12);
/// One way.
const DELAY: Span = Span::from_millis(50);
/// When the data leave: a SYN of 52 bytes is served (34.667 us), and goes there and back.
const BURST: f64 = 0.100_034_666;

/// The same link in the other implementation: one that could reorder is served packet by packet.
fn both(link: &LinkSpec) -> [LinkSpec; 2] {
    let reorder = Some(ReorderSpec { probability: 0.0, extra_delay: Span::ZERO });
    [link.clone(), LinkSpec { reorder, ..link.clone() }]
}

/// A burst of 40 packets, in a run of one second.
fn burst(link: LinkSpec) -> SimSpec {
    spec(ms(1000), vec![link], vec![transfer("burst", 40, 40)])
}

fn completion(outcome: &Outcome) -> f64 {
    outcome.flows[0].completion_s.expect("it ends")
}

fn rate_steps(steps: &[(u64, u64)]) -> Capacity {
    let steps = steps.iter().map(|(ms, mbit)| (at(*ms), Rate::from_mbit(*mbit))).collect();
    Capacity::Rate(Schedule::steps(steps).expect("steps in order"))
}

// ---------------------------------------------------------------------------------------------------------------
// Rate
// ---------------------------------------------------------------------------------------------------------------

#[test]
fn a_burst_leaves_at_the_rate_and_arrives_after_the_delay() {
    for link in both(&link("l", RATE, DELAY)) {
        assert_near(completion(&run(&burst(link))), BURST + 0.040 + 0.050, 2e-9);
    }
}

/// When 40 packets that begin at `BURST` are out, bit by bit.
fn out_at(steps: &[(u64, u64)]) -> f64 {
    let (mut bits, mut now) = (40.0 * 12_000.0, BURST);
    for (index, (_, mbit)) in steps.iter().enumerate() {
        let until = steps.get(index + 1).map_or(f64::INFINITY, |(ms, _)| *ms as f64 / 1e3);
        let rate = *mbit as f64 * 1e6;
        let possible = rate * (until - now).max(0.0);
        if bits <= possible {
            return now + bits / rate;
        }
        if until > now {
            bits -= possible;
            now = until;
        }
    }
    f64::INFINITY
}

#[test]
fn rate_steps_retime_what_waits_and_the_rest_of_what_is_in_service() {
    let cases: [&[(u64, u64)]; 6] = [
        // Down, up, both, in the middle of a packet each time.
        &[(0, 12), (120, 6)],
        &[(0, 12), (120, 24)],
        &[(0, 12), (110, 3), (115, 48), (116, 5)],
        // An outage, a longer one after it, and steps within one packet's service.
        &[(0, 12), (120, 0), (200, 12)],
        &[(0, 12), (120, 0), (130, 12), (135, 0), (136, 0), (300, 7)],
        &[(0, 12), (101, 1), (102, 2), (103, 3)],
    ];
    for steps in cases {
        let expected = out_at(steps) + 0.050;
        for mut link in both(&link("l", RATE, DELAY)) {
            link.capacity = rate_steps(steps);
            // Each re-timing rounds to the nanosecond.
            assert_near(completion(&run(&burst(link))), expected, 8e-9);
        }
    }
}

#[test]
fn an_outage_at_the_start_holds_the_handshake_back() {
    for mut link in both(&link("l", RATE, DELAY)) {
        link.capacity = rate_steps(&[(0, 0), (300, 12)]);
        // The SYN waits; its first repetition after a second has no part in this.
        assert_near(completion(&run(&burst(link))), 0.300 + BURST + 0.040 + 0.050, 2e-9);
    }
}

#[test]
fn a_full_queue_uses_the_rate_and_no_more() {
    let links = vec![bottleneck(RATE, DELAY, 1000)];
    let spec =
        SimSpec { warmup: Span::from_secs(2), ..spec(Span::from_secs(10), links, vec![constant("f", 300)]) };
    // The measured time holds 8000 packets, but for those at either end.
    assert_near(run(&spec).links[0].utilisation.expect("a rate"), 1.0, 1.0 / 8000.0);
}

// ---------------------------------------------------------------------------------------------------------------
// Delay, jitter, reordering
// ---------------------------------------------------------------------------------------------------------------

/// Packets that leave from 120 ms on have 10 ms to go, but none overtakes the last one before: it left 19 packet
/// times after the burst and arrives 50 ms later. All of the rest arrive with it.
#[test]
fn a_shrinking_delay_keeps_the_order() {
    for mut link in both(&link("l", RATE, DELAY)) {
        link.delay = Schedule::steps(vec![(Time::ZERO, DELAY), (at(120), ms(10))]).expect("steps in order");
        let outcome = run(&burst(link));
        assert_near(completion(&outcome), BURST + 0.019 + 0.050, 2e-9);
        assert_eq!((outcome.flows[0].retransmitted_packets, outcome.flows[0].fast_recoveries), (0, 0));
    }
}

#[test]
fn a_growing_delay_holds_back_what_leaves_after_it() {
    for mut link in both(&link("l", RATE, DELAY)) {
        link.delay = Schedule::steps(vec![(Time::ZERO, DELAY), (at(120), ms(80))]).expect("steps in order");
        assert_near(completion(&run(&burst(link))), BURST + 0.040 + 0.080, 2e-9);
    }
}

#[test]
fn jitter_keeps_the_order() {
    for mut link in both(&link("l", RATE, DELAY)) {
        link.jitter = ms(30);
        let outcome = run(&spec(Span::from_secs(10), vec![link], vec![constant("f", 40)]));
        let flow = &outcome.flows[0];
        assert_eq!((flow.retransmitted_packets, flow.fast_recoveries, flow.timeouts), (0, 0, 0));
        // There and back take 101 ms at least, and up to 30 ms more.
        let (least, high) = (flow.rtt_min_ms.expect("samples"), flow.rtt_p95_ms.expect("samples"));
        assert!((101.0..105.0).contains(&least), "{least} ms");
        // Packets that came together stand in the queue a little, at the next round.
        assert!((120.0..140.0).contains(&high), "{high} ms");
    }
}

/// Packets that take a longer way are overtaken: a sender that counts to three takes them for lost, in vain.
#[test]
fn reordering_really_reorders() {
    let with = |extra| {
        let reorder = Some(ReorderSpec { probability: 0.02, extra_delay: extra });
        let mut flow = constant("f", 40);
        flow.kind.tcp = Profile::named("ns3").expect("a profile").options();
        flow.kind.tcp.delayed_ack = 1;
        run(&spec(Span::from_secs(10), vec![LinkSpec { reorder, ..link("l", RATE, DELAY) }], vec![flow]))
    };
    // Two packet times late: overtaken by one or two, which proves nothing. Thirty: by all that was sent.
    assert_eq!(with(ms(2)).flows[0].fast_recoveries, 0);
    let late = with(ms(30));
    let resent = late.flows[0].retransmitted_packets;
    assert!(resent > 10, "{resent} packets resent");
    assert_eq!((late.links[0].lost_packets, late.links[0].dropped_packets), (0, 0));
}

/// RACK waits for a part of the RTT once it has seen reordering, and DSACKs widen it: it resends less.
#[test]
fn rack_learns_to_bear_reordering() {
    let reorder = Some(ReorderSpec { probability: 0.02, extra_delay: ms(30) });
    let link = LinkSpec { reorder, ..link("l", RATE, DELAY) };
    let outcome = run(&spec(Span::from_secs(10), vec![link], vec![constant("f", 40)]));
    let flow = &outcome.flows[0];
    assert!(flow.undos > 0 && flow.retransmitted_packets < 30, "{flow:?}");
}

// ---------------------------------------------------------------------------------------------------------------
// Queue
// ---------------------------------------------------------------------------------------------------------------

/// Forty packets at once: one goes into service, the queue takes its limit, the rest is dropped.
#[test]
fn a_droptail_queue_holds_its_limit_beside_the_packet_in_service() {
    let dropped = |limit| {
        let counts =
            both(&LinkSpec { queue: QueueSpec::droptail(limit), ..link("l", RATE, DELAY) }).map(|link| {
                // The run ends before anything is sent again.
                run(&SimSpec { duration: ms(140), ..burst(link) }).links[0].dropped_packets
            });
        assert_eq!(counts[0], counts[1], "{limit:?}");
        counts[0]
    };
    assert_eq!(dropped(Limit::Packets(10)), 40 - 1 - 10);
    assert_eq!(dropped(Limit::Packets(39)), 0);
    assert_eq!(dropped(Limit::Packets(38)), 1);
    assert_eq!(dropped(Limit::Bytes(10 * PACKET)), 40 - 1 - 10);
    assert_eq!(dropped(Limit::Bytes(10 * PACKET - 1)), 40 - 1 - 9);
    assert_eq!(dropped(Limit::Bytes(11 * PACKET - 1)), 40 - 1 - 10);
}

/// The n-th packet of the burst waits for n packet times, the SYN for none; here they stay one more.
#[test]
fn queue_delay_and_backlog_of_a_burst() {
    for link in both(&link("l", RATE, DELAY)) {
        let outcome = run(&burst(link));
        let link = &outcome.links[0];
        assert_near(link.queue_delay_ms.expect("packets"), (0..40).sum::<u64>() as f64 / 41.0, 1e-5);
        let stay_s = (1..=40).sum::<u64>() as f64 * 1e-3;
        assert_near(link.queue_mean_bytes, stay_s * PACKET as f64, 0.01);
        // The 39th of 41 waits for 37 ms; buckets are 1.6 % wide.
        assert_near(link.queue_delay_p95_ms.expect("packets"), 37.0, 0.6);
    }
}

/// With 150 packets in flight and one served each millisecond the RTT is 150 ms: 100 of delay, 1 in service, 49 in
/// the queue. By Little's law 50 packets are there.
#[test]
fn a_window_above_the_path_stands_in_the_queue() {
    for link in both(&link("l", RATE, DELAY)) {
        let spec = SimSpec {
            warmup: Span::from_secs(2),
            ..spec(Span::from_secs(7), vec![link], vec![constant("f", 150)])
        };
        let outcome = run(&spec);
        let (flow, link) = (&outcome.flows[0], &outcome.links[0]);
        assert_near(flow.rtt_ms.expect("samples"), 150.0, 1e-6);
        assert_near(flow.rtt_p95_ms.expect("samples"), 150.0, 150.0 * 0.016);
        assert_near(link.queue_delay_ms.expect("packets"), 49.0, 1e-6);
        assert_near(link.queue_mean_bytes, 50.0 * PACKET as f64, 1.0);
        assert_near(flow.goodput_mbps, 12.0 * MSS as f64 / PACKET as f64, 0.003);
        assert_near(flow.cwnd_mean_segments, 150.0, 1e-6);
    }
}

/// With 50 in flight on a path that holds 101 the queue is empty: 50 packets each 101 ms.
#[test]
fn a_window_below_the_path_goes_round_once_an_rtt() {
    let spec = SimSpec {
        warmup: Span::from_secs(2),
        ..spec(Span::from_secs(12), vec![link("l", RATE, DELAY)], vec![constant("f", 20)])
    };
    let outcome = run(&spec);
    // The twenty come as a burst at first and stay one: the last waits for 19 ms, unless ACKs have spread them.
    assert_near(outcome.flows[0].rtt_min_ms.expect("samples"), 101.0, 1e-6);
    assert_near(outcome.flows[0].goodput_mbps, 20.0 * MSS as f64 * 8.0 / 0.101 / 1e6, 0.05);
}

/// A flow that has ended has no window any more: its mean is over its own time, and the handshake's part is zero.
#[test]
fn the_mean_window_of_a_flow_that_ended_is_its_window() {
    let flow = changed(transfer("f", 20, 400), |flow| flow.active.start = at(100));
    let outcome = run(&spec(Span::from_secs(20), vec![link("l", RATE, ms(5))], vec![flow]));
    let flow = &outcome.flows[0];
    let lasted = flow.completion_s.expect("it ends");
    assert_near(flow.cwnd_mean_segments, 20.0 * (lasted - 0.010) / lasted, 0.4);
}

#[test]
fn warm_up_is_cut_off() {
    let early = changed(constant("early", 40), |flow| flow.active.stop = Some(at(500)));
    let late = changed(constant("late", 50), |flow| flow.active.start = at(3000));
    let run_with = |warmup| {
        run(&SimSpec {
            warmup,
            ..spec(Span::from_secs(5), vec![link("l", RATE, DELAY)], vec![early.clone(), late.clone()])
        })
    };
    let (all, cut) = (run_with(Span::ZERO), run_with(Span::from_secs(2)));
    let before = flow_named(&cut, "early");
    assert!(flow_named(&all, "early").sent_packets > 100);
    assert_eq!((before.sent_packets, before.goodput_mbps, before.throughput_mbps), (0, 0.0, 0.0));
    assert_eq!(before.rtt_ms, None);
    // What starts later is measured from its start, and the same either way.
    assert_eq!(flow_named(&cut, "late"), flow_named(&all, "late"));
    // And the link has the packets of the late flow only.
    assert!(all.links[0].served_packets > cut.links[0].served_packets + 100);
    assert_near(
        cut.links[0].utilisation.expect("a rate") * 3.0,
        all.links[0].utilisation.expect("a rate") * 5.0,
        0.4,
    );
    assert!(cut.links[0].served_packets.abs_diff(flow_named(&cut, "late").sent_packets) <= 51);
}

// ---------------------------------------------------------------------------------------------------------------
// Loss
// ---------------------------------------------------------------------------------------------------------------

fn lossy(kind: LossKind, before_queue: bool) -> LinkSpec {
    LinkSpec { loss: LossSpec { kind, before_queue }, ..link("l", Rate::from_mbit(120), ms(5)) }
}

/// 5000 packets that all arrive in the end.
fn lossy_transfer(kind: LossKind, before_queue: bool) -> Outcome {
    run(&spec(Span::from_secs(60), vec![lossy(kind, before_queue)], vec![transfer("f", 100, 5000)]))
}

/// Before the queue a lost packet takes no capacity, after it it does; either way every hundredth is lost.
#[test]
fn periodic_loss_strikes_every_nth_data_packet_before_or_after_the_queue() {
    for before in [false, true] {
        let outcome = lossy_transfer(LossKind::Periodic { every: 100 }, before);
        let (flow, link) = (&outcome.flows[0], &outcome.links[0]);
        assert!(flow.completion_s.is_some());
        assert_eq!(link.lost_packets, flow.sent_packets / 100, "before: {before}");
        // The SYN is served too.
        let served = if before { flow.sent_packets + 1 - link.lost_packets } else { flow.sent_packets + 1 };
        assert_eq!(link.served_packets, served, "before: {before}");
        assert_eq!(flow.retransmitted_packets, link.lost_packets, "each is resent once");
    }
}

#[test]
fn random_losses_have_their_rate() {
    for (p, before) in [(0.01, false), (0.01, true), (0.1, false)] {
        let kind = LossKind::Random(Schedule::constant(p));
        let links = vec![lossy(kind, before)];
        let outcome = run(&spec(Span::from_secs(10), links, vec![constant("f", 200)]));
        let n = outcome.flows[0].sent_packets as f64;
        let lost = outcome.links[0].lost_packets as f64;
        assert!(n > 40_000.0, "{n} packets");
        // Five standard deviations of a binomial.
        assert_near(lost, n * p, 5.0 * (n * p * (1.0 - p)).sqrt());
    }
}

/// Steps of the loss probability take effect when the packet leaves.
#[test]
fn a_loss_step_begins_at_its_time() {
    let steps = vec![(Time::ZERO, 0.0), (at(2000), 1.0), (at(2500), 0.0)];
    let links = vec![lossy(LossKind::Random(Schedule::steps(steps).expect("in order")), false)];
    let lost_until =
        |ms_: u64| run(&spec(ms(ms_), links.clone(), vec![constant("f", 50)])).links[0].lost_packets;
    assert_eq!(lost_until(2000), 0);
    let during = lost_until(2500);
    assert!(during >= 50, "the whole window is lost: {during}");
    assert!(lost_until(4000) <= during + 1);
}

/// Share to_bad / (to_bad + to_good) of the packets, in bursts of 1 / to_good.
/// The burst's packets reach the far end from 151 ms to 190 ms, their ACKs the sender from 201 ms on.
#[test]
fn a_link_that_is_down_loses_what_would_leave_it_both_ways() {
    let down = |from_ms: u64| {
        let half = Span::from_micros(500);
        let steps = vec![(Time::ZERO, true), (at(from_ms) + half, false), (at(from_ms + 10) + half, true)];
        LinkSpec { up: Schedule::steps(steps).expect("in order"), ..link("l", RATE, DELAY) }
    };
    for link in both(&down(160)) {
        let outcome = run(&burst(link));
        assert_eq!((outcome.links[0].lost_packets, outcome.links[1].lost_packets), (10, 0));
        assert!(completion(&outcome) > 0.190, "ten packets come later");
    }
    for link in both(&down(205)) {
        let outcome = run(&burst(link));
        assert_eq!((outcome.links[0].lost_packets, outcome.links[1].lost_packets), (0, 10));
        assert_near(completion(&outcome), BURST + 0.090, 1e-6);
    }
}

#[test]
fn a_link_that_is_down_takes_nothing_in() {
    let steps = vec![(Time::ZERO, false), (at(500), true)];
    let down = LinkSpec { up: Schedule::steps(steps).expect("in order"), ..link("l", RATE, DELAY) };
    for link in both(&down) {
        let outcome = run(&SimSpec { duration: ms(1500), ..burst(link) });
        // The SYN is lost, and sent again after a second, at the next multiple of 64 ticks (timer_tick).
        assert_eq!(outcome.links[0].lost_packets, 1);
        assert_near(completion(&outcome), 1.024 + BURST + 0.090, 1e-6);
    }
}

#[test]
fn gilbert_and_elliott_lose_in_bursts() {
    let kind = LossKind::GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
    let outcome = run(&spec(Span::from_secs(10), vec![lossy(kind, true)], vec![constant("f", 200)]));
    let (n, lost) = (outcome.flows[0].sent_packets as f64, outcome.links[0].lost_packets as f64);
    let share = 0.01 / 0.26;
    // A two-state chain with memory 0.74 has (1 + 0.74) / (1 - 0.74) of the variance of independent losses.
    let deviation = (n * share * (1.0 - share) * 1.74 / 0.26).sqrt();
    assert_near(lost, n * share, 5.0 * deviation);
    // And bursts mean fewer recoveries than losses.
    assert!((outcome.flows[0].fast_recoveries as f64) < 0.5 * lost);
}

// ---------------------------------------------------------------------------------------------------------------
// Traces
// ---------------------------------------------------------------------------------------------------------------

fn trace(at_ms: &[u64], period_ms: u64, bytes: u64) -> Capacity {
    let at = at_ms.iter().map(|ms| at(*ms)).collect();
    Capacity::Trace(Arc::new(Opportunities { at, period: ms(period_ms), bytes }))
}

fn over_trace(capacity: Capacity, delay: Span, packets: u64) -> Outcome {
    let links = vec![LinkSpec { capacity, ..link("cell", RATE, delay) }];
    run(&spec(ms(1000), links, vec![transfer("f", 40, packets)]))
}

/// An opportunity of 1000 bytes each 10 ms. The SYN takes the one at 10 ms and the rest of it is lost. Data come at
/// 10 + 2 * 47 = 104 ms: the first packet needs 110 and half of 120, the second the other half and 130.
#[test]
fn a_packet_may_straddle_two_opportunities() {
    let outcome = over_trace(trace(&[10], 10, 1000), ms(47), 2);
    assert_near(completion(&outcome), 0.130 + 0.047, 1e-12);
}

/// What is left of an opportunity when the queue is empty is lost: were it kept, the data would leave at once.
#[test]
fn unused_opportunities_are_lost() {
    // Ten opportunities at 2 ms, none but those until 1000 ms: the SYN takes one, the data have to wait.
    let outcome = over_trace(trace(&[2; 10], 100, 1504), ms(5), 1);
    assert_near(completion(&outcome), 0.102 + 0.005, 1e-12);
}

/// Opportunities at 2, 5 and 5 ms of each 10: three of 1504 bytes, of which a packet leaves 4 to the next.
#[test]
fn opportunities_come_back_each_period() {
    // SYN at 2 ms; data at 2 + 2 * 50 = 102 ms find the opportunity of that very time, then 105, 105, 112, ...
    let outcome = over_trace(trace(&[2, 5, 5], 10, 1504), ms(50), 7);
    let opportunities = [102, 105, 105, 112, 115, 115, 122].map(|ms| ms as f64 / 1e3);
    assert_near(completion(&outcome), opportunities[6] + 0.050, 1e-12);
    // 375 packets and the 4 bytes of each make up for one more: 376 packets in 375 opportunities.
    let delay = Span::from_micros(4_700);
    let links = vec![LinkSpec { capacity: trace(&[1], 1, 1504), ..link("cell", RATE, delay) }];
    let long = run(&spec(Span::from_secs(10), links, vec![transfer("f", 100, 376 * 5)]));
    // The SYN leaves at 1 ms, data come at 10.4 ms: 1875 opportunities from 11 ms on, the last at 1885 ms.
    assert_near(completion(&long), 1.885 + 0.0047, 1e-12);
}

#[test]
fn a_trace_is_used_up_when_there_is_enough_to_send() {
    let links = vec![LinkSpec { capacity: trace(&[2, 5, 5], 10, 1504), ..link("cell", RATE, ms(5)) }];
    let spec =
        SimSpec { warmup: Span::from_secs(1), ..spec(Span::from_secs(6), links, vec![constant("f", 100)]) };
    let outcome = run(&spec);
    // 300 opportunities a second; a packet in the middle at either end.
    assert_near(outcome.links[0].utilisation.expect("a mean rate"), 1.0, 2.0 / 1500.0);
    assert_near(outcome.flows[0].goodput_mbps, 300.0 * 1504.0 * 8.0 / 1e6 * 1448.0 / 1500.0, 0.01);
}

// ---------------------------------------------------------------------------------------------------------------
// Return path, reverse flows, access links
// ---------------------------------------------------------------------------------------------------------------

/// A hundred ACKs a second come back, so a hundred packets a second go out.
#[test]
fn a_slow_return_path_limits_the_flow() {
    let back = link("l.back", Rate(52 * 8 * 100), DELAY);
    let links = vec![LinkSpec { back: Some(Box::new(back)), ..link("l", RATE, DELAY) }];
    let spec =
        SimSpec { warmup: Span::from_secs(2), ..spec(Span::from_secs(12), links, vec![constant("f", 30)]) };
    let outcome = run(&spec);
    assert_near(outcome.flows[0].goodput_mbps, 100.0 * MSS as f64 * 8.0 / 1e6, 0.003);
    let back = link_named(&outcome, "l.back");
    assert_near(back.utilisation.expect("a rate"), 1.0, 0.002);
    // 30 in flight at 10 ms each: 300 ms, of which 100 of delay, 1 of data in service, 10 of the ACK's.
    assert_near(outcome.flows[0].rtt_ms.expect("samples"), 300.0, 0.01);
    assert_near(back.queue_delay_ms.expect("ACKs"), 189.0, 0.01);
}

/// Data of a reverse flow take the return direction, its ACKs the forward one.
#[test]
fn a_reverse_flow_goes_the_other_way() {
    let back = link("l.back", Rate::from_mbit(6), DELAY);
    let links = vec![LinkSpec { back: Some(Box::new(back)), ..link("l", RATE, DELAY) }];
    let up = changed(constant("up", 100), |flow| flow.kind.reverse = true);
    let spec = SimSpec {
        warmup: Span::from_secs(3),
        ..spec(Span::from_secs(13), links, vec![constant("down", 10), up])
    };
    let outcome = run(&spec);
    // 6 Mbit/s carry 500 packets a second, less what the ACKs of the other flow take.
    let (up, down) = (flow_named(&outcome, "up"), flow_named(&outcome, "down"));
    let acks_per_s = down.sent_packets as f64 / 10.0;
    let packets_per_s = (6e6 - acks_per_s * 52.0 * 8.0) / 12_000.0;
    assert_near(up.goodput_mbps, packets_per_s * MSS as f64 * 8.0 / 1e6, 0.01);
    assert_near(link_named(&outcome, "l.back").utilisation.expect("a rate"), 1.0, 0.001);
    // Forward there is room: its utilisation is the data of one and the ACKs of the other.
    let forward = (down.sent_packets as f64 * 12_000.0 + packets_per_s * 10.0 * 416.0) / 12e7;
    assert_near(link_named(&outcome, "l").utilisation.expect("a rate"), forward, 0.002);
}

/// Without a return direction of its own the opposite way is free.
#[test]
fn a_reverse_flow_over_a_plain_return_path_is_not_held_up() {
    let up = changed(constant("up", 50), |flow| flow.kind.reverse = true);
    let spec = SimSpec {
        warmup: Span::from_secs(1),
        ..spec(Span::from_secs(11), vec![link("l", RATE, DELAY)], vec![up])
    };
    let outcome = run(&spec);
    // 50 packets each 100 ms and the time of an ACK on the forward link.
    let rtt = 0.1 + 52.0 * 8.0 / 12e6;
    assert_near(outcome.flows[0].rtt_min_ms.expect("samples"), rtt * 1e3, 1e-3);
    assert_near(outcome.flows[0].goodput_mbps, 50.0 * MSS as f64 * 8.0 / rtt / 1e6, 0.06);
    assert_eq!(link_named(&outcome, "l.back").utilisation, None);
}

fn with_access(hold_back: bool) -> Outcome {
    let access = AccessSpec { link: link("f.access", Rate::from_mbit(24), ms(1)), hold_back };
    let flow = changed(constant("f", 120), |flow| flow.paths[0].access = Some(access));
    run(&SimSpec {
        warmup: Span::from_secs(1),
        ..spec(Span::from_secs(11), vec![bottleneck(RATE, ms(9), 1000)], vec![flow])
    })
}

/// The access link is twice as fast as the bottleneck, so windows stand at the bottleneck; what leaves in a burst
/// stands before the access link, unless the sender is held back: then two packets do.
#[test]
fn the_sender_is_held_back_before_its_access_link() {
    for hold_back in [false, true] {
        let outcome = with_access(hold_back);
        assert_near(outcome.flows[0].goodput_mbps, 12.0 * 1448.0 / 1500.0, 0.01);
        // 120 packets a round of 120 ms: 20 of delay (two ways of 1 + 9), the rest at the bottleneck.
        assert_near(outcome.flows[0].rtt_ms.expect("samples"), 120.0, 0.2);
    }
    let burst = |hold_back| {
        let access = AccessSpec { link: link("f.access", RATE, DELAY), hold_back };
        let flow = changed(transfer("f", 40, 40), |flow| flow.paths[0].access = Some(access));
        let outcome = run(&spec(ms(1000), vec![link("l", Rate::from_mbit(1000), ms(5))], vec![flow]));
        (link_named(&outcome, "f.access").queue_delay_ms.expect("packets"), completion(&outcome))
    };
    let (free, held) = (burst(false), burst(true));
    // Free: 0 to 39 ms and the SYN. Held back: the first does not wait, every other one a packet time.
    assert_near(free.0, 780.0 / 41.0, 1e-3);
    assert_near(held.0, 39.0 / 41.0, 1e-3);
    assert_near(held.1, free.1, 2e-9);
}

/// Two hops in a row: the second link's queue gets what the first lets through.
#[test]
fn links_in_a_row_are_as_fast_as_the_slowest() {
    let links = vec![
        link("wide", Rate::from_mbit(24), ms(10)),
        link("narrow", RATE, ms(20)),
        link("last", Rate::from_mbit(48), ms(20)),
    ];
    let flow = changed(transfer("f", 40, 40), |flow| flow.paths[0].links = vec![0, 1, 2]);
    let outcome = run(&spec(ms(1000), links, vec![flow]));
    // SYN: 52 bytes at three rates; then the first packet at 24 Mbit/s, forty at 12, the last at 48.
    let syn: f64 = [24e6, 12e6, 48e6].iter().map(|rate| 416.0 / rate).sum();
    let expected = 0.1 + syn + 0.0005 + 0.040 + 0.00025 + 0.050;
    assert_near(completion(&outcome), expected, 8e-9);
}

/// Bytes that a link carries for each packet beside its own, as PPP's two on ns-3.
#[test]
fn overhead_takes_its_share() {
    let links = vec![LinkSpec { overhead: 100, ..link("l", Rate::from_mbit(12), DELAY) }];
    let outcome = run(&spec(ms(1000), links, vec![transfer("f", 40, 40)]));
    let time = |bytes: f64| bytes * 8.0 / 12e6;
    assert_near(completion(&outcome), 0.150 + time(152.0) + 40.0 * time(1600.0), 4e-9);
}
