//! Mahimahi's format: each line is the millisecond of one opportunity to deliver 1504 bytes.

use super::{Lines, mean_rate};
use cwndlab_cc::{Rate, Span, Time};
use cwndlab_sim::spec::Opportunities;
use std::sync::Arc;

/// Bytes of one opportunity: an MTU of 1500 bytes and mahimahi's TUN header of four bytes.
const BYTES: u64 = 1504;
/// Thirty years in milliseconds; later times would overflow.
const LATEST: u64 = 1_000_000_000_000;

/// The most opportunities that are kept: 1.6 GB of memory.
const MOST_KEPT: usize = 200_000_000;

/// The opportunities up to `until`, the mean rate of the whole cycle, and its length.
pub(super) fn read(
    first: &str,
    lines: &mut Lines,
    until: Span,
) -> Result<(Arc<Opportunities>, Rate, Span), String> {
    read_up_to(MOST_KEPT, first, lines, until)
}

fn read_up_to(
    most: usize,
    first: &str,
    lines: &mut Lines,
    until: Span,
) -> Result<(Arc<Opportunities>, Rate, Span), String> {
    let mut at = Vec::new();
    let (mut count, mut last) = (0_u64, 0);
    let mut next = Some(first.to_owned());
    while let Some(line) = next {
        let ms = milliseconds(&line).map_err(|message| lines.wrong(&message))?;
        if ms < last {
            return Err(lines.wrong(&format!("{ms} ms comes after {last} ms: the times must not decrease")));
        }
        // At least one is kept: a link without any opportunity could not send.
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
    Ok((Arc::new(kept), mean, period))
}

/// The period if only a part was kept: at least as long as the run, which therefore never sees the cycle's end.
fn kept_period(at: &[Time], count: u64, until: Span) -> Option<Span> {
    let all = at.len() as u64 == count;
    at.last().filter(|_| !all).map(|last| until.max(Span(last.0)))
}

/// The same cycle, rotated to begin at `start`, which lies in it.
pub(super) fn rotated(kept: &Opportunities, start: Span) -> Opportunities {
    let Opportunities { ref at, period, bytes } = *kept;
    let first = at.partition_point(|at| at.0 < start.0);
    let (earlier, later) = at.split_at(first);
    let later = later.iter().map(|at| Time(at.0 - start.0));
    let earlier = earlier.iter().map(|at| Time(at.0 + period.0 - start.0));
    Opportunities { at: later.chain(earlier).collect(), period, bytes }
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
    fn a_start_leaves_out_what_is_before_it() {
        let ms = |ms: u64| Time(ms * 1_000_000);
        let at = [0, 3, 3, 7, 10].map(ms).to_vec();
        let trace = Opportunities { at, period: Span::from_millis(10), bytes: BYTES };
        let from = |start| rotated(&trace, Span::from_millis(start)).at;
        assert_eq!(from(0), trace.at);
        assert_eq!(from(3), [0, 0, 4, 7, 7].map(ms), "what is at the start belongs to it");
        assert_eq!(from(4), [3, 6, 6, 9, 9].map(ms));
    }

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
