//! Writing: two walks over the state, one for all that is small, one for the large tables.

use std::io::{self, Write};

use crc32fast::Hasher;
use flashtwin_base::State;
use flashtwin_base::state::{Visitor, Word};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::header::{END, HASH_BYTES, HEADER_BYTES, Header, LEVEL, SMALL, tag};
use super::{FORMAT, MAGIC, MODEL, SnapshotError};

/// Bytes of a table that are made at once.
const PIECE_BYTES: usize = 1 << 17;

/// Collects all that is small.
struct Small(Vec<u8>);

impl Small {
    fn put<T: Serialize>(&mut self, name: &str, value: &T) -> Result<(), SnapshotError> {
        let bytes = postcard::to_allocvec(value)
            .map_err(|error| SnapshotError::Impossible(format!("{name}: {error}")))?;
        self.0.extend_from_slice(&bytes);
        Ok(())
    }
}

impl Visitor for Small {
    type Error = SnapshotError;

    fn kept<T>(&mut self, name: &'static str, value: &mut T) -> Result<(), SnapshotError>
    where
        T: Serialize + DeserializeOwned,
    {
        self.put(name, value)
    }

    fn sized<T>(&mut self, name: &'static str, values: &mut Vec<T>) -> Result<(), SnapshotError>
    where
        T: Serialize + DeserializeOwned,
    {
        self.put(name, values)
    }

    fn table<T: Word>(&mut self, _: &'static str, _: &mut [T]) -> Result<(), SnapshotError> {
        Ok(())
    }

    fn differs(&self, name: &'static str) -> SnapshotError {
        SnapshotError::Impossible(name.to_owned())
    }
}

/// Writes a section for each large table.
struct Tables<W>(W);

impl<W: Write> Visitor for Tables<W> {
    type Error = SnapshotError;

    fn kept<T>(&mut self, _: &'static str, _: &mut T) -> Result<(), SnapshotError>
    where
        T: Serialize + DeserializeOwned,
    {
        Ok(())
    }

    fn sized<T>(&mut self, _: &'static str, _: &mut Vec<T>) -> Result<(), SnapshotError>
    where
        T: Serialize + DeserializeOwned,
    {
        Ok(())
    }

    fn table<T: Word>(&mut self, name: &'static str, table: &mut [T]) -> Result<(), SnapshotError> {
        begin(&mut self.0, name, table.len() * T::BYTES)?;
        let mut sum = Hasher::new();
        let mut piece = vec![0; PIECE_BYTES.min(table.len() * T::BYTES)];
        let mut before = T::ZERO;
        for words in table.chunks(PIECE_BYTES / T::BYTES) {
            let bytes = &mut piece[..words.len() * T::BYTES];
            for (word, bytes) in words.iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
                word.less(before).put(bytes);
                before = *word;
            }
            sum.update(bytes);
            self.0.write_all(bytes)?;
        }
        self.0.write_all(&sum.finalize().to_le_bytes())?;
        Ok(())
    }

    fn differs(&self, name: &'static str) -> SnapshotError {
        SnapshotError::Impossible(name.to_owned())
    }
}

/// Begins a section.
fn begin(out: &mut impl Write, name: &str, bytes: usize) -> io::Result<()> {
    out.write_all(&tag(name).to_le_bytes())?;
    out.write_all(&(bytes as u64).to_le_bytes())
}

fn section(out: &mut impl Write, name: &str, bytes: &[u8]) -> io::Result<()> {
    begin(out, name, bytes.len())?;
    out.write_all(bytes)?;
    out.write_all(&crc32fast::hash(bytes).to_le_bytes())
}

fn header(out: &mut dyn Write, header: &Header) -> io::Result<()> {
    let hash = header.identity.spec_hash.as_bytes();
    assert_eq!(hash.len(), HASH_BYTES, "digits of a spec's hash");
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend_from_slice(&MAGIC);
    for number in [FORMAT, MODEL, header.shape] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(hash);
    bytes.extend_from_slice(&header.identity.seed.to_le_bytes());
    bytes.push(u8::from(header.power_cuts) | u8::from(header.contents) << 1);
    out.write_all(&bytes)?;
    out.write_all(&crc32fast::hash(&bytes).to_le_bytes())
}

/// Writes a drive's state.
pub(crate) fn write(
    state: &mut impl State,
    out: &mut dyn Write,
    head: &Header,
) -> Result<(), SnapshotError> {
    header(out, head)?;
    let mut packed = zstd::stream::Encoder::new(out, LEVEL)?;
    let mut small = Small(Vec::new());
    state.visit(&mut small)?;
    section(&mut packed, SMALL, &small.0)?;
    let mut tables = Tables(packed);
    state.visit(&mut tables)?;
    section(&mut tables.0, END, &[])?;
    tables.0.finish()?.flush()?;
    Ok(())
}
