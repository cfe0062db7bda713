//! Parity of stripes (RAISE, RAIN): when it is written, which data has none, and what has to be
//! read to make a lost row anew.
//!
//! The parity of a stripe that is being filled is in the controller's RAM and is programmed behind
//! the last of its data. A superblock that is given up early, because a block of it failed, ends in
//! a stripe without parity; so does one whose parity was torn by a power cut. From there on its
//! data stands alone ([`crate::blocks::Superblock::bare`]).

use super::Writing;
use crate::blocks::{Blocks, State};
use crate::frontier::Frontier;
use crate::layout::{Layout, NONE};
use crate::op::class;
use crate::streams::Stream;
use crate::write_buffer::Flight;

/// A row that is read to rebuild another of its stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mate {
    /// Its die.
    pub die: u16,
    /// The operation class of its read.
    pub class: u8,
    /// A number of its own among all rows of the drive, parity after data.
    pub row: u32,
}

impl Blocks {
    /// A stream leaves a superblock, of granules of this many units, at an offset: the stripe that
    /// it was filling gets no parity. The answer is how much of the stripe was programmed.
    pub(crate) fn forgo_parity(
        &mut self,
        layout: &Layout,
        granule: u32,
        superblock: u32,
        offset: u32,
    ) -> u32 {
        if !layout.parity {
            return 0;
        }
        let begun = offset % (granule * layout.stripe_granules());
        self.lose_parity(superblock, offset - begun);
        layout.whole(begun)
    }

    /// What lies behind an offset of a superblock has no parity.
    fn lose_parity(&mut self, superblock: u32, offset: u32) {
        let bare = &mut self[superblock].bare;
        *bare = offset.min(*bare);
    }

    /// The program of a granule has not come to its end: where it is parity, its stripe has none.
    pub(crate) fn tear_parity(&mut self, layout: &Layout, flight: &Flight) {
        if flight.stream == Stream::Parity && flight.source != NONE {
            let (superblock, offset) = layout.split(flight.source);
            self.lose_parity(superblock, offset);
        }
    }
}

impl Writing {
    /// Units issued in stripes that are not whole: their parity is in RAM.
    pub(crate) fn unprotected_units(&self, layout: &Layout) -> u64 {
        if !layout.parity {
            return 0;
        }
        let units = |(stream, s): (Stream, &Frontier)| {
            let stripe = s.granule * layout.stripe_granules();
            let parked = self.lanes.parked(stream).map(|next| next % stripe);
            let slots = u64::from(s.begun % stripe) + parked.map(u64::from).sum::<u64>();
            slots / u64::from(layout.ratio)
        };
        Stream::ALL.into_iter().zip(&self.streams).map(units).sum()
    }

    /// The rows that have to be read to rebuild the one of a physical unit: those of the other
    /// granules of its stripe that are on flash; what is in RAM of the stripe needs no read. None
    /// where there is no parity to rebuild it from.
    pub(crate) fn stripe_mates(
        &self,
        layout: &Layout,
        blocks: &Blocks,
        ppn: u32,
    ) -> Option<Vec<Mate>> {
        if !layout.parity {
            return None;
        }
        let (superblock, offset) = layout.split(ppn);
        let block = &blocks[superblock];
        let (mode, row) = (block.mode, layout.row_units);
        let (stripe, own) = layout.stripe_of(mode, offset);
        let (granule, granules) = (layout.granule(mode), layout.stripe_granules());
        let first = stripe * granules * granule;
        if first >= block.bare {
            return None;
        }
        let within = (offset - first - own * granule) / row * row;
        let begun = self.begun_of(blocks, superblock);
        let mut mates = Vec::with_capacity(granules as usize);
        let base = layout.base(superblock);
        for slot in (0..granules).filter(|&slot| slot != own) {
            let at = first + slot * granule + within;
            if at >= begun || self.holds(layout, blocks, base + at) {
                continue;
            }
            let (die, page) = layout.place(mode, superblock, at);
            mates.push(Mate {
                die: die as u16,
                class: class::read(mode, page),
                row: layout.row_of(base + at),
            });
        }
        if self.has_parity_on_flash(layout, blocks, superblock, first) {
            let (die, page) = layout.parity_place(mode, superblock, stripe);
            let stripes = layout.native_units / (row * granules);
            let stripe_row = (first / granules + within) / row;
            mates.push(Mate {
                die: die as u16,
                class: class::read(mode, page + within / row),
                row: layout.physical_units() / row + superblock * stripes + stripe_row,
            });
        }
        Some(mates)
    }

    /// Whether the parity of the stripe that begins at an offset has been programmed.
    fn has_parity_on_flash(
        &self,
        layout: &Layout,
        blocks: &Blocks,
        superblock: u32,
        first: u32,
    ) -> bool {
        let block = &blocks[superblock];
        let begins = layout.base(superblock) + first;
        let coming = |f: &Flight| f.stream == Stream::Parity && f.source == begins;
        if block.in_flight > 0 && self.buffer.flights().any(|(_, f)| coming(f)) {
            return false;
        }
        let end = first + layout.granule(block.mode) * layout.stripe_granules();
        self.begun_of(blocks, superblock) >= end
    }

    /// How far a superblock has been programmed, or is being: to its end unless it is open.
    fn begun_of(&self, blocks: &Blocks, superblock: u32) -> u32 {
        if blocks[superblock].state != State::Open {
            return u32::MAX;
        }
        let current = self.streams.iter().find(|s| s.superblock == superblock);
        let begun = current.map(|s| s.begun);
        let parked = || self.lanes.next_of(superblock);
        begun.or_else(parked).unwrap_or(0)
    }
}
