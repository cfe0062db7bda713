//! The one table of keys. Parsing, checking, the JSON Schema and the reference page follow from it.
//!
//! Invariants: a key without a default has to be in every spec, own or inherited, so that nothing
//! that makes the drive is decided behind the reader's back; a default leaves the mechanism out, or
//! is what the field usually does, and is shown with the origin `prior`. What a mode has no use for
//! is written as 0. Order here is the order of a printed spec.
//!
//! Sections of one part of the drive share a file; each declares its keys by `section!`.

use std::sync::LazyLock;

use flashtwin_ftl::choices::{Form, FullRule, OwnKey, RULES};
use flashtwin_ftl::orders::{ORDERS, Setting};

use super::key::{count, policy, size};
use super::mechanism::Part;

pub(super) use super::key::Name;
pub use super::key::{Key, Kind};

mod controller;
mod errors;
mod fold;
mod ftl;
mod gc;
mod nand;
mod power;
mod slc_cache;

pub(super) use controller::{Compression, Controller, Drive, Link, Smart};
pub(super) use errors::{Errors, ErrorsNative, ErrorsSlc};
pub(super) use fold::Fold;
pub(super) use ftl::{Ftl, Map, PERCENT_MAX_MILLI, Wear};
pub(super) use gc::{Fdp, Gc};
pub use nand::SUPERBLOCKS_MIN;
pub(super) use nand::{Nand, NandNative, NandSlc, NandSuspend, NandTier, NandVariation};
pub(super) use power::{Power, PowerDeep, PowerLight, Thermal, ThermalHeavy, ThermalThrottle};
pub(super) use slc_cache::SlcCache;

/// The keys, with those that belong to an order of victims or to a rule for a full cache behind the
/// ones that they follow.
fn with_own(mut keys: Vec<Key>) -> Vec<Key> {
    let mut put = |after: &str, own: Vec<Key>| {
        let place = keys.iter().position(|key| key.name == after);
        let place = place.unwrap_or_else(|| panic!("no section has {after}, which keys follow"));
        keys.splice(place + 1..place + 1, own);
    };
    let orders = ORDERS.iter().flat_map(|order| order.settings);
    put(Gc::policy.name, orders.map(setting).collect());
    for rule in RULES {
        for own in rule.keys {
            put(own.after, vec![own_key(rule, own)]);
        }
    }
    keys
}

/// A key that an order has of its own.
fn setting(own: &Setting) -> Key {
    policy(count(own.min, own.max), own.default)
        .or(own.default)
        .declared(own.name, own.meaning)
}

fn own_key(rule: &'static FullRule, own: &'static OwnKey) -> Key {
    let kind = match own.form {
        Form::Size => size(),
        Form::Milli => Kind::Factor,
    };
    Key {
        only: own.off.map(|off| (Part::Rule(rule), off)),
        free: own.free,
        ..policy(kind, own.example).or(own.default)
    }
    .declared(own.name, own.meaning)
}

/// Every key, in the order of a printed spec.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let sections = [
        Drive::keys(),
        Nand::keys(),
        NandSlc::keys(),
        NandNative::keys(),
        NandTier::keys(),
        NandSuspend::keys(),
        NandVariation::keys(),
        Ftl::keys(),
        Map::keys(),
        SlcCache::keys(),
        Fold::keys(),
        Gc::keys(),
        Fdp::keys(),
        Wear::keys(),
        Errors::keys(),
        ErrorsSlc::keys(),
        ErrorsNative::keys(),
        Controller::keys(),
        Compression::keys(),
        Link::keys(),
        Power::keys(),
        PowerLight::keys(),
        PowerDeep::keys(),
        Thermal::keys(),
        ThermalThrottle::keys(),
        ThermalHeavy::keys(),
        Smart::keys(),
    ];
    with_own(sections.concat())
});

/// Text keys above the sections: name, meaning.
pub const HEADER: &[(&str, &str)] = &[
    ("schema", "Version of this format: 1."),
    (
        "id",
        "Name in the catalogue and in run directories: at most 64 lower-case letters, digits, `-`, \
         `_`, `.`, a letter or digit first.",
    ),
    ("name", "Name for people: one line, at most 200 characters."),
    (
        "description",
        "Notes for the reader, in at most 4,000 characters; also in a profile.",
    ),
    (
        "extends",
        "The id or the path of a drive whose values and profiles hold where this file says \
         nothing.",
    ),
    (
        "firmware",
        "With `extends`: the profile of that drive that is switched on. As `[firmware.NAME]`: a \
         profile of this drive.",
    ),
    (
        "origin",
        "Origin of every value of this file that does not name its own.",
    ),
    (
        "source",
        "Source of every value of this file that does not name its own: at most 2,000 characters.",
    ),
];

/// The version of the format.
pub const SCHEMA: u64 = 1;

/// Where a value may come from, and what the word promises.
pub const ORIGINS: &[(&str, &str)] = &[
    ("datasheet", "the part's own document"),
    ("published", "printed by the source"),
    ("computed", "follows from published figures"),
    ("prior", "usual in the field, no source for this drive"),
    ("fitted", "chosen so that the drive's outcomes come out"),
    ("user", "changed with `--set`"),
];

/// Place of a key in the table.
#[must_use]
pub fn position(name: &str) -> Option<usize> {
    let place = BY_NAME.binary_search_by_key(&name, |&at| KEYS[at].name);
    place.ok().map(|place| BY_NAME[place])
}

/// Positions of all keys in the order of their names.
static BY_NAME: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let mut positions: Vec<usize> = (0..KEYS.len()).collect();
    positions.sort_unstable_by_key(|&at| KEYS[at].name);
    positions
});

/// True if keys lie under this path ("nand", "nand.slc").
#[must_use]
pub fn is_section(path: &str) -> bool {
    KEYS.iter().any(|key| {
        key.name
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// The section a key stands in ("nand.slc" for `nand.slc.tr`).
#[must_use]
pub fn section_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(section, _)| section)
}

/// Every section once, in order.
#[must_use]
pub fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> = KEYS.iter().map(|key| section_of(key.name)).collect();
    sections.dedup();
    sections
}

/// Names of all keys, or of the policy keys alone.
pub fn names(policy_only: bool) -> impl Iterator<Item = &'static str> + Clone {
    KEYS.iter()
        .filter(move |key| key.policy || !policy_only)
        .map(|key| key.name)
}
