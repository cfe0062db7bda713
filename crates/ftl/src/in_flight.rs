//! What an operation under way works on: questions that the drive asks when it ages data, sets
//! paces and looks for lost units.

use crate::ftl::Ftl;
use crate::op::Token;
use crate::orders::Policies;
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
}
