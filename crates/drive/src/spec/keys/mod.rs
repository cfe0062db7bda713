//! The one table of keys. Parsing, checking, the JSON Schema and the reference page follow from it.
//!
//! Invariants: a key without a default has to be in every spec, own or inherited, so that nothing
//! that makes the drive is decided behind the reader's back; a default leaves the mechanism out, or
//! is what the field usually does, and is shown with the origin `prior`. What a mode has no use for
//! is written as 0. Order here is the order of a printed spec.
//!
//! Sections of one part of the drive share a file; each declares its keys by `section!`.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use flashtwin_ftl::choices::{Form, Free, FullRule, OwnKey, RULES, Within};
use flashtwin_ftl::orders::{ORDERS, Setting};

use super::cases::Case;
use super::parts::Part;
use super::quantity::Dimension;
use super::words::Words;

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
pub(super) use nand::{Nand, NandNative, NandSlc, NandSuspend, NandTier, NandVariation};
pub(super) use power::{Power, PowerDeep, PowerLight, Thermal, ThermalHeavy, ThermalThrottle};
pub(super) use slc_cache::SlcCache;

/// The form of a value.
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
        /// Its dimension.
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
    /// Its meaning, one or two sentences.
    pub meaning: &'static str,
    /// The value where no spec of the chain says anything, in TOML; none where one has to.
    pub default: Option<&'static str>,
    /// A share of the flash: `--scale` divides it.
    pub scaled: bool,
    /// The part of a cache that it belongs to, and its value where the cache lacks that part.
    pub only: Option<(Part, &'static str)>,
    /// The cases in which it could only contradict: a later layer that brings one about turns it
    /// off.
    pub off: &'static [Case],
    /// The cases in which it does nothing for now, each with the reason, as the rest of a sentence
    /// that begins with its value.
    pub waits: &'static [(Case, &'static str)],
    /// The value that does nothing, in TOML, where it is not the default.
    idle: Option<&'static str>,
    /// How inference looks for its value; none where a host cannot tell its values apart.
    pub free: Option<Free>,
    /// Which of the values of its kind it takes, whatever other keys say; none where all.
    pub within: Option<Within>,
}

impl Key {
    /// Gives the key a value that holds where a spec is silent.
    fn or(mut self, default: &'static str) -> Key {
        self.default = Some(self.kind.toml(default));
        self
    }

    /// Makes it a key of a part of the cache. Without the part its value is `off`: a later layer
    /// that leaves the part out sets it, and any other value is a contradiction.
    fn only(mut self, part: Part, off: &'static str) -> Key {
        self.only = Some((part, self.kind.toml(off)));
        self
    }

    /// Turns it off in these cases.
    const fn off(mut self, cases: &'static [Case]) -> Key {
        self.off = cases;
        self
    }

    /// Lets it wait in these cases.
    const fn waits(mut self, cases: &'static [(Case, &'static str)]) -> Key {
        self.waits = cases;
        self
    }

    /// Says which of its values does nothing, where that is not its default.
    fn idle(mut self, value: &'static str) -> Key {
        self.idle = Some(self.kind.toml(value));
        self
    }

    /// The value that does nothing, in TOML: that of a cache that lacks the key's part, or the
    /// default. Only a key that is off or waits in some case need have one.
    pub(super) fn idle_value(&self) -> &'static str {
        let of_part = self.only.map(|(_, off)| off);
        let value = self.idle.or(of_part).or(self.default);
        value.unwrap_or_else(|| panic!("{} has no value that does nothing", self.name))
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

    /// Refuses values outside a range, in base units or thousandths; the value takes the place of
    /// `{}` in the message.
    fn within(
        mut self,
        range: RangeInclusive<u64>,
        message: &'static str,
        hint: &'static str,
    ) -> Key {
        self.within = Some(Within {
            range: [*range.start(), *range.end()],
            message,
            hint,
        });
        self
    }

    /// Gives the key its dotted name, and its meaning with that of its words.
    fn declared(mut self, name: &'static str, meaning: &'static str) -> Key {
        let meaning = meaning.trim_start();
        self.name = name;
        self.meaning = match self.meaning {
            "" => meaning,
            words => String::leak(format!("{meaning}. {words}.")),
        };
        self
    }
}

impl Kind {
    /// A value as TOML writes it.
    fn toml(self, text: &'static str) -> &'static str {
        let bare = match self {
            Kind::Quantity { .. } => text == "0",
            Kind::PageTimes => text.starts_with('['),
            Kind::Word(_) => false,
            Kind::Count { .. } | Kind::Factor | Kind::SizeByFill | Kind::Flag => true,
        };
        match bare || text.starts_with('"') {
            true => text,
            false => String::leak(format!("\"{text}\"")),
        }
    }

    /// Zero is allowed too.
    const fn or_zero(self) -> Kind {
        match self {
            Kind::Quantity {
                dimension, never, ..
            } => Kind::Quantity {
                dimension,
                zero: true,
                never,
            },
            other => other,
        }
    }

    /// The word "never" is allowed too.
    const fn or_never(self) -> Kind {
        match self {
            Kind::Quantity {
                dimension, zero, ..
            } => Kind::Quantity {
                dimension,
                zero,
                never: true,
            },
            other => other,
        }
    }
}

const fn count(min: u32, max: u32) -> Kind {
    Kind::Count { min, max }
}

/// A quantity by the name of what it measures.
macro_rules! quantities {
    ($($name:ident: $dimension:ident),+) => {
        $(const fn $name() -> Kind {
            Kind::Quantity { dimension: Dimension::$dimension, zero: false, never: false }
        })+
    };
}
quantities! {
    size: Size, time: Time, rate: ByteRate, bus_rate: TransferRate, power: Power,
    temperature: Temperature, resistance: ThermalResistance, heat: HeatCapacity
}

/// The kind of a value, and the meaning of its words where it has some.
type Declared = (Kind, &'static str);

impl From<Kind> for Key {
    fn from(kind: Kind) -> Key {
        (kind, "").into()
    }
}

impl From<Declared> for Key {
    fn from((kind, meaning): Declared) -> Key {
        Key {
            name: "",
            kind,
            policy: false,
            example: "",
            meaning,
            default: None,
            scaled: false,
            only: None,
            off: &[],
            waits: &[],
            idle: None,
            free: None,
            within: None,
        }
    }
}

/// One of the words of a type.
const fn words<T: Words>() -> Kind {
    Kind::Word(T::WORDS)
}

/// One of these words, with what each of them means.
fn choice<'a>(
    words: &'static [&'static str],
    means: impl Iterator<Item = (&'a str, &'a str)>,
) -> Declared {
    let means: Vec<String> = means
        .map(|(word, means)| format!("`{word}`: {means}"))
        .collect();
    (Kind::Word(words), String::leak(means.join("; ")))
}

/// A key of the hardware, with a value as an example.
fn fixed(kind: impl Into<Key>, example: &'static str) -> Key {
    let key = kind.into();
    Key {
        example: key.kind.toml(example),
        ..key
    }
}

/// A firmware decision, which a profile may change.
fn policy(kind: impl Into<Key>, example: &'static str) -> Key {
    Key {
        policy: true,
        ..fixed(kind, example)
    }
}

/// A key by its name, and the type that its value is read as.
pub(in crate::spec) struct Name<T> {
    pub name: &'static str,
    read_as: PhantomData<fn() -> T>,
}

impl<T> Name<T> {
    const fn new(name: &'static str) -> Name<T> {
        Name {
            name,
            read_as: PhantomData,
        }
    }
}

impl<T> Clone for Name<T> {
    fn clone(&self) -> Name<T> {
        *self
    }
}

impl<T> Copy for Name<T> {}

impl<T> From<Name<T>> for &'static str {
    fn from(key: Name<T>) -> &'static str {
        key.name
    }
}

/// A section's keys, each declared once: what it means, its name, the type that it is read as, and
/// all else that a [`Key`] says.
///
/// The type has the names as constants. With `read` it also has the values of a spec as fields,
/// none for one that was refused.
macro_rules! section {
    ($(#[$doc:meta])* read $section:ident in $path:literal {
        $($(#[doc = $meaning:literal])+ $key:ident: $type:ty = $declared:expr;)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(in crate::spec) struct $section {
            $($(#[doc = $meaning])+ pub $key: Option<$type>,)+
        }

        impl $section {
            pub(in crate::spec) fn read(values: &Values) -> $section {
                $section { $($key: values.of($section::$key),)+ }
            }
        }

        section! { impl $section in $path {
            $($(#[doc = $meaning])+ $key: $type = $declared;)+
        } }
    };
    ($(#[$doc:meta])* impl $section:ident in $path:literal {
        $($(#[doc = $meaning:literal])+ $key:ident: $type:ty = $declared:expr;)+
    }) => {
        #[allow(non_upper_case_globals, reason = "they are the keys' own names")]
        impl $section {
            $(
                $(#[doc = $meaning])+
                pub const $key: Name<$type> = Name::new(concat!($path, ".", stringify!($key)));
            )+

            pub(super) fn keys() -> Vec<Key> {
                vec![$($declared.declared($section::$key.name, concat!($($meaning),+))),+]
            }
        }
    };
    ($(#[$doc:meta])* $section:ident in $path:literal $keys:tt) => {
        $(#[$doc])*
        pub(in crate::spec) struct $section;

        section! { impl $section in $path $keys }
    };
}
use section;

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

/// Fewer superblocks make garbage collection another thing than in a drive.
pub const SUPERBLOCKS_MIN: u32 = 8;

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
