//! CUBIC (RFC 9438), in the RFC's form and in the counting form of Linux and ns-3.

use crate::algorithm::Algorithm;
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Ack, Context, Event, Phase, Setup};
use crate::cubic_curve::CubicCurve;
use crate::hystart::{self, HyStart};
use crate::params::Parameters;
use crate::probes::Probe;
use crate::units::{Span, Time};
use std::sync::Arc;

crate::words! {
    /// Whose arithmetic is used.
    pub enum Form {
        /// RFC 9438: real numbers, target one SRTT ahead.
        Rfc9438 = "rfc9438",
        /// Linux `tcp_cubic`: one segment for each `cnt` acknowledged, target one minimum RTT ahead.
        Linux = "linux",
        /// ns-3.35 to 3.37 `TcpCubic`: the same, with RTTs smoothed and cut to whole milliseconds.
        Ns3 = "ns3",
    }
}

crate::parameters! {
    /// The parameters.
    pub struct CubicParams {
        form: Form = Form::Rfc9438, "form", Allowed::Word(Form::WORDS), "",
            "arithmetic: the RFC's real numbers, or the counting form of Linux or ns-3", "RFC 9438";
        c: f64 = 0.4, "C", Allowed::Number(0.001, 1000.0), "segments/s^3",
            "how fast the cubic grows", "RFC 9438 section 5.1 (0.4)";
        beta: f64 = 0.7, "beta", Allowed::Number(0.1, 0.99), "",
            "share of the window that a congestion event leaves", "RFC 9438 section 4.6 (0.7; Linux 717/1024)";
        fast_convergence: bool = true, "fast_convergence", Allowed::Flag, "",
            "release bandwidth when the last maximum was not reached again", "RFC 9438 section 4.7";
        reno_friendly: bool = true, "reno_friendly", Allowed::Flag, "",
            "be at least as fast as Reno", "RFC 9438 section 4.3; not in ns-3 before 3.41";
        hystart: bool = true, "hystart", Allowed::Flag, "",
            "leave slow start by ACK train or delay", "Linux tcp_cubic; RFC 9438 section 4.10 advises HyStart++";
    }
}

/// A count so large that the window stands still: Linux's `100 * cwnd`.
const PLATEAU_WINDOWS: u64 = 100;
/// Before the first loss the window grows by at least 5 % a round trip (Linux, ns-3).
const COUNT_BEFORE_LOSS: u64 = 20;
/// The window grows by at most half of itself per round trip (Linux, ns-3; RFC 9438 section 4.2: 1.5 cwnd).
pub(crate) const COUNT_MIN: u64 = 2;

/// Linux `BICTCP_BETA_SCALE`: its beta is given in parts of this.
const LINUX_BETA_SCALE: f64 = 1024.0;

/// Linux `beta`: 717 for 0.7.
fn linux_beta(params: &CubicParams) -> f64 {
    (params.beta * LINUX_BETA_SCALE).round()
}

/// Linux `beta_scale`: eight times the windows of acknowledged segments that W_est grows by a segment for.
fn linux_reno_cost(params: &CubicParams) -> u64 {
    let beta = linux_beta(params);
    ((8.0 * (LINUX_BETA_SCALE + beta) / 3.0).floor() / (LINUX_BETA_SCALE - beta)) as u64
}

/// The state from one congestion event to the next.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    curve: CubicCurve,
    /// W_est, the window that Reno would have, in segments.
    reno: f64,
}

impl Epoch {
    /// An epoch that begins with this window, in segments.
    fn begin(cx: &Context, cwnd: f64, w_max: f64, c: f64) -> Self {
        Self { curve: CubicCurve::begin(cx.facts.now, cwnd, w_max, c), reno: cwnd }
    }
}

/// `cnt` as it was last calculated: for this window in bytes, at this time.
#[derive(Clone, Copy, Debug)]
struct Counted {
    cwnd: u64,
    at: Time,
    count: u64,
}

impl Counted {
    /// Linux bictcp_update (HZ / 32) keeps `cnt` for this long while the window does not change; ns-3 does not.
    const HOLDS: Span = Span::from_micros(31_250);

    fn holds(&self, form: Form, now: Time, cwnd: u64) -> bool {
        // All at once: nothing predicts the outcome of each.
        (form == Form::Linux) & (self.cwnd == cwnd) & (now.since(self.at) <= Self::HOLDS)
    }
}

/// The window rule of CUBIC. The fields are in memory in this order: those that every ACK touches come first.
#[repr(C)]
pub struct Cubic {
    /// The smallest delay so far, as this form measures delays; [`Span::MAX`] before the first sample.
    delay_min: Span,
    /// `cnt` of the counting forms.
    counted: Option<Counted>,
    /// Bytes acknowledged that W_est of the counting forms does not include yet.
    uncounted: u64,
    epoch: Option<Epoch>,
    /// W_max in segments; zero before the first congestion event.
    w_max: f64,
    /// The Linux form's alpha, as [`linux_reno_cost`] has it.
    reno_cost: u64,
    params: CubicParams,
    hystart: Option<HyStart>,
    /// The window before the last congestion event, in segments.
    cwnd_prior: f64,
    /// The share of the window that a congestion event leaves, as this form has it.
    beta: f64,
    /// RFC 9438 section 4.3: alpha = 3 (1 - beta) / (1 + beta).
    alpha: f64,
    /// Fractions of a byte that the RFC's form has not yet added.
    fraction: f64,
    /// What an undo restores: W_max, the prior window and the epoch.
    saved: Option<(f64, f64, Option<Epoch>)>,
}

impl Cubic {
    /// A rule with these parameters.
    #[must_use]
    pub fn new(setup: &Setup, params: CubicParams) -> Self {
        let thresholds = if params.form == Form::Ns3 { &hystart::NS3 } else { &hystart::LINUX };
        let hystart = params.hystart.then(|| HyStart::new(thresholds, setup.paced));
        Self {
            hystart,
            epoch: None,
            w_max: 0.0,
            cwnd_prior: 0.0,
            beta: if params.form == Form::Linux {
                linux_beta(&params) / LINUX_BETA_SCALE
            } else {
                params.beta
            },
            alpha: 3.0 * (1.0 - params.beta) / (1.0 + params.beta),
            reno_cost: linux_reno_cost(&params),
            params,
            fraction: 0.0,
            delay_min: Span::MAX,
            counted: None,
            uncounted: 0,
            saved: None,
        }
    }

    /// The cubic of the epoch, if one has begun.
    pub(crate) fn curve(&self) -> Option<CubicCurve> {
        self.epoch.map(|epoch| epoch.curve)
    }

    /// Continues along this cubic; W_est stays unchanged.
    pub(crate) fn follow(&mut self, curve: CubicCurve) {
        let reno = self.epoch.map_or(0.0, |epoch| epoch.reno);
        self.epoch = Some(Epoch { curve, reno });
    }

    /// Ends the epoch; the next growth begins another.
    pub(crate) fn end_epoch(&mut self) {
        self.epoch = None;
    }

    /// W_max in segments; zero before the first congestion event and after a timeout.
    pub(crate) fn w_max(&self) -> f64 {
        self.w_max
    }

    /// K of the epoch in seconds; not a number outside of one.
    pub(crate) fn k_s(&self) -> f64 {
        self.epoch.map_or(f64::NAN, |epoch| epoch.curve.k_s())
    }

    /// Takes this W_max in place of the rule's own.
    pub(crate) fn set_w_max(&mut self, w_max: f64) {
        self.w_max = w_max;
    }

    /// Saves the state that an undo restores.
    fn save(&mut self) {
        self.saved = Some((self.w_max, self.cwnd_prior, self.epoch));
    }

    /// RFC 9438 sections 4.2 to 4.5.
    fn grow_rfc9438(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        let cwnd = window.segments();
        let mut epoch = self.epoch.unwrap_or_else(|| Epoch::begin(cx, cwnd, self.w_max, self.params.c));
        let t = cx.facts.now.since(epoch.curve.start).as_secs_f64();
        let acked_segments = acked as f64 / window.mss as f64;

        // Section 4.3: W_est grows like Reno once it has reached the window before the event.
        let alpha = if epoch.reno >= self.cwnd_prior { 1.0 } else { self.alpha };
        epoch.reno += alpha * acked_segments / cwnd;
        self.epoch = Some(epoch);

        let cubic_now = epoch.curve.window(t);
        let new = if self.params.reno_friendly && cubic_now < epoch.reno {
            epoch.reno.max(cwnd)
        } else {
            let ahead = t + cx.facts.rtt.smoothed.as_secs_f64();
            let target = epoch.curve.window(ahead).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * acked_segments
        };
        self.fraction += (new - cwnd) * window.mss as f64;
        let whole = self.fraction as u64;
        self.fraction -= whole as f64;
        window.cwnd += whole;
    }

    /// The counting form: one segment for each `cnt` segments acknowledged.
    fn grow_counting(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        self.uncounted += acked;
        // Linux bictcp_update: `cnt` is recalculated only once in a while if the window does not change.
        let kept = self.counted.filter(|kept| kept.holds(self.params.form, cx.facts.now, window.cwnd));
        let count = kept.map_or_else(|| self.renew_count(cx, window), |kept| kept.count);
        window.grow_one_per(count * window.mss, acked);
    }

    /// Recalculates `cnt`, with the segments acknowledged since it was last calculated.
    fn renew_count(&mut self, cx: &Context, window: &Window) -> u64 {
        let cwnd = window.cwnd / window.mss;
        let friendly = self.params.reno_friendly;
        let growth = if friendly { self.reno_growth(cwnd, window.mss) } else { 0.0 };
        let (w_max, c) = (self.w_max, self.params.c);
        let epoch = self.epoch.get_or_insert_with(|| Epoch::begin(cx, cwnd as f64, w_max, c));
        epoch.reno += growth;
        let (curve, reno) = (epoch.curve, epoch.reno);
        let cubic = curve.whole_window(self.ahead(&curve, cx));
        let target = if friendly { cubic.max((reno as i64).cast_unsigned()) } else { cubic };
        let count = self.count(target, cwnd).max(COUNT_MIN);
        self.counted = Some(Counted { cwnd: window.cwnd, at: cx.facts.now, count });
        count
    }

    /// RFC 9438 section 4.3: alpha / cwnd of a segment for each segment acknowledged. Linux adds whole segments, and
    /// the number of acknowledged segments that each costs is whole as well (`beta_scale` of tcp_cubic.c).
    fn reno_growth(&mut self, cwnd: u64, mss: u64) -> f64 {
        if self.params.form != Form::Linux {
            return self.alpha * (std::mem::take(&mut self.uncounted) as f64 / mss as f64) / cwnd as f64;
        }
        let cost = ((cwnd * self.reno_cost) >> 3).max(1) * mss;
        let grown = self.uncounted.saturating_sub(1) / cost;
        self.uncounted -= grown * cost;
        grown.cast_signed() as f64
    }

    /// Acknowledged segments per segment of growth towards this target, before the bounds that the callers apply.
    pub(crate) fn count(&self, target: u64, cwnd: u64) -> u64 {
        // Divides at the plateau as well: nothing predicts whether the window is there.
        let missing = target.saturating_sub(cwnd);
        let windows = if missing == 0 { PLATEAU_WINDOWS } else { 1 };
        let count = windows * cwnd / missing.max(1);
        if self.w_max == 0.0 { count.min(COUNT_BEFORE_LOSS) } else { count }
    }

    /// The counting forms aim one minimum RTT ahead.
    pub(crate) fn ahead(&self, curve: &CubicCurve, cx: &Context) -> Span {
        let delay = if self.delay_min == Span::MAX { Span::ZERO } else { self.delay_min };
        cx.facts.now.since(curve.start) + delay
    }

    /// The delay sample of this ACK as this form measures it. The counting forms discard samples from the start of an
    /// epoch, which a recovery has distorted (Linux `cubictcp_acked`, ns-3 `TcpCubic::PktsAcked`).
    fn delay(&self, cx: &Context, ack: &Ack) -> Option<Span> {
        let sample = ack.rtt?;
        let age = self.epoch.map_or(Span::MAX, |epoch| cx.facts.now.since(epoch.curve.start));
        match self.params.form {
            Form::Rfc9438 => Some(sample),
            Form::Linux => (age >= Span::from_secs(1)).then_some(sample),
            // ns-3.37 passes on SRTT, computed from millisecond timestamps.
            Form::Ns3 => (age >= Span::from_millis(10))
                .then_some(Span(cx.facts.rtt.smoothed.0 / 1_000_000 * 1_000_000)),
        }
    }
}

impl WindowRule for Cubic {
    const PROBES: &'static [Probe<Self>] = &[("w_max_segments", Self::w_max), ("k_s", Self::k_s)];

    fn observe(&mut self, cx: &Context, ack: &Ack) {
        let delay = self.delay(cx, ack);
        if let Some(hystart) = &mut self.hystart {
            hystart.observe(ack.advanced, delay);
        }
        self.delay_min = self.delay_min.min(delay.unwrap_or(Span::MAX));
    }

    fn leaves_slow_start(&mut self, cx: &Context, ack: &Ack, cwnd: u64) -> bool {
        let delay = self.delay(cx, ack);
        match (&mut self.hystart, delay) {
            (Some(hystart), Some(delay)) => hystart.should_exit(cx, delay, cwnd),
            _ => false,
        }
    }

    fn counted(&self, ack: &Ack, _mss: u64) -> u64 {
        match self.params.form {
            Form::Rfc9438 | Form::Linux => ack.acked,
            // ns-3 counts the bytes that the cumulative acknowledgement covers, so the ACK that ends recovery
            // counts for all.
            Form::Ns3 => ack.advanced,
        }
    }

    fn reduces_again(&self, phase: Phase) -> bool {
        match self.params.form {
            // RFC 9438 section 4.8 follows RFC 5681 section 3.1: unless the timer has already resent the segment.
            Form::Rfc9438 => phase != Phase::Loss,
            Form::Linux => false,
            // ns-3 sets ssthresh at every timeout.
            Form::Ns3 => true,
        }
    }

    fn carries_credit(&self) -> bool {
        self.params.form == Form::Ns3
    }

    /// Linux `cubictcp_recalc_ssthresh`.
    fn counts_segments(&self) -> bool {
        self.params.form == Form::Linux
    }

    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        match self.params.form {
            Form::Rfc9438 => self.grow_rfc9438(cx, window, acked),
            Form::Linux | Form::Ns3 => self.grow_counting(cx, window, acked),
        }
    }

    fn shrink(&mut self, cx: &Context, window: &Window, event: Event) -> u64 {
        // At a timeout the state was saved before it was forgotten (see `notice`).
        if event != Event::Timeout {
            self.save();
        }
        let cwnd = window.segments();
        // RFC 9438 section 4.7: fast convergence.
        let missed = cwnd < self.w_max && self.params.fast_convergence;
        self.w_max = match self.params.form {
            _ if !missed => cwnd,
            Form::Linux => (cwnd * (1.0 + self.beta) / 2.0).floor(),
            Form::Rfc9438 | Form::Ns3 => cwnd * (1.0 + self.beta) / 2.0,
        };
        if event == Event::Timeout {
            self.w_max = 0.0;
        }
        self.cwnd_prior = cwnd;
        self.epoch = None;
        self.fraction = 0.0;
        self.uncounted = 0;
        // RFC 9438 section 4.6 cuts FlightSize; Linux and ns-3 cut cwnd.
        let base = match self.params.form {
            Form::Rfc9438 => cx.facts.flight_size.min(window.cwnd),
            Form::Linux | Form::Ns3 => window.cwnd,
        };
        (base as f64 * self.beta) as u64
    }

    fn notice(&mut self, cx: &Context, event: Event) {
        match event {
            // RFC 9438 section 4.8: after a timeout W_max is the window at which the next epoch begins, so K is 0.
            // Linux and ns-3 forget W_max as well.
            Event::Timeout => {
                // Within a recovery, an undo restores the state before the first reduction.
                if matches!(cx.facts.phase, Phase::Open | Phase::Disorder) {
                    self.save();
                }
                // Linux bictcp_reset.
                self.epoch = None;
                self.counted = None;
                self.w_max = 0.0;
                self.delay_min = Span::MAX;
                if let Some(hystart) = &mut self.hystart {
                    hystart.restart(cx);
                }
            }
            // RFC 9438 section 4.9; the other two sources restore the window only.
            Event::Undo if self.params.form == Form::Rfc9438 => {
                if let Some((w_max, cwnd_prior, epoch)) = self.saved.take() {
                    (self.w_max, self.cwnd_prior, self.epoch) = (w_max, cwnd_prior, epoch);
                }
            }
            // RFC 9438 section 4.2: an idle period does not count as time.
            Event::IdleRestart(idle) => {
                if let Some(epoch) = &mut self.epoch {
                    epoch.curve.start = (epoch.curve.start + idle).min(cx.facts.now);
                }
            }
            Event::LossRecovery | Event::EcnReduction | Event::Recovered | Event::Undo => {}
        }
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "cubic",
        summary: "CUBIC: a cubic of the time since the last loss, at least as fast as Reno",
        source: "RFC 9438; form = linux: Linux 6.18 net/ipv4/tcp_cubic.c; form = ns3: ns-3.37 TcpCubic",
        departures: &[
            "form = linux: time and K are exact, where the kernel counts jiffies and takes K from a table",
            "form = rfc9438: Linux's HyStart ends slow start, where the RFC recommends HyStart++ (RFC 9406)",
        ],
        params: CubicParams::specs().into(),
        declares: Classic::<Cubic>::DECLARATION.into(),
        build: Arc::new(|setup, settings| {
            Box::new(Classic::new(setup, Cubic::new(setup, CubicParams::with(settings))))
        }),
    }
}
