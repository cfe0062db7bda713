//! What breaks in a drive while it runs, and in which ways a drive may be worse than its spec.

use flashtwin_base::Nanos;
use flashtwin_drive::Drive;
use flashtwin_ftl::Found;

use crate::journal::Record;

/// Something that breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// All that a die does takes longer: `milli` thousandths of its own time.
    SlowDie {
        /// Which.
        die: u16,
        /// Thousandths.
        milli: u32,
    },
    /// What lies on a die cannot be read any more.
    DeadDie {
        /// Which.
        die: u16,
    },
    /// What lies in a superblock cannot be read any more.
    DeadBlock {
        /// Which.
        superblock: u32,
    },
    /// Mapping units cannot be read until they are written anew.
    Unreadable {
        /// The first.
        lpn: u32,
        /// How many.
        units: u32,
    },
    /// The drive has come to its end, and can only be read.
    ReadOnly,
    /// The air around the drive has another temperature.
    Ambient {
        /// Thousandths of a degree.
        millicelsius: i32,
    },
}

impl Fault {
    /// Its kind's number, which part breaks, and how much.
    #[must_use]
    pub fn numbers(self) -> (u8, u64, u32) {
        match self {
            Fault::SlowDie { die, milli } => (0, u64::from(die), milli),
            Fault::DeadDie { die } => (1, u64::from(die), 0),
            Fault::DeadBlock { superblock } => (2, u64::from(superblock), 0),
            Fault::Unreadable { lpn, units } => (3, u64::from(lpn), units),
            Fault::ReadOnly => (4, 0, 0),
            Fault::Ambient { millicelsius } => (5, 0, millicelsius as u32),
        }
    }

    /// Refuses a part that a drive does not have.
    ///
    /// # Errors
    /// Says which the last one is.
    pub fn check(self, drive: &Drive) -> Result<(), String> {
        let layout = drive.ftl().layout();
        let below = |what: &str, number: u64, end: u64| match number < end {
            true => Ok(()),
            false => Err(format!(
                "the drive has {end} {what}, the last is {}",
                end - 1
            )),
        };
        match self {
            Fault::SlowDie { die, .. } | Fault::DeadDie { die } => {
                below("dies", die.into(), layout.dies.into())
            }
            Fault::DeadBlock { superblock } => {
                below("superblocks", superblock.into(), layout.superblocks.into())
            }
            Fault::Unreadable { lpn, units } => {
                let last = u64::from(lpn) + u64::from(units).saturating_sub(1);
                below("mapping units", last, drive.ftl().logical_units().into())
            }
            Fault::ReadOnly | Fault::Ambient { .. } => Ok(()),
        }
    }

    /// The record of it in the journal.
    #[must_use]
    pub fn record(self, at: Nanos) -> Record {
        let (kind, which, amount) = self.numbers();
        Record::Broke {
            at,
            kind,
            which,
            amount,
        }
    }

    /// The fault of these numbers; none where no such fault is known.
    #[must_use]
    pub fn of(kind: u8, which: u64, amount: u32) -> Option<Fault> {
        Some(match kind {
            0 => Fault::SlowDie {
                die: which.try_into().ok()?,
                milli: amount,
            },
            1 => Fault::DeadDie {
                die: which.try_into().ok()?,
            },
            2 => Fault::DeadBlock {
                superblock: which.try_into().ok()?,
            },
            3 => Fault::Unreadable {
                lpn: which.try_into().ok()?,
                units: amount,
            },
            4 => Fault::ReadOnly,
            5 => Fault::Ambient {
                millicelsius: amount as i32,
            },
            _ => return None,
        })
    }
}

/// Ways to be worse than the spec; all are off in a drive that keeps its word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worse {
    /// A flush is answered at once, and nothing is done.
    pub flush_ignored: bool,
    /// FUA is not looked at.
    pub fua_ignored: bool,
    /// Superblocks that each cut takes with all that is on them.
    pub superblocks_lost: u32,
    /// Units, the last that were written, that are found after a cut with their first part new and
    /// their last part old.
    pub shorn: u32,
    /// The first cut is the last thing that the drive lives to see.
    pub never_back: bool,
}

/// Units that cannot be read, as bits; empty where all can.
#[derive(Debug, Default)]
pub struct Lost {
    words: Vec<u64>,
    count: u32,
}

impl Lost {
    /// True of a lost unit.
    #[inline]
    #[must_use]
    pub fn has(&self, lpn: u32) -> bool {
        let word = self.words.get(lpn as usize / 64);
        word.is_some_and(|word| word >> (lpn % 64) & 1 == 1)
    }

    /// Loses a unit.
    pub fn lose(&mut self, lpn: u32) {
        let word = lpn as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.count += u32::from(!self.has(lpn));
        self.words[word] |= 1 << (lpn % 64);
    }

    /// A unit was written anew.
    #[inline]
    pub fn replaced(&mut self, lpn: u32) {
        if self.has(lpn) {
            self.words[lpn as usize / 64] &= !(1 << (lpn % 64));
            self.count -= 1;
        }
    }

    /// How many are lost.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The lost units as runs: first, how many.
    #[must_use]
    pub fn runs(&self) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for lpn in (0..self.words.len() as u32 * 64).filter(|&lpn| self.has(lpn)) {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == lpn => *count += 1,
                _ => runs.push((lpn, 1)),
            }
        }
        runs
    }
}

/// Loses the units of a drive whose place in the flash, a physical unit, `picks` picks.
pub fn lose_where(drive: &Drive, lost: &mut Lost, mut picks: impl FnMut(&Drive, u32) -> bool) {
    for lpn in 0..drive.ftl().logical_units() {
        if let Found::Flash(ppn) = drive.ftl().find(lpn)
            && picks(drive, ppn)
        {
            lost.lose(lpn);
        }
    }
}
