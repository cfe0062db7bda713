//! Loading: the same two walks over a fresh drive, which overwrite it. No length is trusted, and no
//! drive is handed out unless the checksums of all sections are right.

use std::io::{self, ErrorKind, Read};

use crc32fast::Hasher;
use flashtwin_base::State;
use flashtwin_base::state::{Visitor, Word};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::header::{END, HASH_BYTES, HEADER_BYTES, Header, SMALL, tag};
use super::{FORMAT, Identity, MAGIC, MODEL, SnapshotError};

/// Bytes of a table that are read at once.
const PIECE_BYTES: usize = 1 << 17;
/// Most bytes of all that is small: this, so much a superblock, and with power cuts so much a
/// logical unit, for the checkpoints of its map. Several times what real drives have.
const SMALL_BYTES: u64 = 64 << 20;
const SUPERBLOCK_BYTES: u64 = 512;
const CHECKPOINT_BYTES: u64 = 64;

/// A failure of the stream, in our words.
fn failed(error: io::Error) -> SnapshotError {
    if error.kind() == ErrorKind::UnexpectedEof {
        SnapshotError::Truncated
    } else if error.raw_os_error().is_some() {
        SnapshotError::Io(error)
    } else {
        SnapshotError::Damaged(error.to_string())
    }
}

fn array<const N: usize>(input: &mut (impl Read + ?Sized)) -> Result<[u8; N], SnapshotError> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Begins a section: the bytes that it says it has.
fn begin(input: &mut (impl Read + ?Sized), name: &str) -> Result<u64, SnapshotError> {
    if u32::from_le_bytes(array(input)?) != tag(name) {
        return Err(SnapshotError::Damaged(format!("section {name} is missing")));
    }
    Ok(u64::from_le_bytes(array(input)?))
}

fn end(input: &mut (impl Read + ?Sized), name: &str, sum: u32) -> Result<(), SnapshotError> {
    if u32::from_le_bytes(array(input)?) != sum {
        let text = format!("section {name} has another checksum");
        return Err(SnapshotError::Damaged(text));
    }
    Ok(())
}

/// Takes what is small out of its section, piece by piece.
struct Small {
    bytes: Vec<u8>,
    at: usize,
}

impl Small {
    fn get<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, SnapshotError> {
        let rest = &self.bytes[self.at..];
        let (value, left) = postcard::take_from_bytes(rest)
            .map_err(|error| SnapshotError::Impossible(format!("{name}: {error}")))?;
        self.at = self.bytes.len() - left.len();
        Ok(value)
    }
}

impl Visitor for Small {
    type Error = SnapshotError;

    fn kept<T>(&mut self, name: &'static str, value: &mut T) -> Result<(), SnapshotError>
    where
        T: Serialize + DeserializeOwned,
    {
        *value = self.get(name)?;
        Ok(())
    }

    fn sized<T>(&mut self, name: &'static str, values: &mut Vec<T>) -> Result<(), SnapshotError>
    where
        T: Serialize + DeserializeOwned,
    {
        let stored: Vec<T> = self.get(name)?;
        if stored.len() != values.len() {
            return Err(self.differs(name));
        }
        *values = stored;
        Ok(())
    }

    fn table<T: Word>(&mut self, _: &'static str, _: &mut [T]) -> Result<(), SnapshotError> {
        Ok(())
    }

    fn differs(&self, name: &'static str) -> SnapshotError {
        SnapshotError::Impossible(format!("{name} has another size"))
    }
}

/// Reads a section for each large table.
struct Tables<R>(R);

impl<R: Read> Visitor for Tables<R> {
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
        if begin(&mut self.0, name)? != (table.len() * T::BYTES) as u64 {
            return Err(self.differs(name));
        }
        let mut sum = Hasher::new();
        let mut piece = vec![0; PIECE_BYTES.min(table.len() * T::BYTES)];
        let mut before = T::ZERO;
        for words in table.chunks_mut(PIECE_BYTES / T::BYTES) {
            let bytes = &mut piece[..words.len() * T::BYTES];
            self.0.read_exact(bytes).map_err(failed)?;
            sum.update(bytes);
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
                before = T::get(bytes).plus(before);
                *word = before;
            }
        }
        end(&mut self.0, name, sum.finalize())
    }

    fn differs(&self, name: &'static str) -> SnapshotError {
        SnapshotError::Impossible(format!("{name} has another size"))
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

/// Reads the header, and refuses what this version did not write.
pub(crate) fn header(input: &mut dyn Read) -> Result<Header, SnapshotError> {
    let bytes: [u8; HEADER_BYTES] = array(input).map_err(|error| match error {
        SnapshotError::Truncated => SnapshotError::NotASnapshot,
        other => other,
    })?;
    let (magic, rest) = bytes.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(SnapshotError::NotASnapshot);
    }
    let (numbers, rest) = rest.split_at(12);
    let at = |index: usize| number(&numbers[index * 4..index * 4 + 4]) as u32;
    for (what, found, known) in [("format", at(0), FORMAT), ("model", at(1), MODEL)] {
        if found != known {
            return Err(SnapshotError::Version { what, found, known });
        }
    }
    end(input, "header", crc32fast::hash(&bytes))?;
    let (hash, rest) = rest.split_at(HASH_BYTES);
    let identity = Identity {
        spec_hash: String::from_utf8_lossy(hash).into_owned(),
        seed: number(&rest[..8]),
    };
    Ok(Header {
        shape: at(2),
        identity,
        power_cuts: rest[8] & 1 != 0,
        contents: rest[8] & 2 != 0,
    })
}

/// Most bytes of all that is small in a drive, by its superblocks and the units of its map's
/// checkpoints.
pub(crate) fn most_small_bytes(superblocks: u64, checkpoint_units: u64) -> u64 {
    SMALL_BYTES + superblocks * SUPERBLOCK_BYTES + checkpoint_units * CHECKPOINT_BYTES
}

fn small(state: &mut impl State, most: u64, input: &mut impl Read) -> Result<(), SnapshotError> {
    let length = begin(input, SMALL)?;
    if length > most {
        let text = format!("section {SMALL} has {length} bytes, {most} at most");
        return Err(SnapshotError::Impossible(text));
    }
    // It grows as bytes are read, so that a length without the bytes takes no memory.
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 != length {
        return Err(SnapshotError::Truncated);
    }
    end(input, SMALL, crc32fast::hash(&bytes))?;
    let mut small = Small { bytes, at: 0 };
    state.visit(&mut small)?;
    if small.at != small.bytes.len() {
        let text = format!("section {SMALL} holds more than the state");
        return Err(SnapshotError::Impossible(text));
    }
    Ok(())
}

/// Overwrites the state of a fresh drive, of which `most` bytes may be small, with what was saved.
pub(crate) fn sections(
    state: &mut impl State,
    most: u64,
    input: &mut dyn Read,
) -> Result<(), SnapshotError> {
    let mut packed = zstd::stream::Decoder::new(input).map_err(failed)?;
    small(state, most, &mut packed)?;
    let mut tables = Tables(packed);
    state.visit(&mut tables)?;
    let mut packed = tables.0;
    let length = begin(&mut packed, END)?;
    end(&mut packed, END, crc32fast::hash(&[]))?;
    if length != 0 || packed.read(&mut [0]).map_err(failed)? != 0 {
        return Err(SnapshotError::Damaged(
            "it goes on after its end".to_owned(),
        ));
    }
    Ok(())
}
