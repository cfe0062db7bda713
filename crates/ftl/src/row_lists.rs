//! The rows that movers have under way: the logical units of each are listed once, when its read is
//! asked for.
//!
//! The list is used twice. While the die reads, the map entries of these units are fetched into the
//! processor's cache; when the row has come, they are pointed at their new places. What the host
//! has replaced in between is known by the row's valid bits. Only then, or when another row has
//! taken the list's place, is the row listed again. No unit becomes valid meanwhile, since nothing
//! is written into the superblock that a mover empties.

use crate::layout::{Layout, NONE};
use crate::map::{Map, WORD_UNITS};

/// Lists that are kept: more than rows under way, for which rows without valid units between them
/// leave gaps. A power of two.
const LISTS: usize = 64;

/// A row, and which of its units are listed.
#[derive(Clone, Copy)]
struct Row {
    first: u32,
    valid: u64,
}

const NOTHING: Row = Row {
    first: NONE,
    valid: 0,
};

/// Lists of rows, each in a place that follows from the row's number.
#[derive(Default)]
pub(crate) struct RowLists {
    rows: Vec<Row>,
    /// As many entries for each of `rows` as a row has units.
    units: Vec<u32>,
    row_units: usize,
}

impl RowLists {
    /// Nothing is listed.
    pub(crate) fn new(layout: &Layout) -> RowLists {
        let row_units = layout.row_units as usize;
        RowLists {
            rows: vec![NOTHING; LISTS],
            units: vec![0; LISTS * row_units],
            row_units,
        }
    }

    /// Lists the valid units of the row that has this number and begins at this physical unit.
    pub(crate) fn list(&mut self, map: &Map, number: u32, first: u32) -> &[u32] {
        let place = number as usize % LISTS;
        let list = &mut self.units[place * self.row_units..][..self.row_units];
        let (valid, count) = if self.row_units <= WORD_UNITS {
            map.list_row(first, list)
        } else {
            // Which units are listed does not fit into a word: the row will be listed again.
            (0, map.list_run(first, list))
        };
        self.rows[place] = Row { first, valid };
        &list[..count]
    }

    /// The units of a row that are valid still, as they were listed where none has been replaced. A
    /// list is good for one use: its row may be written anew afterwards.
    pub(crate) fn still_valid(&mut self, map: &Map, number: u32, first: u32) -> &[u32] {
        let place = number as usize % LISTS;
        let row = std::mem::replace(&mut self.rows[place], NOTHING);
        let list = &mut self.units[place * self.row_units..][..self.row_units];
        if self.row_units > WORD_UNITS {
            let count = map.list_run(first, list);
            return &list[..count];
        }
        let valid = map.valid_of_row(first, self.row_units as u32);
        if row.first != first || row.valid != valid {
            map.list_row(first, list);
        }
        &list[..valid.count_ones() as usize]
    }
}
