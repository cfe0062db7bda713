//! The one place of the bench that reads a clock, because wall time is what it is about.

#[allow(
    clippy::disallowed_types,
    reason = "a bench measures wall time, the simulation never sees it"
)]
use std::time::Instant;

/// Runs `work` and answers with the seconds that it took.
#[allow(
    clippy::disallowed_types,
    reason = "a bench measures wall time, the simulation never sees it"
)]
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begun = Instant::now();
    let result = work();
    // A clock may stand still between two looks; a rate must not become infinite.
    (begun.elapsed().as_secs_f64().max(1e-9), result)
}
