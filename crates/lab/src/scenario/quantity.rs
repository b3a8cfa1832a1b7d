//! Numbers with units. A unit is never optional, because a number without one, such as `delay =
//! 30`, is a common mistake.

use super::problem::Checked;
use super::section::Item;
use super::tree::{Kind, shortened};
use super::words;
use cwndlab_cc::{Rate, Span};

/// A physical dimension and its units.
struct Dimension {
    noun: &'static str,
    example: &'static str,
    /// Units and their size in ns, bit/s or bytes.
    units: &'static [(&'static str, f64)],
    /// The largest value: far above realistic values, and far below overflow.
    most: (f64, &'static str),
}

const TIME: Dimension = Dimension {
    noun: "a time",
    example: "30 ms",
    units: &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9)],
    most: (1e18, "1000000000 s"),
};

const RATE: Dimension = Dimension {
    noun: "a rate",
    example: "100 Mbit/s",
    units: &[
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("B/s", 8.0),
        ("kB/s", 8e3),
        ("MB/s", 8e6),
        ("GB/s", 8e9),
    ],
    most: (1e15, "1000000 Gbit/s"),
};

const SIZE: Dimension = Dimension {
    noun: "a size",
    example: "30 kB",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ],
    most: (1e15, "1000000 GB"),
};

const QUEUE: Dimension = Dimension {
    noun: "a queue size",
    example: "1 bdp",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("packets", 1.0),
        ("bdp", 1.0),
    ],
    most: (1e15, "1000000 GB"),
};

/// Common other unit names, which an edit distance would not match, and the unit to suggest for each.
const HABITS: &[(&str, &str)] = &[
    ("bps", "bit/s"),
    ("kbps", "kbit/s"),
    ("mbps", "Mbit/s"),
    ("gbps", "Gbit/s"),
    ("sec", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("usec", "us"),
    ("µs", "us"),
    ("minute", "min"),
    ("minutes", "min"),
    ("m", "min"),
    ("h", "min"),
    ("hr", "min"),
    ("hour", "min"),
    ("hours", "min"),
    ("d", "min"),
    ("day", "min"),
    ("days", "min"),
    ("byte", "B"),
    ("bytes", "B"),
    ("packet", "packets"),
    ("pkt", "packets"),
    ("pkts", "packets"),
    ("p", "packets"),
];

/// The only queue size in packets that is written in the singular.
const ONE_PACKET: &str = "1 packet";

/// How much a queue holds, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QueueSize {
    Unlimited,
    Packets(u64),
    Bytes(u64),
    Bdp(f64),
    /// The default: 1 bdp, but at least one packet.
    Default,
}

/// A length of time.
pub(crate) fn time(item: &Item) -> Checked<Span> {
    let (nanos, _) = measure(item, &TIME)?;
    Ok(Span(nanos.round() as u64))
}

/// A length of time above zero.
pub(crate) fn time_above_zero(item: &Item) -> Checked<Span> {
    match time(item)? {
        Span::ZERO => Err(item.error("must be above zero")),
        span => Ok(span),
    }
}

/// A rate above zero.
pub(crate) fn rate(item: &Item) -> Checked<Rate> {
    let (bits, _) = measure(item, &RATE)?;
    match bits.round() as u64 {
        0 => Err(item.error("a rate must be at least 1 bit/s; for an outage use a trace")),
        bits => Ok(Rate(bits)),
    }
}

/// Bytes, at least one.
pub(crate) fn bytes(item: &Item) -> Checked<u64> {
    let (bytes, _) = measure(item, &SIZE)?;
    match bytes.round() as u64 {
        0 => Err(item.error("must be at least 1 B")),
        bytes => Ok(bytes),
    }
}

/// The size of a queue.
pub(crate) fn queue_size(item: &Item) -> Checked<QueueSize> {
    if matches!(&item.node.kind, Kind::Text(text) if text.trim() == "unlimited") {
        return Ok(QueueSize::Unlimited);
    }
    if matches!(&item.node.kind, Kind::Text(text) if text.trim() == ONE_PACKET) {
        return Ok(QueueSize::Packets(1));
    }
    let (size, unit) = measure(item, &QUEUE)?;
    if size == 0.0 {
        return Err(item.error("a queue holds at least one packet"));
    }
    match unit {
        "bdp" => Ok(QueueSize::Bdp(size)),
        "packets" if size.fract() == 0.0 => Ok(QueueSize::Packets(size as u64)),
        "packets" => Err(item.error("expected a whole number of packets")),
        _ => Ok(QueueSize::Bytes(size.round() as u64)),
    }
}

/// A finite, non-negative value in the dimension's smallest unit, and the unit in which it was given.
fn measure(item: &Item, dimension: &Dimension) -> Checked<(f64, &'static str)> {
    let Dimension { noun, example, units, most } = dimension;
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    let text = match &item.node.kind {
        Kind::Text(text) => text.trim(),
        Kind::Whole(_) | Kind::Real(_) => {
            let (found, units) = (item.node.kind.shown(), names.join(", "));
            return Err(item.error(format!(
                "expected {noun} with its unit, such as \"{example}\", found {found}; units: {units}"
            )));
        }
        _ => return Err(item.needs(&format!("{noun} with its unit, such as \"{example}\""))),
    };
    let (number, unit) = split(text);
    let Some(number) = number.filter(|number| number.is_finite()) else {
        let found = shortened(text);
        return Err(
            item.error(format!("expected {noun} with its unit, such as \"{example}\", found \"{found}\""))
        );
    };
    if unit.is_empty() {
        return Err(item.error(format!(
            "expected {noun} with its unit, found \"{text}\" without one; units: {}",
            names.join(", ")
        )));
    }
    let Some(&(name, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(item.error(unknown_unit(unit, &names)));
    };
    if number < 0.0 {
        return Err(item.error(format!("{noun} cannot be negative, found \"{text}\"")));
    }
    let value = number * factor;
    if value > most.0 {
        return Err(item.error(format!(
            "\"{}\" is too large; {noun} is at most {}",
            shortened(text),
            most.1
        )));
    }
    Ok((value, name))
}

fn unknown_unit(unit: &str, names: &[&str]) -> String {
    let lower = unit.to_lowercase();
    let habit = HABITS.iter().find(|(habit, ours)| *habit == lower && names.contains(ours));
    match habit {
        Some((_, ours)) => {
            format!("unknown unit `{unit}`; did you mean `{ours}`? Allowed: {}", names.join(", "))
        }
        None => words::unknown("unit", unit, names),
    }
}

/// Splits a text into its number and its unit: `1e3ms` is 1000 and `ms`.
fn split(text: &str) -> (Option<f64>, &str) {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | '_');
    let mut end = text.find(|c| !numeric(c)).unwrap_or(text.len());
    let rest = &text[end..];
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let digits = exponent.trim_start_matches(['+', '-']);
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            let length = exponent.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            end += 1 + length;
        }
    }
    let (number, unit) = text.split_at(end);
    (number.replace('_', "").parse().ok(), unit.trim())
}

/// A value in the largest unit in which it is a whole number, so that it is exact and easy to read.
fn exact(value: u64, units: &[(&str, u64)]) -> String {
    let fits = units.iter().rev().find(|(_, factor)| value.is_multiple_of(*factor));
    match fits {
        Some((name, factor)) => format!("{} {name}", value / factor),
        None => value.to_string(),
    }
}

/// A time as it would be written in a scenario.
pub(crate) fn show_time(span: Span) -> String {
    const UNITS: &[(&str, u64)] = &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    exact(span.0, UNITS)
}

/// A rate as it would be written in a scenario.
pub(crate) fn show_rate(rate: Rate) -> String {
    const UNITS: &[(&str, u64)] =
        &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
    exact(rate.0, UNITS)
}

/// A number of packets as it would be written in a scenario.
pub(crate) fn show_packets(packets: u64) -> String {
    if packets == 1 { ONE_PACKET.to_owned() } else { format!("{packets} packets") }
}

/// A number of bytes as it would be written in a scenario.
pub(crate) fn show_bytes(bytes: u64) -> String {
    const UNITS: &[(&str, u64)] = &[("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
    exact(bytes, UNITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units_part() {
        assert_eq!(split("100 Mbit/s"), (Some(100.0), "Mbit/s"));
        assert_eq!(split("1e3ms"), (Some(1000.0), "ms"));
        assert_eq!(split("1.5e-3 s"), (Some(0.0015), "s"));
        assert_eq!(split("4bdp"), (Some(4.0), "bdp"));
        assert_eq!(split("7"), (Some(7.0), ""));
        assert_eq!(split("ms"), (None, "ms"));
        assert_eq!(split("nan s"), (None, "nan s"));
        assert_eq!(split(""), (None, ""));
        assert_eq!(split("1e ms"), (Some(1.0), "e ms"));
    }

    #[test]
    fn values_are_shown_exactly() {
        assert_eq!(show_time(Span::from_millis(50_000)), "50 s");
        assert_eq!(show_time(Span(10_000)), "10 us");
        assert_eq!(show_time(Span::ZERO), "0 s");
        assert_eq!(show_rate(Rate(1_500_000)), "1500 kbit/s");
        assert_eq!(show_bytes(250_000), "250 kB");
        assert_eq!([1, 2].map(show_packets), ["1 packet", "2 packets"]);
    }
}
