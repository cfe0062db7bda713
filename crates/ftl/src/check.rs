//! Every invariant of the firmware in one function, for tests and campaigns.

use std::fmt::Write as _;

use crate::blocks::{Pool, State};
use crate::ensure::{Checked, ensure, ensure_eq};
use crate::ftl::Ftl;
use crate::layout::{Mode, NONE};
use crate::orders::Policies;
use crate::streams::Stream;

impl<P: Policies> Ftl<P> {
    /// Panics with the state when an invariant does not hold. Costs a pass over all tables.
    pub fn check(&self) {
        if let Err(broken) = self.checked() {
            panic!("{broken}\n{}", self.describe());
        }
    }

    /// The invariant that does not hold, if one does not.
    pub(crate) fn checked(&self) -> Checked {
        self.check_map()?;
        self.check_blocks()?;
        self.writing.check_lanes(&self.layout, &self.blocks)?;
        self.writing.passes.check(&self.writing.buffer)?;
        self.packing.check(&self.layout, &self.map, &self.blocks)?;
        self.check_counters()?;
        self.cuts.check(&self.map)?;
        self.wear.check(&self.blocks.all)?;
        self.check_map_pages()?;
        self.paged.check(&self.map, &self.blocks, &self.layout)
    }

    /// Superblocks of the map serve the map alone; each of its pages was programmed once for each
    /// time it was written, or waits.
    fn check_map_pages(&self) -> Checked {
        for (index, block) in self.blocks.all.iter().enumerate() {
            let free = matches!(block.state, State::Free | State::Retired);
            ensure!(
                free || block.map == (block.pool == Pool::Map),
                "superblock {index} serves another pool"
            );
            let declared = self.cache.is_on() || block.map;
            ensure!(
                declared || block.mode == Mode::Native,
                "superblock {index} is in SLC mode without a cache"
            );
        }
        let waiting = self.writing.streams[Stream::Map].waiting();
        ensure_eq!(
            self.counters.map_units + u64::from(waiting),
            self.counters.map_written,
            "map pages are lost or doubled"
        );
        Ok(())
    }

    fn check_map(&self) -> Checked {
        let mut mapped = 0u64;
        for (lpn, &ppn) in self.map.physical.iter().enumerate() {
            if ppn != NONE {
                mapped += 1;
                ensure!(self.map.is_valid(ppn), "unit {lpn} points at invalid {ppn}");
                ensure_eq!(
                    self.map.logical[ppn as usize] as usize,
                    lpn,
                    "reverse map of {ppn}"
                );
            }
        }
        let valid: u64 = self.blocks.all.iter().map(|b| u64::from(b.valid)).sum();
        ensure_eq!(valid, mapped, "valid units and mapped units differ");
        Ok(())
    }

    fn check_blocks(&self) -> Checked {
        let mut in_flight = 0;
        for (index, block) in self.blocks.all.iter().enumerate() {
            let base = self.layout.base(index as u32);
            let bits = self.map.count_valid(base, self.layout.native_units);
            ensure_eq!(bits, block.valid, "valid count of superblock {index}");
            if matches!(
                block.state,
                State::Free | State::Emptied | State::Erasing | State::Retired
            ) {
                ensure_eq!(block.valid, 0, "superblock {index} is {:?}", block.state);
            }
            let own = self.layout.units(block.mode);
            let past = self
                .map
                .count_valid(base + own, self.layout.native_units - own);
            ensure_eq!(
                past,
                0,
                "data past the pages that superblock {index} has in its mode"
            );
            // After a crypto erase a superblock is in no pool. It keeps its mode until its erase.
            let left = matches!(block.state, State::Emptied | State::Erasing);
            ensure!(
                (block.mode == Mode::Tier) == (block.pool == Pool::Tier) || left,
                "superblock {index} is in mode {:?} for {:?}",
                block.mode,
                block.pool
            );
            ensure!(
                !block.fixed
                    || block.mode == Mode::Slc
                    || matches!(block.state, State::Free | State::Retired),
                "superblock {index} of the static cache is used natively"
            );
            self.blocks.victims.check_pool(index as u32, block.state)?;
            let candidate = block.state == State::Closed && block.pool == Pool::Data;
            self.blocks
                .victims
                .check(index as u32, candidate.then_some(block.valid))?;
            in_flight += block.in_flight as usize;
        }
        self.blocks.victims.check_used()?;
        ensure_eq!(
            in_flight,
            self.writing.buffer.in_flight(),
            "granules in flight"
        );
        let erasing = self
            .blocks
            .all
            .iter()
            .filter(|b| b.state == State::Erasing && !b.map);
        ensure_eq!(erasing.count(), self.blocks.erasing as usize, "erases");
        for &stale in &self.blocks.stale {
            let state = self.blocks.all[stale as usize].state;
            ensure_eq!(state, State::Emptied, "stale superblock {stale}");
        }
        let free = self
            .blocks
            .all
            .iter()
            .filter(|b| b.state == State::Free)
            .count();
        ensure_eq!(
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
        ensure_eq!(cached, self.cache.valid_units, "valid units in SLC mode");
        let tier = self.blocks.all.iter().filter(|b| b.pool == Pool::Tier);
        ensure_eq!(
            tier.clone().count(),
            self.cache.tier_borrowed as usize,
            "superblocks of the second tier"
        );
        let valid = tier.map(|b| b.valid).sum::<u32>();
        ensure_eq!(
            valid,
            self.cache.tier_valid_units,
            "valid units of the second tier"
        );
        let borrowed = self
            .blocks
            .all
            .iter()
            .filter(|b| b.pool == Pool::Cache && !b.fixed)
            .count();
        ensure_eq!(
            borrowed,
            self.cache.borrowed as usize,
            "borrowed superblocks"
        );
        Ok(())
    }

    /// Every unit from the host has been programmed once as host data, or waits in a host granule,
    /// or took the place of one that did.
    fn check_counters(&self) -> Checked {
        let c = &self.counters;
        for (stream, s) in Stream::ALL.into_iter().zip(&self.writing.streams) {
            let (moved, waiting) = (s.moved, s.waiting());
            ensure!(moved <= waiting, "{moved} of {waiting} units in {stream:?}");
        }
        let waiting = self.writing.host_units_waiting();
        let gone = c.dropped_units + c.lost_units + c.coalesced_units;
        let host = c.slc_units + c.tier_units + c.direct_units + gone + u64::from(waiting);
        ensure_eq!(host, c.host_units, "host units are lost or doubled");
        self.check_parity()
    }

    /// Every whole stripe has its parity, and nothing else has.
    fn check_parity(&self) -> Checked {
        if !self.layout.parity {
            ensure_eq!(self.counters.parity_units, 0, "parity without parity");
            return Ok(());
        }
        let data = self.counters.programmed_units() - self.counters.parity_units;
        let data = data - self.counters.journal_units;
        let granules = self.layout.stripe_granules();
        ensure_eq!(
            data,
            self.counters.parity_units * u64::from(granules)
                + self.writing.unprotected_units(&self.layout)
                + self.counters.bare_units,
            "stripes and parity"
        );
        Ok(())
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
        let _ = writeln!(
            out,
            "cache superblocks closed {} and {}",
            self.blocks.cache.len(),
            self.blocks.tier.len()
        );
        let movers = [
            ("fold", &self.cache.fold),
            ("gc", &self.collection.mover),
            ("map gc", &self.paged.mover),
        ];
        for (name, mover) in movers {
            let _ = writeln!(
                out,
                "{name}: source {}, at {}, outstanding {}, debt {}, idle {}",
                mover.source as i32, mover.cursor, mover.outstanding, mover.debt_milli, mover.idle
            );
        }
        let used = self.writing.buffer.used_units;
        let _ = writeln!(
            out,
            "buffer {used} of {} units",
            self.writing.buffer.capacity_units
        );
        let _ = writeln!(
            out,
            "bypass {}, starved {}, halted {}, collecting {} for {:?}, to be moved {}",
            self.cache.bypass,
            self.writing.starved,
            self.collection.memory.halts_host,
            self.collection.mover.active,
            self.collection.mover.cause,
            self.wear.waiting()
        );
        out += &self.paged.describe();
        out
    }
}
