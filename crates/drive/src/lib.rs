//! The simulated drive: a checked spec, the engine that owns *now*, and what it tells.

pub mod config;

pub use config::{Config, Controller, Link};
