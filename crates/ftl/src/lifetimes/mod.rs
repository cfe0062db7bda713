//! Classes by inferred lifetime: one file a way to infer it, and a line in the registry below.
//!
//! Superblocks are cheap to collect when what lies in them dies together. A [`Lifetimes`] guesses
//! from what it has seen when a unit will be overwritten and gives it a class; each class has a
//! superblock of its own open, those of the host's data and those of collected data apart. What it
//! is called and what it does are said in its file ([`Registered`]); from the registry follow the
//! words of `gc.separation`, the schema, the reference page, how many superblocks a spec has to
//! leave for it, and what random drives of the soak draw.
//!
//! A program may bring its own without a line in here, as it may bring an order of collection: a
//! drive is generic over its [`Policies`](crate::Policies).

use std::fmt::Debug;

use flashtwin_base::State;
use flashtwin_base::state::Visitor;

/// Classes of host data past the cache that are told apart at most, and of collected data.
pub const CLASSES: usize = 8;

/// A write of the host's that is being placed.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// Its first unit.
    pub lpn: u32,
    /// How many units follow in a run, this one included.
    pub count: u32,
    /// Units that the host has written.
    pub now: u64,
    /// Units that the host had written when the youngest data of the superblock that holds the
    /// present copy of the first unit came from it; none where there is no copy.
    pub neighbours: Option<u64>,
}

/// A unit that collection moves.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The unit.
    pub lpn: u32,
    /// Units that the host has written.
    pub now: u64,
    /// Its copy was written as this, or the superblock was filled with it where that is not known.
    pub from: Filled,
}

/// What a superblock was filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// Host data of a class.
    Host(u8),
    /// Collected data of a class.
    Collected(u8),
    /// Data from the SLC cache.
    Folded,
    /// Data that static wear levelling moved because it rested.
    Rested,
}

/// A way to infer how long data will live.
pub trait Lifetimes: State {
    /// Classes of the host's data and of collected data, at most [`CLASSES`] each.
    fn classes(&self) -> (u8, u8);

    /// The drive has so many logical units, and none of them holds data.
    fn start(&mut self, logical_units: u32);

    /// The class of the first unit of a write, and how many units of the run belong to it.
    fn host(&mut self, write: &Write) -> (u8, u32);

    /// Units from `lpn` on have been written by the host.
    fn wrote(&mut self, lpn: u32, count: u32, now: u64);

    /// The class of a unit that is moved.
    fn collected(&mut self, moved: &Moved) -> u8;

    /// A superblock is going to be collected; the host has written so many units since it was
    /// opened.
    fn victim(&mut self, from: Filled, lifespan: u64);

    /// Bytes that it keeps for each logical unit.
    fn unit_bytes(&self) -> u64 {
        0
    }
}

/// A way as the registry knows it.
trait Registered: Lifetimes + Clone + Debug + Eq {
    /// Its word in a spec.
    const NAME: &'static str;
    /// What it divides by, as the end of a sentence.
    const DIVIDES: &'static str;

    /// As it begins.
    fn new() -> Self;
}

/// Words of `gc.separation` that infer nothing, see [`Separation`](crate::policy::Separation).
pub(crate) const NONE: &str = "none";
pub(crate) const GC: &str = "gc";
pub(crate) const ORACLE: &str = "oracle";

/// What a spec says of a way, and of a separation that infers nothing.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its word in a spec.
    pub name: &'static str,
    /// What it divides by, as the end of a sentence.
    pub divides: &'static str,
}

/// Makes the module, the word and the choice of each way.
macro_rules! registry {
    ($($module:ident::$way:ident),+ $(,)?) => {
        $(mod $module;
        pub use $module::$way;)+

        /// How lifetimes are inferred, as a spec says it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Way {
            $(#[doc = concat!("[`", stringify!($way), "`]")]
            $way,)+
        }

        impl Way {
            /// The way that a spec names; none where no way has this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Way> {
                match name {
                    $($way::NAME => Some(Way::$way),)+
                    _ => None,
                }
            }
        }

        /// What one of them has seen so far.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Inferred {
            /// They are not: all data is alike.
            Alike,
            $(#[doc = concat!("[`", stringify!($way), "`]")]
            $way($way),)+
        }

        /// All words of `gc.separation`: those of the ways between those that infer nothing.
        pub const SEPARATIONS: &[Description] = &[
            Description {
                name: NONE,
                divides: "collected data goes to the host's",
            },
            Description {
                name: GC,
                divides: "it has its own",
            },
            $(Description {
                name: $way::NAME,
                divides: $way::DIVIDES,
            },)+
            Description {
                name: ORACLE,
                divides: "the host says what is hot and two pools are kept apart",
            },
        ];

        /// The same, the words alone.
        pub const WORDS: &[&str] = &[NONE, GC, $($way::NAME,)+ ORACLE];

        impl Inferred {
            /// One that has seen nothing yet.
            #[must_use]
            pub fn new(way: Way) -> Inferred {
                match way {
                    $(Way::$way => Inferred::$way($way::new()),)+
                }
            }
        }

        impl Lifetimes for Inferred {
            fn classes(&self) -> (u8, u8) {
                match self {
                    Inferred::Alike => (1, 1),
                    $(Inferred::$way(way) => way.classes(),)+
                }
            }

            fn start(&mut self, logical_units: u32) {
                match self {
                    Inferred::Alike => {}
                    $(Inferred::$way(way) => way.start(logical_units),)+
                }
            }

            fn host(&mut self, write: &Write) -> (u8, u32) {
                match self {
                    Inferred::Alike => (0, write.count),
                    $(Inferred::$way(way) => way.host(write),)+
                }
            }

            fn wrote(&mut self, lpn: u32, count: u32, now: u64) {
                match self {
                    Inferred::Alike => {}
                    $(Inferred::$way(way) => way.wrote(lpn, count, now),)+
                }
            }

            fn collected(&mut self, moved: &Moved) -> u8 {
                match self {
                    Inferred::Alike => 0,
                    $(Inferred::$way(way) => way.collected(moved),)+
                }
            }

            fn victim(&mut self, from: Filled, lifespan: u64) {
                match self {
                    Inferred::Alike => {}
                    $(Inferred::$way(way) => way.victim(from, lifespan),)+
                }
            }

            fn unit_bytes(&self) -> u64 {
                match self {
                    Inferred::Alike => 0,
                    $(Inferred::$way(way) => way.unit_bytes(),)+
                }
            }
        }

        impl State for Inferred {
            fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
                match self {
                    Inferred::Alike => Ok(()),
                    $(Inferred::$way(way) => way.visit(visitor),)+
                }
            }
        }
    };
}

registry! {
    hot_cold::HotCold,
    sepbit::SepBit,
    mida::Mida,
}
