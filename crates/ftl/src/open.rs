//! Superblocks from the moment a stream opens them until it has filled them.

use crate::blocks::{Pool, State};
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::orders::Policies;
use crate::streams::Stream;

impl<P: Policies> Ftl<P> {
    /// Makes sure that the lane of a stream that has its turn has space.
    #[inline]
    pub(crate) fn ensure_open(&mut self, stream: Stream) {
        if self.writing.streams[stream].here() == 0 {
            self.find_space(stream);
        }
    }

    /// Opens a superblock in the lane that has its turn and has none.
    #[cold]
    pub(crate) fn open(&mut self, stream: Stream) {
        // A start after a power cut writes back whole superblocks: it takes all pages.
        let lower_only =
            self.layout.lower_first && stream == Stream::Direct && !self.cuts.is_recovering();
        if lower_only && self.reopen_half() {
            return;
        }
        let mode = self.writing.streams[stream].mode;
        let group = self.writing.streams[stream].lane;
        let superblock = match stream {
            Stream::Cache => self.take_cache_superblock(group),
            Stream::Tier => self.take_tier_superblock(group),
            Stream::Map => self.blocks.free_map.pop_front(),
            _ => self
                .wear
                .take_free(&mut self.blocks, &self.layout, (stream, group)),
        };
        self.look_at_cache();
        let Some(superblock) = superblock else {
            panic!(
                "no superblock left for stream {stream:?}\n{}",
                self.describe()
            );
        };
        match stream {
            Stream::Fold => self.cache.fold.pledged = false,
            _ if stream.is_host() => self.writing.buffer.awaited.keep(stream),
            _ if stream.is_collected() && stream == self.collect_stream() => {
                self.collection.mover.pledged = false;
            }
            _ => {}
        }
        let pledged = u32::from(self.cache.fold.pledged) + u32::from(self.collection.mover.pledged);
        assert!(
            self.blocks.free_count() >= pledged,
            "stream {stream:?} took a superblock set aside for a mover\n{}",
            self.describe()
        );
        let cold = matches!(
            stream,
            Stream::Placed1 | Stream::Collected1 | Stream::Levelled
        );
        let pool = usize::from(cold && self.divides_pools());
        let block = &mut self.blocks.all[superblock as usize];
        assert_eq!(
            (block.state, block.valid, block.written),
            (State::Free, 0, 0)
        );
        block.state = State::Open;
        (block.bare, block.distrusted) = (u32::MAX, false);
        block.mode = mode;
        block.pool = stream.pool();
        (block.filled_by, block.opened_at) = (stream, self.counters.host_units);
        self.packing.opened(superblock);
        let written = if stream.is_host() {
            self.counters.host_units
        } else {
            0
        };
        self.blocks.victims.opened(superblock, pool, written);
        self.collection.opened(superblock);
        self.cuts.opened(superblock);
        let s = &mut self.writing.streams[stream];
        s.superblock = superblock;
        (s.next, s.begun) = (0, 0);
        s.end = if lower_only {
            self.layout.slc_units
        } else {
            self.layout.units(mode)
        };
        s.stop = if self.layout.groups > 1 && stream != Stream::Map {
            s.granule
        } else {
            s.end
        };
        s.lane = self.layout.group_of(superblock);
        block.written = s.end;
    }

    /// With nothing free beyond the reserve, host data goes on in the upper pages of the oldest
    /// half-filled superblock; false where there is none.
    fn reopen_half(&mut self) -> bool {
        if self.available() > self.policy.gc.reserve_superblocks {
            return false;
        }
        let Some(superblock) = self.blocks.half.pop_front() else {
            return false;
        };
        self.writing.buffer.awaited.keep(Stream::Direct);
        let block = &mut self.blocks.all[superblock as usize];
        assert_eq!(
            (block.state, block.written),
            (State::Half, self.layout.slc_units)
        );
        block.state = State::Open;
        self.cuts.opened(superblock);
        let s = &mut self.writing.streams[Stream::Direct];
        s.superblock = superblock;
        (s.next, s.begun) = (block.written, block.written);
        s.end = self.layout.native_units;
        s.stop = s.end;
        block.written = s.end;
        true
    }

    pub(crate) fn close(&mut self, stream: Stream) {
        let superblock = self.writing.streams[stream].superblock;
        let half =
            stream == Stream::Direct && self.writing.streams[stream].end < self.layout.native_units;
        let s = &mut self.writing.streams[stream];
        s.superblock = NONE;
        (s.next, s.begun, s.end, s.stop) = (0, 0, 0, 0);
        if half {
            self.blocks.all[superblock as usize].state = State::Half;
            self.blocks.half.push_back(superblock);
        } else {
            self.close_superblock(stream, superblock);
        }
    }

    /// A superblock that a stream has filled takes no more data.
    pub(crate) fn close_superblock(&mut self, stream: Stream, superblock: u32) {
        if stream.is_host() {
            self.blocks
                .victims
                .received(superblock, self.counters.host_units);
        }
        let block = &mut self.blocks.all[superblock as usize];
        block.state = State::Closed;
        match block.pool {
            Pool::Cache => self.blocks.cache.push_back(superblock),
            Pool::Tier => self.blocks.tier.push_back(superblock),
            Pool::Data => self.blocks.victims.add(superblock, block.valid),
            Pool::Map => {}
        }
    }
}
