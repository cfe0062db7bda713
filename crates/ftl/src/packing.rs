//! Compression: more mapping units in a page row than it holds as they came (SandForce).
//!
//! With a best ratio of r a row has r times as many *slots* as it holds whole units, and physical
//! units (PPNs) number slots. How many of them are used depends on the data: a unit takes between
//! `8 / r` and 8 *grains*, eighths of itself. A row is closed when the next unit does not fit, or
//! could not even if it were as small as possible; its other slots stay empty. Units do not span
//! rows. Whatever comes, a row takes at least as many units as without compression, so room is
//! promised in whole units, and data that cannot be compressed lies exactly as on a drive that does
//! not compress.
//!
//! The size of each stored unit is kept (a byte a slot), so that moved data is packed again by
//! its size. The buffer holds data as it came. Everything is counted in units as the host knows
//! them; what compression kept off the flash is counted beside them.
//!
//! The room knows sizes and rows; where data goes is decided in [`crate::allocate`], which asks it
//! what fits ([`Packing::fit`]), tells it what was placed ([`Packing::put`]) and that a granule is
//! issued ([`Packing::issued`]). Arithmetic that the rest of the firmware needs is
//! [`Layout::packs`] and [`Layout::whole`].
//!
//! Invariants (`Packing::check`): the valid units of a row are no larger than the row; what was
//! programmed, less what was saved, and what was padded, add up to whole granules.

use crate::blocks::Blocks;
use crate::counters::Counters;
use crate::ensure::{Checked, ensure, ensure_eq};
use crate::frontier::Frontier;
use crate::layout::{GRAINS, Layout, Mode};
use crate::map::Map;

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
    pub(crate) fn note_moved(&mut self, map: &Map, first: u32, count: u32) {
        if !self.sizes.is_empty() {
            self.note_sizes(map, first, count);
        }
    }

    fn note_sizes(&mut self, map: &Map, first: u32, count: u32) {
        let valid = (first..first + count).filter(|&ppn| map.is_valid(ppn));
        self.moved.extend(valid.map(|ppn| self.sizes[ppn as usize]));
    }

    /// The sizes that have been noted, in the order of the units; to be given back.
    pub(crate) fn take_moved(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.moved)
    }

    /// What was moved has been placed.
    pub(crate) fn give_back_moved(&mut self, mut sizes: Vec<u8>) {
        sizes.clear();
        self.moved = sizes;
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

impl Packing {
    /// How much smaller the data can be made that the host hands over from now on.
    pub(crate) fn expect(&mut self, compressible_percent: u8) {
        self.incoming = grains_of(compressible_percent, self.smallest);
    }

    /// Grains of each unit that the host hands over now.
    pub(crate) fn incoming(&self) -> u8 {
        self.incoming
    }

    /// Grains that cross the channel when so many logical units from `lpn` on are read, all of
    /// which lie in one row.
    pub(crate) fn read_grains(&self, map: &Map, lpn: u32, count: u32) -> u32 {
        let units = lpn..lpn + count;
        let size = |lpn: u32| self.sizes[map.physical[lpn as usize] as usize];
        units.map(|lpn| u32::from(size(lpn))).sum()
    }

    /// What crosses the channel when the `valid` units of a row are read: in units, or, on a drive
    /// that compresses, in grains.
    pub(crate) fn row_sent(&self, layout: &Layout, map: &Map, first: u32, valid: u32) -> u32 {
        if !layout.packs() {
            return valid;
        }
        self.row_grains(layout, map, first)
    }

    /// Grains of the valid units of a row.
    fn row_grains(&self, layout: &Layout, map: &Map, first: u32) -> u32 {
        let valid = (first..first + layout.row_units).filter(|&ppn| map.is_valid(ppn));
        valid.map(|ppn| u32::from(self.sizes[ppn as usize])).sum()
    }

    /// Units that a superblock in native mode frees and keeps together: those that it holds, and at
    /// least what it holds uncompressed.
    pub(crate) fn units_in(&self, layout: &Layout, superblock: u32) -> u32 {
        let least = layout.whole_units(Mode::Native);
        if layout.ratio == 1 {
            return least;
        }
        least.max(self.filled[superblock as usize])
    }

    /// Units that a row may hold, as far as is known.
    pub(crate) fn row_most(&self) -> u32 {
        self.fullest_row
    }

    /// How many units of a size fit into the row that a stream fills.
    pub(crate) fn fit(&self, layout: &Layout, s: &Frontier, size: u8) -> u32 {
        let slots = layout.row_units - s.next % layout.row_units;
        ((layout.row_grains() - s.used) / u32::from(size)).min(slots)
    }

    /// Units of a size that fit are placed in the next slots of a stream, the first of which is
    /// `ppn`; the answer is whether the row is full.
    pub(crate) fn put(
        &mut self,
        layout: &Layout,
        s: &mut Frontier,
        ppn: u32,
        count: u32,
        size: u8,
    ) -> bool {
        let grains = count * u32::from(size);
        s.next += count;
        s.used += grains;
        s.held += count;
        s.grains += grains;
        self.sizes[ppn as usize..(ppn + count) as usize].fill(size);
        self.filled[s.superblock as usize] += count;
        let in_row = (ppn + count - 1) % layout.row_units + 1;
        self.fullest_row = self.fullest_row.max(in_row);
        // A last row that may have no room for the next unit would keep its superblock open while
        // the host waits for another.
        s.used + u32::from(self.smallest) > layout.row_grains()
            || s.next.is_multiple_of(layout.row_units)
            || s.left() == 0
    }

    /// A granule has been filled or padded and is issued: what was saved and padded in it is
    /// counted. The answer is how many units it holds.
    pub(crate) fn issued(
        &mut self,
        layout: &Layout,
        s: &mut Frontier,
        counters: &mut Counters,
    ) -> u32 {
        let (held, grains) = (s.held, s.grains);
        (s.held, s.grains) = (0, 0);
        let padded = layout.granule_grains(s.mode) - grains;
        let saved = held * GRAINS - grains;
        counters.saved_units += Packing::whole_units(&mut self.saved_rest, saved);
        counters.pad_units += Packing::whole_units(&mut self.padded_rest, padded);
        held
    }

    /// Checks that no row holds more than it can, and that what was saved and padded makes whole
    /// granules.
    pub(crate) fn check(&self, layout: &Layout, map: &Map, blocks: &Blocks) -> Checked {
        if !layout.packs() {
            return Ok(());
        }
        ensure_eq!(self.saved_rest, self.padded_rest, "granules are not whole");
        for first in (0..layout.physical_units()).step_by(layout.row_units as usize) {
            let used = self.row_grains(layout, map, first);
            ensure!(used <= layout.row_grains(), "row {first} holds {used}");
        }
        for (superblock, block) in blocks.all().iter().enumerate() {
            ensure!(
                block.valid <= self.filled[superblock],
                "{superblock} is packed"
            );
        }
        Ok(())
    }
}

impl Frontier {
    /// Ends the row being filled, on a drive that compresses; whether it was the last of its
    /// granule.
    pub(crate) fn close_row(&mut self, layout: &Layout) -> bool {
        self.next = self.next.next_multiple_of(layout.row_units);
        self.used = 0;
        self.next == self.begun + self.granule
    }

    /// Fills the rest of the granule with nothing, on a drive that compresses; the answer is what
    /// crosses the channel: only the pages that hold data.
    pub(crate) fn close_granule(&mut self, layout: &Layout) -> u32 {
        let rows = (self.next - self.begun) / layout.row_units;
        let last = self.used.next_multiple_of(layout.page_grains());
        self.next = self.begun + self.granule;
        self.used = 0;
        rows * layout.row_grains() + last
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
