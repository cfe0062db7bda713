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

use super::Commands;
use crate::engine::Drive;
use flashtwin_ftl::Policies;

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

impl Commands {
    /// Whether the host tells of its requests before they come.
    pub(crate) fn note_foretold(&mut self, foretold: bool) {
        self.coming.foretold = foretold;
    }

    /// The first of the writes that wait is done with, or refused.
    #[inline]
    pub(super) fn take_incoming(&mut self) {
        self.incoming.pop_front();
        self.flushes.write_taken();
        self.coming.overwrites = self.coming.overwrites.saturating_sub(1);
    }
}

impl<P: Policies> Drive<P> {
    /// A command has come: its map entry will be needed, of a read at once, of a write when those
    /// before it have been sent for.
    #[inline]
    pub(crate) fn expect(&mut self, slot: u32) {
        let commands = &mut self.commands;
        let lpn = commands.slots[slot as usize].lpn;
        if commands.incoming.len() < DEEP || commands.slots[slot as usize].op != Op::Write {
            if !commands.coming.foretold {
                self.ftl.expect(&[lpn]);
            }
            return;
        }
        let coming = &mut commands.coming;
        coming.units[coming.count % GROUP] = lpn;
        coming.count += 1;
        if coming.count >= GROUP {
            coming.count = 0;
            self.ftl.expect(&coming.units);
        }
    }

    /// Requests that begin at these sectors come before long.
    #[inline(never)]
    pub(crate) fn expect_later(&self, lbas: &[u64]) {
        let writes_wait = self.commands.incoming.len() >= DEEP;
        if writes_wait {
            return;
        }
        for &lba in lbas {
            self.ftl.expect(&[self.commands.unit_at(lba)]);
        }
    }

    /// A write is being sent for: those behind it will have their turn.
    #[inline]
    pub(super) fn expect_overwrites(&mut self) {
        let commands = &mut self.commands;
        let waiting = commands.incoming.len();
        let asked = commands.coming.overwrites;
        if asked > NEAR || waiting <= asked {
            return;
        }
        let to = waiting.min(FAR);
        commands.coming.overwrites = to;
        self.look_ahead(asked, to);
    }

    #[inline(never)]
    fn look_ahead(&self, from: usize, to: usize) {
        let commands = &self.commands;
        for &slot in (from..to).filter_map(|at| commands.incoming.get(at)) {
            let command = &commands.slots[slot as usize];
            if command.units <= FEW_UNITS {
                self.ftl.expect_overwrite(command.lpn);
            }
        }
    }
}
