//! What is on its way to the flash: the streams with the superblocks that they have open, the data
//! that waits in RAM, and the programs under way.
//!
//! [`Frontier`] is how far a stream has come, [`Lanes`] its other open superblocks, [`Passes`] what
//! waits for another program of its wordline, [`WriteBuffer`] the RAM and the programs. All of it
//! is numbered: each granule gets the next sequence number as it is begun, so that "everything
//! before this is on flash" is a comparison.

use crate::blocks::{Blocks, State};
use crate::counters::Counters;
use crate::ensure::Checked;
use crate::frontier::Frontier;
use crate::lanes::Lanes;
use crate::layout::{Layout, NONE};
use crate::lifetimes::Lifetimes;
use crate::op::NandOp;
use crate::passes::{Lane, Passes};
use crate::policy::Policy;
use crate::row_lists::RowLists;
use crate::streams::{InUse, STREAMS, Stream};
use crate::write_buffer::{Flight, WriteBuffer};

/// The state of the room.
pub(crate) struct Writing {
    /// How far each stream has filled its open superblock.
    pub(crate) streams: [Frontier; STREAMS],
    /// The streams that this drive's policy has data for.
    pub(crate) in_use: InUse,
    pub(crate) lanes: Lanes,
    pub(crate) passes: Passes,
    pub(crate) buffer: WriteBuffer,
    /// The number of the next granule that is begun.
    pub(crate) sequence: u64,
    /// The host waits for a superblock.
    pub(crate) starved: bool,
    /// What the rows hold that movers read.
    pub(crate) row_lists: RowLists,
}

flashtwin_base::state! { Writing {
    kept: sequence, starved;
    part: streams, lanes, passes, buffer;
    built: in_use, row_lists;
} }

impl Writing {
    /// Nothing is under way. `buffer_units` is the write buffer.
    pub(crate) fn new(
        layout: &Layout,
        policy: &Policy,
        lifetimes: &impl Lifetimes,
        buffer_units: u32,
    ) -> Writing {
        Writing {
            streams: Stream::ALL.map(|stream| Frontier::new(layout, policy, stream)),
            in_use: InUse::new(policy.classes(), lifetimes.classes()),
            lanes: Lanes::new(layout),
            passes: Passes::new(layout),
            buffer: WriteBuffer::new(buffer_units),
            sequence: 0,
            starved: false,
            row_lists: RowLists::new(layout),
        }
    }

    /// Issues the later passes that have become due in the superblock that a stream fills.
    #[inline]
    pub(crate) fn later_passes(
        &mut self,
        stream: Stream,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        let s = &self.streams[stream];
        self.passes.follow(&self.buffer, (stream, s), counters, ops);
    }

    /// Issues all later passes of a lane, whose superblock takes no more data.
    pub(crate) fn last_passes(
        &mut self,
        lane: Lane,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        if self.passes.are_of(self.streams[lane.0].mode) {
            self.passes.finish(&self.buffer, lane, counters, ops);
        }
    }

    /// A pass of a granule that is not its last has ended.
    pub(crate) fn first_passed(&mut self, place: u32) {
        self.passes.ended(&self.buffer, place);
    }

    /// A program has ended for good: where it is the last of its wordline, the others are safe.
    pub(crate) fn wordline_programmed(&mut self, place: u32) {
        self.passes.wordline_programmed(&mut self.buffer, place);
    }

    /// Whether a power cut at this moment leaves a page as it is.
    pub(crate) fn stands_alone(&self, place: u32) -> bool {
        self.passes.stands_alone(&self.buffer, place)
    }

    /// Gives up what waits for later passes, because the superblocks are erased anyway.
    pub(crate) fn forget_passes(&mut self, layout: &Layout, blocks: &mut Blocks) {
        self.passes.forget(layout, &mut self.buffer, blocks);
    }

    /// No stream has a superblock open.
    pub(crate) fn close_all(&mut self, layout: &Layout, policy: &Policy) {
        self.streams = Stream::ALL.map(|stream| Frontier::new(layout, policy, stream));
        self.lanes = Lanes::new(layout);
        self.row_lists = RowLists::new(layout);
        self.starved = false;
    }
}

/// Lanes.
impl Writing {
    /// Takes a superblock that is not to be filled on out of the lane that it is parked in; the
    /// answer is its stream, and how far it is filled. Its stream has begun no granule in it.
    pub(crate) fn leave_parked(&mut self, superblock: u32) -> Option<(Stream, u32)> {
        let (stream, next, left) = self.lanes.take(superblock)?;
        self.streams[stream].parked -= left;
        Some((stream, next))
    }

    /// Makes a group's lane the current one of a stream. Only between granules.
    #[inline]
    pub(crate) fn switch_lane(&mut self, stream: Stream, group: u32) {
        self.lanes.switch(stream, &mut self.streams[stream], group);
    }

    /// The granule is full: the next group's lane is the current one.
    #[inline]
    pub(crate) fn next_lane(&mut self, stream: Stream) {
        let group = self.lanes.behind(self.streams[stream].lane);
        self.switch_lane(stream, group);
    }

    /// Checks the lanes of all streams.
    pub(crate) fn check_lanes(&self, layout: &Layout, blocks: &Blocks) -> Checked {
        self.lanes.check(&self.streams, layout, blocks)
    }
}

/// What is in RAM.
impl Writing {
    /// Whether the data of a physical unit is still in RAM: in a granule being filled or
    /// programmed.
    #[inline]
    pub(crate) fn holds(&self, layout: &Layout, blocks: &Blocks, ppn: u32) -> bool {
        let (superblock, offset) = layout.split(ppn);
        let block = &blocks[superblock];
        if block.state == State::Closed && block.in_flight == 0 {
            return false;
        }
        let open = self
            .streams
            .iter()
            .any(|s| s.superblock == superblock && offset >= s.begun);
        if open || block.in_flight == 0 {
            return open;
        }
        let wanted = |f: &Flight| f.first != NONE && ppn.wrapping_sub(f.first) < f.units;
        self.buffer.flights.iter().any(wanted)
    }

    /// Whether other data can take the place of a physical unit's in RAM: that is in a granule of
    /// host data alone, which is being filled or whose die has not taken it yet.
    pub(crate) fn can_replace(&self, layout: &Layout, blocks: &Blocks, ppn: u32) -> bool {
        let (superblock, offset) = layout.split(ppn);
        let filling = |&stream: &Stream| {
            let s = &self.streams[stream];
            s.superblock == superblock && offset >= s.begun
        };
        if let Some(&stream) = Stream::HOST.iter().find(|stream| filling(stream)) {
            return self.streams[stream].moved == 0;
        }
        if layout.parity {
            return false;
        }
        let block = &blocks[superblock];
        let holds = |f: &&Flight| f.first != NONE && ppn.wrapping_sub(f.first) < f.units;
        let flight = self.buffer.flights.iter().find(holds);
        block.in_flight > 0 && flight.is_some_and(|f| !f.begun && f.host_units > 0 && f.moved == 0)
    }

    /// Units of the host that wait in granules that are not full.
    #[inline]
    pub(crate) fn host_units_waiting(&self) -> u32 {
        let waiting = |&stream: &Stream| {
            let s = &self.streams[stream];
            s.waiting() - s.moved
        };
        self.in_use.host.iter().map(waiting).sum()
    }

    /// Lowest sequence number of a granule with host data that is not programmed yet.
    #[inline]
    pub(crate) fn oldest_of_host(&self) -> u64 {
        let flying = self.buffer.flights.iter();
        let flying = flying
            .filter(|f| f.first != NONE && f.host_units > 0)
            .map(|f| f.sequence);
        let open = self.in_use.host.iter().map(|&stream| &self.streams[stream]);
        let open = open
            .filter(|s| s.next - s.begun > s.moved)
            .map(|s| s.sequence);
        flying.chain(open).min().unwrap_or(u64::MAX)
    }

    /// The same of granules of some streams, whatever data they hold.
    #[inline]
    pub(crate) fn oldest_pending(&self, of: impl Fn(Stream) -> bool) -> u64 {
        let flying = self.buffer.flights.iter();
        let flying = flying
            .filter(|f| f.first != NONE && of(f.stream))
            .map(|f| f.sequence);
        let open = Stream::ALL.into_iter().zip(&self.streams);
        let open = open
            .filter(|(i, s)| of(*i) && s.next > s.begun)
            .map(|(_, s)| s.sequence);
        flying.chain(open).min().unwrap_or(u64::MAX)
    }
}
