//! The firmware is offered the host's idle time, and loses it again (see [`crate::background`]).

use flashtwin_base::Nanos;
use flashtwin_ftl::Policies;

use super::Drive;

impl<P: Policies> Drive<P> {
    /// The last outstanding command has been answered.
    #[inline(never)]
    pub(super) fn fell_idle(&mut self) {
        self.served();
        self.background.host_ends(&mut self.clock);
    }

    /// Nothing is asked of the drive from a moment on, which may be to come.
    pub(super) fn falls_quiet(&mut self, from: Nanos) {
        self.background.falls_quiet(from, &mut self.clock);
    }

    /// A command comes, to a drive that may be at rest.
    #[cold]
    pub(super) fn host_is_back(&mut self) {
        let first = self.commands.outstanding() == 0;
        if self.background.host_begins(first, &mut self.clock) {
            self.withdraw_offers();
            self.issue();
        }
    }

    /// The host may have been busy for too long to be offered time beside.
    pub(super) fn busy_timer(&mut self) {
        let outstanding = self.commands.outstanding() > 0;
        if self.background.busy_timer(outstanding, &mut self.clock) {
            self.withdraw_offers();
            self.issue();
        }
    }

    /// Offers the work that the quiet has lasted long enough for, and sets the timer for the next
    /// work.
    pub(super) fn idle_timer(&mut self) {
        let outstanding = self.commands.outstanding() > 0;
        if !self.background.idle_timer(outstanding, self.clock.now()) {
            return;
        }
        while let Some(load) = self.background.next_offer(self.clock.now()) {
            self.ftl.offer(load, true, &mut self.ops);
            self.issue();
        }
        self.background.await_next(outstanding, &mut self.clock);
        self.await_share();
    }

    /// The host is back: every offer is withdrawn, and what has begun ends.
    #[cold]
    pub(super) fn withdraw_offers(&mut self) {
        for load in self.background.withdraw() {
            self.ftl.offer(load, false, &mut self.ops);
        }
    }

    /// Folding in the background waits for its share, where it has a rate.
    pub(super) fn await_share(&mut self) {
        let wants = || self.ftl.wants_allowance();
        self.background.await_share(wants, &mut self.clock);
    }

    /// Allows folding in the background its share for the hundredth of a second that has passed.
    pub(super) fn fold_timer(&mut self) {
        let unit_bytes = self.ftl.layout().unit_bytes;
        if let Some(units) = self.background.take_share(unit_bytes) {
            self.ftl.allow(units, &mut self.ops);
            self.issue();
            self.await_share();
        }
    }

    /// A granule may be partly filled, and nothing more is queued.
    pub(super) fn wait_for_more(&mut self) {
        let partial = || self.ftl.has_partial();
        self.background.wait_for_more(partial, &mut self.clock);
    }

    /// The time is over that a granule, filled in part, waits for more data: it may be padded.
    pub(super) fn gather_timer(&mut self) {
        let (partial, more) = (self.ftl.has_partial(), self.commands.bring_more());
        let clock = &mut self.clock;
        if self.background.gather_timer(partial, more, clock) {
            self.ftl.pad_host(&mut self.ops);
            self.issue();
        }
    }
}
