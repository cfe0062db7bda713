//! The part of a command's way that all commands share: it comes, its turn comes, it is answered.

use flashtwin_base::{Completion, Nanos, Op, Request, Status};
use flashtwin_ftl::Policies;

use super::Drive;
use crate::command::SECTOR_BYTES;
use crate::event::{Event, lane};
use crate::link::Way;
use crate::power::Phase;
use crate::timeline::Activity;

impl<P: Policies> Drive<P> {
    /// The firmware has understood a command.
    #[inline(always)]
    pub(super) fn begin_command(&mut self, slot: u32) {
        if self.trims.run_alone() {
            self.begin_in_turn(slot);
        } else {
            self.begin(slot);
        }
    }

    /// A command begins its work in the drive.
    pub(super) fn begin(&mut self, slot: u32) {
        let command = &mut self.commands[slot];
        let (op, empty) = (command.op(), command.bytes() == 0);
        if matches!(op, Op::Read | Op::Flush) {
            command.begins_to_wait(self.clock.now());
        }
        if !command.is_in_range() {
            self.answer(slot, Status::OutOfRange);
            return;
        }
        match op {
            Op::Write | Op::Trim if self.ftl.is_read_only() => {
                self.answer(slot, Status::ReadOnly);
            }
            Op::Write if !empty => self.begin_write(slot),
            Op::Read if !empty => self.begin_read(slot),
            Op::Trim => self.begin_trim(slot),
            Op::Flush => self.begin_flush(slot),
            Op::Write | Op::Read => self.answer(slot, Status::Ok),
        }
    }

    #[inline(always)]
    pub(super) fn answer(&mut self, slot: u32, status: Status) {
        if self.trims.run_alone() {
            self.end_in_turn(slot);
        }
        self.totals.end(status);
        let command = &mut self.commands[slot];
        command.ends(status);
        if self.waits.is_long(self.clock.now(), command.waits_since()) {
            self.waited_long(slot);
        }
        if self.link.complete_time() == Nanos::ZERO {
            self.seen(slot);
        } else {
            let time = self.link.complete_time();
            self.clock.push_in(time, Event::Seen(slot));
        }
    }

    /// The host hears of a command's end.
    #[inline(always)]
    pub(super) fn seen(&mut self, slot: u32) {
        if self.is_recorded() {
            self.record_answer(slot);
        }
        let status = self.commands[slot].status();
        self.done.push(Completion {
            tag: self.commands.end(slot),
            at: self.clock.now(),
            status,
        });
        if self.commands.outstanding() == 0 {
            self.fell_idle();
        }
    }

    /// A command has come, whose map entry will be needed.
    #[inline(always)]
    pub(super) fn expect(&mut self, slot: u32) {
        if let Some(lpn) = self.commands.expected_at_once(slot) {
            self.ftl.expect(&[lpn]);
        } else if let Some(units) = self.commands.expected_together(slot) {
            self.ftl.expect(units);
        }
    }

    /// Requests that begin at these sectors come before long.
    #[inline(never)]
    pub(super) fn expect_later(&self, lbas: &[u64]) {
        if !self.commands.are_deep() {
            for &lba in lbas {
                self.ftl.expect(&[self.commands.unit_at(lba)]);
            }
        }
    }

    /// A write is being sent for: those behind it will have their turn.
    pub(super) fn expect_overwrites(&mut self) {
        let places = self.commands.upcoming();
        if !places.is_empty() {
            self.look_ahead(places);
        }
    }

    #[inline(never)]
    fn look_ahead(&self, places: std::ops::Range<usize>) {
        for lpn in places.filter_map(|place| self.commands.short_write(place)) {
            self.ftl.expect_overwrite(lpn);
        }
    }

    /// Sends bytes over the link, see [`crate::link::HostLink::send`].
    pub(super) fn send(&mut self, bytes: u64, way: Way, first: bool) -> Nanos {
        self.power.note_link(bytes);
        let free = self.link.free_of(way);
        let sent = self.link.send(self.clock.now(), bytes, way, first);
        if let Some(timeline) = self.flash.recording() {
            let activity = match way {
                Way::In => Activity::FromHost,
                Way::Out => Activity::ToHost,
            };
            let track = self.link.track_of(way);
            timeline.crosses(track, activity, bytes, (self.clock.now().max(free), sent));
        }
        sent
    }

    /// A request arrives now.
    pub(super) fn take(&mut self, request: Request) {
        if self.power.phase() != Phase::Serving {
            self.wake_for_command();
        }
        let first = self.commands.outstanding() == 0;
        if self.background.minds_command(first) {
            self.host_is_back();
        }
        let in_range = self.is_in_range(&request);
        let refused = self.ftl.is_read_only() && matches!(request.op, Op::Write | Op::Trim);
        if in_range && !refused {
            let bytes = u64::from(request.sectors) * SECTOR_BYTES;
            self.totals.count(request.op, bytes);
        }
        let slot = self.commands.take(request, in_range);
        if self.is_recorded() {
            self.record_command(slot, request.lba);
        }
        self.expect(slot);
        let mut time = self.controller.command;
        if request.op == Op::Trim && in_range && !self.trims.run_alone() {
            time += self.trims.time(request.sectors.into());
        }
        let seen = self.clock.now() + self.link.submit_time();
        let understood = if self.thermal.throttles() && matches!(request.op, Op::Read | Op::Write) {
            let bytes = u64::from(request.sectors) * SECTOR_BYTES;
            time += self.thermal.hold(bytes);
            if self.is_recorded() {
                self.record_cores(seen, time, Activity::Understands(request.op));
            }
            let understood = self.firmware.stand_still(seen, time);
            self.waits.rests(understood);
            understood
        } else {
            if self.is_recorded() {
                self.record_core(seen, time, Activity::Understands(request.op));
            }
            self.firmware.understand(seen, time)
        };
        self.clock
            .push_in_order(lane::FIRMWARE, understood, Event::Command(slot));
    }

    /// Whether a request ends within the drive.
    pub(super) fn is_in_range(&self, request: &Request) -> bool {
        let sectors = self.capacity_bytes / SECTOR_BYTES;
        request
            .lba
            .checked_add(u64::from(request.sectors))
            .is_some_and(|end| end <= sectors)
    }
}
