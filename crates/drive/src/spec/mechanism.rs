//! What keys belong to and hang on, by name: parts of an SLC cache (`parts` says which are there),
//! and cases in which keys have nothing to act on (`cases` says when).

use flashtwin_ftl::choices::FullRule;

/// A part that keys belong to.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Anything in SLC mode.
    Cache,
    /// Superblocks that always serve in SLC mode.
    Own,
    /// A borrowed part of a size.
    Sized,
    /// A second tier behind the cache.
    Tier,
    /// Borrowed superblocks, of either tier, which folding gives back.
    Lends,
    /// Folding under pressure: of what is borrowed, or of what flows through a full cache.
    Presses,
    /// One of the rules for a full cache.
    Rule(&'static FullRule),
}

impl Part {
    /// As inference names it: a rule by its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Cache => "cache",
            Part::Own => "own",
            Part::Sized => "sized",
            Part::Tier => "tier",
            Part::Lends => "lends",
            Part::Presses => "presses",
            Part::Rule(rule) => rule.name,
        }
    }
}

/// A case in which keys have nothing to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Flash of one bit a cell has no other mode.
    OneMode,
    /// A second tier would have as many bits a cell as the native mode: it lies between SLC and
    /// that.
    NoTierBetween,
    /// There is no SLC cache.
    NoCache,
    /// Parity is made in the controller, which a copy inside a die passes by.
    ParityOfFolds,
    /// Folded data crosses the controller.
    NoCopyback,
    /// No copy inside a die is checked.
    NoChecks,
    /// Bit errors are left out.
    NoBitErrors,
    /// There is no parity.
    NoParity,
    /// There is parity.
    HasParity,
    /// The cache writes the lower pages of native wordlines first.
    LowerPagesFirst,
    /// Data is compressed.
    Compresses,
    /// Pages of the map lie in native blocks.
    NativeMap,
    /// All pages of a wordline are programmed at once.
    OneShot,
    /// Capacitors feed the programs of what is in the buffer.
    HasCapacitors,
    /// There are no checkpoints of the map.
    NoCheckpoints,
    /// A wordline gets no second pass.
    NoSecondPass,
    /// A wordline gets no third pass.
    NoThirdPass,
    /// A write is answered when it is programmed.
    WritesThrough,
    /// Flushes are not grouped.
    Ungrouped,
    /// Nothing is read ahead.
    NoReadAhead,
    /// Reads do not go first.
    ReadsWait,
    /// Silence alone counts as idle time.
    OnlySilence,
    /// SATA has one queue and no placement handles.
    Sata,
    /// Nor are its queues as deep.
    DeepSata,
    /// Nor has it a way to the host's memory.
    SataWithHostMemory,
    /// There is one placement handle, which is none.
    NoHandles,
    /// The end of spares ends the drive's life, and there are none.
    NoSparesToLose,
}
