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
use flashtwin_ftl::{Ftl, Policies};

use crate::ageing::{Aged, Ageing};
use crate::config::Errors;

/// Reads of a superblock's block after which its times are computed again.
pub(crate) const READS_LOOK: u64 = 4096;
/// When to look again at a superblock that cannot be refreshed because it is being written. Where
/// cells are so worn that age alone asks for refresh within this time, they are refreshed no more
/// often either: the copy would be no better, and the drive would do nothing else.
pub(crate) const LATER: Nanos = Nanos::from_secs(3600);

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
pub(crate) struct Data {
    /// When the first of it was programmed; never without data.
    pub(crate) since: Aged,
    /// Reads of the block that was read most.
    pub(crate) reads: u64,
    /// Before this no page of it takes a step of the ladder.
    pub(crate) calm: Aged,
    /// When it has to be refreshed.
    pub(crate) due: Aged,
    /// When it has too many errors to be copied inside the die.
    pub(crate) stale: Aged,
    /// Wrong bits a KiB that it was copied with: those of the worst source.
    pub(crate) carried: f64,
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
    pub(crate) data: Vec<Data>,
    /// Reads of each block of a superblock, die by die, since its data was programmed.
    reads: Vec<u32>,
    dies: u32,
    pub(crate) ageing: Ageing,
    /// Logical units that nothing can read.
    pub(crate) lost: BTreeSet<u32>,
    /// When the next look is due.
    pub(crate) timer: Nanos,
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
    pub(crate) fn erased(&mut self, superblock: u32) {
        self.data[superblock as usize] = EMPTY;
        let dies = self.dies as usize;
        self.reads[superblock as usize * dies..][..dies].fill(0);
    }

    /// Counts a read of a superblock's block on a die; the answer is how many there have been.
    pub(crate) fn count_read(&mut self, superblock: u32, die: u16) -> u32 {
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
    pub(crate) fn bits<P: Policies>(
        &self,
        ftl: &Ftl<P>,
        superblock: u32,
        reads: u64,
        now: Nanos,
    ) -> f64 {
        let data = self.data[superblock as usize];
        let age = self.ageing.clock(now).since(data.since);
        self.spec
            .of(ftl.superblocks()[superblock as usize].mode)
            .bits(wear_of(ftl, superblock), age, reads as f64)
            + data.carried
    }

    /// The same of the block that was read most.
    pub(crate) fn worst_bits<P: Policies>(&self, ftl: &Ftl<P>, superblock: u32, now: Nanos) -> f64 {
        self.bits(ftl, superblock, self.data[superblock as usize].reads, now)
    }

    /// The step of the ladder at which so many wrong bits are put right; none when never.
    pub(crate) fn step(&self, bits: f64) -> Option<u8> {
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
    pub(crate) fn reaches<P: Policies>(
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
pub(crate) fn difference(row: u32) -> f64 {
    let mut mixed = u64::from(row).wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
