//! Which RTT is a peak.

use crate::contract::{Ack, Context, Rtt};
use crate::round::Round;
use crate::rtt_peak::{self, PEAK};
use crate::units::Span;

crate::words! {
    /// The average RTT in the peak ratio.
    pub enum Average {
        /// SRTT before the new sample: the only average that the kernel has.
        Smoothed = "smoothed",
        /// The mean of all samples of the connection before the new one.
        Mean = "mean",
    }
}

crate::parameters! {
    /// The definition of a peak.
    pub struct PeakParams {
        peak: f64 = PEAK, "peak", Allowed::Number(0.01, 1000.0), "",
            "peak ratio from which on an RTT is a peak", "Lim et al. 2004 section 3.2, which calls it untuned";
        average: Average = Average::Smoothed, "average", Allowed::Word(Average::WORDS), "",
            "the average RTT in the peak ratio", "the paper does not say; its kernel keeps no other average than SRTT";
    }
}

/// Tracks the peak ratio, from the RTTs that the transport keeps.
pub(super) struct Peaks {
    params: PeakParams,
    /// The RTTs before the next sample.
    before: Rtt,
    /// The sample of the current ACK has already been taken at an event.
    taken: bool,
    sum: Span,
    samples: u64,
    /// The peak ratio of the last sample.
    ratio: Option<f64>,
    round: Round,
    /// The largest ratios of this round trip and of the one before.
    largest: [f64; 2],
}

impl Peaks {
    pub(super) fn new(params: PeakParams) -> Self {
        Self {
            params,
            before: Rtt::default(),
            taken: false,
            sum: Span::ZERO,
            samples: 0,
            ratio: None,
            round: Round::default(),
            largest: [0.0; 2],
        }
    }

    /// Data is being sent; the first time, this takes the RTT of the handshake.
    pub(super) fn begin(&mut self, handshake: &Rtt) {
        if self.before == Rtt::default() {
            self.before = *handshake;
        }
    }

    fn take(&mut self, rtt: &Rtt) {
        let average = match self.params.average {
            Average::Smoothed => self.before.smoothed,
            Average::Mean => Span(self.sum.0 / self.samples.max(1)),
        };
        self.ratio = rtt_peak::ratio(rtt.latest, self.before.minimum, average);
        self.largest[0] = self.largest[0].max(self.ratio.unwrap_or(0.0));
        self.sum = Span(self.sum.0.saturating_add(rtt.latest.0));
        self.samples += 1;
        self.before = *rtt;
    }

    /// An event reports a loss: the ACK that caused it may have brought a sample first.
    pub(super) fn before_event(&mut self, rtt: &Rtt) {
        if *rtt != self.before {
            self.take(rtt);
            self.taken = true;
        }
    }

    /// Whether this ACK has a sample.
    pub(super) fn on_ack(&mut self, cx: &Context, ack: &Ack) -> bool {
        let sampled = ack.rtt.is_some();
        if sampled && !std::mem::take(&mut self.taken) {
            self.take(&cx.facts.rtt);
        }
        if self.round.ended(ack.delivered) {
            self.largest = [0.0, self.largest[0]];
            self.round.restart(ack.delivered, cx.facts.in_flight);
        }
        sampled
    }

    /// The ratio of the last sample.
    pub(super) fn ratio(&self) -> Option<f64> {
        self.ratio
    }

    pub(super) fn last_is_peak(&self) -> bool {
        self.ratio.is_some_and(|ratio| ratio >= self.params.peak)
    }

    pub(super) fn any_of_last_round_trip(&self) -> bool {
        self.largest.iter().any(|ratio| *ratio >= self.params.peak)
    }
}
