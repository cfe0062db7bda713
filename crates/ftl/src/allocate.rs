//! Open superblocks: one a stream (and die group, see [`crate::lanes`]), filled from its beginning,
//! a program issued as each granule is full.
//!
//! The map changes when data is placed, before its program is issued; until the program ends the
//! data is served from the buffer.

use crate::ftl::Ftl;
use crate::layout::{Layout, Mode, NONE};
use crate::op::NandOp;
use crate::orders::Policies;
use crate::packing::GRAINS;
use crate::policy::Policy;
use crate::streams::Stream;
use crate::write_buffer::Flight;

/// The open superblock whose turn it is, and how far it is filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frontier {
    /// The open superblock, or none.
    pub(crate) superblock: u32,
    /// Offset of the next unit.
    pub(crate) next: u32,
    /// Offset at which the granule being filled begins.
    pub(crate) begun: u32,
    /// Offset at which the superblock is full.
    pub(crate) end: u32,
    /// Offset at which another lane has its turn: the end where there is one lane.
    pub(crate) stop: u32,
    /// Die group of the lane that has its turn.
    pub(crate) lane: u32,
    /// Units that fit into the superblocks of the other lanes.
    pub(crate) parked: u32,
    /// Units of a granule.
    pub(crate) granule: u32,
    /// Units of collected data in the granule being filled, where the stream is the host's.
    pub(crate) moved: u32,
    /// Sequence number of the granule being filled.
    pub(crate) sequence: u64,
    /// How it programs.
    pub(crate) mode: Mode,
    /// Slots for each whole unit, and whole units of a row (see [`crate::packing`]).
    pub(crate) ratio: u32,
    pub(crate) row: u32,
    /// Compressed: grains in the row being filled; units, and their grains, in the granule.
    pub(crate) used: u32,
    pub(crate) held: u32,
    pub(crate) grains: u32,
}

flashtwin_base::state! { Frontier {
    kept: superblock, next, begun, end, stop, lane, parked, moved, sequence, used, held, grains;
    built: granule, mode, ratio, row;
} }

impl Frontier {
    pub(crate) fn new(layout: &Layout, policy: &Policy, stream: Stream) -> Frontier {
        let mode = stream.mode(policy);
        Frontier {
            superblock: NONE,
            next: 0,
            begun: 0,
            end: 0,
            stop: 0,
            lane: 0,
            parked: 0,
            granule: layout.granule(mode),
            moved: 0,
            sequence: 0,
            mode,
            ratio: layout.ratio,
            row: layout.row_units / layout.ratio,
            used: 0,
            held: 0,
            grains: 0,
        }
    }

    /// Units that fit before a new superblock has to be opened.
    #[inline]
    pub(crate) fn left(&self) -> u32 {
        if self.ratio > 1 {
            return self.left_packed();
        }
        self.end - self.next + self.parked
    }

    /// The same where units are compressed: as many as fit whatever their size.
    fn left_packed(&self) -> u32 {
        let slots = self.row * self.ratio;
        let rows = (self.end - self.next.next_multiple_of(slots)) / slots;
        let here = if self.next.is_multiple_of(slots) {
            0
        } else {
            self.row - self.used.div_ceil(GRAINS)
        };
        rows * self.row + here + self.parked / self.ratio
    }

    /// What waits for its granule to be full is taken elsewhere.
    pub(crate) fn drop_waiting(&mut self) {
        (self.used, self.held, self.grains) = (0, 0, 0);
    }

    /// Units that wait for their granule to be full.
    #[inline]
    pub(crate) fn waiting(&self) -> u32 {
        if self.ratio > 1 {
            return self.held;
        }
        self.next - self.begun
    }

    /// Units that fit before another lane has its turn.
    #[inline]
    pub(crate) fn here(&self) -> u32 {
        self.stop - self.next
    }
}

impl<P: Policies> Ftl<P> {
    /// Places up to `count` units of consecutive LPNs; the answer is how many fitted into the
    /// superblock.
    #[inline]
    pub(crate) fn append(
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
        let s = self.writing.streams[stream];
        let taken = count.min(s.here());
        let ppn = self.layout.base(s.superblock) + s.next;
        self.invalidate_run(lpn, taken);
        self.map.point(lpn, ppn, taken);
        if taken > 1 {
            // As a rule a run goes on.
            self.map.expect_run(lpn + taken, ppn + taken, taken);
        }
        self.cuts.placed(lpn, ppn, taken);
        self.gain_valid(s.superblock, taken);
        self.advance_stream(stream, taken, ops);
        taken
    }

    /// Places one unit where nothing is compressed and no power cut can come: what
    /// [`Ftl::append`] does for a run, without what a run needs.
    #[inline]
    pub(crate) fn append_unit(&mut self, stream: Stream, lpn: u32, ops: &mut Vec<NandOp>) {
        self.ensure_open(stream);
        let s = &self.writing.streams[stream];
        let superblock = s.superblock;
        let ppn = self.layout.base(superblock) + s.next;
        let old = self.map.point_unit(lpn, ppn);
        if old != NONE {
            self.invalidate_unit(old);
        }
        self.gain_valid(superblock, 1);
        self.advance_stream(stream, 1, ops);
    }

    /// Places units that were moved from elsewhere, given by their LPNs; their old copies, which
    /// the host wrote at `written` or before, are already marked invalid.
    pub(crate) fn append_moved(
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
            let s = self.writing.streams[stream];
            let (now, later) = rest.split_at(rest.len().min(s.here() as usize));
            let ppn = self.layout.base(s.superblock) + s.next;
            let count = now.len() as u32;
            self.map.point_all(now, ppn);
            self.cuts.copied(now, ppn);
            self.gain_valid(s.superblock, count);
            self.blocks.victims.received(s.superblock, written);
            self.advance_stream(stream, count, ops);
            rest = later;
        }
        self.entries_moved(lpns);
    }

    /// Moves a stream on and issues the granules that became full.
    #[inline]
    pub(crate) fn advance_stream(&mut self, stream: Stream, count: u32, ops: &mut Vec<NandOp>) {
        let s = &mut self.writing.streams[stream];
        if s.next == s.begun {
            s.sequence = self.writing.sequence;
            self.writing.sequence += 1;
        }
        s.next += count;
        if s.next >= s.begun + s.granule || s.next == s.stop {
            self.issue_full(stream, ops);
        }
    }

    /// Issues the granules of a stream that are full, and ends its turn where that is over.
    #[inline(never)]
    fn issue_full(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        while self.writing.streams[stream].begun + self.writing.streams[stream].granule
            <= self.writing.streams[stream].next
        {
            let granule = self.writing.streams[stream].granule;
            self.issue_program(stream, granule, granule, ops);
        }
        let s = self.writing.streams[stream];
        if s.next == s.stop {
            self.end_turn(stream);
        }
    }

    /// A lane is full, or its turn is over.
    pub(crate) fn end_turn(&mut self, stream: Stream) {
        let s = self.writing.streams[stream];
        if s.next == s.end {
            self.close(stream);
        }
        if self.layout.groups > 1 && stream != Stream::Map {
            self.next_lane(stream);
        }
    }

    /// Issues the program of the granule being filled, which holds `filled` units; `sent` is what
    /// crosses the channel.
    pub(crate) fn issue_program(
        &mut self,
        stream: Stream,
        filled: u32,
        sent: u32,
        ops: &mut Vec<NandOp>,
    ) {
        let s = self.writing.streams[stream];
        self.count_programmed(stream, filled - s.moved);
        if s.moved > 0 {
            self.collection
                .mover
                .count_programmed(s.moved, &mut self.counters);
            self.writing.streams[stream].moved = 0;
        }
        let flight = Flight {
            begun: false,
            first: self.layout.base(s.superblock) + s.begun,
            superblock: s.superblock,
            host_units: if stream.is_host() {
                filled - s.moved
            } else {
                0
            },
            moved: s.moved,
            stream,
            sequence: s.sequence,
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
        let s = &mut self.writing.streams[stream];
        s.begun += s.granule;
        if s.next > s.begun {
            s.sequence = self.writing.sequence;
            self.writing.sequence += 1;
        }
        if self.has_passes(self.writing.streams[stream].mode) {
            self.later_passes(stream, ops);
        }
    }

    /// Issues the program of a granule, which the stream has filled or which belongs to it and
    /// holds nobody's data; `s` is the stream as it stood before. `place` is its die and page type,
    /// `sent` what crosses the channel. The function is inlined and hands `s` to no other: so the
    /// fields of the stream that has just been changed are read one by one. A copy of all of it
    /// would wait until the writes have reached the cache.
    #[inline(always)]
    pub(crate) fn launch(
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
        self.blocks.all[s.superblock as usize].in_flight += 1;
        self.count_cells(s.mode, s.granule);
        ops.push(NandOp::new(
            die as u16,
            self.layout.program_class(s.mode, page),
            sent as u16,
            self.first_pass(s.mode, page, place),
        ));
        if self.has_passes(s.mode) {
            let op = ops[ops.len() - 1];
            let before = *s;
            self.half_done(stream, &before, op, data);
        }
    }

    #[inline]
    fn count_cells(&mut self, mode: Mode, units: u32) {
        if mode == Mode::Slc {
            self.counters.slc_mode_units += u64::from(self.layout.whole(units));
        }
    }

    pub(crate) fn count_programmed(&mut self, stream: Stream, units: u32) {
        let counter = match stream {
            _ if self.cuts.is_recovering() => &mut self.counters.recovery_units,
            Stream::Cache => &mut self.counters.slc_units,
            Stream::Tier => &mut self.counters.tier_units,
            _ if stream.is_direct() => &mut self.counters.direct_units,
            Stream::Fold => &mut self.counters.fold_units,
            Stream::Map => &mut self.counters.map_units,
            _ => {
                return self
                    .collection
                    .mover
                    .count_programmed(units, &mut self.counters);
            }
        };
        *counter += u64::from(units);
    }

    /// Fills the rest of a partly filled granule with nothing and issues it. Only the pages that
    /// hold data cross the channel.
    pub(crate) fn pad(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let s = self.writing.streams[stream];
        if s.next == s.begun {
            return;
        }
        if self.layout.packs() {
            return self.pad_packed(stream, ops);
        }
        let filled = s.next - s.begun;
        self.counters.pad_units += u64::from(s.granule - filled);
        let sent = filled.next_multiple_of(self.layout.page_units);
        self.writing.streams[stream].next = s.begun + s.granule;
        self.issue_program(stream, filled, sent, ops);
        if self.writing.streams[stream].next == s.stop {
            self.end_turn(stream);
        }
    }

    /// Leaves a whole granule to something other than a program from the buffer, such as copyback.
    pub(crate) fn skip_granule(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        self.writing.sequence += 1;
        let s = &mut self.writing.streams[stream];
        s.next += s.granule;
        s.begun = s.next;
        if self.layout.groups > 1 {
            s.stop = s.next + s.granule;
        }
        let full = s.next == s.end;
        if self.has_passes(self.writing.streams[stream].mode) {
            self.later_passes(stream, ops);
        }
        if full {
            self.close(stream);
        }
    }
}
