//! BBR version 1 on a path of 10 Mbit/s and 100 ms: what the source says of each mode, and the window round by round.
//!
//! `CWNDLAB_BLESS=1 cargo test -p cwndlab-cc --test bbr1` writes the snapshot anew.
#![expect(clippy::disallowed_methods, reason = "a golden file has to be read")]

use cwndlab_cc::params::Value;
use cwndlab_cc::{
    Ack, CongestionControl, Context, Event, Facts, Phase, Rate, RateSample, Registry, Rng, Rtt, SendLimit,
    Setup, Span, SubflowView,
};
use std::fmt::Write as _;
use std::path::Path as FilePath;

const MSS: u64 = 1000;
const RTT: Span = Span::from_millis(100);
/// 125 segments in 100 ms.
const BOTTLENECK: Rate = Rate::from_mbit(10);
const BDP: u64 = 125;

/// The modes, by the numbers that the probe `mode` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// A bottleneck with a queue without end, round trip by round trip: what window and pacing let out in one is delivered
/// in the next, as fast as the bottleneck can.
struct Path {
    cc: Box<dyn CongestionControl>,
    facts: Facts,
    rng: Rng,
    rate: Rate,
    delivered: u64,
    app_limited: bool,
}

impl Path {
    fn new(settings: &[(&str, Value)]) -> Self {
        let settings: Vec<_> =
            settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let setup = Setup { mss: MSS, initial_window: 10 * MSS, initial_ssthresh: u64::MAX, paced: false };
        let registry = Registry::built_in();
        let cc = (registry.get("bbr1").expect("it ships").build)(&setup, &settings);
        let rtt = Rtt { smoothed: RTT, minimum: RTT, latest: RTT, rto: Span::from_secs(1), ..Rtt::default() };
        let facts = Facts { mss: MSS, rtt, in_flight: MSS, window_limited: true, ..Facts::default() };
        let rng = Rng::named(3, "path");
        let mut path = Self { cc, facts, rng, rate: BOTTLENECK, delivered: 0, app_limited: false };
        path.tell(|cc, cx| cc.on_sent(cx, MSS));
        path
    }

    /// The same in ProbeBW.
    fn probing(settings: &[(&str, Value)]) -> Self {
        let mut path = Self::new(settings);
        path.until(
            |path| path.mode() == Mode::ProbeBw,
            |path| {
                path.round();
            },
        );
        path
    }

    /// Goes on until that holds, which must be soon.
    fn until(&mut self, holds: impl Fn(&Self) -> bool, step: impl Fn(&mut Self)) -> u32 {
        let rounds = (0..500).find(|_| {
            step(self);
            holds(self)
        });
        rounds.expect("it holds within 500 rounds") + 1
    }

    fn tell<T>(&mut self, f: impl FnOnce(&mut dyn CongestionControl, &mut Context) -> T) -> T {
        let view = [SubflowView { mss: MSS, usable: true, srtt: RTT, ..SubflowView::default() }];
        let mut cx = Context { facts: &self.facts, subflows: &view, me: 0, rng: &mut self.rng };
        f(self.cc.as_mut(), &mut cx)
    }

    fn event(&mut self, event: Event) -> &mut Self {
        self.tell(|cc, cx| cc.on_event(cx, event));
        self.facts.phase = match event {
            Event::LossRecovery => Phase::Recovery,
            Event::Timeout => Phase::Loss,
            _ => Phase::Open,
        };
        self
    }

    fn probe(&self, name: &str) -> f64 {
        let mut values = [f64::NAN; 4];
        self.cc.probe(&mut values);
        let at = self.cc.probes().iter().position(|probe| *probe == name);
        values[at.expect("a probe of bbr1")]
    }

    fn mode(&self) -> Mode {
        let modes = [Mode::Startup, Mode::Drain, Mode::ProbeBw, Mode::ProbeRtt];
        modes[self.probe("mode") as usize]
    }

    fn window(&self) -> u64 {
        self.cc.control().cwnd / MSS
    }

    /// The pacing rate as a share of the bottleneck.
    fn pacing(&self) -> f64 {
        self.cc.control().pacing_rate.expect("it paces").0 as f64 / BOTTLENECK.0 as f64
    }

    /// What is sent in a round trip, in segments.
    fn flight(&self) -> u64 {
        let paced = self.cc.control().pacing_rate.expect("it paces").bytes_in(RTT) / MSS;
        self.window().min(paced).max(1)
    }

    fn round(&mut self) -> &mut Self {
        let flight = self.flight();
        self.round_of(flight, 0)
    }

    /// A round trip in which so many segments are delivered; the first ACK reports so many lost.
    fn round_of(&mut self, flight: u64, lost: u64) -> &mut Self {
        let took = RTT.max(self.rate.time_for(flight * MSS));
        let prior = self.delivered;
        for segment in 0..flight {
            self.facts.now += Span(took.0 / flight);
            self.delivered += MSS;
            self.facts.in_flight = flight * MSS;
            let sample = RateSample {
                delivered: flight * MSS,
                interval: took,
                prior_delivered: prior,
                app_limited: self.app_limited,
                ..RateSample::default()
            };
            let ack = Ack {
                acked: MSS,
                advanced: MSS,
                lost: if segment == 0 { lost * MSS } else { 0 },
                prior_in_flight: flight * MSS,
                delivered: self.delivered,
                rtt: Some(took),
                sample: Some(sample),
                ..Ack::default()
            };
            self.tell(|cc, cx| cc.on_ack(cx, &ack));
        }
        self
    }
}

#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}

/// `bbr_init_pacing_rate_from_rtt`: 2.885 times the initial window each RTT, one per cent less: 10 segments of 8000 bits in
/// 100 ms are 0.8 Mbit/s.
#[test]
fn the_first_window_is_paced_over_the_rtt_of_the_handshake() {
    assert_near(Path::new(&[]).pacing(), 0.08 * 2.885 * 0.99, 1e-6);
}

/// 10 segments grow to the BDP of 125 in four doublings; three rounds without a quarter more follow, and the first of the
/// flat ones is the fifth.
#[test]
fn startup_doubles_and_leaves_after_three_flat_rounds() {
    let mut path = Path::new(&[]);
    let rounds = path.until(
        |path| path.mode() != Mode::Startup,
        |path| {
            path.round();
        },
    );
    assert!((7..=9).contains(&rounds), "{rounds} rounds");
    assert_near(path.probe("bw_mbps"), 10.0, 0.01);
}

#[test]
fn drain_paces_at_the_inverse_until_a_bdp_is_in_flight() {
    let mut path = Path::new(&[]);
    path.until(
        |path| path.mode() != Mode::Startup,
        |path| {
            path.round_of(3 * BDP, 0);
        },
    );
    assert_eq!(path.mode(), Mode::Drain);
    assert_near(path.pacing(), 0.99 / 2.885, 1e-3);
    path.round_of(2 * BDP, 0);
    assert_eq!(path.mode(), Mode::Drain, "twice the BDP is in flight");
    path.round_of(BDP, 0);
    assert_eq!(path.mode(), Mode::ProbeBw);
}

/// `bbr_set_cwnd`: 2 BDP, three quanta of a millisecond (1237 bytes at 0.99, so 2 segments at least), an even number, and
/// what ACKs bring at once: 1 segment a round here.
#[test]
fn the_window_of_probe_bw_is_two_bdp_and_its_budget() {
    let mut path = Path::probing(&[("extra_acked_gain", Value::Number(0.0))]);
    let windows: Vec<_> = (0..40).map(|_| path.round().window()).collect();
    let budget = 2 * BDP + 3 * 2;
    // Two more in Up.
    assert!(windows.iter().all(|window| (budget..=budget + 4).contains(window)), "{windows:?}");
}

/// `bbr_update_bw`: a sample that the application limited counts only if it is larger.
#[test]
fn samples_that_the_application_limits_do_not_move_the_bandwidth() {
    let mut path = Path::probing(&[]);
    path.app_limited = true;
    for _ in 0..30 {
        path.round_of(BDP / 4, 0);
    }
    assert_near(path.probe("bw_mbps"), 10.0, 0.1);
    // A larger one tells of a faster path all the same.
    path.rate = Rate::from_mbit(20);
    path.round_of(2 * BDP, 0);
    assert_near(path.probe("bw_mbps"), 20.0, 0.1);
}

/// The largest of ten rounds and the one under way: after eleven slow ones nothing else is left.
#[test]
fn the_bandwidth_is_forgotten_after_its_rounds() {
    let mut path = Path::probing(&[]);
    path.round_of(BDP, 0);
    path.rate = Rate::from_mbit(5);
    for _ in 0..10 {
        path.round_of(BDP, 0);
    }
    assert_near(path.probe("bw_mbps"), 10.0, 0.1);
    path.round_of(BDP, 0);
    assert_near(path.probe("bw_mbps"), 5.0, 0.1);
}

/// Ten seconds without a lower RTT: four segments for 200 ms and a round, then the window as before.
#[test]
fn probe_rtt_cuts_the_window_to_four_and_restores_it() {
    let mut path = Path::probing(&[]);
    let before = path.round().round().window();
    path.until(
        |path| path.mode() == Mode::ProbeRtt,
        |path| {
            path.round();
        },
    );
    assert!((9.9..10.5).contains(&path.facts.now.as_secs_f64()), "at {}", path.facts.now);
    assert_eq!(path.window(), 4);
    let began = path.facts.now;
    path.until(
        |path| path.mode() != Mode::ProbeRtt,
        |path| {
            path.round_of(4, 0);
        },
    );
    let took = path.facts.now.since(began).as_millis_f64();
    assert!((300.0..=500.0).contains(&took), "{took} ms: a round to get there, 200 ms and the next ACK");
    assert!(path.window().abs_diff(before) <= 4, "{} and not {before}", path.window());
    assert_near(path.probe("bw_mbps"), 10.0, 0.1);
}

#[test]
fn an_equal_rtt_confirms_the_minimum_if_it_is_said_so() {
    let mut path = Path::probing(&[("min_rtt_refresh", Value::Word("<="))]);
    for _ in 0..300 {
        path.round_of(BDP / 2, 0);
        assert_ne!(path.mode(), Mode::ProbeRtt, "at {}", path.facts.now);
    }
}

/// `bbr_set_cwnd_to_recover_or_restore`: as much is sent as arrives for a round, then up to the target, then the old window.
#[test]
fn recovery_conserves_packets_for_a_round() {
    let mut path = Path::probing(&[]);
    path.round().round();
    let before = path.window();
    path.event(Event::LossRecovery).round_of(BDP, 10);
    assert_eq!(path.window(), BDP + 1, "in flight and just acknowledged");
    path.round_of(BDP, 0);
    assert!(path.window() > BDP + 100, "slow start up to the target: {}", path.window());
    path.event(Event::Recovered).round();
    assert!(path.window().abs_diff(before) <= 4, "{} and not {before}", path.window());
}

/// `prev_ca_state` is that of the last ACK: a recovery that begins with the ACK that ended another one conserves nothing
/// again. At a random loss of 5 % recoveries follow each other so without end.
#[test]
fn recoveries_that_follow_at_once_are_one() {
    let window_after = |ack_between: bool| {
        let mut path = Path::probing(&[]);
        path.round().event(Event::LossRecovery).round_of(BDP, 10).round_of(BDP, 0);
        let grown = path.window();
        path.event(Event::Recovered);
        if ack_between {
            path.round_of(1, 0);
        }
        path.event(Event::LossRecovery).round_of(1, 0);
        (grown, path.window())
    };
    let (grown, at_once) = window_after(false);
    assert!(at_once >= grown, "{at_once} and not {grown}");
    let (grown, after_an_ack) = window_after(true);
    assert!(after_an_ack < grown, "{after_an_ack} is in flight, of a window of {grown}");
}

/// RFC 5681's window of one segment, four with the next ACK, and the bandwidth is what it was: after ns-3.37's BBR had timed
/// out it stayed at a fraction of the rate for good.
#[test]
fn a_timeout_leaves_the_model_alone() {
    let mut path = Path::probing(&[]);
    path.round();
    let before = path.window();
    path.event(Event::Timeout);
    assert_eq!(path.window(), 1);
    path.round_of(1, 0);
    assert_eq!(path.window(), 4);
    path.event(Event::Recovered).round_of(1, 0);
    assert!(path.window().abs_diff(before) <= 4, "{} and not {before}", path.window());
    assert_near(path.probe("bw_mbps"), 10.0, 0.1);
    assert!(path.round().pacing() > 0.7);
}

/// `bbr_undo_cwnd` leaves the window as it is, and `bbr_set_cwnd` does nothing for an ACK that delivers nothing, such as a
/// DSACK alone: the next one that delivers something brings the window back.
#[test]
fn an_undo_restores_the_window_with_the_next_ack() {
    let mut path = Path::probing(&[]);
    path.round();
    let before = path.window();
    path.event(Event::LossRecovery).round_of(1, 0);
    let cut = path.window();
    assert!(cut < before, "{cut} of {before}");
    path.event(Event::Undo).event(Event::Recovered);
    assert_eq!(path.window(), cut);
    path.round_of(0, 0);
    assert_eq!(path.window(), cut);
    path.round_of(1, 0);
    assert!(path.window().abs_diff(before) <= 4, "{} and not {before}", path.window());
}

/// `bbr_cwnd_event`: a restart paces at the bandwidth, whatever phase the cycle was in.
#[test]
fn after_a_silence_it_paces_at_the_bandwidth() {
    let mut path = Path::probing(&[]);
    path.until(
        |path| path.probe("pacing_gain") == 1.25,
        |path| {
            path.round();
        },
    );
    (path.facts.limited_by, path.facts.in_flight) = (SendLimit::Application, MSS);
    path.facts.now += Span::from_secs(3);
    path.tell(|cc, cx| cc.on_sent(cx, MSS));
    assert_near(path.pacing(), 0.99, 0.01);
}

/// A policer drops a fifth at a steady rate. The paper of 2016 keeps its bandwidth; Linux takes the policer's rate and
/// probes no more.
#[test]
fn a_policer_is_found() {
    for (detection, kept) in [(true, 5.0), (false, 10.0)] {
        let mut path = Path::probing(&[("policer_detection", Value::Flag(detection))]);
        path.rate = Rate::from_mbit(5);
        let mut lost = 0;
        for _ in 0..9 {
            lost += 30 * MSS;
            let told = cwndlab_cc::Lost { lost_total: lost, ..cwndlab_cc::Lost::default() };
            path.tell(|cc, cx| cc.on_lost(cx, &told));
            path.round_of(BDP, 30);
        }
        assert_near(path.probe("bw_mbps"), kept, 0.2);
        assert!(!detection || path.probe("pacing_gain") == 1.0);
    }
}

/// What happens after a round.
fn script(round: u32) -> &'static str {
    match round {
        30 => "loss of 10",
        50 => "timeout",
        70 => "twice the rate",
        140 => "half of that",
        _ => "",
    }
}

fn snapshot() -> String {
    let mut path = Path::new(&[]);
    let mut text = String::from(
        "# bbr1, defaults\n# 10 Mbit/s, 100 ms, segments of 1000 bytes: a BDP of 125; initial window 10 segments\n\
         # round  window [segments]  in flight [segments]  bandwidth [Mbit/s]  pacing gain  mode  then\n",
    );
    for round in 1..=180 {
        let flight = path.flight();
        path.round();
        let [bandwidth, gain] = ["bw_mbps", "pacing_gain"].map(|name| path.probe(name));
        let mode = ["Startup", "Drain", "ProbeBW", "ProbeRTT"][path.mode() as usize];
        let line = format!(
            "{round:4} {:6} {flight:6} {bandwidth:7.2} {gain:6.3} {mode:8} {}",
            path.window(),
            script(round)
        );
        let _ = writeln!(text, "{}", line.trim_end());
        match script(round) {
            "loss of 10" => {
                path.event(Event::LossRecovery).round_of(BDP, 10).event(Event::Recovered);
            }
            "timeout" => {
                path.event(Event::Timeout).round_of(1, 0).event(Event::Recovered);
            }
            "twice the rate" => path.rate = Rate::from_mbit(20),
            "half of that" => path.rate = BOTTLENECK,
            _ => {}
        }
    }
    text
}

#[test]
fn the_window_round_by_round() {
    let file = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("tests/rounds/bbr1.txt");
    let text = snapshot();
    if std::env::var_os("CWNDLAB_BLESS").is_some() {
        std::fs::write(&file, text).expect("the golden file can be written");
        return;
    }
    let golden = std::fs::read_to_string(&file).expect("a golden file; CWNDLAB_BLESS=1 writes it");
    let differs = text.lines().zip(golden.lines()).find(|(ours, golden)| ours != golden);
    assert_eq!(differs, None, "(now, golden); if it is meant to be so, CWNDLAB_BLESS=1");
    assert_eq!(text.lines().count(), golden.lines().count());
}
