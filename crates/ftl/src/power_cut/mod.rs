//! What a power cut leaves, and the start after it.
//!
//! [`stamps`] are the spare areas: which logical unit each physical one was programmed with, and a
//! version of it. They are kept only once cuts are switched on. [`contents`] adds whose bytes each
//! physical unit holds, for a drive that is served. [`journal`] is what is written into
//! the system area, checkpoints of the map and trims; it is written, and wears the flash, with cuts
//! switched off too. [`recover`] is the cut and the start.
//!
//! What crosses is named: the rest of the firmware says what has been [placed](PowerCuts::placed),
//! [copied](PowerCuts::copied), [deallocated](PowerCuts::note_trim), [opened](PowerCuts::opened)
//! and [erased](PowerCuts::erased). Before it erases a superblock without valid data, it has the
//! trims programmed that emptied it ([`PowerCuts::flush_journal`]), and leaves it to the room until
//! what replaced the data is on flash ([`PowerCuts::wait_to_erase`], [`PowerCuts::take_erasable`]).
//! With cuts switched off each of them is one comparison.

mod contents;
mod journal;
mod rebuild;
mod stamps;

use std::ops::Range;

use crate::ensure::{Checked, ensure};
use crate::layout::{Layout, NONE};
use crate::map::Map;
use crate::policy::Policy;
use journal::Journal;
use stamps::Stamps;

pub use contents::Change;
pub use journal::checkpoint_rows;
pub use rebuild::Recovery;
pub use stamps::Placement;

/// The state of the room.
pub(crate) struct PowerCuts {
    /// The spare areas, once cuts are switched on.
    stamps: Option<Box<Stamps>>,
    journal: Journal,
    /// The start after a cut is running: what is programmed meanwhile counts as recovery.
    recovering: bool,
}

flashtwin_base::state! { PowerCuts { kept: recovering; part: journal, stamps; } }

impl PowerCuts {
    /// Switched off. `units` are those of the host.
    pub(crate) fn new(policy: &Policy, layout: &Layout, units: u32) -> PowerCuts {
        PowerCuts {
            stamps: None,
            journal: Journal::new(
                &policy.durability,
                units.into(),
                policy.unit_bytes.into(),
                // The map is written uncompressed, also where the host's data is packed.
                layout.whole(layout.row_units),
            ),
            recovering: false,
        }
    }

    /// Whether cuts are switched on.
    pub(crate) fn is_on(&self) -> bool {
        self.stamps.is_some()
    }

    /// Whether the start after a cut is running: what is programmed meanwhile counts as recovery.
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// Host data has been placed.
    pub(crate) fn placed(&mut self, lpn: u32, ppn: u32, units: u32) {
        if let Some(stamps) = &mut self.stamps {
            stamps.placed(lpn, ppn, units);
        }
    }

    /// Units have been copied, to physical units in a row.
    pub(crate) fn copied(&mut self, lpns: &[u32], ppn: u32) {
        if let Some(stamps) = &mut self.stamps {
            let places = lpns.iter().zip(ppn..);
            places.for_each(|(&lpn, at)| stamps.copied(lpn, at));
        }
    }

    /// A superblock has been opened.
    pub(crate) fn opened(&mut self, superblock: u32) {
        if let Some(stamps) = &mut self.stamps {
            stamps.opened(superblock);
        }
    }

    /// A superblock, of these units, has been erased or given up.
    pub(crate) fn erased(&mut self, superblock: u32, units: Range<u32>) {
        if let Some(stamps) = &mut self.stamps {
            stamps.erased(superblock);
            stamps.wipe(units.start, units.end - units.start);
        }
    }

    /// Whether superblocks without valid data wait for what replaced it.
    pub(crate) fn erases_wait(&self) -> bool {
        self.stamps.as_ref().is_some_and(|s| s.is_waiting())
    }

    /// Whether the host has written so much that a checkpoint of the map is due.
    pub(crate) fn is_checkpoint_due(&self, host_units: u64) -> bool {
        host_units >= self.journal.due
    }

    /// Lowest sequence number of what waits for trims that are being programmed.
    pub(crate) fn oldest_trims(&self) -> u64 {
        self.journal.oldest()
    }

    /// Whoever waits for what was begun with a sequence number waits for these trims too.
    pub(crate) fn lower_trims(&mut self, sequence: u64) {
        self.journal.lower(sequence);
    }
}

impl PowerCuts {
    /// Units whose program was not issued, or had not ended at the cut, hold nothing.
    pub(crate) fn wipe(&mut self, first: u32, units: u32) {
        if let Some(stamps) = &mut self.stamps {
            stamps.wipe(first, units);
        }
    }

    /// Every trim so far is on flash: the capacitors fed its program.
    pub(crate) fn keep_all_trims(&mut self) {
        if let Some(stamps) = &mut self.stamps {
            stamps.keep_all_trims();
        }
    }

    /// The power goes, and what is in RAM goes with it.
    pub(crate) fn power_lost(&mut self) {
        if let Some(stamps) = &mut self.stamps {
            stamps.forget_ram();
        }
        self.journal.power_lost();
    }

    /// The stamp of each logical unit's present data and the number of each superblock's opening;
    /// none while cuts are switched off.
    pub(crate) fn versions(&self) -> Option<(&[u64], &[u64])> {
        let stamps = self.stamps.as_deref()?;
        Some((&stamps.version, &stamps.opened))
    }

    /// The start after a cut writes data back, or has done so.
    pub(crate) fn set_recovering(&mut self, recovering: bool) {
        self.recovering = recovering;
    }

    /// A purge leaves nothing to recover.
    pub(crate) fn forget(&mut self) {
        if let Some(stamps) = &mut self.stamps {
            stamps.forget();
        }
    }

    /// Checks that flash holds what the map says: the unit's own data, of its present version.
    pub(crate) fn check(&self, map: &Map) -> Checked {
        let Some(stamps) = &self.stamps else {
            return Ok(());
        };
        for (lpn, &ppn) in map.physical.iter().enumerate() {
            let bears = ppn == NONE || stamps.lpn[ppn as usize] as usize == lpn;
            ensure!(bears, "unit {ppn} holds another's data than {lpn}");
            let version = (ppn != NONE).then(|| stamps.stamp[ppn as usize]);
            let known = stamps.version[lpn];
            ensure!(
                version.is_none_or(|found| found == known),
                "unit {lpn} is version {known}, its data {version:?}"
            );
        }
        stamps.check_contents(map)
    }
}
