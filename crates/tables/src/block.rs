//! Several small tables as one block of bytes: what a step of a run left.
//!
//! A Parquet file takes a kilobyte and more for its footer alone; a step that took a second has a
//! row or two. A block is the differences of every column with their names before them, compressed
//! together. Layout: the length of the text (8 bytes, the lowest first), then the text, compressed:
//! for each table its name, rows, columns; for each column its name and its differences.

use crate::encoding::{deltas, from_deltas};
use crate::thrift::{Reader, varint};
use crate::{Found, Table, compressed, damage, decompressed};

/// Differences take at least five bytes for 128 of them.
const BYTES_A_VALUE: u64 = 9;

/// The names and values of a table's columns, where they lie.
pub type Columns<'a> = Vec<(String, &'a [i64])>;

/// The tables as one block.
///
/// # Panics
///
/// Where the columns of a table are not equally long.
pub fn pack(tables: &[(String, Columns<'_>)]) -> Vec<u8> {
    let mut text = Vec::new();
    varint(&mut text, tables.len() as u64);
    for (name, columns) in tables {
        named(&mut text, name);
        let rows = columns.first().map_or(0, |(_, values)| values.len());
        varint(&mut text, rows as u64);
        varint(&mut text, columns.len() as u64);
        for (name, values) in columns {
            assert_eq!(values.len(), rows, "column {name} is as long as the first");
            named(&mut text, name);
            text.extend(deltas(values));
        }
    }
    let mut block = (text.len() as u64).to_le_bytes().to_vec();
    block.extend(compressed(&text));
    block
}

fn named(out: &mut Vec<u8>, name: &str) {
    varint(out, name.len() as u64);
    out.extend(name.as_bytes());
}

/// The tables in a block, if together they have at most `most_values` values.
pub fn unpack(block: &[u8], most_values: u64) -> Found<Vec<(String, Table)>> {
    let Some((length, packed)) = block.split_first_chunk::<8>() else {
        return damage("it breaks off");
    };
    let length = u64::from_le_bytes(*length);
    if length > most_values.saturating_mul(BYTES_A_VALUE) {
        return damage(format!(
            "its {length} bytes are more than this machine can hold"
        ));
    }
    let text = decompressed(packed, length as usize)?;
    let mut reader = Reader::new(&text);
    let mut left = most_values;
    let mut tables = Vec::new();
    for _ in 0..reader.unsigned()? {
        let name = text_of(&mut reader)?;
        let rows = reader.unsigned()?;
        let mut table = Vec::new();
        for _ in 0..reader.unsigned()? {
            let Some(rest) = left.checked_sub(rows as u64) else {
                return damage(format!(
                    "its {rows} rows are more than this machine can hold"
                ));
            };
            left = rest;
            let column = text_of(&mut reader)?;
            let mut values = Vec::new();
            let length = from_deltas(&text[reader.at()..], rows, &mut values)?;
            reader.raw(length)?;
            table.push((column, values));
        }
        tables.push((name, table));
    }
    if reader.left() > 0 {
        return damage("there is more in it than its tables");
    }
    Ok(tables)
}

fn text_of(reader: &mut Reader<'_>) -> Found<String> {
    String::from_utf8(reader.bytes()?.to_vec()).or_else(|_| damage("a name in it is not UTF-8"))
}
