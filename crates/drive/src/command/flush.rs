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

use super::Commands;

/// How far the group under way has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
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
    pub(crate) waiting: Vec<u32>,
    pub(crate) group: Vec<u32>,
    pub(crate) stage: Stage,
}

impl Flushes {
    /// A group waits for a write that is queued.
    #[inline]
    pub(super) fn wait_for_writes(&self) -> bool {
        matches!(self.stage, Stage::Queued(_))
    }

    /// No group is under way or waits.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.stage == Stage::None && self.waiting.is_empty()
    }

    /// A write that was queued is done with.
    #[inline]
    pub(super) fn write_taken(&mut self) {
        if let Stage::Queued(writes) = &mut self.stage {
            *writes = writes.saturating_sub(1);
        }
    }
}

impl Commands {
    /// A write is answered with the next group.
    pub(crate) fn join_flush(&mut self, slot: u32) {
        self.flushes.waiting.push(slot);
    }
}
