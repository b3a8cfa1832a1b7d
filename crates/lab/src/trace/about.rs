//! Facts about a recording: its length, its mean, its values in time windows, and its outages.

use super::cycle::Cycle;
use super::{Delays, Service, Trace};
use cwndlab_cc::{Rate, Span};
use cwndlab_sim::spec::Opportunities;
use serde_json::{Value, json};

/// The most windows into which a recording may be cut.
const MOST_WINDOWS: u64 = 10_000_000;

/// A time in which nothing can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outage {
    at: Span,
    length: Span,
}

impl Trace {
    /// Facts as JSON: rates in windows of this length, without a shorter last one, and outages, which are
    /// times of at least one window in which nothing can be sent. The trace must have been read to its end.
    ///
    /// # Errors
    /// There are too many windows.
    pub fn about(&self, window: Span) -> Result<Value, String> {
        let (format, lines) = match &self.service {
            Service::Opportunities(all) => ("mahimahi", all.at.len()),
            Service::Rates(cycle) => ("csv", cycle.values().len()),
        };
        let windows = windows(self.period, window)?;
        let bits = match &self.service {
            Service::Opportunities(all) => bits_of_opportunities(all, window, windows),
            Service::Rates(cycle) => bits_of_rates(cycle, window, windows),
        };
        let length = self.period.map_or(window, |period| period.min(window));
        let rates: Vec<f64> = bits.iter().map(|bits| bits / length.as_secs_f64() / 1e6).collect();
        let all = self.period.map_or_else(Vec::new, |period| self.outages(window, period));
        let longest = all.iter().max_by_key(|outage| outage.length);
        let total: u64 = all.iter().map(|outage| outage.length.0).sum();
        Ok(json!({
            "format": format,
            "lines": lines,
            "sha256": self.hash,
            "length_s": self.period.map(Span::as_secs_f64),
            "mean_mbps": self.mean.0 as f64 / 1e6,
            "window_s": length.as_secs_f64(),
            "rates_mbps": rates,
            "outages": all.iter().map(|each| json!([each.at.as_secs_f64(), each.length.as_secs_f64()])).collect::<Vec<_>>(),
            "longest_outage_s": longest.map_or(0.0, |outage| outage.length.as_secs_f64()),
            "outage_share": self.period.map_or(0.0, |period| total as f64 / period.0 as f64),
        }))
    }

    /// The outages of a repeated cycle; one at the cycle's end may continue at its beginning.
    fn outages(&self, least: Span, period: Span) -> Vec<Outage> {
        let silences = match &self.service {
            Service::Opportunities(all) => silences(all),
            Service::Rates(cycle) => zeros(cycle, period),
        };
        silences.into_iter().filter(|silence| silence.length >= least).collect()
    }
}

impl Delays {
    /// Facts as JSON: the delay at the beginning of each window of this length, without a shorter last one.
    /// The file must have been read to its end.
    ///
    /// # Errors
    /// There are too many windows.
    pub fn about(&self, window: Span) -> Result<Value, String> {
        let period = self.cycle.period();
        let length = period.map_or(window, |period| period.min(window));
        let mut values = self.cycle.values().iter().peekable();
        let mut delay = Span::ZERO;
        let delays = (0..windows(period, window)?).map(|n| {
            while let Some((_, next)) = values.next_if(|(at, _)| *at <= window.times(n)) {
                delay = *next;
            }
            delay.as_millis_f64()
        });
        Ok(json!({
            "format": if self.every.is_some() { "delays" } else { "csv" },
            "every_s": self.every.map(Span::as_secs_f64),
            "sha256": self.hash,
            "lines": self.cycle.values().len(),
            "length_s": period.map(Span::as_secs_f64),
            "mean_ms": self.mean.as_millis_f64(),
            "window_s": length.as_secs_f64(),
            "delays_ms": delays.collect::<Vec<_>>(),
        }))
    }
}

/// The number of whole windows in a cycle, at least one.
fn windows(period: Option<Span>, window: Span) -> Result<u64, String> {
    let windows = period.map_or(1, |period| (period.0 / window.0).max(1));
    if windows > MOST_WINDOWS {
        return Err(format!(
            "expected a window that cuts it into at most {MOST_WINDOWS}, found {windows} of {window}"
        ));
    }
    Ok(windows)
}

fn bits_of_opportunities(all: &Opportunities, window: Span, windows: u64) -> Vec<f64> {
    let mut bits = vec![0.0; windows as usize];
    for at in &all.at {
        // An opportunity at the very end of a window, or of the cycle, belongs to that window.
        let within = at.0.saturating_sub(1) / window.0;
        if let Some(bits) = bits.get_mut(within as usize) {
            *bits += all.bytes as f64 * 8.0;
        }
    }
    bits
}

fn bits_of_rates(cycle: &Cycle<Rate>, window: Span, windows: u64) -> Vec<f64> {
    let Some(period) = cycle.period() else {
        return cycle.values().iter().map(|(_, rate)| rate.0 as f64 * window.as_secs_f64()).collect();
    };
    let length = window.0.min(period.0);
    let mut bits = vec![0.0; windows as usize];
    for (at, end, rate) in held(cycle, period) {
        let mut from = at.0;
        while from < end.0 {
            let n = from / length;
            let until = ((n + 1) * length).min(end.0);
            let Some(bits) = bits.get_mut(n as usize) else { break };
            *bits += rate.0 as f64 * Span(until - from).as_secs_f64();
            from = until;
        }
    }
    bits
}

/// The begin and the end of each rate.
fn held(cycle: &Cycle<Rate>, period: Span) -> impl Iterator<Item = (Span, Span, Rate)> {
    let ends = cycle.values().iter().skip(1).map(|(at, _)| *at).chain([period]);
    cycle.values().iter().zip(ends).map(|((at, rate), end)| (*at, end, *rate))
}

/// The gaps between opportunities. The last opportunity ends the cycle.
fn silences(all: &Opportunities) -> Vec<Outage> {
    let mut last = Span::ZERO;
    let silence = |at: &cwndlab_cc::Time| {
        let outage = Outage { at: last, length: Span(at.0 - last.0) };
        last = Span(at.0);
        outage
    };
    all.at.iter().map(silence).collect()
}

/// The times with a rate of zero. One that lasts to the end of the cycle continues in the next cycle.
fn zeros(cycle: &Cycle<Rate>, period: Span) -> Vec<Outage> {
    let mut found: Vec<Outage> = Vec::new();
    for (at, end, _) in held(cycle, period).filter(|(.., rate)| rate.0 == 0) {
        let length = Span(end.0 - at.0);
        match found.last_mut().filter(|last| last.at + last.length == at) {
            Some(last) => last.length += length,
            None => found.push(Outage { at, length }),
        }
    }
    if let [first, .., last] = &mut found[..]
        && first.at == Span::ZERO
        && last.at + last.length == period
    {
        last.length += first.length;
        found.remove(0);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{read, read_delays};
    use super::*;

    const WHOLE: Span = Span(u64::MAX);

    fn about(text: &str, window_ms: u64) -> Value {
        read(&mut text.as_bytes(), WHOLE).unwrap().about(Span::from_millis(window_ms)).unwrap()
    }

    #[test]
    fn opportunities_in_windows_and_the_gaps_between_them() {
        // 1, 0, 2 and 1 opportunities in windows of 10 ms; a window includes its end.
        let facts = about("10\n21\n30\n40\n", 10);
        assert_eq!(facts["rates_mbps"], json!([1.2032, 0.0, 2.4064, 1.2032]));
        assert_eq!((&facts["lines"], &facts["length_s"]), (&json!(4), &json!(0.04)));
        assert_eq!(facts["outages"], json!([[0.0, 0.01], [0.01, 0.011], [0.03, 0.01]]));
        assert_eq!((&facts["longest_outage_s"], &facts["outage_share"]), (&json!(0.011), &json!(0.775)));
        assert_eq!(about("10\n21\n30\n40\n", 12)["outages"], json!([]));
        assert_eq!(about("3\n7\n", 100)["rates_mbps"].as_array().unwrap().len(), 1, "shorter than a window");
    }

    #[test]
    fn rates_in_windows_and_the_times_without_one() {
        let facts = about("0,0\n0.5,8\n1,4\n1.5,0\n1.75,0\n", 1000);
        assert_eq!(facts["rates_mbps"], json!([4.0, 2.0]));
        // The outage at the end of the cycle of 2 s continues at its beginning.
        let short = about("0,0\n0.5,8\n1,4\n1.5,0\n1.75,0\n", 500);
        assert_eq!(short["outages"], json!([[1.5, 1.0]]));
        assert_eq!((&short["outage_share"], &short["mean_mbps"]), (&json!(0.5), &json!(3.0)));
        let single = about("0,12.5\n", 100);
        assert_eq!((&single["length_s"], &single["rates_mbps"]), (&Value::Null, &json!([12.5])));
    }

    #[test]
    fn delays_at_the_beginning_of_each_window() {
        let about = |text: &str, ms| {
            let delays = read_delays(&mut text.as_bytes(), None, WHOLE).unwrap();
            delays.about(Span::from_millis(ms)).unwrap()
        };
        let facts = about("24\n18\n20\n30\n", 20);
        assert_eq!((&facts["delays_ms"], &facts["mean_ms"]), (&json!([24.0, 20.0]), &json!(23.0)));
        assert_eq!((&facts["every_s"], &facts["length_s"]), (&json!(0.01), &json!(0.04)));
        assert_eq!(about("0,5\n0.5,7\n", 250)["delays_ms"], json!([5.0, 5.0, 7.0, 7.0]));
    }

    #[test]
    fn too_many_windows_are_refused() {
        let trace = read(&mut &b"1\n1000000000\n"[..], WHOLE).unwrap();
        assert!(trace.about(Span(1)).unwrap_err().contains("at most 10000000"));
    }
}
