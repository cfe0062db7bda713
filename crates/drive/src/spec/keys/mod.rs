//! The one table of keys. Parsing, checking, the JSON Schema and the reference page follow from it.
//!
//! Invariants: a key without a default has to be in every spec, own or inherited, so that nothing
//! that makes the drive is decided behind the reader's back; a default leaves the mechanism out, or
//! is what the field usually does, and is shown with the origin `prior`. What a mode has no use for
//! is written as 0. Order here is the order of a printed spec.
//!
//! One file a section: a new mechanism brings its own.

use std::sync::LazyLock;

use flashtwin_ftl::choices::{Form, Free, FullRule, OwnKey, RULES};

use super::parts::Part;
use super::quantity::Dimension;

mod compression;
mod controller;
mod drive;
mod errors;
mod fdp;
pub(super) mod fold;
mod ftl;
mod gc;
mod link;
mod map;
mod nand;
mod power;
pub(super) mod slc_cache;
mod smart;
mod suspend;
mod thermal;
mod variation;
mod wear;

/// What a value has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number in a range.
    Count {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
    },
    /// A size, time or rate with its unit.
    Quantity {
        /// What it measures.
        dimension: Dimension,
        /// 0 is allowed: none, or at once.
        zero: bool,
        /// The word "never" is allowed.
        never: bool,
    },
    /// One time, or a list of one for each page type, lower page first.
    PageTimes,
    /// A plain number with at most three decimals.
    Factor,
    /// A list of sizes at rising shares of the capacity.
    SizeByFill,
    /// true or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A key of the format.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted name.
    pub name: &'static str,
    /// The form of its value.
    pub kind: Kind,
    /// A firmware decision, which a `[firmware.NAME]` profile may change.
    pub policy: bool,
    /// A value as it would be written, in TOML.
    pub example: &'static str,
    /// What it means, one or two sentences.
    pub meaning: &'static str,
    /// What holds where no spec of the chain says anything, in TOML; none where one has to.
    pub default: Option<&'static str>,
    /// A share of the flash: `--scale` divides it.
    pub scaled: bool,
    /// The part of a cache that it belongs to, and its value where the cache lacks that part.
    pub only: Option<(Part, &'static str)>,
    /// How inference looks for its value; none where a host cannot tell its values apart.
    pub free: Option<Free>,
}

impl Key {
    /// Gives the key a value that holds where a spec is silent.
    const fn or(mut self, default: &'static str) -> Key {
        self.default = Some(default);
        self
    }

    /// Gives the key its dotted name.
    const fn named(mut self, name: &'static str) -> Key {
        self.name = name;
        self
    }

    /// Makes it a key of a part of the cache. Without the part its value is `off`: a later layer
    /// that leaves the part out sets it, and any other value is a contradiction.
    const fn only(mut self, part: Part, off: &'static str) -> Key {
        self.only = Some((part, off));
        self
    }

    /// Lets inference look for its value.
    const fn free(mut self, free: Free) -> Key {
        self.free = Some(free);
        self
    }

    /// Makes the key a share of the flash, which a smaller drive has less of.
    const fn scaled(mut self) -> Key {
        self.scaled = true;
        self
    }
}

const fn count(min: u32, max: u32) -> Kind {
    Kind::Count { min, max }
}

const fn quantity(dimension: Dimension) -> Kind {
    Kind::Quantity {
        dimension,
        zero: false,
        never: false,
    }
}

const fn quantity_or_zero(dimension: Dimension) -> Kind {
    Kind::Quantity {
        dimension,
        zero: true,
        never: false,
    }
}

const fn quantity_or_never(dimension: Dimension) -> Kind {
    Kind::Quantity {
        dimension,
        zero: false,
        never: true,
    }
}

const fn fixed(
    name: &'static str,
    kind: Kind,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        kind,
        policy: false,
        example,
        meaning,
        default: None,
        scaled: false,
        only: None,
        free: None,
    }
}

const fn policy(
    name: &'static str,
    kind: Kind,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        kind,
        policy: true,
        example,
        meaning,
        default: None,
        scaled: false,
        only: None,
        free: None,
    }
}

/// A section's policy keys, each declared once: its name, the type that it is read as, and all else
/// that a [`Key`] says.
///
/// The struct has the values of a spec, none for one that was refused; `name` has the dotted names.
macro_rules! section {
    ($(#[$doc:meta])* $values:ident in $section:literal {
        $($key:ident: $type:ty = $declared:expr;)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(in crate::spec) struct $values {
            $(pub $key: Option<$type>,)+
        }

        impl $values {
            pub(in crate::spec) fn read(values: &Values) -> $values {
                $values { $($key: values.of(name::$key),)+ }
            }
        }

        #[allow(non_upper_case_globals, reason = "they are the keys' own names")]
        pub(in crate::spec) mod name {
            $(pub const $key: &str = concat!($section, ".", stringify!($key));)+
        }

        pub(super) fn keys() -> Vec<Key> {
            with_own(vec![$($declared.named(name::$key)),+])
        }
    };
}
use section;

/// A policy key that its section names.
const fn setting(kind: Kind, example: &'static str, meaning: &'static str) -> Key {
    policy("", kind, example, meaning)
}

/// A key that chooses one of these words, with what each of them means.
fn choice<'a>(
    words: &'static [&'static str],
    example: &'static str,
    asks: &str,
    means: impl Iterator<Item = (&'a str, &'a str)>,
) -> Key {
    let means: Vec<String> = means
        .map(|(word, means)| format!("`{word}`: {means}"))
        .collect();
    let meaning = format!("{asks}. {}.", means.join("; "));
    setting(Kind::Word(words), example, String::leak(meaning))
}

/// The keys of a section, with those that belong to a rule for a full cache behind the ones that
/// they say they follow.
fn with_own(mut keys: Vec<Key>) -> Vec<Key> {
    for rule in RULES {
        for own in rule.keys {
            if let Some(place) = keys.iter().position(|key| key.name == own.after) {
                keys.insert(place + 1, own_key(rule, own));
            }
        }
    }
    keys
}

fn own_key(rule: &'static FullRule, own: &'static OwnKey) -> Key {
    let kind = match own.form {
        Form::Size => quantity(Dimension::Size),
        Form::Milli => Kind::Factor,
    };
    Key {
        only: own.off.map(|off| (Part::Rule(rule), off)),
        free: own.free,
        ..policy(own.name, kind, own.example, own.meaning).or(own.default)
    }
}

/// Fewer superblocks make garbage collection another thing than in a drive.
pub const SUPERBLOCKS_MIN: u32 = 8;

/// Every key, in the order of a printed spec.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let (slc_cache, fold) = (slc_cache::keys(), fold::keys());
    let gc = gc::keys();
    let errors = errors::keys();
    let sections: &[&[Key]] = &[
        drive::KEYS,
        nand::KEYS,
        suspend::KEYS,
        variation::KEYS,
        ftl::KEYS,
        map::KEYS,
        &slc_cache,
        &fold,
        &gc,
        fdp::KEYS,
        wear::KEYS,
        &errors,
        controller::KEYS,
        compression::KEYS,
        link::KEYS,
        power::KEYS,
        thermal::KEYS,
        smart::KEYS,
    ];
    let keys = sections.concat();
    for own in RULES.iter().flat_map(|rule| rule.keys) {
        assert!(
            keys.iter().any(|key| key.name == own.name),
            "{} is to follow {}, which no section has",
            own.name,
            own.after
        );
    }
    keys
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
        "What the reader should know, in at most 4,000 characters; also in a profile.",
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

/// Whether keys lie under this path ("nand", "nand.slc").
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
