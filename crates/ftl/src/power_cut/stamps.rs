//! What a power cut leaves: the spare area of each physical unit.
//!
//! With each unit the firmware programs the number of its logical unit and a version stamp that
//! grows with every write and trim; a copy made by folding or collection has the stamp of the
//! original. [`crate::recover`] knows nothing else of the data. The tables exist only once cuts are
//! switched on: 12 bytes a physical unit and 16 a logical one, and with the bytes of a drive that
//! is served ([`super::contents`]) 4 more for each of both, and 2 for each slot.
//!
//! Invariants: each entry belongs to a program that was issued, and a cut removes those of programs
//! that had not ended; a superblock is erased only when whatever replaced its data is programmed,
//! so that data that was durable once can be read after a cut at any instant.

use super::PowerCuts;
use super::contents::{Change, Contents};
use crate::blocks::{Blocks, State, Superblock};
use crate::ensure::Checked;
use crate::layout::NONE;
use crate::map::Map;

/// A change of the map, for inspection: which logical units got which stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Placement {
    /// First logical unit.
    pub lpn: u32,
    /// How many.
    pub units: u32,
    /// The version stamp that all of them got.
    pub stamp: u64,
    /// They were trimmed, not written.
    pub trimmed: bool,
    /// The host's number of the command, see [`Ftl::note_tag`](crate::Ftl::note_tag).
    pub tag: u32,
}

/// A superblock without valid data that waits until what replaced it is programmed.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Dead {
    superblock: u32,
    /// Every host granule below this number has to be programmed first.
    sequence: u64,
}

/// A trim: first unit, how many, stamp.
type Trim = (u32, u32, u64);

/// The map as a checkpoint keeps it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Snapshot {
    pub(super) physical: Vec<u32>,
    pub(super) version: Vec<u64>,
    /// Number of the last superblock that was opened before it began: later ones have to be read.
    openings: u64,
    /// Superblocks that were being filled: they have to be read too.
    unfinished: Vec<u32>,
}

impl Snapshot {
    /// Whether a superblock, whose opening had the number `opened`, was open before the checkpoint
    /// began and full by then, so that the checkpoint knows all of its data.
    pub(super) fn covers(&self, superblock: u32, opened: u64) -> bool {
        opened > 0 && opened <= self.openings && !self.unfinished.contains(&superblock)
    }
}

/// The spare areas, and what of them is in RAM.
#[derive(Clone, Debug)]
pub(super) struct Stamps {
    /// Logical unit that each physical one was programmed with, or none.
    pub(super) lpn: Vec<u32>,
    /// Version stamp of each physical unit.
    pub(super) stamp: Vec<u64>,
    /// Stamp of each logical unit's present data; 0 = never written.
    pub(super) version: Vec<u64>,
    /// Number of each superblock's opening; 0 = erased.
    pub(super) opened: Vec<u64>,
    /// Openings so far.
    pub(super) openings: u64,
    /// Last stamp given out.
    pub(super) last: u64,
    /// Stamp of the last trim of each logical unit that is in the journal on flash.
    pub(super) trim_kept: Vec<u64>,
    /// Trims that the journal does not hold yet: first unit, how many, stamp.
    pending_trims: Vec<Trim>,
    /// Those in rows of the journal that are being programmed, by the row.
    writing_trims: Vec<(u64, Trim)>,
    /// The last checkpoint that is complete.
    pub(super) checkpoint: Option<Snapshot>,
    /// The checkpoint that is being written.
    begun: Option<Snapshot>,
    /// Superblocks without valid data that may not be erased yet.
    dead: Vec<Dead>,
    /// Units of the host; those above are pages of the map.
    host_units: u32,
    tag: u32,
    placements: Vec<Placement>,
    /// The bytes of each unit, for a drive that is served.
    contents: Option<Box<Contents>>,
}

flashtwin_base::state! { Stamps {
    kept: openings, last, pending_trims, writing_trims, checkpoint, begun, dead, tag,
        placements;
    sized: opened;
    table: lpn, stamp, version, trim_kept;
    part: contents;
    built: host_units;
} }

impl Stamps {
    fn next_stamp(&mut self, lpn: u32, units: u32, trimmed: bool) -> u64 {
        self.last += 1;
        let stamp = self.last;
        if lpn < self.host_units && self.contents.is_none() {
            self.placements.push(Placement {
                lpn,
                units,
                stamp,
                trimmed,
                tag: self.tag,
            });
        }
        self.version[lpn as usize..(lpn + units) as usize].fill(stamp);
        stamp
    }

    /// Host data has been placed.
    pub(super) fn placed(&mut self, lpn: u32, ppn: u32, units: u32) {
        let stamp = self.next_stamp(lpn, units, false);
        let span = ppn as usize..(ppn + units) as usize;
        self.stamp[span.clone()].fill(stamp);
        self.lpn[span].copy_from_slice(&(lpn..lpn + units).collect::<Vec<_>>());
        if let Some(contents) = &mut self.contents {
            contents.placed(lpn, ppn, units, self.tag);
        }
    }

    /// A unit has been copied.
    pub(super) fn copied(&mut self, lpn: u32, ppn: u32) {
        self.lpn[ppn as usize] = lpn;
        self.stamp[ppn as usize] = self.version[lpn as usize];
        if let Some(contents) = &mut self.contents {
            contents.copied(lpn, ppn);
        }
    }

    /// Logical units have been deallocated.
    pub(super) fn trimmed(&mut self, lpn: u32, units: u32) {
        let stamp = self.next_stamp(lpn, units, true);
        self.pending_trims.push((lpn, units, stamp));
        if let Some(contents) = &mut self.contents {
            contents.trimmed(lpn, units);
        }
    }

    /// The journal entries so far are on their way in a row.
    pub(super) fn write_trims(&mut self, sequence: u64) {
        let pending = self.pending_trims.drain(..);
        self.writing_trims.extend(pending.map(|t| (sequence, t)));
    }

    /// The journal entries of a row are on flash.
    pub(super) fn keep_trims(&mut self, sequence: u64) {
        let mut writing = std::mem::take(&mut self.writing_trims);
        writing.retain(|&(row, trim)| {
            if row == sequence {
                self.keep(trim);
            }
            row != sequence
        });
        self.writing_trims = writing;
    }

    /// Every trim so far is on flash: the capacitors fed its program.
    pub(super) fn keep_all_trims(&mut self) {
        let writing = std::mem::take(&mut self.writing_trims);
        let trims = writing.into_iter().map(|(_, trim)| trim);
        let pending = std::mem::take(&mut self.pending_trims);
        trims.chain(pending).for_each(|trim| self.keep(trim));
    }

    fn keep(&mut self, (lpn, units, stamp): Trim) {
        for kept in &mut self.trim_kept[lpn as usize..(lpn + units) as usize] {
            *kept = stamp.max(*kept);
        }
    }

    /// A superblock has been opened.
    pub(super) fn opened(&mut self, superblock: u32) {
        self.openings += 1;
        self.opened[superblock as usize] = self.openings;
    }

    /// A superblock has been erased.
    pub(super) fn erased(&mut self, superblock: u32) {
        self.opened[superblock as usize] = 0;
    }

    /// Units whose program was not issued, or had not ended at the cut, hold nothing.
    pub(super) fn wipe(&mut self, first: u32, units: u32) {
        self.lpn[first as usize..(first + units) as usize].fill(NONE);
        if let Some(contents) = &mut self.contents {
            contents.wipe(first..first + units);
        }
    }

    /// See [`Contents::check`].
    pub(super) fn check_contents(&self, map: &Map) -> Checked {
        self.contents.as_ref().map_or(Ok(()), |c| c.check(map))
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.dead.is_empty()
    }

    /// Nothing holds data any more.
    pub(super) fn forget(&mut self) {
        self.lpn.fill(NONE);
        self.version.fill(0);
        self.opened.fill(0);
        self.trim_kept.fill(0);
        self.checkpoint = None;
        if let Some(contents) = &mut self.contents {
            contents.forget();
        }
        self.forget_ram();
    }

    /// The map has been made anew from the flash.
    pub(super) fn rebuilt(&mut self, map: &Map) {
        if let Some(contents) = &mut self.contents {
            contents.rebuilt(map);
        }
    }

    /// Forgets what was in RAM at a cut.
    pub(super) fn forget_ram(&mut self) {
        self.dead.clear();
        self.pending_trims.clear();
        self.writing_trims.clear();
        self.begun = None;
    }
}

impl Stamps {
    /// The spare areas of a drive whose power cuts are switched on now; `host_units` are those
    /// that the host can address.
    fn of(map: &Map, blocks: &Blocks, host_units: u32) -> Stamps {
        let physical = map.logical.len();
        let mut stamps = Stamps {
            lpn: vec![NONE; physical],
            stamp: vec![0; physical],
            version: vec![0; map.physical.len()],
            opened: vec![0; blocks.all().len()],
            openings: 1,
            last: 1,
            trim_kept: vec![0; map.physical.len()],
            pending_trims: Vec::new(),
            writing_trims: Vec::new(),
            checkpoint: None,
            begun: None,
            dead: Vec::new(),
            host_units,
            tag: 0,
            placements: Vec::new(),
            contents: None,
        };
        for (lpn, &ppn) in map.physical.iter().enumerate() {
            if ppn != NONE {
                stamps.version[lpn] = 1;
                stamps.copied(lpn as u32, ppn);
            }
        }
        for (opened, block) in stamps.opened.iter_mut().zip(blocks.all()) {
            *opened = u64::from(block.written > 0);
        }
        stamps
    }

    /// The map as it is now goes into a checkpoint.
    pub(super) fn begin_checkpoint(&mut self, map: &Map, blocks: &Blocks) {
        let filling = |b: &Superblock| b.state == State::Open || b.in_flight > 0;
        let all = (0u32..).zip(blocks.all());
        self.begun = Some(Snapshot {
            physical: map.physical.clone(),
            version: self.version.clone(),
            openings: self.openings,
            unfinished: all.filter(|(_, b)| filling(b)).map(|(s, _)| s).collect(),
        });
    }

    /// The checkpoint that was begun counts from now on.
    pub(super) fn keep_checkpoint(&mut self) {
        self.checkpoint = self.begun.take();
    }
}

impl PowerCuts {
    /// Switches on what power cuts need.
    pub(crate) fn enable(&mut self, map: &Map, blocks: &Blocks, host_units: u32) {
        self.stamps = Some(Box::new(Stamps::of(map, blocks, host_units)));
    }

    /// From now on data has bytes: slots for them are handed out as it is placed.
    pub(crate) fn enable_contents(&mut self) {
        if let Some(stamps) = &mut self.stamps {
            let physical = stamps.lpn.len();
            let contents = || Box::new(Contents::new(physical, stamps.host_units));
            stamps.contents.get_or_insert_with(contents);
        }
    }

    fn contents(&self) -> Option<&Contents> {
        self.stamps.as_ref()?.contents.as_deref()
    }

    fn contents_mut(&mut self) -> Option<&mut Contents> {
        self.stamps.as_mut()?.contents.as_deref_mut()
    }

    /// True where data has bytes.
    pub(crate) fn has_contents(&self) -> bool {
        self.contents().is_some()
    }

    /// The slot of a logical unit's present data.
    pub(crate) fn slot(&self, lpn: u32) -> Option<u32> {
        self.contents()?.of(lpn)
    }

    /// Host data that was placed since the last call.
    pub(crate) fn take_changes(&mut self) -> Vec<Change> {
        self.contents_mut()
            .map_or_else(Vec::new, Contents::take_changes)
    }

    /// Slots without a reference may be taken again; see [`Contents::settle`].
    pub(crate) fn settle_slots(&mut self) -> Vec<u32> {
        self.contents_mut().map_or_else(Vec::new, Contents::settle)
    }

    /// Version stamp of what flash holds at `ppn`, where a read of a logical unit goes; none while
    /// power cuts are switched off.
    pub(crate) fn version(&self, lpn: u32, ppn: u32) -> Option<u64> {
        let stamps = self.stamps.as_ref()?;
        let ppn = ppn as usize;
        assert_eq!(stamps.lpn[ppn], lpn, "unit {ppn} holds another's data");
        Some(stamps.stamp[ppn])
    }

    /// See [`Ftl::note_tag`](crate::Ftl::note_tag).
    pub(crate) fn note_tag(&mut self, tag: u32) {
        if let Some(stamps) = &mut self.stamps {
            stamps.tag = tag;
        }
    }

    /// See [`Ftl::take_placements`](crate::Ftl::take_placements).
    pub(crate) fn take_placements(&mut self) -> Vec<Placement> {
        let stamps = self.stamps.as_mut();
        stamps.map_or_else(Vec::new, |s| std::mem::take(&mut s.placements))
    }

    /// A superblock without valid data is to be erased once every granule of the host's below the
    /// sequence number is on flash.
    pub(crate) fn wait_to_erase(&mut self, superblock: u32, sequence: u64) {
        if let Some(stamps) = &mut self.stamps {
            stamps.dead.push(Dead {
                superblock,
                sequence,
            });
        }
    }

    /// The superblocks that may be erased now that everything below a sequence number is durable.
    pub(crate) fn take_erasable(&mut self, durable: u64) -> Vec<u32> {
        let Some(stamps) = &mut self.stamps else {
            return Vec::new();
        };
        let (wait, safe): (Vec<Dead>, Vec<Dead>) = std::mem::take(&mut stamps.dead)
            .into_iter()
            .partition(|d| d.sequence > durable);
        stamps.dead = wait;
        safe.into_iter().map(|dead| dead.superblock).collect()
    }
}
