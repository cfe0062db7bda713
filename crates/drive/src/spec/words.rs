//! Words of keys as types: each word stands beside the one thing that it is read as.
//!
//! A type's words are declared here and nowhere else: the kind of its key takes them from it, and a
//! variant without a word, or a word without a variant, does not compile. Words that have numbers
//! in other keys (victims, separations, rules for a full cache) stand with their facts in
//! `flashtwin_ftl`; a key's word is read here without those numbers.

use flashtwin_ftl::policy::{
    Isolation, Levelling, Pace, Parity, ReadOnlyAt, Recycler, Residency, Separation, Victim, Worn,
};
use flashtwin_nand::part::Cell;

use super::key::Words;
use super::value::{Datum, Form};
use crate::config::{Acknowledge, Family, Flushing, LinkKind, SecureErase};

macro_rules! words {
    ($($(#[$doc:meta])* $type:ident { $($word:literal => $variant:ident),+ $(,)? })+) => {$(
        impl Words for $type {
            const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl Form for $type {
            fn of(datum: &Datum) -> Option<$type> {
                // Each variant has a word.
                const _: fn($type) = |value| match value { $($type::$variant => ()),+ };
                match <&str>::of(datum)? {
                    $($word => Some($type::$variant),)+
                    _ => None,
                }
            }
        }
    )+};
}

/// Which writes enter the cache; with what limit, another key says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    All,
    Small,
    Random,
}

/// The way of folded data; what is checked on it, other keys say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    Copyback,
    Controller,
}

/// How blocks that hold pages of the map are programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapMode {
    Slc,
    Native,
}

/// The fate, at a power cut, of the other pages of a wordline that is being programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairedPages {
    Protected,
    Lost,
}

/// When a write with FUA is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fua {
    Program,
    Flush,
}

/// The line rate of a SATA link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SataRate {
    First,
    Second,
    Third,
}

impl SataRate {
    /// Million bits a second on the line.
    pub(super) fn megabits(self) -> u64 {
        match self {
            SataRate::First => 1_500,
            SataRate::Second => 3_000,
            SataRate::Third => 6_000,
        }
    }
}

words! {
    Acknowledge { "write-back" => WriteBack, "write-through" => WriteThrough }
    Admitted { "all" => All, "small" => Small, "random" => Random }
    Cell { "slc" => Slc, "mlc" => Mlc, "tlc" => Tlc, "qlc" => Qlc }
    Family {
        "none" => None, "nvme" => Nvme, "micron" => Micron, "intel" => Intel,
        "samsung" => Samsung, "sandforce" => SandForce, "wd" => Wd,
    }
    Flushing { "program" => Single, "group" => Grouped, "ignore" => Ignored }
    Fua { "program" => Program, "flush" => Flush }
    Isolation { "initial" => Initial, "persistent" => Persistent }
    Levelling { "none" => None, "fifo" => Fifo, "least-worn" => LeastWorn }
    LinkKind { "sata" => Sata, "nvme" => Nvme }
    MapMode { "slc" => Slc, "native" => Native }
    PairedPages { "protected" => Protected, "lost" => Lost }
    Parity { "none" => None, "stripe" => Stripe }
    Path { "copyback" => Copyback, "controller" => Controller }
    ReadOnlyAt {
        "reserve-gone" => ReserveGone, "spares-gone" => SparesGone, "rated-wear" => RatedWear,
    }
    Residency { "dram" => Dram, "demand" => Demand, "hmb" => HostMemory }
    SataRate { "1.5 Gb/s" => First, "3 Gb/s" => Second, "6 Gb/s" => Third }
    SecureErase { "block" => Block, "crypto" => Crypto }
    Worn { "keep" => Keep, "shrink" => Shrink, "close" => Close }
}

impl Form for Victim {
    fn of(datum: &Datum) -> Option<Victim> {
        Victim::named(<&str>::of(datum)?)
    }
}

impl Form for Separation {
    fn of(datum: &Datum) -> Option<Separation> {
        Separation::named(<&str>::of(datum)?)
    }
}

impl Form for Pace {
    fn of(datum: &Datum) -> Option<Pace> {
        Pace::named(<&str>::of(datum)?)
    }
}

impl Form for Recycler {
    fn of(datum: &Datum) -> Option<Recycler> {
        Recycler::named(<&str>::of(datum)?)
    }
}
