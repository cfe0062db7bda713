//! Folding moves data from SLC-mode superblocks to native ones, oldest superblock first, and then
//! from those of the cache's second tier.
//!
//! When: in the background (in idle time that the drive offers, or while few superblocks are free),
//! at no more than a rate if the spec gives one; under pressure, so much for each byte that the
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

use crate::blocks::Superblock;
use crate::ftl::Ftl;
use crate::layout::{Mode, NONE};
use crate::mover::Work;
use crate::op::{NandOp, Token, class};
use crate::orders::Policies;
use crate::streams::Stream;
use crate::write_buffer::Flight;

/// Folding keeps up with staged data as soon as no more than this many superblocks above the
/// reserve are free, and not only at the reserve. So a full drive is overwritten at a steady rate
/// and not in bursts between folds.
const NEAR_SUPERBLOCKS: u32 = 2;

impl<P: Policies> Ftl<P> {
    /// The host has written units: what folding and collection now have to move for them is added
    /// to the debt of each mover.
    #[inline]
    pub(crate) fn owe(&mut self, units: u32) {
        if self.cache.is_on() {
            self.cache.fold.owe(units, self.fold_pace_milli());
        }
        self.collection.mover.owe(units, self.collect_pace_milli());
    }

    /// Cache units to fold for each host unit, in thousandths: the larger of what data that passes
    /// through a full cache needs and what the number of free superblocks needs. The last closed
    /// superblock is folded no faster than the next one fills.
    #[inline]
    fn fold_pace_milli(&self) -> i64 {
        if self.blocks.nothing_cached() && self.cache.fold.source == NONE {
            return 0;
        }
        let pace = self.pressure_pace_milli();
        match (self.cache.bypass, self.cache.reclaiming) {
            (false, false) => pace,
            (true, false) => pace.max(self.cache.refill_milli()),
            (_, true) => pace.max(1000),
        }
    }

    /// The pace that the size of the cache and the free reserve ask for.
    #[inline]
    fn pressure_pace_milli(&self) -> i64 {
        let reserve = self.cache.reserve.max(self.policy.gc.low_superblocks);
        let free = self.blocks.free_count();
        let keep_up = self.cache.keeps_up_milli();
        let near = || self.cache.is_full(&self.seen()) || free < reserve + NEAR_SUPERBLOCKS;
        let keeps_up = keep_up > 0 && near();
        let pace = self.cache.pace_milli();
        match (keeps_up, free < reserve) {
            (_, true) if self.blocks.nothing_cached() => pace.min(1000),
            (true, true) => pace.max(keep_up),
            (true, false) => keep_up,
            (false, true) => pace,
            (false, false) => 0,
        }
    }

    /// Whether folding should go on now.
    #[inline]
    fn fold_wanted(&self) -> bool {
        self.folds_in_background() || self.cache.fold.is_behind() || self.writing.starved
    }

    /// Whether folding goes on in the background: idle time is offered or few superblocks are free,
    /// and its rate allows for more.
    #[inline]
    fn folds_in_background(&self) -> bool {
        (self.cache.fold.idle || self.cache.scarce)
            && self.cache.allowance.is_none_or(|left| left > 0)
    }

    /// Whether folding in the background has work and a rate: then the drive grants it units by
    /// [`Ftl::allow`] as time goes by, since the firmware has no clock. While nothing can be folded
    /// a grant that is left stays good: the next one is wanted once a source is found.
    #[must_use]
    pub fn wants_allowance(&self) -> bool {
        let folds = self.cache.fold.source != NONE;
        let work = folds || self.cache.fold.waiting() || !self.blocks.nothing_cached();
        let wanted = self.cache.allowance.is_some_and(|left| folds || left <= 0);
        work && wanted && (self.cache.fold.idle || self.cache.scarce)
    }

    /// Offers idle time for folding, or ends the offer: what it has freed until then takes data.
    pub(crate) fn offer_fold(&mut self, idle: bool) {
        if self.cache.fold.idle && !idle {
            let (cache, seen) = self.cache_and_seen();
            cache.bypass &= cache.openable(&seen) == 0;
        }
        self.cache.fold.idle = idle;
    }

    /// Grants folding in the background so many units. Units that were granted before and not used
    /// are not carried over; what was folded beyond them is taken off.
    pub fn allow(&mut self, units: u32, ops: &mut Vec<NandOp>) {
        if let Some(left) = &mut self.cache.allowance {
            *left = (*left).min(0) + i64::from(units);
        }
        self.pump(ops);
    }

    /// Units have been folded: they are taken off those that the background was granted.
    #[inline]
    pub(crate) fn spend_allowance(&mut self, units: u32) {
        if let Some(left) = &mut self.cache.allowance {
            *left = (*left - i64::from(units)).max(-i64::from(units));
        }
    }

    /// Whether folding has room in its open superblock, or may open another. The last free one is
    /// left to collection.
    #[inline]
    pub(crate) fn fold_can_write(&self) -> bool {
        self.writing.streams[Stream::Fold].left() >= self.packing.row_most()
            || self.cache.fold.pledged
            || self.available_to_movers() > self.kept_from(Work::Fold)
    }

    /// Whether the present source, or the next one, is one that the cache has borrowed.
    pub(crate) fn folds_borrowed(&self) -> bool {
        match self.cache.fold.source {
            NONE => self.oldest_borrowed().is_some(),
            source => !self.blocks.all[source as usize].fixed,
        }
    }

    pub(crate) fn pump_fold(&mut self, ops: &mut Vec<NandOp>) {
        self.cache.look_for_scarcity(self.blocks.free_count());
        if !self.fold_wanted() {
            return;
        }
        while self.fold_wanted() {
            if self.cache.fold.source == NONE && !self.next_fold_source(ops) {
                self.cache.fold.owe(0, 0);
                if self.cache.fold.waiting()
                    && self.cache.fold.outstanding + self.cache.fold.copying == 0
                {
                    self.pad_through(Stream::Fold, ops);
                }
                return;
            }
            if self.cache.fold.cursor >= self.source_units() {
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
    #[inline]
    fn source_units(&self) -> u32 {
        let mode = self.blocks.all[self.cache.fold.source as usize].mode;
        self.layout.units(mode)
    }

    /// Takes a closed cache superblock whose programs have all ended as source: the emptiest while
    /// there are some worth reclaiming, else the oldest; the second tier's after the first's. For
    /// a host that waits it is a borrowed one, which leaves a free native superblock.
    fn next_fold_source(&mut self, ops: &mut Vec<NandOp>) -> bool {
        self.erase_dead(ops);
        let seen = self.seen();
        let own = |at: &usize| self.blocks.all[self.blocks.cache[*at] as usize].fixed;
        let no_help = self.writing.starved && self.cache.bypass;
        let emptiest = self.cache.emptiest(&seen);
        let emptiest = emptiest.filter(|at| !(no_help && own(at)));
        let reclaiming = emptiest.is_some() && self.cache.reclaims_on(&seen);
        self.cache.reclaiming = reclaiming;
        let source = match emptiest {
            Some(at) => self.blocks.cache.get(at).copied(),
            None if self.writing.starved => {
                let borrowed = self.oldest_to_fold(|block| !block.fixed);
                borrowed.or_else(|| self.oldest_fold_source())
            }
            None => self.oldest_fold_source(),
        };
        let Some(superblock) = source else {
            return false;
        };
        self.blocks.leave_cache(superblock);
        self.start_source(Work::Fold, superblock);
        self.cache.distrusted = false;
        true
    }

    /// The oldest superblock that may be folded now. None where superblocks with little valid data
    /// are the only reason to fold, which this one need not be, and where the host waits for a
    /// superblock that folding the drive's own SLC superblocks cannot give it.
    fn oldest_fold_source(&self) -> Option<u32> {
        let background = self.folds_in_background();
        let asked = background || self.writing.starved || self.cache.reclaim_most.is_none();
        if !asked && self.pressure_pace_milli() == 0 && !self.rearms() {
            return None;
        }
        let borrowed_alone = self.writing.starved && !background && self.cache.bypass;
        self.oldest_to_fold(|block| !(borrowed_alone && block.fixed))
    }

    /// The oldest superblock of the cache that may be folded now and is `wanted`.
    fn oldest_to_fold(&self, wanted: impl Fn(&Superblock) -> bool) -> Option<u32> {
        let seen = self.seen();
        let ready = |s: &&u32| {
            let block = &self.blocks.all[**s as usize];
            wanted(block) && self.cache.may_fold(&seen, block)
        };
        let mut queues = self.blocks.cache.iter().chain(&self.blocks.tier);
        queues.find(ready).copied()
    }

    /// The superblock that folding turns into a free native one next, while it can; none while it
    /// folds one of the drive's own, which frees no native one. Folding and collection both free
    /// one with each source, so the source with fewer valid units gains more for each copied unit.
    pub(crate) fn fold_for_space(&self) -> Option<u32> {
        let source = self.cache.fold.source;
        let folds_own = source != NONE && self.blocks.all[source as usize].fixed;
        let can = !folds_own && self.fold_can_write();
        self.oldest_borrowed().filter(|_| can)
    }

    /// The oldest closed superblock that the cache has borrowed, of the second tier if there is
    /// none in the first.
    fn oldest_borrowed(&self) -> Option<u32> {
        let borrowed = |s: &&u32| !self.blocks.all[**s as usize].fixed;
        let mut queues = self.blocks.cache.iter().chain(&self.blocks.tier);
        queues.find(borrowed).copied()
    }

    /// Whether the cache is folded while host data goes direct, so that it can take data again.
    #[inline]
    fn rearms(&self) -> bool {
        self.cache.bypass && self.cache.refill_milli() > 0
    }

    /// Folds the next group of rows by copyback: on each die as many SLC rows as a native wordline
    /// has pages, into one such wordline. False where not all of the group is valid, the
    /// destination is not at the beginning of a granule, or the spec or the flash does not allow
    /// it.
    fn try_copyback(&mut self, ops: &mut Vec<NandOp>) -> bool {
        let possible = self.layout.one_shot && !self.layout.parity && !self.compresses();
        let slc = self.blocks.all[self.cache.fold.source as usize].mode == Mode::Slc;
        let possible = possible && slc && !self.cache.distrusted;
        let Some(checks) = self.cache.copyback().filter(|_| possible) else {
            return false;
        };
        let group = self.layout.row_units * self.layout.group_dies * self.layout.bits;
        let start = self.cache.fold.cursor;
        if !start.is_multiple_of(group) || start + group > self.layout.slc_units {
            return false;
        }
        let first = self.layout.base(self.cache.fold.source) + start;
        let busy =
            self.cache.fold.outstanding > 0 || self.fold_programs_enough() || self.paged.holds();
        if busy || self.map.count_valid(first, group) != group {
            return false;
        }
        if start == 0
            && self.writing.streams[Stream::Fold].next > self.writing.streams[Stream::Fold].begun
        {
            self.pad(Stream::Fold, ops);
        }
        if self.writing.streams[Stream::Fold].next != self.writing.streams[Stream::Fold].begun {
            return false;
        }
        let own_dies = self.layout.group_of(self.cache.fold.source);
        self.writing.switch_lane(Stream::Fold, own_dies);
        let s = self.writing.streams[Stream::Fold];
        let left = s.end - s.next;
        if left < group && (left > 0 || !self.fold_may_open()) {
            return false;
        }
        let (every, cycles) = checks;
        if every > 0 && (start / group).is_multiple_of(every) {
            let block = &self.blocks.all[self.cache.fold.source as usize];
            if block.distrusted || block.slc_cycles >= cycles {
                // The check has read the data into the controller, so it goes on from there.
                self.cache.distrusted = true;
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
        (self.cache.fold.pledged || self.available_to_movers() > 1)
            && self.lane_has_free(Stream::Fold)
    }

    /// Issues one copyback a die for a group of fully valid rows.
    fn copy_group(&mut self, first: u32, ops: &mut Vec<NandOp>) {
        if self.writing.streams[Stream::Fold].superblock == NONE {
            self.open(Stream::Fold);
        }
        let (dies, row) = (self.layout.group_dies, self.layout.row_units);
        for _ in 0..dies {
            let s = self.writing.streams[Stream::Fold];
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
                sequence: self.writing.sequence,
                source: first + within * row,
                die: 0,
                stripe: 0,
            });
            self.blocks.all[s.superblock as usize].in_flight += 1;
            self.cache.fold.copying += 1;
            self.cache.fold.deal(s.granule);
            let token = Token::Copyback(place);
            ops.push(NandOp::new(die as u16, class::COPYBACK, 0, token));
            self.skip_granule(Stream::Fold, ops);
        }
        self.cache.fold.cursor += dies * row * self.layout.bits;
        self.spend_allowance(dies * row * self.layout.bits);
    }

    /// A copyback has ended: what is still valid of its source rows now lives in the new place.
    pub(crate) fn copied_back(&mut self, place: u32, ops: &mut Vec<NandOp>) {
        if self.health.fails && self.program_fails(place) {
            self.copyback_failed(place, ops);
            return;
        }
        let flight = self.writing.buffer.flights[place as usize];
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
        self.blocks
            .victims
            .received(target, self.blocks.victims.written(origin));
        self.count_programmed(Stream::Fold, self.layout.native_granule);
        self.cache.fold.copying -= 1;
        self.granule_landed(place, ops);
    }

    /// The source rows of a copyback under way, as ranges of physical units; for inspection.
    #[must_use]
    pub fn copyback_rows(&self, place: u32) -> Vec<std::ops::Range<u32>> {
        let first = self.writing.buffer.flights[place as usize].source;
        let stride = self.layout.row_units * self.layout.group_dies;
        let row = |page| first + page * stride..first + page * stride + self.layout.row_units;
        (0..self.layout.bits).map(row).collect()
    }
}
