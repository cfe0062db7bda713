//! Drives into files and out of them: the header's checks and what belongs to no section.

use std::io::{Read, Write};

use flashtwin_ftl::{BuiltIn, Policies};

use super::{Identity, MAGIC, SnapshotError, read, shape, write};
use crate::config::Config;
use crate::engine::Drive;
use crate::xray::Xray;

/// Digits of a spec's hash.
pub(super) const HASH_BYTES: usize = 64;
/// Bytes of the header without its checksum.
pub(super) const HEADER_BYTES: usize = MAGIC.len() + 3 * 4 + HASH_BYTES + 8 + 1;
/// zstd's level: the tables are differences, which any level packs well, and speed counts.
pub(super) const LEVEL: i32 = 1;
/// Tag of the section of all that is small, and of the end.
pub(super) const SMALL: &str = "small";
pub(super) const END: &str = "end";

/// The values that a header holds.
pub(super) struct Header {
    pub(super) shape: u32,
    pub(super) identity: Identity,
    pub(super) power_cuts: bool,
    pub(super) contents: bool,
}

/// Tag of a section.
pub(super) fn tag(name: &str) -> u32 {
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
