//! Host commands: what each one waits for, from the firmware's look at it to its answer.
//!
//! A write's data comes over the link in bursts as the buffer has room; it is acknowledged when it
//! is in the buffer (write-back) or programmed (write-through). A write that begins or ends within
//! a mapping unit reads the rest of that unit first. A read is one flash read for each page row
//! that it touches, what is in RAM excepted, and its data goes out as each of them ends. Where the
//! map is not all in RAM, a command goes on page by page of the map (see `lookup`).
//!
//! Without overlap the controller takes turns: it receives until its buffer is full or nothing
//! more is queued, then programs all of it before it receives again.

use std::collections::VecDeque;
use std::ops::Range;

use flashtwin_base::{Completion, Nanos, Op, Request, Status};
use flashtwin_ftl::{Found, NandOp, Route, Token};

use crate::config::Acknowledge;
use crate::engine::Drive;
use crate::event::{Event, lane};
use crate::link::Way;
use crate::read_ahead::Hit;
use crate::trim::Alone;

/// Bytes of a sector.
pub(crate) const SECTOR_BYTES: u64 = 512;
/// Most units that come over the link before the buffer is looked at again.
const BURST_BYTES: u32 = 128 << 10;

/// A command inside the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    pub(crate) tag: u32,
    pub(crate) op: Op,
    pub(crate) lba: u64,
    /// First mapping unit, and how many are touched.
    pub(crate) lpn: u32,
    pub(crate) units: u32,
    /// Units of a write that have been sent for, or of a read that have gone out.
    sent: u32,
    /// Units whose map entries have been looked up.
    pub(crate) looked_up: u32,
    pub(crate) bytes: u64,
    /// It covers its units from the first byte to the last.
    whole_units: bool,
    /// Of a write: whether the cache may take it.
    route: Route,
    /// It ends within the drive; else nothing of the above means anything.
    in_range: bool,
    /// Flash reads that have not come back.
    pub(crate) pending: u32,
    /// When the last byte so far has crossed the link.
    crossed: Nanos,
    /// Done only when it is on flash.
    fua: bool,
    /// How much smaller its data can be made.
    compressible_percent: u8,
    /// How it ends, as far as is known.
    status: Status,
}

impl Command {
    /// Bytes of the command that lie in `count` of its units from the one numbered `first` on.
    #[inline]
    fn bytes_of(&self, first: u32, count: u32, unit_bytes: u32) -> u64 {
        let unit = u64::from(unit_bytes);
        if self.whole_units {
            return u64::from(count) * unit;
        }
        let begin = self.lba * SECTOR_BYTES;
        let from = (u64::from(self.lpn) + u64::from(first)) * unit;
        let to = (from + u64::from(count) * unit).min(begin + self.bytes);
        // Nothing is left of a command that ends within its last unit when all of them are out.
        to.saturating_sub(from.max(begin))
    }
}

/// Writes ahead of the one that is sent for whose old copies are looked up: far enough that the
/// line has come when it is needed, near enough that it is still there.
const EXPECTED_AHEAD: usize = 3;

/// A burst of a write's data in the buffer.
#[derive(Clone, Copy, Debug)]
struct Piece {
    slot: u32,
    route: Route,
    lpn: u32,
    units: u32,
    /// The command has no more data to come.
    last: bool,
}

/// All commands inside the drive.
pub(crate) struct Commands {
    pub(crate) slots: Vec<Command>,
    vacant: Vec<u32>,
    /// Writes that wait for the buffer, first come first served.
    incoming: VecDeque<u32>,
    /// Units that are crossing the link for the first of `incoming`.
    crossing: u32,
    /// A flush came while they were crossing: it pads when they have arrived.
    pad_on_arrival: bool,
    /// Writes and flushes that wait until every host granule below a number is programmed.
    durable: VecDeque<(u64, u32)>,
    takes_turns: bool,
    programming: bool,
    /// Taking turns: what has been received and not yet placed.
    received: Vec<Piece>,
    /// A sector's number, shifted right by so much, is its unit's: units are powers of two.
    unit_shift: u32,
    /// Most units that come over the link before the buffer is looked at again.
    burst_units: u32,
    pub(crate) alone: Alone,
}

flashtwin_base::state! { Commands {
    kept: pad_on_arrival, programming, alone;
    built: slots, vacant, incoming, crossing, durable, takes_turns, received, unit_shift,
        burst_units;
} }

impl Commands {
    pub(crate) fn new(queue_depth: u32, overlap: bool, unit_bytes: u32) -> Commands {
        Commands {
            slots: Vec::with_capacity(queue_depth as usize),
            vacant: Vec::with_capacity(queue_depth as usize),
            incoming: VecDeque::with_capacity(queue_depth as usize),
            crossing: 0,
            pad_on_arrival: false,
            durable: VecDeque::with_capacity(queue_depth as usize),
            takes_turns: !overlap,
            programming: false,
            received: Vec::new(),
            unit_shift: unit_bytes.trailing_zeros() - SECTOR_BYTES.trailing_zeros(),
            burst_units: BURST_BYTES / unit_bytes,
            alone: Alone::default(),
        }
    }

    pub(crate) fn outstanding(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// Nothing is being programmed any more: receiving may begin.
    pub(crate) fn restart_turns(&mut self) {
        self.programming = false;
    }

    /// Whether a write's data has been sent for and is not placed yet.
    pub(crate) fn is_receiving(&self) -> bool {
        self.crossing > 0 || !self.received.is_empty()
    }

    #[inline]
    pub(crate) fn take(&mut self, request: Request, in_range: bool) -> u32 {
        let shift = self.unit_shift;
        let end = request.lba.saturating_add(u64::from(request.sectors));
        let lpn = request.lba >> shift;
        let command = Command {
            tag: request.tag,
            op: request.op,
            lba: request.lba,
            lpn: lpn as u32,
            units: (end.saturating_add((1 << shift) - 1) >> shift).saturating_sub(lpn) as u32,
            sent: 0,
            looked_up: 0,
            bytes: u64::from(request.sectors) * SECTOR_BYTES,
            whole_units: (request.lba | end) & ((1 << shift) - 1) == 0,
            route: Route::Cache,
            in_range,
            pending: 0,
            crossed: Nanos::ZERO,
            fua: request.fua,
            compressible_percent: request.compressible_percent,
            status: Status::Ok,
        };
        if let Some(slot) = self.vacant.pop() {
            self.slots[slot as usize] = command;
            return slot;
        }
        self.slots.push(command);
        self.slots.len() as u32 - 1
    }

    /// The first unit of a command whose map entry has not been looked up.
    pub(crate) fn cursor(&self, slot: u32) -> u32 {
        let command = &self.slots[slot as usize];
        command.lpn + command.looked_up
    }

    /// A command waits for a page of the map.
    pub(crate) fn wait_for_map(&mut self, slot: u32) {
        self.slots[slot as usize].pending += 1;
    }

    #[inline]
    pub(crate) fn first_unit(&self, slot: u32) -> u32 {
        self.slots[slot as usize].lpn
    }

    #[inline]
    pub(crate) fn status(&self, slot: u32) -> Status {
        self.slots[slot as usize].status
    }

    #[inline]
    pub(crate) fn is_trim(&self, slot: u32) -> bool {
        let command = &self.slots[slot as usize];
        command.op == Op::Trim && command.in_range
    }

    pub(crate) fn sectors(&self, slot: u32) -> u32 {
        (self.slots[slot as usize].bytes / SECTOR_BYTES) as u32
    }

    pub(crate) fn describe(&self) -> String {
        format!(
            "writes waiting {:?}, {} units crossing, durable {:?}, programming {}\n{:?}\n",
            self.incoming, self.crossing, self.durable, self.programming, self.slots
        )
    }
}

impl Drive {
    /// The firmware has understood a command.
    #[inline]
    pub(crate) fn begin_command(&mut self, slot: u32) {
        if self.controller.trim.alone && self.holds_back(slot) {
            return;
        }
        self.begin(slot);
    }

    /// A command begins its work in the drive.
    pub(crate) fn begin(&mut self, slot: u32) {
        let command = self.commands.slots[slot as usize];
        if !command.in_range {
            self.answer(slot, Status::OutOfRange);
            return;
        }
        match command.op {
            Op::Write | Op::Trim if self.ftl.is_read_only() => {
                self.answer(slot, Status::ReadOnly);
            }
            Op::Write if command.bytes > 0 => self.begin_write(slot),
            Op::Read if command.bytes > 0 => self.begin_read(slot),
            Op::Trim => self.begin_trim(slot),
            Op::Flush => self.begin_flush(slot),
            Op::Write | Op::Read => self.answer(slot, Status::Ok),
        }
    }

    #[inline]
    pub(crate) fn answer(&mut self, slot: u32, status: Status) {
        if self.controller.trim.alone {
            self.ended(slot);
        }
        self.totals.end(status);
        self.commands.slots[slot as usize].status = status;
        if self.link.complete_time() == Nanos::ZERO {
            self.seen(slot);
        } else {
            let at = self.now + self.link.complete_time();
            self.events.push(at, Event::Seen(slot));
        }
    }

    /// The host hears of a command's end.
    #[inline]
    pub(crate) fn seen(&mut self, slot: u32) {
        let Command { tag, status, .. } = self.commands.slots[slot as usize];
        self.commands.vacant.push(slot);
        self.done.push(Completion {
            tag,
            at: self.now,
            status,
        });
        if self.commands.outstanding() == 0 {
            self.fell_idle();
        }
    }

    fn begin_flush(&mut self, slot: u32) {
        if self.controller.power_loss_protection {
            self.answer(slot, Status::Ok);
            return;
        }
        self.pad_now();
        self.ftl.flush_journal(&mut self.ops);
        self.issue();
        if self.ftl.map_follows_flush() {
            self.ftl.checkpoint_map(&mut self.ops);
            self.issue();
        }
        self.commands
            .durable
            .push_back((self.ftl.next_sequence(), slot));
        self.answer_durable();
    }

    /// Pads, at once or when what is crossing has arrived.
    fn pad_now(&mut self) {
        if self.commands.crossing > 0 {
            self.commands.pad_on_arrival = true;
        } else {
            self.pad_all();
        }
    }

    /// Places what has been received and pads the rest of its granules. Not while data is
    /// crossing: that has its place in the open superblock.
    fn pad_all(&mut self) {
        self.stop_receiving();
        self.ftl.pad_host_through(&mut self.ops);
        self.issue();
    }

    fn begin_write(&mut self, slot: u32) {
        let command = self.commands.slots[slot as usize];
        self.errors.replaced(command.lpn, command.units);
        if !self.read_ahead.is_empty() {
            self.read_ahead.invalidate(command.lpn, command.units);
        }
        let (lba, bytes) = (command.lba, command.bytes);
        let run = || self.runs.note(lba, bytes / SECTOR_BYTES, bytes);
        self.commands.slots[slot as usize].route = self.ftl.route(bytes, run);
        self.commands.incoming.push_back(slot);
        self.look_up_write(slot, self.known_from_the_start());
        self.admit();
    }

    /// Looks up the map entries of a write from where it stands, those below `known` being at hand,
    /// and reads the rest of the units that it covers in part.
    #[inline]
    pub(crate) fn look_up_write(&mut self, slot: u32, mut known: u32) {
        let command = self.commands.slots[slot as usize];
        if command.whole_units && known == u32::MAX {
            return;
        }
        let (mut at, end) = (self.commands.cursor(slot), command.lpn + command.units);
        while at < end {
            if at >= known {
                if !self.ask_map(slot, at, end) {
                    return;
                }
                known = self.ftl.map_page_end(at);
            }
            let to = end.min(known);
            self.commands.slots[slot as usize].looked_up += to - at;
            self.read_rests(slot, at..to);
            at = to;
        }
    }

    /// Reads the rest of the first and the last unit of a write where they lie in `units` and are
    /// covered in part.
    fn read_rests(&mut self, slot: u32, units: Range<u32>) {
        let command = self.commands.slots[slot as usize];
        let unit = u64::from(self.ftl.layout.unit_bytes);
        let begin = command.lba * SECTOR_BYTES;
        let last = command.lpn + command.units - 1;
        let head = !begin.is_multiple_of(unit);
        let tail = !(begin + command.bytes).is_multiple_of(unit);
        if head && units.contains(&command.lpn) {
            self.read_rest(slot, command.lpn);
        }
        if tail && units.contains(&last) && (last != command.lpn || !head) {
            self.read_rest(slot, last);
        }
    }

    /// Whether an earlier write that waits brings this unit, so that the rest of it is in RAM when
    /// a later one gets its turn.
    fn is_coming(&self, lpn: u32, slot: u32) -> bool {
        let commands = &self.commands;
        let earlier = commands.incoming.iter().take_while(|&&s| s != slot);
        let queued = earlier.into_iter().any(|&s| {
            let c = &commands.slots[s as usize];
            lpn.wrapping_sub(c.lpn) < c.units
        });
        let within = |p: &Piece| lpn.wrapping_sub(p.lpn) < p.units;
        queued || commands.received.iter().any(within)
    }

    /// Reads a unit of which a write covers only a part, unless it is in RAM or will be.
    fn read_rest(&mut self, slot: u32, lpn: u32) {
        if self.is_coming(lpn, slot) {
            return;
        }
        if let Found::Flash(ppn) = self.ftl.find(lpn) {
            let (die, class) = self.ftl.read_place(ppn);
            let mut op = NandOp::new(die, class, self.grains(lpn, 1), Token::Host(slot));
            op.skipped = self.replaced_codewords(slot, lpn);
            self.narrow(&mut op, ppn, lpn, 1);
            self.ops.push(op);
            self.commands.slots[slot as usize].pending += 1;
            self.issue();
        }
    }

    /// Sends for the next burst of the first write that waits, if there is room for it.
    #[inline]
    pub(crate) fn admit(&mut self) {
        if self.commands.crossing > 0 || self.commands.programming {
            return;
        }
        let Some(&slot) = self.commands.incoming.front() else {
            return;
        };
        let command = self.commands.slots[slot as usize];
        if command.pending > 0 {
            return;
        }
        if self.ftl.is_read_only() {
            self.refuse(slot);
            return;
        }
        let unit_bytes = self.ftl.layout.unit_bytes;
        let burst = (command.units - command.sent).min(self.commands.burst_units);
        let room = self.ftl.room(command.route);
        self.issue_pumped();
        if room == 0 || (room < burst && self.waits_for_whole(burst)) {
            let received = !self.commands.received.is_empty();
            self.stop_receiving();
            if received && self.ftl.compresses() && !self.commands.programming {
                // What was promised room as it came has taken less.
                return self.admit();
            }
            self.make_room();
            return;
        }
        let units = burst.min(room);
        self.ftl.reserve(command.route, units);
        self.commands.crossing = units;
        let bytes = command.bytes_of(command.sent, units, unit_bytes);
        let first = command.sent == 0;
        let mut arrives = self.send(bytes, Way::In, first);
        if self.controller.compression_bytes_per_s > 0 && self.ftl.compresses() {
            arrives = self.compressed(bytes, arrives);
        }
        self.events
            .push_in_order(lane::LINK, arrives, Event::Arrived);
        if let Some(&coming) = self.commands.incoming.get(EXPECTED_AHEAD) {
            self.ftl.expect_overwrite(self.commands.first_unit(coming));
        }
    }

    /// The drive came to its end while a write waited: what has arrived of it is kept, the rest is
    /// not sent for.
    #[cold]
    fn refuse(&mut self, slot: u32) {
        self.commands.incoming.pop_front();
        self.answer(slot, Status::ReadOnly);
        if self.commands.incoming.is_empty() {
            self.nothing_queued();
        }
        self.admit();
    }

    /// Whether a burst is better sent for whole, once the programs under way have made room. Not so
    /// when it is the superblock that ends, when the buffer is too small for it beside what waits
    /// for more data, or when the buffer is filled in turns.
    fn waits_for_whole(&self, burst: u32) -> bool {
        let free = self.ftl.buffer_free();
        let fits = burst <= free + self.ftl.buffer_programming();
        fits && free < burst && !self.commands.takes_turns
    }

    /// A buffer that is full of nothing but partly filled granules gets no more data for them, nor
    /// one that is full of data between its passes for what comes behind it.
    fn make_room(&mut self) {
        if self.ftl.buffer_free() > 0 || self.ftl.host_programs_in_flight() {
            return;
        }
        self.ftl.pad_host(&mut self.ops);
        if !self.ftl.host_programs_in_flight() {
            self.ftl.pad_host_through(&mut self.ops);
        }
        self.issue();
        self.commands.programming = self.commands.takes_turns && self.ftl.host_programs_in_flight();
    }

    /// The firmware may have found that the host has to wait: folding and collection go on at once.
    #[inline]
    fn issue_pumped(&mut self) {
        if self.ftl.is_starved() {
            self.ftl.pump(&mut self.ops);
            self.issue();
        }
    }

    /// A burst has arrived: the firmware places it, at once or when receiving ends.
    pub(crate) fn arrived(&mut self) {
        let units = std::mem::take(&mut self.commands.crossing);
        let Some(&slot) = self.commands.incoming.front() else {
            panic!("data without a command\n{}", self.describe());
        };
        let command = &mut self.commands.slots[slot as usize];
        let lpn = command.lpn + command.sent;
        command.sent += units;
        let forced = command.fua && command.sent == command.units;
        let piece = Piece {
            slot,
            route: command.route,
            lpn,
            units,
            last: command.sent == command.units,
        };
        if piece.last {
            self.commands.incoming.pop_front();
        }
        if self.commands.takes_turns {
            self.commands.received.push(piece);
        } else {
            self.place(piece);
        }
        if self.commands.incoming.is_empty() {
            self.nothing_queued();
        }
        // Nothing more may come that would fill the granule of a write that is not done before.
        let pads = std::mem::take(&mut self.commands.pad_on_arrival);
        if pads || (forced && self.waits_for_programs(true)) {
            self.pad_all();
        }
        self.admit();
    }

    /// The firmware places a burst; the command's last one is its acknowledgement, or the programs
    /// that were begun for it are.
    #[inline]
    fn place(&mut self, piece: Piece) {
        self.ftl
            .note_tag(self.commands.slots[piece.slot as usize].tag);
        let Piece {
            route, lpn, units, ..
        } = piece;
        if self.ftl.compresses() {
            let command = &self.commands.slots[piece.slot as usize];
            self.ftl.incoming_data(command.compressible_percent);
        }
        self.ftl.append_host(route, lpn, units, &mut self.ops);
        self.issue();
        if !piece.last {
            return;
        }
        if self.waits_for_programs(self.commands.slots[piece.slot as usize].fua) {
            let programs = self.ftl.next_sequence();
            self.commands.durable.push_back((programs, piece.slot));
        } else {
            self.answer(piece.slot, Status::Ok);
        }
    }

    /// Whether a write is answered when it is programmed, not when it is in the buffer.
    #[inline]
    fn waits_for_programs(&self, fua: bool) -> bool {
        match self.controller.acknowledge {
            Acknowledge::WriteBack => fua && !self.controller.power_loss_protection,
            Acknowledge::WriteThrough => true,
        }
    }

    /// With no more data queued, what is partly filled waits for more or is padded.
    #[inline]
    fn nothing_queued(&mut self) {
        self.stop_receiving();
        if self.controller.gather {
            self.wait_for_more();
        } else {
            self.pad_ungathered();
        }
    }

    /// What does not wait for more data is padded, and where its command waits for it, so are the
    /// wordlines behind it that its second pass needs.
    fn pad_ungathered(&mut self) {
        if self.controller.acknowledge == Acknowledge::WriteThrough {
            self.ftl.pad_host_through(&mut self.ops);
        } else {
            self.ftl.pad_host(&mut self.ops);
        }
        self.issue();
    }

    /// Taking turns: what has been received is placed and programmed before more is received.
    #[inline]
    fn stop_receiving(&mut self) {
        if !self.commands.takes_turns {
            return;
        }
        let mut received = std::mem::take(&mut self.commands.received);
        for piece in received.drain(..) {
            self.place(piece);
        }
        self.commands.received = received;
        if !self.controller.gather {
            self.pad_ungathered();
        }
        self.commands.programming = self.ftl.host_programs_in_flight();
    }

    /// A program has ended: room in the buffer, and perhaps writes that are durable now.
    #[inline]
    pub(crate) fn programmed(&mut self) {
        if self.ftl.take_placed_again() {
            self.pad_now();
        }
        if !self.commands.durable.is_empty() {
            self.answer_durable();
        }
        if self.commands.programming && !self.ftl.host_programs_in_flight() {
            self.commands.programming = false;
        }
        self.admit();
    }

    fn answer_durable(&mut self) {
        let oldest = self.ftl.oldest_pending_host();
        while let Some(&(sequence, slot)) = self.commands.durable.front() {
            if sequence > oldest {
                break;
            }
            self.commands.durable.pop_front();
            self.answer(slot, Status::Ok);
        }
    }

    fn begin_read(&mut self, slot: u32) {
        let command = self.commands.slots[slot as usize];
        self.commands.slots[slot as usize].status = self.path.pass();
        let end = command.lpn + command.units;
        let sectors = command.lba..command.lba + command.bytes / SECTOR_BYTES;
        let unit_sectors = u64::from(self.ftl.layout.unit_bytes) / SECTOR_BYTES;
        let whole = u64::from(end) * unit_sectors == sectors.end;
        let stream = self.read_ahead.note(sectors, end - u32::from(!whole));
        self.read_on(slot, self.known_from_the_start());
        if let Some(stream) = stream {
            self.fetch_ahead(stream);
        }
    }

    /// Reads a command's units from where it stands, as far as their map entries are at hand: those
    /// below `known` are.
    #[inline]
    pub(crate) fn read_on(&mut self, slot: u32, mut known: u32) {
        let command = self.commands.slots[slot as usize];
        let fetched = !self.read_ahead.is_empty();
        let (mut at, end) = (self.commands.cursor(slot), command.lpn + command.units);
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
                        self.commands.slots[slot as usize].pending += 1;
                        at += units;
                        continue;
                    }
                    Hit::Miss => {}
                }
            }
            if at >= known {
                self.commands.slots[slot as usize].looked_up = at - command.lpn;
                if !self.ask_map(slot, at, end) {
                    break;
                }
                known = self.ftl.map_page_end(at);
            }
            let asked = (!command.whole_units).then_some(&command);
            let end = end.min(known);
            let (units, read) = self.read_row(at, end, Token::Host(slot), asked);
            self.commands.slots[slot as usize].pending += u32::from(read);
            in_ram += if read { 0 } else { units };
            at += units;
        }
        self.issue();
        if in_ram > 0 {
            self.hand_out(slot, in_ram);
        }
        self.finish_read(slot);
    }

    /// Asks for the units from `at` on that one flash read brings, of the first and the last no more
    /// than a command `asked` for; the answer is how many they are, and whether they are on flash
    /// at all.
    #[inline]
    pub(crate) fn read_row(
        &mut self,
        at: u32,
        end: u32,
        token: Token,
        asked: Option<&Command>,
    ) -> (u32, bool) {
        let Found::Flash(ppn) = self.ftl.find(at) else {
            return (1, false);
        };
        let row = self.ftl.layout.row_of(ppn);
        let mut units = 1;
        while at + units < end && self.ftl.in_row(at + units, row) {
            units += 1;
        }
        let (die, class) = self.ftl.read_place(ppn);
        let mut op = NandOp::new(die, class, self.grains(at, units), token);
        if let Some(command) = asked {
            op.skipped = self.unasked_codewords(command, at, units);
        }
        self.narrow(&mut op, ppn, at, units);
        if self.errors.on {
            self.grade_units(&mut op, ppn, at, units);
        }
        self.ops.push(op);
        (units, true)
    }

    /// What crosses the channel for units of one row.
    #[inline]
    fn grains(&self, lpn: u32, units: u32) -> u16 {
        if self.ftl.compresses() {
            return self.ftl.read_grains(lpn, units) as u16;
        }
        units as u16
    }

    /// Units of a read go out over the link, only what was asked for of each. Pieces come back in
    /// any order; the parts of the first and the last unit are counted as if they came in order.
    #[inline]
    fn hand_out(&mut self, slot: u32, units: u32) {
        let command = &mut self.commands.slots[slot as usize];
        let bytes = command.bytes_of(command.sent, units, self.ftl.layout.unit_bytes);
        let first = command.sent == 0;
        command.sent += units;
        self.commands.slots[slot as usize].crossed = self.send(bytes, Way::Out, first);
    }

    #[inline]
    fn finish_read(&mut self, slot: u32) {
        let command = &self.commands.slots[slot as usize];
        if command.pending == 0 {
            let at = command.crossed;
            if self.errors.is_lost(command.lpn, command.units) {
                self.errors.counts.uncorrectable += 1;
                self.commands.slots[slot as usize].status = Status::Unreadable;
            }
            self.events
                .push_in_order(lane::LINK, at.max(self.now), Event::Answer(slot));
        }
    }

    /// A flash read of a command has come back.
    #[inline]
    pub(crate) fn piece_read(&mut self, slot: u32, units: u16) {
        let command = &mut self.commands.slots[slot as usize];
        command.pending -= 1;
        if command.op == Op::Write {
            self.admit();
            return;
        }
        let units = if self.ftl.compresses() {
            self.share_of(slot)
        } else {
            u32::from(units)
        };
        self.hand_out(slot, units);
        self.finish_read(slot);
    }

    /// Units that a flash read of a command has brought, where its size does not tell: an equal
    /// share of what is still to come, the last one the rest.
    #[cold]
    fn share_of(&self, slot: u32) -> u32 {
        let command = &self.commands.slots[slot as usize];
        (command.units - command.sent).div_ceil(command.pending + 1)
    }

    /// A flash read of a chunk has come back: the commands that waited for it get their share.
    pub(crate) fn chunk_read(&mut self, chunk: u32) {
        let mut woken = std::mem::take(&mut self.woken);
        self.read_ahead.fetched(chunk, &mut woken);
        for (slot, units) in woken.drain(..) {
            self.commands.slots[slot as usize].pending -= 1;
            let command = &self.commands.slots[slot as usize];
            let left = command.units - command.sent;
            self.hand_out(
                slot,
                if command.pending == 0 {
                    left
                } else {
                    units.min(left)
                },
            );
            self.finish_read(slot);
        }
        self.woken = woken;
    }
}
