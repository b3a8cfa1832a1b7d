//! What a flow or a group got in each interval of the run: the formulas that both backends share.

use super::integral::mean_segments;
use super::rate::mbps;
use crate::outcome::{FlowIntervals, Series};
use cwndlab_cc::{Span, Time};
use std::ops::Range;

/// An interval of the run.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Its start.
    pub from: Time,
    /// Its end.
    pub until: Time,
}

/// The totals of a flow at the end of an interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reached {
    /// Payload delivered in order.
    pub bytes: u64,
    /// Fast recoveries and timeouts.
    pub losses: u64,
    /// The integral of its window, in segment nanoseconds.
    pub window_nanos: u128,
}

/// What a flow achieved in one interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gain {
    /// Goodput.
    pub goodput_mbps: f64,
    /// Mean window from the flow's start on.
    pub cwnd_segments: f64,
    /// Fast recoveries and timeouts that began.
    pub loss_events: u64,
}

impl Interval {
    /// The rate of these bytes over the interval, in Mbit/s.
    #[must_use]
    pub fn mbps(&self, bytes: u64) -> f64 {
        mbps(bytes, self.length().as_secs_f64()).unwrap_or(0.0)
    }

    fn length(&self) -> Span {
        self.until.since(self.from)
    }

    /// What a flow that started at `started` achieved in the interval.
    #[must_use]
    pub fn gain(&self, started: Time, before: &Reached, now: &Reached) -> Gain {
        let running = self.until.since(self.from.max(started));
        Gain {
            goodput_mbps: self.mbps(now.bytes - before.bytes),
            cwnd_segments: mean_segments(now.window_nanos - before.window_nanos, running),
            loss_events: now.losses - before.losses,
        }
    }
}

/// When a flow or group ran, with the ends of the run's intervals.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// Its start.
    pub started: Time,
    /// The end of its measured time.
    pub until: Time,
    /// The end of each interval.
    pub ends: &'a [Time],
}

impl Ran<'_> {
    fn starts(&self) -> impl Iterator<Item = &Time> {
        std::iter::once(&Time::ZERO).chain(self.ends)
    }

    /// A value for each interval; NaN where it did not run at all.
    #[must_use]
    pub fn series(&self, values: impl Iterator<Item = f64>) -> Series {
        let shown = |((value, from), end): ((f64, &Time), &Time)| {
            if self.started < *end && self.until >= *from { value } else { f64::NAN }
        };
        Series(values.zip(self.starts()).zip(self.ends).map(shown).collect())
    }

    /// The intervals in which it ran from beginning to end.
    fn whole(&self) -> Range<usize> {
        let first = self.starts().take(self.ends.len()).filter(|from| **from < self.started).count();
        let behind_last = self.ends.iter().filter(|end| **end <= self.until).count();
        first..behind_last.max(first)
    }

    /// The intervals of a flow with these gains.
    #[must_use]
    pub fn intervals(&self, gains: impl Iterator<Item = Gain> + Clone) -> FlowIntervals {
        let column = |value: fn(Gain) -> f64| self.series(gains.clone().map(value));
        FlowIntervals {
            goodput_mbps: column(|gain| gain.goodput_mbps),
            cwnd_segments: column(|gain| gain.cwnd_segments),
            loss_events: column(|gain| gain.loss_events as f64),
            whole: self.whole(),
            ..FlowIntervals::default()
        }
    }
}
