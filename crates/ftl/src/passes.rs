//! Programming in several passes (foggy, then fine), as QLC does and some TLC: a later pass of a
//! wordline comes after the first pass of those behind it, so that neighbours disturb each other
//! less.
//!
//! A stripe's granules get their second pass once the stripe so many wordlines behind it has got
//! its first, the third once the one twice as far behind has, and so on; the end of a superblock
//! brings what is left. Until its last pass is programmed a granule is in flight: its data stays in
//! the buffer, is read from there, is not durable, and crosses the channel again for each pass
//! where the part needs it. Invariants: every granule gets every pass, on each die in the order of
//! the wordlines, and nothing waits in a full superblock.
//!
//! What has to be durable now (a flush, a write through, the end of a fold) cannot wait for the
//! data behind it: the firmware programs whole wordlines of padding in its place
//! ([`Ftl::pad_through`](crate::Ftl)).
//!
//! The room is told of each first pass that is issued ([`Passes::begun`]) and of each that has
//! ended ([`Passes::ended`]). It issues the later ones as a stream moves on
//! ([`Passes::follow`]) and as a superblock takes no more data ([`Passes::finish`]).

mod pairs;

use std::collections::VecDeque;

use crate::blocks::Blocks;
use crate::counters::Counters;
use crate::ensure::{Checked, ensure_eq, ensure_ne};
use crate::frontier::Frontier;
use crate::layout::{Layout, Mode, NONE};
use crate::op::{NandOp, Token, class};
use crate::streams::{COUNTED, STREAMS, Stream};
use crate::write_buffer::{Flight, WriteBuffer};
use pairs::Pairs;

/// A stream, and the group of dies in which it has a superblock open.
pub(crate) type Lane = (Stream, u32);

/// A granule that has had a pass and not its last.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Half {
    /// Its place in the list of programs under way.
    place: u32,
    /// Its stripe in the superblock.
    stripe: u32,
    die: u16,
    /// Units that cross the channel.
    units: u16,
    /// Units of the buffer that it holds.
    host_units: u32,
    /// It holds data, not parity or padding alone.
    data: bool,
}

/// Granules that wait for another pass, oldest first.
pub(crate) struct Passes {
    /// Passes after the first; 0 where one is all.
    later: u32,
    /// Wordlines between two of them.
    distance: u32,
    /// The data crosses the channel again.
    again: bool,
    groups: u32,
    /// Pages of a wordline are programmed one by one and can be lost together.
    paired: bool,
    /// Pages of a wordline.
    bits: u32,
    /// Granules of a stripe that hold data.
    stripe_granules: u32,
    /// Units of a granule as the host counts them.
    granule_units: u32,
    /// By stream, die group and the passes that they have had.
    halves: Vec<VecDeque<Half>>,
    /// Units of the host's that wait.
    host_units: u32,
    /// Granules of each stream that wait, and of none.
    by_stream: [u32; COUNTED],
    /// Passes under way that are not the last, of each stream and of none.
    first: [u32; COUNTED],
    /// Those of granules that hold host data.
    host_firsts: u32,
    /// What can be lost with other pages of its wordline, see [`crate::pairs`].
    pairs: Pairs,
}

flashtwin_base::state! { Passes {
    kept: host_units, by_stream, first, host_firsts;
    sized: halves;
    part: pairs;
    built: later, distance, again, groups, paired, bits, stripe_granules, granule_units;
} }

impl Passes {
    pub(crate) fn new(layout: &Layout) -> Passes {
        let passes = layout.later_passes;
        let one_shot = passes.map_or(0, |passes| passes.count());
        let later = if layout.paired { 1 } else { one_shot };
        let queues = (later * layout.groups) as usize * STREAMS;
        Passes {
            later,
            distance: passes.map_or(0, |passes| passes.distance_wordlines),
            again: passes.is_some_and(|passes| passes.transfers),
            groups: layout.groups,
            paired: layout.paired,
            bits: layout.bits,
            stripe_granules: layout.stripe_granules(),
            granule_units: layout.whole(layout.native_granule),
            halves: vec![VecDeque::new(); queues],
            host_units: 0,
            by_stream: [0; COUNTED],
            first: [0; COUNTED],
            host_firsts: 0,
            pairs: Pairs::default(),
        }
    }

    /// Those of a lane that have had so many passes.
    fn of(&mut self, (stream, group): Lane, passes: u32) -> &mut VecDeque<Half> {
        let lane = stream.index() * self.groups as usize + group as usize;
        &mut self.halves[lane * self.later as usize + passes as usize - 1]
    }

    /// All of a lane.
    fn lane(&self, (stream, group): Lane) -> &[VecDeque<Half>] {
        let at = (stream.index() * self.groups as usize + group as usize) * self.later as usize;
        &self.halves[at..at + self.later as usize]
    }

    /// Units of the host's that wait.
    pub(crate) fn host_units(&self) -> u32 {
        self.host_units
    }

    /// Granules of a stream that wait.
    pub(crate) fn waiting_of(&self, stream: Stream) -> u32 {
        self.by_stream[stream]
    }

    /// Whether passes of host data are under way that are not its last.
    pub(crate) fn has_host_firsts(&self) -> bool {
        self.host_firsts > 0
    }

    /// Whether host data of a stream waits, and not only what was collected among it.
    pub(crate) fn holds_host(&self, stream: Stream) -> bool {
        let waiting = |group| self.lane((stream, group)).iter().flatten();
        let mut halves = (0..self.groups).flat_map(waiting);
        self.by_stream[stream] > 0 && halves.any(|half| half.host_units > 0)
    }

    /// Whether data waits for a pass in a lane.
    pub(crate) fn holds_data(&self, lane: Lane) -> bool {
        let mut halves = self.lane(lane).iter().flatten();
        halves.any(|half| half.data)
    }

    /// Whether granules of a mode wait for more programs of their wordline.
    pub(crate) fn are_of(&self, mode: Mode) -> bool {
        self.later > 0 && mode == Mode::Native
    }

    /// Who is told of the end of a granule's first program.
    pub(crate) fn first_token(&self, mode: Mode, page: u32, place: u32) -> Token {
        if self.are_of(mode) && !(self.paired && page + 1 == self.bits) {
            Token::FirstPass(place)
        } else {
            Token::Program(place)
        }
    }

    /// The first pass of a granule of a lane, or the program of a page of its wordline, has been
    /// issued: the granule waits for the others.
    pub(crate) fn begun(
        &mut self,
        buffer: &WriteBuffer,
        lane: Lane,
        stripe: u32,
        first: NandOp,
        data: bool,
    ) {
        let Token::FirstPass(place) = first.token else {
            return;
        };
        let flight = buffer.flight(place);
        self.host_units += flight.host_units;
        self.by_stream[flight.stream] += 1;
        self.count_first(flight);
        let half = Half {
            place,
            stripe,
            die: first.die,
            units: if self.again { first.units } else { 0 },
            host_units: flight.host_units,
            data,
        };
        self.of(lane, 1).push_back(half);
    }

    /// A pass that is not the last is under way.
    fn count_first(&mut self, flight: &Flight) {
        self.first[flight.stream] += 1;
        self.host_firsts += u32::from(flight.host_units > 0);
    }

    /// A pass of a granule that is not its last has ended.
    pub(crate) fn ended(&mut self, buffer: &WriteBuffer, place: u32) {
        let flight = buffer.flight(place);
        self.first[flight.stream] -= 1;
        self.host_firsts -= u32::from(flight.host_units > 0);
        if self.paired {
            self.page_programmed(buffer, place);
        }
    }

    /// Issues the later passes that have become due in the superblock that a stream fills.
    pub(crate) fn follow(
        &mut self,
        buffer: &WriteBuffer,
        (stream, s): (Stream, &Frontier),
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        if !self.are_of(s.mode) {
            return;
        }
        let lane = (stream, s.lane);
        let full_stripes = s.begun / (s.granule * self.stripe_granules);
        if self.paired {
            return self.close_wordlines(buffer, lane, full_stripes);
        }
        self.issue_due(buffer, lane, full_stripes, counters, ops);
        if s.begun == s.end {
            self.finish(buffer, lane, counters, ops);
        }
    }

    /// The superblock of a lane, which is programmed natively, takes no more data: what waits in it
    /// gets its passes now, as if wordlines went on behind it.
    pub(crate) fn finish(
        &mut self,
        buffer: &WriteBuffer,
        lane: Lane,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        if self.paired {
            return self.leave_wordlines(buffer, lane);
        }
        let newest = self.lane(lane).iter().flatten();
        let Some(newest) = newest.map(|half| half.stripe).max() else {
            return;
        };
        for behind in 0..=self.later * self.distance {
            self.issue_due(buffer, lane, newest + 1 + behind, counters, ops);
        }
    }

    /// Issues what is due in a lane of which so many stripes have had their first pass.
    fn issue_due(
        &mut self,
        buffer: &WriteBuffer,
        lane: Lane,
        stripes: u32,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        for passes in 1..=self.later {
            let reach = passes * self.distance;
            while let Some(&half) = self.of(lane, passes).front() {
                if half.stripe + reach >= stripes {
                    break;
                }
                self.of(lane, passes).pop_front();
                counters.second_pass_units += u64::from(self.granule_units);
                ops.push(self.next_pass(buffer, half, passes));
                if passes < self.later {
                    self.of(lane, passes + 1).push_back(half);
                }
            }
        }
    }

    /// The pass of a granule that has had so many.
    fn next_pass(&mut self, buffer: &WriteBuffer, half: Half, passes: u32) -> NandOp {
        let flight = buffer.flight(half.place);
        let token = if passes < self.later {
            self.count_first(flight);
            Token::FirstPass(half.place)
        } else {
            self.host_units -= half.host_units;
            self.by_stream[flight.stream] -= 1;
            Token::Program(half.place)
        };
        let class = class::LATER_PASS + (passes - 1) as u8;
        NandOp::new(half.die, class, half.units, token)
    }

    /// Gives up what waits, because the superblocks are erased anyway.
    pub(crate) fn forget(
        &mut self,
        layout: &Layout,
        buffer: &mut WriteBuffer,
        blocks: &mut Blocks,
    ) {
        for half in self.halves.iter_mut().flat_map(|waiting| waiting.drain(..)) {
            let flight = buffer.land(half.place);
            blocks[flight.superblock].in_flight -= 1;
        }
        assert!(self.pairs.is_settled(), "programs are under way");
        *self = Passes::new(layout);
    }

    /// Checks that what waits is in flight, and is counted.
    pub(crate) fn check(&self, buffer: &WriteBuffer) -> Checked {
        let mut by_stream = [0; COUNTED];
        let mut host_units = 0;
        for half in self.halves.iter().flatten() {
            let flight = *buffer.flight(half.place);
            ensure_ne!(flight.first, NONE, "a granule landed after its first pass");
            by_stream[flight.stream] += 1;
            host_units += flight.host_units;
        }
        ensure_eq!(by_stream, self.by_stream, "granules between passes");
        ensure_eq!(host_units, self.host_units, "units between passes");
        Ok(())
    }
}
