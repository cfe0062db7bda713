//! Where the time goes: a fill, random writes in the steady state and random reads under a sampling
//! profiler, drawn as a flame graph.

use std::fs::File;
use std::path::Path;

use crate::twin;

/// Samples a second: not a divisor of anything periodic in the simulation.
const HERTZ: i32 = 997;

/// Runs the measured parts once each and writes their flame graph as SVG.
///
/// # Errors
/// What the profiler or the file system says, in words.
pub fn write(path: &Path) -> Result<(), String> {
    let file = File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let guard = pprof::ProfilerGuardBuilder::default()
        .frequency(HERTZ)
        .build()
        .map_err(|e| e.to_string())?;
    twin::once_through(&twin::bx500(twin::NO_CACHE));
    let report = guard.report().build().map_err(|e| e.to_string())?;
    report.flamegraph(file).map_err(|e| e.to_string())
}
