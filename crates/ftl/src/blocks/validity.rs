//! Which units are valid: old copies are marked invalid as data is trimmed or written anew, and
//! each superblock's count of valid units follows, with what is sorted by it.
//!
//! Of superblocks of the SLC cache the cache keeps a sum; others are candidates of collection. A
//! closed superblock that loses its last valid unit is noted: it is erased, not
//! folded or collected.

use super::{Blocks, State};
use crate::layout::{Layout, NONE};
use crate::map::Map;
use crate::slc_cache::Cache;

impl Blocks {
    /// Marks the present copies of a run of logical units invalid. The map itself is left to the
    /// caller.
    #[inline(always)]
    pub(crate) fn invalidate_run(
        &mut self,
        map: &mut Map,
        cache: &mut Cache,
        layout: &Layout,
        lpn: u32,
        count: u32,
    ) {
        let (from, to) = (lpn as usize, (lpn + count) as usize);
        if count == 1 {
            let ppn = map.physical[from];
            if ppn != NONE {
                self.invalidate(map, cache, layout, ppn, 1);
            }
            return;
        }
        if !map.is_unwritten(lpn, count) {
            self.invalidate_some(map, cache, layout, from, to);
        }
    }

    /// The same where some of them have been written.
    #[inline(never)]
    fn invalidate_some(
        &mut self,
        map: &mut Map,
        cache: &mut Cache,
        layout: &Layout,
        from: usize,
        to: usize,
    ) {
        let mut at = from;
        while at < to {
            let first = map.physical[at];
            let mut run = 1;
            if first != NONE {
                while at + run < to && map.physical[at + run] == first + run as u32 {
                    run += 1;
                }
                self.invalidate_across(map, cache, layout, first, run as u32);
            }
            at += run;
        }
    }

    /// A run of physical units may cross from one superblock into the next.
    #[inline]
    fn invalidate_across(
        &mut self,
        map: &mut Map,
        cache: &mut Cache,
        layout: &Layout,
        first: u32,
        count: u32,
    ) {
        let (mut at, mut left) = (first, count);
        while left > 0 {
            let offset = layout.split(at).1;
            let here = left.min(layout.native_units - offset);
            self.invalidate(map, cache, layout, at, here);
            at += here;
            left -= here;
        }
    }

    #[inline]
    fn invalidate(
        &mut self,
        map: &mut Map,
        cache: &mut Cache,
        layout: &Layout,
        ppn: u32,
        count: u32,
    ) {
        if count == 1 {
            return self.invalidate_unit(map, cache, layout, ppn);
        }
        map.clear_valid_run(ppn, count);
        self.invalidated(cache, layout, ppn, count);
    }

    #[inline(always)]
    pub(crate) fn invalidate_unit(
        &mut self,
        map: &mut Map,
        cache: &mut Cache,
        layout: &Layout,
        ppn: u32,
    ) {
        map.clear_valid(ppn);
        self.invalidated(cache, layout, ppn, 1);
    }

    /// Units of one superblock from `ppn` on have been marked invalid.
    #[inline(always)]
    fn invalidated(&mut self, cache: &mut Cache, layout: &Layout, ppn: u32, count: u32) {
        let superblock = layout.superblock_of(ppn);
        self.lose_valid(cache, superblock, count);
        let block = &self.all[superblock as usize];
        if block.valid == 0 && block.state == State::Closed {
            self.note_dead(superblock);
        }
    }

    /// A superblock has fewer valid units.
    #[inline]
    pub(crate) fn lose_valid(&mut self, cache: &mut Cache, superblock: u32, count: u32) {
        let block = &mut self.all[superblock as usize];
        let before = block.valid;
        block.valid -= count;
        if let Some(valid) = cache.valid_in(block.pool) {
            *valid -= count;
        } else if self.victims.crosses(before, block.valid) {
            self.restep(superblock);
        }
    }

    /// A superblock has more valid units.
    #[inline]
    pub(crate) fn gain_valid(&mut self, cache: &mut Cache, superblock: u32, count: u32) {
        let block = &mut self.all[superblock as usize];
        let before = block.valid;
        block.valid += count;
        if let Some(valid) = cache.valid_in(block.pool) {
            *valid += count;
        } else if self.victims.crosses(before, block.valid) {
            self.restep(superblock);
        }
    }

    /// A valid count has crossed a step of those that the choice of a victim tells apart.
    #[inline(never)]
    fn restep(&mut self, superblock: u32) {
        if self.victims.holds(superblock) {
            let valid = self.all[superblock as usize].valid;
            self.victims.restep(superblock, valid);
        }
    }
}
