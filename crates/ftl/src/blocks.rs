//! Superblocks: one block of every plane of every die, erased and filled together.

use std::collections::VecDeque;

use crate::layout::Mode;

/// What a superblock is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Erased and unused.
    Free,
    /// A stream is writing into it.
    Open,
    /// Full; a candidate for folding or collection.
    Closed,
    /// Being folded or collected.
    Source,
    /// Without valid data, waiting until the copies are programmed.
    Emptied,
    /// Being erased.
    Erasing,
}

/// What a superblock is used for while it is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Data in native blocks.
    Data,
    /// Data in the SLC cache.
    Cache,
}

/// One superblock.
#[derive(Clone, Copy, Debug)]
pub struct Superblock {
    /// What it is doing.
    pub state: State,
    /// How its cells are used.
    pub mode: Mode,
    /// What it is used for.
    pub pool: Pool,
    /// Belongs to the static cache: never used natively.
    pub fixed: bool,
    /// Valid units in it.
    pub valid: u32,
    /// Granules of it that are on their way to the flash.
    pub in_flight: u32,
    /// Units given out since its erase: all of them from the moment it is opened.
    pub written: u32,
    /// Dies that have not finished erasing it.
    pub erases_left: u32,
    /// Times it was erased after SLC use.
    pub slc_cycles: u32,
    /// Times it was erased after native use.
    pub native_cycles: u32,
}

/// All superblocks and the queues of free ones. First freed, first used: that spreads wear.
pub(crate) struct Blocks {
    pub(crate) all: Vec<Superblock>,
    pub(crate) free: VecDeque<u32>,
    pub(crate) free_fixed: VecDeque<u32>,
    /// Closed cache superblocks, oldest first.
    pub(crate) cache: VecDeque<u32>,
}

impl Blocks {
    /// `count` erased superblocks, the first `fixed` of them the static cache's.
    pub(crate) fn new(count: u32, fixed: u32) -> Blocks {
        let fresh = |index: u32| Superblock {
            state: State::Free,
            mode: Mode::Native,
            pool: Pool::Data,
            fixed: index < fixed,
            valid: 0,
            in_flight: 0,
            written: 0,
            erases_left: 0,
            slc_cycles: 0,
            native_cycles: 0,
        };
        Blocks {
            all: (0..count).map(fresh).collect(),
            free: (fixed..count).collect(),
            free_fixed: (0..fixed).collect(),
            cache: VecDeque::with_capacity(count as usize),
        }
    }

    /// Native superblocks that can be opened.
    #[inline]
    pub(crate) fn free_count(&self) -> u32 {
        self.free.len() as u32
    }
}
