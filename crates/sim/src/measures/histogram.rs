//! A histogram of times with a fixed relative resolution, small enough for every flow to have two.

use crate::ahead::fetch;
use cwndlab_cc::Span;

/// Buckets per power of two: each is 1/64 of it wide, so a percentile is accurate to 0.8 %.
const BUCKETS: usize = 64;
const BUCKET_BITS: u32 = 6;

/// Counts times; memory is allocated for the powers of two from the smallest to the largest time counted.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Buckets of whole powers of two, from the bucket `first` on.
    counts: Box<[u32]>,
    first: u32,
    count: u64,
    sum_ns: u128,
}

impl Histogram {
    /// Counts one time.
    #[inline]
    pub fn record(&mut self, span: Span) {
        let bucket = self.note(span);
        self.count_in(bucket);
    }

    /// Counts one time, but not in its bucket, which is returned: [`Histogram::count_in`] must follow.
    #[inline]
    pub fn note(&mut self, span: Span) -> u32 {
        self.count += 1;
        self.sum_ns += u128::from(span.0);
        bucket_of(span.0) as u32
    }

    /// Prefetches a bucket.
    #[inline]
    pub fn fetch(&self, bucket: u32) {
        if let Some(count) = self.counts.get(bucket.wrapping_sub(self.first) as usize) {
            fetch(count, size_of_val(count));
        }
    }

    /// Counts one more time in this bucket.
    #[inline]
    pub fn count_in(&mut self, bucket: u32) {
        // A bucket before the first one wraps around, beyond the last one.
        match self.counts.get_mut(bucket.wrapping_sub(self.first) as usize) {
            Some(count) => *count = count.saturating_add(1),
            None => *self.count_of(bucket as usize) += 1,
        }
    }

    /// The count of a bucket; memory for it is allocated if needed.
    #[cold]
    fn count_of(&mut self, bucket: usize) -> &mut u32 {
        if bucket.wrapping_sub(self.first as usize) >= self.counts.len() {
            self.widen(bucket / BUCKETS * BUCKETS);
        }
        &mut self.counts[bucket - self.first as usize]
    }

    /// Allocates the buckets of the power of two that begins with this one, and those between it and the others.
    fn widen(&mut self, octave: usize) {
        let (old, begin) = (std::mem::take(&mut self.counts), self.first as usize);
        let first = if old.is_empty() { octave } else { octave.min(begin) };
        let mut counts = vec![0; (begin + old.len()).max(octave + BUCKETS) - first];
        if !old.is_empty() {
            counts[begin - first..][..old.len()].copy_from_slice(&old);
        }
        (self.counts, self.first) = (counts.into(), first as u32);
    }

    /// The sum of these histograms.
    #[must_use]
    pub fn of<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        parts.for_each(|part| all.add(part));
        all
    }

    /// Adds all counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        for (at, count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let own = self.count_of(other.first as usize + at);
            *own = own.saturating_add(*count);
        }
    }

    /// The number of times counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their exact mean in milliseconds.
    #[must_use]
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e6)
    }

    /// The buckets that hold something: the middle of each in milliseconds, and how many it holds.
    #[must_use]
    pub fn buckets(&self) -> (Vec<f64>, Vec<u32>) {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(at, count)| (self.middle_ms(at), *count)).unzip()
    }

    fn middle_ms(&self, at: usize) -> f64 {
        middle_ns(self.first as usize + at) / 1e6
    }

    /// The time below which this share of the times lies, in milliseconds: the middle of its bucket.
    #[must_use]
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((self.count as f64 * share) as u64).min(self.count - 1);
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen > rank {
                return Some(self.middle_ms(at));
            }
        }
        None
    }
}

/// The bucket of a time. Times below 128 ns have a bucket each; from then on each power of two has 64.
fn bucket_of(ns: u64) -> usize {
    // Without a branch: below 64 ns the logarithm is that of 64.
    let doublings = (ns | BUCKETS as u64).ilog2() - BUCKET_BITS;
    doublings as usize * BUCKETS + (ns >> doublings) as usize
}

fn middle_ns(bucket: usize) -> f64 {
    if bucket < BUCKETS {
        return bucket as f64;
    }
    let width = (1u64 << (bucket / BUCKETS - 1)) as f64;
    (BUCKETS + bucket % BUCKETS) as f64 * width + width / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bucket_holds_its_times(ns in 0u64..u64::MAX / 2) {
            let error = (middle_ns(bucket_of(ns)) - ns as f64).abs();
            prop_assert!(error <= ns as f64 / 128.0 + 1.0);
        }
    }

    #[test]
    fn buckets_that_hold_nothing_are_left_out() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.buckets(), (vec![], vec![]));
        for ms in [8, 1, 8] {
            histogram.record(Span::from_millis(ms));
        }
        let (middle_ms, counts) = histogram.buckets();
        assert_eq!(counts, [1, 2]);
        for (middle, exact) in middle_ms.iter().zip([1.0, 8.0]) {
            assert!((middle / exact - 1.0).abs() < 0.008, "{middle} for {exact}");
        }
    }

    #[test]
    fn quantiles_of_a_uniform_sample() {
        let mut histogram = Histogram::default();
        for ms in 1..=1000 {
            histogram.record(Span::from_millis(ms));
        }
        assert!((histogram.mean_ms().unwrap() - 500.5).abs() < 1e-9);
        let p95 = histogram.quantile_ms(0.95).unwrap();
        assert!((p95 / 951.0 - 1.0).abs() < 0.008, "{p95}");
    }
}
