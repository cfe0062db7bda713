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

use crate::clock::Clock;
use crate::config::Controller;
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
    idle: bool,
    /// Whether a share of the host's is watched.
    watches_host: bool,
    share_milli: u64,
    /// The host's use of a window that is no rest any more.
    use_most: u64,
    host_use: Use,
    busy_pending: bool,
    /// The drive is being purged: there is nothing to offer.
    purging: bool,
    idle_since: Nanos,
    idle_pending: bool,
    gather_time: Nanos,
    wrote_at: Nanos,
    gather_pending: bool,
    /// Bytes a second that may be folded in the background.
    fold_rate: Option<u64>,
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

/// Idle time.
impl Background {
    /// True where a command that arrives ends the idle time that is being offered, or where the
    /// host's use is watched and was none. `first`: no other command is outstanding.
    pub(crate) fn minds_command(&self, first: bool) -> bool {
        self.idle || (self.watches_host && first)
    }

    /// True while idle time is offered to folding and collection.
    pub(crate) fn is_idle(&self) -> bool {
        self.idle
    }

    /// Nothing is asked of the drive from a moment on, which may be to come.
    pub(crate) fn falls_quiet(&mut self, from: Nanos, clock: &mut Clock) {
        self.idle_since = from;
        self.await_idle(from, clock);
    }

    /// No command is outstanding any more. A rest in which little was asked for goes on.
    pub(crate) fn host_ends(&mut self, clock: &mut Clock) {
        let now = clock.now();
        self.host_goes_on(now);
        self.host_use.busy = false;
        if !self.is_used_little() {
            self.idle_since = now;
        }
        self.await_idle(now, clock);
    }

    /// Looks when the quiet, of which a part may be over, has lasted long enough for some work.
    fn await_idle(&mut self, from: Nanos, clock: &mut Clock) {
        if let (Some(after), false) = (self.first_after, self.idle_pending) {
            self.idle_pending = true;
            clock.push((self.idle_since + after).max(from), Event::IdleTimer);
        }
    }

    /// A command comes. The answer is whether the offers that there are have to be withdrawn.
    pub(crate) fn host_begins(&mut self, first: bool, clock: &mut Clock) -> bool {
        if first {
            self.host_goes_on(clock.now());
            self.host_use.busy = true;
        }
        self.idle && !self.goes_on_beside(clock)
    }

    /// The host may have been busy for too long to be offered time beside. The answer is whether
    /// the offers have to be withdrawn; `outstanding`: commands are.
    pub(crate) fn busy_timer(&mut self, outstanding: bool, clock: &mut Clock) -> bool {
        self.busy_pending = false;
        if !self.idle || !outstanding {
            return false;
        }
        self.host_goes_on(clock.now());
        !self.goes_on_beside(clock)
    }

    /// True where the host asks for so little that its drive rests beside it. The drive looks again
    /// at the time at which a host that goes on asking will have used more than its share.
    fn goes_on_beside(&mut self, clock: &mut Clock) -> bool {
        let little = self.is_used_little();
        if little {
            self.await_busy(clock);
        }
        little
    }

    fn await_busy(&mut self, clock: &mut Clock) {
        if !self.busy_pending {
            self.busy_pending = true;
            clock.push_in(self.may_go_on(), Event::BusyTimer);
        }
    }

    /// Commands are outstanding up to a moment.
    fn host_goes_on(&mut self, now: Nanos) {
        self.host_use.settle(now, self.share_milli, self.use_most);
    }

    /// True where the host has used less of the window than the spec lets it in a rest.
    fn is_used_little(&self) -> bool {
        self.host_use.filled < self.use_most
    }

    /// How long the host may go on until its use is no rest any more.
    fn may_go_on(&self) -> Nanos {
        let left = self.use_most.saturating_sub(self.host_use.filled);
        Nanos(left.div_ceil(1000 - self.share_milli).max(1))
    }

    /// The drive may have been idle long enough. The answer is whether work is offered now, by
    /// [`Background::next_offer`]; `outstanding`: commands are.
    pub(crate) fn idle_timer(&mut self, outstanding: bool, now: Nanos) -> bool {
        self.idle_pending = false;
        if self.purging {
            return false;
        }
        if outstanding {
            self.host_goes_on(now);
        }
        !outstanding || self.is_used_little()
    }

    /// The next work that the quiet has lasted long enough for.
    pub(crate) fn next_offer(&mut self, now: Nanos) -> Option<Load> {
        let is_due = |&index: &usize| {
            let after = self.idle_after[index].filter(|_| !self.offered[index]);
            after.is_some_and(|after| self.idle_since + after <= now)
        };
        let index = (0..LOADS.len()).find(is_due)?;
        self.offered[index] = true;
        self.idle = true;
        Some(LOADS[index])
    }

    /// All that is due has been offered: there is a look when the next work may be, and when the
    /// host will have been busy for too long.
    pub(crate) fn await_next(&mut self, outstanding: bool, clock: &mut Clock) {
        let waiting = self.idle_after.iter().zip(&self.offered);
        let waiting = waiting.filter(|(_, offered)| !**offered);
        if let Some(after) = waiting.filter_map(|(after, _)| *after).min() {
            self.idle_pending = true;
            clock.push(self.idle_since + after, Event::IdleTimer);
        }
        if self.idle && outstanding {
            self.await_busy(clock);
        }
    }

    /// Every offer ends: which they were.
    pub(crate) fn withdraw(&mut self) -> impl Iterator<Item = Load> + use<> {
        self.idle = false;
        let offered = std::mem::take(&mut self.offered);
        LOADS
            .into_iter()
            .zip(offered)
            .filter_map(|(load, offered)| offered.then_some(load))
    }

    /// The drive is being purged, and there is nothing to offer; or no more.
    pub(crate) fn set_purging(&mut self, purging: bool) {
        self.purging = purging;
    }

    pub(crate) fn is_purging(&self) -> bool {
        self.purging
    }

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

/// Shares of folding that has a rate, and granules that wait for more.
impl Background {
    /// Folding waits for its share, where it has a rate and `wants` one.
    pub(crate) fn await_share(&mut self, wants: impl FnOnce() -> bool, clock: &mut Clock) {
        if self.fold_rate.is_some() && !self.fold_pending && wants() {
            self.fold_pending = true;
            clock.push_in(SHARE_EVERY, Event::FoldTimer);
        }
    }

    /// The share of folding, in units, for the hundredth of a second that has passed; none while
    /// the drive is purged.
    pub(crate) fn take_share(&mut self, unit_bytes: u32) -> Option<u32> {
        self.fold_pending = false;
        if self.purging {
            return None;
        }
        // There are a hundred shares a second, so that the rate in bytes a second is also the share
        // in hundredths of a byte.
        let share = self.fold_rate.unwrap_or(0) + self.fold_rest;
        let unit = SHARES_A_SECOND * u64::from(unit_bytes);
        self.fold_rest = share % unit;
        Some((share / unit) as u32)
    }

    /// Nothing more is queued, and what is `partial` waits for more.
    pub(crate) fn wait_for_more(&mut self, partial: impl FnOnce() -> bool, clock: &mut Clock) {
        self.wrote_at = clock.now();
        if !self.gather_pending && partial() {
            self.gather_pending = true;
            clock.push_in(self.gather_time, Event::GatherTimer);
        }
    }

    /// What is partly filled may have waited long enough. A program is not padded while a write
    /// waits that fills it: a host that collection holds back for longer than the time has not
    /// stopped writing. `partial`, `more`: something is partly filled, a write brings more.
    pub(crate) fn gather_timer(&mut self, partial: bool, more: bool, clock: &mut Clock) -> bool {
        self.gather_pending = false;
        if !partial {
            return false;
        }
        let mut after = self.gather_time;
        if more {
            self.wrote_at = clock.now();
            after = after.max(LOOK_AGAIN);
        }
        let due = self.wrote_at + after;
        self.gather_pending = due > clock.now();
        if self.gather_pending {
            clock.push(due, Event::GatherTimer);
        }
        !self.gather_pending
    }
}
