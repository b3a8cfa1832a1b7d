//! A tap gets every event of a flow once and changes nothing.

mod ladder;

use cwndlab_cc::{Phase, Rate, Span, Time};
use cwndlab_sim::outcome::{FlowOutcome, Outcome};
use cwndlab_sim::spec::{ArrivalProcess, LossKind, LossSpec, SimSpec, SizeSpec};
use cwndlab_sim::tap::{FlowEvent, Reduction, State, Tap};
use cwndlab_sim::{Schedule, Sim, Stop};
use ladder::{bottleneck, flow, jittered, ms, spec};

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

/// Counts every event, and holds each against the one before.
#[derive(Default)]
struct Counting {
    flows: Vec<Seen>,
    last: Time,
    looks: u64,
    report: std::rc::Rc<std::cell::RefCell<Vec<Seen>>>,
}

impl Tap for Counting {
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
            FlowEvent::End => seen.ended += 1,
        }
    }

    fn next_look(&self) -> Time {
        Time::ZERO + Span::from_millis(self.looks)
    }

    fn look(&mut self, state: &mut State<'_>) {
        assert!(!state.links.is_empty() && state.flows.len() >= self.flows.len());
        self.looks += 1;
    }

    fn report(self, _state: &mut State<'_>, _outcome: &mut Outcome) {
        assert!(self.looks > 1000, "it looks each millisecond");
        *self.report.borrow_mut() = self.flows;
    }
}

/// Losses, marks, timeouts, undone reductions, decisions, flows that come and go.
fn eventful(seed: u64) -> SimSpec {
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(0.02)), before_queue: false };
    let delays =
        Schedule::steps(vec![(Time::ZERO, ms(20)), (Time::ZERO + ms(2500), ms(400))]).expect("in order");
    let link =
        cwndlab_sim::spec::LinkSpec { loss, delay: delays, ..bottleneck(Rate::from_mbit(10), ms(20), 30) };
    let mut marked = flow("marked", "reno");
    marked.kind.tcp.ecn = true;
    let flows = vec![flow("cubic", "cubic"), marked, flow("bbr", "bbr3"), flow("random", "random")];
    let mut spec = jittered(seed, spec(Span::from_secs(5), vec![link], flows));
    spec.arrivals = vec![ladder::arrivals(
        flow("short", "cubic"),
        ArrivalProcess::PerSecond(20.0),
        SizeSpec::Exponential { mean: 20_000.0 },
    )];
    spec
}

fn tapped(spec: &SimSpec) -> (Outcome, Vec<Seen>) {
    let report = std::rc::Rc::default();
    let counting = Counting { report: std::rc::Rc::clone(&report), ..Counting::default() };
    let mut sim = Sim::with_tap(spec, |_, _, _| counting);
    assert_eq!(sim.run(), Stop::Done);
    let outcome = sim.outcome();
    let seen = report.borrow().clone();
    (outcome, seen)
}

#[test]
fn every_event_comes_once() {
    let mut all = Seen::default();
    for seed in 1..4 {
        let (outcome, seen) = tapped(&SimSpec { timeout_patterns: false, ..eventful(seed) });
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

#[test]
fn whoever_looks_changes_nothing() {
    let spec = SimSpec { timeout_patterns: false, ..eventful(1) };
    let mut alone = Sim::new(&spec);
    assert_eq!(alone.run(), Stop::Done);
    assert_eq!(tapped(&spec).0, alone.outcome());
}
