//! CSV files: seconds and a value, with or without a header line. A value holds until the next one; the last
//! holds as long as the one before it, and then the file starts again.

use super::Lines;
use super::cycle::{Cycle, MOST_STEPS};
use cwndlab_cc::Span;

/// Thirty years in seconds; later times would overflow.
const LATEST: f64 = 1e9;

/// The second column of a file.
pub(super) struct Column<T: 'static> {
    /// The form of a line, for messages: `seconds,Mbit/s`.
    pub(super) line: &'static str,
    /// Converts a number, also given as written.
    pub(super) value: fn(f64, &str) -> Result<T, String>,
    /// The value as a number, for the mean.
    pub(super) number: fn(T) -> f64,
}

impl<T> Column<T> {
    /// The message for CSV from a spreadsheet that writes decimal commas and separates columns by semicolons.
    pub(super) fn semicolons(&self) -> String {
        format!("expected a comma between the two, `{}`, found semicolons", self.line)
    }

    fn row(&self, line: &str) -> Result<(Span, T), String> {
        if line.contains(';') {
            return Err(self.semicolons());
        }
        let shown: String = line.chars().take(40).collect();
        let wrong = || format!("expected `{}`, found `{shown}`", self.line);
        let (seconds, value) = line.split_once(',').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong);
        let (seconds, number) = (number(seconds)?, number(value)?);
        if !(0.0..=LATEST).contains(&seconds) {
            return Err(format!("expected a time from 0 to {LATEST} s, found {seconds} s"));
        }
        Ok((Span::from_secs_f64(seconds), (self.value)(number, value.trim())?))
    }
}

/// The content of a file up to `until`, and the mean over its whole cycle as a number.
pub(super) fn read<T: Copy>(
    first: &str,
    lines: &mut Lines,
    until: Span,
    column: &Column<T>,
) -> Result<(Cycle<T>, f64), String> {
    let titles = first.split(',').next().is_some_and(|field| field.trim().parse::<f64>().is_err());
    let mut next = if titles { lines.next()? } else { Some(first.to_owned()) };
    let mut rows: Option<Rows<T>> = None;
    while let Some(line) = next {
        let row = column.row(&line).map_err(|message| lines.wrong(&message))?;
        rows = Some(
            match rows {
                None => Rows::begin(row),
                Some(rows) => rows.extended(row, until, column),
            }
            .map_err(|message| lines.wrong(&message))?,
        );
        next = lines.next()?;
    }
    let rows = rows.ok_or_else(|| "it has no values".to_owned())?;
    let mean = rows.mean(column);
    let period = rows.period();
    Ok((Cycle::new(rows.kept, period), mean))
}

/// The rows that the run needs, and the sums over all rows that the mean needs.
struct Rows<T> {
    kept: Vec<(Span, T)>,
    count: u64,
    last: (Span, T),
    /// How long the second-last row held.
    held: Span,
    /// Sum of the values times their seconds, up to the last row.
    sum: f64,
}

impl<T: Copy> Rows<T> {
    fn begin(row: (Span, T)) -> Result<Self, String> {
        if row.0 != Span::ZERO {
            return Err(format!("expected 0 as the first time, found {}", row.0.as_secs_f64()));
        }
        Ok(Self { kept: vec![row], count: 1, last: row, held: Span::ZERO, sum: 0.0 })
    }

    fn extended(mut self, row: (Span, T), until: Span, column: &Column<T>) -> Result<Self, String> {
        let (at, last) = (row.0, self.last.0);
        if at <= last {
            return Err(format!("{at} comes after {last}: the times must increase"));
        }
        self.held = at.saturating_sub(last);
        self.sum += (column.number)(self.last.1) * self.held.as_secs_f64();
        if at <= until {
            self.kept.push(row);
        }
        // Checked while reading, before the rows fill the memory.
        if self.kept.len() as u128 > MOST_STEPS {
            return Err(format!("expected at most {MOST_STEPS} steps within the run, found more"));
        }
        Ok(Self { count: self.count + 1, last: row, ..self })
    }

    fn period(&self) -> Option<Span> {
        (self.count > 1).then(|| self.last.0 + self.held)
    }

    fn mean(&self, column: &Column<T>) -> f64 {
        let last = (column.number)(self.last.1);
        match self.period() {
            None => last,
            Some(period) => (self.sum + last * self.held.as_secs_f64()) / period.as_secs_f64(),
        }
    }
}
