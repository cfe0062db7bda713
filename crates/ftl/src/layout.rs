//! Where a physical unit lies: superblock, die, page type.
//!
//! A physical unit number (PPN) is `superblock × native_units + offset`. Offsets run in page rows:
//! one page of every plane of a die, which is what one multi-plane read takes. Rows fill a granule
//! (what one program takes), granules go round the dies. In SLC mode a superblock uses its first
//! `slc_units`.

use flashtwin_nand::{Part, Program};

use crate::op::class;

/// How the cells of a superblock are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One bit a cell.
    Slc,
    /// As many bits as the part is built for.
    Native,
}

/// No logical or physical unit.
pub const NONE: u32 = u32::MAX;

/// Exact division of 32-bit numbers by a fixed divisor: a multiplication (Lemire, Kaser and Kurz
/// 2019).
#[derive(Clone, Copy, Debug)]
pub struct Divider {
    divisor: u32,
    magic: u64,
}

impl Divider {
    /// A divider by `divisor`, which is not zero.
    #[must_use]
    pub fn new(divisor: u32) -> Divider {
        assert!(divisor > 0, "division by zero");
        Divider {
            divisor,
            magic: (u64::MAX / u64::from(divisor)).wrapping_add(1),
        }
    }

    /// `value / divisor`.
    #[inline]
    #[must_use]
    pub fn quotient(self, value: u32) -> u32 {
        if self.magic == 0 {
            return value;
        }
        ((u128::from(self.magic) * u128::from(value)) >> 64) as u32
    }

    /// `(value / divisor, value % divisor)`.
    #[inline]
    #[must_use]
    pub fn split(self, value: u32) -> (u32, u32) {
        let quotient = self.quotient(value);
        (quotient, value - quotient * self.divisor)
    }
}

/// The address arithmetic of one drive.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Dies.
    pub dies: u32,
    /// Bits a cell in native mode.
    pub bits: u32,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Mapping units of a page; 1 where a unit spans pages of several planes.
    pub page_units: u32,
    /// Units of one page of every plane of a die: a multi-plane read.
    pub row_units: u32,
    /// Superblocks of the drive, those of the system not among them.
    pub superblocks: u32,
    /// Units of a superblock in native mode.
    pub native_units: u32,
    /// Units of a superblock in SLC mode.
    pub slc_units: u32,
    /// Units that one native program takes.
    pub native_granule: u32,
    /// All pages of a wordline are programmed at once.
    pub one_shot: bool,
    by_superblock: Divider,
    by_row: Divider,
    by_granule: Divider,
    by_dies: Divider,
}

impl Layout {
    /// The arithmetic for a part with mapping units of `unit_bytes`, `system_bytes` of it set
    /// aside.
    #[must_use]
    pub fn new(part: &Part, unit_bytes: u32, system_bytes: u64) -> Layout {
        let g = &part.geometry;
        let page_units = (g.page_bytes / unit_bytes).max(1);
        let row_units = g.page_bytes * g.planes / unit_bytes;
        let slc_units = row_units * g.dies() * g.wordlines_per_block;
        let one_shot = matches!(part.native.program, Program::OneShot(_));
        let native_granule = if one_shot {
            row_units * g.cell.bits()
        } else {
            row_units
        };
        let system = system_bytes.div_ceil(g.superblock_bytes()) as u32;
        Layout {
            dies: g.dies(),
            bits: g.cell.bits(),
            unit_bytes,
            page_units,
            row_units,
            superblocks: g.blocks_per_plane - system,
            native_units: slc_units * g.cell.bits(),
            slc_units,
            native_granule,
            one_shot,
            by_superblock: Divider::new(slc_units * g.cell.bits()),
            by_row: Divider::new(row_units),
            by_granule: Divider::new(native_granule),
            by_dies: Divider::new(g.dies()),
        }
    }

    /// Units of a superblock in a mode.
    #[inline]
    #[must_use]
    pub fn units(&self, mode: Mode) -> u32 {
        match mode {
            Mode::Slc => self.slc_units,
            Mode::Native => self.native_units,
        }
    }

    /// Units that one program takes in a mode.
    #[inline]
    #[must_use]
    pub fn granule(&self, mode: Mode) -> u32 {
        match mode {
            Mode::Slc => self.row_units,
            Mode::Native => self.native_granule,
        }
    }

    /// Bytes of a superblock in native mode.
    #[must_use]
    pub fn native_bytes(&self) -> u64 {
        u64::from(self.native_units) * u64::from(self.unit_bytes)
    }

    /// Bytes of a superblock in SLC mode.
    #[must_use]
    pub fn slc_bytes(&self) -> u64 {
        u64::from(self.slc_units) * u64::from(self.unit_bytes)
    }

    /// Superblock and offset of a physical unit.
    #[inline]
    #[must_use]
    pub fn split(&self, ppn: u32) -> (u32, u32) {
        self.by_superblock.split(ppn)
    }

    /// Superblock of a physical unit.
    #[inline]
    #[must_use]
    pub fn superblock_of(&self, ppn: u32) -> u32 {
        self.by_superblock.quotient(ppn)
    }

    /// First physical unit of a superblock.
    #[inline]
    #[must_use]
    pub fn base(&self, superblock: u32) -> u32 {
        superblock * self.native_units
    }

    /// Row of a physical unit, counted over the whole drive: equal rows are one multi-plane read.
    #[inline]
    #[must_use]
    pub fn row_of(&self, ppn: u32) -> u32 {
        self.by_row.quotient(ppn)
    }

    /// Operation class of a program in a mode; `page` is the page type that it begins with.
    #[inline]
    #[must_use]
    pub fn program_class(&self, mode: Mode, page: u32) -> u8 {
        match mode {
            Mode::Slc => class::SLC_PROGRAM,
            Mode::Native if self.one_shot => class::NATIVE_PROGRAM,
            Mode::Native => class::NATIVE_PROGRAM + page as u8,
        }
    }

    /// Die and page type of the row at an offset of a superblock.
    #[inline]
    #[must_use]
    pub fn place(&self, mode: Mode, _superblock: u32, offset: u32) -> (u32, u32) {
        if mode == Mode::Slc {
            return (self.by_dies.split(self.by_row.quotient(offset)).1, 0);
        }
        let (granule, within) = self.by_granule.split(offset);
        let (slot, die) = self.by_dies.split(granule);
        let page = if self.one_shot {
            self.by_row.quotient(within)
        } else {
            slot % self.bits
        };
        (die, page)
    }
}
