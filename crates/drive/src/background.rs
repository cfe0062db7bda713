//! Time that the host leaves: turned into an offer to the firmware, and the end of waiting for
//! more data.
//!
//! Both timers are lazy: one event is pending at most, and when it comes too early it is set anew.

use flashtwin_base::Nanos;
use flashtwin_ftl::{Load, Policy};

use crate::engine::Drive;
use crate::event::Event;

/// Work that idle time is offered for, in the order of [`Background::idle_after`].
const LOADS: [Load; 2] = [Load::Fold, Load::Collect];

/// Timers and what they watch.
pub(crate) struct Background {
    /// Quiet after which each load is offered, or never.
    idle_after: [Option<Nanos>; LOADS.len()],
    /// The shortest of them.
    first_after: Option<Nanos>,
    /// What is being offered to the firmware.
    offered: [bool; LOADS.len()],
    /// Something is.
    pub(crate) idle: bool,
    /// The drive is being purged: there is nothing to offer.
    pub(crate) purging: bool,
    idle_since: Nanos,
    idle_pending: bool,
    gather_time: Nanos,
    wrote_at: Nanos,
    gather_pending: bool,
}

impl Background {
    pub(crate) fn new(policy: &Policy, gather_time: Nanos) -> Background {
        let idle_after = LOADS.map(|load| match load {
            Load::Fold => policy.fold.idle_after,
            Load::Collect => policy.gc.idle_after,
        });
        Background {
            idle_after,
            first_after: idle_after.into_iter().flatten().min(),
            offered: Default::default(),
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

impl Drive {
    /// The last outstanding command has been answered.
    #[inline]
    pub(crate) fn fell_idle(&mut self) {
        self.background.idle_since = self.now;
        self.served();
        if let (Some(after), false) = (self.background.first_after, self.background.idle_pending) {
            self.background.idle_pending = true;
            self.events.push(self.now + after, Event::IdleTimer);
        }
    }

    /// Offers what the quiet has lasted long enough for, and sets the timer for what comes next.
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
        if self.commands.is_receiving() {
            self.background.wrote_at = self.now;
        }
        let due = self.background.wrote_at + self.background.gather_time;
        if due > self.now {
            self.background.gather_pending = true;
            self.events.push(due, Event::GatherTimer);
            return;
        }
        self.ftl.pad_host(&mut self.ops);
        self.issue();
    }
}
