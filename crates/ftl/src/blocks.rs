//! Superblocks: one block of every plane of every die of a group, erased and filled together.
//!
//! The life of one: it is *free*; it is *opened* and filled (some wait half filled in between); it
//! is *closed* and waits to be folded or collected, in a queue of the cache's or among the
//! candidates; it is the *source* of a mover, until nothing valid is left in it; *emptied*, it
//! waits until what replaced its data is on flash; it is *erased* and free again. What has lost its
//! last valid unit by itself is *dead*; what is to be erased later, as most of what a trim or a
//! crypto erase leaves, is *stale*: both go on with the erase.

mod validity;

use std::collections::VecDeque;
use std::ops::{Index, IndexMut, Range};

use crate::counters::Counters;
use crate::ensure::{Checked, ensure_eq};
use crate::layout::{Layout, Mode};
use crate::map::Map;
use crate::streams::Stream;
use crate::superblock::Born;
pub use crate::superblock::{State, Superblock};
use crate::victims::{Candidates, Victims};
pub use crate::words::Pool;

/// All superblocks and the queues of free ones, in the order in which they were freed.
pub(crate) struct Blocks {
    all: Vec<Superblock>,
    free: VecDeque<u32>,
    free_fixed: VecDeque<u32>,
    free_map: VecDeque<u32>,
    /// Superblocks whose lower pages alone are full, oldest first.
    half: VecDeque<u32>,
    /// Closed cache superblocks, oldest first.
    cache: VecDeque<u32>,
    /// Closed superblocks of the cache's second tier, oldest first.
    tier: VecDeque<u32>,
    /// Left by a crypto erase, to be erased before they are used.
    stale: VecDeque<u32>,
    /// Closed ones that have lost their last valid unit and are to be erased.
    dead: Vec<u32>,
    /// How many are being erased, those of the map excepted.
    erasing: u32,
    /// Those that may be collected, sorted.
    victims: Victims,
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
        self.forget_free();
        for index in 0..self.count() {
            if self[index].state != State::Retired {
                self.put_free(index);
            }
        }
    }

    /// None is known to be free or in erase.
    fn forget_free(&mut self) {
        self.free.clear();
        self.free_fixed.clear();
        self.free_map.clear();
        self.erasing = 0;
    }

    /// A superblock can be opened, by the cache, by the map or by all others.
    pub(crate) fn put_free(&mut self, superblock: u32) {
        let block = &self[superblock];
        let queue = match (block.fixed, block.map) {
            (true, _) => &mut self.free_fixed,
            (_, true) => &mut self.free_map,
            _ => &mut self.free,
        };
        queue.push_back(superblock);
    }

    /// A free superblock is given up.
    pub(crate) fn drop_free(&mut self, superblock: u32) {
        for queue in [&mut self.free, &mut self.free_fixed, &mut self.free_map] {
            queue.retain(|&s| s != superblock);
        }
    }

    /// Free native superblocks, the one that was freed first at the front.
    pub(crate) fn free(&self) -> &VecDeque<u32> {
        &self.free
    }

    /// Takes the free native superblock at a place in the queue.
    pub(crate) fn take_free_at(&mut self, place: usize) -> Option<u32> {
        self.free.remove(place)
    }

    /// A free native superblock is the map's from now on.
    pub(crate) fn lend_to_map(&mut self) -> Option<u32> {
        let superblock = self.free.pop_front()?;
        self[superblock].map = true;
        self.free_map.push_back(superblock);
        Some(superblock)
    }

    /// Free superblocks of the map.
    pub(crate) fn free_of_map(&self) -> usize {
        self.free_map.len()
    }

    /// Takes a free superblock of the map.
    pub(crate) fn take_map(&mut self) -> Option<u32> {
        self.free_map.pop_front()
    }

    /// Free superblocks of the static cache.
    #[inline]
    pub(crate) fn free_of_cache(&self) -> u32 {
        self.free_fixed.len() as u32
    }

    /// All free superblocks of the static cache, which leave the queue.
    pub(crate) fn take_all_fixed(&mut self) -> VecDeque<u32> {
        std::mem::take(&mut self.free_fixed)
    }

    /// The group of dies of the superblock that was freed first, of the static cache if it may be.
    pub(crate) fn first_free(&self, fixed: bool) -> Option<u32> {
        let own = self.free_fixed.front().filter(|_| fixed);
        own.or(self.free.front()).copied()
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

    /// Closed superblocks of the cache, oldest first.
    #[inline]
    pub(crate) fn cached(&self) -> &VecDeque<u32> {
        &self.cache
    }

    /// Closed superblocks of both tiers of the cache, oldest first.
    pub(crate) fn to_fold(&self) -> impl Iterator<Item = u32> {
        self.cache.iter().chain(&self.tier).copied()
    }

    /// The oldest closed superblock that the cache has borrowed, of the second tier if there is
    /// none in the first.
    pub(crate) fn oldest_borrowed(&self) -> Option<u32> {
        self.to_fold().find(|&s| !self[s].fixed)
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
        match self[superblock].pool {
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

    /// A native superblock is being erased.
    pub(crate) fn erases_native(&self) -> bool {
        let own = |b: &&Superblock| !b.fixed && !b.map;
        let mut own = self.all.iter().filter(own);
        self.erasing > 0 && own.any(|b| b.state == State::Erasing)
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

/// From the first unit that is written to the erase.
impl Blocks {
    /// A stream opens a free superblock in a pool of candidates, to fill it in a mode; `now` are
    /// the units that the host has written.
    pub(crate) fn open(
        &mut self,
        superblock: u32,
        (stream, mode): (Stream, Mode),
        pool: usize,
        now: u64,
    ) {
        let block = &mut self[superblock];
        assert_eq!(
            (block.state, block.valid, block.written),
            (State::Free, 0, 0)
        );
        block.state = State::Open;
        (block.bare, block.distrusted) = (u32::MAX, false);
        (block.mode, block.pool) = (mode, stream.pool());
        (block.filled_by, block.opened_at) = (stream, now);
        let written = if stream.is_host() { now } else { 0 };
        self.victims.opened(superblock, pool, written);
    }

    /// A superblock takes no more data: it waits to be folded or collected.
    pub(crate) fn close(&mut self, superblock: u32) {
        let block = &mut self[superblock];
        block.state = State::Closed;
        let (pool, valid) = (block.pool, block.valid);
        match pool {
            Pool::Cache => self.cache.push_back(superblock),
            Pool::Tier => self.tier.push_back(superblock),
            Pool::Data => self.victims.add(superblock, valid),
            Pool::Map => {}
        }
    }

    /// The lower pages of a superblock are full, and its upper ones wait.
    pub(crate) fn close_half(&mut self, superblock: u32) {
        self[superblock].state = State::Half;
        self.half.push_back(superblock);
    }

    /// Superblocks wait with their upper pages.
    #[inline]
    pub(crate) fn has_half(&self) -> bool {
        !self.half.is_empty()
    }

    /// Takes the superblock whose upper pages have waited longest.
    pub(crate) fn take_half(&mut self) -> Option<u32> {
        self.half.pop_front()
    }

    /// The upper pages of a superblock will not be written.
    pub(crate) fn leave_half(&mut self, superblock: u32) {
        self.half.retain(|&s| s != superblock);
    }

    /// A closed superblock is emptied by a mover.
    pub(crate) fn make_source(&mut self, superblock: u32) {
        let block = &mut self[superblock];
        assert_eq!(
            (block.state, block.in_flight),
            (State::Closed, 0),
            "source {superblock}"
        );
        block.state = State::Source;
        self.leave_candidates(superblock);
    }

    /// A superblock without valid data is no longer a candidate for folding or collection.
    pub(crate) fn retire_emptied(&mut self, superblock: u32) {
        self.leave_cache(superblock);
        self.leave_candidates(superblock);
        self[superblock].state = State::Emptied;
    }

    fn leave_candidates(&mut self, superblock: u32) {
        if self.victims.holds(superblock) {
            self.victims.remove(superblock);
        }
    }

    /// The erase of a superblock begins on a number of dies.
    pub(crate) fn begin_erase(&mut self, superblock: u32, dies: u32) {
        let block = &mut self[superblock];
        block.state = State::Erasing;
        block.erases_left = dies;
        self.erasing += u32::from(!block.map);
    }

    /// A die has erased its part of a superblock; true where it was the last.
    pub(crate) fn end_erase(&mut self, superblock: u32) -> bool {
        let block = &mut self[superblock];
        block.erases_left -= 1;
        if block.erases_left > 0 {
            return false;
        }
        self.erasing -= u32::from(!block.map);
        self.victims.freed(superblock);
        true
    }

    /// How many are being erased, those of the map excepted.
    #[inline]
    pub(crate) fn erasing(&self) -> u32 {
        self.erasing
    }

    /// After a crypto erase: nothing is valid, and what was written is stale.
    pub(crate) fn make_stale(&mut self) {
        for (index, block) in (0..).zip(&mut self.all) {
            block.valid = 0;
            block.pool = if block.map { Pool::Map } else { Pool::Data };
            if block.written > 0 {
                block.state = State::Emptied;
                self.stale.push_back(index);
            }
        }
    }

    /// A superblock is stale from now on.
    pub(crate) fn push_stale(&mut self, superblock: u32) {
        self.stale.push_back(superblock);
    }

    /// There are stale superblocks.
    #[inline]
    pub(crate) fn has_stale(&self) -> bool {
        !self.stale.is_empty()
    }

    /// True if an erase alone would free a native superblock: one is stale.
    #[inline]
    pub(crate) fn may_erase_native(&self) -> bool {
        let native = |&s: &u32| !self[s].fixed && !self[s].map;
        self.stale.iter().any(native)
    }

    /// Stale superblocks, the oldest first.
    pub(crate) fn stale(&self) -> &VecDeque<u32> {
        &self.stale
    }

    /// Takes the stale superblock at a place.
    pub(crate) fn take_stale_at(&mut self, at: usize) -> Option<u32> {
        self.stale.remove(at)
    }

    /// All superblocks are as a purge leaves them: erased, with their wear.
    pub(crate) fn purge(&mut self, counters: &mut Counters) {
        for block in &mut self.all {
            if block.state == State::Retired {
                continue;
            }
            if block.written > 0 {
                block.wear_off(counters);
            }
            *block = Superblock {
                map: block.map,
                slc_cycles: block.slc_cycles,
                native_cycles: block.native_cycles,
                tier_cycles: block.tier_cycles,
                ..Superblock::fresh(block.fixed)
            };
        }
        self.free_all();
    }
}

/// The start after a power cut.
impl Blocks {
    /// Those that may be collected and those that are free are not known; the answer is what was
    /// known of their data.
    pub(crate) fn start_anew(&mut self, layout: &Layout) -> Victims {
        self.forget_free();
        let fresh = Victims::new(layout.superblocks, layout.native_units);
        std::mem::replace(&mut self.victims, fresh)
    }

    /// Restores what the firmware knew of a superblock's data.
    pub(crate) fn keep(&mut self, superblock: u32, before: &Victims) {
        self.victims.keep(superblock, before);
    }
}

/// The candidates of collection.
impl Blocks {
    /// A superblock has got data that the host wrote at this moment or before.
    #[inline]
    pub(crate) fn received(&mut self, superblock: u32, written: u64) {
        self.victims.received(superblock, written);
    }

    /// When the host wrote the youngest data of a superblock.
    #[inline]
    pub(crate) fn written(&self, superblock: u32) -> u64 {
        self.victims.written(superblock)
    }

    /// A superblock holds nothing, and is in no pool.
    pub(crate) fn freed(&mut self, superblock: u32) {
        self.victims.freed(superblock);
    }

    /// The pool of a superblock.
    pub(crate) fn pool_of(&self, superblock: u32) -> usize {
        self.victims.pool_of(superblock)
    }

    /// Superblocks of a pool that are not free.
    pub(crate) fn used(&self, pool: usize) -> u32 {
        self.victims.used(pool)
    }

    /// The candidate of a pool with the fewest valid units.
    pub(crate) fn emptiest(&self, pool: usize) -> Option<u32> {
        self.victims.emptiest(pool, &self.all)
    }

    /// True if a candidate with fewer than `units` valid units will be ready once the programs that
    /// are under way in it have ended.
    pub(crate) fn victims_come(&self, units: u32) -> bool {
        self.victims.come(units, &self.all)
    }

    /// The candidate of a pool whose turn it is.
    pub(crate) fn oldest(&self, pool: usize) -> Option<u32> {
        self.victims.oldest(pool, &self.all)
    }

    /// The candidates of a pool, as an order of collection sees them; none where there are none.
    pub(crate) fn candidates(
        &mut self,
        pool: usize,
        units: u32,
        now: u64,
    ) -> Option<Candidates<'_>> {
        let emptiest = self.emptiest(pool)?;
        Some(Candidates {
            victims: &mut self.victims,
            pool,
            all: &self.all,
            emptiest,
            units,
            now,
        })
    }
}

/// All superblocks.
impl Blocks {
    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// All of them, in order of their numbers.
    #[inline]
    pub(crate) fn all(&self) -> &[Superblock] {
        &self.all
    }

    /// All of them, to be worn.
    pub(crate) fn all_mut(&mut self) -> &mut [Superblock] {
        &mut self.all
    }
}

impl Index<u32> for Blocks {
    type Output = Superblock;

    #[inline]
    fn index(&self, superblock: u32) -> &Superblock {
        &self.all[superblock as usize]
    }
}

impl IndexMut<u32> for Blocks {
    #[inline]
    fn index_mut(&mut self, superblock: u32) -> &mut Superblock {
        &mut self.all[superblock as usize]
    }
}

impl Blocks {
    /// Checks what the superblocks say of themselves and each other while `granules` are in flight.
    /// `cached` says that the drive has an SLC cache.
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
            let state = self[stale].state;
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
