//! Time that the host leaves: turned into an offer to the firmware, and the end of waiting for
//! more data.
//!
//! Both timers are lazy: one event is pending at most, and when it comes too early it is set anew.

use flashtwin_base::Nanos;

use crate::engine::Drive;
use crate::event::Event;

/// Timers and what they watch.
pub(crate) struct Background {
    idle_after: Option<Nanos>,
    gather_time: Nanos,
    /// Idle time is being offered to the firmware.
    pub(crate) idle: bool,
    /// The drive is being purged: there is nothing to offer.
    pub(crate) purging: bool,
    idle_since: Nanos,
    idle_pending: bool,
    wrote_at: Nanos,
    gather_pending: bool,
}

impl Background {
    pub(crate) fn new(idle_after: Option<Nanos>, gather_time: Nanos) -> Background {
        Background {
            idle_after,
            gather_time,
            idle: false,
            purging: false,
            idle_since: Nanos::ZERO,
            idle_pending: false,
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
        if let (Some(after), false) = (self.background.idle_after, self.background.idle_pending) {
            self.background.idle_pending = true;
            self.events.push(self.now + after, Event::IdleTimer);
        }
    }

    pub(crate) fn idle_timer(&mut self) {
        self.background.idle_pending = false;
        let Some(after) = self.background.idle_after else {
            return;
        };
        if self.commands.outstanding() > 0 || self.background.purging {
            return;
        }
        let due = self.background.idle_since + after;
        if due > self.now {
            self.background.idle_pending = true;
            self.events.push(due, Event::IdleTimer);
            return;
        }
        self.background.idle = true;
        self.ftl.offer(true, &mut self.ops);
        self.issue();
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
