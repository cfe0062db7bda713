//! Tables of whole numbers as bytes: Parquet files, and the blocks that a run's journal points to.
//!
//! Why not the `parquet` crate: it takes memory by the lengths that a file declares (lists of the
//! footer, pages, dictionaries), and an allocation that fails ends the process. Run directories may
//! be anybody's, so here every length is held against the bytes that are there, and against what
//! the caller allows, before memory is taken; a run's tables need a small part of the format only.
//!
//! Invariants: equal tables give equal bytes; whatever the bytes, reading ends in a table or in a
//! [`Damage`], and never in a panic or with more memory than was allowed. What is written can be
//! read by any reader of Parquet 2; what is read is what flashtwin wrote: flat columns of 64-bit
//! integers.
//!
//! Source: <https://parquet.apache.org/docs/file-format/>, and parquet-format's `Encodings.md`.

mod block;
mod encoding;
mod read;
mod thrift;
mod write;

pub use block::{Columns, pack, unpack};
pub use read::read;
pub use write::{Column, write};

/// The names and values of a table's columns, all equally long.
pub type Table = Vec<(String, Vec<i64>)>;

/// Why bytes are no table, in words for the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Damage(pub(crate) String);

pub(crate) type Found<T> = Result<T, Damage>;

pub(crate) fn damage<T>(why: impl Into<String>) -> Found<T> {
    Err(Damage(why.into()))
}

/// Room for `more` values; the error of a machine that has none left is not an abort.
pub(crate) fn reserve<T>(values: &mut Vec<T>, more: usize) -> Found<()> {
    let room = values.try_reserve_exact(more);
    room.or_else(|_| damage("there is no memory for it"))
}

/// What compressed bytes hold, which has to be exactly `size` bytes.
pub(crate) fn decompressed(data: &[u8], size: usize) -> Found<Vec<u8>> {
    let mut text = Vec::new();
    reserve(&mut text, size)?;
    let done =
        zstd::bulk::Decompressor::new().and_then(|mut d| d.decompress_to_buffer(data, &mut text));
    match done {
        Ok(length) if length == size => Ok(text),
        Ok(length) => damage(format!("{length} bytes where it says {size}")),
        Err(_) => damage("its compressed bytes are damaged"),
    }
}

pub(crate) fn compressed(data: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(data, 3).expect("bytes in memory can be compressed")
}
