//! The orders in which superblocks are collected: one file each, and a line in the registry below.
//!
//! An order chooses the next victim among the closed superblocks of a pool, which [`Candidates`]
//! shows it. What an order is called, what it does and which keys of its own it has are said in its
//! file ([`Registered`]); from the registry follow the words of `gc.policy`, its keys, the schema,
//! the reference page and what random drives of the soak draw.
//!
//! A program may bring an order of its own without a line in here: a drive is generic over its
//! [`Policies`], and one built with `Drive::with_policies` is compiled for that order.

use std::fmt::Debug;

use flashtwin_base::State;
use flashtwin_base::rng::Rng;
use flashtwin_base::state::Visitor;

use crate::lifetimes::{Inferred, Lifetimes};
use crate::policy::{Policy, Separation};
pub use crate::victims::Candidates;

/// An order in which superblocks are collected.
pub trait VictimOrder: State {
    /// The superblock that is collected next. With none the one with the fewest valid units is
    /// taken: there is always one, and its space is wanted.
    fn choose(&mut self, among: &mut Candidates<'_>, chance: &mut Rng) -> Option<u32>;

    /// Whether it always takes the superblock with the fewest valid units. The host then pays what
    /// each victim costs; where victims come as they come, it pays the mean of the last ones.
    fn takes_emptiest(&self) -> bool {
        false
    }

    /// How many superblocks without an invalid unit it may take in a row. After these the
    /// emptiest is taken instead: a drive short of space would otherwise copy full superblocks for
    /// ever.
    fn most_full_in_turn(&self) -> u32 {
        FULL_IN_TURN
    }
}

/// Of an order that does not look at what is valid.
const FULL_IN_TURN: u32 = 16;

/// A key of the spec that belongs to one order: a whole number.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Dotted name, in the section `gc`.
    pub name: &'static str,
    /// Smallest value.
    pub min: u32,
    /// Largest value.
    pub max: u32,
    /// The value where a spec is silent, as it would be written.
    pub default: &'static str,
    /// What it means, one sentence.
    pub meaning: &'static str,
}

/// An order as the registry knows it.
trait Registered: VictimOrder + Copy + Debug + Eq {
    /// Its word in a spec.
    const NAME: &'static str;
    /// Which superblock it takes, as the end of a sentence.
    const TAKES: &'static str;
    /// Keys of its own.
    const SETTINGS: &'static [Setting] = &[];

    /// The order with the values of its keys, asked for by their names.
    fn new(setting: &dyn Fn(&str) -> u32) -> Self;
}

/// What a spec says of an order.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its word in a spec.
    pub name: &'static str,
    /// Which superblock it takes, as the end of a sentence.
    pub takes: &'static str,
    /// Keys of its own.
    pub settings: &'static [Setting],
}

/// Makes the module, the word and the choice of each order.
macro_rules! registry {
    ($($module:ident::$order:ident),+ $(,)?) => {
        $(mod $module;
        pub use $module::$order;)+

        /// Which superblock is collected, as a spec says it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Victim {
            $(#[doc = concat!("[`", stringify!($order), "`]")]
            $order($order),)+
        }

        /// The words of all orders.
        pub const NAMES: &[&str] = &[$($order::NAME),+];

        /// All orders, in the order of their words.
        pub const ORDERS: &[Description] = &[$(Description {
            name: $order::NAME,
            takes: $order::TAKES,
            settings: $order::SETTINGS,
        }),+];

        impl Victim {
            /// The order that a spec names, before its keys are read; none where no order has
            /// this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Victim> {
                match name {
                    $($order::NAME => Some(Victim::$order($order::new(&|_| 0))),)+
                    _ => None,
                }
            }

            /// The order with the values of its keys.
            #[must_use]
            pub fn with(self, setting: &dyn Fn(&str) -> u32) -> Victim {
                match self {
                    $(Victim::$order(_) => Victim::$order($order::new(setting)),)+
                }
            }
        }

        impl VictimOrder for Victim {
            fn choose(&mut self, among: &mut Candidates<'_>, chance: &mut Rng) -> Option<u32> {
                match self {
                    $(Victim::$order(order) => order.choose(among, chance),)+
                }
            }

            fn takes_emptiest(&self) -> bool {
                match self {
                    $(Victim::$order(order) => order.takes_emptiest(),)+
                }
            }

            fn most_full_in_turn(&self) -> u32 {
                match self {
                    $(Victim::$order(order) => order.most_full_in_turn(),)+
                }
            }
        }

        impl State for Victim {
            fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
                match self {
                    $(Victim::$order(order) => order.visit(visitor),)+
                }
            }
        }

        $(impl From<$order> for Victim {
            fn from(order: $order) -> Victim {
                Victim::$order(order)
            }
        })+
    };
}

registry! {
    greedy::Greedy,
    cost_benefit::CostBenefit,
    fifo::Fifo,
    d_choices::DChoices,
    random::Random,
}

/// What of the firmware a program may bring itself. The methods of a drive are compiled for it.
pub trait Policies: State {
    /// In which order superblocks are collected.
    type Order: VictimOrder;

    /// How lifetimes of data are inferred. Asked where `gc.separation` names a way to do so.
    type Lifetimes: Lifetimes;

    /// The order, and what it remembers.
    fn order(&mut self) -> &mut Self::Order;

    /// What is known of lifetimes.
    fn lifetimes(&mut self) -> &mut Self::Lifetimes;
}

/// Policies, each of its kind.
#[derive(Clone, Debug)]
pub struct Chosen<O, L = Inferred> {
    /// In which order superblocks are collected.
    pub order: O,
    /// How lifetimes of data are inferred.
    pub lifetimes: L,
}

/// Those that a spec names.
pub type BuiltIn = Chosen<Victim>;

impl BuiltIn {
    /// Those that a policy names.
    #[must_use]
    pub fn of(policy: &Policy) -> BuiltIn {
        Chosen {
            order: policy.gc.victim,
            lifetimes: match policy.gc.separation {
                Separation::ByLifetime(way) => Inferred::new(way),
                _ => Inferred::Alike,
            },
        }
    }
}

impl<O: VictimOrder, L: Lifetimes> State for Chosen<O, L> {
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        self.order.visit(visitor)?;
        self.lifetimes.visit(visitor)
    }
}

impl<O: VictimOrder, L: Lifetimes> Policies for Chosen<O, L> {
    type Order = O;
    type Lifetimes = L;

    fn order(&mut self) -> &mut O {
        &mut self.order
    }

    fn lifetimes(&mut self) -> &mut L {
        &mut self.lifetimes
    }
}
