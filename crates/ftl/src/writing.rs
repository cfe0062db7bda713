//! What is on its way to the flash: the streams with the superblocks that they have open, the data
//! that waits in RAM, and the programs under way.
//!
//! [`Frontier`] is how far a stream has come, [`Lanes`] its other open superblocks, [`Passes`] what
//! waits for another program of its wordline, [`WriteBuffer`] the RAM and the programs. All of it
//! is numbered: each granule gets the next sequence number as it is begun, so that "everything
//! before this is on flash" is a comparison.

use crate::blocks::Blocks;
use crate::counters::Counters;
use crate::frontier::Frontier;
use crate::lanes::Lanes;
use crate::layout::Layout;
use crate::lifetimes::Lifetimes;
use crate::op::NandOp;
use crate::passes::{Lane, Passes};
use crate::policy::Policy;
use crate::row_lists::RowLists;
use crate::streams::{InUse, STREAMS, Stream};
use crate::write_buffer::WriteBuffer;

/// The state of the room. It is saved piece by piece by [`Ftl`](crate::Ftl), in the order that
/// snapshots have.
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
