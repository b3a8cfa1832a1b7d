//! Data acknowledged beyond what the bandwidth explains (draft-ietf-ccwg-bbr section 5.5.9): ACKs come in bunches, and
//! the window must not run dry between two of them.

use super::WindowedMax;
use crate::units::{Rate, Time};

/// Estimates how much more than the model is acknowledged at once.
#[derive(Clone, Debug)]
pub struct Aggregation {
    epoch_start: Time,
    epoch_acked: u64,
    extra: WindowedMax<u64>,
}

impl Aggregation {
    /// The estimate is the maximum over this many rounds.
    #[must_use]
    pub fn new(rounds: u64) -> Self {
        Self { epoch_start: Time::ZERO, epoch_acked: 0, extra: WindowedMax::new(rounds) }
    }

    /// From now on the estimate is the maximum over this many rounds.
    pub fn set_rounds(&mut self, rounds: u64) {
        self.extra.set_length(rounds);
    }

    /// Begins a new epoch: silence is no aggregation.
    pub fn restart(&mut self, now: Time) {
        (self.epoch_start, self.epoch_acked) = (now, 0);
    }

    /// Takes an ACK of `acked` bytes in this round, with the window then in force: no more than that is extra.
    pub fn update(&mut self, now: Time, acked: u64, rate: Rate, round: u64, cwnd: u64) {
        let expected = rate.bytes_in(now.since(self.epoch_start));
        // ACKs come no faster than the bandwidth: a new epoch begins.
        if self.epoch_acked <= expected {
            self.epoch_start = now;
            self.epoch_acked = 0;
        }
        let expected = rate.bytes_in(now.since(self.epoch_start));
        self.epoch_acked += acked;
        self.extra.update(round, self.epoch_acked.saturating_sub(expected).min(cwnd));
    }

    /// The estimate in bytes.
    #[must_use]
    pub fn extra_acked(&self) -> u64 {
        self.extra.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn a_bunch_counts_beyond_what_its_time_explains() {
        // 8 Mbit/s: 1000 bytes a ms.
        let rate = Rate::from_mbit(8);
        let mut aggregation = Aggregation::new(10);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        for ms in 1..=20 {
            aggregation.update(at(ms), 1000, rate, ms, 100_000);
        }
        assert_eq!(aggregation.extra_acked(), 1000);
        // Nothing for 10 ms, then 20 000 bytes at once: a new epoch, all of it beyond the model.
        aggregation.update(at(30), 20_000, rate, 21, 100_000);
        assert_eq!(aggregation.extra_acked(), 20_000);
        assert_eq!(
            {
                aggregation.update(at(31), 90_000, rate, 22, 50_000);
                aggregation.extra_acked()
            },
            50_000
        );
    }

    #[test]
    fn a_longer_memory_and_a_new_epoch() {
        let rate = Rate::from_mbit(8);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut aggregation = Aggregation::new(1);
        aggregation.update(at(1), 9000, rate, 1, 100_000);
        aggregation.update(at(100), 1000, rate, 2, 100_000);
        assert_eq!(aggregation.extra_acked(), 1000);
        aggregation.set_rounds(10);
        aggregation.update(at(200), 9000, rate, 3, 100_000);
        aggregation.update(at(300), 1000, rate, 4, 100_000);
        assert_eq!(aggregation.extra_acked(), 9000);
        // Without the new epoch the 7000 would come on top of the 6000 that 1 ms does not explain.
        aggregation.update(at(400), 7000, rate, 20, 100_000);
        aggregation.restart(at(401));
        aggregation.update(at(401), 7000, rate, 40, 100_000);
        assert_eq!(aggregation.extra_acked(), 7000);
    }

    #[test]
    fn it_is_forgotten_after_its_rounds() {
        let rate = Rate::from_mbit(8);
        let mut aggregation = Aggregation::new(10);
        aggregation.update(Time::ZERO + Span::from_millis(1), 9000, rate, 1, 100_000);
        assert_eq!(aggregation.extra_acked(), 9000);
        aggregation.update(Time::ZERO + Span::from_millis(100), 1000, rate, 11, 100_000);
        assert_eq!(aggregation.extra_acked(), 1000);
    }
}
