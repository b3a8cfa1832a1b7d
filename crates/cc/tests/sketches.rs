//! Proof of the contract by sketches: controllers that do not ship fit it without a special case. A model-based one (BBR's
//! shape) and a steered one (an agent decides).
//!
//! `crates/sim/tests/contract.rs` and `outside_agent.rs` run the same sketches in the simulator.

mod sketch {
    pub mod bbr;
    #[allow(dead_code, reason = "what only the simulator's tests look at")]
    pub mod steered;
}

use cwndlab_cc::testing::Sender;
use cwndlab_cc::{
    Ack, CongestionControl, Context, Decision, Event, Facts, Lost, Phase, Rate, RateSample, Rng, Rtt, Setup,
    Span, SubflowView, Time,
};
use sketch::bbr::{Bbr, Mode, Seen};
use sketch::steered::{Log, Pilot, Steered};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

const MSS: u64 = 1000;
const SETUP: Setup = Setup { mss: MSS, initial_window: 10 * MSS, initial_ssthresh: u64::MAX, paced: false };
const RTT: Span = Span::from_millis(100);

// ---------------------------------------------------------------------------------------------------------------
// BBR's shape
// ---------------------------------------------------------------------------------------------------------------

/// A path of 10 Mbit/s and 100 ms (a BDP of 125 kB), seen by a controller that is told what a transport would tell.
struct Path {
    bbr: Bbr,
    seen: Arc<Seen>,
    facts: Facts,
    rng: Rng,
    delivered: u64,
    lost: u64,
}

const BOTTLENECK: Rate = Rate::from_mbit(10);

impl Path {
    fn new() -> Self {
        let seen = Arc::new(Seen::default());
        let rtt = Rtt { smoothed: RTT, minimum: RTT, latest: RTT, rto: Span::from_secs(1), ..Rtt::default() };
        let facts = Facts { mss: MSS, rtt, window_limited: true, ..Facts::default() };
        let bbr = Bbr::new(&SETUP, seen.clone());
        Self { bbr, seen, facts, rng: Rng::named(3, "path"), delivered: 0, lost: 0 }
    }

    fn bdp() -> u64 {
        BOTTLENECK.bytes_in(RTT)
    }

    /// One round trip: what the window and the pacing rate let out is delivered, the bottleneck willing.
    fn round(&mut self) {
        let control = self.bbr.control();
        let paced = control.pacing_rate.map_or(u64::MAX, |rate| rate.bytes_in(RTT));
        let in_flight = control.cwnd.min(paced.max(MSS));
        let queue = in_flight.saturating_sub(Self::bdp());
        let rtt = RTT + BOTTLENECK.time_for(queue);
        (self.facts.rtt.latest, self.facts.rtt.smoothed) = (rtt, rtt);
        let prior = self.delivered;
        let packets = (in_flight / MSS).max(1);
        for _ in 0..packets {
            self.facts.now += Span(rtt.0 / packets);
            self.delivered += MSS;
            self.facts.in_flight = in_flight;
            let sample = RateSample {
                delivered: in_flight,
                interval: rtt,
                prior_delivered: prior,
                in_flight_at_send: in_flight,
                ..RateSample::default()
            };
            let ack = Ack {
                acked: MSS,
                advanced: MSS,
                delivered: self.delivered,
                rtt: Some(rtt),
                sample: Some(sample),
                ..Ack::default()
            };
            self.tell(|cc, cx| cc.on_ack(cx, &ack));
        }
        if self.bbr.next_timer().is_some_and(|at| at <= self.facts.now) {
            self.tell(|cc, cx| cc.on_timer(cx));
        }
    }

    /// So many packets of a flight are lost.
    fn lose(&mut self, packets: u64, in_flight: u64) {
        let prior_lost = self.lost;
        for _ in 0..packets {
            self.lost += MSS;
            let lost = Lost {
                bytes: MSS,
                in_flight_at_send: in_flight,
                prior_delivered: self.delivered,
                prior_lost,
                lost_total: self.lost,
                app_limited: false,
            };
            self.tell(|cc, cx| cc.on_lost(cx, &lost));
        }
        self.tell(|cc, cx| cc.on_event(cx, Event::LossRecovery));
        self.facts.phase = Phase::Recovery;
    }

    fn tell<T>(&mut self, f: impl FnOnce(&mut Bbr, &mut Context) -> T) -> T {
        let view = [SubflowView { mss: MSS, usable: true, srtt: RTT, ..SubflowView::default() }];
        let mut cx = Context { facts: &self.facts, subflows: &view, me: 0, rng: &mut self.rng };
        f(&mut self.bbr, &mut cx)
    }

    fn startup(mut self) -> Self {
        while self.bbr.mode != Mode::Cruise {
            self.round();
        }
        self
    }
}

#[test]
fn bbr_finds_the_rate_by_samples_and_leaves_startup_when_it_no_longer_grows() {
    let path = Path::new().startup();
    let rate = path.bbr.max_rate.0 as f64 / BOTTLENECK.0 as f64;
    assert!((0.98..1.02).contains(&rate), "{rate} of the bottleneck");
    assert!(path.seen.rounds.load(Relaxed) < 20, "{} rounds", path.seen.rounds.load(Relaxed));
    let control = path.bbr.control();
    assert_eq!(control.pacing_rate, Some(path.bbr.max_rate.scaled(0.99)), "it cruises at its rate");
    assert!(control.cwnd <= 2 * Path::bdp() + MSS);
}

#[test]
fn bbr_learns_from_the_flight_of_a_lost_packet() {
    let mut path = Path::new().startup();
    let flight = 2 * Path::bdp();
    // One of 250 is below 2 %.
    path.lose(1, flight);
    assert_eq!(path.bbr.inflight_hi, u64::MAX);
    path.lose(10, flight);
    assert_eq!(path.bbr.inflight_hi, flight);
    assert_eq!(path.seen.lost_bytes.load(Relaxed), 11 * MSS);
    // Its own window, recovery or not.
    path.round();
    assert!(path.bbr.control().cwnd <= flight * 85 / 100);
}

#[test]
fn bbr_asks_for_a_timer_and_for_chance() {
    let mut path = Path::new().startup();
    let mut probes = Vec::new();
    let mut least_window = u64::MAX;
    for _ in 0..200 {
        let before = path.seen.probes_up.load(Relaxed);
        path.round();
        if path.seen.probes_up.load(Relaxed) > before {
            probes.push(path.facts.now);
        }
        if path.bbr.mode == Mode::ProbeRtt {
            least_window = least_window.min(path.bbr.control().cwnd);
        }
        // The minimum is never seen again, so ProbeRTT comes.
        path.facts.rtt.minimum = RTT;
    }
    assert!(probes.len() >= 3, "{} probes in 20 s", probes.len());
    let waits: Vec<_> = probes.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(waits.windows(2).any(|pair| pair[0] != pair[1]), "waits are drawn: {waits:?}");
    assert_eq!(path.bbr.needs().lost_packets, path.bbr.needs().own_window_in_recovery);
}

// ---------------------------------------------------------------------------------------------------------------
// Steered
// ---------------------------------------------------------------------------------------------------------------

#[test]
fn a_steered_controller_asks_once_a_window_and_the_action_is_in_force_at_once() {
    let log = Arc::new(Mutex::new(Log::default()));
    let mut sender = Sender::new(Box::new(Steered::new(&SETUP, Pilot::Outside, log.clone())), MSS, RTT);
    let mut decisions = 0;
    for _ in 0..100 {
        sender.wait(Span::from_millis(1));
        if sender.ack(1) == Decision::Due {
            decisions += 1;
            let before = sender.cwnd_segments();
            let agent = sender.cc.agent().expect("a steered controller has one");
            let mut observation = vec![0.0; agent.observation_len()];
            let reward = agent.observe(&mut observation);
            assert_eq!((observation[0], reward), (before as f32, (before * MSS as f64) as f32));
            agent.act(2);
            assert_eq!(sender.cwnd_segments(), before + 1.0);
        }
    }
    // 10 + 11 + ... + 16 = 91 segments acknowledged.
    assert_eq!(decisions, 7);
    assert_eq!(log.lock().unwrap().asked.first(), Some(&(Time::ZERO + Span::from_millis(10))));
}

#[test]
fn an_action_out_of_range_is_the_last_one() {
    let mut cc = Steered::new(&SETUP, Pilot::Outside, Arc::default());
    let agent = cc.agent().expect("a steered controller has one");
    assert_eq!(agent.actions(), 3);
    agent.act(99);
    assert_eq!(cc.control().cwnd, 11 * MSS);
}
