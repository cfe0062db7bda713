//! Streams: each has a superblock open of its own, so a stream says which data shares superblocks.
//! A `match` on it shows who goes where; tables that have an entry for each are indexed by it.

use std::ops::{Index, IndexMut};

use crate::allocate::Frontier;
use crate::blocks::Pool;
use crate::layout::Mode;
use crate::policy::Policy;

/// What is written into one open superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[repr(u8)]
pub(crate) enum Stream {
    /// Host data into the SLC cache.
    Cache,
    /// Host data straight into native blocks.
    Direct,
    /// Folded data.
    Fold,
    /// Collected data.
    Collected,
    /// Pages of the map, new and collected.
    Map,
    /// Host data that is held to be cold, past the cache.
    Cold,
    /// Collected data of cold superblocks.
    CollectedCold,
    /// Host data into the second tier of the cache.
    Tier,
    /// Data that rests, moved by static wear levelling into the most worn free superblock.
    Levelled,
    /// Parity, which goes into the superblock that it protects: it opens none and nobody waits for
    /// it. It is counted apart.
    Parity,
}

/// How many streams open superblocks: all but [`Stream::Parity`].
pub(crate) const STREAMS: usize = 9;

/// How many streams are counted.
pub(crate) const COUNTED: usize = STREAMS + 1;

impl Stream {
    /// Those that open superblocks, in the order of their indices.
    pub(crate) const ALL: [Stream; STREAMS] = [
        Stream::Cache,
        Stream::Direct,
        Stream::Fold,
        Stream::Collected,
        Stream::Map,
        Stream::Cold,
        Stream::CollectedCold,
        Stream::Tier,
        Stream::Levelled,
    ];
    /// Those that the mover of collection fills and nobody else does.
    pub(crate) const COLLECTED: [Stream; 3] =
        [Stream::Collected, Stream::CollectedCold, Stream::Levelled];
    /// Those that take host data.
    pub(crate) const HOST: [Stream; 4] =
        [Stream::Cache, Stream::Direct, Stream::Cold, Stream::Tier];

    /// Its place in tables that have an entry for each stream.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Whether it takes host data.
    #[inline]
    pub(crate) fn is_host(self) -> bool {
        matches!(
            self,
            Stream::Cache | Stream::Direct | Stream::Cold | Stream::Tier
        )
    }

    /// Whether it takes what the mover of collection moves and nothing else.
    #[inline]
    pub(crate) fn is_collected(self) -> bool {
        matches!(
            self,
            Stream::Collected | Stream::CollectedCold | Stream::Levelled
        )
    }

    /// How it programs its superblocks.
    pub(crate) fn mode(self, policy: &Policy) -> Mode {
        match self {
            Stream::Cache => Mode::Slc,
            Stream::Tier => Mode::Tier,
            Stream::Map => policy.map.mode,
            _ => Mode::Native,
        }
    }

    /// What its superblocks are used for.
    pub(crate) fn pool(self) -> Pool {
        match self {
            Stream::Cache => Pool::Cache,
            Stream::Tier => Pool::Tier,
            Stream::Map => Pool::Map,
            _ => Pool::Data,
        }
    }
}

impl Index<Stream> for [Frontier; STREAMS] {
    type Output = Frontier;

    #[inline]
    fn index(&self, stream: Stream) -> &Frontier {
        &self[stream.index()]
    }
}

impl IndexMut<Stream> for [Frontier; STREAMS] {
    #[inline]
    fn index_mut(&mut self, stream: Stream) -> &mut Frontier {
        &mut self[stream.index()]
    }
}

impl Index<Stream> for [u32; COUNTED] {
    type Output = u32;

    #[inline]
    fn index(&self, stream: Stream) -> &u32 {
        &self[stream.index()]
    }
}

impl IndexMut<Stream> for [u32; COUNTED] {
    #[inline]
    fn index_mut(&mut self, stream: Stream) -> &mut u32 {
        &mut self[stream.index()]
    }
}
