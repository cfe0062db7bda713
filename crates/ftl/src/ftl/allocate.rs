//! Open superblocks: one a stream (and die group, see [`crate::lanes`]), from the moment it is
//! opened until it is full. It is filled from its beginning, and a program is issued as each
//! granule is full.
//!
//! The map changes when data is placed, before its program is issued; until the program ends the
//! data is served from the buffer.
//!
//! Where superblocks span a part of the dies, a lane that has none opens one of its group while
//! many are free. At the reserve a stream uses up the superblocks that it has, on fewer dies, and
//! opens another only when none has space left. So a stream needs no more superblocks than with
//! one lane, however many it has, and what is kept free for one (the reserve, and superblocks set
//! aside for movers and for the host) suffices.

use super::Ftl;
use crate::blocks::State;
use crate::frontier::Frontier;
use crate::layout::{Layout, Mode, NONE};
use crate::mover::Work;
use crate::op::NandOp;
use crate::orders::Policies;
use crate::policy::Separation;
use crate::slc_cache::{Cache, Seen};
use crate::streams::Stream;
use crate::victims::{COLD_POOL, HOT_POOL};
use crate::wear::Cause;
use crate::write_buffer::Flight;
use crate::writing::Writing;

impl<P: Policies> Ftl<P> {
    /// Places up to `count` units of consecutive LPNs; the answer is how many fitted into the
    /// superblock.
    #[inline]
    pub(super) fn append(
        &mut self,
        stream: Stream,
        lpn: u32,
        count: u32,
        ops: &mut Vec<NandOp>,
    ) -> u32 {
        if self.layout.packs() {
            return self.append_packed(stream, lpn, count, ops);
        }
        self.ensure_open(stream);
        let s = self.writing[stream];
        let taken = count.min(s.here());
        let ppn = self.layout.base(s.superblock) + s.next;
        self.invalidate_run(lpn, taken);
        self.map.point(lpn, ppn, taken);
        if taken > 1 {
            // As a rule a run goes on.
            self.map.expect_run(lpn + taken, ppn + taken, taken);
        }
        self.cuts.placed(lpn, ppn, taken);
        self.blocks.gain_valid(&mut self.cache, s.superblock, taken);
        self.advance_stream(stream, taken, ops);
        taken
    }

    /// Places one unit where nothing is compressed and no power cut can come: what
    /// [`Ftl::append`] does for a run, without what a run needs.
    #[inline]
    pub(super) fn append_unit(&mut self, stream: Stream, lpn: u32, ops: &mut Vec<NandOp>) {
        self.ensure_open(stream);
        let s = &self.writing[stream];
        let superblock = s.superblock;
        let ppn = self.layout.base(superblock) + s.next;
        let old = self.map.point_unit(lpn, ppn);
        if old != NONE {
            let (map, cache) = (&mut self.map, &mut self.cache);
            self.blocks.invalidate_unit(map, cache, &self.layout, old);
        }
        self.blocks.gain_valid(&mut self.cache, superblock, 1);
        self.advance_stream(stream, 1, ops);
    }

    /// Places units that were moved from elsewhere, given by their LPNs; their old copies, which
    /// the host wrote at `written` or before, are already marked invalid.
    pub(super) fn append_moved(
        &mut self,
        stream: Stream,
        lpns: &[u32],
        written: u64,
        ops: &mut Vec<NandOp>,
    ) {
        if self.layout.packs() {
            return self.append_moved_packed(stream, lpns, written, ops);
        }
        let mut rest = lpns;
        while !rest.is_empty() {
            self.ensure_open(stream);
            let s = &self.writing[stream];
            let superblock = s.superblock;
            let (now, later) = rest.split_at(rest.len().min(s.here() as usize));
            let ppn = self.layout.base(superblock) + s.next;
            let count = now.len() as u32;
            self.map.point_all(now, ppn);
            self.cuts.copied(now, ppn);
            self.blocks.gain_valid(&mut self.cache, superblock, count);
            self.blocks.received(superblock, written);
            self.advance_stream(stream, count, ops);
            rest = later;
        }
        self.paged.entries_moved(lpns, &mut self.counters);
    }

    /// Moves a stream on and issues the granules that became full.
    #[inline]
    pub(super) fn advance_stream(&mut self, stream: Stream, count: u32, ops: &mut Vec<NandOp>) {
        if self.writing.fill(stream, count) {
            self.issue_full(stream, ops);
        }
    }

    /// Issues the granules of a stream that are full, and goes on to the next lane.
    #[inline(never)]
    fn issue_full(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        while self.writing[stream].begun + self.writing[stream].granule <= self.writing[stream].next
        {
            let granule = self.writing[stream].granule;
            self.issue_program(stream, granule, granule, ops);
        }
        let s = &self.writing[stream];
        if s.next == s.stop {
            self.end_turn(stream);
        }
    }

    /// The granule or the whole superblock of the current lane is full.
    pub(super) fn end_turn(&mut self, stream: Stream) {
        let s = self.writing[stream];
        if s.next == s.end {
            self.close(stream);
        }
        if self.layout.groups > 1 && stream.has_lanes() {
            self.writing.next_lane(stream);
        }
    }

    /// Issues the program of the granule being filled, which holds `filled` units; `sent` is what
    /// crosses the channel.
    pub(super) fn issue_program(
        &mut self,
        stream: Stream,
        filled: u32,
        sent: u32,
        ops: &mut Vec<NandOp>,
    ) {
        let s = self.writing[stream];
        self.count_programmed(stream, filled - s.moved);
        if s.moved > 0 {
            self.movers[Work::Collect].count_programmed(s.moved, &mut self.counters);
            self.writing[stream].moved = 0;
        }
        let flight = Flight {
            begun: false,
            first: self.layout.base(s.superblock) + s.begun,
            units: s.granule,
            superblock: s.superblock,
            host_units: if stream.is_host() {
                filled - s.moved
            } else {
                0
            },
            moved: s.moved,
            stream,
            sequence: s.sequence,
            host_sequence: s.host_sequence,
            source: NONE,
            die: 0,
            stripe: 0,
        };
        let place = self.layout.place(s.mode, s.superblock, s.begun);
        self.launch(stream, &s, flight, place, sent, ops);
        if self.layout.parity {
            let before = s;
            self.protect(stream, &before, ops);
        }
        self.writing.end_granule(stream);
        if self.writing.passes.are_of(self.writing[stream].mode) {
            self.writing.later_passes(stream, &mut self.counters, ops);
        }
    }

    /// Issues the program of a granule, which the stream has filled or which belongs to it and
    /// holds padding or parity; `s` is the stream as it stood before. `place` is its die and page
    /// type,
    /// `sent` what crosses the channel. The function is inlined and hands `s` to no other: so the
    /// fields of the stream that has just been changed are read one by one. A copy of all of it
    /// would wait until the writes have reached the cache.
    #[inline(always)]
    pub(super) fn launch(
        &mut self,
        stream: Stream,
        s: &Frontier,
        flight: Flight,
        (die, page): (u32, u32),
        sent: u32,
        ops: &mut Vec<NandOp>,
    ) {
        let data = flight.stream != Stream::Parity;
        let stripe = self.layout.stripe_of(s.mode, s.begun).0;
        let flight = Flight {
            die: die as u16,
            stripe,
            ..flight
        };
        let place = self.writing.buffer.launch(flight);
        self.blocks[s.superblock].in_flight += 1;
        self.count_cells(s.mode, s.granule);
        ops.push(NandOp::new(
            die as u16,
            self.layout.program_class(s.mode, page),
            sent as u16,
            self.writing.passes.first_token(s.mode, page, place),
        ));
        if self.writing.passes.are_of(s.mode) {
            let (op, lane) = (ops[ops.len() - 1], (stream, s.lane));
            let Writing { passes, buffer, .. } = &mut self.writing;
            passes.begun(buffer, lane, stripe, op, data);
        }
    }

    #[inline]
    fn count_cells(&mut self, mode: Mode, units: u32) {
        if mode == Mode::Slc {
            self.counters.slc_mode_units += u64::from(self.layout.whole(units));
        }
    }

    pub(super) fn count_programmed(&mut self, stream: Stream, units: u32) {
        let counter = match stream {
            _ if self.cuts.is_recovering() => &mut self.counters.recovery_units,
            Stream::Cache => &mut self.counters.slc_units,
            Stream::Tier => &mut self.counters.tier_units,
            _ if stream.is_direct() => &mut self.counters.direct_units,
            Stream::Fold => &mut self.counters.fold_units,
            Stream::Map => &mut self.counters.map_units,
            _ => {
                return self.movers[Work::Collect].count_programmed(units, &mut self.counters);
            }
        };
        *counter += u64::from(units);
    }

    /// Fills the rest of a partly filled granule with padding and issues it. Only the pages that
    /// hold data cross the channel.
    pub(super) fn pad(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let s = self.writing[stream];
        if s.next == s.begun {
            return;
        }
        if self.layout.packs() {
            return self.pad_packed(stream, ops);
        }
        let filled = s.next - s.begun;
        let sent = filled.next_multiple_of(self.layout.page_units);
        if self.policy.pads_pages && stream == Stream::Cache && sent < s.granule {
            return self.pad_pages(filled, sent, ops);
        }
        self.counters.pad_units += u64::from(s.granule - filled);
        self.writing[stream].next = s.begun + s.granule;
        self.issue_program(stream, filled, sent, ops);
        if self.writing[stream].next == s.stop {
            self.end_turn(stream);
        }
    }

    /// Fills the last page of a partly filled wordline of the cache and programs the planes that
    /// hold data. What comes next fills the others.
    fn pad_pages(&mut self, filled: u32, sent: u32, ops: &mut Vec<NandOp>) {
        let s = &mut self.writing[Stream::Cache];
        let rest = s.granule - sent;
        s.next = s.begun + sent;
        s.granule = sent;
        self.counters.pad_units += u64::from(sent - filled);
        self.issue_program(Stream::Cache, filled, sent, ops);
        self.writing[Stream::Cache].granule = rest;
    }

    /// Pads a stream until none of its data waits: the granule being filled, and as many
    /// wordlines of padding as later passes ask for.
    pub(super) fn pad_through(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        self.pad(stream, ops);
        if self.writing.passes.waiting_of(stream) == 0 {
            return;
        }
        for group in 0..self.layout.groups {
            while self.writing.passes.holds_data((stream, group)) {
                self.writing.switch_lane(stream, group);
                self.pad_granule(stream, ops);
            }
        }
    }

    /// Programs a granule of padding.
    fn pad_granule(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let s = self.writing[stream];
        assert!(
            s.here() >= s.granule,
            "a full superblock waits for its passes"
        );
        let nowhere = self.layout.physical_units();
        let flight = Flight::without_data(s.superblock, nowhere, s.sequence, NONE);
        self.counters.pad_units += u64::from(self.layout.whole(s.granule));
        let place = self.layout.place(s.mode, s.superblock, s.begun);
        self.launch(stream, &s, flight, place, 0, ops);
        if self.layout.parity {
            self.protect(stream, &s, ops);
        }
        let moved = &mut self.writing[stream];
        moved.next += s.granule;
        moved.begun = moved.next;
        self.writing.later_passes(stream, &mut self.counters, ops);
        if s.begun + s.granule == s.stop {
            self.end_turn(stream);
        }
    }

    /// Issues the parity of a stripe once the last of its data granules, the one that the stream
    /// has filled, is on its way. Until then the parity of the granules before it is in the
    /// controller's RAM. It crosses the channel like data.
    fn protect(&mut self, stream: Stream, s: &Frontier, ops: &mut Vec<NandOp>) {
        let (stripe, slot) = self.layout.stripe_of(s.mode, s.begun);
        if slot + 1 < self.layout.stripe_granules() {
            return;
        }
        let nowhere = self.layout.physical_units();
        let protects = self.layout.base(s.superblock) + s.begun - slot * s.granule;
        let flight = Flight::without_data(s.superblock, nowhere, s.sequence, protects);
        self.counters.parity_units += u64::from(self.layout.whole(s.granule));
        let place = self.layout.parity_place(s.mode, s.superblock, stripe);
        let sent = self.layout.granule_grains(s.mode);
        self.launch(stream, s, flight, place, sent, ops);
    }

    /// Passes over a whole granule that copyback fills and no program from the buffer.
    pub(super) fn skip_granule(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        self.writing.number();
        let s = &mut self.writing[stream];
        s.next += s.granule;
        s.begun = s.next;
        if self.layout.groups > 1 {
            s.stop = s.next + s.granule;
        }
        let full = s.next == s.end;
        if self.writing.passes.are_of(self.writing[stream].mode) {
            self.writing.later_passes(stream, &mut self.counters, ops);
        }
        if full {
            self.close(stream);
        }
    }
}

/// On a drive that compresses.
impl<P: Policies> Ftl<P> {
    /// Places units of consecutive LPNs that the host hands over; the answer is how many.
    fn append_packed(
        &mut self,
        stream: Stream,
        lpn: u32,
        count: u32,
        ops: &mut Vec<NandOp>,
    ) -> u32 {
        let size = self.packing.incoming();
        let taken = count.min(self.fit_packed(stream, size, ops));
        self.invalidate_run(lpn, taken);
        let s = &self.writing[stream];
        let ppn = self.layout.base(s.superblock) + s.next;
        self.cuts.placed(lpn, ppn, taken);
        self.put_packed(stream, lpn, taken, size, ops);
        taken
    }

    /// Places units that were moved from elsewhere, whose sizes have been noted.
    fn append_moved_packed(
        &mut self,
        stream: Stream,
        lpns: &[u32],
        written: u64,
        ops: &mut Vec<NandOp>,
    ) {
        let sizes = self.packing.take_moved();
        assert_eq!(sizes.len(), lpns.len(), "sizes of what is moved");
        for (&lpn, &size) in lpns.iter().zip(&sizes) {
            self.fit_packed(stream, size, ops);
            let s = &self.writing[stream];
            self.blocks.received(s.superblock, written);
            let ppn = self.layout.base(s.superblock) + s.next;
            self.cuts.copied(&[lpn], ppn);
            self.put_packed(stream, lpn, 1, size, ops);
        }
        self.packing.give_back_moved(sizes);
    }

    /// How many units of a size fit into the row being filled, at least one: a row without room for
    /// one is closed.
    fn fit_packed(&mut self, stream: Stream, size: u8, ops: &mut Vec<NandOp>) -> u32 {
        loop {
            self.ensure_open(stream);
            let s = &self.writing[stream];
            let fit = self.packing.fit(&self.layout, s, size);
            if fit > 0 {
                return fit;
            }
            self.close_row(stream, ops);
        }
    }

    /// Points logical units at the next slots of a stream, which they fit into.
    fn put_packed(
        &mut self,
        stream: Stream,
        lpn: u32,
        count: u32,
        size: u8,
        ops: &mut Vec<NandOp>,
    ) {
        let s = self.writing.begin_granule(stream);
        let superblock = s.superblock;
        let ppn = self.layout.base(superblock) + s.next;
        let full = self.packing.put(&self.layout, s, ppn, count, size);
        self.map.point(lpn, ppn, count);
        self.blocks.gain_valid(&mut self.cache, superblock, count);
        if full {
            self.close_row(stream, ops);
        }
    }

    /// Ends the row being filled; when it was the last of its granule, that is issued.
    fn close_row(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let s = &mut self.writing[stream];
        let sent = self.layout.granule_grains(s.mode);
        if s.close_row(&self.layout) {
            self.issue_packed(stream, sent, ops);
        }
    }

    /// Fills the rest of a partly filled granule with nothing and issues it.
    fn pad_packed(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let sent = self.writing[stream].close_granule(&self.layout);
        self.issue_packed(stream, sent, ops);
    }

    fn issue_packed(&mut self, stream: Stream, sent: u32, ops: &mut Vec<NandOp>) {
        let s = &mut self.writing[stream];
        let held = self.packing.issued(&self.layout, s, &mut self.counters);
        self.issue_program(stream, held, sent, ops);
        let s = &self.writing[stream];
        if s.next == s.stop {
            self.end_turn(stream);
        }
    }
}

impl<P: Policies> Ftl<P> {
    /// Makes sure that the current lane of a stream has space.
    #[inline]
    pub(super) fn ensure_open(&mut self, stream: Stream) {
        if self.writing[stream].here() == 0 {
            self.find_space(stream);
        }
    }

    /// Opens a superblock in the current lane of a stream, which has none.
    #[cold]
    pub(super) fn open(&mut self, stream: Stream) {
        // A start after a power cut writes whole superblocks back, and needs all pages for that.
        let lower_only =
            self.layout.lower_first && stream == Stream::Direct && !self.cuts.is_recovering();
        if lower_only && self.reopen_half() {
            return;
        }
        let mode = self.writing[stream].mode;
        let group = self.writing[stream].lane;
        let superblock = match stream {
            Stream::Cache => {
                let blocks = &mut self.blocks;
                self.cache.take(blocks, &self.wear, &self.layout, group)
            }
            Stream::Tier => {
                let blocks = &mut self.blocks;
                self.cache
                    .take_for_tier(blocks, &self.wear, &self.layout, group)
            }
            Stream::Map => self.blocks.take_map(),
            _ => self
                .wear
                .take_free(&mut self.blocks, &self.layout, (stream, group)),
        };
        let logical_units = self.logical_units();
        let (cache, seen) = self.cache_and_seen();
        cache.taken(&seen, logical_units);
        let Some(superblock) = superblock else {
            panic!(
                "no superblock left for stream {stream:?}\n{}",
                self.describe()
            );
        };
        match stream {
            Stream::Fold => self.movers[Work::Fold].pledge(false),
            _ if stream.is_host() => self.writing.buffer.awaited_mut().cancel(stream),
            _ if stream.is_collected() && stream == self.collect_stream() => {
                self.movers[Work::Collect].pledge(false);
            }
            _ => {}
        }
        assert!(
            self.blocks.free_count() >= self.movers.pledged(),
            "stream {stream:?} took a superblock that is kept for a mover\n{}",
            self.describe()
        );
        let cold = matches!(
            stream,
            Stream::Placed1 | Stream::Collected1 | Stream::Levelled
        );
        let pool = usize::from(cold && self.policy.gc.separation.divides_pools());
        self.packing.opened(superblock);
        let now = self.counters.host_units;
        self.blocks.open(superblock, (stream, mode), pool, now);
        self.collection.opened(superblock);
        self.cuts.opened(superblock);
        let s = &mut self.writing[stream];
        s.superblock = superblock;
        (s.next, s.begun) = (0, 0);
        s.end = if lower_only {
            self.layout.slc_units
        } else {
            self.layout.units(mode)
        };
        s.stop = if self.layout.groups > 1 && stream.has_lanes() {
            s.granule
        } else {
            s.end
        };
        s.lane = self.layout.group_of(superblock);
        self.blocks[superblock].written = s.end;
    }

    /// While nothing is free beyond the reserve, host data is written into the upper pages of the
    /// superblock whose lower pages were filled first; false where there is none.
    fn reopen_half(&mut self) -> bool {
        if self.available() > self.policy.gc.reserve_superblocks {
            return false;
        }
        let Some(superblock) = self.blocks.take_half() else {
            return false;
        };
        self.writing.buffer.awaited_mut().cancel(Stream::Direct);
        let block = &mut self.blocks[superblock];
        assert_eq!(
            (block.state, block.written),
            (State::Half, self.layout.slc_units)
        );
        block.state = State::Open;
        self.cuts.opened(superblock);
        let s = &mut self.writing[Stream::Direct];
        s.superblock = superblock;
        (s.next, s.begun) = (block.written, block.written);
        s.end = self.layout.native_units;
        s.stop = s.end;
        block.written = s.end;
        true
    }

    pub(super) fn close(&mut self, stream: Stream) {
        let superblock = self.writing[stream].superblock;
        let half = stream == Stream::Direct && self.writing[stream].end < self.layout.native_units;
        let s = &mut self.writing[stream];
        s.superblock = NONE;
        (s.next, s.begun, s.end, s.stop) = (0, 0, 0, 0);
        s.granule = s.full;
        if half {
            self.blocks.close_half(superblock);
        } else {
            self.close_superblock(stream, superblock);
        }
    }

    /// The superblock that levelled data goes into was opened when the host had yet to write as
    /// much as the drive holds: left open, it would be lost to collection and never be worn until
    /// more data is to be levelled, which under some loads is never.
    pub(super) fn levels_no_more(&self) -> bool {
        let superblock = self.writing[Stream::Levelled].superblock;
        let opened = |s: u32| self.blocks[s].opened_at;
        let holds = u64::from(self.logical_units());
        superblock != NONE && opened(superblock) + holds <= self.counters.host_units
    }

    /// Closes the superblock of a stream of one lane before it is full, once its last stripe has
    /// its parity.
    pub(super) fn close_filled_in_part(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        assert!(!stream.has_lanes(), "{stream:?} has lanes");
        self.pad(stream, ops);
        let in_a_stripe = |s: &Frontier, layout: &Layout| {
            layout.parity && s.superblock != NONE && layout.stripe_of(s.mode, s.next).1 > 0
        };
        while in_a_stripe(&self.writing[stream], &self.layout) {
            self.pad_granule(stream, ops);
        }
        let s = self.writing[stream];
        if s.superblock == NONE {
            return;
        }
        let lane = (stream, s.lane);
        self.writing.last_passes(lane, &mut self.counters, ops);
        self.close(stream);
    }

    /// A superblock that a stream has filled takes no more data.
    pub(super) fn close_superblock(&mut self, stream: Stream, superblock: u32) {
        if stream.is_host() {
            self.blocks.received(superblock, self.counters.host_units);
        }
        self.blocks.close(superblock);
    }

    /// Finds a lane with space for a stream whose current one has none, and opens a superblock
    /// where it has to or may.
    #[cold]
    fn find_space(&mut self, stream: Stream) {
        if self.layout.groups == 1 || stream == Stream::Map {
            self.open(stream);
            return;
        }
        if stream == Stream::Levelled {
            if let Some(worn) = self.wear.most_worn(&self.blocks) {
                self.writing.switch_lane(stream, self.layout.group_of(worn));
            }
            self.open(stream);
            return;
        }
        for _ in 0..self.layout.groups {
            if self.writing[stream].here() > 0 {
                return;
            }
            if self.may_open_lane(stream) {
                self.open(stream);
                return;
            }
            self.writing.next_lane(stream);
        }
        if let Some(superblock) = self.blocks.first_free(stream == Stream::Cache) {
            let group = self.layout.group_of(superblock);
            self.writing.switch_lane(stream, group);
        }
        self.open(stream);
    }

    /// Whether the current lane may have a superblock though others of its stream have space.
    fn may_open_lane(&self, stream: Stream) -> bool {
        let reserve = self.policy.gc.reserve_superblocks;
        match stream {
            Stream::Cache => {
                let group = self.writing[stream].lane;
                self.blocks.has_fixed(&self.layout, group)
                    || (self.lane_has_free(stream) && self.cache.borrowable(&self.seen()) > 0)
            }
            Stream::Tier => self.lane_has_free(stream) && self.cache.tier_may_open(&self.seen()),
            Stream::Direct => self.lane_has_free(stream) && self.available() > reserve,
            _ => self.lane_has_free(stream) && self.available_to_movers() > reserve,
        }
    }

    /// The group of a stream's current lane has a free superblock for it.
    pub(super) fn lane_has_free(&self, stream: Stream) -> bool {
        let group = self.writing[stream].lane;
        self.blocks.has_free(&self.layout, group)
    }

    /// Marks the present copies of a run of logical units invalid. The map itself is left to the
    /// caller.
    #[inline(always)]
    pub(super) fn invalidate_run(&mut self, lpn: u32, count: u32) {
        let (map, cache) = (&mut self.map, &mut self.cache);
        self.blocks
            .invalidate_run(map, cache, &self.layout, lpn, count);
    }

    /// The cache, to be changed, and what it looks at.
    #[inline]
    pub(super) fn cache_and_seen(&mut self) -> (&mut Cache, Seen<'_>) {
        let seen = Seen {
            available: self.available(),
            row_most: self.packing.row_most(),
            folding: &self.movers[Work::Fold],
            policy: &self.policy,
            layout: &self.layout,
            blocks: &self.blocks,
            writing: &self.writing,
        };
        (&mut self.cache, seen)
    }

    /// The stream that has room, or a free superblock set aside, for all that is left of the
    /// present source. It is that of the source's pool.
    #[inline]
    pub(super) fn collect_stream(&self) -> Stream {
        if self.movers[Work::Collect].cause() == Cause::Wear {
            return Stream::Levelled;
        }
        self.stream_of_pool(self.source_pool())
    }

    /// The stream that takes the data of any victim of a pool.
    #[inline]
    pub(super) fn stream_of_pool(&self, pool: usize) -> Stream {
        match self.policy.gc.separation {
            Separation::Oracle { .. } if pool == COLD_POOL => Stream::Collected1,
            _ => Stream::Collected,
        }
    }

    pub(super) fn source_pool(&self) -> usize {
        match self.movers[Work::Collect].source() {
            NONE => HOT_POOL,
            source => self.blocks.pool_of(source),
        }
    }

    /// Sets a free superblock aside where what is coming to a stream does not fit into its open
    /// one.
    #[inline]
    pub(super) fn set_aside(&mut self, stream: Stream) {
        let coming = self.writing.buffer.awaited().coming_to(stream);
        if coming > self.writing[stream].left() {
            self.writing.buffer.awaited_mut().reserve_superblock(stream);
        }
    }

    /// Sets superblocks aside for all streams, after one of them has lost its own.
    pub(super) fn set_aside_for_all(&mut self) {
        for &stream in self.writing.of_host() {
            self.set_aside(stream);
        }
    }
}
