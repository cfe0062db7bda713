//! TRIMs: when they begin, and what they do (their cost: [`crate::trim`]).

use flashtwin_base::{Nanos, Status};
use flashtwin_ftl::Policies;

use super::Drive;
use crate::command::SECTOR_BYTES;
use crate::event::Event;

impl<P: Policies> Drive<P> {
    /// A command has been understood by a drive that runs TRIMs alone.
    #[cold]
    pub(super) fn begin_in_turn(&mut self, slot: u32) {
        let is_trim = self.commands[slot].is_trim();
        if self.trims.admit(slot, is_trim) {
            self.begin_admitted(slot, is_trim);
        }
    }

    fn begin_admitted(&mut self, slot: u32, is_trim: bool) {
        if is_trim {
            let sectors = self.commands[slot].bytes() / SECTOR_BYTES;
            self.clock
                .push_in(self.trims.time(sectors), Event::Trimmed(slot));
        } else {
            self.begin(slot);
        }
    }

    /// A command has ended in a drive that runs TRIMs alone.
    #[cold]
    pub(super) fn end_in_turn(&mut self, slot: u32) {
        if self.trims.end(self.commands[slot].is_trim()) {
            self.clock.push_in(Nanos::ZERO, Event::Release);
        }
    }

    /// Begins what was held back, up to the next TRIM.
    pub(super) fn release(&mut self) {
        self.trims.release();
        while let Some((slot, is_trim)) = self.trims.next(|slot| self.commands[slot].is_trim()) {
            self.begin_admitted(slot, is_trim);
        }
    }

    /// The firmware begins a TRIM: of the units that it covers whole.
    pub(super) fn begin_trim(&mut self, slot: u32) {
        let units = self.whole_units(slot);
        self.commands[slot].cut_to(units);
        self.trim_on(slot, self.known_from_the_start());
    }

    /// Trims a command's units below `known` and those after them whose map entries are at hand.
    pub(super) fn trim_on(&mut self, slot: u32, mut known: u32) {
        let command = self.commands[slot];
        let (mut at, end) = (command.cursor(), command.lpns().end);
        while at < end {
            let Some(to) = self.known_to(slot, at, end, &mut known) else {
                return;
            };
            let units = to - at;
            self.read_ahead.invalidate(at, units);
            self.errors.replaced(at, units);
            self.ftl.note_tag(command.tag());
            self.ftl.trim(at, units, &mut self.ops);
            self.issue();
            self.commands[slot].looked_up_to(to);
            at = to;
        }
        self.answer(slot, Status::Ok);
        self.admit();
    }
}
