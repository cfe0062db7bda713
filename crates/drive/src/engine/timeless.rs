//! What a drive does without time: it is prepared (see [`crate::precondition`]), and a stretch of a
//! load is repeated (see [`crate::repeat`]).

use flashtwin_base::{Op, Status};
use flashtwin_ftl::{Cycles, LookUp, Policies, Reserved, Route, Token};

use super::Drive;
use crate::command::SECTOR_BYTES;
use crate::precondition::{Span, Work};
use crate::repeat::{Mark, Stretch};

/// Writes whose map entries and old copies are looked up ahead of their turn, as many as hosts that
/// precondition have outstanding.
const AHEAD: usize = 32;
/// Bytes from one question whether to go on to the next.
const ASKS: u64 = 256 << 20;
/// Operations that ended from one question to the next, where much is moved for few bytes.
const ENDS: u64 = 1 << 20;
/// Writes of up to so many units are looked for ahead: the map entries of a longer write lie side
/// by side, and a first fill overwrites nothing.
const FEW_UNITS: u32 = 4;

impl<P: Policies> Drive<P> {
    /// Bytes of a unit of the map: what is written without time is whole units.
    #[must_use]
    pub fn map_unit_bytes(&self) -> u32 {
        self.ftl.layout().unit_bytes
    }

    /// Writes spans of whole mapping units, one after another, without time; what is under way
    /// ends first, in its time. `go_on` is asked now and then, with the bytes so far; the answer is
    /// whether all was written.
    ///
    /// # Panics
    /// Where power cuts are switched on, under commands that are outstanding, and at spans that are
    /// not whole units of the drive. That the firmware's state does not depend on time is up to the
    /// caller ([`Config::precondition_refusal`]).
    pub fn precondition(
        &mut self,
        spans: impl IntoIterator<Item = Span>,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> bool {
        assert!(
            !self.ftl.has_power_cuts(),
            "what a cut leaves depends on time"
        );
        assert_eq!(
            self.commands.outstanding(),
            0,
            "preconditioning under commands"
        );
        self.withdraw_offers();
        self.issue();
        self.end_operations();
        let mut work = Work::new(&self.flash, self.controller.cores);
        let mut spans = spans.into_iter();
        let (mut batch, mut next) = (Batch::new(), Batch::new());
        self.take_batch(&mut spans, &mut next);
        self.ask_map_for(&mut next.writes, &mut work);
        let (mut bytes, mut asked) = (0, 0u64);
        let mut is_complete = true;
        while is_complete && !next.writes.is_empty() && !self.ftl.is_read_only() {
            std::mem::swap(&mut batch, &mut next);
            self.take_batch(&mut spans, &mut next);
            bytes += if self.places_together(&batch) {
                self.write_units(&batch, &mut work)
            } else {
                self.write_batch(&batch, &mut next, &mut work)
            };
            if bytes - asked >= ASKS || work.ended() >= ENDS {
                asked = bytes;
                work.ask();
                is_complete = go_on(bytes);
            }
        }
        self.finish_all(&mut work);
        self.wait_for_more();
        self.falls_quiet(self.clock.now());
        is_complete
    }

    /// The writes that come next, as many as a host has outstanding, and asks memory for what they
    /// will touch.
    #[inline]
    fn take_batch(&self, spans: &mut impl Iterator<Item = Span>, batch: &mut Batch) {
        batch.clear();
        for span in spans.take(AHEAD) {
            batch.push(self.write_of(span));
        }
        self.ftl.expect_many(&batch.lpns);
        for write in batch.writes.iter().filter(|write| write.units <= FEW_UNITS) {
            self.ftl.expect_overwrite(write.lpn);
        }
    }

    /// Writes one after another, each of which begins the look-up of the map for one that is as far
    /// behind it as hosts have writes outstanding; the answer is their bytes.
    fn write_batch(&mut self, batch: &Batch, next: &mut Batch, work: &mut Work) -> u64 {
        let mut bytes = 0;
        for (at, &write) in batch.writes.iter().enumerate() {
            bytes += self.write_without_time(write, work);
            if let Some(later) = next.writes.get_mut(at..=at) {
                self.ask_map_for(later, work);
            }
        }
        bytes
    }

    /// Whether the firmware takes units together, and these writes are units, of which none comes
    /// to lost data or to data that has been read ahead.
    fn places_together(&self, batch: &Batch) -> bool {
        batch.is_units
            && self.ftl.places_units_together()
            && self.ftl.routes_alike(0)
            && self.read_ahead.is_empty()
            && !self.errors.has_lost()
    }

    /// Writes of one unit each, as many together as nothing else happens in between; the answer is
    /// their bytes.
    fn write_units(&mut self, batch: &Batch, work: &mut Work) -> u64 {
        let unit_bytes = u64::from(self.ftl.layout().unit_bytes);
        let (mut at, mut bytes) = (0, 0);
        while at < batch.lpns.len() {
            let placed = self.ftl.place_units(&batch.lpns[at..], &mut self.ops);
            if placed > 0 {
                self.carry_out(work);
                self.totals.count_all(Op::Write, placed as u64, unit_bytes);
                bytes += placed as u64 * unit_bytes;
                at += placed;
            } else if self.ftl.makes_host_wait() && !work.is_none() {
                self.finish_one(work);
            } else {
                bytes += self.write_without_time(batch.writes[at], work);
                at += 1;
            }
        }
        bytes
    }

    /// Begins to look up the map for writes whose turn comes later, as for the commands that a host
    /// has outstanding.
    #[inline]
    fn ask_map_for(&mut self, batch: &mut [Write], work: &mut Work) {
        if !self.ftl.is_map_paged() {
            return;
        }
        for write in batch {
            let answer = self.ftl.look_up(write.lpn, &mut self.ops);
            work.take(&self.firmware, &mut self.ops);
            if let LookUp::Fetch(slot) = answer {
                self.ftl.map_fetched(slot);
            }
            write.is_looked_up = answer != LookUp::Full;
        }
    }

    /// The units of a span.
    fn write_of(&self, span: Span) -> Write {
        let (lba, sectors) = (span.lba, span.sectors);
        let unit = u64::from(self.ftl.layout().unit_bytes) / SECTOR_BYTES;
        let is_whole_units = lba.is_multiple_of(unit) && u64::from(sectors).is_multiple_of(unit);
        let end = (lba + u64::from(sectors)) * SECTOR_BYTES;
        assert!(
            is_whole_units && end <= self.capacity_bytes,
            "{sectors} sectors at {lba}"
        );
        Write {
            lpn: (lba / unit) as u32,
            units: (u64::from(sectors) / unit) as u32,
            handle: span.handle,
            is_looked_up: false,
        }
    }

    /// One write of a host; the answer is its bytes.
    #[inline]
    fn write_without_time(&mut self, write: Write, work: &mut Work) -> u64 {
        let Write { lpn, units, .. } = write;
        let bytes = u64::from(units) * u64::from(self.ftl.layout().unit_bytes);
        let sectors = bytes / SECTOR_BYTES;
        self.totals.count(Op::Write, bytes);
        self.totals.end(Status::Ok);
        if self.errors.are_on() {
            self.errors.replaced(lpn, units);
        }
        if !self.read_ahead.is_empty() {
            self.read_ahead.invalidate(lpn, units);
        }
        let lba = u64::from(lpn) * u64::from(self.ftl.layout().unit_bytes) / SECTOR_BYTES;
        let run = || self.runs.note(lba, sectors, bytes);
        let route = self.ftl.route(bytes, write.handle, run);
        let (mut at, end) = (lpn, lpn + units);
        while at < end {
            let known = self.bring_map(at, write.is_looked_up && at == lpn, work);
            // The size of a batch changes nothing while no mover is at work.
            let most = if self.ftl.leaves_movers_at_rest() {
                self.ftl.layout().native_units
            } else {
                self.commands.burst_units()
            };
            let burst = (end.min(known) - at).min(most);
            let reserved = self.make_place(route, burst, work);
            let placed = reserved.units();
            self.ftl.append_host(reserved, at, &mut self.ops);
            self.carry_out(work);
            at += placed;
        }
        bytes
    }

    /// Brings the map entry of a unit into RAM; all entries below the answer are at hand then. One
    /// that is looked up already comes with its page, and is known even if the page leaves again.
    #[inline]
    fn bring_map(&mut self, lpn: u32, is_looked_up: bool, work: &mut Work) -> u32 {
        if !self.ftl.is_map_paged() {
            return u32::MAX;
        }
        let mut is_known = is_looked_up;
        loop {
            while self.ftl.is_map_coming(lpn) {
                self.finish_one(work);
            }
            if is_known {
                return self.ftl.map_page_end(lpn);
            }
            let answer = self.ftl.look_up(lpn, &mut self.ops);
            work.take(&self.firmware, &mut self.ops);
            is_known = answer != LookUp::Full;
            match answer {
                LookUp::Known | LookUp::Reading(_) => {}
                LookUp::Fetch(slot) => self.ftl.map_fetched(slot),
                LookUp::Full => self.finish_one(work),
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
                work.take(&self.firmware, &mut self.ops);
            }
            if let Some(placement) = placement {
                let units = burst.min(placement.room());
                return self.ftl.reserve(placement, units);
            }
            if work.is_none() {
                // Only partly filled granules are left in the buffer: they are padded, as by the
                // engine.
                self.ftl.pad_host(&mut self.ops);
                self.ftl.pump(&mut self.ops);
                work.take(&self.firmware, &mut self.ops);
                assert!(!work.is_none(), "no room\n{}", self.describe());
            }
            self.finish_one(work);
        }
    }

    /// Operations begin; the oldest end where too many are under way.
    #[inline]
    fn carry_out(&mut self, work: &mut Work) {
        if !self.ops.is_empty() {
            work.take(&self.firmware, &mut self.ops);
            while work.is_too_much() {
                self.finish_one(work);
            }
        }
    }

    fn finish_all(&mut self, work: &mut Work) {
        while !work.is_none() {
            self.finish_one(work);
        }
        self.ftl.take_host_memory_writes();
    }

    /// The operation ends whose die is through with it first.
    fn finish_one(&mut self, work: &mut Work) {
        let Some(token) = work.end_next() else {
            panic!("nothing is under way\n{}", self.describe());
        };
        assert!(
            !matches!(token, Token::Host(_) | Token::Rebuild(_)),
            "{token:?}"
        );
        if self.errors.are_on() {
            self.errors.note_end(token, &self.ftl, &mut self.clock);
        }
        self.ftl.finish(token, &mut self.ops);
        if self.ftl.take_placed_again() {
            self.ftl.pad_host_through(&mut self.ops);
        }
        work.take(&self.firmware, &mut self.ops);
    }

    /// The work so far, to be handed to [`Drive::since`].
    #[must_use]
    pub fn mark(&self) -> Mark {
        let work = (*self.counters(), self.ftl.cycles());
        let power = (self.state_times(), self.energy_fj());
        Mark::after(Stretch::so_far(self.clock.now(), work, self.totals, power))
    }

    /// The work since a mark.
    #[must_use]
    pub fn since(&self, mark: &Mark) -> Stretch {
        self.mark().into_stretch().since(mark)
    }

    /// How often a stretch can come again before the law changes, where the load writes everything
    /// again within `again_bytes` of the host's.
    #[must_use]
    pub fn repeats_until_change(&self, stretch: &Stretch, again_bytes: u64) -> u64 {
        let worn = self.ftl.repeats_until_worn(stretch.cycles());
        let (units, now) = (self.units_of(again_bytes), self.clock.now());
        let ftl = &self.ftl;
        worn.min(
            self.errors
                .repeats_until_due(units, stretch.time(), ftl, now),
        )
    }

    fn units_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.map_unit_bytes()))
    }

    /// Adds a stretch `times` times over, or as often as the law allows; the answer is how often.
    /// `timeless_bytes` of the host were written without time meanwhile: what they would have taken
    /// of time and energy is added too. `again_bytes`: see [`Drive::repeats_until_change`].
    ///
    /// # Panics
    /// Under commands that are outstanding.
    pub fn repeat(
        &mut self,
        stretch: &Stretch,
        times: u64,
        timeless_bytes: u64,
        again_bytes: u64,
    ) -> u64 {
        assert_eq!(self.commands.outstanding(), 0, "repeating under commands");
        let times = times.min(self.repeats_until_change(stretch, again_bytes));
        let before = self.repeated.time();
        self.repeated.add(stretch, times);
        self.repeated.add(&stretch.taken_by(timeless_bytes), 1);
        let mut wear = Cycles::default();
        wear.add(stretch.cycles(), times);
        self.ftl.wear_on(&wear);
        let passed = self.repeated.time() - before;
        let units = self.units_of(again_bytes);
        self.errors
            .grow_old(units, passed, &self.ftl, &mut self.clock);
        times
    }
}

/// A write whose turn comes.
#[derive(Clone, Copy)]
struct Write {
    lpn: u32,
    units: u32,
    handle: u8,
    /// The map entry of its first unit is at hand, or its page is being read.
    is_looked_up: bool,
}

/// Writes whose turn comes together.
struct Batch {
    writes: Vec<Write>,
    /// The first unit of each.
    lpns: Vec<u32>,
    /// Each is one unit, and none has a placement handle.
    is_units: bool,
}

impl Batch {
    fn new() -> Batch {
        Batch {
            writes: Vec::with_capacity(AHEAD),
            lpns: Vec::with_capacity(AHEAD),
            is_units: true,
        }
    }

    fn clear(&mut self) {
        self.writes.clear();
        self.lpns.clear();
        self.is_units = true;
    }

    #[inline]
    fn push(&mut self, write: Write) {
        self.is_units &= write.units == 1 && write.handle == 0;
        self.lpns.push(write.lpn);
        self.writes.push(write);
    }
}
