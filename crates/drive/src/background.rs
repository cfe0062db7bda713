//! Idle time of the host: after so much of it the firmware is offered time for its own work, and
//! partly filled granules no longer wait for more data.
//!
//! A host is idle that asks for nothing, or for so little that the drive is busy with it for less
//! than a share of a window (`controller.idle_share`): a command now and then ends no rest.
//!
//! The timers are lazy: one event of each is pending at most, and when it comes too early it is set
//! anew.

use flashtwin_base::Nanos;
use flashtwin_ftl::{Load, Policy};

use crate::config::Controller;

/// Work that idle time is offered for, in the order of [`Background::idle_after`].
pub(crate) const LOADS: [Load; 3] = [Load::Fold, Load::Collect, Load::Map];

/// How often folding at a rate gets its share: short beside a second, long beside a program.
pub(crate) const SHARE_EVERY: Nanos = Nanos::from_ms(10);
pub(crate) const SHARES_A_SECOND: u64 = 1_000_000_000 / SHARE_EVERY.0;

/// While data crosses the link, the timer of partly filled granules looks again no more often than
/// this.
pub(crate) const LOOK_AGAIN: Nanos = Nanos::from_us(10);

/// The drive's use by its host, as a bucket: time with commands outstanding fills it, and a share
/// of all time leaks out. It is full when the host has been busy for its share of a window.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Use {
    /// Thousandths of a nanosecond of the host's beyond its share.
    filled: u64,
    /// Up to when.
    at: Nanos,
    /// Commands are outstanding.
    busy: bool,
}

impl Use {
    /// Goes on to a moment; it holds no more than `most`.
    fn settle(&mut self, now: Nanos, share_milli: u64, most: u64) {
        let span = now.0.saturating_sub(self.at.0);
        self.filled = match self.busy {
            true => self
                .filled
                .saturating_add(span.saturating_mul(1000 - share_milli))
                .min(most),
            false => self.filled.saturating_sub(span.saturating_mul(share_milli)),
        };
        self.at = now;
    }
}

/// Timers and what they watch.
pub(crate) struct Background {
    /// Quiet after which each load is offered, or never.
    pub(crate) idle_after: [Option<Nanos>; LOADS.len()],
    /// The shortest of them.
    pub(crate) first_after: Option<Nanos>,
    /// What is being offered to the firmware.
    pub(crate) offered: [bool; LOADS.len()],
    /// Whether any load is being offered.
    pub(crate) idle: bool,
    /// Whether a share of the host's is watched.
    pub(crate) watches_host: bool,
    share_milli: u64,
    /// The host's use of a window that is no rest any more.
    use_most: u64,
    host_use: Use,
    pub(crate) busy_pending: bool,
    /// The drive is being purged: there is nothing to offer.
    pub(crate) purging: bool,
    pub(crate) idle_since: Nanos,
    pub(crate) idle_pending: bool,
    pub(crate) gather_time: Nanos,
    pub(crate) wrote_at: Nanos,
    pub(crate) gather_pending: bool,
    /// Bytes a second that may be folded in the background.
    pub(crate) fold_rate: Option<u64>,
    pub(crate) fold_pending: bool,
    /// What was left of the last share because it was less than a unit, in hundredths of a byte.
    pub(crate) fold_rest: u64,
}

flashtwin_base::state! { Background {
    kept: offered, idle, purging, idle_since, idle_pending, wrote_at, gather_pending,
        fold_pending, fold_rest, host_use, busy_pending;
    built: idle_after, first_after, gather_time, fold_rate, watches_host, share_milli, use_most;
} }

impl Background {
    pub(crate) fn new(policy: &Policy, controller: &Controller) -> Background {
        let share_milli = u64::from(controller.idle_share_milli);
        let fold = policy.cache.caching().map(|caching| &caching.fold);
        let idle_after = LOADS.map(|load| match load {
            Load::Fold => fold.and_then(|fold| fold.idle_after),
            Load::Collect => policy.gc.idle_after,
            Load::Map => policy.map.idle_after,
        });
        Background {
            idle_after,
            first_after: idle_after.into_iter().flatten().min(),
            offered: Default::default(),
            fold_rate: fold.and_then(|fold| fold.rate_bytes_s),
            fold_pending: false,
            fold_rest: 0,
            idle: false,
            purging: false,
            idle_since: Nanos::ZERO,
            idle_pending: false,
            gather_time: controller.gather_time,
            watches_host: share_milli > 0,
            share_milli,
            use_most: controller.idle_window.0.saturating_mul(share_milli),
            host_use: Use::default(),
            busy_pending: false,
            wrote_at: Nanos::ZERO,
            gather_pending: false,
        }
    }
}

impl Background {
    /// Nothing is offered and nothing is awaited any more.
    pub(crate) fn power_lost(&mut self) {
        self.offered = Default::default();
        self.idle = false;
        self.host_use = Use::default();
        self.busy_pending = false;
        self.purging = false;
        self.idle_pending = false;
        self.gather_pending = false;
        (self.fold_pending, self.fold_rest) = (false, 0);
    }
}

/// The host's use of the drive, where a share of it is watched.
impl Background {
    /// Commands are outstanding up to a moment.
    pub(crate) fn host_goes_on(&mut self, now: Nanos) {
        self.host_use.settle(now, self.share_milli, self.use_most);
    }

    /// A command comes, and no other is outstanding.
    pub(crate) fn host_begins(&mut self, now: Nanos) {
        self.host_goes_on(now);
        self.host_use.busy = true;
    }

    /// No command is outstanding any more; the answer is whether the drive rested all the same.
    pub(crate) fn host_ends(&mut self, now: Nanos) -> bool {
        self.host_goes_on(now);
        self.host_use.busy = false;
        self.is_used_little()
    }

    /// Whether the host's use is less than its share of a window.
    pub(crate) fn is_used_little(&self) -> bool {
        self.host_use.filled < self.use_most
    }

    /// How long the host may go on until its use is no rest any more.
    pub(crate) fn may_go_on(&self) -> Nanos {
        let left = self.use_most.saturating_sub(self.host_use.filled);
        Nanos(left.div_ceil(1000 - self.share_milli).max(1))
    }
}
