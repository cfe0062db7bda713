//! Prefetching: map entries and validity bits that commands will need are fetched into the
//! processor's cache ahead of time. It changes nothing that the drive does.
//!
//! A command's map entry lies anywhere in hundreds of megabytes, and so does the validity bit of
//! the copy that a write replaces. Each is a cache line from memory, and in a virtual machine its
//! address is first looked up in page tables that are in memory too. A single prefetch has to wait
//! for that look-up, which takes almost as long as the load itself; those of several prefetches go
//! on side by side. So both are fetched in groups: of the commands that the drive has been given,
//! or, where the host tells of its requests beforehand, of those to come.

use super::Commands;

/// Commands whose map entries are asked for together.
pub(crate) const GROUP: usize = 8;
/// Writes that have to wait ahead of a group before it is looked up: with fewer, its first write
/// would be taken before the group is whole.
pub(crate) const DEEP: usize = 2 * GROUP;
/// Writes ahead of the one that is sent for whose old copies are looked up, at the least and at the
/// most: far enough that the line has come when it is needed, near enough that it is still there.
pub(crate) const NEAR: usize = 3;
pub(crate) const FAR: usize = NEAR + 5;
/// Most units of a write whose old copy is prefetched. A longer write needs many lines, of which
/// the first alone gains little, and sequential writes of a first fill have no old copies.
pub(crate) const FEW_UNITS: u32 = 4;

/// How far ahead has been asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coming {
    /// Units whose map entries have not been asked for yet.
    pub(crate) units: [u32; GROUP],
    pub(crate) count: usize,
    /// The host tells of its requests before they come.
    pub(crate) foretold: bool,
    /// Writes at the front of the queue whose old copies have been asked for.
    pub(crate) overwrites: usize,
}

impl Commands {
    /// Whether the host tells of its requests before they come.
    pub(crate) fn note_foretold(&mut self, foretold: bool) {
        self.coming.foretold = foretold;
    }

    /// The first of the writes that wait is done with, or refused.
    #[inline]
    pub(crate) fn take_incoming(&mut self) {
        self.incoming.pop_front();
        self.flushes.write_taken();
        self.coming.overwrites = self.coming.overwrites.saturating_sub(1);
    }
}
