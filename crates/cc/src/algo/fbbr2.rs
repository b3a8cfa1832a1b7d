//! F-BBRv2 (Cho and Cho 2024): BBRv2 that takes a minimum RTT well above the first one as a sign of a CUBIC
//! flow's queue, and then cruises faster.

use super::bbr2::{Bbr2, Bbr2Params, DEPARTURES, Extension, MinRtt, Mode};
use crate::algorithm::Algorithm;
use crate::bbr::pacing;
use crate::params::Parameters;
use crate::probes::{self, Probe};
use crate::units::{Rate, Span, Time};
use std::sync::Arc;

crate::words! {
    /// The reference with which the minimum RTT is compared.
    pub enum Reference {
        /// The first sample, from the handshake.
        First = "first",
        /// The smallest sample of the first window of the minimum RTT.
        FirstWindow = "first-window",
        /// The smallest sample of all.
        AllTimeMinimum = "alltime-min",
    }
}

crate::words! {
    /// Whether the reference is ever measured again.
    pub enum Reset {
        /// Never.
        Never = "never",
        /// After an idle period.
        Idle = "idle",
    }
}

crate::words! {
    /// The RTT that is compared with the reference.
    pub enum Current {
        /// BBRv2's min_rtt, over ten seconds.
        MinRtt = "min_rtt",
        /// The last sample.
        Last = "last",
        /// The minimum that schedules ProbeRTT, over five seconds.
        ProbeRtt = "probe-rtt",
    }
}

crate::words! {
    /// Where the gain applies.
    pub enum Where {
        /// In ProbeBW:CRUISE.
        Cruise = "cruise",
        /// In all phases of ProbeBW.
        All = "all",
    }
}

crate::words! {
    /// Whether the window lets the faster pace have an effect.
    pub enum WindowResponse {
        /// It stays BBRv2's.
        Unchanged = "no",
        /// Its gain is multiplied too.
        Follows = "yes",
        /// The headroom is not left free.
        DropsHeadroom = "drop-headroom",
    }
}

crate::words! {
    /// Whether the pacing margin still applies.
    pub enum Margin {
        /// 0.99 x 1.15.
        MultiplierBefore = "before",
        /// 1.15: the multiplier comes after the margin, which it replaces.
        MultiplierAfter = "after",
    }
}

crate::parameters! {
    /// The parameters in addition to BBRv2's.
    pub struct Fbbr2Params {
        reference: Reference = Reference::First, "reference", Allowed::Word(Reference::WORDS), "",
            "RTT without a queue: the first sample, the smallest of the first min_rtt_window, or of all",
            "Cho and Cho 2024: the first RTprop measured after the connection was made";
        reset: Reset = Reset::Never, "reference_reset", Allowed::Word(Reset::WORDS), "",
            "whether the reference is measured again after idle time",
            "Cho and Cho 2024 name no reset";
        current: Current = Current::MinRtt, "current", Allowed::Word(Current::WORDS), "",
            "RTT that is compared with the reference: min_rtt, the last sample, or the minimum that times ProbeRTT",
            "Cho and Cho 2024: the current RTprop";
        threshold: f64 = 1.2, "threshold", Allowed::Number(1.0, 10.0), "",
            "multiple of the reference from which on a CUBIC flow is assumed at the bottleneck", "Cho and Cho 2024";
        release: f64 = 1.2, "release", Allowed::Number(1.0, 10.0), "",
            "multiple of the reference below which it no longer is; never above the threshold",
            "Cho and Cho 2024: the threshold, no hysteresis";
        multiplier: f64 = 1.15, "multiplier", Allowed::Number(1.0, 4.0), "",
            "factor for the pacing gain beside a CUBIC flow", "Cho and Cho 2024";
        applies: Where = Where::Cruise, "multiplier_in", Allowed::Word(Where::WORDS), "",
            "in which phases of ProbeBW the multiplier applies", "Cho and Cho 2024: CRUISE";
        window: WindowResponse = WindowResponse::Unchanged, "cwnd_follows", Allowed::Word(WindowResponse::WORDS), "",
            "whether the window's gain is multiplied too, or its headroom dropped, beside a CUBIC flow",
            "Cho and Cho 2024 change the pacing gain only";
        margin: Margin = Margin::MultiplierBefore, "multiplier_margin", Allowed::Word(Margin::WORDS), "",
            "whether the multiplier applies before the pacing margin of 1 %, or replaces it",
            "Cho and Cho 2024 multiply the gain, and tcp_bbr2.c takes the margin off what a gain gives";
    }
}

/// Detects a CUBIC flow by the standing queue that it causes.
pub struct CubicDetector {
    params: Fbbr2Params,
    /// How long the first window of the minimum RTT lasts.
    window: Span,
    reference: Option<Span>,
    reference_at: Time,
    current: Option<Span>,
    reset_due: bool,
    detected: bool,
}

impl CubicDetector {
    /// A detector without samples; the window is that of the minimum RTT.
    #[must_use]
    pub fn new(params: Fbbr2Params, window: Span) -> Self {
        Self {
            params,
            window,
            reference: None,
            reference_at: Time::ZERO,
            current: None,
            reset_due: false,
            detected: false,
        }
    }

    fn begin(&mut self, now: Time, rtt: Span) {
        (self.reference, self.reference_at, self.reset_due) = (Some(rtt), now, false);
    }

    fn refer(&mut self, now: Time, rtt: Span) {
        let lowers = match self.params.reference {
            Reference::First => false,
            Reference::FirstWindow => now.since(self.reference_at) <= self.window,
            Reference::AllTimeMinimum => true,
        };
        match self.reference {
            Some(reference) if !self.reset_due => {
                self.reference = Some(if lowers { reference.min(rtt) } else { reference });
            }
            _ => self.begin(now, rtt),
        }
    }

    fn decide(&mut self) {
        let (Some(reference), Some(current)) = (self.reference, self.current) else { return };
        let Fbbr2Params { threshold, release, .. } = self.params;
        let bound = if self.detected { release.min(threshold) } else { threshold };
        self.detected = current.0 as f64 >= bound * reference.0 as f64;
    }

    fn applies(&self, mode: Mode) -> bool {
        self.detected
            && match self.params.applies {
                Where::Cruise => mode == Mode::Cruise,
                Where::All => mode.is_probe_bw(),
            }
    }
}

fn ms(span: Option<Span>) -> f64 {
    span.map_or(f64::NAN, Span::as_millis_f64)
}

impl Extension for CubicDetector {
    const PROBES: &'static [Probe<Self>] = &[
        ("rtprop_ms", |detector| ms(detector.current)),
        ("reference_ms", |detector| ms(detector.reference)),
        ("detected", |detector| probes::flag(detector.detected)),
    ];

    fn first_rtt(&mut self, now: Time, rtt: Span) {
        self.begin(now, rtt);
        self.current = Some(rtt);
    }

    fn idle_restart(&mut self) {
        self.reset_due |= self.params.reset == Reset::Idle;
    }

    fn observe(&mut self, now: Time, rtt: Option<Span>, min_rtt: &MinRtt) {
        let Some(rtt) = rtt else { return };
        self.refer(now, rtt);
        self.current = Some(match self.params.current {
            Current::MinRtt => min_rtt.path,
            Current::Last => rtt,
            Current::ProbeRtt => min_rtt.recent,
        });
        self.decide();
    }

    fn pacing_rate(&self, mode: Mode, bandwidth: Rate, gain: f64) -> Rate {
        if !self.applies(mode) {
            return pacing::rate(bandwidth, gain);
        }
        let gain = gain * self.params.multiplier;
        match self.params.margin {
            Margin::MultiplierBefore => pacing::rate(bandwidth, gain),
            Margin::MultiplierAfter => bandwidth.scaled(gain),
        }
    }

    fn cwnd_gain(&self, mode: Mode, gain: f64) -> f64 {
        let follows = self.params.window == WindowResponse::Follows && self.applies(mode);
        if follows { gain * self.params.multiplier } else { gain }
    }

    fn leaves_headroom(&self) -> bool {
        !(self.detected && self.params.window == WindowResponse::DropsHeadroom)
    }
}

/// The entry of this algorithm in the registry.
#[must_use]
pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "fbbr2",
        summary: "F-BBRv2: BBRv2 that cruises 15 % faster when its RTT shows a CUBIC flow",
        source: "Cho and Cho 2024 on google/bbr v2alpha net/ipv4/tcp_bbr2.c",
        departures: DEPARTURES,
        params: [Fbbr2Params::specs(), Bbr2Params::specs()].concat().into(),
        declares: Bbr2::<CubicDetector>::declares(),
        build: Arc::new(|setup, settings| {
            let params = Bbr2Params::with(settings);
            let detector = CubicDetector::new(Fbbr2Params::with(settings), params.min_rtt_window);
            Box::new(Bbr2::new(setup, params, detector))
        }),
    }
}
