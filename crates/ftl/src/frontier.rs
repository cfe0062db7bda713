//! How far a stream has filled the superblock that it has open.

use std::ops::{Index, IndexMut};

use crate::layout::{GRAINS, Layout, Mode, NONE};
use crate::policy::Policy;
use crate::streams::{STREAMS, Stream};

/// The superblock that a stream fills, and how far it is filled.
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
    /// Offset at which the stream goes on in another lane: the end where there is one lane.
    pub(crate) stop: u32,
    /// Die group of the current lane.
    pub(crate) lane: u32,
    /// Units that fit into the superblocks of the other lanes.
    pub(crate) parked: u32,
    /// Units of the granule being filled: the rest, where pages of it have been programmed.
    pub(crate) granule: u32,
    /// Units of a whole one.
    pub(crate) full: u32,
    /// Units of collected data in the granule being filled, where the stream is the host's.
    pub(crate) moved: u32,
    /// Sequence number of the granule being filled.
    pub(crate) sequence: u64,
    /// The number of its host data (see [`crate::writing`]), the largest before any has come.
    pub(crate) host_sequence: u64,
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
    kept: superblock, next, begun, end, stop, lane, parked, granule, moved, sequence, host_sequence,
        used, held, grains;
    built: full, mode, ratio, row;
} }

impl Frontier {
    pub(crate) fn new(layout: &Layout, policy: &Policy, stream: Stream) -> Frontier {
        let mode = match stream {
            Stream::Cache => Mode::Slc,
            Stream::Tier => Mode::Tier,
            Stream::Map => policy.map.mode,
            _ => Mode::Native,
        };
        Frontier {
            superblock: NONE,
            next: 0,
            begun: 0,
            end: 0,
            stop: 0,
            lane: 0,
            parked: 0,
            granule: layout.granule(mode),
            full: layout.granule(mode),
            moved: 0,
            sequence: 0,
            host_sequence: 0,
            mode,
            ratio: layout.ratio,
            row: layout.row_units / layout.ratio,
            used: 0,
            held: 0,
            grains: 0,
        }
    }

    /// The granule being filled is begun, with this number. What collection is about to place in it
    /// counts as `moved` already.
    #[inline]
    pub(crate) fn begin(&mut self, sequence: u64) {
        self.sequence = sequence;
        self.host_sequence = if self.moved > 0 { u64::MAX } else { sequence };
    }

    /// Whoever waits for a granule below a sequence number waits for the one being filled too.
    pub(crate) fn lower(&mut self, sequence: u64) {
        self.sequence = self.sequence.min(sequence);
        if self.host_sequence < u64::MAX {
            self.host_sequence = self.host_sequence.min(sequence);
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
        (self.used, self.held, self.grains, self.moved) = (0, 0, 0, 0);
        self.granule = self.full;
    }

    /// Units that wait for their granule to be full.
    #[inline]
    pub(crate) fn waiting(&self) -> u32 {
        if self.ratio > 1 {
            return self.held;
        }
        self.next - self.begun
    }

    /// Units that fit before the stream goes on in another lane.
    #[inline]
    pub(crate) fn here(&self) -> u32 {
        self.stop - self.next
    }
}

impl Index<Stream> for [Frontier; STREAMS] {
    type Output = Frontier;

    #[inline]
    fn index(&self, stream: Stream) -> &Frontier {
        &self[stream.index()]
    }
}

impl IndexMut<Stream> for [Frontier; STREAMS] {
    #[inline]
    fn index_mut(&mut self, stream: Stream) -> &mut Frontier {
        &mut self[stream.index()]
    }
}
