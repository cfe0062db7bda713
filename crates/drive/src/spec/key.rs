//! A key of the format: what it says of itself, and how a section declares it.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use flashtwin_ftl::choices::{Free, Within};

use super::mechanism::{Case, Part};
use super::quantity::Dimension;

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
    pub(super) idle: Option<&'static str>,
    /// How inference looks for its value; none where a host cannot tell its values apart.
    pub free: Option<Free>,
    /// Which of the values of its kind it takes, whatever other keys say; none where all.
    pub within: Option<Within>,
}

impl Key {
    /// Gives the key a value that holds where a spec is silent.
    pub(super) fn or(mut self, default: &'static str) -> Key {
        self.default = Some(self.kind.toml(default));
        self
    }

    /// Makes it a key of a part of the cache. Without the part its value is `off`: a later layer
    /// that leaves the part out sets it, and any other value is a contradiction.
    pub(super) fn only(mut self, part: Part, off: &'static str) -> Key {
        self.only = Some((part, self.kind.toml(off)));
        self
    }

    /// Turns it off in these cases.
    pub(super) const fn off(mut self, cases: &'static [Case]) -> Key {
        self.off = cases;
        self
    }

    /// Lets it wait in these cases.
    pub(super) const fn waits(mut self, cases: &'static [(Case, &'static str)]) -> Key {
        self.waits = cases;
        self
    }

    /// Says which of its values does nothing, where that is not its default.
    pub(super) fn idle(mut self, value: &'static str) -> Key {
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
    pub(super) const fn free(mut self, free: Free) -> Key {
        self.free = Some(free);
        self
    }

    /// Makes the key a share of the flash, which a smaller drive has less of.
    pub(super) const fn scaled(mut self) -> Key {
        self.scaled = true;
        self
    }

    /// Refuses values outside a range, in base units or thousandths; the value takes the place of
    /// `{}` in the message.
    pub(super) fn within(
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
    pub(super) fn declared(mut self, name: &'static str, meaning: &'static str) -> Key {
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
    pub(super) fn toml(self, text: &'static str) -> &'static str {
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
    pub(super) const fn or_zero(self) -> Kind {
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
    pub(super) const fn or_never(self) -> Kind {
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

pub(super) const fn count(min: u32, max: u32) -> Kind {
    Kind::Count { min, max }
}

/// A quantity by the name of what it measures.
macro_rules! quantities {
    ($($name:ident: $dimension:ident),+) => {
        $(pub(super) const fn $name() -> Kind {
            Kind::Quantity { dimension: Dimension::$dimension, zero: false, never: false }
        })+
    };
}
quantities! {
    size: Size, time: Time, rate: ByteRate, bus_rate: TransferRate, power: Power,
    temperature: Temperature, resistance: ThermalResistance, heat: HeatCapacity
}

/// The kind of a value, and the meaning of its words where it has some.
pub(super) type Declared = (Kind, &'static str);

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

/// A type that a word of a key is read as.
pub(super) trait Words {
    const WORDS: &'static [&'static str];
}

/// One of the words of a type.
pub(super) const fn words<T: Words>() -> Kind {
    Kind::Word(T::WORDS)
}

/// One of these words, with what each of them means.
pub(super) fn choice<'a>(
    words: &'static [&'static str],
    means: impl Iterator<Item = (&'a str, &'a str)>,
) -> Declared {
    let means: Vec<String> = means
        .map(|(word, means)| format!("`{word}`: {means}"))
        .collect();
    (Kind::Word(words), String::leak(means.join("; ")))
}

/// A key of the hardware, with a value as an example.
pub(super) fn fixed(kind: impl Into<Key>, example: &'static str) -> Key {
    let key = kind.into();
    Key {
        example: key.kind.toml(example),
        ..key
    }
}

/// A firmware decision, which a profile may change.
pub(super) fn policy(kind: impl Into<Key>, example: &'static str) -> Key {
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
    pub(super) const fn new(name: &'static str) -> Name<T> {
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

            pub(in crate::spec) fn keys() -> Vec<Key> {
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
pub(super) use section;
