//! Parquet files: a group of a million rows, a chunk a column, pages of a mebibyte, zstd.

use crate::compressed;
use crate::encoding::{deltas, plain};
use crate::thrift::{Writer, varint};

/// One row group up to so many rows: the split must not follow the machine.
const GROUP_ROWS: usize = 1 << 20;
const PAGE_ROWS: usize = 1 << 17;

pub(crate) const MAGIC: &[u8] = b"PAR1";
// The numbers of Parquet's types, encodings and codec.
pub(crate) const INT64: i32 = 2;
const DOUBLE: i32 = 5;
const BYTE_ARRAY: i32 = 6;
const UTF8: i32 = 0;
pub(crate) const PLAIN: i32 = 0;
pub(crate) const RLE: i32 = 3;
pub(crate) const DELTA: i32 = 5;
const DICTIONARY: i32 = 8;
pub(crate) const ZSTD: i32 = 6;

/// What a column holds; numbers that are not whole, and text, may be lacking.
pub enum Column<'a> {
    /// Whole numbers, none of them lacking.
    Whole(&'a [i64]),
    /// Numbers; one that is none (NaN) is lacking.
    Numbers(&'a [f64]),
    /// Text: the place of each among some words; below zero it is lacking.
    Words(&'a [i64], &'a [String]),
}

impl Column<'_> {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        match self {
            Self::Whole(values) | Self::Words(values, _) => values.len(),
            Self::Numbers(values) => values.len(),
        }
    }

    fn kind(&self) -> i32 {
        match self {
            Self::Whole(_) => INT64,
            Self::Numbers(_) => DOUBLE,
            Self::Words(..) => BYTE_ARRAY,
        }
    }
}

/// A Parquet file with these columns.
///
/// # Panics
///
/// Where the columns are not equally long.
pub fn write(columns: &[(String, Column<'_>)]) -> Vec<u8> {
    let rows = columns.first().map_or(0, |(_, column)| column.rows());
    for (name, column) in columns {
        assert_eq!(column.rows(), rows, "column {name} is as long as the first");
    }
    let mut file = MAGIC.to_vec();
    let mut groups = Vec::new();
    for from in (0..rows).step_by(GROUP_ROWS) {
        groups.push(group(
            &mut file,
            columns,
            from,
            (from + GROUP_ROWS).min(rows),
        ));
    }
    let footer = footer(columns, rows, groups);
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(MAGIC);
    file
}

fn footer(columns: &[(String, Column<'_>)], rows: usize, groups: Vec<Writer>) -> Vec<u8> {
    let mut schema = vec![
        Writer::default()
            .bytes(4, b"root")
            .i32(5, columns.len() as i32),
    ];
    let mut orders = Vec::new();
    for (name, column) in columns {
        let optional = i32::from(column.kind() != INT64);
        let leaf = Writer::default()
            .i32(1, column.kind())
            .i32(3, optional)
            .bytes(4, name.as_bytes());
        schema.push(match column {
            Column::Words(..) => leaf
                .i32(6, UTF8)
                .structure(10, Writer::default().structure(1, Writer::default())),
            _ => leaf,
        });
        orders.push(Writer::default().structure(1, Writer::default()));
    }
    Writer::default()
        .i32(1, 2)
        .structures(2, schema)
        .i64(3, rows as i64)
        .structures(4, groups)
        .bytes(6, b"flashtwin")
        .structures(7, orders)
        .end()
}

fn group(file: &mut Vec<u8>, columns: &[(String, Column<'_>)], from: usize, to: usize) -> Writer {
    let began = file.len();
    let (mut chunks, mut plain_bytes) = (Vec::new(), 0);
    for (name, column) in columns {
        let chunk = match column {
            Column::Whole(values) => whole(&values[from..to]),
            Column::Numbers(values) => numbers(&values[from..to]),
            Column::Words(places, words) => texts(&places[from..to], words),
        };
        plain_bytes += chunk.plain_bytes;
        let mut about = Writer::default()
            .i32(1, column.kind())
            .i32s(2, &[PLAIN, RLE, chunk.encoding])
            .names(3, &[name])
            .i32(4, ZSTD)
            .i64(5, (to - from) as i64)
            .i64(6, chunk.plain_bytes as i64)
            .i64(7, chunk.bytes.len() as i64)
            .i64(9, (file.len() + chunk.dictionary_bytes) as i64);
        if chunk.dictionary_bytes > 0 {
            about = about.i64(11, file.len() as i64);
        }
        if let Some((least, most)) = chunk.range {
            let range = Writer::default()
                .i64(3, 0)
                .bytes(5, &most.to_le_bytes())
                .bytes(6, &least.to_le_bytes());
            about = about.structure(12, range);
        }
        chunks.push(
            Writer::default()
                .i64(2, file.len() as i64)
                .structure(3, about),
        );
        file.extend(chunk.bytes);
    }
    Writer::default()
        .structures(1, chunks)
        .i64(2, plain_bytes as i64)
        .i64(3, (to - from) as i64)
        .i64(5, began as i64)
        .i64(6, (file.len() - began) as i64)
}

struct Chunk {
    bytes: Vec<u8>,
    plain_bytes: usize,
    encoding: i32,
    /// Of the page before the others, where there is one.
    dictionary_bytes: usize,
    range: Option<(i64, i64)>,
}

/// Differences or plain, whichever takes less.
fn whole(values: &[i64]) -> Chunk {
    let range = values
        .iter()
        .min()
        .copied()
        .zip(values.iter().max().copied());
    let made = |encoding, encode: fn(&[i64]) -> Vec<u8>| {
        let mut chunk = Chunk {
            range,
            ..Chunk::new(encoding)
        };
        for part in values.chunks(PAGE_ROWS) {
            chunk.page(part.len(), &encode(part));
        }
        chunk
    };
    let (differences, plain) = (made(DELTA, deltas), made(PLAIN, plain));
    if differences.bytes.len() <= plain.bytes.len() {
        differences
    } else {
        plain
    }
}

fn numbers(values: &[f64]) -> Chunk {
    let mut chunk = Chunk::new(PLAIN);
    for part in values.chunks(PAGE_ROWS) {
        let mut page = levels(part.iter().map(|value| !value.is_nan()));
        let there = part.iter().filter(|value| !value.is_nan());
        page.extend(there.flat_map(|value| value.to_le_bytes()));
        chunk.page(part.len(), &page);
    }
    chunk
}

/// The words once, then the places of each row's.
fn texts(places: &[i64], words: &[String]) -> Chunk {
    let mut chunk = Chunk::new(DICTIONARY);
    let mut dictionary = Vec::new();
    for word in words {
        dictionary.extend((word.len() as u32).to_le_bytes());
        dictionary.extend(word.as_bytes());
    }
    let about = Writer::default().i32(1, words.len() as i32).i32(2, PLAIN);
    chunk.add(&dictionary, 2, 7, about);
    chunk.dictionary_bytes = chunk.bytes.len();
    let width = usize::BITS - words.len().saturating_sub(1).leading_zeros();
    for part in places.chunks(PAGE_ROWS) {
        let mut page = levels(part.iter().map(|place| *place >= 0));
        page.push(width as u8);
        let there: Vec<i64> = part.iter().copied().filter(|place| *place >= 0).collect();
        for run in there.chunk_by(|a, b| a == b) {
            varint(&mut page, (run.len() as u64) << 1);
            page.extend(&run[0].to_le_bytes()[..width.div_ceil(8) as usize]);
        }
        chunk.page(part.len(), &page);
    }
    chunk
}

/// Which rows have a value, in runs, with the length of that before it.
fn levels(there: impl Iterator<Item = bool>) -> Vec<u8> {
    let there: Vec<bool> = there.collect();
    let mut levels = Vec::new();
    for run in there.chunk_by(|a, b| a == b) {
        varint(&mut levels, (run.len() as u64) << 1);
        levels.push(u8::from(run[0]));
    }
    let mut page = (levels.len() as u32).to_le_bytes().to_vec();
    page.extend(levels);
    page
}

impl Chunk {
    fn new(encoding: i32) -> Self {
        Self {
            bytes: Vec::new(),
            plain_bytes: 0,
            encoding,
            dictionary_bytes: 0,
            range: None,
        }
    }

    fn page(&mut self, rows: usize, page: &[u8]) {
        let about = Writer::default()
            .i32(1, rows as i32)
            .i32(2, self.encoding)
            .i32(3, RLE)
            .i32(4, RLE);
        self.add(page, 0, 5, about);
    }

    /// A page of a kind, described in a field of its header.
    fn add(&mut self, page: &[u8], kind: i32, field: i16, about: Writer) {
        let packed = compressed(page);
        let header = Writer::default()
            .i32(1, kind)
            .i32(2, page.len() as i32)
            .i32(3, packed.len() as i32)
            .structure(field, about)
            .end();
        self.plain_bytes += header.len() + page.len();
        self.bytes.extend(header);
        self.bytes.extend(packed);
    }
}
