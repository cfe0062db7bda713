//! The SLC cache: which superblocks it may take, whether host data goes through it, and how much
//! the host may hand over now.
//!
//! The static part is a fixed set of superblocks; the dynamic part borrows free native ones, up to
//! its size, and never those that folding and collection need to finish. While host data is
//! staged, two superblocks more than the size may be open or in the middle of an erase: the pace
//! of folding, not this bound, is what holds the cache at its size.

use crate::allocate::{CACHE, DIRECT};
use crate::ftl::Ftl;
use crate::layout::Layout;
use crate::policy::{CacheMode, Policy, WhenFull};

/// Superblocks that staging may hold beyond the cache's size: one being filled, one being erased.
const STAGING_SUPERBLOCKS: u32 = 2;

/// State of the cache.
pub(crate) struct Cache {
    pub(crate) mode: CacheMode,
    /// Superblocks of the static part.
    pub(crate) fixed_total: u32,
    /// Superblocks that may be borrowed.
    pub(crate) limit: u32,
    /// Superblocks that are borrowed.
    pub(crate) borrowed: u32,
    /// Valid units in SLC mode.
    pub(crate) valid_units: u32,
    /// Host data goes direct until enough of the cache can be opened again.
    pub(crate) bypass: bool,
    /// Superblocks whose last valid unit went away, to be erased.
    pub(crate) dead: Vec<u32>,
    /// Native superblocks free at which folding under pressure begins.
    pub(crate) reserve: u32,
    rearm: u32,
}

impl Cache {
    pub(crate) fn new(policy: &Policy, layout: &Layout) -> Cache {
        let cache = &policy.cache;
        let superblocks = |bytes: u64| bytes.div_ceil(layout.slc_bytes()) as u32;
        let nearest = |bytes: u64| ((bytes + layout.slc_bytes() / 2) / layout.slc_bytes()) as u32;
        let (fixed, limit) = match cache.mode {
            CacheMode::None => (0, 0),
            CacheMode::Static => (nearest(cache.static_bytes).max(1), 0),
            CacheMode::Dynamic => (0, nearest(cache.size_bytes).max(1)),
            CacheMode::Hybrid => (
                nearest(cache.static_bytes).max(1),
                nearest(cache.size_bytes),
            ),
            CacheMode::WholeDrive => (0, layout.superblocks),
        };
        Cache {
            mode: cache.mode,
            fixed_total: fixed,
            limit,
            borrowed: 0,
            valid_units: 0,
            bypass: false,
            dead: Vec::new(),
            reserve: policy.fold.reserve_bytes.div_ceil(layout.native_bytes()) as u32,
            rearm: superblocks(cache.rearm_bytes).max(1),
        }
    }
}

impl Ftl {
    /// Superblocks that the cache could open now.
    pub(crate) fn cache_openable(&self) -> u32 {
        self.blocks.free_fixed.len() as u32 + self.cache_lendable()
    }

    /// Free native superblocks that the cache could borrow now.
    pub(crate) fn cache_lendable(&self) -> u32 {
        let gc = self.policy.gc.reserve_superblocks;
        let (limit, keep) = match self.policy.cache.when_full {
            WhenFull::Direct => (self.cache.limit, gc.max(self.cache.reserve)),
            WhenFull::FoldFirst => (self.cache.limit, gc),
            WhenFull::Staged if self.cache.limit == 0 => (0, gc),
            WhenFull::Staged => (self.cache.limit + STAGING_SUPERBLOCKS, gc),
        };
        let lendable = self.available().saturating_sub(keep);
        limit.saturating_sub(self.cache.borrowed).min(lendable)
    }

    /// Takes a superblock of a die group for the cache: a static one if there is one, else a
    /// borrowed one.
    pub(crate) fn take_cache_superblock(&mut self, group: u32) -> Option<u32> {
        if let Some(fixed) = self.blocks.take_fixed(&self.layout, group) {
            return Some(fixed);
        }
        self.cache.borrowed += 1;
        self.take_free(CACHE, group)
    }

    /// The stream that takes the next host unit.
    pub(crate) fn host_stream(&mut self) -> usize {
        if self.cache.mode == CacheMode::None {
            return DIRECT;
        }
        if self.cache.bypass {
            if self.cache_openable() < self.cache.rearm {
                return DIRECT;
            }
            self.cache.bypass = false;
        }
        if self.streams[CACHE].left() > 0 || self.cache_openable() > 0 {
            return CACHE;
        }
        if self.policy.cache.when_full == WhenFull::Direct {
            self.cache.bypass = true;
            return DIRECT;
        }
        CACHE
    }

    /// Units that the host may hand over now; 0 when it has to wait for a program, a fold or a
    /// collection. The units have to be reserved before they are handed over.
    pub fn room(&mut self) -> u32 {
        let buffer = self.buffer.capacity_units - self.buffer.used_units;
        if buffer == 0 || self.fold.holds_host() || self.collect.holds_host() {
            return 0;
        }
        let stream = self.host_stream();
        let can_open = match stream {
            _ if self.buffer.promised => true,
            CACHE => self.cache_openable() > 0,
            _ => self.available() > self.policy.gc.reserve_superblocks,
        };
        let left = self.streams[stream].left();
        let left = left.saturating_sub(self.buffer.coming_units);
        self.starved = !can_open && left == 0;
        if can_open { buffer } else { buffer.min(left) }
    }

    /// Sets buffer aside for units that the host is sending, and a free superblock where they do
    /// not fit into the open one: no mover takes it before they arrive.
    pub fn reserve(&mut self, units: u32) {
        let stream = self.host_stream();
        self.buffer.used_units += units;
        self.buffer.coming_units += units;
        self.buffer.promised |= self.buffer.coming_units > self.streams[stream].left();
    }

    /// Units of buffer that are not taken.
    #[must_use]
    pub fn buffer_free(&self) -> u32 {
        self.buffer.capacity_units - self.buffer.used_units
    }

    /// Units of buffer that come free as the programs under way end.
    #[must_use]
    pub fn buffer_programming(&self) -> u32 {
        let waiting = [CACHE, DIRECT].map(|s| self.streams[s].next - self.streams[s].begun);
        self.buffer.used_units - self.buffer.coming_units - waiting[0] - waiting[1]
    }
}
