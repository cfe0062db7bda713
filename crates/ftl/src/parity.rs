//! Parity of stripes (RAISE, RAIN): when it is written, which data has none, and what has to be
//! read to make a lost row anew.
//!
//! The parity of a stripe that is being filled is in the controller's RAM and is programmed behind
//! the last of its data. A superblock that is given up early, because a block of it failed, ends in
//! a stripe without parity; so does one whose parity was torn by a power cut. From there on its
//! data stands alone ([`crate::blocks::Superblock::bare`]).

use crate::allocate::Frontier;
use crate::blocks::State;
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::op::{NandOp, class};
use crate::orders::Policies;
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

impl<P: Policies> Ftl<P> {
    /// Issues the parity of a stripe once the last of its data granules, the one that the stream
    /// has filled, is on its way. The parity of what went before is in the controller's RAM; it
    /// is whole with the last one and crosses the channel like data.
    pub(crate) fn protect(&mut self, stream: Stream, s: &Frontier, ops: &mut Vec<NandOp>) {
        let (stripe, slot) = self.layout.stripe_of(s.mode, s.begun);
        if slot + 1 < self.layout.stripe_granules() {
            return;
        }
        let flight = Flight {
            begun: false,
            first: self.layout.physical_units(),
            superblock: s.superblock,
            host_units: 0,
            moved: 0,
            stream: Stream::Parity,
            sequence: s.sequence,
            source: self.layout.base(s.superblock) + s.begun - slot * s.granule,
            die: 0,
            stripe: 0,
        };
        self.counters.parity_units += u64::from(self.layout.whole(s.granule));
        let place = self.layout.parity_place(s.mode, s.superblock, stripe);
        let sent = self.layout.granule_grains(s.mode);
        self.launch(stream, s, flight, place, sent, ops);
    }

    /// Units issued in stripes that are not whole: their parity is in RAM.
    pub(crate) fn unprotected_units(&self) -> u64 {
        if !self.layout.parity {
            return 0;
        }
        let units = |(stream, s): (Stream, &Frontier)| {
            let stripe = s.granule * self.layout.stripe_granules();
            let parked = self.writing.lanes.parked(stream).map(|next| next % stripe);
            let slots = u64::from(s.begun % stripe) + parked.map(u64::from).sum::<u64>();
            slots / u64::from(self.layout.ratio)
        };
        Stream::ALL
            .into_iter()
            .zip(&self.writing.streams)
            .map(units)
            .sum()
    }

    /// A stream leaves a superblock at an offset: the stripe that it was filling has no parity.
    pub(crate) fn forgo_parity(&mut self, stream: Stream, superblock: u32, offset: u32) {
        if self.layout.parity {
            let stripe = self.writing.streams[stream].granule * self.layout.stripe_granules();
            let begun = offset % stripe;
            self.counters.bare_units += u64::from(self.layout.whole(begun));
            self.lose_parity(superblock, offset - begun);
        }
    }

    /// What lies behind an offset of a superblock has no parity.
    fn lose_parity(&mut self, superblock: u32, offset: u32) {
        let bare = &mut self.blocks.all[superblock as usize].bare;
        *bare = offset.min(*bare);
    }

    /// The parity of a stripe has not been programmed to its end.
    pub(crate) fn tear_parity(&mut self, flight: &Flight) {
        if flight.stream == Stream::Parity && flight.source != NONE {
            let (superblock, offset) = self.layout.split(flight.source);
            self.lose_parity(superblock, offset);
        }
    }

    /// The rows that have to be read to rebuild the one of a physical unit: those of the other
    /// granules of its stripe that are on flash; what is in RAM of the stripe needs no read. None
    /// where there is no parity to rebuild it from.
    #[must_use]
    pub fn stripe_mates(&self, ppn: u32) -> Option<Vec<Mate>> {
        if !self.layout.parity {
            return None;
        }
        let (superblock, offset) = self.layout.split(ppn);
        let block = &self.blocks.all[superblock as usize];
        let (mode, row) = (block.mode, self.layout.row_units);
        let (stripe, own) = self.layout.stripe_of(mode, offset);
        let (granule, granules) = (self.layout.granule(mode), self.layout.stripe_granules());
        let first = stripe * granules * granule;
        if first >= block.bare {
            return None;
        }
        let within = (offset - first - own * granule) / row * row;
        let begun = self.begun_of(superblock);
        let mut mates = Vec::with_capacity(granules as usize);
        let base = self.layout.base(superblock);
        for slot in (0..granules).filter(|&slot| slot != own) {
            let at = first + slot * granule + within;
            if at >= begun || self.is_buffered(base + at) {
                continue;
            }
            let (die, page) = self.layout.place(mode, superblock, at);
            mates.push(Mate {
                die: die as u16,
                class: class::read(mode, page),
                row: self.layout.row_of(base + at),
            });
        }
        if self.has_parity_on_flash(superblock, first) {
            let (die, page) = self.layout.parity_place(mode, superblock, stripe);
            let stripes = self.layout.native_units / (row * granules);
            let stripe_row = (first / granules + within) / row;
            mates.push(Mate {
                die: die as u16,
                class: class::read(mode, page + within / row),
                row: self.layout.physical_units() / row + superblock * stripes + stripe_row,
            });
        }
        Some(mates)
    }

    /// Whether the parity of the stripe that begins at an offset has been programmed.
    fn has_parity_on_flash(&self, superblock: u32, first: u32) -> bool {
        let block = &self.blocks.all[superblock as usize];
        let begins = self.layout.base(superblock) + first;
        let coming =
            |f: &Flight| f.first != NONE && f.stream == Stream::Parity && f.source == begins;
        if block.in_flight > 0 && self.writing.buffer.flights.iter().any(coming) {
            return false;
        }
        let end = first + self.layout.granule(block.mode) * self.layout.stripe_granules();
        self.begun_of(superblock) >= end
    }

    /// How far a superblock has been programmed, or is being: to its end unless it is open.
    fn begun_of(&self, superblock: u32) -> u32 {
        if self.blocks.all[superblock as usize].state != State::Open {
            return u32::MAX;
        }
        let turn = self
            .writing
            .streams
            .iter()
            .find(|s| s.superblock == superblock);
        let begun = turn.map(|s| s.begun);
        let parked = || self.writing.lanes.next_of(superblock);
        begun.or_else(parked).unwrap_or(0)
    }
}
