//! The clock by which data grows old: time at the temperature that the retention rates hold for.
//!
//! A warmer drive's clock goes faster ([`flashtwin_nand::error::acceleration`]). Its pace follows
//! the temperature at the ticks of the thermal model and is constant between two of them, so that
//! reading the clock changes nothing. Without an activation energy the clock is the drive's own. A
//! used drive's clock begins at its age.

use flashtwin_base::Nanos;
use flashtwin_nand::error::acceleration;

use crate::config::Errors;

/// A time at which data will be due is computed for the present temperature. After so long it is
/// computed again: on a drive that has got warmer since, refresh is late by no more than this.
const RECKONED_FOR: Nanos = Nanos::from_secs(24 * 3600);
/// The clock stops here, at 146,000 years, which no drive reaches however hot it is.
const LAST: u64 = 1 << 62;
/// Nanoseconds of a drive's life: 73 years. What would be due later never is.
const LIFETIME: u64 = 1 << 61;
const NS_PER_US: u64 = 1000;

/// A time by this clock, in microseconds. A hot drive's clock goes hundreds of times as fast as the
/// drive's own, so that nanoseconds would soon overflow.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(crate) struct Aged(u64);

impl Aged {
    /// Never.
    pub(crate) const NEVER: Aged = Aged(u64::MAX);

    /// How long after another time this is; nothing where it is not.
    pub(crate) fn since(self, earlier: Aged) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0).saturating_mul(NS_PER_US))
    }

    /// The time that is so much later by this clock; never where it stops before.
    pub(crate) fn plus(self, span: Nanos) -> Aged {
        if span == Nanos::NEVER {
            return Aged::NEVER;
        }
        self.later(span.0 / NS_PER_US)
    }

    fn later(self, us: u64) -> Aged {
        let at = self.0.saturating_add(us);
        if at <= LAST { Aged(at) } else { Aged::NEVER }
    }
}

/// Time at the reference temperature.
pub(crate) struct Ageing {
    activation_ev: f64,
    reference: f64,
    /// Where this clock begins.
    begun: Aged,
    /// The drive's time at which the pace was last set, and this clock then.
    at: Nanos,
    clock: Aged,
    /// Seconds of this clock in a second.
    pace: f64,
}

flashtwin_base::state! { Ageing {
    kept: at, clock, pace;
    built: activation_ev, reference, begun;
} }

impl Ageing {
    /// The clock of a drive that is so old and so warm when it is built.
    pub(crate) fn new(errors: &Errors, age: Nanos, celsius: f64) -> Ageing {
        let begun = Aged(age.0 / NS_PER_US);
        let mut ageing = Ageing {
            activation_ev: errors.activation_ev,
            reference: errors.retention_celsius,
            at: Nanos::ZERO,
            begun,
            clock: begun,
            pace: 1.0,
        };
        ageing.warm(Nanos::ZERO, celsius);
        ageing
    }

    /// The drive has this temperature from `at` on.
    pub(crate) fn warm(&mut self, at: Nanos, celsius: f64) {
        self.clock = self.clock(at);
        self.at = at;
        self.pace = acceleration(self.activation_ev, self.reference, celsius);
    }

    /// A time passes at once by this clock; the answer is how much older data gets.
    pub(crate) fn skip(&mut self, now: Nanos, time: Nanos) -> Nanos {
        let span = self.span(time);
        self.clock = Aged(
            self.clock(now)
                .0
                .saturating_add(span.0 / NS_PER_US)
                .min(LAST),
        );
        self.at = now;
        span
    }

    /// The clock at a time not before the last change of its pace.
    pub(crate) fn clock(&self, now: Nanos) -> Aged {
        let passed = self.hasten(Nanos(now.0.saturating_sub(self.at.0)));
        Aged(self.clock.0.saturating_add(passed).min(LAST))
    }

    /// The clock at the beginning of a used drive's life: what was written then is as old as it.
    pub(crate) fn since_then(&self, now: Nanos) -> Aged {
        Aged(self.clock(now).0 - self.begun.0)
    }

    /// Microseconds that the clock goes in so much of the drive's time.
    fn hasten(&self, time: Nanos) -> u64 {
        if self.pace == 1.0 {
            return time.0 / NS_PER_US;
        }
        // A product beyond 64 bits becomes the largest number.
        (time.0 as f64 * self.pace / NS_PER_US as f64) as u64
    }

    /// How much older data gets in so much of the drive's time.
    pub(crate) fn span(&self, time: Nanos) -> Nanos {
        Nanos(self.hasten(time).saturating_mul(NS_PER_US))
    }

    /// The clock after so much of the drive's time, a tick later at least.
    pub(crate) fn after(&self, now: Nanos, time: Nanos) -> Aged {
        self.clock(now).later(self.hasten(time).max(1))
    }

    /// When to look again whether the clock has come to `due`: at that time, or earlier where the
    /// temperature may change before it. Never where the drive's life is over by then.
    pub(crate) fn look_at(&self, due: Aged, now: Nanos) -> Nanos {
        let left = due.since(self.clock(now)).0;
        let time = libm::ceil(left as f64 / self.pace) as u64;
        let time = match self.activation_ev == 0.0 {
            true => left,
            false => time.min(RECKONED_FOR.0),
        };
        let at = now.0.saturating_add(time);
        if at < LIFETIME {
            Nanos(at)
        } else {
            Nanos::NEVER
        }
    }
}
