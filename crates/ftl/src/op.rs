//! What the firmware asks of the flash: one NAND operation at a time, at the grain that the die
//! knows.

use flashtwin_nand::Pace;

/// What kind of operation it is, as an index into the drive's table of times.
pub mod class {
    use crate::words::Mode;

    /// Read of an SLC-mode page row.
    pub const SLC_READ: u8 = 0;
    /// Read of a native row; plus the page type (0 to 3).
    pub const NATIVE_READ: u8 = 1;
    /// Read of a row of the second tier; plus the page type (0 to 2).
    pub const TIER_READ: u8 = 5;
    /// Program of an SLC-mode row.
    pub const SLC_PROGRAM: u8 = 8;
    /// Native program; plus the page type where the part programs page by page.
    pub const NATIVE_PROGRAM: u8 = 9;
    /// Later pass of a native program: the second, plus 1 and 2 for the third and the fourth.
    pub const LATER_PASS: u8 = 13;
    /// Program of a wordline of the second tier.
    pub const TIER_PROGRAM: u8 = 16;
    /// Erase after SLC use.
    pub const SLC_ERASE: u8 = 17;
    /// Erase after native use.
    pub const NATIVE_ERASE: u8 = 18;
    /// Erase after use in the second tier.
    pub const TIER_ERASE: u8 = 19;
    /// One native wordline filled from as many SLC wordlines as it has bits, inside the die.
    pub const COPYBACK: u8 = 20;
    /// How many there are.
    pub const COUNT: usize = 21;

    /// A read of a row in a mode; `page` is its page type.
    #[inline]
    #[must_use]
    pub fn read(mode: Mode, page: u32) -> u8 {
        match mode {
            Mode::Slc => SLC_READ,
            Mode::Native => NATIVE_READ + page as u8,
            Mode::Tier => TIER_READ + page as u8,
        }
    }

    /// An erase after use in a mode.
    #[inline]
    #[must_use]
    pub fn erase(mode: Mode) -> u8 {
        match mode {
            Mode::Slc => SLC_ERASE,
            Mode::Native => NATIVE_ERASE,
            Mode::Tier => TIER_ERASE,
        }
    }

    /// Whether the operation senses pages and then sends them over the channel.
    #[inline]
    #[must_use]
    pub fn is_read(class: u8) -> bool {
        class < SLC_PROGRAM
    }

    /// Whether the operation erases a block of every plane.
    #[inline]
    #[must_use]
    pub fn is_erase(class: u8) -> bool {
        (SLC_ERASE..COPYBACK).contains(&class)
    }

    /// Whether the operation takes data over the channel and then programs it.
    #[inline]
    #[must_use]
    pub fn is_program(class: u8) -> bool {
        (SLC_PROGRAM..SLC_ERASE).contains(&class)
    }

    /// The operation programs cells with all of their bits, from wherever its data comes.
    #[inline]
    #[must_use]
    pub fn is_native_program(class: u8) -> bool {
        (NATIVE_PROGRAM..TIER_PROGRAM).contains(&class) || class == COPYBACK
    }
}

/// Who asked for an operation, handed back when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Token {
    /// A host command's read; the number is the drive's own.
    Host(u32),
    /// A granule being programmed, by its place in the list of those in flight.
    Program(u32),
    /// A pass of a granule before its last, by its place in the same list. The granule is in flight
    /// until the last, which is its program.
    FirstPass(u32),
    /// A row read in order to fold it, by its first physical unit.
    FoldRead(u32),
    /// A row read in order to collect it, by its first physical unit.
    GcRead(u32),
    /// A map page read for a command, by the slot that it goes into.
    MapRead(u32),
    /// A map page read to work changes into it, by its number.
    MapUpdate(u32),
    /// A row of map pages read in order to collect it, by its first physical unit.
    MapGcRead(u32),
    /// A row read out to check it before it is folded inside the die.
    FoldCheck(u32),
    /// A row of a checkpoint of the map.
    Checkpoint,
    /// A row of journal entries, by the low half of its sequence number, which tells those under
    /// way apart.
    Journal(u32),
    /// One die's share of an erase in the system area.
    SystemErase,
    /// A fold inside the die, by its place in the list of granules in flight.
    Copyback(u32),
    /// One die's share of a superblock's erase.
    Erase(u32),
    /// A read of a row that has to be rebuilt from its stripe, by the drive's number of it.
    Rebuild(u32),
}

/// On whose behalf an operation is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A command of the host, or its data.
    Host,
    /// Reads ahead of a host that reads in order.
    ReadAhead,
    /// Folding.
    Fold,
    /// Garbage collection, refresh and what saves data from failing blocks.
    Collect,
    /// Static wear levelling.
    Levelling,
    /// The map: look-ups, changes and their checkpoints.
    Map,
    /// Parity of a stripe, and reads that rebuild from it.
    Parity,
    /// The journal.
    Journal,
}

/// A run of planes of a die, at most 16: the first in the low four bits, one less than their number
/// in the high ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Planes(u8);

impl Planes {
    /// As many as there are.
    pub const ALL: Planes = Planes(0xf0);

    /// Some: the first, and how many.
    #[must_use]
    pub fn some((first, count): (u32, u32)) -> Planes {
        assert!(
            first < 16 && (1..=16).contains(&count),
            "{count} planes from {first}"
        );
        Planes((first | (count - 1) << 4) as u8)
    }

    /// The first one.
    #[must_use]
    pub fn first(self) -> usize {
        usize::from(self.0 & 15)
    }

    /// A bit for each of them, of a die that has so many.
    #[must_use]
    pub fn mask(self, of: u32) -> u16 {
        let count = u32::from(self.0 >> 4) + 1;
        let bits = ((1u32 << count) - 1) << self.first();
        (bits & ((1u32 << of) - 1)) as u16
    }
}

/// One operation on one die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NandOp {
    /// Which die.
    pub die: u16,
    /// Which kind, see [`class`].
    pub class: u8,
    /// Units that cross the channel.
    pub units: u16,
    /// Steps of the read-retry ladder that a read takes.
    pub retries: u8,
    /// Codewords of these units that a read leaves on the die.
    pub skipped: u8,
    /// The planes that a read senses where they work for themselves, see [`Planes`].
    pub planes: Planes,
    /// Its time in the array beside that of its class.
    pub pace: Pace,
    /// Who is told.
    pub token: Token,
}

/// Operations are copied from queue to queue: a longer one costs each of them.
const _: () = assert!(size_of::<NandOp>() <= 24);

impl NandOp {
    /// An operation at its first try, on all planes, that moves so many units whole.
    #[inline]
    #[must_use]
    pub fn new(die: u16, class: u8, units: u16, token: Token) -> NandOp {
        NandOp {
            die,
            class,
            units,
            retries: 0,
            skipped: 0,
            planes: Planes::ALL,
            pace: Pace::MEAN,
            token,
        }
    }
}
