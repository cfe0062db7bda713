//! Streams: each has a superblock open of its own, so a stream says which data shares superblocks.
//! A `match` on it shows who goes where; tables that have an entry for each are indexed by it.

use std::ops::{Index, IndexMut};

use crate::lifetimes::{CLASSES, Filled};
use crate::words::Pool;

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
    /// Host data of a second class, past the cache: what is held to be cold, or has a placement
    /// handle of its own.
    Placed1,
    /// Collected data of a second class.
    Collected1,
    /// Host data into the second tier of the cache.
    Tier,
    /// Data that rests, moved by static wear levelling into the most worn free superblock.
    Levelled,
    /// Host data of further classes.
    Placed2,
    Placed3,
    Placed4,
    Placed5,
    Placed6,
    Placed7,
    /// Collected data of further classes.
    Collected2,
    Collected3,
    Collected4,
    Collected5,
    Collected6,
    Collected7,
    /// Parity, which goes into the superblock that it protects: it opens none and nobody waits for
    /// it. It is counted apart.
    Parity,
}

/// How many streams open superblocks: all but [`Stream::Parity`].
pub(crate) const STREAMS: usize = 21;

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
        Stream::Placed1,
        Stream::Collected1,
        Stream::Tier,
        Stream::Levelled,
        Stream::Placed2,
        Stream::Placed3,
        Stream::Placed4,
        Stream::Placed5,
        Stream::Placed6,
        Stream::Placed7,
        Stream::Collected2,
        Stream::Collected3,
        Stream::Collected4,
        Stream::Collected5,
        Stream::Collected6,
        Stream::Collected7,
    ];
    /// Those that the mover of collection fills and nobody else does.
    pub(crate) const COLLECTED: [Stream; CLASSES + 1] = [
        Stream::Collected,
        Stream::Collected1,
        Stream::Levelled,
        Stream::Collected2,
        Stream::Collected3,
        Stream::Collected4,
        Stream::Collected5,
        Stream::Collected6,
        Stream::Collected7,
    ];
    /// Those that take host data.
    pub(crate) const HOST: [Stream; CLASSES + 2] = [
        Stream::Cache,
        Stream::Direct,
        Stream::Placed1,
        Stream::Tier,
        Stream::Placed2,
        Stream::Placed3,
        Stream::Placed4,
        Stream::Placed5,
        Stream::Placed6,
        Stream::Placed7,
    ];

    /// Its place in tables that have an entry for each stream.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// The stream of a class of host data past the cache.
    #[inline]
    pub(crate) fn of_host(class: u8) -> Stream {
        match class {
            0 => Stream::Direct,
            1 => Stream::Placed1,
            class => Stream::ALL[Stream::Placed2.index() + usize::from(class) - 2],
        }
    }

    /// The stream of a class of collected data.
    #[inline]
    pub(crate) fn of_collected(class: u8) -> Stream {
        match class {
            0 => Stream::Collected,
            1 => Stream::Collected1,
            class => Stream::ALL[Stream::Collected2.index() + usize::from(class) - 2],
        }
    }

    /// What a superblock has been filled with by it.
    pub(crate) fn fills(self) -> Filled {
        match self {
            Stream::Levelled => Filled::Rested,
            Stream::Fold => Filled::Folded,
            _ if self.is_collected() => Filled::Collected(self.class()),
            _ => Filled::Host(self.class()),
        }
    }

    /// Its class among those of host data past the cache or among those of collected data; the
    /// first one for all other streams.
    pub(crate) fn class(self) -> u8 {
        let at = self.index();
        match self {
            Stream::Placed1 | Stream::Collected1 => 1,
            _ if at >= Stream::Collected2.index() && self != Stream::Parity => {
                (at - Stream::Collected2.index()) as u8 + 2
            }
            _ if at >= Stream::Placed2.index() && self != Stream::Parity => {
                (at - Stream::Placed2.index()) as u8 + 2
            }
            _ => 0,
        }
    }

    /// Whether it takes host data straight into native blocks.
    #[inline]
    pub(crate) fn is_direct(self) -> bool {
        let at = self.index();
        let further = Stream::Placed2.index()..=Stream::Placed7.index();
        matches!(self, Stream::Direct | Stream::Placed1) || further.contains(&at)
    }

    /// Whether it takes host data.
    #[inline]
    pub(crate) fn is_host(self) -> bool {
        matches!(self, Stream::Cache | Stream::Tier) || self.is_direct()
    }

    /// Whether it takes what the mover of collection moves and nothing else.
    #[inline]
    pub(crate) fn is_collected(self) -> bool {
        let at = self.index();
        let further = Stream::Collected2.index()..=Stream::Collected7.index();
        matches!(
            self,
            Stream::Collected | Stream::Collected1 | Stream::Levelled
        ) || further.contains(&at)
    }

    /// Whether it fills a superblock in each group of dies in turn. Pages of the map are few, and
    /// what is levelled goes into one superblock.
    #[inline]
    pub(crate) fn has_lanes(self) -> bool {
        !matches!(self, Stream::Map | Stream::Levelled)
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

/// The streams that a policy has data for, of those that take host data and of those that
/// collection fills: what looks at all of them looks at no others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InUse {
    pub(crate) host: &'static [Stream],
    pub(crate) collected: &'static [Stream],
}

impl InUse {
    /// Of a policy that has so many classes of each kind, or of lifetimes that have.
    pub(crate) fn new(policy: (u8, u8), lifetimes: (u8, u8)) -> InUse {
        let (host, collected) = (policy.0.max(lifetimes.0), policy.1.max(lifetimes.1));
        // The first two classes of each kind are always looked at.
        InUse {
            host: &Stream::HOST[..2 + usize::from(host.max(2))],
            collected: &Stream::COLLECTED[..1 + usize::from(collected.max(2))],
        }
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
