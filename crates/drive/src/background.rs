//! Idle time of the host: after so much of it the firmware is offered time for its own work, and
//! partly filled granules no longer wait for more data.
//!
//! Both timers are lazy: one event is pending at most, and when it comes too early it is set anew.

use flashtwin_base::Nanos;
use flashtwin_ftl::{Load, Policies, Policy};

use crate::engine::Drive;
use crate::event::Event;

/// Work that idle time is offered for, in the order of [`Background::idle_after`].
const LOADS: [Load; 3] = [Load::Fold, Load::Collect, Load::Map];

/// How often folding at a rate gets its share: short beside a second, long beside a program.
const SHARE_EVERY: Nanos = Nanos::from_ms(10);
const SHARES_A_SECOND: u64 = 1_000_000_000 / SHARE_EVERY.0;

/// While data crosses the link, the timer of partly filled granules looks again no more often than
/// this.
const LOOK_AGAIN: Nanos = Nanos::from_us(10);

/// Timers and what they watch.
pub(crate) struct Background {
    /// Quiet after which each load is offered, or never.
    idle_after: [Option<Nanos>; LOADS.len()],
    /// The shortest of them.
    first_after: Option<Nanos>,
    /// What is being offered to the firmware.
    offered: [bool; LOADS.len()],
    /// Whether any load is being offered.
    pub(crate) idle: bool,
    /// The drive is being purged: there is nothing to offer.
    pub(crate) purging: bool,
    idle_since: Nanos,
    idle_pending: bool,
    gather_time: Nanos,
    wrote_at: Nanos,
    gather_pending: bool,
    /// Bytes a second that may be folded in the background.
    pub(crate) fold_rate: Option<u64>,
    fold_pending: bool,
    /// What was left of the last share because it was less than a unit, in hundredths of a byte.
    fold_rest: u64,
}

flashtwin_base::state! { Background {
    kept: offered, idle, purging, idle_since, idle_pending, wrote_at, gather_pending,
        fold_pending, fold_rest;
    built: idle_after, first_after, gather_time, fold_rate;
} }

impl Background {
    pub(crate) fn new(policy: &Policy, gather_time: Nanos) -> Background {
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
            gather_time,
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
        self.purging = false;
        self.idle_pending = false;
        self.gather_pending = false;
        (self.fold_pending, self.fold_rest) = (false, 0);
    }
}

impl<P: Policies> Drive<P> {
    /// The last outstanding command has been answered.
    #[inline(never)]
    pub(crate) fn fell_idle(&mut self) {
        self.served();
        self.falls_quiet(self.now);
    }

    /// Nothing is asked of the drive from a moment on, which may be to come.
    pub(crate) fn falls_quiet(&mut self, from: Nanos) {
        self.background.idle_since = from;
        if let (Some(after), false) = (self.background.first_after, self.background.idle_pending) {
            self.background.idle_pending = true;
            self.events.push(from + after, Event::IdleTimer);
        }
    }

    /// Offers the work that the quiet has lasted long enough for, and sets the timer for the next
    /// work.
    pub(crate) fn idle_timer(&mut self) {
        self.background.idle_pending = false;
        if self.commands.outstanding() > 0 || self.background.purging {
            return;
        }
        let mut next = Nanos::NEVER;
        for (index, load) in LOADS.into_iter().enumerate() {
            let (Some(after), false) = (
                self.background.idle_after[index],
                self.background.offered[index],
            ) else {
                continue;
            };
            let due = self.background.idle_since + after;
            if due > self.now {
                next = next.min(due);
                continue;
            }
            self.background.offered[index] = true;
            self.background.idle = true;
            self.ftl.offer(load, true, &mut self.ops);
            self.issue();
        }
        if next < Nanos::NEVER {
            self.background.idle_pending = true;
            self.events.push(next, Event::IdleTimer);
        }
        self.await_share();
    }

    /// The host is back: every offer is withdrawn, and what has begun ends.
    #[cold]
    pub(crate) fn withdraw_offers(&mut self) {
        self.background.idle = false;
        for (index, load) in LOADS.into_iter().enumerate() {
            if std::mem::take(&mut self.background.offered[index]) {
                self.ftl.offer(load, false, &mut self.ops);
            }
        }
    }

    /// Folding in the background waits for its share, where it has a rate.
    #[inline]
    pub(crate) fn await_share(&mut self) {
        let limited = self.background.fold_rate.is_some() && !self.background.fold_pending;
        if limited && self.ftl.wants_allowance() {
            self.background.fold_pending = true;
            self.events.push(self.now + SHARE_EVERY, Event::FoldTimer);
        }
    }

    /// Allows folding in the background its share for the hundredth of a second that has passed.
    pub(crate) fn fold_timer(&mut self) {
        self.background.fold_pending = false;
        if self.background.purging {
            return;
        }
        // There are a hundred shares a second, so that the rate in bytes a second is also the share
        // in hundredths of a byte.
        let share = self.background.fold_rate.unwrap_or(0) + self.background.fold_rest;
        let unit = SHARES_A_SECOND * u64::from(self.ftl.layout.unit_bytes);
        self.background.fold_rest = share % unit;
        self.ftl.allow((share / unit) as u32, &mut self.ops);
        self.issue();
        self.await_share();
    }

    /// A granule is partly filled and nothing more is queued.
    #[inline]
    pub(crate) fn wait_for_more(&mut self) {
        self.background.wrote_at = self.now;
        if !self.background.gather_pending && self.ftl.has_partial() {
            self.background.gather_pending = true;
            self.events
                .push(self.now + self.background.gather_time, Event::GatherTimer);
        }
    }

    pub(crate) fn gather_timer(&mut self) {
        self.background.gather_pending = false;
        if !self.ftl.has_partial() {
            return;
        }
        let mut after = self.background.gather_time;
        if self.commands.is_receiving() {
            self.background.wrote_at = self.now;
            after = after.max(LOOK_AGAIN);
        }
        let due = self.background.wrote_at + after;
        if due > self.now {
            self.background.gather_pending = true;
            self.events.push(due, Event::GatherTimer);
            return;
        }
        self.ftl.pad_host(&mut self.ops);
        self.issue();
    }
}
