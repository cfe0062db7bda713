//! How long a host waits for an answer before it calls the drive stuck.
//!
//! The bound is on the time in which the drive could work: while a step of throttling holds, dies
//! and cores rest for most of their time, and a second counts as the share that the step leaves. So
//! a throttled drive is held to as much work as any other, and a cool one to no less because it
//! might be throttled. When a step has ended, dies still rest for the last operations that it met:
//! the longest rest counts for each time that a step begins. Where each read may take a long ladder
//! of retries, or each erase of a worn block a long time, collection is as much slower, and the
//! bound is longer.

use flashtwin_base::Nanos;
use flashtwin_drive::{Config, Drive};

/// A command that is not answered after so long in a busy drive counts as stuck, beside the time
/// that the link takes for what may be under way. Reads with every retry are slow, too: the longest
/// waits on 526 random drives were 136 and 87 s.
const MOST: Nanos = Nanos::from_secs(1500);
/// The longest ladder of retries and the longest erase under that bound: with a longer one it is as
/// many times longer.
const LADDER: Nanos = Nanos::from_ms(20);
const ERASE: Nanos = Nanos::from_ms(150);
/// Bytes that may be under way: the largest commands, at the greatest depth.
const UNDER_WAY: u64 = 1 << 30;

/// The host's clock of a drive's working time, and its bound.
pub struct Patience {
    most: Nanos,
    /// What each step of throttling takes of the time, in thousandths.
    taken_milli: [u64; 2],
    /// How long a die rests at most after one operation, by each step.
    tails: [Nanos; 2],
    /// Rest by each step that has not been taken off yet: of a stretch of time no more is taken
    /// off than the share that the step takes.
    owed: [Nanos; 2],
    /// What was so at the last look: the drive's time, how long each step has held and how often
    /// it has begun, and how long the drive could work.
    now: Nanos,
    throttled: [Nanos; 2],
    begun: [u32; 2],
    worked: Nanos,
}

impl Patience {
    /// For a drive of this config that has just been switched on.
    #[must_use]
    pub fn new(config: &Config) -> Patience {
        let steps = [&config.heat.throttle, &config.heat.heavy];
        let link = Nanos::from_secs(UNDER_WAY / config.link.bytes_per_s.max(1));
        let longest = longest_operation(config).0;
        let tail = |speed_milli: u64| Nanos(longest * (1000 - speed_milli) / speed_milli.max(1));
        let times = |longest: Nanos, most: Nanos| longest.max(most).0 as f64 / most.0 as f64;
        let slower = times(longest_ladder(config), LADDER).max(times(longest_erase(config), ERASE));
        Patience {
            most: Nanos((MOST.0 as f64 * slower) as u64) + link,
            taken_milli: steps.map(|step| 1000 - step.speed_milli),
            tails: steps.map(|step| tail(step.speed_milli)),
            now: Nanos::ZERO,
            throttled: [Nanos::ZERO; 2],
            begun: [0; 2],
            owed: [Nanos::ZERO; 2],
            worked: Nanos::ZERO,
        }
    }

    /// How long the drive could work so far. A step is booked at ticks of a tenth of a second: of
    /// two that hold the slower one counts.
    pub fn worked(&mut self, drive: &Drive) -> Nanos {
        let (now, times) = (drive.now(), drive.thermal_times());
        let span = now - self.now;
        let mut rested = 0;
        for step in 0..2 {
            let taken = |time: Nanos| Nanos(time.0 * self.taken_milli[step] / 1000);
            let held = times.throttled[step] - self.throttled[step];
            let begun = u64::from(times.begun[step] - self.begun[step]);
            let owed = self.owed[step] + taken(held) + Nanos(begun * self.tails[step].0);
            let paid = owed.min(taken(span.max(held)));
            self.owed[step] = owed - paid;
            rested = rested.max(paid.0);
        }
        self.worked = Nanos((self.worked + span).0.saturating_sub(rested));
        (self.now, self.throttled, self.begun) = (now, times.throttled, times.begun);
        self.worked
    }

    /// True if a command that was sent when the drive could have worked for `sent` is overdue.
    #[must_use]
    pub fn is_over(&self, sent: Nanos) -> bool {
        self.worked > sent + self.most
    }
}

/// What retries add to a read at most.
fn longest_ladder(config: &Config) -> Nanos {
    match config.errors.correctable {
        0 => Nanos::ZERO,
        _ => config
            .errors
            .ladder()
            .into_iter()
            .max()
            .unwrap_or(Nanos::ZERO),
    }
}

/// The longest erase, which is one of a worn block.
fn longest_erase(config: &Config) -> Nanos {
    let part = &config.part;
    let tier = part.tier.as_ref().map(|tier| tier.timing.erase);
    let erase = part
        .slc
        .erase
        .max(part.native.erase)
        .max(tier.unwrap_or(Nanos::ZERO));
    Nanos(erase.0 * (1000 + u64::from(part.variation.erase_wear)) / 1000)
}

/// The longest that a die is busy with one thing, which is an erase or a read with every retry.
fn longest_operation(config: &Config) -> Nanos {
    longest_erase(config).max(longest_ladder(config))
}
