//! Flushes, and writes that have to be on flash.
//!
//! `controller.flush` says what the firmware makes of them. With `program` each has what waits in
//! the buffer programmed at once, side by side with the others. With `group` those that wait
//! together are one, and one group is under way at a time:
//!
//! 1. The first that comes opens a group, which others may join for `controller.flush_time`.
//! 2. Writes that were queued before that time is over are placed first, so that they share the
//!    program. Writes that come later are not waited for.
//! 3. What waits in the buffer is padded and programmed; so are trims in the journal, and the map
//!    where `map.write_on_flush`.
//! 4. Once all of that is on flash, `controller.flush_pages` of the map's journal are programmed
//!    one after another: each points to what must be there before it.
//! 5. All of the group are answered, and what has come meanwhile is the next group.
//!
//! With `ignore`, as with capacitors (`controller.plp`), a flush is answered from RAM.

/// How far the group under way has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// There is none.
    #[default]
    None,
    /// Others may join it.
    Gathers,
    /// It waits for this number of writes that were queued before it.
    Queued(usize),
    /// It waits for all that was begun below the number.
    Programs(u64),
    /// It waits for the journal below the number; then this number of pages follows.
    Journals(u64, u32),
}

/// Flushes and writes that are answered once what they cover is on flash.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    waiting: Vec<u32>,
    group: Vec<u32>,
    stage: Stage,
}

impl Flushes {
    /// A group waits for a write that is queued.
    pub(super) fn wait_for_writes(&self) -> bool {
        matches!(self.stage, Stage::Queued(_))
    }

    /// No group is under way or waits.
    pub(super) fn are_none(&self) -> bool {
        self.stage == Stage::None && self.waiting.is_empty()
    }

    /// A write that was queued is done with.
    pub(super) fn write_taken(&mut self) {
        if let Stage::Queued(writes) = &mut self.stage {
            *writes = writes.saturating_sub(1);
        }
    }

    /// A flush, or a write that is answered like one, waits for the next group.
    pub(crate) fn join(&mut self, slot: u32) {
        self.waiting.push(slot);
    }

    /// 1: opens a group, where some wait and none is under way.
    pub(crate) fn open(&mut self) -> bool {
        let opens = self.stage == Stage::None && !self.waiting.is_empty();
        if opens {
            self.stage = Stage::Gathers;
        }
        opens
    }

    /// 2: the group takes no more; writes are `queued` before it.
    pub(crate) fn close(&mut self, queued: usize) {
        std::mem::swap(&mut self.group, &mut self.waiting);
        self.stage = Stage::Queued(queued);
    }

    /// All writes before the group have been placed, and nothing of it is begun.
    pub(crate) fn are_ready(&self) -> bool {
        self.stage == Stage::Queued(0)
    }

    /// Those that are answered together.
    pub(super) fn group(&self) -> &[u32] {
        &self.group
    }

    /// 3: what the group covers is begun, all below a number.
    pub(crate) fn programs(&mut self, sequence: u64) {
        self.stage = Stage::Programs(sequence);
    }

    /// Pages of the journal, of `pages` in all, that follow what the group has waited for; none
    /// where it goes on waiting. `programmed` and `journaled` say up to where all is on flash.
    pub(crate) fn pages_next(
        &self,
        pages: u32,
        programmed: impl FnOnce() -> u64,
        journaled: impl FnOnce() -> u64,
    ) -> Option<u32> {
        match self.stage {
            Stage::Programs(sequence) if programmed() >= sequence => Some(pages),
            // Data that the host has written meanwhile may wait: the journal says nothing of it.
            Stage::Journals(sequence, left) if journaled() >= sequence => Some(left),
            _ => None,
        }
    }

    /// 4: a page of the journal is begun, below a number, and some are left.
    pub(crate) fn journals(&mut self, sequence: u64, left: u32) {
        self.stage = Stage::Journals(sequence, left);
    }

    /// 5: all of the group are answered. The emptied list comes back with [`Flushes::reuse`].
    pub(crate) fn end(&mut self) -> Vec<u32> {
        self.stage = Stage::None;
        std::mem::take(&mut self.group)
    }

    pub(crate) fn reuse(&mut self, emptied: Vec<u32>) {
        self.group = emptied;
    }
}
