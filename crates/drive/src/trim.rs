//! What a TRIM costs the host: firmware time for the command and for what it covers, and, where
//! the drive runs it alone, the queue.
//!
//! A TRIM beside other commands takes its time on one firmware core: with one core the commands
//! that come after it wait, with several the others go on. A TRIM that runs alone (SATA's TRIM
//! before its queued form) waits until the drive holds no other command, takes its time, and what
//! came meanwhile begins after it, in order. What it covers is gone from the map at its end.

use std::collections::VecDeque;

/// What a GB is to `controller.trim_gb_time`.
pub(crate) const GB: u128 = 1_000_000_000;

/// Commands around TRIMs that run alone; at rest where there are none such.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Alone {
    /// Commands that have begun and not ended.
    pub(crate) begun: u32,
    /// A TRIM runs.
    pub(crate) running: bool,
    /// Commands that wait for one, or are one that waits.
    pub(crate) held: VecDeque<u32>,
    /// They have been told to begin.
    pub(crate) releasing: bool,
}
