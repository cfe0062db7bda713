//! The volatile buffer and the granules on their way from it to the flash.
//!
//! A granule is in flight from the moment its program is issued until the die reports it; until
//! then its data is served from the buffer. The list is bounded by what the streams may have
//! outstanding.

use crate::audit::{Bounds, LIFETIME};
use crate::check::{Checked, ensure, ensure_eq};
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::op::{Origin, Token};
use crate::orders::Policies;
use crate::placement::Awaited;
use crate::streams::{COUNTED, Stream};

/// A granule being programmed.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Flight {
    /// First physical unit, or none when the place is unused. Parity has none either, and bears
    /// the number past the last one.
    pub(crate) first: u32,
    /// The superblock that it is programmed into.
    pub(crate) superblock: u32,
    /// Units of buffer that are given back when it is done.
    pub(crate) host_units: u32,
    /// Units of collected data in a granule of the host's.
    pub(crate) moved: u32,
    /// Which stream it belongs to, or [`Stream::Parity`].
    pub(crate) stream: Stream,
    /// Its number among all granules, in the order in which they were begun.
    pub(crate) sequence: u64,
    /// First physical unit of a copyback's source rows; of parity, of its stripe.
    pub(crate) source: u32,
    /// Its die, and its stripe in the superblock; nothing where no program takes it there.
    pub(crate) die: u16,
    pub(crate) stripe: u32,
}

/// What is in RAM and not yet on flash.
pub(crate) struct WriteBuffer {
    pub(crate) capacity_units: u32,
    pub(crate) used_units: u32,
    /// What is reserved and not handed over yet.
    pub(crate) awaited: Awaited,
    pub(crate) flights: Vec<Flight>,
    vacant: Vec<u32>,
    /// Units of collected data in flight in granules of the host's.
    pub(crate) moved: u32,
    /// How many of each stream are in flight, and how many of parity.
    pub(crate) by_stream: [u32; COUNTED],
}

flashtwin_base::state! { WriteBuffer {
    kept: used_units, flights, vacant, moved, by_stream;
    part: awaited;
    built: capacity_units;
} }

impl WriteBuffer {
    pub(crate) fn new(capacity_units: u32) -> WriteBuffer {
        WriteBuffer {
            capacity_units,
            used_units: 0,
            awaited: Awaited::new(),
            flights: Vec::new(),
            vacant: Vec::new(),
            moved: 0,
            by_stream: [0; COUNTED],
        }
    }

    /// Notes a granule; the answer is its place.
    #[inline]
    pub(crate) fn launch(&mut self, flight: Flight) -> u32 {
        self.by_stream[flight.stream] += 1;
        self.moved += flight.moved;
        if let Some(place) = self.vacant.pop() {
            self.flights[place as usize] = flight;
            return place;
        }
        self.flights.push(flight);
        self.flights.len() as u32 - 1
    }

    /// Takes a granule off the list.
    #[inline]
    pub(crate) fn land(&mut self, place: u32) -> Flight {
        let flight = self.flights[place as usize];
        assert_ne!(flight.first, NONE, "granule {place} landed twice");
        self.flights[place as usize].first = NONE;
        self.vacant.push(place);
        self.by_stream[flight.stream] -= 1;
        self.moved -= flight.moved;
        self.used_units -= flight.host_units;
        flight
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.flights.len() - self.vacant.len()
    }
}

impl<P: Policies> Ftl<P> {
    /// Whether a unit's data is still in RAM: in a granule being filled or programmed.
    #[inline]
    pub(crate) fn is_buffered(&self, ppn: u32) -> bool {
        let (superblock, offset) = self.layout.split(ppn);
        let block = &self.blocks.all[superblock as usize];
        let open = self
            .streams
            .iter()
            .any(|s| s.superblock == superblock && offset >= s.begun);
        if open || block.in_flight == 0 {
            return open;
        }
        let granule = self.layout.granule(block.mode);
        let wanted = |f: &Flight| f.first != NONE && ppn.wrapping_sub(f.first) < granule;
        self.buffer.flights.iter().any(wanted)
    }

    /// On whose behalf an operation is done that has not been reported; erases are nobody's.
    #[must_use]
    pub fn origin(&self, token: Token) -> Option<Origin> {
        Some(match token {
            Token::Host(_) => Origin::Host,
            Token::Program(place) | Token::FirstPass(place) | Token::Copyback(place) => {
                match self.buffer.flights[place as usize].stream {
                    Stream::Cache | Stream::Direct | Stream::Cold | Stream::Tier => Origin::Host,
                    Stream::Fold => Origin::Fold,
                    Stream::Collected | Stream::CollectedCold => Origin::Collect,
                    Stream::Levelled => Origin::Levelling,
                    Stream::Map => Origin::Map,
                    Stream::Parity => Origin::Parity,
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

    /// Sequence number that the next granule to be begun will get.
    #[must_use]
    pub fn next_sequence(&self) -> u64 {
        self.sequence
    }

    /// Lowest sequence number of a host granule that is not programmed yet: all before it are
    /// durable.
    #[must_use]
    pub fn oldest_pending_host(&self) -> u64 {
        let flying = self.buffer.flights.iter();
        let flying = flying
            .filter(|f| f.first != NONE && f.host_units > 0)
            .map(|f| f.sequence);
        let open = Stream::HOST.iter().map(|&stream| &self.streams[stream]);
        let open = open
            .filter(|s| s.next - s.begun > s.moved)
            .map(|s| s.sequence);
        let host = flying.chain(open).min().unwrap_or(u64::MAX);
        host.min(self.checkpoint_pending())
            .min(self.cuts.oldest_trims())
            .min(self.health.homeless)
    }

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

impl WriteBuffer {
    /// See [`crate::audit`].
    pub(crate) fn audit(&self, b: &Bounds) -> Checked {
        let (mut by_stream, mut host, mut moved) = ([0; COUNTED], 0u64, 0u64);
        for flight in self.flights.iter().filter(|f| f.first != NONE) {
            ensure!(flight.first <= b.physical, "{flight:?}");
            Bounds::below("in flight", b.superblocks, [&flight.superblock])?;
            Bounds::below_or_none("copied", b.physical, [&flight.source])?;
            let known = flight.sequence < LIFETIME;
            let known = known && u32::from(flight.die) < b.dies && flight.stripe <= b.units;
            ensure!(known, "{flight:?}");
            by_stream[flight.stream] += 1;
            host += u64::from(flight.host_units);
            moved += u64::from(flight.moved);
        }
        let vacant = self.flights.iter().filter(|f| f.first == NONE).count();
        ensure_eq!(vacant, self.vacant.len(), "places that are vacant");
        let mut seen = vec![false; self.flights.len()];
        for &place in &self.vacant {
            Bounds::below("vacant", b.flights, [&place])?;
            let vacant = self.flights[place as usize].first == NONE;
            let twice = std::mem::replace(&mut seen[place as usize], true);
            ensure!(vacant && !twice, "place {place} is not vacant");
        }
        ensure_eq!(by_stream, self.by_stream, "granules in flight");
        ensure_eq!(moved, u64::from(self.moved), "moved units in flight");
        let used = self.used_units;
        ensure!(used <= self.capacity_units, "{used} units in the buffer");
        ensure!(
            host <= u64::from(used),
            "{host} units in flight, {used} in the buffer"
        );
        Ok(())
    }
}
