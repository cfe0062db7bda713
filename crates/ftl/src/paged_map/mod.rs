//! The map of a drive whose controller does not hold all of it in RAM.
//!
//! [`cache`] is what the controller holds: slots of SRAM, the host's memory, the journal of
//! changes. [`pages`] is what lies on flash: pages are looked up, written back, collected.
//!
//! What crosses is named: the rest of the firmware says what became of the map's entries
//! ([`PagedMap::entries_changed`], [`PagedMap::entries_moved`], [`PagedMap::entries_trimmed`]),
//! asks whether movers and host have to wait ([`PagedMap::holds`]), reports ends
//! ([`Ftl::map_page_read`], [`Ftl::map_page_updated`]), tells which of its superblocks are at risk
//! or lost ([`Ftl::refresh_map`], [`Ftl::map_lost_superblock`]) and lets it work
//! ([`Ftl::pump_map`]). Where the whole map is in RAM each of them is one comparison.
//!
//! [`Ftl::map_page_read`]: crate::Ftl
//! [`Ftl::map_page_updated`]: crate::Ftl
//! [`Ftl::refresh_map`]: crate::Ftl
//! [`Ftl::map_lost_superblock`]: crate::Ftl
//! [`Ftl::pump_map`]: crate::Ftl

mod cache;
mod pages;

use crate::blocks::{Blocks, State};
use crate::counters::Counters;
use crate::ensure::{Checked, ensure, ensure_eq};
use crate::layout::{Layout, NONE};
use crate::map::Map;
use crate::mover::{Mover, Work};
use crate::policy::Policy;
use cache::MapCache;
use pages::LOW_SUPERBLOCKS;

pub use cache::JOURNAL_ENTRY_BYTES;
pub use pages::{LookUp, pool_superblocks};

/// The state of the room.
pub(crate) struct PagedMap {
    /// What is in RAM of the map; none where all of it is.
    cache: Option<Box<MapCache>>,
    /// Collection of the map's own superblocks.
    pub(crate) mover: Mover,
}

flashtwin_base::state! { PagedMap { part: cache, mover; } }

impl PagedMap {
    /// Nothing is written yet; `pool` are the superblocks that hold map pages.
    pub(crate) fn new(
        policy: &Policy,
        layout: &Layout,
        host_units: u32,
        pool: Vec<u32>,
    ) -> PagedMap {
        let cache = || MapCache::new(&policy.map, policy.unit_bytes, host_units, pool);
        PagedMap {
            cache: (!policy.map.is_whole()).then(|| Box::new(cache())),
            mover: Mover::new(Work::Map, layout),
        }
    }

    /// The same after all data is forgotten: the superblocks stay.
    pub(crate) fn start_over(&mut self, policy: &Policy, layout: &Layout, host_units: u32) {
        let before = self.cache.take();
        let (pool, lacking) = before.map(|c| (c.pool, c.lacking)).unwrap_or_default();
        *self = PagedMap::new(policy, layout, host_units, pool);
        if let Some(cache) = &mut self.cache {
            cache.lacking = lacking;
        }
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

    /// Pages of the map; 0 where all of it is in RAM.
    pub(crate) fn pages(&self) -> u32 {
        self.cache.as_ref().map_or(0, |c| c.pages)
    }

    /// Superblocks that the map has lost and not got back.
    pub(crate) fn lacking(&self) -> u32 {
        self.cache.as_ref().map_or(0, |c| c.lacking)
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
        let erasing = |&s: &u32| blocks.all[s as usize].state == State::Erasing;
        let coming = cache.pool.iter().copied().filter(erasing).count();
        blocks.free_map.len() + coming <= LOW_SUPERBLOCKS
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
        for page in 0..cache.pages {
            let own = cache.first + page;
            let written = (version[own as usize], place(own).unwrap_or(0));
            let first = page * cache.entries;
            let last = cache.first.min(first + cache.entries);
            let newer = |lpn: u32| {
                version[lpn as usize] > written.0 || place(lpn).is_some_and(|at| at >= written.1)
            };
            if (first..last).any(newer) {
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
        let own = cache.pool.iter().filter(|&&s| blocks.all[s as usize].map);
        let all = blocks.all.iter().filter(|b| b.map).count();
        ensure_eq!(own.count(), all, "superblocks of the map");
        ensure_eq!(cache.pool.len(), all, "superblocks of its pool");
        for (lpn, &ppn) in map.physical.iter().enumerate() {
            let own = ppn != NONE && blocks.all[layout.superblock_of(ppn) as usize].map;
            let page = lpn as u32 >= cache.first;
            ensure!(ppn == NONE || own == page, "unit {lpn} lies at {ppn}");
            if ppn != NONE && !page {
                let page = cache.page_of(lpn as u32);
                let has_page = map.physical[(cache.first + page) as usize] != NONE;
                ensure!(
                    has_page || cache.is_stale(page),
                    "the entry of {lpn} is lost"
                );
            }
        }
        Ok(())
    }
}
