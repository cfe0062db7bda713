//! What flash can do, how long it takes and how it wears. Knows no firmware and no host.

pub mod part;

pub use part::{Cell, Geometry, ModeTiming, Part, Program};
