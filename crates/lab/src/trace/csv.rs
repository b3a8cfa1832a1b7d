//! CSV traces: `seconds,Mbit/s`, with or without a line of titles. A rate holds until the next; the last one holds
//! as long as the one before it, and then the trace starts again.

use super::{Lines, Service, mean_rate};
use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::Schedule;

/// Thirty years in seconds; later times would overflow.
const LATEST: f64 = 1e9;
/// A petabit a second.
const FASTEST: f64 = 1e9;
/// The most steps that a run may have, after repetition.
const MOST_STEPS: u128 = 20_000_000;

/// What is said of the CSV of a spreadsheet in a country that writes 0,5 for a half.
pub(super) const SEMICOLONS: &str = "expected a comma between the two, `seconds,Mbit/s`, found semicolons";

#[derive(Clone, Copy)]
struct Row {
    at: Span,
    rate: Rate,
}

pub(super) fn read(
    first: &str,
    lines: &mut Lines,
    until: Span,
) -> Result<(Service, Rate, Option<Span>), String> {
    let titles = first.split(',').next().is_some_and(|field| field.trim().parse::<f64>().is_err());
    let next = if titles { lines.next()? } else { Some(first.to_owned()) };
    let cycle = Cycle::read(next, lines, until)?;
    let steps = cycle.repeated(until)?;
    let schedule = Schedule::steps(steps).ok_or("its times must increase")?;
    let mean = cycle.mean();
    if mean == Rate(0) {
        return Err("every rate is 0, or nearly so".to_owned());
    }
    Ok((Service::Rates(schedule), mean, cycle.period()))
}

/// One cycle: the rows that the run needs, and what the mean needs of the others.
struct Cycle {
    kept: Vec<Row>,
    rows: u64,
    last: Row,
    /// How long the row before the last held.
    held: Span,
    /// Bits up to the last row.
    bits: f64,
}

impl Cycle {
    fn read(mut next: Option<String>, lines: &mut Lines, until: Span) -> Result<Self, String> {
        let mut cycle: Option<Cycle> = None;
        while let Some(line) = next {
            let row = row(&line).map_err(|message| lines.wrong(&message))?;
            cycle = Some(match cycle {
                None => Self::begin(row).map_err(|message| lines.wrong(&message))?,
                Some(cycle) => cycle.extended(row, until).map_err(|message| lines.wrong(&message))?,
            });
            next = lines.next()?;
        }
        cycle.ok_or_else(|| "it has no rates".to_owned())
    }

    fn begin(row: Row) -> Result<Self, String> {
        if row.at != Span::ZERO {
            return Err(format!("expected 0 as the first time, found {}", row.at.as_secs_f64()));
        }
        let kept = vec![row];
        Ok(Self { kept, rows: 1, last: row, held: Span::ZERO, bits: 0.0 })
    }

    fn extended(mut self, row: Row, until: Span) -> Result<Self, String> {
        if row.at <= self.last.at {
            return Err(format!("{} comes after {}: the times must increase", row.at, self.last.at));
        }
        self.held = row.at.saturating_sub(self.last.at);
        self.bits += self.last.rate.0 as f64 * self.held.as_secs_f64();
        if row.at <= until {
            self.kept.push(row);
        }
        // Before they fill the memory.
        if self.kept.len() as u128 > MOST_STEPS {
            return Err(format!("expected at most {MOST_STEPS} steps within the run, found more"));
        }
        Ok(Self { rows: self.rows + 1, last: row, ..self })
    }

    fn period(&self) -> Option<Span> {
        (self.rows > 1).then(|| self.last.at + self.held)
    }

    fn mean(&self) -> Rate {
        match self.period() {
            None => self.last.rate,
            Some(period) => {
                let bits = self.bits + self.last.rate.0 as f64 * self.held.as_secs_f64();
                mean_rate(bits, period)
            }
        }
    }

    /// The steps of the whole run.
    fn repeated(&self, until: Span) -> Result<Vec<(Time, Rate)>, String> {
        let cycles = self.period().map_or(1, |period| until.0 / period.0 + 1);
        let steps = u128::from(cycles) * self.kept.len() as u128;
        if steps > MOST_STEPS {
            return Err(format!(
                "expected at most {MOST_STEPS} steps within the run, found {steps}: its cycle is very short"
            ));
        }
        let period = self.period().unwrap_or(Span::ZERO);
        let cycle = |n: u64| self.kept.iter().map(move |row| (Time(period.times(n).0) + row.at, row.rate));
        // A step at the end of the run or after it has no effect, but the first must be there.
        Ok((0..cycles).flat_map(cycle).filter(|(at, _)| at.0 == 0 || at.0 < until.0).collect())
    }
}

fn row(line: &str) -> Result<Row, String> {
    if line.contains(';') {
        return Err(SEMICOLONS.to_owned());
    }
    let shown: String = line.chars().take(40).collect();
    let wrong = || format!("expected `seconds,Mbit/s`, found `{shown}`");
    let (seconds, rate) = line.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong);
    let (seconds, mbit) = (number(seconds)?, number(rate)?);
    if !(0.0..=LATEST).contains(&seconds) {
        return Err(format!("expected a time from 0 to {LATEST} s, found {seconds} s"));
    }
    if mbit < 0.0 {
        return Err(format!("a rate cannot be negative, found {mbit}"));
    }
    if mbit > FASTEST {
        return Err(format!("{} Mbit/s is too fast", rate.trim()));
    }
    Ok(Row { at: Span::from_secs_f64(seconds), rate: Rate((mbit * 1e6).round() as u64) })
}
