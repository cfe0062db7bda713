//! A small drive for tests: the firmware, dies that end their operations in any order between
//! dies, and a shadow that knows which stamp every unit has to hold.
//!
//! The shadow is a `BTreeMap`, too simple to be wrong: it hangs a stamp on each physical unit,
//! moves it only as the operations say, and after every step every logical unit has to read back
//! its last stamp.

#![allow(dead_code)] // Each test binary takes what it needs.

use std::collections::{BTreeMap, VecDeque};

use flashtwin_base::Nanos;
use flashtwin_base::rng::Rng;
use flashtwin_ftl::policy::{
    Admit, CacheMode, Fold, FoldPath, Gc, Pace, Parity, Recycler, SlcCache, Victim, Wear, WhenFull,
};
use flashtwin_ftl::{Ftl, Load, NandOp, Policy, Route, Token};
use flashtwin_nand::{Cell, Geometry, ModeTiming, Part, Program, Suspend};

pub const UNIT: u32 = 4096;

/// A part of a few dozen superblocks: 2 dies of 2 planes, 8 KiB pages.
pub fn part(cell: Cell, one_shot: bool, blocks: u32) -> Part {
    let bits = cell.bits() as usize;
    let time = Nanos::from_us(10);
    let program = if one_shot {
        Program::OneShot(time)
    } else {
        Program::PageByPage(vec![time; bits])
    };
    let mode = |pages: usize, program: Program| ModeTiming {
        read: vec![time; pages],
        program,
        erase: time,
        endurance_cycles: 1000,
    };
    Part {
        geometry: Geometry {
            channels: 2,
            dies_per_channel: 1,
            planes: 2,
            blocks_per_plane: blocks,
            wordlines_per_block: 8,
            page_bytes: 8192,
            cell,
        },
        slc: mode(1, Program::OneShot(time)),
        native: mode(bits, program),
        bus_bytes_per_s: 400_000_000,
        cache_program: false,
        second_pass: None,
        suspend: Suspend {
            program: false,
            erase: false,
            entry: time,
            penalty: time,
            most: 1,
            reads: 1,
        },
    }
}

/// A policy with everything off but garbage collection.
pub fn policy() -> Policy {
    Policy {
        unit_bytes: UNIT,
        system_bytes: 0,
        parity: Parity::None,
        superblock_dies: 0,
        cache: SlcCache {
            mode: CacheMode::None,
            size_bytes: 0,
            size_by_fill: Vec::new(),
            static_bytes: 0,
            when_full: WhenFull::Direct,
            rearm_bytes: 0,
            direct_milli: 0,
            admit: Admit::All,
            reclaim_milli: 0,
        },
        fold: Fold {
            idle_after: None,
            reserve_bytes: 0,
            pace_milli: 500,
            rearm_pace_milli: 0,
            path: FoldPath::Controller,
        },
        gc: Gc {
            victim: Victim::Greedy,
            low_superblocks: 5,
            high_superblocks: 7,
            reserve_superblocks: 3,
            pace: Pace::Paced,
            idle_after: None,
            idle_superblocks: 0,
            recycler: Recycler::None,
        },
        wear: Wear::default(),
    }
}

/// The firmware with its dies and its shadow.
pub struct Bench {
    pub ftl: Ftl,
    dies: Vec<VecDeque<NandOp>>,
    ops: Vec<NandOp>,
    pub rng: Rng,
    stamps: BTreeMap<u32, u64>,
    expected: BTreeMap<u32, u64>,
    clock: u64,
}

impl Bench {
    pub fn new(part: &Part, policy: Policy, capacity_units: u32, seed: u64) -> Bench {
        Bench::with_buffer(part, policy, capacity_units, seed, 48)
    }

    /// The same with a write buffer of so many units.
    pub fn with_buffer(
        part: &Part,
        policy: Policy,
        capacity_units: u32,
        seed: u64,
        buffer_units: u32,
    ) -> Bench {
        let capacity = u64::from(capacity_units) * u64::from(UNIT);
        let ftl = Ftl::new(
            part,
            policy,
            capacity,
            u64::from(buffer_units) * u64::from(UNIT),
            1,
        );
        let dies = (0..ftl.layout.dies).map(|_| VecDeque::new()).collect();
        Bench {
            ftl,
            dies,
            ops: Vec::new(),
            rng: Rng::new(seed, 7),
            stamps: BTreeMap::new(),
            expected: BTreeMap::new(),
            clock: 0,
        }
    }

    fn queue(&mut self) {
        for op in self.ops.drain(..) {
            self.dies[op.die as usize].push_back(op);
        }
    }

    pub fn is_busy(&self) -> bool {
        self.dies.iter().any(|d| !d.is_empty())
    }

    /// Ends the oldest operation of some die that has one.
    pub fn step(&mut self) {
        let busy: Vec<usize> = (0..self.dies.len())
            .filter(|&d| !self.dies[d].is_empty())
            .collect();
        let die = busy[self.rng.below(busy.len() as u64) as usize];
        let op = self.dies[die].pop_front().expect("a busy die");
        let rows = self.sources(op.token);
        let watched = if rows.is_empty() {
            0
        } else {
            self.ftl.logical_units()
        };
        let before: Vec<(u32, u32)> = (0..watched)
            .filter_map(|lpn| self.ftl.locate(lpn).map(|ppn| (lpn, ppn)))
            .collect();
        self.ftl.finish(op.token, &mut self.ops);
        self.queue();
        for (lpn, ppn) in before {
            let now = self.ftl.locate(lpn).expect("moving never unmaps");
            if now != ppn {
                assert!(
                    rows.iter().any(|r| r.contains(&ppn)),
                    "unit {lpn} moved unread"
                );
                let stamp = self.stamps[&ppn];
                self.stamps.insert(now, stamp);
            }
        }
    }

    /// Physical units that an operation brings into RAM or copies.
    fn sources(&self, token: Token) -> Vec<std::ops::Range<u32>> {
        let row = self.ftl.layout.row_units;
        match token {
            Token::FoldRead(first) | Token::GcRead(first) => {
                std::iter::once(first..first + row).collect()
            }
            Token::Copyback(place) => self.ftl.copyback_rows(place),
            _ => Vec::new(),
        }
    }

    /// Writes a run, ending operations for as long as the firmware has no room.
    pub fn write(&mut self, lpn: u32, count: u32) {
        self.write_by(Route::Cache, lpn, count);
    }

    /// The same with a word on whether the cache may take it.
    pub fn write_by(&mut self, route: Route, lpn: u32, count: u32) {
        let (mut lpn, mut left) = (lpn, count);
        while left > 0 {
            let room = self.ftl.room(route);
            self.pump();
            if room == 0 {
                if !self.is_busy() {
                    self.ftl.pad_host(&mut self.ops);
                    self.queue();
                }
                assert!(
                    self.is_busy(),
                    "stuck with {left} to write\n{}",
                    self.ftl.describe()
                );
                self.step();
                continue;
            }
            let now = room.min(left);
            self.ftl.reserve(route, now);
            self.ftl.append_host(route, lpn, now, &mut self.ops);
            self.queue();
            for unit in lpn..lpn + now {
                self.clock += 1;
                self.expected.insert(unit, self.clock);
                let ppn = self.ftl.locate(unit).expect("just written");
                self.stamps.insert(ppn, self.clock);
            }
            lpn += now;
            left -= now;
        }
    }

    pub fn trim(&mut self, lpn: u32, count: u32) {
        self.ftl.trim(lpn, count, &mut self.ops);
        self.queue();
        for unit in lpn..lpn + count {
            self.expected.remove(&unit);
        }
    }

    fn pump(&mut self) {
        self.ftl.pump(&mut self.ops);
        self.queue();
    }

    /// Ends everything that is under way.
    pub fn drain(&mut self) {
        while self.is_busy() {
            self.step();
        }
    }

    pub fn idle(&mut self, idle: bool) {
        for load in [Load::Fold, Load::Collect] {
            self.ftl.offer(load, idle, &mut self.ops);
        }
        self.queue();
    }

    pub fn pad_through(&mut self) {
        self.ftl.pad_host_through(&mut self.ops);
        self.queue();
    }

    pub fn pad(&mut self) {
        self.ftl.pad_host(&mut self.ops);
        self.queue();
    }

    /// Every unit holds its last stamp, trimmed ones hold nothing, every invariant holds.
    pub fn verify(&self) {
        self.ftl.check();
        for lpn in 0..self.ftl.logical_units() {
            let found = self.ftl.locate(lpn).map(|ppn| self.stamps[&ppn]);
            assert_eq!(found, self.expected.get(&lpn).copied(), "unit {lpn}");
        }
    }
}
