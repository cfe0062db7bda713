//! From a catalogue id or a path to a file's text.
//!
//! Specs lie in directories or are texts in memory. A text in memory never has a file opened, not
//! even for what it extends.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::{Fault, Place, SpecError};
use super::printable::shown;
use super::suggest;

/// A spec file that was found and read.
pub(super) struct Found {
    pub path: PathBuf,
    pub text: String,
}

impl Found {
    /// A text in memory.
    pub fn text(name: &str, text: &str) -> Found {
        Found {
            path: PathBuf::from(name),
            text: text.to_owned(),
        }
    }

    /// As it is named in errors.
    pub fn file(&self) -> String {
        shown(&self.path.display().to_string())
    }
}

/// Where what a spec extends is looked for.
#[derive(Clone, Copy)]
pub(super) enum Library<'a> {
    /// Beside the file, then in these directories.
    Directories(&'a [PathBuf]),
    /// Ids with their texts; there are no paths.
    Texts(&'a [(&'a str, &'a str)]),
}

impl Library<'_> {
    /// Opens what the file at `path` extends. `asked` is the line that says so.
    pub fn parent(self, name: &str, path: &Path, asked: &Place) -> Result<Found, SpecError> {
        match self {
            Library::Directories(search) => {
                let beside = path.parent().unwrap_or(Path::new("")).to_owned();
                let mut directories = vec![beside.clone()];
                directories.extend_from_slice(search);
                open(name, &beside, &directories, asked, "extends")
            }
            Library::Texts(texts) => match texts.iter().find(|(id, _)| *id == name) {
                Some((id, text)) => Ok(Found::text(id, text)),
                None => {
                    let ids = texts.iter().map(|(id, _)| *id);
                    Err(not_among(name, ids).at(asked, "extends"))
                }
            },
        }
    }

    /// The same for two names of one file.
    pub fn identity(self, path: &Path) -> PathBuf {
        let resolved = match self {
            Library::Directories(_) => path.canonicalize().ok(),
            Library::Texts(_) => None,
        };
        resolved.unwrap_or_else(|| path.to_owned())
    }
}

fn is_path(target: &str) -> bool {
    target.ends_with(".toml") || target.contains('/') || target.contains('\\')
}

/// Opens `target`: a path as it is (relative to `base`), an id as `DIR/id.toml` in the first
/// directory that has it. `asked` is where a mistake belongs: the line with `extends`, or the
/// command line.
pub(super) fn open(
    target: &str,
    base: &Path,
    search: &[PathBuf],
    asked: &Place,
    key: &str,
) -> Result<Found, SpecError> {
    let candidates: Vec<PathBuf> = if is_path(target) {
        vec![base.join(target)]
    } else {
        search
            .iter()
            .map(|dir| dir.join(format!("{target}.toml")))
            .collect()
    };
    let Some(path) = candidates.into_iter().find(|path| path.exists()) else {
        return Err(not_found(target, search).at(asked, key));
    };
    match read(&path) {
        Ok(text) => Ok(Found { path, text }),
        Err(fault) => Err(fault.at(&Place::whole(&path.display().to_string()), "")),
    }
}

/// Bytes of a spec file: fifty times what the longest of the catalogue has.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a regular file of a bounded length. Anything else is not opened: opening a FIFO
/// blocks, and a link may lead to a device that never ends.
fn read(path: &Path) -> Result<String, Fault> {
    let refused = |why: String| Fault::new(why, "a spec is a readable text file in UTF-8");
    let failed = |error: io::Error| refused(format!("cannot be read: {}", error.kind()));
    let regular = |about: Metadata| match about.is_file() {
        true => Ok(()),
        false if about.is_dir() => Err(refused("is a directory and not a file".to_owned())),
        false => Err(refused(
            "is a device, a FIFO or a socket and not a file".to_owned(),
        )),
    };
    regular(std::fs::metadata(path).map_err(failed)?)?;
    let file = File::open(path).map_err(failed)?;
    regular(file.metadata().map_err(failed)?)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(refused(format!("has more than {MOST_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        refused(format!("line {line} is not UTF-8"))
    })
}

fn not_found(target: &str, search: &[PathBuf]) -> Fault {
    if is_path(target) {
        return Fault::new(format!("there is no file `{target}`"), "check the path");
    }
    let known = catalogue(search);
    not_among(target, known.iter().map(String::as_str))
}

fn not_among<'a>(target: &str, known: impl Iterator<Item = &'a str> + Clone) -> Fault {
    let hint = match known.clone().next() {
        None => "a path ends in .toml or has a `/`".to_owned(),
        Some(_) => suggest::or_list(target, "the catalogue has", known),
    };
    Fault::new(format!("there is no drive `{target}`"), hint)
}

/// The ids that the search directories offer, sorted. Other TOML may lie beside the drives: a spec
/// is what has an `id` and a `schema` of its own.
pub(super) fn catalogue(search: &[PathBuf]) -> Vec<String> {
    let files = search
        .iter()
        .filter_map(|dir| std::fs::read_dir(dir).ok())
        .flatten()
        .flatten();
    let mut ids: Vec<String> = files
        .map(|file| file.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .filter(|path| read(path).is_ok_and(|text| is_spec(&text)))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

fn is_spec(text: &str) -> bool {
    let (table, _) = toml::de::DeTable::parse_recoverable(text);
    table.get_ref().contains_key("id") && table.get_ref().contains_key("schema")
}
