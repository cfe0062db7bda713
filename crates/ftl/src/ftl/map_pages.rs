//! Map pages on flash: looked up, written back, collected.
//!
//! A map page is a logical unit above the host's, so that the tables, validity and collection treat
//! it like data. Its blocks are a pool of their own, SLC-mode or native, never shared with data:
//! writing the map never waits for collection of data, which itself changes the map. The pool
//! always keeps a superblock for its own collection, which needs no map: where map pages are is
//! known in RAM (the directory, 4 bytes a page).
//!
//! What moving data costs: the entry of a moved unit is changed in SRAM, at no cost, if its page is
//! there. Otherwise the change goes into the journal, and the page is read, changed and written
//! later. A page whose units have all been deallocated is not kept on flash.
//!
//! Movers need no entries of the map: they know what is valid from bits in RAM, and the logical
//! unit of each physical one from the spare area that they read with it.

use super::{Found, Ftl};
use crate::layout::NONE;
use crate::mover::Work;
use crate::op::{NandOp, Planes, Token};
use crate::orders::Policies;
use crate::paged_map::{Checkpoint, LOW_SUPERBLOCKS, MapCache};
use crate::streams::Stream;

/// Granules a die that the map may have issued and not programmed: one is programmed and one waits,
/// so that a die has no pause between two pages. More would only fill the buffer.
const GRANULES_AHEAD: u32 = 2;
/// Reads a die of pages that the journal changes that may be under way, for the same reason.
const UPDATES_AHEAD: u32 = 2;
/// What a look into the map finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUp {
    /// The entry is at hand.
    Known,
    /// Its page is being read into this slot; the end is told as [`Token::MapRead`] or, from the
    /// host's memory, is the drive's to tell with [`Ftl::map_fetched`].
    Reading(u32),
    /// Its page has to be fetched from the host's memory into this slot, beginning now.
    Fetch(u32),
    /// All slots are being filled or cannot be written back yet: ask again later.
    Full,
}

impl<P: Policies> Ftl<P> {
    /// Slots of the map's cache; 0 where the whole map is in RAM.
    #[must_use]
    pub fn map_slots(&self) -> u32 {
        self.paged.cache().map_or(0, MapCache::slots)
    }

    /// Whether the host's memory holds pages of the map.
    #[must_use]
    pub fn uses_host_memory(&self) -> bool {
        self.paged.cache().is_some_and(MapCache::uses_host_memory)
    }

    /// The first logical unit past the map page of this one.
    #[must_use]
    pub fn map_page_end(&self, lpn: u32) -> u32 {
        let paged = self.paged.cache();
        paged.map_or_else(|| self.logical_units(), |paged| paged.page_end(lpn))
    }

    /// Whether the entry of a logical unit is at hand.
    #[must_use]
    pub fn is_map_at_hand(&self, lpn: u32) -> bool {
        let Some(paged) = self.paged.cache() else {
            return true;
        };
        paged.is_filled(paged.page_of(lpn))
    }

    /// Whether the page with the entry of a logical unit is being read.
    #[must_use]
    pub fn is_map_coming(&self, lpn: u32) -> bool {
        let Some(paged) = self.paged.cache() else {
            return false;
        };
        let slot = paged.slot(paged.page_of(lpn));
        slot.is_some_and(|(_, is_loading)| is_loading)
    }

    /// Looks for the entry of a logical unit, and has its page read where it is not at hand.
    pub fn look_up(&mut self, lpn: u32, ops: &mut Vec<NandOp>) -> LookUp {
        let answer = self.load_map_page(lpn, ops);
        match answer {
            LookUp::Known => self.counters.map_hits += 1,
            LookUp::Reading(_) => self.counters.map_misses += 1,
            LookUp::Fetch(_) => self.counters.map_host_hits += 1,
            LookUp::Full => {}
        }
        answer
    }

    /// The same for an entry that will be needed, when there are slots to spare.
    pub fn look_ahead(&mut self, lpn: u32, ops: &mut Vec<NandOp>) -> LookUp {
        if self.paged.cache().is_some_and(MapCache::has_slots_to_spare) {
            self.load_map_page(lpn, ops)
        } else {
            LookUp::Full
        }
    }

    fn load_map_page(&mut self, lpn: u32, ops: &mut Vec<NandOp>) -> LookUp {
        let Some(paged) = self.paged.cache_mut() else {
            return LookUp::Known;
        };
        let page = paged.page_of(lpn);
        match paged.slot(page) {
            Some((slot, false)) => {
                paged.touch(slot);
                return LookUp::Known;
            }
            Some((slot, true)) => return LookUp::Reading(slot),
            None => {}
        }
        let place = self.find(self.map_unit(page));
        let Some(slot) = self.free_map_slot(ops) else {
            return LookUp::Full;
        };
        let Some(paged) = self.paged.cache_mut() else {
            return LookUp::Known;
        };
        paged.begin_loading(slot, page);
        match place {
            Found::Flash(_) if paged.host_has(page) => LookUp::Fetch(slot),
            Found::Flash(ppn) => {
                self.read_map_page(ppn, Token::MapRead(slot), ops);
                LookUp::Reading(slot)
            }
            Found::Nowhere | Found::Buffer => {
                paged.loaded(slot);
                LookUp::Known
            }
        }
    }

    fn read_map_page(&mut self, ppn: u32, token: Token, ops: &mut Vec<NandOp>) {
        self.counters.map_reads += 1;
        let (die, class) = self.read_place(ppn);
        let planes = Planes::some(self.layout.planes_of(ppn, ppn));
        ops.push(NandOp {
            planes,
            ..NandOp::new(die, class, 1, token)
        });
    }

    /// Empties a slot of the cache, writing its page back where it is dirty.
    fn free_map_slot(&mut self, ops: &mut Vec<NandOp>) -> Option<u32> {
        let room = self.map_room() > 0;
        let paged = self.paged.cache_mut()?;
        let slot = paged.choose_slot(room)?;
        if let Some(page) = paged.empty_slot(slot) {
            self.write_map_page(page, ops);
        }
        Some(slot)
    }

    /// Map pages that fit into the open and the free superblocks of the pool.
    fn map_space(&self) -> u32 {
        let free = self.blocks.free_of_map() as u32;
        self.writing[Stream::Map].left() + free * self.layout.units(self.writing[Stream::Map].mode)
    }

    /// Map pages that may be written now: what fits, without what collection of the pool needs.
    fn map_room(&self) -> u32 {
        let Some(paged) = self.paged.cache() else {
            return 0;
        };
        if self.writing.buffer.flying_of(Stream::Map) >= GRANULES_AHEAD * self.layout.dies {
            return 0;
        }
        let coming = self.movers[Work::Map].reading() * self.layout.row_units;
        let held = self.layout.units(self.writing[Stream::Map].mode) + coming + paged.updating();
        self.map_space().saturating_sub(held)
    }

    fn write_map_page(&mut self, page: u32, ops: &mut Vec<NandOp>) {
        self.counters.map_written += 1;
        self.append(Stream::Map, self.map_unit(page), 1, ops);
        if let Some(paged) = self.paged.cache_mut() {
            paged.written(page);
        }
        self.erase_dead(ops);
    }

    /// A page has been read from flash into its slot.
    pub(super) fn map_page_read(&mut self, slot: u32) {
        if let Some(paged) = self.paged.cache_mut() {
            paged.copy_to_host(paged.page_in(slot));
            paged.loaded(slot);
        }
    }

    /// A page has come from the host's memory into its slot.
    pub fn map_fetched(&mut self, slot: u32) {
        if let Some(paged) = self.paged.cache_mut() {
            paged.loaded(slot);
        }
    }

    /// Map pages copied into the host's memory since this was last asked: they cross the link.
    pub fn take_host_memory_writes(&mut self) -> u32 {
        self.paged.cache_mut().map_or(0, MapCache::take_host_writes)
    }

    /// Writes changes from the journal into their pages, goes on with a checkpoint, and collects
    /// the pool.
    #[cold]
    pub(super) fn pump_map(&mut self, ops: &mut Vec<NandOp>) {
        if self.health.may_fail() {
            self.refill_map();
        }
        self.apply_journal(false, ops);
        self.write_checkpoint(ops);
        if self.movers[Work::Map].is_idle() {
            self.write_in_idle(ops);
        }
        self.collect_map(ops);
    }

    /// Has the pages read that the journal has changes of: all of them, or as many as it takes
    /// until the journal is half empty.
    fn apply_journal(&mut self, all: bool, ops: &mut Vec<NandOp>) {
        while self.map_room() > 0 {
            let most = UPDATES_AHEAD * self.layout.dies;
            let paged = self.paged.cache_mut();
            let Some(page) = paged.and_then(|paged| paged.begin_update(all, most)) else {
                return;
            };
            match self.find(self.map_unit(page)) {
                Found::Flash(ppn) => self.read_map_page(ppn, Token::MapUpdate(page), ops),
                Found::Nowhere | Found::Buffer => self.map_page_updated(page, ops),
            }
        }
    }

    /// A page that the journal has changes of has been read. It is written with them, unless a
    /// command has had it read into SRAM in the meantime.
    pub(super) fn map_page_updated(&mut self, page: u32, ops: &mut Vec<NandOp>) {
        let paged = self.paged.cache_mut();
        if paged.is_some_and(|paged| paged.end_update(page)) {
            self.write_map_page(page, ops);
        }
    }

    /// Map pages with changes that flash does not hold: a power cut would lose these changes.
    pub fn dirty_map_pages(&self) -> impl Iterator<Item = u32> {
        self.paged
            .cache()
            .into_iter()
            .flat_map(MapCache::stale_pages)
    }

    /// Begins to write back every map page that has changes now; complete when
    /// [`Ftl::is_checkpointing`] is false.
    pub fn checkpoint_map(&mut self, ops: &mut Vec<NandOp>) {
        let Some(paged) = self.paged.cache_mut() else {
            return;
        };
        paged.begin_checkpoint(self.writing.sequence());
        // A flush that has to wait for this checkpoint gets a higher number.
        self.writing.number();
        self.pump_map(ops);
    }

    /// Whether map pages are being written back.
    #[must_use]
    pub fn is_checkpointing(&self) -> bool {
        let paged = self.paged.cache();
        paged.is_some_and(|paged| paged.checkpoint() != Checkpoint::Off)
    }

    /// Whether a flush of the host's writes the map back too.
    #[must_use]
    pub fn map_follows_flush(&self) -> bool {
        self.paged.cache().is_some_and(MapCache::writes_on_flush)
    }

    /// Folding and collection move nothing now, and will not until the host writes or the drive
    /// offers more time.
    fn movers_rest(&self) -> bool {
        let reading = self.movers[Work::Fold].under_way() + self.movers[Work::Collect].reading();
        // A granule that only waits for later passes of its wordline is not on the move.
        let (buffer, passes) = (&self.writing.buffer, &self.writing.passes);
        let programming = |stream: Stream| buffer.flying_of(stream) - passes.waiting_of(stream);
        let collected = self.writing.of_collected().iter().copied();
        let programming: u32 = collected.chain([Stream::Fold]).map(programming).sum();
        reading + programming + self.writing.buffer.moved() == 0
            && !self.cache.wants_allowance(&self.seen())
    }

    /// Writes changed pages back in idle time, once folding and collection have stopped, because
    /// they would change the pages again. The last granule is padded, so that all pages are on
    /// flash.
    fn write_in_idle(&mut self, ops: &mut Vec<NandOp>) {
        if !self.movers_rest() {
            return;
        }
        self.apply_journal(true, ops);
        while self.map_room() > 0 {
            let Some(page) = self.paged.cache_mut().and_then(MapCache::some_dirty) else {
                break;
            };
            self.write_map_page(page, ops);
        }
        let written = self.paged.cache().is_some_and(MapCache::is_all_written);
        if written && !self.movers[Work::Map].is_working() {
            self.pad(Stream::Map, ops);
        }
    }

    fn write_checkpoint(&mut self, ops: &mut Vec<NandOp>) {
        while let Some(paged) = self.paged.cache_mut() {
            match paged.checkpoint() {
                Checkpoint::Off => return,
                Checkpoint::Writing(since) if paged.is_checkpoint_written() => {
                    self.pad(Stream::Map, ops);
                    let until = self.writing.sequence();
                    if let Some(paged) = self.paged.cache_mut() {
                        paged.program_checkpoint(since, until);
                    }
                }
                Checkpoint::Writing(_) => {
                    let page = paged.some_covered();
                    match page.filter(|_| self.map_room() > 0) {
                        Some(page) => self.write_map_page(page, ops),
                        None => return,
                    }
                }
                Checkpoint::Programming(_, until) => {
                    // Pages of a program that failed have gone into a granule that waits for more.
                    let s = self.writing[Stream::Map];
                    if s.next > s.begun && s.sequence < until {
                        self.pad(Stream::Map, ops);
                    }
                    if self.writing.oldest_pending(|stream| stream == Stream::Map) < until {
                        return;
                    }
                    if let Some(paged) = self.paged.cache_mut() {
                        paged.end_checkpoint();
                    }
                }
            }
        }
    }

    fn collect_map(&mut self, ops: &mut Vec<NandOp>) {
        loop {
            let source = self.movers[Work::Map].source();
            if source == NONE {
                let low = self.blocks.free_of_map() < LOW_SUPERBLOCKS;
                let blocks = &self.blocks;
                let paged = self.paged.cache_mut();
                let at_risk = paged.and_then(|paged| paged.at_risk(blocks));
                if !low && at_risk.is_none() {
                    return;
                }
                if !self.next_map_victim(at_risk) {
                    self.unblock_map(ops);
                    return;
                }
            } else if self.movers[Work::Map].cursor() >= self.map_superblock_units(source) {
                if !self.finish_source(Work::Map, ops) {
                    return;
                }
            } else if self.movers[Work::Map]
                .is_far_ahead(self.writing.buffer.flying_of(Stream::Map))
            {
                return;
            } else {
                self.read_row(Work::Map, ops);
            }
        }
    }

    fn map_superblock_units(&self, superblock: u32) -> u32 {
        self.layout.units(self.blocks[superblock].mode)
    }

    /// Takes the superblock at risk, or else the pool's closed one with the fewest valid pages, if
    /// there is room for them.
    fn next_map_victim(&mut self, at_risk: Option<u32>) -> bool {
        let Some(paged) = self.paged.cache() else {
            return false;
        };
        let Some(victim) = at_risk.or_else(|| paged.emptiest(&self.blocks)) else {
            return false;
        };
        let granule = self.writing[Stream::Map].granule;
        if self.blocks[victim].valid + granule > self.map_space() {
            return false;
        }
        self.start_source(Work::Map, victim);
        true
    }

    /// Notes that the pages of a superblock are to be written anew; false when it was noted before.
    pub(super) fn refresh_map(&mut self, superblock: u32) -> bool {
        let block = &mut self.blocks[superblock];
        let news = !std::mem::replace(&mut block.marked, true);
        if let (true, Some(paged)) = (news, self.paged.cache_mut()) {
            paged.put_at_risk(superblock);
        }
        news
    }

    /// Whether there is room for the map elsewhere if the superblock that it fills fails: another
    /// superblock, one more for collection, and room for what is being read.
    pub(super) fn map_can_fall_back(&self) -> bool {
        let s = &self.writing[Stream::Map];
        let coming = self.movers[Work::Map].reading() * self.layout.row_units;
        let updating = self.paged.cache().map_or(0, MapCache::updating);
        let held = self.layout.units(s.mode) + coming + updating + 2 * s.granule;
        self.map_space() - s.left() >= held
    }

    /// A superblock of the pool is given up.
    pub(super) fn map_lost_superblock(&mut self, superblock: u32) {
        self.blocks[superblock].map = false;
        if let Some(paged) = self.paged.cache_mut() {
            paged.lose(superblock);
        }
    }

    /// The pool gets free superblocks that could hold data in place of those that it has lost,
    /// while more than the reserve are free.
    fn refill_map(&mut self) {
        let reserve = self.policy.gc.reserve_superblocks;
        while self.available_to_movers() > reserve {
            let paged = self.paged.cache_mut();
            let Some(paged) = paged.filter(|paged| paged.lacks_superblocks()) else {
                return;
            };
            let Some(superblock) = self.blocks.lend_to_map() else {
                return;
            };
            paged.gain(superblock);
            self.collection.opened(superblock);
        }
    }

    /// Pads the granule with the last copies of emptied superblocks, if nothing will fill it: their
    /// erases wait for it.
    fn unblock_map(&mut self, ops: &mut Vec<NandOp>) {
        let units = self.layout.units(self.writing[Stream::Map].mode);
        if self.movers[Work::Map].waiting() && self.map_space() <= units {
            self.pad(Stream::Map, ops);
        }
    }
}
