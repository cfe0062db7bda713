//! From a target to the values of a drive: `extends`, profiles, `--firmware` and `--set`, in that
//! order.
//!
//! Rule: the parent's values, then the parent's profile that the file switches on, then the file's
//! own values; after the last file the profiles of the command line in their order, then its sets.
//! Later always replaces earlier, key by key, and what depends on a mechanism that a later layer
//! turns off is turned off with it (`dependents`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use super::dependents::{self, Changed};
use super::document::{self, Document, Profile};
use super::error::{Fault, Place, SpecError};
use super::keys::{self, KEYS, Kind};
use super::locate::{Found, Library};
use super::value;
use super::values::{Entry, Values};
use super::{printable, suggest};

/// A drive before its values are checked against each other.
pub(super) struct Resolved {
    pub target: Document,
    /// As the files have them, before the command line changes anything.
    pub written: Values,
    pub values: Values,
    pub profiles: BTreeMap<String, Profile>,
    /// Keys that a layer changed without naming them.
    pub changed: Vec<Changed>,
    pub errors: Vec<SpecError>,
}

/// Reads everything that the target extends.
pub(super) fn resolve(
    target: Found,
    library: Library<'_>,
    firmware: &[String],
    sets: &[String],
) -> Result<Resolved, Vec<SpecError>> {
    let Chain {
        documents,
        mut errors,
        whole,
    } = chain(target, library)?;
    let (mut written, mut profiles) = (Values::new(), BTreeMap::new());
    let mut changed = Vec::new();
    let file = documents
        .last()
        .expect("a chain has its target")
        .file
        .clone();
    for (depth, document) in documents.iter().enumerate() {
        changed.extend(inherit(document, &mut written, &mut profiles, &mut errors));
        if depth == 0 {
            fill_in(&file, &mut written);
        }
    }
    let attempted = documents
        .iter()
        .flat_map(|document| document.attempted.iter().copied());
    let attempted: BTreeSet<usize> = attempted.collect();
    let target = documents
        .into_iter()
        .next_back()
        .expect("a chain has its target");
    if whole {
        errors.extend(missing(&target, &written, &attempted));
    }
    let mut values = written.clone();
    for name in firmware {
        match find_profile(name, target.text("id"), &profiles) {
            Ok(profile) => changed.extend(dependents::overlay(&mut values, &profile.values)),
            Err(fault) => errors.push(fault.at(&Place::whole("--firmware"), "")),
        }
    }
    let mut typed = Values::new();
    for set in sets {
        match read_set(set) {
            Ok((position, entry)) => typed.put(position, entry),
            Err(error) => errors.push(error),
        }
    }
    changed.extend(dependents::overlay(&mut values, &typed));
    Ok(Resolved {
        target,
        written,
        values,
        profiles,
        changed,
        errors,
    })
}

/// Adds a file on top of what it extends.
fn inherit(
    document: &Document,
    values: &mut Values,
    profiles: &mut BTreeMap<String, Profile>,
    errors: &mut Vec<SpecError>,
) -> Vec<Changed> {
    let mut changed = Vec::new();
    if let Some(switched) = document.header.get("firmware") {
        let place = Place {
            file: document.file.clone(),
            line: switched.line,
        };
        match find_inherited(&switched.text, document.text("extends"), profiles) {
            Ok(profile) => changed.extend(dependents::overlay(values, &profile.values)),
            Err(fault) => errors.push(fault.at(&place, "firmware")),
        }
    }
    changed.extend(dependents::overlay(values, &document.values));
    for (name, own) in &document.profiles {
        let profile = profiles.entry(name.clone()).or_insert_with(|| own.clone());
        profile.values.overlay(&own.values);
        if !own.description.is_empty() {
            profile.description.clone_from(&own.description);
        }
    }
    changed
}

fn find_inherited<'p>(
    name: &str,
    parent: &str,
    profiles: &'p BTreeMap<String, Profile>,
) -> Result<&'p Profile, Fault> {
    if parent.is_empty() {
        let hint = "write `extends` too, or [firmware.NAME] to define a profile";
        return Err(Fault::new(
            "switches on a profile of a parent, but extends nothing",
            hint,
        ));
    }
    find_profile(name, parent, profiles)
}

fn find_profile<'p>(
    name: &str,
    drive: &str,
    profiles: &'p BTreeMap<String, Profile>,
) -> Result<&'p Profile, Fault> {
    let known: Vec<&str> = profiles.keys().map(String::as_str).collect();
    let list = match known.is_empty() {
        true => format!("{drive} has no profiles"),
        false => format!("{drive} has {}", known.join(", ")),
    };
    let hint = match suggest::nearest(name, known) {
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list,
    };
    let fault = Fault::new(format!("there is no firmware profile `{name}`"), hint);
    profiles.get(name).ok_or(fault)
}

/// Files of a chain of `extends`.
const MOST_CHAIN: usize = 32;

/// The files from the oldest ancestor to the target.
struct Chain {
    documents: Vec<Document>,
    errors: Vec<SpecError>,
    /// Every ancestor was found and read; otherwise what is missing cannot be known.
    whole: bool,
}

fn chain(target: Found, library: Library<'_>) -> Result<Chain, Vec<SpecError>> {
    let mut chain = Chain {
        documents: Vec::new(),
        errors: Vec::new(),
        whole: true,
    };
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut next = Some(target);
    while let Some(found) = next.take() {
        if seen.len() == MOST_CHAIN {
            let hint = "extend a drive that has the values itself";
            let fault = Fault::new(
                format!("more than {MOST_CHAIN} files extend each other"),
                hint,
            );
            chain
                .errors
                .push(fault.at(&Place::whole(&found.file()), ""));
            chain.whole = false;
            break;
        }
        seen.push(library.identity(&found.path));
        let (document, mut errors) = match document::read(&found.file(), &found.text) {
            Ok(read) => read,
            Err(error) => {
                chain.errors.push(error);
                chain.whole = false;
                break;
            }
        };
        chain.errors.append(&mut errors);
        match parent(&document, &found.path, library, &seen) {
            Some(Ok(parent)) => next = Some(parent),
            Some(Err(error)) => {
                chain.errors.push(error);
                chain.whole = false;
            }
            None => {}
        }
        chain.documents.insert(0, document);
    }
    if chain.documents.is_empty() {
        Err(chain.errors)
    } else {
        Ok(chain)
    }
}

/// The file that this one extends, looked for beside it first.
fn parent(
    document: &Document,
    path: &Path,
    library: Library<'_>,
    seen: &[PathBuf],
) -> Option<Result<Found, SpecError>> {
    let extends = document.header.get("extends")?;
    let place = Place {
        file: document.file.clone(),
        line: extends.line,
    };
    let parent = match library.parent(&extends.text, path, &place) {
        Ok(parent) => parent,
        Err(error) => return Some(Err(error)),
    };
    if seen.contains(&library.identity(&parent.path)) {
        let message = format!("`{}` extends this drive in turn: a circle", extends.text);
        let hint = "one drive of the circle has to stand on its own";
        return Some(Err(Fault::new(message, hint).at(&place, "extends")));
    }
    Some(Ok(parent))
}

/// The source of a value that nobody wrote.
pub(super) const UNWRITTEN: &str = "default of the format";

/// Gives the keys that the first file of a chain does not mention the default of the format, where
/// it has one: later files change a drive that has a value for every key.
fn fill_in(file: &str, values: &mut Values) {
    for (at, key) in KEYS.iter().enumerate() {
        let Some(text) = key.default.filter(|_| !values.has(at)) else {
            continue;
        };
        values.put(
            at,
            Entry {
                datum: value::default(key, text),
                origin: "prior",
                source: UNWRITTEN.to_owned(),
                place: Place::whole(file),
            },
        );
    }
}

/// Keys that no file of the chain gives; a section of which nothing is there is told in one line.
fn missing(target: &Document, values: &Values, attempted: &BTreeSet<usize>) -> Vec<SpecError> {
    let needed = |at: &usize| KEYS[*at].default.is_none();
    let absent = |at: &usize| needed(at) && !values.has(*at) && !attempted.contains(at);
    let mut errors = Vec::new();
    for section in keys::sections() {
        let inside: Vec<usize> = (0..KEYS.len())
            .filter(|at| needed(at) && keys::section_of(KEYS[*at].name) == section)
            .collect();
        let gaps: Vec<usize> = inside.iter().copied().filter(absent).collect();
        if gaps.is_empty() {
            continue;
        }
        let place = Place {
            file: target.file.clone(),
            line: target.sections.get(section).copied(),
        };
        if gaps.len() == inside.len() && place.line.is_none() {
            let names: Vec<&str> = gaps
                .iter()
                .map(|at| &KEYS[*at].name[section.len() + 1..])
                .collect();
            let hint = format!("write [{section}] with {}", names.join(", "));
            errors.push(Fault::new("missing section", hint).at(&place, section));
            continue;
        }
        for key in gaps.iter().map(|at| &KEYS[*at]) {
            let hint = format!(
                "write `{} = {}`",
                &key.name[section.len() + 1..],
                key.example
            );
            errors.push(Fault::new("missing", hint).at(&place, key.name));
        }
    }
    errors
}

/// Characters of a `--set`; it is the source of its value.
const MOST_SET: usize = 1000;

/// `key=value` of the command line. The value is TOML, or bare text ("24 GB", dynamic); times of
/// page types may be separated by commas.
fn read_set(set: &str) -> Result<(usize, Entry), SpecError> {
    let place = Place::whole("--set");
    if let Err(fault) = printable::check(set, MOST_SET, false) {
        return Err(fault.at(&place, ""));
    }
    let Some((name, text)) = set.split_once('=') else {
        let hint = "write it like --set slc_cache.size=\"12 GB\"";
        return Err(Fault::new(format!("`{set}` is not key=value"), hint).at(&place, ""));
    };
    let (name, text) = (name.trim(), text.trim());
    let Some(position) = keys::position(name) else {
        let hint = match name.split('.').next() {
            Some("firmware") => "a profile is switched on with --firmware NAME".to_owned(),
            _ => document::unknown_hint(name, false),
        };
        return Err(Fault::new("unknown key", hint).at(&place, name));
    };
    let listed = match KEYS[position].kind {
        Kind::PageTimes if text.contains(',') && !text.starts_with('[') => {
            let parts: Vec<String> = text
                .split(',')
                .map(|t| format!("\"{}\"", t.trim()))
                .collect();
            format!("[{}]", parts.join(", "))
        }
        _ => text.to_owned(),
    };
    match DeValue::parse(&listed) {
        Ok(value) => set_entry(position, set, value.get_ref()),
        Err(_) => set_entry(position, set, &DeValue::String(text.into())),
    }
}

fn set_entry(position: usize, set: &str, value: &DeValue<'_>) -> Result<(usize, Entry), SpecError> {
    let (key, place) = (&KEYS[position], Place::whole("--set"));
    match value::read(key, value) {
        Ok(datum) => {
            let source = format!("--set {set}");
            Ok((
                position,
                Entry {
                    datum,
                    origin: "user",
                    source,
                    place,
                },
            ))
        }
        Err(fault) => Err(fault.at(&place, key.name)),
    }
}
