//! What a flow got in each interval of the run.

use cwndlab_cc::Time;
use cwndlab_sim::outcome::{FlowIntervals, Series};

/// One row an interval.
#[derive(Debug, Default)]
pub struct Rows {
    rows: Vec<[f64; 3]>,
    bytes: u64,
    losses: u64,
    window_nanos: u128,
}

impl Rows {
    /// An interval ends: what the flow had received by then, its loss events, and the integral of its window.
    pub fn push(
        &mut self,
        start: Time,
        from: Time,
        until: Time,
        bytes: u64,
        losses: u64,
        window_nanos: u128,
    ) {
        let nanos = until.since(from.max(start)).0;
        let window = (window_nanos - self.window_nanos) as f64;
        self.rows.push([
            (bytes - self.bytes) as f64 * 8.0 / until.since(from).as_secs_f64() / 1e6,
            if nanos > 0 { window / nanos as f64 } else { 0.0 },
            (losses - self.losses) as f64,
        ]);
        (self.bytes, self.losses, self.window_nanos) = (bytes, losses, window_nanos);
    }

    /// The rows as the simulator gives them: NaN where the flow did not run.
    #[must_use]
    pub fn intervals(&self, start: Time, until: Time, ends: &[Time]) -> FlowIntervals {
        let starts = || std::iter::once(&Time::ZERO).chain(ends);
        let column = |index: usize| {
            let value = |((row, from), end): ((&[f64; 3], &Time), &Time)| {
                if start < *end && until >= *from { row[index] } else { f64::NAN }
            };
            Series(self.rows.iter().zip(starts()).zip(ends).map(value).collect())
        };
        let first_whole = starts().take(ends.len()).filter(|from| **from < start).count();
        let behind_last_whole = ends.iter().filter(|end| **end <= until).count();
        FlowIntervals {
            goodput_mbps: column(0),
            cwnd_segments: column(1),
            loss_events: column(2),
            whole: first_whole..behind_last_whole.max(first_whole),
            ..FlowIntervals::default()
        }
    }
}
