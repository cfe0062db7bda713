//! One loop for drive and host: the drive tells a [`Source`] which of its requests have ended and
//! asks it for the next ones, instead of being called for each request and each event.
//!
//! Between two ends of NAND operations nearly all events are of one kind: the data of a small write
//! arrives, the firmware places it, the host hears of it and asks for the next one. That has a
//! short way here, from the arrival to the next request in the same slot. Everything else, and
//! every write that is not a whole unit acknowledged from the buffer, goes the long way. Both have
//! the same results, which `crates/soak/tests/served.rs` holds for random drives and hosts.
//!
//! The host is told of completions of one moment when all events of that moment have happened.

use flashtwin_base::{Completion, Nanos, Op, Request, Source, Status};
use flashtwin_ftl::{Policies, Route};

use super::Drive;
use super::filling::Left;
use crate::command::SECTOR_BYTES;
use crate::config::{Acknowledge, Config};
use crate::event::{Event, lane};
use crate::power::Phase;

/// Whether a drive's small writes may go the short way: they wait for no TRIM, are acknowledged as
/// soon as they are in its buffer, and the host hears of it at once.
pub(super) fn has_short_way(config: &Config) -> bool {
    let c = &config.controller;
    c.overlap
        && c.acknowledge == Acknowledge::WriteBack
        && c.compression_bytes_per_s == 0
        && !c.trim.alone
        && config.link.complete == Nanos::ZERO
        && config.policy.compression_ratio == 1
        && !config.policy.coalesce
}

impl<P: Policies> Drive<P> {
    /// See [`flashtwin_base::Device::serve`].
    pub(super) fn serve_host<S: Source>(&mut self, source: &mut S) -> Nanos {
        self.commands.note_foretold(source.foretells());
        self.turns.begin();
        loop {
            if self.turns.are_due() && self.is_over() {
                self.turns.leave_off();
                return self.clock.now();
            }
            let limit = source.due();
            let Some(event) = self.clock.go_on(limit.min(self.look_due)) else {
                if self.looks_before_next(limit) {
                    continue;
                }
                return self.end_of_service(limit);
            };
            self.turns.take();
            let event = if event == Event::Arrived && self.begins_to_fill() {
                match self.fill(source) {
                    Left::At(event) => event,
                    Left::Told if source.is_idle() || source.due() <= self.clock.now() => {
                        return self.clock.now();
                    }
                    Left::Told | Left::Idle => continue,
                }
            } else {
                event
            };
            let at = self.clock.now();
            if self.happens(event, source) && (source.is_idle() || source.due() <= at) {
                return at;
            }
        }
    }

    /// An event happens, and the host hears of what has ended by it; the answer is whether
    /// anything has.
    #[inline(always)]
    fn happens<S: Source>(&mut self, event: Event, source: &mut S) -> bool {
        match event {
            Event::Arrived if self.short_way => {
                if let Some((slot, completion)) = self.arrived_shortly() {
                    if !self.done.is_empty() || !self.is_over() {
                        self.done.push(completion);
                        self.end_moment(source);
                        return true;
                    }
                    if let Some(request) = source.completed(self.clock.now(), completion) {
                        self.take_again(slot, request);
                    }
                    self.take_others(source);
                    return true;
                }
            }
            Event::Command(slot) if self.begins_shortly(slot) => return false,
            _ => self.handle(event),
        }
        match self.done[..] {
            [] => return false,
            [completion] if self.is_over() => {
                self.done.clear();
                if let Some(request) = source.completed(self.clock.now(), completion) {
                    self.take(request);
                }
                self.take_others(source);
            }
            _ => self.end_moment(source),
        }
        true
    }

    /// Takes what else the host asks for at the present moment.
    #[inline(always)]
    pub(super) fn take_others<S: Source>(&mut self, source: &mut S) {
        self.turns.completed();
        while let Some(request) = source.next(self.clock.now()) {
            self.take(request);
        }
        if let Some(lbas) = source.foretold() {
            self.expect_later(lbas);
        }
    }

    /// Nothing more happens at the present moment.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        self.look_due > self.clock.now()
            && self
                .clock
                .next_due()
                .is_none_or(|due| due > self.clock.now())
    }

    /// Nothing completes until `limit`.
    #[cold]
    fn end_of_service(&mut self, limit: Nanos) -> Nanos {
        if self.clock.now() >= self.look_due {
            self.look(self.clock.now());
        }
        self.check_liveness();
        limit
    }

    /// Lets the rest of the present moment happen, tells the host what has completed in it and
    /// takes what it asks for.
    pub(super) fn end_moment<S: Source>(&mut self, source: &mut S) {
        while let Some(event) = self.clock.take_due() {
            self.handle(event);
        }
        if self.clock.now() >= self.look_due {
            self.look(self.clock.now());
        }
        let mut told = 0;
        while let Some(&completion) = self.done.get(told) {
            told += 1;
            if let Some(request) = source.completed(self.clock.now(), completion) {
                self.take(request);
            }
        }
        self.done.clear();
        self.take_others(source);
    }

    /// The firmware has understood a command. Where it is a write of one whole unit that waits for
    /// nothing but its turn, it has begun; else there is more to look at, and false.
    #[inline(always)]
    fn begins_shortly(&mut self, slot: u32) -> bool {
        let Some(placement) = self.commands.one_unit_of(slot) else {
            return false;
        };
        if self.asks_more() || !self.ftl.routes_alike(placement) {
            return false;
        }
        self.commands.wait_for_data(slot, Route::Cache);
        self.admit();
        true
    }

    /// Whether more has to be looked at before a write of one unit begins.
    #[inline(always)]
    fn asks_more(&self) -> bool {
        !self.short_way
            || !self.read_ahead.is_empty()
            || self.errors.has_lost()
            || self.ftl.is_map_paged()
            || self.ftl.is_read_only()
    }

    /// A burst has arrived. Where it is all of a write of one unit that is acknowledged from the
    /// buffer, it is placed and answered here; else [`Drive::arrived`] does what is to be done, and
    /// there is no answer.
    #[inline(always)]
    fn arrived_shortly(&mut self) -> Option<(u32, Completion)> {
        let Some((slot, reserved, lpn)) = self.commands.arrives_whole() else {
            self.arrived();
            return None;
        };
        let tag = self.commands.end(slot);
        self.take_back_early();
        self.ftl.note_tag(tag);
        self.ftl.append_host(reserved, lpn, &mut self.ops);
        self.issue();
        let completion = Completion {
            tag,
            at: self.clock.now(),
            status: Status::Ok,
        };
        if self.commands.outstanding() == 0 {
            self.fell_idle();
        }
        if self.commands.is_nothing_queued() {
            self.nothing_queued();
        }
        self.admit();
        Some((slot, completion))
    }

    /// Takes a request into the slot of a write that has just ended the short way.
    #[inline(always)]
    fn take_again(&mut self, slot: u32, request: Request) {
        let first = self.commands.outstanding() == 0;
        let awake = self.power.phase() == Phase::Serving && !self.background.minds_command(first);
        let alike = request.op == Op::Write && !request.fua && self.is_in_range(&request);
        let unthrottled = !self.thermal.throttles() && !self.ftl.is_read_only();
        if !(awake && alike && unthrottled && self.commands.again(slot, &request)) {
            return self.take(request);
        }
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        self.totals.count(Op::Write, bytes);
        self.expect(slot);
        let seen = self.clock.now() + self.link.submit_time();
        let understood = self.firmware.understand(seen, self.controller.command);
        if self.commands.may_queue_ahead() && self.may_begin_unseen(request.placement) {
            let number = self.clock.number();
            self.commands.queue_ahead(slot, (understood, number));
            return;
        }
        self.clock
            .push_in_order(lane::FIRMWARE, understood, Event::Command(slot));
    }

    /// Whether it makes no difference what the drive looks at when the firmware has understood a
    /// write of one unit. There is a look at what has to be done for the write itself, which
    /// stays nothing while only writes are outstanding, and one at whether the next write can be
    /// sent for: without a cache that changes only as an operation ends or as data arrives, and
    /// then it is looked at in any case.
    #[inline(always)]
    fn may_begin_unseen(&self, placement: u8) -> bool {
        self.ftl.collects_alone() && !self.asks_more() && self.ftl.routes_alike(placement)
    }

    /// Writes that were queued ahead and would come to the front too early are taken out: they are
    /// queued again when the firmware has understood them.
    #[inline(always)]
    pub(super) fn take_back_early(&mut self) {
        if self.commands.is_first_ahead(self.clock.now()) {
            self.take_back_all();
        }
    }

    /// The same of all writes that are not understood yet.
    #[cold]
    pub(super) fn take_back_all(&mut self) {
        while let Some((slot, (at, number))) = self.commands.take_back(self.clock.now()) {
            self.clock.push_numbered(at, number, Event::Command(slot));
        }
    }
}
