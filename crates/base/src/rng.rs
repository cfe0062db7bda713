//! Random numbers that do not move: xoshiro256++, seeded from a seed and the number of a stream.
//!
//! The seed and the stream are spread over the 256 bits of state by SplitMix64, and ranges are
//! drawn by multiply-shift, both written out here: a run has to come out the same when a
//! dependency changes its distributions. Streams of one seed are independent for all that a
//! simulation can notice: one a purpose (addresses of a thread, victims of a policy), so that one
//! more draw in one purpose does not shift the others.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// One stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream numbered `stream` of `seed`.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Rng {
        // The stream's number passes through the mixer before it meets the seed: (1, 2) and (2,
        // 1), or neighbouring seeds with neighbouring streams, have nothing in common.
        let mut state = seed ^ split_mix(&mut stream.wrapping_add(1));
        let mut bytes = [0; 32];
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        Rng(Xoshiro256PlusPlus::from_seed(bytes))
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..n`; 0 where `n` is 0.
    ///
    /// The upper half of the 128-bit product `n * next_u64()`. No number is preferred by more than
    /// `n / 2^64`, which no simulation can see, and there is no loop and no division.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(n) * u128::from(self.next_u64())) >> 64) as u64
    }

    /// True with a probability of `percent` in a hundred.
    #[inline]
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }
}

/// One step of SplitMix64: moves `state` on and mixes it (Steele, Lea and Flood, 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, stream: u64) -> u64 {
        Rng::new(seed, stream).next_u64()
    }

    #[test]
    fn split_mix_is_the_published_one() {
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn seeds_and_streams_differ() {
        let drawn = [
            first(1, 2),
            first(2, 1),
            first(1, 1),
            first(0, 0),
            first(2, 2),
        ];
        for (i, a) in drawn.iter().enumerate() {
            assert!(!drawn[..i].contains(a), "streams share a value");
        }
        assert_eq!(first(7, 3), first(7, 3));
    }

    #[test]
    fn below_is_even_over_its_range() {
        let mut rng = Rng::new(1, 0);
        let mut seen = [0u32; 7];
        for _ in 0..70_000 {
            seen[rng.below(7) as usize] += 1;
        }
        // 10,000 ± 5 standard deviations (92 each).
        assert!(
            seen.iter().all(|n| (9_540..=10_460).contains(n)),
            "{seen:?}"
        );
        assert_eq!(rng.below(1), 0);
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn chance_at_its_ends() {
        let mut rng = Rng::new(5, 5);
        assert!((0..1_000).all(|_| rng.chance(100)));
        assert!((0..1_000).all(|_| !rng.chance(0)));
    }
}
