//! Closes the loop around any device: keeps jobs going and writes down what the host saw.
//!
//! [`run`] takes a device and a [`Phase`], jobs that run side by side, and answers with an
//! [`Outcome`]: totals, a series, histograms. It never looks inside the device: both speak
//! `base::device` only.

mod closed_loop;
pub mod fio;
mod needs;
mod outcome;
mod phase;
mod series;

pub use closed_loop::{Flow, PATIENCE, Progress, TICK, TICK_BYTES, run, run_telling};
pub use needs::Needs;
pub use outcome::{Errors, JobTotals, Outcome};
pub use phase::{MAX_OUTSTANDING, Phase, PhaseError};
pub use series::Series;
