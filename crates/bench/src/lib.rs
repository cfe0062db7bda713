//! How fast the simulation is, beside the bare page map that it is measured by.
//!
//! Every figure is the best of three on one core. The bare map ([`bare`]) has the size and the
//! over-provisioning of the simulated drive, and no time in it; [`twin`] measures the whole
//! simulation as a battery runs it, series, histograms and X-ray on; [`null`] the host's loop
//! alone; [`replay`] a trace beside the load that it has.

pub mod bare;
pub mod bare_speed;
pub mod growth;
pub mod null;
#[cfg(feature = "profile")]
pub mod profile;
pub mod replay;
pub mod stopwatch;
pub mod twin;

/// Named figures in the order in which they are printed.
pub type Figures = Vec<(&'static str, f64)>;

/// Random overwrites, in shares of the user's units, that bring a map into its steady state.
pub const WARM_UP: f64 = 1.5;
/// Random overwrites over which a rate is measured.
pub const WINDOW: f64 = 0.2;
/// Repetitions of which the best counts.
pub const ROUNDS: u32 = 3;
/// Bytes a mapping unit.
pub const UNIT_BYTES: u64 = 4096;
