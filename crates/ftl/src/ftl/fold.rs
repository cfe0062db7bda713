//! Folding moves data from SLC-mode superblocks to native ones, oldest superblock first, and then
//! from those of the cache's second tier.
//!
//! When: in the background (in idle time that the drive offers, or while few superblocks are free),
//! at no more than a rate if the spec gives one; under pressure, an amount for each byte that the
//! host writes; on demand, while the host waits for a superblock. A page is readable at every
//! instant: the old copy becomes invalid only once the new one is placed, and the superblock is
//! erased only once that copy is programmed.
//!
//! How: over the channel through the controller, or inside the die (copyback) if whole wordlines
//! are valid and the destination is the beginning of a granule on the same die. There is no
//! copyback with parity: parity is computed in the controller, and the die that holds it changes
//! from stripe to stripe in another order in SLC mode than in native mode. Nor is there any from
//! the second tier, or with compression, where moved data is packed anew. Copyback does not correct
//! bit errors, so firmware reads out and checks a wordline now and then. If it finds too many
//! errors, the rest of the superblock goes through the controller.

use super::Ftl;
use crate::layout::{Mode, NONE};
use crate::mover::Work;
use crate::op::{NandOp, Token, class};
use crate::orders::Policies;
use crate::streams::Stream;
use crate::write_buffer::Flight;

impl<P: Policies> Ftl<P> {
    /// Whether folding in the background has work and a rate: then the drive grants it units by
    /// [`Ftl::allow`] as time goes by, since the firmware has no clock. While nothing can be folded
    /// a grant that is left stays good: the next one is wanted once a source is found.
    #[must_use]
    pub fn wants_allowance(&self) -> bool {
        self.cache.wants_allowance(&self.seen())
    }

    /// Offers idle time for folding, or ends the offer: what it has freed until then takes data.
    pub(super) fn offer_fold(&mut self, idle: bool) {
        if self.movers[Work::Fold].is_idle() && !idle {
            let (cache, seen) = self.cache_and_seen();
            cache.end_idle(&seen);
        }
        self.movers[Work::Fold].offer(idle);
    }

    /// Whether folding has room in its open superblock, or may open another. The last free one is
    /// left to collection.
    pub(super) fn fold_can_write(&self) -> bool {
        self.writing[Stream::Fold].left() >= self.packing.row_most()
            || self.movers[Work::Fold].is_pledged()
            || self.available_to_movers() > self.kept_from(Work::Fold)
    }

    /// True if folding's source, the present or the next one, is borrowed by the cache and has no
    /// more valid units than any native victim. Each superblock is free once it is emptied, so the
    /// one with the fewest units to copy gains most.
    pub(super) fn folding_gains_more(&self) -> bool {
        let borrowed = match self.movers[Work::Fold].source() {
            NONE => self.blocks.oldest_borrowed(),
            source => Some(source).filter(|&s| !self.blocks[s].fixed),
        };
        let valid = |superblock: u32| self.blocks[superblock].valid;
        let least = (0..2).filter_map(|pool| self.blocks.emptiest(pool));
        let least = least.map(valid).min();
        borrowed.is_some_and(|s| least.is_none_or(|least| valid(s) <= least))
    }

    pub(super) fn pump_fold(&mut self, ops: &mut Vec<NandOp>) {
        self.cache.look_for_scarcity(self.blocks.free_count());
        if !self.cache.wants_fold(&self.seen()) {
            return;
        }
        while self.cache.wants_fold(&self.seen()) {
            if !self.movers[Work::Fold].is_working() && !self.next_fold_source(ops) {
                self.movers[Work::Fold].owe(0, 0);
                if self.movers[Work::Fold].waiting() && self.movers[Work::Fold].under_way() == 0 {
                    self.pad_through(Stream::Fold, ops);
                }
                return;
            }
            if self.movers[Work::Fold].cursor() >= self.source_units() {
                if !self.finish_source(Work::Fold, ops) {
                    return;
                }
            } else if self.try_copyback(ops) {
                // Copied inside the dies: the loop looks at the next group of wordlines.
            } else if self.may_read(Work::Fold) {
                self.read_row(Work::Fold, ops);
            } else {
                self.free_emptied(Work::Fold, ops);
                return;
            }
        }
    }

    /// Units that the source holds in its mode: it is of the first or of the second tier.
    fn source_units(&self) -> u32 {
        let mode = self.blocks[self.movers[Work::Fold].source()].mode;
        self.layout.units(mode)
    }

    /// Makes the superblock that the cache names the source.
    fn next_fold_source(&mut self, ops: &mut Vec<NandOp>) -> bool {
        self.erase_dead(ops);
        let (cache, seen) = self.cache_and_seen();
        let Some(superblock) = cache.next_source(&seen) else {
            return false;
        };
        self.blocks.leave_cache(superblock);
        self.start_source(Work::Fold, superblock);
        true
    }

    /// The superblock that folding turns into a free native one next, while it can; none while it
    /// folds one of the drive's own, which frees no native one. Folding and collection both free
    /// one with each source, so the source with fewer valid units gains more for each copied unit.
    pub(super) fn fold_for_space(&self) -> Option<u32> {
        let source = self.movers[Work::Fold].source();
        let folds_own = source != NONE && self.blocks[source].fixed;
        let can = !folds_own && self.fold_can_write();
        self.blocks.oldest_borrowed().filter(|_| can)
    }

    /// Folds the next group of rows by copyback: on each die as many SLC rows as a native wordline
    /// has pages, into one such wordline. False where not all of the group is valid, the
    /// destination is not at the beginning of a granule, or the spec or the flash does not allow
    /// it.
    fn try_copyback(&mut self, ops: &mut Vec<NandOp>) -> bool {
        let possible = self.layout.one_shot && !self.layout.parity && !self.compresses();
        let slc = self.blocks[self.movers[Work::Fold].source()].mode == Mode::Slc;
        let possible = possible && slc && self.cache.trusts_copies();
        let Some(checks) = self.cache.copyback().filter(|_| possible) else {
            return false;
        };
        let group = self.layout.row_units * self.layout.group_dies * self.layout.bits;
        let start = self.movers[Work::Fold].cursor();
        if !start.is_multiple_of(group) || start + group > self.layout.slc_units {
            return false;
        }
        let first = self.layout.base(self.movers[Work::Fold].source()) + start;
        let programming = self.writing.buffer.flying_of(Stream::Fold);
        let busy = self.movers[Work::Fold].reading() > 0
            || self.movers[Work::Fold].programs_enough(programming)
            || self.paged.holds();
        if busy || self.map.count_valid(first, group) != group {
            return false;
        }
        if start == 0 && self.writing[Stream::Fold].next > self.writing[Stream::Fold].begun {
            self.pad(Stream::Fold, ops);
        }
        if self.writing[Stream::Fold].next != self.writing[Stream::Fold].begun {
            return false;
        }
        let own_dies = self.layout.group_of(self.movers[Work::Fold].source());
        self.writing.switch_lane(Stream::Fold, own_dies);
        let s = self.writing[Stream::Fold];
        let left = s.end - s.next;
        if left < group && (left > 0 || !self.fold_may_open()) {
            return false;
        }
        let (every, cycles) = checks;
        if every > 0 && (start / group).is_multiple_of(every) {
            let block = &self.blocks[self.movers[Work::Fold].source()];
            if block.distrusted || block.slc_cycles >= cycles {
                // The check has read the data into the controller, so it goes on from there.
                self.cache.distrust();
                return false;
            }
            self.check_group(first, ops);
        }
        self.copy_group(first, ops);
        true
    }

    /// Reads the rows of a group out over the channel, each before its die copies it.
    fn check_group(&mut self, first: u32, ops: &mut Vec<NandOp>) {
        let row = self.layout.row_units;
        for index in 0..self.layout.group_dies * self.layout.bits {
            let ppn = first + index * row;
            let (die, class) = self.read_place(ppn);
            ops.push(NandOp::new(die, class, row as u16, Token::FoldCheck(ppn)));
        }
    }

    /// Whether folding may open a superblock in its current lane.
    fn fold_may_open(&self) -> bool {
        (self.movers[Work::Fold].is_pledged() || self.available_to_movers() > 1)
            && self.lane_has_free(Stream::Fold)
    }

    /// Issues one copyback a die for a group of fully valid rows.
    fn copy_group(&mut self, first: u32, ops: &mut Vec<NandOp>) {
        if self.writing[Stream::Fold].superblock == NONE {
            self.open(Stream::Fold);
        }
        let (dies, row) = (self.layout.group_dies, self.layout.row_units);
        for _ in 0..dies {
            let s = self.writing[Stream::Fold];
            let die = self.layout.place(Mode::Native, s.superblock, s.next).0;
            let within = die - self.layout.dies_of(s.superblock).start;
            let place = self.writing.buffer.launch(Flight {
                begun: false,
                first: self.layout.base(s.superblock) + s.next,
                units: s.granule,
                superblock: s.superblock,
                host_units: 0,
                moved: 0,
                stream: Stream::Fold,
                sequence: self.writing.sequence(),
                host_sequence: self.writing.sequence(),
                source: first + within * row,
                die: 0,
                stripe: 0,
            });
            self.blocks[s.superblock].in_flight += 1;
            self.movers[Work::Fold].begin_copy();
            self.movers[Work::Fold].deal(s.granule);
            let token = Token::Copyback(place);
            ops.push(NandOp::new(die as u16, class::COPYBACK, 0, token));
            self.skip_granule(Stream::Fold, ops);
        }
        self.movers[Work::Fold].pass(dies * row * self.layout.bits);
        self.cache.spend_allowance(dies * row * self.layout.bits);
    }

    /// A copyback has ended: what is still valid of its source rows now lives in the new place.
    pub(super) fn copied_back(&mut self, place: u32, ops: &mut Vec<NandOp>) {
        if self.health.may_fail() && self.program_fails(place) {
            self.copyback_failed(place, ops);
            return;
        }
        let flight = *self.writing.buffer.flight(place);
        let (row, stride) = (
            self.layout.row_units,
            self.layout.row_units * self.layout.group_dies,
        );
        let target = flight.superblock;
        let origin = self.layout.superblock_of(flight.source);
        let mut moved = 0;
        for page in 0..self.layout.bits {
            for unit in 0..row {
                let from = flight.source + page * stride + unit;
                if self.map.is_valid(from) {
                    let to = flight.first + page * row + unit;
                    self.map.clear_valid(from);
                    let lpn = self.map.logical[from as usize];
                    self.map.point(lpn, to, 1);
                    self.paged.entries_moved(&[lpn], &mut self.counters);
                    self.cuts.copied(&[lpn], to);
                    moved += 1;
                }
            }
        }
        self.blocks.lose_valid(&mut self.cache, origin, moved);
        self.blocks.gain_valid(&mut self.cache, target, moved);
        self.blocks.received(target, self.blocks.written(origin));
        self.count_programmed(Stream::Fold, self.layout.native_granule);
        self.movers[Work::Fold].end_copy();
        self.granule_landed(place, ops);
    }

    /// The source rows of a copyback under way, as ranges of physical units; for inspection.
    #[must_use]
    pub fn copyback_rows(&self, place: u32) -> Vec<std::ops::Range<u32>> {
        let first = self.writing.buffer.flight(place).source;
        let stride = self.layout.row_units * self.layout.group_dies;
        let row = |page| first + page * stride..first + page * stride + self.layout.row_units;
        (0..self.layout.bits).map(row).collect()
    }
}
