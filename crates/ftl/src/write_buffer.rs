//! The volatile buffer and the granules on their way from it to the flash.
//!
//! A granule is in flight from the moment its program is issued until the die reports it; until
//! then its data is served from the buffer. The list is bounded by what the streams may have
//! outstanding.
//!
//! With [`Policy::coalesce`](crate::Policy) a write of a unit that waits here, in a granule that is
//! being filled or whose die has not taken it yet, takes its place: the older data never reaches
//! the flash. Under parity only what is being filled is replaced: a stripe's parity is computed
//! from the data as it leaves for the dies, and has to match it.

use crate::audit::{Bounds, LIFETIME};
use crate::blocks::State;
use crate::check::{Checked, ensure, ensure_eq};
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::op::{NandOp, Origin, Token};
use crate::orders::Policies;
use crate::placement::{Awaited, Reserved};
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
    /// Its die has taken the data: nothing of it can be replaced any more.
    pub(crate) begun: bool,
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

    /// Notes that a die has taken the data of a granule.
    fn begin(&mut self, place: u32) {
        self.flights[place as usize].begun = true;
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
        if block.state == State::Closed && block.in_flight == 0 {
            return false;
        }
        let open = self
            .writing
            .streams
            .iter()
            .any(|s| s.superblock == superblock && offset >= s.begun);
        if open || block.in_flight == 0 {
            return open;
        }
        let granule = self.layout.granule(block.mode);
        let wanted = |f: &Flight| f.first != NONE && ppn.wrapping_sub(f.first) < granule;
        self.writing.buffer.flights.iter().any(wanted)
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

    /// Whether new data for a unit can take the place of the old in RAM: the old data is in a
    /// granule of host data alone, which is being filled or whose die has not taken it yet.
    fn is_replaceable(&self, lpn: u32) -> bool {
        let ppn = self.map.physical[lpn as usize];
        if ppn == NONE || (self.compresses() && !self.packing.is_as_large(ppn)) {
            return false;
        }
        let (superblock, offset) = self.layout.split(ppn);
        let filling = |&stream: &Stream| {
            let s = &self.writing.streams[stream];
            s.superblock == superblock && offset >= s.begun
        };
        if let Some(&stream) = Stream::HOST.iter().find(|stream| filling(stream)) {
            return self.writing.streams[stream].moved == 0;
        }
        if self.layout.parity {
            return false;
        }
        let block = &self.blocks.all[superblock as usize];
        let granule = self.layout.granule(block.mode);
        let holds = |f: &&Flight| f.first != NONE && ppn.wrapping_sub(f.first) < granule;
        let flight = self.writing.buffer.flights.iter().find(holds);
        block.in_flight > 0 && flight.is_some_and(|f| !f.begun && f.host_units > 0 && f.moved == 0)
    }

    /// Takes units from the host, see [`Ftl::append_host`]: those whose older data still waits in
    /// the buffer replace it there and give back what was set aside for them. Map, streams and
    /// movers do not notice; a power cut finds the newer data or none of the granule.
    #[cold]
    pub(crate) fn coalesce(&mut self, mut reserved: Reserved, lpn: u32, ops: &mut Vec<NandOp>) {
        let mut at = lpn;
        while reserved.units() > 0 {
            let end = at + reserved.units();
            let waits = self.is_replaceable(at);
            let alike = (at + 1..end).take_while(|&next| self.is_replaceable(next) == waits);
            let part = reserved.take(1 + alike.count() as u32);
            let next = at + part.units();
            if waits {
                self.replace_waiting(&part, at);
                self.give_back(part);
            } else {
                self.place_host(part, at, ops);
            }
            at = next;
        }
    }

    /// Newer data takes the place of what waits.
    fn replace_waiting(&mut self, part: &Reserved, lpn: u32) {
        let units = part.units();
        self.counters.host_units += u64::from(units);
        self.counters.coalesced_units += u64::from(units);
        for lpn in lpn..lpn + units {
            self.cuts.placed(lpn, self.map.physical[lpn as usize], 1);
        }
    }

    /// Whether writes of what still waits in the buffer take its place.
    #[inline]
    #[must_use]
    pub fn coalesces(&self) -> bool {
        self.policy.coalesce
    }

    /// Whether host data may take less room than what is reserved for it, compressed or in the
    /// place of what waits.
    #[must_use]
    pub fn takes_less(&self) -> bool {
        self.compresses() || self.coalesces()
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
        let flying = self.writing.buffer.flights.iter();
        let flying = flying
            .filter(|f| f.first != NONE && f.host_units > 0)
            .map(|f| f.sequence);
        let open = self
            .writing
            .in_use
            .host
            .iter()
            .map(|&stream| &self.writing.streams[stream]);
        let open = open
            .filter(|s| s.next - s.begun > s.moved)
            .map(|s| s.sequence);
        let host = flying.chain(open).min().unwrap_or(u64::MAX);
        host.min(self.checkpoint_pending())
            .min(self.cuts.oldest_trims())
            .min(self.health.homeless)
    }

    pub(crate) fn oldest_pending(&self, of: impl Fn(Stream) -> bool) -> u64 {
        let flying = self.writing.buffer.flights.iter();
        let flying = flying
            .filter(|f| f.first != NONE && of(f.stream))
            .map(|f| f.sequence);
        let open = Stream::ALL.into_iter().zip(&self.writing.streams);
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
