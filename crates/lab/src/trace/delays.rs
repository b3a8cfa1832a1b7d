//! Delays from a file: one line for each interval, as in LeoReplayer (Lai et al. 2025), or CSV.

use super::csv::{self, Column};
use super::cycle::MOST_STEPS;
use super::{Cycle, Lines};
use cwndlab_cc::Span;
use std::io::BufRead;

/// The default interval between lines of a file with one value a line: LeoReplayer's interval.
pub const EVERY: Span = Span::from_millis(10);
/// The longest delay in milliseconds: about a quarter of an hour.
const LONGEST: f64 = 1e6;

const DELAY: Column<Span> = Column { line: "seconds,ms", value: delay, number: |delay| delay.0 as f64 };

/// Delays that were read.
#[derive(Clone, Debug)]
pub struct Delays {
    /// One cycle of delays, as far as the run needs it.
    pub cycle: Cycle<Span>,
    /// The mean of the whole cycle.
    pub mean: Span,
    /// Time between two lines; `None` for CSV, which has times of its own.
    pub every: Option<Span>,
    /// SHA-256 of the whole file, in hexadecimal digits.
    pub hash: String,
}

/// Reads delays; those after `until` are checked but not kept.
///
/// # Errors
/// What is wrong with them, with the line.
pub fn read_delays(reader: &mut dyn BufRead, every: Option<Span>, until: Span) -> Result<Delays, String> {
    let mut lines = Lines::new(reader);
    let Some(first) = lines.next()? else {
        return Err("it is empty".to_owned());
    };
    if first.split(',').next().is_some_and(|field| field.contains(';')) {
        return Err(lines.wrong(&DELAY.semicolons()));
    }
    let csv = first.contains(',');
    let every = match (csv, every) {
        (true, Some(_)) => return Err("its lines have times of their own; leave `every` out".to_owned()),
        (true, None) => None,
        (false, every) => Some(every.unwrap_or(EVERY)),
    };
    let (cycle, mean) = match every {
        None => csv::read(&first, &mut lines, until, &DELAY)?,
        Some(every) => line_by_line(first, &mut lines, every, until)?,
    };
    Ok(Delays { cycle, mean: Span(mean.round() as u64), every, hash: lines.hash() })
}

fn line_by_line(
    first: String,
    lines: &mut Lines,
    every: Span,
    until: Span,
) -> Result<(Cycle<Span>, f64), String> {
    let (mut kept, mut count, mut sum) = (Vec::new(), 0_u64, 0.0);
    let mut next = Some(first);
    while let Some(line) = next {
        count += 1;
        // A blank line is a mistake here, because each line stands for an interval.
        if lines.number as u64 != count {
            return Err(format!("line {count}: expected a delay in ms, found an empty line"));
        }
        let value = milliseconds(&line).map_err(|message| lines.wrong(&message))?;
        let at = every.0.checked_mul(count - 1).map(Span);
        match at {
            Some(at) if at <= until => kept.push((at, value)),
            Some(_) => {}
            None => return Err(lines.wrong("it is too long")),
        }
        if kept.len() as u128 > MOST_STEPS {
            return Err(
                lines.wrong(&format!("expected at most {MOST_STEPS} delays within the run, found more"))
            );
        }
        sum += value.0 as f64;
        next = lines.next()?;
    }
    let period = every.0.checked_mul(count).map(Span).ok_or_else(|| "it is too long".to_owned())?;
    Ok((Cycle::new(kept, Some(period)), sum / count as f64))
}

fn milliseconds(line: &str) -> Result<Span, String> {
    let shown: String = line.chars().take(40).collect();
    let number = line.parse::<f64>().ok().filter(|ms| ms.is_finite());
    let number = number.ok_or_else(|| format!("expected a delay in ms, found `{shown}`"))?;
    delay(number, &shown)
}

fn delay(ms: f64, written: &str) -> Result<Span, String> {
    match ms {
        _ if ms < 0.0 => Err(format!("a delay cannot be negative, found {written} ms")),
        _ if ms > LONGEST => Err(format!("expected a delay of at most {LONGEST} ms, found {written} ms")),
        _ => Ok(Span((ms * 1e6).round() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_text(text: &str, every: Option<u64>) -> Result<Delays, String> {
        read_delays(&mut text.as_bytes(), every.map(Span::from_millis), Span::from_secs(60))
    }

    #[test]
    fn each_line_is_an_interval() {
        let delays = read_text("24\n18\n20.5\n", None).unwrap();
        let ms = Span::from_millis;
        let expected = [(Span::ZERO, ms(24)), (ms(10), ms(18)), (ms(20), Span::from_micros(20_500))];
        assert_eq!((delays.cycle.values(), delays.cycle.period()), (&expected[..], Some(ms(30))));
        assert_eq!((delays.mean, delays.every), (Span(20_833_333), Some(ms(10))));
        assert_eq!(read_text("5\n6\n", Some(100)).unwrap().cycle.period(), Some(ms(200)));
    }

    #[test]
    fn csv_has_its_own_times() {
        let delays = read_text("seconds,ms\n0,20\n1.5,60\n2,20\n", None).unwrap();
        assert_eq!(
            (delays.cycle.period(), delays.mean),
            (Some(Span::from_millis(2500)), Span::from_millis(28))
        );
        assert_eq!(delays.every, None);
        assert!(read_text("0,20\n1,30\n", Some(10)).unwrap_err().contains("leave `every` out"));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let cases = [
            ("", "it is empty"),
            ("24\n\n18\n", "line 2: expected a delay in ms, found an empty line"),
            ("\n24\n", "line 1: expected a delay in ms, found an empty line"),
            ("24\nx\n", "line 2: expected a delay in ms, found `x`"),
            ("24\ninf\n", "line 2: expected a delay in ms, found `inf`"),
            ("24\n-3\n", "line 2: a delay cannot be negative, found -3 ms"),
            ("2e9\n", "line 1: expected a delay of at most 1000000 ms, found 2e9 ms"),
            ("0,20\n5\n", "line 2: expected `seconds,ms`, found `5`"),
            ("0,20\n1,-1\n", "line 2: a delay cannot be negative, found -1 ms"),
            ("1,20\n", "line 1: expected 0 as the first time"),
            ("0;20\n", "line 1: expected a comma between the two, `seconds,ms`, found semicolons"),
            ("seconds,ms\n", "it has no values"),
        ];
        for (text, message) in cases {
            let error = read_text(text, None).unwrap_err();
            assert!(error.contains(message), "{text:?} gives {error:?}, not {message:?}");
        }
        assert_eq!(
            read_text("24\n18\n\n\n", None).unwrap().cycle.values().len(),
            2,
            "blank lines at the end"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _any = read_delays(&mut &bytes[..], None, Span::from_secs(3));
        }

        #[test]
        fn what_is_accepted_is_sound(
            text in "([0-9]{1,4}([.,][0-9]{1,3})?\n){1,20}", every in 1..50_u64, start in 0..5000_u64,
        ) {
            let Ok(delays) = read_text(&text, Some(every)).or_else(|_| read_text(&text, None)) else { return Ok(()) };
            let until = Span::from_secs(3);
            let start = delays.cycle.period().map_or(Span::ZERO, |period| Span(Span::from_millis(start).0 % period.0));
            if delays.cycle.fits(start, until).is_ok() {
                let steps = delays.cycle.steps(start, until);
                prop_assert!(steps.iter().all(|(at, delay)| at.0 < until.0 && delay.0 <= 1_000_000_000_000));
            }
        }
    }
}
