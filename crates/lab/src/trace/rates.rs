//! Rates from a file: `seconds,Mbit/s`.

use super::csv::{self, Column};
use super::{Cycle, Lines};
use cwndlab_cc::{Rate, Span};

/// The highest rate in Mbit/s: a petabit a second.
const FASTEST: f64 = 1e9;

/// A column of rates in Mbit/s.
pub(super) const RATE: Column<Rate> =
    Column { line: "seconds,Mbit/s", value: rate, number: |rate| rate.0 as f64 };

fn rate(mbit: f64, written: &str) -> Result<Rate, String> {
    match mbit {
        _ if mbit < 0.0 => Err(format!("a rate cannot be negative, found {mbit}")),
        _ if mbit > FASTEST => Err(format!("{written} Mbit/s is too fast")),
        _ => Ok(Rate((mbit * 1e6).round() as u64)),
    }
}

/// The rates up to `until`, and their mean.
pub(super) fn read(first: &str, lines: &mut Lines, until: Span) -> Result<(Cycle<Rate>, Rate), String> {
    let (cycle, mean) = csv::read(first, lines, until, &RATE)?;
    match Rate(mean.round() as u64) {
        Rate(0) => Err("every rate is 0, or nearly so".to_owned()),
        mean => Ok((cycle, mean)),
    }
}
