//! When an action is a random one.

use crate::Rng;

/// Random until the warm-up is over, then with a small probability.
#[derive(Clone, Debug)]
pub(super) struct Explorer {
    epsilon: f64,
    decay: u64,
    pub(super) warmup: u64,
    /// Decisions since the warm-up.
    pub(super) decided: u64,
}

impl Explorer {
    pub(super) fn new(epsilon: f64, decay: u64, warmup: u64) -> Self {
        Self { epsilon, decay, warmup, decided: 0 }
    }

    /// Whether the next action is random, after this many experiences.
    pub(super) fn explores(&mut self, experiences: u64, rng: &mut Rng) -> bool {
        if experiences < self.warmup {
            return true;
        }
        let epsilon = self.epsilon();
        self.decided += 1;
        rng.chance(epsilon)
    }

    fn epsilon(&self) -> f64 {
        if self.decided >= self.decay {
            return self.epsilon;
        }
        1.0 - (1.0 - self.epsilon) * self.decided as f64 / self.decay as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_until_the_warm_up_is_over_and_then_by_epsilon() {
        let mut rng = Rng::named(1, "explorer");
        let mut explorer = Explorer::new(0.0, 0, 5);
        assert!((0..5).all(|experiences| explorer.explores(experiences, &mut rng)));
        assert!(!explorer.explores(5, &mut rng));
        let mut explorer = Explorer::new(0.1, 0, 0);
        let explored = (0..10_000).filter(|_| explorer.explores(0, &mut rng)).count();
        // Five standard deviations of 30.
        assert!((850..1150).contains(&explored), "{explored}");
    }

    #[test]
    fn epsilon_falls_from_one() {
        let mut rng = Rng::named(1, "explorer");
        let mut explorer = Explorer::new(0.2, 4, 0);
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.push(explorer.epsilon());
            explorer.explores(0, &mut rng);
        }
        for (seen, expected) in seen.into_iter().zip([1.0, 0.8, 0.6, 0.4, 0.2, 0.2]) {
            assert!((seen - expected).abs() < 1e-12);
        }
    }
}
