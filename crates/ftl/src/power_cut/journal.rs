//! Checkpoints of the map and the journal of trims: what a start after a power cut reads besides
//! spare areas. Both are programmed in SLC mode into the system area, round the dies, and the
//! system area's blocks are erased as they are used up.
//!
//! A checkpoint is the whole map as it stood when it began. It counts once it is programmed and so
//! is all the data that it points to; until then the one before it counts. A trim has no data that
//! could bear its stamp: it is an entry of the journal. Entries are programmed by a flush, and as
//! soon as they fill a row.
//!
//! Invariants: at most one row a die is under way for a checkpoint, so that the host's work goes on
//! beside it; while power cuts are switched on, what a trim has emptied is erased only once the
//! trim is in the journal.

use super::PowerCuts;
use crate::blocks::Blocks;
use crate::counters::Counters;
use crate::layout::{Layout, Mode};
use crate::map::Map;
use crate::op::{NandOp, Token, class};
use crate::policy::Durability;
use crate::writing::Writing;

/// Bytes of a journal entry: first unit, how many, version stamp.
const ENTRY_BYTES: u64 = 16;
/// Bytes of a map entry.
const MAP_ENTRY_BYTES: u64 = 4;

/// Rows of the system area that a checkpoint of the map of `units` logical units takes, each of
/// `row_bytes`.
#[must_use]
pub fn checkpoint_rows(units: u64, row_bytes: u64) -> u64 {
    (units * MAP_ENTRY_BYTES).div_ceil(row_bytes)
}

/// How far a checkpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Checkpoint {
    Off,
    /// So many rows are still to be issued; what it points to was begun below the number.
    Writing(u64, u64),
}

/// A row of entries that is being programmed.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Row {
    /// Its number among all granules and rows.
    sequence: u64,
    /// Whoever waits for what was begun with this number waits for the row too: it is the row's
    /// own, or that of a granule whose data is gone because it was trimmed.
    since: u64,
}

/// What is written into the system area and when.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    /// Host units at which the next checkpoint begins.
    pub(super) due: u64,
    interval_units: u64,
    checkpoint_rows: u64,
    checkpoint: Checkpoint,
    /// Rows of the checkpoint being programmed.
    rows_in_flight: u32,
    /// Trims are journaled.
    pub(super) keeps_trims: bool,
    row_entries: u64,
    /// Entries that no row on its way holds.
    entries: u64,
    /// Rows of entries that are being programmed, oldest first.
    rows: Vec<Row>,
    /// Pages of planes programmed, for the place of the next.
    pages: u64,
}

flashtwin_base::state! { Journal {
    kept: due, checkpoint, rows_in_flight, entries, rows, pages;
    built: interval_units, checkpoint_rows, keeps_trims, row_entries;
} }

impl Journal {
    pub(super) fn new(policy: &Durability, units: u64, unit_bytes: u64, row_units: u32) -> Journal {
        let row_bytes = u64::from(row_units) * unit_bytes;
        let interval_units = policy.checkpoint_bytes.div_ceil(unit_bytes);
        Journal {
            due: if interval_units > 0 {
                interval_units
            } else {
                u64::MAX
            },
            interval_units,
            checkpoint_rows: checkpoint_rows(units, row_bytes),
            checkpoint: Checkpoint::Off,
            rows_in_flight: 0,
            keeps_trims: policy.trim_journal,
            row_entries: row_bytes / ENTRY_BYTES,
            entries: 0,
            rows: Vec::new(),
            pages: 0,
        }
    }

    /// Forgets the rows that were under way and the entries that waited in RAM.
    pub(super) fn power_lost(&mut self) {
        self.checkpoint = Checkpoint::Off;
        self.rows_in_flight = 0;
        self.entries = 0;
        self.rows.clear();
    }

    /// Lowest sequence number of what the rows of entries keep waiting that are being programmed.
    pub(super) fn oldest(&self) -> u64 {
        let since = self.rows.iter().map(|row| row.since);
        since.min().unwrap_or(u64::MAX)
    }

    /// Whoever waits for what was begun with a sequence number waits for the rows under way too.
    pub(super) fn lower(&mut self, sequence: u64) {
        for row in &mut self.rows {
            row.since = row.since.min(sequence);
        }
    }

    /// Rows that a start after a power cut reads, if there is a checkpoint.
    pub(super) fn rows_read(&self) -> u64 {
        self.checkpoint_rows
    }

    /// The sequence number of the row of entries that is being programmed and has this low half.
    pub(super) fn writes(&self, low: u32) -> Option<u64> {
        let mut own = self.rows.iter().map(|row| row.sequence);
        own.find(|&s| s as u32 == low)
    }
}

/// Rows of the system area have been programmed.
pub(super) fn count_rows(rows: u64, layout: &Layout, counters: &mut Counters) {
    count_units(rows * u64::from(layout.row_units), layout, counters);
}

fn count_units(units: u64, layout: &Layout, counters: &mut Counters) {
    let units = units / u64::from(layout.ratio);
    counters.journal_units += units;
    counters.slc_mode_units += units;
}

impl Journal {
    /// Programs the next row of the system area.
    fn write_row(
        &mut self,
        token: Token,
        layout: &Layout,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        let planes = layout.row_units / layout.page_units;
        self.write_pages(planes, token, layout, counters, ops);
    }

    /// Programs the next pages, one of each of some planes: all of them make a row.
    fn write_pages(
        &mut self,
        pages: u32,
        token: Token,
        layout: &Layout,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        let dies = u64::from(layout.dies);
        let wordlines = u64::from(layout.wordlines());
        let planes = u64::from(layout.row_units / layout.page_units);
        self.pages = self.pages.next_multiple_of(pages.into());
        let die = (self.pages / planes % dies) as u16;
        if self.pages.is_multiple_of(dies * wordlines * planes) && self.pages > 0 {
            ops.extend((0..layout.dies).map(|die| {
                NandOp::new(die as u16, class::erase(Mode::Slc), 0, Token::SystemErase)
            }));
        }
        self.pages += u64::from(pages);
        count_units(u64::from(pages * layout.page_units), layout, counters);
        // The map and its journal are not compressed.
        let sent = (layout.granule_grains(Mode::Slc) * pages / planes as u32) as u16;
        ops.push(NandOp::new(die, class::SLC_PROGRAM, sent, token));
    }

    /// Programs rows of the checkpoint under way, as many at a time as there are dies.
    fn write_map(&mut self, layout: &Layout, counters: &mut Counters, ops: &mut Vec<NandOp>) {
        while let Checkpoint::Writing(rows, sequence) = self.checkpoint
            && rows > 0
            && self.rows_in_flight < layout.dies
        {
            self.checkpoint = Checkpoint::Writing(rows - 1, sequence);
            self.rows_in_flight += 1;
            self.write_row(Token::Checkpoint, layout, counters, ops);
        }
    }
}

impl PowerCuts {
    /// The host has written so much that a checkpoint is due; one that is under way goes on. It
    /// will count once everything that was begun below the `sequence` number is on flash.
    #[cold]
    pub(crate) fn begin_checkpoint(
        &mut self,
        sequence: u64,
        map: &Map,
        blocks: &Blocks,
        layout: &Layout,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        let journal = &mut self.journal;
        journal.due = counters.host_units + journal.interval_units;
        if journal.checkpoint != Checkpoint::Off {
            return;
        }
        journal.checkpoint = Checkpoint::Writing(journal.checkpoint_rows, sequence);
        if let Some(stamps) = &mut self.stamps {
            stamps.begin_checkpoint(map, blocks);
        }
        journal.write_map(layout, counters, ops);
    }

    /// A row of a checkpoint has been programmed.
    pub(crate) fn checkpoint_row_written(
        &mut self,
        layout: &Layout,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        self.journal.rows_in_flight -= 1;
        self.journal.write_map(layout, counters, ops);
    }

    /// Whether a checkpoint is under way, for a look in passing.
    pub(crate) fn is_writing_checkpoint(&self) -> bool {
        self.journal.checkpoint != Checkpoint::Off
    }

    /// The checkpoint counts once all its rows and all that it points to are programmed.
    #[cold]
    pub(crate) fn end_checkpoint(&mut self, writing: &Writing) {
        if let Checkpoint::Writing(0, sequence) = self.journal.checkpoint
            && self.journal.rows_in_flight == 0
            && writing.oldest_pending(|_| true) >= sequence
        {
            self.journal.checkpoint = Checkpoint::Off;
            if let Some(stamps) = &mut self.stamps {
                stamps.keep_checkpoint();
            }
        }
    }

    /// Logical units have been deallocated: where the policy says so that is an entry of the
    /// journal.
    pub(crate) fn note_trim(
        &mut self,
        (lpn, count): (u32, u32),
        sequence: &mut u64,
        layout: &Layout,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        if let Some(stamps) = &mut self.stamps {
            stamps.trimmed(lpn, count);
        }
        if !self.journal.keeps_trims {
            return;
        }
        self.journal.entries += 1;
        if self.journal.entries >= self.journal.row_entries {
            self.flush_journal(sequence, layout, counters, ops);
        }
    }

    /// Programs the entries that wait. Their row takes the next sequence number.
    pub(crate) fn flush_journal(
        &mut self,
        sequence: &mut u64,
        layout: &Layout,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        if self.journal.entries > 0 {
            let row = layout.row_units / layout.page_units;
            self.write_journal(row, sequence, layout, counters, ops);
        }
    }

    /// Programs pages of the journal, more where the trims that wait take more.
    pub(crate) fn write_journal(
        &mut self,
        pages: u32,
        sequence: &mut u64,
        layout: &Layout,
        counters: &mut Counters,
        ops: &mut Vec<NandOp>,
    ) {
        let planes = layout.row_units / layout.page_units;
        let page_entries = self.journal.row_entries / u64::from(planes);
        let needed = self.journal.entries.div_ceil(page_entries.max(1)) as u32;
        let pages = pages.max(needed.min(planes));
        self.journal.entries = 0;
        let own = *sequence;
        *sequence += 1;
        self.journal.rows.push(Row {
            sequence: own,
            since: own,
        });
        if let Some(stamps) = &mut self.stamps {
            stamps.write_trims(own);
        }
        let token = Token::Journal(own as u32);
        self.journal
            .write_pages(pages, token, layout, counters, ops);
    }

    /// A row of entries has been programmed; `low` are the lower bits of its number.
    pub(crate) fn journal_written(&mut self, low: u32) {
        let Some(sequence) = self.journal.writes(low) else {
            panic!("a row of the journal that was not being programmed");
        };
        self.journal.rows.retain(|row| row.sequence != sequence);
        if let Some(stamps) = &mut self.stamps {
            stamps.keep_trims(sequence);
        }
    }
}
