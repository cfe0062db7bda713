//! Taking data away: TRIM, and the old copies of what is written anew.
//!
//! A closed superblock that loses its last valid unit is erased, not folded or collected.

use crate::blocks::State;
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::op::NandOp;
use crate::orders::Policies;

impl<P: Policies> Ftl<P> {
    /// Deallocates `count` logical units from `lpn`; superblocks without valid data are erased.
    pub fn trim(&mut self, lpn: u32, count: u32, ops: &mut Vec<NandOp>) {
        self.invalidate_run(lpn, count);
        self.map.physical[lpn as usize..(lpn + count) as usize].fill(NONE);
        self.entries_trimmed(lpn, count);
        let (layout, counters) = (&self.layout, &mut self.counters);
        let sequence = &mut self.writing.sequence;
        self.cuts
            .note_trim((lpn, count), sequence, layout, counters, ops);
        self.erase_dead(ops);
    }

    /// Marks the present copies of a run of logical units invalid. The map itself is left to the
    /// caller.
    #[inline(always)]
    pub(crate) fn invalidate_run(&mut self, lpn: u32, count: u32) {
        let (from, to) = (lpn as usize, (lpn + count) as usize);
        if count == 1 {
            let ppn = self.map.physical[from];
            if ppn != NONE {
                self.invalidate(ppn, 1);
            }
            return;
        }
        // Without an early exit the compiler makes a few vector instructions of it.
        let all = self.map.physical[from..to]
            .iter()
            .fold(NONE, |all, &ppn| all & ppn);
        if all != NONE {
            self.invalidate_some(from, to);
        }
    }

    /// The same where some of them have been written.
    #[inline(never)]
    fn invalidate_some(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            let first = self.map.physical[at];
            let mut run = 1;
            if first != NONE {
                while at + run < to && self.map.physical[at + run] == first + run as u32 {
                    run += 1;
                }
                self.invalidate_across(first, run as u32);
            }
            at += run;
        }
    }

    /// A run of physical units may cross from one superblock into the next.
    fn invalidate_across(&mut self, first: u32, count: u32) {
        let (mut at, mut left) = (first, count);
        while left > 0 {
            let offset = self.layout.split(at).1;
            let here = left.min(self.layout.native_units - offset);
            self.invalidate(at, here);
            at += here;
            left -= here;
        }
    }

    #[inline]
    fn invalidate(&mut self, ppn: u32, count: u32) {
        if count == 1 {
            return self.invalidate_unit(ppn);
        }
        self.map.clear_valid_run(ppn, count);
        self.invalidated(ppn, count);
    }

    #[inline(always)]
    pub(crate) fn invalidate_unit(&mut self, ppn: u32) {
        self.map.clear_valid(ppn);
        self.invalidated(ppn, 1);
    }

    /// Units of one superblock from `ppn` on have been marked invalid.
    #[inline(always)]
    fn invalidated(&mut self, ppn: u32, count: u32) {
        let superblock = self.layout.superblock_of(ppn);
        self.lose_valid(superblock, count);
        let block = &self.blocks.all[superblock as usize];
        if block.valid == 0 && block.state == State::Closed {
            self.cache.dead.push(superblock);
        }
    }

    /// A superblock has fewer valid units.
    #[inline]
    pub(crate) fn lose_valid(&mut self, superblock: u32, count: u32) {
        let block = &mut self.blocks.all[superblock as usize];
        let before = block.valid;
        block.valid -= count;
        if let Some(valid) = self.cache.valid_in(block.pool) {
            *valid -= count;
        } else if self.blocks.victims.crosses(before, block.valid) {
            self.restep(superblock);
        }
    }

    /// A superblock has more valid units.
    #[inline]
    pub(crate) fn gain_valid(&mut self, superblock: u32, count: u32) {
        let block = &mut self.blocks.all[superblock as usize];
        let before = block.valid;
        block.valid += count;
        if let Some(valid) = self.cache.valid_in(block.pool) {
            *valid += count;
        } else if self.blocks.victims.crosses(before, block.valid) {
            self.restep(superblock);
        }
    }

    /// A valid count has crossed a step of those that the choice of a victim tells apart.
    #[inline(never)]
    fn restep(&mut self, superblock: u32) {
        if self.blocks.victims.holds(superblock) {
            let valid = self.blocks.all[superblock as usize].valid;
            self.blocks.victims.restep(superblock, valid);
        }
    }

    /// Erases the closed superblocks that have lost their last valid unit.
    #[inline(always)]
    pub(crate) fn erase_dead(&mut self, ops: &mut Vec<NandOp>) {
        if !self.cache.dead.is_empty() {
            self.erase_all_dead(ops);
        }
    }

    #[inline(never)]
    fn erase_all_dead(&mut self, ops: &mut Vec<NandOp>) {
        while let Some(superblock) = self.cache.dead.pop() {
            let block = &self.blocks.all[superblock as usize];
            if block.state == State::Closed && block.valid == 0 && block.in_flight == 0 {
                self.erase_when_safe(superblock, ops);
            }
        }
    }
}
