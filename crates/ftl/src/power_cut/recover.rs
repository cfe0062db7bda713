//! Power cuts and the start after them.
//!
//! A cut clears everything in RAM and tears the programs and erases that are under way. The start
//! afterwards reads the spare areas of what was programmed completely: of the copies of a logical
//! unit that with the highest version stamp is valid, and of copies with the same stamp (a moved
//! unit and its source) the one in the superblock that was opened later. Superblocks without valid
//! data are erased. Those that were open hold torn and unprogrammed wordlines and may not be
//! programmed further: their valid data is saved in the system area, they are erased, and the data
//! is written back. So no space is lost to cuts, however many there are.
//!
//! Invariants: only completed programs count; afterwards [`Ftl::check`] holds and every stream has
//! at least the room that it had.

use super::journal::count_rows;
use crate::blocks::{Pool, State};
use crate::ftl::Ftl;
use crate::layout::NONE;
use crate::op::{Token, class};
use crate::orders::Policies;
use crate::passes::Passes;
use crate::streams::Stream;
use crate::victims::Victims;
use crate::write_buffer::WriteBuffer;

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
    fn new() -> Recovery {
        Recovery {
            operations: [0; class::COUNT],
            scanned: 0,
            erased: Vec::new(),
            rewritten: 0,
        }
    }
}

/// A superblock that was open at the cut, and the stream that filled it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    superblock: u32,
    stream: Stream,
}

impl<P: Policies> Ftl<P> {
    /// The power goes. With `protected` (power-loss protection) capacitors have enough energy to
    /// program what is in RAM; otherwise programs and erases under way are torn and the buffer is
    /// lost. Nothing but [`Ftl::recover`] may follow.
    pub fn cut_power(&mut self, protected: bool) {
        assert!(self.cuts.stamps.is_some(), "power cuts are not switched on");
        if protected {
            for stream in Stream::ALL {
                self.pad(stream, &mut Vec::new());
            }
            if let Some(stamps) = &mut self.cuts.stamps {
                stamps.keep_all_trims();
            }
        }
        self.lose_buffer(protected);
        for index in 0..self.blocks.all.len() as u32 {
            if self.blocks.all[index as usize].state == State::Erasing {
                let base = self.layout.base(index);
                self.cuts.wipe(base, self.layout.native_units);
                if let Some(stamps) = &mut self.cuts.stamps {
                    stamps.erased(index);
                }
            }
        }
        if let Some(stamps) = &mut self.cuts.stamps {
            stamps.forget_ram();
        }
        self.cuts.journal.power_lost();
    }

    /// Forgets what was in the buffer and in flight; with `protected` the programs are finished.
    fn lose_buffer(&mut self, protected: bool) {
        for index in 0..self.writing.buffer.flights.len() {
            let flight = self.writing.buffer.flights[index];
            let finished = protected && flight.source == NONE;
            if flight.first != NONE && !protected {
                self.blocks.tear_parity(&self.layout, &flight);
            }
            let data = flight.first < self.layout.physical_units();
            if data && !finished && !self.writing.stands_alone(index as u32) {
                self.cuts.wipe(flight.first, flight.units);
            }
        }
        for stream in Stream::ALL {
            let s = self.writing.streams[stream];
            if s.superblock == NONE {
                continue;
            }
            if stream.is_host() {
                self.counters.lost_units += u64::from(s.waiting() - s.moved);
            }
            let first = self.layout.base(s.superblock) + s.begun;
            self.cuts.wipe(first, s.end - s.begun);
        }
    }

    /// A superblock comes up empty after a cut, with all that was on it: worse than any firmware
    /// should be. Between [`Ftl::cut_power`] and [`Ftl::recover`].
    pub fn lose_superblock(&mut self, superblock: u32) {
        let base = self.layout.base(superblock);
        self.cuts.wipe(base, self.layout.native_units);
    }

    /// The start after a power cut: everything in RAM is made anew from the flash.
    pub fn recover(&mut self) -> Recovery {
        let mut recovery = Recovery::new();
        let opened = self.forget_ram();
        self.rebuild_map(&mut recovery);
        self.rebuild_blocks(&opened, &mut recovery);
        if let Some(stamps) = self.cuts.stamps.take() {
            let (version, opened) = (&stamps.version, &stamps.opened);
            self.paged
                .mark_stale_pages(&self.map, &self.layout, version, opened);
            self.cuts.stamps = Some(stamps);
        }
        for stream in Stream::ALL {
            let own = opened.iter().filter(|o| o.stream == stream);
            let own: Vec<u32> = own.map(|o| o.superblock).collect();
            self.rewrite(stream, &own, &mut recovery);
        }
        recovery
    }

    /// Sets RAM to what it holds when the power comes. The answer is which superblocks were open
    /// and which stream filled each of them, as their spare areas say.
    fn forget_ram(&mut self) -> Vec<Opened> {
        let mut opened = Vec::new();
        for (stream, s) in Stream::ALL.into_iter().zip(&self.writing.streams) {
            let own = std::iter::once(s.superblock).filter(|&s| s != NONE);
            let all = own.chain(self.writing.lanes.superblocks(stream));
            opened.extend(all.map(|superblock| Opened { superblock, stream }));
        }
        self.writing.buffer = WriteBuffer::new(self.writing.buffer.capacity_units);
        self.writing.passes = Passes::new(&self.layout);
        let (victims, collection) = (
            self.blocks.victims.clone(),
            self.collection.memory.power_lost(),
        );
        self.start_over();
        (self.blocks.victims, self.collection.memory) = (victims, collection);
        self.blocks.free.clear();
        self.blocks.free_fixed.clear();
        self.blocks.free_map.clear();
        self.blocks.erasing = 0;
        opened
    }

    /// For each logical unit the highest stamp among completed programs and journaled trims.
    fn rebuild_map(&mut self, told: &mut Recovery) {
        let Some(mut stamps) = self.cuts.stamps.take() else {
            panic!("power cuts are not switched on");
        };
        stamps.version.fill(0);
        let mut order: Vec<u32> = (0..self.blocks.all.len() as u32).collect();
        order.retain(|&s| stamps.opened[s as usize] > 0);
        // The first row of each tells when it was opened.
        told.operations[class::SLC_READ as usize] += self.blocks.all.len() as u64;
        if let Some(checkpoint) = &stamps.checkpoint {
            told.operations[class::SLC_READ as usize] += self.cuts.journal.rows_read();
            order.retain(|&s| !checkpoint.covers(s, stamps.opened[s as usize]));
            stamps.version.copy_from_slice(&checkpoint.version);
            for (lpn, &ppn) in (0u32..).zip(&checkpoint.physical) {
                let superblock = self
                    .layout
                    .superblock_of(ppn.min(self.layout.physical_units()));
                let opened = stamps.opened.get(superblock as usize);
                let covered = opened.is_some_and(|&at| checkpoint.covers(superblock, at));
                if ppn != NONE && covered && stamps.lpn[ppn as usize] == lpn {
                    self.map.point(lpn, ppn, 1);
                }
            }
        }
        order.sort_by_key(|&s| stamps.opened[s as usize]);
        for superblock in order {
            told.scanned += 1;
            self.count_scan(superblock, told);
            let base = self.layout.base(superblock);
            for ppn in base..base + self.layout.native_units {
                let (lpn, stamp) = (stamps.lpn[ppn as usize], stamps.stamp[ppn as usize]);
                if lpn == NONE || stamp < stamps.version[lpn as usize] {
                    continue;
                }
                let old = self.map.physical[lpn as usize];
                if old != NONE {
                    self.map.clear_valid(old);
                }
                stamps.version[lpn as usize] = stamp;
                self.map.point(lpn, ppn, 1);
            }
        }
        for lpn in 0..self.map.physical.len() {
            let ppn = self.map.physical[lpn];
            if ppn != NONE && stamps.trim_kept[lpn] > stamps.version[lpn] {
                self.map.clear_valid(ppn);
                self.map.physical[lpn] = NONE;
            }
            stamps.version[lpn] = stamps.version[lpn].max(stamps.trim_kept[lpn]);
        }
        stamps.rebuilt(&self.map);
        self.cuts.stamps = Some(stamps);
    }

    /// Every row of a superblock is sensed for its spare area.
    fn count_scan(&self, superblock: u32, told: &mut Recovery) {
        let mode = self.blocks.all[superblock as usize].mode;
        let mut offset = 0;
        while offset < self.layout.units(mode) {
            let (_, page) = self.layout.place(mode, superblock, offset);
            told.operations[class::read(mode, page) as usize] += 1;
            offset += self.layout.row_units;
        }
    }

    /// Sets the states and queues of all superblocks by what is valid in them, and erases those
    /// that hold nothing.
    fn rebuild_blocks(&mut self, opened: &[Opened], told: &mut Recovery) {
        let fresh = Victims::new(self.layout.superblocks, self.layout.native_units);
        let before = std::mem::replace(&mut self.blocks.victims, fresh);
        let mut used = Vec::new();
        for index in 0..self.blocks.all.len() as u32 {
            let base = self.layout.base(index);
            let valid = self.map.count_valid(base, self.layout.native_units);
            let block = &mut self.blocks.all[index as usize];
            (block.valid, block.in_flight, block.erases_left) = (valid, 0, 0);
            block.marked = false;
            let borrowed = block.pool == Pool::Cache && !block.fixed;
            self.cache.borrowed += u32::from(borrowed);
            self.cache.tier_borrowed += u32::from(block.pool == Pool::Tier);
            if let Some(sum) = self.cache.valid_in(block.pool) {
                *sum += valid;
            }
            match (block.state, block.fixed) {
                (State::Retired, _) => {}
                (State::Free, _) if block.map => self.blocks.free_map.push_back(index),
                (State::Free, true) => self.blocks.free_fixed.push_back(index),
                (State::Free, false) => self.blocks.free.push_back(index),
                _ => used.push(index),
            }
        }
        let stamps = self.cuts.stamps.as_ref().map(|s| &s.opened);
        used.sort_by_key(|&s| stamps.map(|opened| opened[s as usize]));
        for index in used {
            self.blocks.victims.keep(index, &before);
            let open = opened.iter().any(|o| o.superblock == index);
            let block = &mut self.blocks.all[index as usize];
            let half = block.state == State::Half && block.valid > 0;
            if half {
                self.blocks.half.push_back(index);
                continue;
            }
            block.state = if open { State::Open } else { State::Closed };
            match (block.valid, block.pool) {
                _ if open => {}
                (0, _) => self.erase_at_start(index, told),
                (_, Pool::Cache) => self.blocks.cache.push_back(index),
                (_, Pool::Tier) => self.blocks.tier.push_back(index),
                (_, Pool::Map) => {}
                (valid, Pool::Data) => self.blocks.victims.add(index, valid),
            }
        }
    }

    fn erase_at_start(&mut self, superblock: u32, told: &mut Recovery) {
        let block = &mut self.blocks.all[superblock as usize];
        block.erases_left = 1;
        self.blocks.erasing += u32::from(!block.map);
        told.erased.push(superblock);
        told.operations[class::erase(block.mode) as usize] += u64::from(self.layout.group_dies);
        self.die_erased(superblock);
    }

    /// Saves the valid data of the superblocks that a stream had open, erases them and programs the
    /// data again. It needs the room that it came from, so none of these superblocks is given up
    /// here, even if its erase fails.
    fn rewrite(&mut self, stream: Stream, superblocks: &[u32], told: &mut Recovery) {
        let mut lpns = Vec::new();
        self.cuts.recovering = true;
        for &superblock in superblocks {
            let (base, units) = (self.layout.base(superblock), self.layout.native_units);
            let before = lpns.len();
            self.map.collect_valid(base, units, &mut lpns);
            self.packing.note_moved(&self.map, base, units);
            self.map.clear_valid_run(base, units);
            let valid = (lpns.len() - before) as u32;
            self.blocks.lose_valid(&mut self.cache, superblock, valid);
            let row = self.layout.whole(self.layout.row_units);
            let rows = u64::from(valid.div_ceil(row));
            let mode = self.blocks.all[superblock as usize].mode;
            told.operations[class::read(mode, 0) as usize] += rows;
            told.operations[class::SLC_PROGRAM as usize] += rows;
            told.operations[class::SLC_READ as usize] += rows;
            count_rows(rows, &self.layout, &mut self.counters);
            told.rewritten += 1;
            self.erase_at_start(superblock, told);
        }
        if !lpns.is_empty() {
            self.write_back(stream, &lpns, told);
        }
        self.cuts.recovering = false;
        if stream == Stream::Map {
            // These pages count as recovery, not as written by the map.
            self.counters.map_written -= lpns.len() as u64;
            self.counters.map_moved -= lpns.len() as u64;
        }
    }

    /// Programs units into a stream, padded to a whole granule, with nothing else going on.
    fn write_back(&mut self, stream: Stream, lpns: &[u32], told: &mut Recovery) {
        if stream.is_host() {
            self.writing.buffer.used_units += lpns.len() as u32;
        }
        let mut ops = Vec::new();
        self.append_moved(stream, lpns, 0, &mut ops);
        self.pad_through(stream, &mut ops);
        for op in ops {
            told.operations[op.class as usize] += 1;
            self.finish_alone(op.token);
        }
    }

    /// The end of a program with nothing else going on.
    fn finish_alone(&mut self, token: Token) {
        match token {
            Token::FirstPass(place) => self.writing.first_passed(place),
            Token::Program(place) => self.granule_programmed(place, &mut Vec::new()),
            other => unreachable!("{other:?} while data is written back"),
        }
        if self.layout.paired {
            self.land_wordlines(&mut Vec::new());
        }
    }
}
