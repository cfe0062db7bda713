//! The end of a program, and the end of a superblock: from the loss of its last valid unit to the
//! queue of free ones.
//!
//! A superblock that holds nothing valid and is not erased yet is *stale*. After a crypto erase all
//! are that were written, and after a trim most of those that it emptied: at most [`AHEAD`] are
//! erased at once that nobody needs. The others are erased when few superblocks are free, ahead of
//! the host's need, and one after the other in idle time. If a trim of the whole drive had all
//! erased at once, the next write would wait behind every erase of its die (56 s on an 860 QVO of
//! 1 TB). Invariant: a stale superblock is no candidate for folding or collection, it belongs to no
//! cache, and nothing points into it.

use super::Ftl;
use crate::blocks::{Pool, State, Superblock};
use crate::layout::Mode;
use crate::mover::Work;
use crate::op::{NandOp, Token, class};
use crate::orders::Policies;
use crate::wear::Rest;

/// Superblocks that are kept erased, or in erase, beyond those that folding and collection look at:
/// one for each stream that the host may open. As many are erased at once that nobody needs.
const AHEAD: u32 = 2;
/// Superblocks in erase at which no more are begun that only the cache wants.
const FEW: u32 = 2 * AHEAD;

impl<P: Policies> Ftl<P> {
    /// A program has ended, well or not.
    pub(super) fn granule_programmed(&mut self, place: u32, ops: &mut Vec<NandOp>) {
        if self.layout.paired {
            self.writing.wordline_programmed(place);
        }
        if self.health.may_fail() && self.program_fails(place) {
            self.program_failed(place, ops);
        } else {
            self.granule_landed(place, ops);
        }
    }

    /// Pages that have become safe with the last one of their wordline leave the buffer.
    pub(super) fn land_wordlines(&mut self, ops: &mut Vec<NandOp>) {
        while let Some(place) = self.writing.passes.take_closed() {
            self.granule_programmed(place, ops);
        }
    }

    /// A program is over: its data leaves the buffer, and what of it is valid is on flash.
    pub(super) fn granule_landed(&mut self, place: u32, ops: &mut Vec<NandOp>) {
        let flight = self.writing.buffer.land(place);
        let superblock = flight.superblock;
        let block = &mut self.blocks[superblock];
        block.in_flight -= 1;
        if block.in_flight == 0 && block.valid == 0 && block.state == State::Closed {
            self.erase_when_safe(superblock, ops);
        }
        let moved = !flight.stream.is_host() || self.takes_moved(Work::Collect, flight.stream);
        if moved || self.cuts.is_on() {
            self.erase_emptied(ops);
        }
        if self.cuts.erases_wait() {
            self.erase_waiting(ops);
        }
    }

    /// Erases a superblock without valid data, on all dies that it lies on.
    pub(super) fn start_erase(&mut self, superblock: u32, ops: &mut Vec<NandOp>) {
        self.blocks.retire_emptied(superblock);
        let block = &mut self.blocks[superblock];
        assert_eq!(
            block.valid, 0,
            "erase would lose {} live units",
            block.valid
        );
        assert_eq!(block.in_flight, 0, "erase under a program");
        if !self.is_fit(superblock) {
            return;
        }
        self.blocks.begin_erase(superblock, self.layout.group_dies);
        let class = class::erase(self.blocks[superblock].mode);
        for die in self.layout.dies_of(superblock) {
            let token = Token::Erase(superblock);
            ops.push(NandOp::new(die as u16, class, 0, token));
        }
    }

    pub(super) fn die_erased(&mut self, superblock: u32) {
        if !self.blocks.end_erase(superblock) {
            return;
        }
        let block = &mut self.blocks[superblock];
        block.wear_off(&mut self.counters);
        self.look_for_rated_end();
        if self.health.may_fail() && !self.erase_holds(superblock) {
            return;
        }
        let block = &mut self.blocks[superblock];
        let (pool, fixed) = (block.pool, block.fixed);
        block.state = State::Free;
        let marked = std::mem::take(&mut block.marked);
        block.mode = Mode::Native;
        block.pool = Pool::Data;
        block.written = 0;
        let base = self.layout.base(superblock);
        let units = base..base + self.layout.native_units;
        self.cuts.erased(superblock, units);
        if marked {
            self.wear.moved(superblock);
        }
        if !fixed {
            self.cache.give_back(pool);
        }
        if fixed
            && !self.cuts.is_recovering()
            && self
                .cache
                .gives_up(superblock, &self.wear, &mut self.blocks)
        {
            self.writing.set_starved(false);
            return;
        }
        self.blocks.put_free(superblock);
        let starved = self.writing.set_starved(false);
        let rest = Rest {
            layout: &self.layout,
            packing: &self.packing,
            now: self.counters.host_units,
            capacity: self.logical_units().into(),
        };
        self.wear
            .level(&mut self.blocks, (superblock, starved), &rest);
    }

    /// Erases a superblock that holds nothing valid, once what replaced its data is programmed.
    /// Nothing can tell the difference where no power cut can come: then it is erased at once, and
    /// so are the map's, whose pages can be made anew from the spare areas of the data.
    pub(super) fn erase_when_safe(&mut self, superblock: u32, ops: &mut Vec<NandOp>) {
        let map = self.blocks[superblock].map;
        if self.cuts.is_on() {
            self.flush_journal(ops);
        }
        let sequence = self.writing.sequence();
        if map || !self.cuts.is_on() || self.oldest_pending_host() >= sequence {
            self.erase_or_leave(superblock, ops);
            return;
        }
        self.blocks.retire_emptied(superblock);
        self.cuts.wait_to_erase(superblock, sequence);
    }

    /// Erases the superblocks without valid data whose replacement is programmed by now.
    #[cold]
    pub(super) fn erase_waiting(&mut self, ops: &mut Vec<NandOp>) {
        let durable = self.oldest_pending_host();
        for superblock in self.cuts.take_erasable(durable) {
            self.erase_or_leave(superblock, ops);
        }
    }

    /// Erases a superblock that has lost its last valid unit by itself, unless nobody needs it and
    /// enough others are in erase: then it is stale. Where others are stale already they may be
    /// erased before it, so that all wear alike.
    fn erase_or_leave(&mut self, superblock: u32, ops: &mut Vec<NandOp>) {
        let block = &self.blocks[superblock];
        let (at_once, fixed) = (block.map || block.marked, block.fixed);
        let begins = self.blocks.erasing() < AHEAD || self.is_short(fixed);
        if at_once || (begins && !self.blocks.has_stale()) {
            self.start_erase(superblock, ops);
            return;
        }
        self.leave_stale(superblock);
        if begins && let Some(first) = self.take_stale(fixed) {
            self.start_erase(first, ops);
        }
    }

    /// A superblock without valid data is to be erased later. The cache or the tier that had
    /// borrowed it may borrow another.
    pub(super) fn leave_stale(&mut self, superblock: u32) {
        self.blocks.retire_emptied(superblock);
        let block = &mut self.blocks[superblock];
        let pool = std::mem::replace(&mut block.pool, Pool::Data);
        if !block.fixed {
            self.cache.give_back(pool);
        }
        self.blocks.push_stale(superblock);
    }

    /// True if another superblock has to be erased now: one of the cache's own (`fixed`), or one of
    /// the others. Those that collection needs are erased at once. Beyond them the cache needs some
    /// before it takes data again, and these are erased a few at a time.
    pub(super) fn is_short(&self, fixed: bool) -> bool {
        let (free, at_once, wanted) = match fixed {
            true => (self.blocks.free_of_cache(), 1, self.cache.rearms_at()),
            false => {
                let gc = &self.policy.gc;
                let at_once = gc.high_superblocks.max(gc.low_superblocks);
                (self.blocks.free_count(), at_once, self.cache.looks_at(gc))
            }
        };
        let erasing = self.blocks.erasing();
        let coming = free + erasing;
        coming < at_once + AHEAD || (erasing < FEW && coming < wanted + AHEAD)
    }

    /// A row of the journal of trims has been programmed: what those trims emptied may be erased.
    pub(super) fn journal_written(&mut self, low: u32, ops: &mut Vec<NandOp>) {
        self.cuts.journal_written(low);
        if self.cuts.is_on() {
            self.erase_waiting(ops);
            self.erase_emptied(ops);
        }
    }

    /// Where superblocks cannot be erased before a partly filled granule of the host's is on flash,
    /// and somebody waits for them, the granule is padded. Not under data to come, which fills it.
    pub(super) fn hasten_erases(&mut self, ops: &mut Vec<NandOp>) {
        let waiting = self.cuts.erases_wait();
        let waiting =
            waiting || self.movers[Work::Fold].waiting() || self.movers[Work::Collect].waiting();
        if self.cuts.is_on() && waiting && self.writing.buffer.awaited().units() == 0 {
            // Host granules that hold nothing but moved data too.
            for &stream in self.writing.of_host() {
                self.pad_through(stream, ops);
            }
        }
    }

    /// Erases the closed superblocks that have lost their last valid unit.
    #[inline(always)]
    pub(super) fn erase_dead(&mut self, ops: &mut Vec<NandOp>) {
        if self.blocks.has_dead() {
            self.erase_all_dead(ops);
        }
    }

    #[inline(never)]
    fn erase_all_dead(&mut self, ops: &mut Vec<NandOp>) {
        while let Some(superblock) = self.blocks.take_dead() {
            let block = &self.blocks[superblock];
            if block.state == State::Closed && block.valid == 0 && block.in_flight == 0 {
                self.erase_when_safe(superblock, ops);
            }
        }
    }

    /// Erases stale superblocks as far as free ones are short, or one while time is offered.
    #[cold]
    pub(super) fn erase_stale(&mut self, ops: &mut Vec<NandOp>) {
        while let Some(superblock) = self.next_stale() {
            self.start_erase(superblock, ops);
        }
    }

    /// Takes the stale superblock that is erased first, of the cache's own (`fixed`) or of the
    /// others that may hold data.
    fn take_stale(&mut self, fixed: bool) -> Option<u32> {
        let like = |block: &Superblock| block.fixed == fixed && !block.map;
        self.wear.take_stale(&mut self.blocks, like)
    }

    /// Takes the stale superblock that is to be erased now, if one is.
    fn next_stale(&mut self) -> Option<u32> {
        let (wear, blocks) = (&self.wear, &mut self.blocks);
        if self.paged.is_short(blocks)
            && let Some(superblock) = wear.take_stale(blocks, |block| block.map)
        {
            return Some(superblock);
        }
        for fixed in [true, false] {
            if self.is_short(fixed)
                && let Some(superblock) = self.take_stale(fixed)
            {
                return Some(superblock);
            }
        }
        let idle = self.movers[Work::Fold].is_idle() || self.movers[Work::Collect].is_idle();
        if idle && self.blocks.erasing() == 0 {
            return self.wear.take_stale(&mut self.blocks, |_| true);
        }
        None
    }

    /// Programs the trims that wait for the journal; a flush does so.
    pub fn flush_journal(&mut self, ops: &mut Vec<NandOp>) {
        let (layout, counters) = (&self.layout, &mut self.counters);
        let sequence = self.writing.sequence_mut();
        self.cuts.flush_journal(sequence, layout, counters, ops);
    }
}
