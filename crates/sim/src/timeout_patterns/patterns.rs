//! The timeout patterns of one sender. They are fed by a tap of the simulator, a Linux socket's state, or a
//! packet capture.

use crate::outcome::{Distribution, PatternsOutcome};
use cwndlab_cc::rtt_peak::{PEAK, ratio};
use cwndlab_cc::{Rtt, Span};

/// Classes of peak ratios from one whole number to the next.
const CLASSES_PER_ONE: u64 = 10;
/// All classes; the last one holds all ratios from 10 on.
const CLASSES: u64 = 10 * CLASSES_PER_ONE + 1;
/// The first class of peaks.
const PEAK_CLASS: u64 = (PEAK * CLASSES_PER_ONE as f64) as u64;

/// The two kinds of loss that the patterns distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A retransmission timeout.
    Timeout,
    /// Fast recovery: a triple duplicate ACK, in the terms of the time before SACK.
    FastRecovery,
}

/// How far windows grew between two losses, in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    sum: f64,
    count: u64,
}

impl Growth {
    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// The patterns of one sender. A loss is judged by the last sample before it; the average is SRTT before the sample.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    /// The last sample; the minimum RTT and SRTT before it.
    latest: Span,
    base: Span,
    average: Span,
    samples: u64,
    peaks: u64,
    timeouts_at_peak: u64,
    recoveries_at_peak: u64,
    /// Window growth after each kind of loss, without a peak and with one.
    regained: [[Growth; 2]; 2],
    /// The last loss: its kind, whether it came with a peak, and the window that it left.
    since: Option<(Loss, bool, f64)>,
    /// Number of samples in each class.
    classes: Vec<u32>,
}

impl Patterns {
    /// A sample arrives; `before` holds the RTTs before it.
    pub fn on_sample(&mut self, before: &Rtt, latest: Span) {
        (self.latest, self.base, self.average) = (latest, before.minimum, before.smoothed);
        self.samples += 1;
        let Some(class) = self.class() else { return };
        self.peaks += u64::from(class >= PEAK_CLASS);
        match self.classes.get_mut(class as usize) {
            Some(count) => *count = count.saturating_add(1),
            None => self.widen(class as usize),
        }
    }

    /// The class of the last sample's ratio, in integer arithmetic, because it is computed for each ACK.
    fn class(&self) -> Option<u64> {
        let rise = self.latest.saturating_sub(self.base).0;
        let usual = self.average.saturating_sub(self.base).0;
        (usual > 0).then(|| (rise.saturating_mul(CLASSES_PER_ONE) / usual).min(CLASSES - 1))
    }

    fn is_at_peak(&self) -> bool {
        self.class().is_some_and(|class| class >= PEAK_CLASS)
    }

    fn widen(&mut self, class: usize) {
        self.classes.resize(class + 1, 0);
        self.classes[class] = 1;
    }

    /// A loss; the windows before and after it in whole segments.
    pub fn on_loss(&mut self, loss: Loss, before: f64, after: f64) {
        if let Some((loss, at_peak, from)) = self.since {
            self.regained[loss as usize][usize::from(at_peak)].add(Growth { sum: before - from, count: 1 });
        }
        let at_peak = self.is_at_peak();
        match loss {
            Loss::Timeout => self.timeouts_at_peak += u64::from(at_peak),
            Loss::FastRecovery => self.recoveries_at_peak += u64::from(at_peak),
        }
        self.since = Some((loss, at_peak, after));
    }

    /// The peak ratio of the last sample; none while the average is the base RTT.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        ratio(self.latest, self.base, self.average)
    }

    /// Resets the counts, but keeps the last sample and the last loss.
    pub fn restart(&mut self) {
        let Self { latest, base, average, since, .. } = *self;
        *self = Self { latest, base, average, since, ..Self::default() };
    }

    /// Adds another flow's counts.
    pub fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.peaks += other.peaks;
        self.timeouts_at_peak += other.timeouts_at_peak;
        self.recoveries_at_peak += other.recoveries_at_peak;
        for (sum, more) in self.regained.as_flattened_mut().iter_mut().zip(other.regained.as_flattened()) {
            sum.add(*more);
        }
        if self.classes.len() < other.classes.len() {
            self.classes.resize(other.classes.len(), 0);
        }
        for (count, more) in self.classes.iter_mut().zip(&other.classes) {
            *count = count.saturating_add(*more);
        }
    }

    /// The distribution of the ratios: the middle and the count of each class that is not empty. The last
    /// class is open, so its lower end stands for it.
    fn classes(&self) -> (Vec<f64>, Vec<u32>) {
        let filled = self.classes.iter().enumerate().filter(|(_, count)| **count > 0);
        let middle = |class: usize| match class as u64 + 1 {
            CLASSES => 10.0,
            _ => (class as f64 + 0.5) / CLASSES_PER_ONE as f64,
        };
        filled.map(|(class, count)| (middle(class), *count)).unzip()
    }

    /// The counts, and the mean growth after each kind of loss.
    #[must_use]
    pub fn outcome(&self) -> PatternsOutcome {
        let after = |loss: Loss, at_peak: bool| self.regained[loss as usize][usize::from(at_peak)];
        let after_any = |at_peak: bool| {
            let mut sum = after(Loss::Timeout, at_peak);
            sum.add(after(Loss::FastRecovery, at_peak));
            sum.mean()
        };
        PatternsOutcome {
            rtt_samples: self.samples,
            rtt_peaks: self.peaks,
            timeouts_at_peak: self.timeouts_at_peak,
            fast_recoveries_at_peak: self.recoveries_at_peak,
            regained_segments: after_any(false),
            regained_after_peak_segments: after_any(true),
            regained_after_timeout_segments: after(Loss::Timeout, false).mean(),
            regained_after_timeout_at_peak_segments: after(Loss::Timeout, true).mean(),
            regained_after_fast_recovery_segments: after(Loss::FastRecovery, false).mean(),
            regained_after_fast_recovery_at_peak_segments: after(Loss::FastRecovery, true).mean(),
        }
    }

    /// The peak ratios of a component of this kind and name, if there are any.
    #[must_use]
    pub fn distribution(&self, kind: &'static str, name: &str) -> Option<Distribution> {
        let (middle, counts) = self.classes();
        let name = name.to_owned();
        (!counts.is_empty()).then_some(Distribution { kind, name, measure: "rtt_peak_ratio", middle, counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Base RTT 100 ms, SRTT 120 ms.
    fn sample(patterns: &mut Patterns, ms: u64) {
        let ms_of = Span::from_millis;
        let before = Rtt { minimum: ms_of(100), smoothed: ms_of(120), ..Rtt::default() };
        patterns.on_sample(&before, ms_of(ms));
    }

    #[test]
    fn a_loss_belongs_to_the_sample_before_it() {
        let mut patterns = Patterns::default();
        patterns.on_loss(Loss::Timeout, 9.0, 1.0);
        for (rtt_ms, loss) in
            [(150, Loss::Timeout), (130, Loss::Timeout), (140, Loss::FastRecovery), (139, Loss::FastRecovery)]
        {
            sample(&mut patterns, 110);
            sample(&mut patterns, rtt_ms);
            patterns.on_loss(loss, 9.0, 4.5);
        }
        let outcome = patterns.outcome();
        assert_eq!((outcome.rtt_samples, outcome.rtt_peaks), (8, 2));
        assert_eq!((outcome.timeouts_at_peak, outcome.fast_recoveries_at_peak), (1, 1));
    }

    #[test]
    fn what_is_regained_belongs_to_the_loss_that_it_follows() {
        let mut patterns = Patterns::default();
        sample(&mut patterns, 150);
        patterns.on_loss(Loss::Timeout, 20.0, 1.0);
        sample(&mut patterns, 120);
        patterns.on_loss(Loss::FastRecovery, 8.0, 4.0);
        patterns.on_loss(Loss::FastRecovery, 10.0, 5.0);
        patterns.on_loss(Loss::FastRecovery, 13.0, 6.5);
        let outcome = patterns.outcome();
        assert_eq!(outcome.regained_after_peak_segments, Some(7.0));
        assert_eq!(outcome.regained_segments, Some(7.0));
        assert_eq!(outcome.regained_after_timeout_at_peak_segments, Some(7.0));
        assert_eq!(outcome.regained_after_timeout_segments, None);
        let mut none = Patterns::default();
        none.on_loss(Loss::Timeout, 20.0, 1.0);
        assert_eq!(none.outcome().regained_segments, None);
    }

    /// From one segment a window grows further than from a half, so the kinds of loss must not be mixed.
    #[test]
    fn what_is_regained_after_timeouts_stands_apart_from_fast_recoveries() {
        let mut patterns = Patterns::default();
        let mut loss = |rtt_ms, loss, before, after| {
            sample(&mut patterns, rtt_ms);
            patterns.on_loss(loss, before, after);
        };
        loss(120, Loss::Timeout, 20.0, 1.0);
        loss(150, Loss::Timeout, 9.0, 1.0);
        loss(120, Loss::FastRecovery, 7.0, 4.0);
        loss(150, Loss::FastRecovery, 8.0, 4.0);
        loss(150, Loss::FastRecovery, 7.0, 3.0);
        loss(120, Loss::Timeout, 6.0, 1.0);
        let mut sum = Patterns::default();
        (0..2).for_each(|_| sum.add(&patterns));
        for outcome in [patterns.outcome(), sum.outcome()] {
            assert_eq!(outcome.regained_after_timeout_segments, Some(8.0));
            assert_eq!(outcome.regained_after_timeout_at_peak_segments, Some(6.0));
            assert_eq!(outcome.regained_after_fast_recovery_segments, Some(4.0));
            assert_eq!(outcome.regained_after_fast_recovery_at_peak_segments, Some(3.0));
            assert_eq!(outcome.regained_segments, Some(6.0));
            assert_eq!(outcome.regained_after_peak_segments, Some(4.0));
        }
    }

    #[test]
    fn ratios_are_kept_in_classes_of_a_tenth() {
        let mut patterns = Patterns::default();
        // 0, 0.5 (twice), 1.0 and 45.
        for ms in [100, 110, 111, 120, 1000] {
            sample(&mut patterns, ms);
        }
        let (middles, counts) = patterns.classes();
        assert_eq!(counts, [1, 2, 1, 1]);
        for (middle, expected) in middles.iter().zip([0.05, 0.55, 1.05, 10.0]) {
            assert!((middle - expected).abs() < 1e-9, "{middle}");
        }
    }

    #[test]
    fn a_sample_without_a_ratio_is_no_peak() {
        let mut patterns = Patterns::default();
        let rtt = Span::from_millis(100);
        patterns.on_sample(&Rtt { minimum: rtt, smoothed: rtt, ..Rtt::default() }, Span::from_secs(1));
        assert_eq!((patterns.outcome().rtt_samples, patterns.outcome().rtt_peaks), (1, 0));
        assert_eq!(patterns.classes().1, [] as [u32; 0]);
    }

    #[test]
    fn a_new_start_forgets_counts_and_sums_add_up() {
        let mut patterns = Patterns::default();
        sample(&mut patterns, 150);
        patterns.on_loss(Loss::Timeout, 20.0, 1.0);
        let mut sum = patterns.clone();
        sum.add(&patterns);
        assert_eq!((sum.outcome().rtt_peaks, sum.outcome().timeouts_at_peak), (2, 2));
        assert_eq!(sum.classes().1, [2]);
        patterns.restart();
        assert_eq!(patterns.outcome().rtt_samples, 0);
        // The growth since the last loss goes on over the warm-up's end.
        patterns.on_loss(Loss::Timeout, 5.0, 1.0);
        assert_eq!(patterns.outcome().regained_after_peak_segments, Some(4.0));
    }
}
