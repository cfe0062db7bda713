//! When the cache is folded, how quickly, and what of it is next.

use super::{Cache, Seen};
use crate::superblock::Superblock;

/// Folding keeps up with staged data as soon as no more than this many superblocks above the
/// reserve are free, and not only at the reserve. So a full drive is overwritten at a steady rate
/// and not in bursts between folds.
pub(super) const NEAR_SUPERBLOCKS: u32 = 2;

/// While the host goes past the cache and fewer than `gc.low` superblocks are free, folding under
/// pressure goes at this multiple of its pace. The usual pace frees as much as the host uses and no
/// more: the host would wait for the end of each source, and after the last one for a whole victim.
const SHORT_TIMES: i64 = 2;

impl Cache {
    /// Cache units to fold for each host unit, in thousandths: the larger of what data that passes
    /// through a full cache needs and what the number of free superblocks needs. The last closed
    /// superblock is folded no faster than the next one fills.
    pub(crate) fn fold_pace_milli(&self, seen: &Seen<'_>) -> i64 {
        if seen.blocks.nothing_cached() && !seen.folding.is_working() {
            return 0;
        }
        let pace = self.pressure_pace_milli(seen);
        match (self.bypass, self.reclaiming) {
            (false, false) => pace,
            (true, false) => pace.max(self.refill_milli()),
            (_, true) => pace.max(1000),
        }
    }

    /// The pace that the size of the cache and the free reserve ask for.
    fn pressure_pace_milli(&self, seen: &Seen<'_>) -> i64 {
        let reserve = self.reserve.max(seen.policy.gc.low_superblocks);
        let free = seen.blocks.free_count();
        let keep_up = i64::from(self.when_full.keeps_up_milli());
        let near = || self.is_full(seen) || free < reserve + NEAR_SUPERBLOCKS;
        let keeps_up = keep_up > 0 && near();
        let pace = self.folding.as_ref();
        let pace = pace.map_or(0, |fold| i64::from(fold.pace_milli));
        let is_short = self.bypass && free < seen.policy.gc.low_superblocks;
        let pace = if is_short { SHORT_TIMES * pace } else { pace };
        match (keeps_up, free < reserve) {
            (_, true) if seen.blocks.nothing_cached() => pace.min(1000),
            (true, true) => pace.max(keep_up),
            (true, false) => keep_up,
            (false, true) => pace,
            (false, false) => 0,
        }
    }

    /// Notes whether few superblocks are free. They are few once their number is below `fold.low`,
    /// and until it reaches `fold.high`.
    pub(crate) fn look_for_scarcity(&mut self, free: u32) {
        let Some(fold) = &self.folding else { return };
        if fold.low_superblocks > 0 {
            let ends = self.scarce && free < fold.high_superblocks;
            self.scarce = free < fold.low_superblocks || ends;
        }
    }

    /// Whether folding should go on now.
    pub(crate) fn wants_fold(&self, seen: &Seen<'_>) -> bool {
        self.folds_in_background(seen) || seen.folding.is_behind() || seen.writing.is_starved()
    }

    /// Whether folding goes on in the background: idle time is offered or few superblocks are free,
    /// and its rate allows for more.
    pub(super) fn folds_in_background(&self, seen: &Seen<'_>) -> bool {
        (seen.folding.is_idle() || self.scarce) && self.allowance.is_none_or(|left| left > 0)
    }

    /// Whether folding in the background has work and a rate. While nothing can be folded a grant
    /// that is left stays good: the next one is wanted once a source is found.
    pub(crate) fn wants_allowance(&self, seen: &Seen<'_>) -> bool {
        let folds = seen.folding.is_working();
        let work = folds || seen.folding.waiting() || !seen.blocks.nothing_cached();
        let wanted = self.allowance.is_some_and(|left| folds || left <= 0);
        work && wanted && (seen.folding.is_idle() || self.scarce)
    }

    /// Grants folding in the background a number of units. Units that were granted before and not
    /// used are not carried over; what was folded beyond them is taken off.
    pub(crate) fn allow(&mut self, units: u32) {
        if let Some(left) = &mut self.allowance {
            *left = (*left).min(0) + i64::from(units);
        }
    }

    /// Units have been folded: they are taken off those that the background was granted.
    pub(crate) fn spend_allowance(&mut self, units: u32) {
        if let Some(left) = &mut self.allowance {
            *left = (*left - i64::from(units)).max(-i64::from(units));
        }
    }

    /// Idle time is over: what it has freed takes data.
    pub(crate) fn end_idle(&mut self, seen: &Seen<'_>) {
        self.bypass &= self.openable(seen) == 0;
    }

    /// Whether copies inside a die may be made of the present source.
    pub(crate) fn trusts_copies(&self) -> bool {
        !self.distrusted
    }

    /// A check has found that what is left of the source has to go through the controller.
    pub(crate) fn distrust(&mut self) {
        self.distrusted = true;
    }
}

/// What is folded next.
impl Cache {
    /// A closed cache superblock whose programs have all ended: the emptiest while there are some
    /// worth reclaiming, else the oldest; the second tier's after the first's. For a host that
    /// waits it is a borrowed one, which leaves a free native superblock.
    pub(crate) fn next_source(&mut self, seen: &Seen<'_>) -> Option<u32> {
        let emptiest = self.emptiest(seen);
        self.reclaiming = emptiest.is_some() && self.reclaims_on(seen);
        let source = match emptiest {
            Some(at) => seen.blocks.cached().get(at).copied(),
            None if self.is_wanted_by_host(seen) => {
                let borrowed = self.oldest_to_fold(seen, |block| !block.fixed);
                borrowed.or_else(|| self.oldest_source(seen))
            }
            None => self.oldest_source(seen),
        }?;
        let most = self.reclaim_most;
        self.took_little = most.is_some_and(|most| seen.blocks[source].valid <= most);
        self.distrusted = false;
        Some(source)
    }

    /// True if the host waits for room, whichever superblock folding empties for it. With a cache
    /// that data goes past when it is full, the host does so only while its data goes past. Before
    /// that it waits for a superblock with little valid data and for no other: if the firmware
    /// folded mostly valid ones for it too, the cache would have room again and again, and all
    /// later data would pass through it.
    fn is_wanted_by_host(&self, seen: &Seen<'_>) -> bool {
        seen.writing.is_starved() && (self.bypass || !self.rule().bypasses)
    }

    /// The oldest superblock that may be folded now. None where superblocks with little valid data
    /// are the only reason to fold, which this one need not be.
    fn oldest_source(&self, seen: &Seen<'_>) -> Option<u32> {
        let background = self.folds_in_background(seen);
        let wanted = background || self.is_wanted_by_host(seen);
        let asked = wanted || self.reclaim_most.is_none();
        if !asked && self.pressure_pace_milli(seen) == 0 && !self.rearms() {
            return None;
        }
        self.oldest_to_fold(seen, |_| true)
    }

    /// The oldest superblock of the cache that may be folded now and is `wanted`.
    fn oldest_to_fold(&self, seen: &Seen<'_>, wanted: impl Fn(&Superblock) -> bool) -> Option<u32> {
        let ready = |s: &u32| {
            let block = &seen.blocks[*s];
            wanted(block) && self.may_fold(seen, block)
        };
        seen.blocks.to_fold().find(ready)
    }

    /// Whether the cache is folded while host data goes direct, so that it can take data again.
    fn rearms(&self) -> bool {
        self.bypass && self.refill_milli() > 0
    }
}
