//! The firmware's decisions: where data goes and what to do next. No clock and no host in here.

pub mod policy;

pub use policy::Policy;
