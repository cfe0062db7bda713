//! What a TRIM costs the host: firmware time for the command and for what it covers, and, where
//! the drive runs it alone, the queue.
//!
//! A TRIM beside other commands takes its time on one firmware core: with one core the commands
//! that come after it wait, with several the others go on. A TRIM that runs alone (SATA's TRIM
//! before its queued form) waits until the drive holds no other command, takes its time, and what
//! came meanwhile begins after it, in order. What it covers is gone from the map at its end.

use std::collections::VecDeque;

use flashtwin_base::Nanos;

use crate::command::SECTOR_BYTES;
use crate::config::Trim;

/// What a GB is to `controller.trim_gb_time`.
const GB: u128 = 1_000_000_000;

/// The cost of TRIMs, and the commands around those that run alone; at rest where none does.
pub(crate) struct Trims {
    config: Trim,
    /// Commands that have begun and not ended.
    begun: u32,
    /// A TRIM runs.
    running: bool,
    /// Commands that wait for one, or are one that waits.
    held: VecDeque<u32>,
    /// They have been told to begin.
    releasing: bool,
}

flashtwin_base::state! { Trims {
    kept: begun, running, held, releasing;
    built: config;
} }

impl Trims {
    pub(crate) fn new(config: &Trim) -> Trims {
        Trims {
            config: config.clone(),
            begun: 0,
            running: false,
            held: VecDeque::new(),
            releasing: false,
        }
    }

    pub(crate) fn run_alone(&self) -> bool {
        self.config.alone
    }

    /// Firmware time of a TRIM beside that of any command.
    #[cold]
    pub(crate) fn time(&self, sectors: u64) -> Nanos {
        let bytes = u128::from(sectors * SECTOR_BYTES);
        self.config.command + Nanos((bytes * u128::from(self.config.per_gb.0) / GB) as u64)
    }

    /// Whether a command may begin now. One that may not is held until [`Trims::next`].
    pub(crate) fn admit(&mut self, slot: u32, is_trim: bool) -> bool {
        if self.running || !self.held.is_empty() || (is_trim && self.begun > 0) {
            self.held.push_back(slot);
            return false;
        }
        self.begun += 1;
        self.running = is_trim;
        true
    }

    /// A command has ended: perhaps the last one that a TRIM waited for, or the TRIM itself. The
    /// answer is whether those that are held are to be released.
    pub(crate) fn end(&mut self, is_trim: bool) -> bool {
        self.begun -= 1;
        self.running &= !is_trim;
        let releases = self.begun == 0 && !self.held.is_empty() && !self.releasing;
        self.releasing |= releases;
        releases
    }

    /// They are released, one after another by [`Trims::next`].
    pub(crate) fn release(&mut self) {
        self.releasing = false;
    }

    /// The next command that begins, and whether it is a TRIM; none after that, or where a TRIM
    /// has to wait.
    pub(crate) fn next(&mut self, is_trim: impl FnOnce(u32) -> bool) -> Option<(u32, bool)> {
        let &slot = self.held.front()?;
        let is_trim = is_trim(slot);
        if self.running || (is_trim && self.begun > 0) {
            return None;
        }
        self.held.pop_front();
        self.begun += 1;
        self.running = is_trim;
        Some((slot, is_trim))
    }

    /// All commands are gone.
    pub(crate) fn power_lost(&mut self) {
        *self = Trims::new(&self.config);
    }
}
