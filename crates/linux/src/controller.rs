//! A controller of `crates/cc` that drives a socket of the kernel: translates what the kernel shows into the
//! terms of the contract.

use crate::sent::{Record, Records};
use cwndlab_cc::decisions::Weights;
use cwndlab_cc::{
    Ack, Agent, CongestionControl, Context, Decision, Event, Facts, Lost, Needs, Phase, RateSample, Rng, Rtt,
    SendLimit, Span, SubflowView, Time,
};
use cwndlab_sim::spec::FlowSpec;
use cwndlab_sim::tcp::LossDistances;
use std::collections::VecDeque;

/// What the kernel's socket shows at a callback. `struct cw_cc_facts`: times in nanoseconds, amounts in segments.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CFacts {
    now: u64,
    srtt: u64,
    rttvar: u64,
    min_rtt: u64,
    latest_rtt: u64,
    rto: u64,
    next_departure: u64,
    in_flight: u64,
    flight_size: u64,
    outstanding: u64,
    delivered: u64,
    ca_state: u32,
    limited_by: u32,
    window_limited: u8,
    app_limited: u8,
}

/// An ACK. `struct cw_cc_ack`: amounts in segments, `advanced` in bytes, times in nanoseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CAck {
    acked: u64,
    advanced: u64,
    lost: u64,
    ce: u64,
    prior_in_flight: u64,
    rtt: u64,
    sample_delivered: u64,
    sample_interval: u64,
    sample_prior_delivered: u64,
    una: u32,
    end_seq: u32,
    sample_is_app_limited: u8,
    delayed: u8,
    tail_probe: u8,
    unordered_growth: u8,
}

/// The controller's decision for the kernel (`struct cw_cc_control`). Windows are in segments, the rate is in bytes a
/// second; 0 means that there is none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CControl {
    cwnd_segments: u64,
    ssthresh_segments: u64,
    pacing_rate: u64,
}

/// `enum cw_event`, in its order.
const EVENTS: [fn(Span) -> Event; 6] = [
    |_| Event::LossRecovery,
    |_| Event::EcnReduction,
    |_| Event::Recovered,
    |_| Event::Timeout,
    |_| Event::Undo,
    Event::IdleRestart,
];

impl CFacts {
    /// When the kernel calls.
    #[must_use]
    pub fn now(&self) -> Time {
        Time(self.now)
    }

    fn phase(&self) -> Phase {
        // enum tcp_ca_state.
        match self.ca_state {
            0 => Phase::Open,
            1 => Phase::Disorder,
            2 | 3 => Phase::Recovery,
            _ => Phase::Loss,
        }
    }

    fn facts(&self, mss: u64) -> Facts {
        Facts {
            now: Time(self.now),
            mss,
            rtt: Rtt {
                smoothed: Span(self.srtt),
                variance: Span(self.rttvar),
                minimum: Span(self.min_rtt),
                latest: Span(self.latest_rtt),
                rto: Span(self.rto),
            },
            in_flight: self.in_flight * mss,
            flight_size: self.flight_size * mss,
            outstanding: self.outstanding * mss,
            phase: self.phase(),
            limited_by: match self.limited_by {
                0 => SendLimit::Window,
                1 => SendLimit::Application,
                _ => SendLimit::Receiver,
            },
            next_departure: Time(self.next_departure),
            window_limited: self.window_limited != 0,
        }
    }
}

/// A controller, and the counts that it needs but the kernel does not keep.
pub struct Controller {
    cc: Box<dyn CongestionControl>,
    needs: Needs,
    rng: Rng,
    mss: u64,
    /// The time from a decision until it takes effect, and the decisions that still wait for that.
    decision_delay: Span,
    delayed: VecDeque<(Time, u32)>,
    ssthresh_probe: Option<usize>,
    view: SubflowView,
    /// Nothing has arrived since its retransmission timer expired.
    failed: bool,
    distances: LossDistances,
    sent: Records,
    lost: u64,
    ce: u64,
}

impl Controller {
    /// Wraps this controller, for a flow or subflow of this name.
    #[must_use]
    pub fn new(cc: Box<dyn CongestionControl>, spec: &FlowSpec, name: &str, seed: u64) -> Self {
        let tcp = &spec.kind.tcp;
        Self {
            needs: cc.needs(),
            ssthresh_probe: cc.probes().iter().position(|probe| *probe == "ssthresh_bytes"),
            rng: Rng::named(seed, &format!("flow {name} cc")),
            mss: tcp.mss,
            decision_delay: spec.kind.decision_delay,
            delayed: VecDeque::new(),
            view: SubflowView { window: cc.control().shown_window, mss: tcp.mss, ..SubflowView::default() },
            failed: false,
            distances: LossDistances::default(),
            sent: Records::default(),
            lost: 0,
            ce: 0,
            cc,
        }
    }

    /// What it needs, in the bits of `enum cw_needs`.
    #[must_use]
    pub fn needs(&self) -> u32 {
        // ECN is negotiated before there is a controller: `crate::kernel` takes care of it. The kernel
        // reports every packet sent, because records and views need them; `on_sent` checks the need.
        u32::from(self.needs.own_window_in_recovery) | u32::from(self.keeps_records()) << 1
    }

    /// Whether it wants to know more of each packet sent than the kernel keeps: for the packets that are lost, and for
    /// the counts of a rate sample.
    fn keeps_records(&self) -> bool {
        self.needs.lost_packets || !self.needs.ignores_rate_samples
    }

    /// The view of this subflow that its siblings have.
    #[must_use]
    pub fn view(&self) -> SubflowView {
        self.view
    }

    /// The decision in force.
    #[must_use]
    pub fn control(&self) -> CControl {
        let control = self.cc.control();
        CControl {
            cwnd_segments: control.cwnd / self.mss,
            ssthresh_segments: self.ssthresh_segments(),
            pacing_rate: control.pacing_rate.map_or(0, |rate| rate.0 / 8),
        }
    }

    fn ssthresh_segments(&self) -> u64 {
        let Some(probe) = self.ssthresh_probe else { return 0 };
        let ssthresh = self.probed()[probe];
        // NaN: there is none.
        if ssthresh.is_nan() { 0 } else { ssthresh as u64 / self.mss }
    }

    /// The values of its probes.
    #[must_use]
    pub fn probed(&self) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.cc.probes().len()];
        self.cc.probe(&mut values);
        values
    }

    /// The weights that it has learned.
    #[must_use]
    pub fn weights(&self) -> Option<Weights> {
        self.cc.learning()?.weights()
    }

    /// Calls the controller with what it may read: `siblings` are all subflows of its connection, and this
    /// one has index `me`.
    fn call<T>(
        &mut self,
        facts: &CFacts,
        siblings: &mut [SubflowView],
        me: usize,
        f: impl FnOnce(&mut dyn CongestionControl, &mut Context) -> T,
    ) -> T {
        self.view.srtt = Span(facts.srtt);
        self.view.usable = !self.failed;
        let mut alone = [self.view];
        let (subflows, me) = if siblings.is_empty() { (&mut alone[..], 0) } else { (siblings, me) };
        subflows[me] = self.view;
        let facts = facts.facts(self.mss);
        let answer = f(self.cc.as_mut(), &mut Context { facts: &facts, subflows, me, rng: &mut self.rng });
        self.view.window = self.cc.control().shown_window;
        answer
    }

    /// Carries out a decision that has been made; returns whether an external agent must decide.
    fn is_due(&mut self, now: Time, decision: Decision) -> bool {
        if let Decision::Made(action) = decision {
            self.act(now, action);
        }
        decision == Decision::Due
    }

    /// Carries out an agent's decision, at once or after the decision delay.
    pub fn act(&mut self, now: Time, action: u32) {
        if self.decision_delay == Span::ZERO {
            self.apply(action);
        } else {
            self.delayed.push_back((now + self.decision_delay, action));
        }
    }

    fn apply(&mut self, action: u32) {
        if let Some(agent) = self.cc.agent() {
            agent.act(action);
        }
        self.view.window = self.cc.control().shown_window;
    }

    /// What an agent sees at a decision: the reward since the last one, and the observation.
    pub fn observe(&mut self) -> (f32, Vec<f32>) {
        self.shown(|agent, observation| agent.observe(observation))
    }

    /// The same at the end, where no decision follows.
    pub fn observe_end(&mut self) -> (f32, Vec<f32>) {
        self.shown(|agent, observation| agent.observe_end(observation))
    }

    fn shown(&mut self, observe: impl FnOnce(&mut dyn Agent, &mut [f32]) -> f32) -> (f32, Vec<f32>) {
        let Some(agent) = self.cc.agent() else { return (0.0, Vec::new()) };
        let mut observation = vec![0.0; agent.observation_len()];
        (observe(agent, &mut observation), observation)
    }

    /// An event that happens at most once a round trip; `idle` is the idle time before an idle restart.
    pub fn on_event(
        &mut self,
        facts: &CFacts,
        siblings: &mut [SubflowView],
        me: usize,
        event: u32,
        idle: u64,
    ) {
        let event = EVENTS[event as usize](Span(idle));
        if matches!(event, Event::LossRecovery | Event::EcnReduction | Event::Timeout) {
            LossDistances::on_loss(&mut self.view);
        }
        self.failed |= event == Event::Timeout;
        self.call(facts, siblings, me, |cc, cx| cc.on_event(cx, event));
    }

    /// Data has just been sent and is in flight.
    pub fn on_sent(
        &mut self,
        facts: &CFacts,
        siblings: &mut [SubflowView],
        me: usize,
        end_seq: u32,
        bytes: u32,
    ) {
        if self.keeps_records() {
            self.sent.insert(
                end_seq,
                Record {
                    bytes,
                    in_flight: facts.in_flight,
                    delivered: facts.delivered,
                    lost: self.lost,
                    ce: self.ce,
                    app_limited: facts.app_limited != 0,
                },
            );
        }
        let wanted = self.needs.sent_packets;
        self.call(facts, siblings, me, |cc, cx| {
            if wanted {
                cc.on_sent(cx, bytes.into());
            }
        });
    }

    /// The kernel has just marked the data from `seq` up to `end_seq` as lost: one or more segments.
    pub fn on_lost(
        &mut self,
        facts: &CFacts,
        siblings: &mut [SubflowView],
        me: usize,
        seq: u32,
        end_seq: u32,
    ) {
        for record in self.sent.within(seq, end_seq) {
            self.lost += 1;
            if !self.needs.lost_packets {
                continue;
            }
            let lost = Lost {
                bytes: record.bytes.into(),
                in_flight_at_send: record.in_flight * self.mss,
                prior_delivered: record.delivered * self.mss,
                prior_lost: record.lost * self.mss,
                lost_total: self.lost * self.mss,
                app_limited: record.app_limited,
            };
            self.call(facts, siblings, me, |cc, cx| cc.on_lost(cx, &lost));
        }
    }

    /// An ACK has been processed. Returns whether an external agent must decide.
    pub fn on_ack(&mut self, facts: &CFacts, siblings: &mut [SubflowView], me: usize, ack: &CAck) -> bool {
        self.ce += ack.ce;
        self.distances.on_acknowledged(&mut self.view, ack.advanced, facts.phase());
        self.failed &= ack.acked == 0;
        let newest = self.sent.get(ack.end_seq);
        let told = Ack {
            acked: ack.acked * self.mss,
            advanced: ack.advanced,
            lost: ack.lost * self.mss,
            ce: ack.ce.min(ack.acked) * self.mss,
            prior_in_flight: ack.prior_in_flight * self.mss,
            delivered: facts.delivered * self.mss,
            rtt: (ack.rtt > 0).then_some(Span(ack.rtt)),
            delayed: ack.delayed != 0,
            tail_probe: ack.tail_probe != 0,
            unordered_growth: ack.unordered_growth != 0,
            sample: (ack.sample_delivered > 0 && ack.sample_interval > 0).then(|| RateSample {
                delivered: ack.sample_delivered * self.mss,
                interval: Span(ack.sample_interval),
                prior_delivered: ack.sample_prior_delivered * self.mss,
                lost: newest.map_or(0, |record| self.lost - record.lost) * self.mss,
                ce: newest.map_or(0, |record| self.ce - record.ce) * self.mss,
                in_flight_at_send: newest.map_or(ack.prior_in_flight, |record| record.in_flight) * self.mss,
                app_limited: ack.sample_is_app_limited != 0,
            }),
        };
        self.sent.forget(ack.una);
        let decision = self.call(facts, siblings, me, |cc, cx| cc.on_ack(cx, &told));
        self.is_due(facts.now(), decision)
    }

    /// When the controller wants to be called next, or the next decision takes effect.
    #[must_use]
    pub fn next_timer(&self) -> Option<Time> {
        let decision = self.delayed.front().map(|(due, _)| *due);
        self.cc.next_timer().into_iter().chain(decision).min()
    }

    /// The time has come that the controller asked for, or at which a decision takes effect. Returns whether
    /// an external agent must decide.
    pub fn on_timer(&mut self, facts: &CFacts, siblings: &mut [SubflowView], me: usize) -> bool {
        let now = facts.now();
        while let Some(&(due, action)) = self.delayed.front()
            && due <= now
        {
            self.delayed.pop_front();
            self.apply(action);
        }
        if self.cc.next_timer().is_none_or(|at| at > now) {
            return false;
        }
        let decision = self.call(facts, siblings, me, |cc, cx| cc.on_timer(cx));
        self.is_due(now, decision)
    }
}

#[cfg(test)]
mod tests;
