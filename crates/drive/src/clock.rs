//! The drive's clock: what time it is, and what is due when.
//!
//! Parts are handed it to say what they will be asked about again; only [`crate::engine`] lets time
//! pass. Invariant: what is due at one time happens in the order in which it was said.

use flashtwin_base::Nanos;
use flashtwin_base::queue::EventQueue;

use crate::event::Event;

/// Now, and the events to come.
pub(crate) struct Clock {
    now: Nanos,
    events: EventQueue<Event>,
}

flashtwin_base::state! { Clock {
    kept: events, now;
} }

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock {
            now: Nanos::ZERO,
            events: EventQueue::with_capacity(256),
        }
    }

    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.now
    }

    /// It is a moment now.
    #[inline]
    pub(crate) fn set(&mut self, now: Nanos) {
        self.now = now;
    }

    /// Nothing happens up to a moment, or nothing more where that is past.
    #[inline]
    pub(crate) fn pass_to(&mut self, to: Nanos) {
        self.now = self.now.max(to);
    }

    /// The next event that is due at or before `limit`, at its time; none, and time stands still,
    /// where there is none.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, limit: Nanos) -> Option<Event> {
        let (at, event) = self.events.pop_due(limit)?;
        self.now = at;
        Some(event)
    }

    /// The next event that is due now.
    #[inline(always)]
    pub(crate) fn take_due(&mut self) -> Option<Event> {
        self.events.pop_due(self.now).map(|(_, event)| event)
    }

    /// When the next event is due.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.events.peek_at()
    }

    /// Nothing more happens by itself.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.events.is_empty()
    }

    /// Nothing of what was said happens.
    pub(crate) fn forget_events(&mut self) {
        self.events.clear();
    }

    /// Something is due at a time.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: Nanos, event: Event) {
        self.events.push(at, event);
    }

    /// Something is due in a while.
    #[inline]
    pub(crate) fn push_in(&mut self, span: Nanos, event: Event) {
        self.events.push(self.now + span, event);
    }

    /// As [`Clock::push`], of a kind whose times come in their order.
    #[inline(always)]
    pub(crate) fn push_in_order(&mut self, lane: usize, at: Nanos, event: Event) {
        self.events.push_in_order(lane, at, event);
    }

    /// As [`Clock::push`], of a kind of which one is due at most.
    #[inline(always)]
    pub(crate) fn push_alone(&mut self, at: Nanos, event: Event) {
        self.events.push_alone(at, event);
    }

    /// Draws the number of an event that may be said later, see [`Clock::push_numbered`].
    #[inline(always)]
    pub(crate) fn number(&mut self) -> u64 {
        self.events.number()
    }

    /// As [`Clock::push`], as if it had been said when its number was drawn.
    pub(crate) fn push_numbered(&mut self, at: Nanos, number: u64, event: Event) {
        self.events.push_numbered(at, number, event);
    }
}
