//! A number of segments, and its integral over time.

use cwndlab_cc::{Span, Time};

/// A number of segments that changes now and then: a window, or the segments that wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Integral {
    segments: u64,
    since: Time,
    /// The integral until `since`, in segment nanoseconds.
    nanos: u128,
}

impl Integral {
    /// Sets the number from `now` on.
    #[inline]
    pub fn change(&mut self, now: Time, segments: u64) {
        *self = Self { segments, since: now, nanos: self.nanos(now) };
    }

    /// The current number of segments.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// The integral up to `now`, in segment nanoseconds; for a `now` before the last change, up to that change.
    #[inline]
    #[must_use]
    pub fn nanos(&self, now: Time) -> u128 {
        self.nanos + u128::from(self.segments) * u128::from(now.since(self.since).0)
    }

    /// The same number of segments, with an integral that begins at `now`.
    #[must_use]
    pub fn restarted(&self, now: Time) -> Self {
        Self { segments: self.segments, since: now, nanos: 0 }
    }
}

/// The mean of segments over a time, from their integral in segment nanoseconds; 0 over no time.
#[must_use]
pub fn mean_segments(nanos: u128, over: Span) -> f64 {
    if over.0 > 0 { nanos as f64 / over.0 as f64 } else { 0.0 }
}
