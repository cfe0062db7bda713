//! The map made anew from the flash, after a cut.

use super::PowerCuts;
use super::journal::count_rows;
use crate::blocks::Blocks;
use crate::counters::Counters;
use crate::layout::{Layout, NONE};
use crate::map::Map;
use crate::op::class;

/// What the start after a power cut did, for its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Operations on dies by class: rows whose spare area was read, rows programmed, erases.
    pub operations: [u64; class::COUNT],
    /// Superblocks whose every row was read.
    pub scanned: u32,
    /// Superblocks erased, those among them that were rewritten.
    pub erased: Vec<u32>,
    /// Superblocks that were open at the cut and rewritten.
    pub rewritten: u32,
}

impl Recovery {
    pub(crate) fn new() -> Recovery {
        Recovery {
            operations: [0; class::COUNT],
            scanned: 0,
            erased: Vec::new(),
            rewritten: 0,
        }
    }

    /// A superblock is erased.
    pub(crate) fn erases(&mut self, superblock: u32, class: u8, dies: u32) {
        self.erased.push(superblock);
        self.operations[class as usize] += u64::from(dies);
    }

    /// Rows of a superblock that was open are saved in the system area: each is read,
    /// programmed there, and read again to be written back.
    pub(crate) fn saves(&mut self, rows: u64, read: u8, layout: &Layout, counters: &mut Counters) {
        self.operations[read as usize] += rows;
        self.operations[class::SLC_PROGRAM as usize] += rows;
        self.operations[class::SLC_READ as usize] += rows;
        count_rows(rows, layout, counters);
        self.rewritten += 1;
    }

    /// Every row of a superblock is sensed for its spare area.
    fn scans(&mut self, superblock: u32, blocks: &Blocks, layout: &Layout) {
        self.scanned += 1;
        let mode = blocks[superblock].mode;
        let mut offset = 0;
        while offset < layout.units(mode) {
            let (_, page) = layout.place(mode, superblock, offset);
            self.operations[class::read(mode, page) as usize] += 1;
            offset += layout.row_units;
        }
    }
}

impl PowerCuts {
    /// Points each logical unit at its copy with the highest stamp among completed programs and
    /// journaled trims.
    pub(crate) fn rebuild_map(
        &mut self,
        map: &mut Map,
        blocks: &Blocks,
        layout: &Layout,
        recovery: &mut Recovery,
    ) {
        let Some(stamps) = &mut self.stamps else {
            panic!("power cuts are not switched on");
        };
        stamps.version.fill(0);
        let mut order: Vec<u32> = (0..blocks.count()).collect();
        order.retain(|&s| stamps.opened[s as usize] > 0);
        // The first row of each tells when it was opened.
        recovery.operations[class::SLC_READ as usize] += blocks.all().len() as u64;
        if let Some(checkpoint) = &stamps.checkpoint {
            recovery.operations[class::SLC_READ as usize] += self.journal.rows_read();
            order.retain(|&s| !checkpoint.covers(s, stamps.opened[s as usize]));
            stamps.version.copy_from_slice(&checkpoint.version);
            for (lpn, &ppn) in (0u32..).zip(&checkpoint.physical) {
                let superblock = layout.superblock_of(ppn.min(layout.physical_units()));
                let opened = stamps.opened.get(superblock as usize);
                let covered = opened.is_some_and(|&at| checkpoint.covers(superblock, at));
                if ppn != NONE && covered && stamps.lpn[ppn as usize] == lpn {
                    map.point(lpn, ppn, 1);
                }
            }
        }
        order.sort_by_key(|&s| stamps.opened[s as usize]);
        for superblock in order {
            recovery.scans(superblock, blocks, layout);
            let base = layout.base(superblock);
            for ppn in base..base + layout.native_units {
                let (lpn, stamp) = (stamps.lpn[ppn as usize], stamps.stamp[ppn as usize]);
                if lpn == NONE || stamp < stamps.version[lpn as usize] {
                    continue;
                }
                let old = map.physical[lpn as usize];
                if old != NONE {
                    map.clear_valid(old);
                }
                stamps.version[lpn as usize] = stamp;
                map.point(lpn, ppn, 1);
            }
        }
        for lpn in 0..map.physical.len() {
            let ppn = map.physical[lpn];
            if ppn != NONE && stamps.trim_kept[lpn] > stamps.version[lpn] {
                map.clear_valid(ppn);
                map.physical[lpn] = NONE;
            }
            stamps.version[lpn] = stamps.version[lpn].max(stamps.trim_kept[lpn]);
        }
        stamps.rebuilt(map);
    }
}
