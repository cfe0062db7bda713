//! Bit errors: how many a read meets, the steps of the retry ladder that it takes to put them
//! right, what cannot be put right, and when data has to be refreshed.
//!
//! The age of a superblock's data is that of its first program, by a clock that a warm drive's data
//! grows old by faster ([`crate::ageing`]); the reads of each of its blocks are counted since. A
//! page's errors follow from both and from wear ([`flashtwin_nand::error`]), and pages differ by a
//! fixed share that their number decides: what is unreadable stays so, on every run. All reads are
//! graded, the firmware's own for folding, collection, checks and the map like the host's.
//!
//! Where a page has more errors than the code corrects, it is read again at other read voltages,
//! step by step of the ladder, each with fewer errors and at the cost of time on the die; then with
//! a soft decode. Data that even this does not correct is rebuilt from its stripe (see
//! [`crate::rebuild`]), or lost until it is written anew.
//!
//! A copy inside the die corrects nothing: its data keeps the errors of its source and gets those
//! of its new place on top. One figure a superblock holds them, the worst of its sources'.
//!
//! Firmwares also count the reads of each block and move its superblock's data after so many of
//! them, whatever its errors are: `errors.native.read_limit`, `errors.slc.read_limit`.
//!
//! Refresh is driven by events: the time at which a superblock reaches its threshold is known from
//! its first program on, as long as the drive gets no warmer, so that a year of rest costs a few
//! events, or one a day. Until the first of its pages asks for a step of the ladder, a superblock's
//! reads cost the simulation one comparison.

use std::collections::BTreeSet;

use flashtwin_base::Nanos;
use flashtwin_ftl::blocks::State;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::{Ftl, NandOp, Policies, Token};

use crate::ageing::{Aged, Ageing};
use crate::config::Errors;
use crate::engine::Drive;
use crate::event::Event;

/// Reads of a superblock's block after which its times are computed again.
const READS_LOOK: u64 = 4096;
/// When to look again at a superblock that cannot be refreshed because it is being written. Where
/// cells are so worn that age alone asks for refresh within this time, they are refreshed no more
/// often either: the copy would be no better, and the drive would do nothing else.
const LATER: Nanos = Nanos::from_secs(3600);

/// What a drive has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ErrorCounts {
    /// Steps of the retry ladder, soft decodes among them.
    pub retries: u64,
    /// Host reads that were answered unreadable.
    pub uncorrectable: u64,
    /// Rows made anew from the rest of their stripe.
    pub rebuilt: u64,
    /// Reads, the firmware's own among them, of rows that nothing brings back.
    pub lost_rows: u64,
}

/// The data of a superblock. Times are those of [`Ageing`].
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Data {
    /// When the first of it was programmed; never without data.
    since: Aged,
    /// Reads of the block that was read most.
    reads: u64,
    /// Before this no page of it takes a step of the ladder.
    calm: Aged,
    /// When it has to be refreshed.
    due: Aged,
    /// When it has too many errors to be copied inside the die.
    stale: Aged,
    /// Wrong bits a KiB that it was copied with: those of the worst source.
    carried: f64,
}

const EMPTY: Data = Data {
    since: Aged::NEVER,
    reads: 0,
    calm: Aged::NEVER,
    due: Aged::NEVER,
    stale: Aged::NEVER,
    carried: 0.0,
};

/// Ages, reads and losses of a drive.
pub(crate) struct BitErrors {
    /// Errors are simulated at all.
    pub(crate) on: bool,
    pub(crate) spec: Errors,
    data: Vec<Data>,
    /// Reads of each block of a superblock, die by die, since its data was programmed.
    reads: Vec<u32>,
    dies: u32,
    pub(crate) ageing: Ageing,
    /// Logical units that nothing can read.
    lost: BTreeSet<u32>,
    /// When the next look is due.
    timer: Nanos,
    pub(crate) counts: ErrorCounts,
}

flashtwin_base::state! { BitErrors {
    kept: lost, timer, counts;
    sized: data, reads;
    part: ageing;
    built: on, spec, dies;
} }

impl BitErrors {
    /// Errors of a drive with this clock, whose superblocks have blocks on so many dies.
    pub(crate) fn new(spec: &Errors, superblocks: u32, dies: u32, ageing: Ageing) -> BitErrors {
        let on = spec.correctable > 0;
        let superblocks = if on { superblocks as usize } else { 0 };
        BitErrors {
            on,
            spec: spec.clone(),
            data: vec![EMPTY; superblocks],
            reads: vec![0; superblocks * dies as usize],
            dies,
            ageing,
            lost: BTreeSet::new(),
            timer: Nanos::NEVER,
            counts: ErrorCounts::default(),
        }
    }

    /// Everything has been erased.
    pub(crate) fn forget(&mut self) {
        self.data.fill(EMPTY);
        self.reads.fill(0);
        self.lost.clear();
        self.timer = Nanos::NEVER;
    }

    /// The timer is gone; data grows old without power too.
    pub(crate) fn power_lost(&mut self) {
        self.timer = Nanos::NEVER;
    }

    /// Data that the host replaces or gives up is lost no more.
    #[inline]
    pub(crate) fn replaced(&mut self, lpn: u32, units: u32) {
        if !self.lost.is_empty() {
            (lpn..lpn + units).for_each(|lpn| {
                self.lost.remove(&lpn);
            });
        }
    }

    /// Whether any unit is lost.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Whether any unit of a run is lost.
    #[inline]
    pub(crate) fn is_lost(&self, lpn: u32, units: u32) -> bool {
        !self.lost.is_empty() && self.lost.range(lpn..lpn + units).next().is_some()
    }

    /// Nothing is left in a superblock.
    fn erased(&mut self, superblock: u32) {
        self.data[superblock as usize] = EMPTY;
        let dies = self.dies as usize;
        self.reads[superblock as usize * dies..][..dies].fill(0);
    }

    /// Counts a read of a superblock's block on a die; the answer is how many there have been.
    fn count_read(&mut self, superblock: u32, die: u16) -> u32 {
        let die = u32::from(die);
        let die = if die < self.dies {
            die
        } else {
            die % self.dies
        };
        let block = superblock * self.dies + die;
        let reads = &mut self.reads[block as usize];
        *reads = reads.saturating_add(1);
        let data = &mut self.data[superblock as usize];
        data.reads = data.reads.max(u64::from(*reads));
        *reads
    }

    /// Wrong bits a KiB of the average page of a block that was read so often, at its wear.
    fn bits<P: Policies>(&self, ftl: &Ftl<P>, superblock: u32, reads: u64, now: Nanos) -> f64 {
        let data = self.data[superblock as usize];
        let age = self.ageing.clock(now).since(data.since);
        self.spec
            .of(ftl.superblocks()[superblock as usize].mode)
            .bits(wear_of(ftl, superblock), age, reads as f64)
            + data.carried
    }

    /// The same of the block that was read most.
    fn worst_bits<P: Policies>(&self, ftl: &Ftl<P>, superblock: u32, now: Nanos) -> f64 {
        self.bits(ftl, superblock, self.data[superblock as usize].reads, now)
    }

    /// The step of the ladder at which so many wrong bits are put right; none when never.
    fn step(&self, bits: f64) -> Option<u8> {
        let limit = f64::from(self.spec.correctable);
        let mut left = bits;
        for step in 0..=self.spec.retry_steps {
            if left <= limit {
                return Some(step);
            }
            left /= self.spec.retry_gain;
        }
        let soft = left * self.spec.retry_gain <= limit * self.spec.soft_gain;
        soft.then_some(self.spec.retry_steps + 1)
    }

    /// When the data of a superblock, after `more` further reads, reaches a share of the
    /// correctable bits. Where it gets there without any reads, no earlier than `soonest`. Never
    /// where the share is 0, or where it takes more than a century.
    fn reaches<P: Policies>(
        &self,
        ftl: &Ftl<P>,
        superblock: u32,
        (share, more): (f64, u64),
        soonest: Nanos,
    ) -> Aged {
        let data = self.data[superblock as usize];
        if share == 0.0 || data.since == Aged::NEVER {
            return Aged::NEVER;
        }
        let worst = f64::from(self.spec.correctable) * share;
        let mean = worst / (1.0 + self.spec.page_spread) - data.carried;
        let (wear, reads) = (wear_of(ftl, superblock), (data.reads + more) as f64);
        let mode = ftl.superblocks()[superblock as usize].mode;
        let rates = self.spec.of(mode);
        let age = if rates.age_at(mean, wear, 0.0) < soonest {
            soonest
        } else {
            rates.age_at(mean, wear, reads)
        };
        data.since.plus(age)
    }
}

/// The wear of a superblock, this program counted.
fn wear_of<P: Policies>(ftl: &Ftl<P>, superblock: u32) -> f64 {
    let (block, rated) = (&ftl.superblocks()[superblock as usize], ftl.rated());
    rated.wear_of(block) + rated.cycle_in(block.mode)
}

/// A number from -1 to 1 that belongs to a row: how it differs from the average page.
fn difference(row: u32) -> f64 {
    let mut mixed = u64::from(row).wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

impl<P: Policies> Drive<P> {
    /// What bit errors have cost so far.
    #[must_use]
    pub fn error_counts(&self) -> ErrorCounts {
        self.errors.counts
    }

    /// A row is going to be read on a die: the steps of the ladder that it takes, and whether its
    /// data can be had.
    pub(crate) fn grade(&mut self, superblock: u32, row: u32, die: u16) -> (u8, bool) {
        let reads = self.errors.count_read(superblock, die);
        if u64::from(reads).is_multiple_of(READS_LOOK) {
            self.look_at_due(superblock);
        }
        let clock = self.errors.ageing.clock(self.now);
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
        let bits = errors.bits(&self.ftl, superblock, reads.into(), self.now);
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
    pub(crate) fn grade_units(&mut self, op: &mut NandOp, ppn: u32, lpn: u32, units: u32) {
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
    pub(crate) fn grade_own(&mut self, index: usize) {
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
        if ageing.clock(self.now).since(data.since) > ageing.span(LATER) {
            self.refresh_soon(superblock);
        }
    }

    /// The data of a superblock is moved as soon as may be.
    pub(crate) fn refresh_soon(&mut self, superblock: u32) {
        let clock = self.errors.ageing.clock(self.now);
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
            return self.errors.ageing.since_then(self.now);
        }
        self.errors.ageing.clock(self.now)
    }

    /// The first program of a superblock has ended. What a used drive is filled with may be due for
    /// refresh at once: it is not before the superblock has been written.
    fn begin_ageing(&mut self, superblock: u32, since: Aged) {
        self.errors.data[superblock as usize].since = since;
        self.look_at_due(superblock);
        let soonest = self.errors.ageing.after(self.now, LATER);
        let data = &mut self.errors.data[superblock as usize];
        if data.due < soonest {
            data.due = soonest;
        }
    }

    /// An operation ends: data grows old from its program on.
    pub(crate) fn note_age(&mut self, token: Token) {
        match token {
            Token::Program(place) | Token::Copyback(place) => {
                let superblock = self.ftl.superblock_of_flight(place);
                let carried = match token {
                    Token::Copyback(_) => {
                        let source = self.ftl.source_of_copyback(place);
                        self.errors.worst_bits(&self.ftl, source, self.now)
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
    pub(crate) fn is_first_program(&self, place: u32) -> bool {
        let superblock = self.ftl.superblock_of_flight(place);
        self.errors.data[superblock as usize].since == Aged::NEVER
    }

    /// After a start from flash: what the start `erased` is new, what it wrote back is of now, and
    /// times of refresh are looked for again.
    pub(crate) fn age_after_start(&mut self, erased: &[u32]) {
        if !self.errors.on {
            return;
        }
        for &superblock in erased {
            self.errors.erased(superblock);
        }
        let clock = self.errors.ageing.clock(self.now);
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
    pub(crate) fn repeats_until_due(&self, host_units: u64, time: Nanos) -> u64 {
        let clock = self.errors.ageing.clock(self.now);
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
    pub(crate) fn grow_old(&mut self, host_units: u64, time: Nanos) {
        if !self.errors.on {
            return;
        }
        let span = self.errors.ageing.skip(self.now, time);
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
            errors.ageing.clock(self.now)
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
        let at = self.errors.ageing.look_at(due, self.now);
        if at < self.errors.timer {
            self.errors.timer = at;
            self.events.push(at, Event::RefreshTimer);
        }
    }

    /// Superblocks whose data is at risk by now are refreshed; the next one sets the timer.
    pub(crate) fn refresh_timer(&mut self) {
        if self.now < self.errors.timer || self.ftl.is_read_only() {
            return;
        }
        self.errors.timer = Nanos::NEVER;
        if self.background.purging {
            // The purge erases what would have been refreshed.
            return;
        }
        let (mut next, mut any) = (Aged::NEVER, false);
        let clock = self.errors.ageing.clock(self.now);
        for superblock in 0..self.errors.data.len() {
            if self.errors.data[superblock].due <= clock {
                any = true;
                let begun = self.ftl.refresh(superblock as u32, &mut self.ops);
                let retired = self.ftl.superblocks()[superblock].state == State::Retired;
                let later = if begun || retired {
                    Aged::NEVER
                } else {
                    self.errors.ageing.after(self.now, LATER)
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
}
