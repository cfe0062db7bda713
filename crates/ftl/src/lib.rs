//! The firmware's decisions: where data goes and what to do next. No clock and no host in here.
//!
//! The drive asks [`Ftl::decide`] before it takes host data, reserves what it takes, hands it over
//! with [`Ftl::append_host`], and carries out the [`op::NandOp`]s that come out; it reports each
//! end with [`Ftl::finish`]. Between those calls [`Ftl::pump`] lets folding and garbage collection
//! do their share.
//!
//! Invariants, all checked in [`Ftl::check`]: the map and its reverse agree; a superblock's valid
//! count is the number of its valid bits; a superblock is erased only when nothing valid is left
//! in it and the copies that replaced its data are programmed; programmed = host + fold + GC +
//! padding.

pub mod blocks;
pub mod choices;
mod collect;
pub mod counters;
mod cycles;
mod ensure;
mod footprint;
mod frontier;
mod ftl;
mod health;
mod heaps;
mod lanes;
pub mod layout;
pub mod lifetimes;
mod lists;
mod map;
mod mover;
pub mod op;
pub mod orders;
mod packing;
mod paged_map;
mod passes;
pub mod policy;
mod power_cut;
mod reservation;
mod row_lists;
mod sharing;
mod slc_cache;
mod streams;
mod superblock;
mod victims;
pub mod wear;
mod words;
mod write_buffer;
mod writing;

pub use counters::Counters;
pub use cycles::Cycles;
pub use footprint::Footprint;
pub use ftl::{Found, Ftl, Load, LookUp, Reserved};
pub use layout::Layout;
pub use op::{NandOp, Origin, Planes, Token};
pub use orders::{BuiltIn, Chosen, Policies};
pub use paged_map::{JOURNAL_ENTRY_BYTES, pool_superblocks};
pub use policy::Policy;
pub use power_cut::{Change, Placement, Recovery, checkpoint_rows};
pub use slc_cache::Route;
pub use writing::Mate;
