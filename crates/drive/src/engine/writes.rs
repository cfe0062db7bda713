//! Writes.
//!
//! A write's data comes over the link in bursts as the buffer has room; it is acknowledged when it
//! is in the buffer (write-back) or programmed (write-through). A write that begins or ends within
//! a mapping unit reads the rest of that unit first.
//!
//! Without overlap the controller takes turns: it receives until its buffer is full or nothing
//! more is queued, then programs all of it before it receives again.

use std::ops::Range;

use flashtwin_base::Status;
use flashtwin_ftl::Reserved;
use flashtwin_ftl::{Found, NandOp, Policies, Route, Token};

use super::Drive;
use crate::command::{Piece, SECTOR_BYTES};
use crate::config::Acknowledge;
use crate::event::Event;
use crate::link::Way;

impl<P: Policies> Drive<P> {
    /// Pads, at once or when what is crossing has arrived.
    pub(super) fn pad_now(&mut self) {
        if !self.commands.put_off_padding() {
            self.pad_all();
        }
    }

    /// Places what has been received and pads the rest of its granules. Not while data is
    /// crossing: that has its place in the open superblock.
    #[inline(never)]
    fn pad_all(&mut self) {
        self.stop_receiving();
        self.ftl.pad_host_through(&mut self.ops);
        self.issue();
    }

    pub(super) fn begin_write(&mut self, slot: u32) {
        if self.errors.are_on() {
            // Only units that are written whole are readable again: of others a part stays lost.
            let (first, units) = self.whole_units(slot);
            self.errors.replaced(first, units);
        }
        let command = &self.commands[slot];
        if !self.read_ahead.is_empty() {
            let (first, units) = command.span();
            self.read_ahead.invalidate(first, units);
        }
        let (lba, bytes) = (command.sectors().start, command.bytes());
        let run = || self.runs.note(lba, bytes / SECTOR_BYTES, bytes);
        let route = self.ftl.route(bytes, command.placement(), run);
        self.commands.wait_for_data(slot, route);
        self.look_up_write(slot, self.known_from_the_start());
        self.admit();
    }

    /// Looks up the map entries of a write from where it stands, those below `known` being at hand,
    /// and reads the rest of the units that it covers in part.
    #[inline(always)]
    pub(super) fn look_up_write(&mut self, slot: u32, known: u32) {
        if known < u32::MAX || !self.commands[slot].covers_whole_units() {
            self.look_up_units(slot, known);
        }
    }

    #[inline(never)]
    fn look_up_units(&mut self, slot: u32, mut known: u32) {
        let command = &self.commands[slot];
        let (mut at, end) = (command.cursor(), command.lpns().end);
        while at < end {
            let Some(to) = self.known_to(slot, at, end, &mut known) else {
                return;
            };
            self.commands[slot].looked_up_to(to);
            self.read_rests(slot, at..to);
            at = to;
        }
    }

    /// Reads the rest of the first and the last unit of a write where they lie in `units` and are
    /// covered in part.
    fn read_rests(&mut self, slot: u32, units: Range<u32>) {
        let command = &self.commands[slot];
        let unit = u64::from(self.ftl.layout().unit_bytes);
        let (bytes, lpns) = (command.byte_range(), command.lpns());
        let (first, last) = (lpns.start, lpns.end - 1);
        let head = !bytes.start.is_multiple_of(unit);
        let tail = !bytes.end.is_multiple_of(unit);
        if head && units.contains(&first) {
            self.read_rest(slot, first);
        }
        if tail && units.contains(&last) && (last != first || !head) {
            self.read_rest(slot, last);
        }
    }

    /// Reads a unit of which a write covers only a part, unless it is in RAM or an earlier write
    /// brings it there before this one gets its turn.
    fn read_rest(&mut self, slot: u32, lpn: u32) {
        if self.commands.bring(lpn, slot) {
            return;
        }
        if let Found::Flash(ppn) = self.ftl.find(lpn) {
            let (die, class) = self.ftl.read_place(ppn);
            let mut op = NandOp::new(die, class, self.grains(lpn, 1), Token::Host(slot));
            let written = self.commands[slot].byte_range();
            op.skipped = self.codewords.replaced(&written, lpn);
            self.narrow(&mut op, ppn, lpn, 1);
            self.set_pace(&mut op, ppn);
            if self.errors.are_on() {
                self.grade_units(&mut op, ppn, lpn, 1);
            }
            self.ops.push(op);
            self.commands[slot].awaits(1);
            self.issue();
        }
    }

    /// Sends for the next burst of the first write that waits, if there is room for it.
    #[inline(always)]
    pub(super) fn admit(&mut self) {
        if !self.commands.may_receive() {
            return;
        }
        // Asked at each command and each end of an operation, and with collection at work the
        // answer is mostly this one.
        if self.ftl.makes_host_wait() && !self.commands.take_turns() {
            return self.hold_first();
        }
        if let Some(slot) = self.commands.first_waiting() {
            self.admit_first(slot);
        }
    }

    /// The first write that waits, if there is one, goes on waiting.
    #[inline(always)]
    fn hold_first(&mut self) {
        if !self.commands.is_nothing_queued() {
            self.waits.hold(self.clock.now(), &self.ftl);
        }
    }

    /// The same where a write waits and nothing keeps it from being looked at.
    #[inline(never)]
    fn admit_first(&mut self, slot: u32) {
        if !self.commands[slot].has_all_pieces() {
            return self.hold_first();
        }
        if self.ftl.is_read_only() {
            self.refuse(slot);
            return;
        }
        let (route, burst) = (self.commands[slot].route(), self.commands.burst_of(slot));
        let at_once = self.ftl.reserve_at_once(route, burst);
        let Some(reserved) = at_once.or_else(|| self.reserve_room(route, burst)) else {
            return self.admit_later();
        };
        let units = reserved.units();
        self.commands.send_for(reserved);
        self.waits.release(self.clock.now());
        let unit_bytes = self.ftl.layout().unit_bytes;
        let (bytes, first) = self.commands[slot].next_bytes(units, unit_bytes);
        let mut arrives = self.send(bytes, Way::In, first);
        if self.compressor.is_bounded() && self.ftl.compresses() {
            arrives = self.compressor.take(self.clock.now(), bytes, arrives);
        }
        self.clock.push_alone(arrives, Event::Arrived);
        self.expect_overwrites();
    }

    /// Sets room aside for a burst, or for the part of it that there is room for; none where it
    /// waits.
    #[inline(never)]
    fn reserve_room(&mut self, route: Route, burst: u32) -> Option<Reserved> {
        let placement = self.ftl.decide(route);
        self.issue_pumped();
        let placement = placement?;
        if placement.room() < burst && self.waits_for_whole(burst) {
            return None;
        }
        let units = burst.min(placement.room());
        Some(self.ftl.reserve(placement, units))
    }

    /// There is no room for the oldest write that waits.
    #[inline(never)]
    fn admit_later(&mut self) {
        self.hold_first();
        let received = self.commands.has_received();
        self.stop_receiving();
        if received && self.ftl.takes_less() && !self.commands.is_programming() {
            // Compressed, or in the place of older data, what had arrived took less room than was
            // set aside for it: there may be room now.
            return self.admit();
        }
        self.make_room();
    }

    /// The drive came to its end while a write waited: what has arrived of it is kept, the rest is
    /// not sent for.
    #[cold]
    fn refuse(&mut self, slot: u32) {
        self.waits.release(self.clock.now());
        self.commands.take_incoming();
        self.take_back_early();
        self.answer(slot, Status::ReadOnly);
        if self.commands.is_nothing_queued() {
            self.nothing_queued();
        }
        self.program_group();
        self.admit();
    }

    /// Whether a burst is better sent for whole, once the programs under way have made room. Not so
    /// when it is the superblock that ends, when the buffer is too small for it beside what waits
    /// for more data, or when the buffer is filled in turns.
    fn waits_for_whole(&self, burst: u32) -> bool {
        let free = self.ftl.buffer_free();
        let fits = burst <= free + self.ftl.buffer_programming();
        fits && free < burst && !self.commands.take_turns()
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
        let programs = self.commands.take_turns() && self.ftl.host_programs_in_flight();
        self.commands.set_programming(programs);
    }

    /// The firmware may have found that the host has to wait: folding and collection go on at once.
    fn issue_pumped(&mut self) {
        if self.ftl.is_starved() {
            self.pump_starved();
        }
    }

    #[inline(never)]
    fn pump_starved(&mut self) {
        self.ftl.pump(&mut self.ops);
        self.issue();
    }

    /// A burst has arrived: the firmware places it, at once or when receiving ends.
    pub(super) fn arrived(&mut self) {
        let Some(piece) = self.commands.arrive() else {
            panic!("data without a command\n{}", self.describe());
        };
        let forced = piece.last && self.commands[piece.slot].has_fua();
        if piece.last {
            self.take_back_early();
        }
        if self.commands.take_turns() {
            self.commands.keep_received(piece);
        } else {
            self.place(piece);
        }
        if self.commands.is_nothing_queued() {
            self.nothing_queued();
        }
        // A flush, or a write that has to be on flash, waits for its granule's program, and no more
        // data may come to fill that.
        let pads = self.commands.take_padding();
        if pads || (forced && self.waits_for_programs(true) && !self.flushes_after(true)) {
            self.pad_all();
        }
        self.next_group();
        self.program_group();
        self.admit();
    }

    /// The firmware places a burst; the command's last one is its acknowledgement, or the programs
    /// that were begun for it are.
    #[inline(always)]
    fn place(&mut self, piece: Piece) {
        let command = &self.commands[piece.slot];
        self.ftl.note_tag(command.tag());
        if self.ftl.compresses() {
            self.ftl.incoming_data(command.compressible_percent());
        }
        self.tell_begun();
        self.ftl
            .append_host(piece.reserved, piece.lpn, &mut self.ops);
        self.issue();
        if !piece.last {
            return;
        }
        let fua = self.commands[piece.slot].has_fua();
        if !self.waits_for_programs(fua) {
            self.answer(piece.slot, Status::Ok);
        } else if self.flushes_after(fua) {
            self.commands.flushes_mut().join(piece.slot);
        } else {
            let programs = self.ftl.next_sequence();
            self.commands[piece.slot].begins_to_wait(self.clock.now());
            self.commands.wait_for_programs(programs, piece.slot);
        }
    }

    /// With no more data queued, what is partly filled waits for more or is padded.
    #[inline(never)]
    pub(super) fn nothing_queued(&mut self) {
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
    #[inline(always)]
    fn stop_receiving(&mut self) {
        if self.commands.take_turns() {
            self.program_received();
        }
    }

    #[inline(never)]
    fn program_received(&mut self) {
        let mut received = self.commands.take_received();
        for piece in received.drain(..) {
            self.place(piece);
        }
        self.commands.reuse_received(received);
        self.next_group();
        if !self.controller.gather {
            self.pad_ungathered();
        }
        self.commands
            .set_programming(self.ftl.host_programs_in_flight());
    }

    /// A program has ended: room in the buffer, and perhaps writes that are durable now.
    pub(super) fn programmed(&mut self) {
        if self.ftl.take_placed_again() {
            self.pad_now();
        }
        self.tell_durable();
        if self.commands.is_programming() && !self.ftl.host_programs_in_flight() {
            self.commands.set_programming(false);
        }
        self.admit();
    }

    /// A read of the firmware's own, or an erase, has ended. With it a checkpoint of the map may
    /// have come to its end, which flushes wait for.
    pub(super) fn read_or_erase_ended(&mut self) {
        if self.ftl.map_follows_flush() {
            self.tell_durable();
        }
        self.admit();
    }

    /// Answers commands that waited until their data was on flash, and goes on with a group of
    /// them.
    fn tell_durable(&mut self) {
        if self.commands.any_wait_for_programs() {
            self.answer_durable();
        }
        self.group_programmed();
    }

    pub(super) fn answer_durable(&mut self) {
        let oldest = self.ftl.oldest_pending_host();
        while let Some(slot) = self.commands.take_durable(oldest) {
            self.answer(slot, Status::Ok);
        }
    }
}
