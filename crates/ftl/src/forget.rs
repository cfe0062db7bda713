//! A crypto erase: the keys are thrown away, so all data is gone at once, and what is left on the
//! flash is erased later.
//!
//! Superblocks that held something become stale: they hold nothing and are not free. They are
//! erased when few superblocks are free, ahead of the host's need, and one after the other in
//! offered idle time. Invariant: a stale superblock is no candidate for folding or collection, and
//! nothing points into it.

use crate::blocks::{Pool, State};
use crate::ftl::Ftl;
use crate::op::NandOp;
use crate::orders::Policies;

/// Superblocks kept erased, or in erase, beyond those at which collection ends: one for each stream
/// that the host may open.
const AHEAD: u32 = 2;

impl<P: Policies> Ftl<P> {
    /// Forgets all data. Only with nothing in flight; wear and counters stay.
    pub fn forget(&mut self) {
        self.writing.forget_passes(&self.layout, &mut self.blocks);
        assert_eq!(
            self.writing.buffer.in_flight(),
            0,
            "erase with programs in flight"
        );
        assert_eq!(self.blocks.erasing, 0, "erase while erasing");
        self.cuts.forget();
        self.start_over();
        self.give_up_worn();
        for (index, block) in self.blocks.all.iter_mut().enumerate() {
            block.valid = 0;
            block.pool = if block.map { Pool::Map } else { Pool::Data };
            if block.written > 0 {
                block.state = State::Emptied;
                self.blocks.stale.push_back(index as u32);
            }
        }
    }

    /// Erases stale superblocks as far as free ones are short, or one while time is offered.
    #[cold]
    pub(crate) fn erase_stale(&mut self, ops: &mut Vec<NandOp>) {
        while let Some(at) = self.next_stale() {
            let Some(superblock) = self.blocks.stale.remove(at) else {
                return;
            };
            self.start_erase(superblock, ops);
        }
    }

    /// Place of the stale superblock to be erased now, if one is to be.
    fn next_stale(&self) -> Option<usize> {
        let blocks = &self.blocks;
        let is_fixed = |s: &u32| blocks.all[*s as usize].fixed;
        let is_map = |s: &u32| blocks.all[*s as usize].map;
        if self.map_is_short()
            && let Some(at) = blocks.stale.iter().position(is_map)
        {
            return Some(at);
        }
        if blocks.free_fixed.len() as u32 + blocks.erasing < AHEAD
            && let Some(at) = blocks.stale.iter().position(is_fixed)
        {
            return Some(at);
        }
        let short = blocks.free_count() + blocks.erasing < self.policy.gc.high_superblocks + AHEAD;
        let idle = (self.cache.fold.idle || self.collection.mover.idle) && blocks.erasing == 0;
        if short && let Some(at) = blocks.stale.iter().position(|s| !is_fixed(s) && !is_map(s)) {
            return Some(at);
        }
        (idle && !blocks.stale.is_empty()).then_some(0)
    }
}
