//! What an operation under way works on: questions that the drive asks when it ages data, sets
//! paces and looks for lost units.

use crate::ftl::Ftl;
use crate::op::{NandOp, Origin, Token};
use crate::orders::Policies;
use crate::parity::Mate;
use crate::power_cut::Placement;
use crate::streams::Stream;

impl<P: Policies> Ftl<P> {
    /// The superblock that a granule in flight is programmed into.
    #[must_use]
    pub fn superblock_of_flight(&self, place: u32) -> u32 {
        self.writing.buffer.flights[place as usize].superblock
    }

    /// Superblock and wordline that an operation works on, which may be of any wordline; none of a
    /// read for the host, whose place the drive knows, and in the system area.
    #[must_use]
    pub fn worked_on(&self, token: Token) -> Option<(u32, u32)> {
        match token {
            Token::Program(place) | Token::FirstPass(place) => {
                let flight = &self.writing.buffer.flights[place as usize];
                let mode = self.blocks.all[flight.superblock as usize].mode;
                let wordline = self.layout.wordline(mode, flight.stripe);
                Some((flight.superblock, wordline))
            }
            Token::Copyback(place) => {
                let first = self.writing.buffer.flights[place as usize].first;
                Some(self.wordline_at(first))
            }
            Token::Erase(superblock) => Some((superblock, 0)),
            _ => self.source_of_read(token).map(|ppn| self.wordline_at(ppn)),
        }
    }

    /// Superblock and wordline of a physical unit.
    #[must_use]
    pub fn wordline_at(&self, ppn: u32) -> (u32, u32) {
        let (superblock, offset) = self.layout.split(ppn);
        let mode = self.blocks.all[superblock as usize].mode;
        let stripe = self.layout.stripe_of(mode, offset).0;
        (superblock, self.layout.wordline(mode, stripe))
    }

    /// The superblock that a copyback in flight copies from.
    #[must_use]
    pub fn source_of_copyback(&self, place: u32) -> u32 {
        let source = self.writing.buffer.flights[place as usize].source;
        self.layout.superblock_of(source)
    }

    /// Logical units of what is valid in a row.
    #[must_use]
    pub fn units_of_row(&self, first: u32) -> Vec<u32> {
        let mut lpns = Vec::new();
        self.map
            .collect_valid(first, self.layout.row_units, &mut lpns);
        lpns
    }

    /// Whether a granule in flight has data on its way from the host, or folded; not data that
    /// collection, refresh or wear levelling moves.
    #[must_use]
    pub fn is_hosts_data(&self, place: u32) -> bool {
        let stream = self.writing.buffer.flights[place as usize].stream;
        stream.is_host() || stream == Stream::Fold
    }

    /// Where the data of a read of the firmware's own lies; none of another operation.
    #[must_use]
    pub fn source_of_read(&self, token: Token) -> Option<u32> {
        match token {
            Token::FoldRead(first)
            | Token::GcRead(first)
            | Token::MapGcRead(first)
            | Token::FoldCheck(first) => Some(first),
            Token::MapRead(slot) => self.locate(self.map_unit_in(slot)?),
            Token::MapUpdate(page) => self.locate(self.map_unit(page)),
            _ => None,
        }
    }

    /// Who an operation is done for that has not been reported. Erases are done for nobody.
    #[must_use]
    pub fn origin(&self, token: Token) -> Option<Origin> {
        Some(match token {
            Token::Host(_) => Origin::Host,
            Token::Program(place) | Token::FirstPass(place) | Token::Copyback(place) => {
                match self.writing.buffer.flights[place as usize].stream {
                    Stream::Fold => Origin::Fold,
                    Stream::Levelled => Origin::Levelling,
                    Stream::Map => Origin::Map,
                    Stream::Parity => Origin::Parity,
                    stream if stream.is_host() => Origin::Host,
                    _ => Origin::Collect,
                }
            }
            Token::FoldRead(_) | Token::FoldCheck(_) => Origin::Fold,
            Token::GcRead(_) => Origin::Collect,
            Token::MapRead(_) | Token::MapUpdate(_) | Token::MapGcRead(_) | Token::Checkpoint => {
                Origin::Map
            }
            Token::Journal(_) => Origin::Journal,
            Token::Rebuild(_) => Origin::Parity,
            Token::Erase(_) | Token::SystemErase => return None,
        })
    }

    /// Dies have taken the data of these granules, given by the places in their tokens.
    pub fn programs_begun(&mut self, places: impl Iterator<Item = u32>) {
        places.for_each(|place| self.writing.buffer.begin(place));
    }

    /// Sequence number that the next granule to be begun will get.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.writing.sequence
    }

    /// Lowest sequence number of a host granule that is not programmed yet: all before it are
    /// durable.
    #[must_use]
    pub fn oldest_pending_host(&self) -> u64 {
        let host = self.writing.oldest_of_host();
        host.min(self.checkpoint_pending())
            .min(self.cuts.oldest_trims())
            .min(self.health.homeless)
    }

    /// The rows that have to be read to rebuild the one of a physical unit: those of the other
    /// granules of its stripe that are on flash; what is in RAM of the stripe needs no read. None
    /// where there is no parity to rebuild it from.
    #[must_use]
    pub fn stripe_mates(&self, ppn: u32) -> Option<Vec<Mate>> {
        self.writing.stripe_mates(&self.layout, &self.blocks, ppn)
    }

    /// Switches on what power cuts need. At any time with nothing of the host's in RAM; without it
    /// the firmware erases a little earlier and takes less memory.
    pub fn enable_power_cuts(&mut self) {
        if self.cuts.is_on() {
            return;
        }
        let used = self.writing.buffer.used_units;
        assert_eq!(used, 0, "host data in the buffer");
        let host_units = self.logical_units();
        self.cuts.enable(&self.map, &self.blocks, host_units);
    }

    /// Whether what power cuts need is switched on.
    #[must_use]
    pub fn has_power_cuts(&self) -> bool {
        self.cuts.is_on()
    }

    /// Version stamp of what a read of a logical unit returns, from the flash and not from the map;
    /// none where nothing is written, or while power cuts are switched off.
    #[must_use]
    pub fn version(&self, lpn: u32) -> Option<u64> {
        self.cuts.version(lpn, self.locate(lpn)?)
    }

    /// What the host changes from here on is the doing of this command.
    #[inline]
    pub fn note_tag(&mut self, tag: u32) {
        self.cuts.note_tag(tag);
    }

    /// Changes of the map by the host since the last call, in their order; empty while power cuts
    /// are switched off.
    pub fn take_placements(&mut self) -> Vec<Placement> {
        self.cuts.take_placements()
    }

    /// Programs the trims that wait for the journal; a flush does so.
    pub fn flush_journal(&mut self, ops: &mut Vec<NandOp>) {
        let (layout, counters) = (&self.layout, &mut self.counters);
        let sequence = &mut self.writing.sequence;
        self.cuts.flush_journal(sequence, layout, counters, ops);
    }

    /// Whether the drive compresses what it stores.
    #[inline]
    #[must_use]
    pub fn compresses(&self) -> bool {
        self.layout.packs()
    }

    /// How much smaller the data can be made that the host hands over from now on.
    pub fn incoming_data(&mut self, compressible_percent: u8) {
        self.packing.expect(compressible_percent);
    }

    /// What crosses the channel when so many logical units from `lpn` on are read, all of which lie
    /// in one row of a drive that compresses: in eighths of a unit.
    #[must_use]
    pub fn read_grains(&self, lpn: u32, count: u32) -> u32 {
        self.packing.read_grains(&self.map, lpn, count)
    }
}
