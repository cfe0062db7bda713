//! What flash can do, how long it takes and how it wears. Knows no firmware and no host.

pub mod energy;
pub mod error;
pub mod part;
pub mod variation;

pub use energy::DiePower;
pub use part::{Cell, Geometry, LaterPasses, ModeTiming, Part, Program, Suspend, TierMode};
pub use variation::{Pace, Variation};
