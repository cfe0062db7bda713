//! The map of a drive whose controller does not hold all of it in RAM.
//!
//! [`cache`] is what the controller holds: slots of SRAM, the host's memory, the journal of
//! changes, and which superblocks the pages lie in. The firmware says what became of the map's
//! entries ([`PagedMap::entries_changed`], [`PagedMap::entries_moved`],
//! [`PagedMap::entries_trimmed`]) and asks whether movers and host have to wait
//! ([`PagedMap::holds`]). Where the whole map is in RAM each of them is one comparison. How pages
//! are read and written is a sequence of the firmware's (`ftl/map_pages.rs`).

mod cache;

use crate::blocks::{Blocks, State};
use crate::counters::Counters;
use crate::ensure::{Checked, ensure, ensure_eq};
use crate::layout::{Layout, Mode, NONE};
use crate::map::Map;
use crate::policy::{MapPolicy, Policy};

pub use cache::JOURNAL_ENTRY_BYTES;
pub(crate) use cache::{Checkpoint, MapCache};

/// Erased superblocks of the pool below which it is collected: one takes what collection copies,
/// the other the pages that are written until it has freed one.
pub(crate) const LOW_SUPERBLOCKS: usize = 2;
/// Superblocks of the pool beside its data: one open, one free for collection, one being erased.
const SPARE_SUPERBLOCKS: u64 = 3;

/// Superblocks that `pages` map pages take, with `units` and `granule` units of a superblock and of
/// a program in their mode: twice the pages, so that collecting them costs little (the emptiest
/// superblock is at least half empty), and never so few that padding could eat what collection
/// frees.
#[must_use]
pub fn pool_superblocks(pages: u64, units: u64, granule: u64) -> u64 {
    let usable = (units / 2).min(units.saturating_sub(2 * granule));
    pages.div_ceil(usable.max(1)) + SPARE_SUPERBLOCKS
}

impl MapPolicy {
    /// Superblocks of the pool for a drive of `host_units`.
    pub(super) fn pool(&self, layout: &Layout, host_units: u32) -> u32 {
        if self.is_whole() {
            return 0;
        }
        assert!(
            (layout.later_passes.is_none() && !layout.paired) || self.mode == Mode::Slc,
            "map pages cannot wait for other pages or passes"
        );
        let pages = host_units.div_ceil(self.entries(layout.unit_bytes));
        let (units, granule) = (layout.units(self.mode), layout.granule(self.mode));
        pool_superblocks(pages.into(), units.into(), granule.into()) as u32
    }
}

/// The state of the room.
pub(crate) struct PagedMap {
    /// What is in RAM of the map; none where all of it is.
    cache: Option<Box<MapCache>>,
}

flashtwin_base::state! { PagedMap { part: cache; } }

impl PagedMap {
    /// Nothing is written yet; `pool` are the superblocks that hold map pages, and how many of them
    /// were lost before.
    pub(crate) fn new(policy: &Policy, host_units: u32, pool: (Vec<u32>, u32)) -> PagedMap {
        let cache = || MapCache::new(&policy.map, policy.unit_bytes, host_units, pool);
        PagedMap {
            cache: (!policy.map.is_whole()).then(|| Box::new(cache())),
        }
    }

    /// The same after all data is forgotten: the superblocks stay.
    pub(crate) fn start_over(&mut self, policy: &Policy, host_units: u32) {
        let pool = self.cache.take().map(|cache| cache.into_pool());
        *self = PagedMap::new(policy, host_units, pool.unwrap_or_default());
    }

    /// What is in RAM of the map; none where all of it is.
    #[inline]
    pub(crate) fn cache(&self) -> Option<&MapCache> {
        self.cache.as_deref()
    }

    /// What is in RAM of the map, to be changed; none where all of it is.
    #[inline]
    pub(crate) fn cache_mut(&mut self) -> Option<&mut MapCache> {
        self.cache.as_deref_mut()
    }

    /// Whether parts of the map have to be read before commands can go on.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.cache.is_some()
    }

    /// Whether the journal is so full that whoever adds to it has to wait.
    #[inline]
    pub(crate) fn holds(&self) -> bool {
        self.cache.as_ref().is_some_and(|c| c.journal_is_full())
    }

    /// Sequence number below which a flush has to wait for the checkpoint, or the largest number.
    pub(crate) fn checkpoint_pending(&self) -> u64 {
        match self.cache().map(MapCache::checkpoint) {
            Some(Checkpoint::Writing(since) | Checkpoint::Programming(since, _)) => since,
            _ => u64::MAX,
        }
    }

    /// Pages of the map; 0 where all of it is in RAM.
    pub(crate) fn pages(&self) -> u32 {
        self.cache.as_ref().map_or(0, |c| c.pages())
    }

    /// Superblocks that the map has lost and not got back.
    pub(crate) fn lacking(&self) -> u32 {
        self.cache.as_ref().map_or(0, |c| c.lacking())
    }

    /// Bytes that the tables of the simulation take.
    pub(crate) fn bytes(&self) -> usize {
        self.cache.as_ref().map_or(0, |c| c.bytes())
    }

    /// The state in a line, for a panic.
    pub(crate) fn describe(&self) -> String {
        self.cache
            .as_ref()
            .map_or_else(String::new, |c| c.describe())
    }
}

impl PagedMap {
    /// Entries of a run of logical units have changed.
    #[inline]
    pub(crate) fn entries_changed(&mut self, lpn: u32, count: u32) {
        if let Some(cache) = &mut self.cache {
            cache.run_changed(lpn, count);
        }
    }

    /// Units have been moved: their entries have changed, or, where they are map pages, they have
    /// been written with all that is known of them.
    #[inline]
    pub(crate) fn entries_moved(&mut self, lpns: &[u32], counters: &mut Counters) {
        if let Some(cache) = &mut self.cache {
            cache.units_moved(lpns, counters);
        }
    }

    /// A run of logical units has been deallocated. Entries have changed; a page of which no unit
    /// is mapped any more is forgotten, and `give_up` is told its number.
    #[inline]
    pub(crate) fn entries_trimmed(&mut self, lpn: u32, count: u32, give_up: impl FnMut(u32)) {
        if let Some(cache) = &mut self.cache {
            cache.run_trimmed(lpn, count, give_up);
        }
    }

    /// Whether few superblocks of the pool are erased or being erased.
    pub(crate) fn is_short(&self, blocks: &Blocks) -> bool {
        let Some(cache) = &self.cache else {
            return false;
        };
        let erasing = |&&s: &&u32| blocks[s].state == State::Erasing;
        let coming = cache.pool().iter().filter(erasing).count();
        blocks.free_of_map() + coming <= LOW_SUPERBLOCKS
    }

    /// After a power cut: pages that may lack a change of the data that they point to have to be
    /// written anew. A change is newer than a page by its `version`, or by when the superblock that
    /// it lies in was `opened`.
    pub(crate) fn mark_stale_pages(
        &mut self,
        map: &Map,
        layout: &Layout,
        version: &[u64],
        opened: &[u64],
    ) {
        let Some(cache) = &mut self.cache else {
            return;
        };
        let place = |lpn: u32| {
            let ppn = map.physical[lpn as usize];
            (ppn != NONE).then(|| opened[layout.superblock_of(ppn) as usize])
        };
        for page in 0..cache.pages() {
            let own = cache.unit_of(page);
            let written = (version[own as usize], place(own).unwrap_or(0));
            let newer = |lpn: u32| {
                version[lpn as usize] > written.0 || place(lpn).is_some_and(|at| at >= written.1)
            };
            if cache.units_of(page).any(newer) {
                cache.changed(page, 1);
            }
        }
    }

    /// Checks that map pages live in their own superblocks and nothing else does, and that what is
    /// mapped is on flash, in SRAM or in the journal.
    pub(crate) fn check(&self, map: &Map, blocks: &Blocks, layout: &Layout) -> Checked {
        let Some(cache) = self.cache.as_deref() else {
            return Ok(());
        };
        cache.check()?;
        let own = cache.pool().iter().filter(|&&s| blocks[s].map);
        let all = blocks.all().iter().filter(|b| b.map).count();
        ensure_eq!(own.count(), all, "superblocks of the map");
        ensure_eq!(cache.pool().len(), all, "superblocks of its pool");
        for (lpn, &ppn) in map.physical.iter().enumerate() {
            let own = ppn != NONE && blocks[layout.superblock_of(ppn)].map;
            let page = lpn as u32 >= cache.unit_of(0);
            ensure!(ppn == NONE || own == page, "unit {lpn} lies at {ppn}");
            if ppn != NONE && !page {
                let page = cache.page_of(lpn as u32);
                let has_page = map.physical[cache.unit_of(page) as usize] != NONE;
                ensure!(
                    has_page || cache.is_stale(page),
                    "the entry of {lpn} is lost"
                );
            }
        }
        Ok(())
    }
}
