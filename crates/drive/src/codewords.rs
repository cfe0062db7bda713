//! Parts of mapping units: what a read of less than a unit leaves on the die.
//!
//! A codeword is the least that can be corrected and so the least that crosses a channel. A read of
//! a part of a unit moves the codewords that it touches; a write of a part of one moves those that
//! it does not replace. Compressed units are moved whole: where in them a byte lies is known only
//! once all of it is unpacked.

use std::ops::Range;

/// Codewords and the units that they are parts of.
pub(crate) struct Codewords {
    /// Bytes of one; none where units are moved whole.
    bytes: Option<u64>,
    unit: u64,
}

impl Codewords {
    /// Those of these bytes each, or whole units where that is 0 or no part of one.
    pub(crate) fn new(bytes: u32, unit_bytes: u32, compresses: bool) -> Codewords {
        let is_part = bytes > 0 && bytes < unit_bytes && !compresses;
        Codewords {
            bytes: is_part.then_some(bytes.into()),
            unit: unit_bytes.into(),
        }
    }

    /// Of some units, those that a read of these bytes does not ask for.
    #[cold]
    pub(crate) fn unasked(&self, asked: &Range<u64>, first: u32, units: u32) -> u8 {
        let Some(codeword) = self.bytes else {
            return 0;
        };
        let begins = u64::from(first) * self.unit;
        let ends = begins + u64::from(units) * self.unit;
        let before = asked.start.saturating_sub(begins) / codeword;
        let behind = ends.saturating_sub(asked.end) / codeword;
        (before + behind) as u8
    }

    /// Of a unit, those that a write of these bytes replaces from end to end.
    #[cold]
    pub(crate) fn replaced(&self, written: &Range<u64>, lpn: u32) -> u8 {
        let Some(codeword) = self.bytes else {
            return 0;
        };
        let begins = u64::from(lpn) * self.unit;
        let to = written.end.min(begins + self.unit) - begins;
        let first = written.start.saturating_sub(begins).div_ceil(codeword);
        (to / codeword).saturating_sub(first) as u8
    }
}
