//! What the host has asked for since the drive was built, commands and bytes by kind, and how many
//! commands failed.

use flashtwin_base::{Op, Status};

/// Commands within the drive's range, from the moment they are submitted; failures of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Totals {
    commands: [u64; 4],
    bytes: [u64; 4],
    /// By status; those that ended well are not counted.
    failed: [u64; 5],
}

impl Totals {
    #[inline]
    pub(crate) fn count(&mut self, op: Op, bytes: u64) {
        self.commands[op as usize] += 1;
        self.bytes[op as usize] += bytes;
    }

    /// The same of several commands of so many bytes each.
    #[inline]
    pub(crate) fn count_all(&mut self, op: Op, commands: u64, bytes: u64) {
        self.commands[op as usize] += commands;
        self.bytes[op as usize] += commands * bytes;
    }

    /// Totals since an earlier moment.
    #[must_use]
    pub fn since(&self, earlier: &Totals) -> Totals {
        let mut since = *self;
        since.each(earlier, u64::saturating_sub);
        since
    }

    /// Adds others, each `times` times.
    pub fn add(&mut self, others: &Totals, times: u64) {
        self.each(others, |sum, other| {
            sum.saturating_add(other.saturating_mul(times))
        });
    }

    fn each(&mut self, others: &Totals, of: impl Fn(u64, u64) -> u64) {
        let all = self.commands.iter_mut().chain(&mut self.bytes);
        let other = others.commands.iter().chain(&others.bytes);
        for (count, &other) in all.zip(other) {
            *count = of(*count, other);
        }
        for (count, &other) in self.failed.iter_mut().zip(&others.failed) {
            *count = of(*count, other);
        }
    }

    #[inline]
    pub(crate) fn end(&mut self, status: Status) {
        if status != Status::Ok {
            self.failed[status as usize] += 1;
        }
    }

    /// How many commands ended with an error.
    #[must_use]
    pub fn failed(&self, status: Status) -> u64 {
        self.failed[status as usize]
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
