//! Timeout patterns from what a socket of Linux shows. They are counted by the simulator's code.

use crate::facts::Facts;
use crate::flow::Flow;
use cwndlab_cc::{Rtt, Span};
use cwndlab_sim::timeout_patterns::{Loss, Patterns};

/// Counts the new events that the socket shows. As in the simulator, a timeout comes before the sample of the
/// ACK that shows it, and fast recovery after the sample.
pub fn count(patterns: &mut Patterns, before: &Facts, now: &Facts, sample: Option<Span>) {
    let (from, to) = (before.decided as f64, now.decided as f64);
    for _ in before.counts.timeouts..now.counts.timeouts {
        patterns.on_loss(Loss::Timeout, from, to);
    }
    if let Some(sample) = sample {
        let minimum = Span::from_micros(before.min_rtt_us);
        patterns.on_sample(&Rtt { smoothed: Span(before.srtt_ns), minimum, ..Rtt::default() }, sample);
    }
    for _ in before.counts.fast_recoveries..now.counts.fast_recoveries {
        patterns.on_loss(Loss::FastRecovery, from, to);
    }
}

/// The timeout patterns of several flows together, if they are counted.
#[must_use]
pub fn patterns_of<'a>(flows: impl IntoIterator<Item = &'a Flow>) -> Option<Patterns> {
    let mut counted = flows.into_iter().filter_map(Flow::patterns);
    let mut all = counted.next()?.clone();
    counted.for_each(|patterns| all.add(patterns));
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Counts;

    #[test]
    fn a_timeout_comes_before_the_sample_that_shows_it_and_fast_recovery_behind() {
        let [usual, peak] = [Span::from_millis(120), Span::from_millis(150)];
        let mut patterns = Patterns::default();
        let facts = |decided, timeouts, fast_recoveries| Facts {
            decided,
            srtt_ns: usual.0,
            min_rtt_us: 100_000,
            counts: Counts { timeouts, fast_recoveries, ..Counts::default() },
            ..Facts::default()
        };
        count(&mut patterns, &facts(20, 0, 0), &facts(20, 0, 0), Some(usual));
        count(&mut patterns, &facts(20, 0, 0), &facts(1, 1, 0), Some(peak));
        count(&mut patterns, &facts(1, 1, 0), &facts(9, 1, 0), None);
        count(&mut patterns, &facts(9, 1, 0), &facts(4, 1, 1), Some(peak));
        let outcome = patterns.outcome();
        assert_eq!((outcome.rtt_samples, outcome.rtt_peaks), (3, 2));
        assert_eq!((outcome.timeouts_at_peak, outcome.fast_recoveries_at_peak), (0, 1));
        assert_eq!(outcome.regained_after_timeout_segments, Some(8.0));
    }
}
