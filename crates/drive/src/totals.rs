//! What the host has asked for since the drive was built: commands and bytes by kind.

use flashtwin_base::Op;

/// Commands within the drive's range, from the moment they are submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    commands: [u64; 4],
    bytes: [u64; 4],
}

impl Totals {
    #[inline]
    pub(crate) fn count(&mut self, op: Op, bytes: u64) {
        self.commands[op as usize] += 1;
        self.bytes[op as usize] += bytes;
    }

    /// How many commands of a kind.
    #[inline]
    #[must_use]
    pub fn commands(&self, op: Op) -> u64 {
        self.commands[op as usize]
    }

    /// Bytes that they asked for.
    #[inline]
    #[must_use]
    pub fn bytes(&self, op: Op) -> u64 {
        self.bytes[op as usize]
    }
}
