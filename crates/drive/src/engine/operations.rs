//! Flash operations: from the firmware's decision through cores and dies to their end.

use flashtwin_base::Nanos;
use flashtwin_ftl::{NandOp, Policies, Token};

use super::Drive;
use crate::power::Phase;
use crate::read_ahead::READ_AHEAD;

impl<P: Policies> Drive<P> {
    /// Sends an operation to its die, through a core where that takes time.
    #[inline]
    pub(super) fn send_to_flash(&mut self, op: NandOp) {
        if !self.firmware.is_on() {
            self.flash.push(op, &mut self.clock);
        } else if let Some(time) = self.firmware.take_at_once(op) {
            self.prepare(time);
        }
    }

    /// Operations are on their way to the flash or under way in it.
    #[inline]
    pub(super) fn flash_is_busy(&self) -> bool {
        self.flash.is_busy() || self.firmware.is_busy()
    }

    #[inline]
    fn prepare_next(&mut self) {
        while self.firmware.may_take() {
            if let Some(time) = self.firmware.take() {
                self.prepare(time);
            }
        }
    }

    /// A core prepares the last operation in hand, for a time.
    #[inline]
    fn prepare(&mut self, time: Nanos) {
        // Throttled, a core stands still for its share of the time, as a die does.
        let time = self.flash.stretched(time);
        if self.is_recorded() {
            self.record_preparation(time);
        }
        self.firmware.prepare(time, &mut self.clock);
    }

    /// A core has prepared an operation.
    pub(super) fn prepared(&mut self) {
        let Some(op) = self.firmware.take_prepared() else {
            panic!("no operation was prepared\n{}", self.describe());
        };
        self.flash.push(op, &mut self.clock);
        self.prepare_next();
    }

    /// From now on every operation of a die takes `milli` thousandths of the time that the spec
    /// gives it. Not part of a snapshot.
    pub fn slow_die(&mut self, die: u16, milli: u32) {
        self.paces.slow(die, milli);
    }

    /// Sets the paces of the operations that the firmware has asked for.
    #[cold]
    pub(super) fn set_paces(&mut self) {
        for index in 0..self.ops.len() {
            let op = self.ops[index];
            if let Some(place) = self.ftl.worked_on(op.token) {
                let pace = self.paces.of(op.class, op.die, place, &self.ftl);
                self.ops[index].pace = pace;
                self.waits.note_pace(pace);
            }
        }
    }

    /// Sets the pace of a read of the row that a physical unit lies in.
    #[inline]
    pub(super) fn set_pace(&self, op: &mut NandOp, ppn: u32) {
        if self.paces.are_on() {
            let place = self.ftl.wordline_at(ppn);
            op.pace = self.paces.of(op.class, op.die, place, &self.ftl);
        }
    }

    /// Tells the firmware which programs have their data on their dies, where it wants to know.
    #[inline]
    pub(super) fn tell_begun(&mut self) {
        if self.flash.notes_begun() {
            self.ftl.programs_begun(self.flash.take_begun());
        }
    }

    /// Queues the operations that the firmware has asked for, and sends its copies of map pages to
    /// the host's memory.
    #[inline]
    pub(super) fn issue(&mut self) {
        if !self.ops.is_empty() {
            self.issue_some();
        }
        if self.lookups.use_host_memory() {
            self.copy_to_host_memory();
        }
    }

    #[inline(never)]
    pub(super) fn issue_some(&mut self) {
        if self.power.phase() == Phase::Resting {
            self.wake_for_work();
        }
        if self.paces.are_on() {
            self.set_paces();
        }
        if self.errors.are_on() {
            (0..self.ops.len()).for_each(|index| self.grade_own(index));
        }
        for index in 0..self.ops.len() {
            self.send_to_flash(self.ops[index]);
        }
        self.ops.clear();
    }

    #[inline(never)]
    pub(super) fn operation_ended(&mut self, op: NandOp) {
        match op.token {
            Token::Host(chunk) if chunk >= READ_AHEAD => self.chunk_read(chunk - READ_AHEAD),
            Token::Host(slot) => self.piece_read(slot, op.units),
            Token::Rebuild(place) => self.rebuild_read(place, op),
            token => {
                let ages = matches!(
                    token,
                    Token::Program(_) | Token::Copyback(_) | Token::Erase(_)
                );
                if ages && self.errors.are_on() {
                    self.errors.note_end(token, &self.ftl, &mut self.clock);
                }
                self.tell_begun();
                self.ftl.finish(token, &mut self.ops);
                self.issue();
                self.await_share();
                match token {
                    Token::Program(_) | Token::FirstPass(_) | Token::Journal(_) => {
                        self.programmed();
                    }
                    Token::MapRead(slot) => self.map_arrived(slot),
                    _ => self.read_or_erase_ended(),
                }
                if self.lookups.are_queued() {
                    self.retry_lookups();
                }
            }
        }
    }
}
