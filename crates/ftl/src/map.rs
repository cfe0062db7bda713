//! The page map: logical to physical and back, and a bit for each physical unit that is valid. It
//! takes 4 bytes a unit for the map, 4 for its reverse, and a bit.

use flashtwin_base::memory::{prefetch, prefetch_among, table};

use crate::ensure::{ensure, ensure_eq};
use crate::layout::NONE;

/// Units whose validity is in one word.
pub(crate) const WORD_UNITS: usize = u64::BITS as usize;
/// Entries of a map in a line of the cache.
const LINE_UNITS: u32 = 16;

/// Map, reverse map and validity. Valid counts live with the superblocks.
pub(crate) struct Map {
    /// Physical unit of each logical one, or none.
    pub(crate) physical: Vec<u32>,
    /// Logical unit of each physical one; means something only where the unit is valid.
    pub(crate) logical: Vec<u32>,
    valid: Vec<u64>,
}

flashtwin_base::state! { Map {
    table: physical, logical, valid;
} }

impl Map {
    pub(crate) fn new(logical_units: u32, physical_units: u32) -> Map {
        Map {
            physical: table(logical_units as usize, NONE),
            logical: table(physical_units as usize, 0),
            valid: table(physical_units.div_ceil(64) as usize + 1, 0),
        }
    }

    /// Bytes that the tables take.
    pub(crate) fn bytes(&self) -> usize {
        self.physical.len() * 4 + self.logical.len() * 4 + self.valid.len() * 8
    }

    pub(crate) fn forget_all(&mut self) {
        self.physical.fill(NONE);
        self.valid.fill(0);
    }

    /// The entry of a logical unit will be needed soon.
    #[inline]
    pub(crate) fn expect(&self, lpn: u32) {
        prefetch(&self.physical, lpn as usize);
    }

    /// The entries of many logical units will be needed.
    #[inline]
    pub(crate) fn expect_all(&self, lpns: &[u32]) {
        for &lpn in lpns {
            prefetch_among(&self.physical, lpn as usize);
        }
    }

    /// The validity of a physical unit will be needed soon.
    #[inline]
    pub(crate) fn expect_valid(&self, ppn: u32) {
        prefetch_among(&self.valid, (ppn >> 6) as usize);
    }

    /// A run of units from `lpn` will be placed from `ppn` on before long.
    #[inline]
    pub(crate) fn expect_run(&self, lpn: u32, ppn: u32, count: u32) {
        let mut unit = 0;
        while unit < count {
            prefetch(&self.physical, (lpn + unit) as usize);
            prefetch(&self.logical, (ppn + unit) as usize);
            unit += LINE_UNITS;
        }
    }

    /// These units of the row at `first` will be moved: their map entries are fetched into the
    /// processor's cache, and the reverse map of rows that follow.
    #[inline]
    pub(crate) fn expect_moves(&self, first: u32, count: u32, lpns: &[u32]) {
        const LATER_ROWS: u32 = 4;
        prefetch(&self.logical, (first + LATER_ROWS * count) as usize);
        self.expect_all(lpns);
    }

    #[inline]
    pub(crate) fn is_valid(&self, ppn: u32) -> bool {
        self.valid[(ppn >> 6) as usize] >> (ppn & 63) & 1 == 1
    }

    #[inline]
    pub(crate) fn clear_valid(&mut self, ppn: u32) {
        self.valid[(ppn >> 6) as usize] &= !(1 << (ppn & 63));
    }

    #[inline]
    pub(crate) fn set_valid(&mut self, ppn: u32) {
        self.valid[(ppn >> 6) as usize] |= 1 << (ppn & 63);
    }

    /// Calls `word` with each word of bits and the mask of `first..first + count` in it.
    #[inline]
    fn words(valid: &mut [u64], first: u32, count: u32, mut word: impl FnMut(&mut u64, u64)) {
        let (mut at, end) = (first, first + count);
        while at < end {
            let take = (64 - (at & 63)).min(end - at);
            let mask = (u64::MAX >> (64 - take)) << (at & 63);
            word(&mut valid[(at >> 6) as usize], mask);
            at += take;
        }
    }

    #[inline]
    pub(crate) fn set_valid_run(&mut self, first: u32, count: u32) {
        Map::words(&mut self.valid, first, count, |bits, mask| *bits |= mask);
    }

    #[inline]
    pub(crate) fn clear_valid_run(&mut self, first: u32, count: u32) {
        Map::words(&mut self.valid, first, count, |bits, mask| *bits &= !mask);
    }

    /// How many of `first..first + count` are valid.
    #[inline]
    pub(crate) fn count_valid(&self, first: u32, count: u32) -> u32 {
        let (mut at, end, mut sum) = (first, first + count, 0);
        while at < end {
            let take = (64 - (at & 63)).min(end - at);
            let mask = (u64::MAX >> (64 - take)) << (at & 63);
            sum += (self.valid[(at >> 6) as usize] & mask).count_ones();
            at += take;
        }
        sum
    }

    /// Appends the logical units of the valid ones of `first..first + count` to `out`.
    #[inline]
    pub(crate) fn collect_valid(&self, first: u32, count: u32, out: &mut Vec<u32>) {
        let held = out.len();
        out.resize(held + count as usize, 0);
        let listed = self.list_run(first, &mut out[held..]);
        out.truncate(held + listed);
    }

    /// Lists the logical units of the valid ones of a run as long as `list`; the answer is how many
    /// there are.
    pub(crate) fn list_run(&self, first: u32, list: &mut [u32]) -> usize {
        let (mut at, end) = (first, first + list.len() as u32);
        let mut listed = 0;
        while at < end {
            let here = (end - at).min(WORD_UNITS as u32) as usize;
            listed += self.list_row(at, &mut list[listed..][..here]).1;
            at += here as u32;
        }
        listed
    }

    /// The same of a run no longer than a word of validity, which is handed out too. Each unit is
    /// written and counted only if it is valid, so that there is no branch to guess.
    #[inline]
    pub(crate) fn list_row(&self, first: u32, list: &mut [u32]) -> (u64, usize) {
        let valid = self.valid_of_row(first, list.len() as u32);
        let units = &self.logical[first as usize..][..list.len()];
        let (mut listed, mut bits) = (0, valid);
        for &unit in units {
            list[listed] = unit;
            listed += (bits & 1) as usize;
            bits >>= 1;
        }
        (valid, listed)
    }

    /// A bit for each unit of a run no longer than a word: whether it is valid.
    #[inline]
    pub(crate) fn valid_of_row(&self, first: u32, count: u32) -> u64 {
        let (word, from) = ((first >> 6) as usize, first & 63);
        let mut bits = self.valid[word] >> from;
        if from + count > 64 {
            bits |= self.valid[word + 1] << (64 - from);
        }
        bits & (u64::MAX >> (64 - count))
    }

    /// Whether a run of logical units holds nothing.
    #[inline(always)]
    pub(crate) fn is_unwritten(&self, lpn: u32, count: u32) -> bool {
        // Without an early exit the compiler makes a few vector instructions of it.
        let entries = &self.physical[lpn as usize..][..count as usize];
        entries.iter().fold(NONE, |all, &ppn| all & ppn) == NONE
    }

    /// Points a logical unit at a physical one and marks that valid; the answer is where it was.
    #[inline]
    pub(crate) fn point_unit(&mut self, lpn: u32, ppn: u32) -> u32 {
        self.logical[ppn as usize] = lpn;
        self.set_valid(ppn);
        self.move_to(lpn, ppn)
    }

    /// Points a logical unit at a physical one and nothing else; the answer is where it was.
    #[inline]
    pub(crate) fn move_to(&mut self, lpn: u32, ppn: u32) -> u32 {
        std::mem::replace(&mut self.physical[lpn as usize], ppn)
    }

    /// Notes these logical units in the reverse map, from `ppn` on.
    #[inline]
    pub(crate) fn note_units(&mut self, lpns: &[u32], ppn: u32) {
        self.logical[ppn as usize..][..lpns.len()].copy_from_slice(lpns);
    }

    /// Points these logical units at physical ones from `ppn` on and marks those valid.
    #[inline]
    pub(crate) fn point_all(&mut self, lpns: &[u32], ppn: u32) {
        let physical = &mut self.physical[..];
        for (at, &lpn) in (ppn..).zip(lpns) {
            physical[lpn as usize] = at;
        }
        self.note_units(lpns, ppn);
        self.set_valid_run(ppn, lpns.len() as u32);
    }

    /// Points `count` logical units from `lpn` at as many physical ones from `ppn` and marks those
    /// valid.
    #[inline(always)]
    pub(crate) fn point(&mut self, lpn: u32, ppn: u32, count: u32) {
        if count == 1 {
            self.point_unit(lpn, ppn);
            return;
        }
        let (l, p, n) = (lpn as usize, ppn as usize, count as usize);
        count_up(&mut self.physical[l..l + n], ppn);
        count_up(&mut self.logical[p..p + n], lpn);
        self.set_valid_run(ppn, count);
    }

    /// Checks that each mapped unit is valid where it points, and that the reverse map agrees; the
    /// answer is how many are mapped.
    pub(crate) fn check(&self) -> Result<u64, String> {
        let mut mapped = 0u64;
        for (lpn, &ppn) in self.physical.iter().enumerate() {
            if ppn != NONE {
                mapped += 1;
                ensure!(self.is_valid(ppn), "unit {lpn} points at invalid {ppn}");
                ensure_eq!(
                    self.logical[ppn as usize] as usize,
                    lpn,
                    "reverse map of {ppn}"
                );
            }
        }
        Ok(mapped)
    }
}

/// Numbers a run of entries from `first` on. A line's worth at a time becomes a few wide
/// instructions without a test between them.
#[inline]
fn count_up(entries: &mut [u32], first: u32) {
    let mut next = first;
    let mut lines = entries.chunks_exact_mut(LINE_UNITS as usize);
    for line in &mut lines {
        for (entry, value) in line.iter_mut().zip(next..) {
            *entry = value;
        }
        next += LINE_UNITS;
    }
    for (entry, value) in lines.into_remainder().iter_mut().zip(next..) {
        *entry = value;
    }
}
