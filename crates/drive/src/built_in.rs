//! The drive with the built-in policies, compiled in this crate.
//!
//! The engine is generic over its policies, so each crate that simulates would compile the whole
//! of it again. Crates share generic code where little is optimised, as for the tests: those that
//! call what is named here link to the code of this crate. In a release nothing is shared.

use std::io::{Read, Write};

use flashtwin_base::Device;

use crate::config::Config;
use crate::engine::Drive;
use crate::snapshot::{Identity, SnapshotError};

// Statics are compiled whether or not they are read.
static _DEVICE: fn(&mut Drive) -> &mut dyn Device = |drive| drive;
static _SAVE: fn(&mut Drive, &mut dyn Write, &Identity) -> Result<(), SnapshotError> =
    |drive, out, identity| drive.save(out, identity);
static _LOAD: fn(&Config, &mut dyn Read) -> bool =
    |config, input| Drive::load(config, "", input).is_ok();
