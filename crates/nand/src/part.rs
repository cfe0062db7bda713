//! The flash of a drive as it is built: geometry, cell modes, timings, endurance.
//!
//! A *granule* is what one program operation takes on one die, over all planes: a wordline of all
//! its pages where the part programs in one shot, one page of a wordline where it programs page by
//! page.

use flashtwin_base::Nanos;

use crate::variation::Variation;

/// Bits that a cell holds in the native mode of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// One bit.
    Slc,
    /// Two bits.
    Mlc,
    /// Three bits.
    Tlc,
    /// Four bits.
    Qlc,
}

impl Cell {
    /// Bits a cell.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Cell::Slc => 1,
            Cell::Mlc => 2,
            Cell::Tlc => 3,
            Cell::Qlc => 4,
        }
    }
}

/// How the flash is laid out. All counts are at least one; `blocks_per_plane` counts usable blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Buses between controller and flash.
    pub channels: u32,
    /// Dies that share a channel.
    pub dies_per_channel: u32,
    /// Planes of a die, programmed and erased together by multi-plane commands.
    pub planes: u32,
    /// Usable blocks of a plane.
    pub blocks_per_plane: u32,
    /// Wordlines of a block (word line and string: what is programmed at once).
    pub wordlines_per_block: u32,
    /// Bytes of user data in a page.
    pub page_bytes: u32,
    /// The native mode.
    pub cell: Cell,
}

impl Geometry {
    /// Dies of the drive.
    #[must_use]
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Bytes of all blocks in native mode.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        u64::from(self.dies())
            * u64::from(self.planes)
            * u64::from(self.blocks_per_plane)
            * u64::from(self.wordlines_per_block)
            * u64::from(self.cell.bits())
            * u64::from(self.page_bytes)
    }

    /// Bytes of one superblock (a block of every plane of every die) in native mode.
    #[must_use]
    pub fn superblock_bytes(&self) -> u64 {
        self.raw_bytes() / u64::from(self.blocks_per_plane)
    }
}

/// How a mode is programmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// All pages of a wordline at once, in this time.
    OneShot(Nanos),
    /// Page by page: a time for each page type, lower page first; as many as the mode has bits.
    PageByPage(Vec<Nanos>),
}

/// Timings and endurance of one mode (SLC or native).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeTiming {
    /// tR by page type, lower page first; as many as the mode has bits (one for SLC mode).
    pub read: Vec<Nanos>,
    /// tPROG.
    pub program: Program,
    /// tBERS.
    pub erase: Nanos,
    /// Program/erase cycles that a block is rated for in this mode.
    pub endurance_cycles: u32,
}

/// A mode between SLC and native: some of the bits that a cell is built for, in one shot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierMode {
    /// Bits a cell: more than one and fewer than in native mode.
    pub bits: u32,
    /// Timings and endurance.
    pub timing: ModeTiming,
}

/// Most programming passes of a wordline.
pub const PASSES_MAX: usize = 4;

/// The programming passes of a native wordline after its first (foggy, then fine).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaterPasses {
    /// Time of each; zero where there is none, and behind it.
    pub times: [Nanos; PASSES_MAX - 1],
    /// Wordlines that get their first pass between two passes of a wordline.
    pub distance_wordlines: u32,
    /// The data crosses the channel again for each; otherwise the die has kept it.
    pub transfers: bool,
}

impl LaterPasses {
    /// How many there are, one at least.
    #[must_use]
    pub fn count(&self) -> u32 {
        let passes = self.times.iter().take_while(|time| **time > Nanos::ZERO);
        passes.count().max(1) as u32
    }

    /// Time of all of them.
    #[must_use]
    pub fn time(&self) -> Nanos {
        let times = self.times.iter().take(self.count() as usize);
        Nanos(times.map(|time| time.0).sum())
    }

    /// Wordlines whose data waits for a pass at most, the one that is being filled among them.
    #[must_use]
    pub fn wordlines(&self) -> u32 {
        self.count() * self.distance_wordlines + 1
    }
}

/// What a die may interrupt for a read, and what that costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspend {
    /// Programs may be suspended.
    pub program: bool,
    /// Erases may be suspended.
    pub erase: bool,
    /// From the command to an array that can read.
    pub entry: Nanos,
    /// Time that the operation takes more for each resumption.
    pub penalty: Nanos,
    /// Most suspensions of one operation.
    pub most: u32,
    /// Most reads in one suspension.
    pub reads: u32,
}

impl Suspend {
    /// Anything may be suspended.
    #[must_use]
    pub fn any(&self) -> bool {
        self.program || self.erase
    }
}

/// A flash part with its bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The layout.
    pub geometry: Geometry,
    /// Any block used with one bit a cell.
    pub slc: ModeTiming,
    /// Blocks used as built.
    pub native: ModeTiming,
    /// Any block used with some of its bits a cell; none where the part is not used so.
    pub tier: Option<TierMode>,
    /// Bytes a second on a channel (an 8-bit bus: 400 MT/s is 400e6).
    pub bus_bytes_per_s: u64,
    /// Data of the next program is transferred while the array programs.
    pub cache_program: bool,
    /// Later passes of native one-shot programs; none where one pass is all.
    pub later_passes: Option<LaterPasses>,
    /// Planes of a die read for themselves, each its own page of its own block, at the same time.
    pub independent_planes: bool,
    /// Bytes of user data of an ECC codeword, the least that a read moves over a channel; 0 where
    /// it moves whole mapping units.
    pub codeword_bytes: u32,
    /// Suspension of programs and erases.
    pub suspend: Suspend,
    /// How blocks and wordlines differ from these times.
    pub variation: Variation,
}
