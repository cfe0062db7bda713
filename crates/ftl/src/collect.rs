//! Garbage collection empties native superblocks, in the order that the policy chooses.
//!
//! It starts when few superblocks are free and stops when enough are. While it runs the host pays
//! for each unit what the victims cost, valid ÷ (size − valid) copies, or waits altogether. In idle
//! time it goes on beyond that, as far as something is to be gained.
//!
//! The recycler of a settled drive works by the same mover: once every superblock has been written,
//! each host unit is accompanied by a copy from the superblock whose turn it is. Where a borrowed
//! cache superblock holds less valid data than the best native victim, folding is the cheaper way
//! to free space and goes first. Folding one of the cache's own superblocks frees no native space.
//!
//! The room remembers what collection costs and whether it is worth it, and asks the order of the
//! policy for a victim. When it goes on is a sequence of the firmware's (`ftl/collect.rs`).

use flashtwin_base::rng::Rng;

use crate::blocks::{Blocks, State, Superblock};
use crate::layout::Layout;
use crate::mover::Mover;
use crate::orders::VictimOrder;
use crate::policy::{Gc, Policy};
use crate::victims::POOLS;

/// Where no victim is worth its copies, the next search comes after so many granules for each die:
/// a search looks at many superblocks, and few writes make little invalid. A bound of the
/// simulation's work and not of a drive: a host that waits for space is not held up by it.
const SEARCH_AGAIN_GRANULES: u64 = 8;
/// Of the last so many victims the host pays the mean cost, where victims come as they come: each
/// new one takes the place of one part in so many of the sum.
const PAID_VICTIMS: u64 = 8;

/// Number of the random stream in the drive's seed that chooses victims.
const CHANCE: u64 = 0x4654_4c00;

/// What collection remembers from victim to victim.
#[derive(Clone, Debug)]
pub(crate) struct Collector {
    /// The host waits until collection ends.
    halts_host: bool,
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
    /// Random numbers for the orders of collection that draw victims.
    chance: Rng,
    /// See [`crate::choices::Pacing::stops_host`].
    stops_host: bool,
    /// See [`crate::choices::Recycling::accompanies`].
    accompanies: bool,
    /// Nothing but collection can have work to do: there is no cache to fold, the whole map is in
    /// RAM, and no wordline waits for its other pages.
    alone: bool,
}

flashtwin_base::state! { Collector {
    kept: halts_host, worthy, cost_milli, search_again, full_in_turn, recent, untouched_count,
        chance;
    sized: untouched;
    built: stops_host, accompanies, alone;
} }

impl Collector {
    /// Nothing has been written yet.
    pub(crate) fn new(policy: &Policy, layout: &Layout, blocks: &Blocks, seed: u64) -> Collector {
        let uncached = policy.cache.caching().is_none();
        let chance = Rng::new(seed, CHANCE);
        let alone = uncached && !layout.paired && policy.map.is_whole();
        Collector::with_chance(&policy.gc, blocks, chance, alone)
    }

    /// Nothing has been written yet; the cache's own superblocks do not count.
    fn with_chance(policy: &Gc, blocks: &Blocks, chance: Rng, alone: bool) -> Collector {
        let native = |b: &Superblock| b.state != State::Retired && !b.fixed && !b.map;
        let untouched: Vec<bool> = blocks.all().iter().map(native).collect();
        Collector {
            halts_host: false,
            worthy: false,
            cost_milli: 0,
            search_again: 0,
            full_in_turn: [0; POOLS],
            recent: (0, 0),
            untouched_count: untouched.iter().filter(|&&u| u).count() as u32,
            untouched,
            chance,
            stops_host: policy.pace.pacing().stops_host,
            accompanies: policy.recycler.recycling().accompanies,
            alone,
        }
    }

    /// All data is forgotten; chance goes on.
    pub(crate) fn start_over(&mut self, policy: &Gc, blocks: &Blocks) {
        *self = Collector::with_chance(policy, blocks, self.chance.clone(), self.alone);
    }

    /// What is left of it after a power cut: the superblocks that were written.
    pub(crate) fn after_cut(&self) -> Collector {
        Collector {
            halts_host: false,
            cost_milli: 0,
            search_again: 0,
            full_in_turn: [0; POOLS],
            recent: (0, 0),
            ..self.clone()
        }
    }

    /// A superblock is going to be written.
    pub(crate) fn opened(&mut self, superblock: u32) {
        let first = std::mem::take(&mut self.untouched[superblock as usize]);
        self.untouched_count -= u32::from(first);
    }

    /// Nothing but collection moves data.
    #[inline]
    pub(crate) fn works_alone(&self) -> bool {
        self.alone
    }

    /// The recycler accompanies the host, because every superblock has been written once.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.untouched_count == 0 && self.accompanies
    }
}

/// The copies that the host's writes wait for, and whether all writes wait.
impl Collector {
    /// Units to copy for each host unit, in thousandths.
    #[inline]
    pub(crate) fn pace_milli(&self, mover: &Mover) -> i64 {
        if !mover.is_working() {
            return 0;
        }
        let space = if mover.is_active() {
            self.cost_milli
        } else {
            0
        };
        if self.is_settled() {
            space.max(1000)
        } else {
            space
        }
    }

    /// The host waits for the end of collection, as the policy says.
    #[inline]
    pub(crate) fn stops_host(&self) -> bool {
        self.stops_host
    }

    /// The host waits now, because a victim is worth it.
    #[inline]
    pub(crate) fn stops_the_world(&self, mover: &Mover) -> bool {
        self.stops_host && mover.is_active() && self.worthy
    }

    /// Notes whether a victim was worth stopping the host for.
    pub(crate) fn set_worthy(&mut self, worthy: bool) {
        self.worthy = worthy;
    }

    /// The host waits until collection ends.
    #[inline]
    pub(crate) fn halts_host(&self) -> bool {
        self.halts_host
    }

    /// Stops the host, or lets it go on.
    #[inline]
    pub(crate) fn halt_host(&mut self, halts: bool) {
        self.halts_host = halts;
    }

    /// From here on no write of the host waits for what collection copies.
    pub(crate) fn charge_nothing(&mut self) {
        self.cost_milli = 0;
    }
}

/// Which superblock is next.
impl Collector {
    /// Enough granules have been begun since the last search that was in vain.
    pub(crate) fn may_search(&self, sequence: u64) -> bool {
        sequence >= self.search_again
    }

    /// No victim was worth its copies at this sequence number.
    pub(crate) fn search_later(&mut self, sequence: u64, layout: &Layout) {
        self.search_again = sequence + SEARCH_AGAIN_GRANULES * u64::from(layout.dies);
    }

    /// The next victim of a pool in the order of the policy; none where each is full of valid data.
    /// `units` are those of a superblock, `now` those that the host has written.
    pub(crate) fn choose(
        &mut self,
        pool: usize,
        order: &mut impl VictimOrder,
        blocks: &mut Blocks,
        (units, now): (u32, u64),
    ) -> Option<u32> {
        let mut among = blocks.candidates(pool, units, now)?;
        let emptiest = among.emptiest();
        let chosen = if self.full_in_turn[pool] >= order.most_full_in_turn() {
            emptiest
        } else {
            let chosen = order.choose(&mut among, &mut self.chance);
            chosen.unwrap_or(emptiest)
        };
        (blocks[emptiest].valid < units).then_some(chosen)
    }

    /// The share of the last victims' units that was invalid when they were chosen, in thousandths.
    pub(crate) fn freed_milli(&self) -> u64 {
        let (valid, freed) = self.recent;
        freed * 1000 / (valid + freed).max(1)
    }

    /// Notes a victim and sets what its copies cost. Where the order always takes the emptiest
    /// superblock (`each`), the host pays what this victim costs. Where victims come as they come,
    /// it pays the mean of the last ones: a single victim with nothing to gain would cost
    /// more than a host can pay at once.
    pub(crate) fn chosen(&mut self, each: bool, pool: usize, valid: u32, units: u32) {
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
