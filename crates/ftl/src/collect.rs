//! Garbage collection: empties native superblocks, in the order that the policy chooses.
//!
//! It starts when few superblocks are free and stops when enough are; while it runs, the host pays
//! for each unit what the victims cost: valid ÷ (size − valid) copies. Where a cache superblock
//! holds less valid data than the best native victim, folding is the cheaper way to free space and
//! goes first.

use crate::allocate::GC;
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::mover::Work;
use crate::op::NandOp;
use crate::policy::Victim;
use crate::wear::Cause;

/// Victims without anything to gain that a policy may choose one after another, before the emptiest
/// is taken instead: a drive that is short of space must not go round in circles.
const FULL_IN_TURN: u32 = 16;

/// What collection remembers from victim to victim.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Collection {
    /// Copies that collection costs for each unit that it frees, in thousandths.
    cost_milli: i64,
    /// No victim was worth its copies; not looked for again before this sequence number.
    search_again: u64,
    /// Victims in a row that had no invalid unit.
    full_in_turn: u32,
    /// Valid and invalid units of the last victims, the older ones fading out.
    recent: (u64, u64),
}

impl Collection {
    /// Notes a victim and sets what its copies cost. A policy that takes the emptiest knows the
    /// cost of each; where victims come as they come, the host pays the mean of the last eight or
    /// so: one without anything to gain would ask for its whole price at once.
    fn chosen(&mut self, policy: Victim, valid: u32, units: u32) {
        let (valid, freed) = (u64::from(valid), u64::from(units - valid));
        self.full_in_turn = if freed == 0 { self.full_in_turn + 1 } else { 0 };
        let fade = |sum: u64| sum - sum / 8;
        self.recent = match policy {
            Victim::Greedy => (valid, freed),
            _ => (fade(self.recent.0) + valid, fade(self.recent.1) + freed),
        };
        let (valid, freed) = self.recent;
        self.cost_milli = valid as i64 * 1000 / (freed as i64).max(1);
    }
}

impl Ftl {
    /// Units to copy for each host unit, in thousandths.
    #[inline]
    pub(crate) fn collect_pace_milli(&self) -> i64 {
        if !self.collect.active || self.collect.source == NONE {
            return 0;
        }
        self.collection.cost_milli
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
        self.collection.cost_milli = 0;
        self.start_source(Work::Collect, superblock);
        true
    }

    /// Makes the superblock that the policy chooses the source, unless all are full or a cache
    /// superblock costs less.
    fn next_victim(&mut self, ops: &mut Vec<NandOp>) -> bool {
        if self.wear.busy && self.start_relocation() {
            return true;
        }
        if !self.collect.active {
            return false;
        }
        if self.sequence < self.collection.search_again && !self.starved {
            return false;
        }
        self.erase_dead(ops);
        if self.blocks.free_count() >= self.policy.gc.high_superblocks {
            return false;
        }
        let Some((victim, valid)) = self.choose(0) else {
            self.collection.search_again = self.sequence + 8 * u64::from(self.layout.dies);
            return false;
        };
        self.collect.cause = Cause::Space;
        self.collection
            .chosen(self.policy.gc.victim, valid, self.layout.native_units);
        self.counters.gc_victims += 1;
        self.start_source(Work::Collect, victim);
        true
    }

    /// The next victim of a pool and its valid units: none where nothing is to be gained.
    fn choose(&mut self, pool: usize) -> Option<(u32, u32)> {
        let (all, units) = (&self.blocks.all, self.layout.native_units);
        let valid = |superblock: u32| all[superblock as usize].valid;
        let emptiest = self.victims.emptiest(pool, all)?;
        let chosen = match self.policy.gc.victim {
            Victim::Greedy => Some(emptiest),
            _ if self.collection.full_in_turn >= FULL_IN_TURN => Some(emptiest),
            Victim::CostBenefit => {
                let now = self.counters.host_units;
                self.victims.worthiest(pool, units, now, all)
            }
            Victim::Fifo => self.victims.oldest(pool, all),
            Victim::Choices(d) => self.victims.best_of(pool, d, all, &mut self.chance),
            Victim::Random => self.victims.any(pool, all, &mut self.chance),
        };
        let chosen = chosen.unwrap_or(emptiest);
        let oldest_cached = self.blocks.cache.front().map(|&s| valid(s));
        let cheaper_fold =
            oldest_cached.is_some_and(|cached| cached <= valid(chosen)) && self.fold_can_write();
        (valid(emptiest) < units && !cheaper_fold).then_some((chosen, valid(chosen)))
    }
}
