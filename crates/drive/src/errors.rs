//! Bit errors: how many a read meets, the steps of the retry ladder that it takes to put them
//! right, what cannot be put right, and when data has to be refreshed.
//!
//! The age of a superblock's data is that of its first program, its reads are counted since. A
//! page's errors follow from both and from wear ([`flashtwin_nand::error`]), and pages differ by a
//! fixed share that their number decides: what is unreadable stays so, on every run. More errors
//! than the code corrects cost steps of time on the die, each at other read voltages and with fewer
//! errors, then a soft decode; what is left after that is rebuilt from its stripe (see
//! [`crate::rebuild`]) or lost until it is written anew.
//!
//! A copy inside the die corrects nothing: its data keeps the errors of its source and gets those
//! of its new place on top. One figure a superblock holds them, the worst of its sources'.
//!
//! Refresh is driven by events: the time at which a superblock reaches its threshold is known from
//! its first program on, so that years of rest cost a few events.

use std::collections::BTreeSet;

use flashtwin_base::Nanos;
use flashtwin_ftl::blocks::State;
use flashtwin_ftl::layout::Mode;
use flashtwin_ftl::{Ftl, NandOp, Policies, Token};

use crate::config::Errors;
use crate::engine::Drive;
use crate::event::Event;
use crate::snapshot::{Checked, LIFETIME, ensure};

/// Reads of a superblock after which its due time is reckoned anew.
const READS_LOOK: u64 = 4096;
/// A superblock that cannot be refreshed yet, because it is being written, is looked at again.
/// Cells so worn that mere age asks for refresh within that time are refreshed no oftener either:
/// the copy would be no better off, and the drive would do nothing else.
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

/// The data of a superblock.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Data {
    /// When the first of it was programmed; [`Nanos::NEVER`] without data.
    since: Nanos,
    reads: u64,
    /// When it has to be refreshed.
    due: Nanos,
    /// When it has too many errors to be copied inside the die.
    stale: Nanos,
    /// Wrong bits a KiB that it was copied with: those of the worst source.
    carried: f64,
}

const EMPTY: Data = Data {
    since: Nanos::NEVER,
    reads: 0,
    due: Nanos::NEVER,
    stale: Nanos::NEVER,
    carried: 0.0,
};

/// Ages, reads and losses of a drive.
pub(crate) struct BitErrors {
    /// Errors are simulated at all.
    pub(crate) on: bool,
    pub(crate) spec: Errors,
    data: Vec<Data>,
    /// Logical units that nothing can read.
    lost: BTreeSet<u32>,
    /// When the next look is due.
    timer: Nanos,
    pub(crate) counts: ErrorCounts,
}

flashtwin_base::state! { BitErrors {
    kept: lost, timer, counts;
    sized: data;
    built: on, spec;
} }

impl BitErrors {
    pub(crate) fn new(spec: &Errors, superblocks: u32) -> BitErrors {
        let on = spec.correctable > 0;
        BitErrors {
            on,
            spec: spec.clone(),
            data: vec![EMPTY; if on { superblocks as usize } else { 0 }],
            lost: BTreeSet::new(),
            timer: Nanos::NEVER,
            counts: ErrorCounts::default(),
        }
    }

    /// Everything has been erased.
    pub(crate) fn forget(&mut self) {
        self.data.fill(EMPTY);
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

    /// Whether any unit of a run is lost.
    #[inline]
    pub(crate) fn is_lost(&self, lpn: u32, units: u32) -> bool {
        !self.lost.is_empty() && self.lost.range(lpn..lpn + units).next().is_some()
    }

    /// Wrong bits a KiB of a superblock's average page now, at its wear.
    fn bits<P: Policies>(&self, ftl: &Ftl<P>, superblock: u32, now: Nanos) -> f64 {
        let data = self.data[superblock as usize];
        let age = Nanos(now.0.saturating_sub(data.since.0));
        let (wear, reads) = load_of(ftl, superblock, data.reads);
        self.spec
            .of(ftl.superblocks()[superblock as usize].mode)
            .bits(wear, age, reads)
            + data.carried
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

    /// When the data of a superblock reaches a share of the correctable bits, but not before
    /// `soonest` where it gets there without any reads; never where the share is 0 or the drive's
    /// life is over by then.
    fn reaches<P: Policies>(
        &self,
        ftl: &Ftl<P>,
        superblock: u32,
        share: f64,
        soonest: Nanos,
    ) -> Nanos {
        let data = self.data[superblock as usize];
        if share == 0.0 || data.since == Nanos::NEVER {
            return Nanos::NEVER;
        }
        let worst = f64::from(self.spec.correctable) * share;
        let mean = worst / (1.0 + self.spec.page_spread) - data.carried;
        let (wear, reads) = load_of(ftl, superblock, data.reads);
        let mode = ftl.superblocks()[superblock as usize].mode;
        let rates = self.spec.of(mode);
        let age = if rates.age_at(mean, wear, 0.0) < soonest {
            soonest
        } else {
            rates.age_at(mean, wear, reads)
        };
        // An event past the times that a drive is simulated for is not scheduled.
        let at = data.since.0.saturating_add(age.0);
        if at < LIFETIME {
            Nanos(at)
        } else {
            Nanos::NEVER
        }
    }
}

/// The wear of a superblock, this program counted, and the reads of each of its blocks.
fn load_of<P: Policies>(ftl: &Ftl<P>, superblock: u32, reads: u64) -> (f64, f64) {
    let (block, rated) = (&ftl.superblocks()[superblock as usize], ftl.rated());
    let this = rated.cycle_in(block.mode);
    let dies = f64::from(ftl.layout.group_dies);
    (rated.wear_of(block) + this, reads as f64 / dies)
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

    /// A row is going to be read: the steps of the ladder that it takes, and whether its data can
    /// be had.
    #[cold]
    pub(crate) fn grade(&mut self, superblock: u32, row: u32) -> (u8, bool) {
        let errors = &mut self.errors;
        errors.data[superblock as usize].reads += 1;
        let reads = errors.data[superblock as usize].reads;
        let look = reads.is_multiple_of(READS_LOOK);
        let spread = 1.0 + errors.spec.page_spread * difference(row);
        let step = errors.step(errors.bits(&self.ftl, superblock, self.now) * spread);
        let last = errors.spec.retry_steps + 1;
        errors.counts.retries += u64::from(step.unwrap_or(last));
        if look {
            self.look_at_due(superblock);
        }
        (step.unwrap_or(last + 1), step.is_some())
    }

    /// A read of the row that a physical unit lies in: the steps that it takes, and whether its
    /// data can be had, if need be from the rest of its stripe.
    fn grade_read(&mut self, op: &mut NandOp, ppn: u32) -> bool {
        let superblock = self.ftl.layout.superblock_of(ppn);
        let (steps, readable) = self.grade(superblock, self.ftl.layout.row_of(ppn));
        op.retries = steps;
        let had = readable || (self.errors.spec.rebuild && self.rebuild(op, ppn));
        self.errors.counts.lost_rows += u64::from(!had);
        had
    }

    /// The steps of a row read for logical units, which may turn out to be lost.
    #[cold]
    pub(crate) fn grade_units(&mut self, op: &mut NandOp, ppn: u32, lpn: u32, units: u32) {
        if !self.grade_read(op, ppn) {
            self.errors.lost.extend(lpn..lpn + units);
        }
    }

    /// A read of the firmware's own: what it cannot read is lost for good, wherever it is moved.
    #[cold]
    pub(crate) fn grade_move(&mut self, op: &mut NandOp) {
        if let Token::FoldRead(first) | Token::GcRead(first) = op.token
            && !self.grade_read(op, first)
        {
            let lost = self.ftl.units_of_row(first);
            self.errors.lost.extend(lost);
        }
    }

    /// The data of a superblock is moved as soon as may be.
    pub(crate) fn refresh_soon(&mut self, superblock: u32) {
        let data = &mut self.errors.data[superblock as usize];
        if data.since < Nanos::NEVER {
            data.due = self.now;
            self.set_refresh_timer(self.now);
        }
    }

    /// An operation ends: data grows old from its program on.
    #[cold]
    pub(crate) fn note_age(&mut self, token: Token) {
        match token {
            Token::Program(place) | Token::Copyback(place) => {
                let superblock = self.ftl.superblock_of_flight(place);
                let carried = match token {
                    Token::Copyback(_) => {
                        let source = self.ftl.source_of_copyback(place);
                        self.errors.bits(&self.ftl, source, self.now)
                    }
                    _ => 0.0,
                };
                let data = &mut self.errors.data[superblock as usize];
                let worse = carried > data.carried;
                data.carried = data.carried.max(carried);
                if worse && data.since < Nanos::NEVER {
                    self.look_at_due(superblock);
                }
                let data = &mut self.errors.data[superblock as usize];
                if data.since == Nanos::NEVER {
                    data.since = self.now;
                    self.look_at_due(superblock);
                }
            }
            Token::Erase(superblock) => self.errors.data[superblock as usize] = EMPTY,
            _ => {}
        }
    }

    /// After a start from the flash: what it has `erased` is new, what it has written back there is
    /// of now, and what was to be refreshed is looked for again.
    pub(crate) fn age_after_start(&mut self, erased: &[u32]) {
        if !self.errors.on {
            return;
        }
        for &superblock in erased {
            self.errors.data[superblock as usize] = EMPTY;
        }
        for superblock in 0..self.errors.data.len() as u32 {
            let holds = self.ftl.superblocks()[superblock as usize].valid > 0;
            let data = &mut self.errors.data[superblock as usize];
            if holds && data.since == Nanos::NEVER {
                data.since = self.now;
            }
            if data.since < Nanos::NEVER {
                self.look_at_due(superblock);
            }
        }
    }

    fn look_at_due(&mut self, superblock: u32) {
        let errors = &self.errors;
        let due = errors.reaches(&self.ftl, superblock, errors.spec.refresh_at, LATER);
        let stale = match self.ftl.superblocks()[superblock as usize].mode {
            Mode::Slc => errors.reaches(&self.ftl, superblock, errors.spec.copy_at, Nanos::ZERO),
            Mode::Native | Mode::Tier => Nanos::NEVER,
        };
        let data = &mut self.errors.data[superblock as usize];
        (data.due, data.stale) = (due, stale);
        self.set_refresh_timer(due.min(stale));
    }

    fn set_refresh_timer(&mut self, due: Nanos) {
        if due < self.errors.timer {
            self.errors.timer = due.max(self.now);
            self.events.push(self.errors.timer, Event::RefreshTimer);
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
        let mut next = Nanos::NEVER;
        for superblock in 0..self.errors.data.len() {
            if self.errors.data[superblock].due <= self.now {
                let begun = self.ftl.refresh(superblock as u32, &mut self.ops);
                let retired = self.ftl.superblocks()[superblock].state == State::Retired;
                let later = if begun || retired {
                    Nanos::NEVER
                } else {
                    self.now + LATER
                };
                self.errors.data[superblock].due = later;
            }
            if self.errors.data[superblock].stale <= self.now {
                self.ftl.distrust(superblock as u32);
                self.errors.data[superblock].stale = Nanos::NEVER;
            }
            let data = &self.errors.data[superblock];
            next = next.min(data.due).min(data.stale);
        }
        self.ftl.pump(&mut self.ops);
        self.issue();
        if next < Nanos::NEVER {
            self.set_refresh_timer(next);
        }
    }
}

impl BitErrors {
    /// See [`crate::snapshot`].
    pub(crate) fn audit(&self, now: Nanos, logical: u32) -> Checked {
        let past = |data: &Data| data.since == Nanos::NEVER || data.since <= now;
        let known = |d: &Data| past(d) && d.reads < LIFETIME && d.carried.is_finite();
        ensure!(self.data.iter().all(known), "data of the future");
        ensure!(
            self.lost.last().is_none_or(|&lpn| lpn < logical),
            "lost units"
        );
        let c = &self.counts;
        let met = c.retries.max(c.uncorrectable).max(c.rebuilt + c.lost_rows);
        ensure!(met < LIFETIME, "{met} errors");
        Ok(())
    }
}
