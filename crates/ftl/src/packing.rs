//! Compression: more mapping units in a page row than it holds as they came (SandForce).
//!
//! With a best ratio of r a row has r times as many *slots* as it holds whole units, and physical
//! units (PPNs) number slots. How many of them are used depends on the data: a unit takes between
//! `8 / r` and 8 *grains*, eighths of itself, and a row is closed when the next unit does not
//! fit, or nothing could; its other slots stay empty. Units do not span rows. Whatever comes, a
//! row takes at least as many units as without compression, so room is promised in whole units
//! and data that cannot be compressed lies exactly as on a drive that does not compress.
//!
//! The size of each stored unit is kept (a byte a slot), so that moved data is packed again by
//! its size. The buffer holds data as it came. Everything is counted in units as the host knows
//! them; what compression kept off the flash is counted beside them.
//!
//! What crosses is named: [`Layout::packs`] and [`Layout::whole`] for arithmetic, and here how data
//! is placed ([`Ftl::append_packed`], [`Ftl::append_moved_packed`], [`Ftl::pad_packed`]), what is
//! told of moved rows and opened superblocks ([`Packing::note_moved`], [`Packing::opened`]), and
//! what crosses the channel ([`Ftl::read_grains`], [`Ftl::row_sent`]).
//!
//! Invariants (`Ftl::check`): the valid units of a row are no larger than the row; what was
//! programmed, less what was saved, and what was padded, add up to whole granules.

use crate::audit::Bounds;
use crate::check::{Checked, ensure, ensure_eq};
use crate::ftl::Ftl;
use crate::layout::{Layout, Mode};
use crate::map::Map;
use crate::op::NandOp;
use crate::orders::Policies;
use crate::streams::Stream;

/// Grains of a unit that cannot be compressed.
pub(crate) const GRAINS: u32 = 8;

/// Sizes of stored units, and what has been saved by them.
pub(crate) struct Packing {
    /// Grains of the unit in each slot; means something only where the slot is valid.
    sizes: Vec<u8>,
    /// Units placed in each superblock since it was opened.
    filled: Vec<u32>,
    /// Grains of each unit that the host hands over now.
    incoming: u8,
    /// Most units that a row has ever been given.
    fullest_row: u32,
    /// Grains of the best compressed unit.
    smallest: u8,
    /// Sizes of the units that a mover has read.
    moved: Vec<u8>,
    /// Grains saved and padded that are not a whole unit yet.
    saved_rest: u32,
    padded_rest: u32,
}

flashtwin_base::state! { Packing {
    kept: incoming, fullest_row, moved, saved_rest, padded_rest;
    sized: filled;
    table: sizes;
    built: smallest;
} }

/// Grains of a unit that could be made so many percent smaller, whole grains and no fewer than the
/// best ratio allows.
fn grains_of(percent: u8, smallest: u8) -> u8 {
    let left = (100 - u32::from(percent.min(100))) * GRAINS;
    (left.div_ceil(100) as u8).max(smallest)
}

impl Packing {
    pub(crate) fn new(layout: &Layout) -> Packing {
        let (slots, superblocks) = if layout.ratio > 1 {
            (layout.physical_units(), layout.superblocks)
        } else {
            (0, 0)
        };
        Packing {
            sizes: vec![0; slots as usize],
            filled: vec![0; superblocks as usize],
            incoming: GRAINS as u8,
            fullest_row: layout.row_units / layout.ratio,
            smallest: GRAINS.div_ceil(layout.ratio) as u8,
            moved: Vec::new(),
            saved_rest: 0,
            padded_rest: 0,
        }
    }

    /// Bytes that the tables take.
    pub(crate) fn bytes(&self) -> usize {
        self.sizes.len() + self.filled.len() * 4
    }

    /// Notes the sizes of the valid units of a row that is moved, behind those noted before.
    #[inline]
    pub(crate) fn note_moved(&mut self, map: &Map, first: u32, count: u32) {
        if !self.sizes.is_empty() {
            self.note_sizes(map, first, count);
        }
    }

    fn note_sizes(&mut self, map: &Map, first: u32, count: u32) {
        let valid = (first..first + count).filter(|&ppn| map.is_valid(ppn));
        self.moved.extend(valid.map(|ppn| self.sizes[ppn as usize]));
    }

    /// A superblock is opened: nothing is in it.
    pub(crate) fn opened(&mut self, superblock: u32) {
        if let Some(filled) = self.filled.get_mut(superblock as usize) {
            *filled = 0;
        }
    }

    /// Whether the data that the host hands over now is as large as that of a physical unit.
    pub(crate) fn is_as_large(&self, ppn: u32) -> bool {
        self.sizes[ppn as usize] == self.incoming
    }

    fn whole_units(rest: &mut u32, grains: u32) -> u64 {
        *rest += grains;
        let units = *rest / GRAINS;
        *rest %= GRAINS;
        u64::from(units)
    }
}

impl<P: Policies> Ftl<P> {
    /// Whether the drive compresses what it stores.
    #[inline]
    #[must_use]
    pub fn compresses(&self) -> bool {
        self.layout.packs()
    }

    /// How much smaller the data can be made that the host hands over from now on.
    pub fn incoming_data(&mut self, compressible_percent: u8) {
        self.packing.incoming = grains_of(compressible_percent, self.packing.smallest);
    }

    /// What crosses the channel when so many logical units from `lpn` on are read, all of which lie
    /// in one row: in units, or, on a drive that compresses, in eighths of a unit.
    #[must_use]
    pub fn read_grains(&self, lpn: u32, count: u32) -> u32 {
        let units = lpn..lpn + count;
        let size = |lpn: u32| self.packing.sizes[self.map.physical[lpn as usize] as usize];
        units.map(|lpn| u32::from(size(lpn))).sum()
    }

    /// The same for the `valid` units of a row that a mover reads.
    #[inline]
    pub(crate) fn row_sent(&self, first: u32, valid: u32) -> u32 {
        if !self.layout.packs() {
            return valid;
        }
        self.row_grains_valid(first, self.layout.row_units)
    }

    /// The same for the valid units of a row.
    fn row_grains_valid(&self, first: u32, count: u32) -> u32 {
        let valid = (first..first + count).filter(|&ppn| self.map.is_valid(ppn));
        valid
            .map(|ppn| u32::from(self.packing.sizes[ppn as usize]))
            .sum()
    }

    /// Units that a superblock in native mode frees and keeps together: those that it holds, and at
    /// least what it holds uncompressed.
    #[inline]
    pub(crate) fn units_in(&self, superblock: u32) -> u32 {
        let least = self.layout.whole_units(Mode::Native);
        if self.layout.ratio == 1 {
            return least;
        }
        least.max(self.packing.filled[superblock as usize])
    }

    /// Units that a row may hold, as far as is known.
    #[inline]
    pub(crate) fn row_most(&self) -> u32 {
        self.packing.fullest_row
    }

    /// Places units of consecutive LPNs that the host hands over; the answer is how many.
    pub(crate) fn append_packed(
        &mut self,
        stream: Stream,
        lpn: u32,
        count: u32,
        ops: &mut Vec<NandOp>,
    ) -> u32 {
        let size = self.packing.incoming;
        let taken = count.min(self.fits(stream, size, ops));
        self.invalidate_run(lpn, taken);
        let s = &self.writing.streams[stream];
        let ppn = self.layout.base(s.superblock) + s.next;
        self.cuts.placed(lpn, ppn, taken);
        self.put(stream, lpn, taken, size, ops);
        taken
    }

    /// Places units that were moved from elsewhere, whose sizes have been noted.
    pub(crate) fn append_moved_packed(
        &mut self,
        stream: Stream,
        lpns: &[u32],
        written: u64,
        ops: &mut Vec<NandOp>,
    ) {
        let mut sizes = std::mem::take(&mut self.packing.moved);
        assert_eq!(sizes.len(), lpns.len(), "sizes of what is moved");
        for (&lpn, &size) in lpns.iter().zip(&sizes) {
            self.fits(stream, size, ops);
            let superblock = self.writing.streams[stream].superblock;
            self.blocks.victims.received(superblock, written);
            let ppn = self.layout.base(superblock) + self.writing.streams[stream].next;
            self.cuts.copied(&[lpn], ppn);
            self.put(stream, lpn, 1, size, ops);
        }
        sizes.clear();
        self.packing.moved = sizes;
    }

    /// How many units of a size fit into the row being filled, at least one: a row without room for
    /// one is closed.
    fn fits(&mut self, stream: Stream, size: u8, ops: &mut Vec<NandOp>) -> u32 {
        loop {
            self.ensure_open(stream);
            let s = &self.writing.streams[stream];
            let slots = self.layout.row_units - s.next % self.layout.row_units;
            let fit = ((self.layout.row_grains() - s.used) / u32::from(size)).min(slots);
            if fit > 0 {
                return fit;
            }
            self.close_row(stream, ops);
        }
    }

    /// Points logical units at the next slots of a stream, which they fit into.
    fn put(&mut self, stream: Stream, lpn: u32, count: u32, size: u8, ops: &mut Vec<NandOp>) {
        let s = &mut self.writing.streams[stream];
        if s.next == s.begun {
            s.sequence = self.writing.sequence;
            self.writing.sequence += 1;
        }
        let superblock = s.superblock;
        let ppn = self.layout.base(superblock) + s.next;
        let grains = count * u32::from(size);
        s.next += count;
        s.used += grains;
        s.held += count;
        s.grains += grains;
        // A last row that may have no room for the next unit would keep its superblock open while
        // the host waits for another.
        let full = s.used + u32::from(self.packing.smallest) > self.layout.row_grains()
            || s.next.is_multiple_of(self.layout.row_units)
            || s.left() == 0;
        self.map.point(lpn, ppn, count);
        self.packing.sizes[ppn as usize..(ppn + count) as usize].fill(size);
        self.packing.filled[superblock as usize] += count;
        let in_row = (ppn + count - 1) % self.layout.row_units + 1;
        self.packing.fullest_row = self.packing.fullest_row.max(in_row);
        self.gain_valid(superblock, count);
        if full {
            self.close_row(stream, ops);
        }
    }

    /// Ends the row being filled; when it was the last of its granule, that is issued.
    fn close_row(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let s = &mut self.writing.streams[stream];
        s.next = s.next.next_multiple_of(self.layout.row_units);
        s.used = 0;
        if s.next == s.begun + s.granule {
            let sent = self.layout.granule_grains(s.mode);
            self.issue_packed(stream, sent, ops);
        }
    }

    /// Fills the rest of a partly filled granule with nothing and issues it. Only the pages that
    /// hold data cross the channel.
    pub(crate) fn pad_packed(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let s = &mut self.writing.streams[stream];
        let rows = (s.next - s.begun) / self.layout.row_units;
        let last = s.used.next_multiple_of(self.layout.page_grains());
        s.next = s.begun + s.granule;
        s.used = 0;
        let sent = rows * self.layout.row_grains() + last;
        self.issue_packed(stream, sent, ops);
    }

    fn issue_packed(&mut self, stream: Stream, sent: u32, ops: &mut Vec<NandOp>) {
        let s = &mut self.writing.streams[stream];
        let (held, grains) = (s.held, s.grains);
        (s.held, s.grains) = (0, 0);
        let padded = self.layout.granule_grains(s.mode) - grains;
        let p = &mut self.packing;
        self.counters.saved_units +=
            Packing::whole_units(&mut p.saved_rest, held * GRAINS - grains);
        self.counters.pad_units += Packing::whole_units(&mut p.padded_rest, padded);
        self.issue_program(stream, held, sent, ops);
        if self.writing.streams[stream].next == self.writing.streams[stream].stop {
            self.end_turn(stream);
        }
    }

    /// No row holds more than it can, and what was saved and padded makes whole granules.
    pub(crate) fn check_packing(&self) -> Checked {
        if !self.compresses() {
            return Ok(());
        }
        let p = &self.packing;
        ensure_eq!(p.saved_rest, p.padded_rest, "granules are not whole");
        let row = self.layout.row_units;
        for first in (0..self.layout.physical_units()).step_by(row as usize) {
            let used = self.row_grains_valid(first, row);
            ensure!(used <= self.layout.row_grains(), "row {first} holds {used}");
        }
        for (superblock, block) in self.blocks.all.iter().enumerate() {
            ensure!(
                block.valid <= p.filled[superblock],
                "{superblock} is packed"
            );
        }
        Ok(())
    }
}

impl Packing {
    /// See [`crate::audit`].
    pub(crate) fn audit(&self, b: &Bounds) -> Checked {
        let stored = self.sizes.iter().max().copied().unwrap_or(0);
        let moved = self.moved.iter().max().copied().unwrap_or(0);
        let largest = u32::from(stored.max(moved).max(self.incoming));
        ensure!(largest <= GRAINS, "a unit of {largest} grains");
        ensure!(
            self.incoming >= self.smallest,
            "units of {} grains",
            self.incoming
        );
        Bounds::below("packed", b.units + 1, &self.filled)?;
        Bounds::below("row", b.units + 1, [&self.fullest_row])?;
        Bounds::below("rest", GRAINS, [&self.saved_rest, &self.padded_rest])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_entropy_down_to_the_best_ratio() {
        for (percent, best, grains) in [
            (0, 4, 8),
            (1, 4, 8),
            (12, 4, 8),
            (13, 4, 7),
            (25, 4, 6),
            (46, 4, 5),
            (50, 4, 4),
            (100, 4, 4),
            (100, 2, 2),
            (100, 8, 8),
        ] {
            assert_eq!(grains_of(percent, best), grains, "{percent} %");
        }
    }
}
