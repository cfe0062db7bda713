//! A loop of its own for hosts that fill the drive: writes in order over what holds nothing, while
//! nothing else is at work.
//!
//! A burst of such a write arrives and is placed, programs of full granules are prepared, carried
//! out and ended, and each end makes room for the next burst. Whatever else these moments would
//! look at is looked at once when the loop is entered, and again after a sample of the X-ray or a
//! tick of the temperature; it cannot change in between. Anything else that happens, and any burst
//! that does more than fill, ends the loop and goes the long way. The results are the same, which
//! `crates/soak/tests/served.rs` holds: the long way is that of [`flashtwin_base::Device::submit`].

use flashtwin_base::{Source, Status};
use flashtwin_ftl::{Policies, Route, Token};

use super::Drive;
use crate::event::Event;
use crate::link::Way;

/// Why the loop has ended.
pub(super) enum Left {
    /// An event is due now that it does not know.
    At(Event),
    /// No event is due before the host's.
    Idle,
    /// The host has heard of a completion and has something to do itself, or what else happened at
    /// that moment may have changed anything.
    Told,
}

impl<P: Policies> Drive<P> {
    /// Whether the loop begins with the burst that has arrived: it fills, and nothing else is at
    /// work. Single units have a way of their own.
    #[inline(always)]
    pub(super) fn begins_to_fill(&self) -> bool {
        self.commands.is_run() && self.run_begins_to_fill()
    }

    #[inline(never)]
    fn run_begins_to_fill(&self) -> bool {
        let burst = self.commands.arrived_burst();
        burst.is_some_and(|(_, reserved, lpn, _)| self.ftl.is_filled_by(reserved, lpn))
            && self.only_fills()
    }

    /// Whether writes that only fill do nothing besides.
    fn only_fills(&self) -> bool {
        self.short_way
            && !self.paces.are_on()
            && !self.flash.notes_begun()
            && !self.flash.suspends()
            && !self.lookups.use_host_memory()
            && !self.is_recorded()
            && self.read_ahead.is_empty()
            && !self.errors.has_lost()
            && self.commands.only_receive()
            && self.ftl.only_fills()
    }

    /// The loop; it begins with the arrival of a burst, now.
    #[inline(never)]
    pub(super) fn fill<S: Source>(&mut self, source: &mut S) -> Left {
        let mut event = Event::Arrived;
        loop {
            let known = match event {
                Event::Arrived => match self.burst_fills() {
                    Some(true) => {
                        if self.tells_alone(source) {
                            return Left::Told;
                        }
                        true
                    }
                    answer => answer.is_some(),
                },
                Event::Prepared => {
                    self.prepared();
                    true
                }
                Event::Done(die) => self.ends_filling(die),
                Event::Command(slot) => self.begins_filling(slot),
                _ => false,
            };
            if !known {
                return Left::At(event);
            }
            if self.turns.are_due() {
                return Left::Idle;
            }
            let limit = source.due().min(self.look_due);
            let Some(next) = self.clock.go_on(limit) else {
                return Left::Idle;
            };
            self.turns.take();
            event = next;
        }
    }

    /// A burst has arrived: it is placed and the next one sent for. The answer is whether a command
    /// has ended by it; none, and nothing has happened, where there is more to do.
    #[inline(always)]
    fn burst_fills(&mut self) -> Option<bool> {
        let (slot, reserved, lpn, is_last) = self.commands.arrived_burst()?;
        if !self.ftl.is_filled_by(reserved, lpn) {
            return None;
        }
        let reserved = self.commands.take_burst(slot, is_last)?;
        if is_last {
            self.take_back_early();
        }
        self.ftl.fill(&reserved, lpn, &mut self.ops);
        for index in 0..self.ops.len() {
            self.send_to_flash(self.ops[index]);
        }
        self.ops.clear();
        if is_last {
            self.answer(slot, Status::Ok);
        }
        self.send_for_next();
        Some(is_last)
    }

    /// Tells the host of the command that has just ended, and takes the next one; the answer is
    /// whether the loop ends.
    #[inline(always)]
    fn tells_alone<S: Source>(&mut self, source: &mut S) -> bool {
        if !self.is_over() {
            self.end_moment(source);
            return true;
        }
        if let Some(completion) = self.done.pop()
            && let Some(request) = source.completed(self.clock.now(), completion)
        {
            self.take(request);
        }
        self.take_others(source);
        source.is_idle() || source.due() <= self.clock.now()
    }

    /// A die has ended an operation; false, and nothing has happened, where it is no program of
    /// host data.
    #[inline(always)]
    fn ends_filling(&mut self, die: u16) -> bool {
        let Some(Token::Program(place)) = self.flash.token_on(die) else {
            return false;
        };
        if (self.errors.are_on()
            && self
                .errors
                .holds_nothing(self.ftl.superblock_of_flight(place)))
            || !self.ftl.granule_filled(place)
        {
            return false;
        }
        self.flash.done(die, &mut self.clock);
        self.send_for_next();
        true
    }

    /// The firmware has understood a command; false, and nothing has happened, where it is no
    /// write of whole units that is answered from the buffer.
    #[inline(always)]
    fn begins_filling(&mut self, slot: u32) -> bool {
        let plain = self.commands.plain_write(slot);
        if !plain.is_some_and(|placement| self.ftl.routes_alike(placement)) {
            return false;
        }
        self.commands.wait_for_data(slot, Route::Cache);
        self.send_for_next();
        true
    }

    /// Sends for the next burst, if there is room for it: what [`Drive::admit`] does.
    #[inline(always)]
    fn send_for_next(&mut self) {
        let Some((slot, units)) = self.commands.next_burst() else {
            return;
        };
        if self.ftl.waits_for_programs(units) {
            return;
        }
        let command = &self.commands[slot];
        let Some(reserved) = self.ftl.reserve_at_once(command.route(), units) else {
            return self.admit();
        };
        let (bytes, first) = command.next_bytes(units, self.ftl.layout().unit_bytes);
        self.commands.send_for(reserved);
        self.waits.release(self.clock.now());
        let arrives = self.send(bytes, Way::In, first);
        self.clock.push_alone(arrives, Event::Arrived);
    }
}
