//! Power cuts: what a drive loses at any instant, and its start afterwards.
//!
//! A cut takes the outstanding commands, everything in RAM, and what the dies were doing: programs
//! are torn, erases have to be done again. With power-loss protection the capacitors feed the
//! programs of what is in the buffer. The start rebuilds the map from spare areas and takes its
//! time for it: every die reads its share, side by side.
//!
//! What an acknowledged write means follows from three values of the spec and two of the host;
//! `docs/concepts/durability.md` has the table.

/// Counts of starts and of power losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PowerCycles {
    /// Times that the drive was switched on, the first included.
    pub on: u64,
    /// Times that the power went without [`crate::Drive::shut_down`].
    pub unsafe_shutdowns: u64,
}

/// Power, as the drive sees it.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Supply {
    off: bool,
    cycles: PowerCycles,
}

impl Supply {
    pub(crate) fn new() -> Supply {
        Supply {
            off: false,
            cycles: PowerCycles {
                on: 1,
                unsafe_shutdowns: 0,
            },
        }
    }

    pub(crate) fn is_off(&self) -> bool {
        self.off
    }

    /// The power goes, without a shutdown or after one.
    pub(crate) fn go(&mut self, is_safe: bool) {
        self.off = true;
        self.cycles.unsafe_shutdowns += u64::from(!is_safe);
    }

    /// It comes.
    pub(crate) fn come(&mut self) {
        self.off = false;
        self.cycles.on += 1;
    }

    pub(crate) fn cycles(&self) -> PowerCycles {
        self.cycles
    }
}
