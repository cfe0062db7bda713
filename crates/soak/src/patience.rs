//! How long a host waits for an answer before it calls the drive stuck.
//!
//! The bound is on the time in which the drive could work: while a step of throttling holds, dies
//! and cores rest for most of their time, and a second counts as the share that the step leaves. So
//! a throttled drive is held to as much work as any other, and a cool one to no less because it
//! might be throttled.

use flashtwin_base::Nanos;
use flashtwin_drive::{Config, Drive};

/// A command that is not answered after so long in a busy drive counts as stuck, beside the time
/// that the link takes for what may be under way. Reads with every retry are slow, too: the longest
/// waits on 526 random drives were 136 and 87 s.
const MOST: Nanos = Nanos::from_secs(1500);
/// Bytes that may be under way: the largest commands, at the greatest depth.
const UNDER_WAY: u64 = 1 << 30;

/// The host's clock of a drive's working time, and its bound.
pub struct Patience {
    most: Nanos,
    /// What each step of throttling takes of the time, in thousandths.
    taken_milli: [u64; 2],
    /// What was so at the last look: the drive's time, how long each step has held, and how long
    /// the drive could work.
    now: Nanos,
    throttled: [Nanos; 2],
    worked: Nanos,
}

impl Patience {
    /// For a drive of this config that has just been switched on.
    #[must_use]
    pub fn new(config: &Config) -> Patience {
        let steps = [&config.heat.throttle, &config.heat.heavy];
        let link = Nanos::from_secs(UNDER_WAY / config.link.bytes_per_s.max(1));
        Patience {
            most: MOST + link,
            taken_milli: steps.map(|step| 1000 - step.speed_milli),
            now: Nanos::ZERO,
            throttled: [Nanos::ZERO; 2],
            worked: Nanos::ZERO,
        }
    }

    /// How long the drive could work so far. A step is booked at ticks of a tenth of a second: of
    /// two that hold the slower one counts.
    pub fn worked(&mut self, drive: &Drive) -> Nanos {
        let (now, throttled) = (drive.now(), drive.thermal_times().throttled);
        let held = |step: usize| (throttled[step] - self.throttled[step]).0;
        let taken = |step: usize| Nanos(held(step) * self.taken_milli[step] / 1000);
        let rested = taken(0).max(taken(1));
        self.worked = Nanos((self.worked + (now - self.now)).0.saturating_sub(rested.0));
        (self.now, self.throttled) = (now, throttled);
        self.worked
    }

    /// Whether a command that was sent when the drive could have worked for `sent` is overdue.
    #[must_use]
    pub fn is_over(&self, sent: Nanos) -> bool {
        self.worked > sent + self.most
    }
}
