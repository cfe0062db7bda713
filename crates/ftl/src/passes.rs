//! Programming in two passes (foggy, then fine), as QLC does: the second pass of a wordline comes
//! after the first pass of those behind it, so that neighbours disturb each other less.
//!
//! A stripe's granules get their second pass once the stripe so many wordlines behind it has got
//! its first; the end of a superblock brings what is left. Until its second pass is programmed a
//! granule is in flight: its data stays in the buffer, is read from there, is not durable, and
//! needs the data once more. Invariants: every granule gets both passes, on each die in the order
//! of the wordlines, and a full superblock waits for nothing.
//!
//! What has to be durable now (a flush, a write through, the end of a fold) cannot wait for the
//! data behind it: whole wordlines of padding take its place ([`Ftl::pad_through`]).

use std::collections::VecDeque;

use crate::allocate::{STREAMS, Stream};
use crate::audit::Bounds;
use crate::check::{Checked, ensure, ensure_eq, ensure_ne};
use crate::ftl::Ftl;
use crate::layout::{Layout, Mode, NONE};
use crate::op::{NandOp, Token, class};
use crate::write_buffer::{Flight, PARITY};

/// A granule that has had its first pass.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Half {
    /// Its place in the list of those in flight.
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

/// Granules that wait for their second pass, oldest first.
pub(crate) struct Passes {
    /// Wordlines from the first pass to the second; none where one pass is all.
    distance: Option<u32>,
    /// The data crosses the channel again.
    again: bool,
    groups: u32,
    /// By stream and die group.
    halves: Vec<VecDeque<Half>>,
    /// Units of the host's that wait.
    pub(crate) host_units: u32,
    /// Granules of each stream that wait, and of none.
    pub(crate) by_stream: [u32; STREAMS + 1],
    /// First passes under way of each stream, and of none.
    pub(crate) first: [u32; STREAMS + 1],
    /// Those of granules that hold host data.
    pub(crate) host_firsts: u32,
}

flashtwin_base::state! { Passes {
    kept: host_units, by_stream, first, host_firsts;
    sized: halves;
    built: distance, again, groups;
} }

impl Passes {
    pub(crate) fn new(layout: &Layout) -> Passes {
        let queues = layout
            .second_pass
            .map_or(0, |_| layout.groups as usize * STREAMS);
        Passes {
            distance: layout.second_pass.map(|pass| pass.distance_wordlines),
            again: layout.second_pass.is_some_and(|pass| pass.transfers),
            groups: layout.groups,
            halves: vec![VecDeque::new(); queues],
            host_units: 0,
            by_stream: [0; STREAMS + 1],
            first: [0; STREAMS + 1],
            host_firsts: 0,
        }
    }

    fn of(&mut self, stream: usize, lane: u32) -> &mut VecDeque<Half> {
        &mut self.halves[stream * self.groups as usize + lane as usize]
    }
}

impl Ftl {
    /// Whether granules of a mode are programmed twice.
    #[inline]
    pub(crate) fn has_passes(&self, mode: Mode) -> bool {
        self.passes.distance.is_some() && mode == Mode::Native
    }

    /// Who is told of the first program of a granule.
    #[inline]
    pub(crate) fn first_pass(&self, mode: Mode, place: u32) -> Token {
        if self.has_passes(mode) {
            Token::FirstPass(place)
        } else {
            Token::Program(place)
        }
    }

    /// The first pass of a granule has been issued: it waits for the second. `s` is the stream as
    /// it stood before.
    pub(crate) fn half_done(&mut self, stream: usize, s: &Stream, first: NandOp, data: bool) {
        let Token::FirstPass(place) = first.token else {
            return;
        };
        let flight = self.buffer.flights[place as usize];
        self.passes.host_units += flight.host_units;
        self.passes.by_stream[flight.stream] += 1;
        self.passes.first[flight.stream] += 1;
        self.passes.host_firsts += u32::from(flight.host_units > 0);
        let half = Half {
            place,
            stripe: self.layout.stripe_of(s.mode, s.begun).0,
            die: first.die,
            units: if self.passes.again { first.units } else { 0 },
            host_units: flight.host_units,
            data,
        };
        self.passes.of(stream, s.lane).push_back(half);
    }

    /// The first pass of a granule has ended.
    pub(crate) fn first_passed(&mut self, place: u32) {
        let flight = self.buffer.flights[place as usize];
        self.passes.first[flight.stream] -= 1;
        self.passes.host_firsts -= u32::from(flight.host_units > 0);
    }

    /// Issues the second passes whose time has come in the lane of a stream that has its turn.
    pub(crate) fn second_passes(&mut self, stream: usize, ops: &mut Vec<NandOp>) {
        let s = self.streams[stream];
        let Some(distance) = self.passes.distance.filter(|_| s.mode == Mode::Native) else {
            return;
        };
        let whole = s.begun / (s.granule * self.layout.stripe_granules());
        while let Some(&half) = self.passes.of(stream, s.lane).front() {
            if half.stripe + distance >= whole && s.begun < s.end {
                break;
            }
            self.passes.of(stream, s.lane).pop_front();
            self.issue_second(half, s.granule / self.layout.ratio, ops);
        }
    }

    /// The superblock of a lane takes no more: what waits in it gets its second pass now.
    pub(crate) fn last_passes(&mut self, stream: usize, lane: u32, ops: &mut Vec<NandOp>) {
        let s = self.streams[stream];
        if !self.has_passes(s.mode) {
            return;
        }
        while let Some(half) = self.passes.of(stream, lane).pop_front() {
            self.issue_second(half, s.granule, ops);
        }
    }

    fn issue_second(&mut self, half: Half, granule: u32, ops: &mut Vec<NandOp>) {
        self.passes.host_units -= half.host_units;
        let owner = self.buffer.flights[half.place as usize].stream;
        self.passes.by_stream[owner] -= 1;
        self.counters.second_pass_units += u64::from(granule);
        ops.push(NandOp {
            die: half.die,
            class: class::SECOND_PASS,
            units: half.units,
            retries: 0,
            token: Token::Program(half.place),
        });
    }

    /// Pads a stream until none of its data waits: the granule being filled, and as many
    /// wordlines of padding as second passes ask for.
    pub(crate) fn pad_through(&mut self, stream: usize, ops: &mut Vec<NandOp>) {
        self.pad(stream, ops);
        if self.passes.by_stream[stream] == 0 {
            return;
        }
        for lane in 0..self.layout.groups {
            while self.passes.of(stream, lane).iter().any(|half| half.data) {
                self.switch_lane(stream, lane);
                self.pad_granule(stream, ops);
            }
        }
    }

    /// Programs a granule of nothing.
    fn pad_granule(&mut self, stream: usize, ops: &mut Vec<NandOp>) {
        let s = self.streams[stream];
        assert!(
            s.here() >= s.granule,
            "a full superblock waits for its passes"
        );
        let flight = Flight {
            first: self.layout.physical_units(),
            superblock: s.superblock,
            host_units: 0,
            moved: 0,
            stream: PARITY,
            sequence: s.sequence,
            source: NONE,
        };
        self.counters.pad_units += u64::from(s.granule / self.layout.ratio);
        let place = self.layout.place(s.mode, s.superblock, s.begun);
        self.launch(stream, &s, flight, place, 0, ops);
        if self.layout.parity {
            self.protect(stream, &s, ops);
        }
        let moved = &mut self.streams[stream];
        moved.next += s.granule;
        moved.begun = moved.next;
        self.second_passes(stream, ops);
        if s.begun + s.granule == s.stop {
            self.end_turn(stream);
        }
    }

    /// Gives up what waits, for the superblocks are erased anyway.
    pub(crate) fn forget_passes(&mut self) {
        for at in 0..self.passes.halves.len() {
            while let Some(half) = self.passes.halves[at].pop_front() {
                let flight = self.buffer.land(half.place);
                self.blocks.all[flight.superblock as usize].in_flight -= 1;
            }
        }
        self.passes = Passes::new(&self.layout);
    }

    /// What waits is in flight, of open superblocks, and is counted.
    pub(crate) fn check_passes(&self) -> Checked {
        let mut by_stream = [0; STREAMS + 1];
        let mut host_units = 0;
        for half in self.passes.halves.iter().flatten() {
            let flight = self.buffer.flights[half.place as usize];
            ensure_ne!(flight.first, NONE, "a granule landed after its first pass");
            by_stream[flight.stream] += 1;
            host_units += flight.host_units;
        }
        ensure_eq!(by_stream, self.passes.by_stream, "granules between passes");
        ensure_eq!(host_units, self.passes.host_units, "units between passes");
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
        let counts = self.first.iter().chain([&self.host_firsts]);
        Bounds::below("first passes", b.flights + 1, counts)
    }
}
