//! Model-based random tests: whatever a transport may tell a controller, in whatever order, with whatever parameters
//! are allowed, one set of invariants holds for every algorithm that ships.
//!
//! Overflow is an invariant too: the test profile checks arithmetic, so an overflow panics.

use cwndlab_cc::params::{Allowed, ParamSpec, Value};
use cwndlab_cc::{
    Ack, Algorithm, CongestionControl, Context, Event, Facts, Lost, Phase, RateSample, Registry, Rng, Rtt,
    SendLimit, Setup, Span, SubflowView, Time,
};
use proptest::prelude::*;

/// Values that a probe may lack: there is no threshold before the first reduction, no epoch outside congestion
/// avoidance, no RTT before the first sample, no peak ratio where nothing has risen, no bound before the first loss, neither a
/// difference nor a count and an action before the first decision, no window of CUBIC on a subflow that runs LIA.
const MAY_BE_MISSING: &[&str] = &[
    "ssthresh_bytes",
    "k_s",
    "base_rtt_ms",
    "diff_segments",
    "action",
    "reward",
    "loss",
    "mean_q",
    "cnt_segments",
    "min_rtt_ms",
    "bw_lo_mbps",
    "inflight_hi_bytes",
    "inflight_lo_bytes",
    "rtprop_ms",
    "reference_ms",
    "inflight_longterm_bytes",
    "inflight_shortterm_bytes",
    "rtt_peak_ratio",
    "cubic_window_segments",
];
/// Controllers whose source departs from RFC 5681's loss window; each says so among its departures.
const NO_LOSS_WINDOW: &[&str] = &["constant"];

/// Controllers whose window grows whenever an agent says so; each says so among its departures.
const GROWS_AT_WILL: &[&str] = &["steered"];

/// Controllers whose window comes back with the next ACK after an undo, as in their source.
const RESTORES_LATER: &[&str] = &["bbr1"];

/// Controllers whose window is scaled by what their siblings show.
const SCALED_BY_SIBLINGS: &[&str] = &["dbac"];

/// What may happen to a sender.
#[derive(Clone, Debug)]
enum Operation {
    Wait(Span),
    /// A segment leaves: one of a full window, or the first into an empty path.
    Send {
        alone: bool,
    },
    /// So many segments acknowledged in order.
    Ack(u64),
    /// So many segments SACKed, nothing in order.
    SackOnly(u64),
    Lose,
    Recovered,
    Timeout,
    Undo,
    EcnReduction,
    IdleRestart(Span),
    RttChange(Span),
    AppLimited(bool),
    /// The controller's own timer, if it wants one.
    Timer,
    /// Another subflow of the connection now shows so many segments at this RTT, or is gone.
    Sibling {
        segments: u64,
        rtt: Span,
        usable: bool,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    let span = |most: u64| (0..=most, 0u32..4).prop_map(|(ns, shift)| Span(ns >> (8 * shift)));
    prop_oneof![
        6 => span(100_000_000_000).prop_map(Operation::Wait),
        4 => any::<bool>().prop_map(|alone| Operation::Send { alone }),
        20 => (1u64..=2000).prop_map(Operation::Ack),
        4 => (1u64..=100).prop_map(Operation::SackOnly),
        3 => Just(Operation::Lose),
        4 => Just(Operation::Recovered),
        2 => Just(Operation::Timeout),
        2 => Just(Operation::Undo),
        2 => Just(Operation::EcnReduction),
        1 => span(10_000_000_000_000).prop_map(Operation::IdleRestart),
        2 => span(20_000_000_000).prop_map(Operation::RttChange),
        2 => any::<bool>().prop_map(Operation::AppLimited),
        2 => Just(Operation::Timer),
        2 => (1u64..=100_000, span(20_000_000_000), any::<bool>())
            .prop_map(|(segments, rtt, usable)| Operation::Sibling { segments, rtt, usable }),
    ]
}

/// A value that is allowed: the ends of the range are as likely as all between them.
fn allowed(spec: &ParamSpec, die: u64) -> Value {
    let share = (die >> 2) as f64 / (u64::MAX >> 2) as f64;
    let between = |low: u64, high: u64| match die % 4 {
        0 => low,
        1 => high,
        _ => low + ((high - low) as f64 * share) as u64,
    };
    match spec.allowed {
        Allowed::Flag => Value::Flag(die.is_multiple_of(2)),
        Allowed::Word(words) => Value::Word(words[die as usize % words.len()]),
        Allowed::File(_) => spec.default.clone(),
        // Large networks and batches behave as small ones do, only later.
        Allowed::Count(low, high) if matches!(spec.name, "layers" | "nodes" | "batch" | "warmup") => {
            Value::Count(between(low, high.min(16)))
        }
        Allowed::Count(low, high) => Value::Count(between(low, high.min(10_000_000))),
        Allowed::Span(low, high) => Value::Span(Span(between(low.0, high.0))),
        Allowed::Number(low, high) => Value::Number(match die % 4 {
            0 => low,
            1 => high,
            _ => low + (high - low) * share,
        }),
    }
}

/// A transport that tells a controller what the contract lets it tell.
struct Model {
    algorithm: Algorithm,
    cc: Box<dyn CongestionControl>,
    facts: Facts,
    view: SubflowView,
    sibling: Option<SubflowView>,
    rng: Rng,
    delivered: u64,
    lost: u64,
    /// The window before the reduction that an undo would take back.
    before_reduction: Option<u64>,
}

impl Model {
    fn new(algorithm: &Algorithm, setup: &Setup, dice: &[u64]) -> Self {
        let settings: Vec<_> = algorithm
            .params
            .iter()
            .zip(dice)
            .map(|(spec, die)| (spec.name.to_owned(), allowed(spec, *die)))
            .collect();
        for ((name, value), spec) in settings.iter().zip(algorithm.params.iter()) {
            assert!(spec.allowed.admits(value), "{name} = {value}");
        }
        let facts = Facts { mss: setup.mss, window_limited: true, ..Facts::default() };
        Self {
            cc: (algorithm.build)(setup, &settings),
            algorithm: algorithm.clone(),
            facts,
            view: SubflowView { mss: setup.mss, usable: true, ..SubflowView::default() },
            sibling: None,
            rng: Rng::named(7, "model"),
            delivered: 0,
            lost: 0,
            before_reduction: None,
        }
    }

    fn cwnd(&self) -> u64 {
        self.cc.control().cwnd
    }

    fn call<T>(&mut self, f: impl FnOnce(&mut dyn CongestionControl, &mut Context) -> T) -> T {
        self.view.window = self.cc.control().shown_window;
        self.view.srtt = self.facts.rtt.smoothed;
        self.view.since_loss = self.delivered;
        let views: Vec<_> = std::iter::once(self.view).chain(self.sibling).collect();
        let mut cx = Context { facts: &self.facts, subflows: &views, me: 0, rng: &mut self.rng };
        f(self.cc.as_mut(), &mut cx)
    }

    /// A window's worth is in flight before each event.
    fn fill(&mut self) {
        let window = self.cwnd();
        (self.facts.flight_size, self.facts.in_flight) = (window, window);
    }

    fn apply(&mut self, operation: &Operation) {
        self.fill();
        let open = matches!(self.facts.phase, Phase::Open | Phase::Disorder);
        match *operation {
            Operation::Wait(span) => self.facts.now += span,
            Operation::Send { alone } => self.send(alone),
            Operation::Ack(segments) => self.ack(segments, true),
            Operation::SackOnly(segments) => self.ack(segments, false),
            Operation::Lose if open => {
                self.tell_lost();
                self.reduce(Event::LossRecovery, Phase::Recovery);
            }
            Operation::EcnReduction if open => self.reduce(Event::EcnReduction, Phase::Recovery),
            Operation::Timeout => {
                self.tell_lost();
                self.reduce(Event::Timeout, Phase::Loss);
            }
            Operation::Recovered if !open => self.recover(),
            Operation::Undo => self.undo(),
            Operation::IdleRestart(idle) if open => {
                self.facts.now += idle;
                self.facts.in_flight = 0;
                let before = self.cwnd();
                self.call(|cc, cx| cc.on_event(cx, Event::IdleRestart(idle)));
                assert!(self.cwnd() <= before, "silence does not open a window");
            }
            Operation::RttChange(rtt) => self.change_rtt(rtt),
            Operation::AppLimited(limited) => {
                self.facts.window_limited = !limited;
                self.facts.limited_by = if limited { SendLimit::Application } else { SendLimit::Window };
            }
            Operation::Timer => {
                if let Some(at) = self.cc.next_timer() {
                    self.facts.now = self.facts.now.max(at);
                    self.call(|cc, cx| cc.on_timer(cx));
                }
            }
            Operation::Sibling { segments, rtt, usable } => {
                let mss = self.facts.mss;
                let (since_loss, between_losses) = (segments * mss / 3, self.delivered);
                let window = segments * mss;
                self.sibling =
                    Some(SubflowView { window, srtt: rtt, since_loss, between_losses, mss, usable });
            }
            Operation::Lose | Operation::EcnReduction | Operation::Recovered | Operation::IdleRestart(_) => {}
        }
    }

    fn send(&mut self, alone: bool) {
        let mss = self.facts.mss;
        if alone {
            self.facts.in_flight = mss;
        }
        self.call(|cc, cx| cc.on_sent(cx, mss));
    }

    fn ack(&mut self, segments: u64, in_order: bool) {
        let mss = self.facts.mss;
        let before = self.cwnd();
        let acked = (segments * mss).min(before).max(mss);
        self.delivered += acked;
        self.facts.in_flight = before.saturating_sub(acked);
        if !in_order && self.facts.phase == Phase::Open {
            self.facts.phase = Phase::Disorder;
        }
        let latest = self.facts.rtt.latest;
        let ack = Ack {
            acked,
            advanced: if in_order { acked } else { 0 },
            prior_in_flight: before,
            delivered: self.delivered,
            rtt: (latest > Span::ZERO).then_some(latest),
            sample: (latest > Span::ZERO).then_some(RateSample {
                delivered: before,
                interval: latest,
                prior_delivered: self.delivered.saturating_sub(before),
                in_flight_at_send: before,
                ..RateSample::default()
            }),
            ..Ack::default()
        };
        self.call(|cc, cx| cc.on_ack(cx, &ack));
        let at_will = self.cc.needs().own_window_in_recovery || GROWS_AT_WILL.contains(&self.algorithm.name);
        if self.facts.phase == Phase::Recovery && !at_will {
            assert!(self.cwnd() <= before, "a window grew in recovery");
        }
        if !self.facts.window_limited && !at_will {
            assert!(self.cwnd() <= before, "a window grew that was not the limit");
        }
    }

    fn tell_lost(&mut self) {
        let mss = self.facts.mss;
        self.lost += mss;
        self.facts.in_flight = self.facts.in_flight.saturating_sub(mss);
        if self.cc.needs().lost_packets {
            let lost = Lost {
                bytes: mss,
                in_flight_at_send: self.facts.flight_size,
                prior_delivered: self.delivered,
                prior_lost: self.lost - mss,
                lost_total: self.lost,
                app_limited: self.facts.limited_by == SendLimit::Application,
            };
            self.call(|cc, cx| cc.on_lost(cx, &lost));
        }
    }

    fn reduce(&mut self, event: Event, phase: Phase) {
        let before = self.cwnd();
        let first = matches!(self.facts.phase, Phase::Open | Phase::Disorder);
        self.call(|cc, cx| cc.on_event(cx, event));
        if first {
            // A mark is never spurious.
            self.before_reduction = (event != Event::EcnReduction).then_some(before);
        }
        self.facts.phase = phase;
        let mss = self.facts.mss;
        assert!(self.cwnd() <= before.max(2 * mss), "{event:?} opened the window");
        let loss_window = event == Event::Timeout && !NO_LOSS_WINDOW.contains(&self.algorithm.name);
        assert!(!loss_window || self.cwnd() == mss, "a timeout leaves one segment");
    }

    fn undo(&mut self) {
        let now = self.cwnd();
        self.call(|cc, cx| cc.on_event(cx, Event::Undo));
        // A scaled window comes back scaled by what holds now.
        let scaled = SCALED_BY_SIBLINGS.contains(&self.algorithm.name) && self.sibling.is_some();
        let later = RESTORES_LATER.contains(&self.algorithm.name);
        let restored = self.before_reduction.take().unwrap_or(0);
        let least = if scaled || later { now } else { restored.max(now) };
        assert!(self.cwnd() >= least, "undo restores {restored} bytes, not {}", self.cwnd());
        if !matches!(self.facts.phase, Phase::Open | Phase::Disorder) {
            self.recover();
        }
    }

    fn recover(&mut self) {
        self.call(|cc, cx| cc.on_event(cx, Event::Recovered));
        self.facts.phase = Phase::Open;
        // A window that is a model's comes back with the end of the repair, and then follows the model.
        if self.cc.needs().own_window_in_recovery {
            self.before_reduction = None;
        }
    }

    fn change_rtt(&mut self, rtt: Span) {
        let old = self.facts.rtt;
        let first = old.minimum == Span::ZERO;
        let smoothed = if first { rtt } else { Span(old.smoothed.0 / 8 * 7 + rtt.0 / 8) };
        let minimum = if first { rtt } else { old.minimum.min(rtt) };
        let rto = smoothed + Span::from_millis(200);
        self.facts.rtt = Rtt { smoothed, variance: Span(rtt.0 / 2), minimum, latest: rtt, rto };
    }

    /// What holds for every algorithm at every time.
    fn check(&self) {
        let control = self.cc.control();
        assert_eq!(control, self.cc.control(), "control() is pure");
        assert!(control.cwnd >= self.facts.mss, "a window of {} bytes", control.cwnd);
        assert!(control.cwnd < 1 << 50, "a window of {} bytes", control.cwnd);
        assert!(control.shown_window > 0, "siblings divide by what is shown");
        assert!(control.pacing_rate.is_none_or(|rate| rate.0 > 0), "paced at zero");
        let names = self.cc.probes();
        // A value that nobody wrote would stay infinite.
        let mut values = vec![f64::INFINITY; names.len()];
        self.cc.probe(&mut values);
        for (name, value) in names.iter().zip(values) {
            let missing = value.is_nan() && MAY_BE_MISSING.contains(name);
            assert!(missing || value.is_finite(), "{name} is {value}");
            if *name == "ssthresh_bytes" && !missing {
                assert!(value >= 2.0 * self.facts.mss as f64, "{name} is {value}");
            }
        }
        assert!(self.cc.next_timer().is_none_or(|at| at > Time::ZERO), "a timer before the run");
    }
}

fn setup() -> impl Strategy<Value = Setup> {
    (64u64..=9000, 1u64..=1000, any::<bool>()).prop_map(|(mss, segments, paced)| Setup {
        mss,
        initial_window: mss * segments,
        initial_ssthresh: u64::MAX,
        paced,
    })
}

/// As many as any algorithm has parameters.
const DICE: usize = 40;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_whatever_happens(
        setup in setup(),
        dice in prop::collection::vec(any::<u64>(), DICE),
        operations in prop::collection::vec(operation(), 1..200),
    ) {
        for algorithm in Registry::built_in().iter() {
            let mut model = Model::new(algorithm, &setup, &dice);
            model.change_rtt(Span::from_millis(50));
            model.check();
            for operation in &operations {
                model.apply(operation);
                model.check();
            }
        }
    }

    /// The same story told twice gives the same windows, to the bit.
    #[test]
    fn a_controller_is_a_function_of_what_it_is_told(
        setup in setup(),
        dice in prop::collection::vec(any::<u64>(), DICE),
        operations in prop::collection::vec(operation(), 1..60),
    ) {
        for algorithm in Registry::built_in().iter() {
            let tell = || {
                let mut model = Model::new(algorithm, &setup, &dice);
                operations.iter().map(|operation| { model.apply(operation); model.cc.control() }).collect::<Vec<_>>()
            };
            prop_assert_eq!(tell(), tell());
        }
    }
}

#[test]
fn every_default_is_allowed_and_every_departure_is_a_sentence() {
    for algorithm in Registry::built_in().iter() {
        for spec in algorithm.params.iter() {
            assert!(
                spec.allowed.admits(&spec.default),
                "{}.{} = {}",
                algorithm.name,
                spec.name,
                spec.default
            );
            assert!(!spec.meaning.is_empty() && !spec.source.is_empty(), "{}.{}", algorithm.name, spec.name);
        }
        assert!(algorithm.params.len() <= DICE, "the model has too few dice: {}", algorithm.name);
        assert!(algorithm.departures.iter().all(|departure| departure.len() > 20), "{}", algorithm.name);
    }
}
