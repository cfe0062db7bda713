//! Virtual time in whole nanoseconds. No clock is read anywhere: time is an argument.

use std::ops::{Add, AddAssign, Sub};

/// A point in time, or a span of it, in nanoseconds. 64 bits last 584 years.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The beginning, and the empty span.
    pub const ZERO: Nanos = Nanos(0);
    /// Later than anything that happens.
    pub const NEVER: Nanos = Nanos(u64::MAX);

    /// A span of whole microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Nanos {
        Nanos(us * 1_000)
    }

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs * 1_000_000_000)
    }

    /// The span in seconds, for people.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, span: Nanos) -> Nanos {
        Nanos(self.0 + span.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, span: Nanos) {
        self.0 += span.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, earlier: Nanos) -> Nanos {
        Nanos(self.0 - earlier.0)
    }
}
