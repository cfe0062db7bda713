//! Prefetching: map entries and validity bits that commands will need are fetched into the
//! processor's cache ahead of time. It changes nothing that the drive does.
//!
//! A command's map entry lies anywhere in hundreds of megabytes, and so does the validity bit of
//! the copy that a write replaces. Each is a cache line from memory, and in a virtual machine its
//! address is first looked up in page tables that are in memory too. A single prefetch has to wait
//! for that look-up, which takes almost as long as the load itself; those of several prefetches go
//! on side by side. So both are fetched in groups: of the commands that the drive has been given,
//! or, where the host tells of its requests beforehand, of those to come.

use flashtwin_base::Op;

use super::{Command, Commands};

/// Commands whose map entries are asked for together.
const GROUP: usize = 8;
/// Writes that have to wait ahead of a group before it is looked up: with fewer, its first write
/// would be taken before the group is whole.
const DEEP: usize = 2 * GROUP;
/// Writes ahead of the one that is sent for whose old copies are looked up, at the least and at the
/// most: far enough that the line has come when it is needed, near enough that it is still there.
const NEAR: usize = 3;
const FAR: usize = NEAR + 5;
/// Most units of a write whose old copy is prefetched. A longer write needs many lines, of which
/// the first alone gains little, and sequential writes of a first fill have no old copies.
const FEW_UNITS: u32 = 4;

/// How far ahead has been asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coming {
    /// Units whose map entries have not been asked for yet.
    units: [u32; GROUP],
    count: usize,
    /// The host tells of its requests before they come.
    foretold: bool,
    /// Writes at the front of the queue whose old copies have been asked for.
    overwrites: usize,
}

impl Coming {
    /// The first of the writes that wait is done with.
    pub(super) fn write_taken(&mut self) {
        self.overwrites = self.overwrites.saturating_sub(1);
    }
}

impl Commands {
    /// Whether the host tells of its requests before they come.
    pub(crate) fn note_foretold(&mut self, foretold: bool) {
        self.coming.foretold = foretold;
    }

    /// More writes wait than are looked at ahead of their turn.
    pub(crate) fn are_deep(&self) -> bool {
        self.incoming.len() >= DEEP
    }

    /// A command has come: its map entry will be needed, of a read at once, of a write when those
    /// before it have been sent for. The answer is its unit, where the entry is to be fetched now.
    #[inline(always)]
    pub(crate) fn expected_at_once(&self, slot: u32) -> Option<u32> {
        let command = &self.slots[slot as usize];
        let waits = self.waits_in_group(command);
        (!waits && !self.coming.foretold).then_some(command.lpn)
    }

    /// The units whose entries are to be fetched together with that of a write that has come.
    #[inline(always)]
    pub(crate) fn expected_together(&mut self, slot: u32) -> Option<&[u32; GROUP]> {
        let command = &self.slots[slot as usize];
        if !self.waits_in_group(command) {
            return None;
        }
        let coming = &mut self.coming;
        coming.units[coming.count % GROUP] = command.lpn;
        coming.count += 1;
        if coming.count < GROUP {
            return None;
        }
        coming.count = 0;
        Some(&coming.units)
    }

    #[inline(always)]
    fn waits_in_group(&self, command: &Command) -> bool {
        self.incoming.len() >= DEEP && command.op == Op::Write
    }

    /// A write is being sent for: those behind it will have their turn. The answer is the places in
    /// the queue of writes whose old copies are to be fetched now.
    pub(crate) fn upcoming(&mut self) -> std::ops::Range<usize> {
        let (waiting, asked) = (self.incoming.len(), self.coming.overwrites);
        if asked > NEAR || waiting <= asked {
            return 0..0;
        }
        self.coming.overwrites = waiting.min(FAR);
        asked..self.coming.overwrites
    }

    /// The first unit of the write at a place of the queue, where it is a short one.
    #[inline(always)]
    pub(crate) fn short_write(&self, place: usize) -> Option<u32> {
        let &slot = self.incoming.get(place)?;
        let command = &self.slots[slot as usize];
        (command.units <= FEW_UNITS).then_some(command.lpn)
    }
}
