//! The state of the firmware and the calls that the drive makes on it.

use flashtwin_base::rng::Rng;
use flashtwin_nand::Part;

use crate::allocate::Frontier;
use crate::blocks::{Blocks, State, Superblock};
use crate::collect::Collection;
use crate::counters::Counters;
use crate::health::{self, Born, Health};
use crate::lanes::Lanes;
use crate::layout::{Layout, Mode, NONE};
use crate::lifetimes::Lifetimes;
use crate::map::Map;
use crate::mover::{Mover, Work};
use crate::op::{NandOp, Token, class};
use crate::orders::{BuiltIn, Policies};
use crate::packing::Packing;
use crate::paged_map::PagedMap;
use crate::passes::Passes;
use crate::policy::{CacheMode, Policy};
use crate::power_cut::PowerCuts;
use crate::separation::Heat;
use crate::slc_cache::Cache;
use crate::streams::{InUse, STREAMS, Stream};
use crate::victims::Victims;
use crate::wear::Wear;
use crate::write_buffer::WriteBuffer;

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

/// Number of the stream of chance in the drive's seed.
const CHANCE: u64 = 0x4654_4c00;

/// The firmware of one drive.
pub struct Ftl<P: Policies = BuiltIn> {
    /// Address arithmetic.
    pub layout: Layout,
    pub(crate) policy: Policy,
    /// What the program that built the drive may have brought itself.
    pub(crate) policies: P,
    pub(crate) map: Map,
    /// The map where it is not all in RAM.
    pub(crate) paged: PagedMap,
    pub(crate) blocks: Blocks,
    pub(crate) victims: Victims,
    pub(crate) streams: [Frontier; STREAMS],
    pub(crate) in_use: InUse,
    pub(crate) lanes: Lanes,
    pub(crate) passes: Passes,
    pub(crate) buffer: WriteBuffer,
    pub(crate) cache: Cache,
    pub(crate) fold: Mover,
    pub(crate) collect: Mover,
    pub(crate) wear: Wear,
    pub(crate) packing: Packing,
    pub(crate) health: Health,
    pub(crate) counters: Counters,
    pub(crate) sequence: u64,
    pub(crate) starved: bool,
    /// Only collection can have anything to do: there is no cache to fold, the whole map is in RAM,
    /// and no wordline waits for its other pages.
    pub(crate) pumps_collection_only: bool,
    pub(crate) collection: Collection,
    pub(crate) heat: Heat,
    pub(crate) scratch: Vec<u32>,
    /// What the policies leave to chance.
    pub(crate) chance: Rng,
    pub(crate) cuts: PowerCuts,
}

flashtwin_base::state! { Ftl<P: Policies> {
    kept: counters, sequence, starved, chance;
    part: map, paged, blocks, victims, streams, lanes, passes, buffer, cache, fold, collect,
        wear, packing, health, collection, heat, cuts,
        policies;
    built: layout, policy, in_use, scratch, pumps_collection_only;
} }

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
        let blocks = Blocks::new(
            &born,
            cache.fixed_total,
            &map,
            cache.mode != CacheMode::None,
        );
        cache.fixed_total = blocks.fixed_count();
        let paged = PagedMap::new(&policy, &layout, logical, map.collect());
        policies.lifetimes().start(logical + paged.pages());
        let mut ftl = Ftl {
            map: Map::new(logical + paged.pages(), layout.physical_units()),
            paged,
            collection: Collection::new(&policy.gc, &blocks),
            blocks,
            health,
            victims: Victims::new(layout.superblocks, layout.native_units),
            streams: Stream::ALL.map(|stream| Frontier::new(&layout, &policy, stream)),
            in_use: InUse::new(policy.classes(), policies.lifetimes().classes()),
            lanes: Lanes::new(&layout),
            passes: Passes::new(&layout),
            buffer: WriteBuffer::new((buffer_bytes / unit) as u32),
            fold: Mover::folding(&policy, &layout),
            collect: Mover::new(Work::Collect, &layout),
            wear: Wear::new(part, &policy.wear),
            packing: Packing::new(&layout),
            counters: Counters::default(),
            sequence: 0,
            starved: false,
            pumps_collection_only: cache.mode == CacheMode::None
                && !layout.paired
                && policy.map.is_whole(),
            heat: Heat::new(policy.gc.separation, logical),
            scratch: Vec::with_capacity(4096),
            chance: Rng::new(seed, CHANCE),
            cuts: PowerCuts::new(&policy, &layout, logical),
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
        let given = u64::from(self.cache.borrowed + self.fixed_in_use()) * u64::from(each);
        (
            given - u64::from(self.streams[Stream::Cache].left()),
            u64::from(self.cache.valid_units),
        )
    }

    /// Units given out in the second tier of the cache, and how many of them are valid.
    #[must_use]
    pub fn tier_units(&self) -> (u64, u64) {
        let each = self.layout.whole_units(Mode::Tier);
        let given = u64::from(self.cache.tier_borrowed) * u64::from(each);
        (
            given - u64::from(self.streams[Stream::Tier].left()),
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
        } else if self.is_buffered(ppn) {
            Found::Buffer
        } else {
            Found::Flash(ppn)
        }
    }

    /// Commands for these units are on their way: their map entries are fetched into the
    /// processor's cache.
    #[inline]
    pub fn expect(&self, lpns: &[u32]) {
        lpns.iter().for_each(|&lpn| self.map.expect(lpn));
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
        ppn != NONE && self.layout.row_of(ppn) == row && !self.is_buffered(ppn)
    }

    /// Whether the host waits for a superblock.
    #[inline]
    #[must_use]
    pub fn is_starved(&self) -> bool {
        self.starved
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
            Token::FirstPass(place) => self.first_passed(place),
            Token::Checkpoint => self.checkpoint_row_written(ops),
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
        if self.is_writing_checkpoint() {
            self.end_checkpoint();
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
    fn keeps_pace(&self) -> bool {
        self.pumps_collection_only
            && (self.collection_keeps_pace() || self.collection_rests())
            && self.blocks.stale.is_empty()
    }

    #[inline(never)]
    fn pump_all(&mut self, ops: &mut Vec<NandOp>) {
        if self.layout.paired {
            self.land_wordlines(ops);
        }
        if self.cache.mode != CacheMode::None {
            self.pump_fold(ops);
        }
        self.pump_collect(ops);
        if !self.blocks.stale.is_empty() {
            self.erase_stale(ops);
        }
        if self.paged.is_on() {
            self.pump_map(ops);
        }
        let awaited = self.starved || self.collection.halts_host;
        // While a source is being emptied, what is moved from it will fill the granules that erases
        // wait for.
        if awaited && self.collect.source == NONE && self.cuts.is_on() {
            self.hasten_erases(ops);
        }
    }

    /// The drive offers idle time for some work, or takes the offer back. Then what is under way is
    /// finished, and nothing more begins.
    pub fn offer(&mut self, load: Load, idle: bool, ops: &mut Vec<NandOp>) {
        match load {
            Load::Fold => self.fold.idle = idle,
            Load::Collect => self.collect.idle = idle,
            Load::Map => self.paged.mover.idle = idle,
        }
        self.pump(ops);
    }

    /// Pads the granules of the host's streams and issues them, so that none of their data waits
    /// for more. Not while data is on its way that room is reserved for: padding would take its
    /// place.
    pub fn pad_host(&mut self, ops: &mut Vec<NandOp>) {
        debug_assert_eq!(self.buffer.awaited.units(), 0, "padding under data to come");
        for &stream in self.in_use.host {
            let s = &self.streams[stream];
            if s.next - s.begun > s.moved {
                self.pad(stream, ops);
            }
        }
    }

    /// The same, and what waits for a second pass gets it, so that all of it will be durable.
    pub fn pad_host_through(&mut self, ops: &mut Vec<NandOp>) {
        debug_assert_eq!(self.buffer.awaited.units(), 0, "padding under data to come");
        for &stream in self.in_use.host {
            let s = &self.streams[stream];
            if s.next - s.begun > s.moved || self.passes.holds_host(stream) {
                self.pad_through(stream, ops);
            }
        }
    }

    /// Whether a host granule is partly filled and waits for more data.
    #[must_use]
    pub fn has_partial(&self) -> bool {
        self.host_units_waiting() > 0
    }

    /// Host programs that are on their way to the flash, without those that only wait for a later
    /// pass.
    #[must_use]
    pub fn host_programs_in_flight(&self) -> bool {
        self.buffer_programming() > 0 || self.passes.host_firsts > 0
    }

    /// Host data that waits for the second pass of its wordline.
    #[must_use]
    pub fn host_data_between_passes(&self) -> bool {
        self.passes.host_units > 0
    }

    /// Back to the never-written state; wear and counters stay. Only with nothing in flight.
    pub fn purge(&mut self) {
        self.forget_passes();
        assert_eq!(self.buffer.in_flight(), 0, "purge with programs in flight");
        self.forget_stamps();
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
        self.give_up_worn();
    }

    /// Forgets the map, all that was under way and what was inferred of the data. The superblocks
    /// stay as they are.
    pub(crate) fn start_over(&mut self) {
        self.map.forget_all();
        self.blocks.cache.clear();
        self.blocks.tier.clear();
        self.blocks.half.clear();
        self.blocks.stale.clear();
        self.counters.bare_units += self.unprotected_units();
        let s = self.streams[Stream::Map];
        self.counters.map_written -= u64::from(s.next - s.begun);
        self.streams = Stream::ALL.map(|stream| Frontier::new(&self.layout, &self.policy, stream));
        self.lanes = Lanes::new(&self.layout);
        debug_assert_eq!(self.buffer.used_units, 0, "erase with host data");
        self.cache = Cache::new(&self.policy, &self.layout);
        self.cache.fixed_total = self.blocks.fixed_count();
        self.fold = Mover::folding(&self.policy, &self.layout);
        self.collect = Mover::new(Work::Collect, &self.layout);
        self.wear.forget();
        self.victims = Victims::new(self.layout.superblocks, self.layout.native_units);
        self.collection = Collection::new(&self.policy.gc, &self.blocks);
        let host_units = self.logical_units();
        self.paged
            .start_over(&self.policy, &self.layout, host_units);
        self.heat = Heat::new(self.policy.gc.separation, host_units);
        let units = self.mapped_units();
        self.policies.lifetimes().start(units);
        self.starved = false;
    }
}
