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

use crate::layout::NONE;
use crate::reservation::Reservations;
use crate::streams::{COUNTED, Stream};

/// A granule being programmed.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Flight {
    /// First physical unit, or none when the place is unused. Parity has none either, and bears
    /// the number past the last one.
    pub(crate) first: u32,
    /// How many it has.
    pub(crate) units: u32,
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
    /// The number of its host data (see [`crate::writing`]); nothing where it holds none.
    pub(crate) host_sequence: u64,
    /// First physical unit of a copyback's source rows; of parity, of its stripe.
    pub(crate) source: u32,
    /// Its die, and its stripe in the superblock; nothing where no program takes it there.
    pub(crate) die: u16,
    pub(crate) stripe: u32,
}

impl Flight {
    /// A granule of padding or parity. `nowhere` is the number past the last physical unit,
    /// `protects` the first one of the stripe that it is the parity of, or none.
    pub(crate) fn without_data(
        superblock: u32,
        nowhere: u32,
        sequence: u64,
        protects: u32,
    ) -> Flight {
        Flight {
            first: nowhere,
            units: 0,
            superblock,
            host_units: 0,
            begun: false,
            moved: 0,
            stream: Stream::Parity,
            sequence,
            host_sequence: sequence,
            source: protects,
            die: 0,
            stripe: 0,
        }
    }

    /// How many of its valid units count as collection's: as many as are more than the host's.
    pub(crate) fn moved_of(&self, valid: u32) -> u32 {
        if self.stream.is_host() {
            valid.saturating_sub(self.host_units)
        } else {
            0
        }
    }
}

/// What is in RAM and not yet on flash.
pub(crate) struct WriteBuffer {
    capacity_units: u32,
    used_units: u32,
    /// What is reserved and not handed over yet.
    awaited: Reservations,
    flights: Vec<Flight>,
    vacant: Vec<u32>,
    /// Units of collected data in flight in granules of the host's.
    moved: u32,
    /// How many of each stream are in flight, and how many of parity.
    by_stream: [u32; COUNTED],
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
            awaited: Reservations::new(),
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

    /// A granule that is in flight, by its place.
    #[inline]
    pub(crate) fn flight(&self, place: u32) -> &Flight {
        &self.flights[place as usize]
    }

    /// The granules in flight, with their places.
    #[inline]
    pub(crate) fn flights(&self) -> impl Iterator<Item = (u32, &Flight)> {
        (0..).zip(&self.flights).filter(|(_, f)| f.first != NONE)
    }

    /// Whoever waits for a granule below a sequence number waits for these too.
    pub(crate) fn lower(&mut self, sequence: u64, of: impl Fn(&Flight) -> bool) {
        let flying = self.flights.iter_mut().filter(|f| f.first != NONE);
        for flight in flying.filter(|f| of(f)) {
            flight.sequence = flight.sequence.min(sequence);
            flight.host_sequence = flight.host_sequence.min(sequence);
        }
    }

    /// Granules of a stream in flight.
    #[inline]
    pub(crate) fn flying_of(&self, stream: Stream) -> u32 {
        self.by_stream[stream]
    }

    /// Units of collected data in flight in granules of the host's.
    #[inline]
    pub(crate) fn moved(&self) -> u32 {
        self.moved
    }

    /// Units of buffer.
    pub(crate) fn capacity(&self) -> u32 {
        self.capacity_units
    }

    /// Units of buffer that are taken.
    #[inline]
    pub(crate) fn used(&self) -> u32 {
        self.used_units
    }

    /// Units of buffer that are not taken.
    #[inline]
    pub(crate) fn free(&self) -> u32 {
        self.capacity_units - self.used_units
    }

    /// Takes units of buffer.
    #[inline]
    pub(crate) fn take(&mut self, units: u32) {
        self.used_units += units;
    }

    /// Gives units of buffer back.
    #[inline]
    pub(crate) fn give_back(&mut self, units: u32) {
        self.used_units -= units;
    }

    /// What is reserved and not handed over yet.
    #[inline]
    pub(crate) fn awaited(&self) -> &Reservations {
        &self.awaited
    }

    /// What is reserved, to be changed.
    #[inline]
    pub(crate) fn awaited_mut(&mut self) -> &mut Reservations {
        &mut self.awaited
    }

    /// Notes that a die has taken the data of a granule.
    pub(crate) fn begin(&mut self, place: u32) {
        self.flights[place as usize].begun = true;
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.flights.len() - self.vacant.len()
    }
}
