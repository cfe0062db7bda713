//! The mechanisms that a spec chooses by a word and that consist of facts alone: designs of an SLC
//! cache, what happens when it is full, how the host waits for collection, and what else collection
//! does.
//!
//! Each is declared once, here: its word, what the reference page says of it, the keys that belong
//! to it, and what somebody who looks at a drive from outside can tell. From the declaration follow
//! the words of the key and their meaning, the schema, which keys of a spec have an effect beside
//! it, what random drives of the soak draw, and what inference reads through `_core`. The firmware
//! asks a choice for its facts and knows none by its name.
//!
//! An order of victims or a way to infer lifetimes is code and has a trait instead: `orders`,
//! `lifetimes`.

/// A word for each choice, its facts, and the list of them all.
///
/// `Word: Facts by method, all in ALL { Choice => facts, ... }`
macro_rules! choices {
    (
        $(#[doc = $doc:literal])*
        $word:ident: $facts:ident by $method:ident, all in $all:ident {
            $($(#[doc = $says:literal])* $choice:ident => $given:expr),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $word {
            $($(#[doc = $says])* $choice,)+
        }

        /// The facts of all, in the order of their words.
        pub const $all: &[$facts] = &[$($given),+];

        impl $word {
            /// All words.
            pub const NAMES: &[&str] = &{
                let mut names = [""; $all.len()];
                let mut at = 0;
                while at < names.len() {
                    names[at] = $all[at].name;
                    at += 1;
                }
                names
            };

            /// Its facts.
            #[must_use]
            pub const fn $method(self) -> &'static $facts {
                &$all[self as usize]
            }

            /// What a spec names; none where nothing has this name.
            #[must_use]
            pub fn named(name: &str) -> Option<$word> {
                [$($word::$choice),+].into_iter().find(|choice| choice.$method().name == name)
            }
        }
    };
}

/// Which free native superblocks a cache takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Borrows {
    /// None.
    Nothing,
    /// As many as a size says, `slc_cache.size` or `slc_cache.size_by_fill`.
    Sized,
    /// Any that is free.
    All,
}

/// A design of an SLC cache: which superblocks serve in SLC mode.
///
/// What happens when a cache is full, what enters it and whether a second tier follows are keys of
/// their own, which go with every design that caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// Its word in a spec.
    pub name: &'static str,
    /// Where it takes its blocks, as the end of a sentence.
    pub takes: &'static str,
    /// What a host can see of it, as the end of a sentence; none where it sees nothing.
    pub seen: Option<&'static str>,
    /// The fewest bits a cell of flash that it goes with.
    pub least_bits: u32,
    /// It has superblocks that always serve in SLC mode, as many as `slc_cache.static_size` says.
    pub owns: bool,
    /// It takes native superblocks that are free.
    pub borrows: Borrows,
    /// Host data takes the lower pages of all superblocks first, their upper pages when no other is
    /// free.
    pub lower_pages_first: bool,
}

impl Design {
    /// A design that takes nothing, to begin from.
    const NOTHING: Design = Design {
        name: "",
        takes: "",
        seen: None,
        least_bits: 2,
        owns: false,
        borrows: Borrows::Nothing,
        lower_pages_first: false,
    };

    /// Whether anything is written in SLC mode, and folded out of it.
    #[must_use]
    pub const fn caches(&self) -> bool {
        self.owns || self.lends()
    }

    /// Whether folding gives native superblocks back.
    #[must_use]
    pub const fn lends(&self) -> bool {
        !matches!(self.borrows, Borrows::Nothing)
    }

    /// Whether `slc_cache.size` says how large the borrowed part is.
    #[must_use]
    pub const fn is_sized(&self) -> bool {
        matches!(self.borrows, Borrows::Sized)
    }
}

choices! {
    /// Where the SLC cache takes its blocks from.
    CacheMode: Design by design, all in DESIGNS {
        /// No cache: host data goes to native blocks.
        None => Design {
            name: "none",
            takes: "nowhere",
            seen: Some("one speed from the first byte to the last"),
            least_bits: 1,
            ..Design::NOTHING
        },
        /// Blocks that always serve in SLC mode, the same at every fill.
        Static => Design {
            name: "static",
            takes: "own ones",
            seen: Some("a fast part that is as large on a full drive as on an empty one"),
            owns: true,
            ..Design::NOTHING
        },
        /// Free native blocks, which folding gives back.
        Dynamic => Design {
            name: "dynamic",
            takes: "borrowed free ones",
            seen: Some("a fast part of a fixed size, and a slow one where its cells come back"),
            borrows: Borrows::Sized,
            ..Design::NOTHING
        },
        /// Own blocks first, borrowed ones after them.
        Hybrid => Design {
            name: "hybrid",
            takes: "own then borrowed",
            seen: Some("a fast part of which a little is there on a full drive too"),
            owns: true,
            borrows: Borrows::Sized,
            ..Design::NOTHING
        },
        /// Every free block may be borrowed.
        WholeDrive => Design {
            name: "whole-drive",
            takes: "any free one",
            seen: Some("a fast part as large as the flash divided by the bits of its cells"),
            borrows: Borrows::All,
            ..Design::NOTHING
        },
        /// Nothing is written in SLC mode and nothing folded. Host data takes the lower pages of
        /// all blocks, which are the fast ones, and their upper pages when no other block is free.
        /// For parts that program page by page.
        LowerPages => Design {
            name: "lower-pages",
            takes: "none, but the lower pages of all blocks first, on parts that program page by \
                    page",
            lower_pages_first: true,
            ..Design::NOTHING
        },
    }
}

/// A second tier behind the cache of any design that caches: blocks that are used with some of
/// their bits. Its size is `slc_cache.tier_size`, its flash `nand.tier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The class that a report names a cache with it.
    pub class: &'static str,
    /// The fewest bits a cell that leave a mode between SLC and native.
    pub least_bits: u32,
    /// What a host can see of it, as the end of a sentence.
    pub seen: &'static str,
}

/// The second tier.
pub const TIER: Tier = Tier {
    class: "tiers",
    least_bits: 3,
    seen: "a second speed between that of the cache and that of native programs",
};

/// The form of the value of a key that belongs to a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Bytes.
    Size,
    /// A number in thousandths.
    Milli,
}

/// Values of a key that its rule refuses, and what is said of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// Smallest and largest that it takes, in the units of the form.
    pub range: [u64; 2],
    /// What is wrong with another; the value takes the place of `{}`.
    pub message: &'static str,
    /// What to write instead.
    pub hint: &'static str,
}

/// A key that belongs to one rule for a full cache and has no effect beside the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnKey {
    /// Dotted name.
    pub name: &'static str,
    /// The key that it stands directly after in a printed spec.
    pub after: &'static str,
    /// What its value looks like.
    pub form: Form,
    /// A value as it would be written, in TOML.
    pub example: &'static str,
    /// The value where a spec is silent, in TOML.
    pub default: &'static str,
    /// What it means, one or two sentences.
    pub meaning: &'static str,
    /// The value that leaves it out, in TOML: beside another rule any other value is a
    /// contradiction. None: beside another rule it waits in silence.
    pub off: Option<&'static str>,
    /// What its rule takes of the values of its form; none where that is all.
    pub within: Option<Within>,
    /// Values that the soak draws, as `--set` has them.
    pub draws: &'static [&'static str],
    /// How inference looks for its value; none where a host cannot tell its values apart.
    pub free: Option<Free>,
}

/// A value that inference looks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Free {
    /// What it is called there: unique, a word.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// What it is counted in: a unit, or the whole that it is a share of.
    pub unit: Unit,
    /// The range that drives of the field span.
    pub range: [f64; 2],
    /// What drives usually have; none where only the drive itself can say.
    pub usual: Option<f64>,
    /// The standard deviation of its logarithm around what is usual.
    pub spread: f64,
    /// It is drawn evenly on a logarithmic scale and not on a linear one.
    pub log: bool,
    /// What a host can see of it, as the end of a sentence.
    pub seen: &'static str,
}

// Nothing that is declared here is not a number.
impl Eq for Free {}

/// What a free value is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share of the drive's capacity.
    OfCapacity,
    /// A share of the cache.
    OfCache,
    /// A share of what the host sends.
    OfHostData,
    /// Mebibytes.
    Mebibytes,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// As inference names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Unit::OfCapacity => "share of the capacity",
            Unit::OfCache => "share of the cache",
            Unit::OfHostData => "share of the host's data",
            Unit::Mebibytes => "MiB",
            Unit::Seconds => "s",
        }
    }
}

/// What happens to host data when the SLC cache is full: where it goes and who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullRule {
    /// Its word in a spec.
    pub name: &'static str,
    /// What becomes of host data past the cache, as the end of a sentence.
    pub data: &'static str,
    /// The class that a report names, which is the rule's own word where a host can tell it from
    /// all others.
    pub class: &'static str,
    /// What a host can see of it, as the end of a sentence.
    pub seen: &'static str,
    /// Data goes past the cache to native blocks until enough of the cache can be opened again.
    pub bypasses: bool,
    /// A share of the data, `slc_cache.direct_share`, goes straight to native blocks.
    pub shares: bool,
    /// The host waits while a step is folded, `fold.step`, and then writes as much.
    pub in_steps: bool,
    /// Keys that have an effect with it alone.
    pub keys: &'static [OwnKey],
}

impl FullRule {
    /// All data goes through SLC, to begin from.
    const STAGES: FullRule = FullRule {
        name: "",
        data: "",
        class: "",
        seen: "",
        bypasses: false,
        shares: false,
        in_steps: false,
        keys: &[],
    };

    /// Data goes through SLC while as much is folded out beside it.
    #[must_use]
    pub const fn flows(&self) -> bool {
        !self.bypasses && !self.in_steps
    }

    /// The rule that a spec names; none where nothing has this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static FullRule> {
        RULES.iter().find(|rule| rule.name == name)
    }

    /// `fold.pace` in thousandths where a cache that borrows cells of so many bits gives them back
    /// as quickly as the host's data takes them. A byte that is folded frees as many native bytes
    /// as the cell has bits, and takes one.
    #[must_use]
    pub fn pace_milli(&self, bits: u32) -> u32 {
        let kept = if self.bypasses { 1 } else { bits };
        (kept * 1000 + (bits - 1) / 2) / (bits - 1).max(1)
    }
}

/// What happens to host data when the SLC cache is full, with the values of the keys that belong to
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The cache is passed by until enough of it can be opened again.
    Direct {
        /// It takes data again once so much of it can be opened (`slc_cache.rearm`).
        rearm_bytes: u64,
        /// Cache bytes folded a host byte meanwhile, in thousandths (`fold.rearm_pace`).
        refill_milli: u32,
    },
    /// The host waits until a step has been folded; nothing is written direct.
    FoldFirst {
        /// Cache bytes of a step (`fold.step`).
        step_bytes: u64,
    },
    /// Every byte still passes through SLC, folded out at the pace at which it comes in.
    Staged,
    /// A share goes straight to native blocks, the rest through SLC as it is folded out.
    Mixed {
        /// That share, in thousandths (`slc_cache.direct_share`).
        direct_milli: u32,
    },
}

impl WhenFull {
    /// All words.
    pub const NAMES: &[&str] = &[DIRECT.name, FOLD_FIRST.name, STAGED.name, MIXED.name];

    /// Its facts.
    #[must_use]
    pub const fn rule(&self) -> &'static FullRule {
        match self {
            WhenFull::Direct { .. } => &DIRECT,
            WhenFull::FoldFirst { .. } => &FOLD_FIRST,
            WhenFull::Staged => &STAGED,
            WhenFull::Mixed { .. } => &MIXED,
        }
    }

    /// Share of the host's data past the cache that goes straight to native blocks beside what is
    /// staged, in thousandths.
    #[must_use]
    pub fn direct_milli(&self) -> u32 {
        match self {
            WhenFull::Mixed { direct_milli } => *direct_milli,
            _ => 0,
        }
    }

    /// Cache units that have to be folded for each unit of the host, in thousandths: none where a
    /// share is more than all, which is asked about before it is refused.
    #[must_use]
    pub fn keeps_up_milli(&self) -> u32 {
        if self.rule().bypasses {
            0
        } else {
            1000_u32.saturating_sub(self.direct_milli())
        }
    }

    /// The rule that a spec names, with the values of its keys, asked for by their names; none
    /// where no rule has this name.
    pub fn named(name: &str, value: &dyn Fn(&str) -> u64) -> Option<WhenFull> {
        let milli = |key: &str| value(key) as u32;
        let rules = [
            WhenFull::Direct {
                rearm_bytes: value("slc_cache.rearm"),
                refill_milli: milli("fold.rearm_pace"),
            },
            WhenFull::FoldFirst {
                step_bytes: value("fold.step"),
            },
            WhenFull::Staged,
            WhenFull::Mixed {
                direct_milli: milli("slc_cache.direct_share"),
            },
        ];
        rules
            .into_iter()
            .find(|when_full| when_full.rule().name == name)
    }
}

/// All rules, in the order of their words.
pub const RULES: &[FullRule] = &[DIRECT, FOLD_FIRST, STAGED, MIXED];

const DIRECT: FullRule = FullRule {
    name: "direct",
    data: "straight to native blocks",
    class: "direct",
    seen: "past the cache the speed is that of native programs",
    bypasses: true,
    keys: &[OwnKey {
        name: "fold.rearm_pace",
        after: "fold.pace",
        form: Form::Milli,
        example: "0.5",
        default: "0",
        meaning: "Cache bytes folded a host byte while host data goes direct past a full cache, so \
                  that it takes data again in mid-fill; 0 = not.",
        off: Some("0"),
        within: None,
        draws: &["0", "0.2", "1", "3"],
        free: None,
    }],
    ..FullRule::STAGES
};

const FOLD_FIRST: FullRule = FullRule {
    name: "fold-first",
    data: "held while `fold.step` is folded",
    class: "fold-first",
    seen: "past the cache writes stop and go on, one step after another",
    in_steps: true,
    keys: &[OwnKey {
        name: "fold.step",
        after: "fold.pace",
        form: Form::Size,
        example: "\"4 MiB\"",
        default: "\"4 MiB\"",
        meaning: "With `slc_cache.when_full = \"fold-first\"`: cache bytes that are folded at a \
                  time while the host waits, before it writes as many. How long it waits hangs on \
                  this and not on the size of the drive.",
        off: None,
        within: None,
        draws: &["4 KiB", "1 MiB", "4 MiB", "1 GiB"],
        free: Some(Free {
            name: "step",
            title: "what is folded at a time while the host waits",
            unit: Unit::Mebibytes,
            range: [2.0, 16.0],
            usual: Some(4.0),
            spread: 0.7,
            log: true,
            seen: "how long the longest writes past the cache wait",
        }),
    }],
    ..FullRule::STAGES
};

const STAGED: FullRule = FullRule {
    name: "staged",
    data: "through SLC all the same, while as much is folded out",
    class: "staged",
    seen: "past the cache the speed is that of an SLC and a native program together",
    ..FullRule::STAGES
};

const MIXED: FullRule = FullRule {
    name: "mixed",
    data: "a share of it straight to native blocks, the rest as with `staged`",
    // Its speed lies between the two, and no series of writes says which share of which.
    class: "staged",
    seen: "past the cache the speed lies between that of `direct` and of `staged`",
    shares: true,
    keys: &[OwnKey {
        name: "slc_cache.direct_share",
        after: "slc_cache.when_full",
        form: Form::Milli,
        example: "0.5",
        default: "0.5",
        meaning: "With `slc_cache.when_full` mixed: share of the host data that goes straight to \
                  native blocks, between 0 and 1.",
        off: None,
        within: Some(Within {
            range: [1, 999],
            message: "with {} of the host data direct nothing is mixed",
            hint: "write a share between 0 and 1, or `slc_cache.when_full` direct or staged",
        }),
        draws: &["0.001", "0.1", "0.5", "0.9", "0.999"],
        free: Some(Free {
            name: "direct",
            title: "share of the data past the cache that goes to native blocks",
            unit: Unit::OfHostData,
            range: [0.1, 0.9],
            usual: Some(0.5),
            spread: 0.5,
            log: false,
            seen: "where the speed past the cache lies between direct and staged",
        }),
    }],
    ..FullRule::STAGES
};

/// How the host waits for garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Its word in a spec.
    pub name: &'static str,
    /// What the host waits for, as the end of a sentence.
    pub waits: &'static str,
    /// The host waits until collection ends, and not for the copies that its own writes cost.
    pub stops_host: bool,
}

choices! {
    /// How the host waits for garbage collection.
    Pace: Pacing by pacing, all in PACINGS {
        /// Each host unit is accompanied by the copies that it costs.
        Paced => Pacing {
            name: "paced",
            waits: "each write waits for the copies that it costs",
            stops_host: false,
        },
        /// Once collection has begun the host waits until it ends.
        StopTheWorld => Pacing {
            name: "stop-the-world",
            waits: "every write waits from `gc.low` until `gc.high` is reached",
            stops_host: true,
        },
    }
}

/// What else goes on in a drive that has been written all over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recycling {
    /// Its word in a spec.
    pub name: &'static str,
    /// What it does, as the end of a sentence.
    pub does: &'static str,
    /// Once no superblock is left that was never written, a unit is copied for each that the host
    /// writes.
    pub accompanies: bool,
}

choices! {
    /// What else goes on in a drive that has been written all over.
    Recycler: Recycling by recycling, all in RECYCLINGS {
        /// Data is copied when space is wanted.
        None => Recycling {
            name: "none",
            does: "nothing is copied but for space",
            accompanies: false,
        },
        /// Once no superblock is left that was never written, each host unit is accompanied by a
        /// copy from the superblock whose turn it is, until a purge.
        Settled => Recycling {
            name: "settled",
            does: "once no superblock is left that was never written, a unit is copied for each \
                   that the host writes, whether space is wanted or not, until a secure erase",
            accompanies: true,
        },
    }
}
