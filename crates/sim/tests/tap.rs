//! A tap gets every event of a flow and of a link once, in order, and changes nothing.

mod ladder;

use cwndlab_cc::{Phase, Rate, Span, Time};
use cwndlab_sim::outcome::{FlowOutcome, Outcome};
use cwndlab_sim::packet::EcnField;
use cwndlab_sim::queue::codel::{self, CodelParams};
use cwndlab_sim::queue::ns3_default::{self, Ns3DefaultParams};
use cwndlab_sim::queue::{Limit, QueueSpec, Service};
use cwndlab_sim::spec::{ArrivalProcess, LinkSpec, LossKind, LossSpec, SimSpec, SizeSpec};
use cwndlab_sim::tap::{FlowEvent, LinkEvent, Reduction, State, Tap};
use cwndlab_sim::{Measures, Schedule, Sim, Stop};
use ladder::{bottleneck, changed, flow, jittered, link, ms, spec};

/// The events of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    sent: u64,
    resent: u64,
    acks: u64,
    delivered: u64,
    lost: u64,
    probes: u64,
    timeouts: u64,
    fast_recoveries: u64,
    ecn_reductions: u64,
    undone: u64,
    decided: u64,
    phase: Phase,
    begun: u64,
    ended: u64,
}

/// The events of one link.
#[derive(Clone, Debug, Default, PartialEq)]
struct OnLink {
    last: Time,
    enqueued: u64,
    dropped: u64,
    marked: u64,
    served: u64,
    delivered: u64,
    lost: u64,
    waiting: u64,
}

/// Counts every event, and holds each against the one before.
#[derive(Default)]
struct Counting {
    flows: Vec<Seen>,
    links: Vec<OnLink>,
    last: Time,
    looks: u64,
}

impl Tap for Counting {
    type Outcome = (Vec<Seen>, Vec<OnLink>);

    fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        assert!(now >= self.last, "events come in the order of time");
        self.last = now;
        let flow = flow as usize;
        if flow >= self.flows.len() {
            self.flows.resize(flow + 1, Seen::default());
        }
        let seen = &mut self.flows[flow];
        match event {
            FlowEvent::Begin { .. } => {
                seen.begun += 1;
                seen.phase = Phase::Open;
            }
            FlowEvent::Sent { payload, resent, .. } => {
                assert!(payload > 0);
                seen.sent += 1;
                seen.resent += u64::from(resent);
            }
            FlowEvent::TailLossProbe => seen.probes += 1,
            FlowEvent::Acked { segments, .. } => {
                seen.acks += 1;
                seen.delivered += u64::from(segments);
            }
            FlowEvent::RttSampled { latest, .. } => assert!(latest > Span::ZERO),
            FlowEvent::Lost { .. } => seen.lost += 1,
            FlowEvent::Reduced { by, .. } => match by {
                Reduction::FastRecovery => seen.fast_recoveries += 1,
                Reduction::Timeout => seen.timeouts += 1,
                Reduction::EcnMark => seen.ecn_reductions += 1,
                Reduction::ProbedLoss => {}
            },
            FlowEvent::Undone => seen.undone += 1,
            FlowEvent::PhaseChanged { from, to } => {
                assert_eq!(from, seen.phase, "each phase begins where the last one ended");
                assert_ne!(from, to);
                seen.phase = to;
            }
            FlowEvent::Decided { .. } => seen.decided += 1,
            FlowEvent::WindowChanged { segments } => assert!(segments > 0),
            FlowEvent::SynSent => {}
            FlowEvent::End { flow } => {
                assert!(flow.sender.is_finished());
                seen.ended += 1;
            }
        }
    }

    fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        let link = link as usize;
        if link >= self.links.len() {
            self.links.resize(link + 1, OnLink::default());
        }
        let seen = &mut self.links[link];
        assert!(at >= seen.last, "events of a link come in the order of time");
        seen.last = at;
        match event {
            LinkEvent::Enqueued { packet, bytes } => {
                assert!(bytes >= packet.size);
                seen.enqueued += 1;
            }
            LinkEvent::Dropped { .. } => seen.dropped += 1,
            LinkEvent::Marked { packet } => {
                assert_eq!(packet.ecn, EcnField::Ce);
                seen.marked += 1;
            }
            LinkEvent::Served { arrived, started, .. } => {
                assert!(arrived <= started && started <= at);
                seen.served += 1;
            }
            LinkEvent::Delivered { .. } => seen.delivered += 1,
            LinkEvent::Lost { .. } => seen.lost += 1,
        }
    }

    fn next_look(&self) -> Time {
        Time::ZERO + Span::from_millis(self.looks)
    }

    fn look(&mut self, state: &State<'_>) {
        assert!(!state.links.is_empty() && state.flows.len() >= self.flows.len());
        assert_eq!(state.now, self.next_look());
        for (link, seen) in state.links.iter().zip(&self.links) {
            assert_eq!(
                link.backlog().packets,
                seen.enqueued - seen.dropped - seen.served,
                "links are settled"
            );
        }
        self.looks += 1;
    }

    fn finish(mut self, state: &State<'_>) -> Self::Outcome {
        assert!(self.looks > 1000, "it looks each millisecond");
        for (link, seen) in state.links.iter().zip(&mut self.links) {
            seen.waiting = link.backlog().packets;
        }
        (self.flows, self.links)
    }
}

/// Losses, marks, timeouts, undone reductions, decisions, flows that come and go.
fn eventful(seed: u64) -> SimSpec {
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(0.02)), before_queue: false };
    let delays =
        Schedule::steps(vec![(Time::ZERO, ms(20)), (Time::ZERO + ms(2500), ms(400))]).expect("in order");
    let first = LinkSpec { loss, delay: delays, ..bottleneck(Rate::from_mbit(10), ms(20), 30) };
    let mut marked = flow("marked", "reno");
    marked.kind.tcp.ecn = true;
    let flows = [flow("cubic", "cubic"), marked, flow("bbr", "bbr3"), flow("random", "random")];
    let marking = LinkSpec {
        queue: QueueSpec::with(codel::QUEUE, &CodelParams { ecn: true, ..CodelParams::default() }),
        loss: LossSpec { kind: LossKind::Periodic { every: 97 }, before_queue: true },
        ..link("marking", Rate::from_mbit(3), ms(1))
    };
    let flows = flows.map(|flow| changed(flow, |flow| flow.paths[0].links = vec![0, 1]));
    let mut spec = jittered(seed, spec(Span::from_secs(5), vec![first, marking], flows.into()));
    spec.arrivals = vec![ladder::arrivals(
        flow("short", "cubic"),
        ArrivalProcess::PerSecond(20.0),
        SizeSpec::Exponential { mean: 20_000.0 },
    )];
    spec
}

fn tapped(spec: &SimSpec) -> (Outcome, (Vec<Seen>, Vec<OnLink>)) {
    let mut sim = Sim::with_tap(spec, |state| (Measures::new(spec.duration, state), Counting::default()));
    assert_eq!(sim.run(), Stop::Done);
    sim.outcome()
}

#[test]
fn every_event_comes_once() {
    let mut all = Seen::default();
    for seed in 1..4 {
        let (outcome, (seen, _)) = tapped(&SimSpec { timeout_patterns: false, ..eventful(seed) });
        for (flow, seen) in outcome.flows.iter().zip(&seen) {
            let FlowOutcome { name, .. } = flow;
            assert_eq!((seen.sent, seen.resent), (flow.sent_packets, flow.retransmitted_packets), "{name}");
            assert_eq!(
                (seen.timeouts, seen.fast_recoveries),
                (flow.timeouts, flow.fast_recoveries),
                "{name}"
            );
            assert_eq!((seen.undone, seen.probes), (flow.undos, flow.tail_loss_probes), "{name}");
            assert_eq!(seen.ecn_reductions, flow.ecn_reductions, "{name}");
            assert!(
                seen.delivered <= seen.sent && seen.lost <= seen.sent && seen.acks > 0,
                "{name}: {seen:?}"
            );
            assert_eq!((seen.begun, seen.ended), (1, 0), "{name}");
            all.undone += seen.undone;
            all.timeouts += seen.timeouts;
            all.probes += seen.probes;
            all.decided += seen.decided;
        }
        let short = &seen[outcome.flows.len()..];
        let sum = |of: fn(&Seen) -> u64| short.iter().map(of).sum::<u64>();
        assert_eq!(sum(|seen| seen.begun), outcome.groups[0].arrived);
        assert_eq!(sum(|seen| seen.ended), outcome.groups[0].completed);
        assert_eq!(sum(|seen| seen.resent), outcome.groups[0].retransmitted_packets);
    }
    assert!(all.undone > 0 && all.timeouts > 0 && all.probes > 0 && all.decided > 0, "{all:?}");
}

/// What comes to a queue is dropped, served or still there; what is served is delivered, lost or under way.
#[test]
fn every_packet_on_a_link_is_accounted_for() {
    let mut all = OnLink::default();
    for seed in 1..4 {
        let (outcome, (_, links)) = tapped(&SimSpec { timeout_patterns: false, ..eventful(seed) });
        assert_eq!(links.len(), 2);
        for (n, (link, seen)) in outcome.links.iter().zip(&links).enumerate() {
            assert_eq!((link.served_packets, link.dropped_packets), (seen.served, seen.dropped));
            assert_eq!((link.marked_packets, link.lost_packets), (seen.marked, seen.lost));
            assert_eq!(seen.enqueued, seen.dropped + seen.served + seen.waiting, "{seen:?}");
            let lost_behind = if n == 0 { seen.lost } else { 0 };
            let under_way = seen.served - seen.delivered - lost_behind;
            assert!(under_way < 1000, "{seen:?}");
            all.dropped += seen.dropped;
            all.marked += seen.marked;
            all.lost += seen.lost;
        }
    }
    assert!(all.dropped > 0 && all.marked > 0 && all.lost > 0, "{all:?}");
}

/// Links that know their departures tell a tap that asks for order the same as links with service events.
#[test]
fn fifos_tell_what_happens_in_order() {
    let stack = Ns3DefaultParams { device: 5, ..Ns3DefaultParams::default() };
    let queues = [QueueSpec::droptail(Limit::Packets(30)), QueueSpec::with(ns3_default::QUEUE, &stack)];
    for queue in queues {
        let mut spec = SimSpec { timeout_patterns: false, ..eventful(1) };
        spec.links[1].queue = queue;
        let (outcome, (_, foreseen)) = tapped(&spec);
        let [_, link] = &foreseen[..] else { panic!("two links") };
        assert!(link.dropped > 0 && link.lost > 0, "{link:?}");
        assert_eq!(link.marked > 0, spec.links[1].queue.kind.name == "ns3-default");
        spec.links[1].queue.kind.service = Service::ByPacket;
        let (by_packet, (_, served)) = tapped(&spec);
        assert_eq!(foreseen, served);
        assert_eq!(Outcome { work: by_packet.work, ..outcome }, by_packet);
    }
}

#[test]
fn whoever_looks_changes_nothing() {
    let spec = SimSpec { timeout_patterns: false, ..eventful(1) };
    let mut alone = Sim::new(&spec);
    assert_eq!(alone.run(), Stop::Done);
    assert_eq!(tapped(&spec).0, alone.outcome());
}

#[test]
fn a_run_that_nobody_looks_at_goes_the_same_way() {
    let spec = SimSpec { timeout_patterns: false, ..eventful(1) };
    let (mut untapped, mut measured) = (Sim::untapped(&spec), Sim::new(&spec));
    assert_eq!((untapped.run(), measured.run()), (Stop::Done, Stop::Done));
    for flow in 0..spec.flows.len() {
        assert_eq!(untapped.glance(flow), measured.glance(flow));
    }
}
