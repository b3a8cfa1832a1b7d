//! Vegas (Brakmo and Peterson 1995) as Linux (`tcp_vegas`) has it: the queue is estimated from the RTT, and
//! the window is moved once a round trip so that a few of its own segments wait there.

use crate::algorithm::Algorithm;
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Ack, Context, Event, Phase};
use crate::params::Parameters;
use crate::probes::Probe;
use crate::round::Round;
use crate::units::Span;
use std::sync::Arc;

crate::words! {
    /// How often slow start doubles the window.
    pub enum SlowStart {
        /// Each round trip (Linux).
        EveryRtt = "every-rtt",
        /// Every other round trip: in between the window rests, so that the rates can be compared (the paper).
        EveryOtherRtt = "every-other-rtt",
    }
}

crate::parameters! {
    /// The parameters.
    pub struct VegasParams {
        alpha: u64 = 2, "alpha", Allowed::Count(0, 1_000_000), "segments",
            "with fewer of its own segments in the queue the window grows by one per round trip",
            "Linux tcp_vegas; Brakmo and Peterson 1995: 1 or 2", at_most "beta";
        beta: u64 = 4, "beta", Allowed::Count(0, 1_000_000), "segments",
            "with more of its own segments in the queue the window shrinks by one per round trip",
            "Linux tcp_vegas; Brakmo and Peterson 1995: 3 or 4";
        gamma: u64 = 1, "gamma", Allowed::Count(0, 1_000_000), "segments",
            "with more of its own segments in the queue slow start ends",
            "Linux tcp_vegas; Brakmo and Peterson 1995: one buffer";
        slow_start: SlowStart = SlowStart::EveryRtt, "slow_start", Allowed::Word(SlowStart::WORDS), "",
            "how often slow start doubles the window",
            "Linux tcp_vegas (every-rtt); Brakmo and Peterson 1995 (every-other-rtt)";
    }
}

/// With fewer RTT samples than this in a round, all may come from delayed ACKs (Linux).
const SAMPLES_TO_DECIDE: u32 = 3;
/// A decision leaves at least this many segments (Linux).
const LEAST_SEGMENTS: u64 = 2;

/// The RTTs of one round.
#[derive(Clone, Copy, Debug)]
struct Samples {
    minimum: Span,
    count: u32,
}

impl Samples {
    const NONE: Self = Self { minimum: Span::MAX, count: 0 };
}

/// How the rule responds to an ACK.
#[derive(Clone, Copy, Debug)]
enum Response {
    /// Data is missing, or the round had too few samples: grow as Reno does.
    Reno,
    /// Within a round: only slow start continues.
    Wait,
    /// The end of a round with this smallest RTT.
    Decide(Span),
}

/// The window rule of Vegas.
pub struct Vegas {
    params: VegasParams,
    /// baseRTT: the smallest RTT since the path was last empty.
    base: Option<Span>,
    /// The current round; `None` while data is missing.
    round: Option<Round>,
    samples: Samples,
    response: Response,
    /// Slow start rests in this round.
    rests: bool,
    /// Segments of its own in the queue, as of the last decision.
    diff: Option<u64>,
}

impl Vegas {
    /// A rule with these parameters.
    #[must_use]
    pub fn new(params: VegasParams) -> Self {
        Self {
            params,
            base: None,
            round: None,
            samples: Samples::NONE,
            response: Response::Reno,
            rests: false,
            diff: None,
        }
    }

    fn take_sample(&mut self, rtt: Span) {
        // RTTs are used as divisors, so none may be zero (Linux adds a microsecond).
        let rtt = rtt.max(Span(1));
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.samples.minimum = self.samples.minimum.min(rtt);
        self.samples.count += 1;
    }

    /// Ends the round and returns its samples.
    fn next_round(&mut self, cx: &Context, ack: &Ack) -> Samples {
        let mut round = Round::default();
        round.restart(ack.delivered, cx.facts.in_flight);
        self.round = Some(round);
        std::mem::replace(&mut self.samples, Samples::NONE)
    }

    /// Slow start alone; the bytes it leaves over are ignored, because congestion avoidance moves once a round.
    fn double(&self, window: &mut Window, acked: u64) {
        if !self.rests {
            window.slow_start(acked);
        }
    }

    /// The decision after a round whose smallest RTT was `rtt`. In whole segments, truncated as in Linux: a
    /// difference of 1.9 is 1.
    fn decide(&mut self, window: &mut Window, rtt: Span, acked: u64) {
        let base = self.base.unwrap_or(rtt);
        let cwnd = window.cwnd / window.mss;
        let diff = scale(cwnd, rtt.saturating_sub(base), base);
        self.diff = Some(diff);
        self.rests = self.params.slow_start == SlowStart::EveryOtherRtt && !self.rests;
        let VegasParams { alpha, beta, gamma, .. } = self.params;
        if window.in_slow_start() && diff > gamma {
            // The window that the path carries without a queue, plus one segment for what the division truncates.
            slow_down(window, (scale(cwnd, base, rtt) + 1) * window.mss);
        } else if window.in_slow_start() {
            self.double(window, acked);
        } else if diff > beta {
            slow_down(window, window.cwnd.saturating_sub(window.mss));
        } else if diff < alpha {
            window.cwnd += window.mss;
        }
        // Linux tcp_current_ssthresh: a window that was reached is not searched for again from far below.
        window.ssthresh = window.ssthresh.max(window.cwnd / 4 * 3);
    }
}

/// `segments * numerator / denominator`, rounded down.
fn scale(segments: u64, numerator: Span, denominator: Span) -> u64 {
    let product = u128::from(segments) * u128::from(numerator.0) / u128::from(denominator.0);
    product.min(u128::from(u64::MAX)) as u64
}

/// Reduces the window to `cwnd` and continues in congestion avoidance.
fn slow_down(window: &mut Window, cwnd: u64) {
    window.cwnd = window.cwnd.min(cwnd).max(LEAST_SEGMENTS * window.mss);
    window.ssthresh = window.ssthresh.min(window.cwnd);
}

impl WindowRule for Vegas {
    const PROBES: &'static [Probe<Self>] = &[
        ("base_rtt_ms", |vegas| vegas.base.map_or(f64::NAN, Span::as_millis_f64)),
        ("diff_segments", |vegas| vegas.diff.map_or(f64::NAN, |diff| diff as f64)),
    ];

    const SEES_SENT: bool = true;

    /// Linux forgets baseRTT when it sends into an empty path: at the start, after idle time, after a
    /// timeout. Nothing is left of the current round, so the first ACK ends it, too early for a decision.
    fn sent(&mut self, cx: &Context) {
        if cx.facts.in_flight <= cx.facts.mss {
            self.base = None;
            self.samples = Samples::NONE;
        }
    }

    /// A round with a repair gives no information, even if no ACK arrived during the repair.
    fn notice(&mut self, _cx: &Context, event: Event) {
        if matches!(event, Event::LossRecovery | Event::EcnReduction | Event::Timeout) {
            self.round = None;
        }
    }

    fn observe(&mut self, cx: &Context, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.take_sample(rtt);
        }
        self.response = match self.round {
            _ if cx.facts.phase != Phase::Open => {
                self.round = None;
                Response::Reno
            }
            None => {
                self.next_round(cx, ack);
                Response::Wait
            }
            Some(round) if round.ended(ack.delivered) => {
                let Samples { minimum, count } = self.next_round(cx, ack);
                if count < SAMPLES_TO_DECIDE { Response::Reno } else { Response::Decide(minimum) }
            }
            Some(_) => Response::Wait,
        };
    }

    fn steer(&mut self, window: &mut Window, acked: u64) -> bool {
        match self.response {
            Response::Reno => return false,
            Response::Wait => self.double(window, acked),
            Response::Decide(rtt) => self.decide(window, rtt, acked),
        }
        true
    }

    /// As Reno.
    fn grow(&mut self, _cx: &Context, window: &mut Window, acked: u64) {
        window.grow_one_per(window.cwnd, acked);
    }

    /// As Reno (Linux tcp_reno_ssthresh).
    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        window.cwnd / 2
    }

    /// Linux `tcp_reno_ssthresh`.
    fn counts_segments(&self) -> bool {
        true
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "vegas",
        summary: "Vegas: keeps 2 to 4 segments of its own in the queue, estimated from the RTT",
        source: "Brakmo and Peterson 1995 as in Linux 6.18 net/ipv4/tcp_vegas.c",
        departures: &[
            "as in Linux: losses are detected as the profile says and halve the window, where the paper has rules \
             of its own for both",
            "as in Linux: the actual rate is the window over the smallest RTT of the round, where the paper times \
             one segment and counts what is sent meanwhile",
            "as in Linux: slow start doubles each round trip, where the paper doubles every other one (slow_start = \
             every-other-rtt), and its end closes the window to what the path carries",
            "unlike Linux: RTTs are exact, where the kernel counts microseconds and adds one",
            "unlike Linux: a window that was not the limit does not change (RFC 7661), where the kernel moves it",
            "unlike Linux: after a timeout the window grows as Reno's until all is repaired, where the kernel may \
             stand still at ssthresh",
        ],
        params: VegasParams::specs().into(),
        declares: Classic::<Vegas>::DECLARATION.into(),
        build: Arc::new(|setup, settings| {
            Box::new(Classic::new(setup, Vegas::new(VegasParams::with(settings))))
        }),
    }
}
