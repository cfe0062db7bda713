//! Idle time of the host: after so much of it the firmware is offered time for its own work, and
//! partly filled granules no longer wait for more data.
//!
//! A host is idle that asks for nothing, or for so little that the drive is busy with it for less
//! than a share of a window (`controller.idle_share`): a command now and then ends no rest.
//!
//! The timers are lazy: one event of each is pending at most, and when it comes too early it is set
//! anew.

use flashtwin_base::Nanos;
use flashtwin_ftl::{Load, Policies, Policy};

use crate::config::Controller;
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
    idle_after: [Option<Nanos>; LOADS.len()],
    /// The shortest of them.
    first_after: Option<Nanos>,
    /// What is being offered to the firmware.
    offered: [bool; LOADS.len()],
    /// Whether any load is being offered.
    pub(crate) idle: bool,
    /// Whether a share of the host's is watched.
    pub(crate) watches_host: bool,
    share_milli: u64,
    /// The host's use of a window that is no rest any more.
    use_most: u64,
    host_use: Use,
    busy_pending: bool,
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
    fn host_goes_on(&mut self, now: Nanos) {
        self.host_use.settle(now, self.share_milli, self.use_most);
    }

    /// A command comes, and no other is outstanding.
    fn host_begins(&mut self, now: Nanos) {
        self.host_goes_on(now);
        self.host_use.busy = true;
    }

    /// No command is outstanding any more; the answer is whether the drive rested all the same.
    fn host_ends(&mut self, now: Nanos) -> bool {
        self.host_goes_on(now);
        self.host_use.busy = false;
        self.is_used_little()
    }

    /// Whether the host's use is less than its share of a window.
    fn is_used_little(&self) -> bool {
        self.host_use.filled < self.use_most
    }

    /// How long the host may go on until its use is no rest any more.
    fn may_go_on(&self) -> Nanos {
        let left = self.use_most.saturating_sub(self.host_use.filled);
        Nanos(left.div_ceil(1000 - self.share_milli).max(1))
    }
}

impl<P: Policies> Drive<P> {
    /// The last outstanding command has been answered.
    #[inline(never)]
    pub(crate) fn fell_idle(&mut self) {
        self.served();
        // A rest in which little was asked for goes on.
        if !self.background.host_ends(self.now) {
            self.background.idle_since = self.now;
        }
        self.await_idle(self.now);
    }

    /// Nothing is asked of the drive from a moment on, which may be to come.
    pub(crate) fn falls_quiet(&mut self, from: Nanos) {
        self.background.idle_since = from;
        self.await_idle(from);
    }

    /// Looks when the quiet, of which a part may be over, has lasted long enough for some work.
    fn await_idle(&mut self, from: Nanos) {
        if let (Some(after), false) = (self.background.first_after, self.background.idle_pending) {
            self.background.idle_pending = true;
            let due = (self.background.idle_since + after).max(from);
            self.events.push(due, Event::IdleTimer);
        }
    }

    /// A command comes, to a drive that may be at rest.
    #[cold]
    pub(crate) fn host_is_back(&mut self) {
        if self.commands.outstanding() == 0 {
            self.background.host_begins(self.now);
        }
        if !self.background.idle {
            return;
        }
        if self.background.is_used_little() {
            self.await_busy();
        } else {
            self.withdraw_offers();
            self.issue();
        }
    }

    /// Looks again when the host's use, if it goes on, will be no rest any more.
    fn await_busy(&mut self) {
        if !self.background.busy_pending {
            self.background.busy_pending = true;
            let due = self.now + self.background.may_go_on();
            self.events.push(due, Event::BusyTimer);
        }
    }

    /// The host may have been busy for too long to be offered time beside.
    pub(crate) fn busy_timer(&mut self) {
        self.background.busy_pending = false;
        if !self.background.idle || self.commands.outstanding() == 0 {
            return;
        }
        self.background.host_goes_on(self.now);
        if self.background.is_used_little() {
            self.await_busy();
        } else {
            self.withdraw_offers();
            self.issue();
        }
    }

    /// Offers the work that the quiet has lasted long enough for, and sets the timer for the next
    /// work.
    pub(crate) fn idle_timer(&mut self) {
        self.background.idle_pending = false;
        if self.background.purging || (self.commands.outstanding() > 0 && !self.rests_beside()) {
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
        if self.background.idle && self.commands.outstanding() > 0 {
            self.await_busy();
        }
        self.await_share();
    }

    /// Whether the commands that are outstanding are too few to end the rest.
    fn rests_beside(&mut self) -> bool {
        self.background.host_goes_on(self.now);
        self.background.is_used_little()
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
        let unit = SHARES_A_SECOND * u64::from(self.ftl.layout().unit_bytes);
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
        // A program is not padded while a write waits that fills it: a host that collection holds
        // back for longer than the time has not stopped writing.
        if self.commands.bring_more() {
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
