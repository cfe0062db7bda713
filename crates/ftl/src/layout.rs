//! Where a physical unit lies: superblock, die, wordline, page type.
//!
//! A physical unit number (PPN) is `superblock × native_units + offset`. Offsets run in page rows:
//! one page of every plane of a die, which is what one multi-plane read takes. Rows fill a granule
//! (what one program takes), granules go round the dies of the superblock. In SLC mode a
//! superblock uses its first `slc_units`, in the second tier of the cache that times its bits a
//! cell.
//!
//! A superblock spans a group of dies, all of them where there is one group; superblocks go round
//! the groups. A *stripe* is one granule on each die of the group. With parity one granule of each
//! stripe is the exclusive-or of the others, as RAISE and RAIN do it, and the die that holds it
//! changes from stripe to stripe. Physical units count data only: parity has a place on flash and
//! no number.
//!
//! With compression (see [`crate::packing`]) a row has `ratio` times the slots, and everything that
//! counts physical units counts slots; `whole_units` says what fits uncompressed.
//!
//! Invariant: offsets and parity slots together are every page row of the superblock's blocks,
//! each once (`tests/layout.rs`).

use flashtwin_nand::{LaterPasses, Part, Program};

use crate::op::class;
use crate::policy::{Parity, Policy};
pub use crate::words::{Mode, NONE};

/// Grains of a unit that cannot be compressed.
pub(crate) const GRAINS: u32 = 8;

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
    /// Dies of the drive.
    pub dies: u32,
    /// Dies that a superblock spans.
    pub group_dies: u32,
    /// Groups of dies: superblock s lies in group `s % groups`.
    pub groups: u32,
    /// One granule of each stripe is parity.
    pub parity: bool,
    /// Bits a cell in native mode.
    pub bits: u32,
    /// Slots for each unit that fits uncompressed: the best ratio of compression, 1 without.
    pub ratio: u32,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Mapping units of a page; 1 where a unit spans pages of several planes.
    pub page_units: u32,
    /// Units of one page of every plane of a die: a multi-plane read.
    pub row_units: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Superblocks of the drive, those of the system not among them.
    pub superblocks: u32,
    /// Units of a superblock in native mode, parity not among them.
    pub native_units: u32,
    /// Units of a superblock in SLC mode, parity not among them.
    pub slc_units: u32,
    /// Units that one native program takes.
    pub native_granule: u32,
    /// Bits a cell in the second tier of the cache; 0 without one.
    pub tier_bits: u32,
    /// All pages of a wordline are programmed at once.
    pub one_shot: bool,
    /// Native superblocks are filled lower pages first, and then the others wordline by wordline.
    pub lower_first: bool,
    /// Native pages can be lost until the last one of their wordline is programmed.
    pub paired: bool,
    /// Wordlines of a block.
    wordlines: u32,
    /// The passes of native programs after the first.
    pub later_passes: Option<LaterPasses>,
    by_superblock: Divider,
    by_row: Divider,
    by_granule: Divider,
    by_tier_granule: Divider,
    /// Data granules of a stripe.
    by_stripe: Divider,
    by_group_dies: Divider,
    by_groups: Divider,
    by_bits: Divider,
}

impl Layout {
    /// The arithmetic for a part under a policy, which says the mapping unit, what the system takes
    /// and how superblocks are cut.
    #[must_use]
    pub fn new(part: &Part, policy: &Policy) -> Layout {
        let g = &part.geometry;
        let (dies, bits) = (g.dies(), g.cell.bits());
        let group_dies = if policy.superblock_dies == 0 {
            dies
        } else {
            policy.superblock_dies
        };
        assert!(
            dies.is_multiple_of(group_dies),
            "superblocks of {group_dies} dies do not divide {dies}"
        );
        let groups = dies / group_dies;
        let parity = policy.parity == Parity::Stripe;
        assert!(!parity || group_dies > 1, "parity of a single die");
        let data_dies = group_dies - u32::from(parity);
        let ratio = policy.compression_ratio;
        let page_units = (g.page_bytes / policy.unit_bytes).max(1) * ratio;
        let row_units = g.page_bytes * g.planes / policy.unit_bytes * ratio;
        let slc_units = row_units * data_dies * g.wordlines_per_block;
        let one_shot = matches!(part.native.program, Program::OneShot(_));
        let native_granule = if one_shot {
            row_units * bits
        } else {
            row_units
        };
        let tier_bits = part.tier.as_ref().map_or(0, |tier| tier.bits);
        assert!(
            tier_bits == 0 || (one_shot && tier_bits > 1 && tier_bits < bits),
            "a tier of {tier_bits} bits in cells of {bits}"
        );
        let raw = g.superblock_bytes() / u64::from(groups);
        let system = policy.system_bytes.div_ceil(raw) as u32;
        Layout {
            dies,
            group_dies,
            groups,
            parity,
            bits,
            ratio,
            unit_bytes: policy.unit_bytes,
            page_units,
            row_units,
            planes: g.planes,
            superblocks: g.blocks_per_plane * groups - system,
            native_units: slc_units * bits,
            slc_units,
            native_granule,
            tier_bits,
            one_shot,
            lower_first: policy.cache.mode().design().lower_pages_first && !one_shot && bits > 1,
            paired: policy.durability.pairs_lost
                && !one_shot
                && bits > 1
                && !policy.cache.mode().design().lower_pages_first,
            wordlines: g.wordlines_per_block,
            later_passes: part.later_passes.filter(|_| one_shot),
            by_superblock: Divider::new(slc_units * bits),
            by_row: Divider::new(row_units),
            by_granule: Divider::new(native_granule),
            by_tier_granule: Divider::new(row_units * tier_bits.max(1)),
            by_stripe: Divider::new(data_dies),
            by_group_dies: Divider::new(group_dies),
            by_groups: Divider::new(groups),
            by_bits: Divider::new(bits),
        }
    }

    /// Wordlines of a block.
    #[must_use]
    pub fn wordlines(&self) -> u32 {
        self.slc_units / (self.row_units * self.stripe_granules())
    }

    /// Units of a superblock in a mode.
    #[inline]
    #[must_use]
    pub fn units(&self, mode: Mode) -> u32 {
        match mode {
            Mode::Slc => self.slc_units,
            Mode::Native => self.native_units,
            Mode::Tier => self.slc_units * self.tier_bits,
        }
    }

    /// Units that one program takes in a mode.
    #[inline]
    #[must_use]
    pub fn granule(&self, mode: Mode) -> u32 {
        match mode {
            Mode::Slc => self.row_units,
            Mode::Native => self.native_granule,
            // Without a second tier its stream is not used. The granule is still a divisor, so it
            // must not be 0.
            Mode::Tier => self.row_units * self.tier_bits.max(1),
        }
    }

    /// Whether the drive compresses what it stores.
    #[inline]
    #[must_use]
    pub fn packs(&self) -> bool {
        self.ratio > 1
    }

    /// Uncompressed units that so many slots hold.
    #[inline]
    #[must_use]
    pub fn whole(&self, slots: u32) -> u32 {
        slots / self.ratio
    }

    /// Uncompressed units of a superblock in a mode.
    #[inline]
    #[must_use]
    pub fn whole_units(&self, mode: Mode) -> u32 {
        self.whole(self.units(mode))
    }

    /// Bytes of a grain, in which transfers over a channel are counted: a unit, or an eighth of one
    /// on a drive that compresses.
    #[must_use]
    pub fn grain_bytes(&self) -> u32 {
        if self.ratio == 1 {
            self.unit_bytes
        } else {
            self.unit_bytes / GRAINS
        }
    }

    /// Grains of a page row of a drive that compresses.
    #[inline]
    #[must_use]
    pub fn row_grains(&self) -> u32 {
        self.row_units / self.ratio * GRAINS
    }

    /// Grains of a page of a drive that compresses.
    #[must_use]
    pub fn page_grains(&self) -> u32 {
        self.page_units / self.ratio * GRAINS
    }

    /// What one program takes over the channel at most, in grains.
    #[must_use]
    pub fn granule_grains(&self, mode: Mode) -> u32 {
        let grains = if self.ratio == 1 { 1 } else { GRAINS };
        self.granule(mode) / self.ratio * grains
    }

    /// Bytes of a superblock in native mode.
    #[must_use]
    pub fn native_bytes(&self) -> u64 {
        u64::from(self.whole_units(Mode::Native)) * u64::from(self.unit_bytes)
    }

    /// Bytes of a superblock in SLC mode.
    #[must_use]
    pub fn slc_bytes(&self) -> u64 {
        u64::from(self.whole_units(Mode::Slc)) * u64::from(self.unit_bytes)
    }

    /// Bytes of a superblock in the second tier; 0 without one.
    #[must_use]
    pub fn tier_bytes(&self) -> u64 {
        u64::from(self.whole_units(Mode::Tier)) * u64::from(self.unit_bytes)
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

    /// The planes on which the units from one of a row to another of the same row lie: the first
    /// and how many.
    #[must_use]
    pub fn planes_of(&self, first: u32, last: u32) -> (u32, u32) {
        let pages = self.row_units / self.page_units;
        let plane = |ppn: u32| self.by_row.split(ppn).1 / self.page_units * self.planes / pages;
        let begins = plane(first);
        (begins, plane(last) - begins + self.planes / pages)
    }

    /// Operation class of a program in a mode; `page` is the page type that it begins with.
    #[inline]
    #[must_use]
    pub fn program_class(&self, mode: Mode, page: u32) -> u8 {
        match mode {
            Mode::Slc => class::SLC_PROGRAM,
            Mode::Native if self.one_shot => class::NATIVE_PROGRAM,
            Mode::Native => class::NATIVE_PROGRAM + page as u8,
            Mode::Tier => class::TIER_PROGRAM,
        }
    }

    /// Group of dies that a superblock lies on.
    #[inline]
    #[must_use]
    pub fn group_of(&self, superblock: u32) -> u32 {
        self.by_groups.split(superblock).1
    }

    /// The dies that a superblock lies on.
    #[inline]
    #[must_use]
    pub fn dies_of(&self, superblock: u32) -> std::ops::Range<u32> {
        let first = self.group_of(superblock) * self.group_dies;
        first..first + self.group_dies
    }

    /// Stripe of the granule that an offset of a superblock lies in, and the granule's number
    /// among the data of the stripe.
    #[inline]
    #[must_use]
    pub fn stripe_of(&self, mode: Mode, offset: u32) -> (u32, u32) {
        let granule = match mode {
            Mode::Slc => self.by_row.quotient(offset),
            Mode::Native => self.by_granule.quotient(offset),
            Mode::Tier => self.by_tier_granule.quotient(offset),
        };
        self.by_stripe.split(granule)
    }

    /// Data granules of a stripe.
    #[inline]
    #[must_use]
    pub fn stripe_granules(&self) -> u32 {
        self.group_dies - u32::from(self.parity)
    }

    /// Die of the group that holds the parity of a stripe.
    #[inline]
    fn parity_slot(&self, stripe: u32) -> u32 {
        self.by_group_dies.split(stripe).1
    }

    /// Page type that the granules of a native stripe begin with.
    #[inline]
    fn first_page(&self, mode: Mode, stripe: u32) -> u32 {
        if mode != Mode::Native || self.one_shot {
            0
        } else if self.lower_first {
            let upper = stripe.checked_sub(self.wordlines);
            upper.map_or(0, |upper| 1 + upper % (self.bits - 1))
        } else {
            self.by_bits.split(stripe).1
        }
    }

    /// Die and page type of the row at an offset of a superblock.
    #[inline]
    #[must_use]
    pub fn place(&self, mode: Mode, superblock: u32, offset: u32) -> (u32, u32) {
        let (stripe, mut die) = self.stripe_of(mode, offset);
        if self.parity {
            die += u32::from(die >= self.parity_slot(stripe));
        }
        if self.groups > 1 {
            die += self.group_of(superblock) * self.group_dies;
        }
        let page = match mode {
            Mode::Native if self.one_shot => self.by_row.quotient(self.by_granule.split(offset).1),
            Mode::Tier => self.by_row.quotient(self.by_tier_granule.split(offset).1),
            _ => self.first_page(mode, stripe),
        };
        (die, page)
    }

    /// Die and page type of the parity of a stripe.
    #[must_use]
    pub fn parity_place(&self, mode: Mode, superblock: u32, stripe: u32) -> (u32, u32) {
        let die = self.dies_of(superblock).start + self.parity_slot(stripe);
        (die, self.first_page(mode, stripe))
    }

    /// Wordline of a stripe's granules, the same on each of its dies.
    #[must_use]
    pub fn wordline(&self, mode: Mode, stripe: u32) -> u32 {
        if mode != Mode::Native || self.one_shot {
            stripe
        } else if self.lower_first {
            let upper = stripe.checked_sub(self.wordlines);
            upper.map_or(stripe, |upper| upper / (self.bits - 1))
        } else {
            self.by_bits.quotient(stripe)
        }
    }

    /// Physical units of the drive; no unit has this number.
    #[must_use]
    pub fn physical_units(&self) -> u32 {
        self.superblocks * self.native_units
    }
}
