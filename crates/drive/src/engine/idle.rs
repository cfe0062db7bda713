//! The firmware is offered the host's idle time, and loses it again (see [`crate::background`]).

use flashtwin_base::Nanos;
use flashtwin_ftl::Policies;

use super::Drive;
use crate::background::{LOADS, LOOK_AGAIN, SHARE_EVERY, SHARES_A_SECOND};
use crate::event::Event;

impl<P: Policies> Drive<P> {
    /// The last outstanding command has been answered.
    #[inline(never)]
    pub(super) fn fell_idle(&mut self) {
        self.served();
        // A rest in which little was asked for goes on.
        if !self.background.host_ends(self.clock.now()) {
            self.background.idle_since = self.clock.now();
        }
        self.await_idle(self.clock.now());
    }

    /// Nothing is asked of the drive from a moment on, which may be to come.
    pub(super) fn falls_quiet(&mut self, from: Nanos) {
        self.background.idle_since = from;
        self.await_idle(from);
    }

    /// Looks when the quiet, of which a part may be over, has lasted long enough for some work.
    fn await_idle(&mut self, from: Nanos) {
        if let (Some(after), false) = (self.background.first_after, self.background.idle_pending) {
            self.background.idle_pending = true;
            let due = (self.background.idle_since + after).max(from);
            self.clock.push(due, Event::IdleTimer);
        }
    }

    /// A command comes, to a drive that may be at rest.
    #[cold]
    pub(super) fn host_is_back(&mut self) {
        if self.commands.outstanding() == 0 {
            self.background.host_begins(self.clock.now());
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
            let due = self.clock.now() + self.background.may_go_on();
            self.clock.push(due, Event::BusyTimer);
        }
    }

    /// The host may have been busy for too long to be offered time beside.
    pub(super) fn busy_timer(&mut self) {
        self.background.busy_pending = false;
        if !self.background.idle || self.commands.outstanding() == 0 {
            return;
        }
        self.background.host_goes_on(self.clock.now());
        if self.background.is_used_little() {
            self.await_busy();
        } else {
            self.withdraw_offers();
            self.issue();
        }
    }

    /// Offers the work that the quiet has lasted long enough for, and sets the timer for the next
    /// work.
    pub(super) fn idle_timer(&mut self) {
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
            if due > self.clock.now() {
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
            self.clock.push(next, Event::IdleTimer);
        }
        if self.background.idle && self.commands.outstanding() > 0 {
            self.await_busy();
        }
        self.await_share();
    }

    /// Whether the commands that are outstanding are too few to end the rest.
    fn rests_beside(&mut self) -> bool {
        self.background.host_goes_on(self.clock.now());
        self.background.is_used_little()
    }

    /// The host is back: every offer is withdrawn, and what has begun ends.
    #[cold]
    pub(super) fn withdraw_offers(&mut self) {
        self.background.idle = false;
        for (index, load) in LOADS.into_iter().enumerate() {
            if std::mem::take(&mut self.background.offered[index]) {
                self.ftl.offer(load, false, &mut self.ops);
            }
        }
    }

    /// Folding in the background waits for its share, where it has a rate.
    #[inline]
    pub(super) fn await_share(&mut self) {
        let limited = self.background.fold_rate.is_some() && !self.background.fold_pending;
        if limited && self.ftl.wants_allowance() {
            self.background.fold_pending = true;
            self.clock.push_in(SHARE_EVERY, Event::FoldTimer);
        }
    }

    /// Allows folding in the background its share for the hundredth of a second that has passed.
    pub(super) fn fold_timer(&mut self) {
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
    pub(super) fn wait_for_more(&mut self) {
        self.background.wrote_at = self.clock.now();
        if !self.background.gather_pending && self.ftl.has_partial() {
            self.background.gather_pending = true;
            self.clock
                .push_in(self.background.gather_time, Event::GatherTimer);
        }
    }

    pub(super) fn gather_timer(&mut self) {
        self.background.gather_pending = false;
        if !self.ftl.has_partial() {
            return;
        }
        let mut after = self.background.gather_time;
        // A program is not padded while a write waits that fills it: a host that collection holds
        // back for longer than the time has not stopped writing.
        if self.commands.bring_more() {
            self.background.wrote_at = self.clock.now();
            after = after.max(LOOK_AGAIN);
        }
        let due = self.background.wrote_at + after;
        if due > self.clock.now() {
            self.background.gather_pending = true;
            self.clock.push(due, Event::GatherTimer);
            return;
        }
        self.ftl.pad_host(&mut self.ops);
        self.issue();
    }
}
