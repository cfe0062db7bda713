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
use crate::clock::Clock;
use crate::config::Errors;
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
    on: bool,
    spec: Errors,
    data: Vec<Data>,
    /// Reads of each block of a superblock, die by die, since its data was programmed.
    reads: Vec<u32>,
    dies: u32,
    ageing: Ageing,
    /// Logical units that nothing can read.
    lost: BTreeSet<u32>,
    /// When the next look is due.
    timer: Nanos,
    counts: ErrorCounts,
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
    pub(crate) fn replaced(&mut self, lpn: u32, units: u32) {
        if !self.lost.is_empty() {
            (lpn..lpn + units).for_each(|lpn| {
                self.lost.remove(&lpn);
            });
        }
    }

    /// Whether any unit is lost.
    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Whether any unit of a run is lost.
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
        let mean = self.spec.average_at(share) - data.carried;
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

/// What a read meets, and what follows for its superblock.
impl BitErrors {
    /// Errors are simulated at all.
    pub(crate) fn are_on(&self) -> bool {
        self.on
    }

    /// What they have cost so far.
    pub(crate) fn counts(&self) -> ErrorCounts {
        self.counts
    }

    /// Data that the code cannot correct is made anew from the rest of its stripe.
    pub(crate) fn have_rebuilds(&self) -> bool {
        self.spec.rebuild
    }

    /// A read of the host's is answered unreadable.
    pub(crate) fn note_uncorrectable(&mut self) {
        self.counts.uncorrectable += 1;
    }

    /// A row is made anew, if it can be.
    pub(crate) fn note_rebuild(&mut self, readable: bool) {
        self.counts.rebuilt += u64::from(readable);
    }

    /// The data of a row that is read is lost, and so are these logical units.
    pub(crate) fn lose(&mut self, units: impl IntoIterator<Item = u32>) {
        self.counts.lost_rows += 1;
        self.lost.extend(units);
    }

    /// The drive has this temperature from `at` on.
    pub(crate) fn warm(&mut self, at: Nanos, celsius: f64) {
        self.ageing.warm(at, celsius);
    }

    /// A row is going to be read on a die: the steps of the ladder that it takes, and whether its
    /// data can be had.
    pub(crate) fn grade<P: Policies>(
        &mut self,
        (superblock, row, die): (u32, u32, u16),
        ftl: &Ftl<P>,
        clock: &mut Clock,
    ) -> (u8, bool) {
        let reads = self.count_read(superblock, die);
        if u64::from(reads).is_multiple_of(READS_LOOK) {
            self.look_at_due(superblock, ftl, clock);
        }
        if self.ageing.clock(clock.now()) < self.data[superblock as usize].calm {
            return (0, true);
        }
        self.climb(superblock, row, reads, ftl, clock.now())
    }

    /// As [`BitErrors::grade`], of a row that may have more wrong bits than a first decode puts
    /// right.
    #[cold]
    fn climb<P: Policies>(
        &mut self,
        superblock: u32,
        row: u32,
        reads: u32,
        ftl: &Ftl<P>,
        now: Nanos,
    ) -> (u8, bool) {
        let spread = 1.0 + self.spec.page_spread * difference(row);
        let bits = self.bits(ftl, superblock, reads.into(), now);
        let step = self.step(bits * spread);
        let last = self.spec.retry_steps + 1;
        self.counts.retries += u64::from(step.unwrap_or(last));
        (step.unwrap_or(last + 1), step.is_some())
    }

    /// A superblock is refreshed soon, unless its data is so new that a copy would be no better.
    pub(crate) fn refresh_old(&mut self, superblock: u32, clock: &mut Clock) {
        let (ageing, data) = (&self.ageing, self.data[superblock as usize]);
        if ageing.clock(clock.now()).since(data.since) > ageing.span(LATER) {
            self.refresh_soon(superblock, clock);
        }
    }

    /// The data of a superblock is moved as soon as may be.
    pub(crate) fn refresh_soon(&mut self, superblock: u32, clock: &mut Clock) {
        let now = self.ageing.clock(clock.now());
        let data = &mut self.data[superblock as usize];
        if data.since < Aged::NEVER {
            data.due = now;
            self.set_timer(now, clock);
        }
    }

    /// When data that is programmed now begins to grow old: now, or, for what the host first fills
    /// the drive with, when the drive's life began.
    fn programmed_at<P: Policies>(&self, place: u32, ftl: &Ftl<P>, now: Nanos) -> Aged {
        let units = ftl.counters().host_units;
        if units <= u64::from(ftl.logical_units()) && ftl.is_hosts_data(place) {
            return self.ageing.since_then(now);
        }
        self.ageing.clock(now)
    }

    /// The first program of a superblock has ended. What a used drive is filled with may be due for
    /// refresh at once: it is not before the superblock has been written.
    fn begin_ageing<P: Policies>(
        &mut self,
        superblock: u32,
        since: Aged,
        ftl: &Ftl<P>,
        clock: &mut Clock,
    ) {
        self.data[superblock as usize].since = since;
        self.look_at_due(superblock, ftl, clock);
        let soonest = self.ageing.after(clock.now(), LATER);
        let data = &mut self.data[superblock as usize];
        if data.due < soonest {
            data.due = soonest;
        }
    }

    /// An operation ends: data grows old from its program on.
    pub(crate) fn note_end<P: Policies>(&mut self, token: Token, ftl: &Ftl<P>, clock: &mut Clock) {
        match token {
            Token::Program(place) | Token::Copyback(place) => {
                let superblock = ftl.superblock_of_flight(place);
                let carried = match token {
                    Token::Copyback(_) => {
                        self.worst_bits(ftl, ftl.source_of_copyback(place), clock.now())
                    }
                    _ => 0.0,
                };
                let data = &mut self.data[superblock as usize];
                let worse = carried > data.carried;
                data.carried = data.carried.max(carried);
                if worse && data.since < Aged::NEVER {
                    self.look_at_due(superblock, ftl, clock);
                }
                if self.holds_nothing(superblock) {
                    let since = self.programmed_at(place, ftl, clock.now());
                    self.begin_ageing(superblock, since, ftl, clock);
                }
            }
            Token::Erase(superblock) => self.erased(superblock),
            _ => {}
        }
    }

    /// Whether no program of a superblock has ended yet, with which its data begins to grow old.
    pub(crate) fn holds_nothing(&self, superblock: u32) -> bool {
        self.data[superblock as usize].since == Aged::NEVER
    }

    /// After a start from flash: what the start `erased` is new, what it wrote back is of now, and
    /// times of refresh are looked for again.
    pub(crate) fn age_after_start<P: Policies>(
        &mut self,
        erased: &[u32],
        ftl: &Ftl<P>,
        clock: &mut Clock,
    ) {
        if !self.on {
            return;
        }
        for &superblock in erased {
            self.erased(superblock);
        }
        let now = self.ageing.clock(clock.now());
        for superblock in 0..self.data.len() as u32 {
            let holds = ftl.superblocks()[superblock as usize].valid > 0;
            let data = &mut self.data[superblock as usize];
            if holds && data.since == Aged::NEVER {
                data.since = now;
            }
            if data.since < Aged::NEVER {
                self.look_at_due(superblock, ftl, clock);
            }
        }
    }

    /// How often a time can pass before data has to be refreshed, or must not be copied inside the
    /// die, that the host's last units have left alone.
    pub(crate) fn repeats_until_due<P: Policies>(
        &self,
        host_units: u64,
        time: Nanos,
        ftl: &Ftl<P>,
        now: Nanos,
    ) -> u64 {
        let all = self.data.iter().enumerate();
        let resting = all.filter(|&(at, data)| {
            data.since < Aged::NEVER && !was_written_within(ftl, at, host_units)
        });
        let due = resting.map(|(_, data)| data.due.min(data.stale)).min();
        let Some(due) = due.filter(|&due| due < Aged::NEVER) else {
            return u64::MAX;
        };
        due.since(self.ageing.clock(now)).0 / self.ageing.span(time).0.max(1)
    }

    /// A time has passed at once: data gets older by it that the host's last units have left alone.
    /// Data that was written with them was written again and again.
    pub(crate) fn grow_old<P: Policies>(
        &mut self,
        host_units: u64,
        time: Nanos,
        ftl: &Ftl<P>,
        clock: &mut Clock,
    ) {
        if !self.on {
            return;
        }
        let span = self.ageing.skip(clock.now(), time);
        self.timer = Nanos::NEVER;
        for superblock in 0..self.data.len() {
            let since = self.data[superblock].since;
            if since == Aged::NEVER {
                continue;
            }
            if was_written_within(ftl, superblock, host_units) {
                self.data[superblock].since = since.plus(span);
            }
            self.look_at_due(superblock as u32, ftl, clock);
        }
    }

    fn look_at_due<P: Policies>(&mut self, superblock: u32, ftl: &Ftl<P>, clock: &mut Clock) {
        let later = self.ageing.span(LATER);
        let mode = ftl.superblocks()[superblock as usize].mode;
        let Data { reads, since, .. } = self.data[superblock as usize];
        let due = if since < Aged::NEVER && self.spec.is_read_too_often(mode, reads) {
            self.ageing.clock(clock.now())
        } else {
            self.reaches(ftl, superblock, (self.spec.refresh_at, 0), later)
        };
        let stale = match mode {
            Mode::Slc => self.reaches(ftl, superblock, (self.spec.copy_at, 0), Nanos::ZERO),
            Mode::Native | Mode::Tier => Aged::NEVER,
        };
        // These times are computed again after `READS_LOOK` more reads, which are reckoned in.
        let calm = self.reaches(ftl, superblock, (1.0, READS_LOOK), Nanos::ZERO);
        let data = &mut self.data[superblock as usize];
        (data.due, data.stale, data.calm) = (due, stale, calm);
        self.set_timer(due.min(stale), clock);
    }

    /// A look at the superblocks when something is due, by the clock of their data.
    pub(crate) fn set_timer(&mut self, due: Aged, clock: &mut Clock) {
        if due == Aged::NEVER {
            return;
        }
        let at = self.ageing.look_at(due, clock.now());
        if at < self.timer {
            self.timer = at;
            clock.push(at, Event::RefreshTimer);
        }
    }

    /// A look at the superblocks is due now; false where it is not yet.
    pub(crate) fn take_timer(&mut self, now: Nanos) -> bool {
        let is_due = now >= self.timer;
        if is_due {
            self.timer = Nanos::NEVER;
        }
        is_due
    }

    /// Has the firmware refresh the superblocks whose data is at risk by now. The answer is whether
    /// there were any, and when the next one is.
    pub(crate) fn refresh_due<P: Policies>(
        &mut self,
        now: Nanos,
        ftl: &mut Ftl<P>,
        ops: &mut Vec<NandOp>,
    ) -> (bool, Aged) {
        let (mut next, mut any) = (Aged::NEVER, false);
        let clock = self.ageing.clock(now);
        for (superblock, data) in (0..).zip(&mut self.data) {
            if data.due <= clock {
                any = true;
                let begun = ftl.refresh(superblock, ops);
                let retired = ftl.superblocks()[superblock as usize].state == State::Retired;
                data.due = match begun || retired {
                    true => Aged::NEVER,
                    false => self.ageing.after(now, LATER),
                };
            }
            if data.stale <= clock {
                ftl.distrust(superblock);
                data.stale = Aged::NEVER;
            }
            next = next.min(data.due).min(data.stale);
        }
        (any, next)
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

/// A superblock was opened while the host wrote its last `host_units`.
fn was_written_within<P: Policies>(ftl: &Ftl<P>, superblock: usize, host_units: u64) -> bool {
    let opened = ftl.superblocks()[superblock].opened_at();
    opened + host_units >= ftl.counters().host_units
}
