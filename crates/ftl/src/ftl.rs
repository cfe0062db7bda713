//! The state of the firmware and the calls that the drive makes on it.

use flashtwin_nand::Part;

use crate::blocks::{Blocks, Pool, State, Superblock};
use crate::collect::Collector;
use crate::counters::Counters;
use crate::health::{self, Health};
use crate::layout::{Layout, Mode, NONE};
use crate::lifetimes::Lifetimes;
use crate::map::Map;
use crate::mover::Work;
use crate::op::{NandOp, Origin, Token, class};
use crate::orders::{BuiltIn, Policies};
use crate::packing::Packing;
use crate::paged_map::PagedMap;
use crate::parity::Mate;
use crate::policy::Policy;
use crate::power_cut::{Placement, PowerCuts};
use crate::sharing::{Class, Sharing};
use crate::slc_cache::{Cache, Seen};
use crate::streams::Stream;
use crate::superblock::Born;
use crate::wear::{Rated, Wear};
use crate::writing::Writing;

/// Where a logical unit's data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Never written, or trimmed: the controller answers without touching flash.
    Nowhere,
    /// In RAM.
    Buffer,
    /// On flash, at this physical unit.
    Flash(u32),
}

/// Work that the drive offers idle time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Folding the SLC cache.
    Fold,
    /// Collecting superblocks ahead of need.
    Collect,
    /// Writing changed map pages back.
    Map,
}

/// The firmware of one drive.
pub struct Ftl<P: Policies = BuiltIn> {
    /// Address arithmetic.
    pub layout: Layout,
    pub(crate) policy: Policy,
    /// What the program that built the drive may have brought itself.
    pub(crate) policies: P,
    /// Which classes of data have superblocks of their own.
    pub(crate) sharing: Sharing,
    pub(crate) map: Map,
    /// The map where it is not all in RAM.
    pub(crate) paged: PagedMap,
    /// The superblocks, and which of them may be collected.
    pub(crate) blocks: Blocks,
    /// What is on its way to the flash.
    pub(crate) writing: Writing,
    /// The SLC cache, and the mover that folds it.
    pub(crate) cache: Cache,
    /// Garbage collection, and the mover that does its work.
    pub(crate) collection: Collector,
    pub(crate) wear: Wear,
    /// What each unit takes on a drive that compresses.
    pub(crate) packing: Packing,
    /// Blocks that are bad or fail, and spares.
    pub(crate) health: Health,
    pub(crate) counters: Counters,
    /// What a start after a power cut goes by.
    pub(crate) cuts: PowerCuts,
}

impl Ftl {
    /// The firmware of a drive as it leaves the factory. `buffer_bytes` is the write buffer,
    /// `capacity_bytes` what the host can address, `seed` decides what the policies leave to
    /// chance.
    #[must_use]
    pub fn new(
        part: &Part,
        policy: Policy,
        capacity_bytes: u64,
        buffer_bytes: u64,
        seed: u64,
    ) -> Ftl {
        let policies = BuiltIn::of(&policy);
        Ftl::with_policies(part, policy, capacity_bytes, buffer_bytes, seed, policies)
    }
}

impl<P: Policies> Ftl<P> {
    /// The same with policies of the caller's own in place of those that `policy` names.
    #[must_use]
    pub fn with_policies(
        part: &Part,
        policy: Policy,
        capacity_bytes: u64,
        buffer_bytes: u64,
        seed: u64,
        mut policies: P,
    ) -> Ftl<P> {
        let layout = Layout::new(part, &policy);
        let mut cache = Cache::new(&policy, &layout);
        let (health, born) = Health::new(part, &policy, &layout, seed);
        let unit = u64::from(policy.unit_bytes);
        let logical = capacity_bytes.div_ceil(unit) as u32;
        let pool = policy.map.pool(&layout, logical);
        let own = health::first_sound(&born).max(cache.fixed_total);
        let map = own..own + pool;
        let cached = cache.is_on();
        let blocks = Blocks::new(&born, &layout, cache.fixed_total, &map, cached);
        cache.fixed_total = blocks.fixed_count();
        let paged = PagedMap::new(&policy, &layout, logical, map.collect());
        policies.lifetimes().start(logical + paged.pages());
        let buffer_units = (buffer_bytes / unit) as u32;
        let mut ftl = Ftl {
            map: Map::new(logical + paged.pages(), layout.physical_units()),
            collection: Collector::new(&policy, &layout, &blocks, seed),
            writing: Writing::new(&layout, &policy, policies.lifetimes(), buffer_units),
            wear: Wear::new(part, &policy.wear),
            packing: Packing::new(&layout),
            counters: Counters::default(),
            sharing: Sharing::new(&policy, policies.lifetimes(), logical + paged.pages()),
            cuts: PowerCuts::new(&policy, &layout, logical),
            blocks,
            paged,
            health,
            cache,
            layout,
            policy,
            policies,
        };
        ftl.wear_in();
        if born.iter().any(|&b| b != Born::Good) {
            ftl.look_for_end();
        }
        ftl
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
            + self.blocks.all.len() * size_of::<Superblock>()
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
        &self.blocks.all
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
        let given = u64::from(self.cache.borrowed + self.cache.fixed_in_use(&self.blocks))
            * u64::from(each);
        (
            given - u64::from(self.writing.streams[Stream::Cache].left()),
            u64::from(self.cache.valid_units),
        )
    }

    /// Units given out in the second tier of the cache, and how many of them are valid.
    #[must_use]
    pub fn tier_units(&self) -> (u64, u64) {
        let each = self.layout.whole_units(Mode::Tier);
        let given = u64::from(self.cache.tier_borrowed) * u64::from(each);
        (
            given - u64::from(self.writing.streams[Stream::Tier].left()),
            u64::from(self.cache.tier_valid_units),
        )
    }

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

    /// Whether nothing is stored in a run of logical units.
    #[inline]
    pub fn holds_nothing(&self, lpn: u32, count: u32) -> bool {
        self.map.is_unwritten(lpn, count)
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

    /// Physical unit of a logical one, wherever its data is now; for inspection.
    #[must_use]
    pub fn locate(&self, lpn: u32) -> Option<u32> {
        let ppn = self.map.physical[lpn as usize];
        (ppn != NONE).then_some(ppn)
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

    /// Whether the host waits for a superblock.
    #[inline]
    #[must_use]
    pub fn is_starved(&self) -> bool {
        self.writing.starved
    }

    /// Die and operation class of a read of the row that a physical unit lies in.
    #[inline]
    #[must_use]
    pub fn read_place(&self, ppn: u32) -> (u16, u8) {
        let (superblock, offset) = self.layout.split(ppn);
        let mode = self.blocks.all[superblock as usize].mode;
        let (die, page) = self.layout.place(mode, superblock, offset);
        (die as u16, class::read(mode, page))
    }

    /// The end of an operation. Host reads are the drive's own business and never come here.
    pub fn finish(&mut self, token: Token, ops: &mut Vec<NandOp>) {
        match token {
            Token::Host(_) | Token::Rebuild(_) => unreachable!("{token:?} ends in the drive"),
            Token::FirstPass(place) => self.writing.first_passed(place),
            Token::Checkpoint => {
                let (layout, counters) = (&self.layout, &mut self.counters);
                self.cuts.checkpoint_row_written(layout, counters, ops);
            }
            Token::Journal(low) => self.journal_written(low, ops),
            Token::SystemErase => {}
            Token::Program(place) => self.granule_programmed(place, ops),
            Token::FoldRead(row) => self.row_read(Work::Fold, row, ops),
            Token::GcRead(row) => self.row_read(Work::Collect, row, ops),
            Token::MapRead(slot) => self.map_page_read(slot),
            Token::MapUpdate(page) => self.map_page_updated(page, ops),
            Token::MapGcRead(row) => self.row_read(Work::Map, row, ops),
            Token::FoldCheck(_) => {}
            Token::Copyback(place) => self.copied_back(place, ops),
            Token::Erase(superblock) => self.die_erased(superblock),
        }
        if self.cuts.is_writing_checkpoint() {
            self.cuts.end_checkpoint(&self.writing);
        }
        self.pump(ops);
    }

    /// Lets folding and garbage collection issue what their policies allow now.
    #[inline]
    pub fn pump(&mut self, ops: &mut Vec<NandOp>) {
        if !self.keeps_pace() {
            self.pump_all(ops);
        }
    }

    /// Whether a pump would change nothing: at most collection for space is under way, and the host
    /// has not paid for its next row yet. True between most commands of a drive in its steady
    /// state, and of a drive that is filled for the first time.
    #[inline]
    pub(crate) fn keeps_pace(&self) -> bool {
        self.collection.alone
            && (self.collection_keeps_pace() || self.collection_rests())
            && self.blocks.stale.is_empty()
    }

    #[inline(never)]
    fn pump_all(&mut self, ops: &mut Vec<NandOp>) {
        if self.layout.paired {
            self.land_wordlines(ops);
        }
        self.pump_movers(ops);
        if self.paged.is_on() {
            let held = self.paged.holds();
            self.pump_map(ops);
            if held && !self.paged.holds() {
                // The journal has room again without a write. So no operation will end that would
                // call the movers which it had held back.
                self.pump_movers(ops);
            }
        }
        let awaited = self.writing.starved || self.collection.memory.halts_host;
        // While a source is being emptied, what is moved from it will fill the granules that erases
        // wait for.
        if awaited && self.collection.mover.source == NONE && self.cuts.is_on() {
            self.hasten_erases(ops);
        }
    }

    /// Lets folding and collection issue what they may, and erases superblocks with nothing valid.
    #[inline]
    fn pump_movers(&mut self, ops: &mut Vec<NandOp>) {
        if self.cache.is_on() {
            self.pump_fold(ops);
        }
        self.pump_collect(ops);
        if !self.blocks.stale.is_empty() {
            self.erase_stale(ops);
        }
    }

    /// The drive offers idle time for some work, or takes the offer back. Then what is under way is
    /// finished, and nothing more begins.
    pub fn offer(&mut self, load: Load, idle: bool, ops: &mut Vec<NandOp>) {
        match load {
            Load::Fold => self.offer_fold(idle),
            Load::Collect => self.collection.mover.idle = idle,
            Load::Map => self.paged.mover.idle = idle,
        }
        self.pump(ops);
    }

    /// Pads the granules of the host's streams and issues them, so that none of their data waits
    /// for more. Not while data is on its way that room is reserved for: padding would take its
    /// place.
    pub fn pad_host(&mut self, ops: &mut Vec<NandOp>) {
        debug_assert_eq!(
            self.writing.buffer.awaited.units(),
            0,
            "padding under data to come"
        );
        for &stream in self.writing.in_use.host {
            let s = &self.writing.streams[stream];
            if s.next - s.begun > s.moved {
                self.pad(stream, ops);
            }
        }
    }

    /// The same, and what waits for a second pass gets it, so that all of it will be durable.
    pub fn pad_host_through(&mut self, ops: &mut Vec<NandOp>) {
        debug_assert_eq!(
            self.writing.buffer.awaited.units(),
            0,
            "padding under data to come"
        );
        for &stream in self.writing.in_use.host {
            let s = &self.writing.streams[stream];
            if s.next - s.begun > s.moved || self.writing.passes.holds_host(stream) {
                self.pad_through(stream, ops);
            }
        }
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
        self.buffer_programming() > 0 || self.writing.passes.host_firsts > 0
    }

    /// Host data that waits for the second pass of its wordline.
    #[must_use]
    pub fn host_data_between_passes(&self) -> bool {
        self.writing.passes.host_units > 0
    }

    /// Back to the never-written state; wear and counters stay. Only with nothing in flight.
    pub fn purge(&mut self) {
        self.writing.forget_passes(&self.layout, &mut self.blocks);
        assert_eq!(
            self.writing.buffer.in_flight(),
            0,
            "purge with programs in flight"
        );
        self.cuts.forget();
        for block in &mut self.blocks.all {
            if block.state == State::Retired {
                continue;
            }
            if block.written > 0 {
                block.wear_off(&mut self.counters);
            }
            *block = Superblock {
                map: block.map,
                slc_cycles: block.slc_cycles,
                native_cycles: block.native_cycles,
                tier_cycles: block.tier_cycles,
                ..Superblock::fresh(block.fixed)
            };
        }
        self.blocks.free_all();
        self.start_over();
        self.mend_all();
        self.cache.give_up_worn(&self.wear, &mut self.blocks);
    }

    /// A crypto erase: the keys are thrown away, so all data is gone at once, and what is left on
    /// the flash is erased later. Only with nothing in flight; wear and counters stay.
    pub fn forget(&mut self) {
        self.writing.forget_passes(&self.layout, &mut self.blocks);
        assert_eq!(
            self.writing.buffer.in_flight(),
            0,
            "erase with programs in flight"
        );
        assert_eq!(self.blocks.erasing, 0, "erase while erasing");
        self.cuts.forget();
        self.start_over();
        self.cache.give_up_worn(&self.wear, &mut self.blocks);
        for (index, block) in self.blocks.all.iter_mut().enumerate() {
            block.valid = 0;
            block.pool = if block.map { Pool::Map } else { Pool::Data };
            if block.written > 0 {
                block.state = State::Emptied;
                self.blocks.stale.push_back(index as u32);
            }
        }
    }

    /// Deallocates `count` logical units from `lpn`; superblocks without valid data are erased.
    pub fn trim(&mut self, lpn: u32, count: u32, ops: &mut Vec<NandOp>) {
        let first = self.logical_units();
        self.invalidate_run(lpn, count);
        self.map.physical[lpn as usize..(lpn + count) as usize].fill(NONE);
        self.sharing.replace(lpn, count, Class::NONE);
        let (map, cache, blocks) = (&mut self.map, &mut self.cache, &mut self.blocks);
        self.paged.entries_trimmed(lpn, count, |page| {
            blocks.invalidate_run(map, cache, &self.layout, first + page, 1);
            map.physical[(first + page) as usize] = NONE;
        });
        let (layout, counters) = (&self.layout, &mut self.counters);
        let sequence = &mut self.writing.sequence;
        self.cuts
            .note_trim((lpn, count), sequence, layout, counters, ops);
        self.erase_dead(ops);
    }

    /// Marks the present copies of a run of logical units invalid. The map itself is left to the
    /// caller.
    #[inline(always)]
    pub(crate) fn invalidate_run(&mut self, lpn: u32, count: u32) {
        let (map, cache) = (&mut self.map, &mut self.cache);
        self.blocks
            .invalidate_run(map, cache, &self.layout, lpn, count);
    }

    /// Forgets the map, all that was under way and what was inferred of the data. The superblocks
    /// stay as they are.
    pub(crate) fn start_over(&mut self) {
        self.map.forget_all();
        self.blocks.cache.clear();
        self.blocks.tier.clear();
        self.blocks.half.clear();
        self.blocks.stale.clear();
        self.counters.bare_units += self.writing.unprotected_units(&self.layout);
        let s = self.writing.streams[Stream::Map];
        self.counters.map_written -= u64::from(s.next - s.begun);
        self.writing.close_all(&self.layout, &self.policy);
        debug_assert_eq!(self.writing.buffer.used_units, 0, "erase with host data");
        self.cache = Cache::new(&self.policy, &self.layout);
        self.cache.fixed_total = self.blocks.fixed_count();
        self.wear.forget();
        self.blocks.forget_candidates(&self.layout);
        self.collection
            .start_over(&self.policy, &self.layout, &self.blocks);
        let host_units = self.logical_units();
        self.paged
            .start_over(&self.policy, &self.layout, host_units);
        let units = self.mapped_units();
        self.policies.lifetimes().start(units);
        self.sharing = Sharing::new(&self.policy, self.policies.lifetimes(), units);
    }
}

/// What the drive asks and tells beside that.
impl<P: Policies> Ftl<P> {
    /// The superblock that a granule in flight is programmed into.
    #[must_use]
    pub fn superblock_of_flight(&self, place: u32) -> u32 {
        self.writing.buffer.flights[place as usize].superblock
    }

    /// Superblock and wordline that an operation works on, which may be of any wordline; none of a
    /// read for the host, whose place the drive knows, and in the system area.
    #[must_use]
    pub fn worked_on(&self, token: Token) -> Option<(u32, u32)> {
        match token {
            Token::Program(place) | Token::FirstPass(place) => {
                let flight = &self.writing.buffer.flights[place as usize];
                let mode = self.blocks.all[flight.superblock as usize].mode;
                let wordline = self.layout.wordline(mode, flight.stripe);
                Some((flight.superblock, wordline))
            }
            Token::Copyback(place) => {
                let first = self.writing.buffer.flights[place as usize].first;
                Some(self.wordline_at(first))
            }
            Token::Erase(superblock) => Some((superblock, 0)),
            _ => self.source_of_read(token).map(|ppn| self.wordline_at(ppn)),
        }
    }

    /// Superblock and wordline of a physical unit.
    #[must_use]
    pub fn wordline_at(&self, ppn: u32) -> (u32, u32) {
        let (superblock, offset) = self.layout.split(ppn);
        let mode = self.blocks.all[superblock as usize].mode;
        let stripe = self.layout.stripe_of(mode, offset).0;
        (superblock, self.layout.wordline(mode, stripe))
    }

    /// The superblock that a copyback in flight copies from.
    #[must_use]
    pub fn source_of_copyback(&self, place: u32) -> u32 {
        let source = self.writing.buffer.flights[place as usize].source;
        self.layout.superblock_of(source)
    }

    /// Logical units of what is valid in a row.
    #[must_use]
    pub fn units_of_row(&self, first: u32) -> Vec<u32> {
        let mut lpns = Vec::new();
        self.map
            .collect_valid(first, self.layout.row_units, &mut lpns);
        lpns
    }

    /// Whether a granule in flight has data on its way from the host, or folded; not data that
    /// collection, refresh or wear levelling moves.
    #[must_use]
    pub fn is_hosts_data(&self, place: u32) -> bool {
        let stream = self.writing.buffer.flights[place as usize].stream;
        stream.is_host() || stream == Stream::Fold
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

    /// Who an operation is done for that has not been reported. Erases are done for nobody.
    #[must_use]
    pub fn origin(&self, token: Token) -> Option<Origin> {
        Some(match token {
            Token::Host(_) => Origin::Host,
            Token::Program(place) | Token::FirstPass(place) | Token::Copyback(place) => {
                match self.writing.buffer.flights[place as usize].stream {
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

    /// Dies have taken the data of these granules, given by the places in their tokens.
    pub fn programs_begun(&mut self, places: impl Iterator<Item = u32>) {
        places.for_each(|place| self.writing.buffer.begin(place));
    }

    /// Sequence number that the next granule to be begun will get.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.writing.sequence
    }

    /// Lowest sequence number of a host granule that is not programmed yet: all before it are
    /// durable.
    #[must_use]
    pub fn oldest_pending_host(&self) -> u64 {
        let host = self.writing.oldest_of_host();
        host.min(self.checkpoint_pending())
            .min(self.cuts.oldest_trims())
            .min(self.health.homeless)
    }

    /// The rows that have to be read to rebuild the one of a physical unit: those of the other
    /// granules of its stripe that are on flash; what is in RAM of the stripe needs no read. None
    /// where there is no parity to rebuild it from.
    #[must_use]
    pub fn stripe_mates(&self, ppn: u32) -> Option<Vec<Mate>> {
        self.writing.stripe_mates(&self.layout, &self.blocks, ppn)
    }

    /// Switches on what power cuts need. At any time with nothing of the host's in RAM; without it
    /// the firmware erases a little earlier and takes less memory.
    pub fn enable_power_cuts(&mut self) {
        if self.cuts.is_on() {
            return;
        }
        let used = self.writing.buffer.used_units;
        assert_eq!(used, 0, "host data in the buffer");
        let host_units = self.logical_units();
        self.cuts.enable(&self.map, &self.blocks, host_units);
    }

    /// Whether what power cuts need is switched on.
    #[must_use]
    pub fn has_power_cuts(&self) -> bool {
        self.cuts.is_on()
    }

    /// Version stamp of what a read of a logical unit returns, from the flash and not from the map;
    /// none where nothing is written, or while power cuts are switched off.
    #[must_use]
    pub fn version(&self, lpn: u32) -> Option<u64> {
        self.cuts.version(lpn, self.locate(lpn)?)
    }

    /// What the host changes from here on is the doing of this command.
    #[inline]
    pub fn note_tag(&mut self, tag: u32) {
        self.cuts.note_tag(tag);
    }

    /// Changes of the map by the host since the last call, in their order; empty while power cuts
    /// are switched off.
    pub fn take_placements(&mut self) -> Vec<Placement> {
        self.cuts.take_placements()
    }

    /// Programs the trims that wait for the journal; a flush does so.
    pub fn flush_journal(&mut self, ops: &mut Vec<NandOp>) {
        let (layout, counters) = (&self.layout, &mut self.counters);
        let sequence = &mut self.writing.sequence;
        self.cuts.flush_journal(sequence, layout, counters, ops);
    }

    /// Programs a page of the map's journal, with the trims that wait for it. What is begun later
    /// has a higher sequence number.
    pub fn write_journal_page(&mut self, ops: &mut Vec<NandOp>) {
        let (layout, counters) = (&self.layout, &mut self.counters);
        let sequence = &mut self.writing.sequence;
        let row = layout.row_units / layout.page_units;
        let pages = if self.policy.pads_pages { 1 } else { row };
        self.cuts
            .write_journal(pages, sequence, layout, counters, ops);
    }

    /// Lowest sequence number of a page of the journal that is not programmed yet.
    #[must_use]
    pub fn oldest_journaled(&self) -> u64 {
        self.cuts.oldest_trims()
    }

    /// Whether the drive compresses what it stores.
    #[inline]
    #[must_use]
    pub fn compresses(&self) -> bool {
        self.layout.packs()
    }

    /// How much smaller the data can be made that the host hands over from now on.
    pub fn incoming_data(&mut self, compressible_percent: u8) {
        self.packing.expect(compressible_percent);
    }

    /// What crosses the channel when so many logical units from `lpn` on are read, all of which lie
    /// in one row of a drive that compresses: in eighths of a unit.
    #[must_use]
    pub fn read_grains(&self, lpn: u32, count: u32) -> u32 {
        self.packing.read_grains(&self.map, lpn, count)
    }

    /// Least and greatest wear of the superblocks in use, as shares of the rated life.
    #[must_use]
    pub fn wear_range(&self) -> (f64, f64) {
        self.wear.range(&self.blocks.all)
    }

    /// What wear is measured against.
    #[must_use]
    pub fn rated(&self) -> Rated {
        self.wear.rated
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

    /// Units that the cache may hold now: its static part and what it may borrow at this fill.
    #[must_use]
    pub fn cache_limit_units(&self) -> u64 {
        u64::from(self.cache.most()) * u64::from(self.layout.whole_units(Mode::Slc))
    }

    /// What the cache looks at.
    #[inline]
    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen {
            policy: &self.policy,
            layout: &self.layout,
            blocks: &self.blocks,
            writing: &self.writing,
            available: self.available(),
            row_most: self.packing.row_most(),
        }
    }

    /// The cache, to be changed, and what it looks at.
    #[inline]
    pub(crate) fn cache_and_seen(&mut self) -> (&mut Cache, Seen<'_>) {
        let seen = Seen {
            available: self.available(),
            row_most: self.packing.row_most(),
            policy: &self.policy,
            layout: &self.layout,
            blocks: &self.blocks,
            writing: &self.writing,
        };
        (&mut self.cache, seen)
    }
}
