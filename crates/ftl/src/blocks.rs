//! Superblocks: one block of every plane of every die of a group, erased and filled together.

use std::collections::VecDeque;
use std::ops::Range;

use crate::layout::Layout;
use crate::superblock::Born;
pub use crate::superblock::{State, Superblock};
use crate::victims::Victims;
pub use crate::words::Pool;

/// All superblocks and the queues of free ones, in the order in which they were freed.
pub(crate) struct Blocks {
    pub(crate) all: Vec<Superblock>,
    pub(crate) free: VecDeque<u32>,
    pub(crate) free_fixed: VecDeque<u32>,
    pub(crate) free_map: VecDeque<u32>,
    /// Superblocks whose lower pages alone are full, oldest first.
    pub(crate) half: VecDeque<u32>,
    /// Closed cache superblocks, oldest first.
    pub(crate) cache: VecDeque<u32>,
    /// Closed superblocks of the cache's second tier, oldest first.
    pub(crate) tier: VecDeque<u32>,
    /// Left by a crypto erase, to be erased before they are used.
    pub(crate) stale: VecDeque<u32>,
    /// How many are being erased, those of the map excepted.
    pub(crate) erasing: u32,
    /// Those that may be collected, sorted.
    pub(crate) victims: Victims,
}

flashtwin_base::state! { Blocks {
    kept: free, free_fixed, free_map, half, cache, tier, stale, erasing;
    sized: all;
    part: victims;
} }

impl Blocks {
    /// Erased superblocks as the factory left them. The first `fixed` are the static cache's, and
    /// so are the weak ones where there is a cache; else they are of no use. Those of `map` are the
    /// map's.
    pub(crate) fn new(
        born: &[Born],
        layout: &Layout,
        fixed: u32,
        map: &Range<u32>,
        cached: bool,
    ) -> Blocks {
        let mut blocks = Blocks {
            all: Vec::with_capacity(born.len()),
            free: VecDeque::with_capacity(born.len()),
            free_fixed: VecDeque::new(),
            free_map: VecDeque::new(),
            half: VecDeque::new(),
            cache: VecDeque::with_capacity(born.len()),
            tier: VecDeque::new(),
            stale: VecDeque::new(),
            erasing: 0,
            victims: Victims::new(layout.superblocks, layout.native_units),
        };
        for (index, &born) in (0..).zip(born) {
            let mut block = Superblock::fresh(index < fixed || born == Born::Weak);
            block.map = map.contains(&index);
            if born == Born::Missing || (born == Born::Weak && !cached) {
                block.state = State::Retired;
            }
            blocks.all.push(block);
        }
        blocks.free_all();
        blocks
    }

    /// None of them may be collected.
    pub(crate) fn forget_candidates(&mut self, layout: &Layout) {
        self.victims = Victims::new(layout.superblocks, layout.native_units);
    }

    /// All superblocks that are free, in order of their numbers.
    pub(crate) fn free_all(&mut self) {
        self.free.clear();
        self.free_fixed.clear();
        self.free_map.clear();
        for (index, block) in (0..).zip(&self.all) {
            let queue = match block.state {
                State::Retired => continue,
                _ if block.fixed => &mut self.free_fixed,
                _ if block.map => &mut self.free_map,
                _ => &mut self.free,
            };
            queue.push_back(index);
        }
    }

    /// Superblocks that belong to the static cache.
    pub(crate) fn fixed_count(&self) -> u32 {
        let fixed = |b: &&Superblock| b.fixed && b.state != State::Retired;
        self.all.iter().filter(fixed).count() as u32
    }

    /// Nothing that is closed in the cache waits to be folded.
    #[inline]
    pub(crate) fn nothing_cached(&self) -> bool {
        self.cache.is_empty() && self.tier.is_empty()
    }

    /// Takes a superblock out of the queues of what waits to be folded.
    pub(crate) fn leave_cache(&mut self, superblock: u32) {
        match self.all[superblock as usize].pool {
            Pool::Cache => self.cache.retain(|&s| s != superblock),
            Pool::Tier => self.tier.retain(|&s| s != superblock),
            Pool::Data | Pool::Map => {}
        }
    }

    /// Native superblocks that can be opened, half-filled ones among them.
    #[inline]
    pub(crate) fn free_or_half(&self) -> u32 {
        (self.free.len() + self.half.len()) as u32
    }

    /// Native superblocks that can be opened.
    #[inline]
    pub(crate) fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// Whether a group of dies has a free superblock.
    pub(crate) fn has_free(&self, layout: &Layout, group: u32) -> bool {
        first_of(&self.free, layout, group).is_some()
    }

    /// Whether a group of dies has a free superblock of the static cache.
    pub(crate) fn has_fixed(&self, layout: &Layout, group: u32) -> bool {
        first_of(&self.free_fixed, layout, group).is_some()
    }

    /// Takes the first freed superblock of a group for the static cache.
    pub(crate) fn take_fixed(&mut self, layout: &Layout, group: u32) -> Option<u32> {
        first_of(&self.free_fixed, layout, group).and_then(|at| self.free_fixed.remove(at))
    }
}

/// Place of the first superblock of a group in a queue: the groups take turns, so it is near the
/// front.
fn first_of(queue: &VecDeque<u32>, layout: &Layout, group: u32) -> Option<usize> {
    queue.iter().position(|&s| layout.group_of(s) == group)
}
