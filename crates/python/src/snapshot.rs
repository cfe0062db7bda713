//! Snapshots as files: written beside their place and then moved there, so that a file of the
//! wanted name is a whole snapshot or the one that was there before.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use flashtwin_drive::snapshot::Identity;
use flashtwin_drive::{Drive, SnapshotError as Refusal};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;

use crate::spec::Spec;
use crate::watched::Watched;

create_exception!(
    flashtwin._core,
    SnapshotError,
    PyException,
    "A snapshot cannot be taken, or the file is not a snapshot of this drive."
);

/// An error of the operating system as Python knows it: its number and the file.
fn system(error: &io::Error, path: &Path) -> PyErr {
    let text = error.to_string();
    let message = text.split(" (os error").next().unwrap_or("").to_owned();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, message, path.to_path_buf())),
        None => PyOSError::new_err(text),
    }
}

fn told(refusal: Refusal, path: &Path) -> PyErr {
    match refusal {
        Refusal::Io(error) => system(&error, path),
        other => SnapshotError::new_err(other.to_string()),
    }
}

/// A new file beside the wanted one, under a name that nobody can foresee: what stands there, a
/// link too, is not opened.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    let drawn = RandomState::new().build_hasher().finish();
    name.push(format!(".{drawn:016x}.part"));
    let part = path.with_file_name(name);
    let file = File::options().write(true).create_new(true).open(&part)?;
    Ok((part, file))
}

/// Writes a drive's state into a file.
pub fn save(drive: &mut Drive, identity: &Identity, path: &Path) -> PyResult<()> {
    let (part, file) = beside(path).map_err(|error| system(&error, path))?;
    let mut watched = Watched::new(file);
    let written = drive
        .save(BufWriter::new(&mut watched), identity)
        .and_then(|()| fs::rename(&part, path).map_err(Refusal::Io));
    written.map_err(|refusal| {
        // What is left of it is of no use to anybody; that it cannot be removed changes nothing.
        let _ = fs::remove_file(&part);
        watched.raised.unwrap_or_else(|| told(refusal, path))
    })
}

/// The drive of a spec in the state that a file holds, and the seed that it was built with.
pub fn load(spec: &Spec, path: &Path) -> PyResult<(Drive, u64)> {
    let file = File::open(path).map_err(|error| system(&error, path))?;
    let (config, hash) = (&spec.inner.config, &spec.inner.hash);
    let mut watched = Watched::new(file);
    let loaded = Drive::load(config, hash, BufReader::new(&mut watched));
    match watched.raised {
        Some(raised) => Err(raised),
        None => loaded.map_err(|refusal| told(refusal, path)),
    }
}
