//! What movers do step by step: a row is read, what is valid in it is placed, an emptied source is
//! erased once its copies are programmed. See [`crate::mover`].

use super::Ftl;
use crate::blocks::State;
use crate::mover::Work;
use crate::op::{NandOp, Token};
use crate::orders::Policies;
use crate::streams::Stream;

impl<P: Policies> Ftl<P> {
    /// Makes a superblock a mover's source.
    pub(super) fn start_source(&mut self, work: Work, superblock: u32) {
        self.blocks.make_source(superblock);
        self.movers[work].begin(superblock);
    }

    /// Whether a mover may issue another read: bounded by its rows, its granules and a place to
    /// write.
    pub(super) fn may_read(&mut self, work: Work) -> bool {
        let stream = self.stream_of(work);
        let programs = self.programs_of(work, stream);
        if self.movers[work].is_far_ahead(programs) || self.paged.holds() {
            return false;
        }
        let owed = self.units_owed(work);
        if self.writing[stream].left() >= owed || self.movers[work].is_pledged() {
            return true;
        }
        if self.available_to_movers() <= self.kept_from(work) {
            // Without a place to write only collection can help, and it has to do so at once.
            if work == Work::Fold {
                self.writing.set_starved(true);
            }
            return false;
        }
        self.movers[work].pledge(true);
        true
    }

    /// Granules of a mover in programming, of the stream that has most of them: each stream has
    /// its own granules between passes.
    fn programs_of(&self, work: Work, stream: Stream) -> u32 {
        if work != Work::Collect {
            return self.writing.buffer.flying_of(stream);
        }
        let shared = match self.writing.buffer.moved() {
            0 => 0,
            moved => moved / self.layout.native_granule,
        };
        let own = self.writing.of_collected().iter();
        own.fold(shared, |most, &own| {
            most.max(self.writing.buffer.flying_of(own))
        })
    }

    /// The stream that a mover has room set aside in.
    pub(super) fn stream_of(&self, work: Work) -> Stream {
        match work {
            Work::Fold => Stream::Fold,
            Work::Collect => self.collect_stream(),
            Work::Map => Stream::Map,
        }
    }

    /// Units that the rows being read and the next one bring at most.
    fn units_owed(&self, work: Work) -> u32 {
        let mover = &self.movers[work];
        let row = self.layout.row_units;
        if !self.layout.packs() {
            return (mover.reading() + 1) * row;
        }
        let first = self.layout.base(mover.source()) + mover.cursor();
        let valid = self.map.count_valid(first, row);
        mover.owed() + valid.max(self.layout.whole(row))
    }

    /// Free native superblocks that a mover leaves to others. Folding leaves the last one to
    /// collection, but not while the host waits and folding gains more than collection would.
    pub(super) fn kept_from(&self, work: Work) -> u32 {
        let last_is_for_fold = work == Work::Fold
            && self.writing.is_starved()
            && !self.movers[Work::Collect].is_working()
            && self.folding_gains_more();
        u32::from(work == Work::Fold && !last_is_for_fold)
    }

    /// Issues the read of the row at a mover's cursor, or passes over it when nothing in it is
    /// valid.
    pub(super) fn read_row(&mut self, work: Work, ops: &mut Vec<NandOp>) {
        let row_units = self.layout.row_units;
        let mover = &mut self.movers[work];
        let (superblock, offset) = (mover.source(), mover.cursor());
        mover.pass(row_units);
        let first = self.layout.base(superblock) + offset;
        let number = self.layout.row_of(first);
        let lpns = self.movers.rows().list(&self.map, number, first);
        if work == Work::Collect && !lpns.is_empty() {
            self.map.expect_moves(first, row_units, lpns);
        }
        let valid = lpns.len() as u32;
        let whole = valid.max(self.layout.whole(row_units));
        let dealt = if work == Work::Fold { whole } else { valid };
        if work == Work::Fold {
            self.cache.spend_allowance(valid);
        }
        let mover = &mut self.movers[work];
        mover.deal(dealt);
        if valid == 0 {
            return;
        }
        mover.begin_read(whole);
        self.counters.map_reads += u64::from(work == Work::Map);
        let (die, class) = self.read_place(first);
        let sent = self.packing.row_sent(&self.layout, &self.map, first, valid);
        let token = match work {
            Work::Fold => Token::FoldRead(first),
            Work::Collect => Token::GcRead(first),
            Work::Map => Token::MapGcRead(first),
        };
        ops.push(NandOp::new(die, class, sent as u16, token));
    }

    /// A row has been read: what is still valid in it goes into the mover's stream.
    pub(super) fn row_read(&mut self, work: Work, first: u32, ops: &mut Vec<NandOp>) {
        let (row_units, whole) = (
            self.layout.row_units,
            self.layout.whole(self.layout.row_units),
        );
        let mut row_lists = std::mem::take(self.movers.rows());
        let lpns = row_lists.still_valid(&self.map, self.layout.row_of(first), first);
        self.packing.note_moved(&self.map, first, row_units);
        self.map.clear_valid_run(first, row_units);
        let superblock = self.layout.superblock_of(first);
        self.blocks
            .lose_valid(&mut self.cache, superblock, lpns.len() as u32);
        let written = self.blocks.written(superblock);
        self.movers[work].end_read(whole);
        let mut stream = self.stream_of(work);
        if work == Work::Collect {
            stream = self.collected_stream(lpns.len() as u32);
            self.movers[Work::Collect].place(lpns.len() as u32);
        }
        if work == Work::Collect && stream != Stream::Levelled && self.divides_collected() {
            self.append_divided(lpns, superblock, written, ops);
        } else if stream.is_host() {
            self.append_among_hosts(stream, lpns, written, ops);
        } else {
            self.append_moved(stream, lpns, written, ops);
        }
        *self.movers.rows() = row_lists;
    }

    /// Ends the work on a source that has been read to its end; false while reads of it are under
    /// way.
    pub(super) fn finish_source(&mut self, work: Work, ops: &mut Vec<NandOp>) -> bool {
        if self.movers[work].under_way() > 0 {
            return false;
        }
        let superblock = self.movers[work].end();
        let block = &mut self.blocks[superblock];
        assert_eq!(block.valid, 0, "source {superblock} still holds data");
        block.state = State::Emptied;
        // Data that was not copied, because it had been trimmed, will be erased: the trim has to be
        // on flash, or a cut would bring older data back.
        if self.cuts.is_on() {
            self.flush_journal(ops);
        }
        if work == Work::Collect && self.levels_no_more() {
            self.close_filled_in_part(Stream::Levelled, ops);
        }
        let sequence = self.writing.sequence();
        self.movers[work].wait(superblock, sequence);
        self.erase_emptied(ops);
        true
    }

    /// A mover that has no superblock to write to may get one that it has emptied. The granule with
    /// the last copies is padded, because nothing more will fill it and the erase waits for it.
    pub(super) fn free_emptied(&mut self, work: Work, ops: &mut Vec<NandOp>) {
        let mover = &self.movers[work];
        if !mover.waiting() || mover.under_way() > 0 || mover.is_pledged() {
            return;
        }
        let stream = self.stream_of(work);
        let full = self.writing[stream].left() < self.packing.row_most();
        if full && self.available_to_movers() <= self.kept_from(work) {
            self.pad_moved(work, true, ops);
            self.hasten_erases(ops);
        }
    }

    /// Erases emptied sources whose copies are all programmed.
    pub(super) fn erase_emptied(&mut self, ops: &mut Vec<NandOp>) {
        for work in [Work::Fold, Work::Collect, Work::Map] {
            if !self.movers[work].waiting() {
                continue;
            }
            // Units that were not copied because the host had replaced them: the replacements have
            // to be on flash too.
            let all = self.cuts.is_on() && work != Work::Map;
            let durable = self
                .writing
                .oldest_pending(|s| self.takes_moved(work, s) || (all && s.is_host()));
            let durable = if all {
                durable
                    .min(self.cuts.oldest_trims())
                    .min(self.health.homeless())
            } else {
                durable
            };
            for superblock in self.movers[work].take_programmed(durable) {
                self.start_erase(superblock, ops);
            }
        }
    }
}
