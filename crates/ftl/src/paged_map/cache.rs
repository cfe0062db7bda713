//! Which pages of the map the controller holds, where the whole map does not fit into its RAM.
//!
//! The map is cut into pages of one mapping unit each, which live on flash and are read into slots
//! of the controller's SRAM when a command needs them. A second, larger level may lie in the
//! host's memory (HMB); it holds clean copies only, for it can go away at any time.
//!
//! Which slot is reused next is found by the CLOCK rule: a pointer, the hand, goes round the slots.
//! It passes over a slot that was used since it last came by, and takes the first that was not.
//! Entries whose page is not in SRAM change too, as folding and collection move their data. Such
//! changes are kept in a journal and are written into their pages later, the page that has waited
//! longest first. Everything is found by page number in flat arrays.
//!
//! Invariants: a page has a slot or is nowhere in SRAM; the journal holds nothing for a page whose
//! slot is filled; `dirty` and `loading` are the numbers of such slots.

use std::collections::VecDeque;
use std::ops::Range;

use crate::blocks::{Blocks, State};
use crate::counters::Counters;
use crate::ensure::{Checked, ensure, ensure_eq};
use crate::layout::{Divider, NONE};
use crate::policy::MapPolicy;

/// Pages are read ahead while fewer than one slot in so many is being filled: the others are for
/// pages that commands wait for.
const AHEAD_PART: u32 = 2;
/// Changes are written into their pages once half of the journal (one part in so many) is full. The
/// rest has room for changes that come meanwhile: as long as they come no faster than they are
/// written into pages, no command waits for the journal.
const JOURNAL_PART: u32 = 2;

/// Bytes of a change in the journal: a logical and a physical unit.
pub const JOURNAL_ENTRY_BYTES: u64 = 8;

/// Pages held by the CLOCK rule.
#[derive(Clone, Debug)]
struct Clock {
    /// Slot of each page, or none.
    slot_of: Vec<u32>,
    /// Page of each slot, or none.
    page_of: Vec<u32>,
    /// Used since the hand last passed.
    used: Vec<bool>,
    vacant: Vec<u32>,
    hand: u32,
}

flashtwin_base::state! { Clock {
    kept: vacant, hand;
    sized: slot_of, page_of, used;
} }

impl Clock {
    fn new(pages: u32, slots: u32) -> Clock {
        Clock {
            slot_of: vec![NONE; pages as usize],
            page_of: vec![NONE; slots as usize],
            used: vec![false; slots as usize],
            vacant: (0..slots).rev().collect(),
            hand: 0,
        }
    }

    fn slots(&self) -> u32 {
        self.page_of.len() as u32
    }

    #[inline]
    fn slot(&self, page: u32) -> u32 {
        self.slot_of[page as usize]
    }

    fn put(&mut self, slot: u32, page: u32) {
        self.page_of[slot as usize] = page;
        self.slot_of[page as usize] = slot;
    }

    /// Empties a slot; the answer is the page that it held.
    fn clear(&mut self, slot: u32) -> u32 {
        let page = std::mem::replace(&mut self.page_of[slot as usize], NONE);
        self.used[slot as usize] = false;
        if page != NONE {
            self.slot_of[page as usize] = NONE;
        }
        page
    }

    /// A vacant slot, or the next one that was not used lately among those that `may` go; it is
    /// still filled.
    fn find(&mut self, may: impl Fn(u32) -> bool) -> Option<u32> {
        if let Some(slot) = self.vacant.pop() {
            return Some(slot);
        }
        for _ in 0..2 * self.slots() {
            let slot = self.hand;
            // Without a division, which would take as long as the rest of a look.
            self.hand = if slot + 1 == self.slots() {
                0
            } else {
                slot + 1
            };
            if !may(slot) {
                continue;
            }
            if !std::mem::take(&mut self.used[slot as usize]) {
                return Some(slot);
            }
        }
        None
    }
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Content {
    /// What flash holds.
    Clean,
    /// Entries that flash does not hold yet.
    Dirty,
    /// Its page is being read.
    Loading,
}

/// How far writing back changed pages has come. What changes while they are written is left to the
/// next checkpoint: while the host writes, a moment in which no page has changes need not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Checkpoint {
    /// None is under way.
    Off,
    /// Pages are still to be written that had changes when it began; asked for at this sequence
    /// number.
    Writing(u64),
    /// All of them are being programmed; asked for at the first number, complete when all granules
    /// below the second are programmed.
    Programming(u64, u64),
}

/// The state of a map that is read page by page.
#[derive(Clone, Debug)]
pub(crate) struct MapCache {
    /// Entries of a page.
    entries: u32,
    /// Logical unit that stands for page 0: the pages follow the host's units.
    first: u32,
    pages: u32,
    /// Superblocks that hold map pages and nothing else.
    pool: Vec<u32>,
    /// Superblocks that it has lost and not got back.
    lacking: u32,
    by_entries: Divider,
    sram: Clock,
    content: Vec<Content>,
    loading: u32,
    dirty: u32,
    host: Option<Clock>,
    /// Pages copied into the host's memory of which the drive has not been told yet.
    host_writes: u32,
    /// Changes in the journal, by page.
    deferred: Vec<u32>,
    /// The page is in `owing` or is being updated.
    queued: Vec<bool>,
    /// Pages that the journal has changes of, the one that has waited longest first.
    owing: VecDeque<u32>,
    deferred_total: u32,
    journal_limit: u32,
    /// Reads under way of pages that the journal changes.
    updating: u32,
    checkpoint: Checkpoint,
    /// Pages that the checkpoint has still to write, and their number.
    covered: Vec<bool>,
    covering: u32,
    /// Slot at which the last changed page was found that was written back.
    swept: usize,
    write_on_flush: bool,
    /// Superblocks of the pool whose pages are at risk: they are collected next.
    at_risk: VecDeque<u32>,
}

flashtwin_base::state! { MapCache {
    kept: pool, lacking, loading, dirty, host_writes, owing, deferred_total, updating, checkpoint,
        covering, swept, at_risk;
    sized: content, deferred, queued, covered;
    part: sram, host;
    built: entries, first, pages, by_entries, journal_limit, write_on_flush;
} }

/// The superblocks that it lies in.
impl MapCache {
    /// The pages of a superblock of the pool are to be written anew.
    pub(crate) fn put_at_risk(&mut self, superblock: u32) {
        self.at_risk.push_back(superblock);
    }

    /// A full superblock of the pool whose pages are at risk, once its programs have ended.
    pub(crate) fn at_risk(&mut self, blocks: &Blocks) -> Option<u32> {
        while let Some(&superblock) = self.at_risk.front() {
            let block = &blocks[superblock];
            if block.state == State::Closed {
                return (block.in_flight == 0).then_some(superblock);
            }
            self.at_risk.pop_front();
        }
        None
    }

    /// The pool's closed superblock with the fewest valid pages.
    pub(crate) fn emptiest(&self, blocks: &Blocks) -> Option<u32> {
        let block = |s: &u32| &blocks[*s];
        let ready = |s: &u32| block(s).state == State::Closed && block(s).in_flight == 0;
        let pool = self.pool.iter().copied();
        pool.filter(ready).min_by_key(|s| block(s).valid)
    }

    /// The superblocks that hold map pages.
    pub(super) fn pool(&self) -> &[u32] {
        &self.pool
    }

    /// The superblocks that hold map pages, and how many were lost, for the map that comes next.
    pub(super) fn into_pool(self) -> (Vec<u32>, u32) {
        (self.pool, self.lacking)
    }

    /// Superblocks that it has lost and not got back.
    pub(super) fn lacking(&self) -> u32 {
        self.lacking
    }

    /// A superblock of the pool is given up.
    pub(crate) fn lose(&mut self, superblock: u32) {
        self.pool.retain(|&s| s != superblock);
        self.lacking += 1;
    }

    /// Whether superblocks were lost that have not been replaced.
    pub(crate) fn lacks_superblocks(&self) -> bool {
        self.lacking > 0
    }

    /// A superblock takes the place of one that was lost.
    pub(crate) fn gain(&mut self, superblock: u32) {
        self.lacking -= 1;
        self.pool.push(superblock);
    }
}

impl MapCache {
    /// Nothing is written; `pool` are the superblocks that hold map pages, `lacking` those of them
    /// that were lost before.
    pub(super) fn new(
        policy: &MapPolicy,
        unit_bytes: u32,
        host_units: u32,
        (pool, lacking): (Vec<u32>, u32),
    ) -> MapCache {
        let unit = u64::from(unit_bytes);
        let entries = policy.entries(unit_bytes);
        let pages = host_units.div_ceil(entries);
        let slots = |bytes: u64| (bytes / unit).min(u64::from(pages)).max(1) as u32;
        let sram = Clock::new(pages, slots(policy.cache_bytes));
        MapCache {
            entries,
            first: host_units,
            pages,
            pool,
            lacking,
            by_entries: Divider::new(entries),
            content: vec![Content::Clean; sram.slots() as usize],
            sram,
            loading: 0,
            dirty: 0,
            host: (policy.host_bytes > 0).then(|| Clock::new(pages, slots(policy.host_bytes))),
            host_writes: 0,
            deferred: vec![0; pages as usize],
            queued: vec![false; pages as usize],
            owing: VecDeque::new(),
            deferred_total: 0,
            journal_limit: (policy.journal_bytes / JOURNAL_ENTRY_BYTES).min(u32::MAX.into()) as u32,
            updating: 0,
            checkpoint: Checkpoint::Off,
            covered: vec![false; pages as usize],
            covering: 0,
            swept: 0,
            write_on_flush: policy.write_on_flush,
            at_risk: VecDeque::new(),
        }
    }

    /// Bytes that the tables of the simulation take.
    pub(super) fn bytes(&self) -> usize {
        let clock = |c: &Clock| c.slot_of.len() * 4 + c.page_of.len() * 9;
        let host = self.host.as_ref().map_or(0, clock);
        clock(&self.sram) + host + self.content.len() + self.deferred.len() * 5
    }

    /// How many pages there are.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// A page's own number as a logical unit: pages follow the host's units.
    pub(super) fn unit_of(&self, page: u32) -> u32 {
        self.first + page
    }

    /// The host's units whose entries a page has.
    pub(super) fn units_of(&self, page: u32) -> Range<u32> {
        let first = page * self.entries;
        first..self.first.min(first + self.entries)
    }

    /// Page of a logical unit.
    #[inline]
    pub(crate) fn page_of(&self, lpn: u32) -> u32 {
        self.by_entries.quotient(lpn)
    }

    /// Slots of the SRAM.
    pub(crate) fn slots(&self) -> u32 {
        self.sram.slots()
    }

    /// The slot of a page and whether it is still being read; none when the page is not in SRAM.
    #[inline]
    pub(crate) fn slot(&self, page: u32) -> Option<(u32, bool)> {
        let slot = self.sram.slot(page);
        (slot != NONE).then(|| (slot, self.content[slot as usize] == Content::Loading))
    }

    /// Whether a page can be read in SRAM now.
    #[inline]
    pub(crate) fn is_filled(&self, page: u32) -> bool {
        self.slot(page).is_some_and(|(_, loading)| !loading)
    }

    pub(crate) fn touch(&mut self, slot: u32) {
        self.sram.used[slot as usize] = true;
    }

    /// Whether reading ahead leaves slots for what commands wait for.
    pub(crate) fn has_slots_to_spare(&self) -> bool {
        self.loading < self.slots() / AHEAD_PART
    }

    /// A slot that may be filled anew; dirty ones only when their pages can be `written`.
    pub(crate) fn choose_slot(&mut self, written: bool) -> Option<u32> {
        let stays = self.loading + if written { 0 } else { self.dirty };
        if stays == self.slots() {
            return None;
        }
        let content = &self.content;
        self.sram.find(|slot| match content[slot as usize] {
            Content::Clean => true,
            Content::Dirty => written,
            Content::Loading => false,
        })
    }

    /// Empties a chosen slot; the answer is the page that has to be written for it, if any.
    pub(crate) fn empty_slot(&mut self, slot: u32) -> Option<u32> {
        let page = self.sram.clear(slot);
        let dirty = self.content[slot as usize] == Content::Dirty;
        self.content[slot as usize] = Content::Clean;
        if !dirty {
            return None;
        }
        self.dirty -= 1;
        Some(page)
    }

    /// A page's read begins, into a slot.
    pub(crate) fn begin_loading(&mut self, slot: u32, page: u32) {
        self.sram.put(slot, page);
        self.content[slot as usize] = Content::Loading;
        self.loading += 1;
    }

    /// The page of a slot has been read, from flash or from the host's memory. Changes of it that
    /// are in the journal are written into it.
    pub(crate) fn loaded(&mut self, slot: u32) {
        assert_eq!(self.content[slot as usize], Content::Loading);
        self.loading -= 1;
        self.content[slot as usize] = Content::Clean;
        self.touch(slot);
        let page = self.sram.page_of[slot as usize];
        if self.take_deferred(page) {
            self.make_dirty(slot);
        }
    }

    #[inline]
    fn make_dirty(&mut self, slot: u32) {
        let content = &mut self.content[slot as usize];
        if *content == Content::Clean {
            *content = Content::Dirty;
            self.dirty += 1;
        }
    }

    /// `count` entries of a page have changed: in its slot, or in the journal until it has one.
    #[inline]
    pub(super) fn changed(&mut self, page: u32, count: u32) {
        if let Some((slot, false)) = self.slot(page) {
            self.make_dirty(slot);
            return;
        }
        self.deferred[page as usize] += count;
        self.deferred_total += count;
        if !std::mem::replace(&mut self.queued[page as usize], true) {
            self.owing.push_back(page);
        }
    }

    /// Entries of a run of logical units have changed.
    #[cold]
    pub(super) fn run_changed(&mut self, lpn: u32, count: u32) {
        let (mut at, end) = (lpn, lpn + count);
        while at < end {
            let page = self.page_of(at);
            let to = end.min((page + 1).saturating_mul(self.entries));
            self.changed(page, to - at);
            at = to;
        }
    }

    /// Units have been moved: data, or pages of the map.
    #[cold]
    pub(super) fn units_moved(&mut self, lpns: &[u32], counters: &mut Counters) {
        for &lpn in lpns {
            if lpn >= self.first {
                counters.map_written += 1;
                counters.map_moved += 1;
                self.moved(lpn - self.first);
            } else {
                self.changed(self.page_of(lpn), 1);
            }
        }
    }

    /// A run of logical units was trimmed. A page without a mapped unit is forgotten, and `give_up`
    /// is told its number; of another the entries have changed.
    pub(super) fn run_trimmed(&mut self, lpn: u32, count: u32, mut give_up: impl FnMut(u32)) {
        let (mut at, end) = (lpn, lpn + count);
        while at < end {
            let page = at / self.entries;
            let to = end.min((page + 1).saturating_mul(self.entries));
            let last = self.first.min((page + 1).saturating_mul(self.entries));
            if at == page * self.entries && to == last {
                give_up(page);
                self.forget(page);
            } else {
                self.run_changed(at, to - at);
            }
            at = to;
        }
    }

    /// Takes a page's changes out of the journal; false when there are none.
    fn take_deferred(&mut self, page: u32) -> bool {
        let count = std::mem::take(&mut self.deferred[page as usize]);
        self.deferred_total -= count;
        count > 0
    }

    /// The page is being programmed with all its changes, and is copied into the host's memory.
    pub(crate) fn written(&mut self, page: u32) {
        self.clean(page);
        self.copy_to_host(page);
    }

    /// Collection has moved the page on flash, with all its changes. If there were any and the
    /// host's memory holds the page, its copy there is written anew; a page that the host's memory
    /// does not hold is not copied there.
    pub(super) fn moved(&mut self, page: u32) {
        let changed = self.clean(page);
        if changed && self.host.as_ref().is_some_and(|h| h.slot(page) != NONE) {
            self.host_writes += 1;
        }
    }

    /// The page is written to flash with all its changes: it is clean. The answer is whether there
    /// were any.
    fn clean(&mut self, page: u32) -> bool {
        let covered = std::mem::take(&mut self.covered[page as usize]);
        self.covering -= u32::from(covered);
        let deferred = self.take_deferred(page);
        if let Some((slot, _)) = self.slot(page)
            && self.content[slot as usize] == Content::Dirty
        {
            self.content[slot as usize] = Content::Clean;
            self.dirty -= 1;
            return true;
        }
        deferred
    }

    /// None of the page's units is mapped any more: its changes and its copies are dropped.
    pub(super) fn forget(&mut self, page: u32) {
        self.clean(page);
        if let Some((slot, false)) = self.slot(page) {
            self.sram.clear(slot);
            self.sram.vacant.push(slot);
        }
        if let Some(host) = &mut self.host
            && host.slot(page) != NONE
        {
            let slot = host.slot(page);
            host.clear(slot);
            host.vacant.push(slot);
        }
    }

    /// Whether the host's memory holds pages.
    pub(crate) fn uses_host_memory(&self) -> bool {
        self.host.is_some()
    }

    /// Whether the host's memory holds a page; it counts as used.
    pub(crate) fn host_has(&mut self, page: u32) -> bool {
        let Some(host) = &mut self.host else {
            return false;
        };
        let slot = host.slot(page);
        if slot != NONE {
            host.used[slot as usize] = true;
        }
        slot != NONE
    }

    /// The page of a slot, which came from flash.
    pub(crate) fn page_in(&self, slot: u32) -> u32 {
        self.sram.page_of[slot as usize]
    }

    /// A page as flash has it is copied into the host's memory, over its older copy there.
    pub(crate) fn copy_to_host(&mut self, page: u32) {
        let Some(host) = &mut self.host else {
            return;
        };
        if host.slot(page) == NONE {
            let Some(slot) = host.find(|_| true) else {
                return;
            };
            host.clear(slot);
            host.put(slot, page);
        }
        self.host_writes += 1;
    }

    /// Whether so many changes wait that movers and the host have to.
    #[inline]
    pub(super) fn journal_is_full(&self) -> bool {
        self.deferred_total >= self.journal_limit
    }

    /// The next page whose changes are to be written into it, of which the update begins: while
    /// more than half of the journal is full, or while there are any if `all` is set or a
    /// checkpoint has pages to write; never more than `most` at once.
    pub(crate) fn begin_update(&mut self, all: bool, most: u32) -> Option<u32> {
        // The pages of the checkpoint are among those that have waited longest.
        let all = all || self.covering > 0;
        while self.updating < most
            && (all || self.deferred_total > self.journal_limit / JOURNAL_PART)
        {
            let page = self.owing.pop_front()?;
            if self.deferred[page as usize] > 0 && self.slot(page).is_none() {
                self.updating += 1;
                return Some(page);
            }
            // Its changes are written into it when its read ends, or have been already.
            self.queued[page as usize] = false;
        }
        None
    }

    /// The update of a page has ended; true where it is to be written with its changes, because no
    /// command has had it read into SRAM in the meantime.
    pub(crate) fn end_update(&mut self, page: u32) -> bool {
        self.updating -= 1;
        self.queued[page as usize] = false;
        self.slot(page).is_none() && self.take_deferred(page)
    }

    /// Pages that are read to be changed.
    pub(crate) fn updating(&self) -> u32 {
        self.updating
    }

    /// A dirty page of some slot.
    pub(crate) fn some_dirty(&mut self) -> Option<u32> {
        self.next_dirty(|_, _| true)
    }

    /// A dirty page of some slot that the checkpoint has still to write.
    pub(crate) fn some_covered(&mut self) -> Option<u32> {
        match self.covering {
            0 => None,
            _ => self.next_dirty(|cache, page| cache.covered[page as usize]),
        }
    }

    /// The next dirty slot from where the last one was found, of the pages that `may` be meant.
    fn next_dirty(&mut self, may: impl Fn(&MapCache, u32) -> bool) -> Option<u32> {
        if self.dirty == 0 {
            return None;
        }
        let slots = (self.swept..self.content.len()).chain(0..self.swept);
        let mut dirty = slots.filter(|&slot| self.content[slot] == Content::Dirty);
        let found = dirty.find(|&slot| may(self, self.sram.page_of[slot]))?;
        self.swept = found;
        Some(self.sram.page_of[found])
    }

    /// Whether the pages on flash have all changes, or will have once programs under way have
    /// ended.
    pub(crate) fn is_all_written(&self) -> bool {
        self.dirty + self.deferred_total + self.updating == 0
    }

    /// Whether a page has changes that flash does not hold.
    pub(super) fn is_stale(&self, page: u32) -> bool {
        let dirty = self
            .slot(page)
            .is_some_and(|(slot, _)| self.content[slot as usize] == Content::Dirty);
        dirty || self.deferred[page as usize] > 0
    }

    /// How far writing back all changed pages has come.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        self.checkpoint
    }

    /// All pages that have changes now are to be written back, as asked for at a sequence number;
    /// where that is under way already, it begins anew and the first number stands.
    pub(crate) fn begin_checkpoint(&mut self, sequence: u64) {
        for slot in 0..self.content.len() {
            if self.content[slot] == Content::Dirty {
                self.cover(self.sram.page_of[slot]);
            }
        }
        for page in 0..self.pages {
            if self.deferred[page as usize] > 0 {
                self.cover(page);
            }
        }
        let since = match self.checkpoint {
            Checkpoint::Off => sequence,
            Checkpoint::Writing(since) | Checkpoint::Programming(since, _) => since,
        };
        self.checkpoint = Checkpoint::Writing(since);
    }

    /// The checkpoint has a page to write.
    fn cover(&mut self, page: u32) {
        let covered = std::mem::replace(&mut self.covered[page as usize], true);
        self.covering += u32::from(!covered);
    }

    /// True if the checkpoint has issued a write for each of its pages.
    pub(crate) fn is_checkpoint_written(&self) -> bool {
        self.covering == 0
    }

    /// All pages of the checkpoint are being programmed, in granules below a sequence number.
    pub(crate) fn program_checkpoint(&mut self, since: u64, until: u64) {
        self.checkpoint = Checkpoint::Programming(since, until);
    }

    /// All pages of the checkpoint are on flash.
    pub(crate) fn end_checkpoint(&mut self) {
        self.checkpoint = Checkpoint::Off;
    }

    /// The first logical unit past the page of this one.
    #[inline]
    pub(crate) fn page_end(&self, lpn: u32) -> u32 {
        (self.page_of(lpn) + 1).saturating_mul(self.entries)
    }

    /// Pages that were copied into the host's memory since this was last asked.
    pub(crate) fn take_host_writes(&mut self) -> u32 {
        std::mem::take(&mut self.host_writes)
    }

    /// Whether a flush of the host's writes the map back too.
    pub(crate) fn writes_on_flush(&self) -> bool {
        self.write_on_flush
    }

    /// Pages with changes that flash does not hold.
    pub(crate) fn stale_pages(&self) -> impl Iterator<Item = u32> {
        (0..self.pages).filter(|&page| self.is_stale(page))
    }

    /// Panics when an invariant does not hold.
    pub(super) fn check(&self) -> Checked {
        let count = |what| self.content.iter().filter(|&&c| c == what).count() as u32;
        ensure_eq!(count(Content::Dirty), self.dirty, "dirty slots");
        ensure_eq!(count(Content::Loading), self.loading, "slots being filled");
        for page in 0..self.pages {
            if let Some((slot, loading)) = self.slot(page) {
                ensure_eq!(self.sram.page_of[slot as usize], page, "slot {slot}");
                let deferred = self.deferred[page as usize];
                ensure!(loading || deferred == 0, "page {page} in SRAM and journal");
            }
        }
        let covering = self.covered.iter().filter(|&&covered| covered).count() as u32;
        ensure_eq!(covering, self.covering, "pages of the checkpoint");
        for page in (0..self.pages).filter(|&page| self.covered[page as usize]) {
            ensure!(
                self.is_stale(page),
                "page {page} is covered and has no changes"
            );
        }
        let deferred: u32 = self.deferred.iter().sum();
        ensure_eq!(deferred, self.deferred_total, "changes in the journal");
        Ok(())
    }

    /// The state in a line, for a panic.
    pub(super) fn describe(&self) -> String {
        format!(
            "map: {} pages, {} slots, {} dirty, {} loading, journal {} of {}, {} updating, {:?}\n",
            self.pages,
            self.slots(),
            self.dirty,
            self.loading,
            self.deferred_total,
            self.journal_limit,
            self.updating,
            self.checkpoint
        )
    }
}
