//! Random streams: one per component, derived from the run's seed and the component's name.
//!
//! A stream depends on nothing else, so a link added to a scenario reshuffles no other link's losses.

use crate::math;
use rand_core::Rng as _;
use rand_pcg::Pcg64;

/// A component's own stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    stream: Pcg64,
    drawn: u64,
}

impl Rng {
    /// The stream of the component called `name` in the run with this seed.
    #[must_use]
    pub fn named(seed: u64, name: &str) -> Self {
        let name = fnv1a_128(name.as_bytes());
        // The name alone gives the stream number; name and seed together give the state. So one name with
        // two seeds, and two names with one seed, start far apart.
        let state = spread(u128::from(seed) ^ name.rotate_left(64));
        Self { stream: Pcg64::new(state, name), drawn: 0 }
    }

    /// How many numbers were drawn; each function that takes `&mut self` draws one.
    #[must_use]
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    /// The same stream after this many more numbers.
    #[must_use]
    pub fn after(mut self, numbers: u64) -> Self {
        self.stream.advance(u128::from(numbers));
        self.drawn += numbers;
        self
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.drawn += 1;
        self.stream.next_u64()
    }

    /// Fills with 32 random bits each: the low half of [`Rng::bits`], then the high half, then those of the next
    /// number. Of an odd count the last high half is dropped.
    pub fn fill(&mut self, halves: &mut [u32]) {
        // Each number is computed from the one before it, so two parts of the stream side by side are faster than one.
        let (early, late) = halves.split_at_mut(halves.len() / 4 * 2);
        let mut ahead = self.clone().after(early.len() as u64 / 2);
        let (late, last) = late.split_at_mut(early.len());
        for (early, late) in early.chunks_exact_mut(2).zip(late.chunks_exact_mut(2)) {
            early.copy_from_slice(&both_halves(self.bits()));
            late.copy_from_slice(&both_halves(ahead.bits()));
        }
        for pair in last.chunks_mut(2) {
            pair.copy_from_slice(&both_halves(ahead.bits())[..pair.len()]);
        }
        *self = ahead;
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Uniform in 0..n (0 when `n` is 0), by multiply-and-shift; its bias is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Exponentially distributed with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -math::ln(1.0 - self.uniform())
    }
}

fn both_halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

fn fnv1a_128(bytes: &[u8]) -> u128 {
    // Offset basis and prime of the 128-bit FNV-1a (draft-eastlake-fnv section 5).
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(BASIS, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

/// Two rounds of multiply and fold: every input bit reaches every output bit.
fn spread(mut x: u128) -> u128 {
    for _ in 0..2 {
        x = x.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645);
        x ^= x >> 67;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_only() {
        let draw = |seed, name| Rng::named(seed, name).uniform();
        assert_eq!(draw(1, "link a").to_bits(), draw(1, "link a").to_bits());
        assert_ne!(draw(1, "link a").to_bits(), draw(1, "link b").to_bits());
        assert_ne!(draw(1, "link a").to_bits(), draw(2, "link a").to_bits());
    }

    #[test]
    fn a_stream_goes_on_from_what_was_drawn() {
        let mut rng = Rng::named(3, "a");
        let _drawn = (rng.bits(), rng.uniform(), rng.chance(0.5), rng.below(7), rng.exponential());
        assert_eq!(rng.drawn(), 5);
        assert_eq!(Rng::named(3, "a").after(5).bits(), rng.bits());
    }

    #[test]
    fn filling_draws_the_same_numbers_one_by_one() {
        for halves in 0..12 {
            let (mut filling, mut single) = (Rng::named(3, "a"), Rng::named(3, "a"));
            let mut filled = vec![0; halves];
            filling.fill(&mut filled);
            let drawn: Vec<u32> = (0..halves.div_ceil(2)).flat_map(|_| both_halves(single.bits())).collect();
            assert_eq!(filled, drawn[..halves], "{halves} halves");
            assert_eq!((filling.drawn(), filling.bits()), (single.drawn(), single.bits()), "{halves} halves");
        }
    }

    #[test]
    fn means_are_right() {
        let mut rng = Rng::named(7, "means");
        let n = 200_000;
        let (mut uniform, mut exponential, mut below) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            uniform += rng.uniform();
            exponential += rng.exponential();
            below += rng.below(10) as f64;
        }
        let n = f64::from(n);
        // Five standard errors: 0.289, 1 and 2.87 are the standard deviations of the three.
        assert!((uniform / n - 0.5).abs() < 5.0 * 0.289 / n.sqrt());
        assert!((exponential / n - 1.0).abs() < 5.0 * 1.0 / n.sqrt());
        assert!((below / n - 4.5).abs() < 5.0 * 2.87 / n.sqrt());
    }
}
