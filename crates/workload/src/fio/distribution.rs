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
    /// Neighbours in rank lie apart.
    spreads: bool,
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
            spreads: true,
        })
    }

    /// The same with neighbours in rank beside one another.
    pub fn in_order(self) -> Ranks {
        Ranks {
            spreads: false,
            ..self
        }
    }

    /// A block.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let rank = self.rank(rng);
        let place = if self.spreads {
            rank.wrapping_mul(SPREAD)
        } else {
            rank
        };
        let spread = place % self.blocks;
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

    /// True if there are any.
    pub fn is_empty(&self) -> bool {
        self.zones.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 10_000;
    const DRAWS: u64 = 400_000;

    fn ranks(kind: Kinds, value: f64) -> Vec<u64> {
        let distribution = Distribution {
            kind,
            value,
            center: None,
            zones: Vec::new(),
        };
        let mut rng = Rng::new(11, 0);
        let ranks = Ranks::new(&distribution, BLOCKS, &mut rng).unwrap();
        (0..DRAWS).map(|_| ranks.rank(&mut rng)).collect()
    }

    /// Chi-square per degree of freedom of the ranks against the share of them that is expected
    /// below each edge.
    fn misfit(drawn: &[u64], edges: &[u64], below: impl Fn(u64) -> f64) -> f64 {
        let mut sum = 0.0;
        for pair in edges.windows(2) {
            let inside = |rank: &&u64| (pair[0]..pair[1]).contains(rank);
            let seen = drawn.iter().filter(inside).count() as f64;
            let expected = (below(pair[1]) - below(pair[0])) * drawn.len() as f64;
            sum += (seen - expected) * (seen - expected) / expected;
        }
        sum / (edges.len() - 2) as f64
    }

    /// Of 14 degrees of freedom 1 % of good samples are above 2.08 each.
    const EDGES: [u64; 16] = [
        0, 1, 2, 3, 4, 6, 9, 15, 30, 60, 120, 300, 700, 1_500, 4_000, BLOCKS,
    ];
    const LIMIT: f64 = 2.08;

    #[test]
    fn the_zeta_sum_is_the_sum() {
        for (theta, ranks) in [(1.2, 1_000_000u64), (0.8, 100_000), (0.5, 5_000), (2.0, 9)] {
            let plain: f64 = (1..=ranks).map(|k| libm::pow(k as f64, -theta)).sum();
            let error = (zeta(theta, ranks) / plain - 1.0).abs();
            assert!(error < 1e-12, "theta {theta}, {ranks} ranks: {error}");
        }
    }

    #[test]
    fn zipf_ranks_have_their_shares() {
        for theta in [0.6, 1.2] {
            let zeta = zeta(theta, BLOCKS);
            let n = BLOCKS as f64;
            let two = 1.0 + libm::pow(0.5, theta);
            let eta = (1.0 - libm::pow(2.0 / n, 1.0 - theta)) / (1.0 - two / zeta);
            // Two ranks exactly, the others by the curve through them and the last.
            let below = |rank: u64| match rank {
                0 => 0.0,
                1 => 1.0 / zeta,
                2 => two / zeta,
                _ => (libm::pow(rank as f64 / n, 1.0 - theta) - 1.0 + eta) / eta,
            };
            let misfit = misfit(&ranks(Kinds::Zipf, theta), &EDGES, below);
            assert!(misfit < LIMIT, "theta {theta}: {misfit}");
            // The curve is the power law to within a few percent.
            let exact: f64 = (1..=100).map(|k| libm::pow(f64::from(k), -theta)).sum();
            assert!((below(100) / (exact / zeta) - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn pareto_ranks_have_their_shares() {
        let power = libm::log(0.2) / libm::log(0.8);
        let below = |rank: u64| libm::pow(rank as f64 / (BLOCKS - 1) as f64, 1.0 / power).min(1.0);
        let drawn = ranks(Kinds::Pareto, 0.2);
        let misfit = misfit(&drawn, &EDGES, below);
        assert!(misfit < LIMIT, "{misfit}");
        // 80 % of the requests to 20 % of the blocks.
        let first = drawn.iter().filter(|rank| **rank < BLOCKS / 5).count();
        assert!((first as f64 / DRAWS as f64 - 0.8).abs() < 0.005);
    }

    #[test]
    fn normal_ranks_have_their_mean_and_spread() {
        for (value, moved) in [(0.0, 0.0), (20.0, 2_000.0)] {
            let drawn = ranks(Kinds::Normal, value);
            let mean = drawn.iter().sum::<u64>() as f64 / DRAWS as f64;
            let off = drawn.iter().map(|rank| *rank as f64 - mean);
            let variance = off.map(|off| off * off).sum::<f64>() / DRAWS as f64;
            // Twelve uniform draws have a twelfth of a variance of n^2 / 12.
            let expected = 1e8 / 144.0 + moved * moved / 12.0;
            assert!((mean / 5_000.0 - 1.0).abs() < 0.002, "{mean}");
            assert!((variance / expected - 1.0).abs() < 0.01, "{variance}");
        }
    }

    #[test]
    fn a_center_is_where_the_first_rank_lies() {
        let first = |kind, value, center| {
            let distribution = Distribution {
                kind,
                value,
                center: Some(center),
                zones: Vec::new(),
            };
            let ranks = Ranks::new(&distribution, 20_000, &mut Rng::new(1, 0)).unwrap();
            let mut counts = vec![0; 20_000];
            let mut rng = Rng::new(2, 0);
            (0..20_000).for_each(|_| counts[ranks.draw(&mut rng) as usize] += 1);
            let most = counts.iter().max().unwrap();
            counts.iter().position(|count| count == most)
        };
        // fio 3.33: --size=20000 blocks --random_distribution=zipf:1.2:0.25 has block 5000 first.
        assert_eq!(first(Kinds::Zipf, 1.2, 0.25), Some(5_000));
        assert_eq!(first(Kinds::Pareto, 0.1, 0.5), Some(10_000));
    }
}
