//! Reads: one flash read for each page row that a command touches, what is in RAM excepted, and its
//! data goes out as each of them ends.

use flashtwin_base::{Op, Status};
use flashtwin_ftl::{Found, NandOp, Planes, Policies, Token};

use super::Drive;
use crate::command::{Command, SECTOR_BYTES};
use crate::event::{Event, lane};
use crate::link::Way;
use crate::read_ahead::{Hit, READ_AHEAD};

impl<P: Policies> Drive<P> {
    pub(super) fn begin_read(&mut self, slot: u32) {
        let command = &mut self.commands[slot];
        command.ends(self.path.pass());
        let ((first, units), sectors) = (command.span(), command.sectors());
        let end = first + units;
        self.reads_of_nothing += u64::from(self.ftl.holds_nothing(first, units));
        let unit_sectors = u64::from(self.ftl.layout().unit_bytes) / SECTOR_BYTES;
        let ends_unit = u64::from(end) * unit_sectors == sectors.end;
        let stream = self.read_ahead.note(sectors, end - u32::from(!ends_unit));
        self.read_on(slot, self.known_from_the_start());
        if let Some(stream) = stream {
            self.fetch_ahead(stream);
        }
    }

    /// Reads a command's units from where it stands, as far as their map entries are at hand: those
    /// below `known` are.
    pub(super) fn read_on(&mut self, slot: u32, mut known: u32) {
        let command = self.commands[slot];
        let fetched = !self.read_ahead.is_empty();
        let (mut at, end) = (command.cursor(), command.lpns().end);
        let mut in_ram = 0;
        while at < end {
            if fetched {
                match self.read_ahead.find(at, end, slot) {
                    Hit::Ready(units) => {
                        in_ram += units;
                        at += units;
                        continue;
                    }
                    Hit::Coming(units) => {
                        self.commands[slot].awaits(1);
                        at += units;
                        continue;
                    }
                    Hit::Miss => {}
                }
            }
            let Some(end) = self.known_to(slot, at, end, &mut known) else {
                break;
            };
            let asked = (!command.covers_whole_units()).then_some(&command);
            let (units, read) = self.read_row(at, end, Token::Host(slot), asked);
            self.commands[slot].awaits(read.into());
            in_ram += if read { 0 } else { units };
            at += units;
        }
        self.issue();
        if in_ram > 0 {
            self.hand_out(slot, in_ram);
        }
        self.finish_read(slot);
    }

    /// Asks for the units from `at` on that one flash read brings, of the first and the last no
    /// more than a command `asked` for; the answer is how many they are, and whether they are on
    /// flash at all.
    pub(super) fn read_row(
        &mut self,
        at: u32,
        end: u32,
        token: Token,
        asked: Option<&Command>,
    ) -> (u32, bool) {
        let Found::Flash(ppn) = self.ftl.find(at) else {
            return (1, false);
        };
        let row = self.ftl.layout().row_of(ppn);
        let mut units = 1;
        while at + units < end && self.ftl.in_row(at + units, row) {
            units += 1;
        }
        let (die, class) = self.ftl.read_place(ppn);
        let mut op = NandOp::new(die, class, self.grains(at, units), token);
        if let Some(command) = asked {
            op.skipped = self.codewords.unasked(&command.byte_range(), at, units);
        }
        self.narrow(&mut op, ppn, at, units);
        self.set_pace(&mut op, ppn);
        if self.errors.are_on() {
            self.grade_units(&mut op, ppn, at, units);
        }
        self.ops.push(op);
        (units, true)
    }

    /// What crosses the channel for units of one row.
    pub(super) fn grains(&self, lpn: u32, units: u32) -> u16 {
        if self.ftl.compresses() {
            return self.ftl.read_grains(lpn, units) as u16;
        }
        units as u16
    }

    /// Units of a read go out over the link, only what was asked for of each. Pieces come back in
    /// any order; the parts of the first and the last unit are counted as if they came in order.
    fn hand_out(&mut self, slot: u32, units: u32) {
        let unit_bytes = self.ftl.layout().unit_bytes;
        let (bytes, first) = self.commands[slot].next_bytes(units, unit_bytes);
        let crossed = self.send(bytes, Way::Out, first);
        self.commands[slot].went_out(units, crossed);
    }

    fn finish_read(&mut self, slot: u32) {
        let command = &mut self.commands[slot];
        if command.has_all_pieces() {
            let (at, (first, units)) = (command.crossed(), command.span());
            if self.errors.is_lost(first, units) {
                self.errors.note_uncorrectable();
                command.ends(Status::Unreadable);
            }
            self.clock
                .push_in_order(lane::LINK, at.max(self.clock.now()), Event::Answer(slot));
        }
    }

    /// A flash read of a command has come back.
    pub(super) fn piece_read(&mut self, slot: u32, units: u16) {
        let command = &mut self.commands[slot];
        command.piece_came();
        if command.op() == Op::Write {
            self.admit();
            return;
        }
        // Of compressed units the size of a read does not tell how many it has brought.
        let units = if self.ftl.compresses() {
            command.share()
        } else {
            u32::from(units)
        };
        self.hand_out(slot, units);
        self.finish_read(slot);
    }

    /// A flash read of a chunk has come back: the commands that waited for it get their share.
    pub(super) fn chunk_read(&mut self, chunk: u32) {
        for (slot, units) in self.read_ahead.fetched(chunk) {
            let command = &mut self.commands[slot];
            command.piece_came();
            let left = command.left();
            let is_last = command.has_all_pieces();
            self.hand_out(slot, if is_last { left } else { units.min(left) });
            self.finish_read(slot);
        }
    }

    /// Reads as far ahead of a stream as it may.
    pub(super) fn fetch_ahead(&mut self, stream: usize) {
        let logical = self.ftl.logical_units();
        let paged = self.ftl.is_map_paged();
        while !paged || self.is_chunk_known(stream) {
            let Some((chunk, from, units)) = self.read_ahead.next_chunk(stream, logical) else {
                return;
            };
            self.fetch_chunk(chunk, from, units);
        }
    }

    fn fetch_chunk(&mut self, chunk: u32, from: u32, units: u32) {
        let (mut at, mut reads) = (from, 0);
        while at < from + units {
            let token = Token::Host(READ_AHEAD + chunk);
            let (taken, read) = self.read_row(at, from + units, token, None);
            reads += u32::from(read);
            at += taken;
        }
        self.read_ahead.fetching(chunk, reads);
        self.issue();
    }

    /// The units that a command covers whole: the first, and how many.
    pub(super) fn whole_units(&self, slot: u32) -> (u32, u32) {
        let unit = u64::from(self.ftl.layout().unit_bytes);
        self.commands[slot].whole_units(unit, self.ftl.logical_units(), self.capacity_bytes)
    }

    /// A read of units of one row needs the planes that they lie on, where planes work for
    /// themselves.
    pub(super) fn narrow(&self, op: &mut NandOp, ppn: u32, lpn: u32, units: u32) {
        if self.flash.reads_by_planes() {
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
