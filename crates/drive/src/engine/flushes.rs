//! Flushes, and writes that have to be on flash: how a group of them goes on (see
//! [`crate::command::flush`]).

use flashtwin_base::Status;
use flashtwin_ftl::Policies;

use super::Drive;
use crate::config::{Acknowledge, Flushing};
use crate::event::Event;

impl<P: Policies> Drive<P> {
    pub(super) fn begin_flush(&mut self, slot: u32) {
        let flush = &self.controller.flush;
        if self.controller.power_loss_protection || flush.how == Flushing::Ignored {
            return match flush.time {
                flashtwin_base::Nanos::ZERO => self.answer(slot, Status::Ok),
                time => self.clock.push_in(time, Event::Answer(slot)),
            };
        }
        if flush.how == Flushing::Grouped {
            self.commands.flushes_mut().join(slot);
            return self.next_group();
        }
        self.program_all();
        let sequence = self.ftl.next_sequence();
        self.commands.wait_for_programs(sequence, slot);
        self.answer_durable();
    }

    /// True if the drive answers a write when it is programmed, not when it is in the buffer.
    pub(super) fn waits_for_programs(&self, fua: bool) -> bool {
        match self.controller.acknowledge {
            Acknowledge::WriteBack => fua && self.controller.honours_fua(),
            Acknowledge::WriteThrough => true,
        }
    }

    /// Such a write is answered as if a flush followed it.
    pub(super) fn flushes_after(&self, fua: bool) -> bool {
        let flush = &self.controller.flush;
        fua && flush.after_fua && self.controller.acknowledge == Acknowledge::WriteBack
    }

    /// Pads and programs what waits in RAM: data, trims and, where the spec says so, the map.
    fn program_all(&mut self) {
        self.pad_now();
        self.ftl.flush_journal(&mut self.ops);
        self.issue();
        if self.ftl.map_follows_flush() {
            self.ftl.checkpoint_map(&mut self.ops);
            self.issue();
        }
    }

    /// Opens a group of those that wait, if none is under way.
    pub(super) fn next_group(&mut self) {
        if self.commands.flushes_mut().open() {
            let time = self.controller.flush.time;
            self.clock.push_in(time, Event::FlushGathered);
        }
    }

    /// The group takes no more: it goes on as soon as the writes that are queued have been placed.
    pub(super) fn flush_gathered(&mut self) {
        // Those that were queued ahead are not understood yet.
        self.take_back_all();
        let queued = self.commands.queued();
        self.commands.flushes_mut().close(queued);
        self.program_group();
    }

    /// Programs what the group covers, once the writes before it have been placed.
    pub(super) fn program_group(&mut self) {
        if self.commands.flushes().are_ready() {
            self.commands.group_begins_to_wait(self.clock.now());
            self.program_all();
            let sequence = self.ftl.next_sequence();
            self.commands.flushes_mut().programs(sequence);
            self.group_programmed();
        }
    }

    /// A program has ended: the group goes on to its next page, or is answered.
    pub(super) fn group_programmed(&mut self) {
        let (programmed, journaled) = (
            || self.ftl.oldest_pending_host(),
            || self.ftl.oldest_journaled(),
        );
        let all = self.controller.flush.pages;
        let flushes = self.commands.flushes();
        if let Some(pages) = flushes.pages_next(all, programmed, journaled) {
            self.next_page(pages);
        }
    }

    /// Programs the next of these pages of the journal; after the last one the group is answered.
    fn next_page(&mut self, pages: u32) {
        if pages == 0 {
            return self.answer_group();
        }
        self.ftl.write_journal_page(&mut self.ops);
        self.issue();
        let sequence = self.ftl.next_sequence();
        self.commands.flushes_mut().journals(sequence, pages - 1);
    }

    fn answer_group(&mut self) {
        let mut group = self.commands.flushes_mut().end();
        for slot in group.drain(..) {
            self.answer(slot, Status::Ok);
        }
        self.commands.flushes_mut().reuse(group);
        self.next_group();
    }
}
