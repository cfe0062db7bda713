//! Hot and cold by the age of what is replaced: what was written a short time ago is written again
//! soon.
//!
//! It keeps no table. The age is that of the youngest data of the superblock that holds the
//! replaced copy, which says little of a superblock in which old and new lie together: it helps
//! where little data is very hot, and hardly elsewhere. [`SepBit`](super::SepBit) knows the age of
//! each unit.

use super::{Filled, Lifetimes, Moved, Registered, Write};

/// Overwrites over which the mean age of replaced copies is taken, as a power of two.
const MEMORY: u32 = 10;

/// Divides host data by the age of what it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotCold {
    /// Mean age of replaced copies, in host units written since, times two to the [`MEMORY`].
    mean_age: u64,
}

flashtwin_base::state! { HotCold { kept: mean_age; } }

impl Registered for HotCold {
    const NAME: &'static str = "hot-cold";
    const DIVIDES: &'static str = "host data by the age of the superblock whose data it replaces";

    fn new() -> HotCold {
        HotCold { mean_age: 0 }
    }
}

impl Lifetimes for HotCold {
    fn classes(&self) -> (u8, u8) {
        (2, 1)
    }

    /// In the steady state the mean age is the number of units in use, whatever the pattern, so
    /// that is where it begins.
    fn start(&mut self, logical_units: u32) {
        self.mean_age = u64::from(logical_units) << MEMORY;
    }

    /// A run that begins with cold data is cold, and so is what has never been written.
    fn host(&mut self, write: &Write) -> (u8, u32) {
        let Some(written) = write.neighbours else {
            return (1, write.count);
        };
        let (age, mean) = (write.now.saturating_sub(written), self.mean_age >> MEMORY);
        self.mean_age = (self.mean_age - mean).saturating_add(age);
        (u8::from(age > mean), write.count)
    }

    fn wrote(&mut self, _: u32, _: u32, _: u64) {}

    fn collected(&mut self, _: &Moved) -> u8 {
        0
    }

    fn victim(&mut self, _: Filled, _: u64) {}
}
