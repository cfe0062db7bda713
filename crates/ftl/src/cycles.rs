//! Cycles of superblocks by kind and mode: the wear that some work took, and the same wear without
//! the work.

use crate::blocks::{Blocks, State};
use crate::counters::Counters;
use crate::layout::Mode;
use crate::superblock::Superblock;
use crate::wear::Rated;

/// Kinds of superblocks that are worn alike: the cache's own, the map's, all others.
const KINDS: usize = 3;
const OWN: usize = 0;
const MODES: usize = 3;
const SLC: usize = 0;

/// Sums over the superblocks in use, by kind, and by mode: SLC, native, second tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cycles([[u64; MODES]; KINDS]);

impl Cycles {
    fn with(self, other: &Cycles, of: impl Fn(u64, u64) -> u64) -> Cycles {
        let mut sums = self;
        for (sums, others) in sums.0.iter_mut().zip(&other.0) {
            for (sum, &other) in sums.iter_mut().zip(others) {
                *sum = of(*sum, other);
            }
        }
        sums
    }

    /// Cycles since an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Cycles) -> Cycles {
        // A superblock that was given up meanwhile is no longer counted.
        self.with(earlier, u64::saturating_sub)
    }

    /// The wear of all superblocks together, as a multiple of the rated life of one.
    pub(crate) fn wear(&self, rated: Rated) -> f64 {
        let of_mode = |mode: usize| self.0.iter().map(|sums| sums[mode]).sum();
        rated.wear(of_mode(0), of_mode(1), of_mode(2))
    }

    /// Adds others, each `times` times.
    pub fn add(&mut self, others: &Cycles, times: u64) {
        *self = self.with(others, |sum, other| {
            sum.saturating_add(other.saturating_mul(times))
        });
    }
}

fn kind_of(block: &Superblock) -> usize {
    match (block.fixed, block.map) {
        (true, _) => OWN,
        (_, true) => 1,
        _ => 2,
    }
}

impl Blocks {
    fn in_use(&self) -> impl Iterator<Item = &Superblock> + Clone {
        let all = self.all().iter();
        all.filter(|block| block.state != State::Retired)
    }

    /// Cycles of the superblocks in use.
    pub(crate) fn cycles(&self) -> Cycles {
        let mut sums = Cycles::default();
        for block in self.in_use() {
            let of = [block.slc_cycles, block.native_cycles, block.tier_cycles];
            for (sum, cycles) in sums.0[kind_of(block)].iter_mut().zip(of) {
                *sum += u64::from(cycles);
            }
        }
        sums
    }

    /// How often some wear can come again before a superblock of the static cache has used up what
    /// it is rated for.
    pub(crate) fn repeats_until_worn(&self, taken: &Cycles, rated: Rated) -> u64 {
        let own = self.in_use().filter(|block| block.fixed);
        let most = own.clone().map(|block| block.slc_cycles).max();
        let each = taken.0[OWN][SLC] as f64 / own.count().max(1) as f64;
        let Some(most) = most.filter(|_| each > 0.0) else {
            return u64::MAX;
        };
        let left = 1.0 / rated.cycle_in(Mode::Slc) - f64::from(most);
        (left.max(0.0) / each) as u64
    }

    /// Adds wear, evenly over the superblocks of each kind.
    pub(crate) fn wear_on(&mut self, wear: &Cycles, counters: &mut Counters) {
        let mut counts = [0u64; KINDS];
        for block in self.in_use() {
            counts[kind_of(block)] += 1;
        }
        // Cycles that are too few for one of each superblock begin with another one each time.
        let c = counters;
        let first = [c.slc_erases, c.native_erases, c.tier_erases];
        for (kind, cycles) in wear.0.iter().enumerate() {
            if counts[kind] > 0 {
                c.slc_erases += cycles[0];
                c.native_erases += cycles[1];
                c.tier_erases += cycles[2];
            }
        }
        let mut at = [0u64; KINDS];
        let all = self.all_mut().iter_mut();
        for block in all.filter(|block| block.state != State::Retired) {
            let kind = kind_of(block);
            let (count, place) = (counts[kind], at[kind]);
            at[kind] += 1;
            let share = |mode: usize| {
                let cycles = wear.0[kind][mode];
                let turn = (place + first[mode]) % count;
                let share = cycles / count + u64::from(turn < cycles % count);
                u32::try_from(share).unwrap_or(u32::MAX >> 1)
            };
            block.slc_cycles = block.slc_cycles.saturating_add(share(0));
            block.native_cycles = block.native_cycles.saturating_add(share(1));
            block.tier_cycles = block.tier_cycles.saturating_add(share(2));
        }
    }
}
