//! Mahimahi's format: each line is the millisecond of one opportunity to deliver 1504 bytes.

use super::{Lines, Service, mean_rate};
use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::spec::Opportunities;
use std::sync::Arc;

/// Bytes of one opportunity: an MTU of 1500 and mahimahi's four bytes of TUN header.
const BYTES: u64 = 1504;
/// Thirty years in milliseconds; later times would overflow.
const LATEST: u64 = 1_000_000_000_000;

/// The most opportunities that are kept: 1.6 GB of memory.
const MOST_KEPT: usize = 200_000_000;

pub(super) fn read(
    first: &str,
    lines: &mut Lines,
    until: Span,
) -> Result<(Service, Rate, Option<Span>), String> {
    read_up_to(MOST_KEPT, first, lines, until)
}

fn read_up_to(
    most: usize,
    first: &str,
    lines: &mut Lines,
    until: Span,
) -> Result<(Service, Rate, Option<Span>), String> {
    let mut at = Vec::new();
    let (mut count, mut last) = (0_u64, 0);
    let mut next = Some(first.to_owned());
    while let Some(line) = next {
        let ms = milliseconds(&line).map_err(|message| lines.wrong(&message))?;
        if ms < last {
            return Err(lines.wrong(&format!("{ms} ms comes after {last} ms: the times must not decrease")));
        }
        // One is kept in any case: a link without any opportunity would be none.
        if at.is_empty() || Span::from_millis(ms) <= until {
            at.push(Time(Span::from_millis(ms).0));
        }
        if at.len() > most {
            return Err(
                lines.wrong(&format!("expected at most {most} opportunities within the run, found more"))
            );
        }
        (count, last) = (count + 1, ms);
        next = lines.next()?;
    }
    if last == 0 {
        return Err("the last opportunity must be after 0 ms: it ends the cycle".to_owned());
    }
    let period = Span::from_millis(last);
    let mean = mean_rate(count as f64 * BYTES as f64 * 8.0, period);
    let kept = Opportunities { period: kept_period(&at, count, until).unwrap_or(period), at, bytes: BYTES };
    Ok((Service::Opportunities(Arc::new(kept)), mean, Some(period)))
}

/// The cycle of what is kept, if that is not all: as long as the run, which thus sees no end of it.
fn kept_period(at: &[Time], count: u64, until: Span) -> Option<Span> {
    let all = at.len() as u64 == count;
    at.last().filter(|_| !all).map(|last| until.max(Span(last.0)))
}

fn milliseconds(line: &str) -> Result<u64, String> {
    let shown: String = line.chars().take(40).collect();
    if line.is_empty() || !line.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("expected a whole number of milliseconds, found `{shown}`"));
    }
    let ms = line.parse().ok().filter(|ms| *ms <= LATEST);
    ms.ok_or_else(|| format!("{shown} ms is too late"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_opportunities_than_memory_is_given_for_are_refused_while_they_are_read() {
        let up_to = |most: usize| {
            let mut text: &[u8] = b"1\n1\n1\n2000\nno number, and never read";
            let mut lines = Lines::new(&mut text);
            let first = lines.next().unwrap().unwrap();
            read_up_to(most, &first, &mut lines, Span::from_secs(1)).unwrap_err()
        };
        assert_eq!(up_to(2), "line 3: expected at most 2 opportunities within the run, found more");
        assert!(up_to(3).starts_with("line 5: expected a whole number of milliseconds, found `no number"));
    }
}
