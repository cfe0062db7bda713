//! Drive specs: TOML files in which every value says where it comes from, checked into a
//! [`Config`].
//!
//! `load` finds a drive by id or path, follows `extends`, switches firmware profiles on, applies
//! sets, and checks every value by itself and against the others. The format follows from one
//! table, [`keys::KEYS`]; `docs` prints the JSON Schema and the reference page.
//!
//! Invariants: all mistakes are reported at once, each with file, line, key, what is wrong and what
//! to change. A drive can be built from any `Spec`. Every number comes from the file and none from
//! code. No decimal passes through a float.

mod advice;
mod build;
mod cases;
mod check;
mod dependents;
pub mod docs;
mod document;
mod error;
mod key;
pub mod keys;
mod locate;
mod mechanism;
mod parts;
mod print;
mod printable;
mod quantity;
mod resolve;
mod scale;
mod suggest;
mod syntax;
mod table;
mod value;
mod values;
mod waits;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use error::SpecError;
/// Declarations of the choices of a spec that consist of facts.
pub use flashtwin_ftl::choices;
pub use quantity::Dimension;

use crate::config::Config;
use document::Profile;
use error::Place;
use keys::KEYS;
use locate::{Found, Library};
use resolve::Resolved;
use values::Values;

/// A value as it is shown: text in its shortest exact unit, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Dotted key.
    pub key: &'static str,
    /// With unit: "24 GB", "45 us, 60 us, 75 us", "dynamic".
    pub text: String,
    /// The unit in the text, of a list the first one; empty for counts, words and zero.
    pub unit: String,
    /// One of [`keys::ORIGINS`].
    pub origin: &'static str,
    /// In words.
    pub source: String,
    /// No file or option gives it: the value is the format's default.
    pub unwritten: bool,
}

/// A drive that can be built, with all that is known about where its values come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Catalogue name.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// The description in the file; may be empty.
    pub description: String,
    /// The configuration that the drive is built from.
    pub config: Config,
    /// Every key in the order of [`KEYS`].
    pub values: Vec<Value>,
    /// Names of the firmware profiles that can be switched on: an inherited one that does not fit
    /// the values is none of them, and is not printed.
    pub profiles: Vec<String>,
    /// A sentence for each key that was changed together with a mechanism or waits for one.
    pub notes: Vec<String>,
    /// Warnings about values that are allowed and slow the drive down, a sentence for each.
    pub warnings: Vec<String>,
    /// SHA-256 of keys and values; the same for two specs of the same drive.
    pub hash: String,
    toml: String,
    /// The divisor that `--scale` gave the flash, and the bounds of further division.
    divisor: u64,
    limits: Option<scale::Limits>,
}

impl Spec {
    /// The largest scale at which the simulated drive takes at most so many bytes of memory, as its
    /// divisor: 16 for 1/16. None where even the smallest scale takes more.
    #[must_use]
    pub fn scale_within(&self, bytes: u64) -> Option<u64> {
        let takes = |scale: u64| self.config.memory_bytes_at(self.divisor, scale);
        let scales = self.limits.as_ref()?.possible();
        scales.into_iter().find(|scale| takes(*scale) <= bytes)
    }

    /// The divisors of the scales that the flash of this drive can have, the largest drive first. A
    /// drive may refuse some of them for what else a scale divides.
    #[must_use]
    pub fn scales(&self) -> Vec<u64> {
        self.limits
            .as_ref()
            .map_or_else(Vec::new, scale::Limits::possible)
    }

    /// The drive as resolved, without `extends`: canonical, and loadable again to the same hash.
    #[must_use]
    pub fn to_toml(&self) -> &str {
        &self.toml
    }
}

/// Loads a drive. `target` is an id, looked up as `DIR/id.toml` in `search`, or a path (ends in
/// .toml or has a `/`); `firmware` names profiles to switch on, in this order; `sets` are
/// `key=value`, applied last.
///
/// # Errors
/// Every mistake of every file involved and of the options, by file and line.
pub fn load(
    target: &str,
    search: &[PathBuf],
    firmware: &[String],
    sets: &[String],
) -> Result<Spec, Vec<SpecError>> {
    load_scaled(target, search, firmware, sets, None)
}

/// As [`load`], and made smaller by `scale` ("1/16"), after everything else.
///
/// # Errors
/// As [`load`], and a scale that this drive cannot have.
pub fn load_scaled(
    target: &str,
    search: &[PathBuf],
    firmware: &[String],
    sets: &[String],
    scale: Option<&str>,
) -> Result<Spec, Vec<SpecError>> {
    let asked = Place::whole(target);
    let target_file = locate::open(target, Path::new(""), search, &asked, "");
    let target_file = target_file.map_err(|error| vec![error])?;
    checked(
        target_file,
        Library::Directories(search),
        firmware,
        sets,
        scale,
    )
}

/// As [`load_scaled`], from a text. What it extends is one of `parents`, ids with their texts; no
/// file is opened.
///
/// # Errors
/// Every mistake of the texts involved and of the options.
pub fn load_text(
    text: &str,
    parents: &[(&str, &str)],
    firmware: &[String],
    sets: &[String],
    scale: Option<&str>,
) -> Result<Spec, Vec<SpecError>> {
    let text_file = Found::text("text", text);
    checked(text_file, Library::Texts(parents), firmware, sets, scale)
}

/// From a file that was found to a drive that can be built.
fn checked(
    found: Found,
    library: Library<'_>,
    firmware: &[String],
    sets: &[String],
    scale: Option<&str>,
) -> Result<Spec, Vec<SpecError>> {
    let Resolved {
        target,
        written,
        mut values,
        profiles,
        changed,
        mut errors,
    } = resolve::resolve(found, library, firmware, sets).map_err(error::in_order)?;
    let limits = scale::Limits::read(&values);
    if let Some(scale) = scale {
        errors.extend(scale::apply(scale, &mut values).err());
    }
    errors.extend(check::check(&values, &target.file));
    let own = target
        .profiles
        .keys()
        .filter_map(|name| Some((name, profiles.get(name)?)));
    for (name, profile) in own {
        errors.extend(check_profile(name, profile, &written, &target.file));
    }
    if !errors.is_empty() {
        return Err(error::in_order(errors));
    }
    let fits = |profile: &Profile| misfits(profile, &values, &target.file).is_empty();
    let profiles: BTreeMap<String, Profile> = profiles
        .into_iter()
        .filter(|(_, profile)| fits(profile))
        .collect();
    let id = target.text("id");
    let mut notes = dependents::notes(&changed);
    notes.extend(waits::notes(&values));
    let header = ["id", "name", "description"].map(|name| (name, target.text(name)));
    let mut config = build::config(id, &waits::resting(&values));
    let advice = advice::advice(&values, &config);
    config.controller.foretold_wait = advice.wait;
    Ok(Spec {
        id: id.to_owned(),
        name: target.text("name").to_owned(),
        description: target.text("description").to_owned(),
        values: shown(&values),
        toml: print::to_toml(&header, &values, &profiles),
        hash: print::hash(&values),
        profiles: profiles.into_keys().collect(),
        notes,
        warnings: advice.warnings,
        config,
        divisor: scale.map_or(1, scale::divisor),
        limits,
    })
}

/// Mistakes that only appear with a profile of this file switched on. They are reported with the
/// file, so that nobody meets them first when switching the profile on.
fn check_profile(name: &str, profile: &Profile, written: &Values, file: &str) -> Vec<SpecError> {
    let without = check::check(written, file);
    let mut errors = misfits(profile, written, file);
    errors.retain(|error| !without.contains(error));
    for error in &mut errors {
        error
            .message
            .push_str(&format!(" (with firmware `{name}`)"));
    }
    errors
}

/// The mistakes of these values with the profile switched on.
fn misfits(profile: &Profile, values: &Values, file: &str) -> Vec<SpecError> {
    let mut with = values.clone();
    dependents::overlay(&mut with, &profile.values);
    check::check(&with, file)
}

fn shown(values: &Values) -> Vec<Value> {
    let show = |(position, entry): (usize, &values::Entry)| Value {
        key: KEYS[position].name,
        text: entry.datum.text(),
        unit: entry.datum.unit(),
        origin: entry.origin,
        source: entry.source.clone(),
        unwritten: entry.source == resolve::UNWRITTEN,
    };
    values.iter().map(show).collect()
}

/// The ids that the search directories offer, sorted.
#[must_use]
pub fn catalogue(search: &[PathBuf]) -> Vec<String> {
    locate::catalogue(search)
}

/// Parts that only the crate's tests look at.
pub(crate) mod inside {
    use super::check::link::RawLink;
    pub use super::dependents::{needs, rules};
    use super::keys::Key;
    pub use super::printable::{TEXT_MOST, shown};
    pub use super::quantity::{Dimension, text};
    pub use super::suggest::{distance, nearest};

    /// A quantity in base units, or its fault.
    pub fn parse(text: &str, dimension: Dimension) -> Result<u64, String> {
        super::quantity::parse(text, dimension, "x").map_err(|fault| fault.message)
    }

    /// True if two texts are the same value of a key.
    pub fn are_one_value(key: &Key, one: &str, other: &str) -> bool {
        super::value::default(key, one) == super::value::default(key, other)
    }

    /// Bytes a second that SATA carries, encoded and of payload.
    pub fn sata(megabits: u64) -> (u64, u64) {
        rates(&RawLink::Sata { megabits })
    }

    /// The same of PCI Express.
    pub fn pcie(generation: u64, lanes: u64, max_payload: u64) -> (u64, u64) {
        rates(&RawLink::Pcie {
            generation,
            lanes,
            max_payload,
        })
    }

    fn rates(link: &RawLink) -> (u64, u64) {
        (link.encoded(), link.payload())
    }
}
