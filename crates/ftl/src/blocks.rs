//! Superblocks: one block of every plane of every die of a group, erased and filled together.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ensure::{Checked, ensure_eq};
use crate::layout::Layout;
use crate::map::Map;
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
    /// Closed ones that have lost their last valid unit and are to be erased.
    dead: Vec<u32>,
    /// How many are being erased, those of the map excepted.
    pub(crate) erasing: u32,
    /// Those that may be collected, sorted.
    pub(crate) victims: Victims,
}

flashtwin_base::state! { Blocks {
    kept: free, free_fixed, free_map, half, cache, tier, stale, dead, erasing;
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
            dead: Vec::new(),
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

    /// Nothing is closed, and none of them may be collected.
    pub(crate) fn forget(&mut self, layout: &Layout) {
        self.cache.clear();
        self.tier.clear();
        self.half.clear();
        self.stale.clear();
        self.dead.clear();
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

    /// The oldest closed superblock that the cache has borrowed, of the second tier if there is
    /// none in the first.
    pub(crate) fn oldest_borrowed(&self) -> Option<u32> {
        let borrowed = |s: &&u32| !self.all[**s as usize].fixed;
        self.cache.iter().chain(&self.tier).find(borrowed).copied()
    }

    /// A closed superblock has lost its last valid unit.
    #[inline]
    pub(crate) fn note_dead(&mut self, superblock: u32) {
        self.dead.push(superblock);
    }

    /// Superblocks wait to be erased that have lost their last valid unit.
    #[inline]
    pub(crate) fn has_dead(&self) -> bool {
        !self.dead.is_empty()
    }

    /// One of them, which is looked at now.
    pub(crate) fn take_dead(&mut self) -> Option<u32> {
        self.dead.pop()
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

impl Blocks {
    /// Checks what the superblocks say of themselves and each other while so many granules are in
    /// flight. `cached` says that the drive has an SLC cache.
    pub(crate) fn check(
        &self,
        map: &Map,
        layout: &Layout,
        granules: usize,
        cached: bool,
    ) -> Checked {
        for (index, block) in (0u32..).zip(&self.all) {
            let base = layout.base(index);
            let bits = map.count_valid(base, layout.native_units);
            ensure_eq!(bits, block.valid, "valid count of superblock {index}");
            let own = layout.units(block.mode);
            let past = map.count_valid(base + own, layout.native_units - own);
            ensure_eq!(past, 0, "data past the pages of superblock {index}");
            self.victims.check_pool(index, block.state)?;
            let candidate = block.state == State::Closed && block.pool == Pool::Data;
            self.victims
                .check(index, candidate.then_some(block.valid))?;
            block.check(index, cached)?;
        }
        self.victims.check_used()?;
        let in_flight: usize = self.all.iter().map(|b| b.in_flight as usize).sum();
        ensure_eq!(in_flight, granules, "granules in flight");
        let of = |state: State| self.all.iter().filter(move |b| b.state == state);
        let erasing = of(State::Erasing).filter(|b| !b.map).count();
        ensure_eq!(erasing, self.erasing as usize, "erases");
        for &stale in &self.stale {
            let state = self.all[stale as usize].state;
            ensure_eq!(state, State::Emptied, "stale superblock {stale}");
        }
        let queued = self.free.len() + self.free_fixed.len() + self.free_map.len();
        ensure_eq!(of(State::Free).count(), queued, "free queues");
        Ok(())
    }

    /// How many are in each state, for a panic.
    pub(crate) fn describe(&self) -> String {
        let states = [
            State::Free,
            State::Open,
            State::Half,
            State::Closed,
            State::Source,
            State::Emptied,
            State::Erasing,
            State::Retired,
        ];
        let count = |state: State| self.all.iter().filter(|b| b.state == state).count();
        let mut counts: String = states.map(|s| format!("{s:?} {}, ", count(s))).concat();
        counts += &format!(
            "cache superblocks closed {} and {}\n",
            self.cache.len(),
            self.tier.len()
        );
        counts
    }
}

/// Place of the first superblock of a group in a queue: the groups take turns, so it is near the
/// front.
fn first_of(queue: &VecDeque<u32>, layout: &Layout, group: u32) -> Option<usize> {
    queue.iter().position(|&s| layout.group_of(s) == group)
}
