//! Whether a state that was read from a file can be a state of this firmware: every index lies in
//! its table, no number is large enough to overflow a sum, and the invariants of [`crate::check`]
//! hold. Each number is checked before it is used, so that no file makes this panic.

use crate::check::{Checked, ensure};
use crate::counters::Counters;
use crate::layout::{Layout, NONE};

/// Counts and times of a drive's life stay below this, so that sums of them cannot overflow.
pub(crate) const LIFETIME: u64 = 1 << 56;

/// What the numbers of a drive may be.
pub(crate) struct Bounds {
    pub(crate) superblocks: u32,
    /// Units of a superblock, and of all.
    pub(crate) units: u32,
    pub(crate) physical: u32,
    /// Logical units, pages of the map included.
    pub(crate) mapped: u32,
    pub(crate) dies: u32,
    pub(crate) groups: u32,
    /// Places in the list of granules in flight.
    pub(crate) flights: u32,
}

impl Bounds {
    /// Every one of some numbers is below a bound.
    pub(crate) fn below<'a>(
        what: &str,
        bound: u32,
        all: impl IntoIterator<Item = &'a u32>,
    ) -> Checked {
        match all.into_iter().find(|&&one| one >= bound) {
            Some(one) => Err(format!("{what}: {one} of {bound}")),
            None => Ok(()),
        }
    }

    /// The same, and there may be none.
    pub(crate) fn below_or_none<'a>(
        what: &str,
        bound: u32,
        all: impl IntoIterator<Item = &'a u32>,
    ) -> Checked {
        Bounds::below(what, bound, all.into_iter().filter(|&&one| one != NONE))
    }

    /// Superblocks, each at most once.
    pub(crate) fn distinct<'a>(
        &self,
        what: &str,
        all: impl IntoIterator<Item = &'a u32>,
    ) -> Checked {
        let mut seen = vec![false; self.superblocks as usize];
        for &one in all {
            ensure!(one < self.superblocks, "{what}: superblock {one}");
            let twice = std::mem::replace(&mut seen[one as usize], true);
            ensure!(!twice, "{what}: superblock {one} twice");
        }
        Ok(())
    }

    /// A run of logical units.
    pub(crate) fn run(&self, what: &str, lpn: u32, units: u32) -> Checked {
        let end = lpn.checked_add(units);
        let inside = end.is_some_and(|end| end <= self.mapped);
        ensure!(inside, "{what}: {units} units from {lpn}");
        Ok(())
    }
}

impl Layout {
    pub(crate) fn bounds(&self, mapped: u32, flights: usize) -> Bounds {
        Bounds {
            superblocks: self.superblocks,
            units: self.native_units,
            physical: self.physical_units(),
            mapped,
            dies: self.dies,
            groups: self.groups,
            flights: flights as u32,
        }
    }
}

impl Counters {
    pub(crate) fn audit(&self) -> Checked {
        let small = |units: u64| units < LIFETIME;
        let causes = self.by_cause().into_iter().all(|(_, units)| small(units));
        let c = self;
        let others = [
            c.host_units,
            c.coalesced_units,
            c.dropped_units,
            c.lost_units,
            c.saved_units,
            c.bare_units,
            c.slc_mode_units,
            c.second_pass_units,
            c.gc_victims,
            c.map_written,
            c.map_moved,
            c.map_reads,
            c.map_hits,
            c.map_host_hits,
            c.map_misses,
            c.slc_erases,
            c.native_erases,
            c.tier_erases,
        ];
        ensure!(causes && others.into_iter().all(small), "counters: {c:?}");
        let programmed: u64 = c.by_cause().iter().map(|&(_, units)| units).sum();
        let saved = programmed.checked_sub(c.saved_units);
        let data = saved.and_then(|units| units.checked_sub(c.parity_units + c.journal_units));
        ensure!(data.is_some(), "more was saved than programmed: {c:?}");
        Ok(())
    }
}
