//! Data acknowledged beyond what the bandwidth explains (draft-ietf-ccwg-bbr section 5.5.9): ACKs come in
//! bunches, and the window must not run out between two bunches.

use crate::units::{Rate, Time};

/// Estimates how many bytes beyond the model's expectation are acknowledged at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    epoch_start: Time,
    epoch_acked: u64,
    extra: HalvedWindow,
}

impl Aggregation {
    /// Begins a new epoch: a silence is not aggregation.
    pub fn restart(&mut self, now: Time) {
        (self.epoch_start, self.epoch_acked) = (now, 0);
    }

    /// A round trip begins; the estimate is the maximum over the last `half` to 2 * `half` rounds.
    pub fn start_round(&mut self, half: u64) {
        self.extra.start_round(half);
    }

    /// Takes an ACK of `acked` bytes, with the current bandwidth and window; at most one window counts as extra.
    pub fn update(&mut self, now: Time, acked: u64, rate: Rate, cwnd: u64) {
        let expected = rate.bytes_in(now.since(self.epoch_start));
        // ACKs come no faster than the bandwidth: a new epoch begins.
        if self.epoch_acked <= expected {
            self.epoch_start = now;
            self.epoch_acked = 0;
        }
        let expected = rate.bytes_in(now.since(self.epoch_start));
        self.epoch_acked += acked;
        self.extra.take(self.epoch_acked.saturating_sub(expected).min(cwnd));
    }

    /// The estimate in bytes.
    #[must_use]
    pub fn extra_acked(&self) -> u64 {
        self.extra.get()
    }
}

/// The maximum over this half of a window and the half before (Linux and google/bbr
/// `bbr_update_ack_aggregation`): a bunch of one round of Startup still counts in the next.
#[derive(Clone, Copy, Debug, Default)]
struct HalvedWindow {
    previous: u64,
    current: u64,
    /// Rounds that began in this half.
    rounds: u64,
}

impl HalvedWindow {
    fn start_round(&mut self, half: u64) {
        self.rounds += 1;
        if self.rounds >= half {
            *self = Self { previous: self.current, current: 0, rounds: 0 };
        }
    }

    fn take(&mut self, bytes: u64) {
        self.current = self.current.max(bytes);
    }

    fn get(&self) -> u64 {
        self.previous.max(self.current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    /// 1000 bytes per ms.
    const RATE: Rate = Rate(8_000_000);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_bunch_counts_beyond_what_its_time_explains() {
        let mut aggregation = Aggregation::default();
        let mut extra_at = |ms, acked, cwnd| {
            aggregation.update(at(ms), acked, RATE, cwnd);
            aggregation.extra_acked()
        };
        for ms in 1..=20 {
            assert_eq!(extra_at(ms, 1000, 100_000), 1000);
        }
        // Nothing for 10 ms, then 20 000 bytes at once: a new epoch, all of it beyond the model.
        assert_eq!(extra_at(30, 20_000, 100_000), 20_000);
        assert_eq!(extra_at(31, 90_000, 50_000), 50_000, "no more than the window");
    }

    #[test]
    fn silence_ends_an_epoch() {
        let mut aggregation = Aggregation::default();
        aggregation.update(at(400), 7000, RATE, 100_000);
        aggregation.restart(at(401));
        aggregation.update(at(401), 7000, RATE, 100_000);
        // Without the new epoch the 7000 would come on top of the 6000 that 1 ms does not explain.
        assert_eq!(aggregation.extra_acked(), 7000);
    }

    /// For how many rounds a bunch counts if it came `rounds_before` rounds after the half of the window began.
    fn lasts(half: u64, rounds_before: u64) -> u64 {
        let mut window = HalvedWindow::default();
        (0..rounds_before).for_each(|_| window.start_round(half));
        window.take(9000);
        (1..)
            .find(|_| {
                window.start_round(half);
                window.get() == 0
            })
            .unwrap()
    }

    #[test]
    fn a_bunch_counts_for_one_to_two_rounds_or_five_to_ten() {
        assert_eq!(lasts(1, 0), 2);
        assert_eq!((lasts(5, 0), lasts(5, 4)), (10, 6));
    }
}
