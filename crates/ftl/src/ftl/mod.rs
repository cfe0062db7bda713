//! The firmware: its parts, and the order in which they act.
//!
//! Each part keeps its state to itself, does what it can do alone, and is handed what it needs of
//! the others. What is left for the files of this folder are the sequences in which several parts
//! change together: placing a unit may open a superblock ([`allocate`]), which may set a mover
//! going ([`moving`], [`collect`], [`fold`], [`map_pages`]), whose sources are erased ([`erase`])
//! or fail ([`failing`]), so that data is placed again. [`writes`] says in which ways the host's
//! data comes in, [`separation`] which of it shares superblocks, [`recover`] what a power cut
//! leaves. No module outside of this folder knows of [`Ftl`].

mod allocate;
mod collect;
mod erase;
mod failing;
mod fold;
mod inspect;
mod map_pages;
mod moving;
mod recover;
mod separation;
mod writes;

pub use map_pages::LookUp;
pub use writes::Reserved;

use flashtwin_nand::Part;

use crate::blocks::Blocks;
use crate::collect::Collector;
use crate::counters::Counters;
use crate::health::{self, Health};
use crate::layout::{Layout, NONE};
use crate::lifetimes::Lifetimes;
use crate::map::Map;
use crate::mover::{Movers, Work};
use crate::op::{NandOp, Token};
use crate::orders::{BuiltIn, Policies};
use crate::packing::Packing;
use crate::paged_map::PagedMap;
use crate::policy::Policy;
use crate::power_cut::{Change, Placement, PowerCuts};
use crate::sharing::{Class, Sharing};
use crate::slc_cache::Cache;
use crate::streams::Stream;
use crate::superblock::Born;
use crate::wear::Wear;
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
    layout: Layout,
    policy: Policy,
    /// What the program that built the drive may have brought itself.
    policies: P,
    /// Which classes of data have superblocks of their own.
    sharing: Sharing,
    map: Map,
    /// The map where it is not all in RAM.
    paged: PagedMap,
    /// The superblocks, and which of them may be collected.
    blocks: Blocks,
    /// What is on its way to the flash.
    writing: Writing,
    /// What empties superblocks: for folding, for collection and for the map.
    movers: Movers,
    /// The SLC cache.
    cache: Cache,
    /// What garbage collection costs and whether it is worth it.
    collection: Collector,
    wear: Wear,
    /// What each unit takes on a drive that compresses.
    packing: Packing,
    /// Blocks that are bad or fail, and spares.
    health: Health,
    counters: Counters,
    /// What a start after a power cut goes by.
    cuts: PowerCuts,
}

flashtwin_base::state! { Ftl<P: Policies> {
    kept: counters;
    part: map, paged, blocks, writing, movers, cache, collection, wear, packing, health, cuts,
        policies, sharing;
    built: layout, policy;
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
        let own = health::first_sound(&born).max(cache.own());
        let map = own..own + pool;
        let cached = cache.is_on();
        let blocks = Blocks::new(&born, &layout, cache.own(), &map, cached);
        cache.set_own(blocks.fixed_count());
        let paged = PagedMap::new(&policy, logical, (map.collect(), 0));
        policies.lifetimes().start(logical + paged.pages());
        let buffer_units = (buffer_bytes / unit) as u32;
        let mut ftl = Ftl {
            map: Map::new(logical + paged.pages(), layout.physical_units()),
            movers: Movers::new(&policy, &layout),
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
    fn keeps_pace(&self) -> bool {
        self.collection.works_alone()
            && (self.collection_keeps_pace() || self.collection_rests())
            && !self.blocks.has_stale()
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
        let awaited = self.writing.is_starved() || self.collection.halts_host();
        if awaited && self.cuts.erases_wait() {
            // They may have waited for something that ends without a program of the host's, as a
            // checkpoint of the map does.
            self.erase_waiting(ops);
        }
        // While a source is being emptied, what is moved from it will fill the granules that erases
        // wait for.
        if awaited && !self.movers[Work::Collect].is_working() && self.cuts.is_on() {
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
        if self.blocks.has_stale() {
            self.erase_stale(ops);
        }
    }

    /// The drive offers idle time for some work, or takes the offer back. Then what is under way is
    /// finished, and nothing more begins.
    pub fn offer(&mut self, load: Load, idle: bool, ops: &mut Vec<NandOp>) {
        match load {
            Load::Fold => self.offer_fold(idle),
            Load::Collect => self.movers[Work::Collect].offer(idle),
            Load::Map => self.movers[Work::Map].offer(idle),
        }
        self.pump(ops);
    }

    /// Pads the granules of the host's streams and issues them, so that none of their data waits
    /// for more. Not while data is on its way that room is reserved for: padding would take its
    /// place.
    pub fn pad_host(&mut self, ops: &mut Vec<NandOp>) {
        debug_assert_eq!(
            self.writing.buffer.awaited().units(),
            0,
            "padding under data to come"
        );
        for &stream in self.writing.of_host() {
            let s = &self.writing[stream];
            if s.next - s.begun > s.moved {
                self.pad(stream, ops);
            }
        }
    }

    /// The same, and what waits for a second pass gets it, so that all of it will be durable.
    pub fn pad_host_through(&mut self, ops: &mut Vec<NandOp>) {
        debug_assert_eq!(
            self.writing.buffer.awaited().units(),
            0,
            "padding under data to come"
        );
        for &stream in self.writing.of_host() {
            let s = &self.writing[stream];
            if s.next - s.begun > s.moved || self.writing.passes.holds_host(stream) {
                self.pad_through(stream, ops);
            }
        }
    }

    /// Dies have taken the data of these granules, given by the places in their tokens.
    pub fn programs_begun(&mut self, places: impl Iterator<Item = u32>) {
        places.for_each(|place| self.writing.buffer.begin(place));
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
        let sequence = self.writing.sequence_mut();
        self.cuts
            .note_trim((lpn, count), sequence, layout, counters, ops);
        self.erase_dead(ops);
    }
}

/// Everything is forgotten.
impl<P: Policies> Ftl<P> {
    /// Back to the never-written state; wear and counters stay. Only with nothing in flight.
    pub fn purge(&mut self) {
        self.writing.forget_passes(&self.layout, &mut self.blocks);
        assert_eq!(
            self.writing.buffer.in_flight(),
            0,
            "purge with programs in flight"
        );
        self.cuts.forget();
        self.blocks.purge(&mut self.counters);
        self.look_for_rated_end();
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
        assert_eq!(self.blocks.erasing(), 0, "erase while erasing");
        self.cuts.forget();
        self.start_over();
        self.cache.give_up_worn(&self.wear, &mut self.blocks);
        self.blocks.make_stale();
    }

    /// Forgets the map, all that was under way and what was inferred of the data. The superblocks
    /// stay as they are.
    fn start_over(&mut self) {
        self.map.forget_all();
        self.blocks.forget(&self.layout);
        self.counters.bare_units += self.writing.unprotected_units(&self.layout);
        let s = self.writing[Stream::Map];
        self.counters.map_written -= u64::from(s.next - s.begun);
        self.writing.close_all(&self.layout, &self.policy);
        debug_assert_eq!(self.writing.buffer.used(), 0, "erase with host data");
        self.cache = Cache::new(&self.policy, &self.layout);
        self.cache.set_own(self.blocks.fixed_count());
        self.wear.forget();
        self.movers = Movers::new(&self.policy, &self.layout);
        self.collection.start_over(&self.policy.gc, &self.blocks);
        let host_units = self.logical_units();
        self.paged.start_over(&self.policy, host_units);
        let units = self.mapped_units();
        self.policies.lifetimes().start(units);
        self.sharing = Sharing::new(&self.policy, self.policies.lifetimes(), units);
    }
}

/// What the drive tells of the host's data, and what survives a cut.
impl<P: Policies> Ftl<P> {
    /// Switches on what power cuts need. At any time with nothing of the host's in RAM; without it
    /// the firmware erases a little earlier and takes less memory.
    pub fn enable_power_cuts(&mut self) {
        if self.cuts.is_on() {
            return;
        }
        let used = self.writing.buffer.used();
        assert_eq!(used, 0, "host data in the buffer");
        let host_units = self.logical_units();
        self.cuts.enable(&self.map, &self.blocks, host_units);
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

    /// Programs a page of the map's journal, with the trims that wait for it. What is begun later
    /// has a higher sequence number.
    pub fn write_journal_page(&mut self, ops: &mut Vec<NandOp>) {
        let (layout, counters) = (&self.layout, &mut self.counters);
        let sequence = self.writing.sequence_mut();
        let row = layout.row_units / layout.page_units;
        let pages = if self.policy.pads_pages { 1 } else { row };
        self.cuts
            .write_journal(pages, sequence, layout, counters, ops);
    }

    /// How much smaller the data can be made that the host hands over from now on.
    pub fn incoming_data(&mut self, compressible_percent: u8) {
        self.packing.expect(compressible_percent);
    }

    /// From now on the host's data has bytes, which the caller keeps in numbered slots; power cuts
    /// are on. What was written before reads as zeros.
    pub fn enable_contents(&mut self) {
        self.enable_power_cuts();
        self.cuts.enable_contents();
    }

    /// Host data that was placed since the last call, unit by unit in its order. A program that
    /// keeps the bytes asks after each step in time.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.cuts.take_changes()
    }

    /// Slots that nothing refers to any more may be handed out again from now on; the answer is
    /// which they are.
    pub fn settle_slots(&mut self) -> Vec<u32> {
        self.cuts.settle_slots()
    }

    /// Grants folding in the background a number of units. Units that were granted before and not
    /// used are not carried over; what was folded beyond them is taken off.
    pub fn allow(&mut self, units: u32, ops: &mut Vec<NandOp>) {
        self.cache.allow(units);
        self.pump(ops);
    }
}
