//! Loss processes: which packets of a link never arrive.

use crate::spec::LossKind;
use cwndlab_cc::{Rng, Time};

/// The state of a link's loss process.
pub struct LossProcess {
    kind: LossKind,
    rng: Rng,
    /// Data packets since the last periodic loss.
    count: u64,
    /// Gilbert-Elliott: in the bad state.
    bad: bool,
}

impl LossProcess {
    /// A process at its start: nothing counted, the good state.
    #[must_use]
    pub fn new(kind: &LossKind, rng: Rng) -> Self {
        Self { kind: kind.clone(), rng, count: 0, bad: false }
    }

    /// Whether anything can be lost at all.
    #[must_use]
    pub fn is_lossless(&self) -> bool {
        matches!(self.kind, LossKind::None)
    }

    /// Whether the packet that leaves at this time is lost. `countable` is false for packets without data: a
    /// periodic loss, which serves to test theory, strikes data only.
    pub fn strikes(&mut self, at: Time, countable: bool) -> bool {
        match &self.kind {
            LossKind::None => false,
            LossKind::Random(probability) => self.rng.chance(probability.at(at)),
            LossKind::Periodic { every } => {
                self.count += u64::from(countable);
                let strike = countable && self.count == *every;
                if strike {
                    self.count = 0;
                }
                strike
            }
            LossKind::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let change = if self.bad { *to_good } else { *to_bad };
                self.bad ^= self.rng.chance(change);
                self.rng.chance(if self.bad { *loss_bad } else { *loss_good })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Schedule;

    fn losses(kind: LossKind, n: u32) -> Vec<bool> {
        let mut process = LossProcess::new(&kind, Rng::named(1, "loss"));
        (0..n).map(|i| process.strikes(Time(u64::from(i)), true)).collect()
    }

    #[test]
    fn periodic_strikes_every_nth() {
        let lost = losses(LossKind::Periodic { every: 3 }, 9);
        assert_eq!(lost, [false, false, true, false, false, true, false, false, true]);
    }

    #[test]
    fn random_has_its_rate() {
        let lost = losses(LossKind::Random(Schedule::constant(0.1)), 100_000);
        let share = lost.iter().filter(|l| **l).count() as f64 / 1e5;
        // Five standard errors of sqrt(0.1 * 0.9 / 100000).
        assert!((share - 0.1).abs() < 5.0 * 0.00095, "{share}");
    }

    /// Loss rate to_bad / (to_bad + to_good) and mean burst 1 / to_good, when the bad state loses all.
    #[test]
    fn gilbert_elliott_has_its_rate_and_bursts() {
        let kind = LossKind::GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
        let lost = losses(kind, 400_000);
        let total = lost.iter().filter(|l| **l).count() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((total / 4e5 - 0.01 / 0.26).abs() < 0.003, "{}", total / 4e5);
        assert!((total / bursts - 4.0).abs() < 0.2, "{}", total / bursts);
    }
}
