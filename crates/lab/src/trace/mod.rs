//! Recorded links: reading traces and generating synthetic ones.

mod about;
mod built_in;
mod csv;
mod cycle;
mod delays;
mod mahimahi;
mod rates;
mod source;
mod synthetic;

pub use built_in::{BUILT_IN, BuiltIn, SYNTHETIC};
pub use cycle::Cycle;
pub use delays::{Delays, EVERY, read_delays};
pub use source::{Directory, Memory, TraceFile, TraceFiles};

use cwndlab_cc::{Rate, Span};
use cwndlab_sim::spec::{Capacity, Opportunities};
use sha2::{Digest, Sha256};
use std::io::{BufRead, Read};
use std::sync::Arc;

/// The content of a trace.
#[derive(Clone, Debug)]
pub enum Service {
    /// Delivery opportunities, repeated without end.
    Opportunities(Arc<Opportunities>),
    /// Rates, repeated without end.
    Rates(Cycle<Rate>),
}

impl Service {
    /// The capacity for a run of length `until` that begins at `start` in the first cycle.
    #[must_use]
    pub fn capacity(&self, start: Span, until: Span) -> Capacity {
        match self {
            Service::Opportunities(all) if start == Span::ZERO => Capacity::Trace(all.clone()),
            Service::Opportunities(all) => Capacity::Trace(Arc::new(mahimahi::rotated(all, start))),
            Service::Rates(cycle) => Capacity::Rate(cycle.steps(start, until)),
        }
    }

    /// Checks that a run of length `until` that begins anywhere up to `start` does not have too many steps.
    ///
    /// # Errors
    /// It has too many.
    pub fn fits(&self, start: Span, until: Span) -> Result<(), String> {
        match self {
            Service::Opportunities(_) => Ok(()),
            Service::Rates(cycle) => cycle.fits(start, until),
        }
    }
}

/// A trace that was read.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its content, as far as the run needs it.
    pub service: Service,
    /// Mean rate of one cycle.
    pub mean: Rate,
    /// Length of one cycle; `None` for a single rate, which has none.
    pub period: Option<Span>,
    /// SHA-256 of the whole file, in hexadecimal digits.
    pub hash: String,
}

/// The longest line of a trace in bytes, so that a file without line breaks is refused before it fills the memory.
const LONGEST_LINE: u64 = 1000;

/// Reads a trace; opportunities and rates after `until` are checked but not kept.
///
/// # Errors
/// What is wrong with it, with the line.
pub fn read(reader: &mut dyn BufRead, until: Span) -> Result<Trace, String> {
    let mut lines = Lines::new(reader);
    let Some(first) = lines.next()? else {
        return Err("it is empty".to_owned());
    };
    // Only before the first comma: after it, a semicolon may be part of a title.
    if first.split(',').next().is_some_and(|field| field.contains(';')) {
        return Err(lines.wrong(&rates::RATE.semicolons()));
    }
    let (service, mean, period) = if first.contains(',') {
        let (cycle, mean) = rates::read(&first, &mut lines, until)?;
        let period = cycle.period();
        (Service::Rates(cycle), mean, period)
    } else {
        let (opportunities, mean, period) = mahimahi::read(&first, &mut lines, until)?;
        (Service::Opportunities(opportunities), mean, Some(period))
    };
    Ok(Trace { service, mean, period, hash: lines.hash() })
}

/// Whether a text begins like a trace: with a line of numbers, or with a header line and then a line of numbers.
#[must_use]
pub fn is_like_trace(text: &str) -> bool {
    let numbers = |line: &str| {
        let fields: Vec<&str> = line.split([',', ';']).collect();
        fields.len() <= 2 && fields.iter().all(|field| field.trim().parse::<f64>().is_ok())
    };
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next());
    match second {
        Some(second) => numbers(second) && (numbers(first) || first.contains([',', ';'])),
        None => numbers(first),
    }
}

/// The lines of a trace with their numbers; the content is hashed as it is read.
struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    hasher: Sha256,
    number: usize,
    buffer: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn new(reader: &'a mut dyn BufRead) -> Self {
        Self { reader, hasher: Sha256::new(), number: 0, buffer: Vec::new() }
    }

    /// The next non-blank line, trimmed.
    fn next(&mut self) -> Result<Option<String>, String> {
        while self.fill()? {
            let Ok(text) = std::str::from_utf8(&self.buffer) else {
                return Err(self.wrong("it is not text"));
            };
            // Spreadsheets begin UTF-8 files with a byte-order mark.
            let text = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { text };
            if !text.trim().is_empty() {
                return Ok(Some(text.trim().to_owned()));
            }
        }
        Ok(None)
    }

    fn fill(&mut self) -> Result<bool, String> {
        self.buffer.clear();
        self.number += 1;
        let mut limited = self.reader.take(LONGEST_LINE + 1);
        let read = limited.read_until(b'\n', &mut self.buffer).map_err(|error| error.to_string())?;
        if read as u64 > LONGEST_LINE {
            return Err(self.wrong("it is too long for a trace"));
        }
        self.hasher.update(&self.buffer);
        Ok(read > 0)
    }

    /// A message about the last line read.
    fn wrong(&self, message: &str) -> String {
        format!("line {}: {message}", self.number)
    }

    fn hash(self) -> String {
        self.hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The rate that moves this many bits in a span.
fn mean_rate(bits: f64, span: Span) -> Rate {
    Rate((bits / span.as_secs_f64()).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::Time;
    use proptest::prelude::*;

    fn read_text(text: &str, until: u64) -> Result<Trace, String> {
        read(&mut text.as_bytes(), Span::from_secs(until))
    }

    #[test]
    fn opportunities_are_kept_up_to_the_end_of_the_run() {
        let trace = read_text("0\n1\n1\n2000\n", 1).unwrap();
        let Service::Opportunities(kept) = &trace.service else { panic!("not mahimahi") };
        assert_eq!(kept.at, [Time::ZERO, Time(1_000_000), Time(1_000_000)]);
        assert_eq!(trace.period, Some(Span::from_secs(2)));
        assert_eq!(trace.mean, Rate(4 * 1504 * 8 / 2));
    }

    #[test]
    fn rates_are_repeated_up_to_the_end_of_the_run() {
        let trace = read_text("seconds,Mbit/s\r\n0, 8\r\n1, 0\r\n", 5).unwrap();
        let Capacity::Rate(rates) = trace.service.capacity(Span::ZERO, Span::from_secs(5)) else {
            panic!("not CSV")
        };
        assert_eq!(
            [0, 1, 2, 3, 4].map(|s| rates.at(Time(s * 1_000_000_000)).0),
            [8_000_000, 0, 8_000_000, 0, 8_000_000]
        );
        assert_eq!((trace.period, trace.mean), (Some(Span::from_secs(2)), Rate::from_mbit(4)));
    }

    #[test]
    fn a_single_rate_lasts() {
        let trace = read_text("0,12.5", 5).unwrap();
        assert_eq!((trace.period, trace.mean), (None, Rate(12_500_000)));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let cases = [
            ("", "it is empty"),
            ("\n\n", "it is empty"),
            ("1\n2\nx\n", "line 3: expected a whole number of milliseconds, found `x`"),
            ("1\n-2\n", "line 2: expected a whole number of milliseconds, found `-2`"),
            ("1.5\n", "line 1: expected a whole number of milliseconds, found `1.5`"),
            ("5\n3\n", "line 2: 3 ms comes after 5 ms"),
            ("0\n0\n", "the last opportunity must be after 0 ms"),
            ("99999999999999999\n", "line 1: 99999999999999999 ms is too late"),
            ("1\n2,3\n", "line 2: expected a whole number of milliseconds, found `2,3`"),
            ("0,1\n1\n", "line 2: expected `seconds,Mbit/s`, found `1`"),
            ("0,1,2\n", "line 1: expected `seconds,Mbit/s`, found `0,1,2`"),
            ("1,1\n", "line 1: expected 0 as the first time, found 1"),
            ("0,1\n0,2\n", "line 2: 0 s comes after 0 s"),
            ("0,-1\n", "line 1: a rate cannot be negative"),
            ("0,nan\n", "line 1: expected `seconds,Mbit/s`, found `0,nan`"),
            ("0,1e99\n", "line 1: 1e99 Mbit/s is too fast"),
            ("0,0\n1,0\n", "every rate is 0"),
            ("seconds,rate\n", "it has no values"),
            ("0;1\n1;2\n", "line 1: expected a comma between the two, `seconds,Mbit/s`, found semicolons"),
            ("seconds;rate\n0;1\n", "line 1: expected a comma"),
            ("0;1,5\n", "line 1: expected a comma"),
            ("0,0;1,5\n", "line 1: expected a comma"),
            ("seconds,rate; mean\n0,1\n1;2\n", "line 3: expected a comma"),
        ];
        for (text, message) in cases {
            let error = read_text(text, 10).unwrap_err();
            assert!(error.contains(message), "{text:?} gives {error:?}, not {message:?}");
        }
        let long = "1".repeat(5000);
        assert!(read_text(&long, 10).unwrap_err().contains("too long"));
        assert!(
            read(&mut &b"1\n\xff\n"[..], Span::from_secs(1)).unwrap_err().contains("line 2: it is not text")
        );
    }

    #[test]
    fn a_short_cycle_does_not_fill_the_memory() {
        let trace = read_text("0,1\n1e-9,2\n", 1000).unwrap();
        assert!(trace.service.fits(Span::ZERO, Span::from_secs(1000)).unwrap_err().contains("steps"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _any = read(&mut &bytes[..], Span::from_secs(3));
        }

        #[test]
        fn what_is_accepted_is_sound(text in "([0-9]{1,4}(,[0-9]{1,3})?\n){1,20}") {
            match read_text(&text, 3).map(|trace| trace.service) {
                Ok(Service::Opportunities(kept)) => {
                    prop_assert!(!kept.at.is_empty() && kept.at.is_sorted());
                    prop_assert!(kept.period > Span::ZERO && kept.at.iter().all(|at| at.0 <= kept.period.0));
                }
                Ok(Service::Rates(cycle)) => prop_assert!(!cycle.values().is_empty()),
                Err(message) => prop_assert!(!message.is_empty()),
            }
        }
    }
}
