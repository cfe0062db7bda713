//! Every invariant of the firmware in one function, for tests and campaigns.

use std::fmt::Write as _;

use crate::allocate::MAP;
use crate::blocks::{Pool, State};
use crate::ftl::Ftl;
use crate::layout::{Mode, NONE};
use crate::policy::CacheMode;

impl Ftl {
    /// Panics with the state when an invariant does not hold. Costs a pass over all tables.
    pub fn check(&self) {
        self.check_map();
        self.check_blocks();
        self.check_lanes();
        self.check_passes();
        self.check_packing();
        self.check_counters();
        self.check_spare();
        self.check_map_pages();
    }

    /// Map pages live in their own blocks and nothing else does; each was programmed once for each
    /// time it was written, or waits; what is mapped is on flash, in SRAM or in the journal.
    fn check_map_pages(&self) {
        for (index, block) in self.blocks.all.iter().enumerate() {
            let free = matches!(block.state, State::Free | State::Retired);
            assert!(
                free || block.map == (block.pool == Pool::Map),
                "superblock {index} serves another pool"
            );
            let declared = self.cache.mode != CacheMode::None || block.map;
            assert!(
                declared || block.mode == Mode::Native,
                "superblock {index} is in SLC mode without a cache"
            );
        }
        let Some(paged) = self.paged.as_deref() else {
            return;
        };
        paged.check();
        let s = self.streams[MAP];
        assert_eq!(
            self.counters.map_units + u64::from(s.waiting()),
            self.counters.map_written,
            "map pages are lost or doubled"
        );
        for (lpn, &ppn) in self.map.physical.iter().enumerate() {
            let own = ppn != NONE && self.blocks.all[self.layout.superblock_of(ppn) as usize].map;
            let page = lpn as u32 >= self.host_units;
            assert!(ppn == NONE || own == page, "unit {lpn} lies at {ppn}");
            if ppn != NONE && !page {
                let page = paged.page_of(lpn as u32);
                let kept = self.map.physical[(self.host_units + page) as usize] != NONE;
                assert!(kept || paged.is_stale(page), "the entry of {lpn} is lost");
            }
        }
    }

    fn check_map(&self) {
        let mut mapped = 0u64;
        for (lpn, &ppn) in self.map.physical.iter().enumerate() {
            if ppn != NONE {
                mapped += 1;
                assert!(self.map.is_valid(ppn), "unit {lpn} points at invalid {ppn}");
                assert_eq!(
                    self.map.logical[ppn as usize] as usize, lpn,
                    "reverse map of {ppn}"
                );
            }
        }
        let valid: u64 = self.blocks.all.iter().map(|b| u64::from(b.valid)).sum();
        assert_eq!(
            valid,
            mapped,
            "valid units and mapped units differ\n{}",
            self.describe()
        );
    }

    fn check_blocks(&self) {
        let mut in_flight = 0;
        for (index, block) in self.blocks.all.iter().enumerate() {
            let base = self.layout.base(index as u32);
            let bits = self.map.count_valid(base, self.layout.native_units);
            assert_eq!(bits, block.valid, "valid count of superblock {index}");
            if matches!(
                block.state,
                State::Free | State::Emptied | State::Erasing | State::Retired
            ) {
                assert_eq!(block.valid, 0, "superblock {index} is {:?}", block.state);
            }
            if block.mode == Mode::Slc {
                let beyond = self.layout.native_units - self.layout.slc_units;
                let past = self.map.count_valid(base + self.layout.slc_units, beyond);
                assert_eq!(past, 0, "data past the SLC pages of superblock {index}");
            }
            assert!(
                !block.fixed
                    || block.mode == Mode::Slc
                    || matches!(block.state, State::Free | State::Retired)
            );
            let candidate = block.state == State::Closed && block.pool == Pool::Data;
            self.victims
                .check(index as u32, candidate.then_some(block.valid));
            in_flight += block.in_flight as usize;
        }
        assert_eq!(in_flight, self.buffer.in_flight(), "granules in flight");
        let erasing = self
            .blocks
            .all
            .iter()
            .filter(|b| b.state == State::Erasing && !b.map);
        assert_eq!(erasing.count(), self.blocks.erasing as usize, "erases");
        for &stale in &self.blocks.stale {
            let state = self.blocks.all[stale as usize].state;
            assert_eq!(state, State::Emptied, "stale superblock {stale}");
        }
        let free = self
            .blocks
            .all
            .iter()
            .filter(|b| b.state == State::Free)
            .count();
        assert_eq!(
            free,
            self.blocks.free.len() + self.blocks.free_fixed.len() + self.blocks.free_map.len(),
            "free queues"
        );
        let cached = self
            .blocks
            .all
            .iter()
            .filter(|b| b.pool == Pool::Cache)
            .map(|b| b.valid)
            .sum::<u32>();
        assert_eq!(cached, self.cache.valid_units, "valid units in SLC mode");
        let borrowed = self
            .blocks
            .all
            .iter()
            .filter(|b| b.pool == Pool::Cache && !b.fixed)
            .count();
        assert_eq!(
            borrowed, self.cache.borrowed as usize,
            "borrowed superblocks"
        );
    }

    /// Every unit from the host has been programmed once as host data, or waits in a host granule.
    fn check_counters(&self) {
        let c = &self.counters;
        let waiting = self.host_units_waiting();
        let gone = c.dropped_units + c.lost_units;
        let host = c.slc_units + c.direct_units + gone + u64::from(waiting);
        assert_eq!(
            host,
            c.host_units,
            "host units are lost or doubled\n{}",
            self.describe()
        );
        self.check_parity();
    }

    /// Every whole stripe has its parity, and nothing else has.
    fn check_parity(&self) {
        if !self.layout.parity {
            assert_eq!(self.counters.parity_units, 0, "parity without parity");
            return;
        }
        let data = self.counters.programmed_units() - self.counters.parity_units;
        let data = data - self.counters.journal_units;
        let granules = self.layout.stripe_granules();
        assert_eq!(
            data,
            self.counters.parity_units * u64::from(granules)
                + self.unprotected_units()
                + self.parity_forgone,
            "stripes and parity\n{}",
            self.describe()
        );
    }

    /// What lies on the flash is what the map says: the unit's own data, of its present version.
    fn check_spare(&self) {
        let Some(spare) = &self.spare else {
            return;
        };
        for lpn in 0..self.map.physical.len() as u32 {
            let version = self.version(lpn);
            let known = spare.version[lpn as usize];
            assert!(
                version.is_none_or(|found| found == known),
                "unit {lpn} is version {known}, its data {version:?}"
            );
        }
    }

    /// The state in a few lines, for a panic.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut out = String::new();
        let count = |s: State| self.blocks.all.iter().filter(|b| b.state == s).count();
        let states = [
            State::Free,
            State::Open,
            State::Half,
            State::Closed,
            State::Source,
            State::Emptied,
            State::Erasing,
            State::Retired,
        ];
        for state in states {
            let _ = write!(out, "{state:?} {}, ", count(state));
        }
        let _ = writeln!(out, "cache superblocks closed {}", self.blocks.cache.len());
        let movers = [
            ("fold", &self.fold),
            ("gc", &self.collect),
            ("map gc", &self.collect_map),
        ];
        for (name, mover) in movers {
            let _ = writeln!(
                out,
                "{name}: source {}, at {}, outstanding {}, debt {}, idle {}",
                mover.source as i32, mover.cursor, mover.outstanding, mover.debt_milli, mover.idle
            );
        }
        let used = self.buffer.used_units;
        let _ = writeln!(out, "buffer {used} of {} units", self.buffer.capacity_units);
        let _ = writeln!(
            out,
            "bypass {}, starved {}, halted {}, collecting {} for {:?}, to be moved {}",
            self.cache.bypass,
            self.starved,
            self.collection.halts_host,
            self.collect.active,
            self.collect.cause,
            self.wear.waiting()
        );
        if let Some(paged) = &self.paged {
            out += &paged.describe();
        }
        out
    }
}
