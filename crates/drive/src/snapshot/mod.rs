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

mod read;
mod shape;
mod write;

use flashtwin_ftl::{BuiltIn, Policies};
use std::io::{self, Read, Write};

use thiserror::Error;

use crate::config::Config;
use crate::engine::Drive;
use crate::xray::Xray;

/// The first bytes of every snapshot.
pub const MAGIC: [u8; 8] = *b"FTWNSNAP";
/// How a file is laid out.
pub const FORMAT: u32 = 1;
/// What the model makes of a spec: raised with every change after which the same spec and seed
/// give other results. What was simulated before goes on differently, so it is not loaded.
pub const MODEL: u32 = 9;

/// Digits of a spec's hash.
const HASH_BYTES: usize = 64;
/// Bytes of the header without its checksum.
const HEADER_BYTES: usize = MAGIC.len() + 3 * 4 + HASH_BYTES + 8 + 1;
/// zstd's level: the tables are differences, which any level packs well, and speed counts.
const LEVEL: i32 = 1;
/// Tag of the section of all that is small, and of the end.
const SMALL: &str = "small";
const END: &str = "end";

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

/// What the header says.
struct Header {
    shape: u32,
    identity: Identity,
    power_cuts: bool,
    contents: bool,
}

/// Tag of a section.
fn tag(name: &str) -> u32 {
    crc32fast::hash(name.as_bytes())
}

impl Drive {
    /// A drive of this configuration in the state that was saved, and the seed that it was built
    /// with. `spec_hash` is that of the spec which the configuration comes from.
    ///
    /// # Errors
    /// When the file is not a whole snapshot of this drive, made by this version.
    pub fn load(
        config: &Config,
        spec_hash: &str,
        input: impl Read,
    ) -> Result<(Drive, u64), SnapshotError> {
        Drive::load_with_policies(config, spec_hash, BuiltIn::of(&config.policy), input)
    }
}

impl<P: Policies> Drive<P> {
    /// Writes the drive's state.
    ///
    /// # Errors
    /// With commands outstanding, and when writing fails.
    pub fn save(&mut self, mut out: impl Write, identity: &Identity) -> Result<(), SnapshotError> {
        self.save_to(&mut out, identity)
    }

    fn save_to(&mut self, out: &mut dyn Write, identity: &Identity) -> Result<(), SnapshotError> {
        if self.commands.outstanding() > 0 {
            return Err(SnapshotError::Busy(self.commands.outstanding()));
        }
        let header = Header {
            shape: shape::of(self),
            identity: identity.clone(),
            power_cuts: self.ftl.has_power_cuts(),
            contents: self.ftl.has_contents(),
        };
        write::write(self, out, &header)
    }

    /// A drive of this configuration and these policies in the state that was saved, and the seed
    /// that it was built with. `spec_hash` is that of the spec which the configuration comes from.
    ///
    /// # Errors
    /// When the file is not a whole snapshot of this drive, made by this version.
    pub fn load_with_policies(
        config: &Config,
        spec_hash: &str,
        policies: P,
        mut input: impl Read,
    ) -> Result<(Drive<P>, u64), SnapshotError> {
        Drive::load_from(config, spec_hash, policies, &mut input)
    }

    fn load_from(
        config: &Config,
        spec_hash: &str,
        policies: P,
        input: &mut dyn Read,
    ) -> Result<(Drive<P>, u64), SnapshotError> {
        let header = read::header(input)?;
        if header.identity.spec_hash != spec_hash {
            return Err(SnapshotError::OtherSpec {
                found: header.identity.spec_hash,
                wanted: spec_hash.to_owned(),
            });
        }
        let seed = header.identity.seed;
        let mut drive = Drive::with_policies(config, seed, policies);
        if header.power_cuts {
            drive.ftl.enable_power_cuts();
        }
        if header.contents {
            drive.ftl.enable_contents();
        }
        let known = shape::of(&mut drive);
        if header.shape != known {
            let (what, found) = ("state", header.shape);
            return Err(SnapshotError::Version { what, found, known });
        }
        read::sections(&mut drive, input)?;
        drive.xray = Xray::default();
        drive.look_due = drive.thermal.due;
        Ok((drive, seed))
    }
}
