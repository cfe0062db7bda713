//! Preconditioning without time: what prepares a drive is written by the firmware alone.
//!
//! The firmware decides as it does behind a host: where each unit goes, what is folded and
//! collected, and how far that keeps ahead of the host's units. What it asks of the flash ends in
//! the order in which it was asked for, a few operations a die at once. No time passes meanwhile:
//! nothing is sent, nothing warms up, no energy is drawn and no idle time is used.
//!
//! Where a firmware pads or waits by the order in which commands come, its state hangs on time:
//! such drives are not preconditioned this way, see [`Config::precondition_refusal`]. Commands
//! look up the map one after another here: a map cache of fewer pages than a host's queue asks for
//! at once thrashes behind that host and not here, which changes write amplification by 2 %.

use std::collections::VecDeque;

use flashtwin_base::{Op, Status};
use flashtwin_ftl::placement::Reserved;
use flashtwin_ftl::{LookUp, NandOp, Policies, Route, Token};

use crate::command::SECTOR_BYTES;
use crate::config::{Acknowledge, Config};
use crate::engine::Drive;

/// Operations a die that are under way at once, about what a busy drive has.
const OPERATIONS_A_DIE: usize = 12;
/// Writes whose map entries and old copies are looked for ahead of their turn.
const AHEAD: usize = 32;
/// Bytes from one question whether to go on to the next.
const ASKS: u64 = 256 << 20;
/// Pages of a map cache with fewer of which the order of look-ups counts: hosts precondition with
/// 32 commands at once, and each may ask for a page of its own.
const MAP_CACHE_PAGES: u64 = 32;
/// Part of the map that its cache has to hold for random writes to change it alike: with 36 % what
/// is written of the map agrees within 1 %, with 7 % it is a sixth more than behind a host.
const MAP_CACHE_PART: u64 = 3;
/// Writes of up to so many units are looked for ahead: the map entries of a longer write lie side
/// by side, and a first fill overwrites nothing.
const FEW_UNITS: u32 = 4;

/// What one write covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first sector.
    pub lba: u64,
    /// How many sectors.
    pub sectors: u32,
    /// The placement handle of its data; 0 where the host names none.
    pub handle: u8,
}

impl Config {
    /// Why what is written without time would not leave this drive as the same writes in their time
    /// do; none where it would. `random`: they come in no order.
    #[must_use]
    pub fn precondition_refusal(&self, random: bool) -> Option<&'static str> {
        let (c, policy) = (&self.controller, &self.policy);
        let reasons = [
            (
                c.acknowledge != Acknowledge::WriteBack,
                "its firmware answers writes when they are programmed (controller.acknowledge)",
            ),
            (
                !c.gather,
                "its firmware pads small writes (controller.gather)",
            ),
            (
                !c.overlap,
                "its controller takes turns between link and flash (controller.overlap)",
            ),
            (
                policy.compression_ratio > 1 || policy.coalesce,
                "its firmware compresses data or replaces it in the write buffer",
            ),
            (
                self.map_cache_is_below(|_| MAP_CACHE_PAGES),
                "its map cache has fewer pages than a host's queue asks for (map.cache)",
            ),
            (
                random && self.map_cache_is_below(|pages| pages / MAP_CACHE_PART),
                "its map cache holds less than a third of the map, so that the order in which \
                 random writes look it up counts (map.cache)",
            ),
        ];
        let reason = reasons.iter().find(|(is_so, _)| *is_so);
        reason.map(|&(_, why)| why)
    }

    /// Whether the map cache has fewer pages than `least` of those of the map, and not all.
    fn map_cache_is_below(&self, least: impl Fn(u64) -> u64) -> bool {
        let (map, unit_bytes) = (&self.policy.map, self.policy.unit_bytes);
        let page_covers = u64::from(map.entries(unit_bytes)) * u64::from(unit_bytes);
        let pages = self.capacity_bytes.div_ceil(page_covers);
        !map.is_whole() && map.cache_bytes / u64::from(unit_bytes) < pages.min(least(pages))
    }
}

impl<P: Policies> Drive<P> {
    /// Bytes of a unit of the map: what is written without time is whole units.
    #[must_use]
    pub fn map_unit_bytes(&self) -> u32 {
        self.ftl.layout.unit_bytes
    }

    /// Writes spans of whole mapping units, one after another, without time; what is under way
    /// ends first, in its time. `go_on` is asked now and then, with the bytes so far; the answer is
    /// whether all was written.
    ///
    /// # Panics
    /// Where power cuts are switched on, under commands that are outstanding, and at spans that are
    /// not whole units of the drive. That the firmware's state does not hang on time is up to the
    /// caller ([`Config::precondition_refusal`]).
    pub fn precondition(
        &mut self,
        spans: impl IntoIterator<Item = Span>,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> bool {
        assert!(
            !self.ftl.has_power_cuts(),
            "what a cut leaves hangs on time"
        );
        assert_eq!(
            self.commands.outstanding(),
            0,
            "preconditioning under commands"
        );
        self.withdraw_offers();
        self.issue();
        self.end_operations();
        let mut work = Work::new(OPERATIONS_A_DIE * self.ftl.layout.dies as usize);
        let (mut spans, mut batch) = (spans.into_iter(), Vec::with_capacity(AHEAD));
        let (mut bytes, mut asked) = (0, 0u64);
        let mut whole = true;
        loop {
            batch.clear();
            let next = spans.by_ref().take(AHEAD);
            batch.extend(next.map(|span| (self.units_of(span), span.handle)));
            if batch.is_empty() || self.ftl.is_read_only() {
                break;
            }
            self.look_for(&batch);
            for &(units, handle) in &batch {
                bytes += self.write_without_time(units, handle, &mut work);
            }
            if bytes - asked >= ASKS {
                asked = bytes;
                whole = go_on(bytes);
                if !whole {
                    break;
                }
            }
        }
        self.finish_all(&mut work);
        self.wait_for_more();
        self.falls_quiet(self.now);
        whole
    }

    /// The units of a span.
    fn units_of(&self, span: Span) -> (u32, u32) {
        let (lba, sectors) = (span.lba, span.sectors);
        let unit = u64::from(self.ftl.layout.unit_bytes) / SECTOR_BYTES;
        let whole = lba.is_multiple_of(unit) && u64::from(sectors).is_multiple_of(unit);
        let end = (lba + u64::from(sectors)) * SECTOR_BYTES;
        assert!(
            whole && end <= self.capacity_bytes,
            "{sectors} sectors at {lba}"
        );
        ((lba / unit) as u32, (u64::from(sectors) / unit) as u32)
    }

    /// Asks memory for what these writes will touch.
    #[inline]
    fn look_for(&self, batch: &[((u32, u32), u8)]) {
        for &((lpn, _), _) in batch {
            self.ftl.expect(&[lpn]);
        }
        for &((lpn, _), _) in batch.iter().filter(|((_, units), _)| *units <= FEW_UNITS) {
            self.ftl.expect_overwrite(lpn);
        }
    }

    /// One write of a host; the answer is its bytes.
    #[inline]
    fn write_without_time(&mut self, (lpn, units): (u32, u32), handle: u8, work: &mut Work) -> u64 {
        let bytes = u64::from(units) * u64::from(self.ftl.layout.unit_bytes);
        let sectors = bytes / SECTOR_BYTES;
        self.totals.count(Op::Write, bytes);
        self.totals.end(Status::Ok);
        if self.errors.on {
            self.errors.replaced(lpn, units);
        }
        if !self.read_ahead.is_empty() {
            self.read_ahead.invalidate(lpn, units);
        }
        let lba = u64::from(lpn) * u64::from(self.ftl.layout.unit_bytes) / SECTOR_BYTES;
        let run = || self.runs.note(lba, sectors, bytes);
        let route = self.ftl.route(bytes, handle, run);
        let (mut at, end) = (lpn, lpn + units);
        while at < end {
            let known = self.bring_map(at, work);
            let burst = (end.min(known) - at).min(self.commands.burst_units());
            let reserved = self.make_place(route, burst, work);
            let placed = reserved.units();
            self.ftl.append_host(reserved, at, &mut self.ops);
            self.carry_out(work);
            at += placed;
        }
        bytes
    }

    /// Brings the map entry of a unit into RAM; all entries below the answer are at hand then.
    #[inline]
    fn bring_map(&mut self, lpn: u32, work: &mut Work) -> u32 {
        if !self.ftl.is_map_paged() {
            return u32::MAX;
        }
        loop {
            let found = self.ftl.look_up(lpn, &mut self.ops);
            work.take(&mut self.ops);
            match found {
                LookUp::Known => return self.ftl.map_page_end(lpn),
                LookUp::Fetch(slot) => self.ftl.map_fetched(slot),
                LookUp::Reading(_) | LookUp::Full => self.finish_one(work),
            }
            if self.ftl.is_map_at_hand(lpn) {
                return self.ftl.map_page_end(lpn);
            }
        }
    }

    /// Sets room aside for as many of a burst's units as there is room for, one at the least.
    #[inline]
    fn make_place(&mut self, route: Route, burst: u32, work: &mut Work) -> Reserved {
        loop {
            if let Some(reserved) = self.ftl.reserve_at_once(route, burst) {
                return reserved;
            }
            let placement = self.ftl.decide(route);
            if self.ftl.is_starved() {
                self.ftl.pump(&mut self.ops);
                work.take(&mut self.ops);
            }
            if let Some(placement) = placement {
                let units = burst.min(placement.room());
                return self.ftl.reserve(placement, units);
            }
            if work.waiting.is_empty() {
                // As a drive does whose buffer is full of nothing but partly filled granules.
                self.ftl.pad_host(&mut self.ops);
                self.ftl.pump(&mut self.ops);
                work.take(&mut self.ops);
                assert!(!work.waiting.is_empty(), "no room\n{}", self.describe());
            }
            self.finish_one(work);
        }
    }

    /// Operations begin; the oldest end where too many are under way.
    #[inline]
    fn carry_out(&mut self, work: &mut Work) {
        if !self.ops.is_empty() {
            work.take(&mut self.ops);
            while work.waiting.len() > work.at_once {
                self.finish_one(work);
            }
        }
    }

    fn finish_all(&mut self, work: &mut Work) {
        while !work.waiting.is_empty() {
            self.finish_one(work);
        }
        self.ftl.take_host_memory_writes();
    }

    /// The operation that was asked for first ends.
    fn finish_one(&mut self, work: &mut Work) {
        let Some(op) = work.waiting.pop_front() else {
            panic!("nothing is under way\n{}", self.describe());
        };
        assert!(
            !matches!(op.token, Token::Host(_) | Token::Rebuild(_)),
            "{op:?}"
        );
        if self.errors.on {
            self.note_age(op.token);
        }
        self.ftl.finish(op.token, &mut self.ops);
        if self.ftl.take_placed_again() {
            self.ftl.pad_host_through(&mut self.ops);
        }
        work.take(&mut self.ops);
    }
}

/// What the firmware has asked for and what has not ended.
struct Work {
    waiting: VecDeque<NandOp>,
    at_once: usize,
}

impl Work {
    fn new(at_once: usize) -> Work {
        let waiting = VecDeque::with_capacity(4 * at_once);
        Work { waiting, at_once }
    }

    #[inline]
    fn take(&mut self, ops: &mut Vec<NandOp>) {
        self.waiting.extend(ops.drain(..));
    }
}
