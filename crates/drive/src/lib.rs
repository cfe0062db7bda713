//! The simulated drive: a checked spec, the engine that owns *now*, and what it tells.

mod ageing;
mod background;
#[cfg(all(debug_assertions, feature = "snapshots"))]
mod built_in;
mod clock;
mod codewords;
mod command;
pub mod config;
mod cores;
pub mod engine;
pub mod errors;
mod event;
pub mod fault;
mod firmware;
mod flash;
mod link;
mod lookup;
mod overtaking;
mod paces;
pub mod power;
pub mod precondition;
mod protection;
mod read_ahead;
mod rebuild;
pub mod repeat;
mod runs;
mod smart;
pub mod snapshot;
pub mod spec;
pub mod thermal;
pub mod timeline;
mod totals;
mod trim;
mod turns;
pub mod waits;
pub mod xray;

pub use config::{Config, Controller, Link};
pub use engine::Drive;
pub use protection::Damage;
pub use snapshot::SnapshotError;
pub use totals::Totals;

/// What no drive shows alone, for the tests of this crate.
#[doc(hidden)]
pub mod inside {
    pub use crate::runs::{RUNS, Runs};
    pub use crate::spec::inside::*;
}
