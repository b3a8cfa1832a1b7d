//! Synthetic cellular traces: a rate that wanders about its mean, as under fading, with short outages.
//!
//! They replace recordings that may not be shipped, and promise only this: the same bits for the same name, a
//! rate that doubles or halves within seconds, and occasional outages.

use cwndlab_learn::Rng;
use std::fmt::Write as _;

/// The parameters of a synthetic trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synthetic {
    /// The name of its random stream.
    pub name: &'static str,
    /// Length in milliseconds.
    pub millis: u64,
    /// The mean to which the rate returns, in Mbit/s.
    pub mean: f64,
    /// Lowest and highest rate in Mbit/s.
    pub bounds: (f64, f64),
    /// Outages per second.
    pub outages: f64,
}

impl Synthetic {
    /// The downlink of a moving LTE receiver.
    pub const LTE_DOWN: Synthetic =
        Synthetic { name: "lte down", millis: 60_000, mean: 9.0, bounds: (1.0, 40.0), outages: 0.08 };
    /// Its uplink.
    pub const LTE_UP: Synthetic =
        Synthetic { name: "lte up", millis: 60_000, mean: 5.0, bounds: (0.5, 15.0), outages: 0.08 };
}

/// Milliseconds in which the rate loses about two thirds of its distance from the mean.
const MEMORY_MS: f64 = 2000.0;
/// Standard deviation of the rate, relative to the mean.
const SPREAD: f64 = 0.6;
/// Mean length of an outage in milliseconds.
const OUTAGE_MS: f64 = 250.0;
/// Bits of one opportunity of mahimahi's format.
const OPPORTUNITY_BITS: f64 = 1504.0 * 8.0;

/// A trace in mahimahi's format.
#[must_use]
pub fn synthetic(kind: &Synthetic) -> String {
    let mut rng = Rng::named(0, kind.name);
    let mut text = String::new();
    // An Ornstein-Uhlenbeck process in steps of 1 ms; its noise is a sum of uniforms, close enough to normal.
    let noise_per_step = SPREAD * kind.mean * (2.0_f64 / MEMORY_MS).sqrt();
    let (mut rate, mut credit_bits, mut outage_ms) = (kind.mean, 0.0, 0.0);
    for ms in 1..=kind.millis {
        let normal = (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
        rate += (kind.mean - rate) / MEMORY_MS + noise_per_step * normal;
        rate = rate.clamp(kind.bounds.0, kind.bounds.1);
        if rng.chance(kind.outages / 1000.0) {
            outage_ms = OUTAGE_MS * rng.exponential();
        }
        outage_ms -= 1.0;
        if outage_ms <= 0.0 {
            credit_bits += rate * 1000.0;
        }
        while credit_bits >= OPPORTUNITY_BITS {
            credit_bits -= OPPORTUNITY_BITS;
            opportunity(&mut text, ms);
        }
    }
    // The last line ends the cycle, so the cycle has its full length.
    opportunity(&mut text, kind.millis);
    text
}

fn opportunity(text: &mut String, ms: u64) {
    // Writing to a String cannot fail.
    let _infallible = writeln!(text, "{ms}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::read;
    use cwndlab_cc::Span;

    #[test]
    fn it_is_a_trace_of_its_length_and_about_its_mean() {
        for kind in [Synthetic::LTE_DOWN, Synthetic::LTE_UP] {
            let text = synthetic(&kind);
            assert!(text.len() < 300_000, "{} bytes", text.len());
            let trace = read(&mut text.as_bytes(), Span::from_secs(100)).unwrap();
            let mean = trace.mean.0 as f64 / 1e6;
            assert!((0.6 * kind.mean..1.4 * kind.mean).contains(&mean), "{mean} Mbit/s");
            assert!(trace.period.unwrap() > Span::from_secs(59));
        }
    }

    #[test]
    fn the_rate_varies() {
        let text = synthetic(&Synthetic::LTE_DOWN);
        let mut per_second = [0_u32; 61];
        text.lines().for_each(|line| per_second[line.parse::<usize>().unwrap() / 1000] += 1);
        let (least, most) = (per_second[..60].iter().min().unwrap(), per_second.iter().max().unwrap());
        assert!(*most > 3 * *least, "{least} to {most} a second");
    }
}
