//! Whether a state that was read from a file can be a state of this firmware: every index lies in
//! its table, no number is large enough to overflow a sum, and the invariants of [`crate::check`]
//! hold. Each number is checked before it is used, so that no file makes this panic.

use crate::blocks::State;
use crate::check::{Checked, ensure};
use crate::counters::Counters;
use crate::ftl::Ftl;
use crate::layout::{Layout, Mode, NONE};
use crate::op::Token;
use crate::orders::Policies;
use crate::streams::Stream;

/// Counts and times of a drive's life stay below this, so that sums of them cannot overflow.
pub(crate) const LIFETIME: u64 = 1 << 56;

/// What the numbers of a drive may be.
pub(crate) struct Bounds {
    pub(crate) superblocks: u32,
    /// Units of a superblock, and of all.
    pub(crate) units: u32,
    pub(crate) physical: u32,
    /// Logical units, pages of the map included.
    pub(crate) mapped: u32,
    pub(crate) dies: u32,
    pub(crate) groups: u32,
    /// Places in the list of granules in flight.
    pub(crate) flights: u32,
}

impl Bounds {
    /// Every one of some numbers is below a bound.
    pub(crate) fn below<'a>(
        what: &str,
        bound: u32,
        all: impl IntoIterator<Item = &'a u32>,
    ) -> Checked {
        match all.into_iter().find(|&&one| one >= bound) {
            Some(one) => Err(format!("{what}: {one} of {bound}")),
            None => Ok(()),
        }
    }

    /// The same, and there may be none.
    pub(crate) fn below_or_none<'a>(
        what: &str,
        bound: u32,
        all: impl IntoIterator<Item = &'a u32>,
    ) -> Checked {
        Bounds::below(what, bound, all.into_iter().filter(|&&one| one != NONE))
    }

    /// Superblocks, each at most once.
    pub(crate) fn distinct<'a>(
        &self,
        what: &str,
        all: impl IntoIterator<Item = &'a u32>,
    ) -> Checked {
        let mut seen = vec![false; self.superblocks as usize];
        for &one in all {
            ensure!(one < self.superblocks, "{what}: superblock {one}");
            let twice = std::mem::replace(&mut seen[one as usize], true);
            ensure!(!twice, "{what}: superblock {one} twice");
        }
        Ok(())
    }

    /// A run of logical units.
    pub(crate) fn run(&self, what: &str, lpn: u32, units: u32) -> Checked {
        let end = lpn.checked_add(units);
        let inside = end.is_some_and(|end| end <= self.mapped);
        ensure!(inside, "{what}: {units} units from {lpn}");
        Ok(())
    }
}

impl Layout {
    fn bounds(&self, mapped: u32, flights: usize) -> Bounds {
        Bounds {
            superblocks: self.superblocks,
            units: self.native_units,
            physical: self.physical_units(),
            mapped,
            dies: self.dies,
            groups: self.groups,
            flights: flights as u32,
        }
    }
}

impl Counters {
    fn audit(&self) -> Checked {
        let small = |units: u64| units < LIFETIME;
        let causes = self.by_cause().into_iter().all(|(_, units)| small(units));
        let c = self;
        let others = [
            c.host_units,
            c.coalesced_units,
            c.dropped_units,
            c.lost_units,
            c.saved_units,
            c.bare_units,
            c.slc_mode_units,
            c.second_pass_units,
            c.gc_victims,
            c.map_written,
            c.map_moved,
            c.map_reads,
            c.map_hits,
            c.map_host_hits,
            c.map_misses,
            c.slc_erases,
            c.native_erases,
            c.tier_erases,
        ];
        ensure!(causes && others.into_iter().all(small), "counters: {c:?}");
        let programmed: u64 = c.by_cause().iter().map(|&(_, units)| units).sum();
        let saved = programmed.checked_sub(c.saved_units);
        let data = saved.and_then(|units| units.checked_sub(c.parity_units + c.journal_units));
        ensure!(data.is_some(), "more was saved than programmed: {c:?}");
        Ok(())
    }
}

impl<P: Policies> Ftl<P> {
    /// Why this cannot be a state of this firmware with no host command outstanding. Costs a pass
    /// over all tables.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn audit(&self) -> Result<(), String> {
        let b = self
            .layout
            .bounds(self.mapped_units(), self.writing.buffer.flights.len());
        self.counters.audit()?;
        let sequence = self.writing.sequence;
        ensure!(sequence < LIFETIME, "granules begun: {sequence}");
        Bounds::below_or_none("map", b.physical, &self.map.physical)?;
        self.audit_blocks(&b)?;
        self.audit_streams(&b)?;
        self.writing.lanes.audit(&b)?;
        self.writing.buffer.audit(&b)?;
        self.writing.passes.audit(&b)?;
        self.blocks.victims.audit(&b)?;
        self.packing.audit(&b)?;
        for mover in [&self.cache.fold, &self.collection.mover] {
            mover.audit(&b)?;
        }
        self.wear.audit(&b)?;
        self.health.audit(&b)?;
        self.collection.memory.audit()?;
        self.cache.audit(&b)?;
        self.paged.audit(&b)?;
        self.cuts.audit(&b)?;
        self.checked()
    }

    /// Whether an operation can have this token: what the token names exists.
    #[must_use]
    pub fn knows(&self, token: Token) -> bool {
        let flights = &self.writing.buffer.flights;
        match token {
            Token::Host(_) | Token::Rebuild(_) => false,
            Token::Program(place) | Token::FirstPass(place) | Token::Copyback(place) => flights
                .get(place as usize)
                .is_some_and(|flight| flight.first != NONE),
            Token::FoldRead(row)
            | Token::GcRead(row)
            | Token::MapGcRead(row)
            | Token::FoldCheck(row) => row < self.layout.physical_units(),
            Token::MapRead(slot) => slot < self.map_slots(),
            Token::MapUpdate(page) => page < self.paged.pages(),
            // Checkpoints are written, and wear the flash, with power cuts switched off too.
            Token::Checkpoint => self.cuts.writes_checkpoint(),
            Token::Journal(low) => self.cuts.writes_trims(low),
            Token::SystemErase => true,
            Token::Erase(superblock) => {
                let block = self.blocks.all.get(superblock as usize);
                block.is_some_and(|b| b.state == State::Erasing && b.erases_left > 0)
            }
        }
    }

    fn audit_blocks(&self, b: &Bounds) -> Checked {
        for (index, block) in self.blocks.all.iter().enumerate() {
            let units = block.valid.max(block.written);
            ensure!(units <= b.units, "superblock {index} holds {units} units");
            let known = block.mode != Mode::Tier || self.layout.tier_bits > 0;
            ensure!(
                known,
                "superblock {index} is in a mode that the part has not"
            );
            let dies = block.erases_left;
            ensure!(
                dies <= b.dies,
                "superblock {index} is erased on {dies} dies"
            );
            let flights = block.in_flight;
            ensure!(
                flights <= b.flights,
                "superblock {index}: {flights} in flight"
            );
            let cycles = block
                .slc_cycles
                .max(block.native_cycles)
                .max(block.tier_cycles);
            ensure!(cycles < 1 << 30, "superblock {index}: {cycles} cycles");
        }
        let q = &self.blocks;
        let free = q.free.iter().chain(&q.free_fixed).chain(&q.free_map);
        b.distinct("free", free)?;
        let queues = [
            ("half", &q.half),
            ("cache", &q.cache),
            ("tier", &q.tier),
            ("stale", &q.stale),
        ];
        queues
            .into_iter()
            .try_for_each(|(name, queue)| b.distinct(name, queue))
    }

    fn audit_streams(&self, b: &Bounds) -> Checked {
        for (stream, s) in Stream::ALL.into_iter().zip(&self.writing.streams) {
            Bounds::below_or_none("stream", b.superblocks, [&s.superblock])?;
            Bounds::below("lane", b.groups, [&s.lane])?;
            let ordered = s.begun <= s.next && s.next <= s.end && s.end <= b.units;
            ensure!(ordered && s.stop <= b.units, "stream {stream:?}: {s:?}");
            let few = s.used.max(s.held).max(s.grains) <= b.units * 8;
            ensure!(few && s.parked <= b.physical, "stream {stream:?}: {s:?}");
            ensure!(
                s.moved <= s.waiting(),
                "stream {stream:?} moves {}",
                s.moved
            );
            ensure!(
                s.sequence <= self.writing.sequence,
                "stream {stream:?}: {}",
                s.sequence
            );
            let closed = s.superblock != NONE || s.next == s.end;
            ensure!(closed, "stream {stream:?} has room nowhere");
        }
        self.writing.buffer.awaited.audit()?;
        Ok(())
    }
}
