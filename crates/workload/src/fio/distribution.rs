//! fio's random distributions: which rank a request has, and where on the file a rank lies.
//!
//! Zipf draws ranks by the method of Gray et al. (SIGMOD 1994), as fio does; its zeta sum goes over
//! at most ten million ranks, fio's bound. Pareto ranks are `n * u^(log h / log (1 - h))`. A normal
//! rank is the mean of twelve uniform ones, moved by a uniform deviation. Ranks are spread over the
//! file by a multiplicative hash and a rotation, which a `center` fixes: neighbours in rank are no
//! neighbours on the file. As with fio two ranks may fall on one block.

use flashtwin_base::rng::Rng;

use super::{Distribution, Kinds};

/// Ranks that the zeta sum of a Zipf distribution goes over at most, as fio bounds it.
const ZETA_RANKS: u64 = 10_000_000;
/// Terms that are summed one by one; the others come from the Euler-Maclaurin formula, whose error
/// is far below a double's from here on.
const ZETA_TERMS: u64 = 4_096;
/// Uniform draws that make a normal one.
const NORMAL_DRAWS: u64 = 12;
/// 2^64 divided by the golden ratio, negated: the multiplier of the hash that spreads ranks.
const SPREAD: u64 = 0x61C8_8646_80B5_83EB;

/// Draws blocks of one file by their rank.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    law: Law,
    blocks: u64,
    rotation: u64,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    Zipf {
        theta: f64,
        zeta: f64,
        alpha: f64,
        eta: f64,
    },
    Pareto {
        power: f64,
    },
    Normal {
        deviation: u64,
    },
}

impl Ranks {
    /// The distribution over `blocks`, where it is one by rank.
    pub fn new(distribution: &Distribution, blocks: u64, rng: &mut Rng) -> Option<Ranks> {
        let value = distribution.value;
        let n = blocks as f64;
        let law = match distribution.kind {
            Kinds::Zipf => zipf(value, blocks),
            Kinds::Pareto => Law::Pareto {
                power: libm::log(value) / libm::log(1.0 - value),
            },
            Kinds::Normal => Law::Normal {
                deviation: (libm::ceil(n * value / 100.0) as u64).min(blocks / 2),
            },
            Kinds::Random | Kinds::Zoned | Kinds::ZonedAbs => return None,
        };
        let normal = distribution.kind == Kinds::Normal;
        let rotation = match distribution.center {
            // A normal distribution is in the middle by itself.
            Some(center) if normal => libm::floor(n * (center - 0.5) + n) as u64,
            Some(center) => (n * center) as u64,
            None if normal => 0,
            None => rng.next_u64() % blocks,
        };
        Some(Ranks {
            law,
            blocks,
            rotation,
        })
    }

    /// A block.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let rank = self.rank(rng);
        let spread = rank.wrapping_mul(SPREAD) % self.blocks;
        ((u128::from(spread) + u128::from(self.rotation)) % u128::from(self.blocks)) as u64
    }

    fn rank(&self, rng: &mut Rng) -> u64 {
        let n = self.blocks as f64;
        match self.law {
            Law::Zipf {
                theta,
                zeta,
                alpha,
                eta,
            } => {
                let uniform = unit(rng);
                let z = uniform * zeta;
                if z < 1.0 {
                    0
                } else if z < 1.0 + libm::pow(0.5, theta) {
                    1
                } else {
                    (n * libm::pow(eta * uniform - eta + 1.0, alpha)) as u64
                }
            }
            Law::Pareto { power } => ((n - 1.0) * libm::pow(unit(rng), power)) as u64,
            Law::Normal { deviation } => normal(self.blocks, deviation, rng),
        }
    }
}

/// A number from 0 to below 1, of 53 bits.
fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn normal(blocks: u64, deviation: u64, rng: &mut Rng) -> u64 {
    let sum: u64 = (0..NORMAL_DRAWS).map(|_| rng.below(blocks + 1)).sum();
    let mut rank = sum.div_ceil(NORMAL_DRAWS) as i64;
    if deviation > 0 {
        let mut moved = rng.below(deviation) as i64 - (deviation / 2) as i64;
        while moved != 0 && !(0..blocks as i64).contains(&(rank + moved)) {
            moved /= 2;
        }
        rank += moved;
    }
    rank as u64
}

fn zipf(theta: f64, blocks: u64) -> Law {
    let zeta = zeta(theta, blocks.min(ZETA_RANKS));
    let two = 1.0 + libm::pow(0.5, theta);
    let n = blocks as f64;
    Law::Zipf {
        theta,
        zeta,
        alpha: 1.0 / (1.0 - theta),
        eta: (1.0 - libm::pow(2.0 / n, 1.0 - theta)) / (1.0 - two / zeta),
    }
}

/// The sum of `rank^-theta` over the first `ranks`.
fn zeta(theta: f64, ranks: u64) -> f64 {
    let term = |rank: u64| libm::pow(rank as f64, -theta);
    let first = ranks.min(ZETA_TERMS);
    let sum: f64 = (1..=first).map(term).sum();
    if ranks <= first {
        return sum;
    }
    let (a, b) = (first as f64, ranks as f64);
    let power = 1.0 - theta;
    let integral = (libm::pow(b, power) - libm::pow(a, power)) / power;
    let slope = |x: f64| -theta * libm::pow(x, -theta - 1.0);
    sum + integral + (term(ranks) - term(first)) / 2.0 + (slope(b) - slope(a)) / 12.0
}

/// Shares of the requests for parts of a file, in blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zones {
    /// Requests in a hundred up to this zone's end, its first block, and its blocks.
    zones: Vec<(u64, u64, u64)>,
}

impl Zones {
    /// The zones of one direction over `blocks` of `grain` bytes; none where it has none.
    pub fn new(distribution: &Distribution, direction: usize, blocks: u64, grain: u64) -> Zones {
        let share = match distribution.kind {
            Kinds::Zoned => |size: u64, blocks: u64, _: u64| size * blocks / 100,
            Kinds::ZonedAbs => |size: u64, _: u64, grain: u64| size / grain,
            _ => return Zones::default(),
        };
        let (mut access, mut size) = (0, 0);
        let list = distribution.zones.get(direction).into_iter().flatten();
        let zone = |(percent, length): &(u32, u64)| {
            let first = share(size, blocks, grain);
            access += u64::from(*percent);
            size += length;
            // fio takes the zone's length for itself: rounding leaves no zone without a block.
            let count = share(*length, blocks, grain).max(1);
            (
                access,
                first.min(blocks - 1),
                count.min(blocks - first.min(blocks - 1)),
            )
        };
        Zones {
            zones: list.map(zone).collect(),
        }
    }

    /// A block, of all `blocks` where there are no zones.
    pub fn draw(&self, blocks: u64, rng: &mut Rng) -> u64 {
        if self.zones.is_empty() {
            return rng.below(blocks);
        }
        let draw = rng.below(100);
        let zone = self.zones.iter().find(|(below, _, _)| draw < *below);
        let (_, first, count) = *zone.expect("shares add up to a hundred");
        first + rng.below(count)
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.zones.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zeta_sum_is_the_sum() {
        for (theta, ranks) in [(1.2, 1_000_000u64), (0.8, 100_000), (0.5, 5_000), (2.0, 9)] {
            let plain: f64 = (1..=ranks).map(|k| libm::pow(k as f64, -theta)).sum();
            let error = (zeta(theta, ranks) / plain - 1.0).abs();
            assert!(error < 1e-12, "theta {theta}, {ranks} ranks: {error}");
        }
    }
}
