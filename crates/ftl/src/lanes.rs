//! Lanes: where superblocks span a part of the dies, a stream keeps one open in each group of dies
//! and goes round them granule by granule, so that all dies work.
//!
//! One lane of a stream has its turn and stands in [`Frontier`]; the others are parked here, each
//! at the beginning of a granule. With one group there is one lane and nothing is ever parked.
//!
//! Opening is generous while superblocks abound: each lane that has none takes one of its group.
//! At the reserve it is thrifty: a stream uses up the lanes that it has, on fewer dies, and opens
//! another only when none has space left. So however many lanes there are, a stream needs no more
//! superblocks than with one, and what was reckoned for one (pledges, promises, the reserve) holds.
//!
//! Pages of the map are few and their superblocks too: their stream has one lane, of the group of
//! the superblock that is open.

use crate::allocate::Frontier;
use crate::audit::Bounds;
use crate::blocks::State;
use crate::check::{Checked, ensure, ensure_eq};
use crate::ftl::Ftl;
use crate::layout::{Layout, NONE};
use crate::op::NandOp;
use crate::orders::Policies;
use crate::streams::{STREAMS, Stream};

/// A lane whose turn it is not.
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

/// The parked lanes of all streams; the place of the one that has its turn is empty.
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
}

impl<P: Policies> Ftl<P> {
    /// The group of a stream's lane has a free superblock for it.
    pub(crate) fn lane_has_free(&self, stream: Stream) -> bool {
        let group = self.writing.streams[stream].lane;
        self.blocks.has_free(&self.layout, group)
    }

    /// A superblock takes no more data: the lane that it is parked in, if it is, has none. Whatever
    /// its stream has is between granules there.
    /// The answer is the stream.
    pub(crate) fn leave_parked(
        &mut self,
        superblock: u32,
        ops: &mut Vec<NandOp>,
    ) -> Option<Stream> {
        let mut lanes = self.writing.lanes.all.iter();
        let at = lanes.position(|lane| lane.superblock == superblock)?;
        let lane = std::mem::replace(&mut self.writing.lanes.all[at], EMPTY);
        let stream = Stream::ALL[at / self.layout.groups as usize];
        self.writing.streams[stream].parked -= lane.end - lane.next;
        self.last_passes(stream, self.layout.group_of(superblock), ops);
        self.forgo_parity(stream, superblock, lane.next);
        self.close_superblock(stream, superblock);
        Some(stream)
    }

    /// Gives a group's lane of a stream its turn. Only between granules.
    pub(crate) fn switch_lane(&mut self, stream: Stream, group: u32) {
        let s = self.writing.streams[stream];
        assert_eq!(
            s.next, s.begun,
            "stream {stream:?} leaves a granule half full"
        );
        if s.lane == group {
            return;
        }
        *self.writing.lanes.at(stream, s.lane) = Lane {
            superblock: s.superblock,
            next: s.next,
            end: s.end,
        };
        let lane = std::mem::replace(self.writing.lanes.at(stream, group), EMPTY);
        let open = lane.superblock != NONE;
        self.writing.streams[stream] = Frontier {
            superblock: lane.superblock,
            next: lane.next,
            begun: lane.next,
            end: lane.end,
            stop: if open { lane.next + s.granule } else { 0 },
            lane: group,
            parked: s.parked + (s.end - s.next) - (lane.end - lane.next),
            ..s
        };
    }

    /// The granule is full: the next lane has its turn.
    pub(crate) fn next_lane(&mut self, stream: Stream) {
        let next = (self.writing.streams[stream].lane + 1) % self.layout.groups;
        self.switch_lane(stream, next);
    }

    /// Finds a lane with space for a stream whose own has none, and opens a superblock where it
    /// has to or may.
    #[cold]
    pub(crate) fn find_space(&mut self, stream: Stream) {
        if self.layout.groups == 1 || stream == Stream::Map {
            self.open(stream);
            return;
        }
        for _ in 0..self.layout.groups {
            if self.writing.streams[stream].here() > 0 {
                return;
            }
            if self.may_open_lane(stream) {
                self.open(stream);
                return;
            }
            self.next_lane(stream);
        }
        let fixed = self.blocks.free_fixed.front();
        let first = fixed.filter(|_| stream == Stream::Cache);
        if let Some(&superblock) = first.or(self.blocks.free.front()) {
            self.switch_lane(stream, self.layout.group_of(superblock));
        }
        self.open(stream);
    }

    /// Whether a lane may have a superblock though others of its stream have space.
    fn may_open_lane(&self, stream: Stream) -> bool {
        let reserve = self.policy.gc.reserve_superblocks;
        let group = self.writing.streams[stream].lane;
        match stream {
            Stream::Cache => {
                self.blocks.has_fixed(&self.layout, group)
                    || (self.lane_has_free(stream) && self.cache_lendable() > 0)
            }
            Stream::Tier => self.lane_has_free(stream) && self.tier_may_open(),
            Stream::Direct => self.lane_has_free(stream) && self.available() > reserve,
            _ => self.lane_has_free(stream) && self.available_to_movers() > reserve,
        }
    }

    /// Each open superblock stands in one lane, of its own group, and what they hold adds up.
    pub(crate) fn check_lanes(&self) -> Checked {
        let mut open = 0;
        for (stream, s) in Stream::ALL.into_iter().zip(&self.writing.streams) {
            let parked: u32 = self
                .writing
                .lanes
                .open(stream)
                .map(|(_, _, left)| left)
                .sum();
            ensure_eq!(
                parked,
                s.parked,
                "space in parked lanes of stream {stream:?}"
            );
            let own = (s.superblock != NONE).then_some((s.lane, s.superblock, 0));
            for (group, superblock, _) in self.writing.lanes.open(stream).chain(own) {
                let state = self.blocks.all[superblock as usize].state;
                ensure_eq!(state, State::Open, "superblock {superblock} in a lane");
                ensure_eq!(
                    self.layout.group_of(superblock),
                    group,
                    "lane of another group"
                );
                open += 1;
            }
        }
        let all = self.blocks.all.iter();
        let states = all.filter(|b| b.state == State::Open).count();
        ensure_eq!(open, states, "open superblocks and lanes");
        Ok(())
    }
}

impl Lanes {
    /// See [`crate::audit`].
    pub(crate) fn audit(&self, b: &Bounds) -> Checked {
        for lane in &self.all {
            Bounds::below_or_none("lanes", b.superblocks, [&lane.superblock])?;
            ensure!(lane.next <= lane.end && lane.end <= b.units, "{lane:?}");
        }
        Ok(())
    }
}
