//! What will be needed of the map soon, asked of memory ahead of time.
//!
//! A command's map entry lies anywhere in hundreds of megabytes, and so does the validity of the
//! copy that a write replaces. Each is a line that has to come from memory, and before it the
//! address of its page. To ask for one hardly costs less than to wait for it where that address
//! is not at hand; several asked for together are found side by side. So both are asked for in
//! groups, as far ahead as the commands that the drive has been given allow. Nothing of this
//! changes what the drive does.

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
/// Most units of such a write: the first of many is a line among many, and of a fill nothing is
/// overwritten.
const FEW_UNITS: u32 = 4;

/// How far ahead has been asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coming {
    /// Units whose map entries have not been asked for yet.
    units: [u32; GROUP],
    count: usize,
    /// Writes at the front of the queue whose old copies have been asked for.
    overwrites: usize,
}

impl Commands {
    /// The first of the writes that wait is done with, or refused.
    #[inline]
    pub(super) fn take_incoming(&mut self) {
        self.incoming.pop_front();
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
            self.ftl.expect(&[lpn]);
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
