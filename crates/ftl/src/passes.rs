//! Programming in several passes (foggy, then fine), as QLC does and some TLC: a later pass of a
//! wordline comes after the first pass of those behind it, so that neighbours disturb each other
//! less.
//!
//! A stripe's granules get their second pass once the stripe so many wordlines behind it has got
//! its first, the third once the one twice as far behind has, and so on; the end of a superblock
//! brings what is left. Until its last pass is programmed a granule is in flight: its data stays in
//! the buffer, is read from there, is not durable, and is needed once more for each pass.
//! Invariants: every granule gets every pass, on each die in the order of the wordlines, and a full
//! superblock waits for nothing.
//!
//! What has to be durable now (a flush, a write through, the end of a fold) cannot wait for the
//! data behind it: whole wordlines of padding take its place ([`Ftl::pad_through`]).

use std::collections::VecDeque;

use crate::allocate::Frontier;
use crate::audit::Bounds;
use crate::check::{Checked, ensure, ensure_eq, ensure_ne};
use crate::ftl::Ftl;
use crate::layout::{Layout, Mode, NONE};
use crate::op::{NandOp, Token, class};
use crate::orders::Policies;
use crate::pairs::Pairs;
use crate::streams::{COUNTED, STREAMS, Stream};
use crate::write_buffer::Flight;

/// A granule that has had a pass and not its last.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Half {
    /// Its place in the list of those in flight.
    pub(crate) place: u32,
    /// Its stripe in the superblock.
    pub(crate) stripe: u32,
    pub(crate) die: u16,
    /// Units that cross the channel.
    units: u16,
    /// Units of the buffer that it holds.
    pub(crate) host_units: u32,
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
    /// By stream, die group and the passes that they have had.
    halves: Vec<VecDeque<Half>>,
    /// Units of the host's that wait.
    pub(crate) host_units: u32,
    /// Granules of each stream that wait, and of none.
    pub(crate) by_stream: [u32; COUNTED],
    /// Passes under way that are not the last, of each stream and of none.
    pub(crate) first: [u32; COUNTED],
    /// Those of granules that hold host data.
    pub(crate) host_firsts: u32,
    /// What can be lost with other pages of its wordline, see [`crate::pairs`].
    pub(crate) pairs: Pairs,
}

flashtwin_base::state! { Passes {
    kept: host_units, by_stream, first, host_firsts;
    sized: halves;
    part: pairs;
    built: later, distance, again, groups;
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
            halves: vec![VecDeque::new(); queues],
            host_units: 0,
            by_stream: [0; COUNTED],
            first: [0; COUNTED],
            host_firsts: 0,
            pairs: Pairs::default(),
        }
    }

    /// Those of a lane that have had so many passes.
    pub(crate) fn of(&mut self, stream: Stream, lane: u32, passes: u32) -> &mut VecDeque<Half> {
        let lane = stream.index() * self.groups as usize + lane as usize;
        &mut self.halves[lane * self.later as usize + passes as usize - 1]
    }

    /// All of a lane.
    fn lane(&self, stream: Stream, lane: u32) -> &[VecDeque<Half>] {
        let at = (stream.index() * self.groups as usize + lane as usize) * self.later as usize;
        &self.halves[at..at + self.later as usize]
    }

    /// Whether host data of a stream waits, and not only what was collected among it.
    pub(crate) fn holds_host(&self, stream: Stream) -> bool {
        let lanes = |lane| self.lane(stream, lane).iter().flatten();
        let mut halves = (0..self.groups).flat_map(lanes);
        self.by_stream[stream] > 0 && halves.any(|half| half.host_units > 0)
    }

    /// A pass that is not the last begins.
    fn begin(&mut self, flight: &Flight) {
        self.first[flight.stream] += 1;
        self.host_firsts += u32::from(flight.host_units > 0);
    }
}

impl<P: Policies> Ftl<P> {
    /// Whether granules of a mode wait for more programs of their wordline.
    #[inline]
    pub(crate) fn has_passes(&self, mode: Mode) -> bool {
        self.writing.passes.later > 0 && mode == Mode::Native
    }

    /// Who is told of the first program of a granule.
    #[inline]
    pub(crate) fn first_pass(&self, mode: Mode, page: u32, place: u32) -> Token {
        if self.has_passes(mode) && !(self.layout.paired && page + 1 == self.layout.bits) {
            Token::FirstPass(place)
        } else {
            Token::Program(place)
        }
    }

    /// The first pass of a granule, or the program of a page of its wordline, has been issued: it
    /// waits for the others. `s` is the stream as it stood before.
    pub(crate) fn half_done(&mut self, stream: Stream, s: &Frontier, first: NandOp, data: bool) {
        let Token::FirstPass(place) = first.token else {
            return;
        };
        let flight = self.writing.buffer.flights[place as usize];
        self.writing.passes.host_units += flight.host_units;
        self.writing.passes.by_stream[flight.stream] += 1;
        self.writing.passes.begin(&flight);
        let half = Half {
            place,
            stripe: self.layout.stripe_of(s.mode, s.begun).0,
            die: first.die,
            units: if self.writing.passes.again {
                first.units
            } else {
                0
            },
            host_units: flight.host_units,
            data,
        };
        self.writing.passes.of(stream, s.lane, 1).push_back(half);
    }

    /// A pass of a granule that is not its last has ended.
    pub(crate) fn first_passed(&mut self, place: u32) {
        let flight = self.writing.buffer.flights[place as usize];
        self.writing.passes.first[flight.stream] -= 1;
        self.writing.passes.host_firsts -= u32::from(flight.host_units > 0);
        if self.layout.paired {
            self.page_programmed(place);
        }
    }

    /// Issues the later passes whose time has come in the lane of a stream that has its turn.
    pub(crate) fn later_passes(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let s = self.writing.streams[stream];
        if !self.has_passes(s.mode) {
            return;
        }
        if self.layout.paired {
            return self.close_wordlines(stream, s.lane);
        }
        let full_stripes = s.begun / (s.granule * self.layout.stripe_granules());
        self.pass_below(stream, s.lane, full_stripes, ops);
        if s.begun == s.end {
            self.last_passes(stream, s.lane, ops);
        }
    }

    /// The superblock of a lane takes no more: what waits in it gets its passes now, as if
    /// wordlines went on behind it.
    pub(crate) fn last_passes(&mut self, stream: Stream, lane: u32, ops: &mut Vec<NandOp>) {
        if !self.has_passes(self.writing.streams[stream].mode) {
            return;
        }
        if self.layout.paired {
            return self.leave_wordlines(stream, lane);
        }
        let newest = self.writing.passes.lane(stream, lane).iter().flatten();
        let Some(newest) = newest.map(|half| half.stripe).max() else {
            return;
        };
        for behind in 0..=self.writing.passes.later * self.writing.passes.distance {
            self.pass_below(stream, lane, newest + 1 + behind, ops);
        }
    }

    /// Issues what is due in a lane once its stripes below a number have had their first pass.
    fn pass_below(&mut self, stream: Stream, lane: u32, whole: u32, ops: &mut Vec<NandOp>) {
        for passes in 1..=self.writing.passes.later {
            let reach = passes * self.writing.passes.distance;
            while let Some(&half) = self.writing.passes.of(stream, lane, passes).front() {
                if half.stripe + reach >= whole {
                    break;
                }
                self.writing.passes.of(stream, lane, passes).pop_front();
                self.issue_pass(half, passes, ops);
                if passes < self.writing.passes.later {
                    self.writing
                        .passes
                        .of(stream, lane, passes + 1)
                        .push_back(half);
                }
            }
        }
    }

    /// Issues the pass of a granule after so many.
    fn issue_pass(&mut self, half: Half, passes: u32, ops: &mut Vec<NandOp>) {
        let flight = self.writing.buffer.flights[half.place as usize];
        let granule = self.layout.whole(self.layout.native_granule);
        self.counters.second_pass_units += u64::from(granule);
        let token = if passes < self.writing.passes.later {
            self.writing.passes.begin(&flight);
            Token::FirstPass(half.place)
        } else {
            self.writing.passes.host_units -= half.host_units;
            self.writing.passes.by_stream[flight.stream] -= 1;
            Token::Program(half.place)
        };
        let class = class::LATER_PASS + (passes - 1) as u8;
        ops.push(NandOp::new(half.die, class, half.units, token));
    }

    /// Pads a stream until none of its data waits: the granule being filled, and as many
    /// wordlines of padding as second passes ask for.
    pub(crate) fn pad_through(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        self.pad(stream, ops);
        if self.writing.passes.by_stream[stream] == 0 {
            return;
        }
        for lane in 0..self.layout.groups {
            while self.waits(stream, lane) {
                self.switch_lane(stream, lane);
                self.pad_granule(stream, ops);
            }
        }
    }

    /// Whether data waits for a pass in a lane.
    fn waits(&self, stream: Stream, lane: u32) -> bool {
        let mut halves = self.writing.passes.lane(stream, lane).iter().flatten();
        halves.any(|half| half.data)
    }

    /// Programs a granule of nothing.
    fn pad_granule(&mut self, stream: Stream, ops: &mut Vec<NandOp>) {
        let s = self.writing.streams[stream];
        assert!(
            s.here() >= s.granule,
            "a full superblock waits for its passes"
        );
        let flight = Flight {
            begun: false,
            first: self.layout.physical_units(),
            superblock: s.superblock,
            host_units: 0,
            moved: 0,
            stream: Stream::Parity,
            sequence: s.sequence,
            source: NONE,
            die: 0,
            stripe: 0,
        };
        self.counters.pad_units += u64::from(self.layout.whole(s.granule));
        let place = self.layout.place(s.mode, s.superblock, s.begun);
        self.launch(stream, &s, flight, place, 0, ops);
        if self.layout.parity {
            self.protect(stream, &s, ops);
        }
        let moved = &mut self.writing.streams[stream];
        moved.next += s.granule;
        moved.begun = moved.next;
        self.later_passes(stream, ops);
        if s.begun + s.granule == s.stop {
            self.end_turn(stream);
        }
    }

    /// Gives up what waits, for the superblocks are erased anyway.
    pub(crate) fn forget_passes(&mut self) {
        for at in 0..self.writing.passes.halves.len() {
            while let Some(half) = self.writing.passes.halves[at].pop_front() {
                let flight = self.writing.buffer.land(half.place);
                self.blocks.all[flight.superblock as usize].in_flight -= 1;
            }
        }
        assert!(
            self.writing.passes.pairs.is_settled(),
            "programs are under way"
        );
        self.writing.passes = Passes::new(&self.layout);
    }

    /// What waits is in flight, of open superblocks, and is counted.
    pub(crate) fn check_passes(&self) -> Checked {
        let mut by_stream = [0; COUNTED];
        let mut host_units = 0;
        for half in self.writing.passes.halves.iter().flatten() {
            let flight = self.writing.buffer.flights[half.place as usize];
            ensure_ne!(flight.first, NONE, "a granule landed after its first pass");
            by_stream[flight.stream] += 1;
            host_units += flight.host_units;
        }
        ensure_eq!(
            by_stream,
            self.writing.passes.by_stream,
            "granules between passes"
        );
        ensure_eq!(
            host_units,
            self.writing.passes.host_units,
            "units between passes"
        );
        Ok(())
    }
}

impl Passes {
    /// See [`crate::audit`].
    pub(crate) fn audit(&self, b: &Bounds) -> Checked {
        for half in self.halves.iter().flatten() {
            let known = half.place < b.flights && u32::from(half.die) < b.dies;
            ensure!(known && half.stripe <= b.units, "{half:?}");
        }
        // Several passes of a granule may wait for its die at once.
        let most = b.flights.saturating_mul(self.later.max(1));
        let counts = self.first.iter().chain([&self.host_firsts]);
        Bounds::below("first passes", most.saturating_add(1), counts)?;
        self.pairs.audit(b.flights)
    }
}
