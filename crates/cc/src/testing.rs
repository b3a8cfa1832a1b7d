//! A sender without a network, so that a test of a window rule reads as a story: send, acknowledge, lose.

use crate::algorithm::{Algorithm, Spaces};
use crate::contract::{
    Ack, CongestionControl, Context, Decision, Event, Facts, Phase, Rtt, Setup, SubflowView,
};
use crate::params::Value;
use crate::units::Span;
use cwndlab_learn::Rng;

/// A fake transport that keeps the window full and calls a controller in the contract's order.
pub struct Sender {
    /// The controller under test.
    pub cc: Box<dyn CongestionControl>,
    /// The facts that it is given.
    pub facts: Facts,
    /// The subflows that it sees.
    pub subflows: Vec<SubflowView>,
    /// The index of the controller's own subflow.
    pub me: usize,
    delivered: u64,
    rng: Rng,
}

impl Sender {
    /// A sender at time zero with this segment size and round-trip time.
    #[must_use]
    pub fn new(cc: Box<dyn CongestionControl>, mss: u64, rtt: Span) -> Self {
        let rtt =
            Rtt { smoothed: rtt, variance: Span::ZERO, minimum: rtt, latest: rtt, rto: Span::from_secs(1) };
        let facts = Facts { mss, rtt, window_limited: true, ..Facts::default() };
        Self {
            cc,
            facts,
            subflows: vec![SubflowView::default()],
            me: 0,
            delivered: 0,
            rng: Rng::named(0, "testing"),
        }
    }

    /// The window in segments.
    #[must_use]
    pub fn cwnd_segments(&self) -> f64 {
        self.cc.control().cwnd as f64 / self.facts.mss as f64
    }

    /// Lets time pass.
    pub fn wait(&mut self, span: Span) -> &mut Self {
        self.facts.now += span;
        self
    }

    /// One ACK for this many segments, with a full window; an action of a built-in policy takes effect at once.
    pub fn ack(&mut self, segments: u64) -> Decision {
        let bytes = segments * self.facts.mss;
        self.delivered += bytes;
        let cwnd = self.cc.control().cwnd;
        self.facts.flight_size = cwnd;
        self.facts.in_flight = cwnd.saturating_sub(bytes);
        self.facts.outstanding = self.facts.in_flight;
        let ack = Ack {
            acked: bytes,
            advanced: bytes,
            prior_in_flight: cwnd,
            delivered: self.delivered,
            rtt: Some(self.facts.rtt.latest),
            ..Ack::default()
        };
        let step = self.call(|cc, cx| cc.on_ack(cx, &ack));
        if let (Decision::Made(action), Some(agent)) = (step, self.cc.agent()) {
            agent.act(action);
        }
        step
    }

    /// One round trip: a window's worth of ACKs, each for `segments_per_ack`, spread evenly over the RTT.
    pub fn round(&mut self, segments_per_ack: u64) -> &mut Self {
        let acks = (self.cc.control().cwnd / self.facts.mss / segments_per_ack).max(1);
        for _ in 0..acks {
            self.wait(Span(self.facts.rtt.latest.0 / acks));
            self.ack(segments_per_ack);
        }
        self
    }

    /// A loss, repaired at once.
    pub fn lose(&mut self) -> &mut Self {
        self.event(Event::LossRecovery);
        self.facts.phase = Phase::Recovery;
        self.event(Event::Recovered);
        self.facts.phase = Phase::Open;
        self
    }

    /// Reports an event to the controller, with a full window.
    pub fn event(&mut self, event: Event) -> &mut Self {
        self.facts.flight_size = self.cc.control().cwnd;
        self.facts.outstanding = self.facts.flight_size;
        self.call(|cc, cx| cc.on_event(cx, event));
        if event == Event::Timeout {
            self.facts.phase = Phase::Loss;
        }
        self
    }

    /// The value of a probe.
    ///
    /// # Panics
    /// If the controller has no probe of this name: a mistake in the test.
    #[must_use]
    pub fn probe(&self, name: &str) -> f64 {
        let names = self.cc.probes();
        let mut values = vec![f64::NAN; names.len()];
        self.cc.probe(&mut values);
        let at = names.iter().position(|probe| *probe == name);
        values[at.unwrap_or_else(|| panic!("no probe {name} among {names:?}"))]
    }

    /// Calls the controller with the facts as they stand.
    pub fn call<T>(&mut self, f: impl FnOnce(&mut dyn CongestionControl, &mut Context) -> T) -> T {
        let mut cx =
            Context { facts: &self.facts, subflows: &self.subflows, me: self.me, rng: &mut self.rng };
        f(self.cc.as_mut(), &mut cx)
    }
}

/// Makes a controller with these settings and compares its own answers with what its algorithm declares.
///
/// # Panics
/// If they differ.
pub fn check_declaration(algorithm: &Algorithm, settings: &[(String, Value)]) {
    let setup = Setup { mss: 1448, initial_window: 14_480, initial_ssthresh: u64::MAX, paced: false };
    let mut cc = (algorithm.build)(&setup, settings);
    let declared = algorithm.declaration(settings);
    let said = |what| format!("{} {settings:?}: {what}", algorithm.name);
    assert_eq!(declared.needs, cc.needs(), "{}", said("needs"));
    assert_eq!(declared.probes, cc.probes(), "{}", said("probes"));
    let agent = cc.agent();
    let spaces = agent.map(|agent| Spaces { observation: agent.observation_len(), actions: agent.actions() });
    assert_eq!(declared.spaces, spaces, "{}", said("spaces"));
}
