//! The clock of a link: how long a packet takes to be served, without losing a fraction of a nanosecond.

use crate::spec::{Capacity, Opportunities};
use cwndlab_cc::{Rate, Time};
use std::sync::Arc;

const BIT_NANOS: u64 = 8 * 1_000_000_000;

/// Serves at a constant rate and carries the remainder of each division to the next packet.
#[derive(Clone, Copy, Debug)]
pub struct Serializer {
    rate: Rate,
    remainder: u64,
    /// The last size, with its quotient and remainder: most packets have the same size.
    cached: (u64, u64, u64),
}

impl Serializer {
    /// A server with this rate.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self { rate, remainder: 0, cached: (0, 0, 0) }
    }

    /// The rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The server was idle: the fraction is forgotten.
    #[inline]
    pub fn rest(&mut self) {
        self.remainder = 0;
    }

    /// When a packet whose first bit is sent at `start` has been sent; never at rate zero.
    #[inline]
    pub fn finish(&mut self, start: Time, bytes: u64) -> Time {
        if self.rate.0 == 0 || start == Time::NEVER {
            return Time::NEVER;
        }
        if self.cached.0 != bytes {
            let work = bytes * BIT_NANOS;
            self.cached = (bytes, work / self.rate.0, work % self.rate.0);
        }
        let (_, mut nanos, remainder) = self.cached;
        self.remainder += remainder;
        if self.remainder >= self.rate.0 {
            self.remainder -= self.rate.0;
            nanos += 1;
        }
        Time(start.0.saturating_add(nanos))
    }

    /// Bits still to be sent of a packet that ends at `finish`; during an outage the `stopped` bits, which
    /// were left when it began.
    #[must_use]
    pub fn left_bits(&self, now: Time, finish: Time, stopped: f64) -> f64 {
        if self.rate.0 == 0 || finish == Time::NEVER {
            return stopped;
        }
        finish.since(now).as_secs_f64() * self.rate.0 as f64
    }

    /// When a packet that would end at `finish` ends at the new rate, and the bits that it still has to send;
    /// `left_bits` were left if an outage has stopped it.
    #[must_use]
    pub fn retime(&self, now: Time, finish: Time, left_bits: f64, new: Rate) -> (Time, f64) {
        let bits = self.left_bits(now, finish, left_bits);
        if new.0 == 0 {
            return (Time::NEVER, bits);
        }
        (Time(now.0 + (bits / new.0 as f64 * 1e9 + 0.5) as u64), bits)
    }
}

/// Walks through the delivery opportunities of a trace.
#[derive(Clone, Debug)]
pub struct TraceClock {
    trace: Arc<Opportunities>,
    cycle: u64,
    index: usize,
}

impl TraceClock {
    /// A clock at the first opportunity.
    #[must_use]
    pub fn new(trace: Arc<Opportunities>) -> Self {
        Self { trace, cycle: 0, index: 0 }
    }

    /// Bytes of one opportunity.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.trace.bytes
    }

    fn current(&self) -> Time {
        Time(self.cycle * self.trace.period.0 + self.trace.at[self.index].0)
    }

    /// The next opportunity that is not before `now`; those before are lost.
    pub fn next_from(&mut self, now: Time) -> Time {
        let period = self.trace.period.0;
        if now > self.current() {
            // An opportunity at the very end of a cycle belongs to it.
            let cycle = (now.0 - 1) / period;
            if cycle > self.cycle {
                (self.cycle, self.index) = (cycle, 0);
            }
            let within = Time(now.0 - self.cycle * period);
            self.index += self.trace.at[self.index..].partition_point(|at| *at < within);
            if self.index == self.trace.at.len() {
                (self.cycle, self.index) = (self.cycle + 1, 0);
            }
        }
        self.current()
    }

    /// The current opportunity has been used.
    pub fn advance(&mut self) {
        self.index += 1;
        if self.index == self.trace.at.len() {
            (self.cycle, self.index) = (self.cycle + 1, 0);
        }
    }
}

/// Bits that a link could have carried from `from` to `to`; `None` if it has no rate.
#[must_use]
pub fn capacity_bits(capacity: &Capacity, from: Time, to: Time) -> Option<f64> {
    match capacity {
        Capacity::Unlimited => None,
        Capacity::Rate(schedule) => {
            let mut bits = 0.0;
            let mut at = from;
            while at < to {
                let until = schedule.next_change(at).unwrap_or(Time::NEVER).min(to);
                bits += schedule.at(at).0 as f64 * until.since(at).as_secs_f64();
                at = until;
            }
            Some(bits)
        }
        Capacity::Trace(trace) => {
            let before = |t: Time| {
                let cycles = t.0 / trace.period.0;
                let within = Time(t.0 % trace.period.0);
                cycles * trace.at.len() as u64 + trace.at.partition_point(|at| *at < within) as u64
            };
            Some(((before(to) - before(from)) * trace.bytes * 8) as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::Span;

    #[test]
    fn a_million_packets_do_not_drift() {
        // 1500 bytes at 7 Mbit/s take 1714285.714... ns.
        let mut server = Serializer::new(Rate::from_mbit(7));
        let mut at = Time::ZERO;
        for _ in 0..1_000_000 {
            at = server.finish(at, 1500);
        }
        assert_eq!(at.0, 1_000_000 * 1500 * BIT_NANOS / 7_000_000);
    }

    #[test]
    fn a_trace_repeats_and_skips_what_is_past() {
        let trace = Opportunities { at: vec![Time(2), Time(5), Time(5)], period: Span(10), bytes: 1504 };
        let mut clock = TraceClock::new(Arc::new(trace));
        assert_eq!(clock.next_from(Time(0)), Time(2));
        clock.advance();
        assert_eq!(clock.next_from(Time(2)), Time(5));
        clock.advance();
        assert_eq!(clock.next_from(Time(5)), Time(5));
        clock.advance();
        assert_eq!(clock.next_from(Time(5)), Time(12));
        assert_eq!(clock.next_from(Time(36)), Time(42));
        assert_eq!(clock.next_from(Time(43)), Time(45));
    }

    #[test]
    fn capacity_of_steps_and_traces() {
        let steps = crate::Schedule::steps(vec![
            (Time::ZERO, Rate::from_mbit(10)),
            (Time(1_000_000_000), Rate::from_mbit(30)),
        ]);
        let rate = Capacity::Rate(steps.unwrap());
        let bits = capacity_bits(&rate, Time(500_000_000), Time(2_000_000_000)).unwrap();
        assert!((bits - 35e6).abs() < 1.0);
        let trace = Opportunities { at: vec![Time(2), Time(5)], period: Span(10), bytes: 100 };
        let trace = Capacity::Trace(Arc::new(trace));
        assert_eq!(capacity_bits(&trace, Time(0), Time(25)), Some(5.0 * 800.0));
    }
}
