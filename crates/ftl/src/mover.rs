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

use crate::blocks::State;
use crate::counters::Counters;
use crate::ftl::Ftl;
use crate::layout::{Layout, NONE};
use crate::op::{NandOp, Token};
use crate::orders::Policies;
use crate::policy::{Policy, WhenFull};
use crate::streams::Stream;
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
    pub(crate) source: u32,
    /// Offset of the next unit to look at.
    pub(crate) cursor: u32,
    /// Rows being read.
    pub(crate) outstanding: u32,
    /// On a drive that compresses: units that these rows hold at most.
    owed: u32,
    /// Copybacks under way.
    pub(crate) copying: u32,
    /// Units that have to be moved for what the host has written, in thousandths; negative when
    /// more has been moved.
    pub(crate) debt_milli: i64,
    /// The drive offers idle time for this work.
    pub(crate) idle: bool,
    /// Something is under way or wanted: kept so that a look costs one comparison.
    pub(crate) active: bool,
    /// A free superblock is kept for what is being read: nobody else may open it.
    pub(crate) pledged: bool,
    /// Why the source is moved.
    pub(crate) cause: Cause,
    /// Units placed and not programmed yet, by cause.
    pub(crate) placed: [u32; CAUSES],
    /// What the host writes adds to the debt at present: superblocks are short.
    pub(crate) pressed: bool,
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
    pub(crate) fn new(work: Work, layout: &Layout) -> Mover {
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
    pub(crate) fn folding(policy: &Policy, layout: &Layout) -> Mover {
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

    /// Sources that wait for their copies.
    pub(crate) fn waiting(&self) -> bool {
        !self.emptied.is_empty()
    }

    /// How many sources wait for their copies.
    pub(crate) fn emptied(&self) -> u32 {
        self.emptied.len() as u32
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

/// Free superblocks that a mover leaves: the last one is collection's.
fn floor(work: Work) -> u32 {
    match work {
        Work::Fold => 1,
        Work::Collect | Work::Map => 0,
    }
}

impl<P: Policies> Ftl<P> {
    pub(crate) fn mover(&mut self, work: Work) -> &mut Mover {
        match work {
            Work::Fold => &mut self.cache.fold,
            Work::Collect => &mut self.collection.mover,
            Work::Map => &mut self.paged.mover,
        }
    }

    /// As many folded granules are being programmed as may be at once.
    pub(crate) fn fold_programs_enough(&self) -> bool {
        self.writing.buffer.by_stream[Stream::Fold] >= self.cache.fold.granules_ahead
    }

    /// Free native superblocks that are not kept for a mover.
    #[inline]
    pub(crate) fn available(&self) -> u32 {
        let pledged = u32::from(self.cache.fold.pledged) + u32::from(self.collection.mover.pledged);
        self.blocks.free_count().saturating_sub(pledged)
    }

    /// The same without those that the host has been promised.
    #[inline]
    pub(crate) fn available_to_movers(&self) -> u32 {
        self.available()
            .saturating_sub(self.writing.buffer.awaited.superblocks())
    }

    /// Makes a superblock a mover's source.
    pub(crate) fn start_source(&mut self, work: Work, superblock: u32) {
        let block = &mut self.blocks.all[superblock as usize];
        assert_eq!(
            (block.state, block.in_flight),
            (State::Closed, 0),
            "source {superblock}"
        );
        block.state = State::Source;
        if self.blocks.victims.holds(superblock) {
            self.blocks.victims.remove(superblock);
        }
        let mover = self.mover(work);
        mover.source = superblock;
        mover.cursor = 0;
    }

    /// Whether a mover may issue another read: bounded by its rows, its granules and a place to
    /// write.
    pub(crate) fn may_read(&mut self, work: Work) -> bool {
        let stream = self.stream_of(work);
        let programs = self.programs_of(work, stream);
        if self.mover_of(work).is_far_ahead(programs) || self.paged.holds() {
            return false;
        }
        let mover = self.mover_of(work);
        let owed = self.units_owed(work);
        if self.writing.streams[stream].left() >= owed || mover.pledged {
            return true;
        }
        if self.available_to_movers() <= self.kept_from(work) {
            // Without a place to write only collection can help, and it has to do so at once.
            self.writing.starved |= work == Work::Fold;
            return false;
        }
        self.mover(work).pledged = true;
        true
    }

    /// Granules of a mover in programming, of the stream that has most of them: each stream has
    /// its own granules between passes.
    #[inline]
    fn programs_of(&self, work: Work, stream: Stream) -> u32 {
        if work != Work::Collect {
            return self.writing.buffer.by_stream[stream];
        }
        let shared = match self.writing.buffer.moved {
            0 => 0,
            moved => moved / self.layout.native_granule,
        };
        let own = self.writing.in_use.collected.iter();
        own.fold(shared, |most, &own| {
            most.max(self.writing.buffer.by_stream[own])
        })
    }

    /// The stream that a mover has room set aside in.
    #[inline]
    pub(crate) fn stream_of(&self, work: Work) -> Stream {
        match work {
            Work::Fold => Stream::Fold,
            Work::Collect => self.collect_stream(),
            Work::Map => Stream::Map,
        }
    }

    fn mover_of(&self, work: Work) -> &Mover {
        match work {
            Work::Fold => &self.cache.fold,
            Work::Collect => &self.collection.mover,
            Work::Map => &self.paged.mover,
        }
    }

    /// Units that the rows being read and the next one bring at most.
    #[inline]
    fn units_owed(&self, work: Work) -> u32 {
        let mover = self.mover_of(work);
        let row = self.layout.row_units;
        if !self.layout.packs() {
            return (mover.outstanding + 1) * row;
        }
        let first = self.layout.base(mover.source) + mover.cursor;
        let valid = self.map.count_valid(first, row);
        mover.owed + valid.max(self.layout.whole(row))
    }

    /// Free native superblocks that a mover leaves to others. Folding leaves the last one to
    /// collection, but not to one that has no victim: then each borrowed superblock that is folded
    /// into the last free one becomes free, and nothing else makes room for a host that waits.
    pub(crate) fn kept_from(&self, work: Work) -> u32 {
        let last_is_for_fold = work == Work::Fold
            && self.writing.starved
            && self.collection.mover.source == NONE
            && self.folds_borrowed()
            && self.has_no_victim();
        if last_is_for_fold { 0 } else { floor(work) }
    }

    /// Issues the read of the row at a mover's cursor, or passes over it when nothing in it is
    /// valid.
    pub(crate) fn read_row(&mut self, work: Work, ops: &mut Vec<NandOp>) {
        let row_units = self.layout.row_units;
        let mover = self.mover(work);
        let (superblock, offset) = (mover.source, mover.cursor);
        mover.cursor += row_units;
        let first = self.layout.base(superblock) + offset;
        let number = self.layout.row_of(first);
        let lpns = self.writing.row_lists.list(&self.map, number, first);
        if work == Work::Collect && !lpns.is_empty() {
            self.map.expect_moves(first, row_units, lpns);
        }
        let valid = lpns.len() as u32;
        let whole = valid.max(self.layout.whole(row_units));
        let dealt = if work == Work::Fold { whole } else { valid };
        if work == Work::Fold {
            self.spend_allowance(valid);
        }
        let mover = self.mover(work);
        mover.deal(dealt);
        if valid == 0 {
            return;
        }
        mover.outstanding += 1;
        mover.owed += whole;
        self.counters.map_reads += u64::from(work == Work::Map);
        let (die, class) = self.read_place(first);
        let sent = self.packing.row_sent(&self.layout, &self.map, first, valid);
        let token = match work {
            Work::Fold => Token::FoldRead(first),
            Work::Collect => Token::GcRead(first),
            Work::Map => Token::MapGcRead(first),
        };
        ops.push(NandOp::new(die, class, sent as u16, token));
    }

    /// A row has been read: what is still valid in it goes into the mover's stream.
    pub(crate) fn row_read(&mut self, work: Work, first: u32, ops: &mut Vec<NandOp>) {
        let (row_units, whole) = (
            self.layout.row_units,
            self.layout.whole(self.layout.row_units),
        );
        let mut row_lists = std::mem::take(&mut self.writing.row_lists);
        let lpns = row_lists.still_valid(&self.map, self.layout.row_of(first), first);
        self.packing.note_moved(&self.map, first, row_units);
        self.map.clear_valid_run(first, row_units);
        let superblock = self.layout.superblock_of(first);
        self.blocks
            .lose_valid(&mut self.cache, superblock, lpns.len() as u32);
        let written = self.blocks.victims.written(superblock);
        let mover = self.mover(work);
        mover.outstanding -= 1;
        // `owed` is an upper bound: units of the row may have been overwritten while it was read.
        // It is exact again when no read is under way.
        mover.owed = if mover.outstanding == 0 {
            0
        } else {
            mover.owed.saturating_sub(whole)
        };
        let mut stream = self.stream_of(work);
        if work == Work::Collect {
            stream = self.collected_stream(lpns.len() as u32);
            self.collection.mover.placed[self.collection.mover.cause as usize] += lpns.len() as u32;
        }
        if work == Work::Collect && stream != Stream::Levelled && self.divides_collected() {
            self.append_divided(lpns, superblock, written, ops);
        } else if stream.is_host() {
            self.append_among_hosts(stream, lpns, written, ops);
        } else {
            self.append_moved(stream, lpns, written, ops);
        }
        self.writing.row_lists = row_lists;
    }

    /// Ends the work on a source that has been read to its end; false while reads of it are under
    /// way.
    pub(crate) fn finish_source(&mut self, work: Work, ops: &mut Vec<NandOp>) -> bool {
        let mover = self.mover(work);
        if mover.outstanding + mover.copying > 0 {
            return false;
        }
        let superblock = mover.source;
        mover.source = NONE;
        mover.pledged = false;
        let block = &mut self.blocks.all[superblock as usize];
        assert_eq!(block.valid, 0, "source {superblock} still holds data");
        block.state = State::Emptied;
        // Data that was not copied, because it had been trimmed, will be erased: the trim has to be
        // on flash, or a cut would bring older data back.
        if self.cuts.is_on() {
            self.flush_journal(ops);
        }
        if work == Work::Collect && self.levels_no_more() {
            self.close_filled_in_part(Stream::Levelled, ops);
        }
        let sequence = self.writing.sequence;
        self.mover(work).emptied.push(Emptied {
            superblock,
            sequence,
        });
        self.erase_emptied(ops);
        true
    }

    /// A mover that has no superblock to write to may get one that it has emptied. The granule with
    /// the last copies is padded, because nothing more will fill it and the erase waits for it.
    pub(crate) fn free_emptied(&mut self, work: Work, ops: &mut Vec<NandOp>) {
        let mover = self.mover(work);
        if !mover.waiting() || mover.outstanding + mover.copying > 0 || mover.pledged {
            return;
        }
        let stream = self.stream_of(work);
        let full = self.writing.streams[stream].left() < self.packing.row_most();
        if full && self.available_to_movers() <= self.kept_from(work) {
            self.pad_moved(work, true, ops);
            self.hasten_erases(ops);
        }
    }

    /// Erases emptied sources whose copies are all programmed.
    pub(crate) fn erase_emptied(&mut self, ops: &mut Vec<NandOp>) {
        for work in [Work::Fold, Work::Collect, Work::Map] {
            if !self.mover(work).waiting() {
                continue;
            }
            // Units that were not copied because the host had replaced them: the replacements have
            // to be on flash too.
            let all = self.cuts.is_on() && work != Work::Map;
            let durable = self
                .writing
                .oldest_pending(|s| self.takes_moved(work, s) || (all && s.is_host()));
            let durable = if all {
                durable
                    .min(self.cuts.oldest_trims())
                    .min(self.health.homeless)
            } else {
                durable
            };
            let mut emptied = std::mem::take(&mut self.mover(work).emptied);
            emptied.retain(|e| {
                let keep = e.sequence > durable;
                if !keep {
                    self.start_erase(e.superblock, ops);
                }
                keep
            });
            self.mover(work).emptied = emptied;
        }
    }
}
