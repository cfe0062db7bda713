//! Garbage collection: empties native superblocks, the one with the fewest valid units first.
//!
//! It starts when few superblocks are free and stops when enough are; while it runs, the host pays
//! for each unit what the victim costs: valid ÷ (size − valid) copies. Where a cache superblock
//! holds less valid data than the best native victim, folding is the cheaper way to free space and
//! goes first.

use crate::allocate::GC;
use crate::blocks::{Pool, State, Superblock};
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::mover::Work;
use crate::op::NandOp;
use crate::wear::Cause;

impl Ftl {
    /// Units to copy for each host unit, in thousandths.
    #[inline]
    pub(crate) fn collect_pace_milli(&self) -> i64 {
        if !self.collect.active || self.collect.source == NONE {
            return 0;
        }
        self.collect_cost_milli
    }

    pub(crate) fn pump_collect(&mut self, ops: &mut Vec<NandOp>) {
        let free = self.blocks.free_count();
        if free < self.policy.gc.low_superblocks {
            self.collect.active = true;
        } else if free >= self.policy.gc.high_superblocks && self.collect.source == NONE {
            self.collect.active = false;
            self.collect.owe(0, 0);
        }
        if !self.collect.active && !self.wear.busy {
            return;
        }
        loop {
            if self.collect.source == NONE && !self.next_victim(ops) {
                self.collect.owe(0, 0);
                if self.collect.waiting() && self.collect.outstanding == 0 {
                    self.pad(GC, ops);
                }
                self.wear.busy = self.wear.waiting() > 0;
                return;
            }
            if self.collect.cursor >= self.layout.native_units {
                if !self.finish_source(Work::Collect, ops) {
                    return;
                }
            } else if !self.may_collect() {
                self.free_emptied(Work::Collect, ops);
                return;
            } else {
                self.read_row(Work::Collect, ops);
            }
        }
    }

    /// Collection keeps ahead of what the host pays for, and goes all out when the host waits or
    /// when it moves data for another reason than space.
    #[inline]
    fn may_collect(&mut self) -> bool {
        let urgent = self.starved || self.collect.cause != Cause::Space;
        (urgent || self.collect.is_behind()) && self.may_read(Work::Collect)
    }

    /// Data that is moved for another reason than space goes first, and the host does not pay.
    #[cold]
    fn start_relocation(&mut self) -> bool {
        let Some((superblock, cause)) = self.next_relocation() else {
            return false;
        };
        self.collect.cause = cause;
        self.collect_cost_milli = 0;
        self.start_source(Work::Collect, superblock);
        true
    }

    /// Chooses the closed native superblock with the fewest valid units, unless all are full or a
    /// cache superblock has fewer.
    fn next_victim(&mut self, ops: &mut Vec<NandOp>) -> bool {
        if self.wear.busy && self.start_relocation() {
            return true;
        }
        if !self.collect.active {
            return false;
        }
        if self.sequence < self.search_again && !self.starved {
            return false;
        }
        self.erase_dead(ops);
        if self.blocks.free_count() >= self.policy.gc.high_superblocks {
            return false;
        }
        let ready =
            |b: &Superblock| b.state == State::Closed && b.pool == Pool::Data && b.in_flight == 0;
        let candidates = self.blocks.all.iter().enumerate().filter(|(_, b)| ready(b));
        let Some((victim, valid)) = candidates
            .map(|(i, b)| (i as u32, b.valid))
            .min_by_key(|c| c.1)
        else {
            self.search_again = self.sequence + 8 * u64::from(self.layout.dies);
            return false;
        };
        let oldest = self
            .blocks
            .cache
            .front()
            .map(|&s| self.blocks.all[s as usize].valid);
        let cheaper_fold = oldest.is_some_and(|cached| cached <= valid) && self.fold_can_write();
        if valid >= self.layout.native_units || cheaper_fold {
            self.search_again = self.sequence + 8 * u64::from(self.layout.dies);
            return false;
        }
        let freed = self.layout.native_units - valid;
        self.collect.cause = Cause::Space;
        self.collect_cost_milli = i64::from(valid) * 1000 / i64::from(freed);
        self.start_source(Work::Collect, victim);
        true
    }
}
