//! Detects a full pipe: the bandwidth has stopped growing (draft-ietf-ccwg-bbr section 5.3.1.2).

use crate::units::Rate;

/// Smallest growth that counts: a Startup that doubles each round must give at least this much.
const GROWTH: f64 = 1.25;
/// Rounds without growth that show a full pipe: a delayed or dropped ACK, or another flow's burst, may spoil one.
const FLAT_ROUNDS: u32 = 3;

/// Looks for a plateau of the bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    rate: Rate,
    flat_rounds: u32,
    /// Whether the plateau has been reached.
    pub reached: bool,
}

impl FullPipe {
    /// Takes the bandwidth at the start of a round; an application-limited one is ignored.
    pub fn round(&mut self, rate: Rate, app_limited: bool) {
        self.sample(rate, app_limited, true);
    }

    /// Takes the rate at any ACK: growth counts at once, its absence once per round (google/bbr v3
    /// `bbr_check_full_bw_reached`).
    pub fn sample(&mut self, rate: Rate, app_limited: bool, starts_round: bool) {
        if self.reached || app_limited {
            return;
        }
        if rate >= self.rate.scaled(GROWTH) {
            (self.rate, self.flat_rounds) = (rate, 0);
            return;
        }
        self.flat_rounds += u32::from(starts_round);
        self.reached = self.flat_rounds >= FLAT_ROUNDS;
    }

    /// Forgets the rate against which growth is measured; a pipe that was full stays so.
    pub fn restart(&mut self) {
        (self.rate, self.flat_rounds) = (Rate::default(), 0);
    }

    /// Starts the search again.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Starts the search again, with growth measured against this rate.
    pub fn restart_from(&mut self, rate: Rate) {
        *self = Self { rate, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rates: &[u64]) -> bool {
        let mut pipe = FullPipe::default();
        rates.iter().for_each(|rate| pipe.round(Rate::from_mbit(*rate), false));
        pipe.reached
    }

    #[test]
    fn three_rounds_without_a_quarter_more() {
        assert!(!after(&[10, 20, 40, 41, 42]));
        assert!(after(&[10, 20, 40, 41, 42, 43]));
        // 50 is a quarter more than 40: the count restarts.
        assert!(!after(&[10, 20, 40, 41, 42, 50, 51, 52]));
        // Growth below a quarter adds up against the last level that counted.
        assert!(!after(&[40, 45, 50, 55, 60]));
    }

    /// Growth in the middle of a round restarts the count; only the starts of rounds add to it.
    #[test]
    fn any_ack_may_show_growth() {
        let mut pipe = FullPipe::default();
        let mut ack = |mbit, starts_round| {
            pipe.sample(Rate::from_mbit(mbit), false, starts_round);
            pipe.reached
        };
        assert!(
            ![(40, true), (41, true), (42, true), (50, false), (51, true), (51, true)]
                .map(|(mbit, starts)| ack(mbit, starts))
                .contains(&true)
        );
        assert!((0..9).all(|_| !ack(51, false)));
        assert!(ack(51, true));
    }

    #[test]
    fn a_new_search_may_begin_at_a_level() {
        let mut pipe = FullPipe::default();
        for _ in 0..4 {
            pipe.round(Rate::from_mbit(10), false);
        }
        assert!(pipe.reached);
        pipe.restart_from(Rate::from_mbit(10));
        assert!(!pipe.reached);
        // 12 is less than a quarter more than 10: all three rounds count.
        for _ in 0..3 {
            assert!(!pipe.reached);
            pipe.round(Rate::from_mbit(12), false);
        }
        assert!(pipe.reached);
    }

    #[test]
    fn a_restart_forgets_the_level_and_not_the_verdict() {
        let mut pipe = FullPipe::default();
        let mut rounds = |rates: &[u64], restart: bool| {
            rates.iter().for_each(|rate| pipe.round(Rate::from_mbit(*rate), false));
            if restart {
                pipe.restart();
            }
            pipe.reached
        };
        assert!(!rounds(&[40, 41, 42], true));
        // 10 is the first level of a new search, in which three rounds have to be flat.
        assert!(!rounds(&[10, 11, 12], false));
        assert!(rounds(&[12], true));
    }

    #[test]
    fn rounds_that_the_application_limited_do_not_count() {
        let mut pipe = FullPipe::default();
        for _ in 0..10 {
            pipe.round(Rate::from_mbit(10), true);
        }
        assert!(!pipe.reached);
    }
}
