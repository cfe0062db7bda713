//! How the array times of blocks and wordlines differ from those of the part.
//!
//! A part's tR, tPROG and tBERS are means. Blocks differ from each other by process variation, and
//! so do the layers of a 3D stack, whose channel holes taper: Luo et al. (SIGMETRICS 2018) found
//! the layers of a chip unlike each other, Shim et al. (MICRO 2019) that the wordlines of one layer
//! are alike and layers are not. With wear cells program faster and erase more slowly (Grupp et
//! al., MICRO 2009; Desnoyers, HotStorage 2009), erases many times so (Cho et al., ASPLOS 2024).
//! They agree on what differs and in which direction; how much is a part's own, so that a spec's
//! figures are priors unless its maker tells them.
//!
//! The form, as a share of the part's time, with one draw d of mean 0 and deviation 1 for each
//! block and kind of operation:
//!
//! (1 + block · d + layer · (2 w + 1 - W) / W) · (1 - program_wear · a, or 1 + erase_wear · a)
//!
//! for wordline w of W, counted from 0, and wear as a share a of the rated life, at most 1. Erases
//! are of a whole block and have no layer. The mean over the blocks and wordlines of a new drive is
//! the part's time, its variance block² + layer² (1 - 1/W²) / 3. A draw is a hash of seed, block
//! and kind: nothing is stored, and no draw shifts another.

/// Part of the time that an operation takes, in 65,536ths.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Pace(u32);

/// The bits behind the point.
const POINT: u32 = 16;
const ONE: i64 = 1 << POINT;
/// The deviation of a sum of four numbers that are even in 0..65,536: 65,536 / 3^(1/2), as the
/// square root of 3 in billionths.
const ROOT_3: i64 = 1_732_050_808;
/// The largest draw is twice the square root of 3 deviations.
const DRAW_MOST: f64 = 3.4642;

impl Pace {
    /// The part's own time.
    pub const MEAN: Pace = Pace(ONE as u32);

    /// A pace that takes so many thousandths of this one's time.
    #[must_use]
    pub fn slower(self, milli: u32) -> Pace {
        let scaled = u64::from(self.0) * u64::from(milli) / 1000;
        Pace(scaled.clamp(1, u64::from(u32::MAX)) as u32)
    }

    /// What an operation of the part's time takes at this pace.
    #[must_use]
    pub fn of(self, nanos: u64) -> u64 {
        let scaled = u128::from(nanos) * u128::from(self.0) + (1 << (POINT - 1));
        (scaled >> POINT) as u64
    }
}

/// What an operation does to its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Senses a page.
    Read,
    /// Programs a wordline or a page of it.
    Program,
    /// Erases the block.
    Erase,
}

/// By how much blocks and wordlines differ, in thousandths of the part's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// Standard deviation among blocks.
    pub block: u32,
    /// The slowest layer beyond the mean, and the mean beyond the fastest.
    pub layer: u32,
    /// What programs get faster by over the rated life.
    pub program_wear: u32,
    /// What erases get slower by over the rated life.
    pub erase_wear: u32,
}

impl Variation {
    /// True if any operation takes another time than the part's.
    #[must_use]
    pub fn any(&self) -> bool {
        *self != Variation::default()
    }

    /// True if the time of an operation depends on wear.
    #[must_use]
    pub fn wears(&self) -> bool {
        self.program_wear > 0 || self.erase_wear > 0
    }

    /// The shortest time that is drawn, as a share of the mean.
    #[must_use]
    pub fn least(block: f64, layer: f64, program_wear: f64) -> f64 {
        (1.0 - DRAW_MOST * block - layer) * (1.0 - program_wear)
    }

    /// The pace of an operation on a block of a drive with this seed, on wordline `wordline.0` of
    /// `wordline.1`, at a share of the rated life.
    #[must_use]
    pub fn pace(&self, kind: Kind, seed: u64, block: u64, wordline: (u32, u32), wear: f64) -> Pace {
        let mut pace = ONE + i64::from(self.block) * draw(seed, block, kind) / 1000;
        if kind != Kind::Erase {
            let (at, of) = (i64::from(wordline.0), i64::from(wordline.1));
            pace += ONE * i64::from(self.layer) * (2 * at + 1 - of) / (1000 * of);
        }
        let worn = (wear.min(1.0) * ONE as f64) as i64;
        let change = match kind {
            Kind::Read => 0,
            Kind::Program => -i64::from(self.program_wear),
            Kind::Erase => i64::from(self.erase_wear),
        };
        pace += pace * change * worn / (1000 * ONE);
        Pace(pace as u32)
    }
}

/// The draw of a block for a kind of operation, in 65,536ths of a deviation: a sum of four even
/// numbers, which is nearly normal and has an end.
fn draw(seed: u64, block: u64, kind: Kind) -> i64 {
    let mixed = mix(mix(seed ^ mix(kind as u64 + 1)).wrapping_add(block));
    let sum: i64 = (0..4)
        .map(|part| (mixed >> (16 * part)) as i64 & 0xffff)
        .sum();
    (2 * sum - 4 * 0xffff) * ROOT_3 / 2_000_000_000
}

/// The mixer of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and deviation of the paces of many blocks and all of their wordlines.
    fn spread(variation: &Variation, kind: Kind) -> (f64, f64) {
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for block in 0..20_000 {
            for wordline in 0..8 {
                let pace = variation.pace(kind, 7, block, (wordline, 8), 0.0);
                let share = pace.of(1 << 30) as f64 / f64::from(1 << 30);
                (sum, squares, count) = (sum + share, squares + share * share, count + 1.0);
            }
        }
        let mean = sum / count;
        (mean, (squares / count - mean * mean).sqrt())
    }

    #[test]
    fn the_mean_is_the_parts_and_the_deviation_is_what_was_asked_for() {
        let variation = Variation {
            block: 50,
            layer: 120,
            ..Variation::default()
        };
        for kind in [Kind::Read, Kind::Program] {
            let (mean, deviation) = spread(&variation, kind);
            let expected = (0.05f64.powi(2) + 0.12f64.powi(2) * (1.0 - 1.0 / 64.0) / 3.0).sqrt();
            assert!((mean - 1.0).abs() < 0.001, "{mean}");
            assert!(
                (deviation / expected - 1.0).abs() < 0.02,
                "{deviation} {expected}"
            );
        }
        let (mean, deviation) = spread(&variation, Kind::Erase);
        assert!((mean - 1.0).abs() < 0.001 && (deviation / 0.05 - 1.0).abs() < 0.02);
    }

    #[test]
    fn wear_hastens_programs_slows_erases_and_leaves_reads_alone() {
        let variation = Variation {
            program_wear: 100,
            erase_wear: 1500,
            ..Variation::default()
        };
        let at = |kind, wear| variation.pace(kind, 7, 3, (0, 8), wear).of(1_000_000);
        assert_eq!(at(Kind::Read, 1.0), 1_000_000);
        assert_eq!(at(Kind::Program, 0.0), 1_000_000);
        assert!(at(Kind::Program, 1.0).abs_diff(900_000) < 20);
        assert!(at(Kind::Erase, 0.5).abs_diff(1_750_000) < 20);
        assert_eq!(at(Kind::Erase, 3.0), at(Kind::Erase, 1.0));
    }

    #[test]
    fn nothing_that_passes_the_check_takes_no_time() {
        let variation = Variation {
            block: 200,
            layer: 250,
            program_wear: 500,
            erase_wear: 0,
        };
        let paces = (0..50_000).map(|b| variation.pace(Kind::Program, 1, b, (0, 8), 1.0).of(1000));
        let least = Variation::least(0.2, 0.25, 0.5) * 1000.0;
        assert!(least > 0.0 && paces.min() >= Some(least as u64));
    }
}
