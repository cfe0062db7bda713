//! Parts of mapping units and of dies: what a read of less than a unit leaves on the die, and which
//! planes it needs.
//!
//! A codeword is the least that can be corrected and so the least that crosses a channel. A read of
//! a part of a unit moves the codewords that it touches; a write of a part of one moves those that
//! it does not replace. Compressed units are moved whole: where in them a byte lies is known only
//! once all of it is unpacked.

use flashtwin_ftl::{NandOp, Planes, Policies};

use crate::command::{Command, SECTOR_BYTES};
use crate::engine::Drive;

impl<P: Policies> Drive<P> {
    /// The units that a command covers whole: the first, and how many. Of the drive's last unit
    /// the host has what the capacity says.
    pub(crate) fn whole_units(&self, command: &Command) -> (u32, u32) {
        let unit = u64::from(self.ftl.layout().unit_bytes);
        let begins = command.lba * SECTOR_BYTES;
        let ends = begins + command.bytes;
        let first = begins.div_ceil(unit);
        let end = if ends == self.capacity_bytes {
            u64::from(self.ftl.logical_units())
        } else {
            ends / unit
        };
        (first as u32, end.saturating_sub(first) as u32)
    }

    /// Bytes of a codeword; none where units are moved whole.
    fn codeword(&self) -> Option<u64> {
        let bytes = u64::from(self.controller.codeword_bytes);
        let covers_units = bytes == 0 || bytes >= u64::from(self.ftl.layout().unit_bytes);
        (!covers_units && !self.ftl.compresses()).then_some(bytes)
    }

    /// Codewords of some of a command's units that it does not ask for.
    #[cold]
    pub(crate) fn unasked_codewords(&self, command: &Command, first: u32, units: u32) -> u8 {
        let Some(codeword) = self.codeword() else {
            return 0;
        };
        let unit = u64::from(self.ftl.layout().unit_bytes);
        let begins = u64::from(first) * unit;
        let ends = begins + u64::from(units) * unit;
        let asked = command.lba * SECTOR_BYTES;
        let before = asked.saturating_sub(begins) / codeword;
        let behind = ends.saturating_sub(asked + command.bytes) / codeword;
        (before + behind) as u8
    }

    /// Codewords of a unit that a write replaces from end to end.
    #[cold]
    pub(crate) fn replaced_codewords(&self, slot: u32, lpn: u32) -> u8 {
        let Some(codeword) = self.codeword() else {
            return 0;
        };
        let command = &self.commands.slots[slot as usize];
        let unit = u64::from(self.ftl.layout().unit_bytes);
        let begins = u64::from(lpn) * unit;
        let from = command.lba * SECTOR_BYTES;
        let to = (from + command.bytes).min(begins + unit) - begins;
        let first = from.saturating_sub(begins).div_ceil(codeword);
        (to / codeword).saturating_sub(first) as u8
    }

    /// A read of units of one row needs the planes that they lie on, where planes work for
    /// themselves.
    #[inline]
    pub(crate) fn narrow(&self, op: &mut NandOp, ppn: u32, lpn: u32, units: u32) {
        if self.flash.independent > 0 {
            op.planes = self.planes_of(ppn, lpn, units);
        }
    }

    #[cold]
    fn planes_of(&self, ppn: u32, lpn: u32, units: u32) -> Planes {
        let places = (lpn..lpn + units).filter_map(|lpn| self.ftl.locate(lpn));
        let (first, last) = places.fold((ppn, ppn), |(first, last), at| {
            (first.min(at), last.max(at))
        });
        Planes::some(self.ftl.layout().planes_of(first, last))
    }
}
