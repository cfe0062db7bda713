//! Wear levelling, and the moving of a whole superblock's data for a reason other than space.
//!
//! *Dynamic* levelling is the choice of the free superblock that is written next. It cannot reach a
//! superblock whose data never changes; *static* levelling does: when the most worn free superblock
//! is more than a threshold of cycles ahead of the least worn one whose data rests, that data is
//! moved there. It has a stream of its own ([`Stream::Levelled`]): among what collection moves it
//! would be moved again and again, and a stream that is shared opens a superblock when it happens
//! to, and not when a worn one is there. Where it stays open for long it is closed as it is
//! ([`crate::allocate`]). What has to be refreshed, and what lies in a failing superblock, is moved
//! by collection's own streams.
//!
//! Data rests while its superblock loses next to nothing of it, see [`Rest`]. Its age alone does
//! not say so: where all data is as likely to be overwritten, the oldest is too, and a superblock
//! that is behind the others catches up by itself.
//!
//! All of it goes through the mover of garbage collection, one superblock at a time, counted by its
//! own cause; it begins only while two superblocks are to spare, so that it never takes the place
//! that collection needs. It does not hold the host back by counted copies, as collection does; the
//! host waits where both need the same die.
//!
//! Wear is counted in native cycles: a cycle in SLC mode is worth rated native cycles over rated
//! SLC cycles of one.

use std::collections::VecDeque;

use flashtwin_nand::Part;

use crate::blocks::{Blocks, Pool, State, Superblock};
use crate::counters::Counters;
use crate::ensure::{Checked, ensure};
use crate::layout::{Layout, Mode, NONE};
use crate::packing::Packing;
use crate::policy::{self, Levelling};
use crate::streams::Stream;

/// How many causes there are.
pub(crate) const CAUSES: usize = 4;

/// Why a superblock's data is moved by the mover of collection; the order is that of the counters
/// in [`crate::mover::Mover::count_programmed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Cause {
    /// Its space is needed.
    Space,
    /// It is the least worn.
    Wear,
    /// Its data is at risk.
    Refresh,
    /// A block of it has failed.
    Failure,
}

/// Program/erase cycles that a block is rated for, by mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    slc: f64,
    native: f64,
    /// 1 without a second tier, which then has no cycles.
    tier: f64,
}

impl Rated {
    /// What the part is rated for.
    #[must_use]
    pub fn new(part: &Part) -> Rated {
        Rated {
            slc: f64::from(part.slc.endurance_cycles),
            native: f64::from(part.native.endurance_cycles),
            tier: part
                .tier
                .as_ref()
                .map_or(1.0, |tier| f64::from(tier.timing.endurance_cycles)),
        }
    }

    /// Cycles used over cycles rated, each mode's for itself: 1 is the end of the rated life.
    #[must_use]
    pub fn wear(&self, slc_cycles: u64, native_cycles: u64, tier_cycles: u64) -> f64 {
        let (slc, native) = (slc_cycles as f64, native_cycles as f64);
        slc / self.slc + native / self.native + tier_cycles as f64 / self.tier
    }

    /// What one cycle in a mode takes of the rated life.
    #[must_use]
    pub fn cycle_in(&self, mode: Mode) -> f64 {
        match mode {
            Mode::Slc => 1.0 / self.slc,
            Mode::Native => 1.0 / self.native,
            Mode::Tier => 1.0 / self.tier,
        }
    }

    /// As much of the rated life in a mode as so many native cycles take of theirs, rounded up.
    pub(crate) fn cycles_instead(&self, native_cycles: u32, mode: Mode) -> u32 {
        let rated = match mode {
            Mode::Slc => self.slc,
            Mode::Native => self.native,
            Mode::Tier => self.tier,
        };
        let (rated, native) = (rated as u64, self.native as u64);
        let cycles = (u64::from(native_cycles) * rated).div_ceil(native);
        u32::try_from(cycles).unwrap_or(u32::MAX >> 1)
    }

    /// The wear of one superblock.
    #[must_use]
    pub fn wear_of(&self, block: &Superblock) -> f64 {
        self.wear(
            block.slc_cycles.into(),
            block.native_cycles.into(),
            block.tier_cycles.into(),
        )
    }

    /// The wear of one superblock in native cycles.
    #[must_use]
    pub fn cycles_of(&self, block: &Superblock) -> f64 {
        self.wear_of(block) * self.native
    }
}

/// Data has not been at rest for long enough before the host has written so many times what the
/// drive holds: in one time a host that writes everything in turn has been everywhere.
const REST_CAPACITIES: u64 = 2;
/// Data rests when it is overwritten so many times more slowly than evenly spread writes would.
const REST_SLOWNESS: u64 = 16;

/// Which superblocks hold data that rests. While the host writes some share of what the drive
/// holds, writes that are spread evenly overwrite the same share of each superblock. One rests when
/// it has lost at most a sixteenth of that since it was filled, and the host has written at least
/// twice what the drive holds since then. What levelling has moved had rested for so long before.
pub(crate) struct Rest<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) packing: &'a Packing,
    /// Units that the host has written.
    pub(crate) now: u64,
    /// Units that the drive holds.
    pub(crate) capacity: u64,
}

impl Rest<'_> {
    fn has(&self, blocks: &Blocks, superblock: u32) -> bool {
        let block = &blocks[superblock];
        let enough = REST_CAPACITIES * self.capacity;
        let before = match block.filled_by {
            Stream::Levelled => enough,
            _ => 0,
        };
        let filled = block.opened_at.max(blocks.written(superblock));
        let watched = before + (self.now - filled.min(self.now));
        let units = self.packing.units_in(self.layout, superblock);
        let lost = u128::from(units.saturating_sub(block.valid));
        let slowly = lost * u128::from(self.capacity * REST_SLOWNESS);
        watched >= enough && slowly <= u128::from(units) * u128::from(watched)
    }
}

/// What is to be moved, and what wear is measured against. It is handed the superblocks that it
/// chooses among and marks, and knows nothing else of the firmware.
pub(crate) struct Wear {
    rated: Rated,
    dynamic: Levelling,
    /// Cycles that the least worn superblock may be behind; 0 = it is never moved.
    static_threshold: u32,
    /// Whether something is to be moved or has just been moved. It is stored, so that a look costs
    /// one comparison.
    busy: bool,
    /// The superblock that is being levelled, from the decision to its erase.
    levelled: u32,
    queue: VecDeque<(u32, Cause)>,
}

flashtwin_base::state! { Wear {
    kept: busy, levelled, queue;
    built: rated, dynamic, static_threshold;
} }

impl Wear {
    pub(crate) fn new(part: &Part, policy: &policy::Wear) -> Wear {
        Wear {
            rated: Rated::new(part),
            dynamic: policy.dynamic,
            static_threshold: policy.static_threshold,
            busy: false,
            levelled: NONE,
            queue: VecDeque::new(),
        }
    }

    /// Nothing holds data any more.
    pub(crate) fn forget(&mut self) {
        self.busy = false;
        self.levelled = NONE;
        self.queue.clear();
    }

    /// A superblock is retired, so it is no longer to be levelled.
    pub(crate) fn spare(&mut self, superblock: u32) {
        if self.levelled == superblock {
            self.levelled = NONE;
        }
    }

    /// A superblock that was to be moved has been emptied, by whatever work. What it holds next is
    /// no reason to move it.
    pub(crate) fn moved(&mut self, superblock: u32) {
        self.queue.retain(|&(waiting, _)| waiting != superblock);
    }

    /// Something is to be moved, or has just been moved.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy
    }

    /// What was being moved has been looked at: more is to be moved, or nothing is.
    pub(crate) fn look_on(&mut self) {
        self.busy = !self.queue.is_empty();
    }

    /// What wear is measured against.
    pub(crate) fn rated(&self) -> Rated {
        self.rated
    }

    /// Superblocks that wait to be moved.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Least and greatest wear of the superblocks in use, as shares of the rated life.
    pub(crate) fn range(&self, all: &[Superblock]) -> (f64, f64) {
        let used = all.iter().filter(|b| b.state != State::Retired);
        used.map(|b| self.rated.wear_of(b))
            .fold(None, |range: Option<(f64, f64)>, wear| {
                let (low, high) = range.unwrap_or((wear, wear));
                Some((low.min(wear), high.max(wear)))
            })
            .unwrap_or((0.0, 0.0))
    }

    /// Whether a superblock has used up the cycles that SLC mode is rated for.
    pub(crate) fn is_worn_in_slc(&self, block: &Superblock) -> bool {
        self.rated.wear(block.slc_cycles.into(), 0, 0) >= 1.0
    }

    /// The share that is left of the rated cycles of the static cache's superblocks; those that
    /// were given up have none. 0 without a static part.
    pub(crate) fn static_budget(&self, blocks: &Blocks) -> f64 {
        let own = blocks.all().iter().filter(|b| b.fixed);
        let (mut count, mut sum) = (0.0, 0.0);
        for left in own.map(|b| match b.state {
            State::Retired => 0.0,
            _ => (1.0 - self.rated.wear(b.slc_cycles.into(), 0, 0)).max(0.0),
        }) {
            count += 1.0;
            sum += left;
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// The mean wear of so many superblocks, as a share of the rated life.
    pub(crate) fn mean(&self, counters: &Counters, superblocks: u32) -> f64 {
        let c = counters;
        let sum = self
            .rated
            .wear(c.slc_erases, c.native_erases, c.tier_erases);
        sum / f64::from(superblocks)
    }

    /// Takes a free superblock of a die group for a stream, by the policy of dynamic levelling.
    /// Data that rests goes where the cells are most worn.
    pub(crate) fn take_free(
        &self,
        blocks: &mut Blocks,
        layout: &Layout,
        (stream, group): (Stream, u32),
    ) -> Option<u32> {
        let free = blocks.free().iter().enumerate();
        let mut free = free.filter(|&(_, &s)| layout.group_of(s) == group);
        let wear = free.clone().map(|(at, &s)| (at, self.cycles(blocks, s)));
        let at = if stream == Stream::Levelled {
            wear.max_by(|a, b| a.1.total_cmp(&b.1))?.0
        } else {
            match self.dynamic {
                Levelling::Fifo => free.next()?.0,
                Levelling::None => free.next_back()?.0,
                Levelling::LeastWorn => wear.min_by(|a, b| a.1.total_cmp(&b.1))?.0,
            }
        };
        blocks.take_free_at(at)
    }

    /// Takes the stale superblock that is to be erased first, of those that are `wanted`: the one
    /// that dynamic levelling would fill first.
    pub(crate) fn take_stale(
        &self,
        blocks: &mut Blocks,
        wanted: impl Fn(&Superblock) -> bool,
    ) -> Option<u32> {
        let stale = blocks.stale().iter().copied().enumerate();
        let mut stale = stale.filter(|&(_, s)| wanted(&blocks[s]));
        let at = match self.dynamic {
            Levelling::Fifo => stale.next(),
            Levelling::None => stale.last(),
            Levelling::LeastWorn => {
                let wear = stale.map(|found| (found, self.cycles(blocks, found.1)));
                let least = wear.min_by(|a, b| a.1.total_cmp(&b.1));
                least.map(|(found, _)| found)
            }
        };
        let (at, _) = at?;
        blocks.take_stale_at(at)
    }

    /// The most worn free superblock.
    pub(crate) fn most_worn(&self, blocks: &Blocks) -> Option<u32> {
        let free = blocks.free().iter().map(|&s| (s, self.cycles(blocks, s)));
        Some(free.max_by(|a, b| a.1.total_cmp(&b.1))?.0)
    }

    /// The wear of a superblock in native cycles.
    fn cycles(&self, blocks: &Blocks, superblock: u32) -> f64 {
        self.rated.cycles_of(&blocks[superblock])
    }

    /// Notes that a superblock's data has to be moved; false when it was noted before.
    pub(crate) fn relocate(&mut self, blocks: &mut Blocks, superblock: u32, cause: Cause) -> bool {
        let block = &mut blocks[superblock];
        if block.marked {
            return false;
        }
        block.marked = true;
        self.queue.push_back((superblock, cause));
        self.busy = true;
        true
    }

    /// The next superblock to be moved, which leaves the queue.
    pub(crate) fn next(&mut self, blocks: &mut Blocks) -> Option<(u32, Cause)> {
        let mut at = 0;
        while let Some(&(superblock, cause)) = self.queue.get(at) {
            let block = &mut blocks[superblock];
            let holds = block.state == State::Closed && block.valid > 0;
            if holds && block.in_flight > 0 {
                at += 1;
                continue;
            }
            self.queue.remove(at);
            if holds {
                blocks.leave_cache(superblock);
                return Some((superblock, cause));
            }
            // Other work has emptied it. The mark goes with its erase, where that has not been done
            // yet.
            block.marked = block.state != State::Free;
            self.spare(superblock);
        }
        None
    }

    /// A superblock has been erased: where wear is spread too far, the data of the least worn
    /// superblock whose data rests is to be moved. The erase of a levelled superblock asks for no
    /// further move: there is one for each superblock that other work has erased.
    pub(crate) fn level(
        &mut self,
        blocks: &mut Blocks,
        (erased, starved): (u32, bool),
        rest: &Rest<'_>,
    ) {
        if self.static_threshold == 0 {
            return;
        }
        let busy = self.levelled != NONE;
        self.spare(erased);
        if busy {
            return;
        }
        // While the host waits for superblocks its need goes first, until the spread is twice the
        // threshold.
        let most_apart = f64::from(self.static_threshold) * if starved { 2.0 } else { 1.0 };
        let most = self.most_worn(blocks);
        let most = most.map_or(0.0, |s| self.cycles(blocks, s));
        let mut least = (f64::INFINITY, NONE);
        for (superblock, block) in (0..).zip(blocks.all()) {
            let holds = block.state == State::Closed && block.pool == Pool::Data && !block.marked;
            let cycles = self.cycles(blocks, superblock);
            if holds && cycles < least.0 && rest.has(blocks, superblock) {
                least = (cycles, superblock);
            }
        }
        if least.1 != NONE && most - least.0 > most_apart {
            self.levelled = least.1;
            self.relocate(blocks, least.1, Cause::Wear);
        }
    }

    /// Checks that each superblock in the queue is marked, and is in it once.
    pub(crate) fn check(&self, all: &[Superblock]) -> Checked {
        for (place, &(superblock, _)) in self.queue.iter().enumerate() {
            let later = self.queue.iter().skip(place + 1);
            let again = later.into_iter().any(|&(s, _)| s == superblock);
            ensure!(
                all[superblock as usize].marked && !again,
                "superblock {superblock} waits to be moved"
            );
        }
        Ok(())
    }
}
