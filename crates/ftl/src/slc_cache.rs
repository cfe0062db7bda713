//! The SLC cache: which superblocks it may take, and whether host data goes through it.
//!
//! The static part is a fixed set of superblocks; the dynamic part borrows free native ones, up to
//! its size, and never those that folding and collection need to finish. While host data is
//! staged, two superblocks more than the size may be open or in the middle of an erase: the pace
//! of folding, not this bound, is what holds the cache at its size.
//!
//! The room decides and counts. It is shown what it has to look at ([`Seen`]), and is handed the
//! superblocks where it takes one or gives one up. When it is folded is said in [`folding`].

mod folding;

use folding::NEAR_SUPERBLOCKS;

use crate::blocks::{Blocks, Pool, State, Superblock};
use crate::choices::FullRule;
use crate::ensure::{Checked, ensure_eq};
use crate::layout::{Layout, Mode, NONE};
use crate::mover::Mover;
use crate::policy::{
    Admit, Borrowed, Fold, FoldPath, Gc, Policy, SizeAt, SlcCache, WhenFull, Worn,
};
use crate::streams::Stream;
use crate::wear::Wear;
use crate::writing::Writing;

/// Superblocks that a cache through which data is staged may hold beyond its size: one being
/// filled, one being erased.
const STAGING_SUPERBLOCKS: u32 = 2;

/// A search for a cache superblock with little valid data that has found none is repeated after so
/// many granules a die. It looks at all superblocks of the cache, and few of their units are
/// overwritten in so short a time.
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
    /// There is one: data is written in SLC mode and folded out of it.
    on: bool,
    /// What happens when it is full.
    when_full: WhenFull,
    /// Which writes enter.
    admit: Admit,
    /// Sizes of the borrowed part by fill; empty where it is the same throughout.
    by_fill: Vec<SizeAt>,
    /// When its own superblocks are worn out.
    worn: Worn,
    /// How it is folded; none without a cache.
    folding: Option<Fold>,
    /// Superblocks of the static part.
    fixed_total: u32,
    /// No static superblock is opened any more.
    static_closed: bool,
    /// Superblocks that may be borrowed.
    limit: u32,
    /// Superblocks that are borrowed.
    borrowed: u32,
    /// Valid units in SLC mode.
    valid_units: u32,
    /// Superblocks that the second tier may borrow, those that it has, and valid units in it.
    tier_limit: u32,
    tier_borrowed: u32,
    tier_valid_units: u32,
    /// Host data goes straight to native blocks until enough of the cache can be opened again.
    bypass: bool,
    /// Native superblocks free at which folding under pressure begins.
    reserve: u32,
    /// Cache superblocks with little valid data are being folded to make room.
    reclaiming: bool,
    /// The superblock that is folded at present held little valid data when folding took it.
    took_little: bool,
    /// Most valid units of a superblock that is reclaimed; none where nothing is.
    reclaim_most: Option<u32>,
    /// Nothing worth reclaiming was found; not looked for again before this sequence number.
    look_again: u64,
    /// So few superblocks are free that folding goes on in the background.
    scarce: bool,
    /// Units that may still be folded in the background, where that has a rate: a budget that the
    /// drive refills as time goes by (a token bucket).
    allowance: Option<i64>,
    /// A check has found that what is left of the source has to go through the controller.
    distrusted: bool,
    /// Where a share of the data goes straight to native blocks: the next data does.
    direct_next: bool,
    /// Units that went straight to native blocks beyond their share, in thousandths.
    direct_ahead_milli: i64,
    rearm: u32,
}

flashtwin_base::state! { Cache {
    kept: fixed_total, static_closed, limit, borrowed, valid_units, tier_borrowed, tier_valid_units,
        bypass, reclaiming, took_little, look_again, scarce, allowance, distrusted, direct_next,
        direct_ahead_milli;
    built: on, when_full, admit, by_fill, worn, folding, tier_limit, reserve, reclaim_most,
        rearm;
} }

impl Cache {
    pub(crate) fn new(policy: &Policy, layout: &Layout) -> Cache {
        let cache = &policy.cache;
        let superblocks = |bytes: u64| bytes.div_ceil(layout.slc_bytes()) as u32;
        let nearest = |bytes: u64| ((bytes + layout.slc_bytes() / 2) / layout.slc_bytes()) as u32;
        let fixed = cache.own().map_or(0, |own| nearest(own.0).max(1));
        let by_fill = match cache.borrowed() {
            Some(Borrowed::ByFill(points)) => points.clone(),
            _ => Vec::new(),
        };
        let limit = match cache {
            SlcCache::None | SlcCache::LowerPages | SlcCache::Static(..) => 0,
            SlcCache::WholeDrive(_) => layout.superblocks,
            SlcCache::Dynamic(borrowed, _) | SlcCache::Hybrid(_, borrowed, _) => {
                let size = match borrowed {
                    Borrowed::Fixed(bytes) => *bytes,
                    Borrowed::ByFill(points) => points[0].bytes,
                };
                // A size that is less than a superblock is one, where there is no other part.
                nearest(size).max(u32::from(fixed == 0))
            }
        };
        let caching = cache.caching();
        let when_full = caching.map_or(WhenFull::Staged, |caching| caching.when_full);
        let reclaim_milli = caching.map_or(0, |caching| caching.reclaim_milli);
        let folding = caching.map(|caching| caching.fold.clone());
        Cache {
            on: caching.is_some(),
            when_full,
            admit: caching.map_or(Admit::All, |caching| caching.admit),
            by_fill,
            worn: caching.map_or(Worn::Keep, |caching| caching.worn),
            fixed_total: fixed,
            static_closed: false,
            limit,
            borrowed: 0,
            valid_units: 0,
            tier_limit: caching.map_or(0, |caching| tier_limit(caching.tier_bytes, layout)),
            tier_borrowed: 0,
            tier_valid_units: 0,
            bypass: false,
            reclaiming: false,
            took_little: false,
            reclaim_most: (reclaim_milli > 0).then(|| {
                let all = u64::from(layout.whole_units(Mode::Slc));
                (all * u64::from(reclaim_milli) / 1000) as u32
            }),
            look_again: 0,
            scarce: false,
            allowance: folding
                .as_ref()
                .and_then(|fold| fold.rate_bytes_s)
                .map(|_| 0),
            distrusted: false,
            direct_next: false,
            direct_ahead_milli: 0,
            reserve: folding.as_ref().map_or(0, |fold| {
                fold.reserve_bytes.div_ceil(layout.native_bytes()) as u32
            }),
            rearm: match when_full {
                WhenFull::Direct { rearm_bytes, .. } => superblocks(rearm_bytes).max(1),
                _ => 1,
            },
            folding,
        }
    }
}

/// What a spec has chosen.
impl Cache {
    /// Whether there is one: otherwise nothing is written in SLC mode and nothing folded.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// The facts of what happens when it is full.
    #[inline]
    pub(crate) fn rule(&self) -> &'static FullRule {
        self.when_full.rule()
    }

    /// Whether host data goes two ways at once while the cache is not even full, or may do so.
    pub(crate) fn parts_data(&self) -> bool {
        self.on && (self.rule().shares || self.admit != Admit::All)
    }

    /// Whether any write may enter.
    #[inline]
    pub(crate) fn admits_all(&self) -> bool {
        self.admit == Admit::All
    }

    /// Whether a write of so many bytes may enter, which continues a sequential run.
    #[inline]
    pub(crate) fn admits(&self, bytes: u64, run_bytes: impl FnOnce() -> u64) -> bool {
        match self.admit {
            Admit::All => true,
            Admit::Small(most) => bytes <= most,
            Admit::Random(most) => run_bytes() <= most,
        }
    }

    /// Whether it takes all host data and neither shrinks with the fill nor gives up superblocks.
    pub(crate) fn takes_all_for_good(&self) -> bool {
        self.on && !self.rule().bypasses && self.by_fill.is_empty() && self.worn == Worn::Keep
    }

    /// Its own superblocks are given up when they have used up their rated cycles.
    pub(crate) fn gives_up_worn_ones(&self) -> bool {
        self.on && self.worn != Worn::Keep
    }

    /// What is folded for each host unit that goes past a full cache, so that it takes data again.
    #[inline]
    fn refill_milli(&self) -> i64 {
        match self.when_full {
            WhenFull::Direct { refill_milli, .. } => i64::from(refill_milli),
            _ => 0,
        }
    }

    /// How often copies inside a die are checked, and the cycles from which on a check finds too
    /// many errors; none where data goes through the controller.
    pub(crate) fn copyback(&self) -> Option<(u32, u32)> {
        match self.folding.as_ref()?.path {
            FoldPath::Copyback {
                check_every,
                check_cycles,
            } => Some((check_every, check_cycles)),
            FoldPath::Controller => None,
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

/// What the cache looks at besides its own state.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// The mover that folds.
    pub(crate) folding: &'a Mover,
    pub(crate) policy: &'a Policy,
    pub(crate) layout: &'a Layout,
    pub(crate) blocks: &'a Blocks,
    pub(crate) writing: &'a Writing,
    /// Free native superblocks that are not set aside for a mover.
    pub(crate) available: u32,
    /// Units that a row holds at most, as far as is known.
    pub(crate) row_most: u32,
}

impl Seen<'_> {
    /// Whether a superblock may be opened for one of the streams of direct data.
    #[inline]
    pub(crate) fn direct_openable(&self, stream: Stream) -> bool {
        let awaited = &self.writing.buffer.awaited();
        let others = awaited.superblocks() - awaited.promised_to(stream);
        self.available > self.policy.gc.reserve_superblocks + others
            || (stream == Stream::Direct && self.blocks.has_half())
    }

    /// Free native superblocks that may be borrowed where so many have to stay.
    #[inline]
    fn lendable(&self, keep: u32) -> u32 {
        let keep = keep + self.writing.buffer.awaited().promised_to(Stream::Direct);
        self.available.saturating_sub(keep)
    }
}

/// Which superblocks it has and may take.
impl Cache {
    /// Superblocks that the cache could open now.
    #[inline]
    pub(crate) fn openable(&self, seen: &Seen<'_>) -> u32 {
        seen.blocks.free_of_cache() + self.borrowable(seen)
    }

    /// Free native superblocks that the cache could borrow now.
    #[inline]
    pub(crate) fn borrowable(&self, seen: &Seen<'_>) -> u32 {
        let gc = seen.policy.gc.reserve_superblocks;
        let (limit, keep) = if self.rule().bypasses {
            (self.limit, gc.max(self.reserve))
        } else if self.limit == 0 || self.tier_takes(seen) {
            // Data that the second tier takes need not be staged through SLC.
            (self.limit, gc)
        } else {
            (self.limit.saturating_add(STAGING_SUPERBLOCKS), gc)
        };
        let lendable = seen.lendable(keep);
        limit.saturating_sub(self.borrowed).min(lendable)
    }

    /// Free native superblocks that the second tier could borrow now.
    #[inline]
    fn tier_openable(&self, seen: &Seen<'_>) -> u32 {
        if self.tier_limit == 0 {
            return 0;
        }
        let gc = seen.policy.gc.reserve_superblocks;
        let keep = if self.rule().bypasses {
            gc.max(self.reserve)
        } else {
            gc
        };
        // A failed program may have opened one beyond the size.
        let left = self.tier_limit.saturating_sub(self.tier_borrowed);
        left.min(seen.lendable(keep))
    }

    /// Whether the second tier may have another superblock.
    #[inline]
    pub(crate) fn tier_may_open(&self, seen: &Seen<'_>) -> bool {
        self.tier_openable(seen) > 0
    }

    /// Whether the second tier takes what the SLC cache cannot.
    #[inline]
    fn tier_takes(&self, seen: &Seen<'_>) -> bool {
        self.tier_limit > 0 && (seen.writing[Stream::Tier].left() > 0 || self.tier_may_open(seen))
    }

    /// The borrowed part is beyond its size, or, where nothing is borrowed, the static part is all
    /// in use. Where there is a second tier, it is full too.
    #[inline]
    fn is_full(&self, seen: &Seen<'_>) -> bool {
        if self.tier_takes(seen) {
            return false;
        }
        if self.limit == 0 {
            return seen.blocks.free_of_cache() == 0;
        }
        self.borrowed > self.limit
    }

    /// Takes a superblock of a die group for the second tier.
    pub(crate) fn take_for_tier(
        &mut self,
        blocks: &mut Blocks,
        wear: &Wear,
        layout: &Layout,
        group: u32,
    ) -> Option<u32> {
        self.tier_borrowed += 1;
        wear.take_free(blocks, layout, (Stream::Tier, group))
    }

    /// Takes a superblock of a die group for the cache: a static one if there is one, else a
    /// borrowed one.
    pub(crate) fn take(
        &mut self,
        blocks: &mut Blocks,
        wear: &Wear,
        layout: &Layout,
        group: u32,
    ) -> Option<u32> {
        if let Some(fixed) = blocks.take_fixed(layout, group) {
            return Some(fixed);
        }
        self.borrowed += 1;
        wear.take_free(blocks, layout, (Stream::Cache, group))
    }

    /// A superblock was taken. A size that depends on the fill follows the share of the host's
    /// `logical_units` that holds data, and a cache that has one superblock left to open looks for
    /// one that it can fold at little cost.
    pub(crate) fn taken(&mut self, seen: &Seen<'_>, logical_units: u32) {
        if !self.by_fill.is_empty() {
            self.follow_fill(seen, logical_units);
        }
        if self.reclaim_most.is_some() && !self.reclaiming {
            self.reclaiming = self.openable(seen) <= 1 && self.emptiest(seen).is_some();
        }
    }

    /// The borrowed part may be as large as the table says at the present fill.
    fn follow_fill(&mut self, seen: &Seen<'_>, logical_units: u32) {
        let valid: u64 = seen.blocks.all().iter().map(|b| u64::from(b.valid)).sum();
        let fill = valid * 100_000 / u64::from(logical_units);
        let bytes = size_at(&self.by_fill, fill as u32);
        let slc = seen.layout.slc_bytes();
        self.limit = ((bytes + slc / 2) / slc) as u32;
    }

    /// Superblocks of the cache that have to be ready to be opened before a cache that was full
    /// takes data again: what the spec says, and no more than it may have.
    #[inline]
    pub(crate) fn rearms_at(&self) -> u32 {
        let most = self.fixed_total.saturating_add(self.limit);
        self.rearm.min(most).max(1)
    }

    /// The most free native superblocks, cached or not, that make a difference to folding, to
    /// collection or to whether the cache takes data.
    pub(crate) fn looks_at(&self, gc: &Gc) -> u32 {
        let collection = gc.high_superblocks.max(gc.low_superblocks);
        if !self.on {
            return collection;
        }
        let reserve = self.reserve.max(gc.reserve_superblocks);
        let pressure = self.reserve.max(gc.low_superblocks) + NEAR_SUPERBLOCKS;
        let scarce = self
            .folding
            .as_ref()
            .map_or(0, |fold| fold.high_superblocks);
        collection
            .max(reserve + self.rearms_at())
            .max(pressure)
            .max(scarce)
    }

    /// Static superblocks that are neither free nor given up.
    #[inline]
    fn fixed_in_use(&self, blocks: &Blocks) -> u32 {
        self.fixed_total - blocks.free_of_cache()
    }

    /// Superblocks that are its own.
    pub(crate) fn own(&self) -> u32 {
        self.fixed_total
    }

    /// Notes how many superblocks turned out to be its own.
    pub(crate) fn set_own(&mut self, superblocks: u32) {
        self.fixed_total = superblocks;
    }

    /// One of its own superblocks is retired.
    pub(crate) fn lose_own(&mut self) {
        self.fixed_total -= 1;
    }

    /// Superblocks in SLC mode, and valid units in them.
    pub(crate) fn in_use(&self, blocks: &Blocks) -> (u32, u32) {
        (self.borrowed + self.fixed_in_use(blocks), self.valid_units)
    }

    /// Superblocks of the second tier, and valid units in them.
    pub(crate) fn tier_in_use(&self) -> (u32, u32) {
        (self.tier_borrowed, self.tier_valid_units)
    }

    /// Whether there is a second tier.
    pub(crate) fn has_tier(&self) -> bool {
        self.tier_limit > 0
    }

    /// After a power cut: what a superblock holds counts again.
    pub(crate) fn found(&mut self, block: &Superblock) {
        self.borrowed += u32::from(block.pool == Pool::Cache && !block.fixed);
        self.tier_borrowed += u32::from(block.pool == Pool::Tier);
        if let Some(sum) = self.valid_in(block.pool) {
            *sum += block.valid;
        }
    }

    /// Checks what it has borrowed, and the sums of what is valid.
    pub(crate) fn check(&self, blocks: &Blocks) -> Checked {
        let of = |pool: Pool| blocks.all().iter().filter(move |b| b.pool == pool);
        let valid = |pool: Pool| of(pool).map(|b| b.valid).sum::<u32>();
        let borrowed = of(Pool::Cache).filter(|b| !b.fixed).count();
        ensure_eq!(borrowed, self.borrowed as usize, "borrowed superblocks");
        let tier = of(Pool::Tier).count();
        ensure_eq!(tier, self.tier_borrowed as usize, "superblocks of the tier");
        ensure_eq!(valid(Pool::Cache), self.valid_units, "valid units in SLC");
        ensure_eq!(
            valid(Pool::Tier),
            self.tier_valid_units,
            "valid units of the tier"
        );
        Ok(())
    }

    /// Whether host data goes past it at present.
    pub(crate) fn is_bypassed(&self) -> bool {
        self.bypass
    }

    /// Superblocks that the cache may have now: its static part and what it may borrow at this
    /// fill.
    pub(crate) fn most(&self) -> u32 {
        self.fixed_total.saturating_add(self.limit)
    }
}

/// Where the host's data goes.
impl Cache {
    /// The stream for the next host data where there is a cache and the route may lead there.
    #[inline]
    pub(crate) fn stream(&mut self, seen: &Seen<'_>) -> Stream {
        if self.bypass {
            // Room that idle time has freed takes data at once; under the host's hands it has to be
            // worth a burst.
            let enough = if seen.folding.is_idle() {
                1
            } else {
                self.rearms_at()
            };
            if self.openable(seen) < enough {
                self.look_for_reclaim(seen);
                return Stream::Direct;
            }
            self.bypass = false;
        }
        let tier = self.tier_takes(seen);
        if self.rule().shares && !tier {
            return self.mixed_stream(seen);
        }
        if seen.writing[Stream::Cache].left() > 0 || self.openable(seen) > 0 {
            return Stream::Cache;
        }
        if tier {
            return Stream::Tier;
        }
        if self.rule().bypasses && !self.room_is_coming(seen) {
            self.bypass = true;
            return Stream::Direct;
        }
        if self.limit == 0 && self.fixed_total == 0 {
            return Stream::Direct;
        }
        Stream::Cache
    }

    /// The stream that a mixed cache has chosen for the next data, or the other one where that has
    /// no room.
    #[inline]
    fn mixed_stream(&self, seen: &Seen<'_>) -> Stream {
        let streams = seen.writing;
        let cache = streams[Stream::Cache].left() > 0 || self.openable(seen) > 0;
        let native = streams[Stream::Direct].left() > 0 || seen.direct_openable(Stream::Direct);
        match (self.direct_next, cache, native) {
            (true, true, false) | (false, true, _) | (false, _, false) => Stream::Cache,
            _ => Stream::Direct,
        }
    }

    /// Host data has been placed: a full mixed cache decides where the next goes, so that each
    /// stream gets its share. Not while data is on its way to the place that was decided.
    #[inline]
    pub(crate) fn placed(&mut self, seen: &Seen<'_>, stream: Stream, units: u32) {
        let share = i64::from(self.when_full.direct_milli());
        let gone = if stream == Stream::Cache { 0 } else { 1000 };
        let ahead = self.direct_ahead_milli + i64::from(units) * (gone - share);
        let full = self.is_full(seen);
        self.direct_ahead_milli = if full { ahead } else { 0 };
        if seen.writing.buffer.awaited().units() == 0 {
            self.direct_next = full && ahead < 0;
        }
    }
}

/// Folding superblocks with little valid data, which makes room at little cost.
impl Cache {
    /// True if folding or an erase will soon free a superblock of a full cache that held little
    /// valid data: then the host waits for it. The host never waits for a superblock that was
    /// mostly valid when folding took it. If it did, then at a pace of a half it would fill one
    /// superblock while half of the next is folded, wait for the other half, and go on so without
    /// end.
    #[inline]
    fn room_is_coming(&mut self, seen: &Seen<'_>) -> bool {
        if self.reclaim_most.is_none() {
            return false;
        }
        let source = seen.folding.source();
        let slc = source != NONE && seen.blocks[source].pool == Pool::Cache;
        let used = self.borrowed + self.fixed_in_use(seen.blocks);
        let at_work = used - seen.blocks.cached().len() as u32 - u32::from(slc);
        if (slc && self.took_little) || at_work > 0 {
            return true;
        }
        // Of what was found to be worth it, nothing may be left by now.
        self.reclaiming = self.reclaiming && self.emptiest(seen).is_some();
        self.look_for_reclaim(seen);
        self.reclaiming
    }

    /// Looks whether a cache superblock holds so little that it is to be folded, every few
    /// granules.
    #[inline]
    fn look_for_reclaim(&mut self, seen: &Seen<'_>) {
        let sequence = seen.writing.sequence();
        if self.reclaiming || sequence < self.look_again {
            return;
        }
        self.reclaiming = self.emptiest(seen).is_some();
        if !self.reclaiming {
            self.look_again = sequence + LOOK_AGAIN_GRANULES * u64::from(seen.layout.dies);
        }
    }

    /// Place in the queue of the cache superblock with the least valid data; none where that is
    /// more than the spec says (`slc_cache.reclaim`).
    fn emptiest(&self, seen: &Seen<'_>) -> Option<usize> {
        let most = self.reclaim_most?;
        let candidates = seen.blocks.cached().iter().enumerate();
        candidates
            .map(|(at, &s)| (at, &seen.blocks[s]))
            .filter(|(_, block)| block.valid <= most && self.may_fold(seen, block))
            .min_by_key(|(_, block)| block.valid)
            .map(|(at, _)| at)
    }

    /// Whether a closed cache superblock may be folded now. Folding one of the cache's own takes
    /// native room and gives none back: while no superblock is to spare it waits for collection,
    /// unless its data fits into the superblock that folding has open. A host that goes past the
    /// cache pays collection for what it writes itself and not for what is folded, so that folding
    /// leaves `gc.low` superblocks free then, idle time excepted.
    #[inline]
    fn may_fold(&self, seen: &Seen<'_>, block: &Superblock) -> bool {
        let gc = &seen.policy.gc;
        let room = || {
            if self.bypass && !self.folds_in_background(seen) {
                return seen.available > gc.low_superblocks && !seen.writing.is_starved();
            }
            let folded = &seen.writing[Stream::Fold];
            seen.available > gc.reserve_superblocks || folded.left() >= block.valid + seen.row_most
        };
        block.in_flight == 0 && (!block.fixed || room())
    }

    /// Whether superblocks with little valid data are still to be folded: until two superblocks can
    /// be opened or, while data goes past the cache, until enough can for it to be used again.
    fn reclaims_on(&self, seen: &Seen<'_>) -> bool {
        let enough = if self.bypass { self.rearms_at() } else { 2 };
        self.reclaiming && self.openable(seen) < enough
    }
}

/// The end of its own superblocks.
impl Cache {
    /// A static superblock has been erased: whether it is given up, its cycles being used up.
    pub(crate) fn gives_up(&mut self, superblock: u32, wear: &Wear, blocks: &mut Blocks) -> bool {
        let is_worn = wear.is_worn_in_slc(&blocks[superblock]);
        let given_up = match self.worn {
            Worn::Keep => false,
            Worn::Shrink => is_worn,
            Worn::Close => is_worn || self.static_closed,
        };
        if !given_up {
            return false;
        }
        self.give_up(superblock, blocks);
        if self.worn == Worn::Close {
            self.static_closed = true;
            for other in blocks.take_all_fixed() {
                self.give_up(other, blocks);
            }
        }
        true
    }

    fn give_up(&mut self, superblock: u32, blocks: &mut Blocks) {
        blocks[superblock].state = State::Retired;
        self.fixed_total -= 1;
    }

    /// The drive starts over with its wear as it was: what was given up stays so.
    pub(crate) fn give_up_worn(&mut self, wear: &Wear, blocks: &mut Blocks) {
        let is_worn = |b: &Superblock| b.fixed && wear.is_worn_in_slc(b);
        self.static_closed = self.worn == Worn::Close && blocks.all().iter().any(is_worn);
        for superblock in blocks.take_all_fixed() {
            if !self.gives_up(superblock, wear, blocks) {
                blocks.put_free(superblock);
            }
        }
        if self.static_closed {
            for other in blocks.take_all_fixed() {
                self.give_up(other, blocks);
            }
        }
    }
}
