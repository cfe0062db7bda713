//! Garbage collection: empties native superblocks, in the order that the policy chooses.
//!
//! It starts when few superblocks are free and stops when enough are. While it runs the host pays
//! for each unit what the victims cost, valid ÷ (size − valid) copies, or waits altogether. In idle
//! time it goes on beyond that, as far as something is to be gained.
//!
//! The recycler of a settled drive works by the same mover: once every superblock has been written,
//! each host unit is accompanied by a copy from the superblock whose turn it is.
//! Where a borrowed cache superblock
//! holds less valid data than the best native victim, folding is the cheaper way to free space and
//! goes first. Folding one of the cache's own superblocks frees no native space.

use flashtwin_base::rng::Rng;

use crate::blocks::{Blocks, State, Superblock};
use crate::ftl::Ftl;
use crate::layout::{Layout, Mode, NONE};
use crate::lifetimes::Lifetimes;
use crate::mover::{Mover, Work, between_passes};
use crate::op::NandOp;
use crate::orders::{Policies, VictimOrder};
use crate::policy::{Gc, Policy};
use crate::streams::Stream;
use crate::victims::{Candidates, POOLS};
use crate::wear::Cause;

/// How many victims without an invalid unit a policy may choose in a row before the emptiest
/// superblock is taken instead. A drive short of space would otherwise copy full superblocks for
/// ever.
const FULL_IN_TURN: u32 = 16;
/// Superblocks that have to be to spare before data is moved for another reason than space.
const SPARE_SUPERBLOCKS: u32 = 2;
/// In idle time, and while the host is stopped, a superblock is worth collecting when at least this
/// part of it is invalid, and at least so many granules. A collection may end with a padded granule
/// in each of two streams: with less to gain, the padding could use up the gain and collection
/// would never end. In idle time with too few free superblocks the granules alone decide: a worn
/// drive may be unable to free as many as it should, and would copy full superblocks for as long as
/// it rests.
const WORTH_PART: u32 = 16;
const WORTH_GRANULES: u32 = 4;

/// Where no victim is worth its copies, the next search comes after so many granules for each die:
/// a search looks at many superblocks, and few writes make little invalid. A bound of the
/// simulation's work and not of a drive: a host that waits for space is not held up by it.
const SEARCH_AGAIN_GRANULES: u64 = 8;
/// Of the last so many victims the host pays the mean cost, where victims come as they come: each
/// new one takes the place of one part in so many of the sum.
const PAID_VICTIMS: u64 = 8;

/// Number of the random stream in the drive's seed that chooses victims.
const CHANCE: u64 = 0x4654_4c00;

/// The state of the room. It is saved piece by piece by [`Ftl`], in the order that snapshots have.
pub(crate) struct Collector {
    /// Moves what is valid, also for another reason than space.
    pub(crate) mover: Mover,
    pub(crate) memory: Collection,
    /// What orders of collection leave to chance.
    pub(crate) chance: Rng,
    /// Nothing but collection can have work to do: there is no cache to fold, the whole map is in
    /// RAM, and no wordline waits for its other pages.
    pub(crate) alone: bool,
}

impl Collector {
    /// Nothing has been written yet.
    pub(crate) fn new(policy: &Policy, layout: &Layout, blocks: &Blocks, seed: u64) -> Collector {
        let uncached = policy.cache.caching().is_none();
        Collector {
            mover: Mover::new(Work::Collect, layout),
            memory: Collection::new(&policy.gc, blocks),
            chance: Rng::new(seed, CHANCE),
            alone: uncached && !layout.paired && policy.map.is_whole(),
        }
    }

    /// The same after all data is forgotten; chance goes on.
    pub(crate) fn start_over(&mut self, policy: &Policy, layout: &Layout, blocks: &Blocks) {
        self.mover = Mover::new(Work::Collect, layout);
        self.memory = Collection::new(&policy.gc, blocks);
    }

    /// A superblock is going to be written.
    pub(crate) fn opened(&mut self, superblock: u32) {
        self.memory.opened(superblock);
    }
}

/// What collection remembers from victim to victim.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    /// The host waits until collection ends.
    pub(crate) halts_host: bool,
    /// The last victim was worth stopping the host for.
    worthy: bool,
    /// Copies that collection costs for each unit that it frees, in thousandths.
    cost_milli: i64,
    /// No victim was worth its copies: the next search comes at this sequence number.
    search_again: u64,
    /// Victims of each pool in a row that had no invalid unit.
    full_in_turn: [u32; POOLS],
    /// Valid and invalid units of the last victims, as sums that fade.
    recent: (u64, u64),
    /// Superblocks that have not been written since the drive was new or purged.
    untouched: Vec<bool>,
    untouched_count: u32,
    /// See [`crate::choices::Pacing::stops_host`].
    stops_host: bool,
    /// See [`crate::choices::Recycling::accompanies`].
    accompanies: bool,
}

flashtwin_base::state! { Collection {
    kept: halts_host, worthy, cost_milli, search_again, full_in_turn, recent, untouched_count;
    sized: untouched;
    built: stops_host, accompanies;
} }

impl Collection {
    /// Nothing has been written yet; the cache's own superblocks do not count.
    fn new(policy: &Gc, blocks: &Blocks) -> Collection {
        let native = |b: &Superblock| b.state != State::Retired && !b.fixed && !b.map;
        let untouched: Vec<bool> = blocks.all.iter().map(native).collect();
        Collection {
            halts_host: false,
            worthy: false,
            cost_milli: 0,
            search_again: 0,
            full_in_turn: [0; POOLS],
            recent: (0, 0),
            untouched_count: untouched.iter().filter(|&&u| u).count() as u32,
            untouched,
            stops_host: policy.pace.pacing().stops_host,
            accompanies: policy.recycler.recycling().accompanies,
        }
    }

    /// What is left of it after a power cut: the superblocks that were written.
    pub(crate) fn power_lost(&self) -> Collection {
        Collection {
            halts_host: false,
            cost_milli: 0,
            search_again: 0,
            full_in_turn: [0; POOLS],
            recent: (0, 0),
            ..self.clone()
        }
    }

    /// A superblock is going to be written.
    fn opened(&mut self, superblock: u32) {
        let first = std::mem::take(&mut self.untouched[superblock as usize]);
        self.untouched_count -= u32::from(first);
    }

    /// Notes a victim and sets what its copies cost. Where the order always takes the emptiest
    /// superblock (`each`), the host pays what this victim costs. Where victims come as they come,
    /// it pays the mean of the last ones: a single victim with nothing to gain would cost
    /// more than a host can pay at once.
    fn chosen(&mut self, each: bool, pool: usize, valid: u32, units: u32) {
        let (valid, freed) = (u64::from(valid), u64::from(units - valid));
        let full = &mut self.full_in_turn[pool];
        *full = if freed == 0 { *full + 1 } else { 0 };
        let fade = |sum: u64| sum - sum / PAID_VICTIMS;
        self.recent = match each {
            true => (valid, freed),
            false => (fade(self.recent.0) + valid, fade(self.recent.1) + freed),
        };
        let (valid, freed) = self.recent;
        self.cost_milli = valid as i64 * 1000 / (freed as i64).max(1);
    }
}

impl<P: Policies> Ftl<P> {
    /// Units to copy for each host unit, in thousandths.
    #[inline]
    pub(crate) fn collect_pace_milli(&self) -> i64 {
        if self.collection.mover.source == NONE {
            return 0;
        }
        let space = if self.collection.mover.active {
            self.collection.memory.cost_milli
        } else {
            0
        };
        if self.is_settled() {
            space.max(1000)
        } else {
            space
        }
    }

    /// Whether the recycler accompanies the host, because every superblock has been written once.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.collection.memory.untouched_count == 0 && self.collection.memory.accompanies
    }

    /// Free superblocks, and those that become free without more copies.
    fn free_soon(&self) -> u32 {
        let emptied = self.collection.mover.emptied() + self.cache.fold.emptied();
        self.blocks.free_or_half() + self.blocks.erasing + emptied
    }

    /// Whether idle time is offered and its goal is not reached.
    fn collects_idle(&self) -> bool {
        self.collection.mover.idle && self.free_soon() < self.policy.gc.idle_superblocks
    }

    /// Idle time is all that collection goes on for: the host neither waits for space nor has to be
    /// kept pace with.
    fn is_at_leisure(&self) -> bool {
        self.collects_idle() && !self.writing.starved && !self.collection.mover.is_behind()
    }

    /// Whether the host waits until collection ends.
    #[inline]
    pub(crate) fn stops_the_world(&self) -> bool {
        self.collection.memory.stops_host
            && self.collection.mover.active
            && self.collection.memory.worthy
    }

    /// Collection for space has a victim, and is as far ahead of the host as it keeps or as the
    /// dies let it, so that [`Ftl::pump_collect`] would change nothing.
    #[inline]
    pub(crate) fn collection_keeps_pace(&self) -> bool {
        self.collection.mover.source != NONE
            && self.collection.mover.cursor < self.layout.native_units
            && self.collection.mover.cause == Cause::Space
            && (!self.collection.mover.is_behind()
                || self
                    .collection
                    .mover
                    .is_far_ahead(self.writing.buffer.by_stream[Stream::Collected]))
            && !self.writing.starved
            && self.collection.mover.active
            && !self.collection.mover.idle
            && !self.collection.mover.waiting()
            && !self.collection.memory.stops_host
            && !self.collection.memory.halts_host
    }

    /// Enough is free and nothing is under way, so that [`Ftl::pump_collect`] would change nothing.
    #[inline]
    pub(crate) fn collection_rests(&self) -> bool {
        self.collection.mover.source == NONE
            && self.collection.mover.debt_milli <= 0
            && !self.collection.mover.pressed
            && !self.collection.mover.active
            && !self.collection.mover.idle
            && !self.wear.busy
            && !self.writing.starved
            && !self.collection.memory.halts_host
            && self.blocks.free_or_half() >= self.rest_superblocks()
            && !self.is_settled()
    }

    /// Nothing but collection moves data: see [`Collection::alone`].
    #[inline]
    #[must_use]
    pub fn collects_alone(&self) -> bool {
        self.collection.alone
    }

    /// No mover has anything to do, and none will before two more superblocks are opened.
    #[inline]
    #[must_use]
    pub fn leaves_movers_at_rest(&self) -> bool {
        self.collection.alone
            && self.collection_rests()
            && self.blocks.free_or_half() > self.rest_superblocks() + 2
    }

    /// With so many free superblocks collection neither begins nor goes on.
    #[inline]
    fn rest_superblocks(&self) -> u32 {
        let gc = &self.policy.gc;
        gc.low_superblocks.max(gc.high_superblocks)
    }

    pub(crate) fn pump_collect(&mut self, ops: &mut Vec<NandOp>) {
        let free = self.blocks.free_or_half();
        if free < self.policy.gc.low_superblocks {
            self.collection.mover.active = true;
        } else if free >= self.policy.gc.high_superblocks && !self.collects_for_space() {
            self.collection.mover.active = false;
            self.collection.mover.owe(0, 0);
        }
        // A source that was begun in idle time has a free superblock set aside, and the host may be
        // waiting for one.
        let in_the_way = self.writing.starved && self.collection.mover.source != NONE;
        let aside = self.wear.busy || self.collection.mover.idle || in_the_way || self.is_settled();
        if self.collection.mover.active || aside {
            self.collect(ops);
        }
        self.collection.memory.halts_host = self.stops_the_world() && self.makes_space();
    }

    /// A victim is being emptied because its space is wanted.
    fn collects_for_space(&self) -> bool {
        self.collection.mover.source != NONE && self.collection.mover.cause == Cause::Space
    }

    /// Something is under way that ends with a free superblock.
    fn makes_space(&self) -> bool {
        self.collection.mover.source != NONE
            || self.blocks.erasing > 0
            || self.collection.mover.waiting()
    }

    fn collect(&mut self, ops: &mut Vec<NandOp>) {
        loop {
            if self.collection.mover.source == NONE && !self.next_victim(ops) {
                self.collection.mover.owe(0, 0);
                if self.collection.mover.waiting() && self.collection.mover.outstanding == 0 {
                    let awaited = self.writing.starved || self.stops_the_world();
                    self.pad_moved(Work::Collect, awaited, ops);
                }
                self.wear.busy = self.wear.waiting() > 0;
                return;
            }
            if self.collection.mover.cursor >= self.layout.native_units {
                if !self.finish_source(Work::Collect, ops) {
                    return;
                }
            } else if !self.may_collect() {
                self.free_emptied(Work::Collect, ops);
                return;
            } else {
                self.read_row(Work::Collect, ops);
            }
        }
    }

    /// Collection may go on while it is behind what the host pays for. It may always go on while
    /// the host waits for space, in idle time, and while it moves data for another reason than
    /// space.
    #[inline]
    fn may_collect(&mut self) -> bool {
        let urgent = self.writing.starved || self.collection.mover.cause != Cause::Space;
        let goes = urgent || self.collection.mover.is_behind() || self.stops_the_world();
        (goes || self.collects_idle()) && self.may_read(Work::Collect)
    }

    /// Data that is moved for another reason than space goes first. The host does not pay for it.
    #[cold]
    fn start_relocation(&mut self) -> bool {
        if self.writing.starved || self.available_to_movers() < SPARE_SUPERBLOCKS {
            return false;
        }
        let Some((superblock, cause)) = self.wear.next(&mut self.blocks) else {
            return false;
        };
        self.collection.mover.cause = cause;
        self.collection.memory.cost_milli = 0;
        self.start_source(Work::Collect, superblock);
        true
    }

    /// Makes a superblock the source. While space is wanted it is the one that the policy chooses,
    /// unless all are full or folding a cache superblock costs less. In a settled drive it is the
    /// one whose turn it is.
    fn next_victim(&mut self, ops: &mut Vec<NandOp>) -> bool {
        // A host that waits for space does not wait for wear levelling too. Each erase asks for the
        // next levelling move, so each of the two would keep the other going.
        if self.wear.busy && !self.stops_the_world() && self.start_relocation() {
            return true;
        }
        let enough = self.policy.gc.high_superblocks;
        if self.collection.mover.active && self.blocks.free_or_half() >= enough {
            self.collection.mover.active = false;
        }
        let coming = self.collection.memory.stops_host && self.free_soon() >= enough;
        let victim = if self.collection.mover.active {
            self.erase_dead(ops);
            match self.is_at_leisure() {
                true => self.victim_gaining(self.padding_of_collection()),
                false => self.victim_for_space(coming),
            }
        } else if self.collects_idle() {
            self.erase_dead(ops);
            self.worthy_victim()
        } else if self.is_settled() {
            self.blocks
                .victims
                .oldest(self.pool_in_turn(), &self.blocks.all)
        } else {
            None
        };
        let Some(victim) = victim else {
            return false;
        };
        let valid = self.blocks.all[victim as usize].valid;
        let units = self.packing.units_in(&self.layout, victim);
        self.collection.mover.cause = Cause::Space;
        let pool = self.blocks.victims.pool_of(victim);
        let each = self.policies.order().takes_emptiest();
        self.collection.memory.chosen(each, pool, valid, units);
        self.counters.gc_victims += 1;
        let block = &self.blocks.all[victim as usize];
        let lifespan = self.counters.host_units - block.opened_at;
        let from = block.filled_by.fills();
        self.policies.lifetimes().victim(from, lifespan);
        if self.sharing.is_due() {
            self.look_at_sharing();
        }
        self.start_source(Work::Collect, victim);
        true
    }

    /// The victim of the policy, unless enough is `coming` anyway.
    fn victim_for_space(&mut self, coming: bool) -> Option<u32> {
        if coming
            || (self.writing.sequence < self.collection.memory.search_again
                && !self.writing.starved)
        {
            return None;
        }
        if self.collection.memory.stops_host && !self.writing.starved {
            let worthy = self.worthy_victim();
            self.collection.memory.worthy = worthy.is_some();
            if worthy.is_some() {
                return worthy;
            }
        }
        let victim = self.choose_from(self.pool_in_turn());
        if victim.is_none() {
            self.collection.memory.search_again =
                self.writing.sequence + SEARCH_AGAIN_GRANULES * u64::from(self.layout.dies);
        }
        victim
    }

    /// A victim that is worth its copies though nobody needs the space now.
    fn worthy_victim(&mut self) -> Option<u32> {
        let part = self.layout.whole_units(Mode::Native) / WORTH_PART;
        self.victim_gaining(part.max(self.padding_of_collection()))
    }

    /// Units that a collection has to free so that padding cannot use them up. With several passes
    /// it may end with as many padded granules as wait for a later pass.
    fn padding_of_collection(&self) -> u32 {
        let granules = WORTH_GRANULES + between_passes(&self.layout);
        self.layout.whole(granules * self.layout.native_granule)
    }

    /// The victim of the policy, or the emptiest superblock where that victim frees fewer than
    /// `least` units. None where the emptiest frees fewer as well.
    fn victim_gaining(&mut self, least: u32) -> Option<u32> {
        let units = self.layout.whole_units(Mode::Native);
        let pool = self.pool_in_turn();
        let chosen = self.choose_from(pool)?;
        let emptiest = self.blocks.victims.emptiest(pool, &self.blocks.all);
        let gain = |s: &u32| units.saturating_sub(self.blocks.all[*s as usize].valid) >= least;
        Some(chosen).filter(gain).or(emptiest.filter(gain))
    }

    /// The next victim of a pool, or of the other one where nothing is to be gained in it.
    fn choose_from(&mut self, pool: usize) -> Option<u32> {
        let victim = self.choose(pool);
        if victim.is_some() || !self.policy.gc.separation.divides_pools() {
            return victim;
        }
        self.choose(1 - pool)
    }

    /// Whether every native superblock that could be collected is full of valid data.
    pub(crate) fn has_no_victim(&self) -> bool {
        let units = self.layout.whole_units(Mode::Native);
        let emptiest = |pool| self.blocks.victims.emptiest(pool, &self.blocks.all);
        let gains = |s: u32| self.blocks.all[s as usize].valid < units;
        !(0..2).filter_map(emptiest).any(gains)
    }

    /// Whether the present source is collected for its space.
    pub(crate) fn collects_space(&self) -> bool {
        self.collection.mover.cause == Cause::Space
    }

    /// The next victim of a pool: none where nothing is to be gained.
    fn choose(&mut self, pool: usize) -> Option<u32> {
        let (all, units) = (&self.blocks.all, self.layout.whole_units(Mode::Native));
        let valid = |superblock: u32| all[superblock as usize].valid;
        let emptiest = self.blocks.victims.emptiest(pool, all)?;
        let chosen = if self.collection.memory.full_in_turn[pool] >= FULL_IN_TURN {
            emptiest
        } else {
            let mut among = Candidates {
                victims: &mut self.blocks.victims,
                pool,
                all,
                emptiest,
                units,
                now: self.counters.host_units,
            };
            let order = self.policies.order();
            let chosen = order.choose(&mut among, &mut self.collection.chance);
            chosen.unwrap_or(emptiest)
        };
        let most = valid(chosen);
        let cheaper_fold = self.fold_for_space().is_some_and(|s| valid(s) <= most);
        (valid(emptiest) < units && !cheaper_fold).then_some(chosen)
    }
}
