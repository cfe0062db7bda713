//! Reads meet bit errors, rows are rebuilt from their stripes, and old data is refreshed (see
//! [`crate::errors`] and [`crate::rebuild`]).

use flashtwin_base::Nanos;
use flashtwin_ftl::blocks::State;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::{NandOp, Policies, Token};

use super::Drive;
use crate::ageing::Aged;
use crate::errors::{ErrorCounts, LATER, READS_LOOK, difference};
use crate::event::Event;
use crate::rebuild::Rebuild;

impl<P: Policies> Drive<P> {
    /// What bit errors have cost so far.
    #[must_use]
    pub fn error_counts(&self) -> ErrorCounts {
        self.errors.counts
    }

    /// A row is going to be read on a die: the steps of the ladder that it takes, and whether its
    /// data can be had.
    pub(super) fn grade(&mut self, superblock: u32, row: u32, die: u16) -> (u8, bool) {
        let reads = self.errors.count_read(superblock, die);
        if u64::from(reads).is_multiple_of(READS_LOOK) {
            self.look_at_due(superblock);
        }
        let clock = self.errors.ageing.clock(self.clock.now());
        if clock < self.errors.data[superblock as usize].calm {
            return (0, true);
        }
        self.climb(superblock, row, reads)
    }

    /// The same of a row that may have more wrong bits than a first decode corrects.
    #[cold]
    fn climb(&mut self, superblock: u32, row: u32, reads: u32) -> (u8, bool) {
        let errors = &mut self.errors;
        let spread = 1.0 + errors.spec.page_spread * difference(row);
        let bits = errors.bits(&self.ftl, superblock, reads.into(), self.clock.now());
        let step = errors.step(bits * spread);
        let last = errors.spec.retry_steps + 1;
        errors.counts.retries += u64::from(step.unwrap_or(last));
        (step.unwrap_or(last + 1), step.is_some())
    }

    /// A read of the row that a physical unit lies in: the steps that it takes, and whether its
    /// data can be had, if need be from the rest of its stripe.
    fn grade_read(&mut self, op: &mut NandOp, ppn: u32) -> bool {
        let superblock = self.ftl.layout().superblock_of(ppn);
        let (steps, readable) = self.grade(superblock, self.ftl.layout().row_of(ppn), op.die);
        op.retries = steps;
        readable || (self.errors.spec.rebuild && self.rebuild(op, ppn))
    }

    /// The steps of a row read for logical units, which may turn out to be lost.
    #[cold]
    pub(super) fn grade_units(&mut self, op: &mut NandOp, ppn: u32, lpn: u32, units: u32) {
        if !self.grade_read(op, ppn) {
            self.errors.counts.lost_rows += 1;
            self.loses(lpn..lpn + units);
        }
    }

    /// A read of the firmware's own, one of those that are about to be issued. What it cannot read
    /// of the host's is lost for good, wherever it is moved. Pages of the map are kept so that they
    /// can be made anew (drives have a second copy of them, or the spare areas of what they point
    /// to): one that cannot be read costs the whole ladder, and its superblock is refreshed.
    #[inline]
    pub(super) fn grade_own(&mut self, index: usize) {
        let token = self.ops[index].token;
        let Some(first) = self.ftl.source_of_read(token) else {
            return;
        };
        let superblock = self.ftl.layout().superblock_of(first);
        let row = self.ftl.layout().row_of(first);
        let (steps, readable) = self.grade(superblock, row, self.ops[index].die);
        self.ops[index].retries = steps;
        if !readable {
            self.cannot_read_own(index, first);
        }
    }

    /// Units are lost: writes of them, once understood, make them readable again.
    fn loses(&mut self, units: impl IntoIterator<Item = u32>) {
        self.take_back_all();
        self.errors.lost.extend(units);
    }

    #[cold]
    fn cannot_read_own(&mut self, index: usize, first: u32) {
        // The read may become that of a rebuild.
        let mut op = self.ops[index];
        let token = op.token;
        let readable = self.errors.spec.rebuild && self.rebuild(&mut op, first);
        self.ops[index] = op;
        if readable {
            return;
        }
        match token {
            Token::FoldRead(_) | Token::GcRead(_) => {
                self.errors.counts.lost_rows += 1;
                let lost = self.ftl.units_of_row(first);
                self.loses(lost);
            }
            // The check finds what the fold will meet.
            Token::FoldCheck(_) => {}
            _ => self.refresh_old(self.ftl.layout().superblock_of(first)),
        }
    }

    /// A superblock is refreshed soon, unless its data is so new that a copy would be no better.
    fn refresh_old(&mut self, superblock: u32) {
        let (ageing, data) = (&self.errors.ageing, self.errors.data[superblock as usize]);
        if ageing.clock(self.clock.now()).since(data.since) > ageing.span(LATER) {
            self.refresh_soon(superblock);
        }
    }

    /// The data of a superblock is moved as soon as may be.
    pub(super) fn refresh_soon(&mut self, superblock: u32) {
        let clock = self.errors.ageing.clock(self.clock.now());
        let data = &mut self.errors.data[superblock as usize];
        if data.since < Aged::NEVER {
            data.due = clock;
            self.set_refresh_timer(clock);
        }
    }

    /// When data that is programmed now begins to grow old: now, or, for what the host first fills
    /// the drive with, when the drive's life began.
    fn programmed_at(&self, place: u32) -> Aged {
        let units = self.ftl.counters().host_units;
        if units <= u64::from(self.ftl.logical_units()) && self.ftl.is_hosts_data(place) {
            return self.errors.ageing.since_then(self.clock.now());
        }
        self.errors.ageing.clock(self.clock.now())
    }

    /// The first program of a superblock has ended. What a used drive is filled with may be due for
    /// refresh at once: it is not before the superblock has been written.
    fn begin_ageing(&mut self, superblock: u32, since: Aged) {
        self.errors.data[superblock as usize].since = since;
        self.look_at_due(superblock);
        let soonest = self.errors.ageing.after(self.clock.now(), LATER);
        let data = &mut self.errors.data[superblock as usize];
        if data.due < soonest {
            data.due = soonest;
        }
    }

    /// An operation ends: data grows old from its program on.
    pub(super) fn note_age(&mut self, token: Token) {
        match token {
            Token::Program(place) | Token::Copyback(place) => {
                let superblock = self.ftl.superblock_of_flight(place);
                let carried = match token {
                    Token::Copyback(_) => {
                        let source = self.ftl.source_of_copyback(place);
                        self.errors.worst_bits(&self.ftl, source, self.clock.now())
                    }
                    _ => 0.0,
                };
                let data = &mut self.errors.data[superblock as usize];
                let worse = carried > data.carried;
                data.carried = data.carried.max(carried);
                if worse && data.since < Aged::NEVER {
                    self.look_at_due(superblock);
                }
                if self.errors.data[superblock as usize].since == Aged::NEVER {
                    self.begin_ageing(superblock, self.programmed_at(place));
                }
            }
            Token::Erase(superblock) => self.errors.erased(superblock),
            _ => {}
        }
    }

    /// Whether no program of a superblock has ended yet, with which its data begins to grow old.
    #[inline]
    pub(super) fn is_first_program(&self, place: u32) -> bool {
        let superblock = self.ftl.superblock_of_flight(place);
        self.errors.data[superblock as usize].since == Aged::NEVER
    }

    /// After a start from flash: what the start `erased` is new, what it wrote back is of now, and
    /// times of refresh are looked for again.
    pub(super) fn age_after_start(&mut self, erased: &[u32]) {
        if !self.errors.on {
            return;
        }
        for &superblock in erased {
            self.errors.erased(superblock);
        }
        let clock = self.errors.ageing.clock(self.clock.now());
        for superblock in 0..self.errors.data.len() as u32 {
            let holds = self.ftl.superblocks()[superblock as usize].valid > 0;
            let data = &mut self.errors.data[superblock as usize];
            if holds && data.since == Aged::NEVER {
                data.since = clock;
            }
            if data.since < Aged::NEVER {
                self.look_at_due(superblock);
            }
        }
    }

    /// A superblock was opened while the host wrote its last `host_units`.
    fn was_written_within(&self, superblock: usize, host_units: u64) -> bool {
        let opened = self.ftl.superblocks()[superblock].opened_at();
        opened + host_units >= self.counters().host_units
    }

    /// How often a time can pass before data has to be refreshed, or must not be copied inside the
    /// die, that the host's last units have left alone.
    pub(super) fn repeats_until_due(&self, host_units: u64, time: Nanos) -> u64 {
        let clock = self.errors.ageing.clock(self.clock.now());
        let all = self.errors.data.iter().enumerate();
        let resting = all.filter(|&(at, data)| {
            data.since < Aged::NEVER && !self.was_written_within(at, host_units)
        });
        let due = resting.map(|(_, data)| data.due.min(data.stale)).min();
        let Some(due) = due.filter(|&due| due < Aged::NEVER) else {
            return u64::MAX;
        };
        due.since(clock).0 / self.errors.ageing.span(time).0.max(1)
    }

    /// A time has passed at once: data gets older by it that the host's last units have left alone.
    /// Data that was written with them was written again and again.
    pub(super) fn grow_old(&mut self, host_units: u64, time: Nanos) {
        if !self.errors.on {
            return;
        }
        let span = self.errors.ageing.skip(self.clock.now(), time);
        self.errors.timer = Nanos::NEVER;
        for superblock in 0..self.errors.data.len() {
            let since = self.errors.data[superblock].since;
            if since == Aged::NEVER {
                continue;
            }
            if self.was_written_within(superblock, host_units) {
                self.errors.data[superblock].since = since.plus(span);
            }
            self.look_at_due(superblock as u32);
        }
    }

    fn look_at_due(&mut self, superblock: u32) {
        let (errors, ftl) = (&self.errors, &self.ftl);
        let later = errors.ageing.span(LATER);
        let mode = ftl.superblocks()[superblock as usize].mode;
        let (reads, since) = {
            let data = &errors.data[superblock as usize];
            (data.reads, data.since)
        };
        let due = if since < Aged::NEVER && errors.spec.is_read_too_often(mode, reads) {
            errors.ageing.clock(self.clock.now())
        } else {
            errors.reaches(ftl, superblock, (errors.spec.refresh_at, 0), later)
        };
        let stale = match mode {
            Mode::Slc => errors.reaches(ftl, superblock, (errors.spec.copy_at, 0), Nanos::ZERO),
            Mode::Native | Mode::Tier => Aged::NEVER,
        };
        // These times are computed again after `READS_LOOK` more reads, which are reckoned in.
        let calm = errors.reaches(ftl, superblock, (1.0, READS_LOOK), Nanos::ZERO);
        let data = &mut self.errors.data[superblock as usize];
        (data.due, data.stale, data.calm) = (due, stale, calm);
        self.set_refresh_timer(due.min(stale));
    }

    /// A look at the superblocks when something is due, by the clock of their data.
    fn set_refresh_timer(&mut self, due: Aged) {
        if due == Aged::NEVER {
            return;
        }
        let at = self.errors.ageing.look_at(due, self.clock.now());
        if at < self.errors.timer {
            self.errors.timer = at;
            self.clock.push(at, Event::RefreshTimer);
        }
    }

    /// Superblocks whose data is at risk by now are refreshed; the next one sets the timer.
    pub(super) fn refresh_timer(&mut self) {
        if self.clock.now() < self.errors.timer || self.ftl.is_read_only() {
            return;
        }
        self.errors.timer = Nanos::NEVER;
        if self.background.purging {
            // The purge erases what would have been refreshed.
            return;
        }
        let (mut next, mut any) = (Aged::NEVER, false);
        let clock = self.errors.ageing.clock(self.clock.now());
        for superblock in 0..self.errors.data.len() {
            if self.errors.data[superblock].due <= clock {
                any = true;
                let begun = self.ftl.refresh(superblock as u32, &mut self.ops);
                let retired = self.ftl.superblocks()[superblock].state == State::Retired;
                let later = if begun || retired {
                    Aged::NEVER
                } else {
                    self.errors.ageing.after(self.clock.now(), LATER)
                };
                self.errors.data[superblock].due = later;
            }
            if self.errors.data[superblock].stale <= clock {
                self.ftl.distrust(superblock as u32);
                self.errors.data[superblock].stale = Aged::NEVER;
            }
            let data = &self.errors.data[superblock];
            next = next.min(data.due).min(data.stale);
        }
        if any {
            self.ftl.pump(&mut self.ops);
            self.issue();
        }
        self.set_refresh_timer(next);
    }

    /// The read of a row is going to fail: the rest of its stripe will be read, where it has
    /// parity. The answer is whether that brings its data back.
    pub(super) fn rebuild(&mut self, op: &mut NandOp, ppn: u32) -> bool {
        let Some(mates) = self.ftl.stripe_mates(ppn) else {
            return false;
        };
        let place = self.ftl.wordline_at(ppn);
        let superblock = place.0;
        let (mut reads, mut readable) = (Vec::with_capacity(mates.len()), true);
        for mate in mates {
            let (retries, had) = self.grade(superblock, mate.row, mate.die);
            readable &= had;
            reads.push(NandOp {
                die: mate.die,
                class: mate.class,
                retries,
                pace: self.pace(mate.class, mate.die, place),
                ..*op
            });
        }
        let token = op.token;
        let place = self.rebuilds.add(Rebuild {
            token,
            reads,
            pending: 1,
            refresh: readable.then_some(superblock),
        });
        op.token = Token::Rebuild(place);
        self.errors.counts.rebuilt += u64::from(readable);
        readable
    }

    /// A read for a rebuild has come back. The failed read sends those of the other rows, and the
    /// last of these ends the operation that asked for the row.
    #[cold]
    pub(super) fn rebuild_read(&mut self, place: u32, op: NandOp) {
        let rebuild = &mut self.rebuilds.all[place as usize];
        rebuild.pending -= 1;
        let reads = std::mem::take(&mut rebuild.reads);
        rebuild.pending += reads.len() as u32;
        for mut read in reads {
            read.token = op.token;
            self.send_to_flash(read);
        }
        let rebuild = &mut self.rebuilds.all[place as usize];
        if rebuild.pending == 0 {
            // A vacant place does not keep the number of an answered command, which is no part of
            // the drive's state.
            let token = std::mem::replace(&mut rebuild.token, Token::Host(0));
            let refresh = rebuild.refresh;
            self.rebuilds.vacant.push(place);
            if let Some(superblock) = refresh {
                self.refresh_soon(superblock);
            }
            self.operation_ended(NandOp { token, ..op });
        }
    }
}
