//! Power cuts and the start after them.
//!
//! A cut clears everything in RAM and tears the programs and erases that are under way. The start
//! afterwards reads the spare areas of what was programmed completely: of the copies of a logical
//! unit that with the highest version stamp is valid, and of copies with the same stamp (a moved
//! unit and its source) the one in the superblock that was opened later. Superblocks without valid
//! data are erased, as far as few are free. Those that were open hold torn and unprogrammed
//! wordlines and may not be programmed further: their valid data is saved in the system area, they
//! are erased, and the data is written back. So no space is lost to cuts, however many there are.
//!
//! Invariants: only completed programs count; afterwards [`Ftl::check`] holds and every stream has
//! at least the room that it had.

use super::Ftl;
use crate::blocks::{Pool, State};
use crate::layout::{Mode, NONE};
use crate::op::{Token, class};
use crate::orders::Policies;
use crate::power_cut::Recovery;
use crate::streams::Stream;
use crate::victims::Victims;
use crate::write_buffer::Flight;

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
        assert!(self.cuts.is_on(), "power cuts are not switched on");
        if protected {
            for stream in Stream::ALL {
                self.pad(stream, &mut Vec::new());
            }
            self.cuts.keep_all_trims();
        }
        self.lose_buffer(protected);
        for index in 0..self.blocks.count() {
            if self.blocks[index].state == State::Erasing {
                let base = self.layout.base(index);
                let units = base..base + self.layout.native_units;
                self.cuts.erased(index, units);
            }
        }
        self.cuts.power_lost();
    }

    /// Forgets what was in the buffer and in flight; with `protected` the programs are finished.
    fn lose_buffer(&mut self, protected: bool) {
        let flying = self.writing.buffer.flights();
        let flying: Vec<(u32, Flight)> = flying.map(|(place, &flight)| (place, flight)).collect();
        for (place, flight) in flying {
            let finished = protected && flight.source == NONE;
            if !protected {
                self.blocks.tear_parity(&self.layout, &flight);
            }
            let data = flight.first < self.layout.physical_units();
            if data && !finished && !self.writing.stands_alone(place) {
                self.cuts.wipe(flight.first, flight.units);
            }
        }
        for stream in Stream::ALL {
            let s = self.writing[stream];
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
        let (opened, before) = self.forget_ram();
        let (map, blocks, layout) = (&mut self.map, &self.blocks, &self.layout);
        self.cuts.rebuild_map(map, blocks, layout, &mut recovery);
        self.rebuild_blocks(&opened, &before, &mut recovery);
        if let Some((version, opened)) = self.cuts.versions() {
            self.paged
                .mark_stale_pages(&self.map, &self.layout, version, opened);
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
    fn forget_ram(&mut self) -> (Vec<Opened>, Victims) {
        let mut opened = Vec::new();
        for stream in Stream::ALL {
            let superblocks = self.writing.open_superblocks(stream);
            opened.extend(superblocks.map(|superblock| Opened { superblock, stream }));
        }
        self.writing.power_lost(&self.layout);
        let (before, collection) = (
            self.blocks.start_anew(&self.layout),
            self.collection.after_cut(),
        );
        self.start_over();
        self.collection = collection;
        (opened, before)
    }

    /// Sets the states and queues of all superblocks by what is valid in them, and erases as many
    /// of those that hold nothing as the host may ask for.
    fn rebuild_blocks(&mut self, opened: &[Opened], before: &Victims, recovery: &mut Recovery) {
        let mut used = Vec::new();
        for index in 0..self.blocks.count() {
            let base = self.layout.base(index);
            let valid = self.map.count_valid(base, self.layout.native_units);
            let block = &mut self.blocks[index];
            (block.valid, block.in_flight, block.erases_left) = (valid, 0, 0);
            block.marked = false;
            if block.state == State::Emptied && block.pool == Pool::Data {
                // It was stale. What a trim emptied may hold data again, if the trim is lost.
                block.pool = match block.mode {
                    Mode::Native => Pool::Data,
                    Mode::Slc => Pool::Cache,
                    Mode::Tier => Pool::Tier,
                };
            }
            self.cache.found(block);
            match block.state {
                State::Retired => {}
                State::Free => self.blocks.put_free(index),
                _ => used.push(index),
            }
        }
        let opened_at = self.cuts.versions().map(|(_, opened)| opened);
        used.sort_by_key(|&s| opened_at.map(|opened| opened[s as usize]));
        for index in used {
            self.blocks.keep(index, before);
            let block = &self.blocks[index];
            let open = opened.iter().any(|o| o.superblock == index);
            match (block.state, block.valid) {
                (State::Half, valid) if valid > 0 => self.blocks.close_half(index),
                _ if open => self.blocks[index].state = State::Open,
                (_, 0) if block.map || self.is_short(block.fixed) => {
                    self.erase_at_start(index, recovery);
                }
                (_, 0) => self.leave_stale(index),
                _ => self.blocks.close(index),
            }
        }
    }

    fn erase_at_start(&mut self, superblock: u32, recovery: &mut Recovery) {
        let class = class::erase(self.blocks[superblock].mode);
        self.blocks.begin_erase(superblock, 1);
        recovery.erases(superblock, class, self.layout.group_dies);
        self.die_erased(superblock);
    }

    /// Saves the valid data of the superblocks that a stream had open, erases them and programs the
    /// data again. It needs the room that it came from, so none of these superblocks is given up
    /// here, even if its erase fails.
    fn rewrite(&mut self, stream: Stream, superblocks: &[u32], recovery: &mut Recovery) {
        let mut lpns = Vec::new();
        self.cuts.set_recovering(true);
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
            let mode = self.blocks[superblock].mode;
            let read = class::read(mode, 0);
            recovery.saves(rows, read, &self.layout, &mut self.counters);
            self.erase_at_start(superblock, recovery);
        }
        if !lpns.is_empty() {
            self.write_back(stream, &lpns, recovery);
        }
        self.cuts.set_recovering(false);
        if stream == Stream::Map {
            // These pages count as recovery, not as written by the map.
            self.counters.map_written -= lpns.len() as u64;
            self.counters.map_moved -= lpns.len() as u64;
        }
    }

    /// Programs units into a stream, padded to a whole granule, with nothing else going on.
    fn write_back(&mut self, stream: Stream, lpns: &[u32], recovery: &mut Recovery) {
        if stream.is_host() {
            self.writing.buffer.take(lpns.len() as u32);
        }
        let mut ops = Vec::new();
        self.append_moved(stream, lpns, 0, &mut ops);
        self.pad_through(stream, &mut ops);
        for op in ops {
            recovery.operations[op.class as usize] += 1;
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
