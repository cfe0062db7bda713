//! From a catalogue id or a path to a file's text.

use std::path::{Path, PathBuf};

use super::error::{Fault, Place, SpecError};
use super::suggest;

/// A spec file that was found and read.
pub(super) struct Found {
    pub path: PathBuf,
    pub text: String,
}

impl Found {
    /// As it is named in errors.
    pub fn file(&self) -> String {
        self.path.display().to_string()
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
    let Some(path) = candidates.into_iter().find(|path| path.is_file()) else {
        return Err(not_found(target, search).at(asked, key));
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Found { path, text }),
        Err(error) => {
            let place = Place::whole(path.display().to_string());
            let hint = "a spec is a readable text file in UTF-8";
            Err(Fault::new(format!("cannot be read: {error}"), hint).at(&place, ""))
        }
    }
}

fn not_found(target: &str, search: &[PathBuf]) -> Fault {
    if is_path(target) {
        return Fault::new(format!("there is no file `{target}`"), "check the path");
    }
    let known = catalogue(search);
    let hint = match known.is_empty() {
        true => "a path ends in .toml or has a `/`".to_owned(),
        false => suggest::or_list(
            target,
            "the catalogue has",
            known.iter().map(String::as_str),
        ),
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
        .filter(|path| std::fs::read_to_string(path).is_ok_and(|text| is_spec(&text)))
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
