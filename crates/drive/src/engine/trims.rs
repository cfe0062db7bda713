//! TRIMs: when they begin, and what they do (their cost: [`crate::trim`]).

use flashtwin_base::{Nanos, Status};
use flashtwin_ftl::Policies;

use super::Drive;
use crate::command::SECTOR_BYTES;
use crate::event::Event;
use crate::trim::GB;

impl<P: Policies> Drive<P> {
    /// Firmware time of a TRIM beside that of any command.
    #[cold]
    pub(super) fn trim_time(&self, sectors: u32) -> Nanos {
        let trim = &self.controller.trim;
        let bytes = u128::from(u64::from(sectors) * SECTOR_BYTES);
        trim.command + Nanos((bytes * u128::from(trim.per_gb.0) / GB) as u64)
    }

    /// Whether a command has to wait, or is a TRIM that now runs alone.
    #[cold]
    pub(super) fn holds_back(&mut self, slot: u32) -> bool {
        let trim = self.commands.is_trim(slot);
        let alone = &mut self.commands.alone;
        if alone.running || !alone.held.is_empty() || (trim && alone.begun > 0) {
            alone.held.push_back(slot);
            return true;
        }
        alone.begun += 1;
        if trim {
            self.run_alone(slot);
        }
        trim
    }

    fn run_alone(&mut self, slot: u32) {
        self.commands.alone.running = true;
        let at = self.clock.now() + self.trim_time(self.commands.sectors(slot));
        self.clock.push(at, Event::Trimmed(slot));
    }

    /// A command has ended: perhaps the last one that a TRIM waited for, or the TRIM itself.
    #[cold]
    pub(super) fn ended(&mut self, slot: u32) {
        let trim = self.commands.is_trim(slot);
        let alone = &mut self.commands.alone;
        alone.begun -= 1;
        alone.running &= !trim;
        if alone.begun == 0 && !alone.held.is_empty() && !alone.releasing {
            alone.releasing = true;
            self.clock.push(self.clock.now(), Event::Release);
        }
    }

    /// Begins what was held back, up to the next TRIM.
    pub(super) fn release(&mut self) {
        self.commands.alone.releasing = false;
        if self.commands.alone.running {
            return;
        }
        while let Some(&slot) = self.commands.alone.held.front() {
            let trim = self.commands.is_trim(slot);
            if trim && self.commands.alone.begun > 0 {
                return;
            }
            self.commands.alone.held.pop_front();
            self.commands.alone.begun += 1;
            if trim {
                return self.run_alone(slot);
            }
            self.begin(slot);
        }
    }

    /// The firmware begins a TRIM: of the units that it covers whole.
    pub(super) fn begin_trim(&mut self, slot: u32) {
        let command = self.commands.slots[slot as usize];
        let (first, units) = self.whole_units(&command);
        let inner = &mut self.commands.slots[slot as usize];
        (inner.lpn, inner.units) = (first, units);
        self.trim_on(slot, self.known_from_the_start());
    }

    /// Trims a command's units below `known` and those after them whose map entries are at hand.
    pub(super) fn trim_on(&mut self, slot: u32, mut known: u32) {
        let command = self.commands.slots[slot as usize];
        let (mut at, end) = (self.commands.cursor(slot), command.lpn + command.units);
        while at < end {
            if at >= known {
                if !self.ask_map(slot, at, end) {
                    return;
                }
                known = self.ftl.map_page_end(at);
            }
            let units = end.min(known) - at;
            self.read_ahead.invalidate(at, units);
            self.errors.replaced(at, units);
            self.ftl.note_tag(command.tag);
            self.ftl.trim(at, units, &mut self.ops);
            self.issue();
            at += units;
            self.commands.slots[slot as usize].looked_up += units;
        }
        self.answer(slot, Status::Ok);
        self.admit();
    }
}
