//! The SLC cache: which superblocks it may take, and whether host data goes through it.
//!
//! The static part is a fixed set of superblocks; the dynamic part borrows free native ones, up to
//! its size, and never those that folding and collection need to finish. While host data is
//! staged, two superblocks more than the size may be open or in the middle of an erase: the pace
//! of folding, not this bound, is what holds the cache at its size.

use crate::audit::{Bounds, LIFETIME};
use crate::blocks::{Pool, State, Superblock};
use crate::check::{Checked, ensure};
use crate::designs::Borrows;
use crate::ftl::Ftl;
use crate::full_rules::FullRule;
use crate::layout::{Layout, Mode, NONE};
use crate::mover::Mover;
use crate::orders::Policies;
use crate::policy::{CacheMode, Policy, SizeAt, Worn};
use crate::streams::Stream;

/// Superblocks that staging may hold beyond the cache's size: one being filled, one being erased.
const STAGING_SUPERBLOCKS: u32 = 2;

/// Granules a die from one search for a superblock worth reclaiming, where it found none, to the
/// next. A search goes over all superblocks of the cache, and in so short a time few of their units
/// are overwritten.
const LOOK_AGAIN_GRANULES: u64 = 8;

/// Whether the cache may take a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It may, where there is one with room.
    Cache,
    /// It goes straight to native blocks.
    Direct,
    /// It goes straight to the native blocks of a placement handle, which is not the first one.
    Handle(u8),
}

/// The state of the cache and of folding.
pub(crate) struct Cache {
    pub(crate) mode: CacheMode,
    /// What happens when it is full.
    pub(crate) rule: FullRule,
    /// Superblocks of the static part.
    pub(crate) fixed_total: u32,
    /// No static superblock is opened any more.
    static_closed: bool,
    /// Superblocks that may be borrowed.
    pub(crate) limit: u32,
    /// Superblocks that are borrowed.
    pub(crate) borrowed: u32,
    /// Valid units in SLC mode.
    pub(crate) valid_units: u32,
    /// Superblocks that the second tier may borrow, those that it has, and valid units in it.
    pub(crate) tier_limit: u32,
    pub(crate) tier_borrowed: u32,
    pub(crate) tier_valid_units: u32,
    /// Host data goes direct until enough of the cache can be opened again.
    pub(crate) bypass: bool,
    /// Superblocks whose last valid unit went away, to be erased.
    pub(crate) dead: Vec<u32>,
    /// Native superblocks free at which folding under pressure begins.
    pub(crate) reserve: u32,
    /// Cache superblocks with little valid data are folded to make room.
    pub(crate) reclaiming: bool,
    /// Most valid units of a superblock that is reclaimed; none where nothing is.
    pub(crate) reclaim_most: Option<u32>,
    /// Nothing worth reclaiming was found; not looked for again before this sequence number.
    look_again: u64,
    /// So few superblocks are free that folding goes on in the background.
    pub(crate) scarce: bool,
    /// Units that may still be folded in the background, where that has a rate.
    pub(crate) allowance: Option<i64>,
    /// Checks found that the source being folded has to go through the controller.
    pub(crate) distrusted: bool,
    /// With a mixed cache: the next data goes direct.
    direct_next: bool,
    /// Direct units beyond their share, in thousandths.
    direct_ahead_milli: i64,
    rearm: u32,
    /// What folds it.
    pub(crate) fold: Mover,
}

flashtwin_base::state! { Cache {
    kept: fixed_total, static_closed, limit, borrowed, valid_units, tier_borrowed, tier_valid_units,
        bypass, dead, reclaiming, look_again, scarce, allowance, distrusted, direct_next,
        direct_ahead_milli;
    part: fold;
    built: mode, rule, tier_limit, reserve, reclaim_most, rearm;
} }

impl Cache {
    pub(crate) fn new(policy: &Policy, layout: &Layout) -> Cache {
        let cache = &policy.cache;
        let superblocks = |bytes: u64| bytes.div_ceil(layout.slc_bytes()) as u32;
        let nearest = |bytes: u64| ((bytes + layout.slc_bytes() / 2) / layout.slc_bytes()) as u32;
        let size = cache
            .size_by_fill
            .first()
            .map_or(cache.size_bytes, |at| at.bytes);
        let design = cache.mode.design();
        let fixed = if design.owns {
            nearest(cache.static_bytes).max(1)
        } else {
            0
        };
        let limit = match design.borrows {
            Borrows::Nothing => 0,
            // A size that is less than a superblock is one, where there is no other part.
            Borrows::Sized => nearest(size).max(u32::from(!design.owns)),
            Borrows::All => layout.superblocks,
        };
        let mode = if design.caches() {
            cache.mode
        } else {
            CacheMode::None
        };
        Cache {
            mode,
            rule: *cache.when_full.rule(),
            fixed_total: fixed,
            static_closed: false,
            limit,
            borrowed: 0,
            valid_units: 0,
            tier_limit: if mode == CacheMode::None {
                0
            } else {
                tier_limit(cache.tier_bytes, layout)
            },
            tier_borrowed: 0,
            tier_valid_units: 0,
            bypass: false,
            dead: Vec::new(),
            reclaiming: false,
            reclaim_most: (cache.reclaim_milli > 0).then(|| {
                let most = u64::from(layout.whole_units(Mode::Slc))
                    * u64::from(cache.reclaim_milli)
                    / 1000;
                most as u32
            }),
            look_again: 0,
            scarce: false,
            allowance: policy.fold.rate_bytes_s.map(|_| 0),
            distrusted: false,
            direct_next: false,
            direct_ahead_milli: 0,
            reserve: policy.fold.reserve_bytes.div_ceil(layout.native_bytes()) as u32,
            rearm: superblocks(cache.rearm_bytes).max(1),
            fold: Mover::folding(policy, layout),
        }
    }
}

impl Cache {
    /// The count of valid units that a pool has; none where the choice of a victim keeps it.
    #[inline]
    pub(crate) fn valid_in(&mut self, pool: Pool) -> Option<&mut u32> {
        match pool {
            Pool::Data | Pool::Map => None,
            Pool::Cache => Some(&mut self.valid_units),
            Pool::Tier => Some(&mut self.tier_valid_units),
        }
    }

    /// A superblock that a pool borrowed is free again, or gone.
    pub(crate) fn give_back(&mut self, pool: Pool) {
        match pool {
            Pool::Data | Pool::Map => {}
            Pool::Cache => self.borrowed -= 1,
            Pool::Tier => self.tier_borrowed -= 1,
        }
    }
}

/// Superblocks of the second tier nearest to a size; none without one.
fn tier_limit(bytes: u64, layout: &Layout) -> u32 {
    let each = layout.tier_bytes();
    if bytes == 0 || each == 0 {
        return 0;
    }
    (((bytes + each / 2) / each) as u32).max(1)
}

/// The size that a table gives at a fill, in bytes: straight lines between its points, level
/// before the first and after the last. Fill in thousandths of a percent.
fn size_at(table: &[SizeAt], fill: u32) -> u64 {
    let after = table.iter().position(|at| at.fill_milli_percent > fill);
    match after {
        Some(0) => table[0].bytes,
        None => table.last().map_or(0, |at| at.bytes),
        Some(next) => {
            let (a, b) = (table[next - 1], table[next]);
            let span = i128::from(b.fill_milli_percent - a.fill_milli_percent);
            let step = i128::from(fill - a.fill_milli_percent);
            let rise = i128::from(b.bytes) - i128::from(a.bytes);
            (i128::from(a.bytes) + rise * step / span) as u64
        }
    }
}

impl<P: Policies> Ftl<P> {
    /// Superblocks that the cache could open now.
    pub(crate) fn cache_openable(&self) -> u32 {
        self.blocks.free_fixed.len() as u32 + self.cache_lendable()
    }

    /// Free native superblocks that the cache could borrow now.
    pub(crate) fn cache_lendable(&self) -> u32 {
        let gc = self.policy.gc.reserve_superblocks;
        let (limit, keep) = if self.cache.rule.bypasses {
            (self.cache.limit, gc.max(self.cache.reserve))
        } else if self.cache.limit == 0 || self.tier_takes() {
            // Data that the second tier takes need not be staged through SLC.
            (self.cache.limit, gc)
        } else {
            (self.cache.limit.saturating_add(STAGING_SUPERBLOCKS), gc)
        };
        let keep = keep + self.writing.buffer.awaited.promised_to(Stream::Direct);
        let lendable = self.available().saturating_sub(keep);
        limit.saturating_sub(self.cache.borrowed).min(lendable)
    }

    /// Free native superblocks that the second tier could borrow now.
    fn tier_openable(&self) -> u32 {
        if self.cache.tier_limit == 0 {
            return 0;
        }
        let gc = self.policy.gc.reserve_superblocks;
        let keep = if self.cache.rule.bypasses {
            gc.max(self.cache.reserve)
        } else {
            gc
        };
        let keep = keep + self.writing.buffer.awaited.promised_to(Stream::Direct);
        let lendable = self.available().saturating_sub(keep);
        // A failed program may have opened one beyond the size.
        let left = self
            .cache
            .tier_limit
            .saturating_sub(self.cache.tier_borrowed);
        left.min(lendable)
    }

    /// Whether a lane of the second tier may have a superblock.
    pub(crate) fn tier_may_open(&self) -> bool {
        self.tier_openable() > 0
    }

    /// Whether the second tier takes what the SLC cache cannot.
    #[inline]
    pub(crate) fn tier_takes(&self) -> bool {
        self.cache.tier_limit > 0
            && (self.writing.streams[Stream::Tier].left() > 0 || self.tier_openable() > 0)
    }

    /// Takes a superblock of a die group for the second tier.
    pub(crate) fn take_tier_superblock(&mut self, group: u32) -> Option<u32> {
        self.cache.tier_borrowed += 1;
        self.wear
            .take_free(&mut self.blocks, &self.layout, (Stream::Tier, group))
    }

    /// Takes a superblock of a die group for the cache: a static one if there is one, else a
    /// borrowed one.
    pub(crate) fn take_cache_superblock(&mut self, group: u32) -> Option<u32> {
        if let Some(fixed) = self.blocks.take_fixed(&self.layout, group) {
            return Some(fixed);
        }
        self.cache.borrowed += 1;
        self.wear
            .take_free(&mut self.blocks, &self.layout, (Stream::Cache, group))
    }

    /// The stream for the next host data where there is a cache and the route may lead there.
    pub(crate) fn cached_stream(&mut self) -> Stream {
        if self.cache.bypass {
            if self.cache_openable() < self.rearms_at() {
                self.look_for_reclaim();
                return Stream::Direct;
            }
            self.cache.bypass = false;
        }
        let tier = self.tier_takes();
        if self.cache.rule.shares && !tier {
            return self.mixed_stream();
        }
        if self.writing.streams[Stream::Cache].left() > 0 || self.cache_openable() > 0 {
            return Stream::Cache;
        }
        if tier {
            return Stream::Tier;
        }
        if self.cache.rule.bypasses && !self.room_is_coming() {
            self.cache.bypass = true;
            return Stream::Direct;
        }
        if self.cache.limit == 0 && self.cache.fixed_total == 0 {
            return Stream::Direct;
        }
        Stream::Cache
    }

    /// The stream whose turn it is in a mixed cache, or the other one where it has no room.
    fn mixed_stream(&self) -> Stream {
        let cache = self.writing.streams[Stream::Cache].left() > 0 || self.cache_openable() > 0;
        let native =
            self.writing.streams[Stream::Direct].left() > 0 || self.direct_openable(Stream::Direct);
        match (self.cache.direct_next, cache, native) {
            (true, true, false) | (false, true, _) | (false, _, false) => Stream::Cache,
            _ => Stream::Direct,
        }
    }

    /// Host data has been placed: a full mixed cache decides where the next goes, so that each
    /// stream gets its share. Not while data is on its way to the place that was decided.
    #[inline]
    pub(crate) fn placed(&mut self, stream: Stream, units: u32) {
        if !self.cache.rule.shares {
            return;
        }
        let share = i64::from(self.policy.cache.direct_milli);
        let gone = if stream == Stream::Cache { 0 } else { 1000 };
        let ahead = self.cache.direct_ahead_milli + i64::from(units) * (gone - share);
        let full = self.cache_is_full();
        self.cache.direct_ahead_milli = if full { ahead } else { 0 };
        if self.writing.buffer.awaited.units() == 0 {
            self.cache.direct_next = full && ahead < 0;
        }
    }

    /// Whether a full cache is about to get room back by folding little.
    fn room_is_coming(&mut self) -> bool {
        let Some(most) = self.cache.reclaim_most else {
            return false;
        };
        let source = self.cache.fold.source;
        let block = |s: u32| &self.blocks.all[s as usize];
        let slc = source != NONE && block(source).pool == Pool::Cache;
        let folded = slc && block(source).valid <= most;
        let used = self.cache.borrowed + self.fixed_in_use();
        let at_work = used - self.blocks.cache.len() as u32 - u32::from(slc);
        if folded || at_work > 0 {
            return true;
        }
        self.look_for_reclaim();
        self.cache.reclaiming
    }

    /// Looks whether a cache superblock is empty enough to be reclaimed, every few granules.
    fn look_for_reclaim(&mut self) {
        if self.cache.reclaiming || self.writing.sequence < self.cache.look_again {
            return;
        }
        self.cache.reclaiming = self.emptiest().is_some();
        if !self.cache.reclaiming {
            self.cache.look_again =
                self.writing.sequence + LOOK_AGAIN_GRANULES * u64::from(self.layout.dies);
        }
    }

    /// Place in the queue of the cache superblock with the least valid data, where that is little
    /// enough to be reclaimed.
    pub(crate) fn emptiest(&self) -> Option<usize> {
        let most = self.cache.reclaim_most?;
        let candidates = self.blocks.cache.iter().enumerate();
        candidates
            .map(|(at, &s)| (at, &self.blocks.all[s as usize]))
            .filter(|(_, block)| block.valid <= most && self.may_fold(block))
            .min_by_key(|(_, block)| block.valid)
            .map(|(at, _)| at)
    }

    /// A superblock was taken: the size follows the fill, and a cache that runs out of superblocks
    /// looks for one that is worth reclaiming.
    pub(crate) fn look_at_cache(&mut self) {
        if !self.policy.cache.size_by_fill.is_empty() {
            self.follow_fill();
        }
        if self.cache.reclaim_most.is_some() && !self.cache.reclaiming {
            self.cache.reclaiming = self.cache_openable() <= 1 && self.emptiest().is_some();
        }
    }

    /// Superblocks that have to come free for a full cache to be used again: no more than there
    /// are.
    fn rearms_at(&self) -> u32 {
        let most = self.cache.fixed_total.saturating_add(self.cache.limit);
        self.cache.rearm.min(most).max(1)
    }

    /// Static superblocks that are neither free nor given up.
    pub(crate) fn fixed_in_use(&self) -> u32 {
        self.cache.fixed_total - self.blocks.free_fixed.len() as u32
    }

    /// A static superblock has been erased: whether it is given up, its cycles being used up.
    pub(crate) fn gives_up_static(&mut self, superblock: u32) -> bool {
        let cycles = u64::from(self.blocks.all[superblock as usize].slc_cycles);
        let worn = self.wear.rated.wear(cycles, 0, 0) >= 1.0;
        let given_up = match self.policy.cache.worn {
            Worn::Keep => false,
            Worn::Shrink => worn,
            Worn::Close => worn || self.cache.static_closed,
        };
        if !given_up {
            return false;
        }
        self.give_up(superblock);
        if self.policy.cache.worn == Worn::Close {
            self.cache.static_closed = true;
            while let Some(other) = self.blocks.free_fixed.pop_front() {
                self.give_up(other);
            }
        }
        true
    }

    fn give_up(&mut self, superblock: u32) {
        self.blocks.all[superblock as usize].state = State::Retired;
        self.cache.fixed_total -= 1;
    }

    /// The drive starts over with its wear as it was: what was given up stays so.
    pub(crate) fn give_up_worn(&mut self) {
        let worn =
            |b: &Superblock| b.fixed && self.wear.rated.wear(b.slc_cycles.into(), 0, 0) >= 1.0;
        let closes = self.policy.cache.worn == Worn::Close;
        self.cache.static_closed = closes && self.blocks.all.iter().any(worn);
        for superblock in std::mem::take(&mut self.blocks.free_fixed) {
            if !self.gives_up_static(superblock) {
                self.blocks.free_fixed.push_back(superblock);
            }
        }
        if self.cache.static_closed {
            while let Some(other) = self.blocks.free_fixed.pop_front() {
                self.give_up(other);
            }
        }
    }

    /// The share that is left of the rated cycles of the static superblocks; those that were given
    /// up have none. 0 without a static part.
    #[must_use]
    pub fn static_budget(&self) -> f64 {
        let own = self.blocks.all.iter().filter(|b| b.fixed);
        let (mut count, mut sum) = (0.0, 0.0);
        for left in own.map(|b| match b.state {
            State::Retired => 0.0,
            _ => (1.0 - self.wear.rated.wear(b.slc_cycles.into(), 0, 0)).max(0.0),
        }) {
            count += 1.0;
            sum += left;
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// Units that the cache may hold now: its static part and what it may borrow at this fill.
    #[must_use]
    pub fn cache_limit_units(&self) -> u64 {
        let superblocks = self.cache.fixed_total.saturating_add(self.cache.limit);
        u64::from(superblocks) * u64::from(self.layout.whole_units(Mode::Slc))
    }

    /// Whether reclaiming goes on: until two superblocks can be opened, and in a bypass until
    /// enough can for the cache to be used again.
    pub(crate) fn reclaims_on(&self) -> bool {
        let enough = if self.cache.bypass {
            self.rearms_at()
        } else {
            2
        };
        self.cache.reclaiming && self.cache_openable() < enough
    }

    /// The borrowed part may be as large as the table says at the present fill.
    pub(crate) fn follow_fill(&mut self) {
        let valid: u64 = self.blocks.all.iter().map(|b| u64::from(b.valid)).sum();
        let fill = valid * 100_000 / u64::from(self.logical_units());
        let bytes = size_at(&self.policy.cache.size_by_fill, fill as u32);
        let slc = self.layout.slc_bytes();
        self.cache.limit = ((bytes + slc / 2) / slc) as u32;
    }
}

impl Cache {
    /// See [`crate::audit`].
    pub(crate) fn audit(&self, b: &Bounds) -> Checked {
        b.distinct("dead", &self.dead)?;
        let counts = [&self.fixed_total, &self.borrowed, &self.tier_borrowed];
        Bounds::below("cache", b.superblocks + 1, counts)?;
        Bounds::below(
            "cached",
            b.physical + 1,
            [&self.valid_units, &self.tier_valid_units],
        )?;
        let ahead = self.direct_ahead_milli.unsigned_abs();
        let allowed = self.allowance.unwrap_or(0).unsigned_abs();
        ensure!(
            ahead.max(allowed).max(self.look_again) < LIFETIME,
            "{ahead} {allowed}"
        );
        Ok(())
    }
}
