//! The transport's side of the contract, by a sketch of a model-based controller that does not ship: per-packet
//! losses are told, a controller's own window in recovery is obeyed, timers ring, samples tell the bottleneck's rate.

#[path = "../../cc/tests/sketch/bbr.rs"]
#[allow(dead_code, reason = "what only the tests of `cc` look at")]
mod bbr;
mod ladder;

use bbr::{Bbr, Seen};
use cwndlab_cc::{
    Ack, Algorithm, CongestionControl, Context, Control, Decision, Declares, Event, Facts, Lost, Needs,
    Phase, Rate, Setup, Span, Time,
};
use cwndlab_sim::Schedule;
use cwndlab_sim::outcome::Outcome;
use cwndlab_sim::spec::{FlowSpec, LinkSpec, LossKind, LossSpec, SimSpec};
use cwndlab_sim::tcp::{LossDetection, Recovery};
use ladder::{MSS, assert_near, bottleneck, changed, constant, flow, jittered, link, ms, run, spec};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

fn algorithm(build: impl Fn(&Setup) -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Algorithm {
    Algorithm {
        name: "sketch",
        summary: "a sketch",
        source: "a test",
        departures: &[],
        params: [].into(),
        declares: Declares::default(),
        build: Arc::new(move |setup, _| build(setup)),
    }
}

fn bbr_flow(name: &str) -> (FlowSpec, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let shared = seen.clone();
    let algorithm = algorithm(move |setup| Box::new(Bbr::new(setup, shared.clone())));
    (
        changed(flow(name, "reno"), |flow| {
            flow.kind.algorithm = algorithm;
            flow.kind.settings = vec![];
        }),
        seen,
    )
}

/// 50 Mbit/s and 40 ms: a BDP of 167 packets.
fn path(packets: u64, loss: f64) -> LinkSpec {
    let loss = LossSpec { kind: LossKind::Random(Schedule::constant(loss)), before_queue: false };
    LinkSpec { loss, ..bottleneck(Rate::from_mbit(50), ms(20), packets) }
}

fn bbr_alone(link: LinkSpec) -> (Outcome, Arc<Seen>) {
    let (flow, seen) = bbr_flow("bbr");
    let spec = SimSpec { warmup: Span::from_secs(2), ..spec(Span::from_secs(30), vec![link], vec![flow]) };
    (run(&jittered(1, spec)), seen)
}

/// With a buffer of four BDP a loss-based flow would keep the queue at some 100 ms; this one fills the link and
/// leaves the queue to itself.
#[test]
fn a_model_based_controller_fills_the_link_and_not_the_queue() {
    let (outcome, seen) = bbr_alone(path(4 * 167, 0.0));
    let (flow, link) = (&outcome.flows[0], &outcome.links[0]);
    assert!(link.utilisation.expect("a rate") > 0.95, "{link:?}");
    assert!(link.queue_delay_ms.expect("packets") < 10.0, "{link:?}");
    assert!(flow.rtt_ms.expect("samples") < 50.0, "{flow:?}");
    assert_eq!((flow.timeouts, link.dropped_packets), (0, 0), "{flow:?}");
    // Packet-timed rounds are round trips: 30 s of 40 ms, and a little queue.
    let rounds = seen.rounds.load(Relaxed);
    assert!((500..760).contains(&rounds), "{rounds} rounds");
    // A probe each 2 to 3 s, and timers that end ProbeRTT.
    assert!((6..16).contains(&seen.probes_up.load(Relaxed)), "{} probes", seen.probes_up.load(Relaxed));
    assert!(seen.probe_rtts.load(Relaxed) < 7, "{}", seen.probe_rtts.load(Relaxed));
}

/// One loss in a thousand halves Reno again and again; a model of the path does not mind it.
#[test]
fn a_model_based_controller_bears_random_loss() {
    let (outcome, _) = bbr_alone(path(167, 1e-3));
    assert!(outcome.links[0].utilisation.expect("a rate") > 0.85, "{:?}", outcome.links[0]);
}

/// What the link lost and dropped is what the controller was told: each packet once, but for those still on their way.
#[test]
fn every_packet_marked_lost_is_told() {
    for (queue, loss) in [(167, 2e-3), (20, 0.0)] {
        let (flow, seen) = bbr_flow("bbr");
        let outcome = run(&jittered(2, spec(Span::from_secs(20), vec![path(queue, loss)], vec![flow])));
        let gone = outcome.links[0].lost_packets + outcome.links[0].dropped_packets;
        let told = seen.lost_bytes.load(Relaxed) / MSS;
        assert!(gone > 30, "{gone} packets gone");
        assert!(told.abs_diff(gone) <= gone / 50 + 2, "{told} told, {gone} gone");
        assert_eq!(
            outcome.flows[0].retransmitted_packets.max(told),
            told,
            "nothing is resent that was not told"
        );
    }
}

/// After each ACK of a recovery the pipe is within the controller's window, but for what was in flight when it shrank.
#[test]
fn a_window_of_ones_own_is_obeyed_in_recovery() {
    let (outcome, seen) = bbr_alone(path(40, 5e-4));
    assert!(outcome.flows[0].fast_recoveries > 5, "{:?}", outcome.flows[0]);
    assert!(seen.acks_in_recovery.load(Relaxed) > 500);
    // Startup may overshoot by as much as it had in flight.
    assert!(seen.excess_in_recovery.load(Relaxed) < 3 * 167 * MSS);
}

// ---------------------------------------------------------------------------------------------------------------
// A probe of the contract: a controller that writes down all that it is told
// ---------------------------------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq)]
enum Callback {
    Sent,
    Lost(Lost),
    Event(Event, Phase),
    Ack(Ack, Facts),
    Timer,
}

type Diary = Arc<Mutex<Vec<(Time, Callback)>>>;

/// A constant window that writes a diary; in recovery its window is `in_recovery`.
struct Diarist {
    needs: Needs,
    mss: u64,
    usual: u64,
    in_recovery: u64,
    cwnd: u64,
    timer: Option<Time>,
    diary: Diary,
}

impl Diarist {
    fn note(&self, cx: &Context, told: Callback) {
        self.diary.lock().unwrap().push((cx.facts.now, told));
    }
}

impl CongestionControl for Diarist {
    fn needs(&self) -> Needs {
        self.needs
    }
    fn control(&self) -> Control {
        Control::window(self.cwnd * self.mss)
    }
    fn on_sent(&mut self, cx: &mut Context, _bytes: u64) {
        self.note(cx, Callback::Sent);
    }
    fn on_lost(&mut self, cx: &mut Context, lost: &Lost) {
        self.note(cx, Callback::Lost(*lost));
    }
    fn on_event(&mut self, cx: &mut Context, event: Event) {
        self.note(cx, Callback::Event(event, cx.facts.phase));
        match event {
            Event::LossRecovery => self.cwnd = self.in_recovery,
            Event::Recovered | Event::Undo => self.cwnd = self.usual,
            _ => {}
        }
    }
    fn on_ack(&mut self, cx: &mut Context, ack: &Ack) -> Decision {
        self.note(cx, Callback::Ack(*ack, *cx.facts));
        Decision::NotDue
    }
    fn next_timer(&self) -> Option<Time> {
        self.timer
    }
    fn on_timer(&mut self, cx: &mut Context) -> Decision {
        self.note(cx, Callback::Timer);
        self.timer = (cx.facts.now < Time::ZERO + Span::from_secs(1)).then(|| cx.facts.now + ms(100));
        Decision::NotDue
    }
}

fn diary(
    needs: Needs,
    windows: (u64, u64),
    timer: Option<Time>,
    link: LinkSpec,
) -> (Vec<(Time, Callback)>, Outcome) {
    diary_of(constant("f", 1), needs, windows, timer, link)
}

fn diary_of(
    flow: FlowSpec,
    needs: Needs,
    windows: (u64, u64),
    timer: Option<Time>,
    link: LinkSpec,
) -> (Vec<(Time, Callback)>, Outcome) {
    let diary = Diary::default();
    let shared = diary.clone();
    let algorithm = algorithm(move |setup| {
        let (usual, in_recovery) = windows;
        let diary = shared.clone();
        Box::new(Diarist { needs, mss: setup.mss, usual, in_recovery, cwnd: usual, timer, diary })
    });
    let flow = changed(flow, |flow| {
        flow.kind.algorithm = algorithm;
        flow.kind.settings = vec![];
    });
    let outcome = run(&spec(Span::from_secs(5), vec![link], vec![flow]));
    let told = diary.lock().unwrap().clone();
    (told, outcome)
}

fn losing_every(n: u64) -> LinkSpec {
    let loss = LossSpec { kind: LossKind::Periodic { every: n }, before_queue: false };
    LinkSpec { loss, ..link("l", Rate::from_mbit(12), ms(20)) }
}

const ALL_LOSSES: Needs =
    Needs { ecn: cwndlab_cc::Ecn::AsConfigured, sent_packets: true, lost_packets: true, ..Needs::NONE };
const OWN_WINDOW: Needs = Needs { own_window_in_recovery: true, ..ALL_LOSSES };

/// On one ACK: `on_lost`*, `on_event`*, `on_ack` once, and only then is anything sent.
#[test]
fn the_order_on_an_ack_is_always_the_same() {
    let (diary, _) = diary(ALL_LOSSES, (30, 15), None, losing_every(200));
    // Everything of one moment, in order; ACKs are packet times apart, so a moment is an ACK.
    let mut losses = 0;
    for moment in diary.chunk_by(|a, b| a.0 == b.0) {
        let rank = |told: &Callback| match told {
            Callback::Lost(_) => 0,
            Callback::Event(..) => 1,
            Callback::Ack(..) => 2,
            Callback::Sent => 3,
            Callback::Timer => 4,
        };
        let ranks: Vec<_> = moment.iter().map(|(_, told)| rank(told)).collect();
        assert!(ranks.is_sorted(), "{moment:?}");
        assert!(ranks.iter().filter(|rank| **rank == 2).count() <= 1, "{moment:?}");
        losses += ranks.iter().filter(|rank| **rank == 0).count();
    }
    assert!(losses > 10, "{losses} losses");
}

/// The phase during an event is the one before it.
#[test]
fn an_event_is_told_with_the_phase_before_it() {
    let (diary, _) = diary(ALL_LOSSES, (30, 15), None, losing_every(200));
    let told = diary.iter().filter_map(|(_, told)| match told {
        Callback::Event(event, phase) => Some((*event, *phase)),
        _ => None,
    });
    let events: Vec<_> = told.collect();
    let pair = [(Event::LossRecovery, Phase::Disorder), (Event::Recovered, Phase::Recovery)];
    assert!(events.len() > 20 && events.chunks(2).all(|chunk| chunk == &pair[..chunk.len()]), "{events:?}");
}

/// What was noted when a packet left comes back with it.
#[test]
fn a_lost_packet_comes_with_what_was_noted_at_its_sending() {
    let (diary, _) = diary(ALL_LOSSES, (30, 30), None, losing_every(200));
    let mut total = 0;
    let mut delivered = 0;
    for (_, told) in &diary {
        match told {
            Callback::Ack(ack, ..) => delivered = ack.delivered,
            Callback::Lost(lost) => {
                total += MSS;
                assert_eq!((lost.bytes, lost.lost_total), (MSS, total));
                // Thirty are in flight all the time, so that many bytes were delivered since, less the lost one.
                assert_eq!(lost.in_flight_at_send, 30 * MSS, "{lost:?}");
                assert_near((delivered - lost.prior_delivered) as f64 / MSS as f64, 30.0, 4.0);
                assert!(lost.prior_lost == total - MSS, "{lost:?}");
            }
            _ => {}
        }
    }
    assert!(total > 10 * MSS);
}

/// Each byte is delivered once, and a sample's totals agree with the ACK's.
#[test]
fn acknowledged_bytes_add_up() {
    let (diary, outcome) = diary(ALL_LOSSES, (30, 15), None, losing_every(200));
    let (mut acked, mut advanced, mut lost, mut out_of_order) = (0, 0, 0, 0);
    for (_, told) in &diary {
        let Callback::Ack(ack, facts) = told else { continue };
        (acked, advanced, lost) = (acked + ack.acked, advanced + ack.advanced, lost + ack.lost);
        assert_eq!(ack.delivered, acked);
        assert!(facts.in_flight <= ack.prior_in_flight, "an ACK puts nothing in flight");
        // What is out and not in flight was SACKed or is lost.
        assert!(facts.outstanding >= facts.in_flight, "{facts:?}");
        assert!(facts.phase != Phase::Open || facts.outstanding == facts.in_flight, "{facts:?}");
        out_of_order += u64::from(facts.outstanding > facts.in_flight);
        if let Some(sample) = ack.sample {
            assert_eq!(sample.prior_delivered + sample.delivered, ack.delivered);
            // No sample is faster than the bottleneck lets payload through.
            assert!(sample.rate().0 as f64 <= 12e6 * 1448.0 / 1500.0 * 1.001, "{:?}", sample.rate());
        }
    }
    assert!(out_of_order > 100, "{out_of_order} ACKs with a hole");
    assert!(acked - advanced < 60 * MSS, "what is SACKed will be acknowledged");
    assert!(lost / MSS >= outcome.links[0].lost_packets - 1);
    let best = diary.iter().filter_map(|(_, told)| match told {
        Callback::Ack(Ack { sample: Some(sample), .. }, ..) => Some(sample.rate().0),
        _ => None,
    });
    // 30 in flight on 41 ms: below the rate; a burst shows the rate itself.
    assert!(best.max().expect("samples") as f64 > 0.7 * 12e6 * 1448.0 / 1500.0);
}

/// A controller hears of sent and of lost packets only if it asks for them, and of rate samples unless it ignores them.
#[test]
fn what_nobody_asks_for_is_not_told() {
    let told = |needs: Needs| {
        let (diary, _) = diary(needs, (30, 15), None, losing_every(200));
        let has = |what: fn(&Callback) -> bool| diary.iter().any(|(_, told)| what(told));
        (
            has(|told| matches!(told, Callback::Sent)),
            has(|told| matches!(told, Callback::Lost(_))),
            has(|told| matches!(told, Callback::Ack(Ack { sample: Some(_), .. }, ..))),
        )
    };
    let ignoring = Needs { ignores_rate_samples: true, ..Needs::NONE };
    assert_eq!(told(Needs::NONE), (false, false, true));
    assert_eq!(told(Needs { sent_packets: true, ..Needs::NONE }), (true, false, true));
    assert_eq!(told(Needs { lost_packets: true, ..Needs::NONE }), (false, true, true));
    assert_eq!(told(ignoring), (false, false, false));
    // What a lost packet is told with is what its rate sample needs.
    assert_eq!(told(Needs { lost_packets: true, ..ignoring }), (false, true, true));
}

/// Without SACK a loss is known by duplicate ACKs and partial ones: it is told all the same.
#[test]
fn losses_are_told_without_sack_too() {
    let mut flow = constant("f", 1);
    flow.kind.tcp.sack = false;
    flow.kind.tcp.loss_detection = LossDetection::Sack;
    flow.kind.tcp.recovery = Recovery::Window;
    flow.kind.tcp.tail_loss_probe = false;
    let (diary, outcome) = diary_of(flow, ALL_LOSSES, (20, 10), None, losing_every(100));
    let told = diary.iter().filter(|(_, told)| matches!(told, Callback::Lost(_))).count() as u64;
    assert!(outcome.links[0].lost_packets > 10 && outcome.flows[0].timeouts == 0, "{:?}", outcome.flows[0]);
    assert!(told.abs_diff(outcome.links[0].lost_packets) <= 1, "{told} told, {:?}", outcome.links[0]);
}

/// A window that doubles in recovery: its owner gets it at once, the others get what PRR allows.
#[test]
fn only_who_needs_it_has_its_own_window_in_recovery() {
    let most_in_recovery = |needs| {
        let (diary, _) = diary(needs, (20, 40), None, losing_every(200));
        let in_flight = diary.iter().filter_map(|(_, told)| match told {
            Callback::Ack(_, facts) if facts.phase == Phase::Recovery => Some(facts.in_flight / MSS),
            _ => None,
        });
        in_flight.max().expect("ACKs in recovery")
    };
    assert!((38..=40).contains(&most_in_recovery(OWN_WINDOW)), "{}", most_in_recovery(OWN_WINDOW));
    // PRR sends at most one more than is delivered for each ACK.
    assert!(most_in_recovery(ALL_LOSSES) < 38, "{}", most_in_recovery(ALL_LOSSES));
}

/// And one that shrinks to four stops sending until the pipe is as small.
#[test]
fn a_shrunken_window_of_ones_own_stops_the_sender() {
    let first_recovery = |needs| {
        let (diary, _) = diary(needs, (30, 4), None, losing_every(200));
        let begins =
            diary.iter().position(|(_, told)| matches!(told, Callback::Event(Event::LossRecovery, _)));
        let after = &diary[begins.expect("a recovery")..];
        let next_sent = after.iter().skip_while(|(_, told)| !matches!(told, Callback::Sent));
        // The retransmission leaves when the window lets it.
        let acks = after.iter().take_while(|(_, told)| !matches!(told, Callback::Sent)).count();
        (acks, next_sent.count() > 0)
    };
    // PRR: the fast retransmit goes at once (the event and the ACK of it come first).
    assert_eq!(first_recovery(ALL_LOSSES), (2, true));
    // Its own window: 26 packets have to drain. The receiver acknowledges one by one at first, then each
    // millisecond (SACK compression).
    let (acks, goes_on) = first_recovery(OWN_WINDOW);
    assert!((10..=30).contains(&acks) && goes_on, "{acks}");
}

#[test]
fn a_controller_has_its_timer() {
    let timer = Some(Time::ZERO + ms(250));
    let (diary, _) = diary(ALL_LOSSES, (10, 10), timer, link("l", Rate::from_mbit(12), ms(20)));
    let rings: Vec<_> =
        diary.iter().filter(|(_, told)| *told == Callback::Timer).map(|(at, _)| at.0 / 1_000_000).collect();
    assert_eq!(rings, [250, 350, 450, 550, 650, 750, 850, 950, 1050]);
}

/// Writes down the distances between losses at each event.
struct Onlooker {
    cwnd: u64,
    seen: Arc<Mutex<Vec<(Event, u64, u64)>>>,
}

impl CongestionControl for Onlooker {
    fn control(&self) -> Control {
        Control::window(self.cwnd)
    }
    fn on_event(&mut self, cx: &mut Context, event: Event) {
        let own = &cx.subflows[cx.me];
        self.seen.lock().unwrap().push((event, own.between_losses, own.since_loss));
    }
    fn on_ack(&mut self, _cx: &mut Context, _ack: &Ack) -> Decision {
        Decision::NotDue
    }
}

/// Linux MPTCP v0.9x, mptcp_olia_set_state: a timer that expires again and again while the link is down tells of one loss.
#[test]
fn an_outage_is_one_distance_between_losses() {
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let shared = seen.clone();
    let algorithm = algorithm(move |setup| {
        let seen = shared.clone();
        Box::new(Onlooker { cwnd: 20 * setup.mss, seen })
    });
    let flow = changed(constant("f", 1), |flow| {
        flow.kind.algorithm = algorithm;
        flow.kind.settings = vec![];
    });
    let at = |s: u64| Time::ZERO + Span::from_secs(s);
    let up = Schedule::steps(vec![(at(0), true), (at(1), false), (at(4), true)]).expect("steps in order");
    let link = LinkSpec { up, ..link("l", Rate::from_mbit(12), ms(20)) };
    run(&spec(Span::from_secs(5), vec![link], vec![flow]));
    let seen = seen.lock().unwrap();
    let timeouts: Vec<_> = seen.iter().filter(|(event, ..)| *event == Event::Timeout).collect();
    assert!(timeouts.len() > 2, "{seen:?}");
    // A second of 12 Mbit/s, less the opening.
    assert!(timeouts.iter().all(|(_, between, since)| *between > 500_000 && *since == 0), "{timeouts:?}");
}
