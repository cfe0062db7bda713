//! Parquet files of whole numbers, read back.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::encoding::{from_deltas, from_plain, from_runs};
use crate::thrift::{Kind, Reader};
use crate::write::{DELTA, INT64, MAGIC, PLAIN, ZSTD};
use crate::{Found, Table, damage, decompressed, reserve};

const UNCOMPRESSED: i32 = 0;
/// Two names for one encoding: places in a dictionary.
const DICTIONARY: [i32; 2] = [2, 8];
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;
/// A footer has a hundred bytes a column and group of a million rows.
const LARGEST_FOOTER: usize = 4 << 20;
/// What a page may have beside its values: levels and the heads of runs and blocks.
const PAGE_SLACK: usize = 1 << 12;

/// The columns of a Parquet file, if together they have at most `most_values` values.
pub fn read(data: &[u8], most_values: u64) -> Found<Table> {
    let body = footer_place(data)?;
    let about = about(&data[body.end..data.len() - 8])?;
    let count = about.columns.len() as u64;
    if (about.rows as u64)
        .checked_mul(count.max(1))
        .is_none_or(|values| values > most_values)
    {
        return damage(format!(
            "its {} rows are more than this machine can hold",
            about.rows
        ));
    }
    let mut table: Table = about
        .columns
        .iter()
        .map(|c| (c.name.clone(), Vec::new()))
        .collect();
    for (_, values) in &mut table {
        reserve(values, about.rows)?;
    }
    for group in &about.groups {
        if group.chunks.len() != table.len() {
            return damage("a group of rows lacks a column");
        }
        for ((chunk, leaf), (name, values)) in
            group.chunks.iter().zip(&about.columns).zip(&mut table)
        {
            let end = chunk.start.checked_add(chunk.length);
            let Some(bytes) = end.and_then(|end| data[..body.end].get(chunk.start..end)) else {
                return damage(format!("column {name} is said to lie outside of the file"));
            };
            chunk.values(bytes, group.rows, leaf.optional, values)?;
        }
    }
    Ok(table)
}

/// What lies before the footer.
fn footer_place(data: &[u8]) -> Found<Range<usize>> {
    let ends = data.len().checked_sub(8).filter(|end| *end >= MAGIC.len());
    let Some(end) = ends.filter(|end| data.starts_with(MAGIC) && data[end + 4..] == *MAGIC) else {
        return damage("it is no whole Parquet file");
    };
    let footer_bytes = u32::from_le_bytes([data[end], data[end + 1], data[end + 2], data[end + 3]]);
    match end.checked_sub(footer_bytes as usize) {
        Some(_) if footer_bytes as usize > LARGEST_FOOTER => damage("its footer is too long"),
        Some(start) if start >= MAGIC.len() => Ok(MAGIC.len()..start),
        _ => damage("its footer is said to be longer than the file"),
    }
}

struct About {
    rows: usize,
    columns: Vec<Leaf>,
    groups: Vec<Group>,
}

struct Leaf {
    name: String,
    optional: bool,
}

struct Group {
    rows: usize,
    chunks: Vec<Chunk>,
}

fn about(footer: &[u8]) -> Found<About> {
    let (mut rows, mut schema, mut groups) = (None, Vec::new(), Vec::new());
    Reader::new(footer).fields(|reader, id, kind| {
        match (id, kind) {
            (2, Kind::List) => schema = structures(reader, element)?,
            (3, Kind::I64) => rows = Some(reader.size()?),
            (4, Kind::List) => groups = structures(reader, group)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let Some(rows) = rows else {
        return damage("it does not say how many rows it has");
    };
    let in_groups = groups
        .iter()
        .try_fold(0_usize, |sum, group| sum.checked_add(group.rows));
    if in_groups != Some(rows) {
        return damage("its groups have other rows than it says");
    }
    Ok(About {
        rows,
        columns: leaves(schema)?,
        groups,
    })
}

/// The items of a list of structures; a file holds at least a byte for each.
fn structures<T>(
    reader: &mut Reader<'_>,
    mut item: impl FnMut(&mut Reader<'_>) -> Found<T>,
) -> Found<Vec<T>> {
    let (count, kind) = reader.list()?;
    if kind != Kind::Struct && count > 0 {
        return damage("its footer holds something else than it should");
    }
    let mut items = Vec::new();
    for _ in 0..count {
        reserve_one(&mut items)?;
        items.push(item(reader)?);
    }
    Ok(items)
}

fn reserve_one<T>(items: &mut Vec<T>) -> Found<()> {
    let room = items.try_reserve(1);
    room.or_else(|_| damage("there is no memory for it"))
}

#[derive(Default)]
struct Element {
    kind: Option<i64>,
    repetition: i64,
    name: Vec<u8>,
    children: Option<i64>,
}

fn element(reader: &mut Reader<'_>) -> Found<Element> {
    let mut element = Element::default();
    reader.fields(|reader, id, kind| {
        match (id, kind) {
            (1, Kind::I32) => element.kind = Some(reader.number()?),
            (3, Kind::I32) => element.repetition = reader.number()?,
            (4, Kind::Bytes) => element.name = reader.bytes()?.to_vec(),
            (5, Kind::I32) => element.children = Some(reader.number()?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(element)
}

/// The columns under the root, all of them flat.
fn leaves(schema: Vec<Element>) -> Found<Vec<Leaf>> {
    let mut elements = schema.into_iter();
    let root = elements.next().and_then(|root| root.children);
    if root != Some(elements.len() as i64) {
        return damage("its columns are not flat");
    }
    let mut names = BTreeSet::new();
    let mut columns = Vec::new();
    for element in elements {
        let Ok(name) = String::from_utf8(element.name) else {
            return damage("the name of a column is not UTF-8");
        };
        let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
        if element.children.is_some_and(|children| children > 0)
            || !matches!(element.repetition, 0 | 1)
        {
            return damage("its columns are not flat");
        }
        if element.kind != Some(INT64.into()) {
            return damage(format!(
                "column {shown} holds something else than whole numbers"
            ));
        }
        if !names.insert(name.clone()) {
            return damage(format!("it has column {shown} twice"));
        }
        columns.push(Leaf {
            name,
            optional: element.repetition == 1,
        });
    }
    Ok(columns)
}

fn group(reader: &mut Reader<'_>) -> Found<Group> {
    let mut group = Group {
        rows: 0,
        chunks: Vec::new(),
    };
    reader.fields(|reader, id, kind| {
        match (id, kind) {
            (1, Kind::List) => group.chunks = structures(reader, chunk)?,
            (3, Kind::I64) => group.rows = reader.size()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(group)
}

/// The values of a column in a group of rows.
#[derive(Default)]
struct Chunk {
    codec: i32,
    values: usize,
    start: usize,
    length: usize,
}

fn chunk(reader: &mut Reader<'_>) -> Found<Chunk> {
    let mut chunk = Chunk::default();
    let mut dictionary = None;
    reader.fields(|reader, id, kind| {
        if (id, kind) != (3, Kind::Struct) {
            return Ok(false);
        }
        reader.fields(|reader, id, kind| {
            match (id, kind) {
                (4, Kind::I32) => chunk.codec = reader.number()? as i32,
                (5, Kind::I64) => chunk.values = reader.size()?,
                (7, Kind::I64) => chunk.length = reader.size()?,
                (9, Kind::I64) => chunk.start = reader.size()?,
                (11, Kind::I64) => dictionary = Some(reader.size()?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(true)
    })?;
    // A dictionary lies before the pages that use it.
    chunk.start = dictionary
        .filter(|at| *at > 0)
        .map_or(chunk.start, |at| at.min(chunk.start));
    Ok(chunk)
}

struct Page<'a> {
    kind: i32,
    encoding: i32,
    values: usize,
    size: usize,
    packed: &'a [u8],
}

impl Chunk {
    fn values(
        &self,
        mut bytes: &[u8],
        rows: usize,
        optional: bool,
        out: &mut Vec<i64>,
    ) -> Found<()> {
        if self.values != rows {
            return damage("a column has other rows than its group");
        }
        let end = out.len() + rows;
        let mut dictionary: Option<Vec<i64>> = None;
        while out.len() < end {
            let page = page(&mut bytes)?;
            let left = if page.kind == DATA_PAGE {
                end - out.len()
            } else {
                rows
            };
            let text = page.text(self.codec, left)?;
            match page.kind {
                DATA_PAGE => {
                    let values = if optional {
                        without_levels(&text, page.values)?
                    } else {
                        &text
                    };
                    page.values(values, dictionary.as_deref(), out)?;
                }
                DICTIONARY_PAGE if dictionary.is_none() => {
                    let mut entries = Vec::new();
                    from_plain(&text, page.values, &mut entries)?;
                    dictionary = Some(entries);
                }
                _ => return damage("a page is of a kind that flashtwin does not write"),
            }
        }
        Ok(())
    }
}

/// The page that the bytes begin with; they are then what follows it.
fn page<'a>(bytes: &mut &'a [u8]) -> Found<Page<'a>> {
    let mut reader = Reader::new(bytes);
    let (mut kind, mut size, mut packed) = (-1, 0, 0);
    let (mut values, mut encoding) = (0, -1);
    reader.fields(|reader, id, told| {
        match (id, told) {
            (1, Kind::I32) => kind = reader.number()? as i32,
            (2, Kind::I32) => size = reader.size()?,
            (3, Kind::I32) => packed = reader.size()?,
            (5 | 7, Kind::Struct) => reader.fields(|reader, id, told| {
                match (id, told) {
                    (1, Kind::I32) => values = reader.size()?,
                    (2, Kind::I32) => encoding = reader.number()? as i32,
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let rest = &bytes[reader.at()..];
    let Some((packed, rest)) = rest.split_at_checked(packed) else {
        return damage("a page breaks off");
    };
    *bytes = rest;
    Ok(Page {
        kind,
        encoding,
        values,
        size,
        packed,
    })
}

impl Page<'_> {
    /// What the page holds, if it can be what so few values need.
    fn text(&self, codec: i32, most_values: usize) -> Found<Vec<u8>> {
        if self.values > most_values || self.size > self.values.saturating_mul(9) + PAGE_SLACK {
            return damage("a page is said to be larger than what is in it");
        }
        match codec {
            ZSTD => decompressed(self.packed, self.size),
            UNCOMPRESSED if self.packed.len() == self.size => Ok(self.packed.to_vec()),
            UNCOMPRESSED => damage("a page breaks off"),
            _ => damage("it is compressed in a way that flashtwin does not use"),
        }
    }

    fn values(&self, text: &[u8], dictionary: Option<&[i64]>, out: &mut Vec<i64>) -> Found<()> {
        match (self.encoding, dictionary) {
            (PLAIN, _) => from_plain(text, self.values, out),
            (DELTA, _) => from_deltas(text, self.values, out).map(drop),
            (encoding, Some(entries)) if DICTIONARY.contains(&encoding) => {
                let Some((width, runs)) = text.split_first() else {
                    return damage("a page breaks off");
                };
                for place in from_runs(runs, u32::from(*width), self.values)? {
                    let Some(value) = entries.get(place as usize) else {
                        return damage("a value is not in its dictionary");
                    };
                    out.push(*value);
                }
                Ok(())
            }
            _ => damage("its values are encoded in a way that flashtwin does not use"),
        }
    }
}

/// The values of a page of an optional column, in which none may be lacking.
fn without_levels(text: &[u8], count: usize) -> Found<&[u8]> {
    let Some((length, rest)) = text.split_at_checked(4) else {
        return damage("a page breaks off");
    };
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
    let Some((levels, values)) = rest.split_at_checked(length) else {
        return damage("a page breaks off");
    };
    if from_runs(levels, 1, count)?.contains(&0) {
        return damage("a column holds something else than whole numbers");
    }
    Ok(values)
}
