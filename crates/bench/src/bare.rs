//! The bare page map: what any page-mapped firmware has to do and nothing else. The project
//! measures its simulated drive by it.
//!
//! A map from user unit to physical unit and one back, a validity bit a unit, valid counts a
//! superblock, greedy garbage collection; no time, no cache, no queues. Host writes and moved
//! units go into one open superblock; one more is kept free so that a victim's units always have a
//! place. That one is counted out of the over-provisioning when the write amplification is held
//! against the theory.
//!
//! What costs time is memory: a random write touches a map entry and a validity bit far from the
//! last ones, a moved unit a map entry. So both work in batches that first load every entry they
//! are about to change: the loads do not depend on each other and run side by side, and the
//! changes then find their lines in the cache.

use flashtwin_base::memory::table;

/// A user unit that was never written, a physical unit that holds nothing.
const NONE: u32 = u32::MAX;
/// Added to the valid count of a superblock that must not become a victim, because it is free or
/// open.
const NO_VICTIM: u32 = 1 << 31;
/// Host writes that are looked up together.
pub const BATCH: usize = 64;
/// Bits of the reciprocal by which a physical unit is divided by the units a superblock.
const RECIPROCAL_BITS: u32 = 50;

/// What a map is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Superblocks.
    pub blocks: u32,
    /// Mapping units a superblock; a multiple of 64.
    pub units_per_block: u32,
    /// Units that the host can address.
    pub user_units: u32,
}

impl Shape {
    /// The Crucial BX500 240 GB in units of 4 KiB: 496 superblocks across 4 dies of 4 planes, each
    /// of 704 wordlines of 3 pages of 16 KiB, and 240 GB for the user. The numbers are the
    /// catalogue's.
    pub const BX500: Shape = Shape {
        blocks: 496,
        units_per_block: 135_168,
        user_units: 58_593_750,
    };

    /// The same flash with less left over: 7 % more than the user's, the superblock that is kept
    /// free among them. Its drive is that of [`crate::twin::SEVEN_PERCENT`].
    pub const SEVEN_PERCENT: Shape = Shape {
        user_units: 62_658_256,
        ..Shape::BX500
    };

    /// Physical units over user units, without the superblock kept free. The open one counts: it
    /// starts with the units of a victim and is nearly as full as the others.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        f64::from(self.blocks - 1) * f64::from(self.units_per_block) / f64::from(self.user_units)
    }
}

/// A page map with greedy garbage collection.
#[derive(Clone, Debug)]
pub struct Bare {
    shape: Shape,
    reciprocal: u64,
    map: Vec<u32>,
    reverse: Vec<u32>,
    /// A bit a physical unit. A superblock is opened with all of its bits set: a write need not
    /// set one.
    valid_bits: Vec<u64>,
    /// Units still valid, a superblock; with [`NO_VICTIM`] where it is free or open.
    valid: Vec<u32>,
    free: Vec<u32>,
    /// Where the next unit goes, and where the open superblock ends.
    cursor: u32,
    open_end: u32,
    /// Superblocks opened so far: they say how many units were written, at no cost a write.
    opened: u64,
    moved_units: u64,
}

impl Bare {
    /// An empty map.
    #[must_use]
    pub fn new(shape: Shape) -> Bare {
        let Shape {
            blocks,
            units_per_block,
            user_units,
        } = shape;
        assert!(
            units_per_block > 0 && units_per_block % 64 == 0,
            "whole words of validity"
        );
        assert!(shape.alpha() > 1.0, "no room for garbage collection");
        let units = u64::from(blocks) * u64::from(units_per_block);
        assert!(units < 1 << 30, "{units} units need longer entries");
        Bare {
            shape,
            reciprocal: reciprocal(units_per_block),
            map: table(user_units as usize, NONE),
            reverse: table(units as usize, NONE),
            valid_bits: table(units as usize / 64, 0),
            valid: vec![NO_VICTIM; blocks as usize],
            free: (0..blocks).rev().collect(),
            cursor: 0,
            open_end: 0,
            opened: 0,
            moved_units: 0,
        }
    }

    /// Writes one user unit.
    #[inline]
    pub fn write(&mut self, lpn: u32) {
        if self.cursor == self.open_end {
            self.open_block();
        }
        let ppn = self.cursor;
        let old = std::mem::replace(&mut self.map[lpn as usize], ppn);
        self.reverse[ppn as usize] = lpn;
        self.cursor = ppn + 1;
        if old != NONE {
            self.invalidate(old);
        }
    }

    /// Writes user units in their order, looked up together; fastest in batches of [`BATCH`]. This
    /// is what a map could do that knows what the host will ask for.
    #[inline]
    pub fn write_all(&mut self, lpns: &[u32]) {
        let mut rest = lpns;
        while !rest.is_empty() {
            if self.cursor == self.open_end {
                self.open_block();
            }
            let room = (self.open_end - self.cursor) as usize;
            let (now, later) = rest.split_at(rest.len().min(room));
            self.append(now);
            rest = later;
        }
    }

    #[inline]
    fn invalidate(&mut self, ppn: u32) {
        self.valid_bits[ppn as usize / 64] &= !(1 << (ppn % 64));
        let block = (u64::from(ppn) * self.reciprocal) >> RECIPROCAL_BITS;
        self.valid[block as usize] -= 1;
    }

    /// Puts host units into the open superblock, which has room for them.
    #[inline]
    fn append(&mut self, lpns: &[u32]) {
        prefetch(&self.map, lpns);
        let from = self.cursor as usize;
        self.reverse[from..from + lpns.len()].copy_from_slice(lpns);
        for (&lpn, ppn) in lpns.iter().zip(self.cursor..) {
            let old = std::mem::replace(&mut self.map[lpn as usize], ppn);
            if old != NONE {
                self.invalidate(old);
            }
        }
        self.cursor += lpns.len() as u32;
    }

    /// Opens a free superblock; where it was the last one, empties a victim into it.
    #[cold]
    #[inline(never)]
    fn open_block(&mut self) {
        if self.open_end > 0 {
            self.valid[(self.open_end / self.shape.units_per_block - 1) as usize] -= NO_VICTIM;
        }
        let block = self.free.pop().expect("one superblock is always kept free") as usize;
        let units = self.shape.units_per_block;
        let words = units as usize / 64;
        self.valid_bits[block * words..(block + 1) * words].fill(u64::MAX);
        self.valid[block] = NO_VICTIM + units;
        self.cursor = block as u32 * units;
        self.open_end = self.cursor + units;
        self.opened += 1;
        while self.free.is_empty() {
            self.collect();
        }
    }

    /// Moves the valid units of the superblock that has the fewest, and frees it.
    fn collect(&mut self) {
        let (victim, &valid) = self
            .valid
            .iter()
            .enumerate()
            .min_by_key(|(_, valid)| **valid)
            .expect("superblocks");
        assert!(
            valid < self.shape.units_per_block,
            "nothing to gain: {valid} units are valid"
        );
        let words = self.shape.units_per_block as usize / 64;
        for word in victim * words..(victim + 1) * words {
            self.move_word(word);
        }
        self.moved_units += u64::from(valid);
        self.valid_bits[victim * words..(victim + 1) * words].fill(0);
        self.valid[victim] = NO_VICTIM;
        self.free.push(victim as u32);
    }

    /// Moves the valid units among 64 neighbours.
    #[inline]
    fn move_word(&mut self, word: usize) {
        let mut lpns = [0; 64];
        let mut count = 0;
        let mut bits = self.valid_bits[word];
        let sources: &[u32; 64] = self.reverse[word * 64..][..64]
            .try_into()
            .expect("64 units");
        while bits != 0 {
            lpns[count % 64] = sources[bits.trailing_zeros() as usize % 64];
            count += 1;
            bits &= bits - 1;
        }
        let lpns = &lpns[..count];
        prefetch(&self.map, lpns);
        let from = self.cursor as usize;
        self.reverse[from..from + count].copy_from_slice(lpns);
        for (&lpn, ppn) in lpns.iter().zip(self.cursor..) {
            self.map[lpn as usize] = ppn;
        }
        self.cursor += count as u32;
    }

    /// Units that the host has written.
    #[must_use]
    pub fn host_units(&self) -> u64 {
        let written = self.opened * u64::from(self.shape.units_per_block);
        written - u64::from(self.open_end - self.cursor) - self.moved_units
    }

    /// Units that garbage collection has moved.
    #[must_use]
    pub fn moved_units(&self) -> u64 {
        self.moved_units
    }

    /// What the map is made of.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Bytes of state a physical unit.
    #[must_use]
    pub fn bytes_per_unit(&self) -> f64 {
        let words = self.map.len() + self.reverse.len() + self.valid.len() + self.free.len();
        (4 * words + 8 * self.valid_bits.len()) as f64 / self.reverse.len() as f64
    }

    /// Holds every structure against every other; panics where they differ.
    pub fn check(&self) {
        let units = self.shape.units_per_block;
        let mut valid = vec![0; self.shape.blocks as usize];
        for (lpn, &ppn) in self.map.iter().enumerate().filter(|(_, ppn)| **ppn != NONE) {
            assert_eq!(
                self.reverse[ppn as usize] as usize, lpn,
                "unit {ppn} is another's"
            );
            assert!(
                self.valid_bits[ppn as usize / 64] >> (ppn % 64) & 1 == 1,
                "unit {ppn} is lost"
            );
            valid[(ppn / units) as usize] += 1;
        }
        for (block, counted) in valid.into_iter().enumerate() {
            let open = self.open_end > 0 && block as u32 == self.open_end / units - 1;
            let ahead = if open { self.open_end - self.cursor } else { 0 };
            let held = self.valid[block] & !NO_VICTIM;
            assert_eq!(held, counted + ahead, "superblock {block}");
            let bits = &self.valid_bits[block * units as usize / 64..][..units as usize / 64];
            assert_eq!(bits.iter().map(|word| word.count_ones()).sum::<u32>(), held);
        }
    }
}

/// Loads the entries that are about to change, all at once.
#[inline]
fn prefetch(map: &[u32], lpns: &[u32]) {
    let touched = lpns.iter().fold(0, |all, &lpn| all ^ map[lpn as usize]);
    std::hint::black_box(touched);
}

/// The factor that divides a physical unit by `divisor` as a multiplication and a shift. Exact
/// below 2^30 for divisors below 2^18: the factor is at most `divisor / 2^50` too large in
/// relation.
fn reciprocal(divisor: u32) -> u64 {
    assert!(
        divisor < 1 << 18,
        "superblocks of {divisor} units need a longer reciprocal"
    );
    (1 << RECIPROCAL_BITS) / u64::from(divisor) + 1
}
