//! Selective Decrease (SD) and Proactive Decrease (PD) of Lim et al. 2004, each alone and both together, on [`Reno`].
//!
//! SD: a loss without a peak of the RTT follows a slow rise of traffic, so ssthresh need not fall to half.
//! PD: a peak foretells a loss, and the window is cut before it happens.

mod peaks;

use super::reno::{Reno, RenoParams};
use crate::algorithm::Algorithm;
use crate::classic::{Classic, Window, WindowRule};
use crate::contract::{Ack, Context, Event, Phase};
use crate::params::Parameters;
use crate::probes::Probe;
use crate::round::Round;
use peaks::{PeakParams, Peaks};
use std::sync::Arc;

crate::words! {
    /// Which RTT decides whether a loss came with a peak.
    pub enum Evidence {
        /// The last sample before the event.
        Last = "last",
        /// The sample with the largest ratio in the last round trip.
        Largest = "largest",
    }
}

crate::words! {
    /// The window with which fast recovery ends.
    pub enum Exit {
        /// Half of the window before the loss, with which fast recovery began; slow start then continues to
        /// ssthresh.
        Half = "half",
        /// ssthresh, as in Reno.
        Ssthresh = "ssthresh",
    }
}

crate::words! {
    /// How often PD may act.
    pub enum Often {
        /// Once a round trip.
        RoundTrip = "round-trip",
        /// At every ACK whose RTT is a peak.
        Ack = "ack",
        /// Once, until the ratio has been below a peak again.
        Excursion = "excursion",
    }
}

crate::words! {
    /// When a cut lowers ssthresh to the window that it leaves.
    pub enum LowersSsthresh {
        /// In slow start only.
        SlowStart = "slow-start",
        /// Whenever ssthresh would be above the window.
        Always = "always",
        /// Never: only the window is cut.
        Never = "never",
    }
}

crate::parameters! {
    /// Selective Decrease.
    pub struct SelectiveParams {
        at_peak: f64 = 0.5, "ssthresh_at_peak", Allowed::Number(0.0, 1.0), "windows",
            "ssthresh after a loss with a peak", "Lim et al. 2004 section 4.1: as Reno";
        without_peak: f64 = 0.7, "ssthresh_without_peak", Allowed::Number(0.0, 1.0), "windows",
            "ssthresh after a loss without a peak", "Lim et al. 2004 section 4.1, which calls it untuned";
        evidence: Evidence = Evidence::Last, "evidence", Allowed::Word(Evidence::WORDS), "",
            "which RTT decides whether a loss came with a peak", "the paper does not say; it is what the sender knows then";
        exit: Exit = Exit::Half, "exit", Allowed::Word(Exit::WORDS), "",
            "the window at the end of fast recovery",
            "Lim et al. 2004 section 4.1: the window falls to half, ssthresh to its own value";
    }
}

crate::parameters! {
    /// Proactive Decrease.
    pub struct ProactiveParams {
        cut_to: f64 = 0.8, "cut_to", Allowed::Number(0.01, 1.0), "windows",
            "share of the window that a peak leaves", "Lim et al. 2004 section 4.2: cut by 20 %";
        often: Often = Often::RoundTrip, "cut_once_per", Allowed::Word(Often::WORDS), "",
            "how often a peak may cut", "the paper does not say; a peak has as many samples as its window has ACKs";
        lowers_ssthresh: LowersSsthresh = LowersSsthresh::SlowStart, "lowers_ssthresh",
            Allowed::Word(LowersSsthresh::WORDS), "",
            "when a cut lowers ssthresh to the new window",
            "the paper does not say; else slow start takes the cut back within a round trip";
    }
}

/// Proactive Decrease: when it cuts.
struct Proactive {
    params: ProactiveParams,
    /// The round trip after a cut.
    round: Round,
    /// The ratio has been below a peak since the last cut.
    calmed: bool,
    /// This ACK triggers a cut.
    due: bool,
    cuts: u64,
}

impl Proactive {
    fn new(params: ProactiveParams) -> Self {
        Self { params, round: Round::default(), calmed: true, due: false, cuts: 0 }
    }

    fn decide(&mut self, cx: &Context, ack: &Ack, at_peak: bool) {
        self.calmed |= !at_peak;
        let may = match self.params.often {
            Often::Ack => true,
            Often::RoundTrip => self.round.ended(ack.delivered),
            Often::Excursion => self.calmed,
        };
        self.due = at_peak && may;
        if self.due {
            self.round.restart(ack.delivered, cx.facts.in_flight);
            self.calmed = false;
            self.cuts += 1;
        }
    }

    fn cut(&self, window: &mut Window) {
        let cut = share(window.cwnd, self.params.cut_to).max(window.mss);
        let lowers = match self.params.lowers_ssthresh {
            LowersSsthresh::SlowStart => window.in_slow_start(),
            LowersSsthresh::Always => cut < window.ssthresh,
            LowersSsthresh::Never => false,
        };
        if lowers {
            window.ssthresh = cut.max(2 * window.mss);
        }
        window.cwnd = cut;
    }
}

fn share(bytes: u64, of_it: f64) -> u64 {
    (bytes as f64 * of_it) as u64
}

/// Reno's window rule with Selective Decrease, Proactive Decrease or both.
pub struct SdPd {
    reno: Reno,
    peaks: Peaks,
    selective: Option<SelectiveParams>,
    proactive: Option<Proactive>,
    /// Fast recovery is in progress and has not been undone.
    recovering: bool,
}

impl SdPd {
    /// The share of the window to which ssthresh is set.
    fn kept(&self, selective: &SelectiveParams) -> f64 {
        let at_peak = match selective.evidence {
            Evidence::Last => self.peaks.last_is_peak(),
            Evidence::Largest => self.peaks.any_of_last_round_trip(),
        };
        if at_peak { selective.at_peak } else { selective.without_peak }
    }
}

impl WindowRule for SdPd {
    const PROBES: &'static [Probe<Self>] = &[
        ("rtt_peak_ratio", |rule| rule.peaks.ratio().unwrap_or(f64::NAN)),
        ("proactive_cuts", |rule| rule.proactive.as_ref().map_or(0.0, |proactive| proactive.cuts as f64)),
    ];

    const SEES_SENT: bool = true;

    fn counted(&self, ack: &Ack, mss: u64) -> u64 {
        self.reno.counted(ack, mss)
    }

    fn carries_credit(&self) -> bool {
        self.reno.carries_credit()
    }

    fn counts_segments(&self) -> bool {
        self.reno.counts_segments()
    }

    fn reduces_again(&self, phase: Phase) -> bool {
        self.reno.reduces_again(phase)
    }

    fn sent(&mut self, cx: &Context) {
        self.peaks.begin(&cx.facts.rtt);
    }

    fn notice(&mut self, cx: &Context, event: Event) {
        self.peaks.before_event(&cx.facts.rtt);
        self.recovering = match event {
            Event::LossRecovery | Event::EcnReduction => true,
            Event::Timeout | Event::Undo | Event::IdleRestart(_) => false,
            Event::Recovered => self.recovering,
        };
    }

    fn observe(&mut self, cx: &Context, ack: &Ack) {
        let sampled = self.peaks.on_ack(cx, ack);
        let at_peak = self.peaks.last_is_peak();
        let moves = cx.may_grow(ack);
        if let Some(proactive) = &mut self.proactive {
            proactive.due = false;
            if sampled && moves {
                proactive.decide(cx, ack, at_peak);
            }
        }
    }

    /// After a cut, the window still grows as Reno's does.
    fn steer(&mut self, window: &mut Window, _acked: u64) -> bool {
        if let Some(proactive) = self.proactive.as_ref().filter(|proactive| proactive.due) {
            proactive.cut(window);
        }
        false
    }

    fn grow(&mut self, cx: &Context, window: &mut Window, acked: u64) {
        self.reno.grow(cx, window, acked);
    }

    fn shrink(&mut self, cx: &Context, window: &Window, event: Event) -> u64 {
        match &self.selective {
            Some(selective) => share(window.cwnd, self.kept(selective)),
            None => self.reno.shrink(cx, window, event),
        }
    }

    /// Sec. 4.1: the window itself falls to half, whatever ssthresh is.
    fn recovery_window(&self, window: &Window) -> u64 {
        let half = (window.cwnd / 2).max(2 * window.mss);
        if self.selective.is_some() { half.min(window.ssthresh) } else { window.ssthresh }
    }

    fn window_after_recovery(&self, window: &Window) -> u64 {
        let at_ssthresh = self.selective.as_ref().is_some_and(|selective| selective.exit == Exit::Ssthresh);
        if at_ssthresh && self.recovering { window.ssthresh } else { window.cwnd }
    }
}

const SOURCE: &str = "Lim et al. 2004, on Reno of Linux 2.2";
const DEPARTURES: &[&str] = &[
    "Reno itself is that of `reno`: ssthresh is a part of cwnd, losses are detected and repaired as the profile says",
    "if the average equals the base RTT (0/0), there is no peak: the RTT has not risen",
    "a window that is not the limit is not cut (RFC 7661), nor one in recovery, which the paper does not mention",
    "a congestion mark (ECN), which the paper does not mention, counts as a loss",
];

/// The registry entry of one of the three.
fn variant(name: &'static str, summary: &'static str, selective: bool, proactive: bool) -> Algorithm {
    let mut params = RenoParams::specs();
    params.extend(PeakParams::specs());
    params.extend(if selective { SelectiveParams::specs() } else { Vec::new() });
    params.extend(if proactive { ProactiveParams::specs() } else { Vec::new() });
    Algorithm {
        name,
        summary,
        source: SOURCE,
        departures: DEPARTURES,
        params: params.into(),
        declares: Classic::<SdPd>::DECLARATION.into(),
        build: Arc::new(move |setup, settings| {
            let rule = SdPd {
                reno: Reno::new(&RenoParams::with(settings)),
                peaks: Peaks::new(PeakParams::with(settings)),
                selective: selective.then(|| SelectiveParams::with(settings)),
                proactive: proactive.then(|| Proactive::new(ProactiveParams::with(settings))),
                recovering: false,
            };
            Box::new(Classic::new(setup, rule))
        }),
    }
}

/// Selective Decrease.
#[must_use]
pub fn sd() -> Algorithm {
    variant(
        "sd",
        "Selective Decrease: Reno that keeps 0.7 of ssthresh after a loss without a peak of the RTT",
        true,
        false,
    )
}

/// Proactive Decrease.
#[must_use]
pub fn pd() -> Algorithm {
    variant("pd", "Proactive Decrease: Reno that cuts its window by 20 % at a peak of the RTT", false, true)
}

/// Both.
#[must_use]
pub fn sd_pd() -> Algorithm {
    variant("sd-pd", "Selective and Proactive Decrease together", true, true)
}
