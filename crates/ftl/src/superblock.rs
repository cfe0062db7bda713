//! One superblock: what it is doing, how its cells are used and what for.

use crate::counters::Counters;
use crate::ensure::{Checked, ensure, ensure_eq};
use crate::streams::Stream;
use crate::words::{Mode, Pool};

/// A superblock as it comes from the factory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Born {
    Good,
    /// Its cells hold one bit and no more.
    Weak,
    /// There are not enough good blocks for it.
    Missing,
}

/// What a superblock is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum State {
    /// Erased and unused.
    Free,
    /// A stream is writing into it.
    Open,
    /// Its lower pages are full, its upper ones still erased: it waits to be opened again.
    Half,
    /// Full; a candidate for folding or collection.
    Closed,
    /// Being folded or collected.
    Source,
    /// Without valid data, waiting until the copies are programmed.
    Emptied,
    /// Being erased.
    Erasing,
    /// Given up for good: bad blocks that no spare could replace.
    Retired,
}

/// One superblock.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Superblock {
    /// What it is doing.
    pub state: State,
    /// How its cells are used.
    pub mode: Mode,
    /// What it is used for.
    pub pool: Pool,
    /// The stream that filled it, or fills it, while it is not free.
    pub(crate) filled_by: Stream,
    /// Units that the host had written when it was opened.
    pub(crate) opened_at: u64,
    /// Belongs to the static cache: never used natively.
    pub fixed: bool,
    /// Its data is to be moved for another reason than space.
    pub marked: bool,
    /// Belongs to the map: never holds data.
    pub map: bool,
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
    /// Times it was erased after use in the second tier.
    pub tier_cycles: u32,
    /// Its data has too many wrong bits to be copied without being corrected.
    pub distrusted: bool,
    /// The stripes at this offset and behind it have no parity and will not get any; the largest
    /// number where all stripes have parity or will get it.
    pub bare: u32,
}

impl Superblock {
    /// One that was never used.
    pub(crate) fn fresh(fixed: bool) -> Superblock {
        Superblock {
            state: State::Free,
            mode: Mode::Native,
            pool: Pool::Data,
            filled_by: Stream::Direct,
            opened_at: 0,
            fixed,
            marked: false,
            map: false,
            valid: 0,
            in_flight: 0,
            written: 0,
            erases_left: 0,
            slc_cycles: 0,
            native_cycles: 0,
            tier_cycles: 0,
            distrusted: false,
            bare: u32::MAX,
        }
    }

    /// Units that the host had written when it was opened.
    #[must_use]
    pub fn opened_at(&self) -> u64 {
        self.opened_at
    }

    /// Checks that what it is doing, how its cells are used and what for go together.
    pub(crate) fn check(&self, index: u32, cached: bool) -> Checked {
        let erased = matches!(self.state, State::Free | State::Retired);
        let emptied = matches!(self.state, State::Emptied | State::Erasing);
        if erased || emptied {
            ensure_eq!(self.valid, 0, "superblock {index} is {:?}", self.state);
        }
        // After a crypto erase a superblock is in no pool. It keeps its mode until its erase.
        ensure!(
            (self.mode == Mode::Tier) == (self.pool == Pool::Tier) || emptied,
            "superblock {index} is in mode {:?} for {:?}",
            self.mode,
            self.pool
        );
        ensure!(
            !self.fixed || self.mode == Mode::Slc || erased,
            "superblock {index} of the static cache is used natively"
        );
        ensure!(
            erased || self.map == (self.pool == Pool::Map),
            "superblock {index} serves another pool"
        );
        ensure!(
            cached || self.map || self.mode == Mode::Native,
            "superblock {index} is in SLC mode without a cache"
        );
        Ok(())
    }

    /// Counts an erase after use in the present mode.
    pub(crate) fn wear_off(&mut self, counters: &mut Counters) {
        let (cycles, erases) = match self.mode {
            Mode::Slc => (&mut self.slc_cycles, &mut counters.slc_erases),
            Mode::Native => (&mut self.native_cycles, &mut counters.native_erases),
            Mode::Tier => (&mut self.tier_cycles, &mut counters.tier_erases),
        };
        *cycles += 1;
        *erases += 1;
    }
}
