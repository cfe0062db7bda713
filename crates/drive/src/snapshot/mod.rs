//! Snapshots: the whole state of a drive in a file, exact to the byte of whatever follows.
//!
//! Taken only while no command is outstanding; what goes on in the background (programs, folding,
//! timers) is part of the state and goes on in the loaded drive. What follows from the spec is not
//! stored: loading builds a fresh drive and overwrites what changes in a run, so a snapshot is
//! refused under another spec. The X-ray's series is a measurement and no state: a loaded drive's
//! is switched off.
//!
//! A file is a header in the clear (magic, format, model, shape of the state, spec hash, seed) with
//! its checksum, and a zstd stream of sections, each with a tag, a length and a checksum: first
//! all that is small, then a section for each large table, as differences of neighbours. Whatever
//! the bytes are, loading ends with a drive or with an error: no length is believed before it has
//! been held against what the spec's drive has, and what is not what was written fails its
//! checksum. What passes is taken as it is: who forges a checksum gets a drive that may panic.

#[cfg(feature = "snapshots")]
mod header;
#[cfg(feature = "snapshots")]
mod read;
#[cfg(feature = "snapshots")]
mod shape;
#[cfg(feature = "snapshots")]
mod write;

#[cfg(feature = "snapshots")]
pub(crate) use {
    header::Header,
    read::{header, most_small_bytes, sections},
    shape::of as shape_of,
    write::write,
};

use std::io;

use thiserror::Error;

/// The first bytes of every snapshot.
pub const MAGIC: [u8; 8] = *b"FTWNSNAP";
/// How a file is laid out.
pub const FORMAT: u32 = 1;
/// What the model makes of a spec: raised with every change after which the same spec and seed
/// give other results. What was simulated before goes on differently, so it is not loaded.
pub const MODEL: u32 = 16;

/// Whose state it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Hash of the spec, see [`crate::spec::Spec::hash`].
    pub spec_hash: String,
    /// Seed that the drive was built with.
    pub seed: u64,
}

/// Why a snapshot is not written or not loaded.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// It can be taken only with no command outstanding.
    #[error("{0} commands are outstanding: a snapshot is taken of a drive that waits for none")]
    Busy(usize),
    /// The file begins with something else.
    #[error("this is not a snapshot of a drive")]
    NotASnapshot,
    /// Another version of the program wrote it.
    #[error(
        "the snapshot was written by another version of flashtwin ({what} {found:#x}, this is \
         {known:#x}): take it anew"
    )]
    Version {
        /// What differs: format, model or state.
        what: &'static str,
        /// The file's.
        found: u32,
        /// This program's.
        known: u32,
    },
    /// It belongs to another drive.
    #[error(
        "the snapshot was taken of another drive: its spec's hash is {found}, this one's {wanted}"
    )]
    OtherSpec {
        /// The file's.
        found: String,
        /// The one it was to be loaded under.
        wanted: String,
    },
    /// The file ends too early.
    #[error("the snapshot is cut short")]
    Truncated,
    /// A part is not what was written.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
    /// What it holds is no state of this drive.
    #[error("the snapshot holds what this drive cannot be: {0}")]
    Impossible(String),
    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}
