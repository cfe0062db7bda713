//! What the drive asks of the firmware, which changes nothing.

use std::fmt::Write as _;

use super::{Found, Ftl};
use crate::counters::Counters;
use crate::cycles::Cycles;
use crate::ensure::{Checked, ensure, ensure_eq};
use crate::layout::{Layout, Mode, NONE};
use crate::mover::Work;
use crate::op::{Origin, Token, class};
use crate::orders::Policies;
use crate::slc_cache::Seen;
use crate::streams::Stream;
use crate::superblock::Superblock;
use crate::wear::Rated;
use crate::writing::Mate;

impl<P: Policies> Ftl<P> {
    /// Address arithmetic.
    #[inline]
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Logical units that the host can address; those above them are pages of the map.
    #[inline]
    #[must_use]
    pub fn logical_units(&self) -> u32 {
        self.mapped_units() - self.paged.pages()
    }

    /// The same and the pages of the map, which are logical units above the host's.
    #[must_use]
    pub fn mapped_units(&self) -> u32 {
        self.map.physical.len() as u32
    }

    /// Bytes that the tables take, map and superblocks together.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        self.map.bytes()
            + self.packing.bytes()
            + size_of_val(self.blocks.all())
            + self.paged.bytes()
    }

    /// What has been done so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The superblocks, for inspection.
    #[must_use]
    pub fn superblocks(&self) -> &[Superblock] {
        self.blocks.all()
    }

    /// Native superblocks that are erased and unused.
    #[must_use]
    pub fn free_superblocks(&self) -> u32 {
        self.blocks.free_count()
    }

    /// Units given out in SLC-mode superblocks, and how many of them are valid.
    #[must_use]
    pub fn cache_units(&self) -> (u64, u64) {
        let each = self.layout.whole_units(Mode::Slc);
        let (superblocks, valid) = self.cache.in_use(&self.blocks);
        let left = self.writing[Stream::Cache].left();
        let given = u64::from(superblocks) * u64::from(each) - u64::from(left);
        (given, u64::from(valid))
    }

    /// Units given out in the second tier of the cache, and how many of them are valid.
    #[must_use]
    pub fn tier_units(&self) -> (u64, u64) {
        let each = self.layout.whole_units(Mode::Tier);
        let (superblocks, valid) = self.cache.tier_in_use();
        let left = self.writing[Stream::Tier].left();
        let given = u64::from(superblocks) * u64::from(each) - u64::from(left);
        (given, u64::from(valid))
    }

    /// Units that the cache may hold now: its static part and what it may borrow at this fill.
    #[must_use]
    pub fn cache_limit_units(&self) -> u64 {
        u64::from(self.cache.most()) * u64::from(self.layout.whole_units(Mode::Slc))
    }

    /// Whether the drive compresses what it stores.
    #[inline]
    #[must_use]
    pub fn compresses(&self) -> bool {
        self.layout.packs()
    }

    /// Least and greatest wear of the superblocks in use, as shares of the rated life.
    #[must_use]
    pub fn wear_range(&self) -> (f64, f64) {
        self.wear.range(self.blocks.all())
    }

    /// What wear is measured against.
    #[must_use]
    pub fn rated(&self) -> Rated {
        self.wear.rated()
    }

    /// The mean wear of all superblocks, as a share of the rated life.
    #[must_use]
    pub fn mean_wear(&self) -> f64 {
        self.wear.mean(&self.counters, self.layout.superblocks)
    }

    /// The share that is left of the rated cycles of the static superblocks; those that were given
    /// up have none. 0 without a static part.
    #[must_use]
    pub fn static_budget(&self) -> f64 {
        self.wear.static_budget(&self.blocks)
    }
}

/// Wear, for stretches of work that are repeated without being simulated.
impl<P: Policies> Ftl<P> {
    /// Cycles of the superblocks in use.
    #[must_use]
    pub fn cycles(&self) -> Cycles {
        self.blocks.cycles()
    }

    /// How often some wear can come again before a superblock of the cache is given up for it, or
    /// the drive can only be read.
    #[must_use]
    pub fn repeats_until_worn(&self, taken: &Cycles) -> u64 {
        let rated = self.wear.rated();
        let own = match self.cache.gives_up_worn_ones() {
            true => self.blocks.repeats_until_worn(taken, rated),
            false => u64::MAX,
        };
        let all = taken.wear(rated) / f64::from(self.layout.superblocks);
        if !self.ends_at_rated_wear() || all == 0.0 {
            return own;
        }
        own.min(((1.0 - self.mean_wear()).max(0.0) / all) as u64)
    }

    /// Adds wear, evenly over the superblocks of each kind.
    pub fn wear_on(&mut self, wear: &Cycles) {
        self.blocks.wear_on(wear, &mut self.counters);
    }
}

/// Where data is.
impl<P: Policies> Ftl<P> {
    /// Where a logical unit's data is now.
    #[inline]
    #[must_use]
    pub fn find(&self, lpn: u32) -> Found {
        let ppn = self.map.physical[lpn as usize];
        if ppn == NONE {
            Found::Nowhere
        } else if self.writing.holds(&self.layout, &self.blocks, ppn) {
            Found::Buffer
        } else {
            Found::Flash(ppn)
        }
    }

    /// Physical unit of a logical one, wherever its data is now; for inspection.
    #[must_use]
    pub fn locate(&self, lpn: u32) -> Option<u32> {
        let ppn = self.map.physical[lpn as usize];
        (ppn != NONE).then_some(ppn)
    }

    /// Whether nothing is stored in a run of logical units.
    #[inline]
    pub fn holds_nothing(&self, lpn: u32, count: u32) -> bool {
        self.map.is_unwritten(lpn, count)
    }

    /// Whether a logical unit's data lies on flash in the given row.
    #[inline]
    #[must_use]
    pub fn in_row(&self, lpn: u32, row: u32) -> bool {
        let ppn = self.map.physical[lpn as usize];
        ppn != NONE
            && self.layout.row_of(ppn) == row
            && !self.writing.holds(&self.layout, &self.blocks, ppn)
    }

    /// Commands for these units are on their way: their map entries are fetched into the
    /// processor's cache.
    #[inline]
    pub fn expect(&self, lpns: &[u32]) {
        lpns.iter().for_each(|&lpn| self.map.expect(lpn));
    }

    /// The same of more of them at once than the processor looks up side by side.
    #[inline]
    pub fn expect_many(&self, lpns: &[u32]) {
        self.map.expect_all(lpns);
    }

    /// A write of this unit comes soon: the valid bit of its old copy is fetched into the
    /// processor's cache.
    #[inline]
    pub fn expect_overwrite(&self, lpn: u32) {
        self.map.expect_valid(self.map.physical[lpn as usize]);
    }

    /// Die and operation class of a read of the row that a physical unit lies in.
    #[inline]
    #[must_use]
    pub fn read_place(&self, ppn: u32) -> (u16, u8) {
        let (superblock, offset) = self.layout.split(ppn);
        let mode = self.blocks[superblock].mode;
        let (die, page) = self.layout.place(mode, superblock, offset);
        (die as u16, class::read(mode, page))
    }

    /// What crosses the channel when `count` logical units from `lpn` on are read, all of which lie
    /// in one row of a drive that compresses: in eighths of a unit.
    #[must_use]
    pub fn read_grains(&self, lpn: u32, count: u32) -> u32 {
        self.packing.read_grains(&self.map, lpn, count)
    }

    /// Superblock and wordline of a physical unit.
    #[must_use]
    pub fn wordline_at(&self, ppn: u32) -> (u32, u32) {
        let (superblock, offset) = self.layout.split(ppn);
        let mode = self.blocks[superblock].mode;
        let stripe = self.layout.stripe_of(mode, offset).0;
        (superblock, self.layout.wordline(mode, stripe))
    }

    /// Logical units of what is valid in a row.
    #[must_use]
    pub fn units_of_row(&self, first: u32) -> Vec<u32> {
        let mut lpns = Vec::new();
        self.map
            .collect_valid(first, self.layout.row_units, &mut lpns);
        lpns
    }

    /// The rows that have to be read to rebuild the one of a physical unit: those of the other
    /// granules of its stripe that are on flash; what is in RAM of the stripe needs no read. None
    /// where there is no parity to rebuild it from.
    #[must_use]
    pub fn stripe_mates(&self, ppn: u32) -> Option<Vec<Mate>> {
        self.writing.stripe_mates(&self.layout, &self.blocks, ppn)
    }

    /// Version stamp of what a read of a logical unit returns, from the flash and not from the map;
    /// none where nothing is written, or while power cuts are switched off.
    #[must_use]
    pub fn version(&self, lpn: u32) -> Option<u64> {
        self.cuts.version(lpn, self.locate(lpn)?)
    }

    /// The slot with the bytes of a logical unit's present data; none where it is not written, or
    /// was before data had bytes.
    #[must_use]
    pub fn slot(&self, lpn: u32) -> Option<u32> {
        self.cuts.slot(lpn)
    }
}

/// What is under way.
impl<P: Policies> Ftl<P> {
    /// Whether the host waits for a superblock.
    #[inline]
    #[must_use]
    pub fn is_starved(&self) -> bool {
        self.writing.is_starved()
    }

    /// Whether a host granule is partly filled and waits for more data.
    #[must_use]
    pub fn has_partial(&self) -> bool {
        self.writing.host_units_waiting() > 0
    }

    /// Host programs that are on their way to the flash, without those that only wait for a later
    /// pass.
    #[must_use]
    pub fn host_programs_in_flight(&self) -> bool {
        self.buffer_programming() > 0 || self.writing.passes.has_host_firsts()
    }

    /// Host data that waits for the second pass of its wordline.
    #[must_use]
    pub fn host_data_between_passes(&self) -> bool {
        self.writing.passes.host_units() > 0
    }

    /// The superblock that a granule in flight is programmed into.
    #[must_use]
    pub fn superblock_of_flight(&self, place: u32) -> u32 {
        self.writing.buffer.flight(place).superblock
    }

    /// Superblock and wordline that an operation works on, which may be of any wordline; none of a
    /// read for the host, whose place the drive knows, and in the system area.
    #[must_use]
    pub fn worked_on(&self, token: Token) -> Option<(u32, u32)> {
        match token {
            Token::Program(place) | Token::FirstPass(place) => {
                let flight = self.writing.buffer.flight(place);
                let mode = self.blocks[flight.superblock].mode;
                let wordline = self.layout.wordline(mode, flight.stripe);
                Some((flight.superblock, wordline))
            }
            Token::Copyback(place) => {
                let first = self.writing.buffer.flight(place).first;
                Some(self.wordline_at(first))
            }
            Token::Erase(superblock) => Some((superblock, 0)),
            _ => self.source_of_read(token).map(|ppn| self.wordline_at(ppn)),
        }
    }

    /// The superblock that a copyback in flight copies from.
    #[must_use]
    pub fn source_of_copyback(&self, place: u32) -> u32 {
        let source = self.writing.buffer.flight(place).source;
        self.layout.superblock_of(source)
    }

    /// Where the data of a read of the firmware's own lies; none of another operation.
    #[inline]
    #[must_use]
    pub fn source_of_read(&self, token: Token) -> Option<u32> {
        match token {
            Token::FoldRead(first)
            | Token::GcRead(first)
            | Token::MapGcRead(first)
            | Token::FoldCheck(first) => Some(first),
            Token::MapRead(slot) => self.locate(self.map_unit_in(slot)?),
            Token::MapUpdate(page) => self.locate(self.map_unit(page)),
            _ => None,
        }
    }

    /// Whether a granule in flight has data on its way from the host, or folded; not data that
    /// collection, refresh or wear levelling moves.
    #[must_use]
    pub fn is_hosts_data(&self, place: u32) -> bool {
        let stream = self.writing.buffer.flight(place).stream;
        stream.is_host() || stream == Stream::Fold
    }

    /// Who an operation is done for that has not been reported. Erases are done for nobody.
    #[must_use]
    pub fn origin(&self, token: Token) -> Option<Origin> {
        Some(match token {
            Token::Host(_) => Origin::Host,
            Token::Program(place) | Token::FirstPass(place) | Token::Copyback(place) => {
                match self.writing.buffer.flight(place).stream {
                    Stream::Fold => Origin::Fold,
                    Stream::Levelled => Origin::Levelling,
                    Stream::Map => Origin::Map,
                    Stream::Parity => Origin::Parity,
                    stream if stream.is_host() => Origin::Host,
                    _ => Origin::Collect,
                }
            }
            Token::FoldRead(_) | Token::FoldCheck(_) => Origin::Fold,
            Token::GcRead(_) => Origin::Collect,
            Token::MapRead(_) | Token::MapUpdate(_) | Token::MapGcRead(_) | Token::Checkpoint => {
                Origin::Map
            }
            Token::Journal(_) => Origin::Journal,
            Token::Rebuild(_) => Origin::Parity,
            Token::Erase(_) | Token::SystemErase => return None,
        })
    }

    /// Sequence number that the next granule to be begun will get.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.writing.sequence()
    }

    /// Lowest sequence number of a host granule that is not programmed yet: all before it are
    /// durable.
    #[must_use]
    pub fn oldest_pending_host(&self) -> u64 {
        let host = self.writing.oldest_of_host();
        host.min(self.paged.checkpoint_pending())
            .min(self.cuts.oldest_trims())
            .min(self.health.homeless())
    }

    /// Lowest sequence number of a page of the journal that is not programmed yet.
    #[must_use]
    pub fn oldest_journaled(&self) -> u64 {
        self.cuts.oldest_trims()
    }

    /// Whether what power cuts need is switched on.
    #[must_use]
    pub fn has_power_cuts(&self) -> bool {
        self.cuts.is_on()
    }

    /// True where the host's data has bytes.
    #[must_use]
    pub fn has_contents(&self) -> bool {
        self.cuts.has_contents()
    }

    /// A logical unit's number for a map page.
    pub(super) fn map_unit(&self, page: u32) -> u32 {
        self.logical_units() + page
    }

    /// The same of the page that a slot of the cache holds or waits for.
    pub(super) fn map_unit_in(&self, slot: u32) -> Option<u32> {
        let page = self.paged.cache()?.page_in(slot);
        (page != NONE).then(|| self.map_unit(page))
    }

    /// Whether parts of the map have to be read before commands can go on.
    #[inline]
    #[must_use]
    pub fn is_map_paged(&self) -> bool {
        self.paged.is_on()
    }

    /// Units of buffer that are not taken.
    #[must_use]
    #[inline]
    pub fn buffer_free(&self) -> u32 {
        self.writing.buffer.free()
    }

    /// Units of buffer that come free as the programs under way end.
    #[must_use]
    pub fn buffer_programming(&self) -> u32 {
        let waiting = self.writing.host_units_waiting() + self.writing.passes.host_units();
        self.writing.buffer.used() - self.writing.buffer.awaited().units() - waiting
    }

    /// Free native superblocks that are not kept for a mover.
    #[inline]
    pub(super) fn available(&self) -> u32 {
        let pledged = self.movers.pledged();
        self.blocks.free_count().saturating_sub(pledged)
    }

    /// The same without those that the host has been promised.
    #[inline]
    pub(super) fn available_to_movers(&self) -> u32 {
        self.available()
            .saturating_sub(self.writing.buffer.awaited().superblocks())
    }

    /// What the cache looks at.
    #[inline]
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen {
            folding: &self.movers[Work::Fold],
            policy: &self.policy,
            layout: &self.layout,
            blocks: &self.blocks,
            writing: &self.writing,
            available: self.available(),
            row_most: self.packing.row_most(),
        }
    }

    /// The drive has come to its end: it can be read, and takes no more data.
    #[inline]
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.health.is_read_only()
    }
}

/// Is everything right?
impl<P: Policies> Ftl<P> {
    /// Panics with the state when an invariant does not hold. Costs a pass over all tables.
    pub fn check(&self) {
        if let Err(broken) = self.checked() {
            panic!("{broken}\n{}", self.describe());
        }
    }

    /// The invariant that does not hold, if one does not.
    fn checked(&self) -> Checked {
        let (map, layout, blocks) = (&self.map, &self.layout, &self.blocks);
        let valid: u64 = blocks.all().iter().map(|b| u64::from(b.valid)).sum();
        ensure_eq!(valid, map.check()?, "valid units and mapped units differ");
        let granules = self.writing.buffer.in_flight();
        blocks.check(map, layout, granules, self.cache.is_on())?;
        self.cache.check(blocks)?;
        self.writing.check_lanes(layout, blocks)?;
        self.writing.passes.check(&self.writing.buffer)?;
        self.packing.check(layout, map, blocks)?;
        self.check_counters()?;
        self.cuts.check(map)?;
        self.wear.check(blocks.all())?;
        self.paged.check(map, blocks, layout)
    }

    /// Every unit from the host has been programmed once as host data, or waits in a host granule,
    /// or took the place of one that did.
    fn check_counters(&self) -> Checked {
        let c = &self.counters;
        for (stream, s) in self.writing.frontiers() {
            let (moved, waiting) = (s.moved, s.waiting());
            ensure!(moved <= waiting, "{moved} of {waiting} units in {stream:?}");
        }
        let waiting = self.writing.host_units_waiting();
        let gone = c.dropped_units + c.lost_units + c.coalesced_units;
        let host = c.slc_units + c.tier_units + c.direct_units + gone + u64::from(waiting);
        ensure_eq!(host, c.host_units, "host units are lost or doubled");
        let waiting = self.writing[Stream::Map].waiting();
        let pages = c.map_units + u64::from(waiting);
        ensure_eq!(pages, c.map_written, "map pages are lost or doubled");
        self.check_parity()
    }

    /// Every whole stripe has its parity, and nothing else has.
    fn check_parity(&self) -> Checked {
        if !self.layout.parity {
            ensure_eq!(self.counters.parity_units, 0, "parity without parity");
            return Ok(());
        }
        let data = self.counters.programmed_units() - self.counters.parity_units;
        let data = data - self.counters.journal_units;
        let granules = self.layout.stripe_granules();
        ensure_eq!(
            data,
            self.counters.parity_units * u64::from(granules)
                + self.writing.unprotected_units(&self.layout)
                + self.counters.bare_units,
            "stripes and parity"
        );
        Ok(())
    }

    /// The state in a few lines, for a panic.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut out = self.blocks.describe();
        for work in [Work::Fold, Work::Collect, Work::Map] {
            let _ = writeln!(out, "{work:?}: {}", self.movers[work]);
        }
        let buffer = &self.writing.buffer;
        let _ = writeln!(
            out,
            "buffer {} of {} units, bypass {}, starved {}, halted {}, to be moved {}",
            buffer.used(),
            buffer.capacity(),
            self.cache.is_bypassed(),
            self.writing.is_starved(),
            self.collection.halts_host(),
            self.wear.waiting()
        );
        out + &self.paged.describe()
    }
}
