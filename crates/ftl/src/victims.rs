//! The superblocks that may be collected, in the orders that the policies ask for: by valid units,
//! by age, and in no order at all.
//!
//! Each is found without a pass over the drive. By valid units there is a list for each step of a
//! thousandth of a superblock or so; a superblock changes lists only when its count crosses a
//! step, so that most overwrites cost one comparison, and the fewest of all is in the first list
//! that is not empty. By age there is one list in the order of closing. For a random one there is
//! an array without gaps.
//!
//! The order of the cost-benefit policy changes as time goes by, but of two candidates with equally
//! many valid units the older one is always worth more. So for each step there is a heap by age
//! (from the first choice of that policy on: the others need none), and a choice looks at its top
//! and at what could be worth as much by the bounds of the step.
//!
//! Invariant: a superblock is in here while it is closed and serves native data, and stands where
//! its valid count belongs (`Ftl::check`).
//!
//! Two pools (hot and cold) are kept apart where the host tells them apart; else all is in one.

use std::cmp::Ordering;

use flashtwin_base::rng::Rng;

use crate::ensure::{Checked, ensure, ensure_eq, ensure_ne};
use crate::heaps::Heaps;
use crate::lists::Lists;
use crate::superblock::{State, Superblock};
use crate::words::NONE;

/// Pool of hot data, and of all data where it is not divided.
pub(crate) const HOT_POOL: usize = 0;
/// Pool of cold data.
pub(crate) const COLD_POOL: usize = 1;

/// Steps of valid units that are told apart, at most.
const STEPS: u32 = 1024;
/// Pools that are collected by themselves.
pub(crate) const POOLS: usize = 2;
/// In place of a pool: the superblock is free, given up, or left behind by a crypto erase.
const NOBODYS: u8 = POOLS as u8;
/// Draws before a random choice gives up: closed superblocks whose last programs still run are few.
const DRAWS: u32 = 16;

/// The candidates of one pool, sorted in each of the ways that orders of collection ask for.
#[derive(Clone, Debug)]
struct Sorted {
    by_valid: Lists,
    /// A bit for each list of `by_valid` that is not empty.
    filled: Vec<u64>,
    by_age: Lists,
    members: Vec<u32>,
    /// By step, and in each by what [`Victims::written`] was when the candidate came into it: it
    /// is not less now. None before a choice by cost and benefit; made anew after a load.
    by_benefit: Option<Heaps>,
}

flashtwin_base::state! { Sorted {
    kept: members;
    sized: filled;
    part: by_valid, by_age;
    built: by_benefit;
} }

/// All candidates, and what the policies know of each superblock.
#[derive(Clone, Debug)]
pub struct Victims {
    pools: [Sorted; POOLS],
    /// Units of a step of valid counts, as a power of two.
    shift: u32,
    /// Place of a candidate among its pool's members.
    seats: Vec<u32>,
    /// Pool that a superblock belongs to while it is not free, or else [`NOBODYS`].
    pool: Vec<u8>,
    /// Superblocks of each pool that are not free.
    used: [u32; POOLS],
    /// Host units written when the youngest data of a superblock came from the host.
    written: Vec<u64>,
}

flashtwin_base::state! { Victims {
    kept: used;
    sized: seats, pool, written;
    part: pools;
    built: shift;
} }

/// The candidates of one pool, as an order of collection sees them. They are given by the numbers
/// of their superblocks. A superblock is ready once its last programs have ended; only ready ones
/// may be collected, and only those are shown.
pub struct Candidates<'a> {
    pub(crate) victims: &'a mut Victims,
    pub(crate) pool: usize,
    pub(crate) all: &'a [Superblock],
    pub(crate) emptiest: u32,
    /// Units that a superblock holds.
    pub(crate) units: u32,
    /// Units that the host has written.
    pub(crate) now: u64,
}

impl Candidates<'_> {
    /// The one with the fewest valid units, the first one of equals.
    #[inline]
    #[must_use]
    pub fn emptiest(&self) -> u32 {
        self.emptiest
    }

    /// The one that was closed first.
    #[must_use]
    pub fn oldest(&self) -> Option<u32> {
        self.by_age().next()
    }

    /// All of them, the one that was closed first at the beginning.
    pub fn by_age(&self) -> impl Iterator<Item = u32> + '_ {
        self.victims.by_age(self.pool, self.all)
    }

    /// Any of them, each as likely as the others; none where draws met only superblocks that are
    /// not ready.
    pub fn any(&self, chance: &mut Rng) -> Option<u32> {
        self.victims.any(self.pool, self.all, chance)
    }

    /// The one with the most benefit for its cost, `(1 − u) / 2u × age` (see
    /// [`CostBenefit`](crate::orders::CostBenefit)). Found without a look at all of them.
    pub fn worthiest(&mut self) -> Option<u32> {
        self.victims
            .worthiest(self.pool, self.units, self.now, self.all)
    }

    /// Valid units of a superblock.
    #[inline]
    #[must_use]
    pub fn valid(&self, superblock: u32) -> u32 {
        self.all[superblock as usize].valid
    }

    /// Units that a superblock holds.
    #[must_use]
    pub fn units(&self) -> u32 {
        self.units
    }

    /// Units that the host had written when the youngest data of a superblock came from it.
    #[must_use]
    pub fn written(&self, superblock: u32) -> u64 {
        self.victims.written(superblock)
    }

    /// Units that the host has written.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }
}

/// A closed superblock whose programs have all ended.
fn is_ready(all: &[Superblock], superblock: u32) -> bool {
    all[superblock as usize].in_flight == 0
}

/// What collecting a superblock gains for what it costs: `(1 − u) / 2u × age` with u the share that
/// is valid and the age in host units since its youngest data was written (Kawaguchi, Nishioka and
/// Motoda 1995, after Rosenblum and Ousterhout 1992).
#[derive(Clone, Copy, Debug)]
struct Worth {
    benefit: u128,
    cost: u128,
}

impl Worth {
    /// Nothing.
    const NONE: Worth = Worth {
        benefit: 0,
        cost: 1,
    };

    fn new(units: u32, valid: u32, age: u64) -> Worth {
        Worth {
            benefit: u128::from(units.saturating_sub(valid)) * u128::from(age),
            cost: u128::from(2 * valid.max(1)),
        }
    }

    fn cmp(&self, other: &Worth) -> Ordering {
        (self.benefit * other.cost).cmp(&(other.benefit * self.cost))
    }
}

impl Sorted {
    fn new(steps: u32, superblocks: u32) -> Sorted {
        Sorted {
            by_valid: Lists::new(steps, superblocks),
            filled: vec![0; steps.div_ceil(64) as usize],
            by_age: Lists::new(1, superblocks),
            members: Vec::with_capacity(superblocks as usize),
            by_benefit: None,
        }
    }

    fn put(&mut self, step: u32, superblock: u32, written: u64) {
        self.by_valid.push(step, superblock);
        if let Some(heaps) = &mut self.by_benefit {
            heaps.push(step, written, superblock);
        }
        self.filled[(step >> 6) as usize] |= 1 << (step & 63);
    }

    fn take(&mut self, superblock: u32) {
        let step = self.by_valid.list_of(superblock);
        self.by_valid.remove(superblock);
        if let Some(heaps) = &mut self.by_benefit {
            heaps.remove(superblock);
        }
        if self.by_valid.is_empty(step) {
            self.filled[(step >> 6) as usize] &= !(1 << (step & 63));
        }
    }

    /// The heaps by age, made where there are none yet.
    fn heaps(&mut self, written: &[u64]) -> &Heaps {
        let (by_valid, members) = (&self.by_valid, &self.members);
        self.by_benefit.get_or_insert_with(|| {
            let mut heaps = Heaps::new(by_valid.lists(), written.len() as u32);
            for &member in members {
                heaps.push(by_valid.list_of(member), written[member as usize], member);
            }
            heaps
        })
    }

    /// The lists that are not empty, fewest valid units first.
    fn steps(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.filled).flat_map(|(word, &bits)| {
            let mut bits = bits;
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
                (bit < 64).then_some(word * 64 + bit)
            })
        })
    }
}

impl Victims {
    /// No candidates yet among `superblocks`, which hold up to `units` each.
    pub(crate) fn new(superblocks: u32, units: u32) -> Victims {
        let mut shift = 0;
        while units >> shift >= STEPS {
            shift += 1;
        }
        let pool = Sorted::new((units >> shift) + 1, superblocks);
        Victims {
            pools: [pool.clone(), pool],
            shift,
            seats: vec![NONE; superblocks as usize],
            pool: vec![NOBODYS; superblocks as usize],
            used: [0; POOLS],
            written: vec![0; superblocks as usize],
        }
    }

    /// Whether a superblock is a candidate.
    pub(crate) fn holds(&self, superblock: u32) -> bool {
        self.seats[superblock as usize] != NONE
    }

    /// The pool that a superblock belongs to, which is not free.
    pub(crate) fn pool_of(&self, superblock: u32) -> usize {
        usize::from(self.pool[superblock as usize])
    }

    /// A superblock is opened for a pool; what it holds is younger than anything else.
    pub(crate) fn opened(&mut self, superblock: u32, pool: usize, written: u64) {
        self.pool[superblock as usize] = pool as u8;
        self.used[pool] += 1;
        self.written[superblock as usize] = written;
    }

    /// A superblock is in use as it was `before` a power cut.
    pub(crate) fn keep(&mut self, superblock: u32, before: &Victims) {
        if before.pool[superblock as usize] != NOBODYS {
            let pool = before.pool_of(superblock);
            self.opened(superblock, pool, before.written(superblock));
        }
    }

    /// A superblock has been erased, or is given up.
    pub(crate) fn freed(&mut self, superblock: u32) {
        let pool = std::mem::replace(&mut self.pool[superblock as usize], NOBODYS);
        if pool != NOBODYS {
            self.used[usize::from(pool)] -= 1;
        }
    }

    /// Superblocks of a pool that are not free.
    pub(crate) fn used(&self, pool: usize) -> u32 {
        self.used[pool]
    }

    /// Host units written when the youngest data of a superblock came from the host.
    #[inline]
    pub(crate) fn written(&self, superblock: u32) -> u64 {
        self.written[superblock as usize]
    }

    /// Data that the host wrote at `written` has come to a superblock.
    #[inline]
    pub(crate) fn received(&mut self, superblock: u32, written: u64) {
        let youngest = &mut self.written[superblock as usize];
        *youngest = (*youngest).max(written);
    }

    /// A superblock has been closed: it may be collected.
    pub(crate) fn add(&mut self, superblock: u32, valid: u32) {
        let step = valid >> self.shift;
        let pool = &mut self.pools[usize::from(self.pool[superblock as usize])];
        pool.put(step, superblock, self.written[superblock as usize]);
        pool.by_age.push(0, superblock);
        self.seats[superblock as usize] = pool.members.len() as u32;
        pool.members.push(superblock);
    }

    /// A superblock is being collected or erased: it is no candidate any more.
    pub(crate) fn remove(&mut self, superblock: u32) {
        let seat = std::mem::replace(&mut self.seats[superblock as usize], NONE);
        assert_ne!(seat, NONE, "superblock {superblock} is no candidate");
        let pool = &mut self.pools[usize::from(self.pool[superblock as usize])];
        pool.take(superblock);
        pool.by_age.remove(superblock);
        pool.members.swap_remove(seat as usize);
        if let Some(&moved) = pool.members.get(seat as usize) {
            self.seats[moved as usize] = seat;
        }
    }

    /// Whether a change of a count crosses a step, so that [`Victims::restep`] has to be told.
    #[inline]
    pub(crate) fn crosses(&self, before: u32, after: u32) -> bool {
        (before ^ after) >> self.shift != 0
    }

    /// A candidate's valid count is another.
    pub(crate) fn restep(&mut self, superblock: u32, valid: u32) {
        let step = valid >> self.shift;
        let pool = &mut self.pools[usize::from(self.pool[superblock as usize])];
        pool.take(superblock);
        pool.put(step, superblock, self.written[superblock as usize]);
    }

    /// The ready candidate with the fewest valid units, the first one of equals.
    pub(crate) fn emptiest(&self, pool: usize, all: &[Superblock]) -> Option<u32> {
        let pool = &self.pools[pool];
        let fewest = |step| {
            let ready = pool.by_valid.members(step).filter(|&s| is_ready(all, s));
            ready.min_by_key(|&s| (all[s as usize].valid, s))
        };
        pool.steps().find_map(fewest)
    }

    /// True if a candidate with fewer than `units` valid units waits for programs under way.
    pub(crate) fn come(&self, units: u32, all: &[Superblock]) -> bool {
        let mut candidates = self.pools.iter().flat_map(|pool| &pool.members);
        candidates.any(|&s| !is_ready(all, s) && all[s as usize].valid < units)
    }

    /// The ready candidates, the one that was closed first at the beginning.
    fn by_age(&self, pool: usize, all: &[Superblock]) -> impl Iterator<Item = u32> {
        let members = self.pools[pool].by_age.members(0);
        members.filter(|&s| is_ready(all, s))
    }

    /// The ready candidate that was closed first.
    pub(crate) fn oldest(&self, pool: usize, all: &[Superblock]) -> Option<u32> {
        self.by_age(pool, all).next()
    }

    /// Any ready candidate, each as likely as the others.
    fn any(&self, pool: usize, all: &[Superblock], chance: &mut Rng) -> Option<u32> {
        let members = &self.pools[pool].members;
        let draw = |_| members.get(chance.below(members.len() as u64) as usize);
        (0..DRAWS)
            .filter_map(draw)
            .copied()
            .find(|&s| is_ready(all, s))
    }

    /// The ready candidate with the most benefit for its cost (see [`Worth`]), of equals the one
    /// with the first seat.
    fn worthiest(&mut self, pool: usize, units: u32, now: u64, all: &[Superblock]) -> Option<u32> {
        let (written, seats, shift) = (&self.written, &self.seats, self.shift);
        self.pools[pool].heaps(written);
        let pool = &self.pools[pool];
        let heaps = pool.by_benefit.as_ref()?;
        // An upper bound of the worth of those candidates of a step that are no older than the key.
        let bound = |step: u32, key: u64| Worth::new(units, step << shift, now - key + 1);
        let top = |step: u32| heaps.smallest(step).map(|key| bound(step, key));
        let (mut best, mut best_worth) = (NONE, Worth::NONE);
        let mut search = |step: u32| {
            heaps.walk(step, &mut |key, candidate| {
                if bound(step, key).cmp(&best_worth).is_lt() {
                    return false;
                }
                let (block, age) = (
                    &all[candidate as usize],
                    now - written[candidate as usize] + 1,
                );
                let worth = Worth::new(units, block.valid, age);
                let seat = |s: u32| seats[s as usize];
                let ahead = match worth.cmp(&best_worth) {
                    Ordering::Less => false,
                    Ordering::Equal => best != NONE && seat(candidate) < seat(best),
                    Ordering::Greater => true,
                };
                if ahead && is_ready(all, candidate) {
                    (best, best_worth) = (candidate, worth);
                }
                true
            });
        };
        // The step that promises most goes first: next to none of the others is looked into then.
        let mut promising = (None, Worth::NONE);
        for step in pool.steps() {
            let worth = top(step).unwrap_or(Worth::NONE);
            if worth.cmp(&promising.1).is_gt() {
                promising = (Some(step), worth);
            }
        }
        search(promising.0?);
        pool.steps()
            .filter(|&step| Some(step) != promising.0)
            .for_each(search);
        (best != NONE).then_some(best)
    }

    /// A superblock belongs to a pool while it is in use.
    pub(crate) fn check_pool(&self, superblock: u32, state: State) -> Checked {
        let nobodys = self.pool[superblock as usize] == NOBODYS;
        let known = match state {
            State::Free | State::Retired => nobodys,
            State::Open | State::Half | State::Closed | State::Source => !nobodys,
            State::Emptied | State::Erasing => true,
        };
        ensure!(known, "superblock {superblock} is {state:?} in a pool");
        Ok(())
    }

    /// Each pool has as many superblocks as say so.
    pub(crate) fn check_used(&self) -> Checked {
        for (pool, &used) in self.used.iter().enumerate() {
            let own = self.pool.iter().filter(|&&p| usize::from(p) == pool);
            ensure_eq!(own.count(), used as usize, "superblocks of pool {pool}");
        }
        Ok(())
    }

    /// Panics unless a superblock stands where it belongs; `valid` is none where it must not be a
    /// candidate.
    pub(crate) fn check(&self, superblock: u32, valid: Option<u32>) -> Checked {
        let Some(valid) = valid else {
            ensure!(!self.holds(superblock), "{superblock} is no candidate");
            return Ok(());
        };
        let seat = self.seats[superblock as usize];
        let pool = &self.pools[self.pool_of(superblock)];
        ensure_ne!(seat, NONE, "superblock {superblock} is not a candidate");
        ensure_eq!(
            pool.members[seat as usize],
            superblock,
            "a candidate's seat"
        );
        let step = pool.by_valid.list_of(superblock);
        ensure_eq!(step, valid >> self.shift, "step of superblock {superblock}");
        ensure!(pool.steps().any(|filled| filled == step), "step {step}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by a pass over all candidates.
    fn scanned(victims: &Victims, units: u32, now: u64, all: &[Superblock]) -> Option<u32> {
        let (mut best, mut best_worth) = (None, Worth::NONE);
        for &candidate in &victims.pools[0].members {
            let age = now - victims.written(candidate) + 1;
            let worth = Worth::new(units, all[candidate as usize].valid, age);
            if worth.cmp(&best_worth).is_gt() && is_ready(all, candidate) {
                (best, best_worth) = (Some(candidate), worth);
            }
        }
        best
    }

    /// A drive's life as its candidates see it.
    struct Life {
        victims: Victims,
        all: Vec<Superblock>,
        units: u32,
        now: u64,
        rng: Rng,
    }

    impl Life {
        fn new(superblocks: u32, units: u32) -> Life {
            Life {
                victims: Victims::new(superblocks, units),
                all: vec![Superblock::fresh(false); superblocks as usize],
                units,
                now: 0,
                rng: Rng::new(u64::from(superblocks), 0),
            }
        }

        /// A superblock is closed with data that is not younger than now.
        fn close(&mut self, superblock: u32) {
            let valid = self.units - self.rng.below(u64::from(self.units) / 4) as u32;
            let block = &mut self.all[superblock as usize];
            (block.valid, block.in_flight) = (valid, self.rng.below(4) as u32 / 3);
            // Coarse, so that candidates of equal age occur.
            let written = self.rng.below(self.now + 1) / 64 * 64;
            self.victims.opened(superblock, 0, written);
            self.victims.add(superblock, valid);
        }

        /// Units of a candidate are overwritten, a few or most.
        fn lose(&mut self, superblock: u32) {
            let block = &mut self.all[superblock as usize];
            let most = if self.rng.chance(5) {
                block.valid
            } else {
                block.valid.min(self.units / 64 + 1)
            };
            let before = block.valid;
            block.valid -= self.rng.below(u64::from(most) + 1) as u32;
            block.in_flight = 0;
            if self.victims.crosses(before, block.valid) {
                self.victims.restep(superblock, block.valid);
            }
        }

        fn step(&mut self) {
            self.now += self.rng.below(50);
            let superblock = self.rng.below(self.all.len() as u64) as u32;
            match self.victims.holds(superblock) {
                false => self.close(superblock),
                // Programs may end after the superblock has been closed.
                true if self.rng.chance(10) => self.victims.received(superblock, self.now),
                true => self.lose(superblock),
            }
        }

        fn worthiest(&mut self) -> Option<u32> {
            self.victims.worthiest(0, self.units, self.now, &self.all)
        }
    }

    #[test]
    fn the_worthiest_is_what_a_pass_over_all_finds() {
        for (superblocks, units) in [(1, 8), (30, 16), (200, 700), (200, 5_000), (60, 70_000)] {
            let mut life = Life::new(superblocks, units);
            for _ in 0..20_000 {
                life.step();
                let expected = scanned(&life.victims, units, life.now, &life.all);
                assert_eq!(
                    life.worthiest(),
                    expected,
                    "of {superblocks} at {}",
                    life.now
                );
                if let Some(victim) = expected.filter(|_| life.rng.chance(20)) {
                    life.victims.remove(victim);
                }
            }
        }
    }
}
