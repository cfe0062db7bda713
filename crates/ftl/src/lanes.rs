//! Lanes: where superblocks span a part of the dies, a stream keeps one open in each group of dies
//! and fills a granule in each in turn, so that all dies work.
//!
//! One lane of a stream is the current one and stands in [`Frontier`]; the others are parked here,
//! each at the beginning of a granule. With one group there is one lane and nothing is ever parked.
//! Which lane may open a superblock is decided in [`crate::allocate`].
//!
//! Pages of the map are few and their superblocks too, and what wear levelling moves goes into one
//! superblock: their streams have one lane, in the group of the superblock that is open.

use crate::blocks::{Blocks, State};
use crate::ensure::{Checked, ensure_eq};
use crate::frontier::Frontier;
use crate::layout::{Layout, NONE};
use crate::streams::{STREAMS, Stream};

/// A lane that is not the current one: its superblock, how far that is filled, and where it ends.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Lane {
    superblock: u32,
    next: u32,
    end: u32,
}

const EMPTY: Lane = Lane {
    superblock: NONE,
    next: 0,
    end: 0,
};

/// The parked lanes of all streams; the place of a stream's current one is empty.
pub(crate) struct Lanes {
    all: Vec<Lane>,
    groups: u32,
}

flashtwin_base::state! { Lanes {
    sized: all;
    built: groups;
} }

impl Lanes {
    pub(crate) fn new(layout: &Layout) -> Lanes {
        Lanes {
            all: vec![EMPTY; STREAMS * layout.groups as usize],
            groups: layout.groups,
        }
    }

    fn at(&mut self, stream: Stream, group: u32) -> &mut Lane {
        &mut self.all[stream.index() * self.groups as usize + group as usize]
    }

    /// The parked superblocks of a stream, the group that each is parked in, and what fits.
    fn open(&self, stream: Stream) -> impl Iterator<Item = (u32, u32, u32)> {
        let first = stream.index() * self.groups as usize;
        let own = self.all[first..first + self.groups as usize].iter();
        let own = (0..).zip(own).filter(|(_, lane)| lane.superblock != NONE);
        own.map(|(group, lane)| (group, lane.superblock, lane.end - lane.next))
    }

    /// The parked superblocks of a stream.
    pub(crate) fn superblocks(&self, stream: Stream) -> impl Iterator<Item = u32> {
        self.open(stream).map(|(_, superblock, _)| superblock)
    }

    /// How far the parked superblocks of a stream are filled.
    pub(crate) fn parked(&self, stream: Stream) -> impl Iterator<Item = u32> {
        let first = stream.index() * self.groups as usize;
        let own = self.all[first..first + self.groups as usize].iter();
        own.filter(|lane| lane.superblock != NONE)
            .map(|lane| lane.next)
    }
}

impl Lanes {
    /// How far a parked superblock is filled; none where it is not parked.
    pub(crate) fn next_of(&self, superblock: u32) -> Option<u32> {
        let mut all = self.all.iter();
        all.find(|lane| lane.superblock == superblock)
            .map(|lane| lane.next)
    }

    /// Takes a superblock out of the lane that it is parked in: its stream, how far it is filled,
    /// and the units that still fit into it. None where it is not parked.
    pub(crate) fn take(&mut self, superblock: u32) -> Option<(Stream, u32, u32)> {
        let mut lanes = self.all.iter();
        let at = lanes.position(|lane| lane.superblock == superblock)?;
        let lane = std::mem::replace(&mut self.all[at], EMPTY);
        let stream = Stream::ALL[at / self.groups as usize];
        Some((stream, lane.next, lane.end - lane.next))
    }

    /// The group behind another.
    pub(crate) fn behind(&self, group: u32) -> u32 {
        (group + 1) % self.groups
    }

    /// Makes a group's lane the current one of a stream. Only between granules.
    pub(crate) fn switch(&mut self, stream: Stream, s: &mut Frontier, group: u32) {
        assert_eq!(
            s.next, s.begun,
            "stream {stream:?} leaves a granule half full"
        );
        if s.lane == group {
            return;
        }
        *self.at(stream, s.lane) = Lane {
            superblock: s.superblock,
            next: s.next,
            end: s.end,
        };
        let lane = std::mem::replace(self.at(stream, group), EMPTY);
        let open = lane.superblock != NONE;
        *s = Frontier {
            superblock: lane.superblock,
            next: lane.next,
            begun: lane.next,
            end: lane.end,
            stop: if open { lane.next + s.granule } else { 0 },
            lane: group,
            parked: s.parked + (s.end - s.next) - (lane.end - lane.next),
            ..*s
        };
    }

    /// Checks that each open superblock stands in one lane, of its own group, and that what fits
    /// into them adds up.
    pub(crate) fn check(
        &self,
        streams: &[Frontier; STREAMS],
        layout: &Layout,
        blocks: &Blocks,
    ) -> Checked {
        let mut open = 0;
        for (stream, s) in Stream::ALL.into_iter().zip(streams) {
            let parked: u32 = self.open(stream).map(|(_, _, left)| left).sum();
            ensure_eq!(
                parked,
                s.parked,
                "space in parked lanes of stream {stream:?}"
            );
            let own = (s.superblock != NONE).then_some((s.lane, s.superblock, 0));
            for (group, superblock, _) in self.open(stream).chain(own) {
                let state = blocks[superblock].state;
                ensure_eq!(state, State::Open, "superblock {superblock} in a lane");
                ensure_eq!(layout.group_of(superblock), group, "lane of another group");
                open += 1;
            }
        }
        let all = blocks.all().iter();
        let states = all.filter(|b| b.state == State::Open).count();
        ensure_eq!(open, states, "open superblocks and lanes");
        Ok(())
    }
}
