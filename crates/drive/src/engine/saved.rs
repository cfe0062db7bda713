//! Drives into files and out of them (see [`crate::snapshot`]).

use std::io::{Read, Write};

use flashtwin_ftl::{BuiltIn, Policies};

use super::Drive;
use crate::config::Config;
use crate::snapshot::{self, Header, Identity, SnapshotError};
use crate::xray::Xray;

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
            shape: snapshot::shape_of::<P, _>(self),
            identity: identity.clone(),
            power_cuts: self.ftl.has_power_cuts(),
            contents: self.ftl.has_contents(),
        };
        snapshot::write(self, out, &header)
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
        let header = snapshot::header(input)?;
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
        let known = snapshot::shape_of::<P, _>(&mut drive);
        if header.shape != known {
            let (what, found) = ("state", header.shape);
            return Err(SnapshotError::Version { what, found, known });
        }
        let units = u64::from(drive.ftl.mapped_units()) * u64::from(header.power_cuts);
        let superblocks = drive.ftl.superblocks().len() as u64;
        let most = snapshot::most_small_bytes(superblocks, units);
        snapshot::sections(&mut drive, most, input)?;
        drive.xray = Xray::default();
        drive.look_due = drive.thermal.due();
        Ok((drive, seed))
    }
}
