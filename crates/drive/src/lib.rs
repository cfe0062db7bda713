//! The simulated drive: a checked spec, the engine that owns *now*, and what it tells.

mod background;
mod command;
pub mod config;
pub mod engine;
mod event;
mod flash;
pub mod power;
mod read_ahead;
mod runs;
pub mod spec;
mod suspend;
pub mod thermal;
pub mod xray;

pub use config::{Config, Controller, Link};
pub use engine::Drive;
