//! Which bytes each physical unit holds, for a drive that is served with real data.
//!
//! The bytes lie outside, in numbered slots of a unit each. A slot is taken when host data is
//! placed; a copy made by folding, collection or a start shares the slot of what it copies. It is
//! given back once neither a physical unit nor the present data of a logical one refers to it. So
//! bytes go where the flash goes: what a cut tears is gone, and an old copy that comes back has its
//! own.
//!
//! Slots live in four steps: taken by [`Contents::placed`], shared by [`Contents::copied`], dropped
//! by whatever removes their last reference, and handed out again after [`Contents::settle`]. Until
//! that call a dropped slot keeps its bytes, so that whoever writes them down in batches can go
//! back to the end of the last batch. The order in which slots are taken follows from the calls
//! alone.

use std::ops::Range;

use crate::ensure::{Checked, ensure, ensure_eq};
use crate::layout::NONE;
use crate::map::Map;

/// The count of a slot that nobody has.
const FREE: u16 = u16::MAX;

/// Host data of one logical unit has been placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Change {
    /// The logical unit.
    pub lpn: u32,
    /// The slot that its data belongs into.
    pub slot: u32,
    /// The slot of the data that it replaces, for what is written in part; none where nothing was.
    pub before: Option<u32>,
    /// The host's number of the command, see [`Ftl::note_tag`](crate::Ftl::note_tag).
    pub tag: u32,
}

/// Slots by physical and by logical unit.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    /// Slot that each physical unit was programmed with, or none.
    physical: Vec<u32>,
    /// Slot of the present data of each of the host's logical units, or none.
    logical: Vec<u32>,
    /// References to each slot.
    references: Vec<u16>,
    /// Slots that may be taken, the next one last.
    free: Vec<u32>,
    /// Slots that lost their last reference since they were settled.
    dropped: Vec<u32>,
    changes: Vec<Change>,
}

flashtwin_base::state! { Contents {
    kept: references, free, dropped, changes;
    table: physical, logical;
} }

impl Contents {
    /// Of a drive whose data has no bytes yet.
    pub(super) fn new(physical_units: usize, host_units: u32) -> Contents {
        Contents {
            physical: vec![NONE; physical_units],
            logical: vec![NONE; host_units as usize],
            references: Vec::new(),
            free: Vec::new(),
            dropped: Vec::new(),
            changes: Vec::new(),
        }
    }

    fn take(&mut self) -> u32 {
        let slot = self.free.pop().unwrap_or(self.references.len() as u32);
        if slot as usize == self.references.len() {
            self.references.push(0);
        }
        self.references[slot as usize] = 0;
        slot
    }

    fn refer(&mut self, slot: u32) {
        if slot != NONE {
            let count = &mut self.references[slot as usize];
            *count += 1;
            assert!(*count < FREE, "slot {slot} has too many copies");
        }
    }

    fn drop_one(&mut self, slot: u32) {
        if slot != NONE {
            let count = &mut self.references[slot as usize];
            *count -= 1;
            if *count == 0 {
                self.dropped.push(slot);
            }
        }
    }

    fn program(&mut self, ppn: u32, slot: u32) {
        self.refer(slot);
        let old = std::mem::replace(&mut self.physical[ppn as usize], slot);
        self.drop_one(old);
    }

    fn point(&mut self, lpn: u32, slot: u32) {
        self.refer(slot);
        let old = std::mem::replace(&mut self.logical[lpn as usize], slot);
        self.drop_one(old);
    }

    /// Host data of a command has been placed, or a page of the map, which has no bytes.
    pub(super) fn placed(&mut self, lpn: u32, ppn: u32, units: u32, tag: u32) {
        for (lpn, ppn) in (lpn..lpn + units).zip(ppn..) {
            let Some(&old) = self.logical.get(lpn as usize) else {
                self.program(ppn, NONE);
                continue;
            };
            let slot = self.take();
            self.program(ppn, slot);
            self.point(lpn, slot);
            let before = (old != NONE).then_some(old);
            self.changes.push(Change {
                lpn,
                slot,
                before,
                tag,
            });
        }
    }

    /// A unit has been copied.
    pub(super) fn copied(&mut self, lpn: u32, ppn: u32) {
        let slot = self.logical.get(lpn as usize).copied().unwrap_or(NONE);
        self.program(ppn, slot);
    }

    /// Logical units have been deallocated.
    pub(super) fn trimmed(&mut self, lpn: u32, units: u32) {
        for lpn in lpn..(lpn + units).min(self.logical.len() as u32) {
            self.point(lpn, NONE);
        }
    }

    /// Physical units hold nothing any more.
    pub(super) fn wipe(&mut self, units: Range<u32>) {
        units.for_each(|ppn| self.program(ppn, NONE));
    }

    /// Nothing holds data any more.
    pub(super) fn forget(&mut self) {
        self.wipe(0..self.physical.len() as u32);
        self.trimmed(0, self.logical.len() as u32);
    }

    /// The map has been made anew from the flash.
    pub(super) fn rebuilt(&mut self, map: &Map) {
        for lpn in 0..self.logical.len() as u32 {
            let ppn = map.physical[lpn as usize];
            let slot = match ppn {
                NONE => NONE,
                _ => self.physical[ppn as usize],
            };
            self.point(lpn, slot);
        }
    }

    pub(super) fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Dropped slots may be taken from now on; the answer is which slots these are.
    pub(super) fn settle(&mut self) -> Vec<u32> {
        let mut dropped = std::mem::take(&mut self.dropped);
        dropped.retain(|&slot| {
            let count = &mut self.references[slot as usize];
            let unused = *count == 0;
            if unused {
                *count = FREE;
            }
            unused
        });
        // Taken in rising order, so that data in sequence lies in sequence.
        dropped.sort_unstable_by(|a, b| b.cmp(a));
        self.free.extend_from_slice(&dropped);
        dropped
    }

    pub(super) fn of(&self, lpn: u32) -> Option<u32> {
        let slot = self.logical[lpn as usize];
        (slot != NONE).then_some(slot)
    }

    /// Checks the count of each slot, and that the map leads to the slot of each unit's data.
    pub(super) fn check(&self, map: &Map) -> Checked {
        let mut counted = vec![0u16; self.references.len()];
        for &slot in self.physical.iter().chain(&self.logical) {
            if slot != NONE {
                ensure!((slot as usize) < counted.len(), "no slot {slot}");
                let count = &mut counted[slot as usize];
                *count = count.saturating_add(1);
            }
        }
        for (slot, (&count, &stored)) in counted.iter().zip(&self.references).enumerate() {
            let stored = if stored == FREE { 0 } else { stored };
            ensure_eq!(stored, count, "references to slot {slot}");
        }
        for &slot in self.free.iter().chain(&self.dropped) {
            ensure!((slot as usize) < counted.len(), "no slot {slot}");
        }
        for &slot in &self.free {
            ensure_eq!(self.references[slot as usize], FREE, "free slot {slot}");
        }
        for (lpn, &slot) in self.logical.iter().enumerate() {
            let ppn = map.physical[lpn];
            let there = match ppn {
                NONE => NONE,
                _ => self.physical[ppn as usize],
            };
            ensure_eq!(slot, there, "slot of unit {lpn}, which lies at {ppn}");
        }
        Ok(())
    }
}
