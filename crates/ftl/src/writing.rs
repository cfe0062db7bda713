//! What is on its way to the flash: the streams with the superblocks that they have open, the data
//! that waits in RAM, and the programs under way.
//!
//! [`Frontier`] is how far a stream has come, [`Lanes`] its other open superblocks, [`Passes`] what
//! waits for another program of its wordline, [`WriteBuffer`] the RAM and the programs. All of it
//! is numbered: each granule gets the next sequence number as it is begun, so that "everything
//! before this is on flash" is a comparison. Where granules wait for later passes, host data that
//! joins what collection has begun a granule with has a number of its own. Else a flush that came
//! before that data would wait for it, and so for the wordlines that the host writes behind it.

mod parity;

use std::ops::{Index, IndexMut};

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
use crate::streams::{InUse, STREAMS, Stream};
use crate::write_buffer::{Flight, WriteBuffer};

pub use parity::Mate;

/// The state of the room.
pub(crate) struct Writing {
    /// How far each stream has filled its open superblock.
    streams: [Frontier; STREAMS],
    /// The streams that this drive's policy has data for.
    in_use: InUse,
    lanes: Lanes,
    pub(crate) passes: Passes,
    pub(crate) buffer: WriteBuffer,
    /// The number of the next granule that is begun.
    sequence: u64,
    /// The host waits for a superblock.
    starved: bool,
}

flashtwin_base::state! { Writing {
    kept: sequence, starved;
    part: streams, lanes, passes, buffer;
    built: in_use;
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
        }
    }

    /// How far each stream has come.
    #[inline]
    pub(crate) fn frontiers(&self) -> impl Iterator<Item = (Stream, &Frontier)> {
        Stream::ALL.into_iter().zip(&self.streams)
    }

    /// The streams that this drive has host data for.
    #[inline]
    pub(crate) fn of_host(&self) -> &'static [Stream] {
        self.in_use.host
    }

    /// The streams that this drive has collected data for.
    #[inline]
    pub(crate) fn of_collected(&self) -> &'static [Stream] {
        self.in_use.collected
    }

    /// The stream whose current lane fills a superblock.
    pub(crate) fn filling(&self, superblock: u32) -> Option<Stream> {
        let mut all = Stream::ALL.into_iter();
        all.find(|&stream| self.streams[stream].superblock == superblock)
    }

    /// The superblocks that a stream has open, in all lanes.
    pub(crate) fn open_superblocks(&self, stream: Stream) -> impl Iterator<Item = u32> {
        let own = Some(self.streams[stream].superblock).filter(|&s| s != NONE);
        own.into_iter().chain(self.lanes.superblocks(stream))
    }

    /// The number of the next granule that is begun.
    #[inline]
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The number of the next granule that is begun, for a page of the journal to take.
    #[inline]
    pub(crate) fn sequence_mut(&mut self) -> &mut u64 {
        &mut self.sequence
    }

    /// Takes the next number for what is no granule of a stream.
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence - 1
    }

    /// The granule that a stream fills is begun, if it is not yet.
    #[inline]
    pub(crate) fn begin_granule(&mut self, stream: Stream) -> &mut Frontier {
        let s = &mut self.streams[stream];
        if s.next == s.begun {
            s.begin(self.sequence);
            self.sequence += 1;
        }
        s
    }

    /// Units are placed in a stream, where those that collection has placed count as `moved`
    /// already; true where its granule or its lane is full.
    #[inline]
    pub(crate) fn fill(&mut self, stream: Stream, units: u32) -> bool {
        let s = self.begin_granule(stream);
        s.next += units;
        let full = s.next >= s.begun + s.granule || s.next == s.stop;
        if s.host_sequence == u64::MAX && s.next - s.begun > s.moved {
            let number = self.number();
            self.streams[stream].host_sequence = number;
        }
        full
    }

    /// The granule that a stream was filling is issued, and the next one begun if data waits.
    #[inline]
    pub(crate) fn end_granule(&mut self, stream: Stream) {
        let s = &mut self.streams[stream];
        s.begun += s.granule;
        s.granule = s.full;
        if s.next > s.begun {
            s.begin(self.sequence);
            self.sequence += 1;
        }
    }

    /// The host waits for a superblock.
    #[inline]
    pub(crate) fn is_starved(&self) -> bool {
        self.starved
    }

    /// Notes whether the host waits for a superblock; the answer is whether it did.
    #[inline]
    pub(crate) fn set_starved(&mut self, starved: bool) -> bool {
        std::mem::replace(&mut self.starved, starved)
    }

    /// The power goes: nothing is in RAM or under way.
    pub(crate) fn power_lost(&mut self, layout: &Layout) {
        self.buffer = WriteBuffer::new(self.buffer.capacity());
        self.passes = Passes::new(layout);
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
        self.passes.wordline_programmed(&self.buffer, place);
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
        let mut flying = self.buffer.flights();
        flying.any(|(_, f)| ppn.wrapping_sub(f.first) < f.units)
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
        let mut flying = self.buffer.flights();
        let flight = flying.find(|(_, f)| ppn.wrapping_sub(f.first) < f.units);
        let replaceable = |f: &Flight| !f.begun && f.host_units > 0 && f.moved == 0;
        block.in_flight > 0 && flight.is_some_and(|(_, f)| replaceable(f))
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

    /// Lowest sequence number of host data that is not programmed yet.
    #[inline]
    pub(crate) fn oldest_of_host(&self) -> u64 {
        let flying = self.buffer.flights().filter(|(_, f)| f.host_units > 0);
        let flying = flying.map(|(_, f)| f.host_sequence);
        let open = self.in_use.host.iter().map(|&stream| &self.streams[stream]);
        let open = open
            .filter(|s| s.next - s.begun > s.moved)
            .map(|s| s.host_sequence);
        flying.chain(open).min().unwrap_or(u64::MAX)
    }

    /// True if a stream has a granule that was begun before a sequence number, and that is not full
    /// yet or has a pass to come.
    pub(crate) fn begun_before(&self, stream: Stream, sequence: u64) -> bool {
        let s = &self.streams[stream];
        let filling = s.next > s.begun && s.sequence < sequence;
        let waits = self.passes.waiting_of(stream) > 0;
        filling || waits && self.oldest_pending(|of| of == stream) < sequence
    }

    /// The same of granules of some streams, whatever data they hold.
    #[inline]
    pub(crate) fn oldest_pending(&self, of: impl Fn(Stream) -> bool) -> u64 {
        let flying = self.buffer.flights().filter(|(_, f)| of(f.stream));
        let flying = flying.map(|(_, f)| f.sequence);
        let open = Stream::ALL.into_iter().zip(&self.streams);
        let open = open
            .filter(|(i, s)| of(*i) && s.next > s.begun)
            .map(|(_, s)| s.sequence);
        flying.chain(open).min().unwrap_or(u64::MAX)
    }
}

impl Index<Stream> for Writing {
    type Output = Frontier;

    #[inline]
    fn index(&self, stream: Stream) -> &Frontier {
        &self.streams[stream]
    }
}

impl IndexMut<Stream> for Writing {
    #[inline]
    fn index_mut(&mut self, stream: Stream) -> &mut Frontier {
        &mut self.streams[stream]
    }
}
