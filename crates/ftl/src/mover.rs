//! Moving the valid data of one superblock elsewhere: the work that folding and collection share.
//!
//! A mover empties one superblock at a time, its *source*. It reads the source row by row, places
//! what is still valid into its own stream, and has the source erased once the copies are
//! programmed. Rows without valid data cost nothing. It never has more than a few granules a die
//! under way, so that its buffer is bounded and the host's work goes on beside it.
//!
//! A mover has a *debt*: units that it still has to move for what the host has written. While
//! superblocks are short, each host unit adds to the debt, and each unit of the source that has
//! been looked at is taken off it. The host waits while the debt is beyond a limit, the *slack*. So
//! a shortage becomes a steady slower rate and not a stall. A mover that works in steps alternates
//! with the host: it does nothing until the host has written as much as the last step moved, and
//! then the host waits for the next step. How long that takes depends on the step and not on the
//! size of superblocks.

use std::fmt;
use std::ops::{Index, IndexMut};

use crate::counters::Counters;
use crate::layout::{Layout, NONE};
use crate::policy::{Policy, WhenFull};
use crate::row_lists::RowLists;
use crate::wear::{CAUSES, Cause};

/// Granules a die that a mover may have read or in programming: one is programmed while the next is
/// read, so that a die does not wait for either.
const GRANULES_AHEAD: u32 = 2;
/// Granules a die that the host may be ahead of a mover before it has to wait: as many as the mover
/// may have under way, so that a host at the mover's pace never waits.
const SLACK_GRANULES: i64 = 2;

/// Which of the movers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Fold,
    Collect,
    /// Collection of the map's own blocks.
    Map,
}

/// A source that has been emptied and waits for its copies to be programmed.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Emptied {
    superblock: u32,
    /// Every granule of the stream below this number has to be programmed first.
    sequence: u64,
}

/// Folding or collection in progress.
pub(crate) struct Mover {
    /// Superblock being emptied, or none.
    source: u32,
    /// Offset of the next unit to look at.
    cursor: u32,
    /// Rows being read.
    outstanding: u32,
    /// On a drive that compresses: units that these rows hold at most.
    owed: u32,
    /// Copybacks under way.
    copying: u32,
    /// Units that have to be moved for what the host has written, in thousandths; negative when
    /// more has been moved.
    debt_milli: i64,
    /// The drive offers idle time for this work.
    idle: bool,
    /// Something is under way or wanted: kept so that a look costs one comparison.
    active: bool,
    /// A free superblock is kept for what is being read: nobody else may open it.
    pledged: bool,
    /// Why the source is moved.
    cause: Cause,
    /// Units placed and not programmed yet, by cause.
    placed: [u32; CAUSES],
    /// What the host writes adds to the debt at present: superblocks are short.
    pressed: bool,
    /// The host waits while the debt is beyond this. Where the mover works in steps, it changes as
    /// a step begins or ends.
    slack_milli: i64,
    /// Units of a step, in thousandths; 0 where host and mover work side by side.
    step_milli: i64,
    ahead_milli: i64,
    credit_milli: i64,
    rows_ahead: u32,
    granules_ahead: u32,
    emptied: Vec<Emptied>,
}

flashtwin_base::state! { Mover {
    kept: source, cursor, outstanding, owed, copying, debt_milli, idle, active, pledged, cause,
        placed, pressed, slack_milli, emptied;
    built: step_milli, ahead_milli, credit_milli, rows_ahead, granules_ahead;
} }

impl Mover {
    fn new(work: Work, layout: &Layout) -> Mover {
        let granules = GRANULES_AHEAD * layout.dies;
        let rows = layout.native_granule / layout.row_units;
        let granule = i64::from(layout.whole(layout.native_granule));
        let slack = SLACK_GRANULES * i64::from(layout.dies) * granule;
        let ahead = i64::from(layout.dies) * granule;
        // The most that one step of folding moves: with copyback a wordline on every die.
        // Collection gets no credit for copies beyond its debt: while the host used the credit up,
        // the free superblocks would sink from `gc.high` to the reserve.
        let step = match work {
            Work::Fold => layout.native_granule * layout.group_dies,
            Work::Collect | Work::Map => 0,
        };
        let step = layout.whole(step);
        Mover {
            source: NONE,
            cursor: 0,
            outstanding: 0,
            owed: 0,
            copying: 0,
            debt_milli: 0,
            idle: false,
            active: false,
            pledged: false,
            cause: Cause::Space,
            placed: [0; CAUSES],
            pressed: false,
            slack_milli: slack * 1000,
            step_milli: 0,
            ahead_milli: ahead * 1000,
            credit_milli: (ahead + i64::from(step)) * 1000,
            rows_ahead: granules * rows,
            granules_ahead: granules + between_passes(layout),
            emptied: Vec::new(),
        }
    }

    /// The mover that folds.
    fn folding(policy: &Policy, layout: &Layout) -> Mover {
        let mover = Mover::new(Work::Fold, layout);
        let when_full = policy.cache.caching().map(|caching| caching.when_full);
        let Some(WhenFull::FoldFirst { step_bytes }) = when_full else {
            return mover;
        };
        let step = step_bytes.div_ceil(u64::from(layout.unit_bytes)) as i64 * 1000;
        Mover {
            slack_milli: 0,
            step_milli: step,
            credit_milli: mover.credit_milli + step,
            ..mover
        }
    }

    /// Whether the host has to wait for this mover.
    #[inline]
    pub(crate) fn holds_host(&self) -> bool {
        self.debt_milli > self.slack_milli
    }

    /// The host has handed over units, and each adds `pace_milli` thousandths of a unit to the
    /// debt. What was moved in idle time is not taken off the debt. What the last step moved beyond
    /// the debt is: a step may move more than what a burst of the host costs, and if that were not
    /// counted, more would be moved than the pace says.
    #[inline]
    pub(crate) fn owe(&mut self, units: u32, pace_milli: i64) {
        self.pressed = pace_milli > 0;
        self.debt_milli = if self.pressed {
            self.debt_milli.max(-self.credit_milli) + i64::from(units) * pace_milli
        } else {
            self.debt_milli.min(0)
        };
        if self.step_milli > 0 {
            let begins = self.debt_milli > 0;
            self.slack_milli = if begins {
                -self.step_milli
            } else {
                self.slack_milli
            };
            self.slack_milli = if self.pressed { self.slack_milli } else { 0 };
        }
    }

    /// Units of the source have been looked at, and moved where they were valid.
    #[inline]
    pub(crate) fn deal(&mut self, units: u32) {
        self.debt_milli -= i64::from(units) * 1000;
        if self.step_milli > 0 && self.debt_milli <= -self.step_milli {
            self.slack_milli = 0;
        }
    }

    /// Whether the mover is less than a granule a die ahead of its debt. It keeps that far ahead so
    /// that the dies have work while the host sends.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        if self.step_milli > 0 {
            return self.pressed && self.holds_host();
        }
        self.pressed && self.debt_milli > -self.ahead_milli
    }

    /// As many rows are being read, or granules programmed, as may be at once.
    #[inline]
    pub(crate) fn is_far_ahead(&self, programming: u32) -> bool {
        self.outstanding >= self.rows_ahead || programming >= self.granules_ahead
    }

    /// How many units the host may hand over at this pace until it has to wait for a mover that is
    /// far ahead, or until a mover that is not has another row to read. The last of them brings
    /// that about.
    #[inline]
    pub(crate) fn units_until_disturbed(&self, pace_milli: i64, programming: u32) -> u32 {
        if pace_milli <= 0 {
            return u32::MAX;
        }
        let limit = match self.is_far_ahead(programming) {
            true => self.slack_milli,
            false => -self.ahead_milli,
        };
        let before = limit - self.debt_milli.max(-self.credit_milli);
        let more = before.max(0) / pace_milli;
        u32::try_from(more).map_or(u32::MAX, |more| more.saturating_add(1))
    }

    /// So many of the units that were placed will not be programmed from here: they are taken off
    /// the counts by cause, the present cause first.
    pub(crate) fn unplace(&mut self, units: u32) {
        let mut left = units;
        let last = self.cause as usize;
        for at in std::iter::once(last).chain(0..self.placed.len()) {
            let here = left.min(self.placed[at]);
            self.placed[at] -= here;
            left -= here;
        }
        assert_eq!(left, 0, "more units are gone than were placed");
    }

    /// Units that collection has placed are programmed, for whatever cause; those that it placed
    /// last may still wait in its granule.
    pub(crate) fn count_programmed(&mut self, programmed: u32, counters: &mut Counters) {
        let cause = self.cause as usize;
        if (0..CAUSES).all(|other| other == cause || self.placed[other] == 0) {
            // As a rule there is one cause.
            self.placed[cause] -= programmed;
            *counter_of(cause, counters) += u64::from(programmed);
            return;
        }
        let waiting = self.placed.iter().sum::<u32>() - programmed;
        let before = self.placed;
        self.unplace(waiting);
        for (cause, before) in before.into_iter().enumerate() {
            let units = std::mem::replace(&mut self.placed[cause], before);
            self.placed[cause] -= units;
            *counter_of(cause, counters) += u64::from(units);
        }
    }

    /// Units are placed in the mover's stream.
    #[inline]
    pub(crate) fn place(&mut self, units: u32) {
        self.placed[self.cause as usize] += units;
    }

    /// Why the source is moved.
    #[inline]
    pub(crate) fn cause(&self) -> Cause {
        self.cause
    }

    /// Notes why the next source is moved.
    pub(crate) fn set_cause(&mut self, cause: Cause) {
        self.cause = cause;
    }
}

/// The source: begun, read row by row, emptied, erased.
impl Mover {
    /// There is a source.
    #[inline]
    pub(crate) fn is_working(&self) -> bool {
        self.source != NONE
    }

    /// The superblock being emptied, or [`NONE`].
    #[inline]
    pub(crate) fn source(&self) -> u32 {
        self.source
    }

    /// Offset of the next unit of the source to look at.
    #[inline]
    pub(crate) fn cursor(&self) -> u32 {
        self.cursor
    }

    /// A superblock is emptied from now on.
    pub(crate) fn begin(&mut self, superblock: u32) {
        (self.source, self.cursor) = (superblock, 0);
    }

    /// Units of the source are not looked at again.
    #[inline]
    pub(crate) fn pass(&mut self, units: u32) {
        self.cursor += units;
    }

    /// A row of at most this number of units is being read.
    #[inline]
    pub(crate) fn begin_read(&mut self, units: u32) {
        self.outstanding += 1;
        self.owed += units;
    }

    /// A row has been read that holds at least this number of units. What is owed is an upper
    /// bound: units of the row may have been overwritten while it was read. It is exact again when
    /// no read is under way.
    #[inline]
    pub(crate) fn end_read(&mut self, units: u32) {
        self.outstanding -= 1;
        self.owed = if self.outstanding == 0 {
            0
        } else {
            self.owed.saturating_sub(units)
        };
    }

    /// Rows being read.
    #[inline]
    pub(crate) fn reading(&self) -> u32 {
        self.outstanding
    }

    /// On a drive that compresses: units that the rows being read hold at most.
    pub(crate) fn owed(&self) -> u32 {
        self.owed
    }

    /// A copy inside a die is under way.
    pub(crate) fn begin_copy(&mut self) {
        self.copying += 1;
    }

    /// A copy inside a die has ended, well or not.
    pub(crate) fn end_copy(&mut self) {
        self.copying -= 1;
    }

    /// Rows being read, and copies under way.
    #[inline]
    pub(crate) fn under_way(&self) -> u32 {
        self.outstanding + self.copying
    }

    /// The source has been read to its end; the answer is which it was.
    pub(crate) fn end(&mut self) -> u32 {
        self.pledged = false;
        std::mem::replace(&mut self.source, NONE)
    }

    /// An emptied source waits until every granule below a sequence number is programmed.
    pub(crate) fn wait(&mut self, superblock: u32, sequence: u64) {
        self.emptied.push(Emptied {
            superblock,
            sequence,
        });
    }

    /// Sources that wait for their copies.
    pub(crate) fn waiting(&self) -> bool {
        !self.emptied.is_empty()
    }

    /// How many sources wait for their copies.
    pub(crate) fn emptied(&self) -> u32 {
        self.emptied.len() as u32
    }

    /// How many sources have waited for their copies since before the last source was begun, and
    /// the number of the granule that was next when the last of them was emptied; none where no
    /// source has waited for that long.
    pub(crate) fn outlasted(&self) -> Option<(u64, u64)> {
        let (_, before) = self.emptied.split_last()?;
        before
            .last()
            .map(|last| (before.len() as u64, last.sequence))
    }

    /// The sources whose copies are programmed, now that everything below a sequence number is:
    /// they wait no longer.
    pub(crate) fn take_programmed(&mut self, durable: u64) -> Vec<u32> {
        let mut programmed = Vec::new();
        self.emptied.retain(|emptied| {
            let waits = emptied.sequence > durable;
            if !waits {
                programmed.push(emptied.superblock);
            }
            waits
        });
        programmed
    }
}

/// When it works, and what is set aside for it.
impl Mover {
    /// The drive offers idle time for this work, or takes the offer back.
    pub(crate) fn offer(&mut self, idle: bool) {
        self.idle = idle;
    }

    /// The drive offers idle time for this work.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.idle
    }

    /// Work is wanted, or is not.
    #[inline]
    pub(crate) fn set_active(&mut self, active: bool) {
        self.active = active;
    }

    /// Work is wanted.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Nothing is under way, wanted or owed.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.source == NONE && self.debt_milli <= 0 && !self.pressed && !self.active && !self.idle
    }

    /// A free superblock is kept for what is being read, or no longer.
    pub(crate) fn pledge(&mut self, pledged: bool) {
        self.pledged = pledged;
    }

    /// A free superblock is kept for what is being read.
    #[inline]
    pub(crate) fn is_pledged(&self) -> bool {
        self.pledged
    }

    /// As many granules are being programmed as may be at once.
    pub(crate) fn programs_enough(&self, programming: u32) -> bool {
        programming >= self.granules_ahead
    }
}

impl fmt::Display for Mover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "source {}, at {}, outstanding {}, debt {}, active {}, idle {}, for {:?}",
            self.source as i32,
            self.cursor,
            self.outstanding,
            self.debt_milli,
            self.active,
            self.idle,
            self.cause
        )
    }
}

/// The movers of a drive, by their work.
pub(crate) struct Movers {
    all: [Mover; 3],
    /// What the rows hold that they read.
    rows: RowLists,
}

flashtwin_base::state! { Movers {
    part: all;
    built: rows;
} }

impl Movers {
    /// None of them has begun.
    pub(crate) fn new(policy: &Policy, layout: &Layout) -> Movers {
        Movers {
            all: [
                Mover::folding(policy, layout),
                Mover::new(Work::Collect, layout),
                Mover::new(Work::Map, layout),
            ],
            rows: RowLists::new(layout),
        }
    }

    /// Lists of the rows that are read.
    #[inline]
    pub(crate) fn rows(&mut self) -> &mut RowLists {
        &mut self.rows
    }

    /// Free superblocks that are kept for them. The map's has a pool of its own.
    #[inline]
    pub(crate) fn pledged(&self) -> u32 {
        let [fold, collect, _] = &self.all;
        u32::from(fold.pledged) + u32::from(collect.pledged)
    }
}

impl Index<Work> for Movers {
    type Output = Mover;

    #[inline]
    fn index(&self, work: Work) -> &Mover {
        &self.all[work as usize]
    }
}

impl IndexMut<Work> for Movers {
    #[inline]
    fn index_mut(&mut self, work: Work) -> &mut Mover {
        &mut self.all[work as usize]
    }
}

/// What counts the units that are moved for a cause.
fn counter_of(cause: usize, counters: &mut Counters) -> &mut u64 {
    const SPACE: usize = Cause::Space as usize;
    const WEAR: usize = Cause::Wear as usize;
    const REFRESH: usize = Cause::Refresh as usize;
    match cause {
        SPACE => &mut counters.gc_units,
        WEAR => &mut counters.wear_units,
        REFRESH => &mut counters.refresh_units,
        _ => &mut counters.failure_units,
    }
}

/// Granules that a stream may have between their passes: a part of a stripe and the wordlines
/// before it, on every die.
pub(crate) fn between_passes(layout: &Layout) -> u32 {
    let passes = layout.later_passes.map(|passes| passes.wordlines());
    let pairs = if layout.paired { layout.bits } else { 0 };
    passes.unwrap_or(pairs) * layout.dies
}
