//! What the firmware has been told to do: every key that a `[firmware.NAME]` profile may change.

use flashtwin_base::Nanos;

pub use crate::choices::{CacheMode, Pace, Recycler, WhenFull};
pub use crate::lifetimes::Way;
use crate::lifetimes::{self, Inferred, Lifetimes};
pub use crate::orders::Victim;
use crate::words::Mode;

/// Which host writes may go through the cache; the others go straight to native blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Every write.
    All,
    /// Commands up to so many bytes.
    Small(u64),
    /// Writes that do not continue a sequential run of more than so many bytes.
    Random(u64),
}

/// What becomes of static superblocks that have used up the cycles of SLC mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worn {
    /// They go on.
    Keep,
    /// Each is given up, so that the cache shrinks.
    Shrink,
    /// The first one takes all the others with it: the static part is closed.
    Close,
}

/// A point of a table of cache sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeAt {
    /// Share of the logical units that hold data, in thousandths of a percent.
    pub fill_milli_percent: u32,
    /// Largest borrowed part there.
    pub bytes: u64,
}

/// User data in superblocks that always serve in SLC mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own(pub u64);

/// How much user data may lie in superblocks that are borrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Borrowed {
    /// As many bytes at any fill.
    Fixed(u64),
    /// As the drive fills: straight lines between the points, of which there is one at least, in
    /// rising order of fill.
    ByFill(Vec<SizeAt>),
}

/// The SLC cache: each design has the parts that it consists of, and no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlcCache {
    /// See [`CacheMode::None`].
    None,
    /// See [`CacheMode::LowerPages`].
    LowerPages,
    /// See [`CacheMode::Static`].
    Static(Own, Caching),
    /// See [`CacheMode::Dynamic`].
    Dynamic(Borrowed, Caching),
    /// See [`CacheMode::Hybrid`].
    Hybrid(Own, Borrowed, Caching),
    /// See [`CacheMode::WholeDrive`].
    WholeDrive(Caching),
}

impl SlcCache {
    /// The word of its design.
    #[must_use]
    pub fn mode(&self) -> CacheMode {
        match self {
            SlcCache::None => CacheMode::None,
            SlcCache::LowerPages => CacheMode::LowerPages,
            SlcCache::Static(..) => CacheMode::Static,
            SlcCache::Dynamic(..) => CacheMode::Dynamic,
            SlcCache::Hybrid(..) => CacheMode::Hybrid,
            SlcCache::WholeDrive(..) => CacheMode::WholeDrive,
        }
    }

    /// Its own superblocks, where it has some.
    #[must_use]
    pub fn own(&self) -> Option<Own> {
        match self {
            SlcCache::Static(own, _) | SlcCache::Hybrid(own, ..) => Some(*own),
            _ => None,
        }
    }

    /// The size of its borrowed part, where it has one that is limited.
    #[must_use]
    pub fn borrowed(&self) -> Option<&Borrowed> {
        match self {
            SlcCache::Dynamic(borrowed, _) | SlcCache::Hybrid(_, borrowed, _) => Some(borrowed),
            _ => None,
        }
    }

    /// What is done with data in SLC mode, where some is.
    #[must_use]
    pub fn caching(&self) -> Option<&Caching> {
        match self {
            SlcCache::None | SlcCache::LowerPages => None,
            SlcCache::Static(_, caching)
            | SlcCache::Dynamic(_, caching)
            | SlcCache::Hybrid(_, _, caching)
            | SlcCache::WholeDrive(caching) => Some(caching),
        }
    }
}

/// How data gets into a cache, and out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caching {
    /// When no cache superblock can be opened.
    pub when_full: WhenFull,
    /// Which writes enter.
    pub admit: Admit,
    /// When superblocks that always serve in SLC mode are worn out: its own ones, and in any design
    /// those with a weak block.
    pub worn: Worn,
    /// Second tier: user data that may lie in blocks that are used with some of their bits, and
    /// takes host data when the SLC cache cannot; 0 = none.
    pub tier_bytes: u64,
    /// A full cache first has its emptiest superblock folded where at most so much of it is valid,
    /// in thousandths; 0 = never.
    pub reclaim_milli: u32,
    /// From SLC superblocks to native ones.
    pub fold: Fold,
}

/// How folded data travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldPath {
    /// Inside the die, no transfer; falls back to the controller where a wordline is not wholly
    /// valid.
    Copyback {
        /// Every so many groups of wordlines one is read out and checked; 0 = none.
        check_every: u32,
        /// SLC cycles of a superblock from which on a check finds too many errors: the rest of it
        /// goes through the controller.
        check_cycles: u32,
    },
    /// Over the channel into the controller and back.
    Controller,
}

/// Folding: from SLC superblocks to native ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Begins after so long without a host command; never when none.
    pub idle_after: Option<Nanos>,
    /// Native bytes free at which folding under pressure begins; 0 = only when nothing else is
    /// left.
    pub reserve_bytes: u64,
    /// Under pressure: cache bytes folded a host byte, in thousandths (1500 = 1.5).
    pub pace_milli: u32,
    /// Goes on in the background while fewer superblocks are free; 0 = not for that.
    pub low_superblocks: u32,
    /// Once begun for that, it stops when so many are free.
    pub high_superblocks: u32,
    /// Bytes a second that are folded in the background (idle time, free superblocks) at most;
    /// no limit when none.
    pub rate_bytes_s: Option<u64>,
    /// How the data travels.
    pub path: FoldPath,
}

/// Which data shares superblocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separation {
    /// Collected data goes into the host's open superblock.
    None,
    /// Collected data has a stream of its own.
    Gc,
    /// And data is divided by how long it will live, as far as that can be inferred.
    ByLifetime(Way),
    /// The host says what is hot, and each kind has superblocks of its own.
    Oracle {
        /// Share of the logical units that is hot, the first ones, in thousandths.
        hot_milli: u32,
        /// Share of the superblocks that hold it, in thousandths.
        pool_milli: u32,
    },
}

impl Separation {
    /// The separation that a spec names, before its shares are read; none where nothing has this
    /// name.
    #[must_use]
    pub fn named(name: &str) -> Option<Separation> {
        Some(match name {
            lifetimes::NONE => Separation::None,
            lifetimes::GC => Separation::Gc,
            lifetimes::ORACLE => Separation::Oracle {
                hot_milli: 0,
                pool_milli: 0,
            },
            name => Separation::ByLifetime(Way::named(name)?),
        })
    }

    /// The separation with the shares that the host calls hot, of the capacity and of the
    /// superblocks, in thousandths.
    #[must_use]
    pub fn with(self, hot_milli: u32, pool_milli: u32) -> Separation {
        match self {
            Separation::Oracle { .. } => Separation::Oracle {
                hot_milli,
                pool_milli,
            },
            other => other,
        }
    }

    /// Classes of host data past the cache, and of collected data, that it tells apart.
    #[must_use]
    pub fn classes(self) -> (u8, u8) {
        match self {
            Separation::None | Separation::Gc => (1, 1),
            Separation::ByLifetime(way) => Inferred::new(way).classes(),
            Separation::Oracle { .. } => (2, 2),
        }
    }

    /// Whether hot and cold data have superblocks of their own, which are collected each by
    /// themselves.
    #[must_use]
    pub fn divides_pools(self) -> bool {
        matches!(self, Separation::Oracle { .. })
    }
}

/// What becomes of the data of a placement handle when it is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// It is mixed with that of the other handles.
    Initial,
    /// It stays apart from that of the other handles.
    Persistent,
}

/// Flexible data placement: the host says with a handle which of its writes belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fdp {
    /// Reclaim unit handles, each with a superblock of its own; 1 = the host has nothing to say.
    pub handles: u32,
    /// What becomes of their data when it is collected.
    pub isolation: Isolation,
}

impl Default for Fdp {
    /// All data in one reclaim unit.
    fn default() -> Fdp {
        Fdp {
            handles: 1,
            isolation: Isolation::Initial,
        }
    }
}

/// Garbage collection of native superblocks, in free superblocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gc {
    /// Which superblock is collected.
    pub victim: Victim,
    /// Starts when fewer superblocks are free.
    pub low_superblocks: u32,
    /// Stops when so many are free.
    pub high_superblocks: u32,
    /// The host never takes the last ones: GC and folding need them to finish.
    pub reserve_superblocks: u32,
    /// How the host waits.
    pub pace: Pace,
    /// Begins after so long without a host command, whatever is free; never when none.
    pub idle_after: Option<Nanos>,
    /// In idle time it stops when so many are free.
    pub idle_superblocks: u32,
    /// What else goes on once the drive has been written all over.
    pub recycler: Recycler,
    /// Which data shares superblocks.
    pub separation: Separation,
}

/// Where the map is while the drive is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residency {
    /// All of it in the drive's DRAM: looking up costs nothing.
    Dram,
    /// On flash, a part of it in the controller's SRAM.
    Demand,
    /// The same with a second level in the host's memory.
    HostMemory,
}

/// The map: where it is, and how its pages are written where they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapPolicy {
    /// Where it is.
    pub residency: Residency,
    /// SRAM for map pages.
    pub cache_bytes: u64,
    /// The host's memory for map pages; 0 for none.
    pub host_bytes: u64,
    /// Bytes of an entry.
    pub entry_bytes: u32,
    /// How the blocks of map pages are programmed.
    pub mode: Mode,
    /// RAM for changes of entries whose pages are not at hand.
    pub journal_bytes: u64,
    /// A flush writes changed map pages back too.
    pub write_on_flush: bool,
    /// Changed map pages are written back after so long without a host command; never when none.
    pub idle_after: Option<Nanos>,
}

impl MapPolicy {
    /// The whole map in DRAM.
    #[must_use]
    pub fn in_dram() -> MapPolicy {
        MapPolicy {
            residency: Residency::Dram,
            cache_bytes: 0,
            host_bytes: 0,
            entry_bytes: 4,
            mode: Mode::Slc,
            journal_bytes: 0,
            write_on_flush: false,
            idle_after: None,
        }
    }

    /// Whether the whole map is in RAM.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.residency == Residency::Dram
    }

    /// Entries of a map page of one mapping unit.
    #[must_use]
    pub fn entries(&self, unit_bytes: u32) -> u32 {
        unit_bytes / self.entry_bytes
    }
}

/// Whether superblocks can lose a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// They cannot: every page holds data.
    None,
    /// One granule of each stripe is the exclusive-or of the others (RAISE, RAIN).
    Stripe,
}

/// Which free superblock is written next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levelling {
    /// The last one freed: what is written often wears the same few superblocks.
    None,
    /// The first one freed.
    Fifo,
    /// The least worn one.
    LeastWorn,
}

/// How often an operation on a block fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// In a thousand million, at the end of the rated life.
    pub at_rated_ppb: u64,
    /// The power of wear with which that rises.
    pub growth: u32,
}

/// When a drive becomes one that can only be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOnlyAt {
    /// When retired superblocks have eaten what folding and collection need; always the last end.
    ReserveGone,
    /// When a plane has no spare block left.
    SparesGone,
    /// When the mean wear has reached the rated life.
    RatedWear,
}

/// Wear levelling, bad blocks and the end of life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wear {
    /// Which free superblock is taken.
    pub dynamic: Levelling,
    /// Resting data is moved when the least worn superblock is so many native cycles behind the
    /// most worn one; 0 = never.
    pub static_threshold: u32,
    /// Native cycles that every block has behind it when the drive is built.
    pub initial_cycles: u32,
    /// Good blocks beside those of the superblocks, in each plane of each die group.
    pub spares: u32,
    /// Blocks that are bad from the factory, in thousandths of a percent.
    pub bad_percent_milli: u32,
    /// Blocks that hold one bit a cell and no more, in thousandths of a percent.
    pub weak_percent_milli: u32,
    /// Failing programs.
    pub program: Failures,
    /// Failing erases.
    pub erase: Failures,
    /// When the drive can only be read.
    pub read_only_at: ReadOnlyAt,
}

impl Default for Wear {
    /// First freed, first used, resting data rests, and no block is bad or fails.
    fn default() -> Wear {
        Wear {
            dynamic: Levelling::Fifo,
            static_threshold: 0,
            initial_cycles: 0,
            spares: 0,
            bad_percent_milli: 0,
            weak_percent_milli: 0,
            program: Failures::default(),
            erase: Failures::default(),
            read_only_at: ReadOnlyAt::ReserveGone,
        }
    }
}

/// What is written for the start after a power cut, besides spare areas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durability {
    /// Host bytes between checkpoints of the map; 0 = none.
    pub checkpoint_bytes: u64,
    /// Trims are journaled, and a flush writes the journal.
    pub trim_journal: bool,
    /// A torn program of a page takes the pages of its wordline with it that were programmed
    /// before; otherwise they are backed up.
    pub pairs_lost: bool,
}

/// All decisions of the firmware about data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Flash taken by the system: map, tables, spares, bad blocks (bytes in native mode).
    pub system_bytes: u64,
    /// Parity within superblocks.
    pub parity: Parity,
    /// Dies that a superblock spans, a divisor of all dies; 0 = all of them.
    pub superblock_dies: u32,
    /// Times that the best compressible data is smaller on flash; 1 = nothing is compressed.
    pub compression_ratio: u32,
    /// A write of what still waits in the buffer takes its place there.
    pub coalesce: bool,
    /// Padding of the cache fills pages of single planes, not wordlines of all planes.
    pub pads_pages: bool,
    /// What is written for the start after a power cut.
    pub durability: Durability,
    /// The map.
    pub map: MapPolicy,
    /// The cache, and how it is folded.
    pub cache: SlcCache,
    /// Garbage collection.
    pub gc: Gc,
    /// Placement by handles of the host's.
    pub fdp: Fdp,
    /// Wear levelling, bad blocks and the end of life.
    pub wear: Wear,
}

impl Policy {
    /// Classes of host data past the cache that have superblocks of their own, and of collected
    /// data.
    #[must_use]
    pub fn classes(&self) -> (u8, u8) {
        let handles = self.fdp.handles as u8;
        let (host, collected) = self.gc.separation.classes();
        match self.fdp.isolation {
            Isolation::Initial => (host.max(handles), collected),
            Isolation::Persistent => (host.max(handles), collected.max(handles)),
        }
    }
}
