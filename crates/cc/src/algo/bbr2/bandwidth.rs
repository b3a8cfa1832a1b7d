//! The bandwidth of the path: the recent maximum, and the bounds that losses and marks put on it.

use crate::units::Rate;

/// A bound on the rate that is not set.
pub const NO_BOUND: Rate = Rate(u64::MAX);

/// Maximum of this and the previous cycle of ProbeBW (`bbr2_take_max_bw_sample`), and the bounds on it.
#[derive(Clone, Copy, Debug)]
pub struct Bandwidth {
    previous_cycle: Rate,
    this_cycle: Rate,
    /// bw_lo: the short-term bound after losses outside a probe.
    pub lo: Rate,
    /// bw_hi: the long-term bound; only ECN sets it.
    pub hi: Rate,
}

impl Default for Bandwidth {
    fn default() -> Self {
        Self { previous_cycle: Rate(0), this_cycle: Rate(0), lo: NO_BOUND, hi: NO_BOUND }
    }
}

impl Bandwidth {
    /// The largest delivery rate of the two cycles.
    #[must_use]
    pub fn max(&self) -> Rate {
        self.previous_cycle.max(self.this_cycle)
    }

    /// The bandwidth in use: the maximum within its bounds.
    #[must_use]
    pub fn estimate(&self) -> Rate {
        self.max().min(self.lo).min(self.hi)
    }

    /// Takes a sample; an application-limited one counts only if it is not below the maximum.
    pub fn take(&mut self, rate: Rate, app_limited: bool) {
        if !app_limited || rate >= self.max() {
            self.this_cycle = self.this_cycle.max(rate);
        }
    }

    /// Ends a cycle; a cycle without a sample does not replace the previous one.
    pub fn next_cycle(&mut self) {
        if self.this_cycle > Rate(0) {
            (self.previous_cycle, self.this_cycle) = (self.this_cycle, Rate(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_maximum_of_two_cycles() {
        let mut bandwidth = Bandwidth::default();
        let mut cycle = |rates: &[u64]| {
            rates.iter().for_each(|mbit| bandwidth.take(Rate::from_mbit(*mbit), false));
            bandwidth.next_cycle();
            bandwidth.max()
        };
        assert_eq!(cycle(&[10, 50, 20]), Rate::from_mbit(50));
        assert_eq!(cycle(&[30]), Rate::from_mbit(30), "the first cycle is over when the second has ended");
        assert_eq!(cycle(&[]), Rate::from_mbit(30), "an empty cycle is none");
    }

    #[test]
    fn what_the_application_limited_never_lowers_and_counts_only_if_higher() {
        let mut bandwidth = Bandwidth::default();
        bandwidth.take(Rate::from_mbit(20), false);
        bandwidth.next_cycle();
        bandwidth.take(Rate::from_mbit(19), true);
        bandwidth.next_cycle();
        assert_eq!(bandwidth.max(), Rate::from_mbit(20), "the cycle had no sample that counts");
        bandwidth.take(Rate::from_mbit(21), true);
        assert_eq!(bandwidth.max(), Rate::from_mbit(21));
    }
}
