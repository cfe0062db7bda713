//! Which data shares superblocks: the choice of a stream for what the host writes past the cache
//! and for what collection moves.
//!
//! A superblock is cheap to collect if all of its data becomes invalid at about the same time.
//! Collected data has shown that it lives long. So it has a stream of its own, except where the
//! policy mixes it with the host's. Host data may be divided too, by the age of the copy that it
//! replaces: what was written a short time ago will be written again soon. What static wear
//! levelling moves has not been written for longer than all other data. It has a stream of its own,
//! because among collected data it would soon be moved again. Or the host says what is hot; then
//! hot and cold data have a pool of superblocks each, and each pool is collected by itself.
//!
//! Two streams can always be written: [`Stream::Direct`], and [`Stream::Collected`] or
//! [`Stream::Collected1`] by the pool of the source. Free superblocks are set aside for them. Any
//! other stream is written while its open superblock has room, or while a superblock can be opened
//! that is set aside for nobody; otherwise the data goes to one of the two. So no separation can
//! bring a drive to a halt, but data is mixed while few superblocks are free.

use super::Ftl;
use crate::layout::NONE;
use crate::lifetimes::{Lifetimes, Moved, Write};
use crate::mover::Work;
use crate::op::NandOp;
use crate::orders::Policies;
use crate::policy::{Isolation, Separation};
use crate::streams::Stream;
use crate::victims::{COLD_POOL, HOT_POOL};
use crate::wear::Cause;

impl<P: Policies> Ftl<P> {
    /// The first unit that the host calls cold.
    fn first_cold(&self) -> u32 {
        let share = match self.policy.gc.separation {
            Separation::Oracle { hot_milli, .. } => hot_milli,
            _ => 0,
        };
        (u64::from(self.logical_units()) * u64::from(share) / 1000) as u32
    }

    /// The stream for a run of host data that goes past the cache, and how many of its units are
    /// alike.
    pub(super) fn direct_stream(&mut self, lpn: u32, count: u32) -> (Stream, u32) {
        match self.policy.gc.separation {
            Separation::None | Separation::Gc => (Stream::Direct, count),
            _ => self.divided_stream(lpn, count),
        }
    }

    /// The same where data is divided: by what the host says of a unit, or by its inferred
    /// lifetime.
    fn divided_stream(&mut self, lpn: u32, count: u32) -> (Stream, u32) {
        let first_cold = self.first_cold();
        let (class, alike) = match self.policy.gc.separation {
            Separation::ByLifetime(_) => self.inferred_class(lpn, count),
            _ if lpn >= first_cold => (1, count),
            _ => (0, count.min(first_cold - lpn)),
        };
        let mut stream = Stream::of_host(class);
        if self.infers_lifetimes() {
            let with = self.sharing.place_host(class);
            // The superblock that a class has open is filled to its end.
            if class > 0 && self.writing[stream].left() == 0 {
                stream = Stream::of_host(with);
            }
        }
        if stream != Stream::Direct && self.has_place(stream, 1) {
            return (stream, alike);
        }
        (Stream::Direct, alike)
    }

    fn inferred_class(&mut self, lpn: u32, count: u32) -> (u8, u32) {
        let ppn = self.map.physical[lpn as usize];
        let holds = (ppn != NONE).then(|| self.layout.superblock_of(ppn));
        let write = Write {
            lpn,
            count,
            now: self.counters.host_units,
            neighbours: holds.map(|superblock| self.blocks.written(superblock)),
        };
        self.policies.lifetimes().host(&write)
    }

    /// Whether units may go to a stream for which no superblock is set aside.
    fn has_place(&self, stream: Stream, units: u32) -> bool {
        self.writing[stream].left() >= units
            || self.available_to_movers() > self.policy.gc.reserve_superblocks
    }

    /// The stream for units that collection moves out of its present source.
    pub(super) fn collected_stream(&self, units: u32) -> Stream {
        match self.policy.gc.separation {
            Separation::None if self.shares_granules() && self.host_has_place(units) => {
                Stream::Direct
            }
            _ => self.isolated_stream(units),
        }
    }

    /// The same where the data of each placement handle may have to stay apart.
    fn isolated_stream(&self, units: u32) -> Stream {
        let usual = self.collect_stream();
        if self.policy.fdp.isolation == Isolation::Initial || usual == Stream::Levelled {
            return usual;
        }
        let source = &self.blocks[self.movers[Work::Collect].source()];
        let own = Stream::of_collected(source.filled_by.class());
        if self.has_place(own, units) {
            own
        } else {
            usual
        }
    }

    /// Whether units of one row of a source may go to different streams. Not on a drive that
    /// compresses.
    pub(super) fn divides_collected(&self) -> bool {
        let by = self.policy.gc.separation;
        let divides = matches!(by, Separation::Oracle { .. } | Separation::ByLifetime(_));
        divides && !self.layout.packs()
    }

    /// Places collected data in the stream of each unit's class, or in the stream of the source's
    /// pool while that of the class has no room. Data that has come into the wrong pool, because
    /// free superblocks were short, comes back to its own when it is collected.
    pub(super) fn append_divided(
        &mut self,
        lpns: &[u32],
        source: u32,
        written: u64,
        ops: &mut Vec<NandOp>,
    ) {
        let mut rest = lpns;
        while !rest.is_empty() {
            let class = self.collected_class(rest[0], source);
            let others = rest[1..].iter();
            let alike = others.take_while(|&&lpn| self.collected_class(lpn, source) == class);
            let (alike, later) = rest.split_at(1 + alike.count());
            let own = self.stream_of_class(class, alike.len() as u32);
            let stream = if self.has_place(own, alike.len() as u32) {
                own
            } else {
                self.collect_stream()
            };
            self.append_moved(stream, alike, written, ops);
            if self.infers_lifetimes() {
                self.sharing.collected(alike, class);
            }
            rest = later;
        }
    }

    fn infers_lifetimes(&self) -> bool {
        matches!(self.policy.gc.separation, Separation::ByLifetime(_))
    }

    /// The stream of a class of collected data: what it has open is filled to its end, and then it
    /// goes with the class that it shares superblocks with.
    fn stream_of_class(&self, class: u8, units: u32) -> Stream {
        let own = Stream::of_collected(class);
        if self.infers_lifetimes() && self.writing[own].left() < units {
            return Stream::of_collected(self.sharing.of_collected(class));
        }
        own
    }

    fn collected_class(&mut self, lpn: u32, source: u32) -> u8 {
        if !self.infers_lifetimes() {
            return u8::from(lpn >= self.first_cold());
        }
        let filled = self.blocks[source].filled_by.fills();
        let moved = Moved {
            lpn,
            now: self.counters.host_units,
            from: self.sharing.class_of(lpn).filled().unwrap_or(filled),
        };
        self.policies.lifetimes().collected(&moved)
    }

    /// Whether collected data and host data may share a granule: data that is collected for its
    /// space, on a drive that does not compress.
    fn shares_granules(&self) -> bool {
        !self.layout.packs() && self.movers[Work::Collect].cause() == Cause::Space
    }

    /// Whether collected data fits into the host's superblock beside what the host is sending.
    fn host_has_place(&self, units: u32) -> bool {
        let coming = self.writing.buffer.awaited().units();
        let fits = self.writing[Stream::Direct].left() >= coming + units;
        let opens = self.available_to_movers() > self.policy.gc.reserve_superblocks
            && self.layout.native_units >= coming + units;
        self.writing.buffer.awaited().superblocks() == 0 && (fits || opens)
    }

    /// Places collected data in a stream of the host's, granule by granule, so that each granule
    /// notes how much of it is collected.
    pub(super) fn append_among_hosts(
        &mut self,
        stream: Stream,
        lpns: &[u32],
        written: u64,
        ops: &mut Vec<NandOp>,
    ) {
        let mut rest = lpns;
        while !rest.is_empty() {
            let s = &mut self.writing[stream];
            let fits = s.granule - (s.next - s.begun);
            let (now, later) = rest.split_at(rest.len().min(fits as usize));
            s.moved += now.len() as u32;
            self.append_moved(stream, now, written, ops);
            rest = later;
        }
    }

    /// Whether a mover's data may be in a stream.
    pub(super) fn takes_moved(&self, work: Work, stream: Stream) -> bool {
        let shared = self.policy.gc.separation == Separation::None;
        match work {
            Work::Fold => stream == Stream::Fold,
            Work::Map => stream == Stream::Map,
            Work::Collect => stream.is_collected() || (stream == Stream::Direct && shared),
        }
    }

    /// Pads the granules that hold the last copies of a mover's sources. A granule that the host
    /// fills too is padded only if somebody waits for those copies (`awaited`), and not while data
    /// is on its way that has its place there.
    pub(super) fn pad_moved(&mut self, work: Work, awaited: bool, ops: &mut Vec<NandOp>) {
        match work {
            Work::Fold => self.pad_through(Stream::Fold, ops),
            Work::Map => self.pad_through(Stream::Map, ops),
            Work::Collect => {
                for &stream in self.writing.of_collected() {
                    self.pad_through(stream, ops);
                }
                if awaited
                    && self.takes_moved(work, Stream::Direct)
                    && self.writing.buffer.awaited().units() == 0
                {
                    self.pad_through(Stream::Direct, ops);
                }
            }
        }
    }

    /// The pool to collect next: the one that has more than its share of the superblocks.
    pub(super) fn pool_in_turn(&self) -> usize {
        let Separation::Oracle { pool_milli, .. } = self.policy.gc.separation else {
            return HOT_POOL;
        };
        let used = |pool| u64::from(self.blocks.used(pool));
        let hot = used(HOT_POOL) * u64::from(1000 - pool_milli);
        let cold = used(COLD_POOL) * u64::from(pool_milli);
        if hot > cold { HOT_POOL } else { COLD_POOL }
    }
}
