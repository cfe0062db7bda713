//! Programs and erases that fail, and superblocks that are given up. See [`crate::health`].

use super::Ftl;
use crate::blocks::{Pool, State};
use crate::layout::Mode;
use crate::mover::Work;
use crate::op::{NandOp, Token};
use crate::orders::Policies;
use crate::policy::ReadOnlyAt;
use crate::streams::Stream;
use crate::wear::Cause;
use crate::write_buffer::Flight;

/// With fewer free superblocks than this a failing program is repeated where it is: one to go on
/// in, one for rows on their way to it, one for collection.
const FALL_BACK: u32 = 3;

impl<P: Policies> Ftl<P> {
    /// Gives every superblock the cycles of a used drive.
    pub(super) fn wear_in(&mut self) {
        let cycles = self.policy.wear.initial_cycles;
        let kept_slc = self.policy.map.mode == Mode::Slc;
        for block in self.blocks.all_mut() {
            let slc = block.fixed || (block.map && kept_slc);
            let (own, erases, mode) = if slc {
                (
                    &mut block.slc_cycles,
                    &mut self.counters.slc_erases,
                    Mode::Slc,
                )
            } else {
                let erases = &mut self.counters.native_erases;
                (&mut block.native_cycles, erases, Mode::Native)
            };
            *own = self.wear.rated().cycles_instead(cycles, mode);
            *erases += u64::from(*own);
        }
    }

    /// Superblocks that are given up for good.
    #[must_use]
    pub fn retired_superblocks(&self) -> u32 {
        let retired = self
            .blocks
            .all()
            .iter()
            .filter(|b| b.state == State::Retired);
        retired.count() as u32
    }

    /// The drive comes to its end now, whatever is left of it.
    pub fn end_life(&mut self) {
        self.health.end_life();
    }

    /// True if, since the last call, a program of host data failed and the data was placed again,
    /// or the host had replaced it. Commands that wait for it must not wait for more data.
    pub fn take_placed_again(&mut self) -> bool {
        self.health.take_placed_again()
    }

    /// Blocks that have failed in use.
    #[must_use]
    pub fn grown_bad_blocks(&self) -> u32 {
        self.health.grown_bad()
    }

    /// Good blocks of the plane that has the fewest to spare.
    #[must_use]
    pub fn spare_blocks(&self) -> u32 {
        self.health.spares()
    }

    /// Whether what is left can hold the drive's capacity and still be collected, and whether the
    /// policy lets it go on.
    pub(super) fn look_for_end(&mut self) {
        let left = |b: &&crate::blocks::Superblock| b.state != State::Retired && !b.fixed && !b.map;
        let left = self.blocks.all().iter().filter(left).count() as u32;
        let data = self
            .logical_units()
            .div_ceil(self.layout.whole_units(Mode::Native));
        let open = self.streams_at_most() * self.layout.groups;
        let gc = &self.policy.gc;
        let work = (gc.reserve_superblocks + open + 1).max(gc.high_superblocks);
        let ends_early = self.policy.wear.read_only_at == ReadOnlyAt::SparesGone;
        let early = ends_early && self.spare_blocks() == 0;
        // Data in native blocks waits in the buffer between its passes. A spec whose cache always
        // takes all data need not have that much buffer: such a drive ends with its last cache
        // superblock.
        let bound = self.layout.later_passes.is_some() && self.cache.takes_all_for_good();
        let no_cache = bound && self.cache.most() == 0;
        let left = left.saturating_sub(self.paged.lacking());
        if early || no_cache || left < data + work {
            self.health.end_life();
        }
    }

    /// Erases have worn the drive: whether it may be written at that wear is up to the policy,
    /// whether its blocks fail or not.
    pub(super) fn look_for_rated_end(&mut self) {
        if self.ends_at_rated_wear() && self.mean_wear() >= 1.0 {
            self.health.end_life();
        }
    }

    /// The drive can only be read once its mean wear is at its rating.
    pub(super) fn ends_at_rated_wear(&self) -> bool {
        self.policy.wear.read_only_at == ReadOnlyAt::RatedWear
    }

    /// Streams that may have a superblock open: one for each class of the host's data and of what
    /// is collected, folding's, one more where host data goes two ways at once, a second tier's
    /// and levelling's.
    fn streams_at_most(&self) -> u32 {
        let (host, collected) = self.policy.classes();
        let cached = self.cache.is_on();
        u32::from(host + collected)
            + u32::from(cached)
            + u32::from(self.cache.parts_data())
            + u32::from(self.cache.has_tier())
            + u32::from(self.policy.wear.static_threshold > 0)
    }

    /// A superblock is about to be erased: its bad blocks are replaced first. False when it is
    /// retired instead.
    pub(super) fn is_fit(&mut self, superblock: u32) -> bool {
        !self.health.has_failed_blocks()
            || self.is_last(superblock)
            || self.mend_or_retire(superblock)
    }

    /// The superblock that is being erased is the only free one, and without it collection could
    /// not go on. So more pulses erase it, and its bad blocks are replaced the next time.
    fn is_last(&self, superblock: u32) -> bool {
        let block = &self.blocks[superblock];
        !block.map && !block.fixed && self.available_to_movers() == 0
    }

    #[cold]
    fn mend_or_retire(&mut self, superblock: u32) -> bool {
        let fit = self.health.mend(superblock);
        if !fit {
            self.retire(superblock);
        }
        self.look_for_end();
        fit
    }

    fn retire(&mut self, superblock: u32) {
        let block = &mut self.blocks[superblock];
        assert_eq!(block.valid, 0, "retiring {} live units", block.valid);
        if block.map {
            self.map_lost_superblock(superblock);
        } else if block.fixed {
            self.cache.lose_own();
        } else {
            self.cache.give_back(block.pool);
        }
        self.wear.spare(superblock);
        self.wear.moved(superblock);
        self.blocks.freed(superblock);
        // The recycler waits until each superblock has been written once. This one is counted as
        // written, because it never will be.
        self.collection.opened(superblock);
        let base = self.layout.base(superblock);
        let units = base..base + self.layout.native_units;
        self.cuts.erased(superblock, units);
        let block = &mut self.blocks[superblock];
        block.state = State::Retired;
        (block.mode, block.pool) = (Mode::Native, Pool::Data);
        (block.marked, block.written) = (false, 0);
    }

    /// Decides whether the erase of each block has succeeded. A superblock that has lost a block
    /// gets a spare or is retired.
    pub(super) fn erase_holds(&mut self, superblock: u32) -> bool {
        let block = &self.blocks[superblock];
        let wear = self.wear.rated().wear_of(block);
        let place = (superblock, self.layout.dies_of(superblock));
        let failures = &self.policy.wear.erase;
        self.health.draw_erase(place, wear, failures);
        // A start after a power cut writes the data that it saved back to where it was. So more
        // pulses erase the superblock, and its bad blocks are replaced the next time.
        self.cuts.is_recovering() || self.is_fit(superblock)
    }

    /// Whether a program that has ended has failed. Where there is no other superblock to go on in,
    /// it is repeated until it succeeds.
    pub(super) fn program_fails(&mut self, place: u32) -> bool {
        let flight = *self.writing.buffer.flight(place);
        let block = &self.blocks[flight.superblock];
        if self.cuts.is_recovering() {
            return false;
        }
        let map = block.map;
        let wear = self.wear.rated().wear_of(block);
        let place = (flight.superblock, self.die_of(&flight));
        let failures = &self.policy.wear.program;
        if !self.health.draw_program(place, wear, failures) {
            return false;
        }
        if map {
            return self.map_can_fall_back();
        }
        let streams = self.writing.buffer.awaited().streams();
        self.available_to_movers() >= FALL_BACK + streams.saturating_sub(1)
    }

    /// The die that a granule is programmed on; for parity, which does not know its own, the first.
    fn die_of(&self, flight: &Flight) -> u32 {
        if flight.stream == Stream::Parity {
            return self.layout.dies_of(flight.superblock).start;
        }
        let (superblock, offset) = self.layout.split(flight.first);
        let mode = self.blocks[superblock].mode;
        self.layout.place(mode, superblock, offset).0
    }

    /// A program has failed: its data, still in the buffer, is programmed elsewhere together with
    /// what waited for the same superblock, which takes no more and is emptied.
    #[cold]
    pub(super) fn program_failed(&mut self, place: u32, ops: &mut Vec<NandOp>) {
        let flight = *self.writing.buffer.flight(place);
        let (mut lpns, mut moved) = (Vec::new(), 0);
        self.hold_erases(flight.sequence);
        if flight.stream != Stream::Parity {
            self.take_valid(flight.first, flight.units, &mut lpns);
            moved = flight.moved_of(lpns.len() as u32);
            let own = lpns.len() as u32 - moved;
            self.count_again(flight.stream, own);
            if moved > 0 {
                self.count_again(Stream::Collected, moved);
            }
            if flight.stream.is_host() {
                // Its place in the buffer is given back as it lands, and taken again.
                self.writing.buffer.take(own);
            }
        }
        self.blocks.tear_parity(&self.layout, &flight);
        let (left, moved_too) = self.abandon(flight.superblock, &mut lpns, ops);
        self.await_replacements(ops);
        self.granule_landed(place, ops);
        let stream = if flight.stream == Stream::Parity {
            left
        } else {
            Some(flight.stream)
        };
        if let Some(stream) = stream {
            let failed = (flight.superblock, flight.sequence);
            self.place_again(stream, failed, (&lpns, moved + moved_too), ops);
        }
        self.condemn(flight.superblock, ops);
        self.release_erases(ops);
    }

    /// Data without a granule that the host has replaced or trimmed is not programmed again. The
    /// older copy that it had replaced stays until the replacement is programmed, or the trim is in
    /// the journal, and a flush that covers the data waits for that too.
    fn await_replacements(&mut self, ops: &mut Vec<NandOp>) {
        if !self.cuts.is_on() {
            return;
        }
        let sequence = self.health.homeless();
        let hosts = |flight: &Flight| flight.stream.is_host();
        self.writing.buffer.lower(sequence, hosts);
        for &stream in self.writing.of_host() {
            let s = &mut self.writing[stream];
            if s.next > s.begun {
                s.lower(sequence);
            }
        }
        self.flush_journal(ops);
        self.cuts.lower_trims(sequence);
        if self.writing.oldest_of_host() < u64::MAX {
            self.health.note_placed_again();
        }
    }

    /// A power cut takes data of a granule until another granule has it, so the older copy that it
    /// replaces stays.
    fn hold_erases(&mut self, sequence: u64) {
        if self.cuts.is_on() {
            self.health.set_homeless(sequence);
        }
    }

    fn release_erases(&mut self, ops: &mut Vec<NandOp>) {
        if self.cuts.is_on() {
            self.health.set_homeless(u64::MAX);
            self.erase_emptied(ops);
            self.erase_waiting(ops);
        }
    }

    /// A copyback has failed: the data is still in its source, and goes through the controller.
    #[cold]
    pub(super) fn copyback_failed(&mut self, place: u32, ops: &mut Vec<NandOp>) {
        let flight = *self.writing.buffer.flight(place);
        for rows in self.copyback_rows(place) {
            let valid = self.map.count_valid(rows.start, rows.end - rows.start);
            if valid > 0 {
                self.movers[Work::Fold].begin_read(0);
                let (die, class) = self.read_place(rows.start);
                ops.push(NandOp::new(
                    die,
                    class,
                    valid as u16,
                    Token::FoldRead(rows.start),
                ));
            }
        }
        self.counters.failure_units += u64::from(self.layout.native_granule);
        self.movers[Work::Fold].end_copy();
        let mut lpns = Vec::new();
        self.hold_erases(flight.sequence);
        self.abandon(flight.superblock, &mut lpns, ops);
        self.await_replacements(ops);
        self.granule_landed(place, ops);
        let failed = (flight.superblock, flight.sequence);
        self.place_again(Stream::Fold, failed, (&lpns, 0), ops);
        self.condemn(flight.superblock, ops);
        self.release_erases(ops);
    }

    /// Takes the valid units of a range out of it.
    fn take_valid(&mut self, first: u32, count: u32, lpns: &mut Vec<u32>) {
        let before = lpns.len();
        self.map.collect_valid(first, count, lpns);
        self.packing.note_moved(&self.map, first, count);
        self.map.clear_valid_run(first, count);
        self.cuts.wipe(first, count);
        let taken = (lpns.len() - before) as u32;
        let superblock = self.layout.superblock_of(first);
        self.blocks.lose_valid(&mut self.cache, superblock, taken);
    }

    /// Units of a failed program that are programmed again are counted as such, and once more by
    /// the cause of their second program.
    fn count_again(&mut self, stream: Stream, units: u32) {
        self.counters.failure_units += u64::from(units);
        let mut left = u64::from(units);
        let c = &mut self.counters;
        let first = match stream {
            Stream::Cache => [&mut c.slc_units, &mut c.gc_units, &mut c.wear_units],
            Stream::Map => [&mut c.map_units, &mut c.gc_units, &mut c.wear_units],
            Stream::Tier => [&mut c.tier_units, &mut c.gc_units, &mut c.wear_units],
            _ if stream.is_direct() => [&mut c.direct_units, &mut c.gc_units, &mut c.wear_units],
            Stream::Fold => [&mut c.fold_units, &mut c.gc_units, &mut c.wear_units],
            _ => [&mut c.gc_units, &mut c.wear_units, &mut c.refresh_units],
        };
        for counter in first {
            let here = left.min(*counter);
            *counter -= here;
            left -= here;
        }
        // Copies out of failing superblocks have been counted as such.
        self.counters.failure_units -= left;
        if stream.is_collected() {
            self.movers[Work::Collect].place(units);
        }
    }

    /// The stream that fills a superblock leaves it; what waits in its granule is taken along.
    /// The answer is the stream, if there is one, and how many units that collection has placed
    /// among the host's are taken along.
    fn abandon(
        &mut self,
        superblock: u32,
        lpns: &mut Vec<u32>,
        ops: &mut Vec<NandOp>,
    ) -> (Option<Stream>, u32) {
        if self.blocks[superblock].state == State::Half {
            self.blocks.leave_half(superblock);
            self.close_superblock(Stream::Direct, superblock);
            return (None, 0);
        }
        let parked = self.writing.leave_parked(superblock);
        let parked = parked.map(|(stream, next)| {
            self.cut_short(stream, superblock, next, ops);
            self.close_superblock(stream, superblock);
            stream
        });
        let Some(stream) = self.writing.filling(superblock) else {
            return (parked, 0);
        };
        let s = self.writing[stream];
        let slots = s.next - s.begun;
        let before = lpns.len();
        if slots > 0 {
            // Data that has failed once has an older number than granules that were begun later.
            self.hold_erases(s.sequence.min(self.health.homeless()));
            self.take_valid(self.layout.base(superblock) + s.begun, slots, lpns);
        }
        let taken = (lpns.len() - before) as u32;
        let mut lost = s.waiting() - taken;
        let mut moved = 0;
        if stream.is_host() {
            moved = taken.saturating_sub(s.waiting() - s.moved);
            self.movers[Work::Collect].unplace(s.moved - moved);
            lost -= s.moved - moved;
            self.writing.buffer.give_back(lost);
            self.counters.dropped_units += u64::from(lost);
        } else if stream.is_collected() {
            self.movers[Work::Collect].unplace(lost);
        } else if stream == Stream::Map {
            self.counters.map_written -= u64::from(lost);
        }
        self.cut_short(stream, superblock, s.begun, ops);
        // The upper pages of its wordlines are not used either.
        self.writing[stream].end = self.layout.native_units;
        self.writing[stream].drop_waiting();
        self.close(stream);
        (Some(stream), moved)
    }

    /// A stream fills a superblock no further than to this offset: what waits in it gets its later
    /// passes, and the stripe that was being filled has no parity.
    fn cut_short(&mut self, stream: Stream, superblock: u32, offset: u32, ops: &mut Vec<NandOp>) {
        let lane = (stream, self.layout.group_of(superblock));
        self.writing.last_passes(lane, &mut self.counters, ops);
        let granule = self.writing[stream].granule;
        let layout = &self.layout;
        let bare = self
            .blocks
            .forgo_parity(layout, granule, superblock, offset);
        self.counters.bare_units += u64::from(bare);
    }

    /// Programs units again that a failure left in the buffer. Until that is done, everything that
    /// waits for the failed program goes on waiting. The last `moved` of them are collection's,
    /// among the host's.
    fn place_again(
        &mut self,
        stream: Stream,
        (superblock, failed): (u32, u64),
        (lpns, moved): (&[u32], u32),
        ops: &mut Vec<NandOp>,
    ) {
        let s = self.writing[stream];
        let since = if s.next > s.begun {
            s.sequence
        } else {
            self.writing.sequence()
        };
        let written = self.blocks.written(superblock);
        let sequence = failed.min(self.health.homeless());
        let (own, collected) = lpns.split_at(lpns.len() - moved as usize);
        self.append_moved(stream, own, written, ops);
        self.append_among_hosts(stream, collected, written, ops);
        if stream == Stream::Map {
            // These map pages were counted when they were first written.
            self.counters.map_written -= lpns.len() as u64;
            self.counters.map_moved -= lpns.len() as u64;
        }
        if stream.is_host() && !lpns.is_empty() {
            self.health.note_placed_again();
        }
        let later = |flight: &Flight| flight.stream == stream && flight.sequence >= since;
        self.writing.buffer.lower(sequence, later);
        let s = &mut self.writing[stream];
        if s.next > s.begun {
            s.lower(sequence);
        }
        self.set_aside_again();
    }

    /// Sets superblocks aside for data that had a place reserved in the one that failed.
    fn set_aside_again(&mut self) {
        for work in [Work::Fold, Work::Collect] {
            let owed = self.movers[work].reading() * self.layout.row_units;
            let stream = self.stream_of(work);
            if self.writing[stream].left() < owed {
                self.movers[work].pledge(true);
            }
        }
        self.set_aside_for_all();
    }

    /// Closes a superblock that a stream fills, or has half filled, where there is another for it
    /// to go on in.
    fn close_early(&mut self, superblock: u32, ops: &mut Vec<NandOp>) {
        let block = &self.blocks[superblock];
        let coming = self.writing.buffer.awaited().units() > 0;
        let may = !coming && self.available_to_movers() >= FALL_BACK;
        let filling = matches!(block.state, State::Open | State::Half);
        if !filling || block.map || !may {
            return;
        }
        let open = self.writing.filling(superblock);
        let sequence = open.map_or(self.writing.sequence(), |s| self.writing[s].sequence);
        let mut lpns = Vec::new();
        self.hold_erases(sequence);
        let waited = open.map_or(0, |s| self.writing[s].waiting());
        let left = self.abandon(superblock, &mut lpns, ops);
        if (lpns.len() as u32) < waited {
            self.await_replacements(ops);
        }
        if let (Some(stream), moved) = left {
            self.place_again(stream, (superblock, sequence), (&lpns, moved), ops);
        }
        self.release_erases(ops);
    }

    /// Moves a superblock's data elsewhere and erases it, because the data is at risk. One that
    /// is being written is closed first; the answer is whether it will be moved.
    pub fn refresh(&mut self, superblock: u32, ops: &mut Vec<NandOp>) -> bool {
        self.close_early(superblock, ops);
        let block = &self.blocks[superblock];
        if block.state != State::Closed || block.valid == 0 {
            return false;
        }
        if block.map {
            return self.refresh_map(superblock);
        }
        self.wear
            .relocate(&mut self.blocks, superblock, Cause::Refresh)
    }

    /// A check of the superblock's data would find too many wrong bits for a copy inside the die.
    pub fn distrust(&mut self, superblock: u32) {
        self.blocks[superblock].distrusted = true;
    }

    /// Has a superblock with a bad block emptied as soon as possible.
    fn condemn(&mut self, superblock: u32, ops: &mut Vec<NandOp>) {
        let block = &self.blocks[superblock];
        if block.state != State::Closed {
            return;
        }
        if block.valid > 0 && block.map {
            self.refresh_map(superblock);
        } else if block.valid > 0 {
            self.wear
                .relocate(&mut self.blocks, superblock, Cause::Failure);
        } else if block.in_flight == 0 {
            self.erase_when_safe(superblock, ops);
        }
    }

    /// After a purge nothing holds data: failing superblocks are mended or given up.
    pub(super) fn mend_all(&mut self) {
        loop {
            let all = self.blocks.all();
            let in_use = |s: u32| all[s as usize].state != State::Retired;
            let Some(superblock) = self.health.next_failed(in_use) else {
                return;
            };
            if !self.mend_or_retire(superblock) {
                self.blocks.drop_free(superblock);
            }
        }
    }
}
